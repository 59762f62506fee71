/*
 * Table schema <-> Avro schema JSON. What a type is in Avro stands once, in bfi_row_type; reading a
 * schema back builds the candidate type and lets that function confirm it.
 */
#include "avro/internal.h"
#include "avro/rows.h"
#include "base/ascii.h"
#include "base/text.h"

#include <jansson.h>

#define SCHEMA_TEXT_MAX ((size_t) 1 << 24)

int32_t
bfi_decimal_bytes(int32_t precision)
{
	/* n bytes hold up to 2^(8n-1) - 1. */
	static const uint8_t bytes[] = {1,	1,	1,	2,	2,	3,	3,	4,	4,	4,	5,	5,	6,
									6,	6,	7,	7,	8,	8,	9,	9,	9,	10, 10, 11, 11,
									11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};

	_Static_assert(sizeof bytes == 38 + 1, "a number of bytes for each precision");
	BF_ASSERT(precision >= 0 && precision < (int32_t) sizeof bytes);
	return bytes[precision];
}

/* Sizes of -1 depend on the type. JSON, ENUM and BSON are written as their plain cousins before
 * them, where reading stops. */
static const BfiRowType row_types[BF_KIND_COUNT] = {
	[BF_KIND_NULL] = {BFI_ROW_NULL, 0, "null", NULL, false, false},
	[BF_KIND_BOOL] = {BFI_ROW_BOOL, 0, "boolean", NULL, false, false},
	[BF_KIND_INT32] = {BFI_ROW_INT, 0, "int", NULL, false, false},
	[BF_KIND_INT64] = {BFI_ROW_LONG, 0, "long", NULL, false, false},
	[BF_KIND_FLOAT32] = {BFI_ROW_FLOAT, 0, "float", NULL, false, false},
	[BF_KIND_FLOAT64] = {BFI_ROW_DOUBLE, 0, "double", NULL, false, false},
	[BF_KIND_DATE] = {BFI_ROW_INT, 0, "int", "date", false, false},
	[BF_KIND_TIME] = {BFI_ROW_LONG, 0, "long", "time-micros", false, false},
	[BF_KIND_TIMESTAMP] = {BFI_ROW_LONG, 0, "long", "timestamp-micros", true, false},
	[BF_KIND_TIMESTAMPTZ] = {BFI_ROW_LONG, 0, "long", "timestamp-micros", true, true},
	[BF_KIND_TIMESTAMP_NS] = {BFI_ROW_LONG, 0, "long", "timestamp-nanos", true, false},
	[BF_KIND_TIMESTAMPTZ_NS] = {BFI_ROW_LONG, 0, "long", "timestamp-nanos", true, true},
	[BF_KIND_STRING] = {BFI_ROW_BYTES, 0, "string", NULL, false, false},
	[BF_KIND_JSON] = {BFI_ROW_BYTES, 0, "string", NULL, false, false},
	[BF_KIND_ENUM] = {BFI_ROW_BYTES, 0, "string", NULL, false, false},
	[BF_KIND_BINARY] = {BFI_ROW_BYTES, 0, "bytes", NULL, false, false},
	[BF_KIND_BSON] = {BFI_ROW_BYTES, 0, "bytes", NULL, false, false},
	[BF_KIND_UUID] = {BFI_ROW_FIXED, 16, "fixed", "uuid", false, false},
	[BF_KIND_FIXED] = {BFI_ROW_FIXED, -1, "fixed", NULL, false, false},
	[BF_KIND_DECIMAL] = {BFI_ROW_DECIMAL64, -1, "fixed", "decimal", false, false},
};

