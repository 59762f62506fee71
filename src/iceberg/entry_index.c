/*
 * Indexes over the entries of one cached manifest, by what is known of a column: its partition
 * values, or its bounds.
 *
 * Entries are put in the order of their least value. Of each 64 neighbours, 16 in small manifests,
 * the hull is kept: what is known of the rows of all of them. If no row of a hull can match, none
 * of its entries has one. So `id = 7` over 100,000 files in whatever order costs 1,600 looks at
 * hulls and one or two hulls' worth of looks at entries.
 *
 * A hull is never narrower than its entries. Where one of them has no bound, the hull has none; so
 * those that nothing is known of stand at the end, in hulls of their own if there are many. Bounds
 * that are NaN or inverted count as absent, as they do for predicates.
 *
 * An index is made when a column has been asked for for the third time: the first two are planner
 * and executor of a first query.
 */

#include "base/sort.h"
#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"
#include "iceberg/prune_internal.h"

#define ENTRIES_MIN 32
#define USES_BEFORE 2

typedef struct Ranked
{
	int32_t entry;
	int32_t rank; /* 0: by its least value; 1: no value, but something is known; 2: nothing is */
	BfValue min;
} Ranked;

/* Making one index. */
typedef struct Make
{
	const BfiManifestData *data;
	const BfIcePruner *pruner;
	const BfHost *host;
	int32_t field;
	BfiFieldIndex *index;
	BfArena *work;
	/* Texts of the hull at hand. */
	uint8_t min[BF_ICE_BOUND_BYTES];
	uint8_t max[BF_ICE_BOUND_BYTES];
} Make;

static int32_t
hull_entries(const BfiManifestData *data)
{
	return data->n < 4096 ? 16 : 64;
}

static int32_t
count_hulls(const BfiManifestData *data)
{
	return (data->n + hull_entries(data) - 1) / hull_entries(data);
}

static bool
same_question(const BfiFieldIndex *x, const BfField *f, bool bounds)
{
	return x->field_id == f->id && x->bounds == bounds && x->has_default == f->has_default &&
		   bf_type_equal(x->type, f->type);
}

/* NULL when there are too many. */
static BfiFieldIndex *
find_index(BfiManifestData *data, const BfField *f, bool bounds)
{
	BfiFieldIndex *x = data->indexes, *end = x + data->n_indexes;

	BF_ASSERT(data->n_indexes >= 0 && data->n_indexes <= BFI_INDEXES_MAX);
	while (x < end && !same_question(x, f, bounds))
		x++;
	if (x < end)
		return x;
	if (data->n_indexes == BFI_INDEXES_MAX)
		return NULL;
	*x = (BfiFieldIndex){
		.field_id = f->id, .type = f->type, .has_default = f->has_default, .bounds = bounds};
	data->n_indexes++;
	return x;
}

static void
stats_of_entry(const Make *m, int32_t entry, BfColumnStats *s)
{
	const BfiEntry *e = &m->data->entries[entry];

	BF_ASSERT(entry >= 0 && entry < m->data->n);
	bfi_prune_stats(m->pruner, m->field, m->index->bounds, e->spec_id, e->partition,
					e->record_count, e->metrics, s);
	if ((s->has_min && bfi_value_is_nan(&s->min)) || (s->has_max && bfi_value_is_nan(&s->max)) ||
		(s->has_min && s->has_max && bf_value_compare(&s->min, &s->max) > 0))
		s->has_min = s->has_max = false;
	if (s->null_count > s->row_count)
		s->null_count = -1;
}

static BfStatus
keep_view(BfArena *a, BfValue *v, BfError *err)
{
	if (bf_type_storage(v->type) == BF_STORE_VIEW)
		return bfi_copy_view(a, v->v.view, &v->v.view, err);
	return BF_OK;
}

static int
compare_ranked(const void *x, const void *y)
{
	const Ranked *a = x, *b = y;
	int order = a->rank - b->rank;

	BF_ASSERT(a->rank >= 0 && a->rank <= 2);
	if (order == 0 && a->rank == 0)
		order = bf_value_compare(&a->min, &b->min);
	return order != 0 ? order : (a->entry > b->entry) - (a->entry < b->entry);
}

