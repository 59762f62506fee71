/*
 * scan/summary.h: what files say of one column, all of them together, for a planner.
 *
 * Parts are sets of rows that are disjoint: files, row groups. Of each is known how many NULLs it
 * has, between which bounds its values are, and, with luck, how many different ones. All of it may
 * be wrong, and nothing but an estimate comes of it.
 *
 *   NULLs      their share in the parts that say how many they have
 *   values     of a part as it says, else guessed: at most as many as its values and, where they
 *              are whole numbers, as lie between its bounds; of one with a dictionary as many as
 *              its bytes have room for: d entries and codes of log2(d) bits
 *   together   at least the most that a part has, at most their sum. Where the bounds of parts lie
 *              side by side it is the sum. Where k of them lie over each other, a part's d
 * different ones of r values are taken for a random draw from D, d = D (1 - exp(-r / D)), and k
 *              parts then have D (1 - exp(-k r / D)) of them: all different when those of one part
 *              are, and no more than one has when each comes many times in it
 *   histogram  parts are uniform between their bounds: points at equal shares of the rows
 */
#ifndef BF_SCAN_SUMMARY_H
#define BF_SCAN_SUMMARY_H

#include "parquet/parquet.h"
#include "vec/pred.h"

/* Parts whose bounds are remembered one by one: of more, some. */
#define BF_SUMMARY_RANGES 128
#define BF_SUMMARY_POINTS 101
/* Longer bounds are not looked at. */
#define BF_SUMMARY_BOUND_BYTES 256

typedef enum BfPartCoding
{
	BF_PART_CODING_UNKNOWN,
	BF_PART_PLAIN,	   /* without a dictionary: writers give it up when there are many values */
	BF_PART_DICTIONARY /* perhaps not for all values */
} BfPartCoding;

typedef struct BfColumnPart
{
	BfColumnStats stats; /* row_count must be known */
	int64_t distinct;	 /* different values that are not NULL; -1 = unknown */
	int64_t bytes;		 /* encoded, before compression; -1 = unknown */
	BfPartCoding coding;
} BfColumnPart;

/* A part's bounds as numbers that are ordered as the values are. */
typedef struct BfSummaryRange
{
	double low;
	double high;
	double values;
	uint64_t key; /* of the lower bound */
	bool constant;
} BfSummaryRange;

/* Added up so far. */
typedef struct BfColumnSummary
{
	BfType type;
	BfArena *arena; /* bounds are copied into it */
	double parts;	/* with a value at least */
	double rows;
	double values;		 /* not NULL, where nobody says how many NULLs there are: rows */
	double rows_counted; /* of parts that know their NULLs */
	double nulls;
	bool unbounded; /* a part with values lacks a bound */
	bool has_bounds;
	BfValue min;
	BfValue max;
	double spans;		   /* of the parts' bounds, a width of values each */
	double distinct_parts; /* those with a number of different values, known or guessed */
	double distinct;
	double distinct_most; /* of one part */
	double distinct_values;
	double text_bytes; /* of texts in parts that tell */
	double text_values;
	int32_t n_ranges;
	int64_t range_step; /* each so many-th part is remembered */
	BfSummaryRange ranges[BF_SUMMARY_RANGES];
} BfColumnSummary;

typedef struct BfColumnEstimate
{
	double null_fraction; /* < 0: unknown */
	double distinct;	  /* 0 = unknown */
	bool unique;		  /* as many as there are values */
	double width;		  /* of texts and bytes; 0 = unknown */
	/* Ascending, no two the same; the first is the least, the last the greatest value. A single
	 * one: all values are this. 0: nothing is known. */
	int32_t n_points;
	BfValue points[BF_SUMMARY_POINTS];
} BfColumnEstimate;

extern void bf_summary_begin(BfColumnSummary *s, BfArena *a, BfType type);
/* Of another type than the column's it counts for nothing. */
extern BfStatus
bf_summary_add(BfColumnSummary *s, const BfColumnPart *part, BfError *err) BF_MUST_CHECK;
/* Each so many-th row group of a file, whose column has the summary's type. */
extern BfStatus bf_summary_add_parquet(BfColumnSummary *s, const BfParquetFile *f, int32_t field,
									   int32_t step, BfError *err) BF_MUST_CHECK;
/* Of a table with so many rows, of which parts may be all or some. Points refer to the arena. */
extern void bf_summary_estimate(const BfColumnSummary *s, double table_rows, BfColumnEstimate *out);

#endif
