/*
 * pg/lake/recover.c: bifang.recover(): tables out of what their directories say.
 *
 * For who comes back after DROP EXTENSION, lost the catalog, or brings directories from elsewhere.
 *
 *   table    a directory in the server's warehouse with a mark (pg/write/mark.h) of no catalog
 *            that lives; its metadata is the one that the mark names, else the newest
 *   ledgers  directories and offload files with that table's uuid; a ledger that is there in both
 *            forms is read from the file. All are closed. Offload files that a copy of the
 *            database put beside them are taken when that is gone and their numbers are free.
 *   end      of a directory what the mark says, else all whole batches that are there; then rows of
 *            a transaction that a crash ended may be among them, and a NOTICE says so
 *
 * Numbers of ledgers stay, since the lake names entries by them. A table whose lake names what is
 * not there, or whose ledgers' numbers are taken, is told of and left alone. Only rows are written
 * here, marks are not: bifang.adopt() does that once the rows are committed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "exec/read/ledger_schema.h"
#include "log/segment.h"
#include "pg/catalog/walls.h"
#include "pg/catalog/cache.h"
#include "pg/lake/create.h"
#include "pg/lake/places.h"
#include "pg/lake/servers.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/write/locks.h"
#include "pg/write/owner.h"

PG_FUNCTION_INFO_V1(bifang_recover);

typedef struct Live
{
	int64 id;
	const char *dir;
	BifangMark mark;
} Live;

typedef struct Recovery
{
	ReturnSetInfo *rsinfo;
	BfArena *arena;
	BifangOptions o;
	const char *catalog;
	List *live; /* Live *, of any table */
} Recovery;

/* A table that is being put together. */
typedef struct Finding
{
	const char *dir;
	BifangMark mark;
	BifangLakeTable row;
	const BfIcePlan *plan;
	List *ledgers; /* BifangLedger * */
	int64 entries;
	char *problem;
} Finding;

/* Ledgers ------------------------------------------------------------------------------------- */

static BifangLedger *
ledger_of(const Finding *f, int64 id)
{
	ListCell *lc;

	foreach (lc, f->ledgers)
		if (((BifangLedger *) lfirst(lc))->id == id)
			return lfirst(lc);
	return NULL;
}

static void
set_problem(Finding *f, int64 ledger_id, const BfError *err)
{
	if (f->problem == NULL)
		f->problem = psprintf("ledger " INT64_FORMAT ": \"%s\": %s", ledger_id,
							  bifang_shown(err->object), bifang_shown(err->text));
}

/* The place behind the last whole batch. */
static BfStatus
find_end(BfArena *a, const char *dir, BfLedgerEnd *end, BfError *err)
{
	BfLogDir *d;
	BfLogWalk *walk;
	BfRange last;
	const BfRangeSet set = {1, &last};
	const uint8_t *batch;
	BfBatchHeader h;
	const char *path;
	int64_t start, position;

	*end = (BfLedgerEnd){0, 0, 0};
	BF_TRY(bf_log_dir_open(a, dir, NULL, &d, err));
	BF_TRY(bf_log_dir_bounds(d, &start, &end->entry, err));
	if (end->entry == 0)
		return BF_OK;
	last = (BfRange){end->entry - 1, end->entry - 1};
	BF_TRY(bf_log_walk_new(a, d, &set, true, &walk, err));
	BF_TRY(bf_log_walk_next(walk, &h, &batch, &position, &path, err));
	Assert(batch != NULL && h.last_offset + 1 == end->entry);
	end->segment = strtoi64(strrchr(path, '/') + 1, NULL, 10);
	end->position = position + h.total_bytes;
	return BF_OK;
}

static void
set_end(Recovery *r, Finding *f, const Live *live, BifangLedger *l)
{
	BfLedgerEnd end = live->mark.end;
	BfError err = {0};

	if (end.entry < 0)
	{
		if (find_end(r->arena, live->dir, &end, &err) != BF_OK)
			set_problem(f, live->id, &err);
		if (end.entry > 0)
			ereport(NOTICE, (errmsg("the end of ledger " INT64_FORMAT " is not known", live->id),
							 errdetail("Rows of a transaction that was not committed may be among "
									   "its %lld.",
									   (long long) end.entry)));
	}
	l->end_entry = end.entry;
	l->end_segment = end.segment;
	l->end_position = end.position;
}

