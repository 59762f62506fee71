/*
 * What the files of exec/delete/deletes share.
 */
#ifndef BF_EXEC_DELETE_INTERNAL_H
#define BF_EXEC_DELETE_INTERNAL_H

#include "exec/filter/rows.h"
#include "exec/delete/deletes.h"
#include "exec/reader.h"

/* --- delete_map.c: a hash table from bytes to a number ------------------------------------------
 */

typedef struct BfiMapSlot
{
	uint64_t hash;
	const uint8_t *key; /* uint32 length and bytes; NULL = the slot is free */
	int64_t value;
} BfiMapSlot;

typedef struct BfiMap
{
	BfArena *arena;
	uint64_t seed; /* of hashes */
	uint64_t n;
	uint64_t n_slots; /* a power of two */
	BfiMapSlot *slots;
	uint8_t *block; /* where the next key goes */
	size_t block_left;
} BfiMap;

extern BfStatus bfi_map_init(BfArena *a, uint64_t seed, BfiMap *m, BfError *err) BF_MUST_CHECK;
extern uint64_t bfi_map_hash(const BfiMap *m, const void *key, size_t n);
/* Brings the memory near that a key with that hash will be looked for in. */
static inline void
bfi_map_prefetch(const BfiMap *m, uint64_t hash)
{
	__builtin_prefetch(&m->slots[hash & (m->n_slots - 1)]);
}
/* Room for so many keys more, so that it does not grow meanwhile. */
extern BfStatus bfi_map_reserve(BfiMap *m, uint64_t more, BfError *err) BF_MUST_CHECK;
/* NULL = absent. */
extern const int64_t *bfi_map_find(const BfiMap *m, const void *key, size_t n, uint64_t hash);
/* The value of a key, to be read or changed before the next call; a new key has the value `fresh`.
 */
extern BfStatus bfi_map_put(BfiMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh,
							int64_t **value, BfError *err) BF_MUST_CHECK;

/* --- deletes.c ----------------------------------------------------------------------------------
 */

typedef struct BfiKeyTable BfiKeyTable;

struct BfDeleteCache
{
	BfArena *arena; /* its own, bounded; freed with the caller's */
	BfDeleteOptions options;
	BfDeleteCounters counters;
	uint64_t seed;	  /* of hash tables: keys come from outside */
	BfiMap positions; /* path -> what delete_position.c read, as a pointer */
	BfiMap tables;	  /* scope, ids -> BfiKeyTable, as a pointer */
	BfiMap key_files; /* table and path -> 1: has been read */
};

/* A reader of a delete file for these fields, in an arena of its own that the caller frees.
 * *n_rows, which may be NULL, is how many rows it may have: a guess that the file's size bounds,
 * 0 where nothing tells. */
extern BfStatus
bfi_delete_open(BfDeleteCache *c, const BfDeleteSource *s, const BfField *fields, int32_t n,
				BfArena **scratch, BfReader **out, uint64_t *n_rows, BfError *err) BF_MUST_CHECK;

/* --- delete_vector.c ----------------------------------------------------------------------------
 */

/* A blob; `at` is its position in the file. Its bytes must live as long as the rows. */
extern BfStatus bfi_vector_decode(BfArena *a, const uint8_t *blob, size_t n, int64_t at,
								  BfRows *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_vector_read(BfArena *a, BfDeleteCache *c, const BfDeleteSource *s, BfRows *out,
								BfError *err) BF_MUST_CHECK;

/* --- delete_position.c --------------------------------------------------------------------------
 */

/* The rows of a data file that a position delete file names; *out = NULL: none. */
extern BfStatus bfi_positions(BfDeleteCache *c, const BfDeleteSource *s, const char *data_path,
							  BfRows **out, BfError *err) BF_MUST_CHECK;

/* --- delete_equality.c --------------------------------------------------------------------------
 */

struct BfiKeyTable
{
	int32_t n;
	BfField *fields;		  /* by ascending ids of their leaves; nothing of it required */
	BfiMap map;				  /* key -> newest sequence number */
	BfBuffer *key;			  /* scratch: keys of a few rows */
	const BfVector **columns; /* scratch, by fields */
};

/* The field that a key column is made of. */
extern const BfField *bfi_key_leaf(const BfField *f);
/* The table that the source's keys are in, once it has been read. */
extern BfStatus bfi_key_table(BfDeleteCache *c, const BfDeleteSource *s, BfiKeyTable **out,
							  BfError *err) BF_MUST_CHECK;
/* Clears the bits of rows whose keys were deleted after `sequence`. columns[i] is the vector of
 * fields[i]. */
extern BfStatus
bfi_key_table_apply(BfiKeyTable *t, int64_t sequence, int32_t n_rows,
					const BfVector *const *columns, uint64_t *rows, BfError *err) BF_MUST_CHECK;

#endif
