/* Reads and windows at any position of a file, against the bytes that were written to it. */
#include "fuzz/fuzz.h"

#include <unistd.h>

#include "io/source.h"

#define FILE_BYTES ((size_t) 600 * 1024)

static uint8_t content[FILE_BYTES];
static char path[64];

static void
remove_file(void)
{
	unlink(path);
}

static void
make_file(void)
{
	FILE *f;
	int fd;

	if (path[0] != '\0')
		return;
	for (size_t i = 0; i < FILE_BYTES; i++)
		content[i] = (uint8_t) (i * 31 + i / 509);
	snprintf(path, sizeof path, "%s/bifang-fuzz-XXXXXX", P_tmpdir);
	fd = mkstemp(path);
	f = fd >= 0 ? fdopen(fd, "wb") : NULL;
	FUZZ_CHECK(f != NULL && fwrite(content, 1, FILE_BYTES, f) == FILE_BYTES && fclose(f) == 0);
	atexit(remove_file);
}

int
bf_fuzz_source(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfArena *a = fuzz_arena((size_t) 16 << 20);
	BfSource *s[2];
	BfError err;
	uint8_t *buf = malloc(FILE_BYTES);

	make_file();
	FUZZ_CHECK(bf_source_open(a, path, NULL, &s[0], &err) == BF_OK);
	FUZZ_CHECK(bf_source_memory(a, content, FILE_BYTES, "memory", &s[1], &err) == BF_OK);
	for (int step = 0; step < 64 && in.size > 0; step++)
	{
		uint64_t what = fuzz_take(&in, 1);
		int64_t pos = (int64_t) fuzz_take(&in, (what & 1) != 0 ? 8 : 3);
		size_t len = (size_t) fuzz_take(&in, (unsigned) (what >> 1) % 4);
		bool fits = pos >= 0 && pos <= (int64_t) FILE_BYTES && len <= FILE_BYTES - (size_t) pos;

		for (int i = 0; i < 2; i++)
		{
			const uint8_t *p = buf;
			BfStatus st = (what & 16) != 0 && fits ? bf_source_read(s[i], pos, buf, len, &err)
												   : bf_source_window(s[i], pos, len, &p, &err);

			FUZZ_CHECK(st == (fits ? BF_OK : BF_ERR_CORRUPT));
			FUZZ_CHECK(!fits || memcmp(p, content + pos, len) == 0);
		}
		if ((what & 96) == 96)
			FUZZ_CHECK(bf_source_refresh_size(s[0], &err) == BF_OK);
	}
	free(buf);
	bf_arena_free(a);
	return 0;
}
