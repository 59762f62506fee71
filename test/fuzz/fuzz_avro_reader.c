/*
 * An Avro file as a data file of the table that its own schema describes. What must hold:
 *
 *  - the vectors say what the trees of avro/container.h say;
 *  - each column alone, and each under a wider type, gives what all of them give;
 *  - reading again gives the same;
 *  - it fails where a record can't be decoded or a value does not fit its column, only there.
 */
#include "fuzz/fuzz.h"

#include "avro/container.h"
#include "exec/read/avro_internal.h"
#include "exec/read/avro_reader.h"
#include "vec/mapping.h"

#define COLUMNS_MAX 32
#define ROWS_MAX 20000

typedef struct Run
{
	BfStatus status;
	int64_t rows;
	uint64_t hash[COLUMNS_MAX];
} Run;

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t
mix_bytes(uint64_t h, const void *p, size_t n)
{
	h = mix(h, n);
	for (size_t i = 0; i < n; i++)
		h = mix(h, ((const uint8_t *) p)[i]);
	return h;
}

static uint64_t
mix_wide(uint64_t h, bf_i128 v)
{
	return mix(mix(h, (uint64_t) v), (uint64_t) (v >> 64));
}

/* ---- of vectors ---- */

static uint64_t
hash_leaf(uint64_t h, const BfValue *v)
{
	double d;

	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: FUZZ_CHECK(v->v.u8 <= 1); return mix_wide(h, v->v.u8);
		case BF_STORE_I32: return mix_wide(h, v->v.i32);
		case BF_STORE_I64: return mix_wide(h, v->v.i64);
		case BF_STORE_I128: return mix_wide(h, v->v.i128);
		case BF_STORE_F32: d = (double) v->v.f32; break;
		case BF_STORE_F64: d = v->v.f64; break;
		case BF_STORE_VIEW: return mix_bytes(h, v->v.view.ptr, v->v.view.len);
		default: FUZZ_CHECK(false); return h;
	}
	return d != d ? mix(h, 3) : mix_bytes(h, &d, sizeof d);
}

/* A row of a vector; offsets must ascend within the children. */
static uint64_t
hash_row(uint64_t h, const BfVector *v, int32_t row)
{
	int32_t first = row;
	int32_t end = row + 1;
	BfValue value;

	FUZZ_CHECK(row < v->n);
	if (!bf_vector_get(v, row, &value))
		return mix(h, 1);
	h = mix(h, 2);
	if (v->storage != BF_STORE_NESTED)
		return hash_leaf(h, &value);
	if (v->type.kind != BF_KIND_STRUCT)
	{
		bf_vector_items(v, row, &first, &end);
		FUZZ_CHECK(first >= 0 && first <= end && end <= v->children[0].n);
		h = mix(h, (uint64_t) (end - first));
	}
	for (int32_t i = first; i < end; i++)
		for (int32_t c = 0; c < v->n_children; c++)
			h = hash_row(h, &v->children[c], i);
	return h;
}

/* ---- of trees ---- */

static bool
is_millis(const BfAvroSchema *s)
{
	return s->logical_type != NULL && strstr(s->logical_type, "-millis") != NULL &&
		   (strcmp(s->logical_type, "time-millis") == 0 ||
			strcmp(s->logical_type, "timestamp-millis") == 0 ||
			strcmp(s->logical_type, "local-timestamp-millis") == 0);
}

static uint64_t
hash_bytes(uint64_t h, const BfField *f, BfView v, bool *fits)
{
	bf_i128 n = 0;

	if (bf_type_storage(f->type) == BF_STORE_VIEW)
		return mix_bytes(h, v.ptr, v.len);
	/* A decimal of at most 38 digits: at most 16 bytes count. */
	*fits = *fits && v.len > 0;
	for (uint32_t i = 0; i < v.len && *fits; i++)
	{
		if (i == 0)
			n = (int8_t) v.ptr[0];
		else if (__builtin_mul_overflow(n, 256, &n))
			*fits = false;
		else
			n |= v.ptr[i];
	}
	if (bf_type_storage(f->type) == BF_STORE_I64 && n != (int64_t) n)
		*fits = false;
	return mix_wide(h, n);
}

static uint64_t hash_tree(uint64_t h, const BfField *f, const BfAvroValue *v, bool *fits);

