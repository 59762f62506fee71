/*
 * The values section of a page: every encoding for every physical type, in batches.
 *
 * bfi_values_init looks at the section once and checks what can be checked for the page as a
 * whole; after that PLAIN values of fixed width and stream-split ones are taken without a check.
 * Values come out "native" (int32, int64, float, double, a byte per boolean, a view per byte
 * array) and are converted to storage where that differs.
 *
 * Views of PLAIN and DELTA_LENGTH pages point into the page. Values that have to be put together
 * (DELTA_BYTE_ARRAY, stream-split byte arrays) live in the column's batch arena.
 */
#include "parquet/internal.h"

/* Four codes at once, in whatever registers the compiler has for that. */
typedef uint32_t Codes4 __attribute__((vector_size(16)));

/* Which encodings a physical type may have; dictionaries are for all. */
static bool
encoding_fits(BfiEncoding e, BfiPhysical t)
{
	switch (e)
	{
		case BFI_PLAIN:
		case BFI_PLAIN_DICTIONARY:
		case BFI_RLE_DICTIONARY: return true;
		case BFI_RLE: return t == BFI_BOOLEAN;
		case BFI_ALP: return t == BFI_FLOAT || t == BFI_DOUBLE;
		case BFI_DELTA_BINARY_PACKED: return t == BFI_INT32 || t == BFI_INT64;
		case BFI_DELTA_LENGTH_BYTE_ARRAY: return t == BFI_BYTE_ARRAY;
		case BFI_DELTA_BYTE_ARRAY: return t == BFI_BYTE_ARRAY || t == BFI_FLBA;
		case BFI_BYTE_STREAM_SPLIT:
			return t == BFI_FLOAT || t == BFI_DOUBLE || t == BFI_INT32 || t == BFI_INT64 ||
				   t == BFI_FLBA;
		default: return false;
	}
}

static BfStatus
init_plain(BfiValues *v, const BfiLeaf *leaf, size_t len, BfError *err)
{
	uint64_t need;

	if (leaf->physical == BFI_BYTE_ARRAY)
		need = (uint64_t) v->left * 4;
	else if (leaf->physical == BFI_BOOLEAN)
		need = ((uint64_t) v->left + 7) / 8;
	else
		need = (uint64_t) v->left * leaf->width;
	BF_DATA(err, need <= len, v->at, "%d values need %llu bytes, the page has %zu", v->left,
			(unsigned long long) need, len);
	return BF_OK;
}

static BfStatus
init_codes(BfiColumn *c, const uint8_t *p, size_t len, BfError *err)
{
	BfiValues *v = &c->values;

	v->encoding = BFI_RLE_DICTIONARY;
	if (v->left == 0)
		return BF_OK; /* such a page may have no width byte, the chunk no dictionary */
	BF_DATA(err, c->has_dict, v->at, "a dictionary-encoded page, but the chunk has no dictionary");
	BF_DATA(err, len > 0 && p[0] <= 32, v->at, "dictionary codes of %d bits",
			len > 0 ? (int) p[0] : -1);
	bfi_rle_init(&v->rle, p + 1, len - 1, p[0], v->at);
	return BF_OK;
}

static BfStatus
check_count(const BfiValues *v, const BfiDelta *d, BfError *err)
{
	BF_DATA(err, d->count == (uint64_t) v->left, v->at, "a delta stream of %llu values for %d",
			(unsigned long long) d->count, v->left);
	return BF_OK;
}

/* One stream of lengths, or two (prefixes, suffixes), then the bytes. */
static BfStatus
init_delta_text(BfiColumn *c, const uint8_t *p, size_t len, BfError *err)
{
	BfiValues *v = &c->values;
	const uint8_t *end = p + len;
	const uint8_t *next;

	BF_TRY(bfi_delta_init(&v->delta, p, len, 32, v->at, err));
	BF_TRY(check_count(v, &v->delta, err));
	BF_TRY(bfi_delta_end(v->delta, &next, err));
	if (v->encoding == BFI_DELTA_BYTE_ARRAY)
	{
		BF_TRY(bfi_delta_init(&v->suffix, next, (size_t) (end - next), 32, v->at, err));
		BF_TRY(check_count(v, &v->suffix, err));
		BF_TRY(bfi_delta_end(v->suffix, &next, err));
		if (!c->carry_previous)
			c->previous = (BfView){NULL, 0};
	}
	v->pos = next;
	return BF_OK;
}

