/*
 * The binary encoding of variants.
 *
 *     value     = header byte (basic type in bits 0-1, the rest in bits 2-7), then
 *     primitive   type id in the header; the value, little-endian; strings and bytes behind a u32
 *     short text  length in the header; the bytes
 *     object      count, count * id, (count + 1) * offset, values
 *     array       count, (count + 1) * offset, values
 *
 * Offsets count from the first value's first byte; the last is the length of all values. Members
 * need not lie in the order of their offsets. What keeps a few bytes from describing endless text:
 * members of one container together must not be longer than it, so none is shown twice.
 */
#include "base/text.h"
#include "parquet/variant.h"

enum
{
	BASIC_PRIMITIVE,
	BASIC_SHORT_TEXT,
	BASIC_OBJECT,
	BASIC_ARRAY
};

/* Primitive types by id; size -1: a u32 length and so many bytes. */
static const struct
{
	int8_t size;
	BfKind kind;
} primitives[] = {
	{0, BF_KIND_NULL},			 {0, BF_KIND_BOOL},			{0, BF_KIND_BOOL},
	{1, BF_KIND_INT8},			 {2, BF_KIND_INT16},		{4, BF_KIND_INT32},
	{8, BF_KIND_INT64},			 {8, BF_KIND_FLOAT64},		{5, BF_KIND_DECIMAL},
	{9, BF_KIND_DECIMAL},		 {17, BF_KIND_DECIMAL},		{4, BF_KIND_DATE},
	{8, BF_KIND_TIMESTAMPTZ},	 {8, BF_KIND_TIMESTAMP},	{4, BF_KIND_FLOAT32},
	{-1, BF_KIND_BINARY},		 {-1, BF_KIND_STRING},		{8, BF_KIND_TIME},
	{8, BF_KIND_TIMESTAMPTZ_NS}, {8, BF_KIND_TIMESTAMP_NS}, {16, BF_KIND_UUID},
};
#define N_PRIMITIVES (sizeof primitives / sizeof primitives[0])
#define PRIMITIVE_TRUE 1

_Static_assert(N_PRIMITIVES == 21, "the types 0 to 20 of the specification");

/* A little-endian number of 1 to 4 bytes. */
static uint32_t
load_uint(const uint8_t *p, uint32_t size)
{
	uint32_t v = 0;

	BF_ASSERT(size >= 1 && size <= 4);
	for (uint32_t i = 0; i < size; i++)
		v |= (uint32_t) p[i] << (8 * i);
	return v;
}

static BfStatus
damaged(BfError *err, const char *what)
{
	return bf_error(err, BF_ERR_CORRUPT, "a variant is damaged: %s", what);
}

BfStatus
bfi_variant_names(BfView metadata, BfiVariantNames *out, BfError *err)
{
	const uint8_t *p = metadata.ptr;
	uint64_t head;

	memset(out, 0, sizeof *out);
	if (metadata.len < 2)
		return damaged(err, "its metadata has less than 2 bytes");
	if ((p[0] & 15) != 1)
		return bf_error(err, BF_ERR_UNSUPPORTED, "a variant of version %d", p[0] & 15);
	out->offset_size = (uint32_t) (p[0] >> 6) + 1;
	/* Some writers leave the only offset of an empty dictionary out. */
	if (metadata.len < 1 + out->offset_size)
		return damaged(err, "its metadata is cut short");
	out->n = load_uint(p + 1, out->offset_size);
	head = 1 + out->offset_size * ((uint64_t) out->n + 2);
	if (out->n == 0)
		return BF_OK;
	if (head > metadata.len)
		return damaged(err, "its metadata has more names than bytes");
	out->offsets = p + 1 + out->offset_size;
	out->bytes = p + head;
	out->n_bytes = metadata.len - (uint32_t) head;
	return BF_OK;
}

static BfStatus
name_of(const BfiVariantNames *names, uint32_t id, BfView *out, BfError *err)
{
	uint32_t from;
	uint32_t to;

	if (id >= names->n)
		return damaged(err, "a member's name is not in its metadata");
	from = load_uint(names->offsets + (size_t) id * names->offset_size, names->offset_size);
	to = load_uint(names->offsets + ((size_t) id + 1) * names->offset_size, names->offset_size);
	if (from > to || to > names->n_bytes)
		return damaged(err, "a member's name lies outside of its metadata");
	*out = (BfView){names->bytes + from, to - from};
	return BF_OK;
}

