/*
 * A leaf below a nested column: its repetition and definition levels, a byte each, and its values
 * without the NULLs, row by row.
 *
 *     rep  0 1 1 0 0 1 | 0 ...       rows begin where rep is 0
 *     def  3 3 2 1 3 3 | 0 ...       dense: one value per def = max_def
 *          batch: used | ahead
 *
 * How many levels a row has is known only once the next row begins. So levels are decoded some way
 * ahead of the values, but never past the current page: values can't be taken from a page that has
 * been left behind. In V1 pages a row may go on in the next page; the batch's last row is complete
 * when the next page's first level says so. Views into the page that is left then are moved.
 */
#include "parquet/internal.h"
#include "parquet/levels.h"

/* Levels decoded at once. */
#define CHUNK 1024
/* A batch has no more levels than this per leaf, unless its only row has. */
#define BATCH_LEVELS_MAX 32768

static BfStatus
reserve_levels(BfiColumn *c, BfError *err)
{
	BfiLevels *l = c->levels;

	l->def->len = (size_t) l->n;
	if (l->def->len + CHUNK > l->def->bytes_max - BFI_SLACK)
		BF_FAIL_AT(err, BF_ERR_LIMIT, c->page.at, "a row of more than %zu items", l->def->len);
	BF_TRY(bf_buffer_reserve(l->def, CHUNK + BFI_SLACK, err));
	if (c->leaf->max_rep == 0)
		return BF_OK;
	l->rep->len = (size_t) l->n;
	return bf_buffer_reserve(l->rep, CHUNK + BFI_SLACK, err);
}

/* k levels of at most `max` as bytes. */
static BfStatus
decode_bytes(BfiColumn *c, BfiRle *rle, int16_t max, uint8_t *out, uint32_t k, BfError *err)
{
	uint32_t tmp[CHUNK];
	uint32_t bad = 0;

	BF_ASSERT(k > 0 && k <= CHUNK && max > 0 && max <= UINT8_MAX);
	BF_TRY(bfi_rle_u32(rle, tmp, k, err));
	for (uint32_t i = 0; i < k; i++)
	{
		bad |= tmp[i] > (uint32_t) max;
		out[i] = (uint8_t) tmp[i];
	}
	BF_DATA(err, !bad, c->page.at, "a level above the maximum %d", max);
	return BF_OK;
}

/* An item that is repeated exists. */
static BfStatus
check_levels(const BfiColumn *c, const uint8_t *rep, const uint8_t *def, uint32_t k, BfError *err)
{
	const uint8_t *at_least = c->levels->rep_def;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < k; i++)
		bad |= def[i] < at_least[rep[i]];
	BF_DATA(err, !bad, c->page.at, "an item of a list that is empty");
	return BF_OK;
}

/* DuckDB gives a NULL array of n items n pairs of levels, of which only the first means something.
 * The others, which have no values, are left out; returns how many pairs remain. */
static uint32_t
drop_items_of_null(const BfiColumn *c, uint8_t *rep, uint8_t *def, uint32_t k)
{
	const uint8_t *at_least = c->levels->rep_def;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < k; i++)
	{
		rep[kept] = rep[i];
		def[kept] = def[i];
		kept += def[i] >= at_least[rep[i]];
	}
	return kept;
}

/* Some more levels of the current page. */
static BfStatus
decode_ahead(BfiColumn *c, BfError *err)
{
	BfiLevels *l = c->levels;
	uint32_t k = c->page_left < CHUNK ? (uint32_t) c->page_left : CHUNK;
	uint8_t *def;
	int16_t max_def = c->leaf->max_def;

	BF_ASSERT(k > 0);
	BF_TRY(bf_check_cancel(bf_arena_host(c->batch.arena), err));
	BF_TRY(reserve_levels(c, err));
	def = l->def->data + l->n;
	if (c->page.n_values == c->page.n_levels)
		memset(def, max_def, k);
	else
		BF_TRY(decode_bytes(c, &c->page.def, max_def, def, k, err));
	if (c->leaf->max_rep > 0)
	{
		uint8_t *rep = l->rep->data + l->n;

		BF_TRY(decode_bytes(c, &c->page.rep, c->leaf->max_rep, rep, k, err));
		c->page_left -= (int32_t) k;
		if (c->file->writer.app == BFI_APP_DUCKDB)
			k = drop_items_of_null(c, rep, def, k);
		else
			BF_TRY(check_levels(c, rep, def, k, err));
	}
	else
		c->page_left -= (int32_t) k;
	l->n += (int32_t) k;
	return BF_OK;
}

