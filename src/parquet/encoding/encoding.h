/*
 * parquet/encoding/encoding.h: the encodings of values, a file and a row of a table each.
 *
 * A *values section* is what a page has behind its levels: n values, none of them NULL. Whoever
 * reads a chunk keeps one BfiValues for all its pages:
 *
 *     bfi_values_init      once, for the column
 *     bfi_values_begin     per page: finds the row, checks what can be said of the whole page
 *     bfi_values_decode    the next values; or
 *     bfi_values_skip      passes over them; or
 *     bfi_dictionary_codes gives the codes of a dictionary-encoded page instead of the values
 *     bfi_values_keep      between batches, before the memory of the last one goes away
 *
 * Values are *native*: int32, int64, float, double, a byte of 0 or 1 per boolean, and a BfView per
 * byte array of any kind (BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY, INT96). A dictionary-encoded page gives
 * what the chunk's dictionary holds. Where a view points is said by the row (`views_in_page`).
 *
 * Adding an encoding: a file here that defines `const BfiMethods bfi_encoding_<file>`, and a row in
 * BFI_ENCODINGS. Nothing else knows which encodings there are. The other folders ask the row:
 * which values can be had as codes, which point into the page.
 *
 * Sections may be read, but are not used, up to BFI_SLACK bytes behind their end; who provides them
 * guarantees that those bytes are readable. Errors are at the file position of the page.
 */
#ifndef BF_PARQUET_ENCODING_ENCODING_H
#define BF_PARQUET_ENCODING_ENCODING_H

#include "codec/codec.h"
#include "parquet/encoding/rle.h"
#include "parquet/format.h"
#include "vec/batch.h"

_Static_assert(BFI_PHYSICAL_COUNT < 32, "a bit of `fits` for each");

#define BFI_FITS(type) (1U << BFI_##type)
#define BFI_FITS_ALL (BFI_FITS(PHYSICAL_COUNT) - 1)
#define BFI_FITS_INTEGERS (BFI_FITS(INT32) | BFI_FITS(INT64))
#define BFI_FITS_FLOATS (BFI_FITS(FLOAT) | BFI_FITS(DOUBLE))
#define BFI_FITS_STREAMS (BFI_FITS_INTEGERS | BFI_FITS_FLOATS | BFI_FITS(FLBA))

/* Number in the file, name in the specification, file of the methods, physical types it fits. */
#define BFI_ENCODINGS(X)                                                                  \
	X(0, PLAIN, plain, BFI_FITS_ALL)                                                      \
	X(2, PLAIN_DICTIONARY, dictionary, BFI_FITS_ALL) /* the old name of RLE_DICTIONARY */ \
	X(3, RLE, rle, BFI_FITS(BOOLEAN))                                                     \
	X(4, BIT_PACKED, bit_packed, 0) /* levels only */                                     \
	X(5, DELTA_BINARY_PACKED, delta_binary_packed, BFI_FITS_INTEGERS)                     \
	X(6, DELTA_LENGTH_BYTE_ARRAY, delta_length_byte_array, BFI_FITS(BYTE_ARRAY))          \
	X(7, DELTA_BYTE_ARRAY, delta_byte_array, BFI_FITS(BYTE_ARRAY) | BFI_FITS(FLBA))       \
	X(8, RLE_DICTIONARY, dictionary, BFI_FITS_ALL)                                        \
	X(9, BYTE_STREAM_SPLIT, byte_stream_split, BFI_FITS_STREAMS)                          \
	X(10, ALP, alp, BFI_FITS_FLOATS)

/* BFI_PLAIN and so on: the numbers, for those who read or write them. */
#define BFI_ENCODING_NUMBER(number, name, file, fits) BFI_##name = (number),
typedef enum BfiEncodingNumber
{
	BFI_ENCODINGS(BFI_ENCODING_NUMBER)
} BfiEncodingNumber;
#undef BFI_ENCODING_NUMBER

/* The dictionary of a chunk, whose entries are in the form that the reader wants. */
typedef struct BfiDictionary
{
	int32_t n;			  /* -1: the chunk has none */
	uint32_t value_bytes; /* 1, 4, 8 or 16 */
	const void *values;	  /* borrowed */
} BfiDictionary;

typedef struct BfiMethods BfiMethods;

typedef struct BfiValues
{
	/* Of the column; to be filled before bfi_values_init. */
	BfiPhysical physical;
	uint32_t width;	   /* bytes of a value; 0: BYTE_ARRAY and BOOLEAN */
	size_t bytes_max;  /* of values that are put together, per call */
	BfArena *batch;	   /* borrowed; memory that lives until the next batch begins */
	uint32_t *scratch; /* borrowed; 2 * BF_BATCH_ROWS numbers, of no meaning between calls */
	void *spare;	   /* borrowed; BF_BATCH_ROWS native values, of no meaning between calls */

	/* Of the chunk. */
	BfiDictionary dict;
	BfView previous;		 /* DELTA_BYTE_ARRAY: the last value */
	BfBuffer *previous_kept; /* where it lives between batches */
	bool carry_previous;	 /* PARQUET-246: it is also the one before the next page's first */

	/* Of the page. */
	const BfiMethods *methods; /* never NULL; before the first page those of PLAIN */
	void *state;			   /* the methods' own */
	int64_t at;				   /* file position of the page, for messages */
	int32_t n;
	int32_t left; /* values not yet decoded */
} BfiValues;

