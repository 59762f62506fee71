/*
 * iceberg/metadata.h: table metadata JSON (https://iceberg.apache.org/spec/#table-metadata).
 *
 * Versions 1 to 3 are parsed into the structs below; what can't be read of 3 (encryption) is
 * refused where it is met (BF_ERR_UNSUPPORTED), 4 and later at once.
 * Gzip and zstd content is sniffed. The JSON tree is kept, so that a commit preserves what it does
 * not know.
 *
 * Tolerated: ids written as strings, keys that are null, properties that are numbers or booleans,
 * what version 1 leaves out. Not tolerated (BF_ERR_CORRUPT naming the key): ids that point to
 * nothing (current-schema-id, default-spec-id, current-snapshot-id, refs), an id given twice, a
 * duplicate JSON key.
 */
#ifndef BF_ICEBERG_METADATA_H
#define BF_ICEBERG_METADATA_H

#include "iceberg/transform.h"
#include "vec/type.h"

/* Bounds on hostile input: bytes of JSON text, values in it, nesting of objects and arrays. */
#define BF_ICE_JSON_BYTES_MAX ((size_t) 128 << 20)
#define BF_ICE_JSON_VALUES_MAX 5000000
#define BF_ICE_JSON_DEPTH_MAX 200
/* Nesting of types in a schema. */
#define BF_ICE_TYPE_DEPTH_MAX 32

typedef struct BfIceSnapshot
{
	int64_t id;		   /* opaque; negative when the writer used 64 bits; never -1 */
	int64_t parent_id; /* -1 = none */
	int64_t sequence_number;
	int64_t timestamp_ms;
	const char *operation;	   /* "append"...; NULL when missing */
	const char *manifest_list; /* NULL: v1 with `manifests` */
	int32_t n_manifests;	   /* v1 without a list */
	const char **manifests;
	int32_t schema_id; /* -1 = not recorded */
	bool encrypted;	   /* v3: the manifest list has a key-id */
	int32_t n_summary; /* `operation` is among them */
	const char **summary_keys;
	const char **summary_values;
} BfIceSnapshot;

typedef struct BfIceRef
{
	const char *name;
	int64_t snapshot_id;
	bool is_branch;
} BfIceRef;

typedef struct BfIceSchemas
{
	int32_t n;
	BfSchema *all; /* name mapping applied to all of them */
	/* Per schema: why it can't be read (a type that we don't know), NULL = it can. */
	const char **refusals;
	int32_t current_id;
} BfIceSchemas;

typedef struct BfIceSpecs
{
	int32_t n;
	BfIceSpec *all;
	int32_t default_id;
	int32_t last_partition_id;
} BfIceSpecs;

typedef struct BfIceSnapshots
{
	int64_t current_id; /* -1 = empty table */
	int32_t n;
	BfIceSnapshot *all; /* in file order */
	int32_t *by_id;		/* indexes into `all`, ascending id */
} BfIceSnapshots;

typedef struct BfIceRefs
{
	int32_t n;
	BfIceRef *all; /* `main` is always there when the table has a current snapshot */
} BfIceRefs;

typedef struct BfIceProperties
{
	int32_t n;
	const char **keys;
	const char **values;
} BfIceProperties;

/* Which snapshot was the current one from when on. */
typedef struct BfIceSnapshotLog
{
	int32_t n;
	int64_t *ms;
	int64_t *ids;
} BfIceSnapshotLog;

/* As it was parsed; all of it lasts as long as the arena. */
typedef struct BfIceMetadata
{
	int32_t format_version;
	const char *uuid; /* "" when v1 has none */
	const char *location;
	int64_t last_sequence_number;
	int64_t last_updated_ms;
	int32_t last_column_id;
	BfIceSchemas schemas;
	BfIceSpecs specs;
	BfIceSnapshots snapshots;
	BfIceRefs refs;
	BfIceProperties properties;
	BfIceSnapshotLog snapshot_log;
	void *json; /* json_t *, owned by the arena's clean-up; for iceberg/commit.c */
} BfIceMetadata;

extern BfStatus bf_ice_metadata_parse(BfArena *a, const void *bytes, size_t n, BfIceMetadata **out,
									  BfError *err) BF_MUST_CHECK;
/* NULL = no such id. */
extern const BfSchema *bf_ice_schema(const BfIceMetadata *m, int32_t schema_id);
/* The current schema, name mapping (schema.name-mapping.default) applied to aliases. */
extern const BfSchema *bf_ice_current_schema(const BfIceMetadata *m);
/* BF_OK, or BF_ERR_UNSUPPORTED with the reason when rows of that schema can't be read. */
extern BfStatus
bf_ice_schema_check(const BfIceMetadata *m, const BfSchema *schema, BfError *err) BF_MUST_CHECK;
extern const BfIceSpec *bf_ice_spec(const BfIceMetadata *m, int32_t spec_id);
extern const BfIceSnapshot *bf_ice_snapshot(const BfIceMetadata *m, int64_t id);
/* NULL = no such ref. */
extern const BfIceSnapshot *bf_ice_ref(const BfIceMetadata *m, const char *name);
/* NULL = not set. */
extern const char *bf_ice_property(const BfIceMetadata *m, const char *key);
/* Anything but "true" is false; `fallback` when it is not set. */
extern bool bf_ice_property_bool(const BfIceMetadata *m, const char *key, bool fallback);
extern const char *bf_ice_summary(const BfIceSnapshot *s, const char *key);
/* A field at any depth, in the given schema; NULL when absent. */
extern const BfField *bf_ice_field(const BfSchema *schema, int32_t field_id);
/* The type of a column, looked for in the current schema, then in all others from the newest;
 * NULL when no schema has the id. */
extern const BfField *bf_ice_field_anywhere(const BfIceMetadata *m, int32_t field_id);

#endif
