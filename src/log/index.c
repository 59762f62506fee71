/* Entries of `.index` and `.timeindex`, and the warm and cold search in them. */
#include "log/index.h"

#include "base/rangeset.h"

_Static_assert(BF_INDEX_WARM_BYTES % BF_OFFSET_INDEX_ENTRY_BYTES == 0,
			   "the warm section is of whole entries");

/* The key of entry i, as the search compares it: relative offset, or timestamp. */
typedef int64_t (*KeyOf)(const uint8_t *entries, int32_t i);

static int64_t
offset_key(const uint8_t *entries, int32_t i)
{
	return bf_load32be(entries + (size_t) i * BF_OFFSET_INDEX_ENTRY_BYTES);
}

static int64_t
time_key(const uint8_t *entries, int32_t i)
{
	return (int64_t) bf_load64be(entries + (size_t) i * BF_TIME_INDEX_ENTRY_BYTES);
}

static int64_t
time_offset(const uint8_t *entries, int32_t i)
{
	return bf_load32be(entries + (size_t) i * BF_TIME_INDEX_ENTRY_BYTES + 8);
}

/*
 * Every entry after the first has a relative offset above 0, so the zero tail is found by bisecting
 * for it. The first entry is free only when all of it is zero: a segment's first batch may end at
 * relative offset 0 in the time index.
 */
static bool
is_free(const uint8_t *bytes, size_t entry_bytes, int32_t i)
{
	static const uint8_t zeroes[BF_TIME_INDEX_ENTRY_BYTES];
	const uint8_t *entry = bytes + (size_t) i * entry_bytes;

	BF_ASSERT(entry_bytes <= sizeof zeroes);
	if (entry_bytes == BF_OFFSET_INDEX_ENTRY_BYTES && i > 0)
		return bf_load32be(entry) == 0;
	return memcmp(entry, zeroes, entry_bytes) == 0;
}

static int32_t
count_valid(BfView bytes, size_t entry_bytes)
{
	size_t n = bytes.len / entry_bytes;
	int32_t lo = 0;
	int32_t hi = (int32_t) (n > INT32_MAX - 1 ? INT32_MAX - 1 : n);

	/* The common case costs one look. */
	if (hi > 0 && !is_free(bytes.ptr, entry_bytes, hi - 1))
		return hi;
	while (lo < hi)
	{
		int32_t mid = lo + (hi - lo) / 2;

		if (is_free(bytes.ptr, entry_bytes, mid))
			hi = mid;
		else
			lo = mid + 1;
	}
	BF_ASSERT(lo == 0 || !is_free(bytes.ptr, entry_bytes, lo - 1));
	return lo;
}

void
bf_offset_index_init(BfOffsetIndex *ix, BfView bytes, int64_t base_offset)
{
	BF_ASSERT(base_offset >= 0);
	ix->base_offset = base_offset;
	ix->n = count_valid(bytes, BF_OFFSET_INDEX_ENTRY_BYTES);
	ix->bytes = (BfView){bytes.ptr, (uint32_t) ix->n * BF_OFFSET_INDEX_ENTRY_BYTES};
}

void
bf_time_index_init(BfTimeIndex *ix, BfView bytes, int64_t base_offset)
{
	BF_ASSERT(base_offset >= 0);
	ix->base_offset = base_offset;
	ix->n = count_valid(bytes, BF_TIME_INDEX_ENTRY_BYTES);
	ix->bytes = (BfView){bytes.ptr, (uint32_t) ix->n * BF_TIME_INDEX_ENTRY_BYTES};
}

bool
bf_offset_index_sane(const BfOffsetIndex *ix)
{
	if (ix->n > 0 && offset_key(ix->bytes.ptr, ix->n - 1) > BF_ENTRY_MAX - ix->base_offset)
		return false;
	for (int32_t i = 1; i < ix->n; i++)
	{
		const uint8_t *e = ix->bytes.ptr + (size_t) i * BF_OFFSET_INDEX_ENTRY_BYTES;

		if (bf_load32be(e) <= bf_load32be(e - BF_OFFSET_INDEX_ENTRY_BYTES) ||
			bf_load32be(e + 4) <= bf_load32be(e + 4 - BF_OFFSET_INDEX_ENTRY_BYTES))
			return false;
	}
	return true;
}