/* Counts rows that begin ahead, until there are more than `want`. */
static void
count_rows(BfiLevels *l, int32_t want)
{
	uint32_t seen = 0;

	BF_ASSERT(l->used <= l->counted && l->counted <= l->n);
	if (l->ahead <= want && l->counted < l->n)
	{
		l->counted +=
			(int32_t) bfi_find_zero(l->rep->data + l->counted, (uint32_t) (l->n - l->counted),
									(uint32_t) (want - l->ahead), &seen);
		/* What was found is the first row that is too many. */
		seen += l->counted < l->n;
		l->counted += l->counted < l->n;
	}
	l->ahead += (int32_t) seen;
}

/* The levels of the last batch go away; what is ahead moves to the front. */
static void
drop_used(BfiLevels *l, bool has_rep)
{
	int32_t left = l->n - l->used;

	BF_ASSERT(l->used <= l->n && (!has_rep || l->rep != NULL));
	if (left > 0 && l->used > 0)
	{
		memmove(l->def->data, l->def->data + l->used, (size_t) left);
		if (has_rep)
			memmove(l->rep->data, l->rep->data + l->used, (size_t) left);
	}
	l->n = left;
	l->used = l->counted = l->ahead = l->n_dense = 0;
}

BfStatus
bfi_levels_begin(BfiColumn *c, int32_t want, int32_t *room, BfError *err)
{
	BfiLevels *l = c->levels;

	BF_ASSERT(want > 0);
	drop_used(l, c->leaf->max_rep > 0);
	BF_TRY(bfi_column_begin_batch(c, err));
	if (l->n == 0 && c->page_left == 0)
	{
		BF_DATA(err, c->chunk.levels_left > 0, c->page.at,
				"the column has fewer rows than its row group");
		BF_TRY(bfi_page_next(c, err));
	}
	if (c->leaf->max_rep == 0)
	{
		*room = l->n + c->page_left < want ? l->n + c->page_left : want;
		return BF_OK;
	}
	count_rows(l, want);
	while (l->ahead <= want && c->page_left > 0 && l->n < BATCH_LEVELS_MAX)
	{
		BF_TRY(decode_ahead(c, err));
		count_rows(l, want);
	}
	BF_DATA(err, l->rep->data[0] == 0, c->page.at, "a row group that begins within a row");
	*room = l->ahead;
	/* The last row may be far from complete; without it the others are. */
	if (l->ahead > want)
		*room = want;
	else if (c->page_left > 0 && l->ahead > 1)
		*room = l->ahead - 1;
	return BF_OK;
}

/* Values of the levels [from, to). */
static BfStatus
decode_values(BfiColumn *c, int32_t from, int32_t to, BfError *err)
{
	BfiLevels *l = c->levels;
	const uint8_t *def = l->def->data;
	uint8_t max = (uint8_t) c->leaf->max_def;
	size_t size = bf_storage_size(c->leaf->storage);
	int32_t n;

	BF_ASSERT(from >= 0 && to <= l->n);
	if (!l->values)
		return BF_OK;
	n = from < to ? (int32_t) bfi_count_byte(def + from, (uint32_t) (to - from), max) : 0;
	BF_NEVER(err, n > c->values.left);
	if (l->skipping)
		return bfi_values_skip(&c->values, n, err);
	l->dense->len = (size_t) l->n_dense * size;
	BF_TRY(bf_buffer_reserve(l->dense, ((size_t) n + 1) * size, err));
	while (n > 0)
	{
		int32_t k = n < BF_BATCH_ROWS ? n : BF_BATCH_ROWS;

		BF_TRY(bfi_column_decode(c, k, l->dense->data + (size_t) l->n_dense * size, err));
		l->n_dense += k;
		n -= k;
	}
	/* Behind the last one there is something to read. */
	memset(l->dense->data + (size_t) l->n_dense * size, 0, size);
	return BF_OK;
}

