/*
 * Sets of entries read from text and written as text; the sets themselves are base/rangeset.h.
 */
#include "log/rangeset.h"

#include "base/ascii.h"
#include "base/text.h"
#include "log/internal.h"

/* A number of the grammar in [0, max] at c->pos. */
BfStatus
bfi_text_number(BfCursor *c, int64_t max, int64_t *out, BfError *err)
{
	int64_t start = bf_cursor_offset(c);
	size_t n = bf_ascii_number(c->pos, bf_cursor_left(c), max, out);

	BF_DATA(err, *out >= 0, start, "a number is greater than %lld", (long long) max);
	BF_DATA(err, n > 0, start, "a number is expected");
	BF_DATA(err, *c->pos != '0' || n == 1, start, "a number has leading zeros");
	c->pos += n;
	return BF_OK;
}

static BfStatus
parse_range(BfCursor *c, bool lenient, BfRange *r, BfError *err)
{
	int64_t start = bf_cursor_offset(c);

	BF_TRY(bfi_text_number(c, BF_ENTRY_MAX, &r->first, err));
	if (lenient && (c->pos == c->end || *c->pos == '_'))
	{
		r->last = r->first;
		return BF_OK;
	}
	BF_DATA(err, c->pos < c->end && *c->pos == '-', bf_cursor_offset(c),
			"a \"-\" is expected after the first entry of a range");
	c->pos++;
	BF_TRY(bfi_text_number(c, BF_ENTRY_MAX, &r->last, err));
	BF_DATA(err, r->first <= r->last, start, "range %lld-%lld runs backwards", (long long) r->first,
			(long long) r->last);
	return BF_OK;
}

BfStatus
bf_rangeset_parse(BfArena *a, const char *text, size_t n, bool lenient, BfRangeSet *out,
				  BfError *err)
{
	BfCursor c = bf_cursor(text, n, 0);
	size_t n_max = n > 0 ? 1 : 0;
	BfRange *last = NULL;

	for (size_t i = 0; i < n; i++)
		n_max += text[i] == '_';
	if (n_max > BF_RANGESET_RANGES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "a range set has more than %d ranges", BF_RANGESET_RANGES_MAX);
	out->n = 0;
	BF_NEW_RAW(a, out->ranges, n_max, err);
	while (c.pos < c.end)
	{
		int64_t start = bf_cursor_offset(&c);
		BfRange r;

		BF_TRY(parse_range(&c, lenient, &r, err));
		if (last != NULL)
		{
			BF_DATA(err, r.first > last->last, start,
					"range %lld-%lld overlaps or precedes entry %lld", (long long) r.first,
					(long long) r.last, (long long) last->last);
			BF_DATA(err, lenient || r.first > last->last + 1, start,
					"range %lld-%lld is not merged with its neighbour", (long long) r.first,
					(long long) r.last);
		}
		if (last != NULL && r.first == last->last + 1)
			last->last = r.last;
		else
		{
			BF_ASSERT((size_t) out->n < n_max);
			last = &out->ranges[out->n++];
			*last = r;
		}
		if (c.pos == c.end)
			break;
		BF_DATA(err, *c.pos == '_', bf_cursor_offset(&c), "a \"_\" is expected between ranges");
		c.pos++;
		BF_DATA(err, c.pos < c.end, bf_cursor_offset(&c), "a range is expected after \"_\"");
	}
	return BF_OK;
}

BfStatus
bf_rangeset_format(const BfRangeSet *s, BfBuffer *out, BfError *err)
{
	for (int32_t i = 0; i < s->n; i++)
	{
		BF_ASSERT(s->ranges[i].first <= s->ranges[i].last);
		BF_ASSERT(i == 0 || s->ranges[i].first > s->ranges[i - 1].last + 1);
		if (i > 0)
			BF_TRY(bf_buffer_u8(out, '_', err));
		BF_TRY(bf_text_number(out, s->ranges[i].first, err));
		BF_TRY(bf_buffer_u8(out, '-', err));
		BF_TRY(bf_text_number(out, s->ranges[i].last, err));
	}
	return BF_OK;
}
