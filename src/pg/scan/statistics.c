/*
 * pg/scan/statistics.c: see statistics.h.
 */
#include "pg/scan/statistics.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/map.h"
#include "pg/catalog/options.h"
#include "pg/convert/out.h"
#include "pg/scan/kind.h"
#include "pg/scan/parents.h"
#include "pg/server/encoding.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"
#include "pg/server/version.h"

#define TABLES_MAX 1000
/* Statistics of an older snapshot count as long as the table is about as large. */
#define NEAR 2.0
/* Of so many values all are different. */
#define UNIQUE_PART 0.99

/* ---- what is kept ---- */

typedef struct OfColumn
{
	AttrNumber attnum;
	HeapTuple tuple; /* NULL: nothing is known */
} OfColumn;

typedef struct OfTable
{
	Oid relid;
	bool valid; /* false: the table has changed */
	uint64 mark;
	MemoryContext cxt;
	int n;
	OfColumn *columns;
} OfTable;

static HTAB *tables;
static get_relation_stats_hook_type next_stats;
static get_attavgwidth_hook_type next_width;

static OfTable *
find_table(Oid relid)
{
	return tables == NULL ? NULL : hash_search(tables, &relid, HASH_FIND, NULL);
}

static const OfColumn *
find_column(const OfTable *t, AttrNumber attnum)
{
	for (int i = 0; t != NULL && t->valid && i < t->n; i++)
		if (t->columns[i].attnum == attnum)
			return &t->columns[i];
	return NULL;
}

static void
forget_all(void)
{
	HASH_SEQ_STATUS all;
	OfTable *t;

	hash_seq_init(&all, tables);
	while ((t = hash_seq_search(&all)) != NULL)
	{
		MemoryContextDelete(t->cxt);
		hash_search(tables, &t->relid, HASH_REMOVE, NULL);
	}
}

/* Its types may be others by now, or it has been analyzed. */
static void
table_changed(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS all;
	OfTable *t;

	(void) arg;
	if (tables == NULL)
		return;
	if (OidIsValid(relid))
	{
		if ((t = find_table(relid)) != NULL)
			t->valid = false;
		return;
	}
	hash_seq_init(&all, tables);
	while ((t = hash_seq_search(&all)) != NULL)
		t->valid = false;
}

static OfTable *
new_table(Oid relid)
{
	OfTable *t;
	bool found;

	if (tables == NULL)
	{
		HASHCTL how = {.keysize = sizeof(Oid), .entrysize = sizeof(OfTable)};

		tables = hash_create("bifang: statistics", 64, &how, HASH_ELEM | HASH_BLOBS);
	}
	if (hash_get_num_entries(tables) >= TABLES_MAX && find_table(relid) == NULL)
		forget_all();
	t = hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
		*t = (OfTable){.relid = relid,
					   .cxt = AllocSetContextCreate(TopMemoryContext, "bifang statistics",
													ALLOCSET_SMALL_SIZES)};
	return t;
}

/* ---- values ---- */

/* Is the order of such values the one that the column has in SQL? */
static bool
same_order(BfType from, Oid typid, Oid collation)
{
	switch (typid)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID: return bf_type_storage(from) != BF_STORE_VIEW;
		case TEXTOID:
		case VARCHAROID:
			return (from.kind == BF_KIND_STRING || from.kind == BF_KIND_ENUM) &&
				   bifang_collation_is_c(collation);
		case UUIDOID: return from.kind == BF_KIND_UUID;
		case BYTEAOID: return from.kind == BF_KIND_BINARY || from.kind == BF_KIND_FIXED;
		default: return false;
	}
}

