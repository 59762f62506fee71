/*
 * Parquet files by hand: flat columns, one row group, one page each, nothing compressed. What the
 * footer says of a column is said here too, true or not: files of writers that are long gone, and
 * files that no writer should make.
 */
#ifndef TEST_UNIT_LIB_PARQUET_MAKE_H
#define TEST_UNIT_LIB_PARQUET_MAKE_H

#include "base/bytes.h"

/* Physical types, as the format numbers them. */
enum
{
	MADE_BOOLEAN = 0,
	MADE_INT32 = 1,
	MADE_INT64 = 2,
	MADE_INT96 = 3,
	MADE_FLOAT = 4,
	MADE_DOUBLE = 5,
	MADE_BYTE_ARRAY = 6,
	MADE_FLBA = 7
};

/* Statistics; NULL where a bound is absent. */
typedef struct MadeStatistics
{
	BfView min, max;			 /* the old pair */
	BfView min_value, max_value; /* the new one */
	int64_t null_count;			 /* -1: absent */
	int64_t distinct_count;		 /* 0: absent */
} MadeStatistics;

typedef struct MadeColumn
{
	const char *name;
	int32_t id; /* 0: none */

	/* The values, in one of three forms; texts are of at most 2^30 bytes together. */
	const int64_t *longs;	  /* the physical type then is INT64 */
	const char *const *texts; /* BYTE_ARRAY, with the annotation UTF8 */
	BfView values;			  /* a values section as it stands in the page */
	int32_t encoding;		  /* of that; 0: PLAIN */
	int32_t physical;
	int32_t length; /* of MADE_FLBA */
	BfView dictionary;
	int32_t n_dictionary;

	/* Annotations, as the format numbers them. */
	bool has_converted;
	int32_t converted;
	int32_t precision; /* of decimals */
	int32_t scale;
	int32_t logical; /* a member of LogicalType that has no members itself; 0: none */

	bool optional;		/* with levels; none is NULL */
	int32_t more_count; /* by how much the footer's count of values is wrong */
	const MadeStatistics *statistics;
	BfView bloom; /* the blocks of a filter */
} MadeColumn;

typedef struct MadeFile
{
	const MadeColumn *columns;
	int32_t n_columns;
	int32_t n_rows;
	const char *created_by; /* NULL: nobody */
	bool typed_order;		/* the new statistics are in the order of the types */
} MadeFile;

extern BfStatus made_parquet(BfBuffer *out, const MadeFile *file, BfError *err) BF_MUST_CHECK;

#endif
