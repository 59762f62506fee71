/*
 * log/writer.h: appending to a live ledger.
 *
 * One writer at a time per ledger (the caller holds the lock). Opening cuts everything after the
 * acknowledged end: segments beyond it are removed, the last one is truncated, its indexes are cut
 * likewise. Bytes count once the caller has called sync and committed the end that
 * bf_ledger_writer_end gives.
 *
 * The files are what a Kafka broker would have: segments roll at segment_bytes_max; .index and
 * .timeindex get an entry per more than 4096 bytes appended, exactly as Kafka's recovery would
 * rebuild them (entry for the batch at pos when pos - position of the last entry > 4096; a time
 * entry only when the largest timestamp grew); a roll or close adds the final time entry.
 *
 * Crash safety. The log's bytes are synced before the caller acknowledges them, and new names and
 * removals by a sync of the directory; index files are synced at roll and close only, since opening
 * verifies them against the log and rebuilds what does not fit, and readers verify what they use.
 * Cutting removes from the last segment backwards, so a crash leaves a prefix.
 *
 * A failed call leaves the ledger at its end before the call; the next call repairs the files
 * first. A failed sync is final: whether the pages reached the disk can't be known any more, so the
 * caller must abort and open again.
 */
#ifndef BF_LOG_WRITER_H
#define BF_LOG_WRITER_H

#include "log/segment.h"

typedef struct BfLedgerEnd
{
	int64_t entry;	  /* next entry number */
	int64_t segment;  /* base offset of the segment that holds the end */
	int64_t position; /* byte position in that segment */
} BfLedgerEnd;

typedef struct BfLedgerOptions
{
	BfCodec codec; /* NONE, GZIP, SNAPPY, LZ4_FRAME or ZSTD */
	int level;
	int64_t segment_bytes_max; /* 0 = 128 MiB; at most 2^31-1; one batch may pass it */
} BfLedgerOptions;

typedef struct BfLedgerWriter BfLedgerWriter;

/* Creates the directory if missing. options = NULL: zstd. Bytes before the end that are missing or
 * damaged are CORRUPT. */
extern BfStatus
bf_ledger_writer_open(BfArena *a, const char *dir, BfLedgerEnd end, const BfLedgerOptions *options,
					  BfLedgerWriter **out, BfError *err) BF_MUST_CHECK;
/* One batch of n > 0 values; entries are numbered from the current end. */
extern BfStatus bf_ledger_append(BfLedgerWriter *w, const BfView *values, int32_t n,
								 int64_t timestamp_ms, BfError *err) BF_MUST_CHECK;
/* With a time for each value. */
extern BfStatus
bf_ledger_append_timed(BfLedgerWriter *w, const BfView *values, const int64_t *timestamps_ms,
					   int32_t n, BfError *err) BF_MUST_CHECK;
extern BfLedgerEnd bf_ledger_writer_end(const BfLedgerWriter *w);
/* Of its buffers, which stay as large as its largest batch. */
extern size_t bf_ledger_writer_memory(const BfLedgerWriter *w);
/* Back to an earlier end (savepoint, abort). */
extern BfStatus
bf_ledger_writer_rewind(BfLedgerWriter *w, BfLedgerEnd end, BfError *err) BF_MUST_CHECK;
/* Everything appended, and the directory, is durable on return. */
extern BfStatus bf_ledger_writer_sync(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;
/* Final time index entry; all files are durable. The writer can't be used any more; the ledger
 * could be opened again. */
extern BfStatus bf_ledger_writer_close(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;

#endif
