/*
 * Fields of decoded Avro records, as manifests and manifest lists need them.
 */
#include "iceberg/internal.h"

/* A decoded record has no byte position any more: its number tells where the damage is. */
BfStatus
bfi_record_name(int64_t number, BfError *err)
{
	char text[BF_ERROR_TEXT_MAX];

	_Static_assert(sizeof text == sizeof err->text, "the whole message");
	BF_ASSERT(number > 0 && err->code != BF_OK);
	memcpy(text, err->text, sizeof text);
	snprintf(err->text, sizeof err->text, "record %lld: %.450s", (long long) number, text);
	return err->code;
}

BfStatus
bfi_record_number(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
				  const int64_t *fallback, int64_t *out, BfError *err)
{
	const BfAvroValue *v = bf_avro_field(record, id, name);

	if (v == NULL && other_name != NULL)
		v = bf_avro_field(record, 0, other_name);
	if (v == NULL)
	{
		BF_DATA(err, fallback != NULL, -1, "%s is missing", name);
		*out = *fallback;
		return BF_OK;
	}
	BF_DATA(err, v->schema->type == BF_AVRO_INT || v->schema->type == BF_AVRO_LONG, -1,
			"%s is not a number", name);
	*out = v->u.i;
	return BF_OK;
}

BfStatus
bfi_record_small(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
				 const int64_t *fallback, int32_t *out, BfError *err)
{
	int64_t v;

	BF_TRY(bfi_record_number(record, id, name, other_name, fallback, &v, err));
	BF_DATA(err, v <= INT32_MAX && v >= (fallback != NULL && *fallback < 0 ? -1 : 0), -1,
			"%s: %lld is out of range", name, (long long) v);
	*out = (int32_t) v;
	return BF_OK;
}

BfStatus
bfi_record_text(BfArena *a, const BfAvroValue *record, int32_t id, const char *name,
				const char **out, BfError *err)
{
	const BfAvroValue *v = bf_avro_field(record, id, name);

	BF_DATA(err, v != NULL, -1, "%s is missing", name);
	BF_DATA(err, v->schema->type == BF_AVRO_STRING || v->schema->type == BF_AVRO_BYTES, -1,
			"%s is not a string", name);
	BF_DATA(err, v->u.bytes.len > 0 && memchr(v->u.bytes.ptr, 0, v->u.bytes.len) == NULL, -1,
			"%s is empty or has a zero byte", name);
	BF_TRY_PTR(a, *out, bf_arena_strndup(a, (const char *) v->u.bytes.ptr, v->u.bytes.len), err);
	return BF_OK;
}

BfStatus
bfi_copy_view(BfArena *a, BfView from, BfView *to, BfError *err)
{
	BF_TRY_PTR(a, to->ptr, bf_arena_memdup(a, from.ptr, from.len), err);
	to->len = from.len;
	return BF_OK;
}
