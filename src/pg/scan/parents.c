/*
 * pg/scan/parents.c: see parents.h.
 */
#include "pg/scan/parents.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Of so many values all are different. */
#define UNIQUE_PART 0.99f

/* Between which values one partition's are. */
typedef struct Bounds
{
	Datum low;
	Datum high;
} Bounds;

typedef struct Sum
{
	BifangColumnStatsFn known;
	bool ours; /* a partition is one of which files told */
	bool unique;
	double rows;
	double nulls;
	double width;
	double distinct; /* of all partitions together, were they apart; -1 = unknown */
	double most;	 /* of one of them */
	/* Of partitions that have any values; n_bounds = -1: not known of all, or nobody asks. */
	int n_bounds;
	int max_bounds;
	Bounds *bounds;
	FmgrInfo *compare;
	Oid collation;
} Sum;

/* ---- one partition ---- */

static int
compare_values(const Sum *s, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(s->compare, s->collation, a, b));
}

static void
widen(const Sum *s, Bounds *b, bool *any, const Datum *values, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (!*any || compare_values(s, values[i], b->low) < 0)
			b->low = values[i];
		if (!*any || compare_values(s, values[i], b->high) > 0)
			b->high = values[i];
		*any = true;
	}
}

/* Values of slots stay: whoever plans has a context of its own. */
static void
add_bounds(Sum *s, HeapTuple tuple)
{
	static const int kinds[] = {STATISTIC_KIND_HISTOGRAM, STATISTIC_KIND_MCV};
	Bounds b;
	bool any = false;

	if (s->n_bounds < 0)
		return;
	for (int i = 0; i < (int) lengthof(kinds); i++)
	{
		AttStatsSlot slot;

		if (get_attstatsslot(&slot, tuple, kinds[i], InvalidOid, ATTSTATSSLOT_VALUES))
			widen(s, &b, &any, slot.values, slot.nvalues);
	}
	if (!any)
	{
		s->n_bounds = -1;
		return;
	}
	if (s->n_bounds == s->max_bounds)
	{
		s->max_bounds = s->n_bounds * 2 + 16;
		s->bounds = s->n_bounds == 0
						? palloc((Size) s->max_bounds * sizeof *s->bounds)
						: repalloc(s->bounds, (Size) s->max_bounds * sizeof *s->bounds);
	}
	s->bounds[s->n_bounds++] = b;
}

/* What ANALYZE found of a table's column, or what files tell; NULL = nothing. */
static HeapTuple
leaf_stats(Sum *s, Oid relid, AttrNumber attnum)
{
	HeapTuple tuple = s->known(relid, attnum);

	s->ours |= tuple != NULL;
	return tuple != NULL ? tuple
						 : SearchSysCacheCopy3(STATRELATTINH, ObjectIdGetDatum(relid),
											   Int16GetDatum(attnum), BoolGetDatum(false));
}

static bool
add_leaf(Sum *s, const RelOptInfo *rel, Oid relid, AttrNumber attnum)
{
	HeapTuple tuple = leaf_stats(s, relid, attnum);
	Form_pg_statistic stats;
	double distinct;

	if (tuple == NULL)
		return false;
	stats = (Form_pg_statistic) GETSTRUCT(tuple);
	distinct = stats->stadistinct < 0 ? -stats->stadistinct * rel->tuples : stats->stadistinct;
	s->unique &= -stats->stadistinct >= (1 - stats->stanullfrac) * UNIQUE_PART;
	s->rows += rel->tuples;
	s->nulls += rel->tuples * stats->stanullfrac;
	s->width += rel->tuples * stats->stawidth;
	s->distinct = distinct <= 0 || s->distinct < 0 ? -1 : s->distinct + distinct;
	s->most = Max(s->most, distinct);
	if (stats->stanullfrac < 1)
		add_bounds(s, tuple);
	heap_freetuple(tuple);
	return true;
}

/* ---- all of them ---- */

