/*
 * exec/read/kafka_start.h: where a partition begins when its records were deleted up to an offset.
 *
 * A broker keeps this in a file of the directory that all partitions are in:
 *
 *   log-start-offset-checkpoint
 *     0                             version
 *     2                             entries
 *     <topic> <partition> <offset>  one a line
 *
 * It names only partitions that begin inside of their first segment. The file is replaced as a
 * whole, so a damaged one is an error.
 */
#ifndef BF_EXEC_READ_KAFKA_START_H
#define BF_EXEC_READ_KAFKA_START_H

#include "base/bytes.h"

/* *start = 0 when there is no such file, or no entry in it. `dir` is the partition's directory. */
extern BfStatus
bfi_kafka_start_offset(BfArena *a, const char *dir, int64_t *start, BfError *err) BF_MUST_CHECK;
/* The same over the file's bytes. */
extern BfStatus
bfi_kafka_start_parse(BfView text, const char *topic, size_t topic_len, int32_t partition,
					  int64_t *start, BfError *err) BF_MUST_CHECK;

#endif
