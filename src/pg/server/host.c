/*
 * pg/server/host.c: see host.h.
 */
#include "pg/server/host.h"

#include <time.h>

#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/server/host_internal.h"

static int64_t
host_now_us(const BfHost *h)
{
	struct timespec ts;

	(void) h;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static BfStatus
host_random(const BfHost *h, void *buf, size_t len, BfError *err)
{
	(void) h;
	if (!pg_strong_random(buf, len))
		return bf_error(err, BF_ERR_HOST, "could not generate random bytes");
	return BF_OK;
}

/* Where interrupts are held off, CHECK_FOR_INTERRUPTS would not raise, so we don't stop either. */
static bool
host_cancelled(const BfHost *h)
{
	(void) h;
	return unlikely(InterruptPending) && (QueryCancelPending || ProcDiePending) &&
		   InterruptHoldoffCount == 0 && CritSectionCount == 0;
}

static void
host_log(const BfHost *h, const char *text)
{
	(void) h;
	ereport(LOG, (errmsg_internal("bifang_fdw: %s", text)));
}

static const BfHost host = {
	.mem_alloc = bifang_host_alloc,
	.mem_free = bifang_host_free,
	.open = bifang_host_open,
	.close = bifang_host_close,
	.file_size = bifang_host_file_size,
	.data_end = bifang_host_data_end,
	.read_at = bifang_host_read_at,
	.write_at = bifang_host_write_at,
	.truncate = bifang_host_truncate,
	.sync = bifang_host_sync,
	.copy_range = bifang_host_copy_range,
	.stat = bifang_host_stat,
	.list = bifang_host_list,
	.mkdirs = bifang_host_mkdirs,
	.rename = bifang_host_rename,
	.rename_new = bifang_host_rename_new,
	.unlink = bifang_host_unlink,
	.rmdir = bifang_host_rmdir,
	.sync_dir = bifang_host_sync_dir,
	.now_us = host_now_us,
	.random = host_random,
	.cancelled = host_cancelled,
	.log = host_log,
};

const BfHost *
bifang_host(void)
{
	return &host;
}

/* The callback that a memory context holds for an arena. It lives in the context; all are listed,
 * so that an arena freed by hand finds its own. */
typedef struct ArenaHolder
{
	MemoryContextCallback callback;
	dlist_node node;
	BfArena *arena; /* NULL: freed before */
} ArenaHolder;

static dlist_head holders = DLIST_STATIC_INIT(holders);

static void
holder_free(void *arg)
{
	ArenaHolder *holder = arg;
	BfArena *a = holder->arena;

	if (a == NULL)
		return;
	holder->arena = NULL;
	dlist_delete(&holder->node);
	bf_arena_free(a);
}

BfArena *
bifang_arena(MemoryContext cxt, const char *name, size_t bytes_max)
{
	ArenaHolder *holder = MemoryContextAllocZero(cxt, sizeof *holder);

	holder->arena = bf_arena_new(&host, name, bytes_max);
	if (holder->arena == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	dlist_push_head(&holders, &holder->node);
	holder->callback.func = holder_free;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(cxt, &holder->callback);
	return holder->arena;
}

void
bifang_arena_free(BfArena *a)
{
	dlist_iter iter;

	if (a == NULL)
		return;
	dlist_foreach(iter, &holders)
	{
		ArenaHolder *holder = dlist_container(ArenaHolder, node, iter.cur);

		if (holder->arena == a)
		{
			holder_free(holder);
			return;
		}
	}
	Assert(false); /* not made by bifang_arena, or freed before */
}
