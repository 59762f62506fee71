/*
 * pg/lake/adopt.c: bifang.adopt(): what the catalog names becomes this database's own, on purpose.
 *
 * The catalog travels: pg_upgrade takes it into a new cluster, a data directory is copied or moved,
 * a control file is lost, a dump is restored. Directories say whose they are (pg/write/owner.h), so
 * that two who have the same catalog don't destroy each other's rows; only somebody who knows that
 * there is but one left can say so.
 *
 *   what                                mark that is replaced
 *   ledgers' directories                of the origin in the ledger's row, or of this database in
 *                                       another copy, another cluster, an earlier catalog
 *   tables' directories                 of the table's uuid, but for living databases
 *   left-overs and what is queued for   of this very catalog in another cluster or copy
 *   removal
 *
 * Ledgers that were open are closed: whoever had them may have the same files by hard links and
 * still append, so nothing is written to them any more. Rows and marks can't change in one step. A
 * mark that was written says too much when the rows then roll back, and that does no harm: rows
 * name the directory, before and after, and what they name is never removed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/snapmgr.h"

#include "iceberg/table.h"
#include "pg/catalog/catalog.h"
#include "pg/lake/places.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/write/owner.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_adopt);

typedef struct Adoption
{
	bool force;
	const char *former; /* origin of this database before */
	int32 taken;
	int32 n_missing;
	char *missing; /* one of them */
} Adoption;

/* Directories --------------------------------------------------------------------------------- */

static void
leave(const char *dir, const BifangMark *m)
{
	ereport(NOTICE, (errmsg("\"%s\" is not taken over", bifang_shown(dir)),
					 errdetail("It belongs to table %s of database %s (system identifier/oid).",
							   bifang_shown(m->uuid), bifang_shown(m->origin))));
}

static void
take(Adoption *a, const char *dir, const BifangMark *ours)
{
	Assert(dir[0] == '/' && strcmp(ours->origin, bifang_catalog_origin()) == 0);
	bifang_mark_write(dir, ours);
	a->taken++;
}

/* origin: of who had it, by the catalog; NULL = it does not say. False: it stays whose it is. */
static bool
take_named(Adoption *a, const char *dir, const BifangMark *ours, const char *origin)
{
	BifangMark m;

	if (bifang_mark_read(dir, &m) == BIFANG_MARK_UNREADABLE)
		return false;
	if (m.identity == NULL)
	{
		take(a, dir, ours);
		return true;
	}
	switch (bifang_owner_by(&m, dir, ours->uuid))
	{
		case BIFANG_OWNER_OURS: return true;
		case BIFANG_OWNER_COPY:
		case BIFANG_OWNER_FORMER: take(a, dir, ours); return true;
		case BIFANG_OWNER_NONE:
		case BIFANG_OWNER_OTHER: break;
	}
	if (strcmp(m.uuid, ours->uuid) == 0 && !bifang_owner_lives(&m) &&
		(origin == NULL || strcmp(origin, m.origin) == 0))
	{
		take(a, dir, ours);
		return true;
	}
	leave(dir, &m);
	return false;
}

/* What this very catalog had, in whatever cluster. */
static void
take_left(Adoption *a, const char *dir)
{
	BifangMark m;
	BifangMark ours;

	if (bifang_mark_read(dir, &m) != BIFANG_MARK_READ ||
		bifang_owner_by(&m, dir, NULL) == BIFANG_OWNER_OURS)
		return;
	if (strcmp(m.catalog_id, bifang_catalog_id()) != 0 ||
		(strcmp(m.origin, a->former) != 0 && strcmp(m.origin, bifang_catalog_origin()) != 0))
		return;
	ours = m;
	ours.origin = bifang_catalog_origin();
	ours.identity = bifang_mark_identity();
	take(a, dir, &ours);
}

/* Is there what the catalog names? */
static bool
is_there(Adoption *a, const char *path)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;
	BfError err = {0};

	BIFANG_CHECK(host->stat(host, path, &info, &err), &err);
	if (info.kind != BF_PATH_MISSING)
		return true;
	if (a->n_missing++ == 0)
		a->missing = pstrdup(path);
	return false;
}

/* What the catalog has ------------------------------------------------------------------------ */

/* Of another database that lives beside this one, or ours already. */
static bool
is_settled(const BifangLedger *l)
{
	BifangMark row = {.origin = l->origin};

	return strcmp(l->origin, bifang_catalog_origin()) == 0 || bifang_owner_lives(&row);
}

static void
look_for_ledgers(Adoption *a, List *ledgers)
{
	ListCell *lc;

	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (is_settled(l))
			continue;
		if (l->state == BIFANG_LEDGER_OFFLOADED)
			(void) is_there(a, l->offload_path);
		else if (l->state != BIFANG_LEDGER_TRIMMED)
			(void) is_there(a, l->live_dir);
	}
}

