/*
 * pg/catalog/option_table.c: see option_table.h.
 *
 * An option's type is a pair of functions (what a text means, what else it must be to be set) and
 * a row knows its member by its offset, as the server's own reloptions do.
 */
#include "pg/catalog/option_table.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/varlena.h"

#include "base/ascii.h"
#include "iceberg/location.h"
#include "pg/catalog/option_list.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/roles.h"
#include "pg/server/settings.h"

typedef struct OptionDef OptionDef;

typedef struct Word
{
	const char *text; /* NULL at the end */
	int value;
} Word;

typedef struct OptionType
{
	const char *kind; /* as bifang.options() says it; NULL: the words */
	const Word *words;
	const Word *(*make_words)(void); /* where they are not known before the library is loaded */
	/* Stores what the text means, raises when it means nothing. */
	void (*take)(const OptionDef *d, const char *value, void *at);
	/* What else is looked at when the option is set; or NULL. */
	void (*check)(const OptionDef *d, const char *value);
} OptionType;

struct OptionDef
{
	const char *name;
	const OptionType *type;
	int places;
	const char *value;				   /* default; NULL = none or `told` */
	const char *told;				   /* what is done without it, for bifang.options() */
	Oid role;						   /* needed to set it and to use it */
	bool (*of)(const BifangFormat *f); /* tables that make use of it; NULL = all */
	const char *about;
	size_t offset; /* in the struct of its places */
};

/* Types --------------------------------------------------------------------------------------- */

static void
take_text(const OptionDef *d, const char *value, void *at)
{
	*(const char **) at = value;
}

static void
take_name(const OptionDef *d, const char *value, void *at)
{
	if (value[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("option \"%s\" must not be empty", d->name)));
	*(const char **) at = value;
}

static void
take_path(const OptionDef *d, const char *value, void *at)
{
	/* Names of files are those that other programs read and write: UTF-8. */
	*(const char **) at =
		bifang_to_utf8(bifang_local_path(value, psprintf("option \"%s\"", d->name)));
}

/* 0: it is no number from 1 to max. */
static int64
number_of(const char *value, int64 max)
{
	int64_t n;
	size_t digits;

	while (bf_ascii_space(*value))
		value++;
	value += *value == '+';
	digits = bf_ascii_number(value, strlen(value), max, &n);
	return digits > 0 && value[digits] == '\0' && n > 0 ? n : 0;
}

static void
take_int(const OptionDef *d, const char *value, void *at)
{
	int64 n = number_of(value, PG_INT32_MAX);

	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"%s\" must be a positive integer: \"%s\"", d->name, value)));
	*(int32 *) at = (int32) n;
}

static void
take_port(const OptionDef *d, const char *value, void *at)
{
	if (number_of(value, PG_UINT16_MAX) == 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("option \"%s\" must be a port number: \"%s\"", d->name, value)));
	*(const char **) at = value;
}

static void
take_bool(const OptionDef *d, const char *value, void *at)
{
	if (!parse_bool(value, at))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("option \"%s\" must be true or false: \"%s\"", d->name, value)));
}

static void
check_int8(const OptionDef *d, const char *value)
{
	DirectFunctionCall1(int8in, CStringGetDatum(value));
}

static void
check_time(const OptionDef *d, const char *value)
{
	DirectFunctionCall3(timestamptz_in, CStringGetDatum(value), ObjectIdGetDatum(InvalidOid),
						Int32GetDatum(-1));
}

static void
check_map(const OptionDef *d, const char *value)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "location map", BIFANG_ARENA_MAX_METADATA);
	BfLocationMap *map;
	BfError err;

	bf_error_clear(&err);
	if (bf_location_map_parse(a, value, &map, &err) != BF_OK)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"%s\": %s", d->name, err.text),
				 errhint("Write it as prefix=directory, more of them separated by commas.")));
	bifang_arena_free(a);
}

/* "a", "b" or "c". */
static char *
words_text(const Word *words)
{
	StringInfoData s;

	initStringInfo(&s);
	for (const Word *w = words; w->text != NULL; w++)
		appendStringInfo(&s, "%s\"%s\"",
						 s.len == 0			 ? ""
						 : w[1].text == NULL ? " or "
											 : ", ",
						 w->text);
	return s.data;
}

