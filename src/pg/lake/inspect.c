/*
 * pg/lake/inspect.c: SQL functions that show files and tables as they are.
 *
 *   bifang.parquet_metadata(path)   a row per row group and column of Parquet files
 *   bifang.log_segment(path)        a row per batch of a segment, or of a partition's or ledger's
 * directory
 *   bifang.offload_file(path)       one row: what the tail of an offload file says
 *   bifang.manifest(regclass)       Parquet files, logical ranges and live ranges of a table, now
 *   bifang.snapshots(regclass)      snapshots of its Iceberg metadata; refs, history: likewise
 *   bifang.files(regclass)          data files at the point in time that the table is read at; with
 *                                   manifests and partitions
 *
 * Those that take a path need the role pg_read_server_files, those that take a table the right to
 * read it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "log/offload.h"
#include "parquet/parquet.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/catalog/options.h"
#include "pg/catalog/point.h"
#include "pg/convert/out.h"
#include "pg/convert/typemap.h"
#include "pg/scan/location.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"

#define UNIX_MSECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000)
#define COLUMNS_MAX 16

/* One result row in the making. */
typedef struct Row
{
	ReturnSetInfo *rsinfo;
	int n;
	Datum values[COLUMNS_MAX];
	bool nulls[COLUMNS_MAX];
} Row;

static void
put(Row *r, Datum value)
{
	Assert(r->n < COLUMNS_MAX);
	r->nulls[r->n] = false;
	r->values[r->n++] = value;
}

static void
put_null(Row *r)
{
	Assert(r->n < COLUMNS_MAX);
	r->nulls[r->n] = true;
	r->values[r->n++] = (Datum) 0;
}

/* Names out of files may be no text of this database. */
static void
put_text(Row *r, const char *text)
{
	if (text == NULL)
		put_null(r);
	else if (pg_verify_mbstr(PG_UTF8, text, (int) strlen(text), true))
		put(r, CStringGetTextDatum(bifang_shown(text)));
	else
		put(r, CStringGetTextDatum("(not valid text)"));
}

/* Negative means unknown. */
static void
put_count(Row *r, int64 n)
{
	if (n < 0)
		put_null(r);
	else
		put(r, Int64GetDatum(n));
}

static void
put_time_ms(Row *r, int64 ms)
{
	if (ms < 0 || ms > PG_INT64_MAX / 1000)
		put_null(r);
	else
		put(r, TimestampTzGetDatum((ms - UNIX_MSECS) * 1000));
}

static void
end_row(Row *r)
{
	tuplestore_putvalues(r->rsinfo->setResult, r->rsinfo->setDesc, r->values, r->nulls);
	r->n = 0;
}

static Row
begin(FunctionCallInfo fcinfo)
{
	Row r = {0};

	InitMaterializedSRF(fcinfo, 0);
	r.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	return r;
}

static const char *
path_argument(FunctionCallInfo fcinfo, const char *function)
{
	bifang_check_path_role(function);
	return bifang_to_utf8(bifang_local_path(text_to_cstring(PG_GETARG_TEXT_PP(0)), "path"));
}

/* ---- Parquet ---- */

/* A bound as text of the type that IMPORT would declare; bytes that are no text as hex. */
static void
put_bound(Row *r, const BfValue *value, bool known)
{
	BfField field = {.type = value->type};
	BfVector v = {.form = BF_VEC_CONST, .n = 1};
	MemoryContext cxt;
	BifangOut *out;
	Oid typid;
	int32 typmod;
	Oid fn;
	bool varlena;
	Datum datum;
	bool isnull;

	if (!known || value->is_null || !bifang_type_default(&field, &typid, &typmod))
	{
		put_null(r);
		return;
	}
	v.type = value->type;
	v.storage = bf_type_storage(value->type);
	v.data.raw = unconstify(void *, (const void *) &value->v);
	if (v.storage == BF_STORE_VIEW && typid == TEXTOID &&
		!pg_verifymbstr((const char *) value->v.view.ptr, (int) value->v.view.len, true))
		typid = v.type.kind == BF_KIND_STRING ? BYTEAOID : typid;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bound", ALLOCSET_SMALL_SIZES);
	out = bifang_out_new(cxt, &(BifangOutWhat){.field = &field,
											   .typid = typid,
											   .typmod = -1,
											   .column = "bound",
											   .invalid_text = BIFANG_TEXT_REPLACE});
	bifang_out_begin(out, "statistics");
	bifang_out_convert(out, &v, &(BifangRows){.n = 1}, &datum, &isnull);
	getTypeOutputInfo(typid, &fn, &varlena);
	put(r, CStringGetTextDatum(OidOutputFunctionCall(fn, datum)));
	MemoryContextDelete(cxt);
}

