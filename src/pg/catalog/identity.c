/*
 * pg/catalog/identity.c: see identity.h.
 */
#include "pg/catalog/identity.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/catalog/rows.h"

enum
{
	IDENTITY_CATALOG = 1,
	IDENTITY_SYSTEM,
	IDENTITY_NATTS = IDENTITY_SYSTEM
};

/* Neither changes behind a backend's back but by another CREATE EXTENSION, which makes another
 * table, or towards "adopted". */
static struct
{
	Oid relid;
	char *catalog_id; /* in TopMemoryContext */
	char *system;
	bool adopted;
} known;

static char *
system_text(void)
{
	return psprintf(UINT64_FORMAT, GetSystemIdentifier());
}

static void
keep(char **where, const char *text)
{
	char *copy = MemoryContextStrdup(TopMemoryContext, text);

	if (*where != NULL)
		pfree(*where);
	*where = copy;
}

static void
read_identity(void)
{
	Oid relid = bifang_rows_relid("identity");
	Relation rel;
	Snapshot snap;
	BifangRows rows;
	HeapTuple tuple;
	Datum values[IDENTITY_NATTS];
	bool nulls[IDENTITY_NATTS];
	bool own;

	if (known.relid == relid && known.adopted)
		return;
	known.relid = InvalidOid;
	rel = table_open(relid, AccessShareLock);
	snap = RegisterSnapshot(GetLatestSnapshot());
	rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	tuple = bifang_rows_next(&rows);
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("the row of \"bifang.identity\" is missing"),
						errdetail("It tells this catalog's directories from those of others.")));
	bifang_rows_read(rel, tuple, IDENTITY_NATTS, values, nulls);
	keep(&known.catalog_id, bifang_rows_text(values, nulls, IDENTITY_CATALOG));
	keep(&known.system, bifang_rows_text(values, nulls, IDENTITY_SYSTEM));
	/* What this transaction wrote may never have been. */
	own = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	table_close(rel, AccessShareLock);
	known.adopted = strcmp(known.system, system_text()) == 0;
	if (!own)
		known.relid = relid;
}

const char *
bifang_catalog_id(void)
{
	read_identity();
	return known.catalog_id;
}

bool
bifang_catalog_is_adopted(void)
{
	read_identity();
	return known.adopted;
}

char *
bifang_catalog_former_origin(void)
{
	read_identity();
	return psprintf("%s/%u", known.system, MyDatabaseId);
}

const char *
bifang_catalog_not_adopted_text(void)
{
	read_identity();
	return psprintf("The catalog is of cluster %s, this one is %s, as after pg_upgrade.",
					known.system, system_text());
}

const char *
bifang_catalog_adoption_hint(void)
{
	return psprintf("If \"%s/bifang\" is not there, copy, link or move directory \"bifang\" of "
					"the old data directory to it before that one is deleted; then call "
					"bifang.adopt() in each database.",
					DataDir);
}

void
bifang_catalog_check_adopted(void)
{
	if (!bifang_catalog_is_adopted())
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("lake tables of this database belong to another cluster"),
						errdetail("%s", bifang_catalog_not_adopted_text()),
						errhint("%s", bifang_catalog_adoption_hint())));
}

void
bifang_catalog_set_adopted(void)
{
	Relation rel = bifang_rows_open("identity", RowExclusiveLock);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple old = bifang_rows_next(&rows);
	Datum values[IDENTITY_NATTS] = {0};
	bool nulls[IDENTITY_NATTS] = {false};
	bool replace[IDENTITY_NATTS] = {false};

	if (!HeapTupleIsValid(old) || !bifang_rows_lock(rel, old))
		bifang_rows_refuse();
	values[BIFANG_SLOT(IDENTITY_SYSTEM)] = CStringGetTextDatum(system_text());
	replace[BIFANG_SLOT(IDENTITY_SYSTEM)] = true;
	CatalogTupleUpdate(rel, &old->t_self,
					   heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace));
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	table_close(rel, RowExclusiveLock);
}
