/*
 * One segment open at a position: finding a place in it by its index, which is a hint only, and
 * going from batch to batch, to the end or to where a tolerant reader ends.
 */
#include "log/internal.h"

#define ARENA_BYTES_MAX ((size_t) 512 << 20)
/* offset, length, leader epoch, magic: with fewer bytes one cannot even tell the version. */
#define PREFIX_BYTES 17
/* The smallest batch or message of any version has this length (v0: CRC to empty value). */
#define LENGTH_MIN 14
/* Of larger batches a damaged length is not told from a torn end. */
#define LENGTH_CHECK_BYTES ((int64_t) 16 << 20)

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bfi_segment_init(BfArena *a, BfLogDir *d, bool tolerant, BfiSegment *s, BfError *err)
{
	memset(s, 0, sizeof *s);
	s->dir = d;
	s->tolerant = tolerant;
	s->number = -1;
	s->arena = bf_arena_new(bf_arena_host(a), "log segment", ARENA_BYTES_MAX);
	if (s->arena == NULL)
		return bf_arena_fail(a, 0, err);
	if (!bf_arena_on_cleanup(a, free_arena, s->arena))
	{
		bf_arena_free(s->arena);
		return bf_arena_fail(a, 0, err);
	}
	return BF_OK;
}

void
bfi_segment_close(BfiSegment *s)
{
	bf_arena_reset(s->arena);
	s->number = -1;
	s->info = NULL;
	s->source = NULL;
}

/* Retention and compaction rename a segment a minute before they delete it. */
static BfStatus
open_source(BfiSegment *s, BfError *err)
{
	BfIoCounters *io = &s->dir->counters->io;
	BfStatus status = bf_source_open(s->arena, s->info->path, io, &s->source, err);
	const char *renamed;
	BfError ignored;

	if (status != BF_ERR_NOTFOUND || !s->tolerant)
		return status;
	BF_TRY_PTR(s->arena, renamed, bf_arena_printf(s->arena, "%s.deleted", s->info->path), err);
	return bf_source_open(s->arena, renamed, io, &s->source, &ignored) == BF_OK ? BF_OK : status;
}

BfStatus
bfi_segment_open(BfiSegment *s, int32_t number, BfError *err)
{
	BF_ASSERT(number >= 0 && number < s->dir->n_segments);
	bfi_segment_close(s);
	s->info = &s->dir->segments[number];
	s->pos = 0;
	s->last_offset = -1;
	BF_TRY(open_source(s, err));
	s->size = s->info->size;
	/* What a ledger's next writer cuts off was never acknowledged, so no strict walk wants it. */
	if (!s->tolerant && bf_source_size(s->source) < s->size)
		s->size = bf_source_size(s->source);
	if (bf_source_size(s->source) < s->size)
	{
		bf_error_at(err, BF_ERR_CONFLICT, bf_source_size(s->source),
					"the segment was compacted or truncated while the directory was being read");
		return bf_error_object(err, s->info->path);
	}
	s->number = number;
	return BF_OK;
}

static bool
all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/*
 * A batch's offsets are outside of its checksum, so they must be where they can be: in the segment
 * by the names of the files, and in the 31 bits that the indexes have. Only what a compaction
 * merged and had not put in place yet may overlap the next segment.
 */
static BfStatus
check_offsets(const BfiSegment *s, const BfBatchHeader *h, int64_t position, BfError *err)
{
	int64_t base = s->info->base_offset;
	int64_t end = base <= BF_ENTRY_MAX - INT32_MAX ? base + INT32_MAX : BF_ENTRY_MAX;

	BF_ASSERT(s->info == &s->dir->segments[s->number]);
	if (s->number + 1 < s->dir->n_segments && !s->info->swap && s->info[1].base_offset <= end)
		end = s->info[1].base_offset - 1;
	BF_DATA(err, h->base_offset >= base && h->last_offset <= end, position,
			"a record batch has the offsets %lld-%lld in a segment of offsets %lld-%lld",
			(long long) h->base_offset, (long long) h->last_offset, (long long) base,
			(long long) end);
	return BF_OK;
}

static BfStatus
bytes_at(BfiSegment *s, int64_t position, size_t n, const uint8_t **p, BfError *err)
{
	return s->sparse ? bf_source_peek(s->source, position, n, p, err)
					 : bf_source_window(s->source, position, n, p, err);
}

/* ---- what an index says ---- */

