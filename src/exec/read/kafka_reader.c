/*
 * exec/read/kafka_reader.c: see kafka_reader.h.
 */
#include "exec/read/kafka_reader.h"

#include "exec/read/kafka_json.h"
#include "exec/read/kafka_start.h"

/*
 * A column batch is filled from one large log batch, or from several small ones.
 *
 *   large   the views point into the bytes that the walk or the decompressor gave, so the column
 *           batch must be handed out before the walk goes on
 *   small   the records' bytes are copied first, into an arena that lives as long as the column
 *           batch; a small batch always fits into one column batch as a whole
 *
 * A large batch that comes up while copies are waiting is kept for the next call.
 */
#define SMALL_RECORDS 512
#define SMALL_BYTES ((size_t) 256 << 10)
#define COPIED_BYTES_MAX ((size_t) 2 << 20)
#define COPIES_ARENA_BYTES_MAX ((size_t) 64 << 20)
#define JSON_BYTES_MAX ((size_t) 1 << 30)

/* Which records are rows. */
typedef struct Scope
{
	BfKafkaRange range;
	BfRangeSet wanted; /* offsets */
	int32_t at_range;  /* the first of them that does not end before the next record */
	bool want_time;
	BfOutcomes *outcomes; /* NULL = uncommitted rows too */
	bool at_open;		  /* an open transaction ends what is committed */
	int64_t next_offset;  /* records before it were seen */
} Scope;

/* The log batch at hand. */
typedef struct LogBatch
{
	bool active;  /* there are records to come */
	bool started; /* it was decided whether it is large */
	bool large;
	const char *path;
	BfRecordIter records;
} LogBatch;

/* The column batch, column by column; vectors point here. */
typedef struct Fill
{
	BfBatch batch;
	int64_t *offsets;
	int64_t *timestamps_ms;
	int64_t *timestamps_us;
	BfView *keys;
	BfView *values;
	BfView *headers; /* lengths at first, since `json` moves while it grows */
	uint64_t *valid[BF_KAFKA_COLUMNS];
	bool has_null[BF_KAFKA_COLUMNS];
	bool asked_for[BF_KAFKA_COLUMNS];
	BfBuffer *json;
	BfKafkaColumn *columns;
} Fill;

typedef struct KafkaReader
{
	BfReader reader; /* first: what the caller has */
	const char *dir;
	BfLogCounters *counters;
	BfLogCounters own_counters;
	BfLogWalk *walk;
	BfCodecContext *codec;
	BfBuffer *scratch; /* the decompressed batch */
	BfArena *copies;   /* owned through a hook */
	size_t copied_bytes;
	Scope scope;
	LogBatch log_batch;
	Fill fill;
} KafkaReader;

/* ---- log batches ---- */

/* The batch's checksum was checked. An open transaction counts whatever the bounds in time are. */
static BfStatus
passed_over(KafkaReader *r, const BfBatchHeader *h, bool *pass, BfError *err)
{
	BfOutcome outcome = BF_OUTCOME_COMMITTED;

	*pass = true;
	BF_ASSERT(!r->scope.at_open && h->base_offset <= h->last_offset);
	if (h->control || h->n_records == 0 || h->last_offset < r->scope.next_offset)
		return BF_OK;
	if (r->scope.outcomes != NULL && h->transactional && h->producer_id >= 0)
		BF_TRY(bf_outcomes_of(r->scope.outcomes, h, &outcome, err));
	r->scope.at_open = outcome == BF_OUTCOME_OPEN;
	*pass = outcome != BF_OUTCOME_COMMITTED || h->max_timestamp < r->scope.range.time_first_ms ||
			(h->log_append_time && h->max_timestamp > r->scope.range.time_last_ms);
	return BF_OK;
}

