/*
 * iceberg/file_metrics.h: what a new entry of a manifest says of its file's columns.
 *
 * Which of it, the table's properties tell, as for Iceberg's own writers:
 *
 *   write.metadata.metrics.default          none, counts, truncate(N), full; else truncate(16)
 *   write.metadata.metrics.column.<name>    the same for one column
 *   write.metadata.metrics.max-inferred-column-defaults
 *                                           without a default: no more columns than that; else 100
 *
 * A mode that can't be understood is as good as none given. Columns are those at the top of the
 * schema that are not nested. UUIDs have counts alone: their order is not the same to everybody.
 */
#ifndef BF_ICEBERG_FILE_METRICS_H
#define BF_ICEBERG_FILE_METRICS_H

#include "iceberg/metadata.h"
#include "vec/bounds.h"

typedef enum BfIceMetricsKind
{
	BF_ICE_METRICS_NONE,
	BF_ICE_METRICS_COUNTS,
	BF_ICE_METRICS_TRUNCATE,
	BF_ICE_METRICS_FULL
} BfIceMetricsKind;

typedef struct BfIceMetricsColumn
{
	int32_t field; /* index into the schema's */
	int32_t field_id;
	BfIceMetricsKind kind; /* never NONE */
	int32_t length;		   /* TRUNCATE: of texts in characters, of others in bytes */
} BfIceMetricsColumn;

/* The columns of the current schema that have metrics, ascending by id. */
extern BfStatus bf_ice_metrics_columns(BfArena *a, const BfIceMetadata *m, BfIceMetricsColumn **out,
									   int32_t *n, BfError *err) BF_MUST_CHECK;
extern void
bf_ice_metrics_begin(const BfSchema *schema, const BfIceMetricsColumn *c, BfBounds *bounds);
/* The entry's fields 108 to 128, from column_sizes to upper_bounds, as bytes of the manifest; in
 * `a`. Of bounds to which nothing was added nothing is said. BF_ERR_LIMIT when it is too much. */
extern BfStatus
bf_ice_metrics_write(BfArena *a, const BfIceMetricsColumn *columns, const BfBounds *bounds,
					 int32_t n, BfView *out, BfError *err) BF_MUST_CHECK;

#endif
