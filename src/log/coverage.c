/* Coverage of many ledgers: as text and back, looked up in and added to. */
#include "log/rangeset.h"

#include "base/sort.h"
#include "base/text.h"
#include "log/internal.h"

BfStatus
bf_coverage_parse(BfArena *a, const char *text, size_t n, BfCoverage *out, BfError *err)
{
	BfCursor c = bf_cursor(text, n, 0);
	size_t n_max = n > 0 ? 1 : 0;

	for (size_t i = 0; i < n; i++)
		n_max += text[i] == ';';
	if (n_max > BF_RANGESET_RANGES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d ledgers in one list", BF_RANGESET_RANGES_MAX);
	out->n = 0;
	BF_NEW_RAW(a, out->items, n_max, err);
	while (c.pos < c.end)
	{
		struct BfCoverageItem *item = &out->items[out->n];
		int64_t start = bf_cursor_offset(&c);
		const uint8_t *semicolon;
		size_t len;
		BfStatus status;

		BF_ASSERT((size_t) out->n < n_max);
		BF_TRY(bfi_text_number(&c, INT64_MAX, &item->ledger_id, err));
		BF_DATA(err, out->n == 0 || item->ledger_id > item[-1].ledger_id, start,
				"ledger %lld is not in ascending order", (long long) item->ledger_id);
		BF_DATA(err, c.pos < c.end && *c.pos == ':', bf_cursor_offset(&c),
				"a \":\" is expected after a ledger id");
		c.pos++;
		semicolon = memchr(c.pos, ';', bf_cursor_left(&c));
		len = semicolon != NULL ? (size_t) (semicolon - c.pos) : bf_cursor_left(&c);
		BF_DATA(err, len > 0, bf_cursor_offset(&c), "ledger %lld has no ranges",
				(long long) item->ledger_id);
		status = bf_rangeset_parse(a, (const char *) c.pos, len, true, &item->ranges, err);
		if (status != BF_OK)
		{
			if (err->offset >= 0)
				err->offset += bf_cursor_offset(&c);
			return status;
		}
		out->n++;
		c.pos += len;
		if (c.pos == c.end)
			break;
		c.pos++;
		BF_DATA(err, c.pos < c.end, bf_cursor_offset(&c), "a ledger is expected after \";\"");
	}
	return BF_OK;
}

BfStatus
bf_coverage_format(const BfCoverage *c, BfBuffer *out, BfError *err)
{
	bool first = true;

	for (int32_t i = 0; i < c->n; i++)
	{
		BF_ASSERT(i == 0 || c->items[i - 1].ledger_id < c->items[i].ledger_id);
		if (c->items[i].ranges.n == 0)
			continue;
		if (!first)
			BF_TRY(bf_buffer_u8(out, ';', err));
		first = false;
		BF_TRY(bf_text_number(out, c->items[i].ledger_id, err));
		BF_TRY(bf_buffer_u8(out, ':', err));
		BF_TRY(bf_rangeset_format(&c->items[i].ranges, out, err));
	}
	return BF_OK;
}

/* Index of the first item whose id is >= ledger_id. */
static int32_t
seek(const BfCoverage *c, int64_t ledger_id)
{
	int32_t at;

	BF_SEARCH(int32_t, at, c->n, i, c->items[i].ledger_id < ledger_id);
	return at;
}

const BfRangeSet *
bf_coverage_of(const BfCoverage *c, int64_t ledger_id)
{
	static const BfRangeSet empty = {0, NULL};
	int32_t i = seek(c, ledger_id);

	return i < c->n && c->items[i].ledger_id == ledger_id ? &c->items[i].ranges : &empty;
}

BfStatus
bf_coverage_add(BfArena *a, const BfCoverage *c, int64_t ledger_id, const BfRangeSet *more,
				BfCoverage *out, BfError *err)
{
	int32_t at = seek(c, ledger_id);
	bool known = at < c->n && c->items[at].ledger_id == ledger_id;
	struct BfCoverageItem *items;
	BfCoverage result;

	BF_ASSERT(ledger_id >= 0);
	if (c->n >= BF_RANGESET_RANGES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d ledgers in one list", BF_RANGESET_RANGES_MAX);
	result.n = c->n + (known ? 0 : 1);
	BF_NEW_RAW(a, items, result.n, err);
	if (at > 0)
		memcpy(items, c->items, (size_t) at * sizeof *items);
	items[at].ledger_id = ledger_id;
	BF_TRY(bf_rangeset_union(a, bf_coverage_of(c, ledger_id), more, &items[at].ranges, err));
	if (at + 1 < result.n)
		memcpy(items + at + 1, c->items + at + (known ? 1 : 0),
			   (size_t) (result.n - at - 1) * sizeof *items);
	BF_ASSERT(at == 0 || items[at - 1].ledger_id < ledger_id);
	BF_ASSERT(at + 1 == result.n || items[at + 1].ledger_id > ledger_id);
	result.items = items;
	*out = result;
	return BF_OK;
}
