/*
 * Manifests under a schema and specs of many types. Every entry that is handed out is within its
 * bounds; visiting with a kept arena and with one that is reset gives the same. Packed metrics say
 * what the entry says, and no entry is pruned by a predicate that every row satisfies.
 */
#include "fuzz/fuzz.h"

#include "iceberg/internal.h"
#include "iceberg/prune.h"

static const char metadata[] =
	"{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-sequence-number\":1,"
	"\"last-updated-ms\":1,\"last-column-id\":9,\"current-schema-id\":0,\"schemas\":[{"
	"\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"l\",\"type\":\"long\"},"
	"{\"id\":2,\"name\":\"t\",\"type\":\"timestamptz\"},{\"id\":3,\"name\":\"s\",\"type\":"
	"\"string\"},"
	"{\"id\":4,\"name\":\"d\",\"type\":\"decimal(9,2)\"},"
	"{\"id\":5,\"name\":\"w\",\"type\":\"decimal(38,2)\"},{\"id\":6,\"name\":\"u\",\"type\":"
	"\"uuid\"},"
	"{\"id\":7,\"name\":\"f\",\"type\":\"double\"},{\"id\":8,\"name\":\"y\",\"type\":\"date\"},"
	"{\"id\":9,\"name\":\"b\",\"type\":\"boolean\"}]}],\"default-spec-id\":0,\"partition-specs\":["
	"{\"spec-id\":0,\"fields\":[{\"source-id\":1,\"field-id\":1000,\"name\":\"l\",\"transform\":"
	"\"identity\"},{\"source-id\":2,\"field-id\":1001,\"name\":\"t_day\",\"transform\":\"day\"},"
	"{\"source-id\":3,\"field-id\":1002,\"name\":\"s\",\"transform\":\"identity\"}]},"
	"{\"spec-id\":1,\"fields\":[{\"source-id\":4,\"field-id\":1000,\"name\":\"d\",\"transform\":"
	"\"identity\"},{\"source-id\":5,\"field-id\":1001,\"name\":\"w\",\"transform\":\"identity\"},"
	"{\"source-id\":6,\"field-id\":1002,\"name\":\"u\",\"transform\":\"identity\"},"
	"{\"source-id\":7,\"field-id\":1003,\"name\":\"f\",\"transform\":\"identity\"},"
	"{\"source-id\":8,\"field-id\":1004,\"name\":\"y\",\"transform\":\"identity\"},"
	"{\"source-id\":9,\"field-id\":1005,\"name\":\"b\",\"transform\":\"identity\"},"
	"{\"source-id\":99,\"field-id\":1006,\"name\":\"gone\",\"transform\":\"identity\"}]}]}";

typedef struct Seen
{
	BfArena *reset; /* NULL: keep */
	int64_t n;
	uint64_t sum;
	BfArena *work;
	const BfIcePruner *some; /* asks for a value in every column */
	const BfIcePruner *all;	 /* asks for nothing */
} Seen;

static void
add_bytes(Seen *s, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->sum = s->sum * 31 + ((const uint8_t *) p)[i];
}

static void
check_metrics(const Seen *s, const BfIceFile *f)
{
	BfArenaMark mark = bf_arena_mark(s->work);
	BfIcePrunedBy by;
	BfIceMetric m;
	BfError err;
	BfView packed;

	/* A full arena is no fault. */
	if (bf_ice_metrics_pack(s->work, s->work, f, &packed, &err) == BF_OK)
	{
		for (int32_t i = 0; i < f->metrics.n_lower; i++)
			if (f->metrics.lower[i].field_id >= 0)
				FUZZ_CHECK(
					bf_ice_metrics_find(packed, f->metrics.lower[i].field_id, f->record_count, &m));
		for (int32_t i = 0; i < f->metrics.n_null_counts; i++)
			if (f->metrics.null_counts[i].field_id >= 0 && f->metrics.null_counts[i].count >= 0 &&
				bf_ice_metrics_find(packed, f->metrics.null_counts[i].field_id, f->record_count,
									&m))
				FUZZ_CHECK(m.nulls == f->metrics.null_counts[i].count || m.nulls == -1);
		by = bf_ice_prune_file(s->some, f->spec_id, f->partition, f->record_count, packed);
		FUZZ_CHECK((unsigned) by <= BF_ICE_PRUNED_BY_BOUNDS);
		by = bf_ice_prune_file(s->all, f->spec_id, f->partition, f->record_count, packed);
		FUZZ_CHECK(by == BF_ICE_NOT_PRUNED || f->record_count == 0);
	}
	bf_arena_rewind(s->work, mark);
}

