/*
 * exec/keep/internal.h: what the files of keep.h share.
 */
#ifndef BF_EXEC_KEEP_INTERNAL_H
#define BF_EXEC_KEEP_INTERNAL_H

#include "base/map.h"
#include "exec/keep/keep.h"

typedef struct BfiKeptBatch
{
	BfBatch batch;
	BfColumnStats *bounds; /* by column; known where they are cheap to find */
} BfiKeptBatch;

/* Batches in memory of their own. */
typedef struct BfiKeptRows
{
	BfArena *arena; /* owned; NULL: nothing is kept */
	BfiKeptBatch **batches;
	int32_t n;
	int32_t room;
	size_t charged;	  /* to the budget */
	BfVector **dicts; /* by column: the last dictionary that was copied */
	const BfVector **dict_of;
	uint64_t *dict_epoch; /* its epoch before */
} BfiKeptRows;

/* Batches whose bounds are asked for together before they are one by one. */
#define BFI_SPAN 16

typedef struct BfiKeptGroup
{
	int64_t paid; /* rows that were read of it before */
	bool kept;	  /* whole */
	bool refused; /* it does not fit */
	BfiKeptRows rows;
	int64_t n_rows; /* of all batches */
	/* Of all batches, and of every BFI_SPAN of them, by column; in their arena; NULL: not known. */
	BfColumnStats *bounds;
	BfColumnStats *spans;
} BfiKeptGroup;

struct BfKept
{
	BfKeep *keep;
	const void *note; /* borrowed */
	bool opened;	  /* before */
	int32_t n_groups; /* 0: not known yet */
	BfiKeptGroup *groups;
	int32_t n_fields; /* columns that are kept: those of the first filter; -1: none yet */
	int32_t *fields;
	bool want_entry;
};

struct BfKeep
{
	BfArena *arena; /* borrowed: this is in it */
	BfKeepBudget *budget;
	BfKeepCounters *counters;
	BfMap units;	/* key -> address */
	uint64_t dicts; /* numbers of dictionaries, beyond those of any reader */
};

/* store.c: one more batch; *fits = false: the budget is used up, and the batch is not in. */
extern BfStatus
bfi_kept_add(BfKept *u, BfiKeptGroup *g, const BfBatch *b, bool *fits, BfError *err) BF_MUST_CHECK;
/* All batches are there: finds the bounds of them all. */
extern void bfi_kept_end(BfKept *u, BfiKeptGroup *g);
/* Gives back what the group has. */
extern void bfi_kept_drop(BfKept *u, BfiKeptGroup *g);

#endif
