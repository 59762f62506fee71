/*
 * vec/batch.h: column batches, the unit in which rows travel through the core.
 *
 * A batch holds up to BF_BATCH_ROWS rows; one BfVector per projected column, all of the same
 * length. Whoever fills a batch owns its buffers and may reuse them at the next call, so a
 * consumer takes what it needs before it asks for more.
 *
 *   FLAT   data[i] is row i's value
 *   DICT   codes[i] indexes the flat, null-free vector `dict`; NULL rows have an arbitrary valid
 *          code (0)
 *   CONST  data[0] is every row's value; NULL for all rows when validity says so for bit 0
 *
 * Validity is a bit per row (1 = not NULL, little-endian in 64-bit words); NULL pointer = no
 * NULLs. Values at NULL rows are unspecified but initialised (views are {NULL, 0}).
 *
 * Nested vectors (storage NESTED) have no data but children, in the order of BfField.children:
 *
 *   STRUCT  one child per field, each n long, row by row
 *   LIST    the elements of all rows, one after the other: row i has [offsets[i], offsets[i + 1])
 *   MAP     keys and values, two children of the same length, as LIST; pairs in the file's order,
 *           repeated keys and NULL keys of odd writers included
 *
 *   [[1,2],NULL,[],[3]]   validity 1 0 1 1   offsets 0 2 2 2 3   children[0]  1 2 3
 *
 * NULL rows of LIST and MAP are empty ranges; offsets[0] may be above 0. Children can be longer
 * than BF_BATCH_ROWS. They are FLAT or CONST, never DICT: CONST is a field that is the same
 * everywhere, mostly one that a file lacks. A CONST vector of nested type has the value's children
 * at row 0, and none when it is NULL. A child's values where its parent is NULL are unspecified but
 * initialised.
 *
 * The vector of a VARIANT field has type JSON: whoever reads variants makes text of them.
 */
#ifndef BF_VEC_BATCH_H
#define BF_VEC_BATCH_H

#include "vec/bits.h"
#include "vec/type.h"

#define BF_BATCH_ROWS 4096
#define BF_VALIDITY_WORDS (BF_BATCH_ROWS / 64)

typedef enum BfVectorForm
{
	BF_VEC_FLAT,
	BF_VEC_DICT,
	BF_VEC_CONST
} BfVectorForm;

typedef struct BfVector
{
	BfType type;
	BfStorage storage; /* = bf_type_storage(type) */
	BfVectorForm form;
	int32_t n;
	int32_t capacity;	/* of its own buffers: BF_BATCH_ROWS, or what bf_vector_reserve made it */
	uint64_t *validity; /* NULL = all valid; else BF_VALIDITY_WORDS words are readable, or those
						 * that n needs where that is more */
	union
	{
		void *raw;
		uint8_t *u8;
		int32_t *i32;
		int64_t *i64;
		float *f32;
		double *f64;
		bf_i128 *i128;
		BfView *view;
	} data;
	uint32_t *codes;			 /* DICT */
	const struct BfVector *dict; /* DICT; borrowed from the reader */
	uint64_t dict_epoch;		 /* DICT: changes whenever the dictionary's content does */
	int32_t *offsets;			 /* LIST, MAP: n + 1 of them; CONST: 2 */
	int32_t n_children;			 /* STRUCT, LIST, MAP; 0 of a NULL constant */
	struct BfVector *children;
	/* The buffers from bf_vector_init; data and validity may point elsewhere for a while. */
	void *own_data;				   /* owned by the arena; NULL for storage NONE and NESTED */
	uint64_t *own_validity;		   /* owned by the arena; NULL: the vector owns nothing */
	int32_t *own_offsets;		   /* owned by the arena; LIST and MAP only */
	struct BfVector *own_children; /* owned by the arena; made by bf_vector_init_field */
	int32_t own_n_children;
} BfVector;

typedef struct BfBatch
{
	int32_t n_rows;
	int32_t n_cols;
	BfVector *cols;
	const int64_t *entry;	  /* ledger entry or Kafka offset per row; NULL where there is none */
	const int64_t *timestamp; /* ms since 1970 per row, -1 = none; NULL where there is none */
	int64_t first_row;		  /* Parquet: row number in the file of the first row; else -1 */
	/* The rows that count, in BF_VALIDITY_WORDS words with no bit at n_rows or above; NULL: all of
	 * them. The others failed a predicate or are deleted, and columns that came later may hold
	 * nothing of use there. Row i is number first_row + i of its file all the same. */
	const uint64_t *selected;
	int32_t n_selected; /* how many; without meaning where all count */
} BfBatch;

/* How many rows count. */
static inline int32_t
bf_batch_n(const BfBatch *b)
{
	BF_ASSERT(b->selected == NULL || (b->n_selected >= 0 && b->n_selected <= b->n_rows));
	return b->selected != NULL ? b->n_selected : b->n_rows;
}

/* The first row at `row` or behind that counts, -1 = none:
 *
 *     for (row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1)) */
