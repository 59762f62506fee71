/*
 * pg/search.h: predicates on partition, offset and timestamp of a Kafka table, as ranges.
 *
 * The plan carries the values as expressions; they are evaluated when the scan starts and at each
 * rescan with changed parameters. A NULL value means that no row can match. The ranges may hold
 * more than the predicates allow, never less: the executor tests every row again.
 */
#ifndef BIFANG_PG_SEARCH_H
#define BIFANG_PG_SEARCH_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "exec/kafka_reader.h"

typedef struct BifangLogRange
{
	bool empty;			   /* no row can match */
	int64 partition_first; /* inclusive */
	int64 partition_last;  /* inclusive */
	BfKafkaRange range;
} BifangLogRange;

typedef struct BifangSearchSet BifangSearchSet;

extern const BifangLogRange bifang_log_everything;

/* NULL when the plan has none. */
extern BifangSearchSet *bifang_search_new(ForeignScanState *node);
extern BifangLogRange bifang_search_eval(BifangSearchSet *set, ForeignScanState *node);

#endif
