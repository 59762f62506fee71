/*
 * Writing an offload file: batches are copied as they are, each decoded once to see that it can be.
 */
#include "log/offload_format.h"

#include "io/publish.h"
#include "log/internal.h"

/* From here on a batch is copied inside the kernel; below, its bytes are at hand anyway. */
#define COPY_BYTES_MIN (64 << 10)
#define INDEX_BYTES_MAX ((size_t) 2 << 30)
/* Rows that somebody sees together. */
#define ROWS_AT_ONCE 1024

typedef struct Writer
{
	BfArena *arena; /* released when the file is done */
	const BfHost *host;
	BfPublish *out;
	BfLiveWalk *walk;
	BfCodecContext *codec;
	BfBuffer *scratch;
	const BfOffloadRows *rows; /* NULL = nobody wants to see them */
	BfView *values;			   /* of rows that were not shown yet */
	BfBuffer *records;		   /* BfOffloadRecord */
	BfBuffer *blocks;		   /* BfiOffloadBlock; positions come last */
	BfBuffer *bounds;		   /* of all blocks, one after the other */
	BfBuffer *encoded;		   /* block or root being built */
	int64_t blocked;		   /* records that are in blocks */
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

static BfStatus
show(Writer *w, int32_t n, BfError *err)
{
	BF_ASSERT(n >= 0 && n <= ROWS_AT_ONCE);
	return n > 0 ? w->rows->see(w->rows->arg, w->values, n, err) : BF_OK;
}

static void
note_time(BfOffloadRecord *out, int64_t timestamp)
{
	if (timestamp < 0)
		return;
	if (out->min_timestamp < 0 || timestamp < out->min_timestamp)
		out->min_timestamp = timestamp;
	if (timestamp > out->max_timestamp)
		out->max_timestamp = timestamp;
}

/* Decodes the batch: that it can be is the reason why its original may be deleted later. */
static BfStatus
examine(Writer *w, const BfBatchHeader *h, const uint8_t *batch, int64_t position,
		BfOffloadRecord *out, BfError *err)
{
	BfRecordIter it;
	BfRecord r;
	int32_t n = 0;
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
			return w->rows != NULL ? show(w, n, err) : BF_OK;
		note_time(out, r.timestamp);
		if (w->rows == NULL)
			continue;
		w->values[n++] = r.value_null ? (BfView){NULL, 0} : r.value;
		if (n == ROWS_AT_ONCE)
		{
			BF_TRY(show(w, n, err));
			n = 0;
		}
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

/* The records from the last block's end on are a block. */
static BfStatus
end_block(Writer *w, BfError *err)
{
	const BfOffloadRecord *records = (const BfOffloadRecord *) (const void *) w->records->data;
	int64_t n = (int64_t) (w->records->len / sizeof *records);
	BfiOffloadBlock b = {.first = records[w->blocked].first,
						 .last = records[n - 1].last,
						 .n = (int32_t) (n - w->blocked)};
	size_t before = w->bounds->len;

	BF_ASSERT(b.n > 0 && b.n <= BFI_OFFLOAD_BLOCK_RECORDS);
	if (w->rows != NULL)
		BF_TRY(w->rows->finish_block(w->rows->arg, w->bounds, err));
	if (w->bounds->len - before > BF_OFFLOAD_BOUNDS_BYTES_MAX)
		w->bounds->len = before;
	b.n_bounds = (uint32_t) (w->bounds->len - before);
	w->blocked = n;
	return bf_buffer_append(w->blocks, &b, sizeof b, err);
}

/* Ends the block when it is large enough, or at the end. */
static BfStatus
cut_block(Writer *w, bool end, BfError *err)
{
	const BfOffloadRecord *records = (const BfOffloadRecord *) (const void *) w->records->data;
	int64_t n = (int64_t) (w->records->len / sizeof *records);

	BF_ASSERT(w->blocked <= n);
	if (w->blocked == n ||
		(!end && n - w->blocked < BFI_OFFLOAD_BLOCK_RECORDS &&
		 records[n - 1].last - records[w->blocked].first + 1 < BFI_OFFLOAD_BLOCK_ENTRIES))
		return BF_OK;
	return end_block(w, err);
}

static BfStatus
write_data(Writer *w, int64_t n_entries, BfError *err)
{
	int64_t next = 0;

	for (;;)
	{
		BfBatchHeader h;
		BfOffloadRecord r;
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
		BF_TRY(cut_block(w, false, err));
		if (r.min_timestamp >= 0 && (w->min_timestamp < 0 || r.min_timestamp < w->min_timestamp))
			w->min_timestamp = r.min_timestamp;
		if (r.max_timestamp > w->max_timestamp)
			w->max_timestamp = r.max_timestamp;
	}
	BF_ASSERT(next == n_entries);
	return cut_block(w, true, err);
}

static BfStatus
seal(BfBuffer *b, BfError *err)
{
	return bf_buffer_u32be(b, bf_crc32c(b->data, b->len), err);
}

static BfStatus
write_block(Writer *w, const BfOffloadRecord *records, size_t n, BfView bounds, BfError *err)
{
	BfBuffer *b = w->encoded;

	BF_ASSERT(n > 0 && n <= BFI_OFFLOAD_BLOCK_RECORDS);
	b->len = 0;
	for (size_t i = 0; i < n; i++)
	{
		const BfOffloadRecord *r = &records[i];

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
	BF_TRY(bf_buffer_append(b, bounds.ptr, bounds.len, err));
	BF_TRY(seal(b, err));
	return bf_publish_write(w->out, b->data, b->len, err);
}

/* Gives the blocks their positions. */
static BfStatus
write_blocks(Writer *w, BfiOffloadBlock *blocks, size_t n_blocks, BfError *err)
{
	const BfOffloadRecord *records = (const BfOffloadRecord *) (const void *) w->records->data;
	BfView bounds = {w->bounds->data, 0};

	for (size_t i = 0; i < n_blocks; i++)
	{
		BF_TRY(bf_check_cancel(w->host, err));
		blocks[i].position = bf_publish_position(w->out);
		bounds.len = blocks[i].n_bounds;
		BF_ASSERT(records->first == blocks[i].first);
		BF_TRY(write_block(w, records, (size_t) blocks[i].n, bounds, err));
		records += blocks[i].n;
		if (bounds.len > 0)
			bounds.ptr += bounds.len;
	}
	return BF_OK;
}

/* Index blocks; then the root, whose block list needs their positions. */
static BfStatus
write_index(Writer *w, int64_t n_entries, const char *schema, size_t schema_len, BfError *err)
{
	BfiOffloadBlock *blocks = (BfiOffloadBlock *) (void *) w->blocks->data;
	size_t n = w->records->len / sizeof(BfOffloadRecord);
	size_t n_blocks = w->blocks->len / sizeof *blocks;
	BfBuffer *b = w->encoded;

	BF_ASSERT((n == 0) == (n_entries == 0) && w->blocked == (int64_t) n);
	BF_TRY(write_blocks(w, blocks, n_blocks, err));
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
		BF_TRY(bf_buffer_u64be(b, (uint64_t) blocks[i].first, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) blocks[i].last, err));
		BF_TRY(bf_buffer_u64be(b, (uint64_t) blocks[i].position, err));
		BF_TRY(bf_buffer_u32be(b, (uint32_t) blocks[i].n, err));
		BF_TRY(bf_buffer_u32be(b, blocks[i].n_bounds, err));
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
	BF_TRY(bf_buffer_new(w->arena, INDEX_BYTES_MAX, &w->blocks, err));
	BF_TRY(bf_buffer_new(w->arena, INDEX_BYTES_MAX, &w->bounds, err));
	BF_NEW_RAW(w->arena, w->values, ROWS_AT_ONCE, err);
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
bf_offload_write_shown(BfArena *a, const char *ledger_dir, const BfLogTail *tail, int64_t n_entries,
					   const char *schema_json, const BfOffloadRows *rows, const char *path,
					   int64_t *bytes, BfError *err)
{
	Writer w = {.host = bf_arena_host(a),
				.rows = rows,
				.source = -1,
				.min_timestamp = -1,
				.max_timestamp = -1};
	BfStatus status;

	BF_ASSERT(n_entries >= 0);
	w.arena = bf_arena_new(w.host, "offload", INDEX_BYTES_MAX);
	if (w.arena == NULL)
		return bf_arena_fail(a, 0, err);
	status = write_file(&w, ledger_dir, tail, n_entries, schema_json, path, bytes, err);
	bf_arena_free(w.arena);
	return status == BF_OK ? BF_OK : bf_error_object(err, path);
}

BfStatus
bf_offload_write(BfArena *a, const char *ledger_dir, const BfLogTail *tail, int64_t n_entries,
				 const char *schema_json, const char *path, int64_t *bytes, BfError *err)
{
	return bf_offload_write_shown(a, ledger_dir, tail, n_entries, schema_json, NULL, path, bytes,
								  err);
}
