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

#define HOLD_BYTES ((size_t) 1 << 20)
#define HOLD_BATCH_BYTES (HOLD_BYTES / 4)

typedef struct Column
{
	int32_t from;	/* index in the decoded batch; -1 = the ledger has no such column */
	bool same_type; /* the vector is passed on as it is */
} Column;

typedef struct LedgerReader
{
	BfReader base;
	const BfHost *host;
	BfLedgerPlace place;
	const char *path;
	BfLogWalk *log;			 /* live */
	BfOffloadWalk *offload;	 /* offloaded */
	BfLogCounters *counters; /* borrowed, or own_counters */
	BfLogCounters own_counters;

	const BfRangeSet *ranges; /* borrowed */
	int32_t range;			  /* index of the one that holds `expected` */
	int64_t expected;		  /* -1 = all have come */

	BfAvroDecoder *decoder;
	bool counting; /* no columns and no entries are wanted */
	bool has_views;
	BfBatch *decoded; /* columns of the ledger */
	BfBatch *out;	  /* columns of the table */
	Column *columns;
	BfView *values;
	int64_t *entries;
	int64_t *timestamps;

	/* The current log batch. */
	bool active;
	bool placed;
	bool in_hold;
	BfRecordIter records;
	const char *file;	  /* where it stands, for messages */
	int64_t position;	  /* in that file */
	int64_t counted_left; /* counting: rows that came by the header alone */

	BfCodecContext *codec;
	BfBuffer *scratch;
	BfBuffer *hold;
	bool pinned;
	bool failed;
} LedgerReader;

/* The next entry after `expected` that the ranges want. */
static void
advance(LedgerReader *r)
{
	const BfRange *range = &r->ranges->ranges[r->range];

	if (r->expected < range->last)
		r->expected++;
	else if (++r->range < r->ranges->n)
		r->expected = r->ranges->ranges[r->range].first;
	else
		r->expected = -1;
}

static BfStatus
hole(const LedgerReader *r, BfError *err)
{
	return bf_error(err, BF_ERR_CORRUPT, "entry %lld of the ledger is missing",
					(long long) r->expected);
}

/* The next log batch; *batch = NULL at the end. */
static BfStatus
walk(LedgerReader *r, BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	if (r->place == BF_LEDGER_LIVE)
		return bf_log_walk_next(r->log, h, batch, &r->position, &r->file, err);
	return bf_offload_walk_next(r->offload, h, batch, &r->position, &r->file, err);
}

/* Counting: is the whole batch wanted, and does its header say that no entry is missing in it? */
static bool
count_by_header(LedgerReader *r, const BfBatchHeader *h)
{
	int64_t n = h->last_offset - h->base_offset + 1;

	if (!r->counting || h->base_offset != r->expected || h->n_records != n ||
		h->last_offset > r->ranges->ranges[r->range].last)
		return false;
	r->counted_left = n;
	r->expected = h->last_offset;
	advance(r);
	return true;
}

/* Makes the next log batch current. There must be one: an entry is still expected. */
static BfStatus
load(LedgerReader *r, BfError *err)
{
	BfBatchHeader h;
	const uint8_t *batch;

	BF_TRY(bf_check_cancel(r->host, err));
	BF_TRY(walk(r, &h, &batch, err));
	if (batch == NULL)
		return hole(r, err);
	BF_DATA(err, !h.control, r->position, "a ledger has a control batch");
	r->active = true;
	r->placed = r->in_hold = false;
	if (count_by_header(r, &h))
		return BF_OK;
	return bf_records_begin(r->codec, &h, batch, r->position, r->scratch, &r->records, err);
}

/* Decides where the bytes of the current log batch stay. false = the batch being filled must end
 * first. */
static bool
place_bytes(LedgerReader *r)
{
	size_t n = bf_cursor_left(&r->records.cursor);
	uint8_t *copy;

	if (!r->has_views || n > HOLD_BATCH_BYTES)
		r->placed = true;
	if (r->placed)
		return true;
	if (n > HOLD_BYTES - r->hold->len)
	{
		if (r->decoded->n_rows > 0)
			return false;
		r->hold->len = 0;
	}
	BF_ASSERT(r->hold->cap >= HOLD_BYTES);
	copy = r->hold->data + r->hold->len;
	memcpy(copy, r->records.cursor.pos, n);
	r->hold->len += n;
	r->records.cursor = bf_cursor(copy, n, bf_cursor_offset(&r->records.cursor));
	r->in_hold = r->placed = true;
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
	err->offset = r->position;
	return err->code;
}

