/*
 * exec/filter/rows.c: see rows.h.
 */
#include "exec/filter/rows.h"

#define CONTAINER_ROWS 65536
#define BITSET_BYTES (CONTAINER_ROWS / 8)
#define ARRAY_MAX 4096

#define COOKIE_PLAIN 12346
#define COOKIE_RUNS 12347
/* With run containers offsets are left out when there are fewer containers. */
#define OFFSETS_MIN 4
#define CONTAINERS_MAX 65536

void
bf_rows_init(BfRows *s, BfArena *a)
{
	memset(s, 0, sizeof *s);
	s->arena = a;
}

static uint32_t
value_at(const uint8_t *bytes, int32_t i)
{
	return bf_load16le(bytes + 2 * (size_t) i);
}

/* Index of the first container whose key is not less. */
static int32_t
find_container(const BfRows *s, uint64_t key)
{
	int32_t low = 0;
	int32_t high = s->n;

	/* The one of last time, or the next. */
	if (s->last < s->n && s->containers[s->last].key <= key)
	{
		low = s->last;
		if (s->containers[low].key == key)
			return low;
		low++;
		if (low == s->n || s->containers[low].key >= key)
			return low;
	}
	while (low < high)
	{
		int32_t mid = low + (high - low) / 2;

		if (s->containers[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- Adding -------------------------------------------------------------------------------------
 */

static BfStatus
reserve_containers(BfRows *s, int32_t n, BfError *err)
{
	BfRowsContainer *more;
	int32_t capacity = s->capacity < 4 ? 4 : s->capacity;

	BF_ASSERT(n >= s->n && s->n <= s->capacity);
	if (n <= s->capacity)
		return BF_OK;
	while (capacity < n)
		capacity = capacity > INT32_MAX / 2 ? INT32_MAX : 2 * capacity;
	BF_NEW(s->arena, more, capacity, err);
	if (s->n > 0)
		memcpy(more, s->containers, (size_t) s->n * sizeof *more);
	s->containers = more;
	s->capacity = capacity;
	return BF_OK;
}

static BfStatus
insert_container(BfRows *s, int32_t at, uint64_t key, BfError *err)
{
	if (s->n == INT32_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "too many rows in a set");
	BF_TRY(reserve_containers(s, s->n + 1, err));
	BF_ASSERT(at >= 0 && at <= s->n);
	BF_ASSERT(at == 0 || s->containers[at - 1].key < key);
	BF_ASSERT(at == s->n || s->containers[at].key > key);
	memmove(s->containers + at + 1, s->containers + at,
			(size_t) (s->n - at) * sizeof *s->containers);
	s->containers[at] = (BfRowsContainer){.key = key};
	s->n++;
	return BF_OK;
}

/* A full array becomes a bitset. */
static BfStatus
grow_array(BfRows *s, BfRowsContainer *c, BfError *err)
{
	int32_t capacity = c->capacity == 0 ? 8 : 4 * c->capacity;
	uint8_t *bytes;

	BF_ASSERT(c->form == BF_ROWS_ARRAY && c->n == c->capacity);
	if (c->n == ARRAY_MAX)
	{
		BF_NEW(s->arena, bytes, BITSET_BYTES, err);
		for (int32_t i = 0; i < c->n; i++)
		{
			uint32_t v = value_at(c->bytes, i);

			bytes[v >> 3] |= (uint8_t) (1 << (v & 7));
		}
		c->form = BF_ROWS_BITSET;
		c->n = 0;
		c->capacity = 0;
	}
	else
	{
		if (capacity > ARRAY_MAX)
			capacity = ARRAY_MAX;
		BF_NEW(s->arena, bytes, 2 * (size_t) capacity, err);
		if (c->n > 0)
			memcpy(bytes, c->bytes, 2 * (size_t) c->n);
		c->capacity = capacity;
	}
	c->bytes = bytes;
	return BF_OK;
}

/* The first position in the array whose value is not less. */
static int32_t
find_value(const BfRowsContainer *c, uint32_t v)
{
	int32_t low = 0;
	int32_t high = c->n;

	while (low < high)
	{
		int32_t mid = low + (high - low) / 2;

		if (value_at(c->bytes, mid) < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static BfStatus
add_value(BfRows *s, BfRowsContainer *c, uint32_t v, BfError *err)
{
	uint16_t two = (uint16_t) v;
	uint8_t *bytes;
	int32_t at = 0;

	BF_ASSERT(v < CONTAINER_ROWS);
	if (c->form == BF_ROWS_ARRAY)
	{
		at = c->n == 0 || value_at(c->bytes, c->n - 1) < v ? c->n : find_value(c, v);
		if (at < c->n && value_at(c->bytes, at) == v)
			return BF_OK;
		if (c->n == c->capacity)
			BF_TRY(grow_array(s, c, err));
	}
	/* A container that was made here is ours to write. */
	bytes = (uint8_t *) (uintptr_t) c->bytes;
	if (c->form == BF_ROWS_ARRAY)
	{
		memmove(bytes + 2 * (size_t) at + 2, bytes + 2 * (size_t) at, 2 * (size_t) (c->n - at));
		memcpy(bytes + 2 * (size_t) at, &two, 2);
		c->n++;
		c->cardinality++;
		return BF_OK;
	}
	BF_ASSERT(c->form == BF_ROWS_BITSET);
	c->cardinality += (bytes[v >> 3] >> (v & 7) & 1) == 0;
	bytes[v >> 3] |= (uint8_t) (1 << (v & 7));
	return BF_OK;
}

BfStatus
bf_rows_add(BfRows *s, uint64_t row, BfError *err)
{
	uint64_t key = row >> 16;
	int32_t at = find_container(s, key);

	if (at == s->n || s->containers[at].key != key)
		BF_TRY(insert_container(s, at, key, err));
	s->last = at;
	return add_value(s, &s->containers[at], (uint32_t) (row & 0xffff), err);
}

/* --- Reading ------------------------------------------------------------------------------------
 */

static BfStatus
read_array(BfCursor *c, BfRowsContainer *k, BfError *err)
{
	int64_t at = bf_cursor_offset(c);

	k->form = BF_ROWS_ARRAY;
	BF_ASSERT(k->cardinality > 0 && k->cardinality <= ARRAY_MAX);
	k->n = k->cardinality;
	BF_TRY(bf_cursor_take(c, 2 * (size_t) k->n, &k->bytes, err));
	for (int32_t i = 1; i < k->n; i++)
		BF_DATA(err, value_at(k->bytes, i - 1) < value_at(k->bytes, i), at + 2 * i,
				"roaring array is not ascending");
	return BF_OK;
}

static BfStatus
read_bitset(BfCursor *c, BfRowsContainer *k, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	int32_t n = 0;

	k->form = BF_ROWS_BITSET;
	BF_TRY(bf_cursor_take(c, BITSET_BYTES, &k->bytes, err));
	for (size_t i = 0; i < BITSET_BYTES; i += 8)
		n += __builtin_popcountll(bf_load64le(k->bytes + i));
	BF_DATA(err, n == k->cardinality, at, "roaring bitset has %d bits, its description says %d", n,
			k->cardinality);
	return BF_OK;
}

static BfStatus
read_runs(BfCursor *c, BfRowsContainer *k, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	const uint8_t *head;
	int64_t sum = 0;
	int32_t next = 0;

	k->form = BF_ROWS_RUNS;
	BF_TRY(bf_cursor_take(c, 2, &head, err));
	k->n = bf_load16le(head);
	BF_TRY(bf_cursor_take(c, 4 * (size_t) k->n, &k->bytes, err));
	for (int32_t i = 0; i < k->n; i++)
	{
		int32_t first = (int32_t) value_at(k->bytes, 2 * i);
		int32_t last = first + (int32_t) value_at(k->bytes, 2 * i + 1);

		BF_DATA(err, first >= next, at + 2 + 4 * i, "roaring runs are not ascending");
		BF_DATA(err, last < CONTAINER_ROWS, at + 2 + 4 * i, "roaring run ends at %d", last);
		sum += last - first + 1;
		next = last + 1;
	}
	BF_DATA(err, sum == k->cardinality, at,
			"roaring runs have %lld values, their description says %d", (long long) sum,
			k->cardinality);
	return BF_OK;
}

/* What comes before the containers. */
typedef struct Head
{
	uint32_t n;
	const uint8_t *is_run;	/* a bit per container; NULL = none is */
	const uint8_t *entries; /* descriptions */
	const uint8_t *offsets; /* NULL = left out */
} Head;

static BfStatus
read_head(BfCursor *c, Head *h, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	uint32_t cookie;

	memset(h, 0, sizeof *h);
	BF_TRY(bf_cursor_u32le(c, &cookie, err));
	if ((cookie & 0xffff) == COOKIE_RUNS)
	{
		h->n = (cookie >> 16) + 1;
		BF_TRY(bf_cursor_take(c, (h->n + 7) / 8, &h->is_run, err));
	}
	else
	{
		BF_DATA(err, cookie == COOKIE_PLAIN, at, "roaring bitmap begins with %u", cookie);
		BF_TRY(bf_cursor_u32le(c, &h->n, err));
		BF_DATA(err, h->n <= CONTAINERS_MAX, at + 4, "roaring bitmap of %u containers", h->n);
	}
	BF_TRY(bf_cursor_take(c, 4 * (size_t) h->n, &h->entries, err));
	if (h->is_run == NULL || h->n >= OFFSETS_MIN)
		BF_TRY(bf_cursor_take(c, 4 * (size_t) h->n, &h->offsets, err));
	return BF_OK;
}

/* One bitmap of 32 bits; `high` is what stands above them. */
static BfStatus
read_bitmap(BfRows *s, BfCursor *c, uint64_t high, BfError *err)
{
	const uint8_t *start = c->pos;
	Head h;

	BF_TRY(read_head(c, &h, err));
	if ((int64_t) s->n + h.n > INT32_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "too many rows in a set");
	BF_TRY(reserve_containers(s, s->n + (int32_t) h.n, err));
	for (uint32_t i = 0; i < h.n; i++)
	{
		BfRowsContainer *k = &s->containers[s->n];
		int64_t at = bf_cursor_offset(c);
		uint32_t key = bf_load16le(h.entries + 4 * (size_t) i);

		if (i % 256 == 255)
			BF_TRY(bf_check_cancel(bf_arena_host(s->arena), err));
		*k = (BfRowsContainer){.key = high << 16 | key};
		k->cardinality = bf_load16le(h.entries + 4 * (size_t) i + 2) + 1;
		BF_DATA(err, i == 0 || s->containers[s->n - 1].key < k->key, at,
				"roaring containers are not ascending");
		if (h.offsets != NULL)
			BF_DATA(err, bf_load32le(h.offsets + 4 * (size_t) i) == (uint64_t) (c->pos - start), at,
					"roaring container stands elsewhere than its offset says");
		if (h.is_run != NULL && (h.is_run[i / 8] >> (i % 8) & 1) != 0)
			BF_TRY(read_runs(c, k, err));
		else if (k->cardinality <= ARRAY_MAX)
			BF_TRY(read_array(c, k, err));
		else
			BF_TRY(read_bitset(c, k, err));
		s->n++;
	}
	return BF_OK;
}

BfStatus
bf_rows_read(BfRows *s, BfArena *a, BfCursor *c, int bits, BfError *err)
{
	int64_t last = -1;
	uint64_t n;

	BF_ASSERT(bits == 32 || bits == 64);
	bf_rows_init(s, a);
	if (bits == 32)
		return read_bitmap(s, c, 0, err);
	BF_TRY(bf_cursor_u64le(c, &n, err));
	/* A high half, a cookie and a number of containers. */
	BF_DATA(err, n <= bf_cursor_left(c) / 12, c->base_offset, "%llu roaring bitmaps in %zu bytes",
			(unsigned long long) n, bf_cursor_left(c));
	for (uint64_t i = 0; i < n; i++)
	{
		int64_t at = bf_cursor_offset(c);
		uint32_t high;

		if (i % 64 == 63)
			BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_cursor_u32le(c, &high, err));
		BF_DATA(err, (int64_t) high > last, at, "roaring bitmaps are not ascending");
		last = high;
		BF_TRY(read_bitmap(s, c, high, err));
	}
	return BF_OK;
}

/* --- Use ----------------------------------------------------------------------------------------
 */

uint64_t
bf_rows_cardinality(const BfRows *s)
{
	uint64_t n = 0;

	for (int32_t i = 0; i < s->n; i++)
		n += (uint64_t) s->containers[i].cardinality;
	return n;
}

/* Clears bits [from, end). */
static void
clear_range(uint64_t *bits, int32_t from, int32_t end)
{
	BF_ASSERT(from >= 0 && from <= end);
	for (int32_t i = from; i < end;)
	{
		int32_t shift = i & 63;
		int32_t take = 64 - shift < end - i ? 64 - shift : end - i;
		uint64_t mask = take == 64 ? UINT64_MAX : (((uint64_t) 1 << take) - 1) << shift;

		bits[i >> 6] &= ~mask;
		i += take;
	}
}

/* Bits [low, low + n) of the bitset are those of rows [at, at + n). */
static void
clear_bitset(const uint8_t *bytes, uint32_t low, int32_t n, int32_t at, uint64_t *bits)
{
	for (int32_t i = 0; i < n;)
	{
		uint32_t v = low + (uint32_t) i;
		int32_t shift = (at + i) & 63;
		int32_t take = 64 - shift < n - i ? 64 - shift : n - i;
		uint64_t word;

		/* At most up to the end of the word that v stands in. */
		if (take > 64 - (int32_t) (v & 63))
			take = 64 - (int32_t) (v & 63);
		BF_ASSERT(take > 0 && v < CONTAINER_ROWS);
		word = bf_load64le(bytes + (v >> 6) * 8) >> (v & 63);
		if (take < 64)
			word &= ((uint64_t) 1 << take) - 1;
		bits[(at + i) >> 6] &= ~(word << shift);
		i += take;
	}
}

/* The first run that ends at v or later. */
static int32_t
find_run(const BfRowsContainer *c, uint32_t v)
{
	int32_t low = 0;
	int32_t high = c->n;

	while (low < high)
	{
		int32_t mid = low + (high - low) / 2;

		if (value_at(c->bytes, 2 * mid) + value_at(c->bytes, 2 * mid + 1) < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Values [low, low + n) of the container are rows [at, at + n). */
static void
clear_container(const BfRowsContainer *c, uint32_t low, int32_t n, int32_t at, uint64_t *bits)
{
	uint32_t end = low + (uint32_t) n;

	BF_ASSERT(n > 0 && end <= CONTAINER_ROWS);

	switch (c->form)
	{
		case BF_ROWS_ARRAY:
			for (int32_t i = find_value(c, low); i < c->n && value_at(c->bytes, i) < end; i++)
			{
				int32_t row = at + (int32_t) (value_at(c->bytes, i) - low);

				bits[row >> 6] &= ~((uint64_t) 1 << (row & 63));
			}
			break;
		case BF_ROWS_BITSET: clear_bitset(c->bytes, low, n, at, bits); break;
		case BF_ROWS_RUNS:
			for (int32_t i = find_run(c, low); i < c->n; i++)
			{
				uint32_t first = value_at(c->bytes, 2 * i);
				uint32_t last = first + value_at(c->bytes, 2 * i + 1);

				if (first >= end)
					break;
				first = first < low ? low : first;
				last = last >= end ? end - 1 : last;
				clear_range(bits, at + (int32_t) (first - low), at + (int32_t) (last - low) + 1);
			}
			break;
	}
}

void
bf_rows_clear(BfRows *s, uint64_t first, int32_t n, uint64_t *bits)
{
	for (int32_t i = 0; i < n;)
	{
		uint64_t row = first + (uint64_t) i;
		uint32_t low = (uint32_t) (row & 0xffff);
		int32_t take =
			CONTAINER_ROWS - (int32_t) low < n - i ? CONTAINER_ROWS - (int32_t) low : n - i;
		int32_t at = find_container(s, row >> 16);

		BF_ASSERT(take > 0 && at >= 0 && at <= s->n);
		if (at < s->n)
			s->last = at;
		if (at < s->n && s->containers[at].key == row >> 16)
			clear_container(&s->containers[at], low, take, i, bits);
		i += take;
	}
}

uint64_t
bf_rows_from(BfRows *s, uint64_t first)
{
	int32_t at = find_container(s, first >> 16);
	int32_t n = CONTAINER_ROWS - (int32_t) (first & 0xffff);
	uint64_t count = 0;

	BF_ASSERT(n > 0 && at <= s->n);

	if (at < s->n && s->containers[at].key == first >> 16)
	{
		uint64_t bits[CONTAINER_ROWS / 64];

		memset(bits, 0xff, sizeof bits);
		clear_container(&s->containers[at], (uint32_t) (first & 0xffff), n, 0, bits);
		for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
			count += 64 - (uint64_t) __builtin_popcountll(bits[i]);
		at++;
	}
	for (; at < s->n; at++)
		count += (uint64_t) s->containers[at].cardinality;
	return count;
}
