/*
 * exec/read/constants.h: values of identity partitions as what a file lacks, inside the folder.
 *
 * A column that is not in the file has the partition's value; so has a member of a struct. For a
 * mapping that is an initial default (vec/mapping.h), which the value takes the place of.
 */
#ifndef BF_EXEC_READ_CONSTANTS_H
#define BF_EXEC_READ_CONSTANTS_H

#include "exec/reader.h"

/* NULL: there is none. A value of kind NULL says that there is none. */
extern const BfValue *bfi_constant_of(const BfConstants *constants, int32_t id);
/* *out = want itself or, where a member of it has a constant, a copy in which members have theirs
 * as initial default. Where the member's value is not NULL the struct is none either: it has a
 * default then, for files that lack all of it. Constants may be of the type that the member had
 * earlier. */
extern BfStatus
bfi_field_with_constants(BfArena *a, const BfField *want, const BfConstants *constants,
						 const BfField **out, BfError *err) BF_MUST_CHECK;

#endif
