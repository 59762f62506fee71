/*
 * What the files of planning share: table_plan.c finds the data files, delete_plan.c gives them
 * their deletes.
 */
#ifndef BF_ICEBERG_PLAN_INTERNAL_H
#define BF_ICEBERG_PLAN_INTERNAL_H

#include "iceberg/entry.h"
#include "iceberg/prune.h"

/* What planning has to know of a file besides. */
typedef struct BfiFileFlags
{
	bool second_ref;	/* found by way of bifang */
	bool pruned;		/* a logical file without a row that matches: only its coverage counts */
	bool takes_deletes; /* what the snapshot deletes, it deletes from this file too */
} BfiFileFlags;

/* A set of texts with a number each; the texts are borrowed. */
typedef struct BfiPathMap
{
	int32_t n;
	int32_t expected; /* how many there will be, at a guess */
	uint32_t n_slots; /* a power of 2; 0 = not made yet */
	struct
	{
		uint64_t hash;
		const char *text;
		int32_t value;
	} * slots;
} BfiPathMap;

/* `hash`: bfi_hash of the text. *found = the number that the text had before, else -1, and then it
 * gets `value`. */
extern BfStatus bfi_path_map_put(BfArena *a, BfiPathMap *m, const char *text, uint64_t hash,
								 int32_t value, int32_t *found, BfError *err) BF_MUST_CHECK;
/* -1 = not there. */
extern int32_t bfi_path_map_get(const BfiPathMap *m, const char *text, uint64_t hash);

typedef struct BfiDeletePlan BfiDeletePlan;

/* Over the files that take deletes. `a` is the plan's; `work` holds what is not needed after it.
 * `paths` has their indexes; pruner NULL = none. */
extern BfStatus
bfi_delete_plan_new(BfArena *a, BfArena *work, const BfIceTable *t, BfIceDataFile *files,
					const BfiFileFlags *flags, int32_t n_files, const BfiPathMap *paths,
					const BfIcePruner *pruner, BfIcePlanCounters *counters, BfiDeletePlan **out,
					BfError *err) BF_MUST_CHECK;
/* Can a delete of that manifest apply to any of the files? */
extern bool bfi_delete_plan_wants(const BfiDeletePlan *d, const BfIceManifest *m);
/* A live entry of a delete file. */
extern BfStatus
bfi_delete_plan_add(BfiDeletePlan *d, const BfiEntry *e, BfError *err) BF_MUST_CHECK;
/* Fills the deletes of all files. */
extern BfStatus bfi_delete_plan_assign(BfiDeletePlan *d, BfError *err) BF_MUST_CHECK;

#endif