static BfStatus
init_boolean_runs(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	uint32_t runs;

	BF_DATA(err, len >= 4, v->at, "booleans in runs without a length");
	runs = bf_load32le(p);
	BF_DATA(err, runs <= len - 4, v->at, "runs of %u bytes in a page of %zu", runs, len);
	bfi_rle_init(&v->rle, p + 4, runs, 1, v->at);
	return BF_OK;
}

BfStatus
bfi_values_init(BfiColumn *c, BfError *err)
{
	BfiValues *v = &c->values;
	const uint8_t *p = c->page.body.ptr;
	size_t len = c->page.body.len;

	memset(v, 0, sizeof *v);
	v->encoding = (BfiEncoding) c->page.encoding;
	v->at = c->page.at;
	v->left = v->n = c->page.n_values;
	v->pos = p;
	v->end = p + len;
	if (c->page.encoding < 0 || c->page.encoding >= BFI_ENCODING_COUNT ||
		!encoding_fits(v->encoding, c->leaf->physical))
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, v->at, "values of type %s encoded as %s (%d)",
				   bfi_physical_name((int32_t) c->leaf->physical),
				   bfi_encoding_name(c->page.encoding), c->page.encoding);
	if (v->left == 0 && v->encoding != BFI_PLAIN_DICTIONARY)
		return BF_OK; /* whatever the section holds, nobody asks for it */
	switch (v->encoding)
	{
		case BFI_PLAIN: return init_plain(v, c->leaf, len, err);
		case BFI_PLAIN_DICTIONARY:
		case BFI_RLE_DICTIONARY: return init_codes(c, p, len, err);
		case BFI_RLE: return init_boolean_runs(v, p, len, err);
		case BFI_DELTA_BINARY_PACKED:
			BF_TRY(bfi_delta_init(&v->delta, p, len, c->leaf->physical == BFI_INT32 ? 32 : 64,
								  v->at, err));
			return check_count(v, &v->delta, err);
		case BFI_ALP:
			BF_TRY(bfi_alp_init(&v->alp, p, len, c->leaf->width, v->at, err));
			BF_DATA(err, v->alp.count == (uint32_t) v->left, v->at,
					"an ALP page of %u values for %d", v->alp.count, v->left);
			return BF_OK;
		case BFI_BYTE_STREAM_SPLIT:
			BF_DATA(err, len == (uint64_t) v->left * c->leaf->width, v->at,
					"%d values of %u split bytes need %llu, the page has %zu", v->left,
					c->leaf->width, (unsigned long long) v->left * c->leaf->width, len);
			return BF_OK;
		default: return init_delta_text(c, p, len, err);
	}
}

static BfStatus
plain_byte_arrays(BfiValues *v, int32_t n, BfView *out, BfError *err)
{
	const uint8_t *p = v->pos;
	const uint8_t *end = v->end;

	for (int32_t i = 0; i < n; i++)
	{
		size_t left = (size_t) (end - p);
		uint32_t len;

		BF_DATA(err, left >= 4, v->at, "a value's length is cut short");
		len = bf_load32le(p);
		BF_DATA(err, len <= left - 4, v->at, "a value of %u bytes, but only %zu are left", len,
				left - 4);
		out[i].ptr = p + 4;
		out[i].len = len;
		p += 4 + (size_t) len;
	}
	v->pos = p;
	return BF_OK;
}

static BfStatus
plain(BfiValues *v, const BfiLeaf *leaf, int32_t n, void *out, BfError *err)
{
	size_t width = leaf->width;

	switch (leaf->physical)
	{
		case BFI_BYTE_ARRAY: return plain_byte_arrays(v, n, out, err);
		case BFI_BOOLEAN:
			bfi_bits_to_bytes(v->pos, v->bit, out, (uint32_t) n);
			v->bit += (uint32_t) n;
			v->pos += v->bit >> 3;
			v->bit &= 7;
			return BF_OK;
		case BFI_INT96:
		case BFI_FLBA:
		{
			BfView *views = out;

			for (int32_t i = 0; i < n; i++)
				views[i] = (BfView){v->pos + (size_t) i * width, (uint32_t) width};
			break;
		}
		default: memcpy(out, v->pos, (size_t) n * width); break;
	}
	v->pos += (size_t) n * width;
	return BF_OK;
}

