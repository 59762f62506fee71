/*
 * Which headers are believed.
 *
 * Who looks for transactions that are open passes a log by the headers of its batches, 61 bytes
 * each, and a header without its batch is under no checksum. The answer must be right or an error
 * whatever single bit of the log is wrong. So everything that a header says is either confirmed by
 * other headers, or its batch is read and its checksum looked at:
 *
 *   where the next one stands   the offsets. A wrong length, or offsets that are wrong, show as a
 *                               gap between this batch's last offset and the next one's first;
 *                               before a gap, and where the reading ends, the batch is checked.
 *   it is a marker              always checked: a marker is small. One that says it is data has no
 *                               sequence number that fits, or is checked for being small.
 *   it has no producer          -1 and not transactional: of a transaction's batch no one bit makes
 *                               that. Anything else below 0 is checked.
 *   it has no records           checked: it has no bytes but the header.
 *   whose it is, and whether    the sequence numbers. A broker takes a producer's batch only with
 *   it is of a transaction      the number that follows its last one, so a batch between two of
 *                               this producer, of the same epoch and kind, whose numbers it
 *                               continues on both sides, is theirs: were it another's, the two
 *                               would follow each other. The first and the last of such a chain
 *                               are checked.
 *
 * A producer keeps its epoch until it is restarted (or, since Kafka 4.0 and if it asks for that,
 * through one transaction), so there are few ends. Chains end with the segment, so that no place is
 * gone back to but in the open file. Batches of a page or less are checked if they have a producer:
 * the disk reads the page anyway.
 *
 * Gaps are what compaction leaves: a compacted log is read as a whole where it has holes. A broker
 * refuses batches that have a producer and no sequence number; in a log that was made by other
 * means they are taken for a chain, and a producer id that became another's may go unseen in them.
 */
#include "base/map.h"
#include "log/internal.h"

#define NO_PRODUCER (-1)
#define SMALL_BYTES 4096
/* Producers in a segment; of more the chains end early. */
#define LINKS_MAX 65536

/* A batch that was passed. */
typedef struct Seen
{
	int64_t position;
	BfBatchHeader header;
	bool checked;
} Seen;

struct BfiTrail
{
	BfiSegment *seg; /* borrowed */
	bool check_all;
	bool any;		 /* `before` was seen */
	Seen before;	 /* the newest one */
	BfBuffer *links; /* Seen: the newest one of each producer */
	BfMap numbers;	 /* producer id -> which of them */
};

BfStatus
bfi_trail_new(BfArena *a, BfiSegment *s, bool check_all, BfiTrail **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfiTrail *t;
	uint64_t seed;

	BF_TRY(host->random(host, &seed, sizeof seed, err));
	BF_NEW(a, t, 1, err);
	t->seg = s;
	t->check_all = check_all;
	bf_map_init(&t->numbers, a, seed);
	BF_TRY(bf_buffer_new(a, LINKS_MAX * sizeof(Seen), &t->links, err));
	*out = t;
	return BF_OK;
}

static Seen *
link_number(const BfiTrail *t, int64_t i)
{
	BF_ASSERT(i >= 0 && (size_t) i < t->links->len / sizeof(Seen));
	return (Seen *) (void *) t->links->data + i;
}

/* One that was passed: the position in the segment stays. */
static BfStatus
check_passed(BfiTrail *t, Seen *b, BfError *err)
{
	int64_t position = t->seg->pos;
	int64_t *number = bf_map_find_number(&t->numbers, b->header.producer_id);
	const uint8_t *batch;
	BfStatus status;

	BF_ASSERT(b->position <= position);
	if (b->checked)
		return BF_OK;
	t->seg->pos = b->position;
	status = bfi_segment_check(t->seg, &b->header, &batch, err);
	t->seg->pos = position;
	BF_TRY(status);
	/* It may be known in two places. */
	b->checked = true;
	t->before.checked |= t->before.position == b->position;
	if (number != NULL && link_number(t, *number)->position == b->position)
		link_number(t, *number)->checked = true;
	return BF_OK;
}

static BfStatus
end_chains(BfiTrail *t, BfError *err)
{
	for (uint32_t i = 0; i < t->numbers.n; i++)
		BF_TRY(check_passed(t, link_number(t, i), err));
	bf_map_clear(&t->numbers);
	t->links->len = 0;
	return BF_OK;
}

/* Sequence numbers go on with 0 behind the largest one. */
static int32_t
next_sequence(const BfBatchHeader *h)
{
	int64_t next = (int64_t) h->base_sequence + (h->last_offset - h->base_offset) + 1;

	if (h->base_sequence < 0)
		return h->base_sequence;
	return (int32_t) (next > INT32_MAX ? next - INT32_MAX - 1 : next);
}

static bool
continues(const BfBatchHeader *before, const BfBatchHeader *h)
{
	return h->producer_epoch == before->producer_epoch &&
		   h->transactional == before->transactional && h->base_sequence == next_sequence(before);
}

static bool
must_be_checked(const BfBatchHeader *h)
{
	return h->control || h->n_records == 0 || h->producer_id < NO_PRODUCER ||
		   (h->producer_id == NO_PRODUCER && h->transactional) ||
		   (h->producer_id >= 0 && h->total_bytes <= SMALL_BYTES);
}

/* Makes it the end of its producer's chain. */
static BfStatus
put_link(BfiTrail *t, Seen *now, BfError *err)
{
	int64_t n = t->numbers.n;
	int64_t *number;

	BF_ASSERT(n <= LINKS_MAX && t->links->len == (size_t) n * sizeof *now);
	BF_TRY(bf_map_put_number(&t->numbers, now->header.producer_id, n, &number, err));
	if (*number == n)
		BF_TRY(bf_buffer_append(t->links, now, sizeof *now, err));
	else if (continues(&link_number(t, *number)->header, &now->header))
	{
		*link_number(t, *number) = *now;
		return BF_OK;
	}
	else
		BF_TRY(check_passed(t, link_number(t, *number), err));
	BF_TRY(check_passed(t, now, err));
	*link_number(t, *number) = *now;
	return BF_OK;
}

BfStatus
bfi_trail_see(BfiTrail *t, const BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	Seen now = {t->seg->pos, *h, false};

	*batch = NULL;
	if (t->any && h->base_offset != t->before.header.last_offset + 1)
		BF_TRY(check_passed(t, &t->before, err));
	if (h->producer_id >= 0 && t->numbers.n == LINKS_MAX)
		BF_TRY(end_chains(t, err));
	t->any = true;
	t->before = now;
	if (t->check_all || must_be_checked(h))
	{
		const uint8_t *bytes;

		BF_TRY(bfi_segment_check(t->seg, h, &bytes, err));
		now.checked = t->before.checked = true;
		if (h->control)
			*batch = bytes;
	}
	else
		t->seg->dir->counters->batches_skipped++;
	if (h->producer_id >= 0 && !h->control)
		BF_TRY(put_link(t, &now, err));
	t->before.checked = now.checked;
	return BF_OK;
}

BfStatus
bfi_trail_end(BfiTrail *t, int64_t next, BfError *err)
{
	BF_TRY(end_chains(t, err));
	if (t->any && t->before.header.last_offset + 1 != next)
		BF_TRY(check_passed(t, &t->before, err));
	t->any = false;
	return BF_OK;
}
