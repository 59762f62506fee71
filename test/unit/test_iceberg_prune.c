/*
 * Pruning against brute force: random rows, split into files by every transform that their type
 * takes, with metrics as writers (also odd ones) make them; random predicates around the rows'
 * values. What is pruned must have no row that matches. That pruning happens at all is counted.
 */
#include "iceberg/prune.h"

#include <math.h>
#include <stdlib.h>

#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"
#include "unit/lib/runner.h"

#define ROWS 48
#define FILES_MAX ROWS
#define VALUES_MAX 4

/* Of one round. */
static BfArena *arena;

typedef struct Case
{
	const char *type;
	const char *transforms[8]; /* NULL ends */
} Case;

static const Case cases[] = {
	{"boolean", {"identity"}},
	{"int",
	 {"identity", "bucket[4]", "truncate[10]", "truncate[1]", "truncate[1000000]",
	  "truncate[1073741825]"}},
	{"long", {"identity", "bucket[16]", "truncate[100]", "truncate[2147483647]"}},
	{"float", {"identity"}},
	{"double", {"identity"}},
	{"decimal(9,2)", {"identity", "bucket[4]", "truncate[50]"}},
	{"decimal(30,5)", {"identity", "bucket[4]", "truncate[1000]"}},
	{"decimal(38,38)", {"identity", "truncate[7]"}},
	{"date", {"identity", "bucket[4]", "year", "month", "day"}},
	{"time", {"identity", "bucket[4]"}},
	{"timestamp", {"identity", "bucket[8]", "year", "month", "day", "hour"}},
	{"timestamptz", {"identity", "year", "month", "day", "hour"}},
	{"timestamp_ns", {"identity", "bucket[8]", "year", "month", "day", "hour"}},
	{"string", {"identity", "bucket[4]", "truncate[1]", "truncate[3]", "truncate[20]"}},
	{"binary", {"identity", "bucket[4]", "truncate[2]", "truncate[17]"}},
	{"uuid", {"identity", "bucket[4]"}},
	{"fixed[3]", {"identity", "bucket[4]"}},
};

/* --- Values ---------------------------------------------------------------------------------- */

static int64_t
random_between(int64_t low, int64_t high)
{
	return low + (int64_t) test_random_below((uint64_t) (high - low) + 1);
}

/* Near something that matters: zero, the ends, round numbers, or anywhere. */
static int64_t
random_number(int64_t min, int64_t max, int64_t unit)
{
	int64_t v;

	switch (test_random_below(6))
	{
		case 0: v = random_between(-3, 3); break;
		case 1: v = min + random_between(0, 3); break;
		case 2: v = max - random_between(0, 3); break;
		case 3: v = random_between(-4, 4) * unit + random_between(-1, 1); break;
		case 4: v = random_between(-50, 50) * unit + random_between(0, unit); break;
		default: v = random_between(-100, 100); break;
	}
	return v < min ? min : v > max ? max : v;
}

static const int64_t units_us[] = {INT64_C(3600000000), INT64_C(86400000000),
								   INT64_C(86400000000) * 31, INT64_C(86400000000) * 366};

static BfView
random_bytes(bool text, uint32_t fixed)
{
	static const char *const pieces[] = {"a", "b", "ab", "\xc3\xa9", "\xf0\x9f\x98\x80", "zzzz"};
	uint32_t n = 0, pieces_max = test_random_below(3) == 0 ? 20 : 4;
	uint8_t *p = bf_arena_alloc(arena, 128);

	if (fixed > 0)
	{
		/* UUIDs with few high halves, so that the low ones count, some of them negative. */
		bool uuid = fixed == 16;

		for (; n < fixed; n++)
			p[n] =
				(uuid && n < 7) || test_random_below(2) == 0 ? 0 : (uint8_t) test_random_below(256);
		if (uuid && test_random_below(3) != 0)
			p[0] = (uint8_t) (test_random_below(4) << 6);
		return (BfView){p, n};
	}
	/* Too long for a bound, and different only behind it. */
	if (test_random_below(4) == 0)
	{
		memset(p, 'a', 15);
		n = 15;
	}
	for (uint64_t i = test_random_below(pieces_max); i > 0; i--)
	{
		const char *piece = pieces[test_random_below(6)];

		if (!text && test_random_below(3) == 0)
			p[n++] = 0xff;
		memcpy(p + n, piece, strlen(piece));
		n += (uint32_t) strlen(piece);
	}
	return (BfView){p, n};
}

