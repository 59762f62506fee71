/*
 * pg/convert/views.c: text, bytes and what else has a length into Datums; see out.h.
 */
#include "pg/convert/internal.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/ascii.h"
#include "pg/convert/numeric_out.h"
#include "pg/convert/typemap.h"
#include "pg/server/encoding.h"
#include "pg/server/version.h"

/* ---- values of variable length, one at a time ---- */

static void
check_datum_length(const BifangOut *o, uint32 len)
{
	if (unlikely(len > MaxAllocSize - VARHDRSZ))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("value of column \"%s\" in \"%s\" is too long: %u bytes", o->column,
							   o->file, len)));
}

/* A varlena of len bytes; the short header where it can be. */
static inline char *
varlena_begin(BifangOut *o, uint32 len, Datum *out)
{
	char *p;

	if (likely(len <= VARATT_SHORT_MAX - VARHDRSZ_SHORT))
	{
		p = bifang_bump_alloc(o, o->bump, len + VARHDRSZ_SHORT);
		SET_VARSIZE_SHORT(p, len + VARHDRSZ_SHORT);
		*out = PointerGetDatum(p);
		return p + VARHDRSZ_SHORT;
	}
	check_datum_length(o, len);
	p = bifang_bump_alloc(o, o->bump, (size_t) len + VARHDRSZ);
	SET_VARSIZE(p, len + VARHDRSZ);
	*out = PointerGetDatum(p);
	return p + VARHDRSZ;
}

/* Bytes that are neither NUL nor above 0x7f, the common case, are text in every encoding. These
 * helpers gather a bit per byte that is something else; they may do so for a 0x01 too. */
#define ASCII_HIGH UINT64CONST(0x8080808080808080)
#define ASCII_ONES UINT64CONST(0x0101010101010101)

static inline uint64
not_ascii(uint64 w)
{
	return w | (w - ASCII_ONES);
}

static inline bool
plain_ascii(const uint8 *p, uint32 len)
{
	uint64 bad = 0;

	if (len >= 8)
	{
		const uint8 *last = p + len - 8;

		for (; p < last; p += 8)
			bad |= not_ascii(bf_load64le(p));
		bad |= not_ascii(bf_load64le(last));
	}
	else
		for (; len > 0; len--, p++)
			bad |= (uint64) *p | ((uint64) *p - 1);
	return (bad & ASCII_HIGH) == 0;
}

/* memcpy of a short run in pieces that overlap, and plain_ascii of it at once: a call, or the
 * string instruction that the compiler likes, costs more than most values do. */
static inline bool
copy_ascii(char *to, const uint8 *from, uint32 len)
{
	uint64 bad = 0;
	uint64 w;

	if (len >= 8)
	{
		uint32 i = 0;

		for (; i + 8 < len; i += 8)
		{
			w = bf_load64le(from + i);
			bf_store64le(to + i, w);
			bad |= not_ascii(w);
		}
		w = bf_load64le(from + len - 8);
		bf_store64le(to + len - 8, w);
		bad |= not_ascii(w);
	}
	else if (len >= 4)
	{
		uint32 a = bf_load32le(from);
		uint32 b = bf_load32le(from + len - 4);

		bf_store32le(to, a);
		bf_store32le(to + len - 4, b);
		bad = not_ascii((uint64) a << 32 | b);
	}
	else
		for (uint32 i = 0; i < len; i++)
		{
			to[i] = (char) from[i];
			bad |= (uint64) from[i] | ((uint64) from[i] - 1);
		}
	return (bad & ASCII_HIGH) == 0;
}

static void bad_text(const BifangOut *o, BfView v) BIFANG_NORETURN;

static void
bad_text(const BifangOut *o, BfView v)
{
	const uint8 *nul = v.len == 0 ? NULL : memchr(v.ptr, 0, v.len);

	if (nul != NULL)
		ereport(ERROR, (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
						errmsg("text of column \"%s\" in \"%s\" has a zero byte at position %d",
							   o->column, o->file, (int) (nul - v.ptr)),
						errhint("Declare the column as bytea to read it, or see option "
								"\"invalid_text\".")));
	ereport(ERROR,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("text of column \"%s\" in \"%s\" is not valid UTF-8", o->column, o->file),
			 errhint("Declare the column as bytea to read it, or see option \"invalid_text\".")));
}

