/*
 * exec/read/page_cache.h: decompressed pages of Parquet files, kept between scans of one process.
 *
 * Of a file that a footer cache knows, by the same identity: path, size, inode and time of change.
 * What comes in is said in parquet.h: pages of scans that stopped early. Never more than bytes_max
 * is kept, what scans hold of evicted pages aside; what was not used for the longest time goes
 * first, and a page of more than a quarter of it doesn't come in. Not for several threads at once.
 */
#ifndef BF_EXEC_READ_PAGE_CACHE_H
#define BF_EXEC_READ_PAGE_CACHE_H

#include "parquet/parquet.h"

typedef struct BfPageCache BfPageCache;

/* The host must outlive the cache, whose memory is the host's. */
extern BfStatus bf_page_cache_new(const BfHost *host, size_t bytes_max, BfPageCache **out,
								  BfError *err) BF_MUST_CHECK;
/* NULL is allowed. No scan may be left. */
extern void bf_page_cache_free(BfPageCache *c);
/* From now on; what is too much goes. */
extern void bf_page_cache_limit(BfPageCache *c, size_t bytes_max);
extern size_t bf_page_cache_bytes(const BfPageCache *c);

/* The file that has this path and identity looks for its pages in the cache and leaves them there,
 * as long as the arena. */
extern BfStatus
bf_page_cache_attach(BfPageCache *c, BfArena *a, const char *path, const BfPathInfo *info,
					 BfParquetFile *file, BfError *err) BF_MUST_CHECK;

#endif
