/*
 * A leaf's way into its chunk: pieces are taken apart at the ends of pages, their values become
 * native and are kept, as they are or as codes, until the page is full.
 *
 *     RACE    the first page: values             bfi_race, at its end
 *       |-->  DICT    codes                      dictionary_is_worn, at the end of a page: again
 *       |                                        to RACE, without dictionary
 *       '-->  VALUES  values, encoded when the page ends
 */
#include "parquet/write/internal.h"

/* Of what is put together for a page, and of a chunk's pages. */
#define PAGE_BYTES_MAX ((size_t) 1 << 30)
#define CHUNK_BYTES_MAX ((size_t) 1 << 40)

BfStatus
bfi_column_new(BfParquetWriter *w, BfiColumnOut *c, const BfiLeafOut *leaf, BfError *err)
{
	BfArena *a = w->arena;

	*c = (BfiColumnOut){.leaf = leaf};
	if (leaf->physical != BFI_BOOLEAN)
		BF_TRY(bfi_dict_new(a, &c->dict, leaf->physical, leaf->width, err));
	BF_TRY(bf_buffer_new(a, PAGE_BYTES_MAX, &c->fill.values, err));
	BF_TRY(bf_buffer_new(a, PAGE_BYTES_MAX * 4, &c->fill.lengths, err));
	BF_TRY(bf_buffer_new(a, PAGE_BYTES_MAX * 4, &c->fill.codes, err));
	BF_TRY(bf_buffer_new(a, PAGE_BYTES_MAX, &c->fill.def, err));
	BF_TRY(bf_buffer_new(a, PAGE_BYTES_MAX, &c->fill.rep, err));
	BF_TRY(bf_buffer_new(a, CHUNK_BYTES_MAX, &c->chunk.pages, err));
	BF_TRY(bf_buffer_new(a, CHUNK_BYTES_MAX, &c->chunk.index, err));
	for (int32_t i = 0; i < w->options.n_bloom; i++)
		if (w->options.bloom[i] == leaf->top && leaf->physical != BFI_BOOLEAN)
			BF_TRY(bfi_bloom_new(w, &c->bloom, err));
	return BF_OK;
}

void
bfi_column_begin(const BfParquetWriter *w, BfiColumnOut *c)
{
	BfiChunkOut *k = &c->chunk;

	bfi_fill_clear(&c->fill);
	if (c->leaf->physical != BFI_BOOLEAN)
		bfi_dict_clear(&c->dict);
	BF_ASSERT(k->pages != NULL && k->index != NULL);
	*k = (BfiChunkOut){.mode = BFI_MODE_RACE,
					   .codec = w->options.codec,
					   .level = w->options.level,
					   .pages = k->pages,
					   .index = k->index};
	k->pages->len = k->index->len = 0;
	if (c->bloom != NULL)
		bfi_bloom_clear(c->bloom);
}

/* ---- where a page ends ---- */

typedef struct Take
{
	int32_t levels;
	int32_t values;
	int32_t rows;
} Take;

/* Rows of a leaf that is not repeated, all of whose values have one size. */
static Take
take_alike(const BfParquetWriter *w, const BfiColumnOut *c, const BfiPiece *p)
{
	size_t each = c->chunk.mode == BFI_MODE_DICT ? 4 : bfi_fill_each(c->leaf);
	size_t used = bfi_fill_bytes(c);
	size_t left = used < w->options.page_bytes ? w->options.page_bytes - used : 0;
	size_t n = (left + each - 1) / each;
	Take t;

	BF_ASSERT(p->n_levels > 0 && c->fill.n_rows < w->options.page_rows);
	if (n > (size_t) (w->options.page_rows - c->fill.n_rows))
		n = (size_t) (w->options.page_rows - c->fill.n_rows);
	n = n == 0 ? 1 : n;
	t.levels = t.rows = n < (size_t) p->n_levels ? (int32_t) n : p->n_levels;
	t.values = t.levels;
	if (p->def != NULL)
	{
		t.values = 0;
		for (int32_t i = 0; i < t.levels; i++)
			t.values += p->def[i] == c->leaf->max_def;
	}
	return t;
}

/* Row by row. */
static Take
take_rows(const BfParquetWriter *w, const BfiColumnOut *c, const BfiPiece *p)
{
	bool lengths = c->leaf->physical == BFI_BYTE_ARRAY && c->chunk.mode != BFI_MODE_DICT;
	size_t each = c->chunk.mode == BFI_MODE_DICT ? 4 : bfi_fill_each(c->leaf);
	size_t bytes = bfi_fill_bytes(c);
	const BfView *views = p->values;
	Take t = {0};

	for (; t.levels < p->n_levels; t.levels++)
	{
		if (p->rep == NULL || p->rep[t.levels] == 0)
		{
			if (t.rows + c->fill.n_rows > 0 &&
				(bytes >= w->options.page_bytes || t.rows + c->fill.n_rows >= w->options.page_rows))
				break;
			t.rows++;
		}
		if (p->def == NULL || p->def[t.levels] == c->leaf->max_def)
		{
			bytes += lengths ? 4 + (size_t) views[t.values].len : each;
			t.values++;
		}
		else if (!lengths)
			bytes += each;
	}
	return t;
}

/* ---- values ---- */