/* What is no character becomes U+FFFD, byte by byte; where the database has no such thing, '?'. */
static BfView
replaced_text(BifangOut *o, BfView v)
{
	bool utf8 = GetDatabaseEncoding() == PG_UTF8;
	uint8 *to = MemoryContextAllocHuge(o->bump->cxt, (size_t) v.len * 3 + 1);
	uint8 *start = to;

	for (uint32 i = 0; i < v.len;)
	{
		int n = pg_utf_mblen(v.ptr + i);

		if (v.ptr[i] != 0 && i + (uint32) n <= v.len && pg_utf8_islegal(v.ptr + i, n))
		{
			memcpy(to, v.ptr + i, (size_t) n);
			to += n;
			i += (uint32) n;
			continue;
		}
		memcpy(to, utf8 ? "\xef\xbf\xbd" : "?", utf8 ? 3 : 1);
		to += utf8 ? 3 : 1;
		i++;
	}
	Assert(to - start <= (ptrdiff_t) v.len * 3);
	if (to - start > MaxAllocSize - VARHDRSZ)
		check_datum_length(o, PG_UINT32_MAX);
	return (BfView){start, (uint32) (to - start)};
}

static void lacks_character(const BifangOut *o, const char *p) BIFANG_NORETURN;

static void
lacks_character(const BifangOut *o, const char *p)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
			 errmsg("text of column \"%s\" in \"%s\" has a character that encoding \"%s\" lacks",
					o->column, o->file, GetDatabaseEncodingName()),
			 errdetail("It is U+%04X.", utf8_to_unicode((const unsigned char *) p)),
			 errhint("Declare the column as bytea to read it, or see option \"invalid_text\".")));
}

/* Valid UTF-8 in the encoding of the database. A character that this lacks is invalid text too. */
static BfView
converted_text(BifangOut *o, BfView v)
{
	char *start = MemoryContextAllocHuge(o->bump->cxt, BIFANG_CONVERTED_MAX(v.len));
	char *to = start;

	while (v.len > 0)
	{
		int n = bifang_convert_utf8(v.ptr, (int) v.len, to);

		to += strlen(to);
		v = (BfView){v.ptr + n, v.len - (uint32) n};
		if (v.len == 0)
			break;
		if (o->invalid_text == BIFANG_TEXT_ERROR)
			lacks_character(o, (const char *) v.ptr);
		if (o->invalid_text == BIFANG_TEXT_NULL)
		{
			o->refused = true;
			return (BfView){NULL, 0};
		}
		*to++ = '?';
		n = pg_utf_mblen(v.ptr);
		v = (BfView){v.ptr + n, v.len - (uint32) n};
	}
	check_datum_length(o, (uint32) Min((size_t) (to - start), PG_UINT32_MAX));
	return (BfView){(const uint8 *) start, (uint32) (to - start)};
}

/* The bytes as text of the database: themselves where that is its encoding, else converted. */
static inline BfView
checked_text(BifangOut *o, BfView v)
{
	if (likely(plain_ascii(v.ptr, v.len)))
		return v;
	check_datum_length(o, v.len);
	if (unlikely(!pg_verify_mbstr(PG_UTF8, (const char *) v.ptr, (int) v.len, true)))
	{
		if (o->invalid_text == BIFANG_TEXT_ERROR)
			bad_text(o, v);
		if (o->invalid_text == BIFANG_TEXT_NULL)
		{
			o->refused = true;
			return (BfView){NULL, 0};
		}
		v = replaced_text(o, v);
	}
	return bifang_same_encoding() ? v : converted_text(o, v);
}

BfView
bifang_checked_text(BifangOut *o, BfView v)
{
	return checked_text(o, v);
}

/* ---- JSON that jsonb refuses ---- */

