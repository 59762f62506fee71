/*
 * iceberg/columns.h: a table's columns at a point in its history, for readers whose list of columns
 * is fixed.
 *
 * Reading the past uses the snapshot's schema (https://iceberg.apache.org/spec/), but who reads has
 * columns of other times too. What counts is the field id:
 *
 *   a column has                the snapshot's schema has    it is
 *   a field id                  the id                       that column, whatever its name was
 *   no field id, a name         the name                     that column, as every engine says
 *   no field id, a name         not the name, but the id     that column under its name of then
 *                               that another schema gives
 *                               the name
 *   an id or a name of another  not the id                   NULL, also where an initial default
 *   schema                                                   exists: the column was not there
 *   neither                     -                            unknown
 *
 * Other schemas are asked in this order: the current one, then the others from the newest. Names
 * that differ only by case are taken where just one does.
 *
 * The present and branches have the current schema alone: what it lacks is unknown.
 */
#ifndef BF_ICEBERG_COLUMNS_H
#define BF_ICEBERG_COLUMNS_H

#include "iceberg/table.h"

/* The columns of p->schema, first and in its order, then what it lacks of other schemas. Those have
 * ids that no file has, so that readers find NULLs everywhere. The result may be p->schema; else
 * its fields are new in `a` and what they point to belongs to the table. */
extern BfStatus bf_ice_point_columns(BfArena *a, const BfIceTable *t, const BfIcePoint *p,
									 const BfSchema **out, BfError *err) BF_MUST_CHECK;
/* Index in `columns`, made for the point; -1 = unknown. id 0 = none, then the name counts. */
extern int32_t bf_ice_column_find(const BfIceTable *t, const BfIcePoint *p, const BfSchema *columns,
								  int32_t id, const char *name);

/* The column that a field of any schema is in, in its newest type: the field itself, or for a
 * member of structs those structs with nothing else in them, made in `a`. A field in a list or map
 * gives that column as it is. *out = NULL: no schema has the id. */
extern BfStatus bf_ice_key_column(BfArena *a, const BfIceMetadata *m, int32_t field_id,
								  const BfField **out, BfError *err) BF_MUST_CHECK;

#endif