static BfValue
random_value(BfType type)
{
	BfValue v = {.type = type};
	bf_i128 wide;

	switch (type.kind)
	{
		case BF_KIND_BOOL: v.v.u8 = (uint8_t) test_random_below(2); break;
		case BF_KIND_INT32: v.v.i32 = (int32_t) random_number(INT32_MIN, INT32_MAX, 1000); break;
		case BF_KIND_INT64:
			v.v.i64 = random_number(INT64_MIN / 2, INT64_MAX / 2, INT64_C(1) << 31);
			break;
		case BF_KIND_FLOAT32:
		case BF_KIND_FLOAT64:
		{
			static const double doubles[] = {0.0, -0.0, 1.5, -1.5, 1e30, -1e30};
			double d = test_random_below(5) == 0   ? (double) NAN
					   : test_random_below(3) == 0 ? (double) INFINITY
												   : doubles[test_random_below(6)];

			if (type.kind == BF_KIND_FLOAT32)
				v.v.f32 = (float) d;
			else
				v.v.f64 = d;
			break;
		}
		case BF_KIND_DECIMAL:
			wide = random_number(-999999999, 999999999, 100);
			if (type.precision > 18 && test_random_below(3) == 0)
				wide *= INT64_C(100000000000);
			if (bf_type_storage(type) == BF_STORE_I64)
				v.v.i64 = (int64_t) wide;
			else
				v.v.i128 = wide;
			break;
		case BF_KIND_DATE: v.v.i32 = (int32_t) random_number(-800000, 3000000, 365); break;
		case BF_KIND_TIME: v.v.i64 = random_between(0, 86399999999); break;
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
			v.v.i64 = random_number(INT64_MIN, INT64_MAX, units_us[test_random_below(4)]);
			break;
		case BF_KIND_TIMESTAMP_NS:
			v.v.i64 =
				random_number(INT64_MIN / 2, INT64_MAX / 2, units_us[test_random_below(4)] * 1000);
			break;
		default:
			v.v.view = random_bytes(type.kind == BF_KIND_STRING, type.kind == BF_KIND_UUID ? 16
																 : type.kind == BF_KIND_FIXED
																	 ? (uint32_t) type.length
																	 : 0);
			break;
	}
	return v;
}

static bool
is_nan(const BfValue *v)
{
	return !v->is_null && bfi_value_is_nan(v);
}

/* --- Predicates ------------------------------------------------------------------------------ */

/* One of the rows' values, or one next to it. */
static BfValue
near_value(const BfValue *rows, BfType type)
{
	BfValue v = rows[test_random_below(ROWS)];
	int64_t step = random_between(-1, 1);

	if (v.is_null || test_random_below(4) == 0)
		return random_value(type);
	switch (bf_type_storage(type))
	{
		case BF_STORE_I32:
			v.v.i32 += v.v.i32 > INT32_MIN && v.v.i32 < INT32_MAX ? (int32_t) step : 0;
			break;
		case BF_STORE_I64: v.v.i64 += v.v.i64 > INT64_MIN && v.v.i64 < INT64_MAX ? step : 0; break;
		case BF_STORE_I128: v.v.i128 += step; break;
		case BF_STORE_VIEW:
			if ((type.kind == BF_KIND_STRING || type.kind == BF_KIND_BINARY) &&
				test_random_below(2) == 0)
				v.v.view.len = (uint32_t) test_random_below((uint64_t) v.v.view.len + 1);
			break;
		default: break;
	}
	return v;
}

static BfPred *
random_leaf(const BfValue *rows, BfType type)
{
	BfPred *p = bf_arena_alloc(arena, sizeof *p);
	static const BfPredKind kinds[] = {
		BF_PRED_EQ, BF_PRED_NE, BF_PRED_LT,		BF_PRED_LE,		 BF_PRED_GT,	   BF_PRED_GE,
		BF_PRED_IN, BF_PRED_EQ, BF_PRED_NOT_IN, BF_PRED_IS_NULL, BF_PRED_NOT_NULL, BF_PRED_PREFIX};

	memset(p, 0, sizeof *p);
	p->kind = kinds[test_random_below(12)];
	if (p->kind == BF_PRED_PREFIX && type.kind != BF_KIND_STRING && type.kind != BF_KIND_BINARY)
		p->kind = BF_PRED_EQ;
	if (p->kind == BF_PRED_IS_NULL || p->kind == BF_PRED_NOT_NULL)
		return p;
	p->n_values = p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN
					  ? (int32_t) random_between(1, VALUES_MAX)
					  : 1;
	p->values = bf_arena_alloc_array(arena, VALUES_MAX, sizeof *p->values);
	for (int32_t i = 0; i < p->n_values; i++)
		p->values[i] = near_value(rows, type);
	p->n_values = bf_pred_sort_values(p->values, p->n_values);
	return p;
}

