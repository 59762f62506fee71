/*
 * pg/scan/parallel.c: one scan by several processes; see parallel.h.
 */
#include "pg/scan/parallel.h"

#include "lib/stringinfo.h"
#include "port/atomics.h"
#include "storage/spin.h"

#include "pg/catalog/catalog.h"
#include "pg/scan/node.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

struct BifangShared
{
	pg_atomic_uint32 next;
	pg_atomic_uint64 plan; /* what tells the plan of the units apart; 0 = nobody has planned yet */
	slock_t mutex;		   /* of the counters */
	BifangCounters count;
	dsm_handle lake_plan; /* of the leader; DSM_HANDLE_INVALID = none */
	Size lake_plan_bytes;
	Size size;
	char pinned[FLEXIBLE_ARRAY_MEMBER];
};

StaticAssertDecl(sizeof(BifangCounters) % sizeof(int64) == 0, "counters are int64");

int32
bifang_shared_next(BifangShared *shared)
{
	uint32 n = pg_atomic_fetch_add_u32(&shared->next, 1);

	return n > PG_INT32_MAX ? PG_INT32_MAX : (int32) n;
}

void
bifang_shared_check(BifangShared *shared, const BifangWorklist *w)
{
	uint64 mine = ((uint64) w->n_units << 32 ^ (uint64) w->rows ^ (uint64) w->bytes << 16) | 1;
	uint64 other = 0;

	if (!pg_atomic_compare_exchange_u64(&shared->plan, &other, mine) && other != mine)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("processes of a parallel scan see different files"),
						errhint("A directory or a setting changed while the query started.")));
}

/* ---- what the leader pinned ---- */

static void
put_int(StringInfo s, int64 n)
{
	appendBinaryStringInfo(s, (const char *) &n, sizeof n);
}

static void
put_text(StringInfo s, const char *text)
{
	put_int(s, text == NULL ? -1 : (int64) strlen(text));
	if (text != NULL)
		appendBinaryStringInfo(s, text, (int) strlen(text));
}

static int64
get_int(const char **at)
{
	int64 n;

	memcpy(&n, *at, sizeof n);
	*at += sizeof n;
	return n;
}

static char *
get_text(const char **at)
{
	int64 n = get_int(at);
	char *text;

	if (n < 0)
		return NULL;
	text = pnstrdup(*at, (Size) n);
	*at += n;
	return text;
}

static void
save(StringInfo s, const BifangWorklist *w)
{
	ListCell *lc;

	put_int(s, w->current);
	put_text(s, w->metadata_path);
	put_int(s, w->point.main == NULL ? -1 : w->point.main->id);
	put_int(s, list_length(w->ledgers));
	foreach (lc, w->ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		put_int(s, l->id);
		put_int(s, l->state);
		put_text(s, l->live_dir);
		put_text(s, l->offload_path);
		put_int(s, l->end_entry);
		put_int(s, l->end_segment);
		put_int(s, l->end_position);
	}
	put_int(s, w->n_files);
	for (int32 i = 0; i < w->n_files; i++)
	{
		put_text(s, w->files[i].path);
		put_int(s, w->files[i].bytes);
		put_int(s, w->files[i].rows);
		put_int(s, w->files[i].partition);
		put_int(s, w->files[i].offset_start);
		put_int(s, w->files[i].offset_end);
	}
}

static BifangWorklist *
restore(MemoryContext cxt, const BifangOptions *o, const char *at)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = palloc0(sizeof *w);
	int64 n;
	int64 main_id;

	w->cxt = cxt;
	w->format = o->format;
	w->current = get_int(&at) != 0;
	w->metadata_path = get_text(&at);
	main_id = get_int(&at);
	for (n = get_int(&at); n > 0; n--)
	{
		BifangLedger *l = palloc0(sizeof *l);

		l->id = get_int(&at);
		l->state = (char) get_int(&at);
		l->live_dir = get_text(&at);
		l->offload_path = get_text(&at);
		l->end_entry = get_int(&at);
		l->end_segment = get_int(&at);
		l->end_position = get_int(&at);
		w->ledgers = lappend(w->ledgers, l);
	}
	n = get_int(&at);
	w->files =
		palloc_extended((Size) Max(n, 1) * sizeof *w->files, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (; n > 0; n--)
	{
		BifangFile *f = &w->files[w->n_files++];

		f->path = get_text(&at);
		f->bytes = get_int(&at);
		f->rows = get_int(&at);
		f->partition = (int32) get_int(&at);
		f->offset_start = get_int(&at);
		f->offset_end = get_int(&at);
	}
	if (w->format == BIFANG_ICEBERG)
	{
		bifang_worklist_set_table(w, o);
		if ((w->point.main == NULL ? -1 : w->point.main->id) != main_id)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("processes of a parallel scan see different snapshots")));
	}
	MemoryContextSwitchTo(old);
	return w;
}

