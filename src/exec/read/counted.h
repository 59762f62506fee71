/*
 * exec/read/counted.h: rows of a file, held against what its manifest entry says.
 *
 * A file that has another number of rows than whoever committed it counted is not the file that was
 * committed, or was not counted right: rows may be missing, and what the entry says of its columns
 * proves nothing. Its size is not held against anything: writers that tell a wrong one are common,
 * and those files are whole. Of files of deletes only fewer rows count: there are writers that tell
 * too few, and everybody applies what is there.
 */
#ifndef BF_EXEC_READ_COUNTED_H
#define BF_EXEC_READ_COUNTED_H

#include "exec/reader.h"

/* What the entry says. */
typedef struct BfRowClaim
{
	int64_t n; /* negative: nothing */
	bool more; /* so many at least */
} BfRowClaim;

/* BF_ERR_CORRUPT unless that is so. `what` is "file" or the part of the file `name` that was
 * counted. */
extern BfStatus bf_counted_check(const char *what, const char *name, int64_t has, BfRowClaim says,
								 BfError *err) BF_MUST_CHECK;

/* The rows of `below`, a reader of whole batches of a whole file, checked once it has ended: for
 * files that don't say how many rows they have. */
extern BfStatus bf_counted_reader(BfArena *a, BfReader *below, BfRowClaim says, BfReader **out,
								  BfError *err) BF_MUST_CHECK;

#endif