static const Word *
words_of(const OptionType *type)
{
	return type->make_words != NULL ? type->make_words() : type->words;
}

static const Word *
word_of(const OptionDef *d, const char *value)
{
	const Word *words = words_of(d->type);

	for (const Word *w = words; w->text != NULL; w++)
		if (strcmp(w->text, value) == 0)
			return w;
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					errmsg("option \"%s\" cannot be \"%s\"", d->name, value),
					errhint("It can be %s.", words_text(words))));
}

static void
take_word(const OptionDef *d, const char *value, void *at)
{
	*(int *) at = word_of(d, value)->value;
}

static void
take_word_text(const OptionDef *d, const char *value, void *at)
{
	*(const char **) at = word_of(d, value)->text;
}

/* A format's word has its number. Palloc'd. */
static const Word *
format_words(void)
{
	const BifangFormat *const *formats = bifang_formats();
	int n = 0;
	Word *words;

	while (formats[n] != NULL)
		n++;
	words = palloc0((Size) (n + 1) * sizeof *words);
	for (int i = 0; i < n; i++)
		words[i] = (Word){formats[i]->name, i};
	return words;
}

static void
take_format(const OptionDef *d, const char *value, void *at)
{
	const BifangFormat *f = bifang_format_find(value);

	*(const BifangFormat **) at = f != NULL ? f : bifang_formats()[word_of(d, value)->value];
}

