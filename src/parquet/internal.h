/*
 * parquet/internal.h: what the files of this folder share. README.md draws the picture.
 *
 * Words: a *node* is an element of the file's schema tree, a *leaf* is a node with values, a
 * *chunk* is a leaf in one row group. Levels: a leaf's value is present where its definition
 * level is max_def; top-level flat columns have max_def 0 or 1 and max_rep 0.
 */
#ifndef BF_PARQUET_INTERNAL_H
#define BF_PARQUET_INTERNAL_H

#include "parquet/encoding/encoding.h"
#include "parquet/format.h"
#include "parquet/parquet.h"
#include "parquet/prune.h"
#include "vec/mapping.h"

#define BFI_SCHEMA_NODES_MAX (1 << 18)
#define BFI_SCHEMA_DEPTH_MAX 400
/* Of fields that can be scanned: what recurses over them needs no more stack than for that. */
#define BFI_FIELD_DEPTH_MAX 100

/* ---- schema ---- */

/* How a decoded physical value becomes the storage of the leaf's type. */
typedef enum BfiConvert
{
	BFI_CONVERT_NONE,		  /* physical and storage are the same */
	BFI_CONVERT_RANGE_I32,	  /* INT_8 and the like: check lo..hi */
	BFI_CONVERT_U32_I64,	  /* UINT_32 */
	BFI_CONVERT_I32_I64,	  /* decimal */
	BFI_CONVERT_I32_I64_1000, /* TIME_MILLIS */
	BFI_CONVERT_I64_1000,	  /* TIMESTAMP_MILLIS: may overflow */
	BFI_CONVERT_I32_I128,	  /* decimal */
	BFI_CONVERT_I64_I128,	  /* decimal */
	BFI_CONVERT_BYTES_I64,	  /* decimal in bytes */
	BFI_CONVERT_BYTES_I128,	  /* decimal in bytes */
	BFI_CONVERT_F16_F32
} BfiConvert;

typedef struct BfiLeaf
{
	int32_t node;
	BfiPhysical physical;
	uint32_t width; /* bytes of a physical value; 0: BYTE_ARRAY and BOOLEAN */
	int16_t max_def;
	int16_t max_rep;
	BfType type;
	BfStorage storage;
	BfiConvert convert;
	int32_t lo; /* RANGE_I32 */
	int32_t hi;
	bool is_unsigned;	 /* order of the values, for statistics */
	const char *problem; /* literal: why the column can't be scanned; NULL = it can */
} BfiLeaf;

typedef struct BfiNode
{
	const char *name; /* in the file's arena */
	int32_t parent;	  /* -1: root */
	int32_t end;	  /* children are in (index, end): the first is index + 1, the next its end */
	int32_t n_children;
	int32_t leaf;		/* -1: a group */
	int32_t first_leaf; /* leaves in the list before it */
	int32_t field_id;
	uint8_t repetition; /* BfiRepetition */
	uint8_t logical;	/* BfiLogical */
	uint8_t converted;	/* BfiConverted */
	int16_t def;		/* level at which the node is present */
	int16_t rep;
} BfiNode;

/*
 * Where a field's values are in the levels of the leaves below it. A level pair (r, d) of such a
 * leaf is a *slot* of the field, one row of its vector, when r <= slot_rep and d >= slot_def: then
 * its repeated ancestors have an item there. The slot is NULL when d < def. The items of a LIST or
 * MAP are the pairs with r <= item_rep and d >= item_def, the slots of its children.
 */
typedef struct BfiShape
{
	int32_t node;		/* -1: the value that a MAP of the file lacks */
	int32_t leaf;		/* -1: nested */
	int32_t leaf_first; /* leaves below are [leaf_first, leaf_end) */
	int32_t leaf_end;
	int16_t slot_def;
	int16_t slot_rep;
	int16_t def;
	int16_t item_def; /* LIST, MAP */
	int16_t item_rep;
	int32_t n_children; /* as BfField.children */
	struct BfiShape *children;
} BfiShape;

/* ---- file ---- */