BfStatus
bfi_row_type(BfType t, BfiRowType *out, BfError *err)
{
	char name[64];

	BF_ASSERT((unsigned) t.kind < BF_KIND_COUNT);
	*out = row_types[t.kind];
	if (t.kind == BF_KIND_FIXED)
		out->size = t.length;
	else if (t.kind == BF_KIND_DECIMAL && t.precision >= 1 && t.precision <= 38 && t.scale >= 0 &&
			 t.scale <= t.precision)
	{
		out->size = bfi_decimal_bytes(t.precision);
		if (t.precision > 18)
			out->code = BFI_ROW_DECIMAL128;
	}
	BF_ASSERT(out->code != BFI_ROW_DECIMAL64 || out->size <= 8);
	BF_ASSERT(out->code != BFI_ROW_DECIMAL128 || (out->size > 8 && out->size <= 16));
	if (out->avro != NULL && out->size >= 0)
		return BF_OK;
	bf_type_name(t, name, sizeof name);
	BF_FAIL(err, BF_ERR_UNSUPPORTED, "type %s cannot be stored in a ledger", name);
}

static bool
is_letter(char c)
{
	return bf_ascii_letter(c) || c == '_';
}

static bool
is_avro_name(const char *s)
{
	if (!is_letter(*s))
		return false;
	for (; *s != '\0'; s++)
		if (!is_letter(*s) && !bf_ascii_digit(*s))
			return false;
	return true;
}

/* One UTF-8 character; a byte that is none stands for itself. */
static uint32_t
next_code_point(const char **s)
{
	const uint8_t *p = (const uint8_t *) *s;
	int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more == 0 ? p[0] : p[0] & (0x3fu >> more);

	for (int i = 1; i <= more; i++)
	{
		if ((p[i] & 0xc0) != 0x80)
		{
			*s += 1;
			return p[0];
		}
		c = (c << 6) | (p[i] & 0x3f);
	}
	*s += more + 1;
	return c;
}

/* Java's replacement for names that Avro does not allow: a digit in front gets an underscore, any
 * other character becomes _x and the hex digits of its UTF-16 units. */
static BfStatus
put_avro_name(BfBuffer *b, const char *s, BfError *err)
{
	bool first = true;

	if (*s == '\0')
		return bf_text_put(b, "_", err);
	while (*s != '\0')
	{
		char c = *s;
		uint32_t code = next_code_point(&s);

		if (is_letter(c) || (bf_ascii_digit(c) && !first))
			BF_TRY(bf_buffer_u8(b, (uint8_t) c, err));
		else if (bf_ascii_digit(c))
			BF_TRY(bf_buffer_printf(b, err, "_%c", c));
		else if (code > 0xffff)
			BF_TRY(bf_buffer_printf(b, err, "_x%X_x%X", 0xd7c0 + (code >> 10),
									0xdc00 + (code & 0x3ff)));
		else
			BF_TRY(bf_buffer_printf(b, err, "_x%X", code));
		first = false;
	}
	return BF_OK;
}

/* A named type is defined where it first occurs and referred to by name after that. */
static bool
defined_before(const BfSchema *schema, int32_t at)
{
	for (int32_t i = 0; i < at; i++)
		if (bf_type_equal(schema->fields[i].type, schema->fields[at].type))
			return true;
	return false;
}

static BfStatus
put_fixed(BfBuffer *b, const BfSchema *schema, int32_t at, const BfiRowType *row, BfError *err)
{
	BfType t = schema->fields[at].type;
	char name[64] = "uuid_fixed";

	BF_ASSERT(t.kind == BF_KIND_UUID || t.kind == BF_KIND_FIXED || t.kind == BF_KIND_DECIMAL);
	if (t.kind == BF_KIND_DECIMAL)
		snprintf(name, sizeof name, "decimal_%d_%d", t.precision, t.scale);
	else if (t.kind == BF_KIND_FIXED)
		snprintf(name, sizeof name, "fixed_%d", t.length);
	if (defined_before(schema, at))
		return bf_buffer_printf(b, err, "\"%s\"", name);
	BF_TRY(bf_buffer_printf(b, err, "{\"type\":\"fixed\",\"name\":\"%s\",\"size\":%d", name,
							row->size));
	if (row->logical != NULL)
		BF_TRY(bf_buffer_printf(b, err, ",\"logicalType\":\"%s\"", row->logical));
	if (t.kind == BF_KIND_DECIMAL)
		BF_TRY(bf_buffer_printf(b, err, ",\"precision\":%d,\"scale\":%d", t.precision, t.scale));
	return bf_text_put(b, "}", err);
}