/* The points as Datums of the type; false: not all of them can be such. */
static bool
convert_points(const BfField *field, const BfValue *points, int n, Oid typid, Datum *values)
{
	BifangOutWhat what = {.field = field,
						  .typid = typid,
						  .typmod = -1,
						  .column = "",
						  .invalid_text = BIFANG_TEXT_NULL,
						  .out_of_range = BIFANG_RANGE_NULL};
	BfVector v = {.type = field->type,
				  .storage = bf_type_storage(field->type),
				  .form = BF_VEC_FLAT,
				  .n = n,
				  .capacity = n};
	Size size = bf_storage_size(v.storage);
	BifangRows rows = {NULL, 0, n};
	bool isnull[BF_SUMMARY_POINTS];
	BifangOut *out;

	if (!bifang_out_can_read(field, typid, -1))
		return false;
	v.data.raw = palloc0((Size) n * size + MAXIMUM_ALIGNOF);
	for (int i = 0; i < n; i++)
		memcpy((char *) v.data.raw + (Size) i * size, &points[i].v, size);
	out = bifang_out_new(CurrentMemoryContext, &what);
	bifang_out_begin(out, "");
	return !bifang_out_convert(out, &v, &rows, values, isnull);
}

/* ---- rows of pg_statistic ---- */

typedef struct Row
{
	Datum values[Natts_pg_statistic];
	bool nulls[Natts_pg_statistic];
} Row;

