/*
 * exec/filter/keys.h: sets of keys of one or more columns, each with the newest sequence number at
 * which it was deleted.
 *
 * A row of a data file is deleted when its key is in the set with a number above the file's. Keys
 * are compared as bytes that are equal where the values are: NULL and NULL, NaN and NaN, big
 * decimals of any length; -0 and 0 are two keys.
 */
#ifndef BF_EXEC_FILTER_KEYS_H
#define BF_EXEC_FILTER_KEYS_H

#include "vec/batch.h"

typedef struct BfKeySet BfKeySet;

/* The field that a key column is made of: the only member, at any depth, of a struct; else the
 * column itself. */
extern const BfField *bf_key_leaf(const BfField *f);

/* `fields`, by ascending ids of their leaves, are borrowed; `seed` is of the hash table, since keys
 * come from outside. A key longer than key_bytes_max is BF_ERR_LIMIT. */
extern BfStatus bf_key_set_new(BfArena *a, const BfField *fields, int32_t n, uint64_t seed,
							   size_t key_bytes_max, BfKeySet **out, BfError *err) BF_MUST_CHECK;
extern const BfField *bf_key_set_fields(const BfKeySet *s, int32_t *n);
/* How many keys are in it. */
extern int64_t bf_key_set_n(const BfKeySet *s);
/* Room for so many keys more, so that it does not grow meanwhile. */
extern BfStatus bf_key_set_reserve(BfKeySet *s, uint64_t more, BfError *err) BF_MUST_CHECK;
/* The keys of all rows of the batch, whose vectors are those of the fields. */
extern BfStatus
bf_key_set_add(BfKeySet *s, const BfBatch *b, int64_t sequence, BfError *err) BF_MUST_CHECK;
/* Clears the bits of rows whose keys were deleted after `sequence`. columns[i] is the vector of
 * fields[i]. Rows whose bits are clear are not looked at. */
extern BfStatus
bf_key_set_clear(BfKeySet *s, int64_t sequence, int32_t n_rows, const BfVector *const *columns,
				 uint64_t *rows, BfError *err) BF_MUST_CHECK;

#endif