/* column = a value of its type, or column IS NULL, for each of them: all or any of that. */
static BfPred *
make_pred(BfArena *a, const BfSchema *schema, uint8_t fill, BfPredKind kind, bool with_others)
{
	BfPred *p = bf_arena_alloc(a, sizeof *p);
	int32_t n = schema->n_fields;
	uint8_t *bytes = bf_arena_alloc(a, 16);

	memset(bytes, fill, 16);
	*p = (BfPred){.kind = kind, .field = -1, .n_children = n * 2};
	p->children = bf_arena_alloc_array(a, (size_t) n * 2, sizeof *p->children);
	for (int32_t i = 0; i < n * 2; i++)
	{
		BfPred *leaf = bf_arena_alloc(a, sizeof *leaf);
		BfValue *v = bf_arena_alloc(a, sizeof *v);

		*leaf = (BfPred){.kind = i < n		   ? BF_PRED_EQ
								 : with_others ? BF_PRED_NOT_NULL
											   : BF_PRED_IS_NULL,
						 .field = i % n};
		*v = (BfValue){.type = schema->fields[i % n].type};
		if (bf_type_storage(v->type) == BF_STORE_VIEW)
			v->v.view = (BfView){bytes, 16};
		else
			memset(&v->v, fill, bf_storage_size(bf_type_storage(v->type)));
		if (i < n)
		{
			leaf->n_values = 1;
			leaf->values = v;
		}
		p->children[i] = leaf;
	}
	return p;
}

static BfPred *
make_always(BfArena *a, const BfSchema *schema)
{
	BfPred *p = bf_arena_alloc(a, sizeof *p);

	/* IS NULL or IS NOT NULL. */
	*p = (BfPred){.kind = BF_PRED_OR, .field = -1, .n_children = 2};
	p->children = bf_arena_alloc_array(a, 2, sizeof *p->children);
	for (int i = 0; i < 2; i++)
		p->children[i] = make_pred(a, schema, 0, BF_PRED_OR, i == 0);
	return p;
}

static BfStatus
visit(void *arg, const BfIceFile *f, BfError *err)
{
	Seen *s = arg;

	(void) err;
	FUZZ_CHECK(f->path[0] != '\0' && f->format[0] != '\0');
	FUZZ_CHECK(f->record_count >= 0 && f->file_size >= 0);
	FUZZ_CHECK((unsigned) f->status <= 2 && (unsigned) f->content <= 2);
	s->n++;
	add_bytes(s, f->path, strlen(f->path));
	for (int32_t i = 0; i < f->n_partition; i++)
		if (!f->partition[i].is_null && bf_type_storage(f->partition[i].type) == BF_STORE_VIEW)
			add_bytes(s, f->partition[i].v.view.ptr, f->partition[i].v.view.len);
	for (int32_t i = 0; i < f->metrics.n_lower; i++)
		add_bytes(s, f->metrics.lower[i].bytes.ptr, f->metrics.lower[i].bytes.len);
	for (int32_t i = 0; i < f->metrics.n_upper; i++)
		add_bytes(s, f->metrics.upper[i].bytes.ptr, f->metrics.upper[i].bytes.len);
	check_metrics(s, f);
	if (s->reset != NULL)
		bf_arena_reset(s->reset);
	return BF_OK;
}

int
bf_fuzz_iceberg_manifest(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfArena *a = fuzz_arena((size_t) 16 << 20), *keep = fuzz_arena((size_t) 64 << 20),
			*work = fuzz_arena((size_t) 64 << 20);
	BfIceManifest manifest = {.path = "m"};
	BfStatus status[2];
	Seen seen[2] = {{.reset = NULL}, {.reset = keep}};
	BfIcePruner *some, *all;
	BfIceMetadata *m;
	BfError err;

	manifest.spec_id = (int32_t) fuzz_take_below(&in, 3) - 1;
	manifest.sequence_number = (int64_t) fuzz_take_below(&in, 3) - 1;
	FUZZ_CHECK(bf_ice_metadata_parse(a, metadata, strlen(metadata), &m, &err) == BF_OK);
	FUZZ_CHECK(bf_ice_pruner_new(a, m, &m->schemas.all[0],
								 make_pred(a, &m->schemas.all[0],
										   (uint8_t) fuzz_take_below(&in, 256), BF_PRED_AND, false),
								 BF_PRUNE_ALL, &some, &err) == BF_OK);
	FUZZ_CHECK(bf_ice_pruner_new(a, m, &m->schemas.all[0], make_always(a, &m->schemas.all[0]),
								 BF_PRUNE_ALL, &all, &err) == BF_OK);
	for (int i = 0; i < 2; i++)
	{
		BfSource *source;

		seen[i].work = work;
		seen[i].some = some;
		seen[i].all = all;

		bf_error_clear(&err);
		FUZZ_CHECK(bf_source_memory(a, in.data, in.size, "m", &source, &err) == BF_OK);
		status[i] = bfi_manifest_read(keep, source, &manifest, m, visit, &seen[i], &err);
		FUZZ_CHECK(status[i] == BF_OK || err.text[0] != '\0');
		bf_arena_reset(keep);
	}
	/* Only a full arena may tell them apart. */
	if (status[0] != BF_ERR_LIMIT)
		FUZZ_CHECK(status[0] == status[1] && seen[0].n == seen[1].n && seen[0].sum == seen[1].sum);
	bf_arena_free(work);
	bf_arena_free(keep);
	bf_arena_free(a);
	return status[1] == BF_OK ? 0 : -1;
}
