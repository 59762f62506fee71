#include "exec/write/ledger_append.h"

#include "avro/rowcodec.h"
#include "exec/read/ledger_reader.h"
#include "io/publish.h"

/* The name of the record in a ledger's Avro schema. */
#define RECORD_NAME "row"
/* Encoded rows are handed to the log in pieces of about this size. */
#define APPEND_BYTES ((size_t) 16 << 20)
#define ENCODED_BYTES_MAX ((size_t) 1 << 31)

BfStatus
bf_exec_ledger_create(BfArena *a, const char *dir, const BfSchema *schema, BfError *err)
{
	const char *json;
	const char *path;

	BF_TRY(bf_avro_schema_text(a, schema, RECORD_NAME, &json, err));
	BF_TRY_PTR(a, path, bf_arena_printf(a, "%s/%s", dir, BF_LEDGER_SCHEMA_FILE), err);
	return bf_publish_bytes(a, path, json, strlen(json), err);
}

/* Hands rows [first, first + n) of the encoded ones to the log. ends[i] is where row i ends. */
static BfStatus
append_piece(BfLedgerWriter *w, const BfBuffer *encoded, const size_t *ends, int32_t first,
			 int32_t n, BfView *values, int64_t timestamp_ms, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
	{
		size_t start = first + i == 0 ? 0 : ends[first + i - 1];

		values[i] = (BfView){encoded->data + start, (uint32_t) (ends[first + i] - start)};
	}
	return bf_ledger_append(w, values, n, timestamp_ms, err);
}

static BfStatus
append_rows(BfLedgerWriter *w, const BfSchema *schema, const BfBatch *batch, const int32_t *rows,
			int32_t n_rows, int64_t timestamp_ms, BfArena *scratch, BfError *err)
{
	BfBuffer *encoded;
	BfView *values;
	size_t *ends;
	int32_t first = 0;

	BF_NEW_RAW(scratch, ends, n_rows, err);
	BF_NEW_RAW(scratch, values, n_rows, err);
	BF_TRY(bf_buffer_new(scratch, ENCODED_BYTES_MAX, &encoded, err));
	for (int32_t i = 0; i < n_rows; i++)
	{
		BF_TRY(bf_avro_encode_row(schema, batch, rows != NULL ? rows[i] : i, encoded, err));
		ends[i] = encoded->len;
	}
	/* A row without columns has no bytes and no buffer. */
	BF_TRY(bf_buffer_reserve(encoded, 1, err));
	for (int32_t i = 0; i < n_rows; i++)
	{
		size_t start = first == 0 ? 0 : ends[first - 1];

		if (i + 1 < n_rows && ends[i + 1] - start <= APPEND_BYTES)
			continue;
		BF_TRY(append_piece(w, encoded, ends, first, i + 1 - first, values, timestamp_ms, err));
		first = i + 1;
	}
	return BF_OK;
}

BfStatus
bf_exec_ledger_append(BfLedgerWriter *w, const BfSchema *schema, const BfBatch *batch,
					  const int32_t *rows, int32_t n_rows, int64_t timestamp_ms, BfArena *scratch,
					  BfError *err)
{
	BfArenaMark mark = bf_arena_mark(scratch);
	BfStatus status;

	BF_NEVER(err, n_rows < 0 || n_rows > batch->n_rows);
	if (n_rows == 0)
		return BF_OK;
	status = append_rows(w, schema, batch, rows, n_rows, timestamp_ms, scratch, err);
	bf_arena_rewind(scratch, mark);
	return status;
}

typedef struct FirstRows
{
	const BfSchema *schema;
	BfAvroDecoder *decoder;
	BfBatch *row;
	BfCodecContext *codec;
	BfBuffer *bytes;
	BfLogWalk *walk;
} FirstRows;

static BfStatus
open_first_rows(BfArena *a, const char *dir, const BfRangeSet *ranges, FirstRows *f, BfError *err)
{
	BfSchema *schema;
	BfLogDir *log;
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
	BF_TRY(bf_log_dir_open(a, dir, NULL, &log, err));
	return bf_log_walk_new(a, log, ranges, true, &f->walk, err);
}

static BfStatus
visit_batch(FirstRows *f, const BfBatchHeader *h, const uint8_t *batch, int64_t position,
			BfBatchFirstRow visit, void *arg, BfError *err)
{
	BfRecordIter it;
	BfRecord record;
	bool more = false;

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
	return visit(arg, f->schema, f->row, (BfRange){h->base_offset, h->last_offset}, err);
}

BfStatus
bf_exec_ledger_first_rows(BfArena *a, const char *dir, const BfRangeSet *ranges,
						  BfBatchFirstRow visit, void *arg, BfError *err)
{
	FirstRows f;

	if (ranges->n == 0)
		return BF_OK;
	BF_TRY(open_first_rows(a, dir, ranges, &f, err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		int64_t position;
		const char *path;

		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_log_walk_next(f.walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			return BF_OK;
		if (visit_batch(&f, &h, batch, position, visit, arg, err) != BF_OK)
			return bf_error_object(err, path);
	}
}
