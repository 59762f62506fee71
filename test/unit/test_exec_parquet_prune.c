/*
 * Pruning: whatever is left out by statistics, page index, bloom filters, dictionaries and late
 * materialisation, the rows that match are those of a scan without it, and they are numbered and
 * read alike. Random predicates over generated files (test/data/README.md) and over the corpus.
 */
#include <jansson.h>

#include "exec/delete/load.h"
#include "exec/read/parquet_internal.h"
#include "exec/read/parquet_reader.h"
#include "parquet/prune.h"
#include "unit/test_vec_pred_model.h"
#include "unit/lib/faults.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#define DIR "test/data/parquet_prune/"
#define COLUMNS_MAX 32
#define ROWS_MAX 20000

static uint64_t
below(PredModel *m, uint64_t n)
{
	uint64_t *state = m->arg;

	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % n;
}

/* All rows of a file, read plainly. */
typedef struct Table
{
	BfSchema schema;
	int32_t n_rows;
	BfValue *values[COLUMNS_MAX];
	BfDeletes *deletes; /* NULL: none */
} Table;

/* The rows that deletes.parquet deletes in each of the files. */
static bool
is_deleted(int32_t row)
{
	return (int64_t) row * 7919 % 6 == 0 || (row >= 300 && row < 420);
}

static BfStatus
copy_value(BfArena *a, const BfVector *v, int32_t row, BfValue *out)
{
	BF_TRY(bf_vector_value(a, v, row, out, &test_err));
	if (!out->is_null && v->storage == BF_STORE_VIEW)
		BF_TRY_PTR(a, out->v.view.ptr, bf_arena_memdup(a, out->v.view.ptr, out->v.view.len),
				   &test_err);
	return BF_OK;
}

static BfStatus
open_file(BfArena *a, const char *path, BfParquetFile **f)
{
	return bf_exec_parquet_open(a, path, NULL, f, &test_err);
}

static BfStatus
new_reader(BfArena *a, BfParquetFile *f, const Table *t, const int32_t *fields, int32_t n,
		   const BfRowFilter *filter, BfParquetCounters *counters, BfReader **out)
{
	BfProjection *p;

	BF_NEW(a, p, 1, &test_err);
	*p = (BfProjection){.schema = &t->schema, .fields = fields, .n_fields = n};
	return bf_exec_parquet_reader_filtered(a, f, p, NULL, 0, -1, filter, counters, out, &test_err);
}

static const int32_t identity[COLUMNS_MAX] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
											  11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
											  22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* Nested values are compared by a text of them. */
static void
append(char *out, size_t size, const BfValue *v)
{
	size_t used = strlen(out);

	if (v->is_null)
		snprintf(out + used, size - used, "N,");
	else if (bf_type_storage(v->type) == BF_STORE_NESTED)
	{
		snprintf(out + used, size - used, "(");
		for (uint32_t i = 0; i < v->v.view.len; i++)
			append(out, size, &bf_value_children(v)[i]);
		used = strlen(out);
		snprintf(out + used, size - used, ")");
	}
	else if (bf_type_storage(v->type) == BF_STORE_VIEW)
		snprintf(out + used, size - used, "%.*s,", (int) v->v.view.len,
				 (const char *) v->v.view.ptr);
	else
	{
		uint64_t bits = 0;

		memcpy(&bits, &v->v, bf_storage_size(bf_type_storage(v->type)) > 4 ? 8 : 4);
		if (bf_type_storage(v->type) == BF_STORE_U8)
			bits = v->v.u8;
		snprintf(out + used, size - used, "%llx,", (unsigned long long) bits);
	}
}

static BfStatus
text_of(BfArena *a, const BfValue *v, BfValue *out)
{
	char text[4096] = "";

	append(text, sizeof text, v);
	*out = (BfValue){.type = BF_TYPE(STRING), .v.view.len = (uint32_t) strlen(text)};
	BF_TRY_PTR(a, out->v.view.ptr, (const uint8_t *) bf_arena_strdup(a, text), &test_err);
	return BF_OK;
}

static BfStatus
read_cell(BfArena *a, const BfVector *v, int32_t row, BfValue *out)
{
	BfValue nested;

	if (v->storage != BF_STORE_NESTED)
		return copy_value(a, v, row, out);
	BF_TRY(bf_vector_value(a, v, row, &nested, &test_err));
	return text_of(a, &nested, out);
}

