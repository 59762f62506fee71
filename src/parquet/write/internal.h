/*
 * parquet/write/internal.h: what the files of this folder share. README.md draws the picture.
 *
 * Words: *storage* values are a vector's, *native* ones those of the physical type in the form that
 * the encodings take (encoding.h); a *piece* is some rows of a leaf on their way into its page.
 */
#ifndef BF_PARQUET_WRITE_INTERNAL_H
#define BF_PARQUET_WRITE_INTERNAL_H

#include "parquet/encode.h"
#include "parquet/format.h"
#include "parquet/write/thrift_out.h"
#include "parquet/write/writer.h"

/* Rows of a batch that are taken at once. Whether a row group is full is asked when the number of
 * its rows is a multiple of this, so that it doesn't matter how rows were cut into batches. */
#define BFI_PIECE_ROWS 1024
#define BFI_BOUND_BYTES 64
/* Levels fit into a byte. */
#define BFI_WRITE_DEPTH_MAX 100
#define BFI_WRITE_LEAVES_MAX 32767

/* ---- schema ---- */

/* How storage becomes native. */
typedef enum BfiNarrow
{
	BFI_NARROW_NONE,	  /* as it is */
	BFI_NARROW_RANGE,	  /* as it is, within lo..hi: INT_8 and the like */
	BFI_NARROW_I64_I32,	  /* within lo..hi: UINT_32, decimals of 9 digits */
	BFI_NARROW_F32_F16,	  /* exactly */
	BFI_NARROW_I128_FLBA, /* big-endian, in `width` bytes */
	BFI_NARROW_WIDEN,	  /* decimals in bytes to `width` of them */
	BFI_NARROW_FIXED	  /* as it is, of `width` bytes each */
} BfiNarrow;

/* In which order a leaf's values have bounds. */
typedef enum BfiOrderKind
{
	BFI_BOUNDS_NONE,
	BFI_BOUNDS_SIGNED, /* storage of numbers */
	BFI_BOUNDS_UNSIGNED,
	BFI_BOUNDS_FLOAT,
	BFI_BOUNDS_I128,
	BFI_BOUNDS_BYTES
} BfiOrderKind;

typedef struct BfiLeafOut
{
	const BfField *field;
	BfStorage storage;
	BfiPhysical physical;
	uint32_t width; /* bytes of a value; 0: BYTE_ARRAY and BOOLEAN */
	BfiNarrow narrow;
	int64_t lo; /* RANGE, I64_I32 */
	int64_t hi;
	BfiOrderKind order;
	uint8_t max_def;
	uint8_t max_rep;
	int32_t n_path;
	const char **path; /* names from the top */
	int32_t top;	   /* column of the schema */
} BfiLeafOut;

/* Counts the leaves below the fields and fills them, in depth-first order; leaves NULL: counts. */
extern BfStatus bfi_write_leaves(BfArena *a, const BfSchema *schema, BfiLeafOut **leaves,
								 int32_t *n, BfError *err) BF_MUST_CHECK;
/* The footer's list of SchemaElements, as field `id` of the struct that is open. */
extern void bfi_write_schema(BfiThriftOut *t, int16_t id, const BfSchema *schema);

typedef struct BfiScratch BfiScratch;

/* n <= BFI_PIECE_ROWS storage values as native ones: `values` themselves, or in the scratch until
 * the next call. */
extern BfStatus bfi_write_narrow(BfiScratch *s, const BfiLeafOut *leaf, const void *values,
								 int32_t n, const void **out, BfError *err) BF_MUST_CHECK;
/* Big-endian in `width` <= 16 bytes; false: it needs more. */
extern bool bfi_i128_bytes(bf_i128 v, uint8_t *out, uint32_t width);
/* false: there is no such half. */
extern bool bfi_half(float v, uint16_t *out);

/* ---- bounds ---- */

typedef union BfiNumber
{
	int64_t i64;
	uint64_t u64;
	double f64;
	bf_i128 i128;
} BfiNumber;

typedef struct BfiPrefix
{
	uint64_t key; /* the first 8 bytes, big-endian, padded with zeroes */
	uint32_t len;
	bool cut; /* there are more */
	uint8_t bytes[BFI_BOUND_BYTES];
} BfiPrefix;

typedef struct BfiRange
{
	bool has;
	int64_t nans;
	BfiNumber min;
	BfiNumber max;
	BfiPrefix first; /* BYTES */
	BfiPrefix last;
} BfiRange;