typedef enum BfiApp
{
	BFI_APP_OTHER, /* also: no created_by */
	BFI_APP_PARQUET_MR,
	BFI_APP_PARQUET_CPP,	   /* before it became Arrow's */
	BFI_APP_PARQUET_CPP_ARROW, /* "parquet-cpp-arrow" */
	BFI_APP_IMPALA,
	BFI_APP_DUCKDB,
	BFI_APP_PARQUET_NET
} BfiApp;

typedef struct BfiWriter
{
	BfiApp app;
	int32_t major; /* -1: the version can't be parsed */
	int32_t minor;
	int32_t patch;
	int32_t cdh_major; /* "…-cdh5.5.0"; 0 = none */
	int32_t cdh_minor;
} BfiWriter;

typedef struct BfiRowGroup
{
	int64_t n_rows;
	int64_t first_row;
} BfiRowGroup;

typedef struct BfiKeyValueText
{
	const char *key;
	const char *value; /* NULL = none */
} BfiKeyValueText;

typedef enum BfiOrder
{
	BFI_ORDER_UNDEFINED, /* the file has no column_orders */
	BFI_ORDER_TYPE,
	BFI_ORDER_OTHER /* known or unknown, but not by type */
} BfiOrder;

typedef struct BfiFooter
{
	BfView bytes;	/* in arena; chunks are decoded from it when needed */
	int64_t pos;	/* of its first byte in the file; no page may reach beyond */
	int64_t n_rows; /* as it says itself */
} BfiFooter;

/* The file's schema, as the file has it and as fields. */
typedef struct BfiTree
{
	int32_t n_nodes;
	BfiNode *nodes; /* depth first; node 0 is the root */
	int32_t n_leaves;
	BfiLeaf *leaves;
	BfiShape *shapes; /* one per field of the schema */
	BfSchema schema;
	bool has_field_ids;
} BfiTree;

/* As the footer has it; all of it lasts as long as the arena. */
struct BfParquetFile
{
	BfArena *arena;	  /* borrowed */
	BfSource *source; /* borrowed */
	BfParquetLimits limits;
	BfParquetKeeper *pages; /* borrowed; NULL: none are kept */
	BfiFooter footer;
	int64_t n_rows; /* sum over the row groups */
	int32_t n_row_groups;
	BfiRowGroup *row_groups;
	uint32_t *chunk_at; /* row group * n_leaves + leaf: where its ColumnChunk is in the footer */
	/* Likewise, what those who read the file found: 1 + the values of a dictionary that all of the
	 * chunk is in; 0 = not known. Shared by all that have opened it with the same footer. */
	uint32_t *dictionary_sizes;
	uint32_t *n_dictionary_sizes; /* how many are known */
	BfiTree tree;
	uint8_t *orders; /* per leaf: BfiOrder; NULL = the file has none */
	const char *created_by;
	BfiWriter writer;
	int32_t n_key_values;
	BfiKeyValueText *key_values;
};

/* Fills nodes, leaves and schema from the list of SchemaElements. */
extern BfStatus
bfi_schema_build(BfParquetFile *f, BfiThriftList elements, BfError *err) BF_MUST_CHECK;
/* type, storage, convert, order and problem of a leaf, from its SchemaElement. */
extern BfStatus
bfi_leaf_type(const BfiSchemaElement *e, BfiLeaf *leaf, int64_t at, BfError *err) BF_MUST_CHECK;
/* The dotted path of a node, cut to fit. */
extern void bfi_node_path(const BfParquetFile *f, int32_t node, char *buf, size_t size);
extern void bfi_writer_parse(const char *created_by, BfiWriter *out);
/* writer is `app` with a parsable version below major.minor.patch */
extern bool bfi_writer_before(const BfiWriter *w, BfiApp app, int major, int minor, int patch);
/* Decodes the chunk's metadata and checks what every use relies on: it is in this file, in the
 * clear, of the leaf's type, and its counts are not negative. */
