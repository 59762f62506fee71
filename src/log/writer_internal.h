/*
 * log/writer_internal.h: the ledger writer's state, shared by writer.c (appending) and cut.c
 * (bringing the files to an end).
 */
#ifndef BF_LOG_WRITER_INTERNAL_H
#define BF_LOG_WRITER_INTERNAL_H

#include "log/internal.h"
#include "log/writer.h"

/* An index file: what is in it, and what still has to be written to it. */
typedef struct BfiIndexFile
{
	int file;		 /* -1 = not open */
	int64_t size;	 /* bytes in the file */
	BfBuffer *added; /* owned by the arena; entries to append to the file */
} BfiIndexFile;

struct BfLedgerWriter
{
	BfArena *arena; /* borrowed: the caller's */
	BfArena *work;	/* owned through a hook; reset after each cut */
	const BfHost *host;
	const char *dir;
	BfLedgerOptions options;
	BfCodecContext *codec;
	BfBuffer *raw;	 /* a batch's records */
	BfBuffer *batch; /* the batch */
	BfLedgerEnd end;

	/* The open segment. Its base is end.segment except between a roll and the append after it. */
	int log; /* -1 = not open */
	int64_t base;
	BfiIndexFile index;
	BfiIndexFile times;
	int64_t indexed_position; /* of the last index entry's batch, 0 = none */
	int64_t max_timestamp;	  /* -1 = none */
	int64_t max_timestamp_offset;
	int64_t time_entry; /* timestamp of the last time index entry, -1 = none */

	bool settled;	/* the files are at `end` and open */
	bool dirty;		/* the log has bytes that are not durable */
	bool dir_dirty; /* names were made or removed since the directory was synced */
	bool dead;		/* a sync failed (for good: the kernel reports it once), or it was closed */
};

/* cut.c: closes what is open and brings the files to w->end. Not settled after a failure. */
extern BfStatus bfi_writer_settle(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;
extern void bfi_writer_close_files(BfLedgerWriter *w);
/* Opens the files of the segment `base`; `fresh` empties them. */
extern BfStatus
bfi_writer_open_files(BfLedgerWriter *w, int64_t base, bool fresh, BfError *err) BF_MUST_CHECK;

/* writer.c: the recovery rule for the batch at `position`; no memory is taken after
 * bfi_writer_reserve_entries. */
extern BfStatus bfi_writer_reserve_entries(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;
extern void bfi_writer_index_batch(BfLedgerWriter *w, int64_t position, int64_t last_offset,
								   int64_t max_timestamp);

#endif
