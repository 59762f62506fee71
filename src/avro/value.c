/*
 * Values from bytes. Every count is checked against the bytes that are left before it sizes an
 * allocation; values that take no bytes are paid from a credit, so that a block of n bytes never
 * costs more than O(n + schema) steps and memory per record.
 */
#include "avro/internal.h"

#define CANCEL_INTERVAL 4096
#define LIST_FIRST 8

static BfStatus
read_bytes(BfAvroDecode *d, size_t n, BfView *out, BfError *err)
{
	const uint8_t *p;

	BF_DATA(err, n < UINT32_MAX, bf_cursor_offset(&d->cursor), "Avro value of %zu bytes", n);
	BF_TRY(bf_cursor_take(&d->cursor, n, &p, err));
	BF_TRY_PTR(d->row, out->ptr, (uint8_t *) bf_arena_strndup(d->row, (const char *) p, n), err);
	out->len = (uint32_t) n;
	return BF_OK;
}

static BfStatus
read_length_bytes(BfAvroDecode *d, BfView *out, BfError *err)
{
	int64_t offset = bf_cursor_offset(&d->cursor);
	int64_t n;

	BF_TRY(bf_cursor_varint(&d->cursor, &n, err));
	BF_DATA(err, n >= 0, offset, "Avro length is negative: %lld", (long long) n);
	return read_bytes(d, (size_t) n, out, err);
}

static BfStatus
read_boolean(BfAvroDecode *d, bool *out, BfError *err)
{
	int64_t offset = bf_cursor_offset(&d->cursor);
	uint8_t b;

	BF_TRY(bf_cursor_u8(&d->cursor, &b, err));
	BF_DATA(err, b <= 1, offset, "Avro boolean is %d, expected 0 or 1", b);
	*out = b != 0;
	return BF_OK;
}

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "Avro's are the machine's");

static BfStatus
read_floating(BfAvroDecode *d, bool wide, double *out, BfError *err)
{
	if (wide)
	{
		uint64_t bits;

		BF_TRY(bf_cursor_u64le(&d->cursor, &bits, err));
		memcpy(out, &bits, sizeof *out);
	}
	else
	{
		uint32_t bits;
		float f;

		BF_TRY(bf_cursor_u32le(&d->cursor, &bits, err));
		memcpy(&f, &bits, sizeof f);
		*out = (double) f;
	}
	return BF_OK;
}

/* The tenth byte of a zigzag number holds its bits 63 and 64, of which an int64_t has the first. An
 * unsigned number of 64 bits keeps them all, and has none for a sign. */
static BfStatus
read_opaque(BfAvroDecode *d, int64_t *out, BfError *err)
{
	BfCursor *c = &d->cursor;
	uint64_t low = 0;

	if (bf_cursor_left(c) < 10 || c->pos[9] < 2 || c->pos[9] > 3)
		return bf_cursor_varint(c, out, err);
	for (unsigned i = 0; i < 9; i++)
	{
		if ((c->pos[i] & 0x80) == 0)
			return bf_cursor_varint(c, out, err);
		low |= (uint64_t) (c->pos[i] & 0x7f) << (7 * i);
	}
	*out = (int64_t) (low >> 1 | (uint64_t) c->pos[9] << 62);
	return bf_cursor_skip(c, 10, err);
}

/* An index below `count`: enum symbols and union branches. */
static BfStatus
read_index(BfAvroDecode *d, int32_t count, const char *what, int64_t *out, BfError *err)
{
	int64_t offset = bf_cursor_offset(&d->cursor);

	BF_TRY(bf_cursor_varint(&d->cursor, out, err));
	BF_DATA(err, *out >= 0 && *out < count, offset, "Avro %s index is %lld, but there are %d", what,
			(long long) *out, count);
	return BF_OK;
}

/* The header of an array or map block: *n items follow, 0 = the list ends here. */
static BfStatus
read_block_count(BfAvroDecode *d, int64_t *n, BfError *err)
{
	int64_t offset = bf_cursor_offset(&d->cursor);

	BF_TRY(bf_cursor_varint(&d->cursor, n, err));
	if (*n < 0)
	{
		int64_t bytes;

		BF_DATA(err, *n != INT64_MIN, offset, "Avro block count is out of range");
		*n = -*n;
		BF_TRY(bf_cursor_varint(&d->cursor, &bytes, err));
		BF_DATA(err, bytes >= 0 && (uint64_t) bytes <= bf_cursor_left(&d->cursor), offset,
				"Avro block claims %lld bytes, %zu are left", (long long) bytes,
				bf_cursor_left(&d->cursor));
	}
	return BF_OK;
}

/* Makes room for `more` items; the old arrays stay in the arena until it is reset. */
static BfStatus
grow_list(BfAvroDecode *d, BfAvroValue *out, bool map, int64_t *cap, int64_t more, BfError *err)
{
	int64_t used = out->u.list.n;
	int64_t want = used + more;
	BfAvroValue *items;
	BfView *keys = NULL;

	BF_ASSERT(more > 0 && used <= *cap);
	BF_DATA(err, want <= INT32_MAX, bf_cursor_offset(&d->cursor), "Avro list has %lld items",
			(long long) want);
	if (want <= *cap)
		return BF_OK;
	/* The first block is mostly the only one: take its size. */
	if (*cap > 0 && want < *cap * 2)
		want = *cap * 2;
	BF_NEW_RAW(d->row, items, want, err);
	if (map)
		BF_NEW_RAW(d->row, keys, want, err);
	if (used > 0)
	{
		memcpy(items, out->u.list.items, (size_t) used * sizeof *items);
		if (map)
			memcpy(keys, out->u.list.keys, (size_t) used * sizeof *keys);
	}
	out->u.list.items = items;
	out->u.list.keys = keys;
	*cap = want;
	return BF_OK;
}

