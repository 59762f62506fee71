/*
 * scan/summary.c: parts of a column taken together; see summary.h.
 */
#include "scan/summary.h"

#include <math.h>

#include "base/map.h"
#include "parquet/prune.h"

/* Nobody draws from more than that. */
#define DOMAIN_MAX 1e18
/* As many different ones as there are values, but for what rounding does. */
#define UNIQUE_PART 0.99
#define HALVINGS 60

static double
least(double a, double b)
{
	return a < b ? a : b;
}

static double
greatest(double a, double b)
{
	return a > b ? a : b;
}

/* ---- values as numbers ---- */

static double
text_number(BfView b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < 8; i++)
		n = n << 8 | (i < b.len ? b.ptr[i] : 0);
	return (double) n;
}

/* In the order of values; of texts as far as eight bytes tell. */
static double
number_of(const BfValue *v)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: return v->v.u8;
		case BF_STORE_I32: return v->v.i32;
		case BF_STORE_I64:
			return v->type.kind == BF_KIND_UINT64 ? (double) (uint64_t) v->v.i64
												  : (double) v->v.i64;
		case BF_STORE_F32: return (double) v->v.f32;
		case BF_STORE_F64: return v->v.f64;
		case BF_STORE_I128: return (double) v->v.i128;
		case BF_STORE_VIEW: return text_number(v->v.view);
		default: return 0;
	}
}

static bool
is_whole(BfType t)
{
	BfStorage s = bf_type_storage(t);

	return s == BF_STORE_U8 || s == BF_STORE_I32 || s == BF_STORE_I64 || s == BF_STORE_I128;
}

/* How wide a value is between others. */
static double
unit_of(BfType t)
{
	return is_whole(t) ? 1 : 0;
}

static bool
is_finite(const BfValue *v)
{
	return isfinite(number_of(v));
}

/* ---- one part ---- */

/* Bytes of an entry in a dictionary, as PLAIN has it. */
static double
entry_bytes(const BfColumnStats *s, BfType t)
{
	if (bf_type_storage(t) != BF_STORE_VIEW)
		return (double) bf_storage_size(bf_type_storage(t));
	if (t.kind == BF_KIND_UUID || t.kind == BF_KIND_FIXED)
		return t.length;
	return s->has_min && s->has_max
			   ? 4 + ((double) s->min.v.view.len + (double) s->max.v.view.len) / 2
			   : 16;
}

/* The most entries for which there is room, with a code for each value. */
static double
room_for(double bytes, double width, double values)
{
	double low = 1;
	double high = values;

	if (width * values <= bytes)
		return values;
	for (int i = 0; i < HALVINGS && high - low > 0.5; i++)
	{
		double d = (low + high) / 2;

		if (width * d + values * log2(d) / 8 <= bytes)
			low = d;
		else
			high = d;
	}
	BF_ASSERT(low >= 1 && low <= values);
	return low;
}

/* Different values of a part; 0: nobody knows. */
static double
distinct_of_part(const BfColumnPart *p, BfType t, double values)
{
	const BfColumnStats *s = &p->stats;
	bool bounded = s->has_min && s->has_max;
	double most = values;

	if (p->distinct > 0 && (double) p->distinct <= values)
		return (double) p->distinct;
	if (bounded && bf_value_compare(&s->min, &s->max) == 0)
		return 1;
	if (t.kind == BF_KIND_BOOL)
		return values < 2 ? values : 2;
	if (bounded && is_whole(t))
		most = least(most, number_of(&s->max) - number_of(&s->min) + 1);
	if (p->coding == BF_PART_DICTIONARY && p->bytes >= 0)
		return greatest(least(most, room_for((double) p->bytes, entry_bytes(s, t), values)), 1);
	if (p->coding == BF_PART_CODING_UNKNOWN && !(bounded && is_whole(t)))
		return 0;
	return greatest(most, 1);
}

/* ---- adding ---- */

