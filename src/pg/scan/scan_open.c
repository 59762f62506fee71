/*
 * pg/scan/scan_open.c: from a unit of the worklist to the reader of its rows; see unit.h.
 */
#include "pg/scan/unit.h"

#include "utils/memutils.h"

#include "exec/read/parquet_reader.h"
#include "pg/scan/internal.h"
#include "pg/scan/kind.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"
#include "scan/pred.h"

/* ---- what is kept ---- */

/* Of all scans of this process. */
static BfKeepBudget budget;

static void
begin_keeping(BifangScan *s)
{
	BfError err;

	budget.bytes_max = (size_t) bifang_rescan_kb * 1024;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_keep_new(bifang_arena(s->cxt, "units kept", BIFANG_ARENA_MAX_METADATA), &budget,
							 &s->count.keep, &s->keep, &err),
				 &err);
}

void
bifang_scan_keep(BifangScan *s, const BfScanUnit *u, const void *more, size_t n)
{
	StringInfoData key;
	BfError err;

	Assert(s->open.unit == u && s->open.kept == NULL);
	if (!s->again || bifang_rescan_kb == 0)
		return;
	if (s->keep == NULL)
		begin_keeping(s);
	initStringInfo(&key);
	appendStringInfoString(&key, u->path);
	appendBinaryStringInfo(&key, (const char *) &u->piece, sizeof u->piece);
	appendBinaryStringInfo(&key, (const char *) &u->pieces, sizeof u->pieces);
	if (u->ranges.n > 0)
		appendBinaryStringInfo(&key, (const char *) u->ranges.ranges,
							   (int) (u->ranges.n * sizeof *u->ranges.ranges));
	if (n > 0)
		appendBinaryStringInfo(&key, more, (int) n);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_keep_unit(s->keep, key.data, (size_t) key.len, &s->open.kept, &err), &err);
}

bool
bifang_scan_read_again(BifangScan *s, BfArena *a, BfFilter *f)
{
	BfError err;

	if (s->open.kept == NULL || !bf_kept_whole(s->open.kept, f))
		return false;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_keep_again(a, s->open.kept, f, s->open.unit->path, &s->open.reader, &err),
				 &err);
	return true;
}

bool
bifang_scan_read_row_groups_again(BifangScan *s, BfArena *a, const BfProjection *projection,
								  const BfRowFilter *what)
{
	BfFilter *f;
	BfError err;

	if (s->open.kept == NULL)
		return false;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_filter_new(a, projection, what, &f, &err), &err);
	return bifang_scan_read_again(s, a, f);
}

/* ---- readers ---- */

BfRowFilter
bifang_scan_row_filter(BifangScan *s, BfArena *a, const BfPred *pred, int32 n_fields,
					   BfDeletes *deletes)
{
	const BfPred *below;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_pred_below(a, pred, n_fields, &below, &err), &err);
	return (BfRowFilter){
		.pred = below, .prune = s->pred.prune, .deletes = deletes, .counters = &s->count.filter};
}

BfFilter *
bifang_scan_filter(BifangScan *s, BfArena *a, const BfProjection *projection, int32 n_fields,
				   BfDeletes *deletes)
{
	BfRowFilter what = bifang_scan_row_filter(s, a, s->pred.tree, n_fields, deletes);
	BfFilter *f;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_filter_new(a, projection, &what, &f, &err), &err);
	return f;
}

void
bifang_scan_read_through(BifangScan *s, BfArena *a, BfFilter *f, BfReader *below)
{
	BfError err;

	bf_error_clear(&err);
	if (s->open.kept != NULL)
		BIFANG_CHECK(
			bf_keep_reader(a, s->open.kept, f, s->open.unit->rows, below, &s->open.reader, &err),
			&err);
	else
		BIFANG_CHECK(bf_filter_reader(a, f, below, &s->open.reader, &err), &err);
}

void
bifang_scan_open_row_groups(BifangScan *s, BfArena *a, const BfScanUnit *u, BfParquetFile *file,
							const BfProjection *projection, const BfConstants *constants,
							const BfRowFilter *filter)
{
	int64 groups = bf_parquet_n_row_groups(file);
	int32 first = (int32) (groups * u->piece / u->pieces);
	int32 end = (int32) (groups * (u->piece + 1) / u->pieces);
	BfError err;

	Assert(u->piece >= 0 && u->piece < u->pieces);
	bf_error_clear(&err);
	if (s->open.kept != NULL)
		BIFANG_CHECK(bf_keep_row_groups(a, s->open.kept, file, projection, constants, first, end,
										filter, &s->count.parquet, &s->open.reader, &err),
					 &err);
	else
		BIFANG_CHECK(bf_exec_parquet_reader_filtered(a, file, projection, constants, first, end,
													 filter, &s->count.parquet, &s->open.reader,
													 &err),
					 &err);
}

void
bifang_scan_open_unit(BifangScan *s, BfScanUnit *u)
{
	MemoryContext old = MemoryContextSwitchTo(s->open.cxt);
	BfArena *a = bifang_arena(s->open.cxt, "scan unit", BIFANG_ARENA_MAX_SCAN);

	Assert(s->open.unit == NULL && s->planned);
	s->open.unit = u;
	s->count.units_read++;
	s->work->kind->open_unit(s, a, u);
	Assert(s->open.reader != NULL);
	MemoryContextSwitchTo(old);
}
