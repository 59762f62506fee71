/*
 * What the files of exec/delete share.
 */
#ifndef BF_EXEC_DELETE_INTERNAL_H
#define BF_EXEC_DELETE_INTERNAL_H

#include "base/map.h"
#include "exec/delete/load.h"
#include "exec/filter/keys.h"
#include "exec/filter/rows.h"
#include "exec/reader.h"

/* --- load.c -------------------------------------------------------------------------------------
 */

struct BfDeleteCache
{
	BfArena *arena; /* its own, bounded; freed with the caller's */
	BfDeleteOptions options;
	BfDeleteCounters counters;
	uint64_t seed;	 /* of hash tables: keys come from outside */
	BfMap positions; /* path -> what position.c read, as a pointer */
	BfMap key_sets;	 /* scope, ids -> BfKeySet, as a pointer */
	BfMap key_files; /* set and path -> 1: has been read */
};

/* --- open.c -------------------------------------------------------------------------------------
 */

/* A reader of a delete file for these fields, in an arena of its own that the caller frees.
 * *n_rows, which may be NULL, is how many rows it may have: a guess that the file's size bounds,
 * 0 where nothing tells. */
extern BfStatus
bfi_delete_open(BfDeleteCache *c, const BfDeleteSource *s, const BfField *fields, int32_t n,
				BfArena **scratch, BfReader **out, uint64_t *n_rows, BfError *err) BF_MUST_CHECK;

/* --- vector.c -----------------------------------------------------------------------------------
 */

/* A blob; `at` is its position in the file. Its bytes must live as long as the rows. */
extern BfStatus bfi_vector_decode(BfArena *a, const uint8_t *blob, size_t n, int64_t at,
								  BfRows *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_vector_read(BfArena *a, BfDeleteCache *c, const BfDeleteSource *s, BfRows *out,
								BfError *err) BF_MUST_CHECK;

/* --- position.c ---------------------------------------------------------------------------------
 */

/* The rows of a data file that a position delete file names; *out = NULL: none. */
extern BfStatus bfi_positions(BfDeleteCache *c, const BfDeleteSource *s, const char *data_path,
							  BfRows **out, BfError *err) BF_MUST_CHECK;

/* --- equality.c ---------------------------------------------------------------------------------
 */

/* The set that the source's keys are in, once it has been read. */
extern BfStatus
bfi_equality(BfDeleteCache *c, const BfDeleteSource *s, BfKeySet **out, BfError *err) BF_MUST_CHECK;

#endif
