/*
 * log/offload_format.h: the numbers of the layout in offload.h, shared by writer and reader.
 */
#ifndef BF_LOG_OFFLOAD_FORMAT_H
#define BF_LOG_OFFLOAD_FORMAT_H

#include "log/offload.h"

#define BFI_OFFLOAD_MAGIC "BFOFFLD1"
#define BFI_OFFLOAD_TAIL_MAGIC "BFOFTAIL"
#define BFI_OFFLOAD_VERSION 2
#define BFI_OFFLOAD_VERSION_OLDEST 1
#define BFI_OFFLOAD_HEADER_BYTES 24
#define BFI_OFFLOAD_RECORD_BYTES 48
#define BFI_OFFLOAD_BLOCK_RECORDS 1024
#define BFI_OFFLOAD_BLOCK_ENTRIES 65536
#define BFI_OFFLOAD_ROOT_BYTES 40
#define BFI_OFFLOAD_ROOT_BLOCK_BYTES 32
#define BFI_OFFLOAD_TAIL_BYTES 24
#define BFI_OFFLOAD_SCHEMA_BYTES_MAX (64 << 20)
#define BFI_OFFLOAD_ROOT_BYTES_MAX (256 << 20)

_Static_assert(sizeof BFI_OFFLOAD_MAGIC - 1 == 8 && sizeof BFI_OFFLOAD_TAIL_MAGIC - 1 == 8,
			   "what begins and ends a file has eight bytes");
_Static_assert(BFI_OFFLOAD_SCHEMA_BYTES_MAX < BFI_OFFLOAD_ROOT_BYTES_MAX,
			   "a root has room for any schema");

/* One block as the root names it. */
typedef struct BfiOffloadBlock
{
	int64_t first;
	int64_t last;
	int64_t position;
	int32_t n;		   /* records */
	uint32_t n_bounds; /* bytes behind them */
} BfiOffloadBlock;

/* Over any source: files, and bytes in memory in tests. */
extern BfStatus bfi_offload_open(BfArena *a, BfSource *source, BfLogCounters *counters,
								 BfOffloadFile **out, BfError *err) BF_MUST_CHECK;
/* The first entry after `after` that a batch begins with, as far as the index can be read; -1 =
 * there is none. */
extern BfStatus bfi_offload_next_batch(BfArena *a, BfOffloadFile *f, int64_t after, int64_t *entry,
									   BfError *err) BF_MUST_CHECK;

#endif