/* Memory that lives as long as the batch. */
static BfStatus
batch_bytes(BfiColumn *c, size_t n, uint8_t **out, BfError *err)
{
	*out = bf_arena_alloc(c->batch_arena, n);
	if (*out == NULL)
		return bf_arena_fail(c->batch_arena, n, err);
	return BF_OK;
}

static BfStatus
stream_split(BfiColumn *c, int32_t n, void *out, BfError *err)
{
	BfiValues *v = &c->values;
	size_t width = c->leaf->width;
	uint8_t *bytes = out;

	if (c->leaf->physical == BFI_FLBA)
	{
		BfView *views = out;

		BF_TRY(batch_bytes(c, (size_t) n * width, &bytes, err));
		for (int32_t i = 0; i < n; i++)
			views[i] = (BfView){bytes + (size_t) i * width, (uint32_t) width};
	}
	bfi_merge_streams(v->pos + (v->n - v->left), (size_t) v->n, width, bytes, (size_t) n);
	return BF_OK;
}

static BfStatus
delta_length(BfiColumn *c, int32_t n, BfView *out, BfError *err)
{
	BfiValues *v = &c->values;
	int32_t *lengths = (int32_t *) (void *) c->codes;
	const uint8_t *p = v->pos;

	BF_TRY(bfi_delta_i32(&v->delta, lengths, (uint32_t) n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err, lengths[i] >= 0 && lengths[i] <= v->end - p, v->at,
				"a value of %d bytes, but only %lld are left", lengths[i],
				(long long) (v->end - p));
		out[i] = (BfView){p, (uint32_t) lengths[i]};
		p += lengths[i];
	}
	v->pos = p;
	return BF_OK;
}

/* Copies len bytes and perhaps some more: up to COPY_SLACK bytes behind both ends are touched, so
 * that short copies need no loop. */
#define COPY_SLACK 16

static inline void
copy_over(uint8_t *to, const uint8_t *from, size_t len)
{
	for (size_t i = 0; i < len; i += 16)
	{
		uint64_t a = bf_load64le(from + i);
		uint64_t b = bf_load64le(from + i + 8);

		bf_store64le(to + i, a);
		bf_store64le(to + i + 8, b);
	}
}

/* Lengths are known before any byte is copied, so that one allocation serves the batch; its size
 * is bounded by the limit of a page, since a few bytes can describe very long values. */
static BfStatus
delta_byte_array(BfiColumn *c, int32_t n, BfView *out, BfError *err)
{
	BfiValues *v = &c->values;
	int32_t *prefix = (int32_t *) (void *) c->codes;
	int32_t *suffix = prefix + BF_BATCH_ROWS;
	uint64_t total = 0;
	uint64_t taken = 0;
	uint64_t previous_len = c->previous.len;
	uint8_t *to;
	BfView previous = c->previous;

	BF_TRY(bfi_delta_i32(&v->delta, prefix, (uint32_t) n, err));
	BF_TRY(bfi_delta_i32(&v->suffix, suffix, (uint32_t) n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err, prefix[i] >= 0 && (uint64_t) prefix[i] <= previous_len, v->at,
				"a prefix of %d bytes, but the value before has %llu", prefix[i],
				(unsigned long long) previous_len);
		BF_DATA(err, suffix[i] >= 0, v->at, "a suffix of %d bytes", suffix[i]);
		taken += (uint64_t) suffix[i];
		previous_len = (uint64_t) prefix[i] + (uint64_t) suffix[i];
		total += previous_len;
		BF_DATA(err, c->leaf->physical != BFI_FLBA || previous_len == c->leaf->width, v->at,
				"a value of %llu bytes in a column of %u", (unsigned long long) previous_len,
				c->leaf->width);
	}
	BF_DATA(err, taken <= (uint64_t) (v->end - v->pos), v->at,
			"suffixes of %llu bytes, but only %lld are left", (unsigned long long) taken,
			(long long) (v->end - v->pos));
	if (total > c->file->limits.page_bytes_max)
		BF_FAIL_AT(err, BF_ERR_LIMIT, v->at, "values of %llu bytes in a batch, the limit is %zu",
				   (unsigned long long) total, c->file->limits.page_bytes_max);
	BF_TRY(batch_bytes(c, (size_t) total + COPY_SLACK, &to, err));
	for (int32_t i = 0; i < n; i++)
	{
		copy_over(to, previous.ptr, (size_t) prefix[i]);
		copy_over(to + prefix[i], v->pos, (size_t) suffix[i]);
		previous = (BfView){to, (uint32_t) (prefix[i] + suffix[i])};
		out[i] = previous;
		to += previous.len;
		v->pos += suffix[i];
	}
	c->previous = previous;
	return BF_OK;
}