static inline int32_t
bf_batch_next(const BfBatch *b, int32_t row)
{
	if (b->selected != NULL)
		return bf_bits_next(b->selected, b->n_rows, row);
	return row < b->n_rows ? row : -1;
}

/* The children's rows [*first, *end) that belong to a row of a LIST or MAP. */
static inline void
bf_vector_items(const BfVector *v, int32_t row, int32_t *first, int32_t *end)
{
	int32_t i = v->form == BF_VEC_CONST ? 0 : row;

	*first = v->offsets[i];
	*end = v->offsets[i + 1];
}

/* The row's value whatever the form; false when NULL. For tests, single rows and cold paths. Of
 * nested values only whether it is NULL; use bf_vector_value for the rest. */
extern bool bf_vector_get(const BfVector *v, int32_t row, BfValue *out);
/* The same with nested values as BfValue has them, arrays of children from `a`; bytes of leaves are
 * not copied. */
extern BfStatus bf_vector_value(BfArena *a, const BfVector *v, int32_t row, BfValue *out,
								BfError *err) BF_MUST_CHECK;

/* A batch with flat vectors of full capacity, all owned by the arena. */
extern BfStatus bf_batch_new(BfArena *a, const BfField *fields, int32_t n, BfBatch **out,
							 BfError *err) BF_MUST_CHECK;
/* Gives a flat vector of that type its buffers (validity included, set to all valid). One of nested
 * type has no children then: it can only become a NULL constant. */
extern BfStatus bf_vector_init(BfArena *a, BfVector *v, BfType type, BfError *err) BF_MUST_CHECK;
/* The same with children, all with room for `capacity` values. */
extern BfStatus bf_vector_init_field(BfArena *a, BfVector *v, const BfField *field,
									 int32_t capacity, BfError *err) BF_MUST_CHECK;
/* Room for n values at least in the vector itself, not in its children; contents are lost when it
 * has to be made. The old buffers stay in the arena: room at least doubles, so that all of them
 * together are no larger than the last. */
extern BfStatus bf_vector_reserve(BfArena *a, BfVector *v, int32_t n, BfError *err) BF_MUST_CHECK;
/* A constant of n rows in buffers of its own, of any type; nested values as BfValue has them. Its
 * length can be changed by setting n alone. */
extern BfStatus bf_vector_init_const(BfArena *a, BfVector *v, const BfField *field,
									 const BfValue *value, int32_t n, BfError *err) BF_MUST_CHECK;
/* A NULL constant that owns nothing and needs no memory. */
extern void bf_vector_set_null(BfVector *v, BfType type, int32_t n);
/* Back to an empty flat vector over its own buffers, all valid: before each refill of a vector that
 * may have been constant, a dictionary or shared. Data is left as it is. */
extern void bf_vector_restore(BfVector *v);
/* Makes v a constant of n rows; its buffers must have been given by bf_vector_init. Of nested types
 * only NULL. */
extern void bf_vector_set_const(BfVector *v, const BfValue *value, int32_t n);

/* Can a file column of type `from` be read as `to` without loss for every value? Identity,
 * Iceberg's promotions and Parquet's synonyms:
 *
 *   integers          to wider integers, to decimals with room for all digits, to floats that
 *                     hold every value exactly
 *   FLOAT16, FLOAT32  to wider floats
 *   DECIMAL           to more precision at the same scale
 *   DATE              to TIMESTAMP, TIMESTAMP_NS (a date out of range is BF_ERR_VALUE)
 *   STRING JSON ENUM BINARY   to STRING, JSON, BINARY (text is validated by whoever shows it)
 *   INT96             to TIMESTAMP and its kin (out of range: BF_ERR_VALUE)
 *   UUID <-> FIXED(16); UUID, FIXED, BSON to BINARY
 *   NULL              to anything */
extern bool bf_type_promotable(BfType from, BfType to);
/* Converts src (any form, not nested: see vec/mapping.h) into dst (its buffers from bf_vector_init
 * of type `to`, with room for src's values). Where the storage is the same dst shares src's memory;
 * its own buffers stay its own and serve the next call. BF_ERR_UNSUPPORTED when the types are not
 * promotable. */
extern BfStatus bf_vector_promote(const BfVector *src, BfVector *dst, BfError *err) BF_MUST_CHECK;

/* The same for a single value that is not NULL. Bytes are shared. Decimals of more than 38 digits
 * that would have to be made are BF_ERR_UNSUPPORTED. */
extern BfStatus
bf_value_promote(const BfValue *from, BfType to, BfValue *out, BfError *err) BF_MUST_CHECK;

/* The other way round: which value of type `to`, if any, is promoted to this one? */
typedef enum BfDemoted
{
	BF_DEMOTED_ONE,	   /* *out */
	BF_DEMOTED_NONE,   /* there is none */
	BF_DEMOTED_UNKNOWN /* can't say, or there may be several */
} BfDemoted;

extern BfDemoted bf_value_demote(const BfValue *from, BfType to, BfValue *out);

#endif
