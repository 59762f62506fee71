/*
 * pg/catalog/point.h: which metadata file of a lake table is read, and which point of the history
 * that it tells.
 *
 * The metadata file is the one that the catalog's pointer names, or the newest of the option
 * location. The point is what the table's options name, else the settings bifang.as_of_snapshot,
 * as_of_timestamp and ref, else the current one.
 */
#ifndef BIFANG_PG_CATALOG_POINT_H
#define BIFANG_PG_CATALOG_POINT_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "iceberg/table.h"
#include "pg/catalog/options.h"

typedef struct BifangPoint
{
	const char *metadata_path;
	const BfIceTable *table;
	int64 table_id; /* whose ledgers count; 0 = it is no table of this database's catalog */
	BfIcePoint at;
	bool current; /* rows that the lake does not have yet belong to it */
} BifangPoint;

/* The current metadata file; NULL when the table exists nowhere. Palloc'd. */
extern const char *bifang_metadata_path(const BifangOptions *o, Snapshot snap);
/* Lives as long as cxt. Raises when there is no such table or point. */
extern void
bifang_point_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap, BifangPoint *out);
/* The same of a metadata file that is known; `current`: it is what the catalog names. */
extern void bifang_point_of(MemoryContext cxt, const BifangOptions *o, const char *metadata_path,
							bool current, BifangPoint *out);

#endif
