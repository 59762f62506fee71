/*
 * exec/read/kafka_start.c: see kafka_start.h.
 */
#include "exec/read/kafka_start.h"

#include "base/ascii.h"
#include "exec/read/kafka_dir.h"
#include "io/source.h"

#define CHECKPOINT "log-start-offset-checkpoint"
#define CHECKPOINT_BYTES_MAX ((size_t) 64 << 20)

/* Digits up to `end`, then that character. */
static BfStatus
take_number(BfCursor *c, uint8_t end, int64_t *out, BfError *err)
{
	size_t left = bf_cursor_left(c);
	size_t n = bf_ascii_number(c->pos, left, INT64_MAX, out);

	BF_ASSERT(!bf_ascii_digit(end));
	BF_DATA(err, *out >= 0, bf_cursor_offset(c), "a number is too large");
	BF_DATA(err, n > 0 && n < left && c->pos[n] == end, bf_cursor_offset(c),
			"a number is expected in a checkpoint of start offsets");
	c->pos += n + 1;
	return BF_OK;
}

BfStatus
bfi_kafka_start_parse(BfView text, const char *topic, size_t topic_len, int32_t partition,
					  int64_t *start, BfError *err)
{
	BfCursor c = bf_cursor(text.ptr, text.len, 0);
	int64_t version, n;

	*start = 0;
	BF_ASSERT(topic_len > 0 && partition >= 0);
	/* An empty file is one without entries. */
	if (text.len == 0)
		return BF_OK;
	BF_TRY(take_number(&c, '\n', &version, err));
	if (version != 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, 0, "version %lld of the checkpoint is not known",
				   (long long) version);
	BF_TRY(take_number(&c, '\n', &n, err));
	for (int64_t i = 0; i < n; i++)
	{
		const uint8_t *name = c.pos;
		const uint8_t *space = memchr(name, ' ', bf_cursor_left(&c));
		int64_t number, offset;

		BF_DATA(err, space != NULL, bf_cursor_offset(&c),
				"%lld entries are expected, there are %lld", (long long) n, (long long) i);
		c.pos = space + 1;
		BF_TRY(take_number(&c, ' ', &number, err));
		BF_TRY(take_number(&c, '\n', &offset, err));
		if (number == partition && (size_t) (space - name) == topic_len &&
			memcmp(name, topic, topic_len) == 0)
			*start = offset;
	}
	BF_DATA(err, c.pos == c.end, bf_cursor_offset(&c), "there is text after the last entry");
	return BF_OK;
}

BfStatus
bfi_kafka_start_offset(BfArena *a, const char *dir, int64_t *start, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	const char *topic_end, *topic, *path;
	int32_t partition;
	BfPathInfo info;
	BfView text;
	BfStatus status;

	*start = 0;
	if (!bf_kafka_dir_name(dir, &topic_end, &partition))
		return BF_OK;
	for (topic = topic_end; topic > dir && topic[-1] != '/';)
		topic--;
	BF_ASSERT(topic < topic_end);
	if (topic == dir)
		return BF_OK;
	BF_TRY_PTR(a, path, bf_arena_printf(a, "%.*s" CHECKPOINT, (int) (topic - dir), dir), err);
	BF_TRY(host->stat(host, path, &info, err));
	if (info.kind != BF_PATH_FILE)
		return BF_OK;
	BF_TRY(bf_source_read_all(a, path, CHECKPOINT_BYTES_MAX, NULL, &text, err));
	status =
		bfi_kafka_start_parse(text, topic, (size_t) (topic_end - topic), partition, start, err);
	return status == BF_OK ? BF_OK : bf_error_object(err, path);
}
