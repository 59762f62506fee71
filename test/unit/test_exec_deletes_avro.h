/*
 * Delete files as Avro: the same rows as a Parquet file, for tests of both.
 */
#ifndef TEST_UNIT_TEST_EXEC_DELETES_AVRO_H
#define TEST_UNIT_TEST_EXEC_DELETES_AVRO_H

#include "base/bytes.h"

/* Path of an Avro file in the test's directory with the flat columns of a Parquet file, their field
 * ids and rows; NULL after a failure, which the test then has. */
extern const char *test_avro_copy(BfArena *a, const char *parquet);

#endif
