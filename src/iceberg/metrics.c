/* Writing and reading the packed form of a file's metrics that metrics.h describes. */
#include "iceberg/metrics.h"

#include <stddef.h>

enum
{
	HAS_LOWER = 1,
	HAS_UPPER = 2,
	HAS_VALUES = 4,
	HAS_NULLS = 8,
	HAS_NANS = 16,
	ALL_VALUES = 32,
	UPPER_CUT = 64,
	NO_NULLS = 128
};

_Static_assert(offsetof(BfIceBound, field_id) == 0 && offsetof(BfIceCount, field_id) == 0,
			   "a MapCursor finds the id at the beginning of an item");
_Static_assert(BF_ICE_BOUND_BYTES <= UINT8_MAX, "a bound's length is one byte");

#define N_MAPS 5
/* Id, flags, two bounds with their lengths, what they share, three counts. */
#define ITEM_BYTES_MAX (5 + 1 + 2 * (1 + BF_ICE_BOUND_BYTES) + 2 + 3 * 10)

/* One of the maps, in the order of ids. Both element types begin with the id. */
typedef struct MapCursor
{
	const uint8_t *items;
	size_t size;
	int32_t n;
	int32_t i;
} MapCursor;

static int32_t
id_at(const MapCursor *c, int32_t i)
{
	int32_t id;

	memcpy(&id, c->items + (size_t) i * c->size, sizeof id);
	return id;
}

/* The item of that id if there is exactly one; the cursor goes on to the next id. */
static const void *
take_item(MapCursor *c, int32_t id)
{
	int32_t first = c->i;

	BF_ASSERT(c->i >= c->n || id_at(c, c->i) >= id);
	while (c->i < c->n && id_at(c, c->i) == id)
		c->i++;
	return c->i == first + 1 ? c->items + (size_t) first * c->size : NULL;
}

static uint32_t
kept_bytes(BfView bound)
{
	return bound.len < BF_ICE_BOUND_BYTES ? bound.len : BF_ICE_BOUND_BYTES;
}

static uint8_t *
put_bound(uint8_t *p, BfView bytes, uint32_t skip, uint32_t leave)
{
	uint32_t n = kept_bytes(bytes);

	BF_ASSERT(skip + leave <= n);
	*p++ = (uint8_t) n;
	if (n > skip + leave)
		memcpy(p, bytes.ptr + skip, n - skip - leave);
	return p + (n - skip - leave);
}

/* What texts share stands at their beginning, what numbers share at their end. */
static uint8_t *
put_upper(uint8_t *p, const BfIceBound *lower, const BfIceBound *upper)
{
	uint32_t n = kept_bytes(upper->bytes), m, first = 0, last = 0;
	uint8_t *length = p;

	if (lower == NULL)
		return put_bound(p, upper->bytes, 0, 0);
	m = kept_bytes(lower->bytes);
	while (first < n && first < m && lower->bytes.ptr[first] == upper->bytes.ptr[first])
		first++;
	while (n == m && first + last < n &&
		   lower->bytes.ptr[n - 1 - last] == upper->bytes.ptr[n - 1 - last])
		last++;
	p += 2;
	p = put_bound(p, upper->bytes, first, last);
	length[2] = (uint8_t) last;
	length[1] = (uint8_t) first;
	length[0] = (uint8_t) n;
	return p;
}

static uint8_t *
put_count(uint8_t *p, const BfIceCount *count, uint8_t flag, uint8_t *flags)
{
	if (count == NULL || count->count < 0)
		return p;
	*flags |= flag;
	return p + bf_put_uvarint(p, (uint64_t) count->count);
}

static uint8_t *
put_item(uint8_t *p, MapCursor maps[N_MAPS], int32_t id, int32_t previous, int64_t record_count)
{
	const BfIceBound *lower = take_item(&maps[0], id), *upper = take_item(&maps[1], id);
	const BfIceCount *values = take_item(&maps[2], id), *nulls = take_item(&maps[3], id),
					 *nans = take_item(&maps[4], id);
	uint8_t *flags;

	BF_ASSERT(id > previous || (id == 0 && previous == 0));
	p += bf_put_uvarint(p, (uint64_t) ((int64_t) id - previous));
	flags = p++;
	*flags = 0;
	if (lower != NULL)
	{
		*flags |= HAS_LOWER;
		p = put_bound(p, lower->bytes, 0, 0);
	}
	if (upper != NULL)
	{
		*flags |= upper->bytes.len > BF_ICE_BOUND_BYTES ? HAS_UPPER | UPPER_CUT : HAS_UPPER;
		p = put_upper(p, lower, upper);
	}
	if (values != NULL && record_count >= 0 && values->count == record_count)
		*flags |= ALL_VALUES;
	else
		p = put_count(p, values, HAS_VALUES, flags);
	if (nulls != NULL && nulls->count == 0)
		*flags |= NO_NULLS;
	else
		p = put_count(p, nulls, HAS_NULLS, flags);
	return put_count(p, nans, HAS_NANS, flags);
}