static void
set_values(Row *r, int kind, Oid op, const FormData_pg_attribute *att, Datum *values, int n)
{
	int16 len;
	bool byval;
	char align;

	get_typlenbyvalalign(att->atttypid, &len, &byval, &align);
	r->values[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(kind);
	r->values[Anum_pg_statistic_staop1 - 1] = ObjectIdGetDatum(op);
	r->values[Anum_pg_statistic_stacoll1 - 1] = ObjectIdGetDatum(att->attcollation);
	r->values[Anum_pg_statistic_stavalues1 - 1] =
		PointerGetDatum(construct_array(values, n, att->atttypid, len, byval, align));
	r->nulls[Anum_pg_statistic_stavalues1 - 1] = false;
}

/* The one value of all rows as the most common one, or points between which rows are spread. */
static void
set_points(Row *r, const BifangKnownColumn *c, const BfColumnEstimate *e,
		   const FormData_pg_attribute *att)
{
	Oid base = getBaseType(att->atttypid);
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	Datum values[BF_SUMMARY_POINTS];
	bool one = e->n_points == 1;
	Datum share;

	if (e->n_points == 0 ||
		!same_order(c->field->type, base, one ? C_COLLATION_OID : att->attcollation) ||
		!OidIsValid(one ? type->eq_opr : type->lt_opr) ||
		!convert_points(c->field, e->points, e->n_points, base, values))
		return;
	set_values(r, one ? STATISTIC_KIND_MCV : STATISTIC_KIND_HISTOGRAM,
			   one ? type->eq_opr : type->lt_opr, att, values, e->n_points);
	if (!one)
		return;
	share = Float4GetDatum((float4) (1 - Max(e->null_fraction, 0)));
	r->values[Anum_pg_statistic_stanumbers1 - 1] =
		PointerGetDatum(construct_array(&share, 1, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
	r->nulls[Anum_pg_statistic_stanumbers1 - 1] = false;
}

static int32
width_of(const BfColumnEstimate *e, const FormData_pg_attribute *att)
{
	if (att->attlen > 0)
		return att->attlen;
	if (e->width > 0)
		return (int32) Min(e->width + 1, 1 << 20) + VARHDRSZ_SHORT;
	return get_typavgwidth(att->atttypid, att->atttypmod);
}

/* As pg_statistic has it: shares of the rows are negative. */
static double
distinct_of(const BfColumnEstimate *e)
{
	return e->unique ? -(1 - Max(e->null_fraction, 0)) : e->distinct;
}

static HeapTuple
form_tuple(TupleDesc desc, Oid relid, const BifangKnownColumn *c, const BfColumnEstimate *e,
		   const FormData_pg_attribute *att)
{
	Row r;

	for (int i = 0; i < Natts_pg_statistic; i++)
	{
		r.values[i] = 0;
		r.nulls[i] = i >= Anum_pg_statistic_stanumbers1 - 1;
	}
	r.values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	r.values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(att->attnum);
	r.values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(false);
	r.values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum((float4) Max(e->null_fraction, 0));
	r.values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(width_of(e, att));
	r.values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum((float4) distinct_of(e));
	set_points(&r, c, e, att);
	return heap_form_tuple(desc, r.values, r.nulls);
}

/* What somebody has counted, for a table of today's size. */
static void
take_counted(const BifangKnownColumn *c, double rows, BfColumnEstimate *e)
{
	double values = rows * (1 - Max(e->null_fraction, 0));
	double then = c->distinct_rows < 0 ? rows : (double) c->distinct_rows;

	if (c->distinct <= 0 || then * NEAR < rows || then > rows * NEAR)
		return;
	e->unique = (double) c->distinct >= then * (1 - Max(e->null_fraction, 0)) * UNIQUE_PART;
	e->distinct = Max(Min((double) c->distinct, values), 1);
}

/* ---- renewing ---- */

/* Of the attributes those of which pg_statistic has nothing and this backend nothing either; facts
 * about rows are no columns. */
static int
ask_for(Relation rel, List *attrs, const OfTable *have, BifangKnownColumn *out)
{
	Oid relid = RelationGetRelid(rel);
	int n = 0;
	ListCell *lc;

	foreach (lc, attrs)
	{
		AttrNumber attnum = (AttrNumber) lfirst_int(lc);
		const FormData_pg_attribute *att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		BifangColumnOptions o;

		if (find_column(have, attnum) != NULL ||
			SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum),
								  BoolGetDatum(false)))
			continue;
		bifang_column_options_get(relid, attnum, &o);
		if (o.meta != BF_FACT_NONE)
			continue;
		out[n++] = (BifangKnownColumn){
			.attnum = attnum,
			.name = bifang_to_utf8(bifang_column_name(&o, NameStr(att->attname))),
			.occurrence = o.occurrence,
			.field_id = o.field_id,
			.distinct = -1,
			.distinct_rows = -1};
	}
	return n;
}

/* Tuples of the columns, NULL of those of which nothing is known, in the current context. */
static HeapTuple *
make_tuples(Relation rel, const BifangKnown *k, double rows)
{
	Relation statistic = table_open(StatisticRelationId, AccessShareLock);
	HeapTuple *tuples = palloc0((Size) (k->n + 1) * sizeof *tuples);
	BfColumnEstimate *e = palloc(sizeof *e);

	for (int i = 0; i < k->n; i++)
	{
		const BifangKnownColumn *c = &k->columns[i];

		if (c->field == NULL)
			continue;
		bf_summary_estimate(c->summary, rows, e);
		take_counted(c, rows, e);
		if (e->null_fraction >= 0 || e->distinct > 0 || e->n_points > 0)
			tuples[i] = form_tuple(RelationGetDescr(statistic), RelationGetRelid(rel), c, e,
								   TupleDescAttr(RelationGetDescr(rel), c->attnum - 1));
	}
	table_close(statistic, AccessShareLock);
	return tuples;
}

static void
keep(OfTable *t, const BifangKnown *k, HeapTuple *tuples)
{
	MemoryContext old = MemoryContextSwitchTo(t->cxt);
	OfColumn *columns = palloc((Size) (t->n + k->n) * sizeof *columns);

	if (t->n > 0)
		memcpy(columns, t->columns, (Size) t->n * sizeof *columns);
	for (int i = 0; i < k->n; i++)
		columns[t->n + i] =
			(OfColumn){k->columns[i].attnum, tuples[i] == NULL ? NULL : heap_copytuple(tuples[i])};
	t->columns = columns;
	t->n += k->n;
	MemoryContextSwitchTo(old);
}

/* Numbers of rows that are about the same. */
static uint64
rows_mark(double rows)
{
	return (uint64) (log2(Max(rows, 1)) * 4);
}

void
bifang_statistics_renew(Relation rel, const BifangWorklist *w, List *attrs, double rows)
{
	Oid relid = RelationGetRelid(rel);
	OfTable *t = find_table(relid);
	BifangKnown k = {0};
	HeapTuple *tuples;
	uint64 mark;

	if (!bifang_planner_statistics || w->kind->known == NULL || attrs == NIL)
		return;
	mark = bf_hash(w->kind->news(w), &(uint64){rows_mark(rows)}, sizeof(uint64));
	if (t != NULL && t->mark != mark)
		t->valid = false;
	k.columns = palloc((Size) list_length(attrs) * sizeof *k.columns);
	k.n = ask_for(rel, attrs, t, k.columns);
	if (k.n == 0)
		return;
	k.arena = bifang_arena(CurrentMemoryContext, "known of columns", BIFANG_ARENA_MAX_METADATA);
	w->kind->known(w, &k);
	tuples = make_tuples(rel, &k, rows);
	/* Nothing raises from here on but for want of memory. */
	t = new_table(relid);
	if (!t->valid)
	{
		MemoryContextReset(t->cxt);
		t->n = 0;
		t->columns = NULL;
		t->mark = mark;
		t->valid = true;
	}
	keep(t, &k, tuples);
}

/* ---- hooks ---- */

/* The number of the planner's relation; 0: it is none of its own. */
static Index
varno_of(PlannerInfo *root, const RangeTblEntry *rte)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rte_array[i] == rte)
			return (Index) i;
	return 0;
}