/* The values of a page that is to be written: native, dense (no NULLs), all of one page. The data
 * of a flat vector without NULLs is that as it stands when its storage is the physical form. */
typedef struct BfiNative
{
	BfiPhysical physical;
	uint32_t width; /* as in BfiValues */
	int32_t n;
	const void *values; /* borrowed; for a dictionary-encoded page the codes, uint32 */
} BfiNative;

/* What an encoding is. All are called with n > 0 and, but for `begin`, n <= v->left and n <=
 * BF_BATCH_ROWS; v->left counts down after the call, so that v->n - v->left values are done. */
struct BfiMethods
{
	uint32_t state_bytes; /* what *v->state takes */
	bool codes;			  /* values are codes of the chunk's dictionary */
	bool views_in_page;	  /* views point into the section, else to v->batch or the dictionary */

	/* Starts on the v->n values of the section. NULL: only levels are encoded so. */
	BfStatus (*begin)(BfiValues *v, const uint8_t *p, size_t len, BfError *err);
	/* The next n native values. */
	BfStatus (*decode)(BfiValues *v, int32_t n, void *out, BfError *err);
	/* Passes over n values. NULL: as each is needed for the next, they are decoded. */
	BfStatus (*skip)(BfiValues *v, int32_t n, BfError *err);
	/* Appends a values section to `out`, which is bounded: BF_ERR_LIMIT, and out->len as before,
	 * when it would not fit. Where the section changes its kind is added to `seams`, as places in
	 * `out`. NULL: we read it, but don't write it. */
	BfStatus (*encode)(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err);
	/* n levels of `width` bits at the cursor, which moves behind them (the V1 form, which finds its
	 * own end). `turned` keeps bytes that *out points to. NULL: not for levels. */
	BfStatus (*levels)(BfCursor *cur, uint32_t n, uint32_t width, BfBuffer *turned, BfiRle *out,
					   BfError *err);
};

#define BFI_ENCODING_DECLARE(number, name, file, fits) extern const BfiMethods bfi_encoding_##file;
BFI_ENCODINGS(BFI_ENCODING_DECLARE)
#undef BFI_ENCODING_DECLARE

typedef struct BfiEncoding
{
	const char *name;
	int32_t number;
	uint32_t fits; /* BFI_FITS of the physical types */
	const BfiMethods *methods;
} BfiEncoding;

/* NULL: no such encoding. */
extern const BfiEncoding *bfi_encoding_find(int32_t number);
/* "unknown" where there is none. */
extern const char *bfi_encoding_name(int32_t number);

extern BfStatus bfi_values_init(BfArena *a, BfiValues *v, BfError *err) BF_MUST_CHECK;
/* At the start of a chunk: no dictionary, no value before the first. */
extern void bfi_values_reset(BfiValues *v, bool carry_previous);
extern BfStatus bfi_values_begin(BfiValues *v, int32_t encoding, BfView section, int32_t n,
								 int64_t at, BfError *err) BF_MUST_CHECK;
/* n <= BF_BATCH_ROWS, n <= left. */
extern BfStatus bfi_values_decode(BfiValues *v, int32_t n, void *out, BfError *err) BF_MUST_CHECK;
/* n <= left. What is passed over may take memory of the batch. */
extern BfStatus bfi_values_skip(BfiValues *v, int32_t n, BfError *err) BF_MUST_CHECK;
/* n codes of a dictionary-encoded page, all < dict.n. n <= left. */
extern BfStatus
bfi_dictionary_codes(BfiValues *v, int32_t n, uint32_t *out, BfError *err) BF_MUST_CHECK;
/* What the next values need is moved out of the batch's memory. */
extern BfStatus bfi_values_keep(BfiValues *v, BfError *err) BF_MUST_CHECK;

/* One more place; it is left out when there is no room. */
static inline void
bfi_add_seam(BfSeams *seams, size_t at)
{
	BF_ASSERT(seams->n == 0 || seams->at[seams->n - 1] <= at);
	if (seams->n < BF_SEAMS_MAX)
		seams->at[seams->n++] = at;
}

/* For encodings that find any value by its number. */
extern BfStatus bfi_skip_by_number(BfiValues *v, int32_t n, BfError *err) BF_MUST_CHECK;
/* Memory that lives as long as the batch. */
extern BfStatus bfi_values_alloc(BfiValues *v, size_t n, uint8_t **out, BfError *err) BF_MUST_CHECK;

#endif
