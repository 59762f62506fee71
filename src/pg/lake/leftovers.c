/*
 * pg/lake/leftovers.c: bifang.leftovers(): what takes up space and is not certainly ours.
 *
 * remove_garbage() removes only what this database made and lost. What a dropped database, or a
 * catalog that was dropped, has left may be wanted again (bifang.recover()), and what says nothing
 * may be anybody's: it is listed here, and goes by hand.
 *
 *   a ledger's directory     in the live directories of this database and its servers, and of
 *                            databases that are no more
 *   a table's directory      in the embedded warehouse and those of servers, one or two levels down
 */
#include "pg/lake/leftovers.h"

#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "pg/catalog/catalog.h"
#include "pg/lake/named.h"
#include "pg/lake/places.h"
#include "pg/server/encoding.h"
#include "pg/write/locks.h"
#include "pg/write/owner.h"

PG_FUNCTION_INFO_V1(bifang_leftovers);

typedef struct Look
{
	HTAB *named; /* what rows name */
	BifangLeftVisit visit;
	void *arg;
	bool unmarked_only;
} Look;

/* Looking ------------------------------------------------------------------------------------- */

/* After pg_upgrade databases have their numbers, but another system identifier: what recover() took
 * then would be missing in one that has not called adopt() yet. */
static const char *
what_other(const BifangMark *m)
{
	const char *slash = strrchr(m->origin, '/');
	Oid database = slash != NULL ? bifang_database_of_name(slash + 1) : InvalidOid;
	const char *name =
		OidIsValid(database) && database != MyDatabaseId ? get_database_name(database) : NULL;

	if (name == NULL)
		return psprintf("of database %s (system identifier/oid), which this cluster does not have; "
						"recover() takes it back",
						m->origin);
	return psprintf(
		"of database %s (system identifier/oid) of another cluster; if that is database "
		"\"%s\" from before pg_upgrade, adopt() there takes it over, else recover() here",
		m->origin, name);
}

/* A table that was dropped with purge, and waits. */
static bool
is_queued(const char *dir)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	bool queued = false;

	for (int i = 0; !queued && i < (int) lengthof(bifang_table_subdirs); i++)
		queued = bifang_catalog_is_queued(psprintf("%s/%s", dir, bifang_table_subdirs[i]), snap);
	UnregisterSnapshot(snap);
	return queued;
}

/* NULL: nothing to tell. */
static const char *
what_is(const char *dir, const BifangMark *m, bool table)
{
	switch (bifang_owner_by(m, dir, NULL))
	{
		case BIFANG_OWNER_OURS:
			return table && !is_queued(dir)
					   ? "a table that was dropped without purge; register_table() takes it back"
					   : NULL;
		case BIFANG_OWNER_FORMER:
			return "of a catalog that this database had before; recover() takes it back";
		case BIFANG_OWNER_OTHER: return bifang_owner_lives(m) ? NULL : what_other(m);
		case BIFANG_OWNER_COPY: return "of another copy of this cluster; adopt() takes it over";
		case BIFANG_OWNER_NONE: break;
	}
	return NULL;
}

/* True: it is marked. */
static bool
look_at(Look *l, const char *dir, bool table)
{
	BifangMark m;
	BifangMarkState state = bifang_mark_read(dir, &m);
	BifangFileId id;
	const char *what = NULL;

	if (state == BIFANG_MARK_NONE && table)
		return false;
	if (!bifang_file_id(dir, &id) || bifang_is_named(l->named, id))
		return true;
	if (state != BIFANG_MARK_READ)
		what = "it does not say whose it is";
	else if (!l->unmarked_only)
		what = what_is(dir, &m, table);
	if (what != NULL)
		l->visit(l->arg, dir, what);
	return true;
}

/* Whoever makes a ledger marks it a moment later, and has it locked. */
static bool
is_being_made(int64 id, const char *dir)
{
	BifangMark m;

	if (bifang_mark_read(dir, &m) != BIFANG_MARK_NONE)
		return false;
	if (!bifang_lock_ledger(id, false))
		return true;
	bifang_unlock_ledger(id);
	return false;
}

static void
look_at_ledgers(Look *l, const char *root)
{
	List *names = bifang_names_if_readable(root);
	ListCell *lc;

	Assert(root[0] == '/');
	foreach (lc, names)
	{
		int64 id = bifang_ledger_of_name(lfirst(lc), "");
		char *dir = psprintf("%s/%s", root, (char *) lfirst(lc));

		CHECK_FOR_INTERRUPTS();
		if (id >= 0 && !is_being_made(id, dir))
			(void) look_at(l, dir, false);
	}
}

static void
look_at_tables(Look *l, const char *root, int depth)
{
	List *names = bifang_names_if_readable(root);
	ListCell *lc;

	Assert(root[0] == '/' && depth >= 0);
	foreach (lc, names)
	{
		char *dir = psprintf("%s/%s", root, (char *) lfirst(lc));

		CHECK_FOR_INTERRUPTS();
		if (!look_at(l, dir, true) && depth > 0)
			look_at_tables(l, dir, depth - 1);
	}
}

/* Live directories of databases that are no more. */
static void
look_at_dropped(Look *l)
{
	char *root = psprintf("%s/bifang/live", DataDir);
	List *names = bifang_names_if_readable(root);
	ListCell *lc;

	foreach (lc, names)
	{
		const char *name = lfirst(lc);

		if (bifang_database_of_name(name) != InvalidOid &&
			!bifang_database_exists(bifang_database_of_name(name)))
			look_at_ledgers(l, psprintf("%s/%s", root, name));
	}
}

void
bifang_unmarked_ledgers(const char *live_dir, BifangLeftVisit visit, void *arg)
{
	Look l = {.visit = visit, .arg = arg, .unmarked_only = true};

	l.named = bifang_named(bifang_ledgers_now(), true);
	look_at_ledgers(&l, live_dir);
	hash_destroy(l.named);
}

static void
put_row(void *arg, const char *path, const char *what)
{
	ReturnSetInfo *rsinfo = arg;
	Datum values[2] = {CStringGetTextDatum(bifang_shown(path)),
					   CStringGetTextDatum(bifang_shown(what))};
	bool nulls[2] = {false, false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
bifang_leftovers(PG_FUNCTION_ARGS)
{
	Look l = {.visit = put_row};
	List *ledgers = bifang_ledgers_now();
	List *dirs;
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	l.arg = fcinfo->resultinfo;
	/* Live files of offloaded ledgers wait in the queue. */
	l.named = bifang_named(ledgers, true);
	dirs = bifang_live_directories(ledgers);
	foreach (lc, dirs)
		look_at_ledgers(&l, lfirst(lc));
	look_at_dropped(&l);
	dirs = bifang_warehouses();
	foreach (lc, dirs)
		look_at_tables(&l, lfirst(lc), 1);
	return (Datum) 0;
}