static BfStatus
rank_entries(const Make *m, Ranked **out, BfError *err)
{
	int32_t n = m->data->n;
	Ranked *ranked;

	BF_NEW_RAW(m->work, ranked, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		BfColumnStats s;

		if ((i & 1023) == 1023)
			BF_TRY(bf_check_cancel(m->host, err));
		stats_of_entry(m, i, &s);
		ranked[i] = (Ranked){.entry = i, .rank = !s.known ? 2 : s.has_min ? 0 : 1, .min = s.min};
		if (ranked[i].rank == 0)
			BF_TRY(keep_view(m->work, &ranked[i].min, err));
	}
	bf_sort(ranked, (size_t) n, sizeof *ranked, compare_ranked);
	*out = ranked;
	return BF_OK;
}

/* Longer texts are an entry's partition values, which stay. */
static void
hold_view(uint8_t *room, BfValue *v)
{
	if (bf_type_storage(v->type) != BF_STORE_VIEW || v->v.view.len == 0 ||
		v->v.view.len > BF_ICE_BOUND_BYTES)
		return;
	BF_ASSERT(v->v.view.ptr != NULL);
	memmove(room, v->v.view.ptr, v->v.view.len);
	v->v.view.ptr = room;
}

/* Rows without a value add nothing to the bounds, rows of which no bound is known all values. */
static void
widen(Make *m, BfColumnStats *hull, bool *first, const BfColumnStats *s)
{
	bool no_value = s->row_count >= 0 && s->row_count == s->null_count;

	BF_ASSERT(s->null_count <= s->row_count || s->row_count < 0);
	BF_ASSERT(!s->has_min || !s->has_max || bf_value_compare(&s->min, &s->max) <= 0);
	hull->known &= s->known;
	hull->may_have_nan |= s->may_have_nan;
	if (hull->null_count >= 0 &&
		(s->null_count < 0 ||
		 __builtin_add_overflow(hull->null_count, s->null_count, &hull->null_count)))
		hull->null_count = -1;
	if (hull->row_count >= 0 &&
		(s->row_count < 0 ||
		 __builtin_add_overflow(hull->row_count, s->row_count, &hull->row_count)))
		hull->row_count = -1;
	if (no_value)
		return;
	if (*first || (hull->has_min && (!s->has_min || bf_value_compare(&s->min, &hull->min) < 0)))
	{
		hull->has_min = s->has_min;
		hull->min = s->min;
		if (s->has_min)
			hold_view(m->min, &hull->min);
	}
	if (*first || (hull->has_max && (!s->has_max || bf_value_compare(&s->max, &hull->max) > 0)))
	{
		hull->has_max = s->has_max;
		hull->max = s->max;
		if (s->has_max)
			hold_view(m->max, &hull->max);
	}
	*first = false;
}

static BfStatus
make_hull(Make *m, int32_t number, BfColumnStats *hull, BfError *err)
{
	int32_t size = hull_entries(m->data), n = m->data->n - number * size;
	const int32_t *order = m->index->order + number * size;
	bool first = true;

	BF_ASSERT(number >= 0 && n > 0);
	*hull = (BfColumnStats){.known = true};
	for (int32_t i = 0; i < n && i < size; i++)
	{
		BfColumnStats s;

		stats_of_entry(m, order[i], &s);
		widen(m, hull, &first, &s);
	}
	BF_ASSERT(!hull->has_min || !hull->has_max || bf_value_compare(&hull->min, &hull->max) <= 0);
	if (hull->has_min)
		BF_TRY(keep_view(m->index->arena, &hull->min, err));
	return hull->has_max ? keep_view(m->index->arena, &hull->max, err) : BF_OK;
}

static BfStatus
fill_index(Make *m, BfError *err)
{
	BfiFieldIndex *x = m->index;
	int32_t n_hulls = count_hulls(m->data);
	Ranked *ranked;

	BF_ASSERT(x->n_hulls == 0 && x->arena != NULL);
	BF_TRY(rank_entries(m, &ranked, err));
	BF_NEW_RAW(x->arena, x->order, m->data->n, err);
	BF_NEW_RAW(x->arena, x->hulls, n_hulls, err);
	for (int32_t i = 0; i < m->data->n; i++)
		x->order[i] = ranked[i].entry;
	for (int32_t i = 0; i < n_hulls; i++)
		BF_TRY(make_hull(m, i, &x->hulls[i], err));
	x->n_hulls = n_hulls;
	return BF_OK;
}