extern BfStatus bfi_chunk_meta(const BfParquetFile *f, int32_t rg, int32_t leaf,
							   BfiColumnChunk *out, BfError *err) BF_MUST_CHECK;

/* Bounds of a chunk's values, where they can be trusted. */
typedef struct BfiBounds
{
	bool has_min;
	bool has_max;
	bool min_exact;
	bool max_exact;
	BfValue min; /* views point into the footer */
	BfValue max;
	int64_t null_count; /* -1 = not known */
} BfiBounds;

extern void
bfi_bounds(const BfParquetFile *f, int32_t leaf, const BfiColumnMetaData *m, BfiBounds *out);
/* Bounds of a page as the column index has them. */
typedef struct BfiPageBounds
{
	BfView min;
	BfView max;
} BfiPageBounds;
extern void
bfi_page_bounds(const BfParquetFile *f, int32_t leaf, const BfiPageBounds *b, BfColumnStats *out);

/* Where the pages of a chunk are. false: not within the file. */
extern bool
bfi_chunk_bytes(const BfParquetFile *f, const BfiColumnChunk *chunk, int64_t *start, int64_t *end);
/* Are all data pages of the chunk dictionary-encoded, for certain? */
extern bool bfi_chunk_is_dictionary(const BfiColumnMetaData *m);
/* Of such a chunk: its dictionary has so many values. */
extern void bfi_dictionary_note(const BfParquetFile *f, int32_t rg, int32_t leaf, int32_t n);

typedef struct BfiPageLocation
{
	int64_t offset;
	int32_t bytes; /* header included */
} BfiPageLocation;

typedef struct BfiOffsetIndex
{
	int32_t n; /* > 0 */
	BfiPageLocation *pages;
	const int64_t *first_row; /* n + 1 */
} BfiOffsetIndex;

/* *out = NULL: none, or none that can be believed. */
extern BfStatus
bfi_offset_index(const BfParquetFile *f, BfArena *a, int32_t rg, const BfiColumnChunk *chunk,
				 BfiOffsetIndex **out, BfError *err) BF_MUST_CHECK;
/* The page that has the row. */
extern int32_t bfi_offset_index_find(const BfiOffsetIndex *index, int64_t row);

/* ---- pages ---- */

/* A chunk's bytes through a window that moves forward: filled by reads of at least `bytes` where
 * the chunk has them. BFI_SLACK bytes behind the window are readable. */

typedef struct BfiWindow
{
	BfSource *source; /* borrowed */
	size_t bytes;
	BfBuffer *buffer; /* owned by the scan's arena */
	int64_t pos;	  /* file position of buffer->data[0] */
	size_t len;
	int64_t end;	 /* where the chunk ends */
	int64_t end_max; /* how far a page may reach nevertheless (PARQUET-816) */
} BfiWindow;

typedef struct BfiPage
{
	int64_t at; /* file position of its header; the offset in messages */
	int32_t n_levels;
	int32_t n_values; /* levels that are max_def */
	int32_t encoding;
	BfiRle def;	 /* when the leaf has definition levels and n_values < n_levels */
	BfiRle rep;	 /* when the leaf has repetition levels */
	BfView body; /* the values section; BFI_SLACK bytes behind it are readable */
} BfiPage;

/* What is kept of a page: this, its levels if they are not compressed (V2), what was decompressed,
 * BFI_SLACK bytes. */
typedef struct BfiKeptPage
{
	BfiPageHeader header;
	bool verified;	  /* its checksum, if it has one */
	int32_t n_values; /* of a data page: its levels were looked at */
	int32_t rg;		  /* whose it is: a bad footer has two chunks in one place, which mean by its */
	int32_t leaf;	  /* bytes different things */
	size_t header_bytes;
	size_t level_bytes;
} BfiKeptPage;

/* A page in use, as it will be kept if the scan stops here. */
typedef struct BfiLeftPage
{
	bool there;
	int64_t at;
	BfiKeptPage is;
	BfView levels;
	BfView body;
} BfiLeftPage;

/* ---- columns ---- */