bool
bf_time_index_sane(const BfTimeIndex *ix)
{
	const uint8_t *entries = ix->bytes.ptr;

	if (ix->n > 0 && time_offset(entries, ix->n - 1) > BF_ENTRY_MAX - ix->base_offset)
		return false;
	for (int32_t i = 1; i < ix->n; i++)
		if (time_key(entries, i) <= time_key(entries, i - 1) ||
			time_offset(entries, i) < time_offset(entries, i - 1))
			return false;
	return true;
}

/* The search of the header comment. -1 = none. */
static int32_t
floor_entry(const uint8_t *entries, int32_t n, int32_t warm, KeyOf key, int64_t target,
			BfIndexStats *stats)
{
	int32_t hot, lo, hi;

	BF_ASSERT(n >= 0 && warm > 0);
	if (n == 0)
		return -1;
	hot = n - 1 - warm > 0 ? n - 1 - warm : 0;
	stats->probes++;
	if (key(entries, hot) < target)
	{
		stats->warm_hits++;
		lo = hot;
		hi = n - 1;
	}
	else
	{
		stats->cold_hits++;
		stats->probes++;
		if (key(entries, 0) > target)
			return -1;
		lo = 0;
		hi = hot;
	}
	while (lo < hi)
	{
		int32_t mid = (int32_t) (((uint32_t) lo + (uint32_t) hi + 1) >> 1);
		int64_t k = key(entries, mid);

		stats->probes++;
		if (k == target)
			return mid;
		if (k > target)
			hi = mid - 1;
		else
			lo = mid;
	}
	BF_ASSERT(lo >= 0 && lo < n && key(entries, lo) <= target);
	return lo;
}

bool
bf_offset_index_floor(const BfOffsetIndex *ix, int64_t target, int64_t *offset, int64_t *position,
					  BfIndexStats *stats)
{
	BfIndexStats unused = {0, 0, 0};
	int32_t i;

	if (target < ix->base_offset)
		return false;
	i = floor_entry(ix->bytes.ptr, ix->n, BF_INDEX_WARM_BYTES / BF_OFFSET_INDEX_ENTRY_BYTES,
					offset_key, target - ix->base_offset, stats != NULL ? stats : &unused);
	if (i < 0)
		return false;
	bf_offset_index_entry(ix, i, offset, position);
	return true;
}

bool
bf_time_index_floor(const BfTimeIndex *ix, int64_t target, int64_t *timestamp, int64_t *offset,
					BfIndexStats *stats)
{
	BfIndexStats unused = {0, 0, 0};
	int32_t i = floor_entry(ix->bytes.ptr, ix->n, BF_INDEX_WARM_BYTES / BF_TIME_INDEX_ENTRY_BYTES,
							time_key, target, stats != NULL ? stats : &unused);

	if (i < 0)
		return false;
	bf_time_index_entry(ix, i, timestamp, offset);
	return true;
}

void
bf_offset_index_entry(const BfOffsetIndex *ix, int32_t i, int64_t *offset, int64_t *position)
{
	BF_ASSERT(i >= 0 && i < ix->n);
	*offset = ix->base_offset + offset_key(ix->bytes.ptr, i);
	*position = bf_load32be(ix->bytes.ptr + (size_t) i * BF_OFFSET_INDEX_ENTRY_BYTES + 4);
}

void
bf_time_index_entry(const BfTimeIndex *ix, int32_t i, int64_t *timestamp, int64_t *offset)
{
	BF_ASSERT(i >= 0 && i < ix->n);
	*timestamp = time_key(ix->bytes.ptr, i);
	*offset = ix->base_offset + time_offset(ix->bytes.ptr, i);
}
