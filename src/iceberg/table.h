/*
 * iceberg/table.h: a table as its snapshots name it.
 *
 * Loading reads the metadata file; planning reads manifests and yields the data files of `main`,
 * the logical files of `bifang`, and the coverage boundary. A file that appears in both refs is
 * yielded once. Each data file comes with the delete files that apply to it. Data files are Parquet
 * or Avro; ORC, and delete files that are not Parquet, make planning fail with BF_ERR_UNSUPPORTED.
 *
 * Which snapshots a point of time means (bf_ice_at_resolve):
 *
 *   current        what `main` names now, and the logical files of `bifang`'s head
 *   snapshot, tag, branch   what that one snapshot names. On the bifang branch that is main's
 *                  files of then and logical files, on any other branch its files alone.
 *   time           what the table had then: `main` by the snapshot log, and of the bifang
 *                  branch the newest commit that is not later, for its logical files
 *
 * Rows that the lake does not have yet (live ranges) belong to the current point only. Rows have
 * the schema that the snapshot was made with, of branches and the current point the current schema.
 *
 * Coverage, both keys in the text form of log/rangeset.h (`12:0-99_150-199;13:0-5`):
 *
 *   bifang.covered          entries that the `bifang` branch has in any form: logical files or
 *                           Parquet. In the summary of the branch's snapshots and in the table
 *                           properties. For people; nothing is decided by it.
 *   bifang.covered-parquet  entries whose rows `main` has as Parquet. In the summary of the
 *                           snapshot that moved them, and in the table properties.
 *
 * What main covers is told by its newest ancestor (main's head first) that has the key: other
 * engines' snapshots lack it and so inherit it, and a rollback of main rolls it back. When that
 * walk ends at a parent that has expired, the table property tells. When it ends at a first
 * snapshot, main covers nothing.
 */
#ifndef BF_ICEBERG_TABLE_H
#define BF_ICEBERG_TABLE_H

#include "iceberg/cache.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "log/rangeset.h"
#include "vec/pred.h"

#define BF_ICE_BRANCH_MAIN "main"
#define BF_ICE_BRANCH_BIFANG "bifang"
#define BF_ICE_COVERED "bifang.covered"
#define BF_ICE_COVERED_PARQUET "bifang.covered-parquet"

typedef struct BfIceTable
{
	const char *metadata_path; /* local */
	BfLocation location;
	BfIceMetadata *metadata;
	const BfSchema *schema; /* current, with aliases */
} BfIceTable;

/* Finds the newest metadata file of a table directory: version-hint.text and what follows it, else
 * the numerically greatest. BF_ERR_NOTFOUND when the directory has no metadata/; when two files
 * have the greatest number only a catalog knows which counts: BF_ERR_UNSUPPORTED naming both. Given
 * a path to a metadata file, returns it. */
extern BfStatus bf_ice_find_metadata(BfArena *a, const char *dir_or_file, const char **out,
									 BfError *err) BF_MUST_CHECK;
extern BfStatus bf_ice_load(BfArena *a, const char *metadata_path, BfIoCounters *io,
							BfIceTable **out, BfError *err) BF_MUST_CHECK;
/* The same with a map for locations; `map` is borrowed, NULL = none. */
extern BfStatus bf_ice_load_mapped(BfArena *a, const char *metadata_path, const BfLocationMap *map,
								   BfIoCounters *io, BfIceTable **out, BfError *err) BF_MUST_CHECK;

/* --- Points in a table's history -------------------------------------------------------------- */

typedef enum BfIceAtKind
{
	BF_ICE_AT_CURRENT,
	BF_ICE_AT_SNAPSHOT,
	BF_ICE_AT_REF, /* a branch or a tag */
	BF_ICE_AT_TIME
} BfIceAtKind;

typedef struct BfIceAt
{
	BfIceAtKind kind;
	int64_t snapshot_id;
	const char *ref;
	int64_t time_ms; /* since 1970-01-01 UTC */
} BfIceAt;

