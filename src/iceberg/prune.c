/*
 * A predicate against what is known of a manifest or a file: partition values and summaries, bounds
 * and counts.
 */
#include "iceberg/prune.h"

#include "avro/container.h"
#include "iceberg/internal.h"
#include "iceberg/prune_internal.h"

typedef struct PruneSpec
{
	int32_t spec_id;
	int32_t n_spec_fields; /* all of the spec's */
	int32_t n;
	BfiSpecField *fields;
} PruneSpec;

struct BfIcePruner
{
	const BfPred *pred;
	const BfSchema *schema;
	uint32_t flags;
	int32_t n_specs;
	PruneSpec *specs;
	int32_t n_fields; /* that the predicate mentions */
	int32_t *fields;
	struct Scratch *scratch; /* of bfi_prune_stats */
};

/* What is known of one manifest or file while the predicate is evaluated. */
typedef struct Evidence
{
	const BfIcePruner *pruner;
	const PruneSpec *spec;		  /* NULL: not known */
	const BfValue *partition;	  /* a file's; NULL: the manifest's summaries count */
	const BfAvroValue *summaries; /* one per field of the spec */
	int64_t record_count;
	bool use_bounds;
	BfView metrics;
	const int32_t *only_ids; /* columns that metrics are about; NULL: all */
	int32_t n_only_ids;
	BfIceMetric *metric; /* of the column at hand */
	BfiPruneBuffers *buffers;
} Evidence;

/* What bounds point to while a leaf is looked at. Not a part of Evidence: nobody need clear it. */
typedef struct Scratch
{
	BfIceMetric metric;
	BfiPruneBuffers buffers;
} Scratch;

BfStatus
bf_ice_pruner_new(BfArena *a, const BfIceMetadata *m, const BfSchema *schema, const BfPred *pred,
				  uint32_t flags, BfIcePruner **out, BfError *err)
{
	BfIcePruner *p;

	BF_NEW(a, p, 1, err);
	*p = (BfIcePruner){.pred = pred, .schema = schema, .flags = flags, .n_specs = m->specs.n};
	BF_NEW(a, p->specs, m->specs.n, err);
	for (int32_t i = 0; i < m->specs.n; i++)
	{
		const BfIceSpec *spec = &m->specs.all[i];
		PruneSpec *s = &p->specs[i];

		s->spec_id = spec->spec_id;
		s->n_spec_fields = spec->n_fields;
		BF_NEW(a, s->fields, spec->n_fields, err);
		for (int32_t k = 0; k < spec->n_fields; k++)
		{
			const BfIcePartitionField *f = &spec->fields[k];
			int32_t field = bf_schema_find_id(schema, f->source_id);
			BfType result;

			if (field < 0 || f->transform.kind == BF_TRANSFORM_VOID ||
				bfi_partition_type(m, f, &result) != BF_OK)
				continue;
			s->fields[s->n++] = (BfiSpecField){.field = field,
											   .position = k,
											   .transform = f->transform,
											   .source = schema->fields[field].type,
											   .result = result};
		}
	}
	BF_NEW(a, p->scratch, 1, err);
	BF_TRY(bf_pred_fields(pred, a, &p->fields, &p->n_fields, err));
	BF_ASSERT(p->n_fields >= 0 && (p->n_fields == 0 || p->fields != NULL));
	*out = p;
	return BF_OK;
}

static const PruneSpec *
find_spec(const BfIcePruner *p, int32_t spec_id)
{
	for (int32_t i = 0; i < p->n_specs; i++)
		if (p->specs[i].spec_id == spec_id)
			return &p->specs[i];
	return NULL;
}

/* --- Partition values ----------------------------------------------------------------------- */

static void
no_nulls(BfColumnStats *s)
{
	s->null_count = 0;
	s->known = true;
}

static void
value_evidence(Evidence *e, const BfiSpecField *f, BfColumnStats *s)
{
	const BfValue *v = &e->partition[f->position];

	BF_ASSERT(f->position < e->spec->n_spec_fields);
	if (v->type.kind == BF_KIND_NULL) /* the manifest has no such field */
		return;
	s->known = true;
	s->row_count = 1; /* of all rows alike; there may be more than the manifest tells */
	if (v->is_null)
	{
		s->null_count = 1;
		return;
	}
	BF_ASSERT(bf_type_equal(v->type, f->result));
	s->null_count = 0;
	if (!bfi_value_is_nan(v))
	{
		s->may_have_nan = false;
		bfi_inverse_range(f, v, v, e->buffers, s);
	}
}

