/*
 * exec/read/footer_cache.h: decoded footers of Parquet files, kept between scans of one process.
 *
 * A footer is found by path and counts for the file that had this size, inode and time of change
 * when it was read. The path is looked at before and after the file is opened: only if both times
 * it is that file, what was opened is it, too. Files that changed within the last seconds are not
 * kept: another change could leave the time as it is.
 *
 * The cache never holds more than bytes_max, what scans hold of evicted footers aside; those that
 * were not used for the longest time go first. Not for several threads at once.
 */
#ifndef BF_EXEC_READ_FOOTER_CACHE_H
#define BF_EXEC_READ_FOOTER_CACHE_H

#include "exec/read/page_cache.h"

typedef struct BfFooterCache BfFooterCache;

/* The host must outlive the cache, whose memory is the host's. */
extern BfStatus bf_footer_cache_new(const BfHost *host, size_t bytes_max, BfFooterCache **out,
									BfError *err) BF_MUST_CHECK;
/* NULL is allowed. Open files stay valid. */
extern void bf_footer_cache_free(BfFooterCache *c);
extern size_t bf_footer_cache_bytes(const BfFooterCache *c);
/* Files whose footers are in the cache from now on have their pages there; borrowed, NULL: none. */
extern void bf_footer_cache_keep_pages(BfFooterCache *c, BfPageCache *pages);

/* Opens a file as bf_exec_parquet_open does, with its footer from the cache or into it; c NULL:
 * without one. io->footers_cached counts what was found. */
extern BfStatus bf_footer_open(BfFooterCache *c, BfArena *a, const char *path, BfIoCounters *io,
							   BfParquetFile **out, BfError *err) BF_MUST_CHECK;

/* The footer of a file with that path and size, if it is there, without a look at the file: for
 * what need not be true. Only its metadata can be asked for, and until the next call. NULL = none;
 * c may be NULL. */
extern const BfParquetFile *bf_footer_peek(const BfFooterCache *c, const char *path, int64_t size);

#endif
