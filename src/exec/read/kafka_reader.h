/*
 * exec/read/kafka_reader.h: a Kafka partition directory as rows.
 *
 * Columns are those of kafka_columns.h; vectors of the projection follow `columns`.
 * Headers come out as JSON text: an array of {"key": text, "value": base64 text or null} in record
 * order, since keys may repeat; bytes of a key that are not UTF-8 become U+FFFD. A record without
 * headers has `[]`.
 *
 * Control batches are never rows. With read_committed neither rows of aborted transactions nor any
 * entry at or past the last stable offset are; the markers in the log tell, no index is asked.
 * Offset and time bounds become index searches: segments and batches that can't have a row are
 * passed over, and what is left is filtered record by record. Timestamps need not ascend, so an
 * upper bound in time skips only batches whose records all have the broker's time. A record without
 * timestamp is outside of any time bound.
 *
 * Records before the offset up to which they were deleted (kafka_start.h) are no rows.
 *
 * Several readers may share a partition, each with other offsets. What decides about a record of a
 * transaction lies behind it, and where a reader starts none may be open. Looking for those passes
 * the log from the newest snapshot to there, unless the caller has the reader end at the last
 * stable offset (`none_open`).
 *
 * Batches of few records are copied together into one column batch; of larger ones the key and
 * value views point into the decompressed bytes.
 */
#ifndef BF_EXEC_READ_KAFKA_READER_H
#define BF_EXEC_READ_KAFKA_READER_H

#include "exec/read/kafka_columns.h"
#include "exec/reader.h"
#include "log/segment.h"

typedef struct BfKafkaRange
{
	int64_t offset_first;	   /* inclusive; 0 or less = from the start */
	int64_t offset_end;		   /* exclusive; INT64_MAX = to the end */
	int64_t time_first_ms;	   /* inclusive lower bound; INT64_MIN = none */
	int64_t time_last_ms;	   /* inclusive upper bound; INT64_MAX = none */
	const BfRangeSet *offsets; /* NULL = all of them; copied */
	bool none_open;			   /* no transaction that began before offset_end is open */
	bool time_or_null; /* times that 64 bits of microseconds don't hold are NULL, not an error */
} BfKafkaRange;

/* `counters` may be NULL; it is added to. The column list is copied. */
extern BfStatus
bf_exec_kafka_reader(BfArena *a, const char *dir, int32_t partition, bool read_committed,
					 const BfKafkaRange *range, const BfKafkaColumn *columns, int32_t n_columns,
					 BfLogCounters *counters, BfReader **out, BfError *err) BF_MUST_CHECK;

#endif
