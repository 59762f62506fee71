/*
 * Writing an offload file: batches are copied as they are, each decoded once to see that it can be.
 */
#include "log/offload_format.h"

#include "io/publish.h"
#include "log/internal.h"

/* From here on a batch is copied inside the kernel; below, its bytes are at hand anyway. */
#define COPY_BYTES_MIN (64 << 10)
#define INDEX_BYTES_MAX ((size_t) 2 << 30)

typedef struct Writer
{
	BfArena *arena; /* released when the file is done */
	const BfHost *host;
	BfPublish *out;
	BfLiveWalk *walk;
	BfCodecContext *codec;
	BfBuffer *scratch;
	BfBuffer *records; /* BfiOffloadRecord */
	BfBuffer *encoded; /* block or root being built */
	const char *source_path;
	int source; /* of source_path; -1 = none */
	int64_t min_timestamp;
	int64_t max_timestamp;
} Writer;

static void
close_source(void *arg)
{
	Writer *w = arg;

	if (w->source >= 0)
		w->host->close(w->host, w->source);
	w->source = -1;
}

static BfStatus
write_header(Writer *w, const char *schema, size_t schema_len, BfError *err)
{
	uint8_t h[BFI_OFFLOAD_HEADER_BYTES];
	uint32_t crc;

	BF_ASSERT(bf_publish_position(w->out) == 0 && schema_len <= BFI_OFFLOAD_SCHEMA_BYTES_MAX);
	memcpy(h, BFI_OFFLOAD_MAGIC, 8);
	bf_store32be(h + 8, BFI_OFFLOAD_VERSION);
	bf_store32be(h + 12, 0);
	bf_store32be(h + 16, (uint32_t) schema_len);
	crc = bf_crc32c_extend(bf_crc32c(h, 20), schema, schema_len);
	bf_store32be(h + 20, crc);
	BF_TRY(bf_publish_write(w->out, h, sizeof h, err));
	return bf_publish_write(w->out, schema, schema_len, err);
}

/* Decodes the batch: that it can be is the reason why its original may be deleted later. */
static BfStatus
examine(Writer *w, const BfBatchHeader *h, const uint8_t *batch, int64_t position,
		BfiOffloadRecord *out, BfError *err)
{
	BfRecordIter it;
	BfRecord r;
	bool more;

	out->first = h->base_offset;
	out->last = h->last_offset;
	out->length = h->total_bytes;
	out->n_records = h->n_records;
	out->min_timestamp = out->max_timestamp = -1;
	BF_TRY(bf_records_begin(w->codec, h, batch, position, w->scratch, &it, err));
	for (;;)
	{
		BF_ASSERT(out->min_timestamp <= out->max_timestamp);
		BF_TRY(bf_records_next(&it, &r, &more, err));
		if (!more)
			return BF_OK;
		if (r.timestamp < 0)
			continue;
		if (out->min_timestamp < 0 || r.timestamp < out->min_timestamp)
			out->min_timestamp = r.timestamp;
		if (r.timestamp > out->max_timestamp)
			out->max_timestamp = r.timestamp;
	}
}

static BfStatus
copy_batch(Writer *w, const BfBatchHeader *h, const uint8_t *batch, int64_t position,
		   const char *path, BfError *err)
{
	if (h->total_bytes < COPY_BYTES_MIN || bf_live_walk_in_tail(w->walk))
		return bf_publish_write(w->out, batch, (size_t) h->total_bytes, err);
	/* Paths of segments are kept by the directory, one pointer each. */
	if (w->source < 0 || w->source_path != path)
	{
		close_source(w);
		if (w->host->open(w->host, path, BF_OPEN_READ, &w->source, err) != BF_OK)
		{
			w->source = -1;
			return bf_error_object(err, path);
		}
		w->source_path = path;
	}
	return bf_publish_copy(w->out, w->source, position, h->total_bytes, err);
}

