/*
 * pg/catalog/options.c: the options table, its validator, and resolved options; see options.h.
 */
#include "pg/catalog/options.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/fmgrprotos.h"
#include "utils/varlena.h"

#include "iceberg/location.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

#define ON_SERVER 1
#define ON_TABLE 2
#define ON_COLUMN 4
#define ON_IMPORT 8
#define ON_MAPPING 16

typedef enum OptionType
{
	OPT_TEXT, /* not empty */
	OPT_PATH, /* absolute local path, file:// allowed */
	OPT_INT,  /* positive 32-bit */
	OPT_PORT, /* 1 to 65535 */
	OPT_BOOL,
	OPT_INT8, /* 64-bit */
	OPT_TIME, /* timestamptz */
	OPT_MAP,  /* location map */
	OPT_WORD  /* one of `words` */
} OptionType;

typedef struct OptionDef
{
	const char *name;
	int where;
	OptionType type;
	const char *words; /* OPT_WORD: separated by one blank, in the order of the enum */
	const char *default_text;
	Oid role; /* needed to set it and to use it */
	const char *about;
} OptionDef;

static const char meta_words[] =
	"ledger entry timestamp tier file pos row_id last_updated_sequence_number";
static const char text_words[] = "error replace null";
static const char range_words[] = "error null";
static const char format_words[] = "iceberg parquet kafka_log";
static const char sslmode_words[] = "disable allow prefer require verify-ca verify-full";

