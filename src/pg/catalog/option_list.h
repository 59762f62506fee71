/*
 * pg/catalog/option_list.h: the options, one row each, and the structs that the rows make.
 *
 *   X(member, name, type, where it may stand, default, who may set it, which tables, help)
 *
 * A row makes a member of a struct and an entry of the table in option_table.c, so there is no
 * member without a row, no row that goes nowhere and none of another C type than its value. Adding
 * an option is adding a row; adding a type is a BIFANG_TYPE_... here and a type_... in
 * option_table.c.
 *
 *   default   VALUE("true") is what the member has when the option is not given; TOLD("...") only
 *             says what is done then
 *   tables    LAKES, LOGS, FILES, PARQUET: those whose format (formats.h) says that they are such
 * make use of it, and on no others it may be set; ALL
 */
#ifndef BIFANG_PG_CATALOG_OPTION_LIST_H
#define BIFANG_PG_CATALOG_OPTION_LIST_H

#include "postgres.h"

#include "pg/catalog/formats.h"
#include "pg/convert/policy.h"
#include "scan/facts.h"

typedef enum BifangIsolation
{
	BIFANG_READ_COMMITTED, /* default */
	BIFANG_READ_UNCOMMITTED
} BifangIsolation;

typedef enum BifangLagAction
{
	BIFANG_LAG_AS_SET, /* the setting says */
	BIFANG_LAG_WARN,
	BIFANG_LAG_WAIT,
	BIFANG_LAG_ERROR
} BifangLagAction;

/* Where lake tables are when the server has no option warehouse, below the data directory. Short:
 * PostgreSQL takes a base backup of no file whose path there is longer than 99 bytes, and a table's
 * files have names of up to 68 (create.c). */
#define BIFANG_EMBEDDED_WAREHOUSE "bifang/lake"

/* Types of options, as C types. Pointers are NULL where there is neither option nor default. */
#define BIFANG_TYPE_TEXT const char * /* not empty */
#define BIFANG_TYPE_ANY const char *  /* any text, also an empty one */
#define BIFANG_TYPE_PATH const char * /* absolute and local; file:// is allowed and gone here */
#define BIFANG_TYPE_INT int32		  /* positive */
#define BIFANG_TYPE_PORT const char * /* 1 to 65535, as text */
#define BIFANG_TYPE_BOOL bool
#define BIFANG_TYPE_INT8 const char *	 /* a bigint, as text */
#define BIFANG_TYPE_TIME const char *	 /* a timestamptz, as text */
#define BIFANG_TYPE_MAP const char *	 /* prefixes and directories */
#define BIFANG_TYPE_SSLMODE const char * /* a word of libpq's */
/* One of some words each. */
#define BIFANG_TYPE_FORMAT const BifangFormat *
#define BIFANG_TYPE_ISOLATION BifangIsolation
#define BIFANG_TYPE_LAG_ACTION BifangLagAction
#define BIFANG_TYPE_TEXT_POLICY BifangTextPolicy
#define BIFANG_TYPE_RANGE_POLICY BifangRangePolicy
#define BIFANG_TYPE_META BfFact

/* clang-format off */

/* What the table is and where. */
#define BIFANG_PLACE_OPTIONS(X) \
	X(format, "format", FORMAT, ON_SERVER | ON_TABLE | ON_IMPORT, \
	  VALUE("iceberg"), ANYONE, ALL, \
	  "what the table is: {formats}; on a server the default for its tables") \
	X(location, "location", PATH, ON_TABLE | ON_IMPORT, \
	  NO_DEFAULT, READERS, ALL, \
	  "{locations}") \
	X(ns, "namespace", TEXT, ON_TABLE, \
	  TOLD("the schema's name at creation"), ANYONE, LAKES, \
	  "namespace of the lake table in the server's catalog") \
	X(table, "table", TEXT, ON_TABLE, \
	  TOLD("the relation's name at creation"), ANYONE, LAKES, \
	  "name of the lake table in the server's catalog")

/* What of a log counts. */
#define BIFANG_LOG_OPTIONS(X) \
	X(topic, "topic", TEXT, ON_TABLE, \
	  NO_DEFAULT, ANYONE, LOGS, \
	  "the topic whose partitions are read, where the location names those of several") \
	X(isolation, "isolation", ISOLATION, ON_TABLE | ON_IMPORT, \
	  VALUE("read_committed"), ANYONE, LOGS, \
	  "whether records of aborted and open transactions are shown")

/* How a new lake table is written. */
#define BIFANG_WRITE_OPTIONS(X) \
	X(partition_by, "partition_by", TEXT, ON_TABLE, \
	  NO_DEFAULT, ANYONE, LAKES, \
	  "how a lake table made by CREATE FOREIGN TABLE is partitioned: 'day(ts), bucket(16, " \
	  "user_id)'; used at creation only")

