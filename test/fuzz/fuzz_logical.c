/* Names of logical files: what is read can be written, and then stays what it is. */
#include "fuzz/fuzz.h"

#include "log/rangeset.h"

int
bf_fuzz_logical(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 16 << 20);
	const char *path = bf_arena_strndup(a, (const char *) data, size);
	BfLogicalFile f, g;
	const char *name, *again;
	BfError err;

	if (bf_logical_parse(a, path, &f, &err) != BF_OK)
		FUZZ_CHECK(err.code == BF_ERR_LIMIT ||
				   (err.offset >= 0 && err.offset <= (int64_t) strlen(path)));
	else
	{
		FUZZ_CHECK(bf_is_logical_path(path) && f.ledger_id >= 0);
		FUZZ_CHECK(f.db[0] != '\0' && f.table[0] != '\0');
		FUZZ_CHECK(bf_logical_format(a, &f, &name, &err) == BF_OK);
		FUZZ_CHECK(bf_logical_parse(a, name, &g, &err) == BF_OK);
		FUZZ_CHECK(strcmp(f.db, g.db) == 0 && strcmp(f.table, g.table) == 0);
		FUZZ_CHECK(f.ledger_id == g.ledger_id && bf_rangeset_equal(&f.ranges, &g.ranges));
		FUZZ_CHECK(bf_logical_format(a, &g, &again, &err) == BF_OK);
		FUZZ_CHECK(strcmp(name, again) == 0);
	}
	bf_arena_free(a);
	return 0;
}
