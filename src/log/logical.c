/*
 * Names of logical files: `bifang://db/table/ledger_ranges.log`, with percent signs for what a
 * path does not take.
 */
#include "log/rangeset.h"

#include "base/ascii.h"
#include "base/text.h"
#include "log/internal.h"

#define SCHEME_BYTES (sizeof BF_LOGICAL_SCHEME - 1)
#define SUFFIX ".log"
#define SUFFIX_BYTES (sizeof SUFFIX - 1)

bool
bf_is_logical_path(const char *path)
{
	return strncmp(path, BF_LOGICAL_SCHEME, SCHEME_BYTES) == 0;
}

static bool
is_unreserved(char c)
{
	return bf_ascii_letter(c) || bf_ascii_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/* The path segment [start, start + n) of `path` without its percent signs. */
static BfStatus
decode_name(BfArena *a, const char *path, size_t start, size_t n, const char **out, BfError *err)
{
	const char *s = path + start;
	char *name;
	size_t len = 0;

	BF_DATA(err, n > 0, (int64_t) start, "a name is empty");
	BF_NEW_RAW(a, name, n + 1, err);
	for (size_t i = 0; i < n; i++)
	{
		char c = s[i];

		if (c == '%')
		{
			int hi = i + 1 < n ? bf_ascii_hex(s[i + 1]) : -1;
			int lo = i + 2 < n ? bf_ascii_hex(s[i + 2]) : -1;

			BF_DATA(err, hi >= 0 && lo >= 0 && hi * 16 + lo != 0, (int64_t) (start + i),
					"\"%%\" is not followed by two hexadecimal digits of a character");
			c = (char) (hi * 16 + lo);
			i += 2;
		}
		name[len++] = c;
	}
	BF_ASSERT(len <= n);
	name[len] = '\0';
	*out = name;
	return BF_OK;
}

static BfStatus
parse_file_name(BfArena *a, const char *path, size_t start, size_t n, BfLogicalFile *out,
				BfError *err)
{
	BfCursor c = bf_cursor(path + start, n, (int64_t) start);
	size_t set_start;
	size_t set_end;
	BfStatus status;

	BF_DATA(err,
			n >= SUFFIX_BYTES && memcmp(path + start + n - SUFFIX_BYTES, SUFFIX, SUFFIX_BYTES) == 0,
			(int64_t) (start + n), "the name of a logical file ends in \"" SUFFIX "\"");
	BF_TRY(bfi_text_number(&c, INT64_MAX, &out->ledger_id, err));
	BF_DATA(err, *c.pos == '_', bf_cursor_offset(&c), "a \"_\" is expected after the ledger id");
	set_start = (size_t) bf_cursor_offset(&c) + 1;
	set_end = start + n - SUFFIX_BYTES;
	BF_ASSERT(set_start <= set_end);
	/* "7_.log": the underscore may be all that there is, but it is never part of the suffix. */
	status = bf_rangeset_parse(a, path + set_start, set_end - set_start, true, &out->ranges, err);
	if (status != BF_OK && err->offset >= 0)
		err->offset += (int64_t) set_start;
	return status;
}

static BfStatus
parse(BfArena *a, const char *path, BfLogicalFile *out, BfError *err)
{
	const char *db = path + SCHEME_BYTES;
	const char *slash1;
	const char *slash2;

	BF_DATA(err, bf_is_logical_path(path), 0,
			"a logical file's name starts with " BF_LOGICAL_SCHEME);
	slash1 = strchr(db, '/');
	slash2 = slash1 != NULL ? strchr(slash1 + 1, '/') : NULL;
	BF_DATA(err, slash2 != NULL && strchr(slash2 + 1, '/') == NULL, (int64_t) SCHEME_BYTES,
			"a logical file's name is " BF_LOGICAL_SCHEME "{db}/{table}/{ledger}_{ranges}.log");
	BF_TRY(decode_name(a, path, SCHEME_BYTES, (size_t) (slash1 - db), &out->db, err));
	BF_TRY(decode_name(a, path, (size_t) (slash1 + 1 - path), (size_t) (slash2 - slash1 - 1),
					   &out->table, err));
	return parse_file_name(a, path, (size_t) (slash2 + 1 - path), strlen(slash2 + 1), out, err);
}

BfStatus
bf_logical_parse(BfArena *a, const char *path, BfLogicalFile *out, BfError *err)
{
	BfStatus status = parse(a, path, out, err);

	return status == BF_OK ? BF_OK : bf_error_object(err, path);
}

static BfStatus
encode_name(const char *name, BfBuffer *out, BfError *err)
{
	for (const char *s = name; *s != '\0'; s++)
	{
		uint8_t c = (uint8_t) *s;

		if (is_unreserved(*s))
			BF_TRY(bf_buffer_u8(out, c, err));
		else
			BF_TRY(bf_buffer_printf(out, err, "%%%02X", c));
	}
	return bf_buffer_u8(out, '/', err);
}

BfStatus
bf_logical_format(BfArena *a, const BfLogicalFile *f, const char **out, BfError *err)
{
	BfBuffer *b;

	BF_ASSERT(f->db[0] != '\0' && f->table[0] != '\0' && f->ledger_id >= 0);
	BF_TRY(bf_buffer_new(a, SIZE_MAX / 4, &b, err));
	BF_TRY(bf_text_put(b, BF_LOGICAL_SCHEME, err));
	BF_TRY(encode_name(f->db, b, err));
	BF_TRY(encode_name(f->table, b, err));
	BF_TRY(bf_text_number(b, f->ledger_id, err));
	BF_TRY(bf_buffer_u8(b, '_', err));
	BF_TRY(bf_rangeset_format(&f->ranges, b, err));
	BF_TRY(bf_text_put(b, SUFFIX, err));
	return bf_text_end(b, out, err);
}