static BfStatus
read_table(BfArena *a, BfParquetFile *f, Table *t)
{
	BfReader *r;
	const BfBatch *b;

	for (int32_t i = 0; i < t->schema.n_fields; i++)
		BF_NEW(a, t->values[i], ROWS_MAX, &test_err);
	BF_TRY(new_reader(a, f, t, identity, t->schema.n_fields, NULL, NULL, &r));
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		if (t->n_rows + b->n_rows > ROWS_MAX)
			return bf_error(&test_err, BF_ERR_LIMIT, "too many rows");
		for (int32_t c = 0; c < b->n_cols; c++)
			for (int32_t row = 0; row < b->n_rows; row++)
				BF_TRY(read_cell(a, &b->cols[c], row, &t->values[c][t->n_rows + row]));
		t->n_rows += b->n_rows;
	}
}

/* ---- random predicates ---- */

/* A value of the column, or one near it, or any. */
static BfValue
some_value(PredModel *m, const Table *t, int32_t field)
{
	BfType type = t->schema.fields[field].type;
	const BfValue *x = &t->values[field][m->below(m, (uint64_t) t->n_rows)];
	BfValue v = *x;
	int32_t by = (int32_t) m->below(m, 3) - 1;

	if (x->is_null || m->below(m, 10) == 0)
	{
		v = pred_value(m, type);
		return v;
	}
	switch (bf_type_storage(type))
	{
		case BF_STORE_I32: v.v.i32 = (int32_t) ((uint32_t) v.v.i32 + (uint32_t) by); break;
		case BF_STORE_I64:
			v.v.i64 = (int64_t) ((uint64_t) v.v.i64 + (uint64_t) (int64_t) by);
			break;
		case BF_STORE_F32: v.v.f32 += (float) by / 2; break;
		case BF_STORE_F64: v.v.f64 += (double) by / 2; break;
		case BF_STORE_I128: v.v.i128 += by; break;
		case BF_STORE_VIEW:
			if (by != 0 && (type.kind == BF_KIND_STRING || type.kind == BF_KIND_BINARY) &&
				v.v.view.len > 0)
				v.v.view.len -= (uint32_t) m->below(m, v.v.view.len);
			break;
		default: break;
	}
	return v;
}

static BfPred *
random_pred(PredModel *m, const Table *t, int depth)
{
	BfPred *p = pred_alloc(m, sizeof *p);
	bool in;

	p->field = -1;
	p->kind = BF_PRED_EQ + (BfPredKind) m->below(m, BF_PRED_AND - BF_PRED_EQ);
	if (m->below(m, 40) == 0)
		p->kind = (BfPredKind) m->below(m, BF_PRED_EQ);
	if (depth > 0 && m->below(m, 3) != 0)
		p->kind = m->below(m, 2) == 0 ? BF_PRED_AND : BF_PRED_OR;
	if (p->kind == BF_PRED_AND || p->kind == BF_PRED_OR)
	{
		p->n_children = (int32_t) m->below(m, 3) + 1;
		p->children = pred_alloc(m, 4 * sizeof *p->children);
		for (int32_t i = 0; i < p->n_children; i++)
			p->children[i] = random_pred(m, t, depth - 1);
		return p;
	}
	if (p->kind < BF_PRED_EQ)
		return p;
	do
		p->field = (int32_t) m->below(m, (uint64_t) t->schema.n_fields);
	while (bf_type_storage(t->schema.fields[p->field].type) == BF_STORE_NESTED &&
		   m->below(m, 50) != 0);
	in = p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN;
	if (p->kind > BF_PRED_PREFIX ||
		bf_type_storage(t->schema.fields[p->field].type) == BF_STORE_NESTED)
	{
		p->kind = m->below(m, 2) == 0 ? BF_PRED_IS_NULL : BF_PRED_NOT_NULL;
		return p;
	}
	p->n_values = in ? (int32_t) m->below(m, 6) : 1;
	p->values = pred_alloc(m, 6 * sizeof *p->values);
	for (int32_t i = 0; i < p->n_values; i++)
		p->values[i] = some_value(m, t, p->field);
	if (in)
		p->n_values = bf_pred_sort_values(p->values, p->n_values);
	return p;
}

