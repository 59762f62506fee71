/*
 * exec/read/kafka_columns.c: the columns of a Kafka log; see kafka_columns.h.
 */
#include "exec/read/kafka_columns.h"

static BfField fields[BF_KAFKA_COLUMNS] = {
	[BF_KAFKA_PARTITION] = {.name = "partition", .type = {.kind = BF_KIND_INT32}},
	[BF_KAFKA_OFFSET] = {.name = "offset", .type = {.kind = BF_KIND_INT64}},
	[BF_KAFKA_TIMESTAMP] = {.name = "timestamp", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
	[BF_KAFKA_KEY] = {.name = "key", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_VALUE] = {.name = "value", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_HEADERS] = {.name = "headers", .type = {.kind = BF_KIND_JSON}},
};

const BfSchema bf_kafka_schema = {.n_fields = BF_KAFKA_COLUMNS, .fields = fields};
