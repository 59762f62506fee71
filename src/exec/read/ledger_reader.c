/*
 * From log batches to column batches.
 *
 * Two things are kept apart: the current log batch, whose records are taken one by one, and the
 * batch that is being filled. The rules that keep text values in place while the latter is valid:
 *
 *   - a log batch of at most HOLD_BATCH_BYTES is copied to `hold` before its first record is taken;
 *     hold never grows beyond its first allocation, so its bytes don't move, and it is emptied only
 *     when a new batch begins and the current log batch is not in it;
 *   - rows of any other log batch pin the batch being filled: it ends where the log batch ends;
 *   - without text columns nothing needs to stay.
 *
 * `expected` is the next entry that must come. Smaller ones are dropped, a greater one is a hole.
 */
#include "exec/read/ledger_reader.h"

#include <stdio.h>

#include "avro/rowcodec.h"
#include "exec/read/resolve.h"

#define HOLD_BYTES ((size_t) 1 << 20)
#define HOLD_BATCH_BYTES (HOLD_BYTES / 4)

/* What is still to come. */
typedef struct Wanted
{
	const BfRangeSet *ranges; /* borrowed */
	int32_t range;			  /* index of the one that holds `expected` */
	int64_t expected;		  /* -1 = all have come */
} Wanted;

typedef struct Column
{
	BfiResolved is;
	int32_t decoded; /* index in the decoded batch; -1: a constant */
} Column;

/* The batch that is being filled. */
typedef struct Rows
{
	BfAvroDecoder *decoder;
	bool counting; /* no columns and no entries are wanted */
	bool has_views;
	BfBatch *decoded; /* columns of the ledger */
	BfBatch *out;	  /* columns of the table */
	Column *columns;
	BfView *values;
	int64_t *entries;
	int64_t *timestamps;
} Rows;

/* The current log batch. */
typedef struct LogBatch
{
	bool active;
	bool placed;
	bool in_hold;
	BfRecordIter records;
	const char *file;	  /* where it stands, for messages */
	int64_t position;	  /* in that file */
	int64_t counted_left; /* counting: rows that came by the header alone */
} LogBatch;

/* Where bytes of rows stay. */
typedef struct Bytes
{
	BfCodecContext *codec;
	BfBuffer *scratch;
	BfBuffer *hold;
	bool pinned;
} Bytes;

typedef struct LedgerReader
{
	BfReader base;
	const BfHost *host;
	BfLedgerPlace place;
	const char *path;
	const BfLogTail *tail;	 /* borrowed; live */
	BfLiveWalk *log;		 /* likewise */
	BfOffloadWalk *offload;	 /* offloaded */
	BfLogCounters *counters; /* borrowed, or own_counters */
	BfLogCounters own_counters;
	Wanted want;
	Rows rows;
	LogBatch log_batch;
	Bytes bytes;
	bool failed;
} LedgerReader;

/* The next entry after `expected` that the ranges want. */
static void
advance(LedgerReader *r)
{
	const BfRange *range = &r->want.ranges->ranges[r->want.range];

	BF_ASSERT(r->want.range < r->want.ranges->n);
	BF_ASSERT(r->want.expected >= range->first && r->want.expected <= range->last);

	if (r->want.expected < range->last)
		r->want.expected++;
	else if (++r->want.range < r->want.ranges->n)
		r->want.expected = r->want.ranges->ranges[r->want.range].first;
	else
		r->want.expected = -1;
}

static BfStatus
hole(const LedgerReader *r, BfError *err)
{
	return bf_error(err, BF_ERR_CORRUPT, "entry %lld of the ledger is missing",
					(long long) r->want.expected);
}

/* The next log batch; *batch = NULL at the end. */
static BfStatus
walk(LedgerReader *r, BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	if (r->place == BF_LEDGER_LIVE)
		return bf_live_walk_next(r->log, h, batch, &r->log_batch.position, &r->log_batch.file, err);
	return bf_offload_walk_next(r->offload, h, batch, &r->log_batch.position, &r->log_batch.file,
								err);
}

/* Counting: is the whole batch wanted, and does its header say that no entry is missing in it? */
static bool
count_by_header(LedgerReader *r, const BfBatchHeader *h)
{
	int64_t n = h->last_offset - h->base_offset + 1;

	if (!r->rows.counting || h->base_offset != r->want.expected || h->n_records != n ||
		h->last_offset > r->want.ranges->ranges[r->want.range].last)
		return false;
	r->log_batch.counted_left = n;
	r->want.expected = h->last_offset;
	advance(r);
	BF_ASSERT(r->want.expected == -1 || r->want.expected > h->last_offset);
	return true;
}

