/*
 * avro/rowcodec.h: rows of a ledger, Avro binary <-> column batches.
 *
 * A ledger has exactly one schema. Each value of a log record is one row: the fields in schema
 * order; an optional field is the union [null, type], so one byte (0 or 2) before the value. Types
 * map as in the Iceberg specification's Avro appendix:
 *
 *   BOOL            boolean                    DATE                         int, date
 *   INT32           int                        TIME                         long, time-micros
 *   INT64           long                       TIMESTAMP, TIMESTAMPTZ       long, timestamp-micros
 *   FLOAT32         float                      TIMESTAMP_NS, TIMESTAMPTZ_NS long, timestamp-nanos
 *   FLOAT64         double                     UUID                         fixed[16], uuid
 *   STRING          string                     FIXED                        fixed[length]
 *   BINARY          bytes                      DECIMAL(p <= 38)             fixed[least], decimal
 *   NULL            null
 *
 * Timestamps carry adjust-to-utc, fields field-id, the record schema-id. `least` is the fewest
 * bytes that hold every number of p digits; numbers are big-endian two's complement. JSON and ENUM
 * are written as string, BSON as bytes, and come back as those. Other kinds are BF_ERR_UNSUPPORTED.
 *
 * Worked example, {id long required, name string}: (5, "hi") is 0a 02 04 68 69, (5, NULL) is 0a 00.
 */
#ifndef BF_AVRO_ROWCODEC_H
#define BF_AVRO_ROWCODEC_H

#include "vec/batch.h"

/* Iceberg-flavoured Avro schema JSON with field-ids of a flat schema, and back. Nested fields are
 * BF_ERR_UNSUPPORTED. The text is deterministic. Names that Avro does not allow are written as
 * Iceberg's Java writers do, with the true one in iceberg-field-name. */
extern BfStatus bf_avro_schema_text(BfArena *a, const BfSchema *schema, const char *record_name,
									const char **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_avro_schema_to_table(BfArena *a, const char *json, size_t n, BfSchema **out,
										BfError *err) BF_MUST_CHECK;

/* Appends row `row` of the batch (vectors in schema order, of any form) to out. A value that the
 * schema has no room for (NULL in a required column, a decimal with too many digits, a fixed of
 * another length) is BF_ERR_VALUE naming the column; out is then as before. */
extern BfStatus bf_avro_encode_row(const BfSchema *schema, const BfBatch *batch, int32_t row,
								   BfBuffer *out, BfError *err) BF_MUST_CHECK;

/* Decoder for one writer schema; columns[i] is a field index of it, each at most once. Fields that
 * are not listed are stepped over without being built. */
typedef struct BfAvroDecoder BfAvroDecoder;

extern BfStatus
bf_avro_decoder_new(BfArena *a, const BfSchema *writer, const int32_t *columns, int32_t n_columns,
					BfAvroDecoder **out, BfError *err) BF_MUST_CHECK;
/* Decodes value i into row batch->n_rows + i of the batch's vectors (from bf_batch_new or
 * bf_vector_init, of the writer's types, in the order of `columns`); VIEW columns point into the
 * values' bytes. Every value must be consumed exactly. A batch with n_rows = 0 starts afresh: a
 * vector without NULLs has validity = NULL afterwards. On failure n_rows counts the rows that were
 * good, and the error's offset is the position in the value after them. */
extern BfStatus bf_avro_decode_rows(BfAvroDecoder *d, const BfView *values, int32_t n,
									BfBatch *batch, BfError *err) BF_MUST_CHECK;

#endif