/* TRUE, or not; nested columns are unknown, and may be either. */
static bool
matches(const Table *t, const BfPred *p, int32_t row, bool unknown)
{
	const BfValue *x;
	bool result = p->kind == BF_PRED_AND;

	switch (p->kind)
	{
		case BF_PRED_FALSE: return false;
		case BF_PRED_TRUE: return true;
		case BF_PRED_UNKNOWN: return unknown;
		case BF_PRED_AND:
		case BF_PRED_OR:
			for (int32_t i = 0; i < p->n_children; i++)
			{
				bool child = matches(t, p->children[i], row, unknown);

				result = p->kind == BF_PRED_AND ? result && child : result || child;
			}
			return result;
		default: break;
	}
	x = &t->values[p->field][row];
	if (bf_type_storage(t->schema.fields[p->field].type) == BF_STORE_NESTED)
	{
		bool null = x->v.view.len == 2 && memcmp(x->v.view.ptr, "N,", 2) == 0;

		return p->kind == BF_PRED_IS_NULL ? null : !null;
	}
	if (x->is_null)
		return p->kind == BF_PRED_IS_NULL;
	if (p->kind == BF_PRED_IS_NULL || p->kind == BF_PRED_NOT_NULL)
		return p->kind == BF_PRED_NOT_NULL;
	return pred_unknown(p, x->type) ? unknown : pred_matches_value(p, x);
}

/* ---- one scan ---- */

static bool
same_value(const BfValue *x, const BfValue *y)
{
	if (x->is_null || y->is_null)
		return x->is_null == y->is_null;
	if (bf_type_storage(x->type) == BF_STORE_VIEW)
		return x->v.view.len == y->v.view.len &&
			   (x->v.view.len == 0 || memcmp(x->v.view.ptr, y->v.view.ptr, x->v.view.len) == 0);
	return bf_value_compare(x, y) == 0;
}

typedef struct Found
{
	bool rows[ROWS_MAX]; /* given out */
	BfParquetCounters counters;
	BfFilterCounters filter;
} Found;

/* Every row that is given out has the values that it has in the table. */
static BfStatus
scan(BfArena *a, BfParquetFile *f, const Table *t, const int32_t *fields, int32_t n,
	 const BfRowFilter *filter, Found *found)
{
	int64_t last = -1;
	BfReader *r;
	const BfBatch *b;

	memset(found, 0, sizeof *found);
	BF_TRY(new_reader(a, f, t, fields, n, filter, &found->counters, &r));
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		EXPECT(bf_batch_n(b) > 0);
		for (int32_t row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1))
		{
			int64_t number = b->first_row + row;

			EXPECT(number > last && number < t->n_rows);
			last = number;
			found->rows[number] = true;
			for (int32_t c = 0; c < n; c++)
			{
				BfValue v;

				BF_TRY(read_cell(a, &b->cols[c], row, &v));
				if (!same_value(&v, &t->values[fields[c]][number]))
					return bf_error(&test_err, BF_ERR_CORRUPT, "row %lld of column %s",
									(long long) number, t->schema.fields[fields[c]].name);
			}
		}
	}
}

typedef struct Totals
{
	int64_t scans;
	int64_t matching;
	BfParquetCounters counters;
	BfFilterCounters filter;
} Totals;

static void
add_counters(Totals *to, const Found *found)
{
	const BfParquetCounters *c = &found->counters;

	to->counters.row_groups_by_statistics += c->row_groups_by_statistics;
	to->counters.row_groups_by_bloom += c->row_groups_by_bloom;
	to->counters.row_groups_by_dictionary += c->row_groups_by_dictionary;
	to->counters.rows_by_index += c->rows_by_index;
	to->filter.rows_filtered += found->filter.rows_filtered;
	to->filter.rows_deleted += found->filter.rows_deleted;
	to->counters.pages_skipped += c->pages_skipped;
}

