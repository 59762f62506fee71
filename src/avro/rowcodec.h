/*
 * avro/rowcodec.h: rows of a ledger, Avro binary <-> column batches.
 *
 * A ledger has exactly one schema. Each value of a log record is one row: the fields in schema
 * order; an optional field is the union [null, type]. Types map as in the Iceberg specification's
 * Avro appendix (decimal = fixed of minimal size, uuid = fixed 16, date = int, time and timestamps
 * = long of microseconds, int8/int16 do not occur).
 */
#ifndef BF_AVRO_ROWCODEC_H
#define BF_AVRO_ROWCODEC_H

#include "vec/batch.h"

/* Iceberg-flavoured Avro schema JSON with field-ids of a flat schema, and back. Nested fields are
 * BF_ERR_UNSUPPORTED. The text is deterministic. */
extern BfStatus bf_avro_schema_text(BfArena *a, const BfSchema *schema, const char *record_name,
									const char **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_avro_schema_to_table(BfArena *a, const char *json, size_t n, BfSchema **out,
										BfError *err) BF_MUST_CHECK;

/* Appends row `row` of the batch (vectors in schema order) to out. */
extern BfStatus bf_avro_encode_row(const BfSchema *schema, const BfBatch *batch, int32_t row,
								   BfBuffer *out, BfError *err) BF_MUST_CHECK;

/* Decoder for one writer schema; columns[i] is a field index of it, -1 = skip is not needed: fields
 * that are not listed are stepped over without being built. */
typedef struct BfAvroDecoder BfAvroDecoder;

extern BfStatus
bf_avro_decoder_new(BfArena *a, const BfSchema *writer, const int32_t *columns, int32_t n_columns,
					BfAvroDecoder **out, BfError *err) BF_MUST_CHECK;
/* Decodes value i into row batch->n_rows + i of the batch's flat vectors; VIEW columns point into
 * the values' bytes. Every value must be consumed exactly. */
extern BfStatus bf_avro_decode_rows(BfAvroDecoder *d, const BfView *values, int32_t n,
									BfBatch *batch, BfError *err) BF_MUST_CHECK;

#endif