static BfPred *
random_pred(const BfValue *rows, BfType type, int depth)
{
	BfPred *p;

	if (depth == 0 || test_random_below(3) == 0)
		return random_leaf(rows, type);
	p = bf_arena_alloc(arena, sizeof *p);
	*p = (BfPred){
		.kind = test_random_below(2) == 0 ? BF_PRED_AND : BF_PRED_OR, .field = -1, .n_children = 2};
	p->children = bf_arena_alloc_array(arena, 2, sizeof *p->children);
	for (int i = 0; i < 2; i++)
		p->children[i] = random_pred(rows, type, depth - 1);
	return p;
}

static bool
matches(const BfPred *p, const BfValue *row)
{
	bool in = false;

	switch (p->kind)
	{
		case BF_PRED_AND: return matches(p->children[0], row) && matches(p->children[1], row);
		case BF_PRED_OR: return matches(p->children[0], row) || matches(p->children[1], row);
		case BF_PRED_IS_NULL: return row->is_null;
		case BF_PRED_NOT_NULL: return !row->is_null;
		default: break;
	}
	if (row->is_null)
		return false;
	for (int32_t i = 0; i < p->n_values; i++)
		in |= bf_value_compare(row, &p->values[i]) == 0;
	switch (p->kind)
	{
		case BF_PRED_EQ:
		case BF_PRED_IN: return in;
		case BF_PRED_NE:
		case BF_PRED_NOT_IN: return !in;
		case BF_PRED_LT: return bf_value_compare(row, p->values) < 0;
		case BF_PRED_LE: return bf_value_compare(row, p->values) <= 0;
		case BF_PRED_GT: return bf_value_compare(row, p->values) > 0;
		case BF_PRED_GE: return bf_value_compare(row, p->values) >= 0;
		default:
			return row->v.view.len >= p->values->v.view.len &&
				   memcmp(row->v.view.ptr, p->values->v.view.ptr, p->values->v.view.len) == 0;
	}
}

/* --- Files ----------------------------------------------------------------------------------- */

typedef struct File
{
	int32_t n;
	BfValue rows[ROWS];
	BfValue partition[2];
	BfView metrics;
} File;

typedef struct Data
{
	BfIceMetadata *metadata;
	BfType type;
	BfValue rows[ROWS];
	int32_t n_files;
	File files[FILES_MAX];
} Data;