/* A random predicate, random flags, a random projection. */
static void
try_one(BfParquetFile *f, const Table *t, uint64_t *seed, Totals *totals)
{
	static const uint32_t flags[] = {BF_PRUNE_ALL,
									 BF_PRUNE_ROW_GROUP,
									 BF_PRUNE_PAGE,
									 BF_PRUNE_BLOOM,
									 BF_PRUNE_DICTIONARY,
									 BF_PRUNE_LATE,
									 BF_PRUNE_PAGE | BF_PRUNE_LATE};
	static BfPred everything = {.kind = BF_PRED_TRUE, .field = -1};
	static Found found;
	BfArena *a = bf_arena_new(test_host(), "one scan", (size_t) 512 << 20);
	PredModel m = {.below = below, .arg = seed, .a = a};
	BfRowFilter filter = {.pred = random_pred(&m, t, 3), .counters = &found.filter};
	uint64_t start = *seed;
	int32_t fields[COLUMNS_MAX];
	int32_t n = 0;
	BfStatus status;

	filter.prune =
		m.below(&m, 3) == 0 ? (uint32_t) m.below(&m, BF_PRUNE_ALL + 1) : flags[m.below(&m, 7)];
	if (m.below(&m, 3) == 0)
		filter.deletes = t->deletes;
	if (filter.deletes != NULL && m.below(&m, 8) == 0)
		filter.pred = &everything;
	for (int32_t i = 0; i < t->schema.n_fields; i++)
		if (m.below(&m, 4) == 0)
			fields[n++] = i;
	status = scan(a, f, t, fields, n, &filter, &found);
	if (status != BF_OK)
		fprintf(stderr, "%s, seed %llx, flags %x: %s %s\n", bf_parquet_name(f),
				(unsigned long long) start, filter.prune, bf_status_name(status), test_err.text);
	EXPECT_EQ(status, BF_OK);
	for (int32_t row = 0; status == BF_OK && row < t->n_rows; row++)
	{
		bool certainly = matches(t, filter.pred, row, false);
		bool perhaps = matches(t, filter.pred, row, true);

		if (filter.deletes != NULL && is_deleted(row))
		{
			EXPECT(!found.rows[row]);
			continue;
		}
		if (certainly ? !found.rows[row]
					  : found.rows[row] && !perhaps && (filter.prune & BF_PRUNE_LATE) != 0)
		{
			fprintf(stderr, "%s, seed %llx, flags %x: row %d is %s\n", bf_parquet_name(f),
					(unsigned long long) start, filter.prune, row,
					certainly ? "missing" : "too many");
			EXPECT(false);
			break;
		}
		totals->matching += certainly;
	}
	totals->scans++;
	add_counters(totals, &found);
	bf_arena_free(a);
}

static void
print_totals(const char *what, const Totals *t)
{
	printf("prune: %-12s %6lld scans, %8lld rows match; row groups left out by statistics %lld, "
		   "bloom %lld, dictionary %lld; rows by index %lld, by filter %lld; pages %lld\n",
		   what, (long long) t->scans, (long long) t->matching,
		   (long long) t->counters.row_groups_by_statistics,
		   (long long) t->counters.row_groups_by_bloom,
		   (long long) t->counters.row_groups_by_dictionary, (long long) t->counters.rows_by_index,
		   (long long) t->filter.rows_filtered, (long long) t->counters.pages_skipped);
}

/* The columns as the file has them. */
static void
own_schema(BfArena *a, const BfParquetFile *f, Table *t)
{
	const BfSchema *s = bf_parquet_schema(f);
	BfField *fields = bf_arena_alloc(a, (size_t) (s->n_fields + 1) * sizeof *fields);

	REQUIRE(s->n_fields <= COLUMNS_MAX && fields != NULL);
	memset(t, 0, sizeof *t);
	if (s->n_fields > 0)
		memcpy(fields, s->fields, (size_t) s->n_fields * sizeof *fields);
	for (int32_t i = 0; i < s->n_fields; i++)
		fields[i].id = 0;
	t->schema = (BfSchema){.n_fields = s->n_fields, .fields = fields};
}

/* Wider types than the file's, so that bounds and values have to be brought from one to the other.
 */
