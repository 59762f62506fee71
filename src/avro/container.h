/*
 * avro/container.h: Avro object container files (https://avro.apache.org/docs/1.12.0/specification/).
 *
 * The reader parses the writer's schema, keeps field ids, and hands out each record as a tree of
 * BfAvroValue in a per-record arena. Field lookup is by id, then by name: Iceberg's rule.
 * It serves metadata (manifests); rows of tables go through avro/rowcodec.h.
 */
#ifndef BF_AVRO_CONTAINER_H
#define BF_AVRO_CONTAINER_H

#include "codec/codec.h"
#include "io/source.h"

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

/* One schema node. Named types may be referenced again, recursion through them is allowed in the schema
 * and bounded (depth 64) when values are read. */
struct BfAvroSchema
{
	BfAvroType type;
	const char *name;         /* full name of record, enum, fixed; else NULL */
	const char *logical_type; /* "decimal", "timestamp-micros", "map" (array of pairs); NULL = none */
	int32_t precision;
	int32_t scale;
	int32_t fixed_size;
	bool adjust_to_utc;
	int32_t element_id; /* arrays: element-id; 0 = none */
	int32_t key_id;
	int32_t value_id;
	int32_t n_children; /* record fields, union branches, 1 for array and map */
	BfAvroSchema **children;
	const char **field_names; /* records */
	int32_t *field_ids;       /* records: 0 = none */
	const char **symbols;     /* enums */
	int32_t n_symbols;
};

extern BfStatus bf_avro_schema_parse(BfArena *a, const char *json, size_t n, BfAvroSchema **out,
									 BfError *err) BF_MUST_CHECK;

typedef struct BfAvroValue BfAvroValue;
struct BfAvroValue
{
	const BfAvroSchema *schema; /* unions are resolved: the branch's schema */
	union
	{
		bool b;
		int64_t i; /* INT, LONG, ENUM index */
		double d;  /* FLOAT, DOUBLE */
		BfView bytes;
		struct
		{
			int32_t n; /* record fields, array items; map: pairs, keys[i] -> items[i] */
			BfAvroValue *items;
			BfView *keys;
		} list;
	} u;
};

/* Field of a record by id (tried first, 0 = skip) then name; NULL = absent or null branch. */
extern const BfAvroValue *bf_avro_field(const BfAvroValue *record, int32_t id, const char *name);

typedef struct BfAvroReader BfAvroReader;

extern BfStatus bf_avro_open(BfArena *a, BfSource *source, BfAvroReader **out, BfError *err)
	BF_MUST_CHECK;
extern const BfAvroSchema *bf_avro_reader_schema(const BfAvroReader *r);
/* File metadata value; false when the key is absent. */
extern bool bf_avro_metadata(const BfAvroReader *r, const char *key, BfView *out);
/* Next record, allocated in `row` (reset it when done with the record); *out = NULL at the end. */
extern BfStatus bf_avro_next(BfAvroReader *r, BfArena *row, const BfAvroValue **out, BfError *err)
	BF_MUST_CHECK;

/* Writer: the caller encodes records itself with the bf_buffer functions; the container adds
 * header, blocks of about 64 KiB and sync markers, and compresses with deflate. */
typedef struct BfAvroWriter BfAvroWriter;

extern BfStatus bf_avro_writer_new(BfArena *a, const char *schema_json, BfAvroWriter **out,
								   BfError *err) BF_MUST_CHECK;
extern BfStatus bf_avro_writer_metadata(BfAvroWriter *w, const char *key, const char *value,
										BfError *err) BF_MUST_CHECK;
/* Where to encode the next record; bf_avro_writer_end_record closes it. */
extern BfBuffer *bf_avro_writer_buffer(BfAvroWriter *w);
extern BfStatus bf_avro_writer_end_record(BfAvroWriter *w, BfError *err) BF_MUST_CHECK;
/* The finished file's bytes, owned by the arena. */
extern BfStatus bf_avro_writer_finish(BfAvroWriter *w, BfView *out, BfError *err) BF_MUST_CHECK;

#endif
