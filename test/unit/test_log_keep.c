/*
 * Ledgers for other programs to judge: one per codec, rolled, cut back and reopened, and an offload
 * file of the last. They stay in $BIFANG_KEEP_DIR when it is set (test/interop/kafka_dump.sh).
 */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "log/offload.h"
#include "unit/test_log_model.h"

static void
write_ledger(Model *m)
{
	BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
	BfLedgerWriter *w;

	REQUIRE_OK(bf_ledger_writer_open(a, m->dir, model_end(m), &m->options, &w, &test_err));
	for (int i = 0; i < 60; i++)
	{
		REQUIRE_OK(model_append(m, w, 1 + (int32_t) test_random_below(40), i % 5 == 0 ? 1200 : 80));
		if (i % 11 == 10)
		{
			m->n_ends -= 3;
			REQUIRE_OK(bf_ledger_writer_rewind(w, model_end(m), &test_err));
		}
		if (i % 20 == 19)
		{
			REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));
			bf_arena_free(a);
			a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
			REQUIRE_OK(bf_ledger_writer_open(a, m->dir, model_end(m), &m->options, &w, &test_err));
		}
	}
	REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
	bf_arena_free(a);
}

TEST(keep_ledgers)
{
	static const struct
	{
		BfCodec codec;
		const char *name;
	} codecs[] = {{BF_CODEC_NONE, "none"},
				  {BF_CODEC_GZIP, "gzip"},
				  {BF_CODEC_SNAPPY, "snappy"},
				  {BF_CODEC_LZ4_FRAME, "lz4"},
				  {BF_CODEC_ZSTD, "zstd"}};
	const char *keep = getenv("BIFANG_KEEP_DIR");
	BfArena *a = test_arena();
	const char *path;
	Model m;

	for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
	{
		model_init(&m, codecs[i].name, 30000);
		if (keep != NULL)
			m.dir = bf_arena_printf(a, "%s/%s", keep, codecs[i].name);
		m.options.codec = codecs[i].codec;
		write_ledger(&m);
		model_check(&m, NULL);
	}
	path = bf_arena_printf(a, "%s/zstd.bfo", keep != NULL ? keep : test_dir());
	REQUIRE_OK(bf_offload_write(a, m.dir, NULL, model_end(&m).entry, "{\"type\":\"string\"}", path,
								NULL, &test_err));
}