typedef struct BfIcePoint
{
	const BfIceSnapshot *main;	 /* all that it names is read; NULL = nothing */
	const BfIceSnapshot *bifang; /* only its logical files are read; NULL = none */
	const BfSchema *schema;
	bool past; /* the schema is the snapshot's; else the table's current one */
} BfIcePoint;

/* BF_ERR_NOTFOUND when there is no such snapshot or ref, or nothing was there at that time. */
extern BfStatus bf_ice_at_resolve(const BfIceTable *t, const BfIceAt *at, BfIcePoint *out,
								  BfError *err) BF_MUST_CHECK;

/* --- Plans ------------------------------------------------------------------------------------ */

typedef enum BfIceDeleteKind
{
	BF_ICE_DELETE_POSITION,
	BF_ICE_DELETE_EQUALITY,
	BF_ICE_DELETE_VECTOR
} BfIceDeleteKind;

typedef struct BfIceDeleteFile
{
	BfIceDeleteKind kind;
	const char *path; /* local; the Puffin file of a vector */
	bool avro;		  /* an Avro file and not a Parquet file */
	int64_t sequence_number;
	int64_t record_count;
	int64_t file_size;
	int32_t spec_id;
	int32_t n_partition;
	BfValue *partition;
	/* Equality: the columns by id, and as the newest schema that has each describes it: a column
	 * may have been dropped since. */
	int32_t n_equality_ids;
	int32_t *equality_ids;
	const BfField **equality_fields;
	/* Equality: those with the same number differ by sequence number only in what they apply to. */
	int32_t scope;
	/* Local path of the only data file that it is about; NULL = its rows tell. */
	const char *referenced;
	int64_t vector_offset; /* of the deletion vector in its file */
	int64_t vector_length;
} BfIceDeleteFile;

/* An array that data files share. */
typedef struct BfIceDeletes
{
	int32_t n;
	const BfIceDeleteFile *const *files;
} BfIceDeletes;

typedef enum BfIceFormat
{
	BF_ICE_FORMAT_PARQUET,
	BF_ICE_FORMAT_AVRO,
	BF_ICE_FORMAT_LOG, /* a logical file */
	/* In listings: what is not read. */
	BF_ICE_FORMAT_ORC,
	BF_ICE_FORMAT_OTHER
} BfIceFormat;

typedef struct BfIceDataFile
{
	const char *path; /* local path; for logical files the bifang:// name */
	BfIceFormat format;
	bool logical;
	BfLogicalFile log;	  /* when logical: all ranges that it names */
	int64_t record_count; /* -1 = whoever committed it has not counted */
	int64_t file_size;
	int32_t spec_id;
	/* Identity partition values by source field id, for columns that the file lacks. */
	int32_t n_constants;
	int32_t *constant_ids;
	BfValue *constants;
	int32_t n_partition;
	BfValue *partition;
	int64_t sequence_number; /* also the _last_updated_sequence_number of its rows */
	int64_t first_row_id;	 /* version 3: the _row_id of its first row; -1 = none */
	int64_t snapshot_id;	 /* that added it */
	/* What deletes rows of it: its deletion vector, or position delete files that are about this
	 * file alone; position delete files of its partition, which may name it; equality delete files.
	 * With a deletion vector there are no position delete files. Logical files have none. */
	BfIceDeletes own;
	BfIceDeletes position;
	BfIceDeletes equality;
} BfIceDataFile;

static inline int32_t
bf_ice_n_deletes(const BfIceDataFile *f)
{
	return f->own.n + f->position.n + f->equality.n;
}

/* The i-th of them all. */
static inline const BfIceDeleteFile *
bf_ice_delete(const BfIceDataFile *f, int32_t i)
{
	if (i < f->own.n)
		return f->own.files[i];
	i -= f->own.n;
	return i < f->position.n ? f->position.files[i] : f->equality.files[i - f->position.n];
}

/* For EXPLAIN. Files are those in manifests that were looked at. */
typedef struct BfIcePlanCounters
{
	int64_t manifests;		   /* that the snapshots name, empty ones left out */
	int64_t manifests_skipped; /* by their summaries, or since no data file needs their deletes */
	int64_t manifests_read;
	int64_t manifests_cached;
	int64_t files;
	int64_t files_by_partition; /* skipped by partition values */
	int64_t files_by_bounds;	/* skipped by bounds of columns */
	int64_t delete_files;		/* that apply to a file of the plan */
	int64_t delete_files_unused;
} BfIcePlanCounters;