/* The code unit of the escape at p, `\uXXXX`; -1: none. */
static int
unicode_escape(const uint8 *p, const uint8 *end)
{
	int unit = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++)
	{
		int digit = bf_ascii_hex(p[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* Does the database have the character? */
static bool
has_character(pg_wchar c)
{
	unsigned char utf8[8];
	char converted[BIFANG_CONVERTED_MAX(sizeof utf8)];
	int n;

	if (c < 0x80 || bifang_same_encoding())
		return true;
	unicode_to_utf8(c, utf8);
	n = pg_utf_mblen(utf8);
	return bifang_convert_utf8(utf8, n, converted) == n;
}

/* The next escape from p on that stands for no character of jsonb: zero, half a pair, or what the
 * database lacks. */
static const uint8 *
bad_escape(const uint8 *p, const uint8 *end)
{
	while ((p = memchr(p, '\\', (size_t) (end - p))) != NULL)
	{
		int unit = unicode_escape(p, end);
		int next = unit >= 0xd800 && unit < 0xdc00 ? unicode_escape(p + 6, end) : -1;
		bool pair = next >= 0xdc00 && next < 0xe000;

		if (unit == 0 || (unit >= 0xd800 && unit < 0xe000 && !pair))
			return p;
		if (unit > 0 &&
			!has_character(pair ? surrogate_pair_to_codepoint((pg_wchar) unit, (pg_wchar) next)
								: (pg_wchar) unit))
			return p;
		p += next >= 0 ? 12 : unit >= 0 ? 6 : 2;
		if (p >= end)
			break;
	}
	return NULL;
}

/* Text of a JSON value, as option invalid_text wants it where the type is jsonb. */
BfView
bifang_checked_json(BifangOut *o, BfView v)
{
	BfView t = checked_text(o, v);
	const uint8 *end = t.ptr + t.len;
	const uint8 *bad;
	uint8 *copy;

	if (o->refused || o->to.typid != JSONBOID || (bad = bad_escape(t.ptr, end)) == NULL)
		return t;
	if (o->invalid_text == BIFANG_TEXT_ERROR)
		ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
						errmsg("value of column \"%s\" in \"%s\" has %.6s, which jsonb cannot hold",
							   o->column, o->file, (const char *) bad),
						errhint("Declare the column as json or text, or see option "
								"\"invalid_text\".")));
	if (o->invalid_text == BIFANG_TEXT_NULL)
	{
		o->refused = true;
		return (BfView){NULL, 0};
	}
	copy = MemoryContextAllocHuge(o->bump->cxt, t.len);
	memcpy(copy, t.ptr, t.len);
	Assert(bad >= t.ptr && bad + 6 <= end);
	for (; bad != NULL; bad = bad_escape(bad + 6, end))
		memcpy(copy + (bad - t.ptr), GetDatabaseEncoding() == PG_UTF8 ? "\\ufffd" : "\\u003f", 6);
	return (BfView){copy, t.len};
}

static Datum
view_text(BifangOut *o, BfView v)
{
	Datum result;
	BfView t = checked_text(o, v);

	memcpy(varlena_begin(o, t.len, &result), t.ptr, t.len);
	return result;
}

static Datum
view_bytea(BifangOut *o, BfView v)
{
	Datum result;

	memcpy(varlena_begin(o, v.len, &result), v.ptr, v.len);
	return result;
}

/* varchar(n) and char(n): nothing is cut off but the blanks that char(n) ignores anyway. */
static Datum
view_text_typmod(BifangOut *o, BfView v)
{
	int max = o->to.typmod - VARHDRSZ;
	BfView t = checked_text(o, v);
	int chars = pg_mbstrlen_with_len((const char *) t.ptr, (int) t.len);
	Datum result;
	char *to;

	while (chars > max && o->to.typid == BPCHAROID && t.ptr[t.len - 1] == ' ')
	{
		t.len--;
		chars--;
	}
	if (chars > max)
		ereport(
			ERROR,
			(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
			 errmsg("value of column \"%s\" in \"%s\" is too long for type %s: %d characters",
					o->column, o->file, bifang_pg_type_text(o->to.typid, o->to.typmod), chars)));
	if (o->to.typid != BPCHAROID)
		max = chars;
	Assert(chars <= max);
	to = varlena_begin(o, t.len + (uint32) (max - chars), &result);
	memcpy(to, t.ptr, t.len);
	memset(to + t.len, ' ', (size_t) (max - chars));
	return result;
}

static Datum
view_name(BifangOut *o, BfView v)
{
	BfView t = checked_text(o, v);
	char *to;

	if (t.len >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value of column \"%s\" in \"%s\" is too long for type name: %u bytes",
						o->column, o->file, t.len)));
	to = bifang_bump_alloc(o, o->bump, NAMEDATALEN);
	memset(to, 0, NAMEDATALEN);
	memcpy(to, t.ptr, t.len);
	return PointerGetDatum(to);
}

