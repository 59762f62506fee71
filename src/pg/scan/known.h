/*
 * pg/scan/known.h: what is known of columns of a table before anything is read, as kinds tell it.
 */
#ifndef BIFANG_PG_SCAN_KNOWN_H
#define BIFANG_PG_SCAN_KNOWN_H

#include "postgres.h"

#include "access/attnum.h"

#include "parquet/prune.h"
#include "scan/summary.h"

/* Files that are looked at, of many more some; and how much is added up of them in all. */
#define BIFANG_KNOWN_FILES_MAX 512
#define BIFANG_KNOWN_PARTS_MAX 8192

typedef struct BifangKnownColumn
{
	/* Asked. */
	AttrNumber attnum;
	const char *name; /* UTF-8 */
	int32 occurrence; /* among columns of that name */
	int32 field_id;	  /* 0 = by name */
	/* Answered. */
	const BfField *field; /* lives as long as `arena`; NULL = nothing is known */
	BfColumnSummary *summary;
	int64 distinct;		 /* different values of the whole table; -1 = nobody has counted them */
	int64 distinct_rows; /* the table had so many rows then; -1 = unknown */
} BifangKnownColumn;

typedef struct BifangKnown
{
	BfArena *arena;
	int n;
	BifangKnownColumn *columns;
} BifangKnown;

/* Begins the column's summary, of a field that stays; the first one counts. */
extern void bifang_known_field(BifangKnown *k, BifangKnownColumn *c, const BfField *field);
/* The footer of a file that is in the cache; valid until the cache changes. NULL = it is not. */
extern const BfParquetFile *bifang_known_footer(const char *path, int64 size);

#endif
