/*
 * iceberg/manifest.h: manifest lists and manifests (Avro, resolved by field id, else by name).
 *
 * What writers really do is accepted: header keys may be missing, fields come in any order, counts
 * may be null, partition values may have the type of before a promotion. Sequence numbers, snapshot
 * ids and first row ids that an entry leaves out are inherited from the list. Snapshot ids are
 * opaque: 64 bits, whatever sign they come with.
 */
#ifndef BF_ICEBERG_MANIFEST_H
#define BF_ICEBERG_MANIFEST_H

#include "iceberg/metadata.h"
#include "io/source.h"

/* Manifests of one snapshot. */
#define BF_ICE_MANIFESTS_MAX 1000000
/* Memory for one record of a manifest or list as it is decoded, and for the reader's own blocks. */
#define BF_ICE_RECORD_BYTES_MAX ((size_t) 64 << 20)
#define BF_ICE_READER_BYTES_MAX ((size_t) 256 << 20)

typedef struct BfIceManifest
{
	const char *path; /* as recorded */
	int64_t length;
	int32_t spec_id; /* -1 = not known: bf_ice_read_manifest takes the manifest's own */
	bool deletes;
	int64_t sequence_number; /* -1 = null in the list: nothing can inherit it */
	int64_t min_sequence_number;
	int64_t added_snapshot_id;
	int32_t added_files; /* -1 = not recorded */
	int32_t existing_files;
	int32_t deleted_files;
	int64_t added_rows; /* -1 = not recorded */
	int64_t existing_rows;
	int64_t deleted_rows;
	int64_t first_row_id; /* v3: of the first row that gets its id from the list; -1 = none */
	const struct BfAvroValue *partitions; /* field summaries as read; NULL = none. For pruning. */
	BfView key_metadata;				  /* ptr NULL = none */
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

/* What a file says of its columns. Ascending by id; a broken file may have an id twice. */
typedef struct BfIceFileMetrics
{
	int32_t n_lower, n_upper, n_value_counts, n_null_counts, n_nan_counts;
	BfIceBound *lower, *upper;
	BfIceCount *value_counts, *null_counts, *nan_counts;
} BfIceFileMetrics;

/* What only files of deletes have. */
typedef struct BfIceFileDeletes
{
	int32_t n_equality_ids;
	int32_t *equality_ids;
	const char *referenced_data_file; /* as recorded; NULL = none */
	int64_t content_offset;			  /* of a deletion vector in its Puffin file; -1 = none */
	int64_t content_size;
} BfIceFileDeletes;

/* All of it is in the arena that bf_ice_read_manifest was given: until visit empties that. */
typedef struct BfIceFile
{
	BfIceStatus status;
	int64_t snapshot_id;
	int64_t sequence_number; /* data sequence number, inherited when null */
	int64_t file_sequence_number;
	BfIceContent content;
	bool has_content;	/* the entry says so itself; else it is DATA */
	const char *path;	/* as recorded; bifang:// for logical files */
	const char *format; /* upper case: PARQUET, ORC, AVRO, PUFFIN; logical files: "LOG" */
	int32_t spec_id;
	int32_t n_partition;
	/* In the order of the spec's fields, typed by spec and schema. A field that the manifest does
	 * not have at all is a NULL of type NULL. */
	BfValue *partition;
	int64_t record_count; /* -1 = not counted */
	int64_t file_size;
	int32_t n_splits;	  /* places where it can be divided, as row groups; -1 = not told */
	int64_t first_row_id; /* v3: the _row_id of its first row, inherited when null; -1 = none */
	BfIceFileMetrics metrics;
	BfIceFileDeletes deletes;
} BfIceFile;

typedef BfStatus (*BfIceFileVisit)(void *arg, const BfIceFile *file, BfError *err);

/* All manifests of a snapshot, in the arena. `path` is local. */
extern BfStatus
bf_ice_read_manifest_list(BfArena *a, const char *path, BfIoCounters *io, BfIceManifest **out,
						  int32_t *n, BfError *err) BF_MUST_CHECK;
/* Calls visit for every entry, DELETED ones too; the file is allocated in `keep`. visit may reset
 * or rewind `keep`: nothing of an earlier entry is used again. `path` is local. */
extern BfStatus bf_ice_read_manifest(BfArena *keep, const char *path, const BfIceManifest *manifest,
									 const BfIceMetadata *metadata, BfIoCounters *io,
									 BfIceFileVisit visit, void *arg, BfError *err) BF_MUST_CHECK;

#endif