static void
put_chunk(Row *r, const BfParquetFile *f, BfArena *a, const char *path, int32 rg, int32 leaf)
{
	BfParquetChunkInfo c;
	BfError err;

	bf_error_clear(&err);
	if (bf_parquet_chunk_info(f, a, rg, leaf, &c, &err) != BF_OK)
	{
		bf_error_object(&err, path);
		bifang_report(&err);
	}
	put_text(r, path);
	put(r, Int32GetDatum(rg));
	put(r, Int64GetDatum(bf_parquet_row_group_rows(f, rg)));
	put_text(r, c.path);
	put_text(r, c.physical_type);
	put_text(r, c.codec);
	put_text(r, c.encodings);
	put_count(r, c.n_values);
	put_count(r, c.null_count);
	put_count(r, c.compressed_bytes);
	put_count(r, c.uncompressed_bytes);
	put_bound(r, &c.min, c.has_min);
	put_bound(r, &c.max, c.has_max);
	put_text(r, bf_parquet_created_by(f));
	end_row(r);
}

PG_FUNCTION_INFO_V1(bifang_parquet_metadata);

Datum
bifang_parquet_metadata(PG_FUNCTION_ARGS)
{
	const char *location = path_argument(fcinfo, "bifang.parquet_metadata");
	Row r = begin(fcinfo);
	ListCell *lc;

	foreach (lc, bifang_expand_location(location, ".parquet", ERROR))
	{
		BfArena *a =
			bifang_arena(CurrentMemoryContext, "parquet_metadata", BIFANG_ARENA_MAX_METADATA);
		BfSource *source;
		BfParquetFile *f;
		BfError err;
		BfStatus status;

		CHECK_FOR_INTERRUPTS();
		bf_error_clear(&err);
		BIFANG_CHECK(bf_source_open(a, lfirst(lc), NULL, &source, &err), &err);
		status = bf_parquet_open(a, source, &bf_parquet_default_limits, &f, &err);
		if (status != BF_OK)
		{
			bf_error_object(&err, lfirst(lc));
			bifang_report(&err);
		}
		for (int32 rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
			for (int32 leaf = 0; leaf < bf_parquet_n_leaves(f); leaf++)
				put_chunk(&r, f, a, lfirst(lc), rg, leaf);
		bifang_arena_free(a);
	}
	return (Datum) 0;
}

/* ---- logs ---- */

static void
put_batch(Row *r, const char *path, int64 position, const BfBatchHeader *h)
{
	put_text(r, path);
	put(r, Int64GetDatum(position));
	put(r, Int32GetDatum(h->total_bytes));
	put(r, Int64GetDatum(h->base_offset));
	put(r, Int64GetDatum(h->last_offset));
	put(r, Int32GetDatum(h->n_records));
	put_text(r, bf_codec_name(h->codec));
	put_time_ms(r, h->base_timestamp);
	put_time_ms(r, h->max_timestamp);
	put_count(r, h->producer_id);
	put(r, BoolGetDatum(h->transactional));
	put(r, BoolGetDatum(h->control));
	end_row(r);
}

PG_FUNCTION_INFO_V1(bifang_log_segment);

/* The path of a `.log` file shows its batches only; the walk itself always takes the directory. */
Datum
bifang_log_segment(PG_FUNCTION_ARGS)
{
	const char *path = path_argument(fcinfo, "bifang.log_segment");
	Row r = begin(fcinfo);
	size_t n = strlen(path);
	bool one = n > 4 && strcmp(path + n - 4, ".log") == 0;
	char *dir = pstrdup(path);
	BfArena *a = bifang_arena(CurrentMemoryContext, "log_segment", BIFANG_ARENA_MAX_SCAN);
	BfRange range = {0, PG_INT64_MAX - 1};
	BfRangeSet all;
	BfLogDir *d;
	BfLogWalk *walk;
	BfError err;

	if (one)
	{
		const char *name = strrchr(path, '/') + 1;

		*strrchr(dir, '/') = '\0';
		if (strspn(name, "0123456789") == 20)
			range.first = strtoll(name, NULL, 10);
	}
	bf_error_clear(&err);
	BIFANG_CHECK(bf_log_dir_open(a, dir, NULL, &d, &err), &err);
	BIFANG_CHECK(bf_rangeset_make(a, &range, 1, &all, &err), &err);
	BIFANG_CHECK(bf_log_walk_new(a, d, &all, false, &walk, &err), &err);
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *file;
		int64_t position;

		CHECK_FOR_INTERRUPTS();
		BIFANG_CHECK(bf_log_walk_next(walk, &h, &batch, &position, &file, &err), &err);
		if (batch == NULL)
			break;
		if (one && strcmp(file, path) != 0)
		{
			if (h.base_offset > range.first)
				break;
			continue;
		}
		put_batch(&r, file, position, &h);
	}
	bifang_arena_free(a);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(bifang_offload_file);

Datum
bifang_offload_file(PG_FUNCTION_ARGS)
{
	const char *path = path_argument(fcinfo, "bifang.offload_file");
	Row r = begin(fcinfo);
	BfArena *a = bifang_arena(CurrentMemoryContext, "offload_file", BIFANG_ARENA_MAX_METADATA);
	const BfOffloadInfo *info;
	BfOffloadFile *f;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_offload_open(a, path, NULL, &f, &err), &err);
	info = bf_offload_info(f);
	put_count(&r, info->n_entries);
	put_count(&r, info->n_batches);
	put_count(&r, info->n_index_blocks);
	put_count(&r, info->file_bytes);
	put_time_ms(&r, info->min_timestamp);
	put_time_ms(&r, info->max_timestamp);
	put_text(&r, info->schema_json);
	end_row(&r);
	bifang_arena_free(a);
	return (Datum) 0;
}

