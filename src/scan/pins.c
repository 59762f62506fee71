/*
 * scan/pins.c: pins as bytes and back; see pins.h.
 */
#include "scan/pins.h"

#include "base/sort.h"
#include "log/rangeset.h"

#define BYTES_MAX ((size_t) 1 << 30)

static const uint8_t magic[4] = {'B', 'F', 'P', '2'};

#define FLAG_CURRENT 1

/* The least that one of them can take: a byte for each of its numbers and texts. */
#define LEDGER_BYTES_MIN 7
#define RANGE_BYTES_MIN 2
#define SOURCE_BYTES_MIN 6

/* So that the distance from none, -1, can be said. */
#define LEDGER_ID_MAX (INT64_MAX - 1)

const BfScanLedger *
bf_scan_pins_ledger(const BfScanPins *pins, int64_t id)
{
	int32_t at;

	BF_SEARCH(int32_t, at, pins->n_ledgers, i, pins->ledgers[i].id < id);
	return at < pins->n_ledgers && pins->ledgers[at].id == id ? &pins->ledgers[at] : NULL;
}

/* ---- packing ---- */

static BfStatus
put_text(BfBuffer *b, const char *text, BfError *err)
{
	size_t n = text == NULL ? 0 : strlen(text);

	BF_TRY(bf_buffer_uvarint(b, text == NULL ? 0 : (uint64_t) n + 1, err));
	return bf_buffer_append(b, text, n, err);
}

static BfStatus
put_ledger(BfBuffer *b, const BfScanLedger *l, int64_t id_before, BfError *err)
{
	BF_ASSERT(l->id > id_before && l->id <= LEDGER_ID_MAX);
	BF_ASSERT(l->end >= 0 && l->entry_bytes > 0 && l->tail >= 0 && l->tail <= l->end);
	BF_ASSERT(l->place < BF_SCAN_PLACES && (l->path != NULL || l->place == BF_SCAN_GONE));
	BF_TRY(bf_buffer_varint(b, l->id - id_before, err));
	BF_TRY(bf_buffer_varint(b, l->place, err));
	BF_TRY(put_text(b, l->path, err));
	BF_TRY(bf_buffer_varint(b, l->end, err));
	BF_TRY(bf_buffer_varint(b, l->tail, err));
	BF_TRY(bf_buffer_varint(b, l->entry_bytes, err));
	BF_TRY(bf_buffer_varint(b, l->lost.n, err));
	for (int32_t i = 0; i < l->lost.n; i++)
	{
		BF_TRY(bf_buffer_varint(b, l->lost.ranges[i].first, err));
		BF_TRY(bf_buffer_varint(b, l->lost.ranges[i].last, err));
	}
	return BF_OK;
}

static BfStatus
put_source(BfBuffer *b, const BfScanSource *s, BfError *err)
{
	BF_ASSERT(s->path != NULL && s->bytes >= 0 && s->rows >= 0);
	BF_ASSERT(s->offset_start >= -1 && s->offset_end >= -1);
	BF_TRY(put_text(b, s->path, err));
	BF_TRY(bf_buffer_varint(b, s->bytes, err));
	BF_TRY(bf_buffer_varint(b, s->rows, err));
	BF_TRY(bf_buffer_varint(b, s->counted, err));
	BF_TRY(bf_buffer_varint(b, s->partition, err));
	BF_TRY(bf_buffer_varint(b, s->offset_start, err));
	return bf_buffer_varint(b, s->offset_end, err);
}