void
bf_summary_begin(BfColumnSummary *s, BfArena *a, BfType type)
{
	memset(s, 0, sizeof *s);
	s->arena = a;
	s->type = type;
	s->range_step = 1;
}

static BfStatus
keep_bound(BfColumnSummary *s, const BfValue *from, BfValue *to, BfError *err)
{
	uint8_t *bytes;

	*to = *from;
	if (bf_type_storage(from->type) != BF_STORE_VIEW || from->v.view.len == 0)
		return BF_OK;
	BF_ASSERT(from->v.view.len <= BF_SUMMARY_BOUND_BYTES);
	BF_NEW_RAW(s->arena, bytes, from->v.view.len, err);
	memcpy(bytes, from->v.view.ptr, from->v.view.len);
	to->v.view.ptr = bytes;
	return BF_OK;
}

static bool
is_bound(const BfColumnSummary *s, bool has, const BfValue *v)
{
	return has && !v->is_null && bf_type_equal(v->type, s->type) &&
		   bf_type_storage(v->type) != BF_STORE_NESTED &&
		   bf_type_storage(v->type) != BF_STORE_NONE && is_finite(v) &&
		   (bf_type_storage(v->type) != BF_STORE_VIEW || v->v.view.len <= BF_SUMMARY_BOUND_BYTES);
}

static uint64_t
key_of(const BfValue *v)
{
	double number;

	if (bf_type_storage(v->type) == BF_STORE_VIEW)
		return bf_hash(0, v->v.view.ptr, v->v.view.len);
	number = number_of(v);
	return bf_hash(0, &number, sizeof number);
}

/* Every so many-th part's; when there is no room any more, half as many. */
static void
remember_range(BfColumnSummary *s, const BfSummaryRange *r)
{
	if ((int64_t) s->parts % s->range_step != 0)
		return;
	if (s->n_ranges == BF_SUMMARY_RANGES)
	{
		s->n_ranges = 0;
		for (int32_t i = 0; i < BF_SUMMARY_RANGES; i += 2)
			s->ranges[s->n_ranges++] = s->ranges[i];
		s->range_step *= 2;
		if ((int64_t) s->parts % s->range_step != 0)
			return;
	}
	s->ranges[s->n_ranges++] = *r;
}

static BfStatus
add_bounds(BfColumnSummary *s, const BfColumnStats *stats, double values, BfError *err)
{
	BfSummaryRange r;

	if (!is_bound(s, stats->has_min, &stats->min) || !is_bound(s, stats->has_max, &stats->max) ||
		bf_value_compare(&stats->min, &stats->max) > 0)
	{
		s->unbounded = true;
		return BF_OK;
	}
	if (!s->has_bounds || bf_value_compare(&stats->min, &s->min) < 0)
		BF_TRY(keep_bound(s, &stats->min, &s->min, err));
	if (!s->has_bounds || bf_value_compare(&stats->max, &s->max) > 0)
		BF_TRY(keep_bound(s, &stats->max, &s->max, err));
	s->has_bounds = true;
	r = (BfSummaryRange){.low = number_of(&stats->min),
						 .high = number_of(&stats->max),
						 .values = values,
						 .key = key_of(&stats->min),
						 .constant = bf_value_compare(&stats->min, &stats->max) == 0};
	BF_ASSERT(r.low <= r.high);
	s->spans += r.high - r.low + unit_of(s->type);
	remember_range(s, &r);
	return BF_OK;
}

static void
add_width(BfColumnSummary *s, const BfColumnPart *p, double values)
{
	const BfColumnStats *stats = &p->stats;
	double ends;

	if (bf_type_storage(s->type) != BF_STORE_VIEW)
		return;
	ends = stats->has_min && stats->has_max
			   ? ((double) stats->min.v.view.len + (double) stats->max.v.view.len) / 2
			   : 0;
	if (p->coding == BF_PART_PLAIN && p->bytes >= 0)
		ends = greatest((double) p->bytes / values - 4, 0);
	else if (p->coding == BF_PART_CODING_UNKNOWN || ends == 0)
		return; /* bounds that may have been cut */
	s->text_bytes += ends * values;
	s->text_values += values;
}

