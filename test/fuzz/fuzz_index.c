/* Any bytes as an index: the warm/cold search against a linear one where all entries ascend, and no
 * harm where they don't. The targets are taken from the end. */
#include "fuzz/fuzz.h"

#include "log/index.h"

static BfStatus
read_bytes(void *arg, int64_t pos, uint8_t *buf, size_t n, BfError *err)
{
	const BfView *v = arg;

	FUZZ_CHECK(pos >= 0 && n > 0 && (uint64_t) pos + n <= v->len);
	memcpy(buf, v->ptr + pos, n);
	(void) err;
	return BF_OK;
}

static void
try_index(BfArena *a, BfView bytes, BfIndexKind kind, int64_t base, int64_t target)
{
	BfIndexStats stats = {0};
	BfIndex ix;
	BfIndexEntry e = {0, 0, 0}, want = {0, 0, 0}, last;
	BfError err;
	bool found, inside, any = false;
	int64_t pages = (bytes.len + BF_INDEX_PAGE_BYTES - 1) / BF_INDEX_PAGE_BYTES;
	int32_t n;

	FUZZ_CHECK(bf_index_open(a, kind, base, bytes.len, target < 0 ? 0 : target, read_bytes, &bytes,
							 &stats, &ix, &err) == BF_OK);
	n = ix.n;
	FUZZ_CHECK(bf_index_floor(&ix, target, &e, &found, &err) == BF_OK);
	FUZZ_CHECK(ix.n == n || (ix.n == 0 && !found));
	FUZZ_CHECK(stats.probes <= 40 && stats.warm_hits + stats.cold_hits <= 1);
	FUZZ_CHECK(!found || e.offset >= base);
	FUZZ_CHECK(bf_index_load(&ix, &err) == BF_OK);
	FUZZ_CHECK(stats.pages <= pages);
	for (int32_t i = 0; i < ix.n; i++)
	{
		BfIndexEntry x;

		bf_index_entry(&ix, i, &x);
		if ((kind == BF_INDEX_OFFSETS ? x.offset : x.timestamp) > target)
			break;
		any = true;
		want = x;
	}
	FUZZ_CHECK(ix.n == 0 || found == any);
	FUZZ_CHECK(
		ix.n == 0 || !found ||
		(e.offset == want.offset && e.position == want.position && e.timestamp == want.timestamp));
	if (kind == BF_INDEX_OFFSETS && target >= 0)
	{
		FUZZ_CHECK(bf_index_last_inside(&ix, target, &last, &inside, &err) == BF_OK);
		FUZZ_CHECK(!inside || last.position < target);
	}
}

int
bf_fuzz_index(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	int64_t base = (int64_t) fuzz_take(&in, 2);
	unsigned n = (unsigned) fuzz_take_below(&in, 8);
	BfView bytes;

	for (unsigned i = 0; i < n; i++)
	{
		int64_t near = (int64_t) fuzz_take(&in, 3);
		int64_t far = (int64_t) fuzz_take(&in, 8);
		BfArena *a = fuzz_arena((size_t) 16 << 20);

		bytes = (BfView){in.data, (uint32_t) in.size};
		try_index(a, bytes, BF_INDEX_OFFSETS, base, near);
		try_index(a, bytes, BF_INDEX_OFFSETS, base, far);
		try_index(a, bytes, BF_INDEX_TIMES, base, 1796004660000 + near);
		try_index(a, bytes, BF_INDEX_TIMES, base, far);
		bf_arena_free(a);
	}
	return 0;
}
