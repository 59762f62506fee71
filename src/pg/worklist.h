/*
 * pg/worklist.h: what a scan has to read, decided once per statement.
 *
 * Under one snapshot the lake pointer, the ledgers' states and their ends give
 *
 *   Parquet files of `main`
 *   + logical ranges of `bifang` that `main` does not cover    ranges of ledgers, from the offload
 *   + live ranges: [0, end) of every ledger minus the lake      file or the live directory
 *
 * which are disjoint and complete. Ranges of one ledger become one unit, wherever they come from.
 * Making the list reads metadata and directories only, never a data file; planner and EXPLAIN use
 * it too.
 */
#ifndef BIFANG_PG_WORKLIST_H
#define BIFANG_PG_WORKLIST_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "exec/reader.h"
#include "log/rangeset.h"
#include "pg/options.h"

typedef enum BifangTier
{
	BIFANG_TIER_PARQUET,
	BIFANG_TIER_OFFLOAD,
	BIFANG_TIER_LIVE,
	BIFANG_TIER_KAFKA,
	BIFANG_TIER_COUNT
} BifangTier;

typedef struct BifangUnit
{
	BifangTier tier;
	const char *path;	   /* data file, .bfo file, ledger or partition directory */
	int64 ledger_id;	   /* ranges of a ledger; else -1 */
	int32 partition;	   /* KAFKA */
	BfRangeSet ranges;	   /* OFFLOAD, LIVE */
	BfConstants constants; /* PARQUET of a lake table: identity partition values */
	int64 rows;			   /* exact for lake tables, else estimated */
	int64 bytes;
	int64 offset_end; /* KAFKA: end of the log, fixed when first read; -1 = not yet */
} BifangUnit;

typedef struct BifangWorklist
{
	BifangFormat format;
	const BfSchema *schema;	   /* of the lake table; NULL for other formats */
	const char *metadata_path; /* lake table */
	int64 snapshot_id;		   /* -1 = none */
	int64 bifang_snapshot_id;  /* -1 = none */
	int32 n_units;
	BifangUnit *units;
	int64 rows;
	int64 bytes;
	int32 n_of_tier[BIFANG_TIER_COUNT];
	int64 rows_of_tier[BIFANG_TIER_COUNT];
	int64 live_rows; /* rows that the lake does not name yet */
	bool exact;		 /* rows are counted, not estimated */
} BifangWorklist;

extern const char *bifang_tier_name(BifangTier t);

/* Everything lives in cxt. Raises when table or files cannot be found. */
extern BifangWorklist *bifang_worklist(MemoryContext cxt, const BifangOptions *o, Snapshot snap);
/* The current metadata file of a lake table: the catalog's pointer, else the newest of `location`.
 * NULL when the table exists nowhere. Palloc'd. */
extern const char *bifang_metadata_path(const BifangOptions *o, Snapshot snap);

/* Paths that a location names: itself, the *.parquet files of a directory, or what matches a
 * glob; sorted bytewise. Palloc'd strings. Raises when there is none. */
extern List *bifang_expand_location(const char *location, BifangFormat format);
/* Is it the directory of a partition? *topic is palloc'd. */
extern bool bifang_kafka_partition(const char *path, char **topic, int32 *partition);
/* Rows that a Parquet file was seen to have, for later estimates. */
extern void bifang_remember_rows(const char *path, int64 size, int64 rows);

#endif