/* A bound as the file has it. */
typedef struct BfiBoundOut
{
	bool has;
	bool exact;
	uint32_t len;
	uint8_t bytes[BFI_BOUND_BYTES + 8];
} BfiBoundOut;

/* n storage values that are not NULL. */
extern void bfi_range_add(const BfiLeafOut *leaf, BfiRange *r, const void *values, int32_t n);
extern bool bfi_number_less(const BfiLeafOut *leaf, BfiNumber a, BfiNumber b);
extern void bfi_range_merge(const BfiLeafOut *leaf, BfiRange *r, const BfiRange *other);
/* Bytes are cut to bytes_max, at most BFI_BOUND_BYTES. */
extern void bfi_range_bounds(const BfiLeafOut *leaf, const BfiRange *r, uint32_t bytes_max,
							 BfiBoundOut *min, BfiBoundOut *max);
/* The same for numbers, as values. */
extern void bfi_range_values(const BfiLeafOut *leaf, const BfiRange *r, BfValue *min, BfValue *max);

/* The first 8 bytes, big-endian, padded with zeroes. */
static inline uint64_t
bfi_view_key(BfView v)
{
	if (BF_LIKELY(v.len >= 8))
		return bf_load64be(v.ptr);
	if (v.len >= 4)
		return (uint64_t) bf_load32be(v.ptr) << 32 | (uint64_t) bf_load32be(v.ptr + v.len - 4)
														 << (8 * (8 - v.len));
	if (v.len >= 2)
		return (uint64_t) bf_load16be(v.ptr) << 48 | (uint64_t) bf_load16be(v.ptr + v.len - 2)
														 << (8 * (8 - v.len));
	return v.len == 1 ? (uint64_t) v.ptr[0] << 56 : 0;
}

/* ---- dictionary ---- */

typedef struct BfiEntry
{
	uint64_t first; /* bytes: those at both ends, which up to 16 are all */
	uint64_t last;
	uint32_t len;
	uint32_t at; /* in `plain` */
} BfiEntry;

typedef struct BfiDictOut
{
	BfiPhysical physical;
	uint32_t width;
	uint32_t n;
	uint32_t n_far;	  /* entries in the slots */
	uint32_t n_slots; /* a power of two; 0: none yet */
	/* Numbers near those that came first, from `base` on, are found by themselves: their codes + 1,
	 * 0 = not yet. They are not in the slots. */
	uint64_t base;
	uint32_t n_near;
	BfBuffer *near;
	BfBuffer *slots;   /* uint32: code + 1, 0 = free */
	BfBuffer *plain;   /* the entries as the dictionary page has them */
	BfBuffer *entries; /* BfiEntry, of bytes only */
} BfiDictOut;

extern BfStatus bfi_dict_new(BfArena *a, BfiDictOut *d, BfiPhysical physical, uint32_t width,
							 BfError *err) BF_MUST_CHECK;
extern void bfi_dict_clear(BfiDictOut *d);
/* The codes of n native values; those that are new get the next ones. */
extern BfStatus bfi_dict_codes(BfiDictOut *d, const void *values, int32_t n, uint32_t *codes,
							   BfError *err) BF_MUST_CHECK;
/* Memory that it holds. */
extern size_t bfi_dict_bytes(const BfiDictOut *d);

/* ---- columns ---- */

typedef enum BfiMode
{
	BFI_MODE_RACE, /* the first page of a chunk: values are kept until they have raced */
	BFI_MODE_DICT,
	BFI_MODE_VALUES
} BfiMode;

/* Some rows of a leaf: storage values without NULLs, and levels. */
typedef struct BfiPiece
{
	const void *values;
	int32_t n_values;
	int32_t n_levels;
	const uint8_t *def; /* NULL: all are max_def */
	const uint8_t *rep; /* NULL: max_rep is 0, a level is a row */
	int32_t n_rows;
} BfiPiece;

/* The page that is being filled. */
typedef struct BfiFill
{
	int32_t n_values;
	int32_t n_levels;
	int32_t n_rows;
	bool below;		   /* some definition level is not max_def: all are in `def` */
	BfBuffer *values;  /* native numbers, booleans; the bytes of byte arrays */
	BfBuffer *lengths; /* uint32 per byte array of any kind */
	BfBuffer *codes;   /* uint32 */
	BfBuffer *def;
	BfBuffer *rep;
	BfiRange range;
} BfiFill;

