/*
 * pg/lake/named.c: see named.h.
 */
#include "pg/lake/named.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/catalog/catalog.h"
#include "pg/lake/places.h"

List *
bifang_ledgers_now(void)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	List *ledgers = bifang_catalog_all_ledgers(snap);

	UnregisterSnapshot(snap);
	return ledgers;
}

static void
add(HTAB *named, const char *path)
{
	BifangFileId id;

	if (path != NULL && bifang_file_id(path, &id))
		(void) hash_search(named, &id, HASH_ENTER, NULL);
}

/* The metadata, and the directory that it is the table's of. */
static bool
add_table(void *arg, const BifangLakeTable *row)
{
	CHECK_FOR_INTERRUPTS();
	add(arg, row->metadata_location);
	add(arg, bifang_parent_of(bifang_parent_of(row->metadata_location)));
	return true;
}

HTAB *
bifang_named(List *ledgers, bool all)
{
	HASHCTL ctl = {.keysize = sizeof(BifangFileId),
				   .entrysize = sizeof(BifangFileId),
				   .hcxt = CurrentMemoryContext};
	HTAB *named =
		hash_create("bifang named files", 1024, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ListCell *lc;

	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		Assert(l->live_dir[0] == '/');
		if (all || l->state == BIFANG_LEDGER_OPEN || l->state == BIFANG_LEDGER_CLOSED)
			add(named, l->live_dir);
		add(named, l->offload_path);
	}
	bifang_catalog_visit_tables(add_table, named);
	return named;
}

bool
bifang_is_named(void *named, BifangFileId id)
{
	return hash_search(named, &id, HASH_FIND, NULL) != NULL;
}