/* Makes the next log batch current. There must be one: an entry is still expected. */
static BfStatus
load(LedgerReader *r, BfError *err)
{
	BfBatchHeader h;
	const uint8_t *batch;

	BF_ASSERT(!r->log_batch.active && r->log_batch.counted_left == 0);
	BF_ASSERT(r->want.expected >= 0);
	BF_TRY(bf_check_cancel(r->host, err));
	BF_TRY(walk(r, &h, &batch, err));
	if (batch == NULL)
		return hole(r, err);
	BF_DATA(err, !h.control, r->log_batch.position, "a ledger has a control batch");
	r->log_batch.active = true;
	r->log_batch.placed = r->log_batch.in_hold = false;
	if (count_by_header(r, &h))
		return BF_OK;
	return bf_records_begin(r->bytes.codec, &h, batch, r->log_batch.position, r->bytes.scratch,
							&r->log_batch.records, err);
}

/* Decides where the bytes of the current log batch stay. false = the batch being filled must end
 * first. */
static bool
place_bytes(LedgerReader *r)
{
	size_t n = bf_cursor_left(&r->log_batch.records.cursor);
	uint8_t *copy;

	if (!r->rows.has_views || n > HOLD_BATCH_BYTES)
		r->log_batch.placed = true;
	if (r->log_batch.placed)
		return true;
	if (n > HOLD_BYTES - r->bytes.hold->len)
	{
		if (r->rows.decoded->n_rows > 0)
			return false;
		r->bytes.hold->len = 0;
	}
	BF_ASSERT(r->bytes.hold->cap >= HOLD_BYTES);
	BF_ASSERT(n <= HOLD_BYTES - r->bytes.hold->len);
	copy = r->bytes.hold->data + r->bytes.hold->len;
	memcpy(copy, r->log_batch.records.cursor.pos, n);
	r->bytes.hold->len += n;
	r->log_batch.records.cursor =
		bf_cursor(copy, n, bf_cursor_offset(&r->log_batch.records.cursor));
	r->log_batch.in_hold = r->log_batch.placed = true;
	return true;
}

/* Says which entry it was. */
static BfStatus
row_error(const LedgerReader *r, int64_t entry, BfError *err)
{
	char text[BF_ERROR_TEXT_MAX];

	snprintf(text, sizeof text, "entry %lld, byte %lld of the row: %.400s", (long long) entry,
			 (long long) err->offset, err->text);
	memcpy(err->text, text, sizeof text);
	err->offset = r->log_batch.position;
	return err->code;
}

/* Takes records of the current log batch until it ends or the batch being filled is full. */
static BfStatus
take_rows(LedgerReader *r, BfError *err)
{
	int32_t start = r->rows.decoded->n_rows;
	int32_t n = start;

	BF_ASSERT(r->log_batch.placed && start >= 0 && start < BF_BATCH_ROWS);

	while (n < BF_BATCH_ROWS && r->log_batch.active)
	{
		BfRecord record;

		BF_TRY(bf_records_next(&r->log_batch.records, &record, &r->log_batch.active, err));
		if (!r->log_batch.active || r->want.expected < 0 || record.offset < r->want.expected)
			continue;
		if (record.offset > r->want.expected)
			return hole(r, err);
		BF_DATA(err, !record.value_null, r->log_batch.position,
				"entry %lld of the ledger has no row", (long long) record.offset);
		r->rows.values[n] = record.value;
		r->rows.entries[n] = record.offset;
		r->rows.timestamps[n] = record.timestamp;
		n++;
		advance(r);
	}
	BF_ASSERT(n >= start && n <= BF_BATCH_ROWS);
	if (r->rows.counting)
		r->rows.decoded->n_rows = n;
	else if (bf_avro_decode_rows(r->rows.decoder, r->rows.values + start, n - start,
								 r->rows.decoded, err) != BF_OK)
		return row_error(r, r->rows.entries[r->rows.decoded->n_rows], err);
	if (n > start && r->rows.has_views && !r->log_batch.in_hold)
		r->bytes.pinned = true;
	return BF_OK;
}

static void
take_counted(LedgerReader *r)
{
	int64_t room = BF_BATCH_ROWS - r->rows.decoded->n_rows;
	int64_t n = r->log_batch.counted_left < room ? r->log_batch.counted_left : room;

	BF_ASSERT(r->rows.counting && n > 0);

	r->rows.decoded->n_rows += (int32_t) n;
	r->log_batch.counted_left -= n;
	r->log_batch.active = r->log_batch.counted_left > 0;
}

