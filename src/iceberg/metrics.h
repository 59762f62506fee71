/*
 * iceberg/metrics.h: what a manifest says of a file's columns, packed.
 *
 * A manifest entry has up to five maps from field ids to counts or bounds. Held as structs they are
 * most of a plan's memory, so they are kept as bytes: one that is 1 when the file is known to be
 * one row group, else 0, and one item per column, ascending by field id:
 *
 *   uvarint   field id minus that of the item before
 *   byte      which of the following are there: bit 0 lower, 1 upper, 2 values, 3 NULLs, 4 NaNs;
 *             bit 5: as many values as the file has rows, none is told; bit 6: the upper bound was
 *             cut; bit 7: no NULLs, no number is told
 *   bytes     lower: a byte of length, the bytes
 *   bytes     upper: a byte of length; behind a lower bound a byte with how many of its first bytes
 *             are the same, and one with how many of the last ones are when both are as long; the
 *             bytes in between
 *   uvarint   values, NULLs, NaNs
 *
 * Without any item there is nothing. Bounds longer than BF_ICE_BOUND_BYTES are cut to that. The
 * bytes are ours, never a file's: they are not checked again. What a manifest says twice of one
 * column is left out.
 */
#ifndef BF_ICEBERG_METRICS_H
#define BF_ICEBERG_METRICS_H

#include "iceberg/manifest.h"

#define BF_ICE_BOUND_BYTES 64

/* Of one column in one file; counts -1 and bounds without bytes: not known. */
typedef struct BfIceMetric
{
	bool has_lower;
	bool has_upper;
	BfView lower;	/* single-value bytes of the specification's appendix D */
	BfView upper;	/* may point to upper_bytes */
	bool upper_cut; /* only the beginning of an upper bound */
	bool one_group; /* the file is one row group: nobody put bounds of several together */
	int64_t values; /* NULLs and NaNs included */
	int64_t nulls;
	int64_t nans;
	uint8_t upper_bytes[BF_ICE_BOUND_BYTES];
} BfIceMetric;

/* Packs what the file has; the result is in `keep`, `scratch` is used for a while. */
extern BfStatus bf_ice_metrics_pack(BfArena *keep, BfArena *scratch, const BfIceFile *file,
									BfView *out, BfError *err) BF_MUST_CHECK;
/* False when nothing is known of the column. `record_count` is the file's. */
extern bool
bf_ice_metrics_find(BfView metrics, int32_t field_id, int64_t record_count, BfIceMetric *out);

/* The value of a bound, in the type that the column has today: the file may have a narrower one.
 * False when the bytes are no such value. Views point into the bytes. */
extern bool bf_ice_bound_value(BfView bytes, BfType type, BfValue *out);

#endif
