/*
 * Nested columns: levels of every shape, of fields that are required or not, with rows that are
 * left out. Shapes are spelled: i, t, d, u, n for an int, a text, a double, a UUID and what is
 * always NULL; l(x) for a list, m(k,v) for a map, s(x,y) for a struct; ! in front of what is
 * required.
 */
#include "unit/test_parquet_write.h"

static BfField
shape(BfArena *a, const char **p, int32_t *id)
{
	BfField f = {.id = ++*id, .name = bf_arena_printf(a, "f%d", *id)};

	if (**p == '!')
	{
		f.required = true;
		(*p)++;
	}
	switch (*(*p)++)
	{
		case 'i': f.type = BF_TYPE(INT32); return f;
		case 't': f.type = BF_TYPE(STRING); return f;
		case 'd': f.type = BF_TYPE(FLOAT64); return f;
		case 'u': f.type = (BfType){.kind = BF_KIND_UUID, .length = 16}; return f;
		case 'n': f.type = BF_TYPE(NULL); return f;
		case 'l': f.type = BF_TYPE(LIST); break;
		case 'm': f.type = BF_TYPE(MAP); break;
		default: f.type = BF_TYPE(STRUCT); break;
	}
	f.children = bf_arena_alloc_array(a, 8, sizeof f);
	while (*(*p)++ != ')')
	{
		BF_ASSERT(f.n_children < 8);
		f.children[f.n_children++] = shape(a, p, id);
	}
	if (f.type.kind == BF_KIND_MAP)
		f.children[0].required = true;
	return f;
}

static BfSchema
schema_of(BfArena *a, const char *const *shapes, int32_t n)
{
	BfSchema s = {.n_fields = n};
	int32_t id = 0;

	s.fields = bf_arena_alloc_array(a, (size_t) n, sizeof *s.fields);
	for (int32_t i = 0; i < n; i++)
	{
		const char *p = shapes[i];

		s.fields[i] = shape(a, &p, &id);
	}
	return s;
}

static const char *const shapes[] = {
	"i",
	"!t",
	"l(i)",
	"l(!i)",
	"!l(i)",
	"!l(!t)",
	"l(l(i))",
	"!l(!l(!l(!i)))",
	"l(l(l(l(t))))",
	"s(i,t)",
	"!s(!i,t)",
	"s(!i)",
	"s(s(s(!u)))",
	"!s(!s(!s(!i)))",
	"m(i,t)",
	"!m(t,!i)",
	"m(t,m(i,l(d)))",
	"l(s(i,l(t),m(u,s(d,i))))",
	"s(l(s(l(i),t)),m(i,i),n)",
	"m(s(i,t),l(n))",
	"l(n)",
};
#define N_SHAPES ((int32_t) (sizeof shapes / sizeof shapes[0]))

TEST(parquet_write_nested)
{
	static const int32_t sizes[] = {1, 700, 1024, 2000};
	BfSchema s = schema_of(test_arena(), shapes, N_SHAPES);

	for (int nulls = 0; nulls < MADE_NULLS_COUNT; nulls++)
		for (int kind = 0; kind < 3; kind++)
		{
			BfParquetWriteOptions o = kind == 2 ? bf_parquet_write_defaults : small_pages();
			MadeRows made = {.nulls = (MadeNulls) nulls,
							 .values = (MadeValues) kind,
							 .bytes_max = 20,
							 .random = from_test};

			o.page_version = 1 + kind % 2;
			round_trip(&s, &made, sizes, 4, &o);
		}
}

static void
random_shape(char **to, const char *end, int depth)
{
	int32_t what = (int32_t) test_random_below(depth > 3 ? 4 : 9);

	if (test_random_below(3) == 0)
		*(*to)++ = '!';
	if (what < 4 || end - *to < 200)
	{
		*(*to)++ = "itdu"[what % 4];
		return;
	}
	*(*to)++ = "lms"[what % 3];
	for (int32_t n = what % 3 == 2 ? 1 + (int32_t) test_random_below(4) : 1 + what % 3, i = 0;
		 i < n; i++)
	{
		*(*to)++ = i == 0 ? '(' : ',';
		random_shape(to, end, depth + 1);
	}
	*(*to)++ = ')';
}

