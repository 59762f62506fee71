/*
 * iceberg/table.h: a table as one snapshot names it.
 *
 * Loading reads the metadata file; planning reads manifests and yields the data files of `main`,
 * the logical files of `bifang`, and the coverage boundary. A file that appears in both refs is
 * yielded once. Delete files make planning fail with BF_ERR_UNSUPPORTED, and so do data files that
 * are not Parquet.
 *
 * Coverage, both keys in the text form of log/rangeset.h (`12:0-99_150-199;13:0-5`):
 *
 *   bifang.covered          entries that the `bifang` branch has in any form: logical files or
 *                           Parquet. In the summary of the branch's snapshots and in the table
 *                           properties. For people and for bifang.check; planning does not use it.
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

#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "log/rangeset.h"

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

typedef struct BfIceDataFile
{
	const char *path; /* local path; for logical files the bifang:// name */
	bool logical;
	BfLogicalFile log; /* when logical: all ranges that it names */
	int64_t record_count;
	int64_t file_size;
	int32_t spec_id;
	/* Identity partition values by source field id, for columns that the file lacks. */
	int32_t n_constants;
	int32_t *constant_ids;
	BfValue *constants;
	int32_t n_partition;
	BfValue *partition;
	int64_t sequence_number;
} BfIceDataFile;

typedef struct BfIcePlan
{
	int64_t snapshot_id;		/* main's, -1 = empty */
	int64_t bifang_snapshot_id; /* -1 = no such branch */
	int32_t n_files;
	BfIceDataFile *files; /* logical files that main covers wholly are left out */
	int64_t total_rows;	  /* exact: what main covers of a logical file is not counted twice */
	int64_t total_bytes;
	int32_t n_manifests;
	BfCoverage covered;			/* what the lake covers by any form: live = [0,end) minus this */
	BfCoverage covered_parquet; /* what `main` covers: logical files are read minus this */
} BfIcePlan;

extern BfStatus bf_ice_plan(BfArena *a, const BfIceTable *t, BfIoCounters *io, BfIcePlan **out,
							BfError *err) BF_MUST_CHECK;
/* The same for one given snapshot alone: data files as they are named, nothing subtracted from
 * logical ones (covered_parquet is empty). BF_ERR_NOTFOUND when the snapshot does not exist. */
extern BfStatus bf_ice_plan_snapshot(BfArena *a, const BfIceTable *t, int64_t snapshot_id,
									 BfIoCounters *io, BfIcePlan **out, BfError *err) BF_MUST_CHECK;
/* The schema that rows of a snapshot have: the snapshot's own, the current one if it records none.
 */
extern BfStatus bf_ice_snapshot_schema(const BfIceTable *t, int64_t snapshot_id,
									   const BfSchema **out, BfError *err) BF_MUST_CHECK;

#endif