/* ---- lake tables ---- */

/* The caller must be allowed to read the foreign table, and it must be one of a lake table. */
static void
lake_argument(FunctionCallInfo fcinfo, BifangOptions *o)
{
	Oid relid = PG_GETARG_OID(0);
	AclResult acl = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a foreign table", get_rel_name(relid))));
	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
	bifang_options_get(relid, o);
	if (!o->format->lake)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("foreign table \"%s\" is of format %s, not a lake table",
							   get_rel_name(relid), o->format->name)));
	bifang_options_check_read(o);
}

static void
put_ranges(Row *r, const BfRangeSet *ranges)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int32 i = 0; i < ranges->n; i++)
		appendStringInfo(&s, "%s" INT64_FORMAT "-" INT64_FORMAT, i == 0 ? "" : "_",
						 ranges->ranges[i].first, ranges->ranges[i].last);
	put(r, CStringGetTextDatum(s.data));
}

static void
put_data_file(Row *r, const BfIceDataFile *f)
{
	put_text(r, f->logical ? "logical" : "parquet");
	put_text(r, f->path);
	if (f->logical)
	{
		put(r, Int64GetDatum(f->log.ledger_id));
		put_ranges(r, &f->log.ranges);
	}
	else
	{
		put_null(r);
		put_null(r);
	}
	put_count(r, f->record_count);
	put_count(r, f->file_size);
	put(r, Int32GetDatum(f->spec_id));
	put_count(r, f->sequence_number);
	end_row(r);
}

static void
put_live(Row *r, BfArena *a, const BfIcePlan *plan, const BifangLedger *ledger)
{
	BfRange whole = {0, ledger->end_entry - 1};
	BfRangeSet all;
	BfRangeSet live;
	BfError err;

	if (ledger->end_entry <= 0)
		return;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_rangeset_make(a, &whole, 1, &all, &err), &err);
	BIFANG_CHECK(
		bf_rangeset_subtract(a, &all, bf_coverage_of(&plan->covered, ledger->id), &live, &err),
		&err);
	if (live.n == 0)
		return;
	put_text(r, "live");
	put_text(r, ledger->state == BIFANG_LEDGER_OFFLOADED ? ledger->offload_path : ledger->live_dir);
	put(r, Int64GetDatum(ledger->id));
	put_ranges(r, &live);
	put_count(r, bf_rangeset_count(&live));
	put_null(r);
	put_null(r);
	put_null(r);
	end_row(r);
}

PG_FUNCTION_INFO_V1(bifang_manifest);