/* Without room there is no index, and nobody tries again. */
static BfStatus
make_index(BfIceCache *c, BfiManifestData *data, const BfIcePruner *pruner, int32_t field,
		   BfiFieldIndex *x, const BfHost *host, BfError *err)
{
	int32_t n_hulls = count_hulls(data);
	size_t bytes = (size_t) data->n * sizeof *x->order +
				   (size_t) n_hulls * (sizeof *x->hulls + 4 * BF_ICE_BOUND_BYTES) + 16384;
	Make m = {.data = data, .pruner = pruner, .host = host, .field = field, .index = x};
	BfStatus status;

	BF_ASSERT(x->arena == NULL && data->plain);
	if (!bfi_cache_room(c, bytes))
		return BF_OK;
	x->arena = bf_arena_new(host, "index of a manifest", bytes);
	m.work = bf_arena_new(host, "making an index", SIZE_MAX / 4);
	if (x->arena == NULL || m.work == NULL)
		status = bf_error(err, BF_ERR_NOMEM, "out of memory");
	else
	{
		bf_arena_dense(x->arena);
		status = fill_index(&m, err);
	}
	bf_arena_free(m.work);
	if (status == BF_OK)
		bfi_cache_grown(c, data, bf_arena_bytes(x->arena));
	else
	{
		bf_arena_free(x->arena);
		x->arena = NULL;
	}
	return status == BF_ERR_LIMIT ? BF_OK : status;
}

/* Few hulls are left by most questions, so what they hold is marked, not what the others do. */
static void
exclude(const BfiManifestData *data, const BfiFieldIndex *x, const BfIcePruner *pruner,
		int32_t field, BfiAlive *alive, int64_t *count)
{
	int32_t size = hull_entries(data);
	uint64_t *left = alive->scratch;

	BF_ASSERT(x->n_hulls == 0 || x->n_hulls == count_hulls(data));
	if (x->n_hulls == 0)
		return;
	memset(left, 0, (size_t) alive->n_words * sizeof *left);
	for (int32_t h = 0; h < x->n_hulls; h++)
	{
		int32_t end = (h + 1) * size < data->n ? (h + 1) * size : data->n;

		if (!bfi_prune_may_match(pruner, field, &x->hulls[h]))
			continue;
		for (int32_t i = h * size; i < end; i++)
		{
			int32_t e = x->order[i];

			BF_ASSERT(e >= 0 && e < data->n);
			left[e >> 6] |= UINT64_C(1) << (e & 63);
		}
	}
	for (int32_t w = 0; w < alive->n_words; w++)
	{
		*count += __builtin_popcountll(alive->bits[w] & ~left[w]);
		alive->bits[w] &= left[w];
	}
}

static BfStatus
exclude_by(BfIceCache *c, const BfHost *host, BfiManifestData *data, const BfIcePruner *pruner,
		   int32_t field, bool bounds, BfiAlive *alive, int64_t *count, BfError *err)
{
	const BfField *f = bfi_pruner_field(pruner, field);
	BfiFieldIndex *x;

	if (f == NULL)
		return BF_OK;
	x = find_index(data, f, bounds);
	if (x == NULL)
		return BF_OK;
	if (x->uses <= USES_BEFORE && x->uses++ == USES_BEFORE)
		BF_TRY(make_index(c, data, pruner, field, x, host, err));
	exclude(data, x, pruner, field, alive, count);
	return BF_OK;
}

BfStatus
bfi_index_exclude(BfIceCache *c, const BfHost *host, BfiManifestData *data,
				  const BfIcePruner *pruner, BfiAlive *alive, int64_t *by_partition,
				  int64_t *by_bounds, BfError *err)
{
	uint32_t flags = bfi_pruner_flags(pruner);
	int32_t n;
	const int32_t *fields = bfi_pruner_fields(pruner, &n);

	if (data->n < ENTRIES_MIN)
		return BF_OK;
	for (int32_t i = 0; i < n && (flags & BF_PRUNE_PARTITION) != 0; i++)
		if (bfi_pruner_partitions(pruner, data->entries[0].spec_id, fields[i]))
			BF_TRY(exclude_by(c, host, data, pruner, fields[i], false, alive, by_partition, err));
	for (int32_t i = 0; i < n && (flags & BF_PRUNE_MANIFEST) != 0; i++)
		BF_TRY(exclude_by(c, host, data, pruner, fields[i], true, alive, by_bounds, err));
	return BF_OK;
}
