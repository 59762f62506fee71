/*
 * What the files of the Avro reader share.
 */
#ifndef BF_EXEC_READ_AVRO_INTERNAL_H
#define BF_EXEC_READ_AVRO_INTERNAL_H

#include "avro/container.h"
#include "vec/batch.h"

/* --- avro_fields.c ------------------------------------------------------------------------------
 */

/* The record's fields as a schema; names and ids are borrowed from it. */
extern BfStatus
bfi_avro_schema(BfArena *a, const BfAvroSchema *record, BfSchema **out, BfError *err) BF_MUST_CHECK;
/* The branch of a union that is not null; others as they are. */
extern const BfAvroSchema *bfi_avro_not_null(const BfAvroSchema *s);
/* Is it an array of key-value records that means a map? */
extern bool bfi_avro_is_pairs(const BfAvroSchema *s);
extern bool bfi_avro_has_ids(const BfSchema *schema);

/* --- avro_vector.c ------------------------------------------------------------------------------
 */

/* n values (NULL pointers are nulls) of a field as a flat vector, all of it in `a`. */
extern BfStatus bfi_avro_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values,
								int32_t n, BfVector *out, BfError *err) BF_MUST_CHECK;

#endif