static void
set_schema(Recovery *r, Finding *f, BfLedgerPlace place, const char *path, BifangLedger *l)
{
	BfSchema *schema;
	BfError err = {0};

	if (bf_exec_ledger_schema(r->arena, place, path, &schema, &err) == BF_OK)
		l->schema_id = schema->schema_id;
	else
		set_problem(f, l->id, &err);
}

static BifangLedger *
new_ledger(const Finding *f, int64 id)
{
	BifangLedger *l = palloc0(sizeof *l);

	l->id = id;
	l->state = BIFANG_LEDGER_CLOSED;
	l->table_uuid = f->mark.uuid;
	l->origin = f->mark.origin;
	return l;
}

static void
add_live(Recovery *r, Finding *f)
{
	ListCell *lc;

	foreach (lc, r->live)
	{
		const Live *live = lfirst(lc);
		BifangLedger *l;

		CHECK_FOR_INTERRUPTS();
		if (strcmp(live->mark.uuid, f->mark.uuid) != 0)
			continue;
		l = new_ledger(f, live->id);
		l->live_dir = live->dir;
		l->origin = live->mark.origin;
		l->lost = live->mark.lost[0] != '\0' ? live->mark.lost : NULL;
		set_end(r, f, live, l);
		if (l->end_entry <= 0)
			continue;
		if (ledger_of(f, live->id) != NULL && f->problem == NULL)
			f->problem = psprintf("ledger " INT64_FORMAT " is there twice", live->id);
		set_schema(r, f, BF_LEDGER_LIVE, live->dir, l);
		f->ledgers = lappend(f->ledgers, l);
	}
}

/* A copy of a ledger that is there as a directory too counts when it is whole. Another database
 * that had the table (`of`) gave numbers, too, to ledgers of its own. */
static void
add_offload(Recovery *r, Finding *f, int64 id, const char *path, const char *of)
{
	BifangLedger *l = ledger_of(f, id);
	BfOffloadFile *file;
	BfError err = {0};
	int64 n;

	if (l != NULL && of != NULL && strcmp(l->origin, of) != 0)
	{
		ereport(NOTICE,
				(errmsg("\"%s\" is not taken", bifang_shown(path)),
				 errdetail("It is of database %s (system identifier/oid), and the table has "
						   "a ledger of that number.",
						   of)));
		return;
	}
	if (bf_offload_open(r->arena, path, NULL, &file, &err) != BF_OK)
	{
		if (l == NULL)
			set_problem(f, id, &err);
		return;
	}
	n = bf_offload_info(file)->n_entries;
	if (l != NULL && (l->end_entry > n || l->state == BIFANG_LEDGER_OFFLOADED))
		return;
	if (l == NULL)
	{
		l = new_ledger(f, id);
		l->live_dir = psprintf("%s/" INT64_FORMAT, r->o.live_dir, id);
		f->ledgers = lappend(f->ledgers, l);
	}
	l->state = BIFANG_LEDGER_OFFLOADED;
	l->offload_path = path;
	l->end_entry = n;
	l->end_segment = 0;
	l->end_position = bf_offload_info(file)->file_bytes;
	set_schema(r, f, BF_LEDGER_OFFLOAD, path, l);
}

/* NULL: not the directory of another database that had the table, or that one lives and has them.
 */
static const char *
database_of_directory(const char *name)
{
	char *origin = pstrdup(name);
	char *dash = strchr(origin, '-');
	const BifangMark m = {.origin = origin};

	if (dash == NULL || strchr(name, '.') != NULL)
		return NULL;
	*dash = '/';
	return bifang_owner_lives(&m) ? NULL : origin;
}

/* The table's own first. `of`: the database that they are of, NULL = its own. */
static void
add_offloads(Recovery *r, Finding *f, const char *dir, const char *of)
{
	List *names = bifang_names_in(dir);
	ListCell *lc;

	foreach (lc, names)
	{
		const char *name = lfirst(lc);
		int64 id = bifang_ledger_of_name(name, ".bfo");

		CHECK_FOR_INTERRUPTS();
		if (id >= 0 && bifang_final_length(name) == strlen(name))
			add_offload(r, f, id, psprintf("%s/%s", dir, name), of);
	}
	foreach (lc, names)
	{
		const char *other = of == NULL ? database_of_directory(lfirst(lc)) : NULL;

		if (other != NULL)
			add_offloads(r, f, psprintf("%s/%s", dir, (char *) lfirst(lc)), other);
	}
}

/* Tables -------------------------------------------------------------------------------------- */