static BfStatus
write_data(Writer *w, int64_t n_entries, BfError *err)
{
	int64_t next = 0;

	for (;;)
	{
		BfBatchHeader h;
		BfiOffloadRecord r;
		const uint8_t *batch;
		const char *path;
		int64_t position;
		uint8_t length[4];
		BfStatus status;

		BF_TRY(bf_live_walk_next(w->walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			break;
		status = examine(w, &h, batch, position, &r, err);
		if (status != BF_OK)
			return bf_error_object(err, path);
		BF_DATA(err, h.base_offset == next && h.last_offset < n_entries, position,
				"entries %lld-%lld of a batch don't fit a ledger of %lld entries",
				(long long) h.base_offset, (long long) h.last_offset, (long long) n_entries);
		next = h.last_offset + 1;
		r.position = bf_publish_position(w->out) + 4;
		bf_store32be(length, (uint32_t) h.total_bytes);
		BF_TRY(bf_publish_write(w->out, length, sizeof length, err));
		BF_TRY(copy_batch(w, &h, batch, position, path, err));
		BF_ASSERT(bf_publish_position(w->out) == r.position + r.length);
		BF_TRY(bf_buffer_append(w->records, &r, sizeof r, err));
		if (r.min_timestamp >= 0 && (w->min_timestamp < 0 || r.min_timestamp < w->min_timestamp))
			w->min_timestamp = r.min_timestamp;
		if (r.max_timestamp > w->max_timestamp)
			w->max_timestamp = r.max_timestamp;
	}
	BF_ASSERT(next == n_entries);
	return BF_OK;
}

static BfStatus
seal(BfBuffer *b, BfError *err)
{
	return bf_buffer_u32be(b, bf_crc32c(b->data, b->len), err);
}

static BfStatus
write_block(Writer *w, const BfiOffloadRecord *records, size_t n, BfError *err)
{
	BfBuffer *b = w->encoded;

	BF_ASSERT(n > 0 && n <= BFI_OFFLOAD_BLOCK_RECORDS);
	b->len = 0;
	for (size_t i = 0; i < n; i++)
	{
		const BfiOffloadRecord *r = &records[i];

		BF_ASSERT(i == 0 ||
				  (r->first == r[-1].last + 1 && r->position == r[-1].position + r[-1].length + 4));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) r->first, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) r->last, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) r->position, err));
		BF_TRY(bf_buffer_u32be(b, (uint32_t) r->length, err));
		BF_TRY(bf_buffer_u32be(b, (uint32_t) r->n_records, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) r->min_timestamp, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) r->max_timestamp, err));
	}
	BF_ASSERT(b->len == n * BFI_OFFLOAD_RECORD_BYTES);
	BF_TRY(seal(b, err));
	return bf_publish_write(w->out, b->data, b->len, err);
}

/* Index blocks; then the root, whose block list needs their positions. */
static BfStatus
write_index(Writer *w, int64_t n_entries, const char *schema, size_t schema_len, BfError *err)
{
	const BfiOffloadRecord *records = (const BfiOffloadRecord *) (const void *) w->records->data;
	size_t n = w->records->len / sizeof *records;
	size_t n_blocks = (n + BFI_OFFLOAD_BLOCK_RECORDS - 1) / BFI_OFFLOAD_BLOCK_RECORDS;
	int64_t *positions;
	BfBuffer *b = w->encoded;

	BF_ASSERT((n == 0) == (n_entries == 0) && w->records->len % sizeof *records == 0);
	BF_NEW_RAW(w->arena, positions, n_blocks, err);
	for (size_t i = 0; i < n_blocks; i++)
	{
		size_t at = i * BFI_OFFLOAD_BLOCK_RECORDS;
		size_t count = n - at < BFI_OFFLOAD_BLOCK_RECORDS ? n - at : BFI_OFFLOAD_BLOCK_RECORDS;

		BF_TRY(bf_check_cancel(w->host, err));
		positions[i] = bf_publish_position(w->out);
		BF_TRY(write_block(w, records + at, count, err));
	}
	b->len = 0;
	BF_TRY(bf_buffer_u64be(b, (uint64_t) n_entries, err));
	BF_TRY(bf_buffer_u64be(b, n, err));
	BF_TRY(bf_buffer_u64be(b, (uint64_t) w->min_timestamp, err));
	BF_TRY(bf_buffer_u64be(b, (uint64_t) w->max_timestamp, err));
	BF_TRY(bf_buffer_u32be(b, (uint32_t) schema_len, err));
	BF_TRY(bf_buffer_u32be(b, (uint32_t) n_blocks, err));
	BF_TRY(bf_buffer_append(b, schema, schema_len, err));
	for (size_t i = 0; i < n_blocks; i++)
	{
		size_t at = i * BFI_OFFLOAD_BLOCK_RECORDS;
		size_t count = n - at < BFI_OFFLOAD_BLOCK_RECORDS ? n - at : BFI_OFFLOAD_BLOCK_RECORDS;

		BF_TRY(bf_buffer_u64be(b, (uint64_t) records[at].first, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) records[at + count - 1].last, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) positions[i], err));
		BF_TRY(bf_buffer_u32be(b, (uint32_t) count, err));
		BF_TRY(bf_buffer_u32be(b, 0, err));
	}
	BF_ASSERT(b->len ==
			  BFI_OFFLOAD_ROOT_BYTES + schema_len + n_blocks * BFI_OFFLOAD_ROOT_BLOCK_BYTES);
	BF_TRY(seal(b, err));
	if (b->len > BFI_OFFLOAD_ROOT_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the ledger has too many batches for one file");
	return BF_OK;
}