/* What objects and arrays have in common; ids are skipped for arrays. */
static BfStatus
container(BfView v, bool is_object, BfiVariantObject *out, BfError *err)
{
	uint8_t header = v.ptr[0] >> 2;
	bool is_large = (header >> (is_object ? 4 : 2) & 1) != 0;
	uint32_t count_size = is_large ? 4 : 1;
	uint64_t at;
	uint32_t total;

	BF_ASSERT(v.len > 0);
	out->offset_size = (uint32_t) (header & 3) + 1;
	out->id_size = is_object ? (uint32_t) (header >> 2 & 3) + 1 : 0;
	if (v.len < 1 + count_size)
		return damaged(err, "a container is cut short");
	out->n = load_uint(v.ptr + 1, count_size);
	at = 1 + count_size;
	if (at + (uint64_t) out->n * (out->id_size + out->offset_size) + out->offset_size > v.len)
		return damaged(err, "a container has more members than bytes");
	out->ids = v.ptr + at;
	at += (uint64_t) out->n * out->id_size;
	out->offsets = v.ptr + at;
	at += ((uint64_t) out->n + 1) * out->offset_size;
	total = load_uint(out->offsets + (size_t) out->n * out->offset_size, out->offset_size);
	if (total > v.len - at)
		return damaged(err, "a container's values are cut short");
	out->values = (BfView){v.ptr + at, total};
	return BF_OK;
}

/* From member i's first byte to the end of all values. */
static BfStatus
member_bytes(const BfiVariantObject *o, uint32_t i, BfView *out, BfError *err)
{
	uint32_t from = load_uint(o->offsets + (size_t) i * o->offset_size, o->offset_size);

	BF_ASSERT(i < o->n);
	if (from >= o->values.len)
		return damaged(err, "a member lies outside of its container");
	*out = (BfView){o->values.ptr + from, o->values.len - from};
	return BF_OK;
}

BfStatus
bfi_variant_object(BfView value, BfiVariantObject *out, BfError *err)
{
	if (value.len == 0 || (value.ptr[0] & 3) != BASIC_OBJECT)
		return damaged(err, "a shredded object's other members are no object");
	return container(value, true, out, err);
}

BfStatus
bfi_variant_member(const BfiVariantNames *names, const BfiVariantObject *o, uint32_t i,
				   BfView *name, BfView *value, BfError *err)
{
	BF_TRY(name_of(names, load_uint(o->ids + (size_t) i * o->id_size, o->id_size), name, err));
	return member_bytes(o, i, value, err);
}

static BfStatus
container_text(const BfiVariantNames *names, BfView v, bool is_object, int depth, BfBuffer *out,
			   size_t *used, BfError *err)
{
	BfiVariantObject o;
	BfView last = {NULL, 0};
	size_t total = 0;

	BF_TRY(container(v, is_object, &o, err));
	BF_TRY(bf_buffer_u8(out, is_object ? '{' : '[', err));
	for (uint32_t i = 0; i < o.n; i++)
	{
		BfView name;
		BfView value;
		size_t n;

		if (i > 0)
			BF_TRY(bf_buffer_u8(out, ',', err));
		if (is_object)
		{
			BF_TRY(bfi_variant_member(names, &o, i, &name, &value, err));
			if (i > 0 && name.len == last.len && memcmp(name.ptr, last.ptr, name.len) == 0)
				return damaged(err, "an object has a name twice");
			last = name;
			BF_TRY(bf_text_json(out, name, BF_JSON_KEEP, err));
			BF_TRY(bf_buffer_u8(out, ':', err));
		}
		else
			BF_TRY(member_bytes(&o, i, &value, err));
		BF_TRY(bfi_variant_value(names, value, depth + 1, out, &n, err));
		total += n;
		if (total > o.values.len)
			return damaged(err, "a container's members overlap");
	}
	*used = (size_t) (o.values.ptr - v.ptr) + o.values.len;
	BF_ASSERT(*used <= v.len);
	return bf_buffer_u8(out, is_object ? '}' : ']', err);
}

