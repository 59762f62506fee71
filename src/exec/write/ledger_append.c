/*
 * exec/write/ledger_append.c: see ledger_append.h.
 */
#include "exec/write/ledger_append.h"

#include "avro/rowcodec.h"
#include "exec/read/ledger_schema.h"
#include "io/publish.h"

/* The name of the record in a ledger's Avro schema. */
#define RECORD_NAME "row"
/* Encoded rows are handed to the log in pieces of about this size. */
#define APPEND_BYTES ((size_t) 16 << 20)
/* Fewer are hardly worth a compressor's start. */
#define COMPRESSED_BYTES_MIN ((size_t) 256)
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

BfStatus
bf_exec_ledger_encode(BfArena *a, const BfSchema *schema, const BfBatch *batch, const int32_t *rows,
					  int32_t n_rows, BfEncodedRows *out, BfError *err)
{
	BfBuffer *encoded;
	size_t *ends;
	size_t start = 0;

	BF_NEVER(err, n_rows < 0 || n_rows > batch->n_rows);
	*out = (BfEncodedRows){.n = n_rows};
	BF_NEW_RAW(a, ends, n_rows, err);
	BF_NEW_RAW(a, out->values, n_rows, err);
	BF_TRY(bf_buffer_new(a, ENCODED_BYTES_MAX, &encoded, err));
	for (int32_t i = 0; i < n_rows; i++)
	{
		BF_ASSERT(rows == NULL || (rows[i] >= 0 && rows[i] < batch->n_rows));
		BF_TRY(bf_avro_encode_row(schema, batch, rows != NULL ? rows[i] : i, encoded, err));
		ends[i] = encoded->len;
	}
	/* A row without columns has no bytes and no buffer. */
	BF_TRY(bf_buffer_reserve(encoded, 1, err));
	for (int32_t i = 0; i < n_rows; i++)
	{
		BF_ASSERT(start <= ends[i] && ends[i] <= encoded->len);
		out->values[i] = (BfView){encoded->data + start, (uint32_t) (ends[i] - start)};
		start = ends[i];
	}
	out->bytes = encoded->len;
	return BF_OK;
}

BfStatus
bf_exec_ledger_append(BfLedgerWriter *w, const BfEncodedRows *rows, int64_t timestamp_ms,
					  BfError *err)
{
	int32_t first = 0;
	size_t bytes = 0;

	for (int32_t i = 0; i < rows->n; i++)
	{
		bytes += rows->values[i].len;
		if (i + 1 < rows->n && bytes + rows->values[i + 1].len <= APPEND_BYTES)
			continue;
		BF_TRY(bf_ledger_append(w, rows->values + first, i + 1 - first, timestamp_ms, err));
		first = i + 1;
		bytes = 0;
	}
	BF_ASSERT(first == rows->n);
	return BF_OK;
}

/* ---- batches for somebody else ---- */

BfStatus
bf_exec_batch_maker_new(BfArena *a, BfBatchMaker *out, BfError *err)
{
	BF_TRY(bf_codec_context_new(a, &out->codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &out->raw, err));
	return bf_buffer_new(a, (size_t) BF_BATCH_BYTES_MAX * 2, &out->out, err);
}

BfStatus
bf_exec_batch_make(BfBatchMaker *m, const BfEncodedRows *rows, int64_t first, int64_t timestamp_ms,
				   BfError *err)
{
	BF_ASSERT(rows->n > 0 && m->raw != m->out);
	return bf_batch_build(m->codec,
						  rows->bytes < COMPRESSED_BYTES_MIN ? BF_CODEC_NONE : BF_CODEC_ZSTD, 0,
						  first, rows->values, rows->n, timestamp_ms, m->raw, m->out, err);
}
