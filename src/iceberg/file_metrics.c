/*
 * iceberg/file_metrics.c: see file_metrics.h.
 */
#include "iceberg/file_metrics.h"

#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/internal.h"

#define DEFAULT_LENGTH 16
#define INFERRED_COLUMNS 100
/* Of one value; a bound that is longer is cut to it. */
#define FULL_BYTES_MAX 65536
/* Of all metrics of one file: an entry of a manifest is read as a whole. */
#define METRICS_BYTES_MAX ((size_t) 8 << 20)
/* For them and what they are made from. */
#define WORK_BYTES_MAX ((size_t) 64 << 20)

/* ---- modes ---- */

static bool
parse_length(const char *text, int32_t *length)
{
	static const char prefix[] = "truncate(";
	int64_t n;
	size_t digits;

	for (size_t i = 0; i < sizeof prefix - 1; i++)
		if (bf_ascii_lower(text[i]) != prefix[i])
			return false;
	text += sizeof prefix - 1;
	digits = bf_ascii_number(text, strlen(text), INT32_MAX, &n);
	if (digits == 0 || n <= 0 || strcmp(text + digits, ")") != 0)
		return false;
	*length = (int32_t) n;
	return true;
}

static bool
same_word(const char *x, const char *y)
{
	while (*x != '\0' && bf_ascii_lower(*x) == bf_ascii_lower(*y))
	{
		x++;
		y++;
	}
	return *x == *y;
}

/* False when the text, NULL among them, is no mode. */
static bool
parse_mode(const char *text, BfIceMetricsColumn *c)
{
	static const struct
	{
		const char *name;
		BfIceMetricsKind kind;
	} words[] = {{"none", BF_ICE_METRICS_NONE},
				 {"counts", BF_ICE_METRICS_COUNTS},
				 {"full", BF_ICE_METRICS_FULL}};

	if (text == NULL)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (same_word(text, words[i].name))
		{
			c->kind = words[i].kind;
			return true;
		}
	if (!parse_length(text, &c->length))
		return false;
	c->kind = BF_ICE_METRICS_TRUNCATE;
	return true;
}

static int32_t
inferred_columns(const BfIceMetadata *m)
{
	const char *text = bf_ice_property(m, "write.metadata.metrics.max-inferred-column-defaults");
	int64_t n;

	if (text == NULL || text[0] == '\0' ||
		bf_ascii_number(text, strlen(text), INT32_MAX, &n) != strlen(text) || n < 0)
		return INFERRED_COLUMNS;
	return (int32_t) n;
}

static BfStatus
column_mode(BfArena *scratch, const BfIceMetadata *m, const BfField *f, BfIceMetricsColumn *c,
			BfError *err)
{
	const char *key;

	BF_TRY_PTR(scratch, key, bf_arena_printf(scratch, "write.metadata.metrics.column.%s", f->name),
			   err);
	(void) parse_mode(bf_ice_property(m, key), c);
	return BF_OK;
}

static int
compare_ids(const void *a, const void *b)
{
	const BfIceMetricsColumn *x = a;
	const BfIceMetricsColumn *y = b;

	return (x->field_id > y->field_id) - (x->field_id < y->field_id);
}

BfStatus
bf_ice_metrics_columns(BfArena *a, const BfIceMetadata *m, BfIceMetricsColumn **out, int32_t *n,
					   BfError *err)
{
	const BfSchema *schema = bf_ice_current_schema(m);
	BfIceMetricsColumn usual = {.kind = BF_ICE_METRICS_TRUNCATE, .length = DEFAULT_LENGTH};
	bool given = parse_mode(bf_ice_property(m, "write.metadata.metrics.default"), &usual);
	int32_t left = given ? INT32_MAX : inferred_columns(m);

	*n = 0;
	BF_NEW(a, *out, schema->n_fields, err);
	for (int32_t i = 0; i < schema->n_fields; i++)
	{
		const BfField *f = &schema->fields[i];
		BfIceMetricsColumn c = usual;

		if (bf_type_storage(f->type) == BF_STORE_NESTED ||
			bf_type_storage(f->type) == BF_STORE_NONE)
			continue;
		if (left-- <= 0)
			c.kind = BF_ICE_METRICS_NONE;
		BF_TRY(column_mode(a, m, f, &c, err));
		c.field = i;
		c.field_id = f->id;
		if (f->type.kind == BF_KIND_UUID && c.kind != BF_ICE_METRICS_NONE)
			c.kind = BF_ICE_METRICS_COUNTS;
		if (c.kind != BF_ICE_METRICS_NONE)
			(*out)[(*n)++] = c;
	}
	BF_ASSERT(*n <= schema->n_fields);
	if (*n > 1)
		bf_sort(*out, (size_t) *n, sizeof **out, compare_ids);
	return BF_OK;
}

