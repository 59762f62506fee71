/*
 * pg/catalog/catalog.h: the extension's own tables, read and written without SPI.
 *
 * Every read takes the snapshot that decides what is visible, so that pointer, ledgers and ends of
 * one statement belong together. Writes go through heap and index code directly: the caller's right
 * to do what it does was checked on the foreign table, nobody needs rights on the catalog tables.
 *
 *   bifang.iceberg_tables   where the lake pointer of a table stands (Iceberg SQL catalog, V1)
 *   bifang.ledger           one row per ledger
 *   bifang.append           insert-only; a ledger's visible end is the maximum under the snapshot
 *   bifang.garbage          files to remove once nobody can see what named them
 *   bifang.job              what commit, roll and offload did
 */
#ifndef BIFANG_PG_CATALOG_CATALOG_H
#define BIFANG_PG_CATALOG_CATALOG_H

#include "postgres.h"

#include "access/transam.h"
#include "nodes/pg_list.h"
#include "utils/snapshot.h"

#include "log/writer.h"
#include "pg/catalog/options.h"

/* What maintenance looks at: the transaction's snapshot where it has one for all statements, else
 * the newest. */
extern Snapshot bifang_work_snapshot(void);

typedef struct BifangLakeTable
{
	const char *catalog;
	const char *ns;
	const char *name;
	const char *metadata_location; /* local path of the current metadata file */
} BifangLakeTable;

/* The table that namespace and table of the options name; false = the catalog has none (*out is
 * then filled but for metadata_location, which is NULL). Results are palloc'd. A catalog of another
 * database raises instead of false. */
extern bool bifang_catalog_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out);

/* Visits every table of every catalog as of now, until `visit` returns false. */
typedef bool (*BifangTableVisit)(void *arg, const BifangLakeTable *row);
extern void bifang_catalog_visit_tables(BifangTableVisit visit, void *arg);

/* Is this metadata file the current one of a table of this database? A copy of a table's directory
 * and its older metadata files have the same uuid, but not its log. */
extern bool bifang_catalog_points_to(const char *metadata_path, Snapshot snap);
/* A new row; a unique violation says "already exists". */
extern void bifang_catalog_insert_table(const BifangLakeTable *t);

/* Moves the pointer from t->metadata_location to new_location. False when it stands elsewhere by
 * now; an error with SQLSTATE 40001 when that is so and the isolation level forbids to look again.
 */
extern bool bifang_catalog_move_pointer(const BifangLakeTable *t, const char *new_location);
/* False when the pointer stands elsewhere by now. */
extern bool bifang_catalog_delete_table(const BifangLakeTable *t);
/* Raises when a name does not fit the catalog's columns. */
extern void bifang_catalog_check_names(const BifangLakeTable *t);
#define BIFANG_LOCATION_MAX 1000 /* bytes of iceberg_tables.metadata_location */

#define BIFANG_LEDGER_OPEN 'o'
#define BIFANG_LEDGER_CLOSED 'c'
#define BIFANG_LEDGER_OFFLOADED 'f'
#define BIFANG_LEDGER_TRIMMED 't'

typedef struct BifangLedger
{
	int64 id;
	char state;
	int32 schema_id;
	const char *ns; /* name of the table when the ledger was made */
	const char *table;
	const char *live_dir;	  /* the ledger's own directory */
	const char *offload_path; /* NULL unless offloaded */
	const char *origin;		  /* database that may write it: "<system identifier>/<database oid>" */
	int64 end_entry;		  /* visible end: entries 0 .. end_entry-1 count */
	int64 end_segment;		  /* base entry of the segment that holds the end */
	int64 end_position;		  /* byte position in that segment */
} BifangLedger;

/* Called before the ledgers of a table are read: rows that a running statement of this backend has
 * buffered are written out (they stay invisible to that statement itself, but must be seen by a
 * function that it calls). Set by those who buffer rows. */
extern void (*bifang_catalog_before_ledgers)(const char *table_uuid);
/* All ledgers of a table in ascending id, as List of BifangLedger *, palloc'd. */
extern List *bifang_catalog_ledgers(const char *table_uuid, Snapshot snap);
/* The open ones alone, without their ends: a table may have many ledgers, few of them open. */
extern List *bifang_catalog_open_ledgers(const char *table_uuid, Snapshot snap);
/* One ledger; NULL when not visible. */
extern BifangLedger *bifang_catalog_ledger(int64 ledger_id, Snapshot snap);

extern int64 bifang_catalog_new_ledger_id(void);
/* Ids up to and including `id` are not given out any more. */
extern void bifang_catalog_reserve_ledger_ids(int64 id);
extern void
bifang_catalog_insert_ledger(const char *table_uuid, const BifangLedger *l, CommandId cid);
/* Changes state, offload path and times of the ledger row. 40001 when the transaction's snapshot
 * does not show its newest version. */
extern void bifang_catalog_update_ledger(const BifangLedger *l);
extern void bifang_catalog_delete_ledger(int64 ledger_id);
/* Acknowledges entries up to `end`, visible to commands after `cid`. */
extern void bifang_catalog_insert_append(int64 ledger_id, BfLedgerEnd end, CommandId cid);
/* Deletes the append rows below keep_end, which itself must be visible under the snapshot. */
extern int64 bifang_catalog_prune_appends(int64 ledger_id, int64 keep_end, Snapshot snap);

/* "<system identifier>/<database oid>" of this database. */
extern const char *bifang_catalog_origin(void);

/* Queues a path for removal once the current transaction is older than every snapshot. */
extern void bifang_catalog_insert_garbage(const char *path, bool is_dir, const char *reason);
/* A path that nothing names, with all below it when it is a directory. */
typedef struct BifangGarbage
{
	char *path;
	bool is_dir;
} BifangGarbage;
/* Deletes the queue's rows of transactions before `horizon`; a list of BifangGarbage *, palloc'd.
 * The paths may go once the deletion is durable up to here, and with it what queued them. */
extern List *bifang_catalog_take_garbage(FullTransactionId horizon, Snapshot snap);
extern bool bifang_catalog_is_queued(const char *path, Snapshot snap);

typedef struct BifangJob
{
	const char *kind; /* "commit", "roll", "offload", ... */
	const char *table_uuid;
	const char *ns;
	const char *table;
	int64 started_at; /* TimestampTz */
	int64 rows;
	int64 files;
	int64 bytes;
	int64 snapshot_id; /* -1 = none */
} BifangJob;

extern void bifang_catalog_insert_job(const BifangJob *job);

#endif
