/*
 * What the files of planning share: table_plan.c finds the data files, delete_plan.c gives them
 * their deletes.
 */
#ifndef BF_ICEBERG_PLAN_INTERNAL_H
#define BF_ICEBERG_PLAN_INTERNAL_H

#include "base/map.h"
#include "iceberg/entry.h"
#include "iceberg/prune.h"

/* What planning has to know of a file besides. */
typedef struct BfiFileFlags
{
	bool second_ref;	/* found by way of bifang */
	bool pruned;		/* a logical file without a row that matches: only its coverage counts */
	bool takes_deletes; /* what the snapshot deletes, it deletes from this file too */
} BfiFileFlags;

typedef struct BfiDeletePlan BfiDeletePlan;

/* Over the files that take deletes. `a` is the plan's; `work` holds what is not needed after it.
 * `paths` has their indexes; pruner NULL = none. */
extern BfStatus
bfi_delete_plan_new(BfArena *a, BfArena *work, const BfIceTable *t, BfIceDataFile *files,
					const BfiFileFlags *flags, int32_t n_files, const BfMap *paths,
					const BfIcePruner *pruner, BfIcePlanCounters *counters, BfiDeletePlan **out,
					BfError *err) BF_MUST_CHECK;
/* Can a delete of that manifest apply to any of the files? */
extern bool bfi_delete_plan_wants(const BfiDeletePlan *d, const BfIceManifest *m);
/* Is the delete file a deletion vector? */
extern bool bfi_is_vector(const BfiEntry *e);
/* A live entry of a delete file. */
extern BfStatus
bfi_delete_plan_add(BfiDeletePlan *d, const BfiEntry *e, BfError *err) BF_MUST_CHECK;
/* Fills the deletes of all files. */
extern BfStatus bfi_delete_plan_assign(BfiDeletePlan *d, BfError *err) BF_MUST_CHECK;

#endif
