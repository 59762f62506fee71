/*
 * Rows into vectors. A decoder is a list of steps, one per field of the writer's schema; a step
 * either stores into a vector or walks over the value. The loop goes row by row, since a row's
 * fields lie together; each step writes to its own column, so that nothing is allocated per row.
 */
#include "avro/rows.h"

typedef struct Step
{
	BfiRowCode code;
	bool optional;
	int32_t size;
	int32_t column; /* index in the batch, -1 = not wanted */
	const char *name;
} Step;

struct BfAvroDecoder
{
	const BfHost *host;
	int32_t n_steps;
	int32_t n_columns;
	Step *steps;
	BfType *types; /* of the columns */
};

BfStatus
bf_avro_decoder_new(BfArena *a, const BfSchema *writer, const int32_t *columns, int32_t n_columns,
					BfAvroDecoder **out, BfError *err)
{
	BfAvroDecoder *d;

	BF_NEW(a, d, 1, err);
	BF_NEW(a, d->steps, writer->n_fields, err);
	BF_NEW(a, d->types, n_columns, err);
	d->host = bf_arena_host(a);
	d->n_steps = writer->n_fields;
	d->n_columns = n_columns;
	for (int32_t i = 0; i < writer->n_fields; i++)
	{
		const BfField *f = &writer->fields[i];
		Step *s = &d->steps[i];
		BfiRowType type;

		if (bfi_row_type(f->type, &type, err) != BF_OK)
			return bf_error_column(err, f->name);
		*s = (Step){type.code, !f->required && type.code != BFI_ROW_NULL, type.size, -1, f->name};
	}
	for (int32_t i = 0; i < n_columns; i++)
	{
		BF_NEVER(err, columns[i] < 0 || columns[i] >= writer->n_fields);
		BF_NEVER(err, d->steps[columns[i]].column >= 0);
		d->steps[columns[i]].column = i;
		d->types[i] = writer->fields[columns[i]].type;
	}
	*out = d;
	return BF_OK;
}

/* The first NULL of a batch gives the vector its bits. */
static void
set_null(BfVector *v, int32_t row)
{
	BF_ASSERT(row >= 0 && row < BF_BATCH_ROWS);
	if (v->validity == NULL)
	{
		memset(v->own_validity, 0xff, BF_VALIDITY_WORDS * sizeof *v->own_validity);
		v->validity = v->own_validity;
	}
	BF_ASSERT(v->validity == v->own_validity);
	bf_validity_set(v->validity, row, false);
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[row] = 0; break;
		case BF_STORE_I32: v->data.i32[row] = 0; break;
		case BF_STORE_I64: v->data.i64[row] = 0; break;
		case BF_STORE_F32: v->data.f32[row] = 0; break;
		case BF_STORE_F64: v->data.f64[row] = 0; break;
		case BF_STORE_I128: v->data.i128[row] = 0; break;
		case BF_STORE_VIEW: v->data.view[row] = (BfView){NULL, 0}; break;
		default: break;
	}
}

/* The cursor's functions once more, inlined: they are called for every value. */
static inline BfStatus
take(BfCursor *c, size_t n, const uint8_t **p, BfError *err)
{
	if (BF_UNLIKELY(n > bf_cursor_left(c)))
		return bf_cursor_short(c, n, err);
	*p = c->pos;
	c->pos += n;
	return BF_OK;
}

static inline BfStatus
skip(BfCursor *c, size_t n, BfError *err)
{
	const uint8_t *ignored;

	return take(c, n, &ignored, err);
}

static inline BfStatus
read_byte(BfCursor *c, uint8_t *v, BfError *err)
{
	if (BF_UNLIKELY(c->pos == c->end))
		return bf_cursor_short(c, 1, err);
	*v = *c->pos++;
	return BF_OK;
}

