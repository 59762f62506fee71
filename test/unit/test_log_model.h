/*
 * A ledger made by the writer, next to a model of what should be in it. For the tests of log/.
 */
#ifndef TEST_UNIT_TEST_LOG_MODEL_H
#define TEST_UNIT_TEST_LOG_MODEL_H

#include <fcntl.h>
#include <unistd.h>

#include "log/writer.h"
#include "unit/lib/runner.h"

#define ROWS_MAX 20000

/* What should be in the ledger: the hash and length of every row, and the ends between batches. */
typedef struct Model
{
	const char *dir;
	BfLedgerOptions options;
	uint32_t *row_len;
	uint8_t *row_byte;
	BfLedgerEnd *ends; /* ends[0] is the empty ledger's */
	int n_ends;
	int64_t clock;
} Model;

static inline BfLedgerEnd
model_end(const Model *m)
{
	return m->ends[m->n_ends - 1];
}

static inline void
model_init(Model *m, const char *name, int64_t segment_bytes)
{
	BfArena *a = test_arena();

	memset(m, 0, sizeof *m);
	m->dir = bf_arena_printf(a, "%s/%s", test_dir(), name);
	m->options = (BfLedgerOptions){.codec = BF_CODEC_NONE, .segment_bytes_max = segment_bytes};
	m->row_len = bf_arena_alloc_array(a, ROWS_MAX, sizeof *m->row_len);
	m->row_byte = bf_arena_alloc_array(a, ROWS_MAX, sizeof *m->row_byte);
	m->ends = bf_arena_alloc_array(a, ROWS_MAX, sizeof *m->ends);
	m->ends[0] = (BfLedgerEnd){0, 0, 0};
	m->n_ends = 1;
	m->clock = 1700000000000;
}

static inline BfStatus
model_append(Model *m, BfLedgerWriter *w, int32_t n, uint32_t len_max)
{
	static uint8_t bytes[1 << 21];
	BfView values[64];
	BfLedgerEnd end = model_end(m);
	size_t used = 0;
	int64_t timestamp = m->clock;

	BF_ASSERT((size_t) n <= sizeof values / sizeof values[0] &&
			  n * (int64_t) len_max <= (int64_t) sizeof bytes);
	/* The clock stands still now and then, and steps back. */
	m->clock += (int64_t) test_random_below(3);
	if (test_random_below(20) == 0)
		timestamp -= 500;
	for (int32_t i = 0; i < n; i++)
	{
		uint32_t len = (uint32_t) test_random_below(len_max);
		uint8_t byte = (uint8_t) test_random();

		if (used + len > sizeof bytes || i == (int32_t) (sizeof values / sizeof *values))
			return bf_error(&test_err, BF_ERR_LIMIT, "the test asks for too large a batch");
		memset(bytes + used, byte, len);
		values[i] = (BfView){bytes + used, len};
		m->row_len[end.entry + i] = len;
		m->row_byte[end.entry + i] = byte;
		used += len;
	}
	BF_TRY(bf_ledger_append(w, values, n, timestamp, &test_err));
	m->ends[m->n_ends++] = bf_ledger_writer_end(w);
	return BF_OK;
}

/* Reads all entries back. */
static inline bool
model_check(const Model *m, BfLogCounters *counters)
{
	BfArena *a = bf_arena_new(test_host(), "check", (size_t) 1 << 30);
	BfRange range = {0, model_end(m).entry - 1};
	BfRangeSet set = {range.last >= 0 ? 1 : 0, &range};
	BfLogDir *d;
	BfLogWalk *w;
	BfCodecContext *ctx;
	BfBuffer *scratch;
	BfBatchHeader h;
	const uint8_t *batch;
	const char *path;
	int64_t position;
	int64_t next = 0;
	bool good = bf_log_dir_open(a, m->dir, counters, &d, &test_err) == BF_OK &&
				bf_log_walk_new(a, d, &set, true, &w, &test_err) == BF_OK &&
				bf_codec_context_new(a, &ctx, &test_err) == BF_OK &&
				bf_buffer_new(a, 1 << 26, &scratch, &test_err) == BF_OK;

	while (good)
	{
		BfRecordIter it;
		BfRecord r;
		bool more;

		good = bf_log_walk_next(w, &h, &batch, &position, &path, &test_err) == BF_OK;
		if (!good || batch == NULL)
			break;
		good = bf_records_begin(ctx, &h, batch, position, scratch, &it, &test_err) == BF_OK;
		while (good)
		{
			good = bf_records_next(&it, &r, &more, &test_err) == BF_OK;
			if (!good || !more)
				break;
			good = r.offset == next && r.key_null && !r.value_null &&
				   r.value.len == m->row_len[next] && r.n_headers == 0;
			for (uint32_t i = 0; good && i < r.value.len; i++)
				good = r.value.ptr[i] == m->row_byte[next];
			if (!good)
				bf_error(&test_err, BF_ERR_VALUE, "row %lld differs", (long long) next);
			next++;
		}
	}
	if (good && next != model_end(m).entry)
	{
		bf_error(&test_err, BF_ERR_VALUE, "%lld rows", (long long) next);
		good = false;
	}
	if (!good)
		test_fail(__FILE__, __LINE__, "%s at %lld: %s", test_err.object,
				  (long long) test_err.offset, test_err.text);
	bf_arena_free(a);
	return good;
}

