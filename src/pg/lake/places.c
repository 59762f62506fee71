/*
 * pg/lake/places.c: see places.h.
 */
#include "pg/lake/places.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_foreign_server.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"

#include "pg/catalog/catalog.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"

/* Names --------------------------------------------------------------------------------------- */

char *
bifang_parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	Assert(path[0] == '/');
	return slash == path ? pstrdup("/") : pnstrdup(path, (Size) (slash - path));
}

bool
bifang_is_table_part(const char *name)
{
	for (int i = 0; i < (int) lengthof(bifang_table_subdirs); i++)
		if (strcmp(name, bifang_table_subdirs[i]) == 0)
			return true;
	return false;
}

typedef struct Names
{
	MemoryContext cxt;
	List *names; /* char * */
} Names;

static BfStatus
collect_name(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Names *n = arg;

	(void) kind;
	(void) err;
	n->names = lappend(n->names, pstrdup(name));
	return BF_OK;
}

static BfStatus
list_names(const char *dir, Names *n, BfError *err)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;

	BF_TRY(host->stat(host, dir, &info, err));
	return info.kind == BF_PATH_DIR ? host->list(host, dir, collect_name, n, err) : BF_OK;
}

List *
bifang_names_in(const char *dir)
{
	Names n = {0};
	BfError err = {0};

	BIFANG_CHECK(list_names(dir, &n, &err), &err);
	return n.names;
}

List *
bifang_names_if_readable(const char *dir)
{
	Names n = {0};
	BfError err = {0};
	BfStatus status = list_names(dir, &n, &err);

	if (status == BF_ERR_CANCEL || status == BF_ERR_NOMEM)
		bifang_report(&err);
	if (status == BF_OK)
		return n.names;
	bifang_warn(WARNING, &err);
	return NIL;
}

int64
bifang_ledger_of_name(const char *name, const char *suffix)
{
	char *end;
	size_t n;
	int64 id;

	if (name[0] < '1' || name[0] > '9')
		return -1;
	errno = 0;
	id = strtoi64(name, &end, 10);
	if (errno != 0)
		return -1;
	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	n = bifang_final_length(name) - (size_t) (end - name);
	return n == strlen(suffix) && memcmp(end, suffix, n) == 0 ? id : -1;
}

/* Where to look ------------------------------------------------------------------------------- */

static List *
add_directory(List *dirs, char *dir)
{
	ListCell *lc;

	Assert(dir[0] == '/');
	foreach (lc, dirs)
		if (strcmp(lfirst(lc), dir) == 0)
			return dirs;
	return lappend(dirs, dir);
}

/* Of servers, also of those that have no tables. */
static List *
add_servers(List *dirs, bool warehouses)
{
	Oid wrapper = get_foreign_data_wrapper_oid("bifang_fdw", true);
	Relation rel = table_open(ForeignServerRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_server server = (Form_pg_foreign_server) GETSTRUCT(tuple);
		BifangOptions o;

		if (server->srvfdw != wrapper)
			continue;
		bifang_server_options_get(server->oid, &o);
		dirs = add_directory(dirs, pstrdup(warehouses ? o.warehouse : o.live_dir));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return dirs;
}

List *
bifang_live_directories(List *ledgers)
{
	List *dirs = list_make1(psprintf("%s/bifang/live/%u", DataDir, MyDatabaseId));
	ListCell *lc;

	foreach (lc, ledgers)
		dirs = add_directory(dirs, bifang_parent_of(((BifangLedger *) lfirst(lc))->live_dir));
	return add_servers(dirs, false);
}

List *
bifang_warehouses(void)
{
	return add_servers(list_make1(psprintf("%s/" BIFANG_EMBEDDED_WAREHOUSE, DataDir)), true);
}