static bool
has_uuid(void *arg, const BifangLakeTable *row)
{
	Finding *f = arg;

	if (row->uuid != NULL && strcmp(row->uuid, f->mark.uuid) == 0)
		f->row.id = row->id;
	return f->row.id == 0;
}

/* False: it can't be read as a table. */
static bool
find_metadata(Recovery *r, Finding *f)
{
	const char *path = NULL;
	BfStatus status = BF_OK;
	BfIceTable *t;
	BfError err = {0};

	if (f->mark.metadata[0] != '\0' && strchr(f->mark.metadata, '/') == NULL)
		path = psprintf("%s/metadata/%s", f->dir, f->mark.metadata);
	else
		status = bf_ice_find_metadata(r->arena, f->dir, &path, &err);
	if (status == BF_OK)
		status = bf_ice_load(r->arena, path, NULL, &t, &err);
	if (status != BF_OK)
	{
		f->problem = psprintf("\"%s\": %s", bifang_shown(err.object), bifang_shown(err.text));
		return false;
	}
	if (strcmp(t->metadata->uuid, f->mark.uuid) != 0)
	{
		f->problem = psprintf("\"%s\" is of another table", bifang_shown(path));
		return false;
	}
	f->row.metadata_location = path;
	f->row.uuid = f->mark.uuid;
	f->plan = bifang_lake_open(CurrentMemoryContext, path)->plan;
	return true;
}

/* Whatever the lake names of ledgers must be there, or it would be missing in results. What is in
 * Parquet needs its ledger no more. */
static void
check_names(Recovery *r, Finding *f)
{
	const BfCoverage *covered = &f->plan->covered;

	for (int32_t i = 0; i < covered->n && f->problem == NULL; i++)
	{
		int64 id = covered->items[i].ledger_id;
		const BifangLedger *l;
		BfRangeSet rest;
		BfError err = {0};
		int64 last;

		CHECK_FOR_INTERRUPTS();
		BIFANG_CHECK(bf_rangeset_subtract(r->arena, &covered->items[i].ranges,
										  bf_coverage_of(&f->plan->covered_parquet, id), &rest,
										  &err),
					 &err);
		if (rest.n == 0)
			continue;
		l = ledger_of(f, id);
		last = rest.ranges[rest.n - 1].last;
		if (l == NULL || last >= l->end_entry)
			f->problem = psprintf("entry " INT64_FORMAT " of ledger " INT64_FORMAT
								  ", which the lake names, is not there",
								  last, id);
	}
}

static void
check_numbers(Finding *f)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	ListCell *lc;

	foreach (lc, f->ledgers)
		if (f->problem == NULL && bifang_catalog_ledger(((BifangLedger *) lfirst(lc))->id, snap))
			f->problem = psprintf("number " INT64_FORMAT " of a ledger is taken by a newer one",
								  ((BifangLedger *) lfirst(lc))->id);
	UnregisterSnapshot(snap);
}

static void
write_rows(Recovery *r, Finding *f)
{
	CommandId cid = GetCurrentCommandId(true);
	int64 id_max = 0;
	BifangFileId id;
	ListCell *lc;

	Assert(f->problem == NULL && f->row.metadata_location != NULL && f->row.id == 0);
	f->row.catalog = r->catalog;
	bifang_catalog_insert_table(&f->row);
	foreach (lc, f->ledgers)
	{
		BifangLedger *l = lfirst(lc);
		BfLedgerEnd end = {l->end_entry, l->end_segment, l->end_position};

		Assert(l->end_entry > 0 && l->state != BIFANG_LEDGER_OPEN);
		l->table_id = f->row.id;
		l->catalog = f->row.catalog;
		l->ns = f->row.ns;
		l->table = f->row.name;
		bifang_catalog_insert_ledger(l, cid);
		bifang_catalog_insert_append(l, end, cid);
		/* It waited in the queue of the catalog that is gone. */
		if (l->state == BIFANG_LEDGER_OFFLOADED && bifang_file_id(l->live_dir, &id))
			bifang_catalog_insert_garbage(l->live_dir, true, "ledger offloaded");
		id_max = Max(id_max, l->id);
		f->entries += l->end_entry;
	}
	for (int32_t i = 0; i < f->plan->covered.n; i++)
		id_max = Max(id_max, f->plan->covered.items[i].ledger_id);
	if (id_max > 0)
		bifang_catalog_reserve_ledger_ids(id_max);
	CommandCounterIncrement();
}

