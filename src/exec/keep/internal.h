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
	int64_t first;		   /* rows of the group before it */
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

/* Values that rows must have, all of them: columns of the filter's projection. */
#define BFI_EQUAL_MAX 4

typedef struct BfiEqual
{
	int32_t n; /* 0: the predicate asks for none */
	int32_t columns[BFI_EQUAL_MAX];
	const BfValue *values[BFI_EQUAL_MAX]; /* borrowed from the predicate */
} BfiEqual;

/* Rows by values of some columns; see index.c. */
typedef struct BfiKeptIndex
{
	BfArena *arena; /* owned: this is in it */
	size_t charged; /* to the budget */
	int32_t n;
	int32_t columns[BFI_EQUAL_MAX];
	uint32_t mask;
	uint32_t *heads;
	uint32_t *next; /* by row */
} BfiKeptIndex;

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
	int64_t looked;		 /* at rows, for values */
	BfiKeptIndex *index; /* NULL: none */
	bool no_index;		 /* there can't be one */
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
/* index.c: what the filter's predicate asks for. */
extern void bfi_kept_equal(const BfFilter *f, BfiEqual *out);
/* The index of those columns, made when it pays; NULL: there is none. */
extern const BfiKeptIndex *bfi_kept_index(BfKept *u, BfiKeptGroup *g, const BfiEqual *q);
extern void bfi_kept_forget_index(BfKept *u, BfiKeptGroup *g);
/* The first row that may have the values, plus one; 0: none. */
extern uint32_t bfi_kept_look(const BfKept *u, const BfiKeptIndex *x, const BfiEqual *q);
/* The batch of the row *at, with the bits of all its rows that have the values, *n of them; *at
 * becomes the first that may, of the batches behind. NULL: no more. */
extern const BfBatch *
bfi_kept_found(const BfiKeptGroup *g, const BfiEqual *q, uint32_t *at, uint64_t *bits, int32_t *n);

#endif