static const OptionDef option_defs[] = {
	{"format", ON_SERVER | ON_TABLE | ON_IMPORT, OPT_WORD, format_words, "iceberg", InvalidOid,
	 "what the table is: a lake table, plain Parquet files, or partition directories of a Kafka "
	 "broker; on a server the default for its tables"},
	{"location", ON_TABLE | ON_IMPORT, OPT_PATH, NULL, NULL, ROLE_PG_READ_SERVER_FILES,
	 "iceberg: directory or metadata file of a table; parquet: file, directory or glob; kafka_log: "
	 "partition directory or glob"},
	{"namespace", ON_TABLE, OPT_TEXT, NULL, "the schema's name at creation", InvalidOid,
	 "namespace of the lake table in the server's catalog"},
	{"table", ON_TABLE, OPT_TEXT, NULL, "the relation's name at creation", InvalidOid,
	 "name of the lake table in the server's catalog"},
	{"topic", ON_TABLE, OPT_TEXT, NULL, NULL, InvalidOid,
	 "kafka_log: the topic whose partitions are read, where the location names those of several"},
	{"isolation", ON_TABLE | ON_IMPORT, OPT_WORD, "read_committed read_uncommitted",
	 "read_committed", InvalidOid,
	 "kafka_log: whether records of aborted and open transactions are shown"},
	{"partition_by", ON_TABLE, OPT_TEXT, NULL, NULL, InvalidOid,
	 "how a lake table made by CREATE FOREIGN TABLE is partitioned: 'day(ts), bucket(16, "
	 "user_id)'; "
	 "used at creation only"},
	{"as_of_snapshot", ON_TABLE, OPT_INT8, NULL, NULL, InvalidOid,
	 "iceberg: the snapshot that is read, by number; such a table cannot be written"},
	{"as_of_timestamp", ON_TABLE, OPT_TIME, NULL, NULL, InvalidOid,
	 "iceberg: the table is read as the lake had it then; such a table cannot be written"},
	{"ref", ON_TABLE, OPT_TEXT, NULL, NULL, InvalidOid,
	 "iceberg: the branch or tag that is read; such a table cannot be written"},
	{"location_map", ON_SERVER | ON_TABLE | ON_IMPORT, OPT_MAP, NULL, NULL,
	 ROLE_PG_READ_SERVER_FILES,
	 "where files are that the metadata names: 'hdfs://nn:8020/wh=/data/wh,s3://b/x=/mnt/x'"},
	{"invalid_text", ON_SERVER | ON_TABLE, OPT_WORD, text_words, "error", InvalidOid,
	 "text that the database cannot hold: an error, U+FFFD for what is wrong, or NULL"},
	{"out_of_range", ON_SERVER | ON_TABLE, OPT_WORD, range_words, "error", InvalidOid,
	 "numbers, dates and times that the declared type cannot hold: an error or NULL"},
	{"verify_checksums", ON_SERVER | ON_TABLE, OPT_BOOL, NULL, "true", InvalidOid,
	 "whether checksums of Parquet pages are looked at, where the writer stored them"},
	{"warehouse", ON_SERVER, OPT_PATH, NULL, BIFANG_EMBEDDED_WAREHOUSE " in the data directory",
	 ROLE_PG_READ_SERVER_FILES, "directory under which the catalog's tables live"},
	{"live_dir", ON_SERVER, OPT_PATH, NULL, "bifang/live/<database oid> in the data directory",
	 ROLE_PG_READ_SERVER_FILES, "directory of live ledgers"},
	{"catalog_name", ON_SERVER, OPT_TEXT, NULL, "the server's name", InvalidOid,
	 "name under which the catalog table knows the server's tables"},
	{"catalog_host", ON_SERVER, OPT_TEXT, NULL, NULL, ROLE_PG_READ_SERVER_FILES,
	 "host, address or socket directory of another PostgreSQL server that holds the catalog; its "
	 "tables are read-only here"},
	{"catalog_port", ON_SERVER, OPT_PORT, NULL, "5432", InvalidOid, "port of catalog_host"},
	{"catalog_dbname", ON_SERVER, OPT_TEXT, NULL, "the remote user's name", InvalidOid,
	 "database of catalog_host that has the table iceberg_tables"},
	{"catalog_schema", ON_SERVER, OPT_TEXT, NULL, "the search_path there", InvalidOid,
	 "schema of the table iceberg_tables"},
	{"catalog_sslmode", ON_SERVER, OPT_WORD, sslmode_words, "prefer", InvalidOid,
	 "how the connection to catalog_host is secured, as libpq's sslmode"},
	{"catalog_sslrootcert", ON_SERVER, OPT_PATH, NULL, NULL, ROLE_PG_READ_SERVER_FILES,
	 "file with certificates that catalog_host's must be signed by"},
	{"catalog_timeout", ON_SERVER, OPT_INT, NULL, "10", InvalidOid,
	 "seconds to wait for a connection to catalog_host, and for each answer"},
	{"user", ON_MAPPING, OPT_TEXT, NULL, NULL, InvalidOid, "user to connect as to catalog_host"},
	{"password", ON_MAPPING, OPT_TEXT, NULL, NULL, InvalidOid, "the user's password"},
	{"password_required", ON_MAPPING, OPT_BOOL, NULL, "true", BIFANG_SUPERUSER,
	 "whether a role that is no superuser must connect with a password"},
	{"sslcert", ON_MAPPING, OPT_PATH, NULL, NULL, BIFANG_SUPERUSER, "file with a client certificate"},
	{"sslkey", ON_MAPPING, OPT_PATH, NULL, NULL, BIFANG_SUPERUSER, "file with the certificate's key"},
	{"field_id", ON_COLUMN, OPT_INT, NULL, NULL, InvalidOid,
	 "the column's field id in the lake table; without it the name decides"},
	{"meta", ON_COLUMN, OPT_WORD, meta_words, NULL, InvalidOid,
	 "the column is no column of the table but tells where a row came from"},
};

const char *
bifang_format_name(BifangFormat f)
{
	switch (f)
	{
		case BIFANG_ICEBERG: return "iceberg";
		case BIFANG_PARQUET: return "parquet";
		case BIFANG_KAFKA_LOG: return "kafka_log";
	}
	return "?";
}

/* Number of `value` in the blank-separated list, -1 when it is none of them. */
static int
word_index(const char *words, const char *value)
{
	size_t len = strlen(value);
	int i = 0;

	for (const char *w = words; w != NULL; i++)
	{
		const char *end = strchr(w, ' ');
		size_t n = end == NULL ? strlen(w) : (size_t) (end - w);

		if (n == len && memcmp(w, value, n) == 0)
			return i;
		w = end == NULL ? NULL : end + 1;
	}
	return -1;
}