/* Brings up the next batch that may have rows; none = the end. */
static BfStatus
next_log_batch(KafkaReader *r, BfError *err)
{
	while (!r->scope.at_open)
	{
		BfBatchHeader h;
		const uint8_t *bytes;
		int64_t position;
		BfStatus status;
		bool pass;

		BF_TRY(bf_log_walk_next(r->walk, &h, &bytes, &position, &r->log_batch.path, err));
		if (bytes == NULL)
			return BF_OK;
		BF_TRY(passed_over(r, &h, &pass, err));
		/* An end is believed once the next batch confirms the offsets of the one that made it. */
		if (r->scope.at_open)
			return bf_log_walk_next(r->walk, &h, &bytes, &position, &r->log_batch.path, err);
		if (pass)
			continue;
		status =
			bf_records_begin(r->codec, &h, bytes, position, r->scratch, &r->log_batch.records, err);
		if (status != BF_OK)
			return bf_error_object(err, r->log_batch.path);
		r->log_batch.active = true;
		r->log_batch.started = false;
		return BF_OK;
	}
	return BF_OK;
}

/* Decides how the batch is taken. *wait: not in this column batch any more. */
static BfStatus
start_log_batch(KafkaReader *r, bool *wait, BfError *err)
{
	size_t n = bf_cursor_left(&r->log_batch.records.cursor);
	const uint8_t *copy;

	BF_ASSERT(r->log_batch.active && !r->log_batch.started);
	r->log_batch.large = r->log_batch.records.n_left >= SMALL_RECORDS || n > SMALL_BYTES;
	*wait =
		r->fill.batch.n_rows > 0 &&
		(r->log_batch.large || r->fill.batch.n_rows + r->log_batch.records.n_left > BF_BATCH_ROWS ||
		 r->copied_bytes + n > COPIED_BYTES_MAX);
	if (*wait)
		return BF_OK;
	if (!r->log_batch.large)
	{
		BF_TRY_PTR(r->copies, copy, bf_arena_memdup(r->copies, r->log_batch.records.cursor.pos, n),
				   err);
		r->log_batch.records.cursor = bf_cursor(copy, n, r->log_batch.records.cursor.base_offset);
		r->copied_bytes += n;
		BF_ASSERT(r->copied_bytes <= COPIED_BYTES_MAX || r->fill.batch.n_rows == 0);
	}
	r->log_batch.started = true;
	return BF_OK;
}

/* ---- rows ---- */

/* Offsets ascend, but where segments overlap: what was seen is not wanted again. */
static inline bool
is_wanted(KafkaReader *r, int64_t offset)
{
	while (r->scope.at_range < r->scope.wanted.n &&
		   r->scope.wanted.ranges[r->scope.at_range].last < offset)
		r->scope.at_range++;
	return r->scope.at_range < r->scope.wanted.n &&
		   offset >= r->scope.wanted.ranges[r->scope.at_range].first;
}

static inline bool
in_range(KafkaReader *r, const BfRecord *rec)
{
	if (rec->offset < r->scope.next_offset || !is_wanted(r, rec->offset))
		return false;
	return !r->scope.want_time ||
		   (rec->timestamp != -1 && rec->timestamp >= r->scope.range.time_first_ms &&
			rec->timestamp <= r->scope.range.time_last_ms);
}

static inline void
set_null(KafkaReader *r, BfKafkaColumn c, int32_t row)
{
	r->fill.has_null[c] = true;
	bf_validity_set(r->fill.valid[c], row, false);
}

static BfStatus
put_row(KafkaReader *r, const BfRecord *rec, BfError *err)
{
	int32_t row = r->fill.batch.n_rows++;

	BF_ASSERT(row < BF_BATCH_ROWS && in_range(r, rec));

	r->fill.offsets[row] = rec->offset;
	r->fill.timestamps_ms[row] = rec->timestamp;
	r->fill.keys[row] = rec->key;
	r->fill.values[row] = rec->value;
	if (rec->key_null)
		set_null(r, BF_KAFKA_KEY, row);
	if (rec->value_null)
		set_null(r, BF_KAFKA_VALUE, row);
	if (r->fill.asked_for[BF_KAFKA_HEADERS])
	{
		size_t start = r->fill.json->len;

		BF_TRY(bfi_kafka_headers_json(rec, r->fill.json, err));
		r->fill.headers[row].len = (uint32_t) (r->fill.json->len - start);
	}
	return BF_OK;
}

