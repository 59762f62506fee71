#include "log/internal.h"

/*
 * How transactions ended.
 *
 * A producer's transactions in one partition don't overlap, so a batch of a transaction has the
 * outcome that the producer's next marker after it says, and no state has to be carried from the
 * log's start: a scan may begin anywhere. Compaction drops a marker only when no record of the
 * transaction is left. Without a next marker the transaction is open.
 *
 * The markers are found by a look-ahead: a second position in the log, never behind the batches
 * that are asked about, that goes on only while the producer's next marker was not met. It starts
 * at the first batch that is asked about, so a log without transactions is not looked at. Every
 * batch on the way has its checksum checked, since a marker that is hidden by a damaged header
 * would turn an outcome over.
 *
 * Markers ahead of the batches asked about wait in `ends`, chained by producer in the order of the
 * log; `producers` is a hash table, linear probing, of the chains' first elements. When `ends` is
 * full what was passed is dropped and the rest put in anew.
 */

#define ENDS_MAX ((uint32_t) 4 << 20)
#define ENDS_FIRST 1024
#define NONE UINT32_MAX

typedef struct End
{
	int64_t producer_id;
	int64_t offset;
	uint32_t next; /* of the same producer */
	bool abort;
} End;

typedef struct Producer
{
	uint32_t first; /* of its ends; NONE = the slot is free */
	uint32_t last;
} Producer;

struct BfOutcomes
{
	BfLogDir *dir;
	BfiSegment seg;
	int64_t asked; /* ends before it are of no use any more */
	int64_t seen;  /* offsets before it were looked at */
	bool at_end;
	uint32_t n;
	uint32_t capacity;
	End *ends;			 /* owned, by the host */
	Producer *producers; /* owned, 2 * capacity slots */
};

static void
free_tables(const BfHost *host, End *ends, Producer *producers, uint32_t capacity)
{
	if (ends != NULL)
		host->mem_free(host, ends, capacity * sizeof *ends);
	if (producers != NULL)
		host->mem_free(host, producers, 2 * (size_t) capacity * sizeof *producers);
}

static void
free_outcomes(void *arg)
{
	BfOutcomes *o = arg;

	free_tables(bf_arena_host(o->dir->arena), o->ends, o->producers, o->capacity);
}

BfStatus
bf_outcomes_new(BfArena *a, BfLogDir *d, BfOutcomes **out, BfError *err)
{
	BfOutcomes *o;

	BF_NEW(a, o, 1, err);
	o->dir = d;
	o->asked = o->seen = -1;
	BF_TRY(bfi_segment_init(a, d, true, &o->seg, err));
	if (!bf_arena_on_cleanup(a, free_outcomes, o))
		return bf_arena_fail(a, 0, err);
	*out = o;
	return BF_OK;
}

/* ---- markers ahead ---- */

