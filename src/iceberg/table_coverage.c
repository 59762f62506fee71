/*
 * Coverage of a table: what logical files name, what main has as Parquet.
 */

#include "base/sort.h"
#include "iceberg/internal.h"

static BfStatus
parse_coverage(BfArena *a, const char *text, const char *where, int64_t snapshot_id,
			   BfCoverage *out, BfError *err)
{
	BfStatus status = bf_coverage_parse(a, text, strlen(text), out, err);
	char inner[BF_ERROR_TEXT_MAX];

	if (status != BF_ERR_CORRUPT)
		return status;
	memcpy(inner, err->text, sizeof inner);
	if (snapshot_id >= 0)
		BF_FAIL_AT(err, BF_ERR_CORRUPT, err->offset, "%s of snapshot %lld: %.300s", where,
				   (long long) snapshot_id, inner);
	BF_FAIL_AT(err, BF_ERR_CORRUPT, err->offset, "table property %s: %.300s", where, inner);
}

BfStatus
bfi_covered_parquet(BfArena *a, const BfIceTable *t, const BfIceSnapshot *head, BfCoverage *out,
					BfError *err)
{
	const BfIceMetadata *m = t->metadata;
	const char *text;
	int32_t steps = 0;

	*out = (BfCoverage){0, NULL};
	for (const BfIceSnapshot *s = head; s != NULL; s = bf_ice_snapshot(m, s->parent_id))
	{
		text = bf_ice_summary(s, BF_ICE_COVERED_PARQUET);
		if (text != NULL)
			return parse_coverage(a, text, BF_ICE_COVERED_PARQUET, s->id, out, err);
		if (s->parent_id == -1)
			return BF_OK;
		if (++steps > m->snapshots.n)
			BF_FAIL(err, BF_ERR_CORRUPT, "snapshots: the parents of %lld go round in a circle",
					(long long) head->id);
	}
	text = head != NULL ? bf_ice_property(m, BF_ICE_COVERED_PARQUET) : NULL;
	if (text == NULL)
		return BF_OK;
	return parse_coverage(a, text, BF_ICE_COVERED_PARQUET, -1, out, err);
}

BfStatus
bfi_coverage_union(BfArena *a, const BfCoverage *x, const BfCoverage *y, BfCoverage *out,
				   BfError *err)
{
	int32_t i = 0, k = 0;

	out->n = 0;
	BF_NEW(a, out->items, (size_t) x->n + (size_t) y->n, err);
	while (i < x->n || k < y->n)
	{
		struct BfCoverageItem *item = &out->items[out->n++];

		BF_ASSERT(out->n <= x->n + y->n);
		if (k == y->n || (i < x->n && x->items[i].ledger_id < y->items[k].ledger_id))
			*item = x->items[i++];
		else if (i == x->n || y->items[k].ledger_id < x->items[i].ledger_id)
			*item = y->items[k++];
		else
		{
			item->ledger_id = x->items[i].ledger_id;
			BF_TRY(bf_rangeset_union(a, &x->items[i++].ranges, &y->items[k++].ranges, &item->ranges,
									 err));
		}
		BF_ASSERT(out->n == 1 || item[-1].ledger_id < item->ledger_id);
	}
	return BF_OK;
}

static int
compare_named(const void *x, const void *y)
{
	const BfiNamedRange *a = x, *b = y;

	if (a->ledger_id != b->ledger_id)
		return a->ledger_id < b->ledger_id ? -1 : 1;
	if (a->range.first != b->range.first)
		return a->range.first < b->range.first ? -1 : 1;
	if (a->range.last != b->range.last)
		return a->range.last < b->range.last ? -1 : 1;
	return (a->file > b->file) - (a->file < b->file);
}

void
bfi_named_sort(BfiNamedRange *named, int64_t n)
{
	bf_sort(named, (size_t) n, sizeof *named, compare_named);
}

