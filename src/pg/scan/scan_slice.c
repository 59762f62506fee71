/*
 * pg/scan/scan_slice.c: rows of a batch as Datums, column by column.
 */
#include "pg/scan/internal.h"

#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "pg/server/encoding.h"

#define UNIX_MSECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000)

/* Datums of a slice may take this much, one row's worth at least; wide rows make short slices. */
#define SLICE_BYTES ((int64) 8 * 1024 * 1024)

/* Rows of the first slice of a scan, and how many times as many each one behind it has: whoever
 * wants one row has not made two thousand. */
#define SLICE_ROWS_FIRST 64
#define SLICE_ROWS_FACTOR 8

static void
fill_same(BifangColumn *c, int32 n, Datum value, bool isnull)
{
	memset(c->isnull, isnull, (size_t) n);
	for (int32 i = 0; i < n; i++)
		c->values[i] = value;
}

/* The same for all rows of a unit, so made once. */
static Datum
unit_text(BifangScan *s, BifangColumn *c, const char *text)
{
	if (c->text_of != s->count.units_read)
	{
		MemoryContext old = MemoryContextSwitchTo(s->open.cxt);

		c->text = CStringGetTextDatum(bifang_shown(text));
		c->text_of = s->count.units_read;
		MemoryContextSwitchTo(old);
	}
	return c->text;
}

/* What the file says of the row, else what is true of all rows that it says nothing of. */
static void
fill_lineage(BifangScan *s, BifangColumn *c, const BifangRows *rows, int32 vector, int64 base,
			 bool by_row)
{
	const BfVector *v = s->open.lineage_vector < 0 ? NULL : &s->open.batch->cols[vector];
	BfValue value;

	Assert(v == NULL || v->storage == BF_STORE_I64);
	for (int32 i = 0; i < rows->n; i++)
	{
		c->isnull[i] = false;
		if (v != NULL && bf_vector_get(v, bifang_row(rows, i), &value))
			c->values[i] = Int64GetDatum(value.v.i64);
		else if (v == NULL || base < 0)
			c->isnull[i] = true;
		else
			c->values[i] =
				Int64GetDatum(base + (by_row ? s->open.batch->first_row + bifang_row(rows, i) : 0));
	}
}

static void
fill_meta(BifangScan *s, BifangColumn *c, const BifangRows *rows)
{
	const BfBatch *b = s->open.batch;
	int32 n = rows->n;

	Assert(c->kind == BIFANG_FROM_META && s->open.unit != NULL);
	switch ((BfFact) c->number)
	{
		case BF_FACT_LEDGER:
			fill_same(c, n, Int64GetDatum(s->open.unit->ledger_id), s->open.unit->ledger_id < 0);
			break;
		case BF_FACT_ENTRY:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->entry == NULL;
				c->values[i] =
					b->entry == NULL ? (Datum) 0 : Int64GetDatum(b->entry[bifang_row(rows, i)]);
			}
			break;
		case BF_FACT_TIMESTAMP:
			for (int32 i = 0; i < n; i++)
			{
				int64 ms = b->timestamp == NULL ? -1 : b->timestamp[bifang_row(rows, i)];

				c->isnull[i] = ms < 0 || ms > PG_INT64_MAX / 1000;
				c->values[i] = c->isnull[i] ? (Datum) 0 : Int64GetDatum((ms - UNIX_MSECS) * 1000);
			}
			break;
		case BF_FACT_TIER:
			fill_same(c, n, unit_text(s, c, bifang_unit_tier(s->work, s->open.unit)), false);
			break;
		case BF_FACT_FILE: fill_same(c, n, unit_text(s, c, s->open.unit->path), false); break;
		case BF_FACT_POS:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->first_row < 0;
				c->values[i] = Int64GetDatum(b->first_row + bifang_row(rows, i));
			}
			break;
		case BF_FACT_ROW_ID:
			fill_lineage(s, c, rows, s->open.lineage_vector,
						 s->open.unit->file == NULL ? -1 : s->open.unit->file->first_row_id, true);
			break;
		case BF_FACT_SEQUENCE:
			fill_lineage(s, c, rows, s->open.lineage_vector + 1,
						 s->open.unit->file == NULL ? -1 : s->open.unit->file->sequence_number,
						 false);
			break;
		case BF_FACT_NONE:
		case BF_FACT_COUNT: break;
	}
}

void
bifang_scan_begin_batch(BifangScan *s)
{
	const BfBatch *b = s->open.batch;
	int32 n PG_USED_FOR_ASSERTS_ONLY = b->n_selected;

	s->slice.at = 0;
	if (b->selected != NULL)
		n = bf_bits_list(b->selected, b->n_rows, s->slice.rows);
	Assert(b->selected == NULL || n == b->n_selected);
	Assert(bf_batch_n(b) > 0);
}

void
bifang_scan_fill_slice(BifangScan *s)
{
	const BfBatch *b = s->open.batch;
	BifangRows rows = {.list = b->selected == NULL ? NULL : s->slice.rows + s->slice.at,
					   .first = s->slice.at,
					   .n = bf_batch_n(b) - s->slice.at};

	Assert(rows.n > 0 && rows.n <= BF_BATCH_ROWS);
	if (s->slice.rows_max < BF_BATCH_ROWS)
	{
		s->slice.rows_max =
			s->slice.rows_max == 0 ? SLICE_ROWS_FIRST : s->slice.rows_max * SLICE_ROWS_FACTOR;
		rows.n = Min(rows.n, s->slice.rows_max);
	}
	for (int32 i = 0; i < s->cols.n; i++)
		if (s->cols.list[i].vector >= 0)
			rows.n = bifang_out_fit(s->cols.list[i].out, &b->cols[s->cols.list[i].vector], &rows,
									SLICE_BYTES);
	for (int32 i = 0; i < s->cols.n; i++)
	{
		BifangColumn *c = &s->cols.list[i];

		if (c->vector < 0)
		{
			fill_meta(s, c, &rows);
			c->has_nulls = true;
		}
		else
			c->has_nulls =
				bifang_out_convert(c->out, &b->cols[c->vector], &rows, c->values, c->isnull);
	}
	Assert(rows.n > 0 && s->slice.at + rows.n <= bf_batch_n(b));
	s->slice.at += rows.n;
	s->slice.row = 0;
	s->slice.n = rows.n;
	s->count.rows_out += rows.n;
}

void
bifang_scan_make_room(BifangScan *s)
{
	s->slice.rows = MemoryContextAlloc(s->cxt, BF_BATCH_ROWS * sizeof *s->slice.rows);
	for (int32 i = 0; i < s->cols.n; i++)
	{
		BifangColumn *c = &s->cols.list[i];

		c->values = MemoryContextAlloc(s->cxt, BF_BATCH_ROWS * sizeof *c->values);
		c->isnull = MemoryContextAlloc(s->cxt, BF_BATCH_ROWS * sizeof *c->isnull);
	}
}