Datum
bifang_input_text(BifangOut *o, char *text)
{
	ErrorContextCallback callback = {error_context_stack, bifang_out_context, o};
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);
	Datum result;

	error_context_stack = &callback;
	result = InputFunctionCall(&o->input.fn, text, o->input.param, o->to.typmod);
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
	return result;
}

/* json, jsonb, enum types: through the type's own input function. */
static Datum
view_input(BifangOut *o, BfView v)
{
	BfView t = bifang_checked_json(o, v);
	MemoryContext old;
	char *text;

	if (o->refused)
		return (Datum) 0;
	old = MemoryContextSwitchTo(o->bump->cxt);
	text = pnstrdup((const char *) t.ptr, t.len);
	MemoryContextSwitchTo(old);
	return bifang_input_text(o, text);
}

static Datum
view_uuid(BifangOut *o, BfView v)
{
	char *to;

	if (v.len != UUID_LEN)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no uuid: %u bytes", o->column,
							   o->file, v.len)));
	to = bifang_bump_alloc(o, o->bump, UUID_LEN);
	memcpy(to, v.ptr, UUID_LEN);
	return PointerGetDatum(to);
}

static Datum
view_uuid_text(BifangOut *o, BfView v)
{
	char text[2 * UUID_LEN + 5];
	char *to = text;
	Datum result;

	for (uint32 i = 0; i < UUID_LEN && i < v.len; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", v.ptr[i]);
	memcpy(varlena_begin(o, (uint32) (to - text), &result), text, (size_t) (to - text));
	return result;
}

static Datum
view_interval(BifangOut *o, BfView v)
{
	uint32 part[3];
	Interval *to;

	if (v.len != 12)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no interval: %u bytes",
							   o->column, o->file, v.len)));
	memcpy(part, v.ptr, sizeof part);
	if (part[0] > PG_INT32_MAX || part[1] > PG_INT32_MAX)
	{
		bifang_out_of_range(o, psprintf("%u months %u days", part[0], part[1]));
		return (Datum) 0;
	}
	to = (Interval *) bifang_bump_alloc(o, o->bump, sizeof *to);
	to->month = (int32) part[0];
	to->day = (int32) part[1];
	to->time = (int64) part[2] * 1000;
	return PointerGetDatum(to);
}

/* INT96: nanoseconds of the day, then the Julian day. */
static Datum
view_int96(BifangOut *o, BfView v)
{
	int64 nanos;
	int32 day;
	bf_i128 us;

	if (v.len != 12)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no INT96: %u bytes", o->column,
							   o->file, v.len)));
	nanos = (int64) bf_load64le(v.ptr);
	day = (int32) bf_load32le(v.ptr + 8);
	us = ((bf_i128) day - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY + nanos / 1000 - (nanos % 1000 < 0);
	if (us < MIN_TIMESTAMP || us >= END_TIMESTAMP)
		bifang_out_of_range(o, psprintf("day %d, " INT64_FORMAT " ns", day, nanos));
	return TimestampGetDatum((int64) us);
}

static Datum
view_numeric(BifangOut *o, BfView v)
{
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);
	Datum result = bifang_numeric_bytes(v.ptr, v.len, o->from.scale);

	if (!bifang_numeric_fits_always(o, o->from.precision, o->from.scale))
		result = bifang_numeric_fit(o, result);
	MemoryContextSwitchTo(old);
	return result;
}
/* ---- runs of views ---- */

static void
views_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	const BfView *data = vec->data.view + first;
	BifangViewFn fn = o->view;

	for (int32 i = 0; i < n; i++)
	{
		values[i] = isnull[i] ? (Datum) 0 : fn(o, data[i]);
		bifang_out_nulled(o, &isnull[i]);
	}
}

