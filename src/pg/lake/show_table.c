/*
 * pg/lake/show_table.c: SQL functions that show what a lake table is made of.
 *
 *   bifang.manifest(regclass)   Parquet files, logical ranges and live ranges of a table, now
 *   bifang.files(regclass)      data files at the point in time that the table is read at; with
 *                               manifests and partitions
 */
#include "pg/lake/show.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/catalog/point.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

static const char *
format_text(BfIceFormat f)
{
	switch (f)
	{
		case BF_ICE_FORMAT_PARQUET: return "parquet";
		case BF_ICE_FORMAT_AVRO: return "avro";
		case BF_ICE_FORMAT_LOG: return "log";
		case BF_ICE_FORMAT_ORC: return "orc";
		case BF_ICE_FORMAT_OTHER: return "other";
	}
	return "?";
}

static BfRangeSet
without(BfArena *a, const BfRangeSet *ranges, const BfRangeSet *gone)
{
	BfRangeSet left;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_rangeset_subtract(a, ranges, gone, &left, &err), &err);
	return left;
}

/* What repair() found to be gone. */
static BfCoverage
lost_entries(BfArena *a, List *ledgers)
{
	BfCoverage lost = {0, NULL};
	ListCell *lc;
	BfError err;

	bf_error_clear(&err);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);
		BfRangeSet entries = bifang_ledger_lost(a, l);

		if (entries.n > 0)
			BIFANG_CHECK(bf_coverage_add(a, &lost, l->id, &entries, &lost, &err), &err);
	}
	return lost;
}

/* Of a logical file what a query reads from it, if anything: entries that main has as Parquet are
 * not named twice, those that are gone not at all. */
static void
put_data_file(BifangShow *r, BfArena *a, const BfIcePlan *plan, const BfCoverage *lost,
			  const BfIceDataFile *f)
{
	int64 rows = f->record_count;
	BfRangeSet left = {0};

	if (f->logical)
	{
		left = without(a, &f->log.ranges, bf_coverage_of(&plan->covered_parquet, f->log.ledger_id));
		left = without(a, &left, bf_coverage_of(lost, f->log.ledger_id));
		if (left.n == 0)
			return;
		rows = bf_rangeset_count(&left);
	}
	bifang_show_text(r, f->logical						? "logical"
						: f->format < BF_ICE_FORMAT_LOG ? "parquet"
														: format_text(f->format));
	bifang_show_text(r, f->path);
	if (f->logical)
	{
		bifang_show(r, Int64GetDatum(f->log.ledger_id));
		bifang_show_ranges(r, &left);
	}
	else
	{
		bifang_show_null(r);
		bifang_show_null(r);
	}
	bifang_show_count(r, rows);
	bifang_show_count(r, f->file_size);
	bifang_show(r, Int32GetDatum(f->spec_id));
	bifang_show_count(r, f->sequence_number);
	bifang_show_end_row(r);
}

static void
put_live(BifangShow *r, BfArena *a, const BfIcePlan *plan, const BfCoverage *lost,
		 const BifangLedger *ledger)
{
	BfRange whole = {0, ledger->end_entry - 1};
	BfRangeSet all;
	BfRangeSet live;
	BfError err;

	if (ledger->end_entry <= 0)
		return;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_rangeset_make(a, &whole, 1, &all, &err), &err);
	live = without(a, &all, bf_coverage_of(&plan->covered, ledger->id));
	live = without(a, &live, bf_coverage_of(lost, ledger->id));
	if (live.n == 0)
		return;
	Assert(live.ranges[live.n - 1].last < ledger->end_entry);
	bifang_show_text(r, "live");
	bifang_show_text(r, ledger->state == BIFANG_LEDGER_OFFLOADED ? ledger->offload_path
																 : ledger->live_dir);
	bifang_show(r, Int64GetDatum(ledger->id));
	bifang_show_ranges(r, &live);
	bifang_show_count(r, bf_rangeset_count(&live));
	bifang_show_null(r);
	bifang_show_null(r);
	bifang_show_null(r);
	bifang_show_end_row(r);
}