/* Is a batch at `position` that could follow one that ends with the offset `last`? */
static BfStatus
look_at(BfiSegment *s, int64_t position, int64_t last, BfBatchHeader *h, bool *ok, BfError *err)
{
	const uint8_t *p;
	BfError ignored;

	*ok = false;
	if (position > s->size - BF_BATCH_HEADER_BYTES)
		return BF_OK;
	BF_TRY(bytes_at(s, position, BF_BATCH_HEADER_BYTES, &p, err));
	*ok = bf_batch_header(p, BF_BATCH_HEADER_BYTES, position, h, &ignored) == BF_OK &&
		  h->total_bytes <= s->size - position && h->total_bytes <= BF_BATCH_BYTES_MAX &&
		  h->base_offset > last && check_offsets(s, h, position, &ignored) == BF_OK;
	return BF_OK;
}

/*
 * Is there a batch at `position`, and is it the one that the entry (offset, position) names? Its
 * last offset is the entry's, or, in indexes written by a broker before 4.0 with one entry per
 * append of several batches, that of a batch behind it is. An entry that names no batch's end is
 * wrong, or the batch's offsets are: the order of the batches from the start on tells.
 */
static BfStatus
verify_entry(BfiSegment *s, int64_t offset, int64_t position, bool *ok, BfError *err)
{
	const uint8_t *p;
	BfBatchHeader h;
	BfError ignored;

	BF_ASSERT(position > s->pos && offset >= s->info->base_offset);
	BF_TRY(look_at(s, position, s->last_offset, &h, ok, err));
	if (!*ok || h.last_offset > offset)
	{
		*ok = false;
		return BF_OK;
	}
	BF_TRY(bytes_at(s, position, (size_t) h.total_bytes, &p, err));
	*ok = bf_batch_check_crc(&h, p, position, &ignored) == BF_OK;
	while (*ok && h.last_offset < offset)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
		position += h.total_bytes;
		BF_TRY(look_at(s, position, h.last_offset, &h, ok, err));
	}
	*ok = *ok && h.last_offset == offset;
	return BF_OK;
}

BfStatus
bfi_segment_seek(BfiSegment *s, int64_t entry, BfError *err)
{
	BfIndexEntry e;
	bool found;
	bool ok = false;

	BF_ASSERT(s->number >= 0 && s->pos <= s->size);
	if (entry <= s->info->base_offset)
		return BF_OK;
	/* The last entry of a live index may be torn: then the one before is good. */
	for (int attempt = 0; attempt < 2 && !ok; attempt++, entry = e.offset - 1)
	{
		BF_TRY(bfi_segment_index_floor(s, BF_INDEX_OFFSETS, entry, &e, &found, err));
		if (!found || e.position <= s->pos)
			return BF_OK;
		BF_TRY(verify_entry(s, e.offset, e.position, &ok, err));
	}
	if (ok)
	{
		s->pos = e.position;
		s->last_offset = -1;
	}
	return BF_OK;
}

/* ---- batches ---- */

/* Does the index name a batch behind the position? Only one that is right as a whole is believed:
 * nothing else confirms this entry. */
static BfStatus
named_behind(BfiSegment *s, bool *named, int64_t *position, BfError *err)
{
	const BfIndex *all;

	BF_TRY(bfi_segment_index_last(s, position, named, err));
	*named = *named && *position > s->pos;
	if (!*named)
		return BF_OK;
	BF_TRY(bfi_segment_index_load(s, BF_INDEX_OFFSETS, &all, err));
	*named = all->n > 0;
	return BF_OK;
}

/* Data that was there once is missing: nothing that a broker's crash can explain. */
static BfStatus
check_end(BfiSegment *s, BfError *err)
{
	const BfLogDir *d = s->dir;
	int64_t end = s->last_offset >= 0 ? s->last_offset + 1 : s->info->base_offset;
	int64_t reached = d->n_snapshots > 0 ? d->snapshots[d->n_snapshots - 1] : 0;
	int64_t position;
	bool named;

	BF_ASSERT(s->tolerant && s->number == d->n_segments - 1);
	if (s->pos < s->size)
	{
		BF_TRY(named_behind(s, &named, &position, err));
		BF_DATA(err, !named, s->pos,
				"a record batch is damaged: it does not end before the next one at position %lld",
				(long long) position);
	}
	BF_DATA(err, reached <= end, s->pos,
			"the log ends before offset %lld, though it once reached %lld", (long long) end,
			(long long) reached);
	return BF_OK;
}