/* All codes < dict_n: last - code borrows, and sets the top bit, where that is not so. */
static BfStatus
check_codes(const BfiColumn *c, const uint32_t *codes, int32_t n, BfError *err)
{
	uint32_t last = (uint32_t) c->dict_n - 1;
	Codes4 last4 = {last, last, last, last};
	Codes4 bad4 = {0, 0, 0, 0};
	uint32_t bad;
	int32_t i = 0;

	BF_DATA(err, c->dict_n > 0, c->values.at, "a code in an empty dictionary");
	for (; i + 4 <= n; i += 4)
	{
		Codes4 v;

		memcpy(&v, codes + i, sizeof v);
		bad4 |= v | (last4 - v);
	}
	bad = bad4[0] | bad4[1] | bad4[2] | bad4[3];
	for (; i < n; i++)
		bad |= codes[i] | (last - codes[i]);
	if (BF_LIKELY(bad >> 31 == 0))
		return BF_OK;
	for (i = 0; i < n && codes[i] <= last; i++)
		;
	BF_FAIL_AT(err, BF_ERR_CORRUPT, c->values.at, "code %u in a dictionary of %d values",
			   i < n ? codes[i] : 0, c->dict_n);
}

BfStatus
bfi_values_codes(BfiColumn *c, int32_t n, uint32_t *out, BfError *err)
{
	BfiValues *v = &c->values;

	BF_ASSERT(n <= v->left);
	if (n == 0)
		return BF_OK;
	BF_TRY(bfi_rle_u32(&v->rle, out, (uint32_t) n, err));
	v->left -= n;
	/* A width that can't express a code behind the end needs no look at the codes. */
	if (v->rle.width < 32 && (uint64_t) 1 << v->rle.width <= (uint64_t) c->dict_n)
		return BF_OK;
	return check_codes(c, out, n, err);
}

static BfStatus
native(BfiColumn *c, int32_t n, void *out, BfError *err)
{
	BfiValues *v = &c->values;

	switch (v->encoding)
	{
		case BFI_PLAIN: return plain(v, c->leaf, n, out, err);
		case BFI_RLE: return bfi_rle_bytes(&v->rle, out, (uint32_t) n, err);
		case BFI_DELTA_BINARY_PACKED:
			if (c->leaf->physical == BFI_INT32)
				return bfi_delta_i32(&v->delta, out, (uint32_t) n, err);
			return bfi_delta_i64(&v->delta, out, (uint32_t) n, err);
		case BFI_DELTA_LENGTH_BYTE_ARRAY: return delta_length(c, n, out, err);
		case BFI_DELTA_BYTE_ARRAY: return delta_byte_array(c, n, out, err);
		case BFI_BYTE_STREAM_SPLIT: return stream_split(c, n, out, err);
		case BFI_ALP:
			return bfi_alp_decode(&v->alp, (uint32_t) (v->n - v->left), (uint32_t) n, out, err);
		default: BF_NEVER(err, true); return BF_OK;
	}
}

#define GATHER(type)                                                           \
	do                                                                         \
	{                                                                          \
		const type *dict = (const type *) (const void *) c->dict_values->data; \
		type *to = out;                                                        \
                                                                               \
		for (int32_t i = 0; i < n; i++)                                        \
			to[i] = dict[codes[i]];                                            \
	} while (0)