/* A data page, for the page index. */
typedef struct BfiPageOut
{
	int64_t offset; /* in the chunk's pages */
	int64_t first_row;
	int64_t n_nulls;
	int64_t n_nans;
	int32_t bytes;
	bool only_nulls;
	BfiNumber low; /* unless it is of bytes */
	BfiNumber high;
	BfiBoundOut min;
	BfiBoundOut max;
} BfiPageOut;

/* Pages of a chunk that have an encoding. */
typedef struct BfiEncoded
{
	int32_t encoding;
	int32_t n;
} BfiEncoded;

/* The chunk that is being filled. */
typedef struct BfiChunkOut
{
	BfiMode mode;
	int32_t encoding;		/* of values outside of the dictionary */
	uint32_t dict_expected; /* entries that the dictionary was reckoned with */
	BfCodec codec;
	int level;
	BfBuffer *pages;  /* data pages as they stand in the file */
	int64_t n_values; /* levels */
	int64_t n_nulls;
	int64_t n_rows;
	int64_t uncompressed;  /* bytes of `pages`, had they not been compressed */
	size_t dict_before;	   /* bytes of the dictionary when the page began */
	BfiEncoded encoded[4]; /* of data pages */
	int32_t n_encoded;
	BfiRange range;
	BfBuffer *index; /* BfiPageOut, one per data page */
} BfiChunkOut;

typedef struct BfiBloomOut BfiBloomOut;

typedef struct BfiColumnOut
{
	const BfiLeafOut *leaf;
	BfiDictOut dict;
	BfiFill fill;
	BfiChunkOut chunk;
	BfiBloomOut *bloom; /* NULL: none */
	/* Of the file. */
	BfiRange range;
	int64_t bytes;
	int64_t n_values;
	int64_t n_nulls;
} BfiColumnOut;

/* What columns take turns in using. */
struct BfiScratch
{
	BfArena *arena; /* owned; for a moment */
	BfCodecContext *codecs;
	BfBuffer *encoded;	  /* a page's body */
	BfSeams seams;		  /* of that */
	BfBuffer *compressed; /* the same, compressed; in a race the codes */
	BfBuffer *views;	  /* of a page's values */
	void *native;		  /* BFI_PIECE_ROWS values, 16 bytes each */
	uint8_t *bytes;		  /* the same for bytes that views point to */
};

struct BfParquetWriter
{
	BfArena *arena; /* borrowed */
	BfOutput output;
	const BfSchema *schema; /* borrowed */
	BfParquetWriteOptions options;
	int32_t n_leaves;
	BfiLeafOut *leaves;
	BfiColumnOut *columns;
	BfiScratch scratch;
	struct BfiShred *shred;
	int64_t at;			   /* bytes in the output */
	int64_t rows;		   /* in the file, the open row group included */
	int64_t group_rows;	   /* in the open row group */
	int64_t expected_rows; /* that a row group is likely to have; 0 = not known yet */
	struct BfiFooterOut *footer;
	bool failed; /* or closed */
};

