/*
 * The compact protocol of Thrift: structs are read by tables of their fields, everything else is
 * skipped, with bounds on depth and on what a count may claim.
 */
#include "parquet/thrift.h"

BfStatus
bfi_thrift_field(BfCursor *c, int16_t *id, int *type, BfError *err)
{
	uint8_t b;
	int32_t next;

	BF_TRY(bf_cursor_u8(c, &b, err));
	*type = b & 15;
	if (*type == BFI_T_STOP)
		return BF_OK;
	if (b >> 4 != 0)
		next = *id + (b >> 4);
	else
		BF_TRY(bf_cursor_varint32(c, &next, err));
	BF_DATA(err, next >= INT16_MIN && next <= INT16_MAX, bf_cursor_offset(c),
			"thrift field id %d is out of range", next);
	*id = (int16_t) next;
	return BF_OK;
}

BfStatus
bfi_thrift_list(BfCursor *c, size_t element_min, BfiThriftList *out, BfError *err)
{
	uint8_t b;
	uint64_t n;

	BF_ASSERT(element_min > 0 && c->pos <= c->end);
	BF_TRY(bf_cursor_u8(c, &b, err));
	n = b >> 4;
	if (n == 15)
		BF_TRY(bf_cursor_uvarint(c, &n, err));
	BF_DATA(err, n <= bf_cursor_left(c) / element_min && n <= INT32_MAX, bf_cursor_offset(c),
			"thrift list of %llu elements, but only %zu bytes are left", (unsigned long long) n,
			bf_cursor_left(c));
	out->c = *c;
	out->n = (uint32_t) n;
	out->type = b & 15;
	return BF_OK;
}

BfStatus
bfi_thrift_binary(BfCursor *c, BfView *out, BfError *err)
{
	uint64_t n;

	BF_TRY(bf_cursor_uvarint(c, &n, err));
	BF_DATA(err, n <= bf_cursor_left(c) && n <= INT32_MAX, bf_cursor_offset(c),
			"thrift string of %llu bytes, but only %zu are left", (unsigned long long) n,
			bf_cursor_left(c));
	out->len = (uint32_t) n;
	return bf_cursor_take(c, (size_t) n, &out->ptr, err);
}

static BfStatus
skip_list(BfCursor *c, int depth, BfError *err)
{
	BfiThriftList list;

	BF_TRY(bfi_thrift_list(c, 1, &list, err));
	switch (list.type)
	{
		case BFI_T_TRUE:
		case BFI_T_FALSE:
		case BFI_T_I8: return bf_cursor_skip(c, list.n, err);
		default:
			for (uint32_t i = 0; i < list.n; i++)
				BF_TRY(bfi_thrift_skip(c, list.type, depth + 1, err));
			return BF_OK;
	}
}

static BfStatus
skip_map(BfCursor *c, int depth, BfError *err)
{
	uint64_t n;
	uint8_t types;
	int kv[2];

	BF_TRY(bf_cursor_uvarint(c, &n, err));
	if (n == 0)
		return BF_OK;
	BF_TRY(bf_cursor_u8(c, &types, err));
	BF_DATA(err, n <= bf_cursor_left(c) / 2, bf_cursor_offset(c),
			"thrift map of %llu entries, but only %zu bytes are left", (unsigned long long) n,
			bf_cursor_left(c));
	kv[0] = types >> 4;
	kv[1] = types & 15;
	for (uint64_t i = 0; i < n * 2; i++)
	{
		int type = kv[i & 1];

		/* As an element a bool is a byte. */
		if (type == BFI_T_TRUE || type == BFI_T_FALSE)
			type = BFI_T_I8;
		BF_TRY(bfi_thrift_skip(c, type, depth + 1, err));
	}
	return BF_OK;
}