/* The functions of a type write what option_list.h says that it is. */
#define OPTION_TYPE(type, ctype, ...)                                         \
	StaticAssertDecl(__builtin_types_compatible_p(BIFANG_TYPE_##type, ctype), \
					 "option type " #type " is not stored as " #ctype);       \
	static const OptionType type_##type = {__VA_ARGS__}

/* One of the words that follow, each with the value of the enum. */
#define OPTION_WORDS(type, ...)                                                       \
	StaticAssertDecl(sizeof(BIFANG_TYPE_##type) == sizeof(int), #type " is no enum"); \
	static const Word words_##type[] = {__VA_ARGS__, {NULL, 0}};                      \
	static const OptionType type_##type = {.words = words_##type, .take = take_word}

OPTION_TYPE(TEXT, const char *, .kind = "text", .take = take_name);
OPTION_TYPE(ANY, const char *, .kind = "text", .take = take_text);
OPTION_TYPE(PATH, const char *, .kind = "path", .take = take_path);
OPTION_TYPE(INT, int32, .kind = "positive integer", .take = take_int);
OPTION_TYPE(PORT, const char *, .kind = "port number", .take = take_port);
OPTION_TYPE(BOOL, bool, .kind = "boolean", .take = take_bool);
OPTION_TYPE(INT8, const char *, .kind = "bigint", .take = take_text, .check = check_int8);
OPTION_TYPE(TIME, const char *, .kind = "timestamptz", .take = take_text, .check = check_time);
OPTION_TYPE(MAP, const char *, .kind = "prefix=directory, ...", .take = take_text,
			.check = check_map);

static const Word words_SSLMODE[] = {{"disable"},	{"allow"},		 {"prefer"}, {"require"},
									 {"verify-ca"}, {"verify-full"}, {NULL}};
OPTION_TYPE(SSLMODE, const char *, .words = words_SSLMODE, .take = take_word_text);

OPTION_TYPE(FORMAT, const BifangFormat *, .make_words = format_words, .take = take_format);

OPTION_WORDS(ISOLATION, {"read_committed", BIFANG_READ_COMMITTED},
			 {"read_uncommitted", BIFANG_READ_UNCOMMITTED});
OPTION_WORDS(TEXT_POLICY, {"error", BIFANG_TEXT_ERROR}, {"replace", BIFANG_TEXT_REPLACE},
			 {"null", BIFANG_TEXT_NULL});
OPTION_WORDS(RANGE_POLICY, {"error", BIFANG_RANGE_ERROR}, {"null", BIFANG_RANGE_NULL});
OPTION_WORDS(LAG_ACTION, {"warn", BIFANG_LAG_WARN}, {"wait", BIFANG_LAG_WAIT},
			 {"error", BIFANG_LAG_ERROR});
OPTION_WORDS(META, {"ledger", BF_FACT_LEDGER}, {"entry", BF_FACT_ENTRY},
			 {"timestamp", BF_FACT_TIMESTAMP}, {"tier", BF_FACT_TIER}, {"file", BF_FACT_FILE},
			 {"pos", BF_FACT_POS}, {"row_id", BF_FACT_ROW_ID},
			 {"last_updated_sequence_number", BF_FACT_SEQUENCE});

StaticAssertDecl(lengthof(words_META) == BF_FACT_COUNT, "a fact about rows lacks its word");

/* The table ----------------------------------------------------------------------------------- */

static bool
of_lakes(const BifangFormat *f)
{
	return f->lake;
}

static bool
of_logs(const BifangFormat *f)
{
	return f->log;
}

static bool
of_parquet(const BifangFormat *f)
{
	return f->parquet;
}

static bool
of_files(const BifangFormat *f)
{
	return f->parquet && !f->lake;
}

/* What the columns of option_list.h mean here. */
#define ON_SERVER BIFANG_ON_SERVER
#define ON_TABLE BIFANG_ON_TABLE
#define ON_COLUMN BIFANG_ON_COLUMN
#define ON_IMPORT BIFANG_ON_IMPORT
#define ON_MAPPING BIFANG_ON_MAPPING
#define NO_DEFAULT .value = NULL
#define VALUE(text) .value = text
#define TOLD(text) .told = text
#define ANYONE InvalidOid
#define READERS ROLE_PG_READ_SERVER_FILES
#define SUPERUSERS BIFANG_SUPERUSER
#define ALL NULL
#define LAKES of_lakes
#define LOGS of_logs
#define PARQUET of_parquet
#define FILES of_files

#define ROW(target, m, n, t, p, standard, r, k, text) \
	{.name = n,                                       \
	 .type = &type_##t,                               \
	 .places = p,                                     \
	 standard,                                        \
	 .role = r,                                       \
	 .of = k,                                         \
	 .about = text,                                   \
	 .offset = offsetof(target, m)},
#define TABLE_ROW(...) ROW(BifangOptions, __VA_ARGS__)
#define LOGIN_ROW(...) ROW(BifangLoginOptions, __VA_ARGS__)
#define COLUMN_ROW(...) ROW(BifangColumnOptions, __VA_ARGS__)
#define PART_ROWS(list) list(TABLE_ROW)

/* clang-format off */
static const OptionDef option_defs[] = {
	BIFANG_TABLE_OPTION_PARTS(PART_ROWS)
	BIFANG_LOGIN_OPTIONS(LOGIN_ROW)
	BIFANG_COLUMN_OPTIONS(COLUMN_ROW)
};
/* clang-format on */

/* A row stands only in places whose struct has its member. */
#define PLACES_WITHIN(all, name, places)                        \
	StaticAssertDecl((places) != 0 && ((places) & ~(all)) == 0, \
					 "option " name " in another's place");
#define TABLE_PLACES(member, name, type, places, ...) \
	PLACES_WITHIN(ON_SERVER | ON_TABLE | ON_IMPORT, name, places)
#define LOGIN_PLACES(member, name, type, places, ...) PLACES_WITHIN(ON_MAPPING, name, places)
#define COLUMN_PLACES(member, name, type, places, ...) PLACES_WITHIN(ON_COLUMN, name, places)
#define PART_PLACES(list) list(TABLE_PLACES)

BIFANG_TABLE_OPTION_PARTS(PART_PLACES)
BIFANG_LOGIN_OPTIONS(LOGIN_PLACES)
BIFANG_COLUMN_OPTIONS(COLUMN_PLACES)

static const OptionDef *
find_option(const char *name, int place)
{
	for (int i = 0; i < (int) lengthof(option_defs); i++)
		if ((option_defs[i].places & place) != 0 && strcmp(option_defs[i].name, name) == 0)
			return &option_defs[i];
	return NULL;
}

void
bifang_option_defaults(int places, void *out)
{
	for (int i = 0; i < (int) lengthof(option_defs); i++)
	{
		const OptionDef *d = &option_defs[i];

		if ((d->places & places) != 0 && d->value != NULL)
			d->type->take(d, d->value, (char *) out + d->offset);
	}
}

void
bifang_option_take(List *options, BifangOptionPlace place, void *io)
{
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *def = lfirst(lc);
		const OptionDef *d = find_option(def->defname, place);

		if (d != NULL)
			d->type->take(d, defGetString(def), (char *) io + d->offset);
	}
}

/* Setting -------------------------------------------------------------------------------------- */

static int
place_of(Oid catalog)
{
	switch (catalog)
	{
		case ForeignServerRelationId: return ON_SERVER;
		case ForeignTableRelationId: return ON_TABLE;
		case AttributeRelationId: return ON_COLUMN;
		case UserMappingRelationId: return ON_MAPPING;
		default: return 0; /* the wrapper itself takes none */
	}
}

static const char *
place_text(int place)
{
	switch (place)
	{
		case ON_SERVER: return "server";
		case ON_TABLE: return "foreign table";
		case ON_COLUMN: return "column";
		case ON_IMPORT: return "IMPORT FOREIGN SCHEMA";
		case ON_MAPPING: return "user mapping";
		default: return "foreign-data wrapper";
	}
}

/* The HINT for a name that no option of this place has. */
static char *
hint_for(const char *name, int place)
{
	const OptionDef *best = NULL;
	int best_distance = 4;
	int len = (int) strlen(name);
	StringInfoData all;

	initStringInfo(&all);
	for (int i = 0; i < (int) lengthof(option_defs); i++)
	{
		const OptionDef *d = &option_defs[i];
		int distance;

		if (strcmp(d->name, name) == 0) /* right name, wrong place */
		{
			int first = d->places & -d->places;

			return psprintf("\"%s\" is an option of a %s.", name, place_text(first));
		}
		if ((d->places & place) == 0)
			continue;
		appendStringInfo(&all, "%s%s", all.len == 0 ? "" : ", ", d->name);
		if (len > 60)
			continue;
		distance = varstr_levenshtein_less_equal(name, len, d->name, (int) strlen(d->name), 1, 1, 1,
												 best_distance, true);
		if (distance < best_distance && distance < (int) strlen(d->name))
		{
			best = d;
			best_distance = distance;
		}
	}
	if (best != NULL)
		return psprintf("Perhaps you meant \"%s\".", best->name);
	if (all.len > 0)
		return psprintf("Options of a %s: %s.", place_text(place), all.data);
	return psprintf("There are no options of a %s.", place_text(place));
}

/* Where and how to find a catalog means nothing without the host. */
static void
check_catalog_options(List *options)
{
#define NAME(member, name, ...) name,
	static const char *const names[] = {BIFANG_REMOTE_OPTIONS(NAME)};
	const char *needs_host = NULL;
	ListCell *lc;

	foreach (lc, options)
	{
		const char *given = ((DefElem *) lfirst(lc))->defname;

		if (strcmp(given, "catalog_host") == 0)
			return;
		for (int i = 0; i < (int) lengthof(names); i++)
			if (strcmp(given, names[i]) == 0)
				needs_host = names[i];
	}
	if (needs_host != NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("option \"%s\" needs option \"catalog_host\"", needs_host)));
}

/* The words of the formats whose tables make use of an option. */
static char *
formats_of(const OptionDef *d, const char *between)
{
	StringInfoData s;

	initStringInfo(&s);
	for (const BifangFormat *const *f = bifang_formats(); *f != NULL; f++)
		if (d->of(*f))
			appendStringInfo(&s, "%s%s", s.len == 0 ? "" : between, (*f)->name);
	return s.data;
}

void
bifang_option_check_format(List *options, BifangOptionPlace place, const BifangFormat *format)
{
	ListCell *lc;

	if (bifang_session_restores_dump())
		return;
	foreach (lc, options)
	{
		const OptionDef *d = find_option(((DefElem *) lfirst(lc))->defname, place);

		if (d != NULL && d->of != NULL && !d->of(format))
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
							errmsg("option \"%s\" means nothing for tables of format \"%s\"",
								   d->name, format->name),
							errhint("Drop it; it is for tables of format \"%s\".",
									formats_of(d, "\" or \""))));
	}
}

