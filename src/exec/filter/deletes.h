/*
 * exec/filter/deletes.h: which rows of a data file are deleted.
 *
 * Sets of row numbers and sets of keys, put together by whoever has read them (delete/load.h);
 * nothing here knows of files.
 *
 *     rows, by their number in the file ----\
 *                                            +--> bits of a batch's rows, cleared
 *     keys, by the values of columns -------/
 */
#ifndef BF_EXEC_FILTER_DELETES_H
#define BF_EXEC_FILTER_DELETES_H

#include "exec/filter/keys.h"
#include "exec/filter/rows.h"
#include "vec/pred.h"

typedef struct BfDeletes BfDeletes;

/* Nothing is deleted yet. `sequence` is the data file's data sequence number. */
extern BfStatus
bf_deletes_new(BfArena *a, int64_t sequence, BfDeletes **out, BfError *err) BF_MUST_CHECK;
/* Sets are borrowed; empty ones are left out. */
extern BfStatus
bf_deletes_add_rows(BfArena *a, BfDeletes *d, BfRows *rows, BfError *err) BF_MUST_CHECK;
/* One that is there already is not added again. */
extern BfStatus
bf_deletes_add_keys(BfArena *a, BfDeletes *d, BfKeySet *keys, BfError *err) BF_MUST_CHECK;
/* Can a row be deleted? */
extern bool bf_deletes_any(const BfDeletes *d);
/* How many row numbers the file, of so many rows, does not have; 0 where n_rows is negative. */
extern int64_t bf_deletes_behind(const BfDeletes *d, int64_t n_rows);
/* The columns that must be read for it, by field id, besides those of the query: n fields. None of
 * them is required; they may be of no schema that the query knows. */
extern const BfField *bf_deletes_fields(const BfDeletes *d, int32_t *n);
/* Clears the bits of deleted rows: bit i is row first_row + i of the data file, whatever row groups
 * and pages were passed over before. column_of(arg, k) is the vector of the k-th field, n_rows
 * long. Rows whose bits are clear are not looked at. `rows` has BF_VALIDITY_WORDS words. */
extern BfStatus
bf_deletes_apply(BfDeletes *d, int64_t first_row, int32_t n_rows, BfColumnOf column_of, void *arg,
				 uint64_t *rows, BfError *err) BF_MUST_CHECK;

#endif
