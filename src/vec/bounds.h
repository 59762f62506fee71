/*
 * vec/bounds.h: what the values of a column lie between, and how many are NULL, gathered as batches
 * come, for whoever writes statistics.
 *
 *     bf_bounds_init(&b, type, bytes);
 *     bf_bounds_add(a, &b, vector, first, n)      any number of times
 *     bf_bounds_lower(...), bf_bounds_upper(...)  what may be written of it
 *
 * Of bytes no more than a given number of the first ones is kept: the prefix of the least value is
 * the least prefix, and likewise above. What is cut is cut by characters of a text, by bytes of
 * anything else. A cut lower bound is a bound as it is. A cut upper one is counted up: its last
 * character (byte) becomes the next one that there is, and one that has no next one is left out;
 * where nothing is left there is no bound.
 *
 *     values         "", "aé", "zz\U0010ffff!"      of 3 characters
 *     lower, upper   "", "z{"
 *
 * NaN lies nowhere and is counted. A lower bound of zero is -0 and an upper one +0, whatever came:
 * to some -0 lies below. Kinds without an order have counts alone.
 */
#ifndef BF_VEC_BOUNDS_H
#define BF_VEC_BOUNDS_H

#include "vec/batch.h"

/* What a cut bound needs to be kept of each value: so many characters, and whether there are more.
 */
#define BF_BOUNDS_TEXT_BYTES(characters) (4 * (characters))

typedef struct BfBounds
{
	BfType type;
	uint32_t bytes_max; /* that are kept of a value */
	int64_t values;		/* NULLs and NaNs included */
	int64_t nulls;
	int64_t nans;
	bool has;	  /* a value came that is neither */
	bool max_cut; /* max is the beginning of a longer one */
	BfValue min;  /* bytes are copies */
	BfValue max;
	uint32_t room[2]; /* for their bytes */
} BfBounds;

extern void bf_bounds_init(BfBounds *b, BfType type, uint32_t bytes_max);
/* Rows first .. first + n - 1 of the vector, which has the type. Copies are in `a`. */
extern BfStatus bf_bounds_add(BfArena *a, BfBounds *b, const BfVector *v, int32_t first, int32_t n,
							  BfError *err) BF_MUST_CHECK;
/* At most so many characters (bytes) of them; 0 = as many as were kept. *has = false: none can be
 * said. Bytes may be the bounds' own. */
extern void bf_bounds_lower(const BfBounds *b, int32_t length, BfValue *out, bool *has);
extern BfStatus bf_bounds_upper(BfArena *a, const BfBounds *b, int32_t length, BfValue *out,
								bool *has, BfError *err) BF_MUST_CHECK;

/* The bytes of the first `length` characters of a text, bytes of anything else. */
extern uint32_t bf_bounds_prefix(BfView bytes, bool text, int32_t length);
/* The least that is above everything with the prefix and no longer in characters (bytes); `out` has
 * room for a byte more than the prefix has. False when there is none. */
extern bool bf_bounds_after(BfView prefix, bool text, uint8_t *out, uint32_t *len);

#endif