void
bf_ice_metrics_begin(const BfSchema *schema, const BfIceMetricsColumn *c, BfBounds *bounds)
{
	uint32_t bytes = FULL_BYTES_MAX;

	BF_ASSERT(c->field >= 0 && c->field < schema->n_fields && c->kind != BF_ICE_METRICS_NONE);
	if (c->kind == BF_ICE_METRICS_COUNTS)
		bytes = 0;
	else if (c->kind == BF_ICE_METRICS_TRUNCATE && c->length < FULL_BYTES_MAX / 4)
		bytes = BF_BOUNDS_TEXT_BYTES((uint32_t) c->length);
	bf_bounds_init(bounds, schema->fields[c->field].type, bytes);
}

/* ---- bytes ---- */

typedef struct MetricsWrite
{
	BfArena *arena; /* of bounds while they are written */
	const BfIceMetricsColumn *columns;
	const BfBounds *bounds;
	int32_t n;
	BfBuffer *out;
} MetricsWrite;

static bool
has_nans(const BfBounds *b)
{
	return bf_type_storage(b->type) == BF_STORE_F32 || bf_type_storage(b->type) == BF_STORE_F64;
}

/* The counts of one of the maps; -1: the column has none. */
static int64_t
count_of(const BfBounds *b, int which)
{
	if (b->values == 0 || (which == 2 && !has_nans(b)))
		return -1;
	return which == 0 ? b->values : which == 1 ? b->nulls : b->nans;
}

/* A map as the array of pairs that it is in Avro, null when it is empty: `put` writes the value of
 * a column that has one. */
static BfStatus
begin_map(BfBuffer *out, int32_t n, BfError *err)
{
	BF_TRY(bf_buffer_varint(out, n > 0 ? 1 : 0, err));
	return n > 0 ? bf_buffer_varint(out, n, err) : BF_OK;
}

static BfStatus
put_counts(MetricsWrite *w, int which, BfError *err)
{
	int32_t n = 0;

	for (int32_t i = 0; i < w->n; i++)
		n += count_of(&w->bounds[i], which) >= 0;
	BF_TRY(begin_map(w->out, n, err));
	for (int32_t i = 0; i < w->n; i++)
	{
		int64_t count = count_of(&w->bounds[i], which);

		if (count < 0)
			continue;
		BF_TRY(bf_buffer_varint(w->out, w->columns[i].field_id, err));
		BF_TRY(bf_buffer_varint(w->out, count, err));
	}
	return n > 0 ? bf_buffer_varint(w->out, 0, err) : BF_OK;
}

static BfStatus
bound_of(MetricsWrite *w, int32_t i, bool upper, BfView *out, bool *has, BfError *err)
{
	const BfIceMetricsColumn *c = &w->columns[i];
	int32_t length = c->kind == BF_ICE_METRICS_TRUNCATE ? c->length : 0;
	BfValue v;

	*has = false;
	if (c->kind == BF_ICE_METRICS_COUNTS || w->bounds[i].values == 0)
		return BF_OK;
	if (upper)
		BF_TRY(bf_bounds_upper(w->arena, &w->bounds[i], length, &v, has, err));
	else
		bf_bounds_lower(&w->bounds[i], length, &v, has);
	return *has ? bfi_single_value(w->arena, &v, out, err) : BF_OK;
}