/* All files at a point, those that could not be read too: here they are only told of. */
static const BfIcePlan *
all_files(const BfIceTable *t, const BfIcePoint *at)
{
	BfIceScan scan = {.point = *at, .cache = bifang_manifest_cache()};
	BfArena *a = bifang_arena(CurrentMemoryContext, "files", BIFANG_ARENA_MAX_METADATA);
	BfIcePlan *plan;
	BfStatus status;
	BfError err;

	bf_error_clear(&err);
	status = bf_ice_plan_scan(a, t, &scan, &plan, &err);
	if (status == BF_ERR_UNSUPPORTED)
	{
		scan.cache = NULL;
		scan.listing = true;
		bf_error_clear(&err);
		status = bf_ice_plan_scan(a, t, &scan, &plan, &err);
	}
	BIFANG_CHECK(status, &err);
	return plan;
}

PG_FUNCTION_INFO_V1(bifang_manifest);

Datum
bifang_manifest(PG_FUNCTION_ARGS)
{
	Snapshot snapshot = GetActiveSnapshot();
	BifangOptions o;
	BifangPoint point;
	const BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	const BfIcePlan *plan;
	BfIcePoint current;
	List *ledgers = NIL;
	BfCoverage lost;
	BifangShow r;
	BfArenaMark mark;
	BfArena *a;
	ListCell *lc;
	BfError err;

	bifang_show_lake_argument(fcinfo, &o);
	r = bifang_show_begin(fcinfo);
	bifang_point_open(CurrentMemoryContext, &o, snapshot, &point);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_at_resolve(point.table, &now, &current, &err), &err);
	plan = all_files(point.table, &current);
	a = bifang_arena(CurrentMemoryContext, "manifest", BIFANG_ARENA_MAX_METADATA);
	if (point.current && point.table_id != 0)
		ledgers = bifang_catalog_read_ledgers(point.table_id, snapshot);
	lost = lost_entries(a, ledgers);
	mark = bf_arena_mark(a);
	for (int32 i = 0; i < plan->n_files; i++)
	{
		CHECK_FOR_INTERRUPTS();
		bf_arena_rewind(a, mark);
		put_data_file(&r, a, plan, &lost, &plan->files[i]);
	}
	foreach (lc, ledgers)
	{
		CHECK_FOR_INTERRUPTS();
		bf_arena_rewind(a, mark);
		put_live(&r, a, plan, &lost, lfirst(lc));
	}
	bifang_arena_free(a);
	return (Datum) 0;
}

/* The plan of all files at the point that the table's options and settings name. */
static const BfIcePlan *
lake_plan(FunctionCallInfo fcinfo, BifangPoint *point)
{
	BifangOptions o;

	bifang_show_lake_argument(fcinfo, &o);
	bifang_point_open(CurrentMemoryContext, &o, GetActiveSnapshot(), point);
	return all_files(point->table, &point->at);
}

/* `ts_day=2024-02-29/country=DE`; NULL without partitions. */
static char *
partition_text(const BfIceTable *t, const BfIceDataFile *f)
{
	const BfIceSpec *spec = bf_ice_spec(t->metadata, f->spec_id);
	StringInfoData s;

	if (spec == NULL || f->n_partition == 0)
		return NULL;
	initStringInfo(&s);
	for (int32 i = 0; i < Min(f->n_partition, spec->n_fields); i++)
	{
		BfBuffer b;
		BfError err;

		bf_error_clear(&err);
		bf_buffer_init(&b, bifang_host(), 1 << 20);
		appendStringInfo(&s, "%s%s=", i == 0 ? "" : "/", spec->fields[i].name);
		if (bf_transform_human(spec->fields[i].transform, &f->partition[i], &b, &err) == BF_OK)
			appendBinaryStringInfo(&s, (const char *) b.data, (int) b.len);
		else
			appendStringInfoChar(&s, '?');
		bf_buffer_free(&b);
	}
	return s.data;
}

PG_FUNCTION_INFO_V1(bifang_files);

Datum
bifang_files(PG_FUNCTION_ARGS)
{
	BifangPoint point;
	const BfIcePlan *plan = lake_plan(fcinfo, &point);
	BifangShow r = bifang_show_begin(fcinfo);

	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		CHECK_FOR_INTERRUPTS();
		bifang_show_text(&r, f->path);
		bifang_show_text(&r, format_text(f->format));
		bifang_show_text(&r, partition_text(point.table, f));
		bifang_show(&r, Int32GetDatum(f->spec_id));
		bifang_show_count(&r, f->record_count);
		bifang_show_count(&r, f->file_size);
		bifang_show(&r, Int32GetDatum(bf_ice_n_deletes(f)));
		bifang_show_count(&r, f->sequence_number);
		bifang_show(&r, Int64GetDatum(f->snapshot_id));
		bifang_show_count(&r, f->first_row_id);
		bifang_show_end_row(&r);
	}
	return (Datum) 0;
}