/* The number at p as a value of the primitive type. */
static BfStatus
load_primitive(uint32_t id, const uint8_t *p, BfValue *out, BfError *err)
{
	BF_ASSERT(id < N_PRIMITIVES && primitives[id].size >= 0);
	memset(out, 0, sizeof *out);
	out->type.kind = primitives[id].kind;
	switch (primitives[id].kind)
	{
		case BF_KIND_BOOL: out->v.u8 = id == PRIMITIVE_TRUE; break;
		case BF_KIND_INT8: out->v.i32 = (int8_t) p[0]; break;
		case BF_KIND_INT16: out->v.i32 = (int16_t) bf_load16le(p); break;
		case BF_KIND_INT32:
		case BF_KIND_DATE: out->v.i32 = (int32_t) bf_load32le(p); break;
		case BF_KIND_FLOAT32: memcpy(&out->v.f32, p, 4); break;
		case BF_KIND_FLOAT64: memcpy(&out->v.f64, p, 8); break;
		case BF_KIND_UUID: out->v.view = (BfView){p, 16}; break;
		case BF_KIND_DECIMAL:
			if (p[0] > 38)
				return damaged(err, "a decimal's scale is above 38");
			out->type.scale = p[0];
			out->type.precision = 38;
			if (primitives[id].size == 5)
				out->v.i128 = (int32_t) bf_load32le(p + 1);
			else if (primitives[id].size == 9)
				out->v.i128 = (int64_t) bf_load64le(p + 1);
			else
				out->v.i128 = (bf_i128) ((bf_u128) bf_load64le(p + 9) << 64 | bf_load64le(p + 1));
			break;
		default: out->v.i64 = (int64_t) bf_load64le(p); break;
	}
	return BF_OK;
}

static BfStatus
primitive_text(BfView v, BfBuffer *out, size_t *used, BfError *err)
{
	uint32_t id = v.ptr[0] >> 2;
	BfValue value;
	size_t size;

	BF_ASSERT(v.len > 0 && (v.ptr[0] & 3) == BASIC_PRIMITIVE);
	if (id >= N_PRIMITIVES)
		return bf_error(err, BF_ERR_UNSUPPORTED, "a variant of the unknown type %u", id);
	size = primitives[id].size >= 0 ? (size_t) primitives[id].size : 4;
	if (v.len - 1 < size)
		return damaged(err, "a value is cut short");
	*used = 1 + size;
	if (primitives[id].kind == BF_KIND_NULL)
		return bf_buffer_append(out, "null", 4, err);
	if (primitives[id].size >= 0)
		BF_TRY(load_primitive(id, v.ptr + 1, &value, err));
	else
	{
		uint32_t len = bf_load32le(v.ptr + 1);

		if (len > v.len - 5)
			return damaged(err, "a text is cut short");
		value = (BfValue){.type = {.kind = primitives[id].kind}, .v.view = {v.ptr + 5, len}};
		*used += len;
	}
	BF_ASSERT(*used <= v.len);
	return bfi_json_value(out, &value, err);
}

BfStatus
bfi_variant_value(const BfiVariantNames *names, BfView value, int depth, BfBuffer *out,
				  size_t *used, BfError *err)
{
	uint32_t len;

	if (value.len == 0)
		return damaged(err, "a value of no bytes");
	if (depth > BFI_VARIANT_DEPTH_MAX)
		return bf_error(err, BF_ERR_LIMIT, "a variant is nested deeper than %d",
						BFI_VARIANT_DEPTH_MAX);
	switch (value.ptr[0] & 3)
	{
		case BASIC_OBJECT: return container_text(names, value, true, depth, out, used, err);
		case BASIC_ARRAY: return container_text(names, value, false, depth, out, used, err);
		case BASIC_SHORT_TEXT:
			len = value.ptr[0] >> 2;
			if (len > value.len - 1)
				return damaged(err, "a text is cut short");
			*used = 1 + len;
			return bf_text_json(out, (BfView){value.ptr + 1, len}, BF_JSON_KEEP, err);
		default: return primitive_text(value, out, used, err);
	}
}
