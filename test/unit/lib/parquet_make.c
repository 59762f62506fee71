/*
 * Writes Thrift's compact protocol straight away, front to back.
 */
#include "unit/lib/parquet_make.h"

#include <string.h>

/* Of Thrift's compact protocol. */
enum
{
	T_I32 = 5,
	T_I64 = 6,
	T_BINARY = 8,
	T_LIST = 9,
	T_STRUCT = 12
};

#define PLAIN 0
#define RLE 3
#define COLUMNS_MAX 64

typedef struct Thrift
{
	BfBuffer *out;
	BfError *err;
	BfStatus status;
	int32_t last[8]; /* field number, per level */
	int32_t level;
} Thrift;

static void
put(Thrift *t, const void *bytes, size_t n)
{
	if (t->status == BF_OK)
		t->status = bf_buffer_append(t->out, bytes, n, t->err);
}

static void
put_byte(Thrift *t, int32_t v)
{
	uint8_t byte = (uint8_t) v;

	put(t, &byte, 1);
}

static void
put_uvarint(Thrift *t, uint64_t v)
{
	uint8_t bytes[10];

	put(t, bytes, bf_put_uvarint(bytes, v));
}

static void
field(Thrift *t, int32_t id, int32_t type)
{
	put_byte(t, (id - t->last[t->level]) << 4 | type);
	t->last[t->level] = id;
}

static void
number(Thrift *t, int32_t id, int32_t type, int64_t v)
{
	field(t, id, type);
	put_uvarint(t, bf_zigzag(v));
}

static void
text(Thrift *t, const char *s)
{
	put_uvarint(t, strlen(s));
	put(t, s, strlen(s));
}

static void
list(Thrift *t, int32_t id, int32_t type, int32_t n)
{
	field(t, id, T_LIST);
	put_byte(t, (n < 15 ? n : 15) << 4 | type);
	if (n >= 15)
		put_uvarint(t, (uint64_t) n);
}

static void
bytes_field(Thrift *t, int32_t id, BfView v)
{
	if (v.ptr == NULL)
		return;
	field(t, id, T_BINARY);
	put_uvarint(t, v.len);
	put(t, v.ptr, v.len);
}

static void
begin(Thrift *t)
{
	t->last[++t->level] = 0;
}

static void
end(Thrift *t)
{
	put_byte(t, 0);
	t->level--;
}

static void
empty(Thrift *t, int32_t id)
{
	field(t, id, T_STRUCT);
	begin(t);
	end(t);
}

static int32_t
physical(const MadeColumn *c)
{
	return c->longs != NULL ? MADE_INT64 : c->texts != NULL ? MADE_BYTE_ARRAY : c->physical;
}

static size_t
values_bytes(const MadeColumn *c, int32_t n_rows)
{
	size_t bytes = 0;

	if (c->longs != NULL)
		return (size_t) n_rows * sizeof *c->longs;
	if (c->texts == NULL)
		return c->values.len;
	for (int32_t i = 0; i < n_rows; i++)
		bytes += 4 + strlen(c->texts[i]);
	return bytes;
}

static void
put_values(Thrift *t, const MadeColumn *c, int32_t n_rows)
{
	if (c->longs != NULL)
		put(t, c->longs, (size_t) n_rows * sizeof *c->longs);
	else if (c->texts == NULL)
		put(t, c->values.ptr, c->values.len);
	for (int32_t i = 0; c->texts != NULL && i < n_rows; i++)
	{
		uint32_t n = (uint32_t) strlen(c->texts[i]);

		put(t, &n, 4);
		put(t, c->texts[i], n);
	}
}

/* A page's header; `member` is that of its own kind, of which the caller writes the fields. */
static void
begin_page(Thrift *t, int32_t kind, size_t bytes, int32_t member)
{
	begin(t);
	number(t, 1, T_I32, kind);
	number(t, 2, T_I32, (int64_t) bytes);
	number(t, 3, T_I32, (int64_t) bytes);
	field(t, member, T_STRUCT);
	begin(t);
}

static void
dictionary_page(Thrift *t, const MadeColumn *c)
{
	begin_page(t, 2, c->dictionary.len, 7);
	number(t, 1, T_I32, c->n_dictionary);
	number(t, 2, T_I32, PLAIN);
	end(t);
	end(t);
	put(t, c->dictionary.ptr, c->dictionary.len);
}

static void
data_page(Thrift *t, const MadeColumn *c, int32_t n_rows)
{
	/* One run of ones. */
	uint8_t levels[4 + 10 + 1];
	uint32_t run = (uint32_t) bf_put_uvarint(levels + 4, (uint64_t) n_rows << 1) + 1;
	size_t bytes = values_bytes(c, n_rows) + (c->optional ? 4 + run : 0);

	bf_store32le(levels, run);
	levels[4 + run - 1] = 1;
	begin_page(t, 0, bytes, 5);
	number(t, 1, T_I32, n_rows);
	number(t, 2, T_I32, c->encoding);
	number(t, 3, T_I32, RLE);
	number(t, 4, T_I32, RLE);
	end(t);
	end(t);
	if (c->optional)
		put(t, levels, 4 + run);
	put_values(t, c, n_rows);
}

/* Header and blocks. */
static void
bloom_filter(Thrift *t, const MadeColumn *c)
{
	begin(t);
	number(t, 1, T_I32, c->bloom.len);
	for (int32_t id = 2; id <= 4; id++)
	{
		field(t, id, T_STRUCT);
		begin(t);
		empty(t, 1);
		end(t);
	}
	end(t);
	put(t, c->bloom.ptr, c->bloom.len);
}

