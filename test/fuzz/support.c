/* What the fuzz targets and their drivers share. */
#include "fuzz/fuzz.h"

#include "unit/lib/host_posix.h"

static TestHost host;
static void *(*plain_alloc)(const BfHost *h, size_t size);

static void *
bounded_alloc(const BfHost *h, size_t size)
{
	/* Memory beyond this bound would be asked for by the input, not by our own needs. */
	FUZZ_CHECK(size <= FUZZ_BYTES_MAX && (size_t) host.live_bytes <= FUZZ_BYTES_MAX - size);
	return plain_alloc(h, size);
}

const BfHost *
fuzz_host(void)
{
	return &host.host;
}

BfArena *
fuzz_arena(size_t bytes_max)
{
	BfArena *a = bf_arena_new(fuzz_host(), "fuzz", bytes_max);

	if (a == NULL)
		abort();
	return a;
}

int
fuzz_run(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
	/* A copy of its own, so that AddressSanitizer sees reads past the input's end. */
	uint8_t *copy = malloc(size > 0 ? size : 1);
	int rc;

	FUZZ_CHECK(copy != NULL);
	memcpy(copy, data, size);
	test_host_init(&host);
	plain_alloc = host.host.mem_alloc;
	host.host.mem_alloc = bounded_alloc;
	rc = target(copy, size);
	FUZZ_CHECK(host.live_allocs == 0 && host.live_bytes == 0);
	FUZZ_CHECK(host.open_files == 0 && host.bad_frees == 0);
	free(copy);
	return rc;
}

uint64_t
fuzz_take(FuzzInput *in, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0 && in->size > 0)
		v = v << 8 | in->data[--in->size];
	return v;
}

uint64_t
fuzz_take_below(FuzzInput *in, uint64_t n)
{
	unsigned bytes = 1;

	while (bytes < 8 && n > (uint64_t) 1 << (8 * bytes))
		bytes++;
	return n == 0 ? 0 : fuzz_take(in, bytes) % n;
}