BfStatus
bfi_thrift_skip(BfCursor *c, int type, int depth, BfError *err)
{
	uint64_t n;
	BfView view;

	BF_ASSERT(depth >= 0 && c->pos <= c->end);
	BF_DATA(err, depth < BFI_THRIFT_DEPTH_MAX, bf_cursor_offset(c),
			"thrift structs are nested deeper than %d", BFI_THRIFT_DEPTH_MAX);
	switch (type)
	{
		case BFI_T_TRUE:
		case BFI_T_FALSE: return BF_OK;
		case BFI_T_I8: return bf_cursor_skip(c, 1, err);
		case BFI_T_I16:
		case BFI_T_I32:
		case BFI_T_I64: return bf_cursor_uvarint(c, &n, err);
		case BFI_T_DOUBLE: return bf_cursor_skip(c, 8, err);
		case BFI_T_UUID: return bf_cursor_skip(c, 16, err);
		case BFI_T_BINARY: return bfi_thrift_binary(c, &view, err);
		case BFI_T_LIST:
		case BFI_T_SET: return skip_list(c, depth, err);
		case BFI_T_MAP: return skip_map(c, depth, err);
		case BFI_T_STRUCT:
			for (int16_t id = 0;;)
			{
				int field_type;

				BF_TRY(bfi_thrift_field(c, &id, &field_type, err));
				if (field_type == BFI_T_STOP)
					return BF_OK;
				BF_TRY(bfi_thrift_skip(c, field_type, depth + 1, err));
			}
		default:
			BF_FAIL_AT(err, BF_ERR_CORRUPT, bf_cursor_offset(c), "unknown thrift type %d", type);
	}
}

static BfStatus
decode_struct(BfCursor *c, const BfiThriftStruct *table, void *out, int depth, BfError *err);

/* Does the wire type carry what the table wants? */
static bool
type_fits(int wanted, int got)
{
	if (wanted == BFI_T_TRUE)
		return got == BFI_T_TRUE || got == BFI_T_FALSE;
	return wanted == got;
}

static BfStatus
decode_field(BfCursor *c, const BfiThriftField *f, int type, uint8_t *member, int depth,
			 BfError *err)
{
	BF_ASSERT(type_fits(f->type, type));
	switch (type)
	{
		case BFI_T_TRUE:
		case BFI_T_FALSE: *(bool *) member = type == BFI_T_TRUE; return BF_OK;
		case BFI_T_I8: return bf_cursor_u8(c, member, err);
		case BFI_T_I32: return bf_cursor_varint32(c, (int32_t *) (void *) member, err);
		case BFI_T_I64: return bf_cursor_varint(c, (int64_t *) (void *) member, err);
		case BFI_T_BINARY: return bfi_thrift_binary(c, (BfView *) (void *) member, err);
		case BFI_T_LIST:
		{
			BfCursor before = *c;

			BF_TRY(bfi_thrift_list(&before, 1, (BfiThriftList *) (void *) member, err));
			return bfi_thrift_skip(c, type, depth + 1, err);
		}
		case BFI_T_STRUCT:
			if (f->sub != NULL)
				return decode_struct(c, f->sub, member, depth + 1, err);
			return bfi_thrift_skip(c, type, depth + 1, err);
		default: return bfi_thrift_skip(c, type, depth + 1, err);
	}
}

static BfStatus
decode_struct(BfCursor *c, const BfiThriftStruct *table, void *out, int depth, BfError *err)
{
	uint32_t seen = 0;
	int next = 0; /* fields usually come in the table's order */

	BF_DATA(err, depth < BFI_THRIFT_DEPTH_MAX, bf_cursor_offset(c), "%s is nested too deep",
			table->name);
	for (int16_t id = 0;;)
	{
		int type;
		int i = next;

		BF_TRY(bfi_thrift_field(c, &id, &type, err));
		if (type == BFI_T_STOP)
			break;
		while (i < table->n_fields && table->fields[i].id != id)
			i++;
		if (i == table->n_fields)
			for (i = 0; i < next && table->fields[i].id != id; i++)
				;
		if (i < table->n_fields && table->fields[i].id == id &&
			type_fits(table->fields[i].type, type))
		{
			const BfiThriftField *f = &table->fields[i];

			BF_TRY(decode_field(c, f, type, (uint8_t *) out + f->offset, depth, err));
			seen |= (uint32_t) 1 << i;
			next = i + 1;
		}
		else
			BF_TRY(bfi_thrift_skip(c, type, depth + 1, err));
	}
	for (int i = 0; i < table->n_fields; i++)
		BF_DATA(err, !table->fields[i].required || (seen >> i & 1) != 0, bf_cursor_offset(c),
				"%s lacks its required field %d", table->name, table->fields[i].id);
	*(uint32_t *) out = seen;
	return BF_OK;
}

BfStatus
bfi_thrift_struct(BfCursor *c, const BfiThriftStruct *table, void *out, size_t size, BfError *err)
{
	BF_ASSERT(table->n_fields <= 32 && size >= sizeof(uint32_t));
	memset(out, 0, size);
	return decode_struct(c, table, out, 0, err);
}