static bool
summary_bound(const BfAvroValue *summary, int32_t id, const char *name, BfType type, BfValue *out)
{
	const BfAvroValue *v = bf_avro_field(summary, id, name);

	return v != NULL && (v->schema->type == BF_AVRO_BYTES || v->schema->type == BF_AVRO_FIXED) &&
		   bf_ice_bound_value(v->u.bytes, type, out);
}

static void
summary_evidence(Evidence *e, const BfiSpecField *f, BfColumnStats *s)
{
	const BfAvroValue *item = &e->summaries->u.list.items[f->position];
	const BfAvroValue *nulls, *nans;
	BfValue lo, hi;
	bool has_lo, has_hi;

	BF_ASSERT(f->position < e->summaries->u.list.n);
	if (item->schema->type != BF_AVRO_RECORD)
		return;
	nulls = bf_avro_field(item, 509, "contains_null");
	nans = bf_avro_field(item, 518, "contains_nan");
	if (nulls != NULL && nulls->schema->type == BF_AVRO_BOOLEAN && !nulls->u.b)
		no_nulls(s);
	if (nans != NULL && nans->schema->type == BF_AVRO_BOOLEAN && !nans->u.b)
		s->may_have_nan = false;
	has_lo = summary_bound(item, 510, "lower_bound", f->result, &lo);
	has_hi = summary_bound(item, 511, "upper_bound", f->result, &hi);
	if (!has_lo && !has_hi)
		return;
	s->known = true;
	bfi_inverse_range(f, has_lo ? &lo : NULL, has_hi ? &hi : NULL, e->buffers, s);
}

static void
partition_evidence(Evidence *e, int32_t field, BfColumnStats *s)
{
	BF_ASSERT(e->partition == NULL || e->summaries == NULL);
	for (int32_t i = 0; e->spec != NULL && i < e->spec->n; i++)
	{
		const BfiSpecField *f = &e->spec->fields[i];

		if (f->field != field)
			continue;
		if (e->partition != NULL)
			value_evidence(e, f, s);
		else if (e->summaries != NULL)
			summary_evidence(e, f, s);
	}
}

/* Does the file have this value of a transform? */
static bool
is_partition(const Evidence *e, const BfiSpecField *f, const BfValue *value)
{
	const BfValue *have;

	if (e->partition == NULL)
		return true;
	have = &e->partition[f->position];
	return have->type.kind == BF_KIND_NULL ||
		   (!have->is_null &&
			(!bf_type_equal(have->type, value->type) || bf_value_compare(have, value) == 0));
}

/* Is a bucket number one that the file, or files of the manifest, can have? */
static bool
may_have_bucket(const Evidence *e, const BfiSpecField *f, int32_t bucket)
{
	const BfAvroValue *item;
	BfValue v;

	BF_ASSERT(f->transform.kind == BF_TRANSFORM_BUCKET && bucket >= 0);
	if (e->partition != NULL)
	{
		const BfValue *have = &e->partition[f->position];

		if (have->type.kind == BF_KIND_NULL)
			return true;
		return !have->is_null && have->v.i32 == bucket;
	}
	if (e->summaries == NULL)
		return true;
	item = &e->summaries->u.list.items[f->position];
	if (item->schema->type != BF_AVRO_RECORD)
		return true;
	if (summary_bound(item, 510, "lower_bound", f->result, &v) && v.v.i32 > bucket)
		return false;
	return !summary_bound(item, 511, "upper_bound", f->result, &v) || v.v.i32 >= bucket;
}

static bool
may_have_value(void *arg, int32_t field, const BfValue *value)
{
	const Evidence *e = arg;

	for (int32_t i = 0; e->spec != NULL && i < e->spec->n; i++)
	{
		const BfiSpecField *f = &e->spec->fields[i];
		bool bytes = f->transform.kind == BF_TRANSFORM_TRUNCATE &&
					 bf_type_storage(f->source) == BF_STORE_VIEW;
		BfError ignored;
		BfValue result;

		if (f->field != field || (f->transform.kind != BF_TRANSFORM_BUCKET && !bytes) ||
			!bf_type_equal(value->type, f->source) ||
			bf_transform_apply(f->transform, value, &result, &ignored) != BF_OK)
			continue;
		if (bytes ? !is_partition(e, f, &result) : !may_have_bucket(e, f, result.v.i32))
			return false;
	}
	return true;
}

/* --- Bounds of files ------------------------------------------------------------------------ */