static BfIceMetadata *
make_metadata(const char *type, const char *first, const char *second)
{
	BfIceMetadata *m = NULL;
	const char *text = bf_arena_printf(
		arena,
		"{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-sequence-number\":"
		"0,\"last-updated-ms\":1,\"last-column-id\":9,\"schemas\":[{\"schema-id\":0,\"fields\":["
		"{\"id\":7,\"name\":\"c\",\"type\":\"%s\"}]}],\"current-schema-id\":0,"
		"\"partition-specs\":[{\"spec-id\":5,\"fields\":[{\"name\":\"a\",\"transform\":\"%s\","
		"\"source-id\":7,\"field-id\":1000},{\"name\":\"b\",\"transform\":\"%s\",\"source-id\":7,"
		"\"field-id\":1001}]}],\"default-spec-id\":5}",
		type, first, second);

	if (bf_ice_metadata_parse(arena, text, strlen(text), &m, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return m;
}

/* What writers of old made of times before 1970: rounded towards it. */
static void
round_as_old(const BfTransform t, const BfValue *row, BfValue *out)
{
	BfValue next = *row, of_next;
	BfError ignored;

	if (t.kind < BF_TRANSFORM_YEAR || t.kind > BF_TRANSFORM_HOUR || out->is_null ||
		out->v.i32 >= 0 || (row->type.kind == BF_KIND_DATE && t.kind == BF_TRANSFORM_DAY))
		return;
	/* The first instant of a period is no fraction of one; the first of all is never one. */
	if (bf_type_storage(row->type) == BF_STORE_I32)
		next.v.i32 -= next.v.i32 > INT32_MIN;
	else
		next.v.i64 -= next.v.i64 > INT64_MIN;
	if (bf_transform_apply(t, &next, &of_next, &ignored) == BF_OK && of_next.v.i32 == out->v.i32)
		out->v.i32++;
}

/* As writers do it: hours that 32 bits don't hold come round; a long was an int once. */
static bool
apply_as_some(BfTransform t, const BfValue *row, bool old, BfValue *out)
{
	BfError ignored;

	if (old && row->type.kind == BF_KIND_INT64 && t.kind == BF_TRANSFORM_TRUNCATE &&
		!row->is_null && row->v.i64 >= INT32_MIN && row->v.i64 <= INT32_MAX)
	{
		BfValue was = {.type = BF_TYPE(INT32), .v.i32 = (int32_t) row->v.i64};

		if (bf_transform_apply(t, &was, &was, &ignored) != BF_OK)
			return false;
		*out = (BfValue){.type = row->type, .v.i64 = was.v.i32};
		return true;
	}
	if (bf_transform_apply(t, row, out, &ignored) != BF_OK)
	{
		if (t.kind != BF_TRANSFORM_HOUR)
			return false;
		*out = (BfValue){.type = BF_TYPE(INT32),
						 .v.i32 =
							 (int32_t) (uint32_t) (row->v.i64 < 0
													   ? (row->v.i64 + 1) / INT64_C(3600000000) - 1
													   : row->v.i64 / INT64_C(3600000000))};
	}
	if (old)
		round_as_old(t, row, out);
	return true;
}

static bool
same_values(const BfValue *a, const BfValue *b)
{
	for (int i = 0; i < 2; i++)
		if (a[i].is_null != b[i].is_null || (!a[i].is_null && bf_value_compare(&a[i], &b[i]) != 0))
			return false;
	return true;
}

/* By value, NULLs first. */
static int
compare_rows(const void *x, const void *y)
{
	const BfValue *a = x, *b = y;

	if (a->is_null || b->is_null)
		return (int) b->is_null - (int) a->is_null;
	return bf_value_compare(a, b);
}

/* Files without partitions have six rows each. */
static bool
belongs(const Data *d, int32_t file, const BfValue *partition)
{
	if (d->metadata->specs.all[0].fields[0].transform.kind == BF_TRANSFORM_VOID)
		return d->files[file].n < 6;
	return same_values(d->files[file].partition, partition);
}

static void
add_row(Data *d, const BfValue *row, bool old)
{
	const BfIceSpec *spec = &d->metadata->specs.all[0];
	BfValue partition[2];
	int32_t i = 0;

	for (int k = 0; k < 2; k++)
		if (!apply_as_some(spec->fields[k].transform, row, old, &partition[k]))
			partition[k] = (BfValue){.is_null = true}; /* type NULL: not there */
	/* NULL partitions are the files' whose rows are NULL, of which the field tells nothing else. */
	while (i < d->n_files && !belongs(d, i, partition))
		i++;
	if (i == d->n_files)
	{
		memcpy(d->files[i].partition, partition, sizeof partition);
		d->files[i].n = 0;
		d->n_files++;
	}
	d->files[i].rows[d->files[i].n++] = *row;
}

/* The first 16 characters; upper bounds counted up behind them, or not, by those who forget. */
static void
cut_text(BfValue *v, bool upper)
{
	uint8_t *copy = bf_arena_alloc(arena, v->v.view.len + 1);
	uint32_t n = 0, characters = 0;

	while (n < v->v.view.len && (characters < 16 || (v->v.view.ptr[n] & 0xc0) == 0x80))
		characters += (v->v.view.ptr[n++] & 0xc0) != 0x80 || v->type.kind == BF_KIND_BINARY;
	if (n == v->v.view.len)
		return;
	memcpy(copy, v->v.view.ptr, n);
	v->v.view = (BfView){copy, n};
	if (upper && test_random_below(2) == 0 && copy[n - 1] < 0xff)
		copy[n - 1]++;
}

/* To a whole number, up or down. */
static void
round_decimal(BfValue *v)
{
	bf_i128 one = 1, x = bf_type_storage(v->type) == BF_STORE_I64 ? v->v.i64 : v->v.i128;

	for (int i = 0; i < v->type.scale; i++)
		one *= 10;
	x = x / one * one;
	if (bf_type_storage(v->type) == BF_STORE_I64)
		v->v.i64 = (int64_t) x;
	else
		v->v.i128 = x;
}

/* UUIDs in the order that Java has for them, if asked: by halves, as signed numbers. */
static int
compare_summary(const BfValue *a, const BfValue *b, bool as_java)
{
	if (a->type.kind == BF_KIND_UUID && as_java)
		for (int i = 0; i < 16; i += 8)
		{
			int64_t x = (int64_t) bf_load64be(a->v.view.ptr + i);
			int64_t y = (int64_t) bf_load64be(b->v.view.ptr + i);

			if (x != y)
				return x < y ? -1 : 1;
		}
	return bf_value_compare(a, b);
}

/* The least and greatest of a file of so many row groups: each group's by bytes, and of those the
 * one that is least or greatest by what Java compares, or all by bytes. */
static void
find_bounds(const File *f, int32_t n_groups, bool as_java, BfValue *min, BfValue *max)
{
	for (int32_t g = 0; g < n_groups; g++)
	{
		const BfValue *low = NULL, *high = NULL;

		for (int32_t i = g * f->n / n_groups; i < (g + 1) * f->n / n_groups; i++)
		{
			const BfValue *v = &f->rows[i];

			if (v->is_null || is_nan(v))
				continue;
			if (low == NULL || bf_value_compare(v, low) < 0)
				low = v;
			if (high == NULL || bf_value_compare(v, high) > 0)
				high = v;
		}
		if (low != NULL && (min->is_null || compare_summary(low, min, as_java) < 0))
			*min = *low;
		if (high != NULL && (max->is_null || compare_summary(high, max, as_java) > 0))
			*max = *high;
	}
}

static void
make_metrics(File *f, int odd)
{
	BfValue min = {.is_null = true}, max = {.is_null = true};
	BfIceBound lower = {.field_id = 7}, upper = {.field_id = 7};
	BfIceCount values = {7, f->n}, nulls = {7, 0}, nans = {7, 0};
	int32_t n_groups = (int32_t) random_between(1, 3);
	BfIceFile file = {.metrics.n_value_counts = odd != 1,
					  .metrics.value_counts = &values,
					  .metrics.n_null_counts = odd != 2,
					  .metrics.null_counts = &nulls,
					  .metrics.n_nan_counts = odd != 3,
					  .metrics.nan_counts = &nans,
					  .metrics.lower = &lower,
					  .metrics.upper = &upper,
					  .n_splits = n_groups == 1 || test_random_below(2) == 0 ? n_groups : -1};

	for (int32_t i = 0; i < f->n; i++)
	{
		const BfValue *v = &f->rows[i];

		nulls.count += v->is_null;
		nans.count += is_nan(v);
	}
	find_bounds(f, n_groups, test_random_below(2) == 0, &min, &max);
	if (!min.is_null)
	{
		if (min.type.kind == BF_KIND_STRING || min.type.kind == BF_KIND_BINARY)
		{
			cut_text(&min, false);
			cut_text(&max, true);
		}
		if (min.type.kind == BF_KIND_DECIMAL && odd == 4)
		{
			round_decimal(&min);
			round_decimal(&max);
		}
		if (odd == 5)
		{
			BfValue v = min;

			min = max;
			max = v;
		}
		file.metrics.n_lower = file.metrics.n_upper = odd != 6;
		if (bfi_single_value(arena, &min, &lower.bytes, &test_err) != BF_OK ||
			bfi_single_value(arena, &max, &upper.bytes, &test_err) != BF_OK)
			test_fail(__FILE__, __LINE__, "%s", test_err.text);
	}
	if (bf_ice_metrics_pack(arena, arena, &file, &f->metrics, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

static void
make_data(Data *d, const char *type, const char *first, const char *second)
{
	bool old = test_random_below(3) == 0;
	uint64_t nulls = test_random_below(3) == 0 ? 3 : 1000;

	d->metadata = make_metadata(type, first, second);
	d->type = d->metadata->schemas.all[0].fields[0].type;
	d->n_files = 0;
	for (int32_t i = 0; i < ROWS; i++)
	{
		d->rows[i] = random_value(d->type);
		d->rows[i].is_null = test_random_below(nulls) == 0;
	}
	qsort(d->rows, ROWS, sizeof d->rows[0], compare_rows);
	for (int32_t i = 0; i < ROWS; i++)
		add_row(d, &d->rows[i], old);
	for (int32_t i = 0; i < d->n_files; i++)
		make_metrics(&d->files[i], (int) test_random_below(8));
}

/* --- Manifests -------------------------------------------------------------------------------- */

static const BfAvroSchema boolean_schema = {.type = BF_AVRO_BOOLEAN};
static const BfAvroSchema bytes_schema = {.type = BF_AVRO_BYTES};
static const BfAvroSchema null_schema = {.type = BF_AVRO_NULL};
static const BfAvroSchema array_schema = {.type = BF_AVRO_ARRAY};
static int32_t summary_ids[] = {509, 518, 510, 511};
static const char *summary_names[] = {"contains_null", "contains_nan", "lower_bound",
									  "upper_bound"};
static const BfAvroSchema summary_schema = {.type = BF_AVRO_RECORD,
											.n_children = 4,
											.field_ids = summary_ids,
											.field_names = summary_names};

static BfAvroValue
bytes_or_null(const BfValue *v)
{
	BfAvroValue out = {.schema = &null_schema};

	if (v == NULL)
		return out;
	out.schema = &bytes_schema;
	if (bfi_single_value(arena, v, &out.u.bytes, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return out;
}

static BfAvroValue
summarize(const File *files, int32_t n, int field, bool as_java)
{
	const BfValue *min = NULL, *max = NULL;
	bool nulls = false, nans = false;
	BfAvroValue out = {.schema = &summary_schema};

	for (int32_t i = 0; i < n; i++)
	{
		const BfValue *v = &files[i].partition[field];

		nulls |= v->is_null;
		nans |= is_nan(v);
		if (v->is_null || is_nan(v))
			continue;
		if (min == NULL || compare_summary(v, min, as_java) < 0)
			min = v;
		if (max == NULL || compare_summary(v, max, as_java) > 0)
			max = v;
	}
	out.u.list.n = 4;
	out.u.list.items = bf_arena_alloc_array(arena, 4, sizeof *out.u.list.items);
	out.u.list.items[0] = (BfAvroValue){.schema = &boolean_schema, .u.b = nulls};
	out.u.list.items[1] = (BfAvroValue){.schema = &boolean_schema, .u.b = nans};
	out.u.list.items[2] = bytes_or_null(min);
	out.u.list.items[3] = bytes_or_null(max);
	return out;
}

/* Files [first, first + n) in one manifest. */
static bool
prune_manifest(const BfIcePruner *p, const File *files, int32_t n)
{
	BfAvroValue summaries[2], list = {.schema = &array_schema};
	BfIceManifest m = {.spec_id = 5, .partitions = &list};

	for (int i = 0; i < 2; i++)
		summaries[i] = summarize(files, n, i, n % 2 == 0);
	list.u.list.n = 2;
	list.u.list.items = summaries;
	return bf_ice_prune_manifest(p, &m);
}

/* --- The property ----------------------------------------------------------------------------- */

static bool
any_matches(const BfPred *p, const File *f)
{
	for (int32_t i = 0; i < f->n; i++)
		if (matches(p, &f->rows[i]))
			return true;
	return false;
}

typedef struct Tally
{
	int64_t files, by_partition, by_bounds, manifests, skipped, indexed;
} Tally;

/* --- Indexes ---------------------------------------------------------------------------------- */

#define INDEXED 300

/* The files again and again, as entries of a cached manifest. */
static BfiManifestData *
make_entries(const Data *d, BfIceCache *cache)
{
	BfiCacheItem *item;
	BfiManifestData *data;

	if (bfi_cache_begin(cache, "m", &item, &test_err) != BF_OK || item == NULL)
		return NULL;
	data = bfi_cache_data(item);
	data->n = INDEXED;
	data->plain = true;
	data->entries = bf_arena_alloc_array(bfi_cache_arena(item), INDEXED, sizeof *data->entries);
	memset(data->entries, 0, INDEXED * sizeof *data->entries);
	for (int32_t i = 0; i < INDEXED; i++)
	{
		const File *f = &d->files[i * 7 % d->n_files];

		data->entries[i] = (BfiEntry){.spec_id = 5,
									  .record_count = f->n,
									  .n_partition = 2,
									  .partition = (BfValue *) (uintptr_t) f->partition,
									  .metrics = f->metrics};
	}
	bfi_cache_keep_list(cache, item, NULL, 0);
	return data;
}

/* What an index leaves out, a look at the entry would have left out too. */
static void
check_index(const BfIcePruner *pruner, BfIceCache *cache, BfiManifestData *data, const char *what,
			Tally *tally)
{
	uint64_t bits[(INDEXED + 63) / 64], scratch[(INDEXED + 63) / 64];
	BfiAlive alive = {bits, scratch, (INDEXED + 63) / 64};
	int64_t by_partition = 0, by_bounds = 0, left = 0;

	memset(bits, 0xff, sizeof bits);
	if (INDEXED % 64 != 0)
		bits[INDEXED / 64] = (UINT64_C(1) << (INDEXED % 64)) - 1;
	memset(scratch, 0xa5, sizeof scratch);
	REQUIRE_OK(bfi_index_exclude(cache, test_host(), data, pruner, &alive, &by_partition,
								 &by_bounds, &test_err));
	for (int32_t i = 0; i < INDEXED; i++)
	{
		const BfiEntry *e = &data->entries[i];

		if ((bits[i / 64] >> (i % 64) & 1) != 0)
		{
			left++;
			continue;
		}
		tally->indexed++;
		if (bf_ice_prune_file(pruner, 5, e->partition, e->record_count, e->metrics) ==
			BF_ICE_NOT_PRUNED)
			test_fail(__FILE__, __LINE__, "%s: an index leaves out what may match", what);
	}
	EXPECT_EQ(INDEXED - left, by_partition + by_bounds);
}

static void
check_pred(const Data *d, BfIceCache *cache, BfiManifestData *data, const BfPred *pred,
		   const char *what, Tally *tally)
{
	BfIcePruner *all, *partitions;
	const BfSchema *schema = &d->metadata->schemas.all[0];
	int32_t group = (int32_t) random_between(1, 6);

	REQUIRE_OK(bf_ice_pruner_new(arena, d->metadata, schema, pred, BF_PRUNE_ALL, &all, &test_err));
	REQUIRE_OK(bf_ice_pruner_new(arena, d->metadata, schema, pred, BF_PRUNE_PARTITION, &partitions,
								 &test_err));
	check_index(all, cache, data, what, tally);
	check_index(partitions, cache, data, what, tally);
	for (int32_t i = 0; i < d->n_files; i++)
	{
		const File *f = &d->files[i];
		BfIcePrunedBy by = bf_ice_prune_file(all, 5, f->partition, f->n, f->metrics);
		BfIcePrunedBy alone = bf_ice_prune_file(partitions, 5, f->partition, f->n, f->metrics);

		tally->files++;
		tally->by_partition += by == BF_ICE_PRUNED_BY_PARTITION;
		tally->by_bounds += by == BF_ICE_PRUNED_BY_BOUNDS;
		if ((by == BF_ICE_PRUNED_BY_PARTITION) != (alone == BF_ICE_PRUNED_BY_PARTITION))
			test_fail(__FILE__, __LINE__, "%s: another verdict without bounds", what);
		if (by != BF_ICE_NOT_PRUNED && any_matches(pred, f))
			test_fail(__FILE__, __LINE__, "%s: a row matches, kind %d, pruned by %d", what,
					  (int) pred->kind, (int) by);
	}
	for (int32_t i = 0; i < d->n_files; i += group)
	{
		int32_t n = i + group <= d->n_files ? group : d->n_files - i;
		bool match = false;

		tally->manifests++;
		if (!prune_manifest(all, &d->files[i], n))
			continue;
		tally->skipped++;
		for (int32_t k = 0; k < n; k++)
			match |= any_matches(pred, &d->files[i + k]);
		if (match)
			test_fail(__FILE__, __LINE__, "%s: a manifest with a row that matches is skipped",
					  what);
	}
}

static void
check_case(const char *type, const char *first, const char *second, Tally *tally)
{
	char what[128];

	snprintf(what, sizeof what, "%s by %s, %s", type, first, second);
	for (int round = 0; round < 3 && !test_failed(); round++)
	{
		BfiManifestData *data;
		BfIceCache *cache;
		Data *d;

		bf_arena_reset(arena);
		d = bf_arena_alloc(arena, sizeof *d);
		memset(d, 0, sizeof *d);
		make_data(d, type, first, second);
		REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 1 << 24, &cache, &test_err));
		data = make_entries(d, cache);
		REQUIRE(data != NULL);
		for (int i = 0; i < 25; i++)
			check_pred(d, cache, data, random_pred(d->rows, d->type, 2), what, tally);
		bf_ice_cache_free(cache);
	}
}

TEST(iceberg_prune_random)
{
	Tally all = {.files = 0};

	arena = test_arena();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		Tally bounds = {.files = 0};

		check_case(cases[i].type, "void", "void", &bounds);
		if (test_failed())
			return;
		if (bounds.by_bounds < bounds.files / 20)
			test_fail(__FILE__, __LINE__, "%s: %lld of %lld files are pruned by bounds",
					  cases[i].type, (long long) bounds.by_bounds, (long long) bounds.files);
		all.by_bounds += bounds.by_bounds;
		all.files += bounds.files;
		for (int k = 0; k < 8 && cases[i].transforms[k] != NULL; k++)
		{
			const char *transform = cases[i].transforms[k];
			Tally tally = {.files = 0};

			check_case(cases[i].type, transform, "void", &tally);
			check_case(cases[i].type, transform, cases[i].transforms[0], &tally);
			check_case(cases[i].type, cases[i].transforms[0], transform, &tally);
			if (test_failed())
				return;
			if (tally.by_partition == 0 || tally.skipped == 0)
				test_fail(__FILE__, __LINE__, "%s by %s: nothing is pruned", cases[i].type,
						  transform);
			if (tally.indexed == 0)
				test_fail(__FILE__, __LINE__, "%s by %s: indexes leave out nothing", cases[i].type,
						  transform);
			all.files += tally.files;
			all.indexed += tally.indexed;
			all.by_partition += tally.by_partition;
			all.by_bounds += tally.by_bounds;
			all.manifests += tally.manifests;
			all.skipped += tally.skipped;
		}
	}
	printf("  %lld files: %lld pruned by partition, %lld by bounds; %lld manifests, %lld skipped; "
		   "%lld by indexes\n",
		   (long long) all.files, (long long) all.by_partition, (long long) all.by_bounds,
		   (long long) all.manifests, (long long) all.skipped, (long long) all.indexed);
}

/* Of three row groups 00…-77…, 33…-bc… and cc…-ff…, Java says that the least is cc… and the
 * greatest 77…; of two of them either may be missing. Only what was never put together counts. */
TEST(iceberg_prune_uuid_row_groups)
{
	static const uint8_t ends[][2] = {{0xcc, 0xff}, {0x00, 0x33}, {0x33, 0x33}};
	BfIcePruner *pruner;
	BfPred pred = {.kind = BF_PRED_EQ, .n_values = 1};
	BfValue lo, hi;
	Data d;

	arena = test_arena();
	d.metadata = make_metadata("uuid", "void", "void");
	lo = hi = (BfValue){.type = BF_TYPE(UUID), .v.view = {bf_arena_alloc(arena, 16), 16}};
	hi.v.view.ptr = bf_arena_alloc(arena, 16);
	pred.values = &(BfValue){.type = BF_TYPE(UUID), .v.view = {bf_arena_alloc(arena, 16), 16}};
	memset((uint8_t *) (uintptr_t) pred.values->v.view.ptr, 0x77, 16);
	REQUIRE_OK(bf_ice_pruner_new(arena, d.metadata, &d.metadata->schemas.all[0], &pred,
								 BF_PRUNE_ALL, &pruner, &test_err));
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		for (int32_t n_splits = -1; n_splits < 3; n_splits++)
		{
			BfIceBound lower = {.field_id = 7}, upper = {.field_id = 7};
			BfIceFile file = {.metrics.n_lower = 1,
							  .metrics.n_upper = 1,
							  .metrics.lower = &lower,
							  .metrics.upper = &upper,
							  .n_splits = n_splits};
			BfView metrics;

			memset((uint8_t *) (uintptr_t) lo.v.view.ptr, ends[i][0], 16);
			memset((uint8_t *) (uintptr_t) hi.v.view.ptr, ends[i][1], 16);
			REQUIRE_OK(bfi_single_value(arena, &lo, &lower.bytes, &test_err));
			REQUIRE_OK(bfi_single_value(arena, &hi, &upper.bytes, &test_err));
			REQUIRE_OK(bf_ice_metrics_pack(arena, arena, &file, &metrics, &test_err));
			EXPECT_EQ(bf_ice_prune_file(pruner, 5, NULL, 10, metrics),
					  n_splits == 1 ? BF_ICE_PRUNED_BY_BOUNDS : BF_ICE_NOT_PRUNED);
			/* Whose rows nobody counted. */
			EXPECT_EQ(bf_ice_prune_file(pruner, 5, NULL, -1, metrics), BF_ICE_NOT_PRUNED);
		}
}