/* In place: what overlaps or touches becomes one. How many are left. */
static int64_t
merge_named(BfiNamedRange *named, int64_t n)
{
	int64_t left = 0;

	for (int64_t i = 0; i < n; i++)
	{
		BfiNamedRange *last = left > 0 ? &named[left - 1] : NULL;

		BF_ASSERT(named[i].range.first >= 0 && named[i].range.first <= named[i].range.last);
		BF_ASSERT(last == NULL || compare_named(last, &named[i]) <= 0);
		if (last == NULL || last->ledger_id != named[i].ledger_id ||
			named[i].range.first > last->range.last + 1)
			named[left++] = named[i];
		else if (named[i].range.last > last->range.last)
			last->range.last = named[i].range.last;
	}
	return left;
}

BfStatus
bfi_named_coverage(BfArena *a, BfiNamedRange *named, int64_t n, BfCoverage *out, BfError *err)
{
	struct BfCoverageItem *item = NULL;
	int64_t n_ledgers = 0;
	BfRange *ranges;

	n = merge_named(named, n);
	for (int64_t i = 0; i < n; i++)
		n_ledgers += i == 0 || named[i].ledger_id != named[i - 1].ledger_id;
	*out = (BfCoverage){0, NULL};
	BF_NEW(a, out->items, n_ledgers, err);
	BF_NEW_RAW(a, ranges, n, err);
	for (int64_t i = 0; i < n; i++)
	{
		if (item == NULL || item->ledger_id != named[i].ledger_id)
		{
			BF_ASSERT(out->n < n_ledgers);
			item = &out->items[out->n++];
			*item = (struct BfCoverageItem){named[i].ledger_id, {0, &ranges[i]}};
		}
		ranges[i] = named[i].range;
		if (item->ranges.n++ == BF_RANGESET_RANGES_MAX)
			BF_FAIL(err, BF_ERR_LIMIT, "the logical files of ledger %lld name more than %d ranges",
					(long long) item->ledger_id, BF_RANGESET_RANGES_MAX);
	}
	BF_ASSERT(out->n == n_ledgers);
	return BF_OK;
}

static BfStatus
check_disjoint(const BfiNamedRange *named, int64_t n, const BfIceDataFile *files, BfError *err)
{
	for (int64_t i = 1; i < n; i++)
		if (named[i].ledger_id == named[i - 1].ledger_id &&
			named[i].range.first <= named[i - 1].range.last)
			BF_FAIL(err, BF_ERR_CORRUPT,
					"entry %lld of ledger %lld is in two logical files: %.150s and %.150s",
					(long long) named[i].range.first, (long long) named[i].ledger_id,
					files[named[i - 1].file].path, files[named[i].file].path);
	return BF_OK;
}

static BfStatus
coverage_of_files(BfArena *a, BfArena *work, const BfIceDataFile *files, int32_t n_files,
				  BfCoverage *out, BfError *err)
{
	BfiNamedRange *named;
	int64_t n = 0;

	for (int32_t i = 0; i < n_files; i++)
		n += files[i].logical ? files[i].log.ranges.n : 0;
	BF_NEW_RAW(work, named, n, err);
	n = 0;
	for (int32_t i = 0; i < n_files; i++)
		for (int32_t k = 0; files[i].logical && k < files[i].log.ranges.n; k++)
			named[n++] = (BfiNamedRange){files[i].log.ledger_id, files[i].log.ranges.ranges[k],
										 (uint64_t) i};
	bfi_named_sort(named, n);
	BF_TRY(check_disjoint(named, n, files, err));
	return bfi_named_coverage(a, named, n, out, err);
}

BfStatus
bfi_coverage_of_files(BfArena *a, const BfIceDataFile *files, int32_t n_files, BfCoverage *out,
					  BfError *err)
{
	BfArena *work = bf_arena_new(bf_arena_host(a), "coverage", BFI_WORK_BYTES_MAX);
	BfStatus status;

	if (work == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = coverage_of_files(a, work, files, n_files, out, err);
	bf_arena_free(work);
	return status;
}