/* The next page; values of the batch from `first` on are in the current one. */
static BfStatus
leave_page(BfiColumn *c, int32_t *first, BfError *err)
{
	BfiLevels *l = c->levels;

	if (l->values && bfi_column_has_views(c) && l->n_dense > *first)
		BF_TRY(
			bfi_column_keep_views(c, (BfView *) (void *) l->dense->data, *first, l->n_dense, err));
	BF_TRY(bfi_page_next(c, err));
	*first = l->n_dense;
	return BF_OK;
}

/* Leaves without repetition: a level is a row. */
static BfStatus
read_rows(BfiColumn *c, int32_t n, BfError *err)
{
	BfiLevels *l = c->levels;
	int32_t first = 0;

	BF_ASSERT(c->leaf->max_rep == 0 && l->used <= l->n);
	while (l->used < n)
	{
		int32_t to;

		if (l->used == l->n)
		{
			if (c->page_left == 0)
			{
				BF_DATA(err, c->chunk.levels_left > 0, c->page.at,
						"the column has fewer rows than its row group");
				BF_TRY(leave_page(c, &first, err));
			}
			BF_TRY(decode_ahead(c, err));
		}
		to = l->n < n ? l->n : n;
		BF_TRY(decode_values(c, l->used, to, err));
		l->used = to;
	}
	return BF_OK;
}

/* Is the row that ends with the last level known to be complete? */
static bool
row_ends(const BfiColumn *c)
{
	return c->page_left == 0 && c->chunk.levels_left == 0;
}

static BfStatus
read_repeated_rows(BfiColumn *c, int32_t n, BfError *err)
{
	BfiLevels *l = c->levels;
	int32_t first = 0;
	int32_t seen = 0;

	BF_ASSERT(c->leaf->max_rep > 0 && n > 0);
	for (;;)
	{
		uint32_t more = 0;
		int32_t to = l->used;

		if (to < l->n) /* before the first page there are none, and no memory for them */
			to += (int32_t) bfi_find_zero(l->rep->data + to, (uint32_t) (l->n - to),
										  (uint32_t) (n - seen), &more);
		seen += (int32_t) more;
		BF_TRY(decode_values(c, l->used, to, err));
		l->used = to;
		if (to < l->n)
			return BF_OK; /* here the next row begins */
		if (row_ends(c) || (c->page_left == 0 && c->chunk.jumped && seen == n))
			break; /* with an index pages begin with a row */
		if (c->page_left == 0)
			BF_TRY(leave_page(c, &first, err));
		BF_TRY(decode_ahead(c, err));
	}
	BF_DATA(err, seen == n, c->page.at, "the column has fewer rows than its row group");
	return BF_OK;
}

/* Rows passed over between two looks at memory. */
#define SKIP_ROWS 1024

BfStatus
bfi_levels_seek(BfiColumn *c, int64_t row, BfError *err)
{
	BfiLevels *l = c->levels;
	int64_t before = c->chunk.row;
	BfStatus status = BF_OK;

	BF_ASSERT(row >= c->chunk.row);
	if (row > c->chunk.row && row < c->file->row_groups[c->chunk.rg].n_rows)
		BF_TRY(bfi_column_jump(c, row, err));
	if (c->chunk.row != before)
		l->n = l->used = 0; /* what was ahead has been jumped over */
	l->skipping = true;
	while (c->chunk.row < row && status == BF_OK)
	{
		int32_t n = row - c->chunk.row < SKIP_ROWS ? (int32_t) (row - c->chunk.row) : SKIP_ROWS;

		drop_used(l, c->leaf->max_rep > 0);
		status = bfi_column_begin_batch(c, err);
		if (status == BF_OK)
			status = c->leaf->max_rep == 0 ? read_rows(c, n, err) : read_repeated_rows(c, n, err);
		c->chunk.row += n;
	}
	l->skipping = false;
	return status;
}

BfStatus
bfi_levels_read(BfiColumn *c, int32_t n, bool last, BfError *err)
{
	BF_ASSERT(n > 0 && c->levels != NULL);
	if (c->leaf->max_rep == 0)
		BF_TRY(read_rows(c, n, err));
	else
		BF_TRY(read_repeated_rows(c, n, err));
	c->chunk.row += n;
	BF_DATA(err, !last || (row_ends(c) && c->levels->used == c->levels->n), c->page.at,
			"the column has more rows than its row group");
	return BF_OK;
}