static void
widen(Table *t)
{
	for (int32_t i = 0; i < t->schema.n_fields; i++)
	{
		BfType *type = &t->schema.fields[i].type;

		switch (type->kind)
		{
			case BF_KIND_INT16: *type = BF_TYPE(INT32); break;
			case BF_KIND_INT32: *type = BF_TYPE(INT64); break;
			case BF_KIND_INT64:
				*type = (BfType){.kind = BF_KIND_DECIMAL, .precision = 25, .scale = 3};
				break;
			case BF_KIND_UINT32: *type = BF_TYPE(FLOAT64); break;
			case BF_KIND_FLOAT32: *type = BF_TYPE(FLOAT64); break;
			case BF_KIND_DECIMAL:
				type->precision = type->precision < 19 ? 20 : type->precision + 1;
				break;
			case BF_KIND_DATE: *type = BF_TYPE(TIMESTAMP); break;
			default: break;
		}
	}
}

/* Paths in delete files are of another place. */
static BfStatus
resolve_path(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	const char *name = strrchr(path, '/');

	(void) arg;
	BF_TRY_PTR(a, *out, bf_arena_printf(a, DIR "%s", name != NULL ? name + 1 : path), err);
	return BF_OK;
}

static void
add_deletes(BfArena *a, const char *path, Table *t)
{
	BfDeleteOptions options = {.resolve = resolve_path, .bytes_max = (size_t) 16 << 20};
	BfDeleteSource source = {.kind = BF_DELETE_POSITION,
							 .path = DIR "deletes.parquet",
							 .scope = BF_DELETE_SCOPE_OWN,
							 .record_count = -1};
	BfDeleteCache *cache;

	REQUIRE_OK(bf_delete_cache_new(a, &options, &cache, &test_err));
	REQUIRE_OK(bf_deletes_load(a, cache, path, 1, &source, 1, &t->deletes, &test_err));
	REQUIRE(t->deletes != NULL);
}

static const char *const names[] = {"dictionary", "plain_v2", "delta", "no_index"};

TEST(exec_parquet_prune_random)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	for (int i = 0; i < 8; i++)
	{
		BfArena *a = test_arena();
		static Table t;
		Totals totals = {0};
		BfParquetFile *f;
		char path[256];

		snprintf(path, sizeof path, DIR "%s.parquet", names[i / 2]);
		REQUIRE_OK(open_file(a, path, &f));
		own_schema(a, f, &t);
		if (i % 2 == 1)
			widen(&t);
		REQUIRE_OK(read_table(a, f, &t));
		add_deletes(a, path, &t);
		for (int k = 0; k < 400; k++)
			try_one(f, &t, &seed, &totals);
		print_totals(names[i / 2], &totals);
		EXPECT(totals.counters.row_groups_by_statistics > 0);
		EXPECT(i / 2 == 3 || totals.counters.rows_by_index > 0);
		EXPECT(i / 2 > 1 || totals.counters.row_groups_by_bloom > 0);
		EXPECT(i / 2 != 0 || totals.counters.row_groups_by_dictionary > 0);
		EXPECT(totals.filter.rows_filtered > 0 && totals.filter.rows_deleted > 0);
		EXPECT(totals.counters.pages_skipped > 0);
	}
}

/* ---- faults ---- */

/* A filtered scan of every column, on a host of its own. */
static BfStatus
filtered_scan(const BfHost *host)
{
	BfArena *a = bf_arena_new(host, "faults", (size_t) 256 << 20);
	BfValue values[2] = {{.type = BF_TYPE(DATE), .v.i32 = 18280},
						 {.type = BF_TYPE(STRING), .v.view = {(const uint8_t *) "beta", 4}}};
	BfPred leaves[2] = {{.kind = BF_PRED_GE, .n_values = 1, .values = &values[0]},
						{.kind = BF_PRED_EQ, .n_values = 1, .values = &values[1]}};
	BfPred *children[2] = {&leaves[0], &leaves[1]};
	BfPred both = {.kind = BF_PRED_AND, .field = -1, .n_children = 2, .children = children};
	BfRowFilter filter = {.pred = &both, .prune = BF_PRUNE_ALL};
	BfParquetFile *f;
	BfSchema schema;
	BfProjection p = {.schema = &schema, .fields = identity};
	BfStatus st;

	if (a == NULL)
		return BF_ERR_NOMEM;
	st = open_file(a, DIR "dictionary.parquet", &f);
	if (st == BF_OK)
	{
		BfReader *r;

		schema = *bf_parquet_schema(f);
		p.n_fields = schema.n_fields;
		leaves[0].field = bf_schema_find_name(&schema, "day");
		leaves[1].field = bf_schema_find_name(&schema, "word");
		st = bf_exec_parquet_reader_filtered(a, f, &p, NULL, 0, -1, &filter, NULL, &r, &test_err);
		for (const BfBatch *b = NULL; st == BF_OK;)
			if ((st = r->next(r, &b, &test_err)) == BF_OK && b == NULL)
				break;
	}
	bf_arena_free(a);
	return st;
}

