/*
 * Iceberg tables as other engines write them, made for tests: any schema and specs, manifests with
 * metrics and deletes, lists with summaries, several snapshots and refs. Nothing is checked; what a
 * test asks for is written.
 */
#ifndef TEST_ICEBERG_MAKE_H
#define TEST_ICEBERG_MAKE_H

#include "iceberg/table.h"

typedef struct MakeColumn
{
	int32_t id;
	const BfValue *lower, *upper; /* NULL = none */
	int64_t values, nulls, nans;  /* -1 = not told */
} MakeColumn;

typedef struct MakeFile
{
	BfIceStatus status;
	BfIceContent content;
	const char *path;
	const char *format; /* NULL = PARQUET */
	int64_t sequence;	/* -1 = inherited */
	int64_t rows;
	int64_t size;
	int32_t n_partition;
	const BfValue *partition;
	int32_t n_columns;
	const MakeColumn *columns;
	int32_t n_equality_ids;
	const int32_t *equality_ids;
	const char *referenced;
	int64_t offset, length; /* of a deletion vector; length 0 = none */
	int64_t first_row_id;	/* 0 = null; else the id + 1 */
} MakeFile;

typedef struct MakeManifest
{
	const char *name; /* of the file below metadata/ */
	int32_t spec_id;
	bool deletes;
	bool no_summaries;
	int64_t sequence;
	int64_t snapshot_id;
	int64_t first_row_id; /* 0 = null; else the id + 1 */
	int32_t n_files;
	const MakeFile *files;
	/* Keys of its header; NULL: none, and the spec's own id. */
	const char *header_content, *header_spec_id, *header_spec;
	/* Filled when it is written. */
	const char *path;
	int64_t length;
	int32_t claimed; /* added files that the list tells of besides, or keeps back */
} MakeManifest;

typedef struct MakeSnapshot
{
	int64_t id;
	int64_t parent_id; /* 0 = none */
	int64_t sequence;
	int64_t timestamp_ms;
	int32_t schema_id;	 /* -1 = not recorded */
	const char *summary; /* more keys, `,"k":"v"`; NULL = none */
	int32_t n_manifests;
	MakeManifest *const *manifests;
} MakeSnapshot;

typedef struct MakeTable
{
	const char *dir; /* where it is */
	int32_t version;
	const char *schemas; /* JSON array */
	const char *specs;	 /* JSON array */
	const char *refs;	 /* JSON object; NULL = none */
	const char *log;	 /* JSON array; NULL = none */
	const char *more;	 /* more keys, `,"k":"v"`; NULL = none */
	int64_t current;	 /* snapshot id; 0 = none */
	int32_t schema_id;
	int32_t n_snapshots;
	const MakeSnapshot *snapshots;
} MakeTable;

/* Writes all of it, then loads it. NULL, and the test has failed, when something went wrong. */
extern BfIceTable *make_table(MakeTable *t);
/* A manifest's bytes, for tests of manifests alone. `m` gives types to partition fields. */
extern BfStatus make_manifest(const BfIceMetadata *m, MakeManifest *manifest, BfView *out,
							  BfError *err) BF_MUST_CHECK;

/* As it stands in a snapshot's summary; "?" where it can't be. */
extern const char *coverage_text(const BfCoverage *c);

/* Values that live as long as the test. */
extern const BfValue *make_i32(int32_t v);
extern const BfValue *make_i64(int64_t v);
extern const BfValue *make_text(const char *v);
extern const BfValue *make_null(BfKind kind);
extern BfValue *make_tuple(int32_t n, ...); /* of const BfValue * */

#endif