static void
adopt_ledger(Adoption *a, const BifangLedger *l)
{
	BifangMark ours = bifang_mark_ours(l->table_uuid, l->ns, l->table);
	BifangMark m;
	bool mine = strcmp(l->origin, bifang_catalog_origin()) == 0;
	BfPathInfo info;
	BfError err = {0};
	int32 before = a->taken;

	CHECK_FOR_INTERRUPTS();
	if (!mine && is_settled(l))
		return;
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), l->live_dir, &info, &err), &err);
	if (mine && (info.kind != BF_PATH_DIR || bifang_mark_read(l->live_dir, &m) != BIFANG_MARK_READ))
		return;
	if (info.kind == BF_PATH_DIR && !take_named(a, l->live_dir, &ours, l->origin))
		return;
	if (!mine || a->taken > before)
		bifang_catalog_adopt_ledger(l);
}

/* A directory around its metadata; one that nobody has marked may be ours by what that says. */
static void
adopt_table(Adoption *a, const BifangLakeTable *row)
{
	BfArena *arena =
		bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	const char *dir = bifang_parent_of(bifang_parent_of(row->metadata_location));
	BifangMark m = {0};
	BifangMark ours;
	BfIceTable *t;
	BfError err = {0};
	const char *origin;

	if (bf_ice_load(arena, row->metadata_location, NULL, &t, &err) != BF_OK)
	{
		bifang_warn(WARNING, &err);
		bifang_arena_free(arena);
		return;
	}
	ours = bifang_mark_ours(pstrdup(t->metadata->uuid), row->ns, row->name);
	origin = bf_ice_property(t->metadata, BIFANG_ORIGIN_PROPERTY);
	m.origin = origin != NULL ? pstrdup(origin) : NULL;
	bifang_arena_free(arena);
	if (ours.uuid[0] == '\0')
		return;
	if (bifang_owner_of(dir, NULL) == BIFANG_OWNER_NONE &&
		(m.origin == NULL || strcmp(m.origin, a->former) != 0))
		return; /* registered, and nobody's of ours */
	(void) take_named(a, dir, &ours, NULL);
}

typedef struct Tables
{
	Adoption *a;
	bool look; /* only whether it is there */
} Tables;

static bool
visit_table(void *arg, const BifangLakeTable *row)
{
	Tables *t = arg;

	CHECK_FOR_INTERRUPTS();
	if (t->look)
		(void) is_there(t->a, row->metadata_location);
	else
		adopt_table(t->a, row);
	return true;
}

static void
adopt_left(Adoption *a, List *ledgers, Snapshot snap)
{
	List *garbage = bifang_catalog_take_garbage(FullTransactionIdFromU64(PG_UINT64_MAX), snap);
	List *dirs = bifang_live_directories(ledgers);
	ListCell *lc;
	ListCell *name;

	foreach (lc, dirs)
	{
		List *names = bifang_names_in(lfirst(lc));

		foreach (name, names)
		{
			CHECK_FOR_INTERRUPTS();
			take_left(a, psprintf("%s/%s", (char *) lfirst(lc), (char *) lfirst(name)));
		}
	}
	foreach (lc, garbage)
	{
		const BifangGarbage *g = lfirst(lc);

		if (g->is_dir)
			take_left(a, bifang_is_table_part(strrchr(g->path, '/') + 1) ? bifang_parent_of(g->path)
																		 : g->path);
	}
}

/* The function -------------------------------------------------------------------------------- */

static void
check_missing(const Adoption *a)
{
	if (a->n_missing == 0)
		return;
	ereport(a->force ? WARNING : ERROR,
			(errcode(ERRCODE_UNDEFINED_FILE),
			 errmsg("%d files and directories that the catalog names are missing", a->n_missing),
			 errdetail("\"%s\" is one of them.", bifang_shown(a->missing)),
			 a->force ? 0
					  : errhint("%s If they are gone for good, bifang.adopt(force => true) goes on "
								"without them.",
								bifang_catalog_adoption_hint())));
}

Datum
bifang_adopt(PG_FUNCTION_ARGS)
{
	Adoption a = {.force = PG_GETARG_BOOL(0)};
	Tables t = {.a = &a, .look = true};
	Snapshot snap;
	List *ledgers;
	ListCell *lc;

	PreventCommandIfReadOnly("bifang.adopt()");
	/* Marks stay when rows roll back: what they are about must have been committed. */
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
						errmsg("bifang.adopt() cannot run in a transaction that has changed "
							   "something")));
	a.former = bifang_catalog_former_origin();
	snap = RegisterSnapshot(GetLatestSnapshot());
	ledgers = bifang_catalog_all_ledgers(snap);
	look_for_ledgers(&a, ledgers);
	if (!bifang_catalog_is_adopted())
		bifang_catalog_visit_tables(visit_table, &t);
	check_missing(&a);
	if (!bifang_catalog_is_adopted())
		bifang_catalog_set_adopted();
	foreach (lc, ledgers)
		adopt_ledger(&a, lfirst(lc));
	t.look = false;
	bifang_catalog_visit_tables(visit_table, &t);
	adopt_left(&a, ledgers, snap);
	UnregisterSnapshot(snap);
	CommandCounterIncrement();
	PG_RETURN_INT32(a.taken);
}