/* Whether pages can be left out is known from the footer. */
TEST(exec_parquet_prune_indexed)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
	{
		char path[256];
		BfParquetFile *f;

		snprintf(path, sizeof path, DIR "%s.parquet", names[i]);
		REQUIRE_OK(open_file(test_arena(), path, &f));
		for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
			EXPECT_EQ(bf_parquet_row_group_indexed(f, rg), strcmp(names[i], "no_index") != 0);
	}
}

/* Every fourth row, from `first` on. */
static BfRangeSet
fourths(int64_t first, int32_t n)
{
	BfRange *ranges = bf_arena_alloc(test_arena(), (size_t) n * sizeof *ranges);
	BfRangeSet set = {n, ranges};

	for (int32_t i = 0; i < n; i++)
		ranges[i] = (BfRange){first + 4 * (int64_t) i, first + 4 * (int64_t) i};
	return set;
}

/* What can't be told in so many ranges as there may be leaves nothing out. */
TEST(exec_parquet_prune_too_many_ranges)
{
	const int32_t n = BF_RANGESET_RANGES_MAX / 2 + 1;
	const int64_t n_rows = 4 * (int64_t) n;
	const BfRangeSet x = fourths(0, n), y = fourths(2, n), few = fourths(2, 10);
	BfRangeSet out;

	REQUIRE_OK(bfi_parquet_prune_join(test_arena(), false, &x, &y, n_rows, &out, &test_err));
	EXPECT_EQ(bf_rangeset_count(&out), n_rows);
	REQUIRE_OK(bfi_parquet_prune_join(test_arena(), false, &x, &few, n_rows, &out, &test_err));
	EXPECT_EQ(bf_rangeset_count(&out), n + 10);
	REQUIRE_OK(bfi_parquet_prune_join(test_arena(), true, &x, &y, n_rows, &out, &test_err));
	EXPECT_EQ(bf_rangeset_count(&out), 0);
}

TEST(exec_parquet_prune_faults)
{
	test_every_fault(filtered_scan, false);
}

/* Statistics, indexes, filters and dictionaries of other writers. */
TEST(exec_parquet_prune_corpus)
{
	uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);
	Totals totals = {0};
	char path[2048];
	static char line[1 << 20];
	int n_files = 0;
	FILE *in;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/expected/parquet_expected.jsonl", test_corpus());
	in = fopen(path, "r");
	REQUIRE(in != NULL);
	while (fgets(line, sizeof line, in) != NULL)
	{
		json_t *e = json_loads(line, JSON_ALLOW_NUL, NULL);
		BfArena *a = bf_arena_new(test_host(), "corpus file", (size_t) 1 << 30);
		static Table t;
		BfParquetFile *f;

		snprintf(path, sizeof path, "%s/%s", test_corpus(),
				 json_string_value(json_object_get(e, "file")));
		bf_error_clear(&test_err);
		if (open_file(a, path, &f) == BF_OK && bf_parquet_schema(f)->n_fields > 0 &&
			bf_parquet_schema(f)->n_fields <= COLUMNS_MAX && bf_parquet_n_rows(f) > 0 &&
			bf_parquet_n_rows(f) <= ROWS_MAX)
		{
			own_schema(a, f, &t);
			if (read_table(a, f, &t) == BF_OK)
			{
				for (int k = 0; k < 12; k++)
					try_one(f, &t, &seed, &totals);
				n_files++;
			}
		}
		bf_arena_free(a);
		json_decref(e);
	}
	fclose(in);
	print_totals("corpus", &totals);
	EXPECT(n_files > 600);
	EXPECT(totals.counters.row_groups_by_statistics > 100);
	EXPECT(totals.counters.rows_by_index > 0 && totals.counters.row_groups_by_bloom > 0);
}