static Producer *
slot_of(const BfOutcomes *o, int64_t producer_id)
{
	uint32_t mask = 2 * o->capacity - 1;
	uint32_t i = (uint32_t) (((uint64_t) producer_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

	while (o->producers[i].first != NONE &&
		   o->ends[o->producers[i].first].producer_id != producer_id)
		i = (i + 1) & mask;
	return &o->producers[i];
}

/* There is room. */
static void
put_end(BfOutcomes *o, const End *e)
{
	uint32_t i = o->n++;
	Producer *p = slot_of(o, e->producer_id);

	BF_ASSERT(o->n <= o->capacity);
	o->ends[i] = *e;
	o->ends[i].next = NONE;
	if (p->first == NONE)
		p->first = i;
	else
		o->ends[p->last].next = i;
	p->last = i;
}

static BfStatus
make_room(BfOutcomes *o, BfError *err)
{
	const BfHost *host = bf_arena_host(o->dir->arena);
	uint32_t kept = 0;
	uint32_t capacity = o->capacity > 0 ? o->capacity : ENDS_FIRST;
	uint32_t old_capacity = o->capacity;
	End *ends = o->ends;
	End *grown;
	Producer *producers;

	for (uint32_t i = 0; i < o->n; i++)
		if (ends[i].offset > o->asked)
			ends[kept++] = ends[i];
	if (kept > capacity / 2)
		capacity *= 2;
	if (capacity > ENDS_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %u transactions end while another one is open",
				ENDS_MAX / 2);
	o->n = kept;
	grown = host->mem_alloc(host, capacity * sizeof *grown);
	producers = host->mem_alloc(host, 2 * (size_t) capacity * sizeof *producers);
	if (grown == NULL || producers == NULL)
	{
		free_tables(host, grown, producers, capacity);
		BF_FAIL(err, BF_ERR_NOMEM, "no memory for %u ends of transactions", capacity);
	}
	memset(producers, 0xff, 2 * (size_t) capacity * sizeof *producers);
	free_tables(host, NULL, o->producers, old_capacity);
	o->ends = grown;
	o->producers = producers;
	o->capacity = capacity;
	o->n = 0;
	for (uint32_t i = 0; i < kept; i++)
		put_end(o, &ends[i]);
	free_tables(host, ends, NULL, old_capacity);
	return BF_OK;
}

/* The producer's first end after `asked`; NULL = not met yet. */
static const End *
find_end(BfOutcomes *o, int64_t producer_id)
{
	Producer *p;

	if (o->n == 0)
		return NULL;
	p = slot_of(o, producer_id);
	/* The last one stays, since the slot of a producer without any would cut a probe short. */
	while (p->first != NONE && p->first != p->last && o->ends[p->first].offset <= o->asked)
		p->first = o->ends[p->first].next;
	return p->first != NONE && o->ends[p->first].offset > o->asked ? &o->ends[p->first] : NULL;
}

/* ---- the look-ahead ---- */

static BfStatus
look_at(BfOutcomes *o, const BfBatchHeader *h, BfError *err)
{
	const uint8_t *batch;
	BfControlType type;
	End e;

	BF_TRY(bfi_segment_check(&o->seg, h, &batch, err));
	/* Segments that overlap after a compaction show a batch twice. */
	if (!h->control || !h->transactional || h->producer_id < 0 || h->last_offset < o->seen)
		return BF_OK;
	BF_TRY(bf_batch_control_type(o->dir->codec, h, batch, o->seg.pos, o->dir->scratch, &type, err));
	if (type == BF_CONTROL_OTHER)
		return BF_OK;
	if (o->n == o->capacity)
		BF_TRY(make_room(o, err));
	e = (End){h->producer_id, h->last_offset, NONE, type == BF_CONTROL_ABORT};
	put_end(o, &e);
	return BF_OK;
}

/* One batch further, or into the next segment. */
static BfStatus
step(BfOutcomes *o, BfError *err)
{
	BfBatchHeader h;
	bool end;

	BF_TRY(bfi_segment_header(&o->seg, &h, &end, err));
	if (!end)
	{
		BfStatus status = look_at(o, &h, err);

		if (status != BF_OK)
			return bf_error_object(err, o->seg.info->path);
		bfi_segment_advance(&o->seg, &h);
		if (h.last_offset >= o->seen)
			o->seen = h.last_offset + 1;
		return BF_OK;
	}
	if (o->seg.number + 1 < o->dir->n_segments)
		return bfi_segment_open(&o->seg, o->seg.number + 1, err);
	o->at_end = true;
	bfi_segment_close(&o->seg);
	return BF_OK;
}

/* Forward to the batch, if the look-ahead is not past it. */
static BfStatus
catch_up(BfOutcomes *o, const BfBatchHeader *h, BfError *err)
{
	int32_t i = bfi_dir_find(o->dir, h->base_offset);

	if (o->at_end || o->seen > h->base_offset)
		return BF_OK;
	if (o->seg.number < i)
		BF_TRY(bfi_segment_open(&o->seg, i, err));
	return bfi_segment_seek(&o->seg, h->base_offset, err);
}

BfStatus
bf_outcomes_of(BfOutcomes *o, const BfBatchHeader *h, BfOutcome *out, BfError *err)
{
	const End *e;

	BF_ASSERT(h->transactional && !h->control);
	BF_TRY(bfi_dir_codec(o->dir, err));
	if (h->last_offset > o->asked)
		o->asked = h->last_offset;
	BF_TRY(catch_up(o, h, err));
	for (e = find_end(o, h->producer_id); e == NULL && !o->at_end;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(o->dir->arena), err));
		BF_TRY(step(o, err));
		e = find_end(o, h->producer_id);
	}
	*out = e == NULL ? BF_OUTCOME_OPEN : e->abort ? BF_OUTCOME_ABORTED : BF_OUTCOME_COMMITTED;
	return BF_OK;
}