BfStatus
bf_summary_add(BfColumnSummary *s, const BfColumnPart *part, BfError *err)
{
	const BfColumnStats *stats = &part->stats;
	double rows = (double) stats->row_count;
	double values = rows;
	double distinct;

	if (!stats->known || stats->row_count <= 0)
		return BF_OK;
	s->rows += rows;
	if (stats->null_count >= 0 && stats->null_count <= stats->row_count)
	{
		s->rows_counted += rows;
		s->nulls += (double) stats->null_count;
		values -= (double) stats->null_count;
	}
	if (values <= 0)
		return BF_OK;
	BF_TRY(add_bounds(s, stats, values, err));
	s->parts++;
	s->values += values;
	add_width(s, part, values);
	distinct = distinct_of_part(part, s->type, values);
	BF_ASSERT(distinct >= 0 && distinct <= values);
	if (distinct == 0)
		return BF_OK;
	s->distinct_parts++;
	s->distinct += distinct;
	s->distinct_most = greatest(s->distinct_most, distinct);
	s->distinct_values += values;
	return BF_OK;
}

BfStatus
bf_summary_add_parquet(BfColumnSummary *s, const BfParquetFile *f, int32_t field, int32_t step,
					   BfError *err)
{
	BF_ASSERT(step > 0 && field >= 0 && field < bf_parquet_schema(f)->n_fields);
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg += step)
	{
		BfColumnPart part = {.distinct = -1, .bytes = -1};
		BfParquetValues values;

		if (!bf_parquet_row_group_stats(f, rg, field, &part.stats))
			continue;
		if (bf_parquet_row_group_values(f, rg, field, &values))
		{
			part.distinct = values.distinct;
			part.bytes = values.bytes;
			part.coding = values.has_dictionary ? BF_PART_DICTIONARY : BF_PART_PLAIN;
		}
		BF_TRY(bf_summary_add(s, &part, err));
	}
	return BF_OK;
}

/* ---- different values ---- */

/* How many different ones there are among so many that are drawn from a domain. */
static double
drawn(double domain, double values)
{
	double x = values / domain;

	/* 1 - exp(-x), where that would be nothing but rounding. */
	return x < 1e-6 ? values * (1 - x / 2) : domain * (1 - exp(-x));
}

/* From how many values `values` are drawn when `distinct` of them are different. */
static double
domain_of(double distinct, double values)
{
	double low = log(distinct);
	double high = log(DOMAIN_MAX);

	if (distinct >= values * UNIQUE_PART)
		return DOMAIN_MAX;
	for (int i = 0; i < HALVINGS; i++)
	{
		double d = exp((low + high) / 2);

		if (drawn(d, values) < distinct)
			low = (low + high) / 2;
		else
			high = (low + high) / 2;
	}
	return exp(high);
}

/* Over each other lie so many of `parts`: as many as their spans are wider than the table's. */
static double
depth_of(const BfColumnSummary *s, double parts)
{
	double hull;

	if (s->unbounded || !s->has_bounds)
		return parts;
	hull = number_of(&s->max) - number_of(&s->min) + unit_of(s->type);
	if (hull <= 0 || !isfinite(hull))
		return parts;
	return least(greatest(s->spans / hull * (parts / s->parts), 1), parts);
}

/* Of parts that have one value each, as far as they are remembered: how many have different ones;
 * 0: there are others. */
static double
constants(const BfColumnSummary *s)
{
	double n = 0;

	for (int32_t i = 0; i < s->n_ranges; i++)
	{
		int32_t k = 0;

		if (!s->ranges[i].constant)
			return 0;
		while (s->ranges[k].key != s->ranges[i].key)
			k++;
		n += k == i;
	}
	return n;
}