/* Of a column that nobody has analyzed, as the planner may keep it; NULL: nothing is known. */
static HeapTuple
column_stats(Oid relid, AttrNumber attnum)
{
	const OfColumn *c = find_column(find_table(relid), attnum);

	if (c == NULL || c->tuple == NULL ||
		SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum),
							  BoolGetDatum(false)))
		return NULL;
	/* Looking at caches may have thrown it away. */
	c = find_column(find_table(relid), attnum);
	return c == NULL ? NULL : heap_copytuple(c->tuple);
}

static bool
relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *var)
{
	HeapTuple tuple = NULL;
	Index varno;

	if (next_stats != NULL && next_stats(root, rte, attnum, var))
		return true;
	if (!bifang_planner_statistics || rte->rtekind != RTE_RELATION)
		return false;
	varno = varno_of(root, rte);
	if (rte->relkind == RELKIND_FOREIGN_TABLE && !rte->inh)
		tuple = column_stats(rte->relid, attnum);
	else if (rte->relkind == RELKIND_PARTITIONED_TABLE && rte->inh && varno > 0 && tables != NULL)
		tuple = bifang_statistics_of_parent(root, varno, attnum, column_stats);
	if (tuple == NULL)
		return false;
	var->statsTuple = tuple;
	var->freefunc = heap_freetuple;
	var->acl_ok = varno > 0 &&
				  bifang_all_rows_selectable(
					  root, varno, bms_make_singleton(attnum - FirstLowInvalidHeapAttributeNumber));
	return true;
}

static int32
average_width(Oid relid, AttrNumber attnum)
{
	int32 width = next_width == NULL ? 0 : next_width(relid, attnum);
	const OfColumn *c;

	if (width > 0 || !bifang_planner_statistics)
		return width;
	c = find_column(find_table(relid), attnum);
	return c == NULL || c->tuple == NULL ? 0 : ((Form_pg_statistic) GETSTRUCT(c->tuple))->stawidth;
}

void
bifang_statistics_init(void)
{
	next_stats = get_relation_stats_hook;
	get_relation_stats_hook = relation_stats;
	next_width = get_attavgwidth_hook;
	get_attavgwidth_hook = average_width;
	CacheRegisterRelcacheCallback(table_changed, (Datum) 0);
}