BfStatus
bf_ice_metrics_pack(BfArena *keep, BfArena *scratch, const BfIceFile *f, BfView *out, BfError *err)
{
	MapCursor maps[N_MAPS] = {
		{(const uint8_t *) f->metrics.lower, sizeof *f->metrics.lower, f->metrics.n_lower, 0},
		{(const uint8_t *) f->metrics.upper, sizeof *f->metrics.upper, f->metrics.n_upper, 0},
		{(const uint8_t *) f->metrics.value_counts, sizeof *f->metrics.value_counts,
		 f->metrics.n_value_counts, 0},
		{(const uint8_t *) f->metrics.null_counts, sizeof *f->metrics.null_counts,
		 f->metrics.n_null_counts, 0},
		{(const uint8_t *) f->metrics.nan_counts, sizeof *f->metrics.nan_counts,
		 f->metrics.n_nan_counts, 0}};
	size_t n = 0;
	int32_t previous = 0;
	uint8_t *bytes, *p;

	for (int32_t i = 0; i < N_MAPS; i++)
		n += (size_t) maps[i].n;
	BF_NEW_RAW(scratch, bytes, 1 + n * ITEM_BYTES_MAX, err);
	p = bytes;
	*p++ = f->n_splits == 1;
	for (;;)
	{
		int64_t id = INT64_MAX;

		for (int32_t i = 0; i < N_MAPS; i++)
			if (maps[i].i < maps[i].n && id_at(&maps[i], maps[i].i) < id)
				id = id_at(&maps[i], maps[i].i);
		if (id == INT64_MAX)
			break;
		if (id < 0) /* no column has such an id */
		{
			for (int32_t i = 0; i < N_MAPS; i++)
				take_item(&maps[i], (int32_t) id);
			continue;
		}
		p = put_item(p, maps, (int32_t) id, previous, f->record_count);
		previous = (int32_t) id;
	}
	BF_ASSERT((size_t) (p - bytes) <= 1 + n * ITEM_BYTES_MAX);
	out->len = p > bytes + 1 ? (uint32_t) (p - bytes) : 0;
	BF_TRY_PTR(keep, out->ptr, bf_arena_memdup(keep, bytes, out->len), err);
	return BF_OK;
}

static const uint8_t *
get_uvarint(const uint8_t *p, uint64_t *out)
{
	unsigned shift = 0;

	*out = 0;
	do
	{
		*out |= (uint64_t) (*p & 0x7f) << shift;
		shift += 7;
		BF_ASSERT(shift <= 70);
	} while ((*p++ & 0x80) != 0);
	return p;
}

static const uint8_t *
get_upper(const uint8_t *p, bool has_lower, BfIceMetric *out)
{
	uint32_t n = p[0], first, last;

	if (!has_lower)
	{
		out->upper = (BfView){p + 1, n};
		return p + 1 + n;
	}
	first = p[1];
	last = p[2];
	BF_ASSERT(n <= BF_ICE_BOUND_BYTES && first + last <= n);
	BF_ASSERT(first <= out->lower.len && (last == 0 || out->lower.len == n));
	p += 3;
	if (n > 0)
	{
		memcpy(out->upper_bytes, out->lower.ptr, first);
		memcpy(out->upper_bytes + first, p, n - first - last);
		memcpy(out->upper_bytes + n - last, out->lower.ptr + n - last, last);
	}
	out->upper = (BfView){out->upper_bytes, n};
	return p + (n - first - last);
}

static int64_t
get_count(const uint8_t **p, bool has)
{
	uint64_t v;

	if (!has)
		return -1;
	*p = get_uvarint(*p, &v);
	return (int64_t) v;
}

/* Behind the item that begins after its id. */
static const uint8_t *
skip_item(const uint8_t *p)
{
	uint8_t flags = *p++;
	uint64_t ignored;

	if ((flags & HAS_LOWER) != 0)
		p += 1 + p[0];
	if ((flags & HAS_UPPER) != 0)
		p += (flags & HAS_LOWER) != 0 ? 3 + p[0] - p[1] - p[2] : 1 + p[0];
	if ((flags & HAS_VALUES) != 0)
		p = get_uvarint(p, &ignored);
	if ((flags & HAS_NULLS) != 0)
		p = get_uvarint(p, &ignored);
	if ((flags & HAS_NANS) != 0)
		p = get_uvarint(p, &ignored);
	return p;
}

static void
get_item(const uint8_t *p, int64_t record_count, BfIceMetric *out)
{
	uint8_t flags = *p++;

	out->has_lower = (flags & HAS_LOWER) != 0;
	out->has_upper = (flags & HAS_UPPER) != 0;
	out->upper_cut = (flags & UPPER_CUT) != 0;
	out->lower = out->upper = (BfView){NULL, 0};
	if (out->has_lower)
	{
		out->lower = (BfView){p + 1, p[0]};
		p += 1 + p[0];
	}
	if (out->has_upper)
		p = get_upper(p, out->has_lower, out);
	out->values = get_count(&p, (flags & HAS_VALUES) != 0);
	if ((flags & ALL_VALUES) != 0)
		out->values = record_count;
	out->nulls = get_count(&p, (flags & HAS_NULLS) != 0);
	if ((flags & NO_NULLS) != 0)
		out->nulls = 0;
	out->nans = get_count(&p, (flags & HAS_NANS) != 0);
}

bool
bf_ice_metrics_find(BfView metrics, int32_t field_id, int64_t record_count, BfIceMetric *out)
{
	const uint8_t *p = metrics.ptr;
	const uint8_t *end = metrics.len > 0 ? p + metrics.len : p;
	uint64_t id = 0;

	BF_ASSERT(metrics.len != 1);
	out->one_group = p < end && *p++ == 1;
	while (p < end)
	{
		uint64_t step;

		p = get_uvarint(p, &step);
		id += step;
		if (id > (uint64_t) field_id)
			return false;
		if (id == (uint64_t) field_id)
		{
			get_item(p, record_count, out);
			BF_ASSERT(skip_item(p) <= end);
			return true;
		}
		p = skip_item(p);
	}
	BF_ASSERT(p == end);
	return false;
}
