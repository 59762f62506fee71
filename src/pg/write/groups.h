/*
 * pg/write/groups.h: the rows of a batch by the partition of the lake table that each belongs to.
 */
#ifndef BIFANG_PG_WRITE_GROUPS_H
#define BIFANG_PG_WRITE_GROUPS_H

#include "postgres.h"

#include "iceberg/metadata.h"
#include "vec/batch.h"

typedef struct BifangGroups BifangGroups;

/* Rows are those of a batch of the schema, which has all source columns. In CurrentMemoryContext
 * and the arena; spec and schema are borrowed. */
extern BifangGroups *bifang_groups_new(BfArena *a, const BfIceSpec *spec, const BfSchema *schema);
/* Each group's rows, in the order of their first rows; NULL: the first n, in one group. */
typedef void (*BifangGroupVisit)(void *arg, const int32 *rows, int32 n);
extern void
bifang_groups_split(BifangGroups *g, const BfBatch *batch, BifangGroupVisit visit, void *arg);

#endif
