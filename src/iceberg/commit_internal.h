/*
 * iceberg/commit_internal.h: the steps that every commit is made of; the order is its own.
 */
#ifndef BF_ICEBERG_COMMIT_INTERNAL_H
#define BF_ICEBERG_COMMIT_INTERNAL_H

#include "iceberg/internal.h"

typedef struct BfiCommit
{
	BfArena *arena;
	const BfIceTable *table;
	const BfIceNewFile *files; /* all logical, or none */
	int32_t n_files;
	const char *dir; /* of the metadata files */
	char uuid[BF_UUID_TEXT_BYTES];
	int64_t now_ms;

	BfiBranch branch;
	int64_t main_id; /* of a new snapshot of main, where one is made */
	int64_t parent_id;
	int64_t snapshot_id;	 /* of the branch's */
	int64_t sequence_number; /* the last one given */
	int32_t n_manifests;	 /* that were written */

	json_t *root; /* the new metadata */
} BfiCommit;

extern void bfi_commit_init(BfiCommit *c, BfArena *a, const BfIceTable *t,
							const BfIceNewFile *files, int32_t n_files);
/* That no snapshot of the table has. */
extern BfStatus bfi_commit_new_id(const BfiCommit *c, int64_t *out, BfError *err) BF_MUST_CHECK;
/* Does the table's spec fit the file's values? */
extern BfStatus
bfi_commit_check_file(const BfiCommit *c, const BfIceNewFile *f, BfError *err) BF_MUST_CHECK;
/* Heads, ids and the copy of the metadata. */
extern BfStatus bfi_commit_begin(BfiCommit *c, BfError *err) BF_MUST_CHECK;
/* Fills path, length and spec of `m`. */
extern BfStatus
bfi_commit_write_manifest(BfiCommit *c, const BfIceSpec *spec, const BfiNewEntry *entries,
						  int32_t n, BfIceManifest *m, BfError *err) BF_MUST_CHECK;
/* One per field of the spec, over the files of the lines that are not DELETED. */
extern BfStatus
bfi_commit_summaries(const BfiCommit *c, const BfIceSpec *spec, const BfiNewEntry *entries,
					 int32_t n, BfiPartitionSummary **out, BfError *err) BF_MUST_CHECK;
/* A manifest of the new files per spec, at the end of the branch's list. */
extern BfStatus
bfi_commit_add_manifests(BfiCommit *c, int64_t snapshot_id, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_commit_write_list(BfiCommit *c, const BfiListEntry *entries, int32_t n,
									  int64_t id, int64_t parent_id, int64_t sequence_number,
									  const char **recorded, BfError *err) BF_MUST_CHECK;
/* Appends a snapshot to the tree and makes the ref point to it; *summary = its empty summary. */
extern BfStatus
bfi_commit_add_snapshot(BfiCommit *c, const char *ref_name, int64_t id, int64_t parent_id,
						int64_t sequence_number, const char *manifest_list, json_t **summary,
						BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_commit_log_main(BfiCommit *c, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_commit_end_branch(BfiCommit *c, const char *operation, json_t **summary,
									  BfError *err) BF_MUST_CHECK;
/* The log of metadata files and the next one itself. */
extern BfStatus
bfi_commit_publish(BfiCommit *c, const char **metadata_path, BfError *err) BF_MUST_CHECK;
/* The same with what snapshots change besides: sequence number, properties, what expires. */
extern BfStatus
bfi_commit_finish(BfiCommit *c, const char **metadata_path, BfError *err) BF_MUST_CHECK;

/* What a summary has of the new files. */
extern BfStatus bfi_commit_put_added(BfiCommit *c, const char *operation, json_t *summary,
									 BfError *err) BF_MUST_CHECK;
/* Totals: what the manifests tell, and for sizes what main's summary tells. */
extern BfStatus bfi_commit_put_totals(BfiCommit *c, const BfiListEntry *list, int32_t n_list,
									  const BfIceDataFile *logical, int32_t n_logical,
									  json_t *summary, BfError *err) BF_MUST_CHECK;
extern BfStatus
bfi_commit_set_count(json_t *summary, const char *key, int64_t value, BfError *err) BF_MUST_CHECK;
/* The empty coverage is only written over another one. */
extern BfStatus bfi_commit_set_coverage(BfiCommit *c, json_t *object, const char *key,
										const BfCoverage *coverage, BfError *err) BF_MUST_CHECK;

/* commit_expire.c: in the new tree, which has the commit's own snapshots. */
extern BfStatus bfi_commit_expire(BfiCommit *c, const BfIceExpiry *rule, BfIceExpired *gone,
								  BfError *err) BF_MUST_CHECK;

/* commit_merge.c: after the branch was collected. Sets the parent of the commit's own snapshot when
 * it makes one before it. */
extern BfStatus bfi_commit_merge(BfiCommit *c, BfError *err) BF_MUST_CHECK;

/* commit_rewrite.c */

/* Lines of manifests on their way into a new one; all of one spec. */
typedef struct BfiRewrite
{
	BfiCommit *c;
	BfArena *arena; /* of the lines; what is written is the commit's */
	bool (*goes)(void *arg, const BfIceFile *file);
	void *arg;
	BfiNewEntry *entries;
	int32_t n;
	int32_t capacity;
	int64_t bytes_gone;
	BfIceManifest manifest; /* the new one: as the last that was read, with the counts of all */
} BfiRewrite;

/* `goes` is asked of each file. */
extern void bfi_rewrite_begin(BfiRewrite *r, BfiCommit *c, BfArena *arena,
							  bool (*goes)(void *arg, const BfIceFile *file), void *arg);
extern BfStatus
bfi_rewrite_read(BfiRewrite *r, const BfIceManifest *old, BfError *err) BF_MUST_CHECK;
/* A new file of rows that the table has had since `sequence_number`. */
extern BfStatus bfi_rewrite_add(BfiRewrite *r, const BfIceNewFile *file, int64_t sequence_number,
								BfError *err) BF_MUST_CHECK;
/* Sequence number and snapshot of r->manifest are the caller's to set before. */
extern BfStatus bfi_rewrite_write(BfiRewrite *r, BfError *err) BF_MUST_CHECK;
/* BF_ERR_CORRUPT: negative, or too much. */
extern BfStatus bfi_count_add(int64_t *sum, int64_t more, BfError *err) BF_MUST_CHECK;

#endif
