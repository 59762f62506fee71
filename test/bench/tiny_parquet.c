#include "bench/tiny_parquet.h"

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

#define TYPE_INT64 2
#define TYPE_BYTE_ARRAY 6

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
page(Thrift *t, const TinyColumn *c, int32_t n_rows)
{
	size_t bytes = (size_t) n_rows * sizeof *c->longs;

	if (c->texts != NULL)
	{
		bytes = 0;
		for (int32_t i = 0; i < n_rows; i++)
			bytes += 4 + strlen(c->texts[i]);
	}
	begin(t);
	number(t, 1, T_I32, 0); /* a data page */
	number(t, 2, T_I32, (int64_t) bytes);
	number(t, 3, T_I32, (int64_t) bytes);
	field(t, 5, T_STRUCT);
	begin(t);
	number(t, 1, T_I32, n_rows);
	number(t, 2, T_I32, 0); /* PLAIN */
	number(t, 3, T_I32, 3); /* RLE */
	number(t, 4, T_I32, 3);
	end(t);
	end(t);
	if (c->texts == NULL)
		put(t, c->longs, bytes);
	for (int32_t i = 0; c->texts != NULL && i < n_rows; i++)
	{
		uint32_t n = (uint32_t) strlen(c->texts[i]);

		put(t, &n, 4);
		put(t, c->texts[i], n);
	}
}

static void
schema(Thrift *t, const TinyColumn *columns, int32_t n_columns)
{
	list(t, 2, T_STRUCT, n_columns + 1);
	begin(t);
	field(t, 4, T_BINARY);
	text(t, "table");
	number(t, 5, T_I32, n_columns);
	end(t);
	for (int32_t i = 0; i < n_columns; i++)
	{
		begin(t);
		number(t, 1, T_I32, columns[i].texts != NULL ? TYPE_BYTE_ARRAY : TYPE_INT64);
		number(t, 3, T_I32, 0); /* required */
		field(t, 4, T_BINARY);
		text(t, columns[i].name);
		if (columns[i].texts != NULL)
			number(t, 6, T_I32, 0); /* UTF8 */
		number(t, 9, T_I32, columns[i].id);
		end(t);
	}
}

static void
chunk(Thrift *t, const TinyColumn *c, int32_t n_rows, size_t from, size_t to)
{
	begin(t);
	number(t, 2, T_I64, (int64_t) from);
	field(t, 3, T_STRUCT);
	begin(t);
	number(t, 1, T_I32, c->texts != NULL ? TYPE_BYTE_ARRAY : TYPE_INT64);
	list(t, 2, T_I32, 1);
	put_uvarint(t, bf_zigzag(0)); /* PLAIN */
	list(t, 3, T_BINARY, 1);
	text(t, c->name);
	number(t, 4, T_I32, 0); /* not compressed */
	number(t, 5, T_I64, n_rows);
	number(t, 6, T_I64, (int64_t) (to - from));
	number(t, 7, T_I64, (int64_t) (to - from));
	number(t, 9, T_I64, (int64_t) from);
	end(t);
	end(t);
}

BfStatus
tiny_parquet(BfBuffer *out, const TinyColumn *columns, int32_t n_columns, int32_t n_rows,
			 BfError *err)
{
	Thrift t = {.out = out, .err = err, .status = BF_OK};
	size_t starts[65], footer;
	uint32_t length;

	BF_ASSERT(n_columns < 65 && out->len == 0);
	put(&t, "PAR1", 4);
	for (int32_t i = 0; i < n_columns; i++)
	{
		starts[i] = out->len;
		page(&t, &columns[i], n_rows);
	}
	starts[n_columns] = footer = out->len;
	begin(&t);
	number(&t, 1, T_I32, 1);
	schema(&t, columns, n_columns);
	number(&t, 3, T_I64, n_rows);
	list(&t, 4, T_STRUCT, 1);
	begin(&t);
	list(&t, 1, T_STRUCT, n_columns);
	for (int32_t i = 0; i < n_columns; i++)
		chunk(&t, &columns[i], n_rows, starts[i], starts[i + 1]);
	number(&t, 2, T_I64, (int64_t) (footer - starts[0]));
	number(&t, 3, T_I64, n_rows);
	end(&t);
	end(&t);
	length = (uint32_t) (out->len - footer);
	put(&t, &length, 4);
	put(&t, "PAR1", 4);
	return t.status;
}