/* The lengths that occur most are done in place. */
static inline BfStatus
read_long(BfCursor *c, int64_t *v, BfError *err)
{
	if (BF_LIKELY(c->end - c->pos >= 2))
	{
		uint64_t b0 = c->pos[0];
		uint64_t b1 = c->pos[1];

		if (b0 < 0x80)
		{
			*v = bf_unzigzag(b0);
			c->pos += 1;
			return BF_OK;
		}
		if (b1 < 0x80)
		{
			*v = bf_unzigzag((b0 & 0x7f) | (b1 << 7));
			c->pos += 2;
			return BF_OK;
		}
	}
	if (BF_LIKELY(c->end - c->pos >= 8))
	{
		uint64_t word = bf_load64le(c->pos);
		uint64_t ends = ~word & UINT64_C(0x8080808080808080);

		/* Up to eight bytes: their lower seven bits are pushed together, pair by pair. */
		if (BF_LIKELY(ends != 0))
		{
			unsigned bits = (unsigned) __builtin_ctzll(ends) + 1;

			word &= UINT64_C(0x7f7f7f7f7f7f7f7f) >> (64 - bits);
			word =
				(word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
			word =
				(word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
			word =
				(word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
			*v = bf_unzigzag(word);
			c->pos += bits / 8;
			return BF_OK;
		}
	}
	return bf_cursor_varint(c, v, err);
}

static BfStatus
read_bytes(BfCursor *c, const Step *s, BfView *out, BfError *err)
{
	int64_t offset = bf_cursor_offset(c);
	int64_t n = s->size;

	BF_ASSERT(s->code == BFI_ROW_BYTES || (s->code == BFI_ROW_FIXED && n >= 0));
	if (s->code == BFI_ROW_BYTES)
	{
		BF_TRY(read_long(c, &n, err));
		BF_DATA(err, n >= 0 && n <= UINT32_MAX, offset, "length is %lld", (long long) n);
	}
	out->len = (uint32_t) n;
	return take(c, (size_t) n, &out->ptr, err);
}

static BfStatus
read_decimal(BfCursor *c, int32_t size, int32_t precision, bf_i128 *out, BfError *err)
{
	int64_t offset = bf_cursor_offset(c);
	const uint8_t *p;
	bf_i128 v;

	BF_ASSERT(size >= 1 && size <= (int32_t) sizeof v);
	BF_TRY(take(c, (size_t) size, &p, err));
	v = (int8_t) p[0];
	for (int32_t i = 1; i < size; i++)
		v = (bf_i128) (((bf_u128) v << 8) | p[i]);
	if (precision > 0)
	{
		bf_i128 limit = bf_power_of_ten(precision);

		BF_DATA(err, v < limit && v > -limit, offset, "decimal has more than %d digits", precision);
	}
	*out = v;
	return BF_OK;
}

/* Over a value that nobody wants. */
static BfStatus
skip_value(BfCursor *c, const Step *s, BfError *err)
{
	int64_t ignored;
	BfView view;

	switch (s->code)
	{
		case BFI_ROW_NULL: return BF_OK;
		case BFI_ROW_BOOL: return skip(c, 1, err);
		case BFI_ROW_INT:
		case BFI_ROW_LONG: return read_long(c, &ignored, err);
		case BFI_ROW_FLOAT: return skip(c, 4, err);
		case BFI_ROW_DOUBLE: return skip(c, 8, err);
		case BFI_ROW_BYTES: return read_bytes(c, s, &view, err);
		case BFI_ROW_FIXED:
		case BFI_ROW_DECIMAL64:
		case BFI_ROW_DECIMAL128: return skip(c, (size_t) s->size, err);
	}
	BF_NEVER(err, true);
	return BF_OK;
}

static BfStatus
store_value(BfCursor *c, const Step *s, BfVector *v, int32_t row, BfError *err)
{
	int64_t offset = bf_cursor_offset(c);
	int64_t n = 0;
	bf_i128 wide = 0;
	const uint8_t *p;

	BF_ASSERT(v->form == BF_VEC_FLAT && row < BF_BATCH_ROWS);
	switch (s->code)
	{
		case BFI_ROW_NULL: set_null(v, row); return BF_OK;
		case BFI_ROW_BOOL:
			BF_TRY(read_byte(c, &v->data.u8[row], err));
			BF_DATA(err, v->data.u8[row] <= 1, offset, "boolean is %d", v->data.u8[row]);
			return BF_OK;
		case BFI_ROW_INT:
			BF_TRY(read_long(c, &n, err));
			BF_DATA(err, n >= INT32_MIN && n <= INT32_MAX, offset, "int is %lld", (long long) n);
			v->data.i32[row] = (int32_t) n;
			return BF_OK;
		case BFI_ROW_LONG: return read_long(c, &v->data.i64[row], err);
		case BFI_ROW_FLOAT:
			BF_TRY(take(c, 4, &p, err));
			memcpy(&v->data.f32[row], p, 4);
			return BF_OK;
		case BFI_ROW_DOUBLE:
			BF_TRY(take(c, 8, &p, err));
			memcpy(&v->data.f64[row], p, 8);
			return BF_OK;
		case BFI_ROW_BYTES:
		case BFI_ROW_FIXED: return read_bytes(c, s, &v->data.view[row], err);
		case BFI_ROW_DECIMAL64:
			BF_ASSERT(s->size <= 8);
			BF_TRY(read_decimal(c, s->size, v->type.precision, &wide, err));
			v->data.i64[row] = (int64_t) wide;
			return BF_OK;
		case BFI_ROW_DECIMAL128:
			return read_decimal(c, s->size, v->type.precision, &v->data.i128[row], err);
	}
	BF_NEVER(err, true);
	return BF_OK;
}

static inline BfStatus
decode_field(BfCursor *c, const Step *s, BfBatch *batch, int32_t row, BfError *err)
{
	if (s->optional)
	{
		int64_t offset = bf_cursor_offset(c);
		uint8_t branch;

		BF_TRY(read_byte(c, &branch, err));
		if (branch == 0)
		{
			if (s->column >= 0)
				set_null(&batch->cols[s->column], row);
			return BF_OK;
		}
		BF_DATA(err, branch == 2, offset, "union branch is byte %d, expected 0 or 2", branch);
	}
	if (s->column < 0)
		return skip_value(c, s, err);
	return store_value(c, s, &batch->cols[s->column], row, err);
}

static BfStatus
decode_row(const BfAvroDecoder *d, BfView value, BfBatch *batch, int32_t row, BfError *err)
{
	BfCursor c = bf_cursor(value.ptr, value.len, 0);

	for (int32_t i = 0; i < d->n_steps; i++)
		if (BF_UNLIKELY(decode_field(&c, &d->steps[i], batch, row, err) != BF_OK))
			return bf_error_column(err, d->steps[i].name);
	BF_DATA(err, bf_cursor_left(&c) == 0, bf_cursor_offset(&c), "row has %zu bytes too many",
			bf_cursor_left(&c));
	return BF_OK;
}

BfStatus
bf_avro_decode_rows(BfAvroDecoder *d, const BfView *values, int32_t n, BfBatch *batch, BfError *err)
{
	BfStatus status = BF_OK;

	BF_NEVER(err, batch->n_cols != d->n_columns || n < 0 || n > BF_BATCH_ROWS - batch->n_rows);
	for (int32_t i = 0; i < d->n_columns; i++)
	{
		BF_NEVER(err, !bf_type_equal(batch->cols[i].type, d->types[i]));
		if (batch->n_rows == 0)
		{
			bf_vector_restore(&batch->cols[i]);
			batch->cols[i].validity = NULL;
		}
	}
	BF_TRY(bf_check_cancel(d->host, err));
	for (int32_t i = 0; i < n && status == BF_OK; i++)
	{
		status = decode_row(d, values[i], batch, batch->n_rows, err);
		if (status == BF_OK)
			batch->n_rows++;
	}
	for (int32_t i = 0; i < d->n_columns; i++)
		batch->cols[i].n = batch->n_rows;
	return status;
}
