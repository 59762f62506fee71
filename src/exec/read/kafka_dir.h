/*
 * exec/read/kafka_dir.h: names of the directories of partitions.
 */
#ifndef BF_EXEC_READ_KAFKA_DIR_H
#define BF_EXEC_READ_KAFKA_DIR_H

#include <stdbool.h>
#include <stdint.h>

/* Splits `<topic>-<partition>`, the last part of a path, at the last '-' (*topic_end points to it);
 * false when the name is none or has a -delete, -future or -stray suffix. */
extern bool bf_kafka_dir_name(const char *dir, const char **topic_end, int32_t *partition);

#endif