static uint64_t
hash_items(uint64_t h, const BfField *f, const BfAvroValue *v, bool *fits)
{
	h = mix(h, (uint64_t) v->u.list.n);
	for (int32_t i = 0; i < v->u.list.n; i++)
	{
		const BfAvroValue *item = &v->u.list.items[i];

		if (f->type.kind == BF_KIND_LIST)
			h = hash_tree(h, &f->children[0], item, fits);
		else if (v->schema->type == BF_AVRO_MAP)
		{
			h = mix_bytes(mix(h, 2), v->u.list.keys[i].ptr, v->u.list.keys[i].len);
			h = hash_tree(h, &f->children[1], item, fits);
		}
		else
			for (int k = 0; k < 2; k++)
				h = item->schema->type == BF_AVRO_NULL
						? mix(h, 1)
						: hash_tree(h, &f->children[k], &item->u.list.items[k], fits);
	}
	return h;
}

static uint64_t
hash_tree(uint64_t h, const BfField *f, const BfAvroValue *v, bool *fits)
{
	int64_t n;

	if (v->schema->type == BF_AVRO_NULL)
		return mix(h, 1);
	h = mix(h, 2);
	switch (v->schema->type)
	{
		case BF_AVRO_BOOLEAN: return mix_wide(h, v->u.b);
		case BF_AVRO_INT:
		case BF_AVRO_LONG:
			if (__builtin_mul_overflow(v->u.i, is_millis(v->schema) ? 1000 : 1, &n))
				*fits = false;
			return mix_wide(h, n);
		case BF_AVRO_FLOAT:
		case BF_AVRO_DOUBLE:
			return v->u.d != v->u.d ? mix(h, 3) : mix_bytes(h, &v->u.d, sizeof v->u.d);
		case BF_AVRO_ENUM:
			return mix_bytes(h, v->schema->symbols[v->u.i], strlen(v->schema->symbols[v->u.i]));
		case BF_AVRO_RECORD:
			for (int32_t i = 0; i < f->n_children; i++)
				h = hash_tree(h, &f->children[i], &v->u.list.items[i], fits);
			return h;
		case BF_AVRO_ARRAY:
		case BF_AVRO_MAP: return hash_items(h, f, v, fits);
		default: return hash_bytes(h, f, v->u.bytes, fits);
	}
}

/* ---- the two ways to read ---- */

static BfSource *
open_source(BfArena *a, const uint8_t *data, size_t size)
{
	BfSource *source = NULL;
	BfError err;

	FUZZ_CHECK(bf_source_memory(a, data, size, "input", &source, &err) == BF_OK);
	return source;
}

/* *fits = no value is too large for its column. */
static BfStatus
read_trees(BfArena *row, BfAvroReader *r, const BfSchema *schema, Run *run, bool *fits,
		   BfError *err)
{
	while (run->rows < ROWS_MAX)
	{
		const BfAvroValue *v;

		bf_arena_reset(row);
		BF_TRY(bf_avro_next(r, row, &v, err));
		if (v == NULL)
			return BF_OK;
		for (int32_t c = 0; c < schema->n_fields && c < COLUMNS_MAX; c++)
			run->hash[c] = hash_tree(run->hash[c], &schema->fields[c], &v->u.list.items[c], fits);
		run->rows++;
	}
	return BF_OK;
}

static BfStatus
read_batches(BfReader *r, int32_t n, Run *run, BfError *err)
{
	while (run->rows < ROWS_MAX)
	{
		const BfBatch *b;
		int64_t left = ROWS_MAX - run->rows;

		BF_TRY(r->next(r, &b, err));
		if (b == NULL)
			return BF_OK;
		FUZZ_CHECK(b->n_rows > 0 && b->n_rows <= BF_BATCH_ROWS && b->first_row == run->rows);
		FUZZ_CHECK(b->n_cols == n);
		for (int32_t c = 0; c < n; c++)
		{
			FUZZ_CHECK(b->cols[c].n == b->n_rows);
			for (int32_t i = 0; i < b->n_rows && i < left; i++)
				run->hash[c] = hash_row(run->hash[c], &b->cols[c], i);
		}
		run->rows += b->n_rows < left ? b->n_rows : left;
	}
	return BF_OK;
}

static void
run_reader(const uint8_t *data, size_t size, const BfSchema *schema, const int32_t *columns,
		   int32_t n, Run *run)
{
	BfArena *a = fuzz_arena((size_t) 192 << 20);
	BfProjection p = {.schema = schema, .fields = columns, .n_fields = n};
	BfReader *r;
	BfError err;

	memset(run, 0, sizeof *run);
	bf_error_clear(&err);
	run->status = bf_exec_avro_reader_over(a, open_source(a, data, size), &p, NULL, &r, &err);
	if (run->status == BF_OK)
		run->status = read_batches(r, n, run, &err);
	if (run->status != BF_OK)
		FUZZ_CHECK(err.code == run->status && err.text[0] != '\0');
	bf_arena_free(a);
}

