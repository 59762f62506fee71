/*
 * exec/read/parquet_reader over nested columns that Spark and Iceberg wrote: members by field id at
 * every depth, whatever the table calls them now; and how deep a file may be nested.
 */
#include "exec/read/parquet_reader.h"
#include "unit/lib/runner.h"

#define DIR "test/data/types/nested/data/"
#define FIRST DIR "00000-175-1fe0f7f7-2e68-441a-a2f4-dcad54f2bb80-0-00001.parquet"
#define SECOND DIR "00001-176-1fe0f7f7-2e68-441a-a2f4-dcad54f2bb80-0-00001.parquet"

#define FIELD(id_, name_, kind_, children_)                                                       \
	{                                                                                             \
		.id = (id_), .name = (name_), .type = {.kind = BF_KIND_##kind_}, .children = (children_), \
		.n_children = (int32_t) (sizeof(children_) / sizeof(BfField))                             \
	}
#define LEAF(id_, name_, kind_)                                          \
	{                                                                    \
		.id = (id_), .name = (name_), .type = {.kind = BF_KIND_##kind_ } \
	}

static void
add_text(const BfValue *v, char *out, size_t size)
{
	size_t n = strlen(out);

	if (v->is_null)
		snprintf(out + n, size - n, "null");
	else if (bf_type_storage(v->type) == BF_STORE_NESTED)
	{
		snprintf(out + n, size - n, "%c", v->type.kind == BF_KIND_STRUCT ? '(' : '[');
		for (uint32_t i = 0; i < v->v.view.len; i++)
		{
			n = strlen(out);
			snprintf(out + n, size - n, "%s", i > 0 ? "," : "");
			add_text(&bf_value_children(v)[i], out, size);
		}
		n = strlen(out);
		snprintf(out + n, size - n, "%c", v->type.kind == BF_KIND_STRUCT ? ')' : ']');
	}
	else if (v->type.kind == BF_KIND_STRING || v->type.kind == BF_KIND_JSON)
		snprintf(out + n, size - n, "%.*s", (int) v->v.view.len, (const char *) v->v.view.ptr);
	else if (v->type.kind == BF_KIND_FLOAT64)
		snprintf(out + n, size - n, "%g", v->v.f64);
	else
		snprintf(out + n, size - n, "%lld",
				 (long long) (bf_type_storage(v->type) == BF_STORE_I32 ? v->v.i32 : v->v.i64));
}

/* All rows of a file, columns with '|' between them, rows with ';'. */
static const char *
rows_of(const char *path, const BfField *fields, int32_t n)
{
	static char text[4096];
	static const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
	BfArena *a = test_arena();
	BfSchema schema = {.n_fields = n, .fields = (BfField *) (uintptr_t) fields};
	BfProjection p = {.schema = &schema, .fields = numbers, .n_fields = n};
	BfReader *r;
	const BfBatch *b;

	text[0] = '\0';
	if (bf_exec_parquet_reader(a, path, &p, NULL, 0, -1, NULL, NULL, &r, &test_err) != BF_OK)
		return test_err.text;
	for (;;)
	{
		if (r->next(r, &b, &test_err) != BF_OK)
			return test_err.text;
		if (b == NULL)
			return text;
		for (int32_t row = 0; row < b->n_rows; row++)
			for (int32_t c = 0; c < n; c++)
			{
				BfValue v;

				if (bf_vector_value(a, &b->cols[c], row, &v, &test_err) != BF_OK)
					return test_err.text;
				add_text(&v, text, sizeof text);
				strcat(text, c < n - 1 ? "|" : ";");
			}
	}
}

static BfField a_items[] = {LEAF(7, "element", INT32)};
static BfField a_items_wide[] = {LEAF(7, "element", INT64)};
static BfField aa_inner[] = {LEAF(9, "element", STRING)};
static BfField aa_items[] = {FIELD(8, "element", LIST, aa_inner)};
static BfField m_items[] = {LEAF(10, "key", STRING), LEAF(11, "value", INT32)};
static BfField w_items[] = {LEAF(16, "element", FLOAT64)};
static BfField y_members[] = {LEAF(14, "z", STRING), FIELD(15, "w", LIST, w_items)};
static BfField st_members[] = {LEAF(12, "x", INT32), FIELD(13, "y", STRUCT, y_members)};
static BfField v_items[] = {LEAF(20, "key", STRING), LEAF(21, "value", INT64)};
static BfField am_members[] = {LEAF(18, "k", STRING), FIELD(19, "v", MAP, v_items)};
static BfField am_items[] = {FIELD(17, "element", STRUCT, am_members)};

TEST(exec_parquet_nested_as_written)
{
	const BfField all[] = {LEAF(1, "id", INT32),
						   FIELD(2, "a", LIST, a_items),
						   FIELD(3, "aa", LIST, aa_items),
						   FIELD(4, "m", MAP, m_items),
						   FIELD(5, "st", STRUCT, st_members),
						   FIELD(6, "am", LIST, am_items)};

	EXPECT_STR(rows_of(FIRST, all, 6),
			   "1|[1,2,null]|[[a,null],null,[]]|[k,1,n,null]|(1,(q,[1.5,null]))|[(a,[b,1])];");
	EXPECT_STR(rows_of(SECOND, all, 6), "2|[]|[]|[]|(null,null)|[];3|null|null|null|null|null;");
}

/* Renamed, reordered, dropped and added at every depth; promoted. */
TEST(exec_parquet_nested_evolved)
{
	static BfField new_y[] = {FIELD(15, "ww", LIST, w_items), LEAF(30, "new", STRING)};
	static BfField new_st[] = {FIELD(13, "yy", STRUCT, new_y), LEAF(31, "x", STRING),
							   LEAF(12, "was x", INT64)};
	static BfField gone_y[] = {LEAF(32, "nothing of it is left", STRING)};
	static BfField gone_st[] = {FIELD(13, "y", STRUCT, gone_y)};
	const BfField evolved[] = {FIELD(5, "s", STRUCT, new_st), FIELD(2, "b", LIST, a_items_wide),
							   FIELD(33, "a", LIST, a_items)};
	const BfField gone[] = {FIELD(5, "st", STRUCT, gone_st)};
	const BfField not_one[] = {FIELD(2, "a", LIST, aa_items)};

	EXPECT_STR(rows_of(FIRST, evolved, 3), "(([1.5,null],null),null,1)|[1,2,null]|null;");
	EXPECT_STR(rows_of(SECOND, evolved, 3), "(null,null,null)|[]|null;null|null|null;");
	EXPECT_STR(rows_of(FIRST, gone, 1), "((null));");
	EXPECT_STR(rows_of(SECOND, gone, 1), "(null);null;");
	EXPECT(strstr(rows_of(FIRST, not_one, 1), "field id") != NULL);
}

#define VARIANTS "test/data/parquet_nested/plain_variants.parquet"

/* Trino and Spark 4 write the parts of a variant without the annotation: the table says it. */
TEST(exec_parquet_nested_plain_variants)
{
	static BfField l_items[] = {LEAF(4, "element", VARIANT)};
	static BfField kv[] = {LEAF(6, "key", STRING), LEAF(7, "value", VARIANT)};
	static BfField s_members[] = {LEAF(9, "a", VARIANT), LEAF(10, "n", INT32)};
	static BfField parts[] = {LEAF(0, "metadata", BINARY), LEAF(0, "value", BINARY)};
	const BfField all[] = {LEAF(1, "id", INT32), LEAF(2, "v", VARIANT),
						   FIELD(3, "l", LIST, l_items), FIELD(5, "m", MAP, kv),
						   FIELD(8, "s", STRUCT, s_members)};
	const BfField shredded[] = {LEAF(11, "num", VARIANT), LEAF(12, "ob", VARIANT),
								LEAF(13, "ls", VARIANT)};
	const BfField leaf[] = {LEAF(1, "id", VARIANT)};
	const BfField no_variant[] = {LEAF(8, "s", VARIANT)};
	const BfField as_struct[] = {FIELD(2, "v", STRUCT, parts)};

	EXPECT_STR(rows_of(VARIANTS, all, 5),
			   "1|42|[1,null,\"a\"]|[k,{\"name\":\"Alice\"},n,null]|(null,5);"
			   "2|null|[]|null|null;3|{\"name\":\"Alice\"}|null|[]|(null,null);");
	EXPECT_STR(rows_of(VARIANTS, shredded, 3), "7|{\"c\":\"x\"}|[3,\"z\"];\"no\"|null|9;"
											   "null|{\"b\":1,\"name\":\"Alice\"}|[];");
	EXPECT(strstr(rows_of(VARIANTS, leaf, 1), "can't be read as variant") != NULL);
	EXPECT(strstr(rows_of(VARIANTS, no_variant, 1), "can't be read as variant") != NULL);
	EXPECT(strstr(rows_of(VARIANTS, as_struct, 1), "variant") == NULL);
}

/* Its NULL arrays have items. */
TEST(exec_parquet_nested_duckdb_arrays)
{
	static BfField inner[] = {LEAF(0, "element", INT32)};
	static BfField outer[] = {FIELD(0, "element", LIST, inner)};
	const BfField arrays[] = {FIELD(0, "fixed_nested_int_array", LIST, outer)};

	EXPECT_STR(rows_of("test/data/parquet_nested/duckdb_arrays.parquet", arrays, 1),
			   "[[null,2,3],null,[null,2,3]];[[4,5,6],[null,2,3],[4,5,6]];null;");
}

static const char *
read_deep(const char *name)
{
	char path[256];
	BfArena *a = test_arena();
	BfParquetFile *f;
	BfParquetScan *s;
	const BfBatch *b;
	static const int32_t zero = 0;

	snprintf(path, sizeof path, "test/data/parquet_nested/%s.parquet", name);
	if (bf_exec_parquet_open(a, path, NULL, &f, &test_err) != BF_OK ||
		bf_parquet_scan_new(a, f, &zero, 1, NULL, &s, &test_err) != BF_OK ||
		bf_parquet_scan_row_group(s, 0, &test_err) != BF_OK ||
		bf_parquet_scan_next(s, &b, &test_err) != BF_OK)
		return bf_status_name(test_err.code);
	for (const BfVector *v = &b->cols[0];; v = &v->children[0])
		if (v->storage != BF_STORE_NESTED)
			return v->n == 1 && v->data.i32[0] == 42 ? "42" : "?";
}

TEST(exec_parquet_nested_deep)
{
	EXPECT_STR(read_deep("lists_99"), "42");
	EXPECT_STR(read_deep("lists_101"), "LIMIT");
	EXPECT_STR(read_deep("structs_99"), "42");
	EXPECT_STR(read_deep("structs_120"), "LIMIT");
}
