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
 */
#ifndef BF_VEC_BATCH_H
#define BF_VEC_BATCH_H

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
	uint64_t *validity; /* NULL = all valid; else BF_VALIDITY_WORDS words are readable */
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
	/* The buffers from bf_vector_init; data and validity may point elsewhere for a while. */
	void *own_data;			/* owned by the arena; NULL for storage NONE and NESTED */
	uint64_t *own_validity; /* owned by the arena; NULL: the vector owns nothing */
} BfVector;

typedef struct BfBatch
{
	int32_t n_rows;
	int32_t n_cols;
	BfVector *cols;
	const int64_t *entry;	  /* ledger entry or Kafka offset per row; NULL where there is none */
	const int64_t *timestamp; /* ms since 1970 per row, -1 = none; NULL where there is none */
	int64_t first_row;		  /* Parquet: row number in the file of the first row; else -1 */
} BfBatch;

static inline bool
bf_valid(const uint64_t *validity, int32_t i)
{
	return validity == NULL || ((validity[i >> 6] >> (i & 63)) & 1) != 0;
}

static inline void
bf_validity_set(uint64_t *validity, int32_t i, bool valid)
{
	uint64_t bit = (uint64_t) 1 << (i & 63);

	if (valid)
		validity[i >> 6] |= bit;
	else
		validity[i >> 6] &= ~bit;
}

/* The row's value whatever the form; false when NULL. For tests, single rows and cold paths. */
extern bool bf_vector_get(const BfVector *v, int32_t row, BfValue *out);

/* A batch with flat vectors of full capacity, all owned by the arena. */
extern BfStatus bf_batch_new(BfArena *a, const BfField *fields, int32_t n, BfBatch **out,
							 BfError *err) BF_MUST_CHECK;
/* Gives a flat vector of that type its buffers (validity included, set to all valid). */
extern BfStatus bf_vector_init(BfArena *a, BfVector *v, BfType type, BfError *err) BF_MUST_CHECK;
/* Back to an empty flat vector over its own buffers, all valid: before each refill of a vector that
 * may have been constant, a dictionary or shared. Data is left as it is. */
extern void bf_vector_restore(BfVector *v);
/* Makes v a constant of n rows; its buffers must have been given by bf_vector_init. */
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
 *   UUID <-> FIXED(16); UUID, FIXED, BSON to BINARY
 *   NULL              to anything */
extern bool bf_type_promotable(BfType from, BfType to);
/* Converts src (any form) into dst (its buffers from bf_vector_init of type `to`). Where the
 * storage is the same dst shares src's memory; its own buffers stay its own and serve the next
 * call. BF_ERR_UNSUPPORTED when the types are not promotable. */
extern BfStatus bf_vector_promote(const BfVector *src, BfVector *dst, BfError *err) BF_MUST_CHECK;

#endif