static void
set_nulls(KafkaReader *r, BfKafkaColumn c, const BfView *views, int32_t first)
{
	BF_ASSERT(first >= 0 && c < BF_KAFKA_COLUMNS);
	for (int32_t i = first; i < r->fill.batch.n_rows; i++)
		if (views[i].ptr == NULL)
			set_null(r, c, i);
}

/* Is every record of the batch a row, and needs no look of its own? */
static bool
takes_all(KafkaReader *r)
{
	const BfBatchHeader *h = &r->log_batch.records.header;

	return !r->scope.want_time && !r->fill.asked_for[BF_KAFKA_HEADERS] &&
		   h->base_offset >= r->scope.next_offset && is_wanted(r, h->base_offset) &&
		   h->last_offset <= r->scope.wanted.ranges[r->scope.at_range].last;
}

static BfStatus
fill_all(KafkaReader *r, BfError *err)
{
	int32_t row = r->fill.batch.n_rows;
	BfRecordColumns c = {.offsets = r->fill.offsets + row,
						 .timestamps = r->fill.timestamps_ms + row,
						 .keys = r->fill.keys + row,
						 .values = r->fill.values + row};
	int32_t n;

	BF_TRY(bf_records_columns(&r->log_batch.records, &c, BF_BATCH_ROWS - row, &n, err));
	r->fill.batch.n_rows += n;
	BF_ASSERT(n >= 0 && r->fill.batch.n_rows <= BF_BATCH_ROWS);
	if (c.key_nulls > 0)
		set_nulls(r, BF_KAFKA_KEY, r->fill.keys, row);
	if (c.value_nulls > 0)
		set_nulls(r, BF_KAFKA_VALUE, r->fill.values, row);
	return BF_OK;
}

static BfStatus
fill_some(KafkaReader *r, BfError *err)
{
	while (r->fill.batch.n_rows < BF_BATCH_ROWS)
	{
		BfRecord rec;
		bool more;

		BF_TRY(bf_records_next(&r->log_batch.records, &rec, &more, err));
		if (!more)
			break;
		if (in_range(r, &rec))
			BF_TRY(put_row(r, &rec, err));
	}
	return BF_OK;
}

/* Rows of the batch at hand, until it or the column batch is at its end. */
static BfStatus
fill(KafkaReader *r, BfError *err)
{
	int32_t left = r->log_batch.records.n_left;

	BF_TRY(takes_all(r) ? fill_all(r, err) : fill_some(r, err));
	BF_ASSERT(r->log_batch.records.n_left <= left);
	r->counters->entries_decoded += left - r->log_batch.records.n_left;
	if (r->log_batch.records.n_left == 0 && bf_cursor_left(&r->log_batch.records.cursor) == 0)
	{
		r->log_batch.active = false;
		if (r->log_batch.records.header.last_offset >= r->scope.next_offset)
			r->scope.next_offset = r->log_batch.records.header.last_offset + 1;
	}
	return BF_OK;
}

static BfStatus
convert_timestamps(KafkaReader *r, BfError *err)
{
	for (int32_t i = 0; i < r->fill.batch.n_rows; i++)
	{
		int64_t ms = r->fill.timestamps_ms[i];

		bool fits = !__builtin_mul_overflow(ms, 1000, &r->fill.timestamps_us[i]);

		if (ms == -1 || (BF_UNLIKELY(!fits) && r->scope.range.time_or_null))
		{
			r->fill.timestamps_us[i] = 0;
			set_null(r, BF_KAFKA_TIMESTAMP, i);
		}
		else if (BF_UNLIKELY(!fits))
		{
			bf_error(err, BF_ERR_VALUE,
					 "the timestamp of the record at offset %lld, %lld ms, is out of range",
					 (long long) r->fill.offsets[i], (long long) ms);
			return bf_error_object(err, r->dir);
		}
	}
	return BF_OK;
}

