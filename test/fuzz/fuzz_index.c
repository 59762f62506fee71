/* Any bytes as an index: the warm/cold search against a linear one where entries ascend, and no
 * harm where they don't. The targets are taken from the end. */
#include "fuzz/fuzz.h"

#include "log/index.h"

static void
try_offsets(BfView bytes, int64_t base, int64_t target)
{
	BfIndexStats stats = {0, 0, 0};
	BfOffsetIndex ix;
	int64_t offset = 0, position = 0, want_offset = -1, want_position = 0;
	bool found;

	bf_offset_index_init(&ix, bytes, base);
	FUZZ_CHECK(ix.n >= 0 && (size_t) ix.n * BF_OFFSET_INDEX_ENTRY_BYTES <= bytes.len);
	found = bf_offset_index_floor(&ix, target, &offset, &position, &stats);
	FUZZ_CHECK(stats.probes <= 40 && stats.warm_hits + stats.cold_hits <= 1);
	if (!bf_offset_index_sane(&ix))
		return;
	for (int32_t i = 0; i < ix.n; i++)
	{
		int64_t o, p;

		bf_offset_index_entry(&ix, i, &o, &p);
		if (o > target)
			break;
		want_offset = o;
		want_position = p;
	}
	FUZZ_CHECK(found == (want_offset >= 0));
	FUZZ_CHECK(!found || (offset == want_offset && position == want_position));
}

static void
try_times(BfView bytes, int64_t base, int64_t target)
{
	BfIndexStats stats = {0, 0, 0};
	BfTimeIndex ix;
	int64_t timestamp = 0, offset = 0, want_timestamp = 0, want_offset = 0;
	bool found, want = false;

	bf_time_index_init(&ix, bytes, base);
	FUZZ_CHECK(ix.n >= 0 && (size_t) ix.n * BF_TIME_INDEX_ENTRY_BYTES <= bytes.len);
	found = bf_time_index_floor(&ix, target, &timestamp, &offset, &stats);
	FUZZ_CHECK(stats.probes <= 40);
	if (!bf_time_index_sane(&ix))
		return;
	for (int32_t i = 0; i < ix.n; i++)
	{
		int64_t t, o;

		bf_time_index_entry(&ix, i, &t, &o);
		if (t > target)
			break;
		want = true;
		want_timestamp = t;
		want_offset = o;
	}
	FUZZ_CHECK(found == want);
	FUZZ_CHECK(!found || (timestamp == want_timestamp && offset == want_offset));
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

		bytes = (BfView){in.data, (uint32_t) in.size};
		try_offsets(bytes, base, near);
		try_offsets(bytes, base, far);
		try_times(bytes, base, 1796004660000 + near);
		try_times(bytes, base, far);
	}
	return 0;
}