/* What to plan with. */
static inline int64_t
bf_ice_rows(int64_t record_count, int64_t file_size)
{
	return record_count >= 0 ? record_count : file_size / 64 + 1;
}

typedef struct BfIcePlan
{
	int64_t snapshot_id;		/* main's, -1 = empty */
	int64_t bifang_snapshot_id; /* -1 = no such branch */
	int32_t n_files;
	BfIceDataFile *files; /* logical files that main covers wholly are left out */
	/* With totals_only: files that are no part of `files`. */
	int64_t n_counted;
	int64_t rows_counted;
	int64_t bytes_counted;
	/* Exact but for deletes: what main covers of a logical file is not counted twice. */
	int64_t total_rows;
	int64_t total_bytes;
	bool has_deletes;  /* total_rows counts deleted rows too */
	bool rows_guessed; /* some files' by their size */
	int32_t n_manifests;
	BfCoverage covered;			/* what the lake covers by any form: live = [0,end) minus this */
	BfCoverage covered_parquet; /* what `main` covers: logical files are read minus this */
	BfIcePlanCounters counters;
} BfIcePlan;

/* The current point, nothing pruned. Deletes and Avro files are BF_ERR_UNSUPPORTED, here and in
 * bf_ice_plan_snapshot. */
extern BfStatus bf_ice_plan(BfArena *a, const BfIceTable *t, BfIoCounters *io, BfIcePlan **out,
							BfError *err) BF_MUST_CHECK;
/* The same for one given snapshot alone: data files as they are named, nothing subtracted from
 * logical ones (covered_parquet is empty). BF_ERR_NOTFOUND when the snapshot does not exist. */
extern BfStatus bf_ice_plan_snapshot(BfArena *a, const BfIceTable *t, int64_t snapshot_id,
									 BfIoCounters *io, BfIcePlan **out, BfError *err) BF_MUST_CHECK;

typedef struct BfIceScan
{
	BfIcePoint point;
	const BfPred *pred; /* over point.schema; NULL = every row is wanted */
	uint32_t prune;		/* BF_PRUNE_PARTITION, BF_PRUNE_MANIFEST; others are not for us */
	BfIceCache *cache;	/* NULL = none */
	BfIoCounters *io;	/* NULL = don't count */
	/* The caller reads live ranges: plan->covered has to be complete although files are pruned. It
	 * always is for tables with a bifang branch; of others more manifests are read. */
	bool coverage;
	/* Files that are not logical are counted, with their rows and bytes, but no part of the plan:
	 * for estimates. What only reading deletes or comparing paths would find is not found. */
	bool totals_only;
	/* Nobody reads the files: formats that can't be read are told of, and paths that are nowhere
	 * here stay as they are recorded. Not with a cache. */
	bool listing;
} BfIceScan;

/* The files that may have rows that match. The plan is in `a`, or in items of the cache that stay
 * until `a` is freed. */
extern BfStatus bf_ice_plan_scan(BfArena *a, const BfIceTable *t, const BfIceScan *scan,
								 BfIcePlan **out, BfError *err) BF_MUST_CHECK;

/* A plan as bytes, and again as a plan, of the same table in another process. The bytes are in `a`;
 * those that are unpacked must outlive the plan. Not for plans of totals. */
extern BfStatus
bf_ice_plan_pack(BfArena *a, const BfIcePlan *plan, BfView *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_ice_plan_unpack(BfArena *a, const BfIceTable *t, BfView bytes, BfIcePlan **out,
								   BfError *err) BF_MUST_CHECK;

/* The schema that rows of a snapshot have: the snapshot's own, the current one if it records none.
 */
extern BfStatus bf_ice_snapshot_schema(const BfIceTable *t, int64_t snapshot_id,
									   const BfSchema **out, BfError *err) BF_MUST_CHECK;

#endif