static void
schema_column(Thrift *t, const MadeColumn *c)
{
	begin(t);
	number(t, 1, T_I32, physical(c));
	if (c->length > 0)
		number(t, 2, T_I32, c->length);
	number(t, 3, T_I32, c->optional);
	field(t, 4, T_BINARY);
	text(t, c->name);
	if (c->has_converted || c->texts != NULL)
		number(t, 6, T_I32, c->converted); /* UTF8 is 0 */
	if (c->precision > 0)
	{
		number(t, 7, T_I32, c->scale);
		number(t, 8, T_I32, c->precision);
	}
	if (c->id > 0)
		number(t, 9, T_I32, c->id);
	if (c->logical > 0)
	{
		field(t, 10, T_STRUCT);
		begin(t);
		empty(t, c->logical);
		end(t);
	}
	end(t);
}

static void
schema(Thrift *t, const MadeFile *f)
{
	list(t, 2, T_STRUCT, f->n_columns + 1);
	begin(t);
	field(t, 4, T_BINARY);
	text(t, "table");
	number(t, 5, T_I32, f->n_columns);
	end(t);
	for (int32_t i = 0; i < f->n_columns; i++)
		schema_column(t, &f->columns[i]);
}

static void
statistics(Thrift *t, const MadeStatistics *s)
{
	field(t, 12, T_STRUCT);
	begin(t);
	bytes_field(t, 1, s->max);
	bytes_field(t, 2, s->min);
	if (s->null_count >= 0)
		number(t, 3, T_I64, s->null_count);
	if (s->distinct_count != 0)
		number(t, 4, T_I64, s->distinct_count);
	bytes_field(t, 5, s->max_value);
	bytes_field(t, 6, s->min_value);
	end(t);
}

/* The statistics of encodings: one data page of that one. */
static void
encoding_stats(Thrift *t, const MadeColumn *c)
{
	list(t, 13, T_STRUCT, 1);
	begin(t);
	number(t, 1, T_I32, 0);
	number(t, 2, T_I32, c->encoding);
	number(t, 3, T_I32, 1);
	end(t);
}

/* Where the parts of a column are. */
typedef struct Parts
{
	size_t start;
	size_t data;
	size_t end;
	size_t bloom;
} Parts;

static void
chunk(Thrift *t, const MadeColumn *c, int32_t n_rows, const Parts *at)
{
	begin(t);
	number(t, 2, T_I64, (int64_t) at->start);
	field(t, 3, T_STRUCT);
	begin(t);
	number(t, 1, T_I32, physical(c));
	list(t, 2, T_I32, 1);
	put_uvarint(t, bf_zigzag(c->encoding));
	list(t, 3, T_BINARY, 1);
	text(t, c->name);
	number(t, 4, T_I32, 0); /* not compressed */
	number(t, 5, T_I64, n_rows + c->more_count);
	number(t, 6, T_I64, (int64_t) (at->end - at->start));
	number(t, 7, T_I64, (int64_t) (at->end - at->start));
	number(t, 9, T_I64, (int64_t) at->data);
	if (c->n_dictionary > 0)
		number(t, 11, T_I64, (int64_t) at->start);
	if (c->statistics != NULL)
		statistics(t, c->statistics);
	encoding_stats(t, c);
	if (c->bloom.len > 0)
		number(t, 14, T_I64, (int64_t) at->bloom);
	end(t);
	end(t);
}

static void
footer(Thrift *t, const MadeFile *f, const Parts *parts)
{
	begin(t);
	number(t, 1, T_I32, 1);
	schema(t, f);
	number(t, 3, T_I64, f->n_rows);
	list(t, 4, T_STRUCT, 1);
	begin(t);
	list(t, 1, T_STRUCT, f->n_columns);
	for (int32_t i = 0; i < f->n_columns; i++)
		chunk(t, &f->columns[i], f->n_rows, &parts[i]);
	number(t, 2, T_I64, (int64_t) (parts[f->n_columns - 1].end - parts[0].start));
	number(t, 3, T_I64, f->n_rows);
	end(t);
	if (f->created_by != NULL)
	{
		field(t, 6, T_BINARY);
		text(t, f->created_by);
	}
	if (f->typed_order)
	{
		list(t, 7, T_STRUCT, f->n_columns);
		for (int32_t i = 0; i < f->n_columns; i++)
		{
			begin(t);
			empty(t, 1);
			end(t);
		}
	}
	end(t);
}

BfStatus
made_parquet(BfBuffer *out, const MadeFile *f, BfError *err)
{
	Thrift t = {.out = out, .err = err, .status = BF_OK};
	Parts parts[COLUMNS_MAX];
	size_t start;
	uint32_t length;

	BF_ASSERT(f->n_columns > 0 && f->n_columns <= COLUMNS_MAX && out->len == 0);
	put(&t, "PAR1", 4);
	for (int32_t i = 0; i < f->n_columns; i++)
	{
		parts[i].start = out->len;
		if (f->columns[i].n_dictionary > 0)
			dictionary_page(&t, &f->columns[i]);
		parts[i].data = out->len;
		data_page(&t, &f->columns[i], f->n_rows);
		parts[i].end = out->len;
	}
	for (int32_t i = 0; i < f->n_columns; i++)
	{
		parts[i].bloom = out->len;
		if (f->columns[i].bloom.len > 0)
			bloom_filter(&t, &f->columns[i]);
	}
	start = out->len;
	footer(&t, f, parts);
	length = (uint32_t) (out->len - start);
	put(&t, &length, 4);
	put(&t, "PAR1", 4);
	return t.status;
}
