/*
 * The disk of crash.h: of each file that was opened for writing or whose name was changed, the
 * bytes and the name that a crash would leave, noted when they are synced. A handle is matched with
 * its file by inode, since names move. Names and bytes settle apart, so a rename that was synced
 * before the bytes leaves a file that is empty or old.
 */
#include "unit/lib/crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct TestCrashFile
{
	TestCrashFile *next;
	char *path;		/* the name it has; NULL = removed */
	char *durable;	/* the name that a crash leaves; NULL = none */
	uint8_t *bytes; /* the content that a crash leaves */
	size_t n;
};

static TestCrash *active;

static char *
copy(const char *s)
{
	char *p = s != NULL ? strdup(s) : NULL;

	if (s != NULL && p == NULL)
		abort();
	return p;
}

static uint8_t *
read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *bytes;

	if (f == NULL || fstat(fileno(f), &st) != 0)
		abort();
	bytes = malloc((size_t) st.st_size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t) st.st_size, f) != (size_t) st.st_size)
		abort();
	fclose(f);
	*n = (size_t) st.st_size;
	return bytes;
}

static TestCrashFile *
find(const char *path)
{
	for (TestCrashFile *f = active->files; f != NULL; f = f->next)
		if (f->path != NULL && strcmp(f->path, path) == 0)
			return f;
	return NULL;
}

/* Takes a file under watch: as found, or as one that is about to be made. */
static TestCrashFile *
watch(const char *path)
{
	TestCrashFile *f = find(path);
	struct stat st;

	if (f != NULL)
		return f;
	f = calloc(1, sizeof *f);
	if (f == NULL)
		abort();
	f->path = copy(path);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
	{
		f->durable = copy(path);
		f->bytes = read_file(path, &f->n);
	}
	f->next = active->files;
	active->files = f;
	return f;
}

/* Which watched file is behind a handle: by identity, names may have changed. */
static TestCrashFile *
of_handle(int file)
{
	struct stat a, b;

	if (fstat(file, &a) != 0)
		abort();
	for (TestCrashFile *f = active->files; f != NULL; f = f->next)
		if (f->path != NULL && stat(f->path, &b) == 0 && a.st_ino == b.st_ino)
			return f;
	return NULL;
}

static BfStatus
crash_open(const BfHost *h, const char *path, BfOpenMode mode, int *file, BfError *err)
{
	BfStatus s;

	if (mode == BF_OPEN_WRITE)
		watch(path);
	s = active->plain.open(h, path, mode, file, err);
	/* It did not exist: now it does, with no durable name or content. */
	if (s == BF_OK && mode == BF_OPEN_CREATE_NEW)
	{
		TestCrashFile *f = watch(path);

		free(f->durable);
		f->durable = NULL;
		f->n = 0;
	}
	return s;
}

static BfStatus
crash_sync(const BfHost *h, int file, BfError *err)
{
	BfStatus s = active->plain.sync(h, file, err);
	TestCrashFile *f = of_handle(file);

	if (s == BF_OK && f != NULL)
	{
		free(f->bytes);
		f->bytes = read_file(f->path, &f->n);
	}
	return s;
}

static void
renamed(const char *from, const char *to)
{
	TestCrashFile *f = find(from), *old = find(to);

	if (old != NULL)
	{
		free(old->path);
		old->path = NULL;
	}
	free(f->path);
	f->path = copy(to);
}

static BfStatus
crash_rename(const BfHost *h, const char *from, const char *to, BfError *err)
{
	struct stat st;
	BfStatus s;

	watch(from);
	if (stat(to, &st) == 0)
		watch(to);
	s = active->plain.rename(h, from, to, err);
	if (s == BF_OK)
		renamed(from, to);
	return s;
}

static BfStatus
crash_rename_new(const BfHost *h, const char *from, const char *to, BfError *err)
{
	BfStatus s;

	watch(from);
	s = active->plain.rename_new(h, from, to, err);
	if (s == BF_OK)
		renamed(from, to);
	return s;
}