/* Some writers round the bounds of decimals to whole numbers, towards anything. */
static void
widen_decimal(BfValue *v, bool upper, bool *has)
{
	bf_i128 one = 1, x;

	BF_ASSERT(!*has || v->type.scale <= 38);
	if (!*has || v->type.scale <= 0 || !bfi_value_integer(v, &x))
		return;
	for (int32_t i = 0; i < v->type.scale; i++)
		one *= 10;
	if (x % one != 0)
		return;
	*has = !__builtin_add_overflow(x, upper ? one : -one, &x) && bfi_integer_value(x, v->type, v);
}

/* Java's bounds of a row group are in the order of bytes, but which of several row groups' is the
 * least it decides by comparing halves as signed numbers: of a file with 00… to 33… and bc… to ff…,
 * either may be missing. */
static void
uuid_bounds(const Evidence *e, BfValue *min, BfValue *max, bool *has_min, bool *has_max)
{
	BF_ASSERT(!*has_min || !*has_max || bf_value_compare(min, max) <= 0);
	*has_min &= e->metric->one_group;
	*has_max &= e->metric->one_group;
	if (*has_min)
		bfi_uuid_widen(min, false, e->buffers, has_min);
	if (*has_max)
		bfi_uuid_widen(max, true, e->buffers, has_max);
}

static void
decode_bounds(Evidence *e, BfType type, BfColumnStats *s)
{
	const BfIceMetric *m = e->metric;
	BfValue min, max;
	bool has_min = m->has_lower && bf_ice_bound_value(m->lower, type, &min);
	bool has_max = m->has_upper && bf_ice_bound_value(m->upper, type, &max);

	if (has_min && has_max && bf_value_compare(&min, &max) > 0)
		return;
	if (type.kind == BF_KIND_DECIMAL)
	{
		widen_decimal(&min, false, &has_min);
		widen_decimal(&max, true, &has_max);
	}
	else if (type.kind == BF_KIND_UUID)
		uuid_bounds(e, &min, &max, &has_min, &has_max);
	else if (has_max && bf_type_storage(type) == BF_STORE_VIEW)
	{
		/* No bytes at all mean "not known" to some. */
		if (max.v.view.len == 0)
			has_max = false;
		else if (m->upper_cut || bfi_text_may_be_cut(&max))
			has_max = bfi_text_after_prefix(max.v.view, type, e->buffers, &max.v.view);
	}
	bfi_range_tighten(s, has_min ? &min : NULL, has_max ? &max : NULL);
}

static void
bounds_evidence(Evidence *e, int32_t field, BfColumnStats *s)
{
	const BfField *f = &e->pruner->schema->fields[field];
	bool is_float = f->type.kind == BF_KIND_FLOAT32 || f->type.kind == BF_KIND_FLOAT64;
	const BfIceMetric *m = e->metric;

	BF_ASSERT(m != NULL && e->use_bounds);
	if (bf_type_storage(f->type) == BF_STORE_NESTED || bf_type_storage(f->type) == BF_STORE_NONE ||
		!bf_ice_metrics_find(e->metrics, f->id, e->record_count, e->metric))
		return;
	/* Counts that don't belong to so many rows are of something else, and nothing but NULLs has no
	 * bounds. A file without rows needs no pruning, and may have some; of one whose rows nobody
	 * counted nobody looked at the values either. */
	if (e->record_count <= 0 || (m->values >= 0 && m->values != e->record_count) ||
		m->nulls > e->record_count || m->nans > e->record_count ||
		(m->nulls == e->record_count && (m->lower.len > 0 || m->upper.len > 0)))
		return;
	/* A file that lacks the column may be said to have NULLs, where its rows have the default. */
	if (f->has_default && !m->has_lower && !m->has_upper)
		return;
	BF_ASSERT(e->record_count > 0);
	s->known = true;
	s->row_count = e->record_count;
	if (m->nulls >= 0 && s->null_count < 0)
		s->null_count = m->nulls;
	if (is_float && m->nans == 0)
		s->may_have_nan = false;
	decode_bounds(e, f->type, s);
}

static bool
stats_of(void *arg, int32_t field, BfColumnStats *s)
{
	Evidence *e = arg;
	bool counts = e->only_ids == NULL;

	if (field < 0 || field >= e->pruner->schema->n_fields)
		return false;
	BF_ASSERT(e->only_ids != NULL || e->n_only_ids == 0);
	e->buffers->n = 0;
	partition_evidence(e, field, s);
	for (int32_t i = 0; i < e->n_only_ids; i++)
		counts |= e->only_ids[i] == e->pruner->schema->fields[field].id;
	if (e->use_bounds && counts)
		bounds_evidence(e, field, s);
	return s->known;
}

/* --- Verdicts ------------------------------------------------------------------------------- */

