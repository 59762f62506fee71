/*
 * pg/scan/worklist.h: what a scan has to read, decided once per statement.
 *
 * Under one snapshot the lake pointer, the ledgers' states and their ends give
 *
 *   Parquet files of `main`
 *   + logical ranges of `bifang` that `main` does not cover    ranges of ledgers, from the offload
 *   + live ranges: [0, end) of every ledger minus the lake      file or the live directory
 *
 * which are disjoint and complete. Ranges of one ledger become one unit, wherever they come from.
 * The list is made in two steps. Opening it pins what the scan's snapshot decides: the metadata
 * file, the point in the table's history, ledgers with their ends, files of plain tables. Planning
 * turns that into units that may have rows for a predicate, again whenever the predicate changes.
 * Both read metadata and directories only, never a data file; planner and EXPLAIN use them too.
 *
 * For parallel scans units are cut into pieces: every process plans the same list out of what the
 * leader pinned, and takes the next piece from a shared counter.
 */
#ifndef BIFANG_PG_SCAN_WORKLIST_H
#define BIFANG_PG_SCAN_WORKLIST_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "iceberg/table.h"
#include "pg/catalog/options.h"
#include "vec/pred.h"

typedef enum BifangTier
{
	BIFANG_TIER_PARQUET,
	BIFANG_TIER_OFFLOAD,
	BIFANG_TIER_LIVE,
	BIFANG_TIER_KAFKA,
	BIFANG_TIER_COUNT
} BifangTier;

/* A file or partition directory of a table without metadata. */
typedef struct BifangFile
{
	const char *path;
	int64 bytes;
	int64 rows;			/* estimated */
	int32 partition;	/* KAFKA */
	int64 offset_start; /* KAFKA: of the first segment */
	int64 offset_end;	/* KAFKA: end of what is read, fixed when first read; -1 = not yet */
} BifangFile;

typedef struct BifangUnit
{
	BifangTier tier;
	const char *path;		   /* data file, .bfo file, ledger or partition directory */
	const BfIceDataFile *file; /* PARQUET of a lake table, Avro too */
	BifangFile *plain;		   /* PARQUET and KAFKA without metadata */
	int64 ledger_id;		   /* ranges of a ledger; else -1 */
	BfRangeSet ranges;		   /* OFFLOAD, LIVE: entries; KAFKA: offsets */
	bool none_open_before;	   /* KAFKA: see BfKafkaRange */
	int32 piece;			   /* PARQUET: this one of `pieces` of the file's row groups */
	int32 pieces;
	int64 rows;	 /* exact for lake tables but for deletes, else estimated; of all pieces */
	int64 bytes; /* of ledgers estimated */
} BifangUnit;

typedef struct BifangWorklist
{
	BifangFormat format;
	MemoryContext cxt;
	Snapshot snap; /* under which it was pinned, while its query runs; NULL in parallel workers */
	/* Pinned. */
	const char *metadata_path; /* lake table */
	const BfIceTable *table;
	BfIcePoint point;
	const BfSchema *schema; /* of the point and other times; NULL for other formats */
	bool current;			/* rows that the lake does not have yet belong to it */
	List *ledgers;			/* of BifangLedger * */
	int32 n_files;
	BifangFile *files; /* other formats */
	BfView given; /* the plan that another process made for the first planning; ptr NULL = none */
	/* Planned; in a context of its own. */
	MemoryContext plan_cxt;
	const BfIcePlan *plan; /* lake table */
	int32 n_units;
	BifangUnit *units;
	int64 rows;
	int64 bytes;
	int32 n_of_tier[BIFANG_TIER_COUNT];
	int64 rows_of_tier[BIFANG_TIER_COUNT];
	int64 live_rows;	/* rows that the lake does not name yet */
	int32 units_pruned; /* that the predicate on facts about rows leaves out */
	bool exact;			/* rows are counted, not estimated */
} BifangWorklist;

extern const char *bifang_tier_name(BifangTier t);

/* Numbers that a predicate has for facts about rows that are no columns: `fields` of the table or
 * file (0 for Kafka: BF_KAFKA_COLUMNS), then BifangMeta. */
#define BIFANG_META_FIELD(fields, meta) ((fields) + (int32) (meta))
/* Their types. */
extern BfType bifang_meta_type(BifangMeta meta);

/* Pins; lives in cxt. Raises when table or files cannot be found. */
extern BifangWorklist *
bifang_worklist_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap);
/* Loads the metadata file w->metadata_path and resolves the point: a part of opening. */
extern void bifang_worklist_set_table(BifangWorklist *w, const BifangOptions *o);
typedef enum BifangPlanHow
{
	BIFANG_PLAN_UNITS,
	BIFANG_PLAN_CUT,	 /* into pieces for several processes */
	BIFANG_PLAN_ESTIMATE /* totals only: n_units counts more units than there are in `units` */
} BifangPlanHow;

/* Plans: units that may have rows for `pred` (over the schema's fields and facts; NULL = all rows).
 * `prune`: BF_PRUNE_*. Units of an earlier plan are gone. */
extern void
bifang_worklist_plan(BifangWorklist *w, const BfPred *pred, uint32 prune, BifangPlanHow how);
/* Into how many pieces the units would be cut. */
extern int64 bifang_worklist_pieces(const BifangWorklist *w);
/* Both, for all rows. */
extern BifangWorklist *bifang_worklist(MemoryContext cxt, const BifangOptions *o, Snapshot snap);
/* What the predicate says of a field that counts (bifang_pred_ranges, bifang_pred_hull), in the
 * rows of this unit. */
extern void bifang_unit_ranges(const BifangWorklist *w, const BifangUnit *u, BfArena *a,
							   const BfPred *pred, int32 field, BfRangeSet *out);
extern bool bifang_unit_hull(const BifangWorklist *w, const BifangUnit *u, const BfPred *pred,
							 int32 field, int64 *low, int64 *high);
/* The predicate without what it says of facts; NULL when nothing is left. In `a`. */
extern const BfPred *bifang_pred_of_fields(BfArena *a, const BfPred *pred, int32 n_fields);
/* The current metadata file of a lake table: the catalog's pointer, else the newest of `location`.
 * NULL when the table exists nowhere. Palloc'd. */
extern const char *bifang_metadata_path(const BifangOptions *o, Snapshot snap);

/* Paths that a location names: itself, the *.parquet files of a directory, or what matches a
 * glob; sorted bytewise. Palloc'd strings. Raises when there is none. */
extern List *bifang_expand_location(const char *location, BifangFormat format);
/* The same once per snapshot (pins.h). */
extern List *bifang_pinned_location(const char *location, BifangFormat format, Snapshot snap);
/* Is it the directory of a partition? *topic is palloc'd. */
extern bool bifang_kafka_partition(const char *path, char **topic, int32 *partition);
/* Rows that a Parquet file was seen to have, for later estimates. */
extern void bifang_remember_rows(const char *path, int64 size, int64 rows);

#endif