static BfStatus
put_type(BfBuffer *b, const BfSchema *schema, int32_t at, BfError *err)
{
	BfiRowType row;

	BF_TRY(bfi_row_type(schema->fields[at].type, &row, err));
	if (strcmp(row.avro, "fixed") == 0)
		return put_fixed(b, schema, at, &row, err);
	if (row.logical == NULL)
		return bf_buffer_printf(b, err, "\"%s\"", row.avro);
	BF_TRY(
		bf_buffer_printf(b, err, "{\"type\":\"%s\",\"logicalType\":\"%s\"", row.avro, row.logical));
	if (row.has_zone)
		BF_TRY(bf_buffer_printf(b, err, ",\"adjust-to-utc\":%s",
								row.adjust_to_utc ? "true" : "false"));
	return bf_text_put(b, "}", err);
}

static BfStatus
put_field(BfBuffer *b, const BfSchema *schema, int32_t at, BfError *err)
{
	const BfField *f = &schema->fields[at];
	bool null_type = f->type.kind == BF_KIND_NULL;

	BF_ASSERT(at >= 0 && at < schema->n_fields);
	if (f->n_children > 0)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "nested types cannot be stored in a ledger");
	BF_TRY(bf_text_put(b, at == 0 ? "{\"name\":\"" : ",{\"name\":\"", err));
	BF_TRY(put_avro_name(b, f->name, err));
	BF_TRY(bf_text_put(b, "\",\"type\":", err));
	if (f->required || null_type)
		BF_TRY(put_type(b, schema, at, err));
	else
	{
		BF_TRY(bf_text_put(b, "[\"null\",", err));
		BF_TRY(put_type(b, schema, at, err));
		BF_TRY(bf_text_put(b, "],\"default\":null", err));
	}
	if (!is_avro_name(f->name))
	{
		BF_TRY(bf_text_put(b, ",\"iceberg-field-name\":", err));
		BF_TRY(bf_text_json(b, (BfView){(const uint8_t *) f->name, (uint32_t) strlen(f->name)},
							BF_JSON_KEEP, err));
	}
	return bf_buffer_printf(b, err, ",\"field-id\":%d}", f->id);
}

BfStatus
bf_avro_schema_text(BfArena *a, const BfSchema *schema, const char *record_name, const char **out,
					BfError *err)
{
	BfBuffer *b;

	BF_TRY(bf_buffer_new(a, SCHEMA_TEXT_MAX, &b, err));
	BF_TRY(bf_text_put(b, "{\"type\":\"record\",\"name\":\"", err));
	BF_TRY(put_avro_name(b, record_name, err));
	BF_TRY(bf_buffer_printf(b, err, "\",\"schema-id\":%d,\"fields\":[", schema->schema_id));
	for (int32_t i = 0; i < schema->n_fields; i++)
		if (put_field(b, schema, i, err) != BF_OK)
			return bf_error_column(err, schema->fields[i].name);
	BF_TRY(bf_text_put(b, "]}", err));
	return bf_text_end(b, out, err);
}

