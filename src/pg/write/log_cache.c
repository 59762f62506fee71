/*
 * pg/write/log_cache.c: see log_cache.h.
 */
#include "pg/write/log_cache.h"

#include "utils/memutils.h"

#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/write/locks.h"

#define KEPT_MAX 4
#define MEMORY_KEPT_MAX ((size_t) 8 << 20)
#define LOG_ARENA_MAX ((size_t) 1 << 30)
#define SEGMENT_BYTES_MAX ((int64) 128 << 20)

/* Most recently kept first; NULL = free. */
static BifangLog *kept[KEPT_MAX];

static const char *const suffixes[] = {"log", "index", "timeindex"};

/* Sizes of the files of the segment that holds the end; false when one can't be told. */
static bool
segment_sizes(const BifangLog *log, int64 *sizes)
{
	const BfHost *host = bifang_host();
	BfLedgerEnd end = bf_ledger_writer_end(log->writer);

	for (int i = 0; i < (int) lengthof(suffixes); i++)
	{
		char path[MAXPGPATH];
		BfPathInfo info;
		BfError err;

		if (snprintf(path, sizeof path, "%s/%020lld.%s", log->dir, (long long) end.segment,
					 suffixes[i]) >= (int) sizeof path ||
			host->stat(host, path, &info, &err) != BF_OK || info.kind != BF_PATH_FILE)
			return false;
		sizes[i] = info.size;
	}
	return true;
}

/* Takes it out of the cache. */
static BifangLog *
take_kept(int64 ledger_id)
{
	for (int i = 0; i < KEPT_MAX; i++)
	{
		BifangLog *log = kept[i];

		if (log == NULL || log->ledger_id != ledger_id)
			continue;
		memmove(&kept[i], &kept[i + 1], sizeof kept[0] * (size_t) (KEPT_MAX - 1 - i));
		kept[KEPT_MAX - 1] = NULL;
		return log;
	}
	return NULL;
}

static bool
still_good(const BifangLog *log, const char *dir, BfLedgerEnd end)
{
	BfLedgerEnd last = bf_ledger_writer_end(log->writer);
	int64 sizes[lengthof(suffixes)];

	return strcmp(log->dir, dir) == 0 && last.entry == end.entry && last.segment == end.segment &&
		   last.position == end.position && segment_sizes(log, sizes) &&
		   memcmp(sizes, log->sizes, sizeof sizes) == 0;
}

BifangLog *
bifang_log_open(int64 ledger_id, const char *dir, BfLedgerEnd end, BfError *err)
{
	const BfLedgerOptions options = {
		.codec = BF_CODEC_ZSTD, .level = 0, .segment_bytes_max = SEGMENT_BYTES_MAX};
	BifangLog *log = take_kept(ledger_id);
	MemoryContext cxt;
	BfArena *arena;
	BfStatus status;

	Assert(bifang_ledger_is_locked(ledger_id));
	if (log != NULL)
	{
		Assert(MemoryContextGetParent(log->cxt) == TopMemoryContext);
		MemoryContextSetParent(log->cxt, TopTransactionContext);
		if (still_good(log, dir, end))
			return log;
		bifang_log_close(log);
	}
	cxt = AllocSetContextCreate(TopTransactionContext, "bifang ledger log", ALLOCSET_SMALL_SIZES);
	log = MemoryContextAllocZero(cxt, sizeof *log);
	log->cxt = cxt;
	log->ledger_id = ledger_id;
	log->dir = MemoryContextStrdup(cxt, dir);
	arena = bifang_arena(cxt, "ledger writer", LOG_ARENA_MAX);
	status = bf_ledger_writer_open(arena, log->dir, end, &options, &log->writer, err);
	if (status == BF_OK)
		return log;
	if (status != BF_ERR_CORRUPT && status != BF_ERR_NOTFOUND)
		bifang_report(err);
	MemoryContextDelete(cxt);
	return NULL;
}

void
bifang_log_keep(BifangLog *log)
{
	if (bf_ledger_writer_memory(log->writer) > MEMORY_KEPT_MAX || !segment_sizes(log, log->sizes))
	{
		bifang_log_close(log);
		return;
	}
	if (kept[KEPT_MAX - 1] != NULL)
		bifang_log_close(kept[KEPT_MAX - 1]);
	Assert(MemoryContextGetParent(log->cxt) == TopTransactionContext);
	memmove(&kept[1], &kept[0], sizeof kept[0] * (KEPT_MAX - 1));
	kept[0] = log;
	MemoryContextSetParent(log->cxt, TopMemoryContext);
}

void
bifang_log_close(BifangLog *log)
{
	MemoryContextDelete(log->cxt);
}
