/*
 * pg/catalog/cache.h: Iceberg metadata and file lists, kept by this backend between queries.
 *
 * An entry is one metadata file, known by path, size, change time and inode, with its table and
 * location map. Metadata files are written once, so an entry never grows stale; a new commit is
 * another entry, which takes the place of the older ones of its directory. At most a few are kept,
 * least recently used ones go first; one that a query uses is pinned until the query's memory
 * context goes. Manifests have a cache of their own.
 */
#ifndef BIFANG_PG_CATALOG_CACHE_H
#define BIFANG_PG_CATALOG_CACHE_H

#include "postgres.h"

#include "exec/read/footer_cache.h"
#include "iceberg/cache.h"
#include "iceberg/table.h"

/* With all files that the current snapshots name, and what they cover. */
typedef struct BifangLake
{
	const BfIceTable *table;
	const BfIcePlan *plan;
} BifangLake;

/* Pinned while `cxt` lives. Raises on any failure. */
extern const BifangLake *bifang_lake_open(MemoryContext cxt, const char *metadata_path);
/* The table alone, without reading its manifests; pinned likewise. */
extern const BfIceTable *bifang_lake_table(MemoryContext cxt, const char *metadata_path);
/* The same with the option location_map; NULL = none. */
extern const BfIceTable *
bifang_lake_table_mapped(MemoryContext cxt, const char *metadata_path, const char *map);
/* Manifests that this backend has decoded; NULL when it must not keep any. */
extern BfIceCache *bifang_manifest_cache(void);
/* Footers of Parquet files; NULL when none may be kept. */
extern BfFooterCache *bifang_footer_cache(void);

#endif
