/*
 * What prune.c and prune_inverse.c share.
 */
#ifndef BF_ICEBERG_PRUNE_INTERNAL_H
#define BF_ICEBERG_PRUNE_INTERNAL_H

#include "iceberg/prune.h"

/* prune.c, for indexes over many files */

/* Fields of the schema that the predicate mentions. */
extern const int32_t *bfi_pruner_fields(const BfIcePruner *p, int32_t *n);
extern const BfField *bfi_pruner_field(const BfIcePruner *p, int32_t field);
extern uint32_t bfi_pruner_flags(const BfIcePruner *p);
/* Do partition values of that spec tell something of the column? */
extern bool bfi_pruner_partitions(const BfIcePruner *p, int32_t spec_id, int32_t field);
/* What a file's partition values or, `bounds`, its metrics tell of one column. What *out points to
 * is valid until the next call. */
extern void
bfi_prune_stats(const BfIcePruner *p, int32_t field, bool bounds, int32_t spec_id,
				const BfValue *partition, int64_t record_count, BfView metrics, BfColumnStats *out);
/* May a row match, if that is all that is known? */
extern bool bfi_prune_may_match(const BfIcePruner *p, int32_t field, const BfColumnStats *stats);

/* prune_inverse.c */

/* A partition field over a column that the predicate can see. */
typedef struct BfiSpecField
{
	int32_t field;	  /* of the schema */
	int32_t position; /* in the spec */
	BfTransform transform;
	BfType source; /* the column's type in that schema */
	BfType result; /* of partition values, as manifests are read */
} BfiSpecField;

/* Bytes of bounds that are made while one leaf is looked at. */
#define BFI_PRUNE_BUFFERS 8

typedef struct BfiPruneBuffers
{
	int32_t n;
	uint8_t bytes[BFI_PRUNE_BUFFERS][BF_ICE_BOUND_BYTES + 1];
} BfiPruneBuffers;

/* The number behind a value; false when it is none. */
extern bool bfi_value_integer(const BfValue *v, bf_i128 *out);
/* False when the type has no such number. */
extern bool bfi_integer_value(bf_i128 x, BfType type, BfValue *out);
/* Raises the minimum, lowers the maximum; NULL: nothing known. */
extern void bfi_range_tighten(BfColumnStats *s, const BfValue *min, const BfValue *max);
/* Bytes above all values of the type that start with the prefix, and with other types (not text,
 * which is UTF-8) perhaps one more value; false: there are none. */
extern bool
bfi_text_after_prefix(BfView prefix, BfType type, BfiPruneBuffers *buffers, BfView *out);
/* Is it so long that its writer may have cut it? */
extern bool bfi_text_may_be_cut(const BfValue *v);
extern void bfi_uuid_widen(BfValue *v, bool upper, BfiPruneBuffers *buffers, bool *has);
/* Tightens what is known of the column by the range of its partition values. NULL: no such bound;
 * lo == hi, the same pointer: exactly this value. */
extern void bfi_inverse_range(const BfiSpecField *f, const BfValue *lo, const BfValue *hi,
							  BfiPruneBuffers *buffers, BfColumnStats *s);

#endif