/* Takes records of the current log batch until it ends or the batch being filled is full. */
static BfStatus
take_rows(LedgerReader *r, BfError *err)
{
	int32_t start = r->decoded->n_rows;
	int32_t n = start;

	while (n < BF_BATCH_ROWS && r->active)
	{
		BfRecord record;

		BF_TRY(bf_records_next(&r->records, &record, &r->active, err));
		if (!r->active || r->expected < 0 || record.offset < r->expected)
			continue;
		if (record.offset > r->expected)
			return hole(r, err);
		BF_DATA(err, !record.value_null, r->position, "entry %lld of the ledger has no row",
				(long long) record.offset);
		r->values[n] = record.value;
		r->entries[n] = record.offset;
		r->timestamps[n] = record.timestamp;
		n++;
		advance(r);
	}
	if (r->counting)
		r->decoded->n_rows = n;
	else if (bf_avro_decode_rows(r->decoder, r->values + start, n - start, r->decoded, err) !=
			 BF_OK)
		return row_error(r, r->entries[r->decoded->n_rows], err);
	if (n > start && r->has_views && !r->in_hold)
		r->pinned = true;
	return BF_OK;
}

static void
take_counted(LedgerReader *r)
{
	int64_t room = BF_BATCH_ROWS - r->decoded->n_rows;
	int64_t n = r->counted_left < room ? r->counted_left : room;

	r->decoded->n_rows += (int32_t) n;
	r->counted_left -= n;
	r->active = r->counted_left > 0;
}

