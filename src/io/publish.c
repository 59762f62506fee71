/* A file that appears whole or not at all; see publish.h for the steps. */
#include "io/publish.h"

#include <stdio.h>

#define BUFFER_BYTES ((size_t) 256 * 1024)
/* Between two looks at the cancel flag. */
#define PIECE_BYTES ((int64_t) 16 * 1024 * 1024)

struct BfPublish
{
	BfArena *arena;		/* borrowed */
	const BfHost *host; /* borrowed */
	const char *path;
	const char *temporary;
	const char *dir;
	int file;		  /* -1 = not open */
	bool exists;	  /* the temporary file has to be removed */
	uint8_t *buffer;  /* NULL until the first small write */
	size_t used;	  /* bytes in the buffer */
	int64_t position; /* bytes in the file */
};

static void
close_file(BfPublish *p)
{
	if (p->file >= 0)
		p->host->close(p->host, p->file);
	p->file = -1;
}

/* Nothing can be done about a failing unlink: the file is one that nobody names. */
static void
discard_hook(void *arg)
{
	BfPublish *p = arg;
	BfError ignored;

	close_file(p);
	if (p->exists)
		(void) p->host->unlink(p->host, p->temporary, &ignored);
	p->exists = false;
}

BfStatus
bf_publish_begin(BfArena *a, const char *path, BfPublish **out, BfError *err)
{
	BfPublish *p;
	const char *slash = strrchr(path, '/');
	uint8_t r[8];

	BF_NEVER(err, path[0] != '/' || slash[1] == '\0');
	BF_NEW(a, p, 1, err);
	p->arena = a;
	p->host = bf_arena_host(a);
	p->file = -1;
	BF_TRY(p->host->random(p->host, r, sizeof r, err));
	BF_TRY_PTR(a, p->path, bf_arena_strdup(a, path), err);
	BF_TRY_PTR(a, p->dir, bf_arena_strndup(a, path, slash == path ? 1 : (size_t) (slash - path)),
			   err);
	BF_TRY_PTR(a, p->temporary,
			   bf_arena_printf(a, "%s.tmp.%016llx", path, (unsigned long long) bf_load64le(r)),
			   err);
	if (!bf_arena_on_cleanup(a, discard_hook, p))
		return bf_arena_fail(a, 0, err);
	BF_TRY(p->host->mkdirs(p->host, p->dir, err));
	if (p->host->open(p->host, p->temporary, BF_OPEN_CREATE_NEW, &p->file, err) != BF_OK)
	{
		p->file = -1;
		return bf_error_object(err, p->temporary);
	}
	p->exists = true;
	*out = p;
	return BF_OK;
}

static BfStatus
write_through(BfPublish *p, const uint8_t *bytes, size_t n, BfError *err)
{
	while (n > 0)
	{
		size_t piece = n < (size_t) PIECE_BYTES ? n : (size_t) PIECE_BYTES;

		BF_TRY(bf_check_cancel(p->host, err));
		if (p->host->write_at(p->host, p->file, p->position, bytes, piece, err) != BF_OK)
			return bf_error_object(err, p->temporary);
		p->position += (int64_t) piece;
		bytes += piece;
		n -= piece;
	}
	return BF_OK;
}

static BfStatus
flush(BfPublish *p, BfError *err)
{
	size_t n = p->used;

	BF_ASSERT(n <= BUFFER_BYTES && (n == 0 || p->buffer != NULL));
	p->used = 0;
	return write_through(p, p->buffer, n, err);
}

BfStatus
bf_publish_write(BfPublish *p, const void *bytes, size_t n, BfError *err)
{
	BF_NEVER(err, p->file < 0);
	if (n > BUFFER_BYTES - p->used)
	{
		BF_TRY(flush(p, err));
		if (n >= BUFFER_BYTES)
			return write_through(p, bytes, n, err);
	}
	if (n == 0)
		return BF_OK;
	if (p->buffer == NULL)
		BF_NEW_RAW(p->arena, p->buffer, BUFFER_BYTES, err);
	memcpy(p->buffer + p->used, bytes, n);
	p->used += n;
	return BF_OK;
}

BfStatus
bf_publish_copy(BfPublish *p, int from_file, int64_t from_pos, int64_t len, BfError *err)
{
	BF_NEVER(err, p->file < 0 || from_pos < 0 || len < 0);
	BF_TRY(flush(p, err));
	while (len > 0)
	{
		int64_t n = len < PIECE_BYTES ? len : PIECE_BYTES;

		BF_TRY(bf_check_cancel(p->host, err));
		if (p->host->copy_range(p->host, from_file, from_pos, p->file, p->position, n, err) !=
			BF_OK)
			return bf_error_object(err, p->temporary);
		p->position += n;
		from_pos += n;
		len -= n;
	}
	return BF_OK;
}

int64_t
bf_publish_position(const BfPublish *p)
{
	return p->position + (int64_t) p->used;
}

BfStatus
bf_publish_finish(BfPublish *p, BfError *err)
{
	BfError ignored;

	BF_NEVER(err, p->file < 0);
	BF_ASSERT(p->exists);
	BF_TRY(flush(p, err));
	if (p->host->sync(p->host, p->file, err) != BF_OK)
		return bf_error_object(err, p->temporary);
	close_file(p);
	BF_TRY(p->host->rename_new(p->host, p->temporary, p->path, err));
	p->exists = false;
	if (p->host->sync_dir(p->host, p->dir, err) == BF_OK)
		return BF_OK;
	/* The name may or may not survive a crash, and the caller is told "failed": take it back, so
	 * that a second try doesn't meet its own file. */
	(void) p->host->unlink(p->host, p->path, &ignored);
	return err->code;
}

BfStatus
bf_publish_bytes(BfArena *a, const char *path, const void *bytes, size_t n, BfError *err)
{
	BfArenaMark mark = bf_arena_mark(a);
	BfPublish *p;
	BfStatus status = bf_publish_begin(a, path, &p, err);

	if (status == BF_OK)
		status = write_through(p, bytes, n, err);
	if (status == BF_OK)
		status = bf_publish_finish(p, err);
	bf_arena_rewind(a, mark);
	return status;
}
