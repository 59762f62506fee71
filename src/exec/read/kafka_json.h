/*
 * exec/read/kafka_json.h: a record's headers as JSON text; see kafka_reader.h.
 */
#ifndef BF_EXEC_READ_KAFKA_JSON_H
#define BF_EXEC_READ_KAFKA_JSON_H

#include "log/batch.h"

/* Appends the text. */
extern BfStatus
bfi_kafka_headers_json(const BfRecord *r, BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
