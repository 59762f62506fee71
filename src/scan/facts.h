/*
 * scan/facts.h: facts about rows that are no columns, but tell where a row comes from.
 *
 * They take part in predicates as fields behind the table's own (scan/work.h), and a foreign table
 * can show them as columns.
 */
#ifndef BF_SCAN_FACTS_H
#define BF_SCAN_FACTS_H

#include "vec/type.h"

typedef enum BfFact
{
	BF_FACT_NONE,
	BF_FACT_LEDGER,	   /* INT64 */
	BF_FACT_ENTRY,	   /* INT64: number in the ledger, offset in the partition */
	BF_FACT_TIMESTAMP, /* TIMESTAMPTZ: when the row came */
	BF_FACT_TIER,	   /* STRING: name of the tier */
	BF_FACT_FILE,	   /* STRING: path of the unit */
	BF_FACT_POS,	   /* INT64: number in the file */
	BF_FACT_ROW_ID,	   /* INT64: row lineage of Iceberg v3 */
	BF_FACT_SEQUENCE,  /* INT64: last_updated_sequence_number */
	BF_FACT_COUNT
} BfFact;

extern BfType bf_fact_type(BfFact fact);

#endif
