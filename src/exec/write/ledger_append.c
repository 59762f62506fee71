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

		BF_ASSERT(start <= ends[first + i] && ends[first + i] <= encoded->len);

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
		BF_ASSERT(rows == NULL || (rows[i] >= 0 && rows[i] < batch->n_rows));
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
	BF_ASSERT(first == n_rows);
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