BfStatus
bf_scan_pins_pack(BfArena *a, const BfScanPins *pins, BfView *out, BfError *err)
{
	int64_t id_before = -1;
	BfBuffer *b;

	BF_ASSERT(pins->n_ledgers >= 0 && pins->n_sources >= 0);
	BF_TRY(bf_buffer_new(a, BYTES_MAX, &b, err));
	BF_TRY(bf_buffer_append(b, magic, sizeof magic, err));
	BF_TRY(bf_buffer_varint(b, pins->current ? FLAG_CURRENT : 0, err));
	BF_TRY(put_text(b, pins->metadata_path, err));
	BF_TRY(bf_buffer_varint(b, pins->snapshot_id, err));
	BF_TRY(bf_buffer_varint(b, pins->n_ledgers, err));
	for (int32_t i = 0; i < pins->n_ledgers; i++)
	{
		BF_TRY(put_ledger(b, &pins->ledgers[i], id_before, err));
		id_before = pins->ledgers[i].id;
	}
	BF_TRY(bf_buffer_varint(b, pins->n_sources, err));
	for (int32_t i = 0; i < pins->n_sources; i++)
		BF_TRY(put_source(b, &pins->sources[i], err));
	*out = (BfView){b->data, (uint32_t) b->len};
	return BF_OK;
}

/* ---- unpacking ---- */

static BfStatus
get_number(BfCursor *c, int64_t low, int64_t high, const char *what, int64_t *out, BfError *err)
{
	int64_t at = bf_cursor_offset(c);

	BF_TRY(bf_cursor_varint(c, out, err));
	BF_DATA(err, *out >= low && *out <= high, at, "%s is %lld", what, (long long) *out);
	return BF_OK;
}

static BfStatus
get_text(BfArena *a, BfCursor *c, const char *what, const char **out, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	const uint8_t *bytes;
	uint64_t n;

	*out = NULL;
	BF_TRY(bf_cursor_uvarint(c, &n, err));
	if (n == 0)
		return BF_OK;
	if (n - 1 > bf_cursor_left(c))
		return bf_cursor_short(c, (size_t) n - 1, err);
	BF_TRY(bf_cursor_take(c, (size_t) n - 1, &bytes, err));
	BF_DATA(err, n == 1 || memchr(bytes, 0, (size_t) n - 1) == NULL, at, "%s has a zero byte",
			what);
	BF_TRY_PTR(a, *out, bf_arena_strndup(a, (const char *) bytes, (size_t) n - 1), err);
	return BF_OK;
}

/* How many follow: no more than fit into what is left. */
static BfStatus
get_count(BfCursor *c, size_t bytes_min, const char *what, int32_t *out, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	int64_t n;

	BF_TRY(get_number(c, 0, INT32_MAX, what, &n, err));
	BF_DATA(err, (uint64_t) n <= bf_cursor_left(c) / bytes_min, at,
			"%s is %lld, but %zu bytes follow", what, (long long) n, bf_cursor_left(c));
	*out = (int32_t) n;
	return BF_OK;
}

static BfStatus
get_lost(BfArena *a, BfCursor *c, BfRangeSet *lost, BfError *err)
{
	int64_t next = 0;

	*lost = (BfRangeSet){0, NULL};
	BF_TRY(get_count(c, RANGE_BYTES_MIN, "number of lost ranges", &lost->n, err));
	BF_NEW_RAW(a, lost->ranges, lost->n, err);
	for (int32_t i = 0; i < lost->n; i++)
	{
		BfRange *r = &lost->ranges[i];

		BF_TRY(get_number(c, next, BF_ENTRY_MAX, "start of a lost range", &r->first, err));
		BF_TRY(get_number(c, r->first, BF_ENTRY_MAX, "end of a lost range", &r->last, err));
		/* Ranges that touch would be one. */
		next = r->last < BF_ENTRY_MAX - 1 ? r->last + 2 : INT64_MAX;
	}
	return BF_OK;
}

