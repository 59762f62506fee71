/*
 * pg/lake/damage.c: see damage.h.
 */
#include "pg/lake/damage.h"

#include "pg/server/encoding.h"

/* A disk that fails does so where the ledger lies, or elsewhere: then the work itself fails. */
static bool
is_of(const BifangLedger *l, const char *path)
{
	const char *place = l->state == BIFANG_LEDGER_OFFLOADED ? l->offload_path : l->live_dir;
	size_t n = strlen(place);

	Assert(place[0] == '/');
	return strncmp(path, place, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool
bifang_ledger_is_damaged(const BifangLedger *l, const BfError *err)
{
	switch (err->code)
	{
		case BF_ERR_CORRUPT:
		case BF_ERR_NOTFOUND: return true;
		case BF_ERR_UNSUPPORTED:
		case BF_ERR_IO:
		case BF_ERR_AUTH: return is_of(l, err->object);
		default: return false;
	}
}

void
bifang_ledger_passed_over(const BifangLedger *l, const BfError *err, const char *what)
{
	Assert(bifang_ledger_is_damaged(l, err));
	ereport(
		WARNING,
		(errcode(ERRCODE_DATA_CORRUPTED),
		 errmsg("ledger " INT64_FORMAT " of table \"%s\" is damaged and %s", l->id,
				bifang_shown(l->table), what),
		 errdetail("\"%s\": %s", bifang_shown(err->object), bifang_shown(err->text)),
		 errhint("bifang.repair() ends it at what is there and tells which entries are gone.")));
}