static inline size_t
read_file(const char *path, uint8_t *buf, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (f == NULL)
		return SIZE_MAX;
	n = fread(buf, 1, cap, f);
	fclose(f);
	return n;
}

static inline void
write_at(const char *path, int64_t pos, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || pwrite(fd, bytes, n, pos) != (ssize_t) n)
		test_fail(__FILE__, __LINE__, "cannot write %s", path);
	close(fd);
}

static inline const char *
segment_path(const Model *m, int64_t base, const char *suffix)
{
	return bf_arena_printf(test_arena(), "%s/%020lld.%s", m->dir, (long long) base, suffix);
}

/* What Kafka's recovery makes of each .log is what stands in the index files. `closed`: the last
 * segment has its final time entry too. */
static inline void
model_check_indexes(const Model *m, bool closed)
{
	static uint8_t log[1 << 20], have[1 << 16], want[1 << 16];
	BfLogDir *d;

	REQUIRE_OK(bf_log_dir_open(test_arena(), m->dir, NULL, &d, &test_err));
	for (int32_t s = 0; s < bf_log_dir_n_segments(d); s++)
	{
		const BfSegmentInfo *info = bf_log_dir_segment(d, s);
		bool last = s == bf_log_dir_n_segments(d) - 1;
		size_t size = read_file(info->path, log, sizeof log);
		size_t pos = 0, indexed = 0, n = 0, t = 0;
		int64_t max = -1, max_offset = -1, entry = -1;
		static uint8_t times[1 << 16];
		char path[512];

		while (pos < size)
		{
			BfBatchHeader h;

			REQUIRE_OK(bf_batch_header(log + pos, size - pos, 0, &h, &test_err));
			if (h.max_timestamp > max)
				max = h.max_timestamp, max_offset = h.last_offset;
			if (pos - indexed > 4096)
			{
				bf_store32be(want + n, (uint32_t) (h.last_offset - info->base_offset));
				bf_store32be(want + n + 4, (uint32_t) pos);
				n += 8;
				indexed = pos;
			}
			if (max > entry && ((pos == indexed && pos > 0) ||
								(pos + (size_t) h.total_bytes == size && (closed || !last))))
			{
				bf_store64be(times + t, (uint64_t) max);
				bf_store32be(times + t + 8, (uint32_t) (max_offset - info->base_offset));
				t += 12;
				entry = max;
			}
			pos += (size_t) h.total_bytes;
		}
		snprintf(path, sizeof path, "%.*s.index", (int) strlen(info->path) - 4, info->path);
		EXPECT_EQ(read_file(path, have, sizeof have), n);
		EXPECT(memcmp(have, want, n) == 0);
		snprintf(path, sizeof path, "%.*s.timeindex", (int) strlen(info->path) - 4, info->path);
		EXPECT_EQ(read_file(path, have, sizeof have), t);
		EXPECT(memcmp(have, times, t) == 0);
	}
}

/* A ledger of a few segments, closed; returns the arena's end. */
static inline void
make_ledger_in(Model *m, const char *name, int batches, uint32_t len_max, int64_t segment_bytes)
{
	BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
	BfLedgerWriter *w;

	model_init(m, name, segment_bytes);
	REQUIRE_OK(bf_ledger_writer_open(a, m->dir, model_end(m), &m->options, &w, &test_err));
	for (int i = 0; i < batches; i++)
		REQUIRE_OK(model_append(m, w, 1 + (int32_t) test_random_below(10), len_max));
	REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
	bf_arena_free(a);
}

static inline void
make_ledger(Model *m, const char *name, int batches, uint32_t len_max)
{
	make_ledger_in(m, name, batches, len_max, 12000);
}

#endif
