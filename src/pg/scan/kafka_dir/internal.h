/*
 * pg/scan/kafka_dir/internal.h: what the files of kafka_dir.h share.
 */
#ifndef BIFANG_PG_SCAN_KAFKA_DIR_INTERNAL_H
#define BIFANG_PG_SCAN_KAFKA_DIR_INTERNAL_H

#include "pg/scan/kind.h"

/* kafka_dir.c */
/* Is it the directory of a partition? *topic is palloc'd. */
extern bool bifang_kafka_dir_partition(const char *path, char **topic, int32 *partition);
/* Fixes where the log ends, for all scans of the snapshot. What was read for that is added to `io`,
 * unless it is NULL. */
extern void bifang_kafka_dir_fix_end(const BifangWorklist *w, const BifangOptions *o,
									 BfScanSource *f, BfIoCounters *io);

/* unit.c */
extern void bifang_kafka_dir_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u);

/* import.c */
extern void bifang_kafka_dir_import(BifangImport *im);

#endif