extern BfStatus bfi_column_new(BfParquetWriter *w, BfiColumnOut *c, const BfiLeafOut *leaf,
							   BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_column_append(BfParquetWriter *w, BfiColumnOut *c, const BfiPiece *piece,
								  BfError *err) BF_MUST_CHECK;
/* Ends the chunk's last page; the chunk is complete in c->chunk and c->dict then. */
extern BfStatus bfi_column_finish(BfParquetWriter *w, BfiColumnOut *c, BfError *err) BF_MUST_CHECK;
/* Begins the next chunk. */
extern void bfi_column_begin(const BfParquetWriter *w, BfiColumnOut *c);

/* ---- the page that is being filled ---- */

extern void bfi_fill_clear(BfiFill *f);
/* Levels of so many rows, of which n_values are at max_def. */
extern BfStatus bfi_fill_levels(BfiColumnOut *c, const BfiPiece *p, int32_t n_levels,
								int32_t n_values, int32_t n_rows, BfError *err) BF_MUST_CHECK;
/* n native values, as they are or as codes. */
extern BfStatus
bfi_fill_values(BfiColumnOut *c, const void *native, int32_t n, BfError *err) BF_MUST_CHECK;
/* Bytes that it has come to: what its values take as they are, or four for each code. */
extern size_t bfi_fill_bytes(const BfiColumnOut *c);
/* Bytes of a value that is not one of a BYTE_ARRAY. */
extern size_t bfi_fill_each(const BfiLeafOut *leaf);
/* Memory that the chunk holds, with the page. */
extern size_t bfi_chunk_held(const BfiColumnOut *c);

/* The values of the page, which are not codes, as the encodings take them; valid until the page or
 * the scratch changes. */
extern BfStatus
bfi_fill_native(BfiScratch *s, const BfiColumnOut *c, BfiNative *out, BfError *err) BF_MUST_CHECK;

/* Chooses mode, encoding and codec of a chunk by its first page with values, which c->fill has, and
 * the encoding again when the dictionary was left. In mode DICT the values' codes are in c->fill,
 * too. `last`: it is the only page. */
extern BfStatus
bfi_race(BfParquetWriter *w, BfiColumnOut *c, bool last, BfError *err) BF_MUST_CHECK;

/* Appends a data page with c->fill's levels and `native` to the chunk. */
extern BfStatus bfi_page_put(BfParquetWriter *w, BfiColumnOut *c, int32_t encoding,
							 const BfiNative *native, BfError *err) BF_MUST_CHECK;
/* The chunk's dictionary page, until the scratch changes; *raw: bytes that it would have if it
 * weren't compressed. */
extern BfStatus bfi_page_dictionary_put(BfParquetWriter *w, BfiColumnOut *c, BfView *header,
										BfView *body, int64_t *raw, BfError *err) BF_MUST_CHECK;
/* src compressed, into the scratch; NONE: src itself. The scratch has the seams of what was
 * encoded; src begins at `at` of that. */
extern BfStatus bfi_page_compress(BfParquetWriter *w, BfCodec codec, int level, BfView src,
								  size_t at, BfView *out, BfError *err) BF_MUST_CHECK;

/* The format's number of a codec that we write; -1: none. */
extern int32_t bfi_page_codec_number(BfCodec codec);

/* ---- from vectors to leaves ---- */

typedef struct BfiShred BfiShred;

/* Rows of a vector, at most BFI_PIECE_ROWS: `first` and those behind it, or those of a list. */
typedef struct BfiRows
{
	const uint16_t *list; /* NULL: all from `first` on */
	int32_t first;
	int32_t n;
} BfiRows;

extern BfStatus bfi_shred_new(BfArena *a, BfiShred **out, BfError *err) BF_MUST_CHECK;
/* Appends the rows of a column to the leaves below it, of which `leaf` is the first. */
extern BfStatus
bfi_shred_column(BfParquetWriter *w, const BfField *field, const BfVector *v, const BfiRows *rows,
				 BfiColumnOut *leaf, BfError *err) BF_MUST_CHECK;

/* ---- the file ---- */

typedef struct BfiFooterOut BfiFooterOut;

extern BfStatus bfi_footer_new(BfArena *a, BfiFooterOut **out, BfError *err) BF_MUST_CHECK;
/* Writes the chunks and filters of a row group whose columns are finished, and keeps what the
 * footer has to say of them. */
extern BfStatus bfi_footer_row_group(BfParquetWriter *w, BfError *err) BF_MUST_CHECK;
/* Page indexes and footer. */
extern BfStatus bfi_footer_write(BfParquetWriter *w, BfError *err) BF_MUST_CHECK;
extern int32_t bfi_footer_row_groups(const BfiFooterOut *f);
/* Where each begins. */
extern BfStatus bfi_footer_splits(BfArena *a, const BfiFooterOut *f, const int64_t **out,
								  BfError *err) BF_MUST_CHECK;
/* Bytes that will come behind the row groups, about. */
extern size_t bfi_footer_bytes(const BfiFooterOut *f);

/* ---- Bloom filters ---- */

extern BfStatus bfi_bloom_new(BfParquetWriter *w, BfiBloomOut **out, BfError *err) BF_MUST_CHECK;
extern void bfi_bloom_clear(BfiBloomOut *b);
/* n native values. */
extern void
bfi_bloom_add(BfiBloomOut *b, BfiPhysical physical, uint32_t width, const void *values, int32_t n);
/* Header and blocks, no larger than its false positives allow. */
extern BfStatus bfi_bloom_bytes(const BfParquetWriter *w, const BfiBloomOut *b, BfBuffer *out,
								BfError *err) BF_MUST_CHECK;
extern size_t bfi_bloom_room(const BfiBloomOut *b);

#endif
