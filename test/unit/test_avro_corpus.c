/* Other people's Avro files: what we read equals what the oracle read. */
#include "unit/lib/runner.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "avro/container.h"

static bool equal(const BfAvroValue *v, const json_t *j);

/* The oracle prints 64-bit integers as text, bytes as 0x hex, enums by symbol. */
static bool
equal_text(const BfAvroValue *v, const char *text)
{
	const BfView *b = &v->u.bytes;
	char number[32];

	switch (v->schema->type)
	{
		case BF_AVRO_STRING: return strlen(text) == b->len && memcmp(text, b->ptr, b->len) == 0;
		case BF_AVRO_ENUM: return strcmp(text, v->schema->symbols[v->u.i]) == 0;
		case BF_AVRO_INT:
		case BF_AVRO_LONG:
			snprintf(number, sizeof number, "%lld", (long long) v->u.i);
			return strcmp(text, number) == 0;
		case BF_AVRO_BYTES:
		case BF_AVRO_FIXED:
			if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * (size_t) b->len)
				return false;
			for (uint32_t i = 0; i < b->len; i++)
			{
				char hex[3];

				snprintf(hex, sizeof hex, "%02x", b->ptr[i]);
				if (memcmp(text + 2 + 2 * i, hex, 2) != 0)
					return false;
			}
			return true;
		case BF_AVRO_FLOAT:
		case BF_AVRO_DOUBLE: return isnan(v->u.d) ? strcmp(text, "NaN") == 0 : atof(text) == v->u.d;
		default: return false;
	}
}

static bool
equal_object(const BfAvroValue *v, const json_t *j)
{
	if (v->schema->type == BF_AVRO_RECORD)
	{
		for (int32_t i = 0; i < v->u.list.n; i++)
		{
			const json_t *field = json_object_get(j, v->schema->field_names[i]);

			if (field == NULL ? v->u.list.items[i].schema->type != BF_AVRO_NULL
							  : !equal(&v->u.list.items[i], field))
				return false;
		}
		return true;
	}
	if (v->schema->type == BF_AVRO_MAP)
	{
		if ((size_t) v->u.list.n != json_object_size(j))
			return false;
		for (int32_t i = 0; i < v->u.list.n; i++)
		{
			const json_t *item = json_object_get(j, (const char *) v->u.list.keys[i].ptr);

			if (item == NULL || !equal(&v->u.list.items[i], item))
				return false;
		}
		return true;
	}
	return false;
}

static bool
equal(const BfAvroValue *v, const json_t *j)
{
	/* An ambiguous union is wrapped: {"type name": value}. */
	if (json_is_object(j) && json_object_size(j) == 1 && !equal_object(v, j))
		return equal(v, json_object_iter_value(json_object_iter((json_t *) j)));
	switch (json_typeof(j))
	{
		case JSON_NULL: return v->schema->type == BF_AVRO_NULL;
		case JSON_TRUE:
		case JSON_FALSE: return v->schema->type == BF_AVRO_BOOLEAN && v->u.b == json_is_true(j);
		case JSON_INTEGER:
		case JSON_REAL:
			if (v->schema->type == BF_AVRO_FLOAT || v->schema->type == BF_AVRO_DOUBLE)
				return fabs(v->u.d - json_number_value(j)) <= 1e-6 * fabs(v->u.d);
			return (v->schema->type == BF_AVRO_INT || v->schema->type == BF_AVRO_LONG) &&
				   v->u.i == json_integer_value(j);
		case JSON_STRING: return equal_text(v, json_string_value(j));
		case JSON_OBJECT: return equal_object(v, j);
		case JSON_ARRAY:
			if (v->schema->type != BF_AVRO_ARRAY || (size_t) v->u.list.n != json_array_size(j))
				return false;
			for (int32_t i = 0; i < v->u.list.n; i++)
				if (!equal(&v->u.list.items[i], json_array_get(j, (size_t) i)))
					return false;
			return true;
	}
	return false;
}