static BfStatus
fill(LedgerReader *r, BfError *err)
{
	while (r->rows.decoded->n_rows < BF_BATCH_ROWS)
	{
		if (!r->log_batch.active)
		{
			if (r->bytes.pinned || r->want.expected < 0)
				return BF_OK;
			BF_TRY(load(r, err));
		}
		if (r->log_batch.counted_left > 0)
			take_counted(r);
		else if (place_bytes(r))
			BF_TRY(take_rows(r, err));
		else
			return BF_OK;
	}
	return BF_OK;
}

/* The table's columns over the ledger's. */
static BfStatus
convert(LedgerReader *r, BfError *err)
{
	BfBatch *out = r->rows.out;

	out->n_rows = r->rows.decoded->n_rows;
	for (int32_t i = 0; i < out->n_cols; i++)
	{
		Column *c = &r->rows.columns[i];
		const BfVector *from = c->decoded >= 0 ? &r->rows.decoded->cols[c->decoded] : NULL;

		BF_TRY(bfi_resolved_vector(&c->is, from, out->n_rows, &out->cols[i], err));
	}
	return BF_OK;
}

static BfStatus
next_batch(LedgerReader *r, const BfBatch **out, BfError *err)
{
	if (!(r->log_batch.active && r->log_batch.in_hold))
		r->bytes.hold->len = 0;
	r->bytes.pinned = false;
	r->rows.decoded->n_rows = 0;
	*out = NULL;
	if (r->want.expected < 0 && !r->log_batch.active)
		return BF_OK;
	BF_TRY(fill(r, err));
	if (r->rows.decoded->n_rows == 0)
		return BF_OK;
	if (!r->rows.counting)
		r->counters->entries_decoded += r->rows.decoded->n_rows;
	BF_TRY(convert(r, err));
	*out = r->rows.out;
	BF_ASSERT(r->rows.out->n_rows > 0 && r->rows.out->selected == NULL);
	return BF_OK;
}

static BfStatus
ledger_next(BfReader *base, const BfBatch **out, BfError *err)
{
	LedgerReader *r = (LedgerReader *) base;

	BF_NEVER(err, r->failed);
	if (next_batch(r, out, err) == BF_OK)
		return BF_OK;
	r->failed = true;
	return bf_error_object(err, r->log_batch.file != NULL ? r->log_batch.file : r->path);
}

static const char *
ledger_name(const BfReader *base)
{
	return ((const LedgerReader *) base)->path;
}

/* Where the ledger's field stands among the decoded ones; a new one is added. */
static int32_t
decoded_column(int32_t *fields, int32_t *n, int32_t field)
{
	for (int32_t i = 0; i < *n; i++)
		if (fields[i] == field)
			return i;
	fields[*n] = field;
	return (*n)++;
}

static BfStatus
map_columns(BfArena *a, LedgerReader *r, const BfSchema *ledger, const BfProjection *projection,
			BfError *err)
{
	const BfiColumns columns = {.schema = ledger, .has_ids = true, .what = "ledger"};
	int32_t n = projection->n_fields;
	int32_t n_decoded = 0;
	int32_t *fields;
	BfField *decoded;

	BF_NEW(a, r->rows.columns, n, err);
	BF_NEW(a, r->rows.out, 1, err);
	BF_NEW(a, r->rows.out->cols, n, err);
	BF_NEW(a, fields, n, err);
	r->rows.out->n_cols = n;
	r->rows.out->first_row = -1;
	for (int32_t i = 0; i < n; i++)
	{
		Column *c = &r->rows.columns[i];

		BF_TRY(bfi_resolve(a, &columns, &projection->schema->fields[projection->fields[i]], NULL,
						   &c->is, err));
		c->decoded = c->is.column < 0 ? -1 : decoded_column(fields, &n_decoded, c->is.column);
		BF_ASSERT(n_decoded <= n);
	}
	BF_NEW(a, decoded, n_decoded, err);
	for (int32_t i = 0; i < n_decoded; i++)
	{
		decoded[i] = ledger->fields[fields[i]];
		if (bf_type_storage(decoded[i].type) == BF_STORE_VIEW)
			r->rows.has_views = true;
	}
	r->rows.counting = n == 0 && !projection->want_entry;
	BF_ASSERT(!r->rows.counting || n_decoded == 0);
	BF_TRY(bf_batch_new(a, decoded, n_decoded, &r->rows.decoded, err));
	return bf_avro_decoder_new(a, ledger, fields, n_decoded, &r->rows.decoder, err);
}

