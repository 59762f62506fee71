/*
 * pg/server/encoding.c: see encoding.h.
 */
#include "pg/server/encoding.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "mb/pg_wchar.h"

bool
bifang_same_encoding(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
}

static bool
is_ascii(const char *text)
{
	while (*text != '\0' && !IS_HIGHBIT_SET(*text))
		text++;
	return *text == '\0';
}

char *
bifang_to_utf8(const char *text)
{
	if (is_ascii(text) || GetDatabaseEncoding() == PG_UTF8)
		return unconstify(char *, text);
	return pg_server_to_any(text, (int) strlen(text), PG_UTF8);
}

int
bifang_convert_utf8(const uint8 *p, int n, char *to)
{
	int encoding = GetDatabaseEncoding();
	Oid fn = FindDefaultConversionProc(PG_UTF8, encoding);

	Assert(!bifang_same_encoding());
	StaticAssertStmt(MAX_CONVERSION_GROWTH == 4, "BIFANG_CONVERTED_MAX");
	if (!OidIsValid(fn))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
						pg_encoding_to_char(PG_UTF8), pg_encoding_to_char(encoding))));
	if (n > (int) (PG_INT32_MAX / MAX_CONVERSION_GROWTH) - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("text of %d bytes is too long to be converted", n)));
	return pg_do_encoding_conversion_buf(fn, PG_UTF8, encoding, unconstify(uint8 *, p), n,
										 (unsigned char *) to, (int) BIFANG_CONVERTED_MAX(n), true);
}

char *
bifang_from_utf8(const char *text)
{
	int n = (int) strlen(text);
	char *to;

	if (is_ascii(text))
		return unconstify(char *, text);
	/* SQL_ASCII would take anything, but not give it back. */
	if (!pg_verify_mbstr(PG_UTF8, text, n, true))
		return NULL;
	if (bifang_same_encoding())
		return unconstify(char *, text);
	to = palloc(BIFANG_CONVERTED_MAX(n));
	return bifang_convert_utf8((const uint8 *) text, n, to) == n ? to : NULL;
}

/* Each byte beyond ASCII: where nothing better is to be had. */
static char *
question_marks(const char *text)
{
	char *copy = pstrdup(text);

	for (char *p = copy; *p != '\0'; p++)
		if (IS_HIGHBIT_SET(*p))
			*p = '?';
	return copy;
}

const char *
bifang_shown(const char *text)
{
	int left = (int) strlen(text);
	char *shown;
	char *to;

	if (is_ascii(text))
		return text;
	if (!pg_verify_mbstr(PG_UTF8, text, left, true))
		return question_marks(text);
	if (bifang_same_encoding())
		return text;
	if (!IsTransactionState())
		return question_marks(text);
	to = shown = palloc(BIFANG_CONVERTED_MAX(left));
	for (;;)
	{
		int used = bifang_convert_utf8((const uint8 *) text, left, to);

		to += strlen(to);
		text += used;
		left -= used;
		if (left == 0)
			return shown;
		*to++ = '?';
		used = pg_utf_mblen((const unsigned char *) text);
		text += used;
		left -= used;
	}
}
