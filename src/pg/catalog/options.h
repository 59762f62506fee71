/*
 * pg/catalog/options.h: options of servers, user mappings, foreign tables and columns.
 *
 * One static table in options.c names every option: where it may stand, its type, default, the
 * role that setting (and using) it needs, a sentence. The validator, hints for misspelt names
 * and the SQL function bifang.options() read that table.
 */
#ifndef BIFANG_PG_CATALOG_OPTIONS_H
#define BIFANG_PG_CATALOG_OPTIONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "utils/rel.h"

#include "pg/convert/policy.h"
#include "pg/server/roles.h"

typedef enum BifangFormat
{
	BIFANG_ICEBERG,	 /* default: a table of the catalog, or of a directory by `location` */
	BIFANG_PARQUET,	 /* plain Parquet files: a path or glob */
	BIFANG_KAFKA_LOG /* partition directories of a Kafka broker: a path or glob */
} BifangFormat;

/* Where lake tables are when the server has no option warehouse, below the data directory. Short:
 * PostgreSQL takes a base backup of no file whose path there is longer than 99 bytes, and a table's
 * files have names of up to 68 (create.c). */
#define BIFANG_EMBEDDED_WAREHOUSE "bifang/lake"

typedef struct BifangOptions
{
	Oid relid; /* InvalidOid when only a server's options were asked for */
	Oid serverid;
	BifangFormat format;
	const char *location;	  /* absolute local path; NULL: table of the catalog */
	const char *ns;			  /* option namespace; NULL when not (yet) given */
	const char *table;		  /* option table; NULL when not (yet) given */
	const char *warehouse;	  /* absolute; default <data directory>/bifang/lake */
	const char *live_dir;	  /* absolute; default <data directory>/bifang/live/<database oid> */
	const char *catalog_name; /* default: the server's name */
	bool read_committed;	  /* kafka_log: aborted transactions are not shown (default) */
	const char *topic; /* kafka_log: only this topic of what the location names; NULL = all */
	const char *partition_by; /* for a new lake table: "day(ts), bucket(16, id)"; NULL = none */
	bool own_dirs;			  /* the server names warehouse or live_dir itself */
	bool remote_catalog;	  /* another database has the catalog: see remote_catalog.h */
	Oid userid;				  /* whose user mapping counts there; the current user */
	/* Where in the table's history: at most one; from the table's options, else from settings. */
	const char *as_of_snapshot;	 /* a number */
	const char *as_of_timestamp; /* a timestamptz as text */
	const char *ref;			 /* branch or tag */
	const char *location_map;	 /* recorded prefixes and local directories; NULL = none */
	bool own_map;				 /* the table has the map itself, not its server */
	BifangTextPolicy invalid_text;
	BifangRangePolicy out_of_range;
	bool verify_checksums; /* of Parquet pages (default) */
} BifangOptions;

typedef enum BifangMeta
{
	BIFANG_META_NONE,
	BIFANG_META_LEDGER,
	BIFANG_META_ENTRY,
	BIFANG_META_TIMESTAMP,
	BIFANG_META_TIER,
	BIFANG_META_FILE,
	BIFANG_META_POS,
	BIFANG_META_ROW_ID,	  /* row lineage of Iceberg v3 */
	BIFANG_META_SEQUENCE, /* last_updated_sequence_number */
	BIFANG_META_COUNT
} BifangMeta;

typedef struct BifangColumnOptions
{
	int32 field_id;	 /* 0 = match by name */
	BifangMeta meta; /* not a column of the table but a fact about the row */
} BifangColumnOptions;

/* Palloc'd in the current context. Raises when options contradict each other. */
extern void bifang_options_get(Oid foreigntableid, BifangOptions *out);
extern void bifang_server_options_get(Oid serverid, BifangOptions *out);
extern void
bifang_column_options_get(Oid foreigntableid, AttrNumber attnum, BifangColumnOptions *out);
/* Options of IMPORT FOREIGN SCHEMA, checked, over those of the server in *io. */
extern void bifang_import_options_get(List *options, BifangOptions *io);
extern const char *bifang_format_name(BifangFormat f);

/* The owner of the foreign table (of the server for server options) must still have the role that
 * reading (writing) the files of its explicit location, warehouse or live_dir needs; a table under
 * the default warehouse needs none. Raises 42501. */
extern void bifang_options_check_read(const BifangOptions *o);
extern void bifang_options_check_write(const BifangOptions *o);

#endif
