/*
 * pg/scan.h: rows of a foreign table, many at a time.
 *
 * A scan walks over the units of its worklist. Each gives column batches, which are turned into
 * Datums column by column for a whole slice of rows; whoever iterates then copies one row's Datums
 * per call. The worklist is made once, at the first fill, under the snapshot given there; a restart
 * reads the same rows again.
 *
 *   new --restart--> ready --fill--> slice --fill--> ... --fill--> end --restart--> ready
 */
#ifndef BIFANG_PG_SCAN_H
#define BIFANG_PG_SCAN_H

#include "postgres.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

#include "log/segment.h"
#include "parquet/parquet.h"
#include "pg/convert_out.h"
#include "pg/options.h"
#include "pg/search.h"
#include "pg/worklist.h"

typedef enum BifangSourceKind
{
	BIFANG_FROM_FIELD, /* a field of the lake table's schema */
	BIFANG_FROM_NAME,  /* a column of plain Parquet files, by name */
	BIFANG_FROM_KAFKA, /* BfKafkaColumn */
	BIFANG_FROM_META   /* BifangMeta */
} BifangSourceKind;

typedef struct BifangColumn
{
	AttrNumber attnum;
	Oid typid;
	int32 typmod;
	const char *name;
	int32 field_id; /* 0 = by name */
	BifangSourceKind kind;
	int32 number;	/* field, BfKafkaColumn or BifangMeta; after binding */
	int32 vector;	/* number of the batch's vector; -1 for META */
	BifangOut *out; /* NULL for META, and before the first unit */
	BfType out_type;
	Datum *values; /* of the current slice */
	bool *isnull;
	bool has_nulls; /* in the current slice; isnull is filled in any case */
	Datum text;		/* META: tier or file of the unit ... */
	int64 text_of;	/* ... with this number */
} BifangColumn;

typedef struct BifangScan
{
	BifangOptions options;
	const char *relname;
	Oid relid;
	MemoryContext cxt;		/* the scan's; everything below is in it or its children */
	MemoryContext unit_cxt; /* life of the open unit */
	BifangWorklist *work;	/* NULL until the first fill */
	int32 n_columns;
	BifangColumn *columns;
	/* What readers are asked for, one per vector. */
	int32 n_vectors;
	int32 *vector_numbers;
	const char **vector_names;
	bool want_entry;
	bool bound; /* columns have been matched with the schema */
	/* Position. */
	BifangLogRange range; /* KAFKA */
	int32 next_unit;
	int32 unit_step;  /* 1 = every unit; ANALYZE may leave some out */
	BifangUnit *unit; /* NULL = none is open */
	BfReader *reader;
	const BfBatch *batch;
	int32 batch_row; /* first row of the batch that is not in a slice yet */
	int32 row;		 /* next row of the slice to hand out */
	int32 n_rows;	 /* of the slice */
	/* What it took, for EXPLAIN. */
	int64 units_read;
	int64 rows_out;
	BfIoCounters io;
	BfParquetCounters parquet;
	BfLogCounters log;
} BifangScan;

/* `attrs`: attribute numbers to fill. Opens nothing. */
extern BifangScan *bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs);
/* To the first row again, or for the first time. `range` matters for Kafka tables. */
extern void bifang_scan_restart(BifangScan *s, const BifangLogRange *range);
/* Fills the next slice (n_rows >= 1, row = 0); false at the end. */
extern bool bifang_scan_fill(BifangScan *s, Snapshot snapshot);
/* The worklist, made if there is none yet. */
extern BifangWorklist *bifang_scan_work(BifangScan *s, Snapshot snapshot);

#endif
