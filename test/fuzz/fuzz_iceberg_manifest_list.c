/* Manifest lists: what is read, written by us and read again is the same. */
#include "fuzz/fuzz.h"

#include "iceberg/internal.h"

static bool
same_text(const char *x, const char *y)
{
	return strcmp(x, y) == 0;
}

/* Version 2 has no way to leave a number out. */
static void
complete(BfIceManifest *m)
{
	int32_t *counts[] = {&m->added_files, &m->existing_files, &m->deleted_files};
	int64_t *rows[] = {&m->added_rows, &m->existing_rows, &m->deleted_rows};

	for (int i = 0; i < 3; i++)
	{
		*counts[i] = *counts[i] < 0 ? 1 : *counts[i];
		*rows[i] = *rows[i] < 0 ? 1 : *rows[i];
	}
}

static void
write_and_read(BfArena *a, BfIceManifest *read, int32_t n)
{
	BfiListEntry *entries = bf_arena_alloc(a, sizeof *entries * (size_t) n);
	BfIceManifest *again;
	BfSource *source;
	BfView bytes;
	BfError err;
	int32_t m;

	FUZZ_CHECK(entries != NULL);
	for (int32_t i = 0; i < n; i++)
	{
		complete(&read[i]);
		entries[i] = (BfiListEntry){.manifest = read[i]};
	}
	if (bfi_manifest_list_bytes(a, entries, n, 1, -1, 2, &bytes, &err) != BF_OK)
	{
		/* Summaries are only looked at when they are written. */
		FUZZ_CHECK(err.code == BF_ERR_CORRUPT || err.code == BF_ERR_LIMIT);
		return;
	}
	FUZZ_CHECK(bf_source_memory(a, bytes.ptr, bytes.len, "again", &source, &err) == BF_OK);
	FUZZ_CHECK(bfi_manifest_list_read(a, source, &again, &m, &err) == BF_OK);
	FUZZ_CHECK(m == n);
	for (int32_t i = 0; i < n; i++)
	{
		FUZZ_CHECK(same_text(read[i].path, again[i].path));
		FUZZ_CHECK(read[i].length == again[i].length && read[i].spec_id == again[i].spec_id);
		FUZZ_CHECK(read[i].deletes == again[i].deletes);
		FUZZ_CHECK(read[i].sequence_number == again[i].sequence_number);
		FUZZ_CHECK(read[i].added_snapshot_id == again[i].added_snapshot_id);
		FUZZ_CHECK(read[i].added_files == again[i].added_files);
		FUZZ_CHECK(read[i].deleted_rows == again[i].deleted_rows);
		FUZZ_CHECK((read[i].partitions == NULL) == (again[i].partitions == NULL));
		FUZZ_CHECK(read[i].partitions == NULL ||
				   read[i].partitions->u.list.n == again[i].partitions->u.list.n);
		FUZZ_CHECK(read[i].key_metadata.len == again[i].key_metadata.len);
	}
}

int
bf_fuzz_iceberg_manifest_list(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfIceManifest *manifests;
	BfSource *source;
	BfError err;
	BfStatus status;
	int32_t n;

	bf_error_clear(&err);
	FUZZ_CHECK(bf_source_memory(a, data, size, "list", &source, &err) == BF_OK);
	status = bfi_manifest_list_read(a, source, &manifests, &n, &err);
	if (status == BF_OK && n > 0)
		write_and_read(a, manifests, n);
	else
		FUZZ_CHECK(status == BF_OK || err.text[0] != '\0');
	bf_arena_free(a);
	return status == BF_OK ? 0 : -1;
}