/* "a", "b" and "c" out of the blank-separated list. */
static char *
words_text(const char *words)
{
	StringInfoData s;

	initStringInfo(&s);
	for (const char *w = words; w != NULL;)
	{
		const char *end = strchr(w, ' ');
		int n = end == NULL ? (int) strlen(w) : (int) (end - w);

		appendStringInfo(&s, "%s\"%.*s\"", s.len == 0 ? "" : end == NULL ? " or " : ", ", n, w);
		w = end == NULL ? NULL : end + 1;
	}
	return s.data;
}

static int
where_of(Oid catalog)
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
where_text(int where)
{
	switch (where)
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
hint_for(const char *name, int where)
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
			int first = d->where & -d->where;

			return psprintf("\"%s\" is an option of a %s.", name, where_text(first));
		}
		if ((d->where & where) == 0)
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
		return psprintf("Options of a %s: %s.", where_text(where), all.data);
	return psprintf("There are no options of a %s.", where_text(where));
}

static void
check_number(const OptionDef *d, const char *value, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (*end == '\0' && end != value && errno == 0 && n > 0 && n <= max)
		return;
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					errmsg(max == PG_INT32_MAX ? "option \"%s\" must be a positive integer: \"%s\""
											   : "option \"%s\" must be a port number: \"%s\"",
						   d->name, value)));
}

static void
check_location_map(const char *value)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "location map", BIFANG_ARENA_MAX_METADATA);
	BfLocationMap *map;
	BfError err;

	bf_error_clear(&err);
	if (bf_location_map_parse(a, value, &map, &err) != BF_OK)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"location_map\": %s", err.text),
				 errhint("Write it as prefix=directory, more of them separated by commas.")));
	bifang_arena_free(a);
}

static void
check_value(const OptionDef *d, const char *value)
{
	bool flag;

	switch (d->type)
	{
		case OPT_TEXT:
			if (value[0] == '\0')
				ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
								errmsg("option \"%s\" must not be empty", d->name)));
			break;
		case OPT_PATH: pfree(bifang_local_path(value, psprintf("option \"%s\"", d->name))); break;
		case OPT_INT: check_number(d, value, PG_INT32_MAX); break;
		case OPT_PORT: check_number(d, value, PG_UINT16_MAX); break;
		case OPT_BOOL:
			if (!parse_bool(value, &flag))
				ereport(ERROR,
						(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						 errmsg("option \"%s\" must be true or false: \"%s\"", d->name, value)));
			break;
		case OPT_INT8: DirectFunctionCall1(int8in, CStringGetDatum(value)); break;
		case OPT_TIME:
			DirectFunctionCall3(timestamptz_in, CStringGetDatum(value),
								ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
			break;
		case OPT_MAP: check_location_map(value); break;
		case OPT_WORD:
			if (word_index(d->words, value) < 0)
				ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
								errmsg("option \"%s\" cannot be \"%s\"", d->name, value),
								errhint("It can be %s.", words_text(d->words))));
			break;
	}
}

static const OptionDef *
find_option(const char *name, int where)
{
	for (int i = 0; i < (int) lengthof(option_defs); i++)
		if ((option_defs[i].where & where) != 0 && strcmp(option_defs[i].name, name) == 0)
			return &option_defs[i];
	return NULL;
}

/* Where and how to find a catalog means nothing without the host. */
static void
check_catalog_options(List *options)
{
	const char *needs_host = NULL;
	ListCell *lc;

	foreach (lc, options)
	{
		const char *name = ((DefElem *) lfirst(lc))->defname;

		if (strcmp(name, "catalog_host") == 0)
			return;
		if (strncmp(name, "catalog_", 8) == 0 && strcmp(name, "catalog_name") != 0)
			needs_host = name;
	}
	if (needs_host != NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("option \"%s\" needs option \"catalog_host\"", needs_host)));
}

static void
check_options(List *options, int where)
{
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *def = lfirst(lc);
		const OptionDef *d = find_option(def->defname, where);

		if (d == NULL)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
							errmsg("invalid option \"%s\"", def->defname),
							errhint("%s", hint_for(def->defname, where))));
		check_value(d, defGetString(def));
		if (OidIsValid(d->role))
			bifang_check_option_role(GetUserId(), d->role, d->name);
	}
	if (where == ON_SERVER)
		check_catalog_options(options);
}

PG_FUNCTION_INFO_V1(bifang_fdw_validator);

