/* Record batches one after the other; their values built into a new batch and read back. */
#include "fuzz/fuzz.h"

#include "log/batch.h"

#define VALUES_MAX 4096

typedef struct Target
{
	BfCodecContext *ctx;
	BfBuffer *scratch;
	BfBuffer *raw;
	BfBuffer *built;
	BfBuffer *again;
} Target;

static void
walk_headers(const BfRecord *r)
{
	BfView rest = r->headers;
	BfView key, value;
	bool value_null;
	BfError err;

	for (int32_t i = 0; i < r->n_headers; i++)
		if (bf_record_header(&rest, &key, &value, &value_null, &err) != BF_OK)
			return;
}

static void
rebuild(Target *t, const BfBatchHeader *h, const BfView *values, int32_t n, BfCodec codec)
{
	BfBatchHeader g;
	BfRecordIter it;
	BfRecord r;
	BfError err;
	bool more;

	t->built->len = 0;
	FUZZ_CHECK(bf_batch_build(t->ctx, codec, 0, h->base_offset, values, n, 1234, t->raw, t->built,
							  &err) == BF_OK);
	FUZZ_CHECK(bf_batch_header(t->built->data, t->built->len, 0, &g, &err) == BF_OK);
	FUZZ_CHECK((size_t) g.total_bytes == t->built->len && g.base_offset == h->base_offset);
	FUZZ_CHECK(g.last_offset == h->base_offset + n - 1 && g.n_records == n);
	FUZZ_CHECK(bf_batch_check_crc(&g, t->built->data, 0, &err) == BF_OK);
	FUZZ_CHECK(bf_records_begin(t->ctx, &g, t->built->data, 0, t->again, &it, &err) == BF_OK);
	for (int32_t i = 0; i < n; i++)
	{
		FUZZ_CHECK(bf_records_next(&it, &r, &more, &err) == BF_OK && more);
		FUZZ_CHECK(r.offset == h->base_offset + i && r.timestamp == 1234 && r.key_null);
		FUZZ_CHECK(!r.value_null && r.n_headers == 0 && r.value.len == values[i].len);
		FUZZ_CHECK(r.value.len == 0 || memcmp(r.value.ptr, values[i].ptr, r.value.len) == 0);
	}
	FUZZ_CHECK(bf_records_next(&it, &r, &more, &err) == BF_OK && !more);
}

/* Many records a call against one by one: the same records, the same error. */
static void
both_ways(Target *t, const BfBatchHeader *h, const uint8_t *batch, int32_t step)
{
	int64_t offsets[64], timestamps[64];
	BfView keys[64], values[64];
	BfRecordIter many, single;
	BfRecord r;
	BfError err, err2;
	int32_t n;
	bool more = true;

	if (bf_records_begin(t->ctx, h, batch, 0, t->scratch, &many, &err) != BF_OK)
		return;
	single = many;
	while (more)
	{
		BfRecordColumns c = {offsets, timestamps, keys, values, 0, 0};
		BfStatus s = bf_records_columns(&many, &c, step, &n, &err);
		int32_t nulls = 0;

		for (int32_t i = 0; i < (s == BF_OK ? n : step); i++)
		{
			BfStatus s2 = bf_records_next(&single, &r, &more, &err2);

			if (s2 != BF_OK)
			{
				FUZZ_CHECK(s == s2 && err.offset == err2.offset);
				FUZZ_CHECK(strcmp(err.text, err2.text) == 0);
				return;
			}
			if (!more)
				break;
			FUZZ_CHECK(s != BF_OK || (offsets[i] == r.offset && timestamps[i] == r.timestamp));
			FUZZ_CHECK(s != BF_OK || (keys[i].ptr == r.key.ptr && keys[i].len == r.key.len));
			FUZZ_CHECK(s != BF_OK ||
					   (values[i].ptr == r.value.ptr && values[i].len == r.value.len));
			FUZZ_CHECK(r.key_null == (r.key.ptr == NULL) && r.value_null == (r.value.ptr == NULL));
			nulls += r.key_null + r.value_null;
		}
		if (s != BF_OK)
		{
			/* It looks ahead: bytes after the last record are found with the last record. */
			FUZZ_CHECK(bf_records_next(&single, &r, &more, &err2) == s);
			return;
		}
		FUZZ_CHECK(nulls == c.key_nulls + c.value_nulls);
		if (n < step)
			return;
	}
}

static void
one_batch(Target *t, const BfBatchHeader *h, const uint8_t *batch, int64_t position, BfCodec codec)
{
	static BfView values[VALUES_MAX];
	int32_t n = 0;
	int64_t last = h->base_offset - 1;
	BfRecordIter it;
	BfRecord r;
	BfError err;
	bool more;

	if (bf_records_begin(t->ctx, h, batch, position, t->scratch, &it, &err) != BF_OK)
	{
		FUZZ_CHECK(err.code != BF_ERR_CORRUPT || err.offset >= position);
		return;
	}
	while (bf_records_next(&it, &r, &more, &err) == BF_OK && more)
	{
		FUZZ_CHECK(r.offset > last && r.offset <= h->last_offset);
		FUZZ_CHECK(!r.key_null || r.key.len == 0);
		last = r.offset;
		walk_headers(&r);
		if (n < VALUES_MAX)
			values[n++] = r.value;
	}
	both_ways(t, h, batch, 1 + (int32_t) (h->crc % 64));
	if (n > 0 && h->base_offset < INT64_MAX - VALUES_MAX - 2)
		rebuild(t, h, values, n, codec);
	if (h->control)
	{
		BfControlType type;

		(void) !bf_batch_control_type(t->ctx, h, batch, position, t->scratch, &type, &err);
	}
}

int
bf_fuzz_batch(const uint8_t *data, size_t size)
{
	static const BfCodec codecs[] = {BF_CODEC_NONE, BF_CODEC_ZSTD, BF_CODEC_LZ4_FRAME,
									 BF_CODEC_GZIP, BF_CODEC_SNAPPY};
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	size_t at = 0;
	Target t;
	BfError err;

	FUZZ_CHECK(bf_codec_context_new(a, &t.ctx, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, (size_t) 16 << 20, &t.scratch, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, (size_t) 32 << 20, &t.raw, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, (size_t) 32 << 20, &t.built, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, (size_t) 32 << 20, &t.again, &err) == BF_OK);
	for (int i = 0; i < 20; i++)
	{
		BfBatchHeader h;

		if (bf_batch_header(data + at, size - at, (int64_t) at, &h, &err) != BF_OK)
		{
			FUZZ_CHECK(err.offset >= (int64_t) at && err.offset <= (int64_t) at + 61);
			break;
		}
		FUZZ_CHECK(h.total_bytes >= BF_BATCH_HEADER_BYTES && h.base_offset <= h.last_offset);
		if ((size_t) h.total_bytes > size - at)
			break;
		(void) !bf_batch_check_crc(&h, data + at, (int64_t) at, &err);
		one_batch(&t, &h, data + at, (int64_t) at, codecs[i % 5]);
		at += (size_t) h.total_bytes;
	}
	bf_arena_free(a);
	return 0;
}
