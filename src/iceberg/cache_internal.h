/*
 * The cache as planning uses it.
 */
#ifndef BF_ICEBERG_CACHE_INTERNAL_H
#define BF_ICEBERG_CACHE_INTERNAL_H

#include "iceberg/entry.h"

/* The live entries of one manifest. */
typedef struct BfiManifestData
{
	int32_t n;
	BfiEntry *entries;
	bool has_logical;
} BfiManifestData;

typedef struct BfiCacheItem BfiCacheItem;

/* A new plan: items that it uses stay until the next one. */
extern void bfi_cache_plan(BfIceCache *c);

/* NULL = not there. */
extern const BfiManifestData *bfi_cache_find_manifest(BfIceCache *c, const BfIceTable *t,
													  const BfIceManifest *m, const char *path);
/* The manifests of a snapshot; false = not there. */
extern bool
bfi_cache_find_list(BfIceCache *c, const char *path, const BfIceManifest **out, int32_t *n);

/* A new item, to be filled and then kept or dropped; NULL when the cache is full of what the plan
 * uses. Its arena is bounded by the room that can be made. */
extern BfStatus
bfi_cache_begin(BfIceCache *c, const char *path, BfiCacheItem **out, BfError *err) BF_MUST_CHECK;
extern BfArena *bfi_cache_arena(BfiCacheItem *item);
extern BfiManifestData *bfi_cache_data(BfiCacheItem *item);
extern BfStatus bfi_cache_keep_manifest(BfIceCache *c, BfiCacheItem *item, const BfIceTable *t,
										const BfIceManifest *m, const BfiManifestData **out,
										BfError *err) BF_MUST_CHECK;
/* The manifests are in the item's arena. */
extern void
bfi_cache_keep_list(BfIceCache *c, BfiCacheItem *item, BfIceManifest *manifests, int32_t n);
extern void bfi_cache_drop(BfiCacheItem *item);

#endif