static BfStatus
finish_batch(KafkaReader *r, BfError *err)
{
	void *const data[BF_KAFKA_COLUMNS] = {[BF_KAFKA_OFFSET] = r->fill.offsets,
										  [BF_KAFKA_TIMESTAMP] = r->fill.timestamps_us,
										  [BF_KAFKA_KEY] = r->fill.keys,
										  [BF_KAFKA_VALUE] = r->fill.values,
										  [BF_KAFKA_HEADERS] = r->fill.headers};
	const uint8_t *text = r->fill.json->data;

	if (r->fill.asked_for[BF_KAFKA_TIMESTAMP])
		BF_TRY(convert_timestamps(r, err));
	if (r->fill.asked_for[BF_KAFKA_HEADERS])
		for (int32_t i = 0; i < r->fill.batch.n_rows; i++)
		{
			r->fill.headers[i].ptr = text;
			text += r->fill.headers[i].len;
		}
	BF_ASSERT(!r->fill.asked_for[BF_KAFKA_HEADERS] ||
			  text == r->fill.json->data + r->fill.json->len);
	for (int32_t i = 0; i < r->fill.batch.n_cols; i++)
	{
		BfVector *v = &r->fill.batch.cols[i];
		BfKafkaColumn c = r->fill.columns[i];

		v->n = r->fill.batch.n_rows;
		if (c == BF_KAFKA_PARTITION)
			continue;
		v->data.raw = data[c];
		v->validity = r->fill.has_null[c] ? r->fill.valid[c] : NULL;
	}
	return BF_OK;
}

static void
clear_batch(KafkaReader *r)
{
	r->fill.batch.n_rows = 0;
	r->fill.json->len = 0;
	r->copied_bytes = 0;
	bf_arena_reset(r->copies);
	for (int c = 0; c < BF_KAFKA_COLUMNS; c++)
	{
		if (r->fill.has_null[c])
			memset(r->fill.valid[c], 0xff, BF_VALIDITY_WORDS * sizeof *r->fill.valid[c]);
		r->fill.has_null[c] = false;
	}
}

static BfStatus
kafka_next(BfReader *reader, const BfBatch **out, BfError *err)
{
	KafkaReader *r = (KafkaReader *) (void *) reader;

	clear_batch(r);
	while (r->fill.batch.n_rows < BF_BATCH_ROWS)
	{
		BfStatus status;
		bool wait = false;

		if (!r->log_batch.active)
			BF_TRY(next_log_batch(r, err));
		if (!r->log_batch.active)
			break;
		if (!r->log_batch.started)
			BF_TRY(start_log_batch(r, &wait, err));
		if (wait)
			break;
		status = fill(r, err);
		if (status != BF_OK)
			return bf_error_object(err, r->log_batch.path);
		if (r->log_batch.large && r->fill.batch.n_rows > 0)
			break;
	}
	*out = NULL;
	if (r->fill.batch.n_rows == 0)
		return BF_OK;
	BF_TRY(finish_batch(r, err));
	BF_ASSERT(r->fill.batch.n_rows <= BF_BATCH_ROWS && r->fill.batch.selected == NULL);
	*out = &r->fill.batch;
	return BF_OK;
}

static const char *
kafka_name(const BfReader *reader)
{
	return ((const KafkaReader *) (const void *) reader)->dir;
}

/* ---- making one ---- */