Datum
bifang_fdw_validator(PG_FUNCTION_ARGS)
{
	check_options(untransformRelOptions(PG_GETARG_DATUM(0)), where_of(PG_GETARG_OID(1)));
	PG_RETURN_VOID();
}

/* Options that servers have for all their tables, and tables for themselves. */
static void
take_common(BifangOptions *out, const char *name, const char *value)
{
	if (strcmp(name, "format") == 0)
		out->format = (BifangFormat) Max(word_index(format_words, value), 0);
	else if (strcmp(name, "location_map") == 0)
		out->location_map = value;
	else if (strcmp(name, "invalid_text") == 0)
		out->invalid_text = (BifangTextPolicy) Max(word_index(text_words, value), 0);
	else if (strcmp(name, "out_of_range") == 0)
		out->out_of_range = (BifangRangePolicy) Max(word_index(range_words, value), 0);
	else if (strcmp(name, "verify_checksums") == 0)
		parse_bool(value, &out->verify_checksums);
}

void
bifang_import_options_get(List *options, BifangOptions *io)
{
	ListCell *lc;

	check_options(options, ON_IMPORT);
	foreach (lc, options)
	{
		DefElem *def = lfirst(lc);
		const char *value = defGetString(def);

		take_common(io, def->defname, value);
		if (strcmp(def->defname, "location") == 0)
			io->location = bifang_local_path(value, "option \"location\"");
		else if (strcmp(def->defname, "isolation") == 0)
			io->read_committed = strcmp(value, "read_committed") == 0;
	}
}

void
bifang_server_options_get(Oid serverid, BifangOptions *out)
{
	ForeignServer *server = GetForeignServer(serverid);
	ListCell *lc;

	memset(out, 0, sizeof *out);
	out->serverid = serverid;
	out->userid = GetUserId();
	out->read_committed = true;
	out->verify_checksums = true;
	out->catalog_name = server->servername;
	foreach (lc, server->options)
	{
		DefElem *def = lfirst(lc);
		const char *value = defGetString(def);

		take_common(out, def->defname, value);
		if (strcmp(def->defname, "warehouse") == 0)
			out->warehouse = bifang_local_path(value, "option \"warehouse\"");
		else if (strcmp(def->defname, "live_dir") == 0)
			out->live_dir = bifang_local_path(value, "option \"live_dir\"");
		else if (strcmp(def->defname, "catalog_name") == 0)
			out->catalog_name = value;
		else if (strcmp(def->defname, "catalog_host") == 0)
			out->remote_catalog = true;
	}
	out->own_dirs = out->warehouse != NULL || out->live_dir != NULL || out->location_map != NULL;
	if (out->warehouse == NULL)
		out->warehouse = psprintf("%s/" BIFANG_EMBEDDED_WAREHOUSE, DataDir);
	if (out->live_dir == NULL)
		out->live_dir = psprintf("%s/bifang/live/%u", DataDir, MyDatabaseId);
}

void
bifang_options_get(Oid foreigntableid, BifangOptions *out)
{
	ForeignTable *table = GetForeignTable(foreigntableid);
	ListCell *lc;

	bifang_server_options_get(table->serverid, out);
	out->relid = foreigntableid;
	foreach (lc, table->options)
	{
		DefElem *def = lfirst(lc);
		const char *value = defGetString(def);

		take_common(out, def->defname, value);
		if (strcmp(def->defname, "location") == 0)
			out->location = bifang_local_path(value, "option \"location\"");
		else if (strcmp(def->defname, "namespace") == 0)
			out->ns = value;
		else if (strcmp(def->defname, "table") == 0)
			out->table = value;
		else if (strcmp(def->defname, "topic") == 0)
			out->topic = value;
		else if (strcmp(def->defname, "partition_by") == 0)
			out->partition_by = value;
		else if (strcmp(def->defname, "isolation") == 0)
			out->read_committed = strcmp(value, "read_committed") == 0;
		else if (strcmp(def->defname, "as_of_snapshot") == 0)
			out->as_of_snapshot = value;
		else if (strcmp(def->defname, "as_of_timestamp") == 0)
			out->as_of_timestamp = value;
		else if (strcmp(def->defname, "ref") == 0)
			out->ref = value;
		out->own_map |= strcmp(def->defname, "location_map") == 0;
	}
	if ((out->as_of_snapshot != NULL) + (out->as_of_timestamp != NULL) + (out->ref != NULL) > 1)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
						errmsg("foreign table \"%s\" has more than one of the options "
							   "\"as_of_snapshot\", \"as_of_timestamp\" and \"ref\"",
							   get_rel_name(foreigntableid))));
	if (out->location != NULL && (out->ns != NULL || out->table != NULL))
		ereport(
			ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("foreign table \"%s\" has option \"location\" and options that name a table "
					"of the catalog",
					get_rel_name(foreigntableid)),
			 errhint("Drop either \"location\" or \"namespace\" and \"table\".")));
	if (out->format != BIFANG_ICEBERG && out->location == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("foreign table \"%s\" of format \"%s\" needs option \"location\"",
							   get_rel_name(foreigntableid), bifang_format_name(out->format))));
}

