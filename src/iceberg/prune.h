/*
 * iceberg/prune.h: which manifests and files can't have a row that a predicate wants.
 *
 * Partition values are turned back into what they say of the column: `day = 2017-11-16` means a
 * timestamp from 2017-11-16 00:00 to 23:59:59.999999, `truncate[3] = abc` a text that starts with
 * abc. So one set of rules (vec/pred.h: may a row of a set match?) serves manifests, partition
 * tuples and file bounds, and transforms whose inverse is no range (bucket) are asked whether they
 * may contain a value.
 *
 *   identity        the value; every type that can be compared
 *   truncate[W]     numbers [t, t + W - 1], unless t may have wrapped at the smallest integer;
 *                   texts and bytes from t up to everything that starts with t
 *   year month day hour   the instants of the period; those of the one before too when the number
 *                   is 0 or negative, since old writers rounded towards 1970
 *   bucket[N]       only = and IN
 *   void, unknown   nothing
 *
 * Every spec of the table has its own; files of a spec that lacks a field are not pruned by it.
 * Bounds of files are looked at with suspicion: cut texts, rounded decimals, UUIDs in another
 * order, bounds of another width, inverted pairs, counts that can't be right.
 */
#ifndef BF_ICEBERG_PRUNE_H
#define BF_ICEBERG_PRUNE_H

#include "iceberg/metrics.h"
#include "vec/pred.h"

typedef struct BfIcePruner BfIcePruner;

/* `pred` is over the fields of `schema`, a schema of the table; both are borrowed. Of `flags`
 * BF_PRUNE_PARTITION and BF_PRUNE_MANIFEST count: partition values of files; summaries of manifests
 * and bounds of files. */
extern BfStatus
bf_ice_pruner_new(BfArena *a, const BfIceMetadata *m, const BfSchema *schema, const BfPred *pred,
				  uint32_t flags, BfIcePruner **out, BfError *err) BF_MUST_CHECK;

/* May the manifest name a file with a row that matches? Not for lists that don't tell the spec. */
extern bool bf_ice_prune_manifest(const BfIcePruner *p, const BfIceManifest *m);

typedef enum BfIcePrunedBy
{
	BF_ICE_NOT_PRUNED,
	BF_ICE_PRUNED_BY_PARTITION,
	BF_ICE_PRUNED_BY_BOUNDS
} BfIcePrunedBy;

/* A data file, by the partition values that its spec gives it and its packed metrics. */
extern BfIcePrunedBy
bf_ice_prune_file(const BfIcePruner *p, int32_t spec_id, const BfValue *partition,
				  int64_t record_count, BfView metrics);

/* Can the rows that an equality delete file deletes be among those that match? It can be left out
 * when none of its own rows, known by the delete columns alone, matches. */
extern bool
bf_ice_prune_equality_delete(const BfIcePruner *p, const int32_t *equality_ids,
							 int32_t n_equality_ids, int64_t record_count, BfView metrics);

#endif
