/*
 * A file read with a predicate. Late materialisation alone gives exactly the rows that match, with
 * the values of a plain scan; whatever the file's statistics, indexes, filters and dictionaries say
 * (they may lie in a damaged file), with them no other rows come, and none with other values.
 */
#include "exec/read/parquet_reader.h"
#include "fuzz/fuzz.h"
#include "unit/test_vec_pred_model.h"

#define ROWS_MAX 40000
#define COLUMNS_MAX 24

typedef struct Rows
{
	BfStatus status;
	bool complete;
	uint64_t hash[ROWS_MAX]; /* 0: not given out */
} Rows;

static uint64_t
below(PredModel *m, uint64_t n)
{
	uint64_t *state = m->arg;

	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % n;
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t
hash_row(uint64_t h, const BfVector *v, int32_t row, int *budget)
{
	int32_t first = row;
	int32_t end = row + 1;
	BfValue value;

	if (!bf_vector_get(v, row, &value) || --*budget < 0)
		return mix(h, 1);
	if (v->storage == BF_STORE_NESTED)
	{
		if (v->type.kind != BF_KIND_STRUCT)
			bf_vector_items(v, row, &first, &end);
		h = mix(h, (uint64_t) (end - first));
		for (int32_t c = 0; c < v->n_children; c++)
			for (int32_t i = first; i < end; i++)
				h = hash_row(h, &v->children[c], i, budget);
		return h;
	}
	if (v->storage == BF_STORE_VIEW)
	{
		h = mix(h, value.v.view.len);
		for (uint32_t i = 0; i < value.v.view.len; i++)
			h = mix(h, value.v.view.ptr[i]);
		return h;
	}
	for (size_t i = 0; i < bf_storage_size(v->storage); i++)
		h = mix(h, ((const uint8_t *) &value.v)[i]);
	return h;
}

static const BfVector *
column_of(void *arg, int32_t field)
{
	return &((const BfBatch *) arg)->cols[field];
}

/* model: the rows are filtered here, after a plain scan. */
static void
read_rows(BfParquetFile *f, const BfProjection *p, const BfRowFilter *filter, const BfPred *model,
		  Rows *out)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	const BfBatch *b = NULL;
	BfReader *r;
	BfError err;

	memset(out, 0, sizeof *out);
	out->status = bf_exec_parquet_reader_filtered(a, f, p, NULL, 0, -1, filter, NULL, &r, &err);
	while (out->status == BF_OK && (out->status = r->next(r, &b, &err)) == BF_OK && b != NULL &&
		   b->first_row + b->n_rows <= ROWS_MAX)
	{
		uint64_t rows[BF_VALIDITY_WORDS];

		memset(rows, 0xff, sizeof rows);
		if (model != NULL)
			out->status =
				bf_pred_filter(model, b->n_rows, column_of, (void *) (uintptr_t) b, a, rows, &err);
		if (out->status != BF_OK)
			break;
		for (int32_t row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1))
		{
			uint64_t h = 1;

			if (!bf_valid(rows, row))
				continue;
			for (int32_t c = 0; c < b->n_cols; c++)
			{
				int budget = 1000;

				h = hash_row(h, &b->cols[c], row, &budget);
			}
			FUZZ_CHECK(out->hash[b->first_row + row] == 0);
			out->hash[b->first_row + row] = h | 1;
		}
	}
	out->complete = out->status == BF_OK && b == NULL;
	bf_arena_free(a);
}

/* Of the file's columns, with values like those of the model. */
static BfPred *
some_pred(PredModel *m, const BfSchema *s, int depth)
{
	BfPred *p = pred_tree(m, 0);

	if (depth > 0 && m->below(m, 2) == 0)
	{
		p->kind = m->below(m, 2) == 0 ? BF_PRED_AND : BF_PRED_OR;
		p->field = -1;
		p->n_children = (int32_t) m->below(m, 3) + 1;
		p->children = pred_alloc(m, 4 * sizeof *p->children);
		for (int32_t i = 0; i < p->n_children; i++)
			p->children[i] = some_pred(m, s, depth - 1);
		return p;
	}
	if (p->field < 0)
		return p;
	p->field = (int32_t) m->below(m, (uint64_t) s->n_fields);
	if (p->kind > BF_PRED_PREFIX)
		return p;
	for (int32_t i = 0; i < p->n_values; i++)
		p->values[i] = pred_value(m, s->fields[p->field].type);
	if (p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN)
		p->n_values = bf_pred_sort_values(p->values, p->n_values);
	else if (bf_type_storage(s->fields[p->field].type) == BF_STORE_NESTED)
		p->kind = BF_PRED_NOT_NULL;
	return p;
}

static void
compare(BfParquetFile *f, uint64_t seed)
{
	static Rows plain;
	static Rows late;
	static Rows pruned;
	BfArena *a = fuzz_arena((size_t) 16 << 20);
	PredModel m = {.below = below, .arg = &seed, .a = a};
	BfSchema schema = *bf_parquet_schema(f);
	BfField fields[COLUMNS_MAX];
	int32_t indexes[COLUMNS_MAX];
	BfProjection p = {.schema = &schema, .fields = indexes, .n_fields = schema.n_fields};
	BfRowFilter filter = {0};

	memcpy(fields, schema.fields, (size_t) schema.n_fields * sizeof *fields);
	schema.fields = fields;
	for (int32_t i = 0; i < schema.n_fields; i++)
	{
		indexes[i] = i;
		fields[i].id = 0;
	}
	for (int i = 0; i < PRED_COLUMNS; i++)
		m.columns[i].type = BF_TYPE(INT32);
	filter.pred = some_pred(&m, &schema, 3);
	read_rows(f, &p, NULL, filter.pred, &plain);
	filter.prune = BF_PRUNE_LATE;
	read_rows(f, &p, &filter, NULL, &late);
	filter.prune = m.below(&m, 4) == 0 ? (uint32_t) m.below(&m, BF_PRUNE_ALL + 1) | BF_PRUNE_LATE
									   : BF_PRUNE_ALL;
	read_rows(f, &p, &filter, NULL, &pruned);
	if (plain.complete)
	{
		FUZZ_CHECK(late.status == BF_OK || late.status == BF_ERR_LIMIT ||
				   late.status == BF_ERR_NOMEM);
		if (late.complete)
			FUZZ_CHECK(memcmp(plain.hash, late.hash, sizeof plain.hash) == 0);
		for (int32_t i = 0; i < ROWS_MAX; i++)
			FUZZ_CHECK(pruned.hash[i] == 0 || pruned.hash[i] == plain.hash[i]);
	}
	bf_arena_free(a);
}

int
bf_fuzz_parquet_prune(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	BfParquetLimits limits = bf_parquet_default_limits;
	uint64_t seed = size + 1;
	BfSource *source;
	BfParquetFile *f;
	BfError err;
	int rc = -1;

	for (size_t i = 0; i < size; i += 1 + size / 512)
		seed = mix(seed, data[i]);
	limits.page_bytes_max = (size_t) 4 << 20;
	limits.verify_crc = false;
	FUZZ_CHECK(bf_source_memory(a, data, size, "input", &source, &err) == BF_OK);
	if (bf_parquet_open(a, source, &limits, &f, &err) == BF_OK &&
		bf_parquet_schema(f)->n_fields > 0 && bf_parquet_schema(f)->n_fields <= COLUMNS_MAX)
	{
		compare(f, seed | 1);
		rc = 0;
	}
	bf_arena_free(a);
	return rc;
}