/* A batch that passes the end: is its length damaged? With any other bit of it flipped, the
 * checksum of what is there must not be right. */
static BfStatus
check_length(BfiSegment *s, int32_t length, int64_t left, BfError *err)
{
	int64_t n = left < LENGTH_CHECK_BYTES ? left : LENGTH_CHECK_BYTES;
	uint8_t changed[BF_BATCH_HEADER_BYTES];
	const uint8_t *p;
	BfBatchHeader h;
	BfError ignored;

	BF_ASSERT(length > left - 12);
	if (n < BF_BATCH_HEADER_BYTES)
		return BF_OK;
	BF_TRY(bytes_at(s, s->pos, (size_t) n, &p, err));
	memcpy(changed, p, sizeof changed);
	for (int bit = 0; bit < 31; bit++)
	{
		int32_t other = (int32_t) ((uint32_t) length ^ (uint32_t) 1 << bit);

		if (other > n - 12)
			continue;
		bf_store32be(changed + 8, (uint32_t) other);
		if (bf_batch_header(changed, sizeof changed, s->pos, &h, &ignored) == BF_OK)
			BF_DATA(err, bf_batch_check_crc(&h, p, s->pos, &ignored) != BF_OK, s->pos + 8,
					"a record batch has the length %d, but its checksum is right for %d", length,
					other);
	}
	return BF_OK;
}

/* Does what is left look like the beginning of a batch that is being written, or like space that
 * was allocated for later? */
static BfStatus
is_torn(BfiSegment *s, const uint8_t *p, int64_t left, bool *torn, BfError *err)
{
	int64_t n = left < BF_BATCH_HEADER_BYTES ? left : BF_BATCH_HEADER_BYTES;
	int32_t length;

	BF_ASSERT(left > 0);
	*torn = true;
	if (left < PREFIX_BYTES)
		return BF_OK;
	length = (int32_t) bf_load32be(p + 8);
	if (length >= LENGTH_MIN && length <= left - 12)
		*torn = false;
	else if (length < LENGTH_MIN)
		BF_DATA(err, all_zero(p, (size_t) n), s->pos, "%d is not the length of a record batch",
				length);
	else
	{
		BF_DATA(err, p[16] <= 2 && (int64_t) bf_load64be(p) > s->last_offset, s->pos,
				"no record batch begins here, and none that was cut off");
		return check_length(s, length, left, err);
	}
	return BF_OK;
}

static BfStatus
header(BfiSegment *s, BfBatchHeader *h, bool *end, BfError *err)
{
	int64_t left = s->size - s->pos;
	size_t n = left < BF_BATCH_HEADER_BYTES ? (size_t) left : BF_BATCH_HEADER_BYTES;
	bool may_end = s->tolerant && s->number == s->dir->n_segments - 1;
	const uint8_t *p = NULL;

	BF_ASSERT(s->number >= 0 && left >= 0);
	*end = left == 0;
	if (left > 0)
	{
		BF_TRY(bytes_at(s, s->pos, n, &p, err));
		if (may_end)
			BF_TRY(is_torn(s, p, left, end, err));
	}
	if (*end)
		return may_end ? check_end(s, err) : BF_OK;
	BF_TRY(bf_batch_header(p, n, s->pos, h, err));
	BF_DATA(err, h->total_bytes <= left, s->pos,
			"a record batch of %d bytes is cut off: %lld are left", h->total_bytes,
			(long long) left);
	if (h->total_bytes > BF_BATCH_BYTES_MAX)
		BF_FAIL_AT(err, BF_ERR_LIMIT, s->pos, "a record batch has %d bytes, at most %d are read",
				   h->total_bytes, BF_BATCH_BYTES_MAX);
	BF_DATA(err, h->base_offset > s->last_offset, s->pos,
			"a record batch starts with offset %lld, at least %lld is expected",
			(long long) h->base_offset, (long long) s->last_offset + 1);
	return check_offsets(s, h, s->pos, err);
}

/* The base offset of the batch after it, read ahead, must be past its end. What else may be wrong
 * there is found by whoever comes by. */