/* Of a table with `values` that are not NULL; 0 = unknown. */
static double
distinct_of(const BfColumnSummary *s, double values)
{
	double parts, depth, each, stack, most, domain;
	double ones = s->unbounded || s->n_ranges == 0 ? 0 : constants(s);

	if (s->distinct_parts == 0 || values <= 0)
		return 0;
	parts = greatest(s->parts * (values / s->values), 1);
	each = s->distinct / s->distinct_parts;
	if (ones > 0)
	{
		domain = domain_of(ones, s->n_ranges);
		return domain >= DOMAIN_MAX ? least(parts, values) : least(drawn(domain, parts), values);
	}
	depth = depth_of(s, parts);
	BF_ASSERT(depth >= 1 && depth <= parts && each >= 1);
	domain = domain_of(each, s->distinct_values / s->distinct_parts);
	stack = drawn(domain, depth * (s->distinct_values / s->distinct_parts));
	stack = least(greatest(stack, each), depth * each);
	most = least(values, parts * each);
	if (s->type.kind == BF_KIND_BOOL)
		most = least(most, 2);
	else if (is_whole(s->type) && s->has_bounds && !s->unbounded && parts < s->parts * 1.01)
		most = least(most, number_of(&s->max) - number_of(&s->min) + 1);
	return greatest(least(parts / depth * stack, most), least(s->distinct_most, values));
}

/* ---- histogram ---- */

/* Which share of the values is below x? */
static double
share_below(const BfColumnSummary *s, double x)
{
	double below = 0;
	double all = 0;

	for (int32_t i = 0; i < s->n_ranges; i++)
	{
		const BfSummaryRange *r = &s->ranges[i];

		all += r->values;
		if (x >= r->high)
			below += r->values;
		else if (x > r->low)
			below += r->values * (x - r->low) / (r->high - r->low);
	}
	return all > 0 ? below / all : 0;
}

static double
point_at(const BfColumnSummary *s, double share)
{
	double low = number_of(&s->min);
	double high = number_of(&s->max);

	for (int i = 0; i < HALVINGS && low < high; i++)
	{
		double middle = low + (high - low) / 2;

		if (share_below(s, middle) < share)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The value of that number; false when the type has none. */
static bool
value_at(const BfColumnSummary *s, double x, BfValue *out)
{
	*out = (BfValue){.type = s->type};
	switch (bf_type_storage(s->type))
	{
		case BF_STORE_I32: out->v.i32 = (int32_t) x; return true;
		case BF_STORE_I64:
			if (s->type.kind == BF_KIND_UINT64 || fabs(x) > 9e18)
				return false;
			out->v.i64 = (int64_t) x;
			return true;
		case BF_STORE_F32: out->v.f32 = (float) x; return true;
		case BF_STORE_F64: out->v.f64 = x; return true;
		default: return false;
	}
}

static void
add_points(const BfColumnSummary *s, BfColumnEstimate *out)
{
	out->points[out->n_points++] = s->min;
	for (int32_t i = 1; i < BF_SUMMARY_POINTS - 1; i++)
	{
		BfValue *v = &out->points[out->n_points];

		if (value_at(s, point_at(s, (double) i / (BF_SUMMARY_POINTS - 1)), v) &&
			bf_value_compare(v, v - 1) > 0 && bf_value_compare(v, &s->max) < 0)
			out->n_points++;
	}
	if (bf_value_compare(&s->min, &s->max) < 0)
		out->points[out->n_points++] = s->max;
	BF_ASSERT(out->n_points <= BF_SUMMARY_POINTS);
}

void
bf_summary_estimate(const BfColumnSummary *s, double table_rows, BfColumnEstimate *out)
{
	double values;

	memset(out, 0, sizeof *out);
	out->null_fraction = s->rows_counted > 0 ? s->nulls / s->rows_counted : -1;
	BF_ASSERT(out->null_fraction <= 1);
	values = table_rows * (1 - greatest(out->null_fraction, 0));
	out->distinct = distinct_of(s, values);
	out->unique = out->distinct > 0 && out->distinct >= values * UNIQUE_PART;
	out->width = s->text_values > 0 ? s->text_bytes / s->text_values : 0;
	if (s->has_bounds && !s->unbounded)
		add_points(s, out);
}