/* What the columns of a scan have in common. */
typedef struct BfiShared
{
	BfArena *arena; /* of the scan */
	BfParquetFile *file;
	BfCodecContext *codecs;
	BfParquetCounters *counters; /* never NULL */
	uint64_t epoch;				 /* of dictionaries: the last that was given out */
	bool use_index;				 /* offset indexes may be used to pass over pages */
	BfArena *index_arena;		 /* of the current row group */
	uint8_t *native; /* BF_BATCH_ROWS physical values before conversion, 16 bytes each */
	uint8_t *dense;	 /* storage values before NULLs are put between, one more */
} BfiShared;

/* Levels of a leaf below a nested column, a byte each: of the batch, and some ahead, which are all
 * of the current page. */
typedef struct BfiLevels
{
	BfBuffer *rep; /* empty when max_rep = 0 */
	BfBuffer *def;
	int32_t n;
	int32_t used;  /* the first `used` ones are of the batch */
	int32_t ahead; /* rows that begin in [used, counted) */
	int32_t counted;
	BfBuffer *dense; /* the values of the batch's levels that are max_def; one more is readable */
	int32_t n_dense;
	bool values;	  /* false: nobody wants the values */
	bool skipping;	  /* values are passed over */
	uint8_t *rep_def; /* per repetition level: what def must be at least */
} BfiLevels;

/* Where a column is in its chunk: until the next bfi_column_open. */
typedef struct BfiChunk
{
	BfiWindow window;
	int32_t rg;
	int64_t row;		 /* of the row group: the next to be read */
	int64_t n_values;	 /* levels of the chunk */
	int64_t start;		 /* file position */
	int64_t next_page;	 /* file position */
	int64_t levels_left; /* not yet in a page that was loaded; after a jump of a repeated column not
						  * more than this */
	bool all_dictionary; /* all data pages are dictionary-encoded, for certain */
	bool index_tried;
	bool jumped;		   /* pages are checked against the index */
	BfiOffsetIndex *index; /* NULL: none, not wanted, or not tried; in the shared index_arena */
	BfCodec codec;
	uint32_t codec_ratio;
} BfiChunk;

/* The dictionary of the chunk, as long as that; values.dict has the decoder's view of it. */
typedef struct BfiColumnDict
{
	BfBuffer *bytes;
	BfView page;	  /* which views point into: in bytes, or kept */
	BfBuffer *values; /* in storage form */
	BfVector vec;	  /* VIEW leaves: what vectors in DICT form refer to */
} BfiColumnDict;

/* Output and scratch, BF_BATCH_ROWS values each: until the next batch begins. */
typedef struct BfiColumnBatch
{
	BfVector vec;
	uint64_t *validity; /* vec.validity when the batch has NULLs */
	void *flat;			/* vec.data.raw when flat */
	uint32_t *codes;	/* codes of a batch; 2 * BF_BATCH_ROWS, scratch of the decoders */
	BfArena *arena;		/* bytes that views of this batch need; reset per batch */
} BfiColumnBatch;

typedef struct BfiColumn
{
	/* As long as the scan. */
	BfiShared *shared; /* owned by the scan */
	const BfParquetFile *file;
	int32_t leaf_index;
	const BfiLeaf *leaf;

	BfiChunk chunk;

	/* The current page, until the next is loaded: body decompressed into page_buffer, or in the
	 * window. */
	BfiPage page;
	const BfiKeptPage *kept; /* that page, from an earlier scan; NULL: from the file */
	int32_t page_left;		 /* levels not yet delivered */
	BfiLeftPage left_page;
	BfiLeftPage left_dict;
	BfBuffer *page_buffer;
	BfBuffer *level_buffer; /* BIT_PACKED levels, turned */
	BfiValues values;

	BfiColumnDict dict;
	BfiColumnBatch batch;
	BfiLevels *levels; /* NULL: a flat column */
} BfiColumn;

/* Allocates everything once. */
extern BfStatus bfi_column_init(BfArena *a, BfiColumn *c, BfiShared *shared, int32_t leaf,
								BfError *err) BF_MUST_CHECK;