static BfStatus
make_columns(BfArena *a, KafkaReader *r, int32_t partition, const BfKafkaColumn *columns, int32_t n,
			 BfError *err)
{
	BF_NEW_RAW(a, r->fill.offsets, BF_BATCH_ROWS, err);
	BF_NEW_RAW(a, r->fill.timestamps_ms, BF_BATCH_ROWS, err);
	BF_NEW_RAW(a, r->fill.timestamps_us, BF_BATCH_ROWS, err);
	BF_NEW_RAW(a, r->fill.keys, BF_BATCH_ROWS, err);
	BF_NEW_RAW(a, r->fill.values, BF_BATCH_ROWS, err);
	BF_NEW(a, r->fill.headers, BF_BATCH_ROWS, err);
	for (int c = 0; c < BF_KAFKA_COLUMNS; c++)
	{
		BF_NEW_RAW(a, r->fill.valid[c], BF_VALIDITY_WORDS, err);
		memset(r->fill.valid[c], 0xff, BF_VALIDITY_WORDS * sizeof *r->fill.valid[c]);
	}
	BF_NEW_RAW(a, r->fill.columns, n, err);
	BF_NEW(a, r->fill.batch.cols, n, err);
	r->fill.batch.n_cols = n;
	r->fill.batch.entry = r->fill.offsets;
	r->fill.batch.timestamp = r->fill.timestamps_ms;
	r->fill.batch.first_row = -1;
	for (int32_t i = 0; i < n; i++)
	{
		BfVector *v = &r->fill.batch.cols[i];
		BfType type = bf_kafka_schema.fields[columns[i]].type;

		BF_ASSERT(columns[i] >= 0 && columns[i] < BF_KAFKA_COLUMNS);
		r->fill.columns[i] = columns[i];
		r->fill.asked_for[columns[i]] = true;
		if (columns[i] == BF_KAFKA_PARTITION)
		{
			BfValue value = {.type = type, .v.i32 = partition};

			BF_TRY(bf_vector_init(a, v, type, err));
			bf_vector_set_const(v, &value, BF_BATCH_ROWS);
			v->validity = NULL;
			continue;
		}
		v->type = type;
		v->storage = bf_type_storage(type);
		v->form = BF_VEC_FLAT;
	}
	return BF_OK;
}

static BfStatus
keep_between(BfArena *a, BfRangeSet *set, int64_t first, int64_t last, BfError *err)
{
	BfRange range = {first > 0 ? first : 0, last < BF_ENTRY_MAX ? last : BF_ENTRY_MAX};
	BfRangeSet one = {1, &range};

	if (range.first > range.last)
		one.n = 0;
	return bf_rangeset_intersect(a, set, &one, set, err);
}

/* What began before the scan and is open hides all behind it; the rest the scan comes across. */
static BfStatus
stop_at_open(BfArena *a, KafkaReader *r, BfLogDir *d, BfError *err)
{
	int64_t open;

	BF_ASSERT(r->scope.wanted.n > 0);
	BF_TRY(bf_outcomes_new(a, d, &r->scope.outcomes, err));
	if (r->scope.range.none_open)
		return BF_OK;
	BF_TRY(
		bf_log_dir_open_before(d, r->scope.wanted.ranges[r->scope.wanted.n - 1].first, &open, err));
	return keep_between(a, &r->scope.wanted, 0, open - 1, err);
}

/* What a compaction that did not come to its end left: a merged segment over the first ones that it
 * was to replace. Which of them says what is only found out by reading from its start. */
static bool
has_merged(const BfLogDir *d)
{
	for (int32_t i = 0; i < bf_log_dir_n_segments(d); i++)
		if (bf_log_dir_segment(d, i)->swap)
			return true;
	return false;
}

/* Behind the first record that is young enough there may be segments without any. One in which a
 * transaction can be open is read all the same: it hides what is behind it. */
