/*
 * The page that is being filled: its levels a byte each, its values as they are, those of bytes
 * with their lengths beside them, or their codes.
 */
#include "parquet/write/internal.h"

#define LEVELS_MAX (INT32_C(1) << 30)

static bool
is_bytes(const BfiLeafOut *leaf)
{
	return leaf->physical == BFI_BYTE_ARRAY || leaf->physical == BFI_FLBA ||
		   leaf->physical == BFI_INT96;
}

size_t
bfi_fill_each(const BfiLeafOut *leaf)
{
	return leaf->physical == BFI_BOOLEAN ? 1 : leaf->width;
}

void
bfi_fill_clear(BfiFill *f)
{
	f->n_values = f->n_levels = f->n_rows = 0;
	f->below = false;
	f->values->len = f->lengths->len = f->codes->len = f->def->len = f->rep->len = 0;
	f->range.has = false;
	f->range.nans = 0;
}

size_t
bfi_chunk_held(const BfiColumnOut *c)
{
	const BfiFill *f = &c->fill;
	size_t dict = c->leaf->physical == BFI_BOOLEAN ? 0 : bfi_dict_bytes(&c->dict);

	return f->values->len + f->lengths->len + f->codes->len + f->def->len + f->rep->len +
		   c->chunk.pages->len + c->chunk.index->len + dict;
}

size_t
bfi_fill_bytes(const BfiColumnOut *c)
{
	const BfiFill *f = &c->fill;

	if (c->chunk.mode == BFI_MODE_DICT)
		return (size_t) f->n_levels * 4;
	if (c->leaf->physical == BFI_BYTE_ARRAY)
		return f->values->len + f->lengths->len;
	return (size_t) f->n_levels * bfi_fill_each(c->leaf);
}

BfStatus
bfi_fill_levels(BfiColumnOut *c, const BfiPiece *p, int32_t n_levels, int32_t n_values,
				int32_t n_rows, BfError *err)
{
	BfiFill *f = &c->fill;
	size_t n = (size_t) n_levels;

	BF_ASSERT(n_levels > 0 && n_values <= n_levels && n_rows <= n_levels);
	BF_ASSERT(n_values == n_levels || p->def != NULL);
	if (n_levels > LEVELS_MAX - f->n_levels)
		BF_FAIL(err, BF_ERR_LIMIT, "a row of more than %d values", LEVELS_MAX);
	if (p->rep != NULL)
		BF_TRY(bf_buffer_append(f->rep, p->rep, n, err));
	if (!f->below && n_values < n_levels)
	{
		BF_TRY(bf_buffer_reserve(f->def, (size_t) f->n_levels + n, err));
		memset(f->def->data, c->leaf->max_def, (size_t) f->n_levels);
		f->def->len = (size_t) f->n_levels;
		f->below = true;
	}
	if (f->below)
	{
		BF_TRY(bf_buffer_reserve(f->def, n, err));
		if (p->def != NULL)
			memcpy(f->def->data + f->def->len, p->def, n);
		else
			memset(f->def->data + f->def->len, c->leaf->max_def, n);
		f->def->len += n;
	}
	f->n_levels += n_levels;
	f->n_rows += n_rows;
	return BF_OK;
}

static BfStatus
keep_views(BfiColumnOut *c, const BfView *v, int32_t n, BfError *err)
{
	size_t bytes = 0;
	uint8_t *to;

	BF_ASSERT(is_bytes(c->leaf));
	for (int32_t i = 0; i < n; i++)
		bytes += v[i].len;
	BF_TRY(bf_buffer_reserve(c->fill.values, bytes, err));
	to = c->fill.values->data + c->fill.values->len;
	for (int32_t i = 0; i < n; i++)
	{
		if (v[i].len > 0)
			memcpy(to, v[i].ptr, v[i].len);
		to += v[i].len;
	}
	c->fill.values->len += bytes;
	if (c->leaf->physical != BFI_BYTE_ARRAY)
		return BF_OK;
	BF_TRY(bf_buffer_reserve(c->fill.lengths, (size_t) n * 4, err));
	to = c->fill.lengths->data + c->fill.lengths->len;
	for (int32_t i = 0; i < n; i++)
		bf_store32le(to + (size_t) i * 4, v[i].len);
	c->fill.lengths->len += (size_t) n * 4;
	return BF_OK;
}

static BfStatus
keep_codes(BfiColumnOut *c, const void *native, int32_t n, BfError *err)
{
	BfBuffer *codes = c->fill.codes;

	BF_ASSERT(codes->len == (size_t) c->fill.n_values * 4);
	BF_TRY(bf_buffer_reserve(codes, (size_t) n * 4, err));
	BF_TRY(
		bfi_dict_codes(&c->dict, native, n, (uint32_t *) (void *) (codes->data + codes->len), err));
	codes->len += (size_t) n * 4;
	return BF_OK;
}

BfStatus
bfi_fill_values(BfiColumnOut *c, const void *native, int32_t n, BfError *err)
{
	if (c->chunk.mode == BFI_MODE_DICT)
		BF_TRY(keep_codes(c, native, n, err));
	else if (is_bytes(c->leaf))
		BF_TRY(keep_views(c, native, n, err));
	else
		BF_TRY(bf_buffer_append(c->fill.values, native, (size_t) n * bfi_fill_each(c->leaf), err));
	c->fill.n_values += n;
	BF_ASSERT(c->fill.n_values <= c->fill.n_levels);
	return BF_OK;
}

BfStatus
bfi_fill_native(BfiScratch *s, const BfiColumnOut *c, BfiNative *out, BfError *err)
{
	const BfiFill *f = &c->fill;
	const uint8_t *bytes = f->values->data;
	BfView *views;

	*out = (BfiNative){
		.physical = c->leaf->physical, .width = c->leaf->width, .n = f->n_values, .values = bytes};
	if (!is_bytes(c->leaf))
		return BF_OK;
	s->views->len = 0;
	BF_TRY(bf_buffer_reserve(s->views, (size_t) f->n_values * sizeof *views, err));
	views = (BfView *) (void *) s->views->data;
	for (int32_t i = 0; i < f->n_values; i++)
	{
		uint32_t len = c->leaf->physical == BFI_BYTE_ARRAY
						   ? bf_load32le(f->lengths->data + (size_t) i * 4)
						   : c->leaf->width;

		views[i] = (BfView){bytes, len};
		bytes += len;
	}
	BF_ASSERT(f->n_values == 0 || bytes == f->values->data + f->values->len);
	out->values = views;
	return BF_OK;
}