static void
check_codec(const BfAvroReader *r, const char *file, const json_t *expected)
{
	const char *codec = json_string_value(json_object_get(expected, "codec"));
	BfView got;

	if (codec == NULL)
		return;
	if (!bf_avro_metadata(r, "avro.codec", &got))
		got = (BfView){(const uint8_t *) "null", 4};
	if (strlen(codec) != got.len || memcmp(codec, got.ptr, got.len) != 0)
		test_fail(__FILE__, __LINE__, "%s: codec is not %s", file, codec);
}

/* BF_OK when the file was read to its end; the records are compared on the way. */
static BfStatus
check_file(const char *file, const json_t *expected, int64_t *n_records)
{
	BfArena *a = bf_arena_new(test_host(), "file", (size_t) 1 << 28);
	BfArena *row = bf_arena_new(test_host(), "row", (size_t) 1 << 28);
	const json_t *first = json_object_get(expected, "first_records");
	const char *path = bf_arena_printf(a, "%s/%s", test_corpus(), file);
	BfSource *source;
	BfAvroReader *r;
	const BfAvroValue *v;
	BfStatus s;

	*n_records = 0;
	bf_error_clear(&test_err);
	s = bf_source_open(a, path, NULL, &source, &test_err);
	if (s == BF_OK)
		s = bf_avro_open(a, source, &r, &test_err);
	if (s == BF_OK)
		check_codec(r, file, expected);
	while (s == BF_OK)
	{
		bf_arena_reset(row);
		s = bf_avro_next(r, row, &v, &test_err);
		if (s != BF_OK || v == NULL)
			break;
		if ((size_t) *n_records < json_array_size(first) &&
			!equal(v, json_array_get(first, (size_t) *n_records)))
			test_fail(__FILE__, __LINE__, "%s: record %lld differs", file, (long long) *n_records);
		(*n_records)++;
	}
	bf_arena_free(row);
	bf_arena_free(a);
	return s;
}

/*
 * Where we and the oracle part. Damage: the oracle stops silently, we say why. A newline after the
 * last block could be the first byte of a block that was cut off, so it is refused once all records
 * have come. In one file the oracle did not see the records of a bare union.
 */
static const struct
{
	const char *file;
	BfStatus status;
	int64_t n_records;
} exceptions[] = {
	{"avro-1237-bad-union-discriminant.avro", BF_ERR_CORRUPT, 1},
	{"avro-1237-good.avro", BF_OK, 2},
	{"avro-1238-truncated.avro", BF_ERR_CORRUPT, 0},
	{"person-10.no-codec.avro", BF_ERR_CORRUPT, 10},
	{"invalid_decimal_schema.avro", BF_ERR_CORRUPT, 10},
	{"invalid_union.avro", BF_ERR_CORRUPT, 0},
};

static void
check_line(const char *line)
{
	json_t *j = json_loads(line, 0, NULL);
	const char *file = json_string_value(json_object_get(j, "file"));
	int64_t want = json_integer_value(json_object_get(j, "records"));
	BfStatus want_status = BF_OK;
	int64_t n;
	BfStatus s;

	REQUIRE(file != NULL);
	for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
		if (strstr(file, exceptions[i].file) != NULL)
		{
			want_status = exceptions[i].status;
			want = exceptions[i].n_records;
		}
	/* The oracle refuses a dot in a name, we don't. */
	if (strstr(file, "dot-field-name") != NULL)
		want = 1;
	s = check_file(file, j, &n);
	if (s != want_status || n != want)
		test_fail(__FILE__, __LINE__, "%s: %s after %lld of %lld records, at %lld: %s", file,
				  bf_status_name(s), (long long) n, (long long) want, (long long) test_err.offset,
				  test_err.text);
	EXPECT(s == BF_OK || test_err.offset >= 0);
	json_decref(j);
}

TEST(avro_corpus_equals_oracle)
{
	char path[1024];
	char *line = NULL;
	size_t line_size = 0;
	FILE *f;
	int n_files = 0;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/expected/avro_expected.jsonl", test_corpus());
	f = fopen(path, "r");
	REQUIRE(f != NULL);
	while (getline(&line, &line_size, f) > 0)
	{
		check_line(line);
		n_files++;
	}
	fclose(f);
	free(line);
	EXPECT(n_files > 280);
}
