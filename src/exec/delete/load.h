/*
 * exec/delete/load.h: what delete files say, read.
 *
 * Three kinds of sources say so, all of Apache Iceberg (https://iceberg.apache.org/spec/):
 *
 *   POSITION  a file of (file_path, pos), by field ids 2147483546 and 2147483545. Rows
 *             without a path are passed over; one with a path and without a position, or with a
 *             negative one, is corrupt. Paths are compared as local paths.
 *   EQUALITY  a file whose columns `ids` hold keys. A row is deleted when all of them are the same
 *             as those of a row of the file: NULL and NULL, NaN and NaN; -0 and 0 are not (Java
 *             compares them so, and the specification does not say). Columns are found by id and
 *             promoted to the table's type, columns that were dropped since too; other columns of
 *             the file don't matter.
 *   VECTOR    a deletion vector in a Puffin file:
 *             { uint32 BE length of what follows without the checksum, magic D1 D3 39 64, 64-bit
 *             Roaring bitmap, uint32 BE CRC-32 of magic and bitmap }. A bitmap without this frame
 *             (early writers) is read too.
 *
 * Files of the first two kinds are Parquet or Avro. A file has at least as many rows as the
 * manifest says, a vector exactly as many: a delete that is missing would bring rows back.
 *
 * Which sources apply to which data file is the planner's business (sequence numbers, partitions, a
 * vector instead of position deletes). A source that can't be read fails the scan.
 *
 * A BfDeleteCache holds what one scan has read: each delete file is read once for all data files.
 * Position deletes are kept as sets of row numbers per data file (filter/rows.h), keys of equality
 * deletes in one set per scope and list of ids (filter/keys.h), so that a thousand small delete
 * files cost one look-up per row. Deletion vectors belong to one data file and are not cached.
 *
 * What comes out, BfDeletes, knows nothing of files: filter/deletes.h applies it.
 */
#ifndef BF_EXEC_DELETE_LOAD_H
#define BF_EXEC_DELETE_LOAD_H

#include "exec/filter/deletes.h"
#include "io/source.h"

typedef enum BfDeleteKind
{
	BF_DELETE_POSITION,
	BF_DELETE_EQUALITY,
	BF_DELETE_VECTOR
} BfDeleteKind;

/* Scope of a source that shares its keys with no other. */
#define BF_DELETE_SCOPE_OWN (-1)

typedef struct BfDeleteSource
{
	BfDeleteKind kind;
	const char *path;	  /* local; of a vector the Puffin file */
	bool avro;			  /* POSITION, EQUALITY: an Avro file and not a Parquet file */
	int64_t sequence;	  /* EQUALITY: data sequence number */
	int32_t scope;		  /* EQUALITY: equal numbers where the planner's rules differ by sequence
						   * only (same partition, or both global); BF_DELETE_SCOPE_OWN */
	int32_t n_ids;		  /* EQUALITY */
	const int32_t *ids;	  /* EQUALITY: field ids of the key, any order */
	int64_t offset;		  /* VECTOR: where it stands in the file */
	int64_t length;		  /* VECTOR: with its frame */
	int64_t record_count; /* as the manifest says; -1 = unknown */
} BfDeleteSource;

typedef struct BfDeleteOptions
{
	/* Brings a path out of a position delete file into the form of the data files' local paths.
	 * *out = NULL: a file that the table does not have. */
	BfStatus (*resolve)(void *arg, BfArena *a, const char *path, const char **out, BfError *err);
	/* The column of that field in any schema that the table had, with the newest type: the field,
	 * or for a member of structs the structs around it with nothing else in them. *out = NULL:
	 * none. Lives as long as the cache, whose arena is given. */
	BfStatus (*column_of)(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err);
	void *arg;
	size_t bytes_max; /* what the cache may hold; beyond it BF_ERR_LIMIT */
	BfIoCounters *io; /* added to; may be NULL */
	bool unverified;  /* checksums of Parquet pages and record counts are not looked at */
} BfDeleteOptions;

/* What a cache has read; for EXPLAIN. */
typedef struct BfDeleteCounters
{
	int64_t files_read; /* delete files and vectors */
	int64_t positions;	/* row numbers read, whatever data file they are of */
	int64_t keys;		/* rows of equality delete files */
	int64_t dangling;	/* positions behind the end of their data files */
} BfDeleteCounters;

typedef struct BfDeleteCache BfDeleteCache;

/* The options are copied. */
extern BfStatus bf_delete_cache_new(BfArena *a, const BfDeleteOptions *options, BfDeleteCache **out,
									BfError *err) BF_MUST_CHECK;
extern const BfDeleteCounters *bf_delete_counters(const BfDeleteCache *c);

/* The deletes of one data file, all of them read. `data_path` is its local path, `data_sequence`
 * its data sequence number. *out = NULL when none of the sources can delete a row of it. The cache
 * is borrowed, the sources are not kept. */
extern BfStatus bf_deletes_load(BfArena *a, BfDeleteCache *c, const char *data_path,
								int64_t data_sequence, const BfDeleteSource *sources, int32_t n,
								BfDeletes **out, BfError *err) BF_MUST_CHECK;
/* Counts the positions that the data file, of so many rows (negative: nobody knows), does not have.
 * They are no error: other engines leave such behind. */
extern void bf_delete_count_dangling(BfDeleteCache *c, const BfDeletes *d, int64_t n_rows);

#endif