/* The same for a leaf of a nested column. */
extern BfStatus bfi_column_init_levels(BfArena *a, BfiColumn *c, BfiShared *shared, int32_t leaf,
									   bool values, BfError *err) BF_MUST_CHECK;
/* At the start of the row group. */
extern BfStatus bfi_column_open(BfiColumn *c, int32_t rg, BfError *err) BF_MUST_CHECK;
/* How many rows at most the next batch should have, so that views need not be copied. */
extern int32_t bfi_column_room(const BfiColumn *c);
/* The next n rows into c->batch.vec. With `rows`, only those whose bits are set; the others are
 * NULL. */
extern BfStatus
bfi_column_read(BfiColumn *c, int32_t n, const uint64_t *rows, BfError *err) BF_MUST_CHECK;
/* Passes over rows, so that `row` is the next; it is not before the current one. */
extern BfStatus bfi_column_seek(BfiColumn *c, int64_t row, BfError *err) BF_MUST_CHECK;
/* Goes to the page that has the row when the offset index knows it and it is not the current one;
 * c->chunk.row is then the page's first row. */
extern BfStatus bfi_column_jump(BfiColumn *c, int64_t row, BfError *err) BF_MUST_CHECK;

/* Between batches: values that the next one needs are moved out of memory that goes away. */
extern BfStatus bfi_column_begin_batch(BfiColumn *c, BfError *err) BF_MUST_CHECK;
/* The current page goes away: views [first, n) must not point there any more. */
extern BfStatus bfi_column_keep_views(BfiColumn *c, BfView *views, int32_t first, int32_t n,
									  BfError *err) BF_MUST_CHECK;
/* Begins a batch of at most `want` rows; *room: how many it should have at most. */
extern BfStatus
bfi_levels_begin(BfiColumn *c, int32_t want, int32_t *room, BfError *err) BF_MUST_CHECK;
/* Passes over rows, so that `row` is the next. Between batches only. */
extern BfStatus bfi_levels_seek(BfiColumn *c, int64_t row, BfError *err) BF_MUST_CHECK;
/* The levels and values of the next n rows: c->levels->used levels then are the batch's. last: the
 * row group has no more. */
extern BfStatus bfi_levels_read(BfiColumn *c, int32_t n, bool last, BfError *err) BF_MUST_CHECK;

/* ---- nested columns ---- */

/* From the batch's levels of a leaf below: validity of a field's n slots (NULL where none is NULL;
 * the bits live in `validity`). That there are n is checked. */
extern BfStatus
bfi_slot_validity(const BfiShape *s, const BfiColumn *c, int32_t n, BfBuffer *scratch,
				  BfBuffer *validity, uint64_t **out, BfError *err) BF_MUST_CHECK;
/* The same for a list, with the n + 1 offsets of its items. */
extern BfStatus
bfi_list_offsets(const BfiShape *s, const BfiColumn *c, int32_t n, BfBuffer *scratch,
				 BfBuffer *validity, int32_t *offsets, uint64_t **out, BfError *err) BF_MUST_CHECK;
/* Does this leaf, too, have a list's items there? BF_ERR_CORRUPT if not. */
extern BfStatus bfi_check_offsets(const BfiShape *s, const BfiColumn *c, int32_t n,
								  const int32_t *offsets, BfError *err) BF_MUST_CHECK;

typedef struct BfiNested BfiNested;

