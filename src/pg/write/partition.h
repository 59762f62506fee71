/*
 * pg/write/partition.h: how SQL writes the partitioning of a lake table.
 *
 *   element := column | transform '(' argument [ ',' argument ] ')'
 *   transform := identity | year | month | day | hour | void | bucket | truncate   (years, ... too)
 *
 * bucket and truncate take a number beside the column, in either order: bucket(16, id). A column
 * may be written in double quotes. In one text, elements are separated by commas.
 */
#ifndef BIFANG_PG_WRITE_PARTITION_H
#define BIFANG_PG_WRITE_PARTITION_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/array.h"

#include "iceberg/transform.h"

/* Elements as a List of char *. */
extern List *bifang_partition_list(ArrayType *elements);
extern List *bifang_partition_split(const char *text);

/* The spec over a schema whose field ids are set; palloc'd. Raises for unknown columns, unknown
 * transforms and types that a transform does not take. */
extern BfIceSpec *bifang_partition_spec(const BfSchema *schema, List *elements);

/* The partition of a row: spec->n_fields values, and the same as bytes appended to `key`, equal
 * for equal partitions. Columns of the batch are those of `schema` in its order; a source column
 * that it lacks counts as NULL. Views point into the batch. */
extern BfStatus
bifang_partition_of_row(const BfIceSpec *spec, const BfSchema *schema, const BfBatch *batch,
						int32 row, BfValue *values, BfBuffer *key, BfError *err) BF_MUST_CHECK;

#endif