static void
put_row(Recovery *r, const Finding *f)
{
	Datum values[5] = {CStringGetTextDatum(f->row.ns), CStringGetTextDatum(f->row.name),
					   Int32GetDatum(list_length(f->ledgers)), Int64GetDatum(f->entries)};
	bool nulls[5] = {false, false, f->problem != NULL, f->problem != NULL, f->problem == NULL};

	if (f->problem != NULL)
		values[4] = CStringGetTextDatum(psprintf("%s: %s", bifang_shown(f->dir), f->problem));
	tuplestore_putvalues(r->rsinfo->setResult, r->rsinfo->setDesc, values, nulls);
}

/* Of a catalog that is no more? */
static bool
is_left(const BifangMark *m, const char *dir)
{
	switch (bifang_owner_by(m, dir, NULL))
	{
		case BIFANG_OWNER_FORMER: return true;
		case BIFANG_OWNER_OTHER: return !bifang_owner_lives(m);
		default: return false;
	}
}

static void
recover_table(Recovery *r, const char *dir, const BifangMark *mark)
{
	Finding f = {.dir = dir, .mark = *mark};
	BifangOptions o = r->o;
	BifangLakeTable existing;

	CHECK_FOR_INTERRUPTS();
	Assert(dir[0] == '/' && is_left(mark, dir));
	bifang_catalog_visit_tables(has_uuid, &f);
	if (f.row.id != 0)
		return;
	f.row.ns = o.ns = bifang_shown(mark->ns);
	f.row.name = o.table = bifang_shown(mark->name);
	if (mark->ns[0] == '\0' || mark->name[0] == '\0')
		f.problem = pstrdup("its mark does not say the table's name");
	else if (bifang_lookup_now(&o, &existing))
		f.problem = pstrdup("a table of that name exists");
	else if (find_metadata(r, &f))
	{
		add_live(r, &f);
		add_offloads(r, &f, psprintf("%s/offload", dir), NULL);
		check_names(r, &f);
		check_numbers(&f);
		if (f.problem == NULL)
			write_rows(r, &f);
	}
	put_row(r, &f);
}

/* Directories --------------------------------------------------------------------------------- */

static void
collect_live(Recovery *r, const char *root)
{
	List *names = bifang_names_in(root);
	ListCell *lc;

	foreach (lc, names)
	{
		Live live = {.id = bifang_ledger_of_name(lfirst(lc), "")};

		CHECK_FOR_INTERRUPTS();
		live.dir = psprintf("%s/%s", root, (char *) lfirst(lc));
		if (live.id >= 0 && bifang_mark_read(live.dir, &live.mark) == BIFANG_MARK_READ &&
			is_left(&live.mark, live.dir))
			r->live = lappend(r->live, memcpy(palloc(sizeof live), &live, sizeof live));
	}
}

/* Below the default directory a database of another number may have left some. */
static void
collect_all_live(Recovery *r)
{
	char *root = psprintf("%s/bifang/live", DataDir);
	ListCell *lc;
	List *names;

	if (strcmp(r->o.live_dir, psprintf("%s/%u", root, MyDatabaseId)) != 0)
	{
		collect_live(r, r->o.live_dir);
		return;
	}
	names = bifang_names_in(root);
	foreach (lc, names)
		collect_live(r, psprintf("%s/%s", root, (char *) lfirst(lc)));
}

static void
recover_in(Recovery *r, const char *dir, int depth)
{
	List *names = bifang_names_in(dir);
	ListCell *lc;

	foreach (lc, names)
	{
		char *path = psprintf("%s/%s", dir, (char *) lfirst(lc));
		BifangMark mark;

		CHECK_FOR_INTERRUPTS();
		if (bifang_mark_read(path, &mark) != BIFANG_MARK_READ)
		{
			if (depth > 0)
				recover_in(r, path, depth - 1);
		}
		else if (is_left(&mark, path) && bifang_names_in(psprintf("%s/metadata", path)) != NIL)
			recover_table(r, path, &mark);
	}
}

Datum
bifang_recover(PG_FUNCTION_ARGS)
{
	Recovery r = {0};

	InitMaterializedSRF(fcinfo, 0);
	r.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bifang_catalog_check_adopted();
	bifang_server_argument("bifang.recover()", NameStr(*PG_GETARG_NAME(0)), &r.o);
	bifang_options_check_write(&r.o);
	r.arena = bifang_arena(CurrentMemoryContext, "recover", BIFANG_ARENA_MAX_METADATA);
	r.catalog = bifang_catalog_claim(&r.o);
	collect_all_live(&r);
	recover_in(&r, r.o.warehouse, 1);
	return (Datum) 0;
}