/* Does the Avro type stand for this row type? */
static bool
matches(const BfAvroSchema *s, const BfiRowType *row)
{
	static const char *const avro_names[] = {
		[BF_AVRO_NULL] = "null",   [BF_AVRO_BOOLEAN] = "boolean", [BF_AVRO_INT] = "int",
		[BF_AVRO_LONG] = "long",   [BF_AVRO_FLOAT] = "float",	  [BF_AVRO_DOUBLE] = "double",
		[BF_AVRO_BYTES] = "bytes", [BF_AVRO_STRING] = "string",	  [BF_AVRO_FIXED] = "fixed",
	};

	if (row->avro == NULL || s->type > BF_AVRO_FIXED || strcmp(avro_names[s->type], row->avro) != 0)
		return false;
	if ((s->logical_type == NULL) != (row->logical == NULL))
		return false;
	if (row->logical != NULL && strcmp(s->logical_type, row->logical) != 0)
		return false;
	return !row->has_zone || s->adjust_to_utc == row->adjust_to_utc;
}

static BfStatus
type_from_avro(const BfAvroSchema *s, BfType *out, BfError *err)
{
	for (int kind = 0; kind < BF_KIND_COUNT; kind++)
	{
		BfiRowType row;

		if (!matches(s, &row_types[kind]))
			continue;
		*out = (BfType){.kind = (BfKind) kind};
		if (out->kind == BF_KIND_DECIMAL)
		{
			out->precision = s->precision;
			out->scale = s->scale;
		}
		else if (out->kind == BF_KIND_FIXED || out->kind == BF_KIND_UUID)
			out->length = s->fixed_size;
		BF_TRY(bfi_row_type(*out, &row, err));
		if (s->type == BF_AVRO_FIXED && row.size != s->fixed_size)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "Avro fixed of %d bytes where %d were expected",
					s->fixed_size, row.size);
		return BF_OK;
	}
	BF_FAIL(err, BF_ERR_UNSUPPORTED, "Avro type %s cannot be a column of a ledger",
			s->logical_type != NULL ? s->logical_type
			: s->name != NULL		? s->name
									: "nested");
}

static BfStatus
field_from_avro(BfArena *a, const BfAvroSchema *record, int32_t at, BfField *f, BfError *err)
{
	const BfAvroSchema *type = record->children[at];

	f->required = type->type != BF_AVRO_UNION && type->type != BF_AVRO_NULL;
	f->id = record->field_ids[at];
	if (f->id == 0)
		BF_FAIL(err, BF_ERR_CORRUPT, "a field of a ledger's schema has no field-id");
	BF_TRY_PTR(a, f->name, bf_arena_strdup(a, record->field_names[at]), err);
	if (type->type == BF_AVRO_UNION)
	{
		if (type->n_children != 2 || type->children[0]->type != BF_AVRO_NULL ||
			type->children[1]->type == BF_AVRO_NULL)
			BF_FAIL(err, BF_ERR_UNSUPPORTED,
					"a union in a ledger's schema must be of null and one type, in this order");
		type = type->children[1];
	}
	return type_from_avro(type, &f->type, err);
}

/* The schema-id property of the outermost object, 0 when there is none. */
static int32_t
schema_id(const char *json, size_t n)
{
	json_t *root = json_loadb(json, n, 0, NULL);
	json_int_t id = json_integer_value(json_object_get(root, "schema-id"));

	json_decref(root);
	return id < 0 || id > INT32_MAX ? 0 : (int32_t) id;
}

BfStatus
bf_avro_schema_to_table(BfArena *a, const char *json, size_t n, BfSchema **out, BfError *err)
{
	BfAvroSchema *record;
	BfSchema *schema;

	BF_TRY(bf_avro_schema_parse(a, json, n, &record, err));
	if (record->type != BF_AVRO_RECORD)
		BF_FAIL(err, BF_ERR_CORRUPT, "a ledger's schema must be an Avro record");
	BF_NEW(a, schema, 1, err);
	BF_NEW(a, schema->fields, record->n_children, err);
	schema->n_fields = record->n_children;
	schema->schema_id = schema_id(json, n);
	for (int32_t i = 0; i < schema->n_fields; i++)
		if (field_from_avro(a, record, i, &schema->fields[i], err) != BF_OK)
			return bf_error_column(err, record->field_names[i]);
	*out = schema;
	return BF_OK;
}