static BfStatus
put_bounds(MetricsWrite *w, bool upper, BfError *err)
{
	int32_t n = 0;
	BfView *bytes;
	bool *has;

	BF_NEW(w->arena, bytes, w->n, err);
	BF_NEW(w->arena, has, w->n, err);
	for (int32_t i = 0; i < w->n; i++)
	{
		BF_TRY(bound_of(w, i, upper, &bytes[i], &has[i], err));
		n += has[i];
	}
	BF_TRY(begin_map(w->out, n, err));
	for (int32_t i = 0; i < w->n; i++)
	{
		if (!has[i])
			continue;
		BF_TRY(bf_buffer_varint(w->out, w->columns[i].field_id, err));
		BF_TRY(bf_buffer_varint(w->out, bytes[i].len, err));
		BF_TRY(bf_buffer_append(w->out, bytes[i].ptr, bytes[i].len, err));
	}
	return n > 0 ? bf_buffer_varint(w->out, 0, err) : BF_OK;
}

static BfStatus
put_metrics(MetricsWrite *w, BfError *err)
{
	BF_TRY(bf_buffer_varint(w->out, 0, err)); /* sizes of columns: there are none */
	for (int which = 0; which < 3; which++)
		BF_TRY(put_counts(w, which, err));
	BF_TRY(put_bounds(w, false, err));
	return put_bounds(w, true, err);
}

static BfStatus
take_bytes(BfArena *a, const BfBuffer *buffer, BfView *out, BfError *err)
{
	out->len = (uint32_t) buffer->len;
	BF_TRY_PTR(a, out->ptr, bf_arena_memdup(a, buffer->data, buffer->len), err);
	return BF_OK;
}

BfStatus
bf_ice_metrics_write(BfArena *a, const BfIceMetricsColumn *columns, const BfBounds *bounds,
					 int32_t n, BfView *out, BfError *err)
{
	MetricsWrite w = {.columns = columns, .bounds = bounds, .n = n};
	BfBuffer buffer;
	BfStatus status;

	BF_ASSERT(n >= 0);
	w.arena = bf_arena_new(bf_arena_host(a), "file metrics", WORK_BYTES_MAX);
	if (w.arena == NULL)
		return bf_arena_fail(a, 0, err);
	bf_buffer_init(&buffer, bf_arena_host(a), METRICS_BYTES_MAX);
	w.out = &buffer;
	status = put_metrics(&w, err);
	if (status == BF_OK)
		status = take_bytes(a, &buffer, out, err);
	bf_buffer_free(&buffer);
	bf_arena_free(w.arena);
	return status;
}

static BfStatus
put_counts_again(BfBuffer *out, const BfIceCount *counts, int32_t n, BfError *err)
{
	BF_TRY(begin_map(out, n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_TRY(bf_buffer_varint(out, counts[i].field_id, err));
		BF_TRY(bf_buffer_varint(out, counts[i].count, err));
	}
	return n > 0 ? bf_buffer_varint(out, 0, err) : BF_OK;
}

static BfStatus
put_bounds_again(BfBuffer *out, const BfIceBound *bounds, int32_t n, BfError *err)
{
	BF_TRY(begin_map(out, n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_TRY(bf_buffer_varint(out, bounds[i].field_id, err));
		BF_TRY(bf_buffer_varint(out, bounds[i].bytes.len, err));
		BF_TRY(bf_buffer_append(out, bounds[i].bytes.ptr, bounds[i].bytes.len, err));
	}
	return n > 0 ? bf_buffer_varint(out, 0, err) : BF_OK;
}

static BfStatus
put_again(BfBuffer *out, const BfIceFileMetrics *m, BfError *err)
{
	BF_TRY(bf_buffer_varint(out, 0, err));
	BF_TRY(put_counts_again(out, m->value_counts, m->n_value_counts, err));
	BF_TRY(put_counts_again(out, m->null_counts, m->n_null_counts, err));
	BF_TRY(put_counts_again(out, m->nan_counts, m->n_nan_counts, err));
	BF_TRY(put_bounds_again(out, m->lower, m->n_lower, err));
	return put_bounds_again(out, m->upper, m->n_upper, err);
}

BfStatus
bfi_metrics_again(BfArena *a, const BfIceFileMetrics *m, BfView *out, BfError *err)
{
	BfBuffer buffer;
	BfStatus status;

	bf_buffer_init(&buffer, bf_arena_host(a), METRICS_BYTES_MAX);
	status = put_again(&buffer, m, err);
	if (status == BF_OK)
		status = take_bytes(a, &buffer, out, err);
	bf_buffer_free(&buffer);
	return status;
}