bool
bf_ice_prune_manifest(const BfIcePruner *p, const BfIceManifest *m)
{
	Scratch scratch;
	Evidence e;

	if ((p->flags & BF_PRUNE_MANIFEST) == 0 || m->partitions == NULL)
		return false;
	e = (Evidence){.pruner = p,
				   .spec = find_spec(p, m->spec_id),
				   .summaries = m->partitions,
				   .record_count = -1,
				   .buffers = &scratch.buffers};
	if (e.spec == NULL || m->partitions->schema->type != BF_AVRO_ARRAY ||
		m->partitions->u.list.n != e.spec->n_spec_fields)
		return false;
	return !bf_pred_may_match_and_contain(p->pred, stats_of, may_have_value, &e);
}

BfIcePrunedBy
bf_ice_prune_file(const BfIcePruner *p, int32_t spec_id, const BfValue *partition,
				  int64_t record_count, BfView metrics)
{
	Scratch scratch;
	Evidence e = {.pruner = p,
				  .record_count = record_count,
				  .metrics = metrics,
				  .metric = &scratch.metric,
				  .buffers = &scratch.buffers};

	if ((p->flags & BF_PRUNE_PARTITION) != 0)
	{
		e.spec = find_spec(p, spec_id);
		e.partition = partition;
		if (e.spec != NULL && e.spec->n > 0 &&
			!bf_pred_may_match_and_contain(p->pred, stats_of, may_have_value, &e))
			return BF_ICE_PRUNED_BY_PARTITION;
	}
	if ((p->flags & BF_PRUNE_MANIFEST) == 0 || metrics.len == 0)
		return BF_ICE_NOT_PRUNED;
	e.use_bounds = true;
	return bf_pred_may_match_and_contain(p->pred, stats_of, may_have_value, &e)
			   ? BF_ICE_NOT_PRUNED
			   : BF_ICE_PRUNED_BY_BOUNDS;
}

bool
bf_ice_prune_equality_delete(const BfIcePruner *p, const int32_t *equality_ids,
							 int32_t n_equality_ids, int64_t record_count, BfView metrics)
{
	Scratch scratch;
	Evidence e = {.pruner = p,
				  .record_count = record_count,
				  .use_bounds = true,
				  .metrics = metrics,
				  .metric = &scratch.metric,
				  .buffers = &scratch.buffers,
				  .only_ids = equality_ids,
				  .n_only_ids = n_equality_ids};

	return (p->flags & BF_PRUNE_MANIFEST) != 0 && metrics.len > 0 &&
		   !bf_pred_may_match(p->pred, stats_of, &e);
}

/* --- For indexes ------------------------------------------------------------------------------ */

const int32_t *
bfi_pruner_fields(const BfIcePruner *p, int32_t *n)
{
	*n = p->n_fields;
	return p->fields;
}

const BfField *
bfi_pruner_field(const BfIcePruner *p, int32_t field)
{
	return field >= 0 && field < p->schema->n_fields ? &p->schema->fields[field] : NULL;
}

uint32_t
bfi_pruner_flags(const BfIcePruner *p)
{
	return p->flags;
}

bool
bfi_pruner_partitions(const BfIcePruner *p, int32_t spec_id, int32_t field)
{
	const PruneSpec *spec = find_spec(p, spec_id);

	for (int32_t i = 0; spec != NULL && i < spec->n; i++)
		if (spec->fields[i].field == field)
			return true;
	return false;
}

void
bfi_prune_stats(const BfIcePruner *p, int32_t field, bool bounds, int32_t spec_id,
				const BfValue *partition, int64_t record_count, BfView metrics, BfColumnStats *out)
{
	Evidence e = {.pruner = p,
				  .spec = bounds ? NULL : find_spec(p, spec_id),
				  .partition = partition,
				  .record_count = record_count,
				  .use_bounds = bounds,
				  .metrics = metrics,
				  .metric = &p->scratch->metric,
				  .buffers = &p->scratch->buffers};

	BF_ASSERT(field >= 0 && field < p->schema->n_fields);
	*out = (BfColumnStats){.null_count = -1, .row_count = -1, .may_have_nan = true};
	if (!stats_of(&e, field, out))
		out->known = false;
}

typedef struct OneField
{
	int32_t field;
	const BfColumnStats *stats;
} OneField;

static bool
stats_of_one(void *arg, int32_t field, BfColumnStats *s)
{
	const OneField *one = arg;

	if (field != one->field)
		return false;
	*s = *one->stats;
	return s->known;
}

bool
bfi_prune_may_match(const BfIcePruner *p, int32_t field, const BfColumnStats *stats)
{
	OneField one = {field, stats};

	return bf_pred_may_match(p->pred, stats_of_one, &one);
}