static BfStatus
leave_older(BfArena *a, KafkaReader *r, BfLogDir *d, bool read_committed, BfError *err)
{
	int64_t before = INT64_MAX;
	int64_t open;

	if (r->scope.wanted.n == 0)
		return BF_OK;
	if (read_committed)
	{
		before = bf_log_dir_newest_snapshot(d);
		if (before <= r->scope.wanted.ranges[0].first)
			return BF_OK;
		BF_TRY(bf_log_dir_open_before(d, before, &open, err));
		if (open != INT64_MAX)
			return BF_OK;
	}
	return bf_log_dir_leave_older(a, d, r->scope.range.time_first_ms, before, &r->scope.wanted,
								  err);
}

/* Turns the bounds into ranges of offsets as small as the indexes can tell. */
static BfStatus
plan_walk(BfArena *a, KafkaReader *r, BfLogDir *d, bool read_committed, BfError *err)
{
	BfRange all = {0, BF_ENTRY_MAX};
	BfRangeSet walked = {1, &all};
	bool search = !has_merged(d);
	int64_t offset;

	r->scope.wanted = r->scope.range.offsets != NULL ? *r->scope.range.offsets : walked;
	BF_TRY(bfi_kafka_start_offset(a, r->dir, &offset, err));
	if (r->scope.range.offset_first > offset)
		offset = r->scope.range.offset_first;
	BF_TRY(keep_between(a, &r->scope.wanted, offset, r->scope.range.offset_end - 1, err));
	if (r->scope.range.time_first_ms > r->scope.range.time_last_ms)
		r->scope.wanted.n = 0;
	if (r->scope.range.time_first_ms != INT64_MIN && search && r->scope.wanted.n > 0)
	{
		BF_TRY(bf_log_dir_offset_for_time(d, r->scope.range.time_first_ms, &offset, err));
		BF_TRY(keep_between(a, &r->scope.wanted, offset, BF_ENTRY_MAX, err));
		BF_TRY(leave_older(a, r, d, read_committed, err));
	}
	if (read_committed && r->scope.wanted.n > 0)
		BF_TRY(stop_at_open(a, r, d, err));
	if (r->scope.wanted.n > 0)
		all.last = r->scope.wanted.ranges[r->scope.wanted.n - 1].last;
	if (search || r->scope.wanted.n == 0)
		walked = r->scope.wanted;
	BF_TRY(bf_log_walk_new(a, d, &walked, false, &r->walk, err));
	if (r->scope.range.time_first_ms != INT64_MIN)
		bf_log_walk_min_timestamp(r->walk, r->scope.range.time_first_ms);
	return BF_OK;
}

static void
free_copies(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_exec_kafka_reader(BfArena *a, const char *dir, int32_t partition, bool read_committed,
					 const BfKafkaRange *range, const BfKafkaColumn *columns, int32_t n_columns,
					 BfLogCounters *counters, BfReader **out, BfError *err)
{
	KafkaReader *r;
	BfLogDir *d;

	BF_NEW(a, r, 1, err);
	r->reader.next = kafka_next;
	r->reader.name = kafka_name;
	r->counters = counters != NULL ? counters : &r->own_counters;
	BF_ASSERT(n_columns >= 0 && partition >= 0);
	r->scope.range = *range;
	r->scope.want_time = range->time_first_ms != INT64_MIN || range->time_last_ms != INT64_MAX;
	BF_TRY_PTR(a, r->dir, bf_arena_strdup(a, dir), err);
	BF_TRY(bf_codec_context_new(a, &r->codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &r->scratch, err));
	BF_TRY(bf_buffer_new(a, JSON_BYTES_MAX, &r->fill.json, err));
	r->copies = bf_arena_new(bf_arena_host(a), "small batches", COPIES_ARENA_BYTES_MAX);
	if (r->copies == NULL)
		return bf_arena_fail(a, 0, err);
	if (!bf_arena_on_cleanup(a, free_copies, r->copies))
	{
		bf_arena_free(r->copies);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(make_columns(a, r, partition, columns, n_columns, err));
	BF_TRY(bf_log_dir_open(a, dir, r->counters, &d, err));
	BF_TRY(plan_walk(a, r, d, read_committed, err));
	*out = &r->reader;
	return BF_OK;
}
