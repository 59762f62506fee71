#include "exec/parquet_reader.h"

#define NANOS_PER_DAY INT64_C(86400000000000)
#define UNIX_EPOCH_JULIAN INT64_C(2440588) /* Julian day of 1970-01-01 */

typedef enum SourceKind
{
	FROM_FILE,	   /* as the scan gives it */
	FROM_PROMOTED, /* converted from the scan's vector */
	FROM_INT96,	   /* converted here */
	FROM_CONSTANT  /* set once per change of length */
} SourceKind;

typedef struct Output
{
	SourceKind kind;
	int32_t column; /* of the scan */
	const char *name;
	BfValue value;
} Output;

typedef struct ParquetReader
{
	BfReader base;
	const char *name;
	BfParquetFile *file; /* borrowed */
	BfParquetScan *scan;
	int32_t rg_next;
	int32_t rg_end;
	bool in_row_group;
	int32_t n_cols;
	Output *outputs;
	BfBatch batch;
} ParquetReader;

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
}

static bool
equal_ignoring_case(const char *a, const char *b)
{
	while (*a != '\0' && lower(*a) == lower(*b))
	{
		a++;
		b++;
	}
	return *a == *b;
}

/* -1: not found. */
static BfStatus
find_by_name(const BfSchema *file, const char *name, int32_t *out, BfError *err)
{
	*out = -1;
	for (int32_t i = 0; i < file->n_fields; i++)
		if (strcmp(file->fields[i].name, name) == 0)
		{
			*out = i;
			return BF_OK;
		}
	for (int32_t i = 0; i < file->n_fields; i++)
	{
		if (!equal_ignoring_case(file->fields[i].name, name))
			continue;
		if (*out >= 0)
		{
			bf_error(err, BF_ERR_UNSUPPORTED,
					 "column \"%.100s\" matches both \"%.100s\" and \"%.100s\" of the file", name,
					 file->fields[*out].name, file->fields[i].name);
			return bf_error_column(err, name);
		}
		*out = i;
	}
	return BF_OK;
}

/* A value of kind NULL says that there is none. */
static const BfValue *
find_constant(const BfConstants *constants, int32_t id)
{
	if (constants != NULL && id != 0)
		for (int32_t i = 0; i < constants->n; i++)
			if (constants->ids[i] == id && constants->values[i].type.kind != BF_KIND_NULL)
				return &constants->values[i];
	return NULL;
}

/* The file's column for a field of the table; -1: the file has none. */
static BfStatus
find_column(const BfParquetFile *f, const BfField *want, int32_t *out, BfError *err)
{
	const BfSchema *file = bf_parquet_schema(f);

	*out = -1;
	if (want->id == 0)
		return find_by_name(file, want->name, out, err);
	if (bf_parquet_has_field_ids(f))
	{
		*out = bf_schema_find_id(file, want->id);
		return BF_OK;
	}
	for (int32_t i = 0; i < want->n_aliases && *out < 0; i++)
		*out = bf_schema_find_name(file, want->aliases[i]);
	return BF_OK;
}

static bool
is_timestamp(BfKind k)
{
	return k == BF_KIND_TIMESTAMP || k == BF_KIND_TIMESTAMPTZ || k == BF_KIND_TIMESTAMP_NS ||
		   k == BF_KIND_TIMESTAMPTZ_NS;
}

static BfStatus
bad_column(ParquetReader *r, const BfField *want, BfError *err)
{
	bf_error_column(err, want->name);
	return bf_error_object(err, r->name);
}

static BfStatus
bad_type(ParquetReader *r, const BfField *want, BfType from, BfError *err)
{
	char from_name[64];
	char to_name[64];

	bf_type_name(from, from_name, sizeof from_name);
	bf_type_name(want->type, to_name, sizeof to_name);
	bf_error(err, BF_ERR_UNSUPPORTED,
			 "column \"%.100s\" is of type %s in the file, which can't be read as %s", want->name,
			 from_name, to_name);
	return bad_column(r, want, err);
}

/* A constant may be of the type that the column had when its file was written. */
static BfStatus
promote_constant(BfArena *a, ParquetReader *r, const BfField *want, const BfValue *from,
				 BfValue *out, BfError *err)
{
	BfVector v;
	BfVector promoted;

	*out = *from;
	if (from->is_null || bf_type_equal(from->type, want->type))
		return BF_OK;
	if (!bf_type_promotable(from->type, want->type))
		return bad_type(r, want, from->type, err);
	BF_TRY(bf_vector_init(a, &v, from->type, err));
	BF_TRY(bf_vector_init(a, &promoted, want->type, err));
	bf_vector_set_const(&v, from, 1);
	if (bf_vector_promote(&v, &promoted, err) != BF_OK)
		return bad_column(r, want, err);
	bf_vector_get(&promoted, 0, out);
	return BF_OK;
}