/* What background workers do for a lake table. */
#define BIFANG_WORKER_OPTIONS(X) \
	X(worker, "worker", BOOL, ON_SERVER | ON_TABLE, \
	  VALUE("true"), ANYONE, LAKES, \
	  "whether background workers look after the table") \
	X(settle_age, "settle_age", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.worker_settle_age"), ANYONE, LAKES, \
	  "seconds after which rows of small transactions go from bifang.tail to files") \
	X(roll_age, "roll_age", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.worker_roll_age"), ANYONE, LAKES, \
	  "seconds after which open ledgers are closed, and offloaded") \
	X(commit_age, "commit_age", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.worker_commit_age"), ANYONE, LAKES, \
	  "seconds after which rows are committed to the lake") \
	X(optimize_age, "optimize_age", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.worker_optimize_age"), ANYONE, LAKES, \
	  "seconds after which committed rows become Parquet")

/* How far the lake may be behind, and what INSERT does then. */
#define BIFANG_LAG_OPTIONS(X) \
	X(lag_rows_max, "lag_rows_max", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.lag_rows_max"), ANYONE, LAKES, \
	  "rows that may not be in the lake yet") \
	X(lag_size_max, "lag_size_max", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.lag_size_max"), ANYONE, LAKES, \
	  "megabytes that may not be in the lake yet") \
	X(lag_age_max, "lag_age_max", INT, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.lag_age_max"), ANYONE, LAKES, \
	  "seconds after which rows have to be in the lake") \
	X(lag_action, "lag_action", LAG_ACTION, ON_SERVER | ON_TABLE, \
	  TOLD("setting bifang.lag_action"), ANYONE, LAKES, \
	  "what INSERT does where the lake is further behind: warns, waits until it is not, or fails")

/* Where in the table's history: at most one of the first three; without them, settings say if they
 * may. */
#define BIFANG_HISTORY_OPTIONS(X) \
	X(as_of_snapshot, "as_of_snapshot", INT8, ON_TABLE, \
	  NO_DEFAULT, ANYONE, LAKES, \
	  "the snapshot that is read, by number; such a table cannot be written") \
	X(as_of_timestamp, "as_of_timestamp", TIME, ON_TABLE, \
	  NO_DEFAULT, ANYONE, LAKES, \
	  "the table is read as the lake had it then; such a table cannot be written") \
	X(ref, "ref", TEXT, ON_TABLE, \
	  NO_DEFAULT, ANYONE, LAKES, \
	  "the branch or tag that is read; such a table cannot be written") \
	X(time_travel, "time_travel", BOOL, ON_SERVER | ON_TABLE, \
	  VALUE("true"), ANYONE, LAKES, \
	  "whether the settings bifang.as_of_snapshot, bifang.as_of_timestamp and bifang.ref of " \
	  "whoever reads say what is read; off: what stands there is read, whoever asks")

/* What becomes of what was recorded: paths, values, bytes. */
#define BIFANG_VALUE_OPTIONS(X) \
	X(location_map, "location_map", MAP, ON_SERVER | ON_TABLE | ON_IMPORT, \
	  NO_DEFAULT, READERS, LAKES, \
	  "where files are that the metadata names: 'hdfs://nn:8020/wh=/data/wh,s3://b/x=/mnt/x'") \
	X(invalid_text, "invalid_text", TEXT_POLICY, ON_SERVER | ON_TABLE, \
	  VALUE("error"), ANYONE, ALL, \
	  "text that the database cannot hold: an error, U+FFFD for what is wrong, or NULL") \
	X(out_of_range, "out_of_range", RANGE_POLICY, ON_SERVER | ON_TABLE, \
	  VALUE("error"), ANYONE, ALL, \
	  "numbers, dates and times that the declared type cannot hold: an error or NULL") \
	X(verify_checksums, "verify_checksums", BOOL, ON_SERVER | ON_TABLE, \
	  VALUE("true"), ANYONE, PARQUET, \
	  "whether checksums of Parquet pages are looked at, where the writer stored them, and " \
	  "whether files have the rows that their manifest entries say")

/* Where the server keeps its tables. */
#define BIFANG_SERVER_OPTIONS(X) \
	X(warehouse, "warehouse", PATH, ON_SERVER, \
	  TOLD(BIFANG_EMBEDDED_WAREHOUSE " in the data directory"), READERS, ALL, \
	  "directory under which the catalog's tables live") \
	X(live_dir, "live_dir", PATH, ON_SERVER, \
	  TOLD("bifang/live/<database oid> in the data directory"), READERS, ALL, \
	  "directory of live ledgers") \
	X(catalog_name, "catalog_name", TEXT, ON_SERVER, \
	  TOLD("the server's name"), ANYONE, ALL, \
	  "name under which the catalog table knows the server's tables")

/* Where another database has the server's catalog. All of it needs the host. */
#define BIFANG_REMOTE_OPTIONS(X) \
	X(catalog_host, "catalog_host", TEXT, ON_SERVER, \
	  NO_DEFAULT, READERS, ALL, \
	  "host, address or socket directory of another PostgreSQL server that holds the catalog; " \
	  "its tables are read-only here") \
	X(catalog_port, "catalog_port", PORT, ON_SERVER, \
	  TOLD("5432"), ANYONE, ALL, \
	  "port of catalog_host") \
	X(catalog_dbname, "catalog_dbname", TEXT, ON_SERVER, \
	  TOLD("the remote user's name"), ANYONE, ALL, \
	  "database of catalog_host that has the table iceberg_tables") \
	X(catalog_schema, "catalog_schema", TEXT, ON_SERVER, \
	  TOLD("the search_path there"), ANYONE, ALL, \
	  "schema of the table iceberg_tables") \
	X(catalog_sslmode, "catalog_sslmode", SSLMODE, ON_SERVER, \
	  TOLD("prefer"), ANYONE, ALL, \
	  "how the connection to catalog_host is secured, as libpq's sslmode") \
	X(catalog_sslrootcert, "catalog_sslrootcert", PATH, ON_SERVER, \
	  NO_DEFAULT, READERS, ALL, \
	  "file with certificates that catalog_host's must be signed by") \
	X(catalog_timeout, "catalog_timeout", INT, ON_SERVER, \
	  VALUE("10"), ANYONE, ALL, \
	  "seconds to wait for a connection to catalog_host, and for each answer")

/* Who asks it. */
#define BIFANG_LOGIN_OPTIONS(X) \
	X(user, "user", TEXT, ON_MAPPING, \
	  NO_DEFAULT, ANYONE, ALL, \
	  "user to connect as to catalog_host") \
	X(password, "password", TEXT, ON_MAPPING, \
	  NO_DEFAULT, ANYONE, ALL, \
	  "the user's password") \
	X(password_required, "password_required", BOOL, ON_MAPPING, \
	  VALUE("true"), SUPERUSERS, ALL, \
	  "whether a role that is no superuser must connect with a password") \
	X(sslcert, "sslcert", PATH, ON_MAPPING, \
	  NO_DEFAULT, SUPERUSERS, ALL, \
	  "file with a client certificate") \
	X(sslkey, "sslkey", PATH, ON_MAPPING, \
	  NO_DEFAULT, SUPERUSERS, ALL, \
	  "file with the certificate's key")

/* What a column is. */
#define BIFANG_COLUMN_OPTIONS(X) \
	X(field_id, "field_id", INT, ON_COLUMN, \
	  NO_DEFAULT, ANYONE, LAKES, \
	  "the column's field id in the lake table; without it the name decides") \
	X(column_name, "column_name", ANY, ON_COLUMN, \
	  TOLD("the column's name in SQL"), ANYONE, ALL, \
	  "the column's name in what is read, where SQL cannot have it or has another one") \
	X(occurrence, "occurrence", INT, ON_COLUMN, \
	  VALUE("1"), ANYONE, FILES, \
	  "which one it is of several columns of that name in a file, counted from 1") \
	X(meta, "meta", META, ON_COLUMN, \
	  NO_DEFAULT, ANYONE, ALL, \
	  "the column is no column of the table but tells where a row came from")

/* Options of tables, by subject. */
#define BIFANG_TABLE_OPTION_PARTS(PART) \
	PART(BIFANG_PLACE_OPTIONS) \
	PART(BIFANG_LOG_OPTIONS) \
	PART(BIFANG_WRITE_OPTIONS) \
	PART(BIFANG_WORKER_OPTIONS) \
	PART(BIFANG_LAG_OPTIONS) \
	PART(BIFANG_HISTORY_OPTIONS) \
	PART(BIFANG_VALUE_OPTIONS) \
	PART(BIFANG_SERVER_OPTIONS) \
	PART(BIFANG_REMOTE_OPTIONS)

/* clang-format on */

#define BIFANG_OPTION_MEMBER(member, name, type, ...) BIFANG_TYPE_##type member;
#define BIFANG_OPTION_PART(list)   \
	struct                         \
	{                              \
		list(BIFANG_OPTION_MEMBER) \
	};

/* Options of a foreign table and of its server, or of a server alone. */
typedef struct BifangOptions
{
	/* What no row says. */
	Oid relid; /* InvalidOid when only a server's options were asked for */
	Oid serverid;
	Oid userid;			 /* whose user mapping counts; the current user */
	bool names_catalog;	 /* the server has option catalog_name */
	bool own_dirs;		 /* the server names directories itself */
	bool own_map;		 /* the table has a location map itself, not its server */
	bool remote_catalog; /* another database has the catalog: see remote.h */
	BIFANG_TABLE_OPTION_PARTS(BIFANG_OPTION_PART)
} BifangOptions;

/* Options of a user mapping. */
typedef struct BifangLoginOptions
{
	BIFANG_LOGIN_OPTIONS(BIFANG_OPTION_MEMBER)
} BifangLoginOptions;

/* Options of a column; field_id 0 = match by name. */
typedef struct BifangColumnOptions
{
	BIFANG_COLUMN_OPTIONS(BIFANG_OPTION_MEMBER)
} BifangColumnOptions;

#endif
