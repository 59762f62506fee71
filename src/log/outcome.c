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
 * Markers ahead of the batches asked about wait in an array, chained by producer in the order of
 * the log; a map has each producer's chain. When the array is full what was passed is dropped and
 * the rest put in anew.
 */
#include "base/map.h"
#include "log/internal.h"

#define ENDS_MAX ((uint32_t) 4 << 20)
#define ENDS_FIRST 1024
#define AHEAD_BYTES_MAX ((size_t) 1 << 30)
#define NONE UINT32_MAX

typedef struct End
{
	int64_t producer_id;
	int64_t offset;
	uint32_t next; /* of the same producer */
	bool abort;
} End;

/* The value of a producer in the map. */
typedef union Chain
{
	struct
	{
		uint32_t first;
		uint32_t last;
	} ends;
	int64_t value;
} Chain;

_Static_assert(sizeof(Chain) == sizeof(int64_t), "a chain is a value of the map");

typedef struct Ahead
{
	BfArena *arena; /* owned: all of this; NULL = nothing yet */
	uint32_t n;
	uint32_t capacity;
	End *ends;
	BfMap chains; /* producer id -> Chain */
} Ahead;

struct BfOutcomes
{
	BfLogDir *dir;
	BfiSegment seg;
	int64_t asked; /* ends before it are of no use any more */
	int64_t seen;  /* offsets before it were looked at */
	bool at_end;
	Ahead ahead;
};

static void
free_outcomes(void *arg)
{
	bf_arena_free(((BfOutcomes *) arg)->ahead.arena);
}

BfStatus
bf_outcomes_new(BfArena *a, BfLogDir *d, BfOutcomes **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfOutcomes *o;
	uint64_t seed;

	BF_TRY(host->random(host, &seed, sizeof seed, err));
	BF_NEW(a, o, 1, err);
	o->dir = d;
	o->asked = o->seen = -1;
	bf_map_init(&o->ahead.chains, NULL, seed);
	BF_TRY(bfi_segment_init(a, d, true, &o->seg, err));
	if (!bf_arena_on_cleanup(a, free_outcomes, o))
		return bf_arena_fail(a, 0, err);
	*out = o;
	return BF_OK;
}

/* ---- markers ahead ---- */

/* There is room. */
static BfStatus
put_end(Ahead *h, const End *e, BfError *err)
{
	Chain chain = {.ends = {h->n, h->n}};
	int64_t *value;

	BF_ASSERT(h->n < h->capacity);
	BF_TRY(bf_map_put_number(&h->chains, e->producer_id, chain.value, &value, err));
	h->ends[h->n] = *e;
	h->ends[h->n].next = NONE;
	chain.value = *value;
	if (chain.ends.last != h->n)
	{
		BF_ASSERT(h->ends[chain.ends.last].offset < e->offset);
		h->ends[chain.ends.last].next = h->n;
	}
	chain.ends.last = h->n++;
	*value = chain.value;
	return BF_OK;
}

/* Those of `from` that are still of use, and room for more. */
static BfStatus
copy_ahead(const Ahead *from, int64_t asked, uint32_t capacity, Ahead *to, BfError *err)
{
	BF_NEW_RAW(to->arena, to->ends, capacity, err);
	to->capacity = capacity;
	bf_map_init(&to->chains, to->arena, from->chains.seed);
	for (uint32_t i = 0; i < from->n; i++)
		if (from->ends[i].offset > asked)
			BF_TRY(put_end(to, &from->ends[i], err));
	return BF_OK;
}

/* Drops what was passed. */
static BfStatus
make_room(BfOutcomes *o, BfError *err)
{
	uint32_t capacity = o->ahead.capacity > 0 ? o->ahead.capacity : ENDS_FIRST;
	Ahead next = {.arena = NULL};
	uint32_t kept = 0;
	BfStatus status;

	for (uint32_t i = 0; i < o->ahead.n; i++)
		kept += o->ahead.ends[i].offset > o->asked;
	if (kept > capacity / 2)
		capacity *= 2;
	if (capacity > ENDS_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %u transactions end while another one is open",
				ENDS_MAX / 2);
	next.arena =
		bf_arena_new(bf_arena_host(o->dir->arena), "ends of transactions", AHEAD_BYTES_MAX);
	if (next.arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "no memory for %u ends of transactions", capacity);
	status = copy_ahead(&o->ahead, o->asked, capacity, &next, err);
	if (status != BF_OK)
	{
		bf_arena_free(next.arena);
		return status;
	}
	BF_ASSERT(next.n == kept && next.n < next.capacity);
	bf_arena_free(o->ahead.arena);
	o->ahead = next;
	return BF_OK;
}

/* The producer's first end after `asked`; NULL = not met yet. */
static const End *
find_end(BfOutcomes *o, int64_t producer_id)
{
	int64_t *value = bf_map_find_number(&o->ahead.chains, producer_id);
	const End *ends = o->ahead.ends;
	Chain chain;

	if (value == NULL)
		return NULL;
	chain.value = *value;
	BF_ASSERT(chain.ends.first <= chain.ends.last && chain.ends.last < o->ahead.n);
	/* The last one stays: a chain is never empty. */
	while (chain.ends.first != chain.ends.last && ends[chain.ends.first].offset <= o->asked)
		chain.ends.first = ends[chain.ends.first].next;
	*value = chain.value;
	return ends[chain.ends.first].offset > o->asked ? &ends[chain.ends.first] : NULL;
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
	if (o->ahead.n == o->ahead.capacity)
		BF_TRY(make_room(o, err));
	e = (End){h->producer_id, h->last_offset, NONE, type == BF_CONTROL_ABORT};
	return put_end(&o->ahead, &e, err);
}

/* One batch further, or into the next segment. */
static BfStatus
step(BfOutcomes *o, BfError *err)
{
	BF_ASSERT(!o->at_end && o->seg.number >= 0);
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
	int64_t passed;

	if (o->at_end || o->seen > h->base_offset)
		return BF_OK;
	if (o->seg.number < i)
		BF_TRY(bfi_segment_open(&o->seg, i, err));
	BF_TRY(bfi_segment_seek(&o->seg, h->base_offset, err));
	return bfi_segment_pass(&o->seg, h->base_offset, &passed, err);
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
