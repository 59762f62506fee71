/*
 * iceberg/commit.h: making new table metadata (v2 written; v1 tables are upgraded, v3 is refused).
 *
 * A commit writes a manifest per partition spec, a manifest list per snapshot and a new metadata
 * file, all durable before it returns the new file's path. Moving the catalog's pointer is the
 * caller's: it does so in its transaction, and on conflict loads the newer metadata and commits
 * again; files of a lost attempt are garbage. Keys of the metadata that we don't know are kept.
 */
#ifndef BF_ICEBERG_COMMIT_H
#define BF_ICEBERG_COMMIT_H

#include "iceberg/table.h"

/* Whether metadata files that the log of the newest one does not name any more are to be removed.
 */
#define BF_ICE_DELETE_OLD_METADATA "write.metadata.delete-after-commit.enabled"

/* A new table. Field ids are given by position from 1 when the schema's are 0 (all columns first,
 * then what is nested in them). `spec` fields: source_id and transform are given (a source_id means
 * the id that the column gets), field_id from 1000 when 0, names filled when NULL; spec NULL =
 * unpartitioned. Writes <dir>/metadata/00000-<uuid>.metadata.json; `location` is recorded (file://
 * URI of dir when NULL). */
extern BfStatus
bf_ice_create(BfArena *a, const char *dir, const char *location, const BfSchema *schema,
			  const BfIceSpec *spec, const char *const *property_keys,
			  const char *const *property_values, int32_t n_properties, const char **metadata_path,
			  BfError *err) BF_MUST_CHECK;

/* Of the ranges in a logical file's name; the catalog of some engines holds 1000. */
#define BF_ICE_RANGES_TEXT_MAX 600

typedef struct BfIceNewFile
{
	const char *path;	/* bifang:// name; of a Parquet file where it is */
	const char *format; /* NULL = LOG */
	int32_t spec_id;
	int32_t n_partition;
	const BfValue *partition; /* in the order of the spec's fields */
	int64_t record_count;
	int64_t file_size;
	BfView metrics; /* from bf_ice_metrics_write; without bytes: nothing is known */
	int32_t n_splits;
	const int64_t *splits; /* where row groups begin */
} BfIceNewFile;

/* Is the table one that the next function can write? Whoever takes rows for it asks first. */
extern BfStatus bf_ice_can_commit(const BfIceTable *t, BfError *err) BF_MUST_CHECK;
/* Appends logical files to the `bifang` branch (started from main's head when missing) in one
 * `append` snapshot, and sets bifang.covered in the summary and in the table properties to
 * `covered` (NULL: to what the branch then covers). The branch's manifests are main's current ones
 * plus those of logical files. `main` does not move but exists afterwards: a table without a main
 * snapshot gets an empty one, so that refs stay valid. BF_ERR_VALUE when an entry is already
 * covered or a file is not what the table's spec asks for. *metadata_path = the new file. */
extern BfStatus
bf_ice_commit_logical(BfArena *a, const BfIceTable *t, const BfIceNewFile *files, int32_t n_files,
					  const BfCoverage *covered, const char **metadata_path, int64_t *snapshot_id,
					  BfError *err) BF_MUST_CHECK;
/* Rows of logical files that are Parquet now. In one metadata file `main` gets an `append` snapshot
 * with `files`, whose summary has the entries of `moved` (names of logical files) in
 * bifang.covered-parquet, and the `bifang` branch a `replace` snapshot with the same files and
 * without `moved`. Only `moved` is asked about: whatever was committed since `files` were written
 * stays, so on a conflict the same call is made for the newer metadata. BF_ERR_CONFLICT: the branch
 * does not name one of `moved` any more. BF_ERR_VALUE: the files have not as many rows as entries
 * move. *snapshot_id = main's. */
extern BfStatus
bf_ice_commit_moved(BfArena *a, const BfIceTable *t, const BfIceNewFile *files, int32_t n_files,
					const char *const *moved, int32_t n_moved, const char **metadata_path,
					int64_t *snapshot_id, BfError *err) BF_MUST_CHECK;

/* Expiry ----------------------------------------------------------------------------------------
 *
 * Snapshots that nobody reads any more make each metadata file larger and keep their files. */
typedef struct BfIceExpiry
{
	int64_t max_snapshot_age_ms;
	int64_t min_snapshots; /* of a branch; at least 1 */
	int64_t max_ref_age_ms;
} BfIceExpiry;

typedef struct BfIceExpired
{
	int32_t snapshots;
	int32_t refs;
} BfIceExpired;

/* By the table's properties history.expire.*, else as Iceberg has it: 5 days, 1, no end. True when
 * the table says an age of snapshots: then each commit of a snapshot expires others. */
extern bool bf_ice_expiry(const BfIceMetadata *m, BfIceExpiry *out);
/* What refs say of themselves comes before the rule. The heads of branches and snapshots with tags
 * stay, as do the refs main and bifang. *metadata_path = NULL: nothing expires. */
extern BfStatus
bf_ice_expire(BfArena *a, const BfIceTable *t, const BfIceExpiry *rule, BfIceExpired *gone,
			  const char **metadata_path, BfError *err) BF_MUST_CHECK;

/* Properties -------------------------------------------------------------------------------------
 */

/* value NULL: without it. *metadata_path = NULL: the table has it so already. */
extern BfStatus
bf_ice_set_property(BfArena *a, const BfIceTable *t, const char *key, const char *value,
					const char **metadata_path, BfError *err) BF_MUST_CHECK;

/* Columns ---------------------------------------------------------------------------------------
 *
 * https://iceberg.apache.org/spec/#schema-evolution. Rows keep their field ids, so nothing is
 * written but metadata; ledgers and files of before are read with NULL for what they lack. */
typedef enum BfIceColumnChangeKind
{
	BF_ICE_COLUMN_ADD, /* behind the others */
	BF_ICE_COLUMN_DROP,
	BF_ICE_COLUMN_RENAME,
	BF_ICE_COLUMN_PROMOTE,
	BF_ICE_COLUMN_REQUIRE,
	BF_ICE_COLUMN_RELAX
} BfIceColumnChangeKind;

typedef struct BfIceColumnChange
{
	BfIceColumnChangeKind kind;
	int32_t id; /* field id; of ADD: 0, gets the new one */
	BfField
		field; /* ADD: name, doc, type (one without parts), required; RENAME: name; PROMOTE: type */
} BfIceColumnChange;

/* int -> long, float -> double, decimal(p,s) -> decimal(more,s). */
extern bool bf_ice_type_promotable(BfType from, BfType to);
/* Makes the changes in their order a schema, the current one, or takes up an old one that is the
 * same. No snapshot is made. That no row has NULL in a required column is the caller's to know.
 * BF_ERR_VALUE: a name would stand twice; BF_ERR_UNSUPPORTED: no such promotion, a type that tables
 * can't have, no column would be left, or partitions, sort order or the identifier need the column
 * as it is; BF_ERR_NOTFOUND: no such id. */
extern BfStatus
bf_ice_change_columns(BfArena *a, const BfIceTable *t, BfIceColumnChange *changes, int32_t n,
					  const char **metadata_path, BfError *err) BF_MUST_CHECK;

#endif