static BfStatus
read_list(BfAvroDecode *d, const BfAvroSchema *s, int depth, BfAvroValue *out, BfError *err)
{
	const BfAvroSchema *element = s->children[0];
	bool map = s->type == BF_AVRO_MAP;
	int64_t item_bytes = (int64_t) element->min_bytes + (map ? 1 : 0);
	int64_t cap = 0;

	BF_ASSERT(s->n_children == 1 && item_bytes >= 0);
	out->u.list.n = 0;
	out->u.list.items = NULL;
	out->u.list.keys = NULL;
	for (;;)
	{
		int64_t offset = bf_cursor_offset(&d->cursor);
		int64_t n;

		BF_TRY(read_block_count(d, &n, err));
		if (n == 0)
			return BF_OK;
		if (item_bytes > 0)
			BF_DATA(err, n <= (int64_t) bf_cursor_left(&d->cursor) / item_bytes, offset,
					"Avro block claims %lld items, %zu bytes are left", (long long) n,
					bf_cursor_left(&d->cursor));
		else
			BF_DATA(err, n <= d->credit, offset, "Avro block claims %lld items of no bytes",
					(long long) n);
		BF_TRY(grow_list(d, out, map, &cap, n, err));
		for (int64_t i = 0; i < n; i++)
		{
			int32_t at = out->u.list.n;

			BF_ASSERT(at < cap);
			if (item_bytes > 0)
				d->credit += d->n_nodes;
			if (map)
				BF_TRY(read_length_bytes(d, &out->u.list.keys[at], err));
			BF_TRY(bfi_avro_read_value(d, element, depth + 1, &out->u.list.items[at], err));
			out->u.list.n++;
		}
	}
}

static BfStatus
read_record(BfAvroDecode *d, const BfAvroSchema *s, int depth, BfAvroValue *out, BfError *err)
{
	out->u.list.n = s->n_children;
	out->u.list.keys = NULL;
	BF_NEW(d->row, out->u.list.items, s->n_children, err);
	for (int32_t i = 0; i < s->n_children; i++)
	{
		BfStatus status =
			bfi_avro_read_value(d, s->children[i], depth + 1, &out->u.list.items[i], err);

		if (status != BF_OK)
			return bf_error_column(err, s->field_names[i]);
	}
	return BF_OK;
}

BfStatus
bfi_avro_read_value(BfAvroDecode *d, const BfAvroSchema *s, int depth, BfAvroValue *out,
					BfError *err)
{
	int64_t offset = bf_cursor_offset(&d->cursor);

	BF_ASSERT(d->n_nodes > 0 && s->min_bytes >= 0);
	BF_DATA(err, depth <= BF_AVRO_DEPTH_MAX, offset, "Avro value is nested deeper than %d levels",
			BF_AVRO_DEPTH_MAX);
	if (s->min_bytes == 0)
		BF_DATA(err, --d->credit >= 0, offset, "Avro block has too many values of no bytes");
	if ((++d->ticks % CANCEL_INTERVAL) == 0)
		BF_TRY(bf_check_cancel(d->host, err));
	out->schema = s;
	switch (s->type)
	{
		case BF_AVRO_NULL: out->u.i = 0; return BF_OK;
		case BF_AVRO_BOOLEAN: return read_boolean(d, &out->u.b, err);
		case BF_AVRO_INT:
		{
			int32_t v = 0;

			BF_TRY(bf_cursor_varint32(&d->cursor, &v, err));
			out->u.i = v;
			return BF_OK;
		}
		case BF_AVRO_LONG:
			if (s->opaque)
				return read_opaque(d, &out->u.i, err);
			return bf_cursor_varint(&d->cursor, &out->u.i, err);
		case BF_AVRO_FLOAT: return read_floating(d, false, &out->u.d, err);
		case BF_AVRO_DOUBLE: return read_floating(d, true, &out->u.d, err);
		case BF_AVRO_BYTES:
		case BF_AVRO_STRING: return read_length_bytes(d, &out->u.bytes, err);
		case BF_AVRO_FIXED: return read_bytes(d, (size_t) s->fixed_size, &out->u.bytes, err);
		case BF_AVRO_ENUM: return read_index(d, s->n_symbols, "symbol", &out->u.i, err);
		case BF_AVRO_RECORD: return read_record(d, s, depth, out, err);
		case BF_AVRO_ARRAY:
		case BF_AVRO_MAP: return read_list(d, s, depth, out, err);
		case BF_AVRO_UNION:
		{
			int64_t branch = 0;

			BF_TRY(read_index(d, s->n_children, "union", &branch, err));
			BF_ASSERT(s->children[branch]->type != BF_AVRO_UNION);
			return bfi_avro_read_value(d, s->children[branch], depth, out, err);
		}
	}
	BF_NEVER(err, true);
	return BF_OK;
}

const BfAvroValue *
bf_avro_field(const BfAvroValue *record, int32_t id, const char *name)
{
	const BfAvroSchema *s = record->schema;
	int32_t found = -1;

	BF_ASSERT(id != 0 || name != NULL);
	if (s->type != BF_AVRO_RECORD)
		return NULL;
	BF_ASSERT(record->u.list.n == s->n_children);
	if (id != 0)
		for (int32_t i = 0; i < s->n_children && found < 0; i++)
			if (s->field_ids[i] == id)
				found = i;
	if (name != NULL)
		for (int32_t i = 0; i < s->n_children && found < 0; i++)
			if (strcmp(s->field_names[i], name) == 0)
				found = i;
	if (found < 0 || record->u.list.items[found].schema->type == BF_AVRO_NULL)
		return NULL;
	return &record->u.list.items[found];
}
