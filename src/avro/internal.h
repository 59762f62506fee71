/* avro/internal.h: what the files of this folder share. */
#ifndef BF_AVRO_INTERNAL_H
#define BF_AVRO_INTERNAL_H

#include "avro/container.h"

/* As bf_avro_schema_parse; *n_nodes is the size of the schema, the measure for what a record may
 * contain without taking bytes. */
extern BfStatus bfi_avro_schema_parse(BfArena *a, const char *json, size_t n, BfAvroSchema **out,
									  int32_t *n_nodes, BfError *err) BF_MUST_CHECK;

/* Reads values of one block. `credit` is how many more values may take no bytes: without it a
 * few bytes could claim 2^62 nulls. */
typedef struct BfAvroDecode
{
	BfCursor cursor;
	BfArena *row;
	const BfHost *host;
	int64_t credit;
	int32_t n_nodes;
	uint32_t ticks;
} BfAvroDecode;

extern BfStatus bfi_avro_read_value(BfAvroDecode *d, const BfAvroSchema *s, int depth,
									BfAvroValue *out, BfError *err) BF_MUST_CHECK;

#endif