static BfStatus
crash_unlink(const BfHost *h, const char *path, BfError *err)
{
	TestCrashFile *f = watch(path);
	BfStatus s = active->plain.unlink(h, path, err);

	if (s == BF_OK)
	{
		free(f->path);
		f->path = NULL;
	}
	return s;
}

static bool
lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return path != NULL && strncmp(path, dir, n) == 0 && path[n] == '/' &&
		   strchr(path + n + 1, '/') == NULL;
}

static void
settle_names(const char *dir)
{
	for (TestCrashFile *f = active->files; f != NULL; f = f->next)
	{
		bool gone =
			lies_in(f->durable, dir) && (f->path == NULL || strcmp(f->path, f->durable) != 0);

		if (!gone && !lies_in(f->path, dir))
			continue;
		free(f->durable);
		f->durable = lies_in(f->path, dir) ? copy(f->path) : NULL;
	}
}

static BfStatus
crash_sync_dir(const BfHost *h, const char *dir, BfError *err)
{
	BfStatus s = active->plain.sync_dir(h, dir, err);

	if (s == BF_OK)
		settle_names(dir);
	return s;
}

void
test_crash_init(TestCrash *c, TestHost *h)
{
	memset(c, 0, sizeof *c);
	c->host = h;
	c->plain = h->host;
	c->random_state = 1;
	active = c;
	h->host.open = crash_open;
	h->host.sync = crash_sync;
	h->host.rename = crash_rename;
	h->host.rename_new = crash_rename_new;
	h->host.unlink = crash_unlink;
	h->host.sync_dir = crash_sync_dir;
}

static uint64_t
chance(TestCrash *c, uint64_t n)
{
	c->random_state = c->random_state * UINT64_C(6364136223846793005) + 1;
	return (c->random_state >> 33) % n;
}

/* What of a file's bytes is left: the durable ones, those in the cache, or a part of these. */
static void
choose_bytes(TestCrash *c, TestCrashFile *f, TestCrashMode mode)
{
	struct stat st;
	uint8_t *now;
	size_t n, from, to;

	if (mode == TEST_CRASH_LOSE || f->path == NULL || stat(f->path, &st) != 0)
		return;
	now = read_file(f->path, &n);
	if (mode == TEST_CRASH_KEEP || chance(c, 3) == 0)
	{
		free(f->bytes);
		f->bytes = now;
		f->n = n;
		return;
	}
	/* The new length with holes where nothing was written back, or the old one. */
	if (chance(c, 2) == 0 && n > 0)
	{
		uint8_t *mixed = calloc(1, n);

		if (mixed == NULL)
			abort();
		if (f->n > 0)
			memcpy(mixed, f->bytes, f->n < n ? f->n : n);
		from = (size_t) chance(c, n);
		to = from + (size_t) chance(c, n - from + 1);
		memcpy(mixed + from, now + from, to - from);
		free(f->bytes);
		f->bytes = mixed;
		f->n = n;
	}
	free(now);
}

static void
write_file(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || (n > 0 && fwrite(bytes, 1, n, f) != n) || fclose(f) != 0)
		abort();
}

void
test_crash(TestCrash *c, TestCrashMode mode)
{
	for (TestCrashFile *f = c->files; f != NULL; f = f->next)
	{
		choose_bytes(c, f, mode);
		if (mode == TEST_CRASH_KEEP || (mode == TEST_CRASH_MIXED && chance(c, 2) == 0))
		{
			free(f->durable);
			f->durable = copy(f->path);
		}
	}
	for (TestCrashFile *f = c->files; f != NULL; f = f->next)
		if (f->path != NULL)
			unlink(f->path);
	while (c->files != NULL)
	{
		TestCrashFile *f = c->files;

		if (f->durable != NULL)
			write_file(f->durable, f->bytes, f->n);
		c->files = f->next;
		free(f->path);
		free(f->durable);
		free(f->bytes);
		free(f);
	}
	c->host->host.open = c->plain.open;
	c->host->host.sync = c->plain.sync;
	c->host->host.rename = c->plain.rename;
	c->host->host.rename_new = c->plain.rename_new;
	c->host->host.unlink = c->plain.unlink;
	c->host->host.sync_dir = c->plain.sync_dir;
	active = NULL;
}