static BfStatus
write_root_and_tail(Writer *w, BfError *err)
{
	uint8_t tail[BFI_OFFLOAD_TAIL_BYTES];

	bf_store64be(tail, (uint64_t) bf_publish_position(w->out));
	bf_store32be(tail + 8, (uint32_t) w->encoded->len);
	bf_store32be(tail + 12, bf_crc32c(tail, 12));
	memcpy(tail + 16, BFI_OFFLOAD_TAIL_MAGIC, 8);
	BF_TRY(bf_publish_write(w->out, w->encoded->data, w->encoded->len, err));
	return bf_publish_write(w->out, tail, sizeof tail, err);
}

static BfStatus
write_file(Writer *w, const char *ledger_dir, const BfLogTail *tail, int64_t n_entries,
		   const char *schema, const char *path, int64_t *bytes, BfError *err)
{
	BfRange range = {0, n_entries - 1};
	const BfRangeSet all = {n_entries > 0, &range};
	size_t schema_len = strlen(schema);

	if (schema_len > BFI_OFFLOAD_SCHEMA_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "a schema of %zu bytes is too large", schema_len);
	if (!bf_arena_on_cleanup(w->arena, close_source, w))
		return bf_arena_fail(w->arena, 0, err);
	BF_TRY(bf_codec_context_new(w->arena, &w->codec, err));
	BF_TRY(bf_buffer_new(w->arena, BF_BATCH_BYTES_MAX, &w->scratch, err));
	BF_TRY(bf_buffer_new(w->arena, INDEX_BYTES_MAX, &w->records, err));
	BF_TRY(bf_buffer_new(w->arena, INDEX_BYTES_MAX, &w->encoded, err));
	BF_TRY(bf_live_walk_new(w->arena, ledger_dir, tail, &all, NULL, &w->walk, err));
	BF_TRY(bf_publish_begin(w->arena, path, &w->out, err));
	BF_TRY(write_header(w, schema, schema_len, err));
	BF_TRY(write_data(w, n_entries, err));
	BF_TRY(write_index(w, n_entries, schema, schema_len, err));
	BF_TRY(write_root_and_tail(w, err));
	if (bytes != NULL)
		*bytes = bf_publish_position(w->out);
	return bf_publish_finish(w->out, err);
}

BfStatus
bf_offload_write(BfArena *a, const char *ledger_dir, const BfLogTail *tail, int64_t n_entries,
				 const char *schema_json, const char *path, int64_t *bytes, BfError *err)
{
	Writer w = {.host = bf_arena_host(a), .source = -1, .min_timestamp = -1, .max_timestamp = -1};
	BfStatus status;

	BF_ASSERT(n_entries >= 0);
	w.arena = bf_arena_new(w.host, "offload", INDEX_BYTES_MAX);
	if (w.arena == NULL)
		return bf_arena_fail(a, 0, err);
	status = write_file(&w, ledger_dir, tail, n_entries, schema_json, path, bytes, err);
	bf_arena_free(w.arena);
	return status == BF_OK ? BF_OK : bf_error_object(err, path);
}
