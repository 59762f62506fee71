/*
 * pg/catalog/formats.c: the kinds of tables, as options know them; see formats.h.
 */
#include "pg/catalog/formats.h"

#include "lib/stringinfo.h"

static const BifangFormat *const *known = NULL;

void
bifang_formats_set(const BifangFormat *const *formats)
{
	Assert(known == NULL && formats[0] != NULL);
	known = formats;
}

const BifangFormat *const *
bifang_formats(void)
{
	Assert(known != NULL);
	return known;
}

const BifangFormat *
bifang_format_find(const char *name)
{
	for (const BifangFormat *const *f = bifang_formats(); *f != NULL; f++)
		if (strcmp((*f)->name, name) == 0)
			return *f;
	return NULL;
}

/* "a lake table, plain Parquet files, or ..." */
static void
append_formats(StringInfo s)
{
	for (int i = 0; known[i] != NULL; i++)
		appendStringInfo(s, "%s%s",
						 i == 0					? ""
						 : known[i + 1] == NULL ? ", or "
												: ", ",
						 known[i]->is);
}

/* "iceberg: directory or ...; parquet: file, ..." */
static void
append_locations(StringInfo s)
{
	const char *between = "";

	for (int i = 0; known[i] != NULL; i++)
		if (known[i]->location != NULL)
		{
			appendStringInfo(s, "%s%s: %s", between, known[i]->name, known[i]->location);
			between = "; ";
		}
}

const char *
bifang_formats_text(const char *text)
{
	static const struct
	{
		const char *word;
		void (*append)(StringInfo s);
	} words[] = {{"{formats}", append_formats}, {"{locations}", append_locations}};

	for (int i = 0; i < (int) lengthof(words); i++)
	{
		const char *at = strstr(text, words[i].word);
		StringInfoData s;

		if (at == NULL)
			continue;
		initStringInfo(&s);
		appendBinaryStringInfo(&s, text, (int) (at - text));
		words[i].append(&s);
		appendStringInfoString(&s, at + strlen(words[i].word));
		return s.data;
	}
	return text;
}
