/*
 * exec/read/kafka_columns.h: the columns of a Kafka log, the one list of them.
 *
 * Names and types are in bf_kafka_schema, field by field in the order of the enum: readers,
 * planner, IMPORT and messages all take them from there.
 */
#ifndef BF_EXEC_READ_KAFKA_COLUMNS_H
#define BF_EXEC_READ_KAFKA_COLUMNS_H

#include "vec/type.h"

typedef enum BfKafkaColumn
{
	BF_KAFKA_PARTITION, /* of the topic */
	BF_KAFKA_OFFSET,	/* in the partition */
	BF_KAFKA_TIMESTAMP, /* the producer's or the broker's; NULL when the record has none */
	BF_KAFKA_KEY,		/* NULL when the record has none */
	BF_KAFKA_VALUE,		/* likewise */
	BF_KAFKA_HEADERS,	/* [{"key": ..., "value": base64 or null}], see kafka_reader.h */
	BF_KAFKA_COLUMNS
} BfKafkaColumn;

extern const BfSchema bf_kafka_schema;

/* What a log's index finds without reading all of it. */
static inline bool
bf_kafka_searchable(BfKafkaColumn column)
{
	return column <= BF_KAFKA_TIMESTAMP;
}

#endif