static BfStatus
check_next(BfiSegment *s, const BfBatchHeader *h, BfError *err)
{
	int64_t position = s->pos + h->total_bytes;
	const uint8_t *p;
	BfBatchHeader next;
	BfError ignored;

	BF_ASSERT(h->base_offset > s->last_offset);
	if (h->total_bytes > s->size - s->pos - BF_BATCH_HEADER_BYTES)
		return BF_OK;
	BF_TRY(bytes_at(s, position, BF_BATCH_HEADER_BYTES, &p, err));
	if (bf_batch_header(p, BF_BATCH_HEADER_BYTES, position, &next, &ignored) != BF_OK)
		return BF_OK;
	BF_DATA(err, next.base_offset > h->last_offset, position,
			"a record batch starts with offset %lld, at least %lld is expected",
			(long long) next.base_offset, (long long) h->last_offset + 1);
	return BF_OK;
}

BfStatus
bfi_segment_check_next(BfiSegment *s, const BfBatchHeader *h, BfError *err)
{
	BfStatus status = check_next(s, h, err);

	return status == BF_OK ? BF_OK : bf_error_object(err, s->info->path);
}

BfStatus
bfi_segment_header(BfiSegment *s, BfBatchHeader *h, bool *end, BfError *err)
{
	BfStatus status = header(s, h, end, err);

	BF_ASSERT(status != BF_OK || *end || h->total_bytes <= s->size - s->pos);
	return status == BF_OK ? BF_OK : bf_error_object(err, s->info->path);
}

static BfStatus
fetch(BfiSegment *s, const BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	BF_ASSERT(h->total_bytes <= s->size - s->pos);
	BfError first;

	BF_TRY(bytes_at(s, s->pos, (size_t) h->total_bytes, batch, err));
	if (bf_batch_check_crc(h, *batch, s->pos, &first) == BF_OK)
		return BF_OK;
	/* A broker with preallocated files may be writing it right now: one more look at the file. */
	BF_TRY(bf_source_refresh_size(s->source, err));
	BF_TRY(bytes_at(s, s->pos, (size_t) h->total_bytes, batch, err));
	return bf_batch_check_crc(h, *batch, s->pos, err);
}

BfStatus
bfi_segment_check(BfiSegment *s, const BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	BfStatus status = fetch(s, h, batch, err);

	return status == BF_OK ? BF_OK : bf_error_object(err, s->info->path);
}

BfStatus
bfi_segment_fetch(BfiSegment *s, const BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	BF_TRY(bfi_segment_check(s, h, batch, err));
	s->dir->counters->batches_read++;
	return BF_OK;
}

void
bfi_segment_advance(BfiSegment *s, const BfBatchHeader *h)
{
	BF_ASSERT(h->base_offset > s->last_offset && h->last_offset >= h->base_offset);
	s->pos += h->total_bytes;
	s->last_offset = h->last_offset;
	BF_ASSERT(s->pos <= s->size);
}

/* ---- batches of no interest ---- */

/* One that was passed: the position stays. */
static BfStatus
check_passed(BfiSegment *s, int64_t position, const BfBatchHeader *h, BfError *err)
{
	int64_t here = s->pos;
	const uint8_t *batch;
	BfStatus status;

	BF_ASSERT(position >= 0 && position < here);
	s->pos = position;
	status = bfi_segment_check(s, h, &batch, err);
	s->pos = here;
	return status;
}

/*
 * A header that is passed over decides where the next batch stands, and what offsets are behind it.
 * Of a batch that the next one's first offset follows both are right: no wrong bit in its length or
 * its offsets leaves them so. Any other is read and its checksum looked at.
 */
static BfStatus
pass(BfiSegment *s, int64_t entry, int64_t *n, BfError *err)
{
	BfBatchHeader before, h;
	int64_t position = -1;
	bool end;

	for (*n = 0;; ++*n)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
		BF_TRY(bfi_segment_header(s, &h, &end, err));
		if (position >= 0 && (s->dir->check_all || end || h.base_offset != before.last_offset + 1))
			BF_TRY(check_passed(s, position, &before, err));
		if (end || h.last_offset >= entry)
			return BF_OK;
		position = s->pos;
		before = h;
		bfi_segment_advance(s, &h);
	}
}

BfStatus
bfi_segment_pass(BfiSegment *s, int64_t entry, int64_t *n, BfError *err)
{
	bool sparse = s->sparse;
	BfStatus status;

	BF_ASSERT(s->number >= 0 && entry >= 0);
	s->sparse = !s->dir->check_all;
	status = pass(s, entry, n, err);
	s->sparse = sparse;
	return status;
}
