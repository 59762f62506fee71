/*
 * pg/lake/metrics.c: see metrics.h.
 *
 * A commit knows ranges and not values, so the rows are read: once, in the order of the ledger, for
 * as many files together as fit into GROUP_BYTES. The files of a table with partitions have their
 * entries between each other's, and there may be hundreds of thousands.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "exec/read/ledger_bounds.h"
#include "pg/lake/metrics.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

#define GROUP_BYTES ((Size) 32 << 20)
/* Of all files of a commit, as bytes of a manifest. */
#define METRICS_BYTES ((int64) 256 << 20)
/* A column's bounds with the bytes that they usually keep. */
#define COLUMN_BYTES (sizeof(BfBounds) + 128)

void
bifang_metrics_begin(BifangMetrics *m, BfArena *arena, Snapshot snap, const BfIceTable *ice)
{
	BfError err = {0};

	*m = (BifangMetrics){.arena = arena,
						 .snap = snap,
						 .schema = bf_ice_current_schema(ice->metadata),
						 .bytes_left = METRICS_BYTES};
	BIFANG_CHECK(bf_ice_metrics_columns(arena, ice->metadata, &m->columns, &m->n_columns, &err),
				 &err);
}

static int
compare_shares(const void *a, const void *b)
{
	const BfLedgerShare *x = a;
	const BfLedgerShare *y = b;

	CHECK_FOR_INTERRUPTS();
	return (x->range.first > y->range.first) - (x->range.first < y->range.first);
}

static BfStatus
make_shares(BfArena *a, const BfRangeSet *ranges, int n, BfLedgerShare **out, int32_t *n_shares,
			BfError *err)
{
	int64_t total = 0;

	for (int i = 0; i < n; i++)
		total += ranges[i].n;
	if (total > INT32_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "%lld ranges in one commit", (long long) total);
	BF_NEW_RAW(a, *out, total, err);
	*n_shares = 0;
	for (int i = 0; i < n; i++)
		for (int32_t k = 0; k < ranges[i].n; k++)
			(*out)[(*n_shares)++] = (BfLedgerShare){ranges[i].ranges[k], i};
	qsort(*out, (size_t) *n_shares, sizeof **out, compare_shares);
	return BF_OK;
}

/* All that can fail for what the files say, in an arena that goes. */
static BfStatus
read_group(BifangMetrics *m, BfArena *a, const BifangLedger *l, BfIceNewFile *files,
		   const BfRangeSet *ranges, int n, BfError *err)
{
	bool offloaded = l->state == BIFANG_LEDGER_OFFLOADED;
	BfLedgerColumns columns = {.schema = m->schema, .n_fields = m->n_columns};
	int32_t *fields;
	BfLedgerShare *shares;
	int32_t n_shares;
	BfBounds *bounds;

	BF_NEW_RAW(a, fields, m->n_columns, err);
	BF_NEW(a, bounds, (int64_t) n * m->n_columns, err);
	for (int32_t i = 0; i < m->n_columns; i++)
		fields[i] = m->columns[i].field;
	for (int64_t i = 0; i < (int64_t) n * m->n_columns; i++)
		bf_ice_metrics_begin(m->schema, &m->columns[i % m->n_columns], &bounds[i]);
	columns.fields = fields;
	BF_TRY(make_shares(a, ranges, n, &shares, &n_shares, err));
	BF_TRY(bf_exec_ledger_bounds(a, offloaded ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
								 offloaded ? l->offload_path : l->live_dir,
								 bifang_ledger_tail(l, m->snap), &columns, shares, n_shares, bounds,
								 err));
	for (int i = 0; i < n && m->bytes_left > 0; i++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_ice_metrics_write(m->arena, m->columns, &bounds[(int64_t) i * m->n_columns],
									m->n_columns, &files[i].metrics, err));
		m->bytes_left -= files[i].metrics.len;
	}
	return BF_OK;
}

/* What has nothing to do with the rows ends the commit. */
static bool
must_report(BfStatus status)
{
	return status == BF_ERR_CANCEL || status == BF_ERR_NOMEM || status == BF_ERR_HOST;
}

static bool
group_metrics(BifangMetrics *m, const BifangLedger *l, BfIceNewFile *files,
			  const BfRangeSet *ranges, int n)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "file metrics", BIFANG_ARENA_MAX_SCAN);
	BfError err = {0};
	BfStatus status = read_group(m, a, l, files, ranges, n, &err);

	if (status != BF_OK && must_report(status))
		bifang_report(&err);
	if (status != BF_OK)
	{
		for (int i = 0; i < n; i++)
			files[i].metrics.len = 0;
		bifang_warn(DEBUG1, &err);
	}
	bifang_arena_free(a);
	return status == BF_OK;
}

bool
bifang_metrics_of_ledger(BifangMetrics *m, const BifangLedger *l, BfIceNewFile *files,
						 const BfRangeSet *ranges, int n)
{
	bool good = true;
	int group;

	if (m->n_columns == 0)
		return false;
	group = (int) Max(1, Min(PG_INT32_MAX, GROUP_BYTES / (COLUMN_BYTES * (Size) m->n_columns)));
	for (int first = 0; first < n && m->bytes_left > 0; first += group)
	{
		Assert(files[first].metrics.len == 0 && ranges[first].n > 0);
		good &= group_metrics(m, l, files + first, ranges + first, Min(group, n - first));
	}
	/* Where there was no room for more, the rest was not looked at. */
	return good && m->bytes_left > 0;
}