/* The hot one: plain text and bytes into one block whose size is known beforehand. */
static inline __attribute__((always_inline)) void
copy_views(BifangOut *o, const BfView *data, int32 n, Datum *values, bool *isnull, bool text)
{
	char *to;
	char *end;
	size_t total = 0;

	Assert(o->bump == &o->row_bump);
	for (int32 i = 0; i < n; i++)
		total += data[i].len;
	bifang_bump_reserve(o, &o->row_bump, total + (size_t) n * (VARHDRSZ + MAXIMUM_ALIGNOF));
	to = o->row_bump.at;
	end = to + o->row_bump.left;
	o->row_bump.left = 0; /* the block is spoken for; what `view` makes goes elsewhere */
	for (int32 i = 0; i < n; i++)
	{
		BfView v = data[i];

		if (isnull[i])
			continue;
		if (likely(v.len <= VARATT_SHORT_MAX - VARHDRSZ_SHORT) &&
			likely(copy_ascii(to + VARHDRSZ_SHORT, v.ptr, v.len) || !text))
		{
			SET_VARSIZE_SHORT(to, v.len + VARHDRSZ_SHORT);
			values[i] = PointerGetDatum(to);
			to += v.len + VARHDRSZ_SHORT;
			continue;
		}
		if (text && !plain_ascii(v.ptr, v.len) &&
			(GetDatabaseEncoding() != PG_UTF8 ||
			 !pg_verify_mbstr(PG_UTF8, (const char *) v.ptr, (int) v.len, true)))
		{
			values[i] = o->view(o, v); /* may be of another length: not in this block */
			bifang_out_nulled(o, &isnull[i]);
			continue;
		}
		check_datum_length(o, v.len);
		to = (char *) TYPEALIGN(sizeof(int32), to);
		SET_VARSIZE(to, v.len + VARHDRSZ);
		memcpy(VARDATA(to), v.ptr, v.len);
		values[i] = PointerGetDatum(to);
		to += v.len + VARHDRSZ;
	}
	Assert(to <= end);
	if (o->row_bump.left == 0) /* nothing went elsewhere: the rest of the block is free again */
	{
		to = (char *) MAXALIGN(to);
		o->row_bump.at = to;
		o->row_bump.left = to < end ? (size_t) (end - to) : 0;
	}
}

static void
text_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	copy_views(o, vec->data.view + first, n, values, isnull, true);
}

static void
bytea_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	copy_views(o, vec->data.view + first, n, values, isnull, false);
}

/* ---- which conversion ---- */

static BifangChoice
choose_text(Oid typid, bool typmod)
{
	switch (typid)
	{
		case TEXTOID: return (BifangChoice){text_flat, view_text};
		case VARCHAROID:
			return typmod ? (BifangChoice){views_flat, view_text_typmod}
						  : (BifangChoice){text_flat, view_text};
		case BPCHAROID:
			return typmod ? (BifangChoice){views_flat, view_text_typmod}
						  : (BifangChoice){text_flat, view_text};
		case NAMEOID: return (BifangChoice){views_flat, view_name};
		case JSONOID:
		case JSONBOID: return (BifangChoice){views_flat, view_input};
		case BYTEAOID: return (BifangChoice){bytea_flat, view_bytea};
		default:
			if (get_typtype(typid) == TYPTYPE_ENUM)
				return (BifangChoice){views_flat, view_input};
			return (BifangChoice){NULL, NULL};
	}
}

BifangChoice
bifang_choose_view(BfType from, Oid typid, bool typmod)
{
	const BifangChoice none = {NULL, NULL};

	switch (from.kind)
	{
		case BF_KIND_DECIMAL:
			return typid == NUMERICOID ? (BifangChoice){views_flat, view_numeric} : none;
		case BF_KIND_INT96:
			if (typid == TIMESTAMPOID || typid == TIMESTAMPTZOID)
				return (BifangChoice){views_flat, view_int96};
			return typid == BYTEAOID ? (BifangChoice){bytea_flat, view_bytea} : none;
		case BF_KIND_UUID:
			if (typid == UUIDOID)
				return (BifangChoice){views_flat, view_uuid};
			if (typid == TEXTOID)
				return (BifangChoice){views_flat, view_uuid_text};
			return typid == BYTEAOID ? (BifangChoice){bytea_flat, view_bytea} : none;
		case BF_KIND_GEOMETRY:
			return typid == BYTEAOID ? (BifangChoice){bytea_flat, view_bytea} : none;
		case BF_KIND_INTERVAL:
			return typid == INTERVALOID ? (BifangChoice){views_flat, view_interval} : none;
		case BF_KIND_FIXED:
			if (typid == UUIDOID && from.length == UUID_LEN)
				return (BifangChoice){views_flat, view_uuid};
			return choose_text(typid, typmod);
		default: return choose_text(typid, typmod);
	}
}

bool
bifang_view_needs_input(BifangChoice c)
{
	return c.view == view_input;
}