static BfStatus
gather(BfiColumn *c, int32_t n, void *out, BfError *err)
{
	uint32_t *codes = c->codes;

	BF_TRY(bfi_values_codes(c, n, codes, err));
	switch (bf_storage_size(c->leaf->storage))
	{
		case 1: GATHER(uint8_t); break;
		case 4: GATHER(uint32_t); break;
		case 8: GATHER(uint64_t); break;
		default: GATHER(bf_u128); break;
	}
	return BF_OK;
}

BfStatus
bfi_values_decode(BfiColumn *c, int32_t n, void *out, BfError *err)
{
	BF_ASSERT(n >= 0 && n <= BF_BATCH_ROWS && n <= c->values.left);
	if (n == 0)
		return BF_OK; /* the page may have no section to decode from */
	if (bfi_values_are_codes(c))
		return gather(c, n, out, err);
	if (c->leaf->convert == BFI_CONVERT_NONE)
		BF_TRY(native(c, n, out, err));
	else
	{
		BF_TRY(native(c, n, c->shared->native, err));
		BF_TRY(bfi_convert(c->leaf, c->shared->native, n, out, c->values.at, err));
	}
	c->values.left -= n;
	return BF_OK;
}

static BfStatus
skip_plain(BfiValues *v, const BfiLeaf *leaf, int32_t n, BfError *err)
{
	if (leaf->physical == BFI_BOOLEAN)
	{
		v->bit += (uint32_t) n;
		v->pos += v->bit >> 3;
		v->bit &= 7;
		return BF_OK;
	}
	if (leaf->physical != BFI_BYTE_ARRAY)
	{
		v->pos += (size_t) n * leaf->width;
		return BF_OK;
	}
	for (int32_t i = 0; i < n; i++)
	{
		size_t left = (size_t) (v->end - v->pos);

		BF_DATA(err, left >= 4 && bf_load32le(v->pos) <= left - 4, v->at, "a value is cut short");
		v->pos += 4 + (size_t) bf_load32le(v->pos);
	}
	return BF_OK;
}

BfStatus
bfi_values_skip(BfiColumn *c, int32_t n, BfError *err)
{
	BfiValues *v = &c->values;

	BF_ASSERT(n >= 0 && n <= v->left);
	while (n > 0)
	{
		int32_t k = n < BF_BATCH_ROWS ? n : BF_BATCH_ROWS;

		switch (v->encoding)
		{
			case BFI_PLAIN: BF_TRY(skip_plain(v, c->leaf, k, err)); break;
			case BFI_RLE:
			case BFI_RLE_DICTIONARY: BF_TRY(bfi_rle_skip(&v->rle, (uint32_t) k, err)); break;
			case BFI_ALP:
			case BFI_BYTE_STREAM_SPLIT: break;
			/* Here every value is needed for the next. */
			default: BF_TRY(native(c, k, c->shared->native, err)); break;
		}
		v->left -= k;
		n -= k;
	}
	return BF_OK;
}

BfStatus
bfi_dictionary_load(BfiColumn *c, int32_t n, int64_t at, BfError *err)
{
	const BfiLeaf *leaf = c->leaf;
	size_t size = bf_storage_size(leaf->storage);
	BfiValues *v = &c->values;

	/* The dictionary is decoded like a PLAIN page, batch by batch. */
	memset(v, 0, sizeof *v);
	v->encoding = BFI_PLAIN;
	v->at = at;
	v->left = n;
	v->pos = c->dict_bytes->data;
	v->end = v->pos + c->dict_bytes->len;
	BF_TRY(init_plain(v, leaf, c->dict_bytes->len, err));
	c->dict_values->len = 0;
	BF_TRY(bf_buffer_reserve(c->dict_values, ((size_t) n + 1) * size, err));
	for (int32_t done = 0; done < n;)
	{
		int32_t k = n - done < BF_BATCH_ROWS ? n - done : BF_BATCH_ROWS;

		BF_TRY(bf_check_cancel(bf_arena_host(c->batch_arena), err));
		BF_TRY(bfi_values_decode(c, k, c->dict_values->data + (size_t) done * size, err));
		done += k;
	}
	c->has_dict = true;
	c->dict_n = n;
	c->dict.type = leaf->type;
	c->dict.storage = leaf->storage;
	c->dict.form = BF_VEC_FLAT;
	c->dict.n = n;
	c->dict.data.raw = c->dict_values->data;
	c->dict.dict_epoch = ++c->shared->epoch;
	return BF_OK;
}
