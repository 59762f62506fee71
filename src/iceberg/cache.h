/*
 * iceberg/cache.h: decoded manifests of one process, kept between plans.
 *
 * Manifests and manifest lists are written once and never changed, so what is known of one stays
 * true as long as anyone names it: an item is found by path and length. It holds values that the
 * table gives them (sequence numbers of the list, types of partition columns, where the table is),
 * so those must be the same too, or it is read anew.
 *
 * The cache never holds more than bytes_max, what plans hold of evicted items aside. Items that no
 * plan used for the longest time go first; those of the plan at hand stay, so that a table larger
 * than the cache keeps a part of itself in it instead of none. Not for several threads at once.
 */
#ifndef BF_ICEBERG_CACHE_H
#define BF_ICEBERG_CACHE_H

#include "base/arena.h"

typedef struct BfIceCache BfIceCache;

typedef struct BfIceCacheStats
{
	size_t bytes;
	int64_t items;
	int64_t hits;
	int64_t misses;
	int64_t evicted;
} BfIceCacheStats;

/* The host must outlive the cache, whose memory is the host's. */
extern BfStatus bf_ice_cache_new(const BfHost *host, size_t bytes_max, BfIceCache **out,
								 BfError *err) BF_MUST_CHECK;
/* NULL is allowed. */
extern void bf_ice_cache_free(BfIceCache *c);
extern void bf_ice_cache_clear(BfIceCache *c);
extern void bf_ice_cache_stats(const BfIceCache *c, BfIceCacheStats *out);

#endif
