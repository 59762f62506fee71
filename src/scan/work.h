/*
 * scan/work.h: the work list, what a scan has to read as units that can be read apart.
 *
 * A unit is a data file, ranges of a ledger, ranges of a partition of a log, or a piece of one of
 * these. Units of a list are disjoint and together they are all that the scan has to read, so
 * whoever takes the next one (scan/next.h) reads each row once, in one process or in many.
 *
 *   pins (scan/pins.h)        what was decided once: files, ledgers with their ends
 *     + predicate             units that cannot have a row for it are left out, ranges are cut
 *     + how                   as they are, in pieces, or totals alone
 *     = list                  made again when the predicate's values change
 *
 * Facts about rows that are no columns take part in predicates as fields behind the table's own:
 * field number n_fields + BfFact. What is known of them before a unit is opened decides about the
 * whole unit (bf_scan_unit_may_match), or about ranges of it.
 */
#ifndef BF_SCAN_WORK_H
#define BF_SCAN_WORK_H

#include "iceberg/table.h"
#include "scan/facts.h"
#include "scan/pins.h"
#include "vec/pred.h"

/* A form in which a table keeps rows. */
typedef struct BfScanTier
{
	const char *name;  /* the fact's value: "live" */
	const char *units; /* for people: "Live Ledgers" */
	const char *rows;  /* likewise: "Live Rows" */
	bool log;		   /* rows have an entry and a time, and no position in a file */
} BfScanTier;

#define BF_SCAN_TIERS_MAX 4

typedef struct BfScanUnit
{
	int32_t tier;				/* index into the list's tiers */
	const char *path;			/* data file, offload file, ledger or partition directory */
	const BfIceDataFile *file;	/* of a lake table; NULL = none */
	const BfScanSource *source; /* of a table without metadata; NULL = none */
	int64_t ledger_id;			/* -1 = no ledger */
	BfRangeSet ranges;			/* logs: entries or offsets that are read */
	int32_t piece;				/* this one of `pieces` of the file's row groups */
	int32_t pieces;
	int64_t rows;  /* exact, but for deletes, where the list says so; of files for all pieces */
	int64_t bytes; /* of logs estimated; of all pieces */
} BfScanUnit;

typedef struct BfScanTotals
{
	int64_t rows;
	int64_t bytes;
	int32_t n_of_tier[BF_SCAN_TIERS_MAX]; /* units, before they were cut */
	int64_t rows_of_tier[BF_SCAN_TIERS_MAX];
	int64_t bytes_of_tier[BF_SCAN_TIERS_MAX];
	int64_t live_rows; /* that the lake does not name yet, before any predicate */
	int32_t pruned;	   /* units that the predicate on facts left out */
	int64_t counted;   /* files that are part of the totals but no units (BF_SCAN_ESTIMATE) */
	int64_t counted_bytes;
	bool exact; /* rows are counted, not estimated */
} BfScanTotals;

typedef enum BfScanHow
{
	BF_SCAN_UNITS,
	BF_SCAN_CUT,	 /* into pieces for several processes or threads */
	BF_SCAN_ESTIMATE /* totals; files of a lake table may be counted only */
} BfScanHow;

/* What is known of a field of the table in all rows of a unit, as a BfStatsOf says it. */
typedef bool (*BfScanFieldStats)(const BfScanUnit *u, int32_t field, BfColumnStats *stats);

typedef struct BfScanList
{
	/* Given when planning begins; borrowed. */
	const BfScanTier *tiers;
	int32_t n_fields;			  /* of the table, in a predicate; facts come behind */
	BfScanFieldStats field_stats; /* NULL = nothing is known before units are opened */
	const BfPred *pred;			  /* NULL = all rows */
	BfScanHow how;
	BfArena *arena;
	/* Planned. */
	int32_t n_units;
	int32_t room;
	BfScanUnit *units; /* those that are added move the others */
	BfScanTotals totals;
} BfScanList;

/* ---- planning ---- */

