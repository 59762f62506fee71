/*
 * iceberg/manifest.h: manifest lists and manifests (Avro, resolved by field id).
 */
#ifndef BF_ICEBERG_MANIFEST_H
#define BF_ICEBERG_MANIFEST_H

#include "iceberg/metadata.h"
#include "io/source.h"

typedef struct BfIceManifest
{
	const char *path;
	int64_t length;
	int32_t spec_id;
	bool deletes;
	int64_t sequence_number;
	int64_t min_sequence_number;
	int64_t added_snapshot_id;
	int32_t added_files;    /* -1 = not recorded */
	int32_t existing_files;
	int32_t deleted_files;
	int64_t added_rows;     /* -1 = not recorded */
	int64_t existing_rows;
	int64_t deleted_rows;
	const struct BfAvroValue *partitions; /* field summaries as read; NULL = none. For pruning. */
} BfIceManifest;

typedef enum BfIceStatus
{
	BF_ICE_EXISTING = 0,
	BF_ICE_ADDED = 1,
	BF_ICE_DELETED = 2
} BfIceStatus;

typedef enum BfIceContent
{
	BF_ICE_DATA = 0,
	BF_ICE_POSITION_DELETES = 1,
	BF_ICE_EQUALITY_DELETES = 2
} BfIceContent;

/* Per-column metric of a file: bytes as in Appendix D (single-value serialisation). */
typedef struct BfIceBound
{
	int32_t field_id;
	BfView bytes;
} BfIceBound;

typedef struct BfIceCount
{
	int32_t field_id;
	int64_t count;
} BfIceCount;

typedef struct BfIceFile
{
	BfIceStatus status;
	int64_t snapshot_id;
	int64_t sequence_number;      /* data sequence number, inherited when null */
	int64_t file_sequence_number;
	BfIceContent content;
	const char *path; /* as recorded; bifang:// for logical files */
	const char *format; /* upper case: PARQUET, ORC, AVRO; logical files: "LOG" */
	int32_t spec_id;
	int32_t n_partition;
	BfValue *partition; /* in the order of the spec's fields */
	int64_t record_count;
	int64_t file_size;
	int32_t n_lower, n_upper, n_null_counts;
	BfIceBound *lower, *upper;
	BfIceCount *null_counts;
	int32_t n_equality_ids;
	int32_t *equality_ids;
} BfIceFile;

typedef BfStatus (*BfIceFileVisit)(void *arg, const BfIceFile *file, BfError *err);

/* All manifests of a snapshot, in the arena. v1 snapshots that list manifests directly too. `path` is local. */
extern BfStatus bf_ice_read_manifest_list(BfArena *a, const char *path, BfIoCounters *io,
										  BfIceManifest **out, int32_t *n, BfError *err)
	BF_MUST_CHECK;
/* Calls visit for every entry, DELETED ones too; everything is allocated in `keep`. `path` is local. */
extern BfStatus bf_ice_read_manifest(BfArena *keep, const char *path, const BfIceManifest *manifest,
									 const BfIceMetadata *metadata, BfIoCounters *io,
									 BfIceFileVisit visit, void *arg, BfError *err) BF_MUST_CHECK;

#endif