TEST(parquet_write_random_shapes)
{
	static const int32_t sizes[] = {500, 3, 600};

	for (int k = 0; k < 60; k++)
	{
		char text[2048];
		char *end = text;
		const char *p = text;
		BfSchema s;
		MadeRows made = {.nulls = (MadeNulls) test_random_below(3),
						 .values = (MadeValues) test_random_below(MADE_VALUES_COUNT),
						 .bytes_max = 10,
						 .random = from_test};
		BfParquetWriteOptions o = small_pages();

		o.page_version = 1 + k % 2;
		o.page_rows = 1 + (int32_t) test_random_below(300);
		o.row_group_bytes = (size_t) 1 << test_random_below(20);
		random_shape(&end, text + sizeof text, 0);
		*end = '\0';
		s = schema_of(test_arena(), &p, 1);
		round_trip(&s, &made, sizes, 3, &o);
		if (test_failed())
		{
			test_fail(__FILE__, __LINE__, "shape %s", text);
			return;
		}
	}
}

/* Rows that a filter left out are not written, whatever their values. */
TEST(parquet_write_selected)
{
	static const int32_t sizes[] = {4096, 1, 500, 64};
	static const char *const columns[] = {"i", "!t", "l(s(i,t))", "s(d,u)"};
	BfSchema s = schema_of(test_arena(), columns, 4);
	MadeRows made = {.nulls = MADE_SOME_NULLS, .bytes_max = 20, .random = from_test};
	BfParquetWriteOptions o = small_pages();
	BfBatch **b = made_batches(test_arena(), &s, &made, sizes, 4);
	BfParquetWritten file;
	BfBuffer out;

	for (int32_t i = 0; i < 4; i++)
	{
		uint64_t *rows = bf_arena_alloc_array(test_arena(), BF_VALIDITY_WORDS, sizeof *rows);

		memset(rows, 0, BF_VALIDITY_WORDS * sizeof *rows);
		for (int32_t row = 0; i != 2 && row < sizes[i]; row++)
			bf_validity_set(rows, row, test_random_below(i == 3 ? 1 : 3) == 0);
		b[i]->selected = rows;
		b[i]->n_selected = bf_validity_count(rows, sizes[i]);
	}
	bf_buffer_init(&out, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(test_arena(), &s, b, 4, &o, &out, &file));
	check_rows(test_arena(), &s, b, 4, &out);
	EXPECT_EQ(file.rows, b[0]->n_selected + b[1]->n_selected + 64);
	bf_buffer_free(&out);
}

/* A row of a list with very many items is one page, a batch of none is nothing. */
TEST(parquet_write_long_row)
{
	BfArena *a = test_arena();
	static const char *const columns[] = {"l(i)"};
	BfSchema s = schema_of(a, columns, 1);
	BfParquetWriteOptions o = small_pages();
	BfBatch batch = {.n_rows = 2, .n_cols = 1}, none = {.n_cols = 1};
	BfBatch *b[] = {&none, &batch, &none};
	int32_t n = 200000;
	BfParquetWritten file;
	BfBuffer out;
	BfVector v, nothing;

	REQUIRE_OK(bf_vector_init_field(a, &v, &s.fields[0], n, &test_err));
	REQUIRE_OK(bf_vector_init_field(a, &nothing, &s.fields[0], 1, &test_err));
	v.n = 2;
	v.offsets[0] = 0;
	v.offsets[1] = 3;
	v.offsets[2] = n;
	v.children[0].n = n;
	for (int32_t i = 0; i < n; i++)
		v.children[0].data.i32[i] = i * 7;
	batch.cols = &v;
	none.cols = &nothing;
	bf_buffer_init(&out, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(a, &s, b, 3, &o, &out, &file));
	check_rows(a, &s, b, 3, &out);
	EXPECT_EQ(file.columns[0].values, n);
	bf_buffer_free(&out);
}
