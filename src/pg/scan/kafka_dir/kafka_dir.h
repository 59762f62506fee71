/*
 * pg/scan/kafka_dir/kafka_dir.h: partition directories of a Kafka broker, one or those of a glob.
 *
 * Their columns are always the same (exec/read/kafka_columns.h). Where a log ends is decided by the
 * first pass over it, or before other processes help, and kept for the whole snapshot: with
 * isolation read_committed it is the last stable offset, for what was open then may have committed
 * since.
 */
#ifndef BIFANG_PG_SCAN_KAFKA_DIR_KAFKA_DIR_H
#define BIFANG_PG_SCAN_KAFKA_DIR_KAFKA_DIR_H

#include "pg/scan/kind.h"

extern const BifangKind bifang_kind_kafka_dir;

#endif