static BfStatus
append_values(BfParquetWriter *w, BfiColumnOut *c, const void *values, int32_t n, BfError *err)
{
	const BfiLeafOut *leaf = c->leaf;
	size_t size = bf_storage_size(leaf->storage);

	BF_ASSERT(n == 0 || size > 0);
	for (int32_t done = 0; done < n;)
	{
		int32_t k = n - done < BFI_PIECE_ROWS ? n - done : BFI_PIECE_ROWS;
		const void *storage = (const uint8_t *) values + (size_t) done * size;
		const void *native;

		BF_TRY(bfi_write_narrow(&w->scratch, leaf, storage, k, &native, err));
		bfi_range_add(leaf, &c->fill.range, storage, k);
		if (c->bloom != NULL)
			bfi_bloom_add(c->bloom, leaf->physical, leaf->width, native, k);
		BF_TRY(bfi_fill_values(c, native, k, err));
		done += k;
	}
	return BF_OK;
}

/* ---- the end of a page ---- */

/* Has the dictionary become too large, or much larger than it was reckoned with? */
static bool
dictionary_is_worn(const BfParquetWriter *w, const BfiColumnOut *c)
{
	return c->dict.plain->len > w->options.dictionary_bytes ||
		   c->dict.n / 2 > c->chunk.dict_expected;
}

static BfStatus
end_page(BfParquetWriter *w, BfiColumnOut *c, bool last, BfError *err)
{
	BfiChunkOut *k = &c->chunk;
	BfiFill *f = &c->fill;
	BfiNative native;

	BF_ASSERT(f->n_levels > 0);
	if (f->n_values > 0 && k->mode == BFI_MODE_RACE)
		BF_TRY(bfi_race(w, c, last, err));
	if (k->mode == BFI_MODE_DICT)
	{
		native = (BfiNative){.physical = c->leaf->physical,
							 .width = c->leaf->width,
							 .n = f->n_values,
							 .values = f->codes->data};
		BF_TRY(bfi_page_put(w, c,
							w->options.basic_encodings ? BFI_PLAIN_DICTIONARY : BFI_RLE_DICTIONARY,
							&native, err));
		if (dictionary_is_worn(w, c))
			k->mode = BFI_MODE_RACE;
		k->dict_before = c->dict.plain->len;
	}
	else
	{
		BF_TRY(bfi_fill_native(&w->scratch, c, &native, err));
		BF_TRY(bfi_page_put(w, c, f->n_values > 0 ? k->encoding : BFI_PLAIN, &native, err));
	}
	k->n_values += f->n_levels;
	k->n_nulls += f->n_levels - f->n_values;
	k->n_rows += f->n_rows;
	bfi_range_merge(c->leaf, &k->range, &f->range);
	bfi_fill_clear(f);
	return BF_OK;
}

/* In codes a page's bytes are known only with the dictionary's: they are looked at every
 * BFI_PIECE_ROWS rows. */
static bool
is_full(const BfParquetWriter *w, const BfiColumnOut *c)
{
	if (c->fill.n_rows >= w->options.page_rows)
		return true;
	if (c->chunk.mode != BFI_MODE_DICT)
		return c->leaf->max_rep == 0 && bfi_fill_bytes(c) >= w->options.page_bytes;
	return (c->chunk.n_rows + c->fill.n_rows) % BFI_PIECE_ROWS == 0 &&
		   bfi_fill_bytes(c) + c->dict.plain->len - c->chunk.dict_before >= w->options.page_bytes;
}

/* Takes them off the piece. */
static BfStatus
append(BfParquetWriter *w, BfiColumnOut *c, BfiPiece *p, const Take *t, BfError *err)
{
	size_t size = bf_storage_size(c->leaf->storage);

	BF_TRY(bfi_fill_levels(c, p, t->levels, t->values, t->rows, err));
	BF_TRY(append_values(w, c, p->values, t->values, err));
	if (t->values > 0)
		p->values = (const uint8_t *) p->values + (size_t) t->values * size;
	p->n_values -= t->values;
	p->n_levels -= t->levels;
	p->def = p->def != NULL ? p->def + t->levels : NULL;
	p->rep = p->rep != NULL ? p->rep + t->levels : NULL;
	return BF_OK;
}

BfStatus
bfi_column_append(BfParquetWriter *w, BfiColumnOut *c, const BfiPiece *piece, BfError *err)
{
	const BfiLeafOut *leaf = c->leaf;
	BfiPiece p = *piece;

	BF_ASSERT((leaf->max_rep > 0) == (p.rep != NULL));
	while (p.n_levels > 0)
	{
		bool alike =
			p.rep == NULL && (leaf->physical != BFI_BYTE_ARRAY || c->chunk.mode == BFI_MODE_DICT);
		Take t = alike ? take_alike(w, c, &p) : take_rows(w, c, &p);

		BF_ASSERT(t.levels <= p.n_levels && t.values <= p.n_values);
		/* None: the page was full already, which is seen only when the next row comes. */
		if (t.levels > 0)
			BF_TRY(append(w, c, &p, &t, err));
		if (p.n_levels > 0 || is_full(w, c))
			BF_TRY(end_page(w, c, false, err));
	}
	BF_ASSERT(p.n_values == 0);
	return BF_OK;
}

BfStatus
bfi_column_finish(BfParquetWriter *w, BfiColumnOut *c, BfError *err)
{
	if (c->fill.n_levels > 0)
		BF_TRY(end_page(w, c, true, err));
	BF_ASSERT(c->fill.n_levels == 0 && c->fill.n_values == 0);
	BF_ASSERT(c->chunk.n_rows == w->group_rows);
	return BF_OK;
}
