/*
 * JSON with bounds. Jansson parses recursively into malloc'ed nodes of some 40 bytes, so a first
 * pass over the text counts values and nesting before any of them is made.
 */
#include "base/ascii.h"
#include "iceberg/internal.h"

/* Positions are those of the text; quotes inside strings are skipped with their escapes. *wide: a
 * number beyond 2^63 was seen. */
static BfStatus
check_bounds(const BfHost *host, const uint8_t *text, size_t n, const char *what, bool *wide,
			 BfError *err)
{
	int64_t values = 0;
	int32_t depth = 0, digits = 0;
	bool in_string = false;

	for (size_t i = 0; i < n; i++)
	{
		uint8_t c = text[i];

		if ((i & 0xfffff) == 0xfffff)
			BF_TRY(bf_check_cancel(host, err));
		if (in_string)
		{
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		digits = bf_ascii_digit(c) ? digits + 1 : 0;
		if (digits >= 19)
			*wide |= digits > 19 || memcmp(text + i - 18, "9223372036854775807", 19) > 0;
		switch (c)
		{
			case '"': in_string = true; break;
			case '{':
			case '[':
				if (++depth > BF_ICE_JSON_DEPTH_MAX)
					BF_FAIL_AT(err, BF_ERR_LIMIT, (int64_t) i,
							   "%s: nested more than %d levels deep", what, BF_ICE_JSON_DEPTH_MAX);
				values++;
				break;
			case '}':
			case ']': depth--; break;
			case ',':
			case ':': values++; break;
			default: break;
		}
		if (values > BF_ICE_JSON_VALUES_MAX)
			BF_FAIL_AT(err, BF_ERR_LIMIT, (int64_t) i, "%s: more than %d values", what,
					   BF_ICE_JSON_VALUES_MAX);
	}
	return BF_OK;
}

#define WIDE_KEY "snapshot-id"

/* A number that is the value of a key ending with WIDE_KEY? at: its first digit. */
static bool
is_snapshot_id(const uint8_t *text, size_t at)
{
	const size_t n = sizeof WIDE_KEY; /* with the quote */

	BF_ASSERT(text[at] >= '0' && text[at] <= '9');
	while (at > 0 && bf_ascii_space(text[at - 1]))
		at--;
	if (at == 0 || text[--at] != ':')
		return false;
	while (at > 0 && bf_ascii_space(text[at - 1]))
		at--;
	return at >= n && memcmp(text + at - n, WIDE_KEY "\"", n) == 0;
}

/* Some writers make snapshot ids of 64 bits where the format has 63. Ids are opaque, so the bits
 * are kept and those beyond 2^63 become negative. Jansson takes no such number: the text is
 * changed. Other numbers stay as they are, and fail. */
static BfStatus
narrow_ids(const uint8_t *text, size_t n, BfBuffer *out, BfError *err)
{
	size_t done = 0;

	for (size_t i = 0; i < n;)
	{
		size_t end = i;
		uint64_t id;

		BF_ASSERT(done <= i);
		while (end < n && bf_ascii_digit(text[end]))
			end++;
		if (end - i >= 19 && is_snapshot_id(text, i) &&
			bf_ascii_unsigned(text + i, end - i, &id) > 0 && id > INT64_MAX)
		{
			BF_TRY(bf_buffer_append(out, text + done, i - done, err));
			BF_TRY(bf_buffer_printf(out, err, "%lld", (long long) id));
			done = end;
		}
		i = end > i ? end : i + 1;
	}
	return bf_buffer_append(out, text + done, n - done, err);
}

_Static_assert(sizeof(json_int_t) == sizeof(int64_t), "Jansson's integers are all that fit");

static void
release_json(void *arg)
{
	json_decref(arg);
}

BfStatus
bfi_json_own(BfArena *a, json_t *json, BfError *err)
{
	if (json == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a JSON value");
	if (!bf_arena_on_cleanup(a, release_json, json))
	{
		json_decref(json);
		return bf_arena_fail(a, sizeof(void *) * 3, err);
	}
	return BF_OK;
}

/* Jansson's own text quotes what stands there. What is no JSON need not be a table's file, and then
 * it is nothing that whoever gets the error may read. */
static const char *
json_problem(const json_error_t *failure)
{
	switch (json_error_code(failure))
	{
		case json_error_premature_end_of_input: return "it ends too early";
		case json_error_end_of_input_expected: return "there is more after its end";
		case json_error_invalid_utf8: return "text that is not UTF-8";
		case json_error_duplicate_key: return "an object has a key twice";
		case json_error_numeric_overflow: return "a number out of range";
		default: return "not what may stand here";
	}
}

static BfStatus
load_text(BfArena *a, const void *text, size_t n, const char *what, json_t **out, BfError *err)
{
	json_error_t failure;
	json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &failure);

	if (json == NULL)
	{
		if (json_error_code(&failure) == json_error_out_of_memory)
			BF_FAIL(err, BF_ERR_NOMEM, "%s: out of memory while parsing JSON", what);
		BF_FAIL_AT(err, BF_ERR_CORRUPT, failure.position, "%s: invalid JSON: %s", what,
				   json_problem(&failure));
	}
	BF_TRY(bfi_json_own(a, json, err));
	*out = json;
	return BF_OK;
}

BfStatus
bfi_json_load(BfArena *a, const void *text, size_t n, const char *what, json_t **out, BfError *err)
{
	BfBuffer narrowed;
	BfStatus status;
	bool wide = false;

	if (n > BF_ICE_JSON_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "%s: %zu bytes of JSON, at most %zu are read", what, n,
				BF_ICE_JSON_BYTES_MAX);
	BF_TRY(check_bounds(bf_arena_host(a), text, n, what, &wide, err));
	if (!wide)
		return load_text(a, text, n, what, out, err);
	bf_buffer_init(&narrowed, bf_arena_host(a), BF_ICE_JSON_BYTES_MAX * 2);
	status = narrow_ids(text, n, &narrowed, err);
	if (status == BF_OK)
		status = load_text(a, narrowed.data, narrowed.len, what, out, err);
	bf_buffer_free(&narrowed);
	return status;
}

static BfStatus
wrong(const char *where, const char *key, const char *expected, BfError *err)
{
	return bf_error(err, BF_ERR_CORRUPT, "%s%s%s: %s expected", where, where[0] != '\0' ? "." : "",
					key, expected);
}

/* *out = NULL when the key is missing, null and not required. */
static BfStatus
get(const json_t *object, const char *where, const char *key, bool required, json_t **out,
	BfError *err)
{
	json_t *v = json_object_get(object, key);

	BF_ASSERT(strlen(where) < BFI_WHERE_MAX && key[0] != '\0');
	if (v == NULL || json_is_null(v))
	{
		if (required)
			return bf_error(err, BF_ERR_CORRUPT, "%s%s%s is missing", where,
							where[0] != '\0' ? "." : "", key);
		v = NULL;
	}
	*out = v;
	return BF_OK;
}

BfStatus
bfi_json_int(const json_t *value, const char *where, const char *key, int64_t min, int64_t max,
			 int64_t *out, BfError *err)
{
	int64_t v;

	BF_ASSERT(min <= max);
	if (json_is_integer(value))
		v = json_integer_value(value);
	else if (json_is_string(value))
	{
		/* Some writers quote their ids. */
		const char *s = json_string_value(value);
		size_t n = bf_ascii_integer(s, strlen(s), &v);
		uint64_t wide;

		if (n == 0 && strstr(key, WIDE_KEY) != NULL)
		{
			n = bf_ascii_unsigned(s, strlen(s), &wide);
			v = (int64_t) wide;
		}
		if (n == 0 || s[n] != '\0')
			return wrong(where, key, "an integer", err);
	}
	else
		return wrong(where, key, "an integer", err);
	if (v < min || v > max)
		return bf_error(err, BF_ERR_CORRUPT, "%s%s%s: %lld is out of range", where,
						where[0] != '\0' ? "." : "", key, (long long) v);
	*out = v;
	return BF_OK;
}

BfStatus
bfi_json_get_i64(const json_t *object, const char *where, const char *key, bool required,
				 int64_t *out, BfError *err)
{
	json_t *v;

	BF_TRY(get(object, where, key, required, &v, err));
	return v != NULL ? bfi_json_int(v, where, key, INT64_MIN, INT64_MAX, out, err) : BF_OK;
}

BfStatus
bfi_json_get_i32(const json_t *object, const char *where, const char *key, bool required,
				 int32_t *out, BfError *err)
{
	json_t *v;
	int64_t wide;

	BF_TRY(get(object, where, key, required, &v, err));
	if (v == NULL)
		return BF_OK;
	BF_TRY(bfi_json_int(v, where, key, INT32_MIN, INT32_MAX, &wide, err));
	*out = (int32_t) wide;
	return BF_OK;
}

BfStatus
bfi_json_get_text(const json_t *object, const char *where, const char *key, bool required,
				  const char **out, BfError *err)
{
	json_t *v;

	BF_TRY(get(object, where, key, required, &v, err));
	if (v == NULL)
		return BF_OK;
	if (!json_is_string(v))
		return wrong(where, key, "a string", err);
	*out = json_string_value(v);
	return BF_OK;
}

BfStatus
bfi_json_get_bool(const json_t *object, const char *where, const char *key, bool required,
				  bool *out, BfError *err)
{
	json_t *v;

	BF_TRY(get(object, where, key, required, &v, err));
	if (v == NULL)
		return BF_OK;
	if (!json_is_boolean(v))
		return wrong(where, key, "true or false", err);
	*out = json_is_true(v);
	return BF_OK;
}

BfStatus
bfi_json_get_array(const json_t *object, const char *where, const char *key, bool required,
				   json_t **out, BfError *err)
{
	BF_TRY(get(object, where, key, required, out, err));
	if (*out != NULL && !json_is_array(*out))
		return wrong(where, key, "an array", err);
	return BF_OK;
}

BfStatus
bfi_json_get_object(const json_t *object, const char *where, const char *key, bool required,
					json_t **out, BfError *err)
{
	BF_TRY(get(object, where, key, required, out, err));
	if (*out != NULL && !json_is_object(*out))
		return wrong(where, key, "an object", err);
	return BF_OK;
}

static BfStatus
scalar_text(BfArena *a, const json_t *v, const char *where, const char *key, const char **out,
			BfError *err)
{
	switch (json_typeof(v))
	{
		case JSON_STRING: *out = json_string_value(v); return BF_OK;
		case JSON_INTEGER:
			BF_TRY_PTR(a, *out, bf_arena_printf(a, "%lld", (long long) json_integer_value(v)), err);
			return BF_OK;
		case JSON_REAL:
			BF_TRY_PTR(a, *out, bf_arena_printf(a, "%.17g", json_real_value(v)), err);
			return BF_OK;
		case JSON_TRUE: *out = "true"; return BF_OK;
		case JSON_FALSE: *out = "false"; return BF_OK;
		default: return wrong(where, key, "a string", err);
	}
}

BfStatus
bfi_json_text_map(BfArena *a, const json_t *object, const char *where, int32_t *n,
				  const char ***keys, const char ***values, BfError *err)
{
	size_t count = json_object_size(object);
	const char *key;
	json_t *v;
	int32_t i = 0;

	BF_NEW(a, *keys, count, err);
	BF_NEW(a, *values, count, err);

	json_object_foreach((json_t *) object, key, v)
	{
		if (json_is_null(v))
			continue;
		BF_TRY(scalar_text(a, v, where, key, &(*values)[i], err));
		(*keys)[i++] = key;
	}
	BF_ASSERT((size_t) i <= count);
	*n = i;
	return BF_OK;
}
