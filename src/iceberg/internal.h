/*
 * iceberg/internal.h: what the files of this folder share.
 *
 * JSON access: `where` is the path of the object for messages ("snapshots[3]", "" at the top). A
 * missing key and null are the same. Texts are borrowed from the JSON tree, which lives as long as
 * the arena it was loaded into. A new object is json_pack("{}"): the server has a symbol
 * json_object of its own, which would be called instead of the library's.
 */
#ifndef BF_ICEBERG_INTERNAL_H
#define BF_ICEBERG_INTERNAL_H

#include <jansson.h>

#include "avro/container.h"
#include "base/text.h"
#include "iceberg/commit.h"
#include "io/publish.h"

#define BFI_WHERE_MAX 160
#define BFI_WORK_BYTES_MAX ((size_t) 1 << 30) /* while a plan is made, or files are looked at */

/* metadata_json.c */

/* Loads bounded JSON text; the tree is freed with the arena. `what` names it in messages. */
extern BfStatus bfi_json_load(BfArena *a, const void *text, size_t n, const char *what,
							  json_t **out, BfError *err) BF_MUST_CHECK;
/* Ties a new reference to the arena; NULL means that Jansson had no memory. */
extern BfStatus bfi_json_own(BfArena *a, json_t *json, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_int(const json_t *value, const char *where, const char *key, int64_t min,
							 int64_t max, int64_t *out, BfError *err) BF_MUST_CHECK;
/* *out is left alone when an optional key is missing. */
extern BfStatus bfi_json_get_i64(const json_t *object, const char *where, const char *key,
								 bool required, int64_t *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_get_i32(const json_t *object, const char *where, const char *key,
								 bool required, int32_t *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_get_text(const json_t *object, const char *where, const char *key,
								  bool required, const char **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_get_bool(const json_t *object, const char *where, const char *key,
								  bool required, bool *out, BfError *err) BF_MUST_CHECK;
/* NULL when missing and not required. */
extern BfStatus bfi_json_get_array(const json_t *object, const char *where, const char *key,
								   bool required, json_t **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_get_object(const json_t *object, const char *where, const char *key,
									bool required, json_t **out, BfError *err) BF_MUST_CHECK;
/* An object of texts (numbers and booleans are turned into text, nulls left out) as two arrays. */
extern BfStatus
bfi_json_text_map(BfArena *a, const json_t *object, const char *where, int32_t *n,
				  const char ***keys, const char ***values, BfError *err) BF_MUST_CHECK;

/* metadata_schema.c */

/* A schema object; *refusal = why its rows can't be read, NULL = they can. */
extern BfStatus bfi_schema_parse(BfArena *a, const json_t *json, const char *where, BfSchema *out,
								 const char **refusal, BfError *err) BF_MUST_CHECK;
/* Sets aliases in all schemas from the property's text. */
extern BfStatus bfi_name_mapping_apply(BfArena *a, const char *text, BfSchema *schemas,
									   int32_t n_schemas, BfError *err) BF_MUST_CHECK;
/* New JSON of a schema, as version 2 writes it. */
extern BfStatus bfi_schema_json(const BfSchema *schema, json_t **out, BfError *err) BF_MUST_CHECK;
extern json_t *bfi_spec_fields_json(const BfIceSpec *spec);

/* default_value.c */

/* A JSON single value of the field's type. */
extern BfStatus bfi_default_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out,
								  BfError *err) BF_MUST_CHECK;
/* Hexadecimal digits, hyphens ignored; false when there are not 32 of them. */
extern bool bfi_uuid_from_text(BfView text, uint8_t out[16]);

/* manifest_record.c: fields of a decoded record, by id, then by name. */

/* Puts "record <number>: " before the message; returns its code. */
extern BfStatus bfi_record_name(int64_t number, BfError *err);
/* Absent or null gives *fallback, without one it is corrupt. `other_name`: an older spelling. */
extern BfStatus
bfi_record_number(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
				  const int64_t *fallback, int64_t *out, BfError *err) BF_MUST_CHECK;
/* The same for a 32-bit number that may not be negative. */
extern BfStatus
bfi_record_small(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
				 const int64_t *fallback, int32_t *out, BfError *err) BF_MUST_CHECK;
/* A required text that is not empty, copied. */
extern BfStatus bfi_record_text(BfArena *a, const BfAvroValue *record, int32_t id, const char *name,
								const char **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_copy_view(BfArena *a, BfView from, BfView *to, BfError *err) BF_MUST_CHECK;

/* manifest.c, manifest_list.c: the same as the public ones, from any source. */

extern BfStatus bfi_manifest_list_read(BfArena *a, BfSource *source, BfIceManifest **out,
									   int32_t *n, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_manifest_read(BfArena *keep, BfSource *source, const BfIceManifest *manifest,
								  const BfIceMetadata *metadata, BfIceFileVisit visit, void *arg,
								  BfError *err) BF_MUST_CHECK;

/* Reads no more than the header, for what it says of the manifest that the list denies. */
extern BfStatus
bfi_manifest_check(const BfHost *host, const char *path, const BfIceManifest *manifest,
				   BfIoCounters *io, bool *told, BfError *err) BF_MUST_CHECK;

/* manifest_value.c */

/* The type of a partition field's values; a failure, and *out = NULL, when no schema has the column
 * any more or the transform is unknown. */
extern BfStatus
bfi_partition_type(const BfIceMetadata *m, const BfIcePartitionField *f, BfType *out) BF_MUST_CHECK;
/* v = NULL: the manifest lacks the field. Type NULL: the type of the Avro schema. */
extern BfStatus bfi_partition_value(BfArena *keep, const BfAvroValue *v, BfType type,
									const char *name, BfValue *out, BfError *err) BF_MUST_CHECK;

/* table.c */

/* The number in a metadata file's name, -1 when it has none. */
extern int64_t bfi_metadata_version(const char *name);

/* manifest_list.c */

/* Those that the snapshot's list names, or, without a list, the snapshot itself. */
extern BfStatus
bfi_snapshot_manifests(BfArena *a, const BfIceTable *t, const BfIceSnapshot *s, BfIoCounters *io,
					   BfIceManifest **out, int32_t *n, BfError *err) BF_MUST_CHECK;

/* table_plan.c */

/* Indexes of the manifests in `from` whose path is not in `in`. */
extern BfStatus bfi_manifests_missing(BfArena *a, const BfIceManifest *from, int32_t n_from,
									  const BfIceManifest *in, int32_t n_in, int32_t **out,
									  int32_t *n, BfError *err) BF_MUST_CHECK;
/* True when the list tells that the manifest has no live entry. */
extern bool bfi_manifest_is_empty(const BfIceManifest *m);

/* table_coverage.c */

/* What a snapshot's ancestors (itself first) say is Parquet; head may be NULL. */
extern BfStatus bfi_covered_parquet(BfArena *a, const BfIceTable *t, const BfIceSnapshot *head,
									BfCoverage *out, BfError *err) BF_MUST_CHECK;
/* Shares range sets with x and y. */
extern BfStatus bfi_coverage_union(BfArena *a, const BfCoverage *x, const BfCoverage *y,
								   BfCoverage *out, BfError *err) BF_MUST_CHECK;
/* One range of one logical file, while they are collected. */
typedef struct BfiNamedRange
{
	int64_t ledger_id;
	BfRange range;
	uint64_t file; /* which file, as the collector numbers them */
} BfiNamedRange;

/* By ledger, by first entry, by last, by file. */
extern void bfi_named_sort(BfiNamedRange *named, int64_t n);
/* What sorted ranges, which may overlap, name together; uses them up. */
extern BfStatus bfi_named_coverage(BfArena *a, BfiNamedRange *named, int64_t n, BfCoverage *out,
								   BfError *err) BF_MUST_CHECK;
/* What the logical ones among the files name; an entry in two of them is corrupt. */
extern BfStatus bfi_coverage_of_files(BfArena *a, const BfIceDataFile *files, int32_t n_files,
									  BfCoverage *out, BfError *err) BF_MUST_CHECK;

/* commit_value.c */

/* The Avro type of a partition field; named types are made unique by the field's id. NULL: none. */
extern json_t *bfi_avro_type_json(BfType t, int32_t field_id);
/* Encodes a value of the union [null, type]. */
extern BfStatus bfi_avro_put_value(BfBuffer *out, const BfValue *v, BfError *err) BF_MUST_CHECK;
/* The bytes of a bound; a view shares the value's. */
extern BfStatus
bfi_single_value(BfArena *a, const BfValue *v, BfView *out, BfError *err) BF_MUST_CHECK;
extern bool bfi_value_is_nan(const BfValue *v);

/* file_metrics.c: what an entry says, as bytes of another one; sizes of columns are left out. */
extern BfStatus
bfi_metrics_again(BfArena *a, const BfIceFileMetrics *m, BfView *out, BfError *err) BF_MUST_CHECK;

/* What is known of two files that become one; *out may be x. */
extern BfStatus
bfi_metrics_union(BfArena *a, const BfIceMetadata *m, const BfIceFileMetrics *x,
				  const BfIceFileMetrics *y, BfIceFileMetrics *out, BfError *err) BF_MUST_CHECK;

/* commit_avro.c */

typedef struct BfiPartitionSummary
{
	bool contains_null;
	int contains_nan; /* -1 = not known */
	BfView lower;	  /* ptr NULL = none */
	BfView upper;
} BfiPartitionSummary;

/* A manifest for a list: one that was read (summaries NULL) or a new one. */
typedef struct BfiListEntry
{
	BfIceManifest manifest;
	int32_t n_summaries;
	BfiPartitionSummary *summaries;
} BfiListEntry;

extern BfStatus
bfi_json_text(BfArena *a, const json_t *json, const char **out, BfError *err) BF_MUST_CHECK;
/* A line of a manifest. Sequence numbers -1 are left out: they are inherited from the list. */
typedef struct BfiNewEntry
{
	BfIceStatus status;
	int64_t snapshot_id;
	int64_t sequence_number;
	int64_t file_sequence_number;
	const BfIceNewFile *file; /* of the manifest's spec */
} BfiNewEntry;

extern BfStatus
bfi_manifest_bytes(BfArena *a, const BfIceMetadata *m, const BfIceSpec *spec,
				   const BfiNewEntry *entries, int32_t n, BfView *out, BfError *err) BF_MUST_CHECK;
/* parent_id -1 = none. */
extern BfStatus
bfi_manifest_list_bytes(BfArena *a, const BfiListEntry *entries, int32_t n, int64_t snapshot_id,
						int64_t parent_id, int64_t sequence_number, BfView *out,
						BfError *err) BF_MUST_CHECK;

/* commit_branch.c */

typedef struct BfiBranch
{
	BfArena *arena;
	const BfIceTable *table;
	const BfIceSnapshot *main;		  /* NULL: has none */
	const BfIceSnapshot *branch_head; /* NULL: no such branch yet */
	BfiListEntry *list;				  /* the branch's next manifest list: logical, main's, new */
	int32_t n_list;
	int32_t n_logical_manifests;
	int32_t list_capacity;
	BfIceDataFile *logical; /* its logical files, old then new */
	int32_t n_logical;
	int32_t logical_capacity;
	BfCoverage parquet;
	BfCoverage covered;
} BfiBranch;

/* Fills the list, with room for more entries, and the logical files. */
extern BfStatus bfi_branch_collect(BfiBranch *b, int32_t room, BfError *err) BF_MUST_CHECK;
/* Adds new logical files after checking that none of their entries is there; then fills the
 * coverages (`given` NULL: covered is what the branch has). */
extern BfStatus bfi_branch_add(BfiBranch *b, const BfIceNewFile *files, int32_t n_files,
							   const BfCoverage *given, BfError *err) BF_MUST_CHECK;

/* commit_create.c */

/* "bucket[16]"; not for unknown transforms. */
extern BfStatus
bfi_transform_text(BfArena *a, BfTransform t, const char **out, BfError *err) BF_MUST_CHECK;

/* commit_metadata.c */

/* A random (version 4) uuid in its text form. */
extern BfStatus
bfi_uuid(const BfHost *host, char out[BF_UUID_TEXT_BYTES], BfError *err) BF_MUST_CHECK;
/* Writes the tree as <dir>/<version, 5 digits>-<uuid>.metadata.json; *path = the file. */
extern BfStatus
bfi_metadata_publish(BfArena *a, const char *dir, int64_t version, const json_t *root,
					 const char **path, BfError *err) BF_MUST_CHECK;
/* Puts a version 1 tree into the form of version 2. */
extern BfStatus bfi_metadata_upgrade(const BfIceMetadata *m, const BfHost *host, json_t *root,
									 BfError *err) BF_MUST_CHECK;
extern BfStatus
bfi_json_set(json_t *object, const char *key, json_t *value, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_json_append(json_t *array, json_t *value, BfError *err) BF_MUST_CHECK;
/* The container under a key, made when missing or null. */
extern BfStatus bfi_json_child(json_t *object, const char *key, bool array, json_t **out,
							   BfError *err) BF_MUST_CHECK;

#endif