Datum
bifang_manifest(PG_FUNCTION_ARGS)
{
	Snapshot snapshot = GetActiveSnapshot();
	BifangOptions o;
	BifangPoint point;
	const BifangLake *lake;
	List *ledgers = NIL;
	Row r;
	BfArena *a;
	ListCell *lc;

	lake_argument(fcinfo, &o);
	r = begin(fcinfo);
	bifang_point_open(CurrentMemoryContext, &o, snapshot, &point);
	lake = bifang_lake_open(CurrentMemoryContext, point.metadata_path);
	for (int32 i = 0; i < lake->plan->n_files; i++)
		put_data_file(&r, &lake->plan->files[i]);
	if (point.current && point.table->metadata->uuid[0] != '\0')
		ledgers = bifang_catalog_ledgers(point.table->metadata->uuid, snapshot);
	a = bifang_arena(CurrentMemoryContext, "manifest", BIFANG_ARENA_MAX_METADATA);
	foreach (lc, ledgers)
		put_live(&r, a, lake->plan, lfirst(lc));
	bifang_arena_free(a);
	return (Datum) 0;
}

/* Names of the refs that point at the snapshot, comma-separated. */
static void
put_refs(Row *r, const BfIceMetadata *m, int64 snapshot_id)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int32 i = 0; i < m->n_refs; i++)
		if (m->refs[i].snapshot_id == snapshot_id)
			appendStringInfo(&s, "%s%s", s.len == 0 ? "" : ", ", m->refs[i].name);
	if (s.len == 0)
		put_null(r);
	else
		put_text(r, s.data);
}

static void
put_summary(Row *r, const BfIceSnapshot *snapshot)
{
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfoChar(&s, '{');
	for (int32 i = 0; i < snapshot->n_summary; i++)
	{
		if (i > 0)
			appendStringInfoString(&s, ", ");
		escape_json(&s, snapshot->summary_keys[i]);
		appendStringInfoString(&s, ": ");
		escape_json(&s, snapshot->summary_values[i]);
	}
	appendStringInfoChar(&s, '}');
	if (pg_verifymbstr(s.data, s.len, true))
		put(r, DirectFunctionCall1(jsonb_in, CStringGetDatum(s.data)));
	else
		put_null(r);
}

PG_FUNCTION_INFO_V1(bifang_snapshots);

Datum
bifang_snapshots(PG_FUNCTION_ARGS)
{
	BifangOptions o;
	const char *path;
	const BfIceMetadata *m;
	Row r;

	lake_argument(fcinfo, &o);
	r = begin(fcinfo);
	path = bifang_metadata_path(&o, GetActiveSnapshot());
	if (path == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND), errmsg("the lake table does not exist")));
	m = bifang_lake_table(CurrentMemoryContext, path)->metadata;
	for (int32 i = 0; i < m->n_snapshots; i++)
	{
		const BfIceSnapshot *s = &m->snapshots[i];

		put(&r, Int64GetDatum(s->id));
		put_count(&r, s->parent_id);
		put_count(&r, s->sequence_number);
		put_time_ms(&r, s->timestamp_ms);
		put_text(&r, s->operation);
		put_refs(&r, m, s->id);
		put_summary(&r, s);
		end_row(&r);
	}
	return (Datum) 0;
}

static const BfIceMetadata *
lake_metadata(FunctionCallInfo fcinfo)
{
	BifangOptions o;
	const char *path;

	lake_argument(fcinfo, &o);
	path = bifang_metadata_path(&o, GetActiveSnapshot());
	if (path == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND), errmsg("the lake table does not exist")));
	return bifang_lake_table_mapped(CurrentMemoryContext, path, o.location_map)->metadata;
}

PG_FUNCTION_INFO_V1(bifang_refs);

Datum
bifang_refs(PG_FUNCTION_ARGS)
{
	const BfIceMetadata *m = lake_metadata(fcinfo);
	Row r = begin(fcinfo);

	for (int32 i = 0; i < m->n_refs; i++)
	{
		const BfIceSnapshot *s = bf_ice_snapshot(m, m->refs[i].snapshot_id);

		put_text(&r, m->refs[i].name);
		put_text(&r, m->refs[i].is_branch ? "branch" : "tag");
		put(&r, Int64GetDatum(m->refs[i].snapshot_id));
		if (s == NULL)
			put_null(&r);
		else
			put_time_ms(&r, s->timestamp_ms);
		end_row(&r);
	}
	return (Datum) 0;
}

/* Is it main's head or before that? */
static bool
is_ancestor(const BfIceMetadata *m, int64 id)
{
	const BfIceSnapshot *s = bf_ice_snapshot(m, m->current_snapshot_id);

	for (int32 i = 0; s != NULL && i <= m->n_snapshots; i++)
	{
		if (s->id == id)
			return true;
		s = s->parent_id == -1 ? NULL : bf_ice_snapshot(m, s->parent_id);
	}
	return false;
}

