/*
 * Byte sources: a file with a window over it for small reads, or bytes in memory. Large reads go
 * past the window into the caller's buffer.
 */
#include "io/source.h"

#include <stdio.h>

/* What one small read brings in, and from which length on a read goes past the window. */
#define WINDOW_BYTES ((size_t) 256 * 1024)
#define DIRECT_BYTES (WINDOW_BYTES / 2)
/* The first step of reading ahead behind a look: a marker and the next header fit into it. */
#define AHEAD_BYTES_MIN ((size_t) 128)
/* Between two looks at the cancel flag. */
#define PIECE_BYTES ((size_t) 4 * 1024 * 1024)

struct BfSource
{
	const BfHost *host;		/* borrowed */
	const char *name;		/* lives in the arena */
	BfIoCounters *counters; /* borrowed: the caller's, or own_counters */
	BfIoCounters own_counters;
	const uint8_t *memory; /* borrowed; NULL = a file */
	int file;			   /* -1 = closed or memory */
	int64_t size;
	uint8_t *window; /* owned; from the host, since it may grow */
	size_t window_cap;
	size_t window_len;
	int64_t window_pos;
	size_t window_used; /* bytes that were looked at in it, some of them twice */
	size_t ahead;		/* of the window, read without being asked for */
};

void
bf_source_close(BfSource *s)
{
	if (s->file >= 0)
		s->host->close(s->host, s->file);
	s->file = -1;
	if (s->window != NULL)
		s->host->mem_free(s->host, s->window, s->window_cap);
	s->window = NULL;
	s->window_cap = s->window_len = 0;
}

static void
close_hook(void *arg)
{
	bf_source_close(arg);
}

static BfStatus
new_source(BfArena *a, const char *name, BfIoCounters *counters, BfSource **out, BfError *err)
{
	BfSource *s;

	BF_NEW(a, s, 1, err);
	s->host = bf_arena_host(a);
	s->file = -1;
	s->counters = counters != NULL ? counters : &s->own_counters;
	BF_TRY_PTR(a, s->name, bf_arena_strdup(a, name), err);
	if (!bf_arena_on_cleanup(a, close_hook, s))
		return bf_arena_fail(a, 0, err);
	*out = s;
	return BF_OK;
}

BfStatus
bf_source_open(BfArena *a, const char *path, BfIoCounters *counters, BfSource **out, BfError *err)
{
	BfSource *s;
	BfStatus status;

	BF_TRY(new_source(a, path, counters, &s, err));
	status = s->host->open(s->host, path, BF_OPEN_READ, &s->file, err);
	if (status != BF_OK)
		s->file = -1;
	else
	{
		s->counters->files_opened++;
		status = s->host->file_size(s->host, s->file, &s->size, err);
	}
	if (status != BF_OK)
	{
		bf_source_close(s);
		return bf_error_object(err, path);
	}
	*out = s;
	return BF_OK;
}

BfStatus
bf_source_memory(BfArena *a, const void *bytes, size_t n, const char *name, BfSource **out,
				 BfError *err)
{
	static const uint8_t nothing[1];
	BfSource *s;

	BF_ASSERT(bytes != NULL || n == 0);
	BF_TRY(new_source(a, name, NULL, &s, err));
	s->memory = bytes != NULL ? bytes : nothing;
	s->size = (int64_t) n;
	*out = s;
	return BF_OK;
}

const char *
bf_source_name(const BfSource *s)
{
	return s->name;
}

int64_t
bf_source_size(const BfSource *s)
{
	return s->size;
}

BfStatus
bf_source_refresh_size(BfSource *s, BfError *err)
{
	if (s->memory != NULL)
		return BF_OK;
	BF_NEVER(err, s->file < 0);
	if (s->host->file_size(s->host, s->file, &s->size, err) != BF_OK)
		return bf_error_object(err, s->name);
	s->window_len = 0;
	return BF_OK;
}