/* Tiers of the plans below, by number; behind them one without a name. */
typedef enum BfScanLakeTier
{
	BF_SCAN_PARQUET,
	BF_SCAN_OFFLOAD,
	BF_SCAN_LIVE,
	BF_SCAN_LAKE_TIERS
} BfScanLakeTier;

extern const BfScanTier bf_scan_lake_tiers[BF_SCAN_LAKE_TIERS + 1];
extern const BfScanTier bf_scan_file_tiers[2];
extern const BfScanTier bf_scan_kafka_tiers[2];

/* A lake table: the data files of `plan`, and of each ledger what its logical files name and
 * Parquet does not cover, with what is live. A ledger of the pins is one unit, wherever its bytes
 * are. BF_ERR_CORRUPT when entries are to be read of a ledger whose bytes are gone. *unknown: a
 * ledger that the plan has logical files of and the pins don't know, so that its rows would be
 * missing in the result, and the list is of no use; -1 = none. */
extern BfStatus bf_scan_plan_lake(BfScanList *l, const BfScanPins *pins, const BfIcePlan *plan,
								  int64_t *unknown, BfError *err) BF_MUST_CHECK;
/* Files without metadata, a unit each. `row_groups`: they can be cut by row groups. */
extern BfStatus bf_scan_plan_files(BfScanList *l, const BfScanPins *pins, bool row_groups,
								   BfError *err) BF_MUST_CHECK;
/* Partitions of a log in Kafka's columns (exec/read/kafka_columns.h). */
extern BfStatus
bf_scan_plan_partitions(BfScanList *l, const BfScanPins *pins, BfError *err) BF_MUST_CHECK;
/* Of a unit of bf_scan_plan_partitions. */
extern bool bf_scan_partition_stats(const BfScanUnit *u, int32_t field, BfColumnStats *stats);

/* ---- a plan's parts ---- */

/* Room for that many units at least, when it is known beforehand. */
extern BfStatus bf_scan_list_reserve(BfScanList *l, int64_t n, BfError *err) BF_MUST_CHECK;
/* A new last unit of the tier, whole and of no ledger. *out is valid until the next one comes. */
extern BfStatus bf_scan_unit_add(BfScanList *l, int32_t tier, const char *path, BfScanUnit **out,
								 BfError *err) BF_MUST_CHECK;
/* The last unit, once it is complete: counted and kept, or taken back when no row of it can match.
 */
extern bool bf_scan_unit_keep(BfScanList *l);
/* The last unit has no rows that count. */
extern void bf_scan_unit_drop(BfScanList *l);
/* Into the totals: `n` units that have so many rows and bytes together. */
extern void bf_scan_list_count(BfScanList *l, int32_t tier, int64_t n, int64_t rows, int64_t bytes);
/* The last unit becomes pieces, as its bytes say; nothing happens unless the list is to be cut. */
extern BfStatus bf_scan_unit_cut_file(BfScanList *l, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_scan_unit_cut_ranges(BfScanList *l, BfError *err) BF_MUST_CHECK;
/* Does the predicate say anything of facts? */
extern BfStatus bf_scan_asks_for_facts(const BfScanList *l, bool *out, BfError *err) BF_MUST_CHECK;

/* ---- asking ---- */

static inline int32_t
bf_scan_fact_field(const BfScanList *l, BfFact fact)
{
	return l->n_fields + (int32_t) fact;
}

/* By what is known before it is opened. */
extern bool bf_scan_unit_may_match(const BfScanList *l, const BfScanUnit *u);
/* scan/pred.h for the list's predicate and the rows of this unit; without a predicate all. */
extern BfStatus bf_scan_unit_ranges(const BfScanList *l, const BfScanUnit *u, int32_t field,
									BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern bool bf_scan_unit_hull(const BfScanList *l, const BfScanUnit *u, int32_t field, int64_t *low,
							  int64_t *high);
/* Into how many pieces all units would be cut. */
extern int64_t bf_scan_list_pieces(const BfScanList *l);
/* What tells lists apart: those who share one by numbers must have made the same. Never 0. */
extern uint64_t bf_scan_list_fingerprint(const BfScanList *l);

#endif
