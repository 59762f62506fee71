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
#include "scan/pred.h"

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
	BIFANG_CHECK(bf_filter_reader(a, f, below, &s->open.reader, &err), &err);
}

void
bifang_scan_open_row_groups(BifangScan *s, BfArena *a, const BfScanUnit *u, BfParquetFile *file,
							const BfProjection *projection, const BfConstants *constants,
							const BfRowFilter *filter)
{
	int64 groups = bf_parquet_n_row_groups(file);
	BfError err;

	Assert(u->piece >= 0 && u->piece < u->pieces);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_parquet_reader_filtered(a, file, projection, constants,
												 (int32) (groups * u->piece / u->pieces),
												 (int32) (groups * (u->piece + 1) / u->pieces),
												 filter, &s->count.parquet, &s->open.reader, &err),
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
