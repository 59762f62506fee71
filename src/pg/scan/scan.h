/*
 * pg/scan/scan.h: rows of a foreign table, many at a time.
 *
 * A scan walks over the units of its worklist. Each gives column batches, which are turned into
 * Datums column by column for a whole slice of rows; whoever iterates then copies one row's Datums
 * per call. The worklist is made once, at the first fill, under the snapshot given there; a restart
 * reads the same rows again.
 *
 * With predicates, the worklist is planned at the first fill and again when their values change;
 * rows that are deleted or fail a predicate are left out before they become Datums: the reader of a
 * unit gives those that count (exec/filter/filter.h).
 *
 *   new --restart--> ready --fill--> slice --fill--> ... --fill--> end --restart--> ready
 */
#ifndef BIFANG_PG_SCAN_SCAN_H
#define BIFANG_PG_SCAN_SCAN_H

#include "postgres.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

#include "exec/delete/load.h"
#include "exec/filter/filter.h"
#include "exec/keep/keep.h"
#include "exec/reader.h"
#include "log/segment.h"
#include "parquet/parquet.h"
#include "pg/catalog/options.h"
#include "pg/convert/out.h"
#include "pg/push/pushdown.h"
#include "pg/scan/worklist.h"
#include "scan/next.h"

typedef enum BifangSourceKind
{
	BIFANG_FROM_FIELD, /* a field of the table's schema */
	BIFANG_FROM_NAME,  /* a column that each unit has by name */
	BIFANG_FROM_META   /* BfFact */
} BifangSourceKind;

typedef struct BifangColumn
{
	AttrNumber attnum;
	Oid typid;
	int32 typmod;
	const char *name;
	const char *source; /* the name that is looked for, when there is no id */
	int32 occurrence;	/* among columns of that name */
	int32 field_id;		/* 0 = by name */
	BifangSourceKind kind;
	int32 number;	/* field or BfFact; after binding */
	int32 vector;	/* number of the batch's vector; -1 for META */
	BifangOut *out; /* NULL for META, and before the first unit */
	BfType out_type;
	Datum *values; /* of the current slice */
	bool *isnull;
	bool has_nulls; /* in the current slice; isnull is filled in any case */
	Datum text;		/* META: tier or file of the unit ... */
	int64 text_of;	/* ... with this number */
} BifangColumn;

/* What it took, for EXPLAIN: 64-bit counters only, those of all processes are added up. */
typedef struct BifangCounters
{
	int64 units_read;
	int64 rows_out;
	BfFilterCounters filter;
	BfIoCounters io;
	BfParquetCounters parquet;
	BfLogCounters log;
	BfDeleteCounters deletes;
	BfKeepCounters keep;
} BifangCounters;

/* The columns to fill, and what readers are asked for: one field per vector. */
typedef struct BifangScanColumns
{
	int32 n;
	BifangColumn *list;
	int32 n_vectors;
	int32 *numbers;		/* of fields, by vector */
	const char **names; /* by vector */
	int32 *occurrences; /* likewise */
	bool want_entry;
	bool want_lineage; /* row_id or last_updated_sequence_number */
	bool bound;		   /* columns have been matched with the schema */
} BifangScanColumns;

/* What rows must be like. As long as the values of its parameters stay. */
typedef struct BifangScanPred
{
	BifangPushdown *push; /* NULL = none */
	BfArena *arena;
	const BfPred *tree; /* NULL = all rows; its fields: see scan/work.h */
	uint32 prune;
} BifangScanPred;

/* What the processes of a parallel scan have in common; parallel.c knows more. */
typedef struct BifangShared BifangShared;

/* All processes must have planned the same. */
typedef void (*BifangPlannedFn)(BifangShared *shared, const BifangWorklist *w);

/* Whose turn it is: which unit this process takes next. */
typedef struct BifangScanTurn
{
	BifangShared *shared;	 /* parallel: what all processes have */
	BifangPlannedFn planned; /* parallel: told of each plan */
	BfScanNext *next;		 /* of the two below */
	BfScanAlone alone;
	BfScanShared with_others;
} BifangScanTurn;

/* The unit that is being read, from opening it to its last batch. */
typedef struct BifangScanOpen
{
	MemoryContext cxt; /* reset when the unit is closed */
	BfScanUnit *unit;  /* NULL = none is open */
	BfKept *kept;	   /* what earlier runs of the scan left of it; NULL: nothing is kept */
	BfReader *reader;
	const BfType *types; /* by name: of its vectors */
	int32 lineage_vector;
	const BfBatch *batch;
} BifangScanOpen;

/* Rows of the batch that are Datums. */
typedef struct BifangScanSlice
{
	uint16 *rows;	/* of the batch, where not all count: which do */
	int32 at;		/* of those, the first that is not in a slice yet */
	int32 row;		/* next row of the slice to hand out */
	int32 rows_max; /* of the last one, while they grow; 0: none yet */
	int32 n;
} BifangScanSlice;

typedef struct BifangScan
{
	BifangOptions options;
	const char *relname;
	Oid relid;
	double
		analyzed_rows; /* what ANALYZE found in analyzed_bytes; 0 bytes: nobody has analyzed it */
	double analyzed_bytes;
	MemoryContext cxt;	  /* the scan's; everything below is in it or its children */
	BifangWorklist *work; /* NULL until the first fill */
	bool explain;		  /* only what is known without running anything */
	bool estimate;		  /* only how many rows there are: nothing will be read */
	bool again;			  /* it runs more than once, or is expected to */
	bool planned;		  /* the worklist is planned for the predicate's values as they are */
	BifangScanColumns cols;
	BifangScanPred pred;
	BifangScanTurn turn;
	BifangScanOpen open;
	BifangScanSlice slice;
	BfKeep *keep; /* NULL: nothing is kept */
	BifangCounters count;
} BifangScan;

/* `attrs`: attribute numbers to fill; those of the predicates are among them. `push` may be NULL.
 * `options`: of the table, from who has them already; NULL: they are looked up. Opens nothing. */
extern BifangScan *bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs,
								   BifangPushdown *push, const BifangOptions *options);
/* To the first row again, or for the first time; predicates take their values anew. */
extern void bifang_scan_restart(BifangScan *s);
/* Only every n-th unit is read. For one that reads alone, before anything is read. */
extern void bifang_scan_sample(BifangScan *s, int32 n);
/* Units are shared with other processes, from now on or (all NULL) no more. */
extern void bifang_scan_share(BifangScan *s, BifangShared *shared, BfScanCounter *next,
							  BifangPlannedFn planned);
/* Fills the next slice (n_rows >= 1, row = 0); false at the end. */
extern bool bifang_scan_fill(BifangScan *s, Snapshot snapshot);
/* The worklist, made and planned if it is not. */
extern BifangWorklist *bifang_scan_work(BifangScan *s, Snapshot snapshot);
/* The worklist, pinned but perhaps not planned. */
extern BifangWorklist *bifang_scan_pin(BifangScan *s, Snapshot snapshot);

#endif
