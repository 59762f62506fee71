/*
 * pg/lake/show_files.c: SQL functions that show files by their paths.
 *
 *   bifang.parquet_metadata(path)   a row per row group and column of Parquet files
 *   bifang.log_segment(path)        a row per batch of a segment, or of a partition's or ledger's
 *                                   directory
 *   bifang.offload_file(path)       one row: what the tail of an offload file says
 */
#include "pg/lake/show.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "log/offload.h"
#include "log/segment.h"
#include "pg/catalog/cache.h"
#include "pg/convert/out.h"
#include "pg/convert/typemap.h"
#include "pg/scan/location.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"

/* Paths below the data directory may be given as bifang.ledger has them, without it. */
static const char *
path_argument(FunctionCallInfo fcinfo, const char *function)
{
	char *path = text_to_cstring(PG_GETARG_TEXT_PP(0));

	bifang_check_path_role(function);
	if (strncmp(path, "bifang/", 7) == 0)
		path = psprintf("%s/%s", DataDir, path);
	return bifang_to_utf8(bifang_local_path(path, "path"));
}

/* ---- Parquet ---- */

/* A bound as text of the type that IMPORT would declare; bytes that are no text as hex. */
static void
put_bound(BifangShow *r, const BfValue *value, bool known)
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
		bifang_show_null(r);
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
											   .invalid_text = BIFANG_TEXT_REPLACE,
											   .out_of_range = BIFANG_RANGE_NULL});
	bifang_out_begin(out, "statistics");
	bifang_out_convert(out, &v, &(BifangRows){.n = 1}, &datum, &isnull);
	getTypeOutputInfo(typid, &fn, &varlena);
	if (isnull) /* one that the type doesn't take: the others are shown */
		bifang_show_null(r);
	else
		bifang_show(r, CStringGetTextDatum(OidOutputFunctionCall(fn, datum)));
	MemoryContextDelete(cxt);
}

static void
put_chunk(BifangShow *r, const BfParquetFile *f, BfArena *a, const char *path, int32 rg, int32 leaf)
{
	BfParquetChunkInfo c;
	BfError err;

	bf_error_clear(&err);
	if (bf_parquet_chunk_info(f, a, rg, leaf, &c, &err) != BF_OK)
	{
		bf_error_object(&err, path);
		bifang_report(&err);
	}
	bifang_show_text(r, path);
	bifang_show(r, Int32GetDatum(rg));
	bifang_show(r, Int64GetDatum(bf_parquet_row_group_rows(f, rg)));
	bifang_show_text(r, c.path);
	bifang_show_text(r, c.physical_type);
	bifang_show_text(r, c.codec);
	bifang_show_text(r, c.encodings);
	bifang_show_count(r, c.n_values);
	bifang_show_count(r, c.null_count);
	bifang_show_count(r, c.compressed_bytes);
	bifang_show_count(r, c.uncompressed_bytes);
	put_bound(r, &c.min, c.has_min);
	put_bound(r, &c.max, c.has_max);
	bifang_show_text(r, bf_parquet_created_by(f));
	bifang_show_end_row(r);
}

PG_FUNCTION_INFO_V1(bifang_parquet_metadata);

Datum
bifang_parquet_metadata(PG_FUNCTION_ARGS)
{
	const char *location = path_argument(fcinfo, "bifang.parquet_metadata");
	BifangShow r = bifang_show_begin(fcinfo);
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
put_batch(BifangShow *r, const char *path, int64 position, const BfBatchHeader *h)
{
	bifang_show_text(r, path);
	bifang_show(r, Int64GetDatum(position));
	bifang_show(r, Int32GetDatum(h->total_bytes));
	bifang_show(r, Int64GetDatum(h->base_offset));
	bifang_show(r, Int64GetDatum(h->last_offset));
	bifang_show(r, Int32GetDatum(h->n_records));
	bifang_show_text(r, bf_codec_name(h->codec));
	bifang_show_time_ms(r, h->base_timestamp);
	bifang_show_time_ms(r, h->max_timestamp);
	bifang_show_count(r, h->producer_id);
	bifang_show(r, BoolGetDatum(h->transactional));
	bifang_show(r, BoolGetDatum(h->control));
	bifang_show_end_row(r);
}

PG_FUNCTION_INFO_V1(bifang_log_segment);

/* The path of a `.log` file shows its batches only; the walk itself always takes the directory. */
Datum
bifang_log_segment(PG_FUNCTION_ARGS)
{
	const char *path = path_argument(fcinfo, "bifang.log_segment");
	BifangShow r = bifang_show_begin(fcinfo);
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
		const char *suffix;
		int64_t first;

		*strrchr(dir, '/') = '\0';
		if (bf_segment_name(strrchr(path, '/') + 1, &first, &suffix))
			range.first = first;
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
	BifangShow r = bifang_show_begin(fcinfo);
	BfArena *a = bifang_arena(CurrentMemoryContext, "offload_file", BIFANG_ARENA_MAX_METADATA);
	const BfOffloadInfo *info;
	BfOffloadFile *f;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_offload_open(a, path, NULL, &f, &err), &err);
	info = bf_offload_info(f);
	bifang_show_count(&r, info->n_entries);
	bifang_show_count(&r, info->n_batches);
	bifang_show_count(&r, info->n_index_blocks);
	bifang_show_count(&r, info->file_bytes);
	bifang_show_time_ms(&r, info->min_timestamp);
	bifang_show_time_ms(&r, info->max_timestamp);
	bifang_show_text(&r, info->schema_json);
	bifang_show_end_row(&r);
	bifang_arena_free(a);
	return (Datum) 0;
}
