/*
 * iceberg/entry.h: manifest entries as planning wants them, and a cache of them.
 *
 * An entry is what a plan needs of a live file: its local path, its partition values, its counts,
 * its metrics as packed bytes. Manifests never change, so those of a backend are kept in a cache,
 * bounded in bytes; a plan over cached manifests reads nothing.
 */
#ifndef BF_ICEBERG_ENTRY_H
#define BF_ICEBERG_ENTRY_H

#include "iceberg/metrics.h"
#include "iceberg/table.h"

/* What only delete files have. */
typedef struct BfiEntryDeletes
{
	int32_t n_equality_ids;
	int32_t *equality_ids;
	const char *referenced; /* local path of the one data file that it names; NULL = none */
	/* Position deletes between equal bounds of their paths: as a local path, NULL = none. What was
	 * cut may be only the beginning of a path; inside the table's directory that can be seen. */
	const char *path_bound;
	bool bound_inside;
	int64_t content_offset; /* -1 = none */
	int64_t content_size;
} BfiEntryDeletes;

typedef struct BfiEntry
{
	const char *path;	/* local; bifang:// when logical */
	uint64_t path_hash; /* bf_hash of it, with the seed of the BfiEntries */
	const char *format; /* as BfIceFile */
	bool logical;
	bool has_content;
	BfIceContent content;
	int32_t spec_id;
	uint32_t path_len;
	int64_t snapshot_id;
	int64_t sequence_number;
	int64_t record_count;
	int64_t file_size;
	int64_t first_row_id;
	int32_t n_partition;
	BfValue *partition;
	BfView metrics;
	const BfiEntryDeletes *deletes; /* NULL = a data file */
} BfiEntry;

typedef BfStatus (*BfiEntryVisit)(void *arg, const BfiEntry *entry, BfError *err);

typedef struct BfiEntries
{
	const BfHost *host;
	const BfIceTable *table;
	BfIceCache *cache; /* NULL = none */
	uint64_t seed;	   /* of hashes of paths; with a cache its own */
	BfIoCounters *io;
	bool metrics;	  /* pack them; with a cache they always are */
	bool listing;	  /* paths that are nowhere here stay as they are recorded; without a cache */
	int64_t n_read;	  /* manifests that were read, */
	int64_t n_cached; /* and those that were in the cache */
	/* Entries that it certainly leaves out need not be visited; they are counted. */
	const struct BfIcePruner *pruner;
	int64_t n_by_partition;
	int64_t n_by_bounds;
	/* What visit is called for stays as long as the cache's item, which bfi_entries_hold holds. */
	bool lasting;
	const struct BfiManifestData *data; /* of the manifest that was read last; NULL: not cached */
} BfiEntries;

/* Calls visit for every live entry. It is valid during the call, if `lasting` longer. */
extern BfStatus bfi_entries_read(BfiEntries *r, const BfIceManifest *m, BfiEntryVisit visit,
								 void *arg, BfError *err) BF_MUST_CHECK;
/* Of a manifest of deletes that nobody wants to read: is it one? */
extern BfStatus
bfi_entries_check(BfiEntries *r, const BfIceManifest *m, BfError *err) BF_MUST_CHECK;
/* Keeps the lasting entries of the manifest that was read last until the arena is freed. */
extern BfStatus bfi_entries_hold(BfiEntries *r, BfArena *a, BfError *err) BF_MUST_CHECK;
/* Is the manifest known to have no logical file? Never reads. */
extern bool bfi_entries_known_plain(BfiEntries *r, const BfIceManifest *m);
/* The manifests of a snapshot, from the cache or in `a`. */
extern BfStatus
bfi_entries_manifests(BfiEntries *r, BfArena *a, const BfIceSnapshot *s, const BfIceManifest **out,
					  int32_t *n, BfError *err) BF_MUST_CHECK;

#endif
