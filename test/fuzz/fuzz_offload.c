/*
 * Any bytes as an offload file. The last byte of the input tells what is put right before: the
 * checksums of tail, root, index blocks and batches, so that damage reaches what lies behind them.
 */
#include "fuzz/fuzz.h"

#include "codec/codec.h"
#include "log/offload_format.h"

static bool
inside(size_t size, uint64_t pos, uint64_t len)
{
	return pos <= size && len <= size - pos;
}

static void
mend_batches(uint8_t *p, size_t size, size_t at)
{
	while (inside(size, at, 4 + BF_BATCH_HEADER_BYTES))
	{
		uint32_t len = bf_load32be(p + at);

		if (len < BF_BATCH_HEADER_BYTES || !inside(size, at + 4, len))
			return;
		bf_store32be(p + at + 4 + 17, bf_crc32c(p + at + 4 + 21, len - 21));
		at += 4 + (size_t) len;
	}
}

static void
mend(uint8_t *p, size_t size, unsigned what)
{
	uint64_t root_at;
	uint32_t root_len, schema_len, blocks;

	if (size < BFI_OFFLOAD_TAIL_BYTES)
		return;
	root_at = bf_load64be(p + size - 24);
	root_len = bf_load32be(p + size - 16);
	if ((what & 1) != 0)
		bf_store32be(p + size - 12, bf_crc32c(p + size - 24, 12));
	if (root_len < BFI_OFFLOAD_ROOT_BYTES + 4 || !inside(size, root_at, root_len))
		return;
	schema_len = bf_load32be(p + root_at + 32);
	blocks = bf_load32be(p + root_at + 36);
	for (uint32_t i = 0; (what & 4) != 0 && i < blocks; i++)
	{
		uint64_t at = root_at + BFI_OFFLOAD_ROOT_BYTES + schema_len + (uint64_t) i * 32;
		uint64_t block_at, n;

		if (!inside(size, at, 32))
			break;
		block_at = bf_load64be(p + at + 16);
		n = (uint64_t) bf_load32be(p + at + 24) * BFI_OFFLOAD_RECORD_BYTES +
			bf_load32be(p + at + 28);
		if (inside(size, block_at, n + 4))
			bf_store32be(p + block_at + n, bf_crc32c(p + block_at, n));
	}
	if ((what & 8) != 0 && inside(size, BFI_OFFLOAD_HEADER_BYTES, schema_len))
		mend_batches(p, size, BFI_OFFLOAD_HEADER_BYTES + (size_t) schema_len);
	if ((what & 2) != 0)
		bf_store32be(p + root_at + root_len - 4, bf_crc32c(p + root_at, root_len - 4));
	if ((what & 16) != 0 && inside(size, 0, BFI_OFFLOAD_HEADER_BYTES + (uint64_t) schema_len))
		bf_store32be(p + 20, bf_crc32c_extend(bf_crc32c(p, 20), p + 24, schema_len));
}

/* Batches of the ranges; -1 = refused. Each must be one that the ranges want, and follow the last.
 */
static int64_t
walk(BfArena *a, BfOffloadFile *f, const BfRangeSet *set)
{
	BfOffloadWalk *w;
	BfError err;
	int64_t last = -1;
	int64_t n = 0;

	FUZZ_CHECK(bf_offload_walk_new(a, f, set, &w, &err) == BF_OK);
	for (;;)
	{
		BfBatchHeader h;
		BfRange r;
		BfRangeSet one = {1, &r};
		const uint8_t *batch;
		const char *path;
		int64_t position;

		if (bf_offload_walk_next(w, &h, &batch, &position, &path, &err) != BF_OK)
		{
			FUZZ_CHECK(err.object[0] != '\0' && err.text[0] != '\0');
			return -1;
		}
		if (batch == NULL)
			return n;
		FUZZ_CHECK(h.base_offset > last && bf_batch_check_crc(&h, batch, 0, &err) == BF_OK);
		last = h.last_offset;
		r = (BfRange){h.base_offset, h.last_offset};
		FUZZ_CHECK(bf_rangeset_overlaps(set, &one));
		n++;
	}
}

int
bf_fuzz_offload(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfSource *source;
	BfOffloadFile *f;
	BfError err;
	uint8_t *bytes;
	unsigned what = size > 0 ? data[size - 1] : 0;

	if (size > 0)
		size--;
	bytes = malloc(size + 1);
	FUZZ_CHECK(bytes != NULL);
	memcpy(bytes, data, size);
	mend(bytes, size, what);
	FUZZ_CHECK(bf_source_memory(a, bytes, size, "memory", &source, &err) == BF_OK);
	if (bfi_offload_open(a, source, NULL, &f, &err) == BF_OK)
	{
		int64_t n = bf_offload_info(f)->n_entries;
		BfRange whole = {0, n - 1};
		BfRange some[3] = {{0, 0}, {n / 3, n / 2}, {n - 1, n - 1}};
		BfRangeSet all = {1, &whole};
		BfRangeSet set;

		FUZZ_CHECK(n >= 0 && bf_offload_info(f)->n_batches <= (int64_t) size);
		if (n > 0)
		{
			int64_t batches = walk(a, f, &all);

			FUZZ_CHECK(batches < 0 || batches == bf_offload_info(f)->n_batches);
			FUZZ_CHECK(bf_rangeset_make(a, some, 3, &set, &err) == BF_OK);
			FUZZ_CHECK(walk(a, f, &set) >= (batches < 0 ? -1 : 1));
		}
	}
	free(bytes);
	bf_arena_free(a);
	return 0;
}
