/*
 * exec/read/resolve.h: what a column that is asked for is in a file or a ledger, inside the folder.
 *
 * The first of these that there is:
 *
 *   a column of the file     found by id or name, its type promoted (vec/mapping.h)
 *   a constant               the value that all rows of the file have by its partition
 *   the initial default      of the table's field
 *   NULL                     unless the field is required
 *
 * A file without any field ids, of a table that has ids and no name mapping for the field, was
 * there before the table, of Hive say. Its columns are numbered from 1 where `numbered` says so, as
 * Iceberg's Java library does with Parquet; else it is an error: names could have been reused since
 * it was written.
 */
#ifndef BF_EXEC_READ_RESOLVE_H
#define BF_EXEC_READ_RESOLVE_H

#include "exec/reader.h"
#include "vec/mapping.h"

/* The columns of what is read. */
typedef struct BfiColumns
{
	const BfSchema *schema; /* borrowed */
	bool has_ids;			/* false: no field of it has one */
	bool numbered;			/* without ids a column is found by its place */
	bool no_zones;	  /* of timestamps it is not known whether they have one: as the table says */
	const char *what; /* "file" or "ledger", for messages */
} BfiColumns;

typedef struct BfiResolved
{
	const BfField *want; /* members that have constants have them as their defaults */
	int32_t column;		 /* of what is read; -1: a constant */
	const BfField *from; /* that column; NULL: a constant */
	BfMapping *mapping;	 /* NULL: a constant */
	BfVector constant;
} BfiResolved;

/* Has neither the field's id nor a name mapping a meaning for what is read? */
static inline bool
bfi_unknown_by_id(const BfiColumns *columns, const BfField *want)
{
	return want->id != 0 && !columns->has_ids && !want->mapped;
}

/* Errors name the column. */
extern BfStatus
bfi_resolve(BfArena *a, const BfiColumns *columns, const BfField *want,
			const BfConstants *constants, BfiResolved *out, BfError *err) BF_MUST_CHECK;
/* The column's vector over n rows; `from` is the file's, of as many, and not looked at for a
 * constant. Valid as long as `from`, and until the next call. */
extern BfStatus bfi_resolved_vector(BfiResolved *c, const BfVector *from, int32_t n, BfVector *out,
									BfError *err) BF_MUST_CHECK;

#endif