static bool
of_memory(BfStatus status)
{
	return status == BF_ERR_LIMIT || status == BF_ERR_NOMEM;
}

/* Types that every value of the field's fits, with the same hash. */
static BfType
wider(BfType t)
{
	switch (t.kind)
	{
		case BF_KIND_INT32: t.kind = BF_KIND_INT64; break;
		case BF_KIND_FLOAT32: t.kind = BF_KIND_FLOAT64; break;
		case BF_KIND_STRING:
		case BF_KIND_FIXED:
		case BF_KIND_UUID: t = BF_TYPE(BINARY); break;
		case BF_KIND_DECIMAL:
			if (t.precision < 38)
				t.precision = 38;
			break;
		case BF_KIND_TIMESTAMP: t.kind = BF_KIND_TIMESTAMPTZ; break;
		default: break;
	}
	return t;
}

static void
check_columns(const uint8_t *data, size_t size, const BfSchema *schema, const Run *all)
{
	BfField fields[COLUMNS_MAX];
	BfSchema other = {.n_fields = schema->n_fields < COLUMNS_MAX ? schema->n_fields : COLUMNS_MAX,
					  .fields = fields};

	for (int32_t c = 0; c < other.n_fields; c++)
	{
		fields[c] = schema->fields[c];
		if (bf_type_promotable(fields[c].type, wider(fields[c].type)) ||
			fields[c].type.kind == BF_KIND_TIMESTAMP)
			fields[c].type = wider(fields[c].type);
	}
	for (int32_t c = 0; c < other.n_fields; c++)
	{
		Run one;

		run_reader(data, size, c % 2 == 0 ? &other : schema, &c, 1, &one);
		/* Batches end elsewhere, and so do limits; names may be the same. */
		if (of_memory(one.status) || one.status == BF_ERR_UNSUPPORTED || all->status != BF_OK)
			continue;
		FUZZ_CHECK(one.status == BF_OK);
		FUZZ_CHECK(one.rows == all->rows && one.hash[0] == all->hash[c]);
	}
}

/* Every column is found, so that the file's schema can be the table's: names without ids may be
 * ambiguous, ids repeated. */
static bool
finds_itself(const BfField *fields, int32_t n, bool ids, bool by_place)
{
	for (int32_t i = 0; i < n; i++)
	{
		int32_t at = i;
		BfError err;

		if (!by_place && bf_field_find(fields, n, ids, &fields[i], &at, &err) != BF_OK)
			return false;
		if (at != i || !finds_itself(fields[i].children, fields[i].n_children, ids,
									 fields[i].type.kind != BF_KIND_STRUCT))
			return false;
	}
	return true;
}

int
bf_fuzz_avro_reader(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20), *row = fuzz_arena((size_t) 64 << 20);
	static const int32_t numbers[COLUMNS_MAX] = {0,	 1,	 2,	 3,	 4,	 5,	 6,	 7,	 8,	 9,	 10,
												 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
												 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
	BfAvroReader *r;
	BfSchema *schema;
	BfError err;
	Run trees = {0}, all, again;
	bool fits = true;
	int32_t n;

	bf_error_clear(&err);
	if (bf_avro_open(a, open_source(a, data, size), &r, &err) != BF_OK ||
		bfi_avro_schema(a, bf_avro_reader_schema(r), &schema, &err) != BF_OK)
	{
		bf_arena_free(row);
		bf_arena_free(a);
		return -1;
	}
	n = schema->n_fields < COLUMNS_MAX ? schema->n_fields : COLUMNS_MAX;
	trees.status = read_trees(row, r, schema, &trees, &fits, &err);
	run_reader(data, size, schema, numbers, n, &all);
	run_reader(data, size, schema, numbers, n, &again);
	if (!of_memory(all.status) && !of_memory(again.status))
		FUZZ_CHECK(memcmp(&all, &again, sizeof all) == 0);
	if (finds_itself(schema->fields, schema->n_fields, bfi_avro_has_ids(schema), false) &&
		!of_memory(all.status) && !of_memory(trees.status))
	{
		/* A batch may have failed behind the last row that is looked at. */
		if (trees.rows < ROWS_MAX)
			FUZZ_CHECK((all.status == BF_OK) == (trees.status == BF_OK && fits));
		if (all.status == BF_OK && trees.status == BF_OK)
			FUZZ_CHECK(all.rows == trees.rows &&
					   memcmp(all.hash, trees.hash, sizeof all.hash) == 0);
		check_columns(data, size, schema, &all);
	}
	bf_arena_free(row);
	bf_arena_free(a);
	return 0;
}