typedef struct Partition
{
	char *text;
	int32 spec_id;
	int64 files;
	int64 rows;
	int64 bytes;
	int64 with_deletes;
} Partition;

static int
compare_partitions(const void *a, const void *b)
{
	const Partition *x = a;
	const Partition *y = b;
	int c = x->spec_id < y->spec_id ? -1 : x->spec_id > y->spec_id;

	if (c == 0)
		c = strcmp(x->text == NULL ? "" : x->text, y->text == NULL ? "" : y->text);
	return c;
}

PG_FUNCTION_INFO_V1(bifang_partitions);

Datum
bifang_partitions(PG_FUNCTION_ARGS)
{
	BifangPoint point;
	const BfIcePlan *plan = lake_plan(fcinfo, &point);
	int32 n = plan->n_files;
	Partition *all = palloc_extended((Size) (n + 1) * sizeof *all, MCXT_ALLOC_HUGE);
	BifangShow r = bifang_show_begin(fcinfo);

	for (int32 i = 0; i < n; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		all[i] = (Partition){
			partition_text(point.table, f), f->spec_id, 1, f->record_count, f->file_size,
			bf_ice_n_deletes(f) > 0};
	}
	qsort(all, (size_t) n, sizeof *all, compare_partitions);
	for (int32 i = 0; i < n;)
	{
		Partition sum = all[i];

		CHECK_FOR_INTERRUPTS();
		for (i++; i < n && compare_partitions(&sum, &all[i]) == 0; i++)
		{
			sum.files += all[i].files;
			sum.rows = sum.rows < 0 || all[i].rows < 0 ? -1 : sum.rows + all[i].rows;
			sum.bytes += all[i].bytes;
			sum.with_deletes += all[i].with_deletes;
		}
		Assert(sum.files > 0 && sum.with_deletes <= sum.files);
		bifang_show_text(&r, sum.text);
		bifang_show(&r, Int32GetDatum(sum.spec_id));
		bifang_show_count(&r, sum.files);
		bifang_show_count(&r, sum.rows);
		bifang_show_count(&r, sum.bytes);
		bifang_show_count(&r, sum.with_deletes);
		bifang_show_end_row(&r);
	}
	return (Datum) 0;
}

static void
put_manifest(BifangShow *r, const BfIceManifest *m)
{
	bifang_show_text(r, m->path);
	bifang_show_text(r, m->deletes ? "deletes" : "data");
	bifang_show_count(r, m->length);
	bifang_show_count(r, m->spec_id);
	bifang_show_count(r, m->sequence_number);
	bifang_show(r, Int64GetDatum(m->added_snapshot_id));
	bifang_show_count(r, m->added_files);
	bifang_show_count(r, m->existing_files);
	bifang_show_count(r, m->deleted_files);
	bifang_show_count(r, m->added_rows);
	bifang_show_count(r, m->existing_rows);
	bifang_show_count(r, m->deleted_rows);
	bifang_show_end_row(r);
}

static void
put_manifests(BifangShow *r, const BfIceTable *t, const BfIceSnapshot *s)
{
	BfArena *a;
	BfIceManifest *list;
	const char *path;
	int32 n;
	BfError err;

	if (s == NULL || s->manifest_list == NULL)
		return;
	a = bifang_arena(CurrentMemoryContext, "manifests", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_location_resolve(a, &t->location, s->manifest_list, &path, &err), &err);
	BIFANG_CHECK(bf_ice_read_manifest_list(a, path, NULL, &list, &n, &err), &err);
	for (int32 i = 0; i < n; i++)
		put_manifest(r, &list[i]);
	bifang_arena_free(a);
}

PG_FUNCTION_INFO_V1(bifang_manifests);

Datum
bifang_manifests(PG_FUNCTION_ARGS)
{
	BifangOptions o;
	BifangPoint point;
	BifangShow r;

	bifang_show_lake_argument(fcinfo, &o);
	r = bifang_show_begin(fcinfo);
	bifang_point_open(CurrentMemoryContext, &o, GetActiveSnapshot(), &point);
	put_manifests(&r, point.table, point.at.main);
	return (Datum) 0;
}
