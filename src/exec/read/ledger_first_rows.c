/*
 * exec/read/ledger_first_rows.c: see ledger_first_rows.h.
 */
#include "exec/read/ledger_first_rows.h"

#include "avro/rowcodec.h"
#include "exec/read/ledger_schema.h"

typedef struct FirstRows
{
	const BfSchema *schema;
	BfAvroDecoder *decoder;
	BfBatch *row;
	BfCodecContext *codec;
	BfBuffer *bytes;
	BfLiveWalk *walk;
} FirstRows;

static BfStatus
open_first_rows(BfArena *a, const char *dir, const BfLogTail *tail, const BfRangeSet *ranges,
				FirstRows *f, BfError *err)
{
	BfSchema *schema;
	int32_t *columns;

	BF_TRY(bf_exec_ledger_schema(a, BF_LEDGER_LIVE, dir, &schema, err));
	BF_NEW(a, columns, schema->n_fields, err);
	for (int32_t i = 0; i < schema->n_fields; i++)
		columns[i] = i;
	f->schema = schema;
	BF_TRY(bf_avro_decoder_new(a, schema, columns, schema->n_fields, &f->decoder, err));
	BF_TRY(bf_batch_new(a, schema->fields, schema->n_fields, &f->row, err));
	BF_TRY(bf_codec_context_new(a, &f->codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &f->bytes, err));
	return bf_live_walk_new(a, dir, tail, ranges, NULL, &f->walk, err);
}

static BfStatus
visit_batch(FirstRows *f, const BfBatchHeader *h, const uint8_t *batch, int64_t position,
			BfBatchFirstRow visit, void *arg, BfError *err)
{
	BfRecordIter it;
	BfRecord record;
	bool more = false;

	BF_ASSERT(h->base_offset <= h->last_offset);
	BF_TRY(bf_records_begin(f->codec, h, batch, position, f->bytes, &it, err));
	BF_TRY(bf_records_next(&it, &record, &more, err));
	BF_DATA(err, more && !record.value_null && !h->control, position,
			"batch %lld-%lld of a ledger does not begin with a row", (long long) h->base_offset,
			(long long) h->last_offset);
	f->row->n_rows = 0;
	if (bf_avro_decode_rows(f->decoder, &record.value, 1, f->row, err) != BF_OK)
	{
		err->offset = position;
		return err->code;
	}
	BF_ASSERT(f->row->n_rows == 1);
	return visit(arg, f->schema, f->row, (BfRange){h->base_offset, h->last_offset}, err);
}

BfStatus
bf_exec_ledger_first_rows(BfArena *a, const char *dir, const BfLogTail *tail,
						  const BfRangeSet *ranges, BfBatchFirstRow visit, void *arg, BfError *err)
{
	FirstRows f;

	if (ranges->n == 0)
		return BF_OK;
	BF_TRY(open_first_rows(a, dir, tail, ranges, &f, err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		int64_t position;
		const char *path;

		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_live_walk_next(f.walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			return BF_OK;
		if (visit_batch(&f, &h, batch, position, visit, arg, err) != BF_OK)
			return bf_error_object(err, path);
	}
}
