/*
 * iceberg/metadata.h: table metadata JSON (https://iceberg.apache.org/spec/#table-metadata).
 *
 * Versions 1 and 2 are parsed into the structs below; version 3 is read for what it shares with 2, its own
 * features are refused where they are met; 4 and later are BF_ERR_UNSUPPORTED. Gzip and zstd content is sniffed. The
 * JSON tree is kept, so that a commit preserves what it does not know.
 */
#ifndef BF_ICEBERG_METADATA_H
#define BF_ICEBERG_METADATA_H

#include "iceberg/transform.h"
#include "vec/type.h"

typedef struct BfIceSnapshot
{
	int64_t id;
	int64_t parent_id; /* -1 = none */
	int64_t sequence_number;
	int64_t timestamp_ms;
	const char *operation;     /* "append"...; NULL when missing */
	const char *manifest_list; /* NULL: v1 with `manifests` */
	int32_t n_manifests;       /* v1 without a list */
	const char **manifests;
	int32_t schema_id; /* -1 = not recorded */
	int32_t n_summary;
	const char **summary_keys;
	const char **summary_values;
} BfIceSnapshot;

typedef struct BfIceRef
{
	const char *name;
	int64_t snapshot_id;
	bool is_branch;
} BfIceRef;

typedef struct BfIceMetadata
{
	int32_t format_version;
	const char *uuid; /* "" when v1 has none */
	const char *location;
	int64_t last_sequence_number;
	int64_t last_updated_ms;
	int32_t last_column_id;
	int32_t n_schemas;
	BfSchema *schemas;
	int32_t current_schema_id;
	int32_t n_specs;
	BfIceSpec *specs;
	int32_t default_spec_id;
	int32_t last_partition_id;
	int64_t current_snapshot_id; /* -1 = empty table */
	int32_t n_snapshots;
	BfIceSnapshot *snapshots;
	int32_t n_refs;
	BfIceRef *refs; /* `main` is always there when the table has a current snapshot */
	int32_t n_properties;
	const char **property_keys;
	const char **property_values;
	int32_t n_snapshot_log;
	int64_t *snapshot_log_ms;
	int64_t *snapshot_log_ids;
	void *json; /* json_t *, owned by the arena's clean-up; for iceberg/commit.c */
} BfIceMetadata;

extern BfStatus bf_ice_metadata_parse(BfArena *a, const void *bytes, size_t n, BfIceMetadata **out,
									  BfError *err) BF_MUST_CHECK;
extern const BfSchema *bf_ice_schema(const BfIceMetadata *m, int32_t schema_id);
/* The current schema, name mapping (schema.name-mapping.default) applied to aliases. */
extern const BfSchema *bf_ice_current_schema(const BfIceMetadata *m);
extern const BfIceSpec *bf_ice_spec(const BfIceMetadata *m, int32_t spec_id);
extern const BfIceSnapshot *bf_ice_snapshot(const BfIceMetadata *m, int64_t id);
/* NULL = no such ref. */
extern const BfIceSnapshot *bf_ice_ref(const BfIceMetadata *m, const char *name);
extern const char *bf_ice_property(const BfIceMetadata *m, const char *key);
extern const char *bf_ice_summary(const BfIceSnapshot *s, const char *key);

#endif