/* A column that the file does not have. */
static BfStatus
resolve_missing(BfArena *a, ParquetReader *r, const BfField *want, const BfValue *constant,
				Output *o, BfError *err)
{
	o->kind = FROM_CONSTANT;
	o->value = (BfValue){.is_null = true, .type = want->type};
	if (constant != NULL)
		return promote_constant(a, r, want, constant, &o->value, err);
	if (want->id != 0 && !bf_parquet_has_field_ids(r->file) && !want->mapped)
	{
		bf_error(err, BF_ERR_UNSUPPORTED,
				 "the file has no field ids and the table has no name mapping");
		return bad_column(r, want, err);
	}
	if (want->required)
	{
		bf_error(err, BF_ERR_CORRUPT, "the file lacks the required column \"%.100s\"", want->name);
		return bad_column(r, want, err);
	}
	return BF_OK;
}

static BfStatus
resolve_present(ParquetReader *r, const BfField *want, BfType from, Output *o, BfError *err)
{
	if (bf_type_equal(from, want->type))
		o->kind = FROM_FILE;
	else if (from.kind == BF_KIND_INT96 && is_timestamp(want->type.kind))
		o->kind = FROM_INT96;
	else if (bf_type_promotable(from, want->type))
		o->kind = FROM_PROMOTED;
	else
		return bad_type(r, want, from, err);
	return BF_OK;
}

static BfStatus
resolve(BfArena *a, ParquetReader *r, const BfProjection *p, const BfConstants *constants,
		BfParquetCounters *counters, BfError *err)
{
	int32_t *columns;
	int32_t n_columns = 0;

	BF_NEW(a, columns, p->n_fields, err);
	BF_NEW(a, r->outputs, p->n_fields, err);
	BF_NEW(a, r->batch.cols, p->n_fields, err);
	r->n_cols = r->batch.n_cols = p->n_fields;
	for (int32_t i = 0; i < p->n_fields; i++)
	{
		const BfField *want = &p->schema->fields[p->fields[i]];
		const BfSchema *file = bf_parquet_schema(r->file);
		Output *o = &r->outputs[i];
		int32_t column;

		o->name = want->name;
		if (find_column(r->file, want, &column, err) != BF_OK)
			return bf_error_object(err, r->name);
		if (column < 0)
			BF_TRY(resolve_missing(a, r, want, find_constant(constants, want->id), o, err));
		else
		{
			BF_TRY(resolve_present(r, want, file->fields[column].type, o, err));
			o->column = n_columns;
			columns[n_columns++] = column;
		}
		if (o->kind != FROM_FILE)
			BF_TRY(bf_vector_init(a, &r->batch.cols[i], want->type, err));
	}
	return bf_parquet_scan_new(a, r->file, columns, n_columns, counters, &r->scan, err);
}

/* 12 bytes: nanoseconds of the day, Julian day; both signed, since writers exist that go astray. */
static BfStatus
int96_to_timestamp(const uint8_t *p, bool in_nanos, int64_t *out, BfError *err)
{
	int64_t part = (int64_t) bf_load64le(p);
	int64_t days = (int64_t) (int32_t) bf_load32le(p + 8) - UNIX_EPOCH_JULIAN;
	int64_t per_day = in_nanos ? NANOS_PER_DAY : NANOS_PER_DAY / 1000;
	bf_i128 wide;

	if (!in_nanos)
		part = part / 1000 - (part % 1000 < 0);
	if (!__builtin_mul_overflow(days, per_day, out) && !__builtin_add_overflow(*out, part, out))
		return BF_OK;
	/* Spark counts microseconds from the Julian epoch in 64 bits, and wraps around for the last
	 * 6000 years before 294247: then what stands here is 2^64 too small. */
	wide = (bf_i128) days * per_day + part;
	if (in_nanos || wide > INT64_MAX || wide < (bf_i128) INT64_MIN - UNIX_EPOCH_JULIAN * per_day)
		BF_FAIL(err, BF_ERR_VALUE, "an INT96 timestamp is out of range");
	*out = (int64_t) (uint64_t) (bf_u128) wide;
	return BF_OK;
}