/* What a catalog names is found by its pointer, not by a path. */
static void
check_place(List *options)
{
	bool location = false;
	bool name = false;
	ListCell *lc;

	foreach (lc, options)
	{
		const char *given = ((DefElem *) lfirst(lc))->defname;

		location |= strcmp(given, "location") == 0;
		name |= strcmp(given, "namespace") == 0 || strcmp(given, "table") == 0;
	}
	if (location && name && !bifang_session_restores_dump())
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"location\" contradicts options \"namespace\" and \"table\", "
						"which name a table of the catalog"),
				 errhint("A table is found by the one or the others.")));
}

/* The table's own format; that of its server is not known to a validator. NULL: not given. */
static const BifangFormat *
given_format(List *options)
{
	ListCell *lc;

	foreach (lc, options)
		if (strcmp(((DefElem *) lfirst(lc))->defname, "format") == 0)
			return bifang_format_find(defGetString(lfirst(lc)));
	return NULL;
}

void
bifang_option_check(List *options, int place)
{
	union
	{
		int64 number;
		const char *text;
	} ignored;
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *def = lfirst(lc);
		const OptionDef *d = find_option(def->defname, place);

		if (d == NULL)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
							errmsg("invalid option \"%s\"", def->defname),
							errhint("%s", hint_for(def->defname, place))));
		d->type->take(d, defGetString(def), &ignored);
		if (d->type->check != NULL)
			d->type->check(d, defGetString(def));
		if (OidIsValid(d->role))
			bifang_check_option_role(GetUserId(), d->role, d->name);
	}
	if (place == ON_SERVER)
		check_catalog_options(options);
	if (place == ON_TABLE && given_format(options) != NULL)
		bifang_option_check_format(options, BIFANG_ON_TABLE, given_format(options));
	if (place == ON_TABLE)
		check_place(options);
}