void
bifang_column_options_get(Oid foreigntableid, AttrNumber attnum, BifangColumnOptions *out)
{
	ListCell *lc;

	memset(out, 0, sizeof *out);
	foreach (lc, GetForeignColumnOptions(foreigntableid, attnum))
	{
		DefElem *def = lfirst(lc);

		if (strcmp(def->defname, "field_id") == 0)
			out->field_id = (int32) strtol(defGetString(def), NULL, 10);
		else if (strcmp(def->defname, "meta") == 0)
			out->meta = (BifangMeta) (word_index(meta_words, defGetString(def)) + 1);
	}
}

static Oid
server_owner(Oid serverid)
{
	return GetForeignServer(serverid)->owner;
}

static void
check_use(const BifangOptions *o, Oid role)
{
	if ((o->location != NULL || o->own_map) && OidIsValid(o->relid))
		bifang_check_option_role(bifang_relation_owner(o->relid), role, "location");
	if (o->own_dirs)
		bifang_check_option_role(server_owner(o->serverid), role, "warehouse");
	if (o->remote_catalog && o->location == NULL)
		bifang_check_option_role(server_owner(o->serverid), ROLE_PG_READ_SERVER_FILES, "catalog_host");
}

void
bifang_options_check_read(const BifangOptions *o)
{
	check_use(o, ROLE_PG_READ_SERVER_FILES);
}

void
bifang_options_check_write(const BifangOptions *o)
{
	check_use(o, ROLE_PG_WRITE_SERVER_FILES);
}

PG_FUNCTION_INFO_V1(bifang_options);

/* bifang.options(name, applies_to, kind, default, role, description) */
Datum
bifang_options(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < (int) lengthof(option_defs); i++)
	{
		const OptionDef *d = &option_defs[i];
		StringInfoData where;
		Datum values[6];
		bool nulls[6] = {false};

		initStringInfo(&where);
		for (int bit = ON_SERVER; bit <= ON_MAPPING; bit <<= 1)
			if (d->where & bit)
				appendStringInfo(&where, "%s%s", where.len == 0 ? "" : ", ", where_text(bit));
		values[0] = CStringGetTextDatum(d->name);
		values[1] = CStringGetTextDatum(where.data);
		values[2] = CStringGetTextDatum(d->type == OPT_WORD	  ? words_text(d->words)
										: d->type == OPT_PATH ? "path"
										: d->type == OPT_INT  ? "positive integer"
										: d->type == OPT_PORT ? "port number"
										: d->type == OPT_BOOL ? "boolean"
										: d->type == OPT_INT8 ? "bigint"
										: d->type == OPT_TIME ? "timestamptz"
										: d->type == OPT_MAP  ? "prefix=directory, ..."
															  : "text");
		nulls[3] = d->default_text == NULL;
		values[3] = nulls[3] ? (Datum) 0 : CStringGetTextDatum(d->default_text);
		nulls[4] = !OidIsValid(d->role);
		values[4] = nulls[4] ? (Datum) 0
							 : CStringGetTextDatum(d->role == BIFANG_SUPERUSER
													   ? "superuser"
													   : GetUserNameFromId(d->role, false));
		values[5] = CStringGetTextDatum(d->about);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