/* The partitions that planning has left, down to those without any. */
static bool
add_children(PlannerInfo *root, Sum *s, Index parent, AttrNumber attnum)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const AppendRelInfo *link = root->append_rel_array[i];
		const RangeTblEntry *rte = root->simple_rte_array[i];
		RelOptInfo *rel = root->simple_rel_array[i];
		const Var *var;

		if (link == NULL || link->parent_relid != parent || rel == NULL || IS_DUMMY_REL(rel))
			continue;
		var = attnum <= list_length(link->translated_vars)
				  ? list_nth(link->translated_vars, attnum - 1)
				  : NULL;
		if (var == NULL || !IsA(var, Var))
			return false;
		if (rte->inh ? !add_children(root, s, (Index) i, var->varattno)
					 : !add_leaf(s, rel, rte->relid, var->varattno))
			return false;
	}
	return true;
}

static int
compare_bounds(const void *a, const void *b, void *sum)
{
	return compare_values(sum, ((const Bounds *) a)->low, ((const Bounds *) b)->low);
}

/* Do all values of one partition come before all of the next one? */
static bool
apart(Sum *s)
{
	if (s->n_bounds < 0)
		return false;
	qsort_arg(s->bounds, (size_t) s->n_bounds, sizeof *s->bounds, compare_bounds, s);
	for (int i = 1; i < s->n_bounds; i++)
		if (compare_values(s, s->bounds[i - 1].high, s->bounds[i].low) >= 0)
			return false;
	return true;
}

/* Is it what the table is divided by? Then a value is in one partition only. */
static bool
is_key(const RelOptInfo *rel, AttrNumber attnum)
{
	const Var *var;

	if (rel->part_scheme == NULL || rel->part_scheme->partnatts != 1 ||
		list_length(rel->partexprs[0]) != 1)
		return false;
	var = linitial(rel->partexprs[0]);
	return IsA(var, Var) && var->varattno == attnum;
}

static HeapTuple
form_tuple(const Sum *s, Oid relid, AttrNumber attnum, bool add_up)
{
	Relation statistic = table_open(StatisticRelationId, AccessShareLock);
	double distinct = s->distinct < 0 ? 0 : add_up ? s->distinct : s->most;
	double nulls = s->nulls / s->rows;
	Datum values[Natts_pg_statistic] = {0};
	bool isnull[Natts_pg_statistic];
	HeapTuple tuple;

	for (int i = 0; i < Natts_pg_statistic; i++)
		isnull[i] = i >= Anum_pg_statistic_stanumbers1 - 1;
	if (s->unique)
		distinct = nulls - 1;
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(true);
	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum((float4) nulls);
	values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum((int32) (s->width / s->rows));
	values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum((float4) distinct);
	tuple = heap_form_tuple(RelationGetDescr(statistic), values, isnull);
	table_close(statistic, AccessShareLock);
	return tuple;
}

HeapTuple
bifang_statistics_of_parent(PlannerInfo *root, Index varno, AttrNumber attnum,
							BifangColumnStatsFn known)
{
	const RangeTblEntry *rte = root->simple_rte_array[varno];
	Sum s = {.known = known, .unique = true};
	TypeCacheEntry *type;
	bool key;
	Oid typid;
	int32 typmod;

	if (attnum <= 0 || root->append_rel_array == NULL || root->simple_rel_array[varno] == NULL ||
		SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(rte->relid), Int16GetDatum(attnum),
							  BoolGetDatum(true)))
		return NULL;
	get_atttypetypmodcoll(rte->relid, attnum, &typid, &typmod, &s.collation);
	type = lookup_type_cache(typid, TYPECACHE_CMP_PROC_FINFO);
	s.compare = &type->cmp_proc_finfo;
	key = is_key(root->simple_rel_array[varno], attnum);
	if (key || !OidIsValid(type->cmp_proc))
		s.n_bounds = -1;
	if (!add_children(root, &s, varno, attnum) || !s.ours || s.rows <= 0)
		return NULL;
	return form_tuple(&s, rte->relid, attnum, s.unique || key || apart(&s));
}