static BfStatus
get_ledger(BfArena *a, BfCursor *c, int64_t id_before, BfScanLedger *l, BfError *err)
{
	int64_t more;
	int64_t place;
	int64_t at;

	BF_ASSERT(id_before >= -1);
	BF_TRY(get_number(c, 1, LEDGER_ID_MAX - id_before, "distance of a ledger's id", &more, err));
	l->id = id_before + more;
	BF_TRY(get_number(c, 0, BF_SCAN_PLACES - 1, "place of a ledger", &place, err));
	l->place = (BfScanPlace) place;
	at = bf_cursor_offset(c);
	BF_TRY(get_text(a, c, "path of a ledger", &l->path, err));
	BF_DATA(err, l->path != NULL || l->place == BF_SCAN_GONE, at, "ledger %lld has no path",
			(long long) l->id);
	BF_TRY(get_number(c, 0, BF_ENTRY_MAX, "end of a ledger", &l->end, err));
	BF_TRY(get_number(c, 0, l->end, "number of entries in the tail", &l->tail, err));
	BF_TRY(get_number(c, 1, INT64_MAX, "size of an entry", &l->entry_bytes, err));
	return get_lost(a, c, &l->lost, err);
}

static BfStatus
get_source(BfArena *a, BfCursor *c, BfScanSource *s, BfError *err)
{
	int64_t at = bf_cursor_offset(c);
	int64_t partition;
	int64_t counted;

	BF_TRY(get_text(a, c, "path of a source", &s->path, err));
	BF_DATA(err, s->path != NULL, at, "a source has no path");
	BF_TRY(get_number(c, 0, INT64_MAX, "size of a source", &s->bytes, err));
	BF_TRY(get_number(c, 0, INT64_MAX, "number of rows", &s->rows, err));
	BF_TRY(get_number(c, 0, 1, "whether rows are counted", &counted, err));
	s->counted = counted != 0;
	BF_TRY(get_number(c, INT32_MIN, INT32_MAX, "number of a partition", &partition, err));
	s->partition = (int32_t) partition;
	BF_TRY(get_number(c, -1, INT64_MAX, "start of a partition", &s->offset_start, err));
	return get_number(c, -1, INT64_MAX, "end of a partition", &s->offset_end, err);
}

BfStatus
bf_scan_pins_unpack(BfArena *a, BfView bytes, BfScanPins **out, BfError *err)
{
	BfCursor c = bf_cursor(bytes.ptr, bytes.len, 0);
	int64_t id_before = -1;
	const uint8_t *start;
	BfScanPins *pins;
	int64_t flags;

	BF_NEW(a, pins, 1, err);
	BF_TRY(bf_cursor_take(&c, sizeof magic, &start, err));
	BF_DATA(err, memcmp(start, magic, sizeof magic) == 0, 0, "these bytes are no pins of a scan");
	BF_TRY(get_number(&c, 0, FLAG_CURRENT, "flags", &flags, err));
	pins->current = flags == FLAG_CURRENT;
	BF_TRY(get_text(a, &c, "metadata path", &pins->metadata_path, err));
	BF_TRY(get_number(&c, INT64_MIN, INT64_MAX, "snapshot", &pins->snapshot_id, err));
	BF_TRY(get_count(&c, LEDGER_BYTES_MIN, "number of ledgers", &pins->n_ledgers, err));
	BF_NEW(a, pins->ledgers, pins->n_ledgers, err);
	for (int32_t i = 0; i < pins->n_ledgers; i++)
	{
		BF_TRY(get_ledger(a, &c, id_before, &pins->ledgers[i], err));
		id_before = pins->ledgers[i].id;
	}
	BF_TRY(get_count(&c, SOURCE_BYTES_MIN, "number of sources", &pins->n_sources, err));
	BF_NEW(a, pins->sources, pins->n_sources, err);
	for (int32_t i = 0; i < pins->n_sources; i++)
		BF_TRY(get_source(a, &c, &pins->sources[i], err));
	BF_DATA(err, bf_cursor_left(&c) == 0, bf_cursor_offset(&c), "%zu bytes follow the last source",
			bf_cursor_left(&c));
	*out = pins;
	return BF_OK;
}