/* ---- the leader's plan ---- */

/* Manifests would take a worker as long as they took the leader, whose cache has them now. When
 * there is no segment to be had, every process plans on its own. */
static void
give_plan(ForeignScanState *node, BifangScanNode *n, BifangShared *shared)
{
	BifangWorklist *w = bifang_scan_work(n->scan, node->ss.ps.state->es_snapshot);
	BfArena *a;
	BfView bytes;
	BfError err;

	if (n->lake_plan != NULL)
		dsm_detach(n->lake_plan);
	n->lake_plan = NULL;
	shared->lake_plan = DSM_HANDLE_INVALID;
	if (w->format != BIFANG_ICEBERG)
		return;
	a = bifang_arena(n->scan->cxt, "plan for workers", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_plan_pack(a, w->plan, &bytes, &err), &err);
	n->lake_plan = dsm_create(bytes.len, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (n->lake_plan != NULL)
	{
		memcpy(dsm_segment_address(n->lake_plan), bytes.ptr, bytes.len);
		shared->lake_plan = dsm_segment_handle(n->lake_plan);
		shared->lake_plan_bytes = bytes.len;
	}
	bifang_arena_free(a);
}

/* A leader that has read enough may have taken the plan away before a worker starts. */
static void
take_plan(BifangScanNode *n, const BifangShared *shared)
{
	if (shared->lake_plan != DSM_HANDLE_INVALID)
		n->lake_plan = dsm_attach(shared->lake_plan);
	if (n->lake_plan == NULL)
		return;
	n->scan->work->given =
		(BfView){.ptr = dsm_segment_address(n->lake_plan), .len = (uint32) shared->lake_plan_bytes};
}

/* ---- callbacks ---- */

bool
bifangIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	(void) root;
	(void) rel;
	(void) rte;
	return true;
}

Size
bifangEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	BifangScanNode *n = node->fdw_state;
	BifangWorklist *w = bifang_scan_pin(n->scan, node->ss.ps.state->es_snapshot);

	(void) pcxt;
	for (int32 i = 0; i < w->n_files; i++)
		if (w->format == BIFANG_KAFKA_LOG && w->files[i].offset_end < 0)
			bifang_scan_fix_end(n->scan, &w->files[i]);
	initStringInfo(&n->pinned);
	save(&n->pinned, w);
	return offsetof(BifangShared, pinned) + (Size) n->pinned.len;
}

static void
join(BifangScanNode *n, BifangShared *shared)
{
	n->scan->shared = shared;
	n->scan->planned = false;
	n->started = false;
}

void
bifangInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) pcxt;
	memset(shared, 0, offsetof(BifangShared, pinned));
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u64(&shared->plan, 0);
	SpinLockInit(&shared->mutex);
	shared->size = (Size) n->pinned.len;
	memcpy(shared->pinned, n->pinned.data, shared->size);
	join(n, shared);
	give_plan(node, n, shared);
}

void
bifangReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) pcxt;
	pg_atomic_write_u32(&shared->next, 0);
	pg_atomic_write_u64(&shared->plan, 0);
	bifang_scan_restart(n->scan);
	give_plan(node, n, shared);
}

void
bifangInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) toc;
	bifang_options_check_read(&n->scan->options);
	n->scan->work = restore(n->scan->cxt, &n->scan->options, shared->pinned);
	join(n, shared);
	take_plan(n, shared);
}

static void
add(BifangCounters *to, const BifangCounters *from)
{
	int64 *a = (int64 *) to;
	const int64 *b = (const int64 *) from;

	for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
		a[i] += b[i];
}

/* Workers hand their counters over; the leader, last, takes all of them before the memory goes. */
void
bifangShutdownForeignScan(ForeignScanState *node)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = n == NULL ? NULL : n->scan->shared;
	BifangCounters mine;

	if (shared == NULL)
		return;
	bifang_scan_count_deletes(n->scan);
	n->scan->delete_set = NULL; /* so that they are not counted again */
	if (IsParallelWorker())
	{
		SpinLockAcquire(&shared->mutex);
		add(&shared->count, &n->scan->count);
		SpinLockRelease(&shared->mutex);
	}
	else
	{
		SpinLockAcquire(&shared->mutex);
		mine = shared->count;
		SpinLockRelease(&shared->mutex);
		add(&n->scan->count, &mine);
	}
	n->scan->shared = NULL;
	/* A worker's plan points into the segment, which its end detaches. */
	if (!IsParallelWorker() && n->lake_plan != NULL)
	{
		dsm_detach(n->lake_plan);
		n->lake_plan = NULL;
	}
}
