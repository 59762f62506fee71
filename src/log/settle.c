/*
 * log/settle.c: the tail of a ledger becomes batches of its segments; see live.h.
 */
#include "log/live.h"

/* As batches of large statements are. */
#define MERGED_ROWS 4096
#define MERGED_BYTES ((size_t) 1 << 20)

/* Entries that will be one batch. */
typedef struct Merged
{
	BfLedgerWriter *writer;
	BfBuffer *bytes; /* of their values, one after the other */
	size_t *ends;	 /* of each value in them */
	BfView *values;
	int64_t *timestamps;
	int32_t n;
} Merged;

static BfStatus
flush(Merged *m, BfError *err)
{
	size_t start = 0;

	if (m->n == 0)
		return BF_OK;
	for (int32_t i = 0; i < m->n; i++)
	{
		BF_ASSERT(start <= m->ends[i] && m->ends[i] <= m->bytes->len);
		m->values[i] = (BfView){m->bytes->data + start, (uint32_t) (m->ends[i] - start)};
		start = m->ends[i];
	}
	BF_TRY(bf_ledger_append_timed(m->writer, m->values, m->timestamps, m->n, err));
	m->n = 0;
	m->bytes->len = 0;
	return BF_OK;
}

static BfStatus
add_record(Merged *m, const BfRecord *r, int64_t position, BfError *err)
{
	BF_DATA(err, !r->value_null && r->offset == bf_ledger_writer_end(m->writer).entry + m->n,
			position, "entry %lld is not the next one", (long long) r->offset);
	BF_TRY(bf_buffer_reserve(m->bytes, (size_t) r->value.len + 1, err));
	BF_TRY(bf_buffer_append(m->bytes, r->value.ptr, r->value.len, err));
	m->ends[m->n] = m->bytes->len;
	m->timestamps[m->n++] = r->timestamp;
	BF_ASSERT(m->n <= MERGED_ROWS);
	return m->n == MERGED_ROWS || m->bytes->len >= MERGED_BYTES ? flush(m, err) : BF_OK;
}

static BfStatus
add_batch(Merged *m, BfCodecContext *codec, BfBuffer *scratch, const BfBatchHeader *h,
		  const uint8_t *batch, int64_t position, BfError *err)
{
	BfRecordIter it;
	BfRecord r;
	bool more;

	BF_DATA(err, !h->control, position, "a ledger has a control batch");
	BF_TRY(bf_records_begin(codec, h, batch, position, scratch, &it, err));
	for (;;)
	{
		BF_TRY(bf_records_next(&it, &r, &more, err));
		if (!more)
			return BF_OK;
		BF_TRY(add_record(m, &r, position, err));
	}
}

BfStatus
bf_ledger_settle(BfArena *a, BfLedgerWriter *w, const BfLogTail *tail, int64_t end, bool merge,
				 BfError *err)
{
	BfRange range = {tail->first, end - 1};
	const BfRangeSet all = {1, &range};
	Merged m = {.writer = w};
	BfCodecContext *codec;
	BfBuffer *scratch;
	BfLiveWalk *walk;

	BF_ASSERT(tail->first == bf_ledger_writer_end(w).entry && end >= tail->first);
	if (end == tail->first)
		return BF_OK;
	BF_NEW_RAW(a, m.ends, MERGED_ROWS, err);
	BF_NEW_RAW(a, m.values, MERGED_ROWS, err);
	BF_NEW_RAW(a, m.timestamps, MERGED_ROWS, err);
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX * (size_t) 2, &m.bytes, err));
	BF_TRY(bf_codec_context_new(a, &codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &scratch, err));
	BF_TRY(bf_live_walk_new(a, NULL, tail, &all, NULL, &walk, err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		BF_TRY(bf_live_walk_next(walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			break;
		if (add_batch(&m, codec, scratch, &h, batch, position, err) != BF_OK)
			return bf_error_object(err, path);
		if (!merge)
			BF_TRY(flush(&m, err));
	}
	BF_TRY(flush(&m, err));
	BF_ASSERT(bf_ledger_writer_end(w).entry == end);
	return BF_OK;
}
