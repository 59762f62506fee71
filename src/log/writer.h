/*
 * log/writer.h: appending to a live ledger.
 *
 * One writer at a time per ledger (the caller holds the lock). Opening cuts everything after the
 * acknowledged end: segments beyond it are removed, the last one is truncated, its indexes are cut likewise. Bytes
 * count once the caller has called sync and committed the end that bf_ledger_writer_end gives.
 * Segments roll at segment_bytes_max; .index and .timeindex get an entry per 4096 bytes
 * appended, exactly as Kafka's recovery would rebuild them.
 */
#ifndef BF_LOG_WRITER_H
#define BF_LOG_WRITER_H

#include "log/segment.h"

typedef struct BfLedgerEnd
{
	int64_t entry;    /* next entry number */
	int64_t segment;  /* base offset of the segment that holds the end */
	int64_t position; /* byte position in that segment */
} BfLedgerEnd;

typedef struct BfLedgerOptions
{
	BfCodec codec; /* default ZSTD */
	int level;
	int64_t segment_bytes_max; /* default 128 MiB; at most 2^31-1 */
} BfLedgerOptions;

typedef struct BfLedgerWriter BfLedgerWriter;

/* Creates the directory if missing. */
extern BfStatus bf_ledger_writer_open(BfArena *a, const char *dir, BfLedgerEnd end,
									  const BfLedgerOptions *options, BfLedgerWriter **out,
									  BfError *err) BF_MUST_CHECK;
/* One batch of n values; entries are numbered from the current end. */
extern BfStatus bf_ledger_append(BfLedgerWriter *w, const BfView *values, int32_t n,
								 int64_t timestamp_ms, BfError *err) BF_MUST_CHECK;
extern BfLedgerEnd bf_ledger_writer_end(const BfLedgerWriter *w);
/* Back to an earlier end (savepoint, abort). */
extern BfStatus bf_ledger_writer_rewind(BfLedgerWriter *w, BfLedgerEnd end, BfError *err)
	BF_MUST_CHECK;
/* Everything appended, and the directory, is durable on return. */
extern BfStatus bf_ledger_writer_sync(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;
/* Final time index entry; truncates preallocation. The ledger is closed. */
extern BfStatus bf_ledger_writer_close(BfLedgerWriter *w, BfError *err) BF_MUST_CHECK;

#endif