PG_FUNCTION_INFO_V1(bifang_history);

Datum
bifang_history(PG_FUNCTION_ARGS)
{
	const BfIceMetadata *m = lake_metadata(fcinfo);
	Row r = begin(fcinfo);

	for (int32 i = 0; i < m->n_snapshot_log; i++)
	{
		const BfIceSnapshot *s = bf_ice_snapshot(m, m->snapshot_log_ids[i]);

		CHECK_FOR_INTERRUPTS();
		put_time_ms(&r, m->snapshot_log_ms[i]);
		put(&r, Int64GetDatum(m->snapshot_log_ids[i]));
		put_count(&r, s == NULL ? -1 : s->parent_id);
		put(&r, BoolGetDatum(is_ancestor(m, m->snapshot_log_ids[i])));
		end_row(&r);
	}
	return (Datum) 0;
}

/* The plan of all files at the point that the table's options and settings name. */
static const BfIcePlan *
lake_plan(FunctionCallInfo fcinfo, BifangPoint *point)
{
	BfIceScan scan = {.cache = bifang_manifest_cache()};
	BifangOptions o;
	BfIcePlan *plan;
	BfError err;

	lake_argument(fcinfo, &o);
	bifang_point_open(CurrentMemoryContext, &o, GetActiveSnapshot(), point);
	scan.point = point->at;
	bf_error_clear(&err);
	BIFANG_CHECK(
		bf_ice_plan_scan(bifang_arena(CurrentMemoryContext, "files", BIFANG_ARENA_MAX_METADATA),
						 point->table, &scan, &plan, &err),
		&err);
	return plan;
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

static const char *
format_text(BfIceFormat f)
{
	switch (f)
	{
		case BF_ICE_FORMAT_PARQUET: return "parquet";
		case BF_ICE_FORMAT_AVRO: return "avro";
		case BF_ICE_FORMAT_LOG: return "log";
	}
	return "?";
}

PG_FUNCTION_INFO_V1(bifang_files);

Datum
bifang_files(PG_FUNCTION_ARGS)
{
	BifangPoint point;
	const BfIcePlan *plan = lake_plan(fcinfo, &point);
	Row r = begin(fcinfo);

	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		CHECK_FOR_INTERRUPTS();
		put_text(&r, f->path);
		put_text(&r, format_text(f->format));
		put_text(&r, partition_text(point.table, f));
		put(&r, Int32GetDatum(f->spec_id));
		put_count(&r, f->record_count);
		put_count(&r, f->file_size);
		put(&r, Int32GetDatum(bf_ice_n_deletes(f)));
		put_count(&r, f->sequence_number);
		put(&r, Int64GetDatum(f->snapshot_id));
		put_count(&r, f->first_row_id);
		end_row(&r);
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
	Row r = begin(fcinfo);

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
			sum.rows += all[i].rows;
			sum.bytes += all[i].bytes;
			sum.with_deletes += all[i].with_deletes;
		}
		put_text(&r, sum.text);
		put(&r, Int32GetDatum(sum.spec_id));
		put_count(&r, sum.files);
		put_count(&r, sum.rows);
		put_count(&r, sum.bytes);
		put_count(&r, sum.with_deletes);
		end_row(&r);
	}
	return (Datum) 0;
}

static void
put_manifest(Row *r, const BfIceManifest *m)
{
	put_text(r, m->path);
	put_text(r, m->deletes ? "deletes" : "data");
	put_count(r, m->length);
	put_count(r, m->spec_id);
	put_count(r, m->sequence_number);
	put(r, Int64GetDatum(m->added_snapshot_id));
	put_count(r, m->added_files);
	put_count(r, m->existing_files);
	put_count(r, m->deleted_files);
	put_count(r, m->added_rows);
	put_count(r, m->existing_rows);
	put_count(r, m->deleted_rows);
	end_row(r);
}

static void
put_manifests(Row *r, const BfIceTable *t, const BfIceSnapshot *s)
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
	Row r;

	lake_argument(fcinfo, &o);
	r = begin(fcinfo);
	bifang_point_open(CurrentMemoryContext, &o, GetActiveSnapshot(), &point);
	put_manifests(&r, point.table, point.at.main);
	return (Datum) 0;
}
