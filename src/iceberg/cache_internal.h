/*
 * The cache as planning uses it.
 */
#ifndef BF_ICEBERG_CACHE_INTERNAL_H
#define BF_ICEBERG_CACHE_INTERNAL_H

#include "iceberg/entry.h"
#include "iceberg/prune.h"

/* An index by what is known of one column. */
typedef struct BfiFieldIndex
{
	/* What was asked for. */
	int32_t field_id;
	BfType type;
	bool has_default;
	bool bounds; /* metrics; else partition values */
	int32_t uses;
	/* What was made. */
	BfArena *arena; /* owned */
	int32_t *order; /* the entries, by their least value */
	int32_t n_hulls;
	BfColumnStats *hulls; /* what is known of so many of them together */
} BfiFieldIndex;

#define BFI_INDEXES_MAX 8

/* The live entries of one manifest. */
typedef struct BfiManifestData
{
	int32_t n;
	BfiEntry *entries;
	bool has_logical;
	bool plain; /* nothing but data files that can be read */
	int32_t n_indexes;
	BfiFieldIndex indexes[BFI_INDEXES_MAX];
} BfiManifestData;

typedef struct BfiCacheItem BfiCacheItem;

/* Of the hashes of its entries' paths. */
extern uint64_t bfi_cache_seed(const BfIceCache *c);
/* A new plan: items that it uses stay until the next one. */
extern void bfi_cache_plan(BfIceCache *c);

/* NULL = not there. */
extern BfiManifestData *bfi_cache_find_manifest(BfIceCache *c, const BfIceTable *t,
												const BfIceManifest *m, const char *path);
/* The manifests of a snapshot; false = not there. */
extern bool
bfi_cache_find_list(BfIceCache *c, const char *path, const BfIceManifest **out, int32_t *n);

/* A manifest whose header was looked at. */
extern bool bfi_cache_find_mark(BfIceCache *c, const char *path);

/* A new item, to be filled and then kept or dropped; NULL when the cache is full of what the plan
 * uses. Its arena is bounded by the room that can be made. */
extern BfStatus
bfi_cache_begin(BfIceCache *c, const char *path, BfiCacheItem **out, BfError *err) BF_MUST_CHECK;
extern BfArena *bfi_cache_arena(BfiCacheItem *item);
extern BfiManifestData *bfi_cache_data(BfiCacheItem *item);
extern BfStatus
bfi_cache_keep_manifest(BfIceCache *c, BfiCacheItem *item, const BfIceTable *t,
						const BfIceManifest *m, BfiManifestData **out, BfError *err) BF_MUST_CHECK;
/* The manifests are in the item's arena. */
extern void
bfi_cache_keep_list(BfIceCache *c, BfiCacheItem *item, BfIceManifest *manifests, int32_t n);
extern void bfi_cache_keep_mark(BfIceCache *c, BfiCacheItem *item);
extern void bfi_cache_drop(BfiCacheItem *item);
/* The item of these entries stays until the arena is freed, whatever becomes of the cache. */
extern BfStatus bfi_cache_hold(const BfiManifestData *data, BfArena *a, BfError *err) BF_MUST_CHECK;
/* Makes room for an index of an item that the plan uses; false: there is none to be had. */
extern bool bfi_cache_room(BfIceCache *c, size_t bytes);
/* The item has grown by that. */
extern void bfi_cache_grown(BfIceCache *c, BfiManifestData *data, size_t bytes);

/* entry_index.c */

/* A bit for each entry of a manifest, 0 behind the last one, and room for as many. */
typedef struct BfiAlive
{
	uint64_t *bits;
	uint64_t *scratch;
	int32_t n_words;
} BfiAlive;

/* Clears the bits of entries that the predicate leaves out, as far as indexes tell, and counts
 * them. Makes an index of a column that has been asked for before. */
extern BfStatus bfi_index_exclude(BfIceCache *c, const BfHost *host, BfiManifestData *data,
								  const BfIcePruner *pruner, BfiAlive *alive, int64_t *by_partition,
								  int64_t *by_bounds, BfError *err) BF_MUST_CHECK;

#endif