/* Is [pos, pos + len) inside the file? Positions come from files, so any number may arrive. */
static BfStatus
check_range(const BfSource *s, int64_t pos, size_t len, BfError *err)
{
	if (BF_UNLIKELY(pos < 0 || pos > s->size || len > (uint64_t) (s->size - pos)))
	{
		bf_error_at(err, BF_ERR_CORRUPT, s->size,
					"the file ends here, but %zu bytes at position %lld are needed", len,
					(long long) pos);
		return bf_error_object(err, s->name);
	}
	return BF_OK;
}

/* From the host, in pieces, so that a cancel request is seen soon. */
static BfStatus
read_host(BfSource *s, int64_t pos, uint8_t *buf, size_t len, BfError *err)
{
	BF_NEVER(err, s->file < 0);
	while (len > 0)
	{
		size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;

		BF_TRY(bf_check_cancel(s->host, err));
		if (s->host->read_at(s->host, s->file, pos, buf, n, err) != BF_OK)
			return bf_error_object(err, s->name);
		s->counters->reads++;
		s->counters->bytes_read += (int64_t) n;
		pos += (int64_t) n;
		buf += n;
		len -= n;
	}
	return BF_OK;
}

static BfStatus
grow_window(BfSource *s, size_t len, BfError *err)
{
	size_t cap = len > WINDOW_BYTES ? len : WINDOW_BYTES;
	uint8_t *window;

	if (s->window_cap >= cap)
		return BF_OK;
	window = s->host->mem_alloc(s->host, cap);
	if (window == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for a read window of %zu bytes", cap);
	if (s->window != NULL)
		s->host->mem_free(s->host, s->window, s->window_cap);
	s->window = window;
	s->window_cap = cap;
	s->window_len = 0;
	return BF_OK;
}

/* Bytes from `start` on become the window, which has the room. */
static BfStatus
read_window(BfSource *s, int64_t start, size_t n, BfError *err)
{
	BF_ASSERT(n <= s->window_cap);
	s->window_len = 0;
	BF_TRY(read_host(s, start, s->window, n, err));
	s->window_pos = start;
	s->window_len = n;
	s->window_used = 0;
	return BF_OK;
}

/* The same, of which only [pos, pos + len) was asked for: the file may have become shorter, for a
 * live ledger's writer cuts what was never acknowledged. */
static BfStatus
read_ahead(BfSource *s, int64_t start, size_t n, int64_t pos, size_t len, BfError *err)
{
	BfStatus status = read_window(s, start, n, err);

	if (status == BF_ERR_CORRUPT && n > len)
		status = read_window(s, pos, len, err);
	BF_ASSERT(status != BF_OK || (pos >= s->window_pos && len <= s->window_len));
	return status;
}

/* Brings the range into the window. Formats keep their directory at the end of the file and are
 * read from there backwards, so a first look near the end fetches the last window whole. */
static BfStatus
fill_window(BfSource *s, int64_t pos, size_t len, BfError *err)
{
	bool sequential =
		s->window_len > 0 && pos >= s->window_pos && pos <= s->window_pos + (int64_t) s->window_len;
	int64_t start = pos;
	size_t n;

	BF_ASSERT(pos >= 0 && pos <= s->size && (int64_t) len <= s->size - pos);
	BF_TRY(grow_window(s, len, err));
	if (!sequential && s->size - pos < (int64_t) WINDOW_BYTES)
		start = s->size > (int64_t) WINDOW_BYTES ? s->size - (int64_t) WINDOW_BYTES : 0;
	if (start > pos || pos + (int64_t) len - start > (int64_t) s->window_cap)
		start = pos;
	n = s->size - start < (int64_t) s->window_cap ? (size_t) (s->size - start) : s->window_cap;
	/* A window that grew for one large range doesn't make all later reads large. */
	if (n > WINDOW_BYTES && (size_t) (pos - start) + len <= WINDOW_BYTES)
		n = WINDOW_BYTES;
	return read_ahead(s, start, n, pos, len, err);
}

static bool
in_window(const BfSource *s, int64_t pos, size_t len)
{
	return pos >= s->window_pos && (uint64_t) (pos - s->window_pos) <= s->window_len &&
		   len <= s->window_len - (size_t) (pos - s->window_pos);
}

/* As little as can be; but what is looked at closely and in order is soon read in large pieces all
 * the same. */
static BfStatus
fill_sparsely(BfSource *s, int64_t pos, size_t len, BfError *err)
{
	bool follows =
		s->window_len > 0 && pos >= s->window_pos && pos <= s->window_pos + (int64_t) s->window_len;
	size_t n = len;

	BF_ASSERT(pos >= 0 && pos <= s->size && (int64_t) len <= s->size - pos);
	if (follows && s->window_used >= s->window_len / 2)
		s->ahead = s->ahead == 0 ? AHEAD_BYTES_MIN : 2 * s->ahead;
	else
		s->ahead = 0;
	if (s->ahead > WINDOW_BYTES)
		s->ahead = WINDOW_BYTES;
	n += s->ahead;
	if (n > (uint64_t) (s->size - pos))
		n = (size_t) (s->size - pos);
	BF_TRY(grow_window(s, n, err));
	return read_ahead(s, pos, n, pos, len, err);
}

typedef BfStatus (*Fill)(BfSource *s, int64_t pos, size_t len, BfError *err);

static BfStatus
look_at(BfSource *s, int64_t pos, size_t len, Fill fill, const uint8_t **p, BfError *err)
{
	BF_TRY(check_range(s, pos, len, err));
	if (s->memory != NULL)
	{
		*p = s->memory + pos;
		return BF_OK;
	}
	if (len == 0)
	{
		*p = (const uint8_t *) "";
		return BF_OK;
	}
	if (!in_window(s, pos, len))
		BF_TRY(fill(s, pos, len, err));
	BF_ASSERT(in_window(s, pos, len) && s->window_len <= s->window_cap);
	*p = s->window + (pos - s->window_pos);
	s->window_used += len;
	return BF_OK;
}

BfStatus
bf_source_window(BfSource *s, int64_t pos, size_t len, const uint8_t **p, BfError *err)
{
	return look_at(s, pos, len, fill_window, p, err);
}

BfStatus
bf_source_peek(BfSource *s, int64_t pos, size_t len, const uint8_t **p, BfError *err)
{
	return look_at(s, pos, len, fill_sparsely, p, err);
}

BfStatus
bf_source_read(BfSource *s, int64_t pos, void *buf, size_t len, BfError *err)
{
	const uint8_t *p;

	BF_TRY(check_range(s, pos, len, err));
	if (s->memory == NULL && len >= DIRECT_BYTES && !in_window(s, pos, len))
		return read_host(s, pos, buf, len, err);
	BF_TRY(bf_source_window(s, pos, len, &p, err));
	if (len > 0)
		memcpy(buf, p, len);
	return BF_OK;
}

BfStatus
bf_source_read_all(BfArena *a, const char *path, size_t bytes_max, BfIoCounters *counters,
				   BfView *out, BfError *err)
{
	BfSource *s;
	uint8_t *bytes;
	BfStatus status;

	BF_TRY(bf_source_open(a, path, counters, &s, err));
	if ((uint64_t) s->size > bytes_max || s->size > UINT32_MAX)
	{
		bf_error(err, BF_ERR_LIMIT, "the file has %lld bytes, more than the limit of %zu",
				 (long long) s->size, bytes_max);
		bf_source_close(s);
		return bf_error_object(err, path);
	}
	bytes = bf_arena_alloc(a, (size_t) s->size);
	status = bytes != NULL ? read_host(s, 0, bytes, (size_t) s->size, err)
						   : bf_arena_fail(a, (size_t) s->size, err);
	bf_source_close(s);
	BF_TRY(status);
	*out = (BfView){bytes, (uint32_t) s->size};
	return BF_OK;
}
