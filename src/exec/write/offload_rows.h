/*
 * exec/write/offload_rows.h: what the columns of an offload file's blocks lie between.
 *
 * The bytes of a block's bounds, numbers as LEB128:
 *
 *   columns                  how many follow, in the order of the schema; those that are nested or
 *                            have no order are not among them
 *     id                     of the field
 *     flags                  a byte: 1 a lower bound is there, 2 an upper one
 *     values, NULLs, NaNs    values with NULLs and NaNs among them, as many as the block has
 * entries lower, upper           length, bytes
 *
 * A bound is a value as a vector holds it, little-endian; of bytes and texts no more than 16
 * (characters), cut as vec/bounds.h does. The type is that of the file's schema. Read by
 * exec/read/offload_prune.c.
 */
#ifndef BF_EXEC_WRITE_OFFLOAD_ROWS_H
#define BF_EXEC_WRITE_OFFLOAD_ROWS_H

#include "log/offload.h"

/* For bf_offload_write_shown. Rows that can't be decoded leave their block without bounds. */
extern BfStatus bf_exec_offload_rows(BfArena *a, const char *schema_json, BfOffloadRows *out,
									 BfError *err) BF_MUST_CHECK;

#endif