/* Those members that the mapping does not ask for are NULL constants; NULL mapping: all. */
extern BfStatus
bfi_nested_init(BfArena *a, BfiShared *shared, int32_t field, const BfMapping *mapping,
				BfiNested **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_nested_open(BfiNested *t, int32_t rg, BfError *err) BF_MUST_CHECK;
extern BfStatus
bfi_nested_begin(BfiNested *t, int32_t want, int32_t *room, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_nested_read(BfiNested *t, int32_t n, bool last, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_nested_seek(BfiNested *t, int64_t row, BfError *err) BF_MUST_CHECK;
/* Items per row, on average, of the leaf that has most of them. */
extern int64_t bfi_nested_items_per_row(const BfiNested *t);
extern const BfVector *bfi_nested_vector(const BfiNested *t);
/* The leaf whose reading failed last, -1: none. */
extern int32_t bfi_nested_failed_leaf(const BfiNested *t);

/* Can a VARIANT field with these columns be read? */
extern BfStatus bfi_variant_check(const BfField *f, BfError *err) BF_MUST_CHECK;
/* Texts of the n slots of a variant: `parts` is the STRUCT of metadata, value and typed_value as
 * the field's children name them. *text's content is replaced, `views` point into it. Slots at
 * which `parts` is NULL are left alone. */
extern BfStatus
bfi_variant_texts(const BfField *field, const BfVector *parts, int32_t n, BfBuffer *text,
				  BfView *views, BfBuffer *scratch, BfError *err) BF_MUST_CHECK;

/* What an earlier scan has left of the page at c->chunk.next_page; NULL: nothing. */
extern const BfiKeptPage *bfi_kept_find(const BfiColumn *c);
/* The page's bytes behind what is said of it. */
extern const uint8_t *bfi_kept_bytes(const BfiKeptPage *k);
/* c->page.at, with that header, is in use: its levels and what was decompressed. */
extern void bfi_kept_note(const BfiColumn *c, BfiLeftPage *left, const BfiPageHeader *h,
						  size_t header_bytes, BfView levels, BfView body);
/* The scan stops: leaves the pages in use for the next one. */
extern void bfi_kept_leave(const BfiColumn *c);

/* Loads the next data page that has levels, the dictionary before it if there is one. */
extern BfStatus bfi_page_next(BfiColumn *c, BfError *err) BF_MUST_CHECK;
/* The same, but pages of no more than *skip levels are passed over, *skip counting down; when it is
 * 0 no page is loaded. */
extern BfStatus bfi_page_next_after(BfiColumn *c, int64_t *skip, BfError *err) BF_MUST_CHECK;
/* Loads the dictionary, if the chunk begins with one and it has not been loaded. */
extern BfStatus bfi_page_dictionary(BfiColumn *c, BfError *err) BF_MUST_CHECK;
/* The next page is number p of the offset index; what is left of the current one is dropped. */
extern BfStatus bfi_page_jump(BfiColumn *c, int32_t p, BfError *err) BF_MUST_CHECK;
/* Makes the dictionary of its page's bytes (c->dict.page, len without slack). */
extern BfStatus
bfi_dictionary_load(BfiColumn *c, int32_t n, int64_t at, BfError *err) BF_MUST_CHECK;

/* Once, when all that the decoders work in has been allocated. */
extern BfStatus bfi_column_init_values(BfArena *a, BfiColumn *c, BfError *err) BF_MUST_CHECK;
/* Starts on the values of c->page. */
extern BfStatus bfi_column_begin_values(BfiColumn *c, BfError *err) BF_MUST_CHECK;
/* n values without NULLs, in storage form. n <= BF_BATCH_ROWS, n <= values.left. */
extern BfStatus bfi_column_decode(BfiColumn *c, int32_t n, void *out, BfError *err) BF_MUST_CHECK;
/* Do values of the current page point into its bytes? */
static inline bool
bfi_column_has_views(const BfiColumn *c)
{
	return c->leaf->storage == BF_STORE_VIEW && c->values.methods->views_in_page;
}
/* Can the values of the current page be had as codes? */
static inline bool
bfi_column_has_codes(const BfiColumn *c)
{
	return c->values.methods->codes;
}
/* Physical values as decoded (I32, I64, float, double, U8, views) to storage. */
extern BfStatus bfi_convert(const BfiLeaf *leaf, const void *in, int32_t n, void *out, int64_t at,
							BfError *err) BF_MUST_CHECK;
/* Puts dense values where the validity bits [start, start + n) are set, zeroes elsewhere. One value
 * behind the dense ones is readable. */
extern void bfi_spread(const uint64_t *validity, int32_t start, int32_t n, const void *dense,
					   void *out, size_t size);

#endif
