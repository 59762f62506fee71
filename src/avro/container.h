/*
 * avro/container.h: Avro object container files
 * (https://avro.apache.org/docs/1.12.0/specification/#object-container-files).
 *
 *   header   "Obj" 1, map<string, bytes> of metadata (avro.schema, avro.codec), sync marker (16)
 *   block    long count, long byte length, the records (compressed), sync marker (16)
 *
 *   long     zigzag LEB128; int the same, 32 bits
 *   bytes    long length, bytes; string likewise
 *   array    blocks of { long n, n items }, ended by n = 0; n < 0: -n items, their length in bytes
 *            is behind n
 *   union    long branch, value
 *
 * The reader parses the writer's schema, keeps field ids, and hands out each record as a tree of
 * BfAvroValue in a per-record arena. Field lookup is by id, then by name: Iceberg's rule.
 * It serves metadata (manifests); rows of tables go through avro/rowcodec.h.
 *
 * Codecs: null, deflate, snappy, zstandard. Others (bzip2, xz) are BF_ERR_UNSUPPORTED by name, and
 * so is an encrypted file ("AGS1"). Files of unknown writers need no metadata but avro.schema.
 */
#ifndef BF_AVRO_CONTAINER_H
#define BF_AVRO_CONTAINER_H

#include "codec/codec.h"
#include "io/source.h"

/* What a hostile file may at most claim. */
#define BF_AVRO_DEPTH_MAX 64	 /* nesting of schemas and of values */
#define BF_AVRO_NODES_MAX 100000 /* nodes of one schema */
#define BF_AVRO_SCHEMA_BYTES_MAX ((size_t) 1 << 24)
#define BF_AVRO_HEADER_BYTES_MAX ((size_t) 1 << 26)
#define BF_AVRO_BLOCK_BYTES_MAX ((size_t) 1 << 28) /* stored and decompressed */
#define BF_AVRO_EMPTY_VALUES_MAX 65536			   /* values without bytes, per block */

typedef enum BfAvroType
{
	BF_AVRO_NULL,
	BF_AVRO_BOOLEAN,
	BF_AVRO_INT,
	BF_AVRO_LONG,
	BF_AVRO_FLOAT,
	BF_AVRO_DOUBLE,
	BF_AVRO_BYTES,
	BF_AVRO_STRING,
	BF_AVRO_FIXED,
	BF_AVRO_ENUM,
	BF_AVRO_RECORD,
	BF_AVRO_ARRAY,
	BF_AVRO_MAP,
	BF_AVRO_UNION
} BfAvroType;

typedef struct BfAvroSchema BfAvroSchema;

/* One schema node. Named types may be referenced again; recursion through them is allowed in the
 * schema and bounded (BF_AVRO_DEPTH_MAX) when values are read. */
struct BfAvroSchema
{
	BfAvroType type;
	const char *name;		  /* full name of record, enum, fixed; else NULL */
	const char *logical_type; /* "decimal", "map" (array of pairs) ...; NULL = none */
	int32_t precision;
	int32_t scale;
	int32_t fixed_size;
	bool adjust_to_utc;
	int32_t element_id; /* arrays: element-id; 0 = none */
	int32_t key_id;
	int32_t value_id;
	int32_t n_children; /* record fields, union branches, 1 for array and map */
	BfAvroSchema **children;
	const char **field_names; /* records: iceberg-field-name where given, else the name */
	int32_t *field_ids;		  /* records: 0 = none */
	const char **symbols;	  /* enums */
	int32_t n_symbols;
	int32_t min_bytes; /* a value takes at least so many; 0 through a recursive reference */
	bool opaque;	   /* LONG: an id, see bf_avro_mark_opaque */
};

/* Offsets in errors are positions in the JSON text. */
extern BfStatus bf_avro_schema_parse(BfArena *a, const char *json, size_t n, BfAvroSchema **out,
									 BfError *err) BF_MUST_CHECK;

typedef struct BfAvroValue BfAvroValue;
struct BfAvroValue
{
	const BfAvroSchema *schema; /* unions are resolved: the branch's schema */
	union
	{
		bool b;
		int64_t i;	  /* INT, LONG, ENUM index */
		double d;	  /* FLOAT, DOUBLE */
		BfView bytes; /* BYTES, STRING, FIXED: a copy, followed by a NUL that is not counted */
		struct
		{
			int32_t n; /* record fields, array items; map: pairs, keys[i] -> items[i] */
			BfAvroValue *items;
			BfView *keys;
		} list;
	} u;
};

/* Field of a record by id (tried first, 0 = skip) then name (NULL = skip); NULL = absent or null
 * branch. */
extern const BfAvroValue *bf_avro_field(const BfAvroValue *record, int32_t id, const char *name);

typedef struct BfAvroReader BfAvroReader;

/* Reads the header. The source is used by this reader alone from now on. */
extern BfStatus
bf_avro_open(BfArena *a, BfSource *source, BfAvroReader **out, BfError *err) BF_MUST_CHECK;
extern const BfAvroSchema *bf_avro_reader_schema(const BfAvroReader *r);
/* The longs of a field of the top record are ids of which only the bits count: some writers make
 * unsigned ones of 64 bits, whose zigzag form has 65. Their value is then the unsigned number's
 * bits.
 */
extern void bf_avro_mark_opaque(BfAvroReader *r, int32_t field_id);
/* File metadata value; false when the key is absent. */
extern bool bf_avro_metadata(const BfAvroReader *r, const char *key, BfView *out);
/* Next record, wholly in `row` (reset it when done with the record); *out = NULL at the end. */
extern BfStatus
bf_avro_next(BfAvroReader *r, BfArena *row, const BfAvroValue **out, BfError *err) BF_MUST_CHECK;

/* Writer: the caller encodes records itself with the bf_buffer functions; the container adds
 * header, blocks of about 64 KiB and sync markers, and compresses with deflate. */
typedef struct BfAvroWriter BfAvroWriter;

extern BfStatus bf_avro_writer_new(BfArena *a, const char *schema_json, BfAvroWriter **out,
								   BfError *err) BF_MUST_CHECK;
/* NONE, DEFLATE, SNAPPY or ZSTD; before the first record. */
extern BfStatus bf_avro_writer_codec(BfAvroWriter *w, BfCodec codec, BfError *err) BF_MUST_CHECK;
/* Before the first record. */
extern BfStatus bf_avro_writer_metadata(BfAvroWriter *w, const char *key, const char *value,
										BfError *err) BF_MUST_CHECK;
/* Where to encode the next record; bf_avro_writer_end_record closes it. */
extern BfBuffer *bf_avro_writer_buffer(BfAvroWriter *w);
extern BfStatus bf_avro_writer_end_record(BfAvroWriter *w, BfError *err) BF_MUST_CHECK;
/* The finished file's bytes, owned by the arena. */
extern BfStatus bf_avro_writer_finish(BfAvroWriter *w, BfView *out, BfError *err) BF_MUST_CHECK;

#endif