static BfStatus
int96_column(const BfVector *in, BfVector *out, BfError *err)
{
	bool in_nanos =
		out->type.kind == BF_KIND_TIMESTAMP_NS || out->type.kind == BF_KIND_TIMESTAMPTZ_NS;
	int64_t *to;

	bf_vector_restore(out);
	to = out->data.i64;
	for (int32_t i = 0; i < in->n; i++)
	{
		to[i] = 0;
		if (bf_valid(in->validity, i))
		{
			const BfView *v =
				in->form == BF_VEC_DICT ? &in->dict->data.view[in->codes[i]] : &in->data.view[i];

			BF_NEVER(err, v->len != 12);
			BF_TRY(int96_to_timestamp(v->ptr, in_nanos, &to[i], err));
		}
	}
	out->validity = in->validity;
	out->n = in->n;
	return BF_OK;
}

static BfStatus
fill_column(const Output *o, const BfBatch *in, BfVector *out, BfError *err)
{
	switch (o->kind)
	{
		case FROM_FILE: *out = in->cols[o->column]; break;
		case FROM_PROMOTED: return bf_vector_promote(&in->cols[o->column], out, err);
		case FROM_INT96: return int96_column(&in->cols[o->column], out, err);
		case FROM_CONSTANT: bf_vector_set_const(out, &o->value, in->n_rows); break;
	}
	return BF_OK;
}

static BfStatus
fill(ParquetReader *r, const BfBatch *in, BfError *err)
{
	for (int32_t i = 0; i < r->n_cols; i++)
		if (fill_column(&r->outputs[i], in, &r->batch.cols[i], err) != BF_OK)
		{
			bf_error_column(err, r->outputs[i].name);
			return bf_error_object(err, r->name);
		}
	r->batch.n_rows = in->n_rows;
	r->batch.first_row = in->first_row;
	return BF_OK;
}

static BfStatus
reader_next(BfReader *base, const BfBatch **out, BfError *err)
{
	ParquetReader *r = (ParquetReader *) base;
	const BfBatch *in = NULL;

	*out = NULL;
	for (;;)
	{
		if (r->in_row_group)
			BF_TRY(bf_parquet_scan_next(r->scan, &in, err));
		if (in != NULL)
			break;
		r->in_row_group = false;
		if (r->rg_next >= r->rg_end)
			return BF_OK;
		BF_TRY(bf_parquet_scan_row_group(r->scan, r->rg_next++, err));
		r->in_row_group = true;
	}
	BF_TRY(fill(r, in, err));
	*out = &r->batch;
	return BF_OK;
}

static const char *
reader_name(const BfReader *base)
{
	return ((const ParquetReader *) base)->name;
}

void
bf_exec_parquet_reader_reset(BfReader *base, int32_t rg_first, int32_t rg_end)
{
	ParquetReader *r = (ParquetReader *) base;
	int32_t n = bf_parquet_n_row_groups(r->file);

	BF_ASSERT(rg_first >= 0);
	r->rg_next = rg_first;
	r->rg_end = rg_end < 0 || rg_end > n ? n : rg_end;
	r->in_row_group = false;
}

BfStatus
bf_exec_parquet_reader_over(BfArena *a, BfParquetFile *file, const BfProjection *projection,
							const BfConstants *constants, int32_t rg_first, int32_t rg_end,
							BfParquetCounters *counters, BfReader **out, BfError *err)
{
	ParquetReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = reader_next;
	r->base.name = reader_name;
	r->file = file;
	r->name = bf_parquet_name(file);
	BF_TRY(resolve(a, r, projection, constants, counters, err));
	bf_exec_parquet_reader_reset(&r->base, rg_first, rg_end);
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_exec_parquet_open(BfArena *a, const char *path, BfIoCounters *io, BfParquetFile **out,
					 BfError *err)
{
	BfSource *source;

	BF_TRY(bf_source_open(a, path, io, &source, err));
	return bf_parquet_open(a, source, NULL, out, err);
}

BfStatus
bf_exec_parquet_reader(BfArena *a, const char *path, const BfProjection *projection,
					   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
					   BfIoCounters *io, BfParquetCounters *counters, BfReader **out, BfError *err)
{
	BfParquetFile *file;

	BF_TRY(bf_exec_parquet_open(a, path, io, &file, err));
	return bf_exec_parquet_reader_over(a, file, projection, constants, rg_first, rg_end, counters,
									   out, err);
}
