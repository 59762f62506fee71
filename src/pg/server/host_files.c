/*
 * pg/server/host_files.c: files for the core.
 *
 * A file handle of the core is a virtual descriptor of the server, which closes real ones that were
 * not used for a while and opens them again: a session may have more files open than the system
 * lets it. Files are only ever opened again by the path that they had; none of the core is renamed
 * or replaced while it is open. What was written is synced through the opening that wrote it
 * (host_dirty.c).
 */
#include "pg/server/host_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/fd.h"
#include "utils/wait_event.h"

/*
 * Non-blocking, so that a FIFO put where a data file should be fails the test for a regular file
 * instead of hanging the backend.
 */
BfStatus
bifang_host_open(const BfHost *h, const char *path, BfOpenMode mode, int *file, BfError *err)
{
	int flags = PG_BINARY | O_CLOEXEC | O_NONBLOCK;
	struct stat st;
	File opened;
	int fd;

	(void) h;
	switch (mode)
	{
		case BF_OPEN_READ: flags |= O_RDONLY; break;
		case BF_OPEN_WRITE: flags |= O_RDWR | O_CREAT; break;
		case BF_OPEN_CREATE_NEW: flags |= O_RDWR | O_CREAT | O_EXCL; break;
	}
	opened = PathNameOpenFile(path, flags);
	if (opened < 0)
	{
		int e = errno;

		if (e == EEXIST && mode == BF_OPEN_CREATE_NEW)
		{
			bf_error(err, BF_ERR_CONFLICT, "file exists already");
			return bf_error_object(err, path);
		}
		return bf_error_errno(err, e, path, "open file");
	}
	fd = bifang_raw_descriptor(opened);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
	{
		FileClose(opened);
		bf_error(err, BF_ERR_IO, "not a regular file");
		return bf_error_object(err, path);
	}
	Assert(opened > 0 && fd > 2); /* never one of the standard ones */
	*file = opened;
	return BF_OK;
}

void
bifang_host_close(const BfHost *h, int file)
{
	(void) h;
	Assert(file > 0);
	bifang_dirty_forget(file);
	FileClose(file);
}

BfStatus
bifang_host_file_size(const BfHost *h, int file, int64_t *size, BfError *err)
{
	off_t n = FileSize(file);

	(void) h;
	if (n < 0)
		return bf_error_errno(err, errno, "", "stat file");
	*size = n;
	return BF_OK;
}

int64_t
bifang_host_data_end(const BfHost *h, int file, int64_t size)
{
	off_t n = -1;

	(void) h;
#ifdef SEEK_HOLE
	/* Asking for the size opens what the server has closed meanwhile. */
	if (FileSize(file) >= 0)
		n = lseek(FileGetRawDesc(file), 0, SEEK_HOLE);
#endif
	return n < 0 ? size : Min(n, size);
}

BfStatus
bifang_host_read_at(const BfHost *h, int file, int64_t pos, void *buf, size_t len, BfError *err)
{
	char *p = buf;

	(void) h;
	Assert(pos >= 0);
	while (len > 0)
	{
		ssize_t n =
			FileRead(file, p, (int) Min(len, (size_t) 1 << 30), pos, WAIT_EVENT_DATA_FILE_READ);

		if (n < 0)
		{
			if (errno == EINTR)
				continue;
			return bf_error_errno(err, errno, "", "read file");
		}
		if (n == 0)
			return bf_error_at(err, BF_ERR_CORRUPT, pos, "file ends %zu bytes too early", len);
		p += n;
		pos += n;
		len -= n;
	}
	return BF_OK;
}

BfStatus
bifang_host_write_at(const BfHost *h, int file, int64_t pos, const void *buf, size_t len,
					 BfError *err)
{
	char *p = unconstify(char *, (const char *) buf);

	(void) h;
	Assert(pos >= 0);
	BF_TRY(bifang_dirty_hold(file, err));
	while (len > 0)
	{
		ssize_t n =
			FileWrite(file, p, (int) Min(len, (size_t) 1 << 30), pos, WAIT_EVENT_DATA_FILE_WRITE);

		if (n <= 0) /* 0: the disk is full, says errno */
		{
			if (errno == EINTR)
				continue;
			return bf_error_errno(err, errno, "", "write file");
		}
		p += n;
		pos += n;
		len -= n;
	}
	return BF_OK;
}

BfStatus
bifang_host_truncate(const BfHost *h, int file, int64_t size, BfError *err)
{
	(void) h;
	Assert(size >= 0);
	BF_TRY(bifang_dirty_hold(file, err));
	while (FileTruncate(file, size, WAIT_EVENT_DATA_FILE_TRUNCATE) != 0)
		if (errno != EINTR)
			return bf_error_errno(err, errno, "", "truncate file");
	return BF_OK;
}

BfStatus
bifang_host_sync(const BfHost *h, int file, BfError *err)
{
	(void) h;
	if (!bifang_dirty_sync(file))
		return bf_error_errno(err, errno, "", "fsync file");
	return BF_OK;
}

static BfStatus
copy_by_hand(const BfHost *h, int from, int64_t from_pos, int to, int64_t to_pos, int64_t len,
			 BfError *err)
{
	size_t room = (size_t) Min(len, 1024 * 1024);
	char *buf = malloc(room + 1);
	BfStatus st = BF_OK;

	if (buf == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory");
	while (len > 0 && st == BF_OK)
	{
		size_t n = (size_t) Min(len, (int64_t) room);

		st = bf_check_cancel(h, err);
		if (st == BF_OK)
			st = bifang_host_read_at(h, from, from_pos, buf, n, err);
		if (st == BF_OK)
			st = bifang_host_write_at(h, to, to_pos, buf, n, err);
		from_pos += n;
		to_pos += n;
		len -= n;
	}
	free(buf);
	return st;
}

BfStatus
bifang_host_copy_range(const BfHost *h, int from, int64_t from_pos, int to, int64_t to_pos,
					   int64_t len, BfError *err)
{
	Assert(from_pos >= 0 && to_pos >= 0 && len >= 0);
	BF_TRY(bifang_dirty_hold(to, err));
	while (len > 0)
	{
		loff_t in = from_pos;
		loff_t out = to_pos;
		ssize_t n = -1;
		int in_fd;
		int out_fd;

		BF_TRY(bf_check_cancel(h, err));
		out_fd = bifang_raw_descriptor(to);
		in_fd = bifang_raw_descriptor(from); /* the server keeps more than two */
		if (in_fd >= 0 && out_fd >= 0)
			n = copy_file_range(in_fd, &in, out_fd, &out, (size_t) Min(len, (int64_t) 64 << 20), 0);
		if (n < 0 && errno == EINTR)
			continue;
		/* Filesystems that cannot, and 0 at an end that read() will report properly. */
		if (n <= 0)
			return copy_by_hand(h, from, from_pos, to, to_pos, len, err);
		from_pos += n;
		to_pos += n;
		len -= n;
	}
	return BF_OK;
}