PG_FUNCTION_INFO_V1(bifang_fdw_validator);

Datum
bifang_fdw_validator(PG_FUNCTION_ARGS)
{
	bifang_option_check(untransformRelOptions(PG_GETARG_DATUM(0)), place_of(PG_GETARG_OID(1)));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(bifang_options);

static Datum
text_or_null(const char *text, bool *null)
{
	*null = text == NULL;
	return text == NULL ? (Datum) 0 : CStringGetTextDatum(text);
}

static void
describe_option(const OptionDef *d, Datum *values, bool *nulls)
{
	const char *role = d->role == BIFANG_SUPERUSER ? "superuser"
					   : OidIsValid(d->role)	   ? GetUserNameFromId(d->role, false)
												   : NULL;
	StringInfoData places;

	initStringInfo(&places);
	for (int bit = ON_SERVER; bit <= ON_MAPPING; bit <<= 1)
		if (d->places & bit)
			appendStringInfo(&places, "%s%s", places.len == 0 ? "" : ", ", place_text(bit));
	values[0] = CStringGetTextDatum(d->name);
	values[1] = CStringGetTextDatum(places.data);
	values[2] =
		CStringGetTextDatum(d->type->kind != NULL ? d->type->kind : words_text(words_of(d->type)));
	values[3] = text_or_null(d->value != NULL ? d->value : d->told, &nulls[3]);
	values[4] = text_or_null(role, &nulls[4]);
	values[5] =
		CStringGetTextDatum(d->of == NULL ? bifang_formats_text(d->about)
										  : psprintf("%s: %s", formats_of(d, ", "), d->about));
}

/* bifang.options(name, applies_to, kind, default, role, description) */
Datum
bifang_options(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < (int) lengthof(option_defs); i++)
	{
		Datum values[6];
		bool nulls[6] = {false};

		describe_option(&option_defs[i], values, nulls);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
