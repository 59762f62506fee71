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
		MemoryContext old = MemoryContextSwitchTo(s->unit_cxt);

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
	const BfVector *v = s->lineage_vector < 0 ? NULL : &s->batch->cols[vector];
	BfValue value;

	for (int32 i = 0; i < rows->n; i++)
	{
		c->isnull[i] = false;
		if (v != NULL && bf_vector_get(v, bifang_row(rows, i), &value))
			c->values[i] = Int64GetDatum(value.v.i64);
		else if (v == NULL || base < 0)
			c->isnull[i] = true;
		else
			c->values[i] =
				Int64GetDatum(base + (by_row ? s->batch->first_row + bifang_row(rows, i) : 0));
	}
}

static void
fill_meta(BifangScan *s, BifangColumn *c, const BifangRows *rows)
{
	const BfBatch *b = s->batch;
	int32 n = rows->n;

	switch ((BfFact) c->number)
	{
		case BF_FACT_LEDGER:
			fill_same(c, n, Int64GetDatum(s->unit->ledger_id), s->unit->ledger_id < 0);
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
			fill_same(c, n, unit_text(s, c, bifang_unit_tier(s->work, s->unit)), false);
			break;
		case BF_FACT_FILE: fill_same(c, n, unit_text(s, c, s->unit->path), false); break;
		case BF_FACT_POS:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->first_row < 0;
				c->values[i] = Int64GetDatum(b->first_row + bifang_row(rows, i));
			}
			break;
		case BF_FACT_ROW_ID:
			fill_lineage(s, c, rows, s->lineage_vector,
						 s->unit->file == NULL ? -1 : s->unit->file->first_row_id, true);
			break;
		case BF_FACT_SEQUENCE:
			fill_lineage(s, c, rows, s->lineage_vector + 1,
						 s->unit->file == NULL ? -1 : s->unit->file->sequence_number, false);
			break;
		case BF_FACT_NONE:
		case BF_FACT_COUNT: break;
	}
}

void
bifang_scan_begin_batch(BifangScan *s)
{
	const BfBatch *b = s->batch;
	int32 n PG_USED_FOR_ASSERTS_ONLY = b->n_selected;

	s->at = 0;
	if (b->selected != NULL)
		n = bf_bits_list(b->selected, b->n_rows, s->rows);
	Assert(b->selected == NULL || n == b->n_selected);
	Assert(bf_batch_n(b) > 0);
}

void
bifang_scan_fill_slice(BifangScan *s)
{
	const BfBatch *b = s->batch;
	BifangRows rows = {.list = b->selected == NULL ? NULL : s->rows + s->at,
					   .first = s->at,
					   .n = bf_batch_n(b) - s->at};

	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			rows.n = bifang_out_fit(s->columns[i].out, &b->cols[s->columns[i].vector], &rows,
									SLICE_BYTES);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		if (c->vector < 0)
		{
			fill_meta(s, c, &rows);
			c->has_nulls = true;
		}
		else
			c->has_nulls =
				bifang_out_convert(c->out, &b->cols[c->vector], &rows, c->values, c->isnull);
	}
	s->at += rows.n;
	s->row = 0;
	s->n_rows = rows.n;
	s->count.rows_out += rows.n;
}

void
bifang_scan_make_room(BifangScan *s)
{
	s->rows = MemoryContextAlloc(s->cxt, BF_BATCH_ROWS * sizeof *s->rows);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		c->values = MemoryContextAllocZero(s->cxt, BF_BATCH_ROWS * sizeof *c->values);
		c->isnull = MemoryContextAllocZero(s->cxt, BF_BATCH_ROWS * sizeof *c->isnull);
	}
}