static BfStatus
new_buffers(BfArena *a, LedgerReader *r, const BfProjection *projection, BfError *err)
{
	BF_NEW(a, r->rows.values, BF_BATCH_ROWS, err);
	BF_NEW(a, r->rows.entries, BF_BATCH_ROWS, err);
	BF_NEW(a, r->rows.timestamps, BF_BATCH_ROWS, err);
	if (projection->want_entry)
	{
		r->rows.out->entry = r->rows.entries;
		r->rows.out->timestamp = r->rows.timestamps;
	}
	BF_TRY(bf_codec_context_new(a, &r->bytes.codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &r->bytes.scratch, err));
	BF_TRY(bf_buffer_new(a, HOLD_BYTES, &r->bytes.hold, err));
	if (r->rows.has_views)
		BF_TRY(bf_buffer_reserve(r->bytes.hold, HOLD_BYTES, err));
	return BF_OK;
}

/* What the index leaves of the ranges becomes what is wanted. `file` = NULL: of a live one. */
static BfStatus
narrow(BfArena *a, LedgerReader *r, BfOffloadFile *file, const BfSchema *ledger,
	   const BfSchema *table, const BfLedgerWhere *where, BfError *err)
{
	BfRangeSet *left;

	if (where == NULL)
		return BF_OK;
	BF_NEW(a, left, 1, err);
	*left = *r->want.ranges;
	BF_TRY(file != NULL ? bfi_offload_prune(a, file, ledger, table, where, left, r->counters, err)
						: bf_live_leave_before(a, r->path, r->tail, where->time_first_ms,
											   r->counters, left, err));
	r->want.ranges = left;
	return BF_OK;
}

static BfStatus
open_reader(BfArena *a, LedgerReader *r, const BfProjection *projection, const BfLedgerWhere *where,
			BfError *err)
{
	BfSchema *ledger;
	BfOffloadFile *file;

	if (r->place == BF_LEDGER_LIVE)
	{
		BF_TRY(bfi_ledger_live_schema(a, r->path, &ledger, err));
		BF_TRY(narrow(a, r, NULL, ledger, projection->schema, where, err));
		BF_TRY(bf_live_walk_new(a, r->path, r->tail, r->want.ranges, r->counters, &r->log, err));
	}
	else
	{
		BF_TRY(bf_offload_open(a, r->path, r->counters, &file, err));
		BF_TRY(bfi_ledger_offload_schema(a, file, &ledger, err));
		BF_TRY(narrow(a, r, file, ledger, projection->schema, where, err));
		BF_TRY(bf_offload_walk_new(a, file, r->want.ranges, &r->offload, err));
	}
	BF_TRY(map_columns(a, r, ledger, projection, err));
	return new_buffers(a, r, projection, err);
}

BfStatus
bf_exec_ledger_reader_where(BfArena *a, BfLedgerPlace place, const char *path,
							const BfLogTail *tail, const BfRangeSet *ranges,
							const BfProjection *projection, const BfLedgerWhere *where,
							BfLogCounters *counters, BfReader **out, BfError *err)
{
	LedgerReader *r;

	BF_ASSERT(tail == NULL || place == BF_LEDGER_LIVE);

	BF_NEW(a, r, 1, err);
	r->base.next = ledger_next;
	BF_ASSERT(ranges->n >= 0);
	r->base.name = ledger_name;
	r->host = bf_arena_host(a);
	r->place = place;
	r->tail = tail;
	BF_TRY_PTR(a, r->path, bf_arena_strdup(a, path), err);
	r->counters = counters != NULL ? counters : &r->own_counters;
	r->want.ranges = ranges;
	if (open_reader(a, r, projection, where, err) != BF_OK)
		return bf_error_object(err, path);
	r->want.expected = r->want.ranges->n > 0 ? r->want.ranges->ranges[0].first : -1;
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_exec_ledger_reader(BfArena *a, BfLedgerPlace place, const char *path, const BfLogTail *tail,
					  const BfRangeSet *ranges, const BfProjection *projection,
					  BfLogCounters *counters, BfReader **out, BfError *err)
{
	return bf_exec_ledger_reader_where(a, place, path, tail, ranges, projection, NULL, counters,
									   out, err);
}