static BfStatus
fill(LedgerReader *r, BfError *err)
{
	while (r->decoded->n_rows < BF_BATCH_ROWS)
	{
		if (!r->active)
		{
			if (r->pinned || r->expected < 0)
				return BF_OK;
			BF_TRY(load(r, err));
		}
		if (r->counted_left > 0)
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
	r->out->n_rows = r->decoded->n_rows;
	for (int32_t i = 0; i < r->out->n_cols; i++)
	{
		const Column *c = &r->columns[i];
		BfVector *v = &r->out->cols[i];

		if (c->from < 0)
			v->n = r->out->n_rows;
		else if (c->same_type)
			*v = r->decoded->cols[c->from];
		else
			BF_TRY(bf_vector_promote(&r->decoded->cols[c->from], v, err));
	}
	return BF_OK;
}

static BfStatus
next_batch(LedgerReader *r, const BfBatch **out, BfError *err)
{
	if (!(r->active && r->in_hold))
		r->hold->len = 0;
	r->pinned = false;
	r->decoded->n_rows = 0;
	*out = NULL;
	if (r->expected < 0 && !r->active)
		return BF_OK;
	BF_TRY(fill(r, err));
	if (r->decoded->n_rows == 0)
		return BF_OK;
	if (!r->counting)
		r->counters->entries_decoded += r->decoded->n_rows;
	BF_TRY(convert(r, err));
	*out = r->out;
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
	return bf_error_object(err, r->file != NULL ? r->file : r->path);
}

static const char *
ledger_name(const BfReader *base)
{
	return ((const LedgerReader *) base)->path;
}

/* The ledger's column for a column of the table, -1 = none. */
static int32_t
find_column(const BfSchema *ledger, const BfField *wanted)
{
	return wanted->id != 0 ? bf_schema_find_id(ledger, wanted->id)
						   : bf_schema_find_name(ledger, wanted->name);
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

/* One column of the table: its source, and its vector. */
static BfStatus
map_column(BfArena *a, const BfSchema *ledger, const BfField *wanted, int32_t *fields,
		   int32_t *n_fields, Column *c, BfVector *v, BfError *err)
{
	int32_t at = find_column(ledger, wanted);
	BfType from;

	if (at < 0)
	{
		c->from = -1;
		if (wanted->has_default)
			return bf_vector_init_const(a, v, wanted, &wanted->initial_default, 0, err);
		if (wanted->required)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "the ledger has no such column, but it is required");
		bf_vector_set_null(v, wanted->type, 0);
		return BF_OK;
	}
	from = ledger->fields[at].type;
	if (!bf_type_promotable(from, wanted->type))
	{
		char was[64];
		char is[64];

		bf_type_name(from, was, sizeof was);
		bf_type_name(wanted->type, is, sizeof is);
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the ledger's type %s cannot be read as %s", was, is);
	}
	c->from = decoded_column(fields, n_fields, at);
	c->same_type = bf_type_equal(from, wanted->type);
	if (!c->same_type)
		BF_TRY(bf_vector_init(a, v, wanted->type, err));
	return BF_OK;
}

static BfStatus
map_columns(BfArena *a, LedgerReader *r, const BfSchema *ledger, const BfProjection *projection,
			BfError *err)
{
	int32_t n = projection->n_fields;
	int32_t n_decoded = 0;
	int32_t *fields;
	BfField *decoded;

	BF_NEW(a, r->columns, n, err);
	BF_NEW(a, r->out, 1, err);
	BF_NEW(a, r->out->cols, n, err);
	BF_NEW(a, fields, n, err);
	r->out->n_cols = n;
	r->out->first_row = -1;
	for (int32_t i = 0; i < n; i++)
	{
		const BfField *wanted = &projection->schema->fields[projection->fields[i]];

		if (map_column(a, ledger, wanted, fields, &n_decoded, &r->columns[i], &r->out->cols[i],
					   err) != BF_OK)
			return bf_error_column(err, wanted->name);
	}
	BF_NEW(a, decoded, n_decoded, err);
	for (int32_t i = 0; i < n_decoded; i++)
	{
		decoded[i] = ledger->fields[fields[i]];
		if (bf_type_storage(decoded[i].type) == BF_STORE_VIEW)
			r->has_views = true;
	}
	r->counting = n == 0 && !projection->want_entry;
	BF_TRY(bf_batch_new(a, decoded, n_decoded, &r->decoded, err));
	return bf_avro_decoder_new(a, ledger, fields, n_decoded, &r->decoder, err);
}

static BfStatus
new_buffers(BfArena *a, LedgerReader *r, const BfProjection *projection, BfError *err)
{
	BF_NEW(a, r->values, BF_BATCH_ROWS, err);
	BF_NEW(a, r->entries, BF_BATCH_ROWS, err);
	BF_NEW(a, r->timestamps, BF_BATCH_ROWS, err);
	if (projection->want_entry)
	{
		r->out->entry = r->entries;
		r->out->timestamp = r->timestamps;
	}
	BF_TRY(bf_codec_context_new(a, &r->codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &r->scratch, err));
	BF_TRY(bf_buffer_new(a, HOLD_BYTES, &r->hold, err));
	if (r->has_views)
		BF_TRY(bf_buffer_reserve(r->hold, HOLD_BYTES, err));
	return BF_OK;
}

static BfStatus
open_reader(BfArena *a, LedgerReader *r, const BfProjection *projection, BfError *err)
{
	BfSchema *ledger;
	BfLogDir *dir;
	BfOffloadFile *file;

	if (r->place == BF_LEDGER_LIVE)
	{
		BF_TRY(bfi_ledger_live_schema(a, r->path, &ledger, err));
		BF_TRY(bf_log_dir_open(a, r->path, r->counters, &dir, err));
		BF_TRY(bf_log_walk_new(a, dir, r->ranges, true, &r->log, err));
	}
	else
	{
		BF_TRY(bf_offload_open(a, r->path, r->counters, &file, err));
		BF_TRY(bfi_ledger_offload_schema(a, file, &ledger, err));
		BF_TRY(bf_offload_walk_new(a, file, r->ranges, &r->offload, err));
	}
	BF_TRY(map_columns(a, r, ledger, projection, err));
	return new_buffers(a, r, projection, err);
}

BfStatus
bf_exec_ledger_reader(BfArena *a, BfLedgerPlace place, const char *path, const BfRangeSet *ranges,
					  const BfProjection *projection, BfLogCounters *counters, BfReader **out,
					  BfError *err)
{
	LedgerReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = ledger_next;
	r->base.name = ledger_name;
	r->host = bf_arena_host(a);
	r->place = place;
	BF_TRY_PTR(a, r->path, bf_arena_strdup(a, path), err);
	r->counters = counters != NULL ? counters : &r->own_counters;
	r->ranges = ranges;
	r->expected = ranges->n > 0 ? ranges->ranges[0].first : -1;
	if (open_reader(a, r, projection, err) != BF_OK)
		return bf_error_object(err, path);
	*out = &r->base;
	return BF_OK;
}
