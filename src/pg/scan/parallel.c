/*
 * pg/scan/parallel.c: one scan by several processes; see parallel.h.
 */
#include "pg/scan/parallel.h"

#include "port/atomics.h"
#include "storage/spin.h"

#include "pg/scan/kind.h"
#include "pg/scan/node.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

struct BifangShared
{
	BfScanCounter next;
	pg_atomic_uint64 fingerprint; /* of the list of units; 0 = nobody has planned yet */
	slock_t mutex;				  /* of the counters */
	BifangCounters count;
	dsm_handle plan; /* of the leader; DSM_HANDLE_INVALID = none */
	Size plan_bytes;
	uint32 n_pins;
	uint8 pins[FLEXIBLE_ARRAY_MEMBER];
};

StaticAssertDecl(sizeof(BifangCounters) % sizeof(int64) == 0, "counters are int64");

static void
check_plan(BifangShared *shared, const BifangWorklist *w)
{
	uint64 mine = bf_scan_list_fingerprint(&w->list);
	uint64 other = 0;

	if (!pg_atomic_compare_exchange_u64(&shared->fingerprint, &other, mine) && other != mine)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("processes of a parallel scan see different files"),
						errhint("A directory or a setting changed while the query started.")));
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

	if (n->shared_plan != NULL)
		dsm_detach(n->shared_plan);
	n->shared_plan = NULL;
	shared->plan = DSM_HANDLE_INVALID;
	if (w->kind->pack_plan == NULL)
		return;
	a = bifang_arena(n->scan->cxt, "plan for workers", BIFANG_ARENA_MAX_METADATA);
	bytes = w->kind->pack_plan(w, a);
	n->shared_plan = dsm_create(bytes.len, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (n->shared_plan != NULL)
	{
		memcpy(dsm_segment_address(n->shared_plan), bytes.ptr, bytes.len);
		shared->plan = dsm_segment_handle(n->shared_plan);
		shared->plan_bytes = bytes.len;
	}
	bifang_arena_free(a);
}

/* A leader that has read enough may have taken the plan away before a worker starts. */
static void
take_plan(BifangScanNode *n, const BifangShared *shared)
{
	if (shared->plan != DSM_HANDLE_INVALID)
		n->shared_plan = dsm_attach(shared->plan);
	if (n->shared_plan == NULL)
		return;
	n->scan->work->given =
		(BfView){.ptr = dsm_segment_address(n->shared_plan), .len = (uint32) shared->plan_bytes};
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
	n->pins = bifang_worklist_pack(w, &n->scan->options,
								   bifang_arena(n->scan->cxt, "pins", BIFANG_ARENA_MAX_METADATA));
	return offsetof(BifangShared, pins) + n->pins.len;
}

static void
join(BifangScanNode *n, BifangShared *shared)
{
	bifang_scan_share(n->scan, shared, &shared->next, check_plan);
	n->started = false;
}

void
bifangInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) pcxt;
	memset(shared, 0, offsetof(BifangShared, pins));
	atomic_init(&shared->next, 0);
	pg_atomic_init_u64(&shared->fingerprint, 0);
	SpinLockInit(&shared->mutex);
	shared->n_pins = n->pins.len;
	Assert(n->pins.len > 0);
	memcpy(shared->pins, n->pins.ptr, n->pins.len);
	join(n, shared);
	give_plan(node, n, shared);
}

void
bifangReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) pcxt;
	Assert(n->scan->turn.shared == shared);
	atomic_store(&shared->next, 0);
	pg_atomic_write_u64(&shared->fingerprint, 0);
	bifang_scan_restart(n->scan);
	give_plan(node, n, shared);
}

void
bifangInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	BifangScanNode *n = node->fdw_state;
	BifangShared *shared = coordinate;

	(void) toc;
	Assert(n->scan->work == NULL && shared->n_pins > 0);
	bifang_options_check_read(&n->scan->options);
	n->scan->work =
		bifang_worklist_join(n->scan->cxt, &n->scan->options, node->ss.ps.state->es_snapshot,
							 (BfView){shared->pins, shared->n_pins});
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
	BifangShared *shared = n == NULL ? NULL : n->scan->turn.shared;
	BifangCounters mine;

	if (shared == NULL)
		return;
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
	bifang_scan_share(n->scan, NULL, NULL, NULL);
	/* A worker's plan points into the segment, which its end detaches. */
	if (!IsParallelWorker() && n->shared_plan != NULL)
	{
		dsm_detach(n->shared_plan);
		n->shared_plan = NULL;
	}
}
