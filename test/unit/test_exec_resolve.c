/*
 * exec/read/resolve: column, constant, default or NULL, in this order, whatever is read.
 */
#include "unit/lib/runner.h"

#include "exec/read/resolve.h"

static const char *const aliases[] = {"was", "before"};

static BfValue
int_value(int32_t i)
{
	return (BfValue){.type = BF_TYPE(INT32), .v.i32 = i};
}

/* The file: 1 a int, 2 b timestamp; or the same without ids. */
static BfiColumns
columns_of(bool has_ids)
{
	static BfField with[] = {{.id = 1, .name = "a", .type = {.kind = BF_KIND_INT32}},
							 {.id = 2, .name = "b", .type = {.kind = BF_KIND_TIMESTAMP}}};
	static BfField without[] = {{.name = "A", .type = {.kind = BF_KIND_INT32}},
								{.name = "before", .type = {.kind = BF_KIND_TIMESTAMP}}};
	static const BfSchema schemas[] = {{.n_fields = 2, .fields = without},
									   {.n_fields = 2, .fields = with}};

	return (BfiColumns){.schema = &schemas[has_ids], .has_ids = has_ids, .what = "ledger"};
}

/* What the column is: its number, or the constant in row 2 of three. */
static const char *
is(BfiColumns columns, BfField want, const BfConstants *constants)
{
	static char text[128];
	BfiResolved c;
	BfVector v;
	BfValue x;

	if (bfi_resolve(test_arena(), &columns, &want, constants, &c, &test_err) != BF_OK)
	{
		EXPECT_STR(test_err.column, want.name);
		snprintf(text, sizeof text, "%s: %.100s", bf_status_name(test_err.code), test_err.text);
		return text;
	}
	EXPECT((c.column >= 0) == (c.mapping != NULL) && (c.column >= 0) == (c.from != NULL));
	if (c.column >= 0)
	{
		snprintf(text, sizeof text, "column %d", c.column);
		return text;
	}
	if (bfi_resolved_vector(&c, NULL, 3, &v, &test_err) != BF_OK || v.n != 3)
		return "no vector";
	EXPECT(bf_type_equal(v.type, want.type));
	if (!bf_vector_get(&v, 2, &x))
		return "NULL";
	snprintf(text, sizeof text, "%lld",
			 v.storage == BF_STORE_I64 ? (long long) x.v.i64 : (long long) x.v.i32);
	return text;
}

TEST(exec_resolve_takes_the_first_there_is)
{
	static const int32_t ids[] = {1, 7, 8};
	BfValue values[] = {int_value(10), int_value(70), {.is_null = true, .type = BF_TYPE(INT32)}};
	BfConstants constants = {3, ids, values};
	BfField a = {.id = 1, .name = "x", .type = BF_TYPE(INT32)};
	BfField lacks = {.id = 7, .name = "y", .type = BF_TYPE(INT64)};

	/* A column of the file, also where its partition has a constant. */
	EXPECT_STR(is(columns_of(true), a, &constants), "column 0");
	/* A constant, promoted, before the default and though it is required. */
	EXPECT_STR(is(columns_of(true), lacks, &constants), "70");
	lacks.has_default = true;
	lacks.initial_default = (BfValue){.type = BF_TYPE(INT64), .v.i64 = 77};
	lacks.required = true;
	EXPECT_STR(is(columns_of(true), lacks, &constants), "70");
	/* A default, though it is required. */
	EXPECT_STR(is(columns_of(true), lacks, NULL), "77");
	/* A constant that is NULL is one. */
	lacks.id = 8;
	EXPECT_STR(is(columns_of(true), lacks, &constants), "NULL");
	/* NULL, unless it is required. */
	lacks.id = 9;
	lacks.has_default = lacks.required = false;
	EXPECT_STR(is(columns_of(true), lacks, &constants), "NULL");
	lacks.required = true;
	EXPECT_STR(is(columns_of(true), lacks, &constants),
			   "CORRUPT: the ledger lacks the required column \"y\"");
}

TEST(exec_resolve_finds_by_what_there_is)
{
	static const int32_t ids[] = {3};
	BfValue value = int_value(30);
	BfConstants constants = {1, ids, &value};
	BfField by_name = {.name = "a", .type = BF_TYPE(INT32)};
	BfField by_alias = {
		.id = 2, .name = "b", .type = BF_TYPE(TIMESTAMP), .aliases = aliases, .n_aliases = 2};
	BfField unmapped = {.id = 3, .name = "A", .type = BF_TYPE(INT32)};

	EXPECT_STR(is(columns_of(true), by_name, NULL), "column 0");
	EXPECT_STR(is(columns_of(false), by_name, NULL), "column 0");
	by_alias.mapped = true;
	EXPECT_STR(is(columns_of(false), by_alias, NULL), "column 1");
	/* A field with an id and no mapping finds nothing in a file without ids, not even its name. */
	EXPECT_STR(is(columns_of(false), unmapped, NULL),
			   "UNSUPPORTED: the file has no field ids and the table has no name mapping");
	EXPECT_STR(is(columns_of(false), unmapped, &constants), "30");
	unmapped.mapped = true;
	EXPECT_STR(is(columns_of(false), unmapped, NULL), "NULL");
	EXPECT_STR(is(columns_of(true), unmapped, NULL), "NULL");
}

TEST(exec_resolve_types)
{
	BfArena *a = test_arena();
	BfiColumns columns = columns_of(true);
	BfField want = {.id = 2, .name = "b", .type = BF_TYPE(TIMESTAMPTZ)};
	BfField wider = {.id = 1, .name = "a", .type = BF_TYPE(INT64)};
	int32_t numbers[] = {5, -6};
	BfVector from = {.type = BF_TYPE(INT32), .storage = BF_STORE_I32, .n = 2, .data.i32 = numbers};
	BfVector v;
	BfValue x;
	BfiResolved c;

	/* A zone that is not known is what the table says; one that is known is not. */
	EXPECT_STR(is(columns, want, NULL), "UNSUPPORTED: column \"b\" is of type timestamp in the "
										"file, which can't be read as timestamptz");
	columns.no_zones = true;
	EXPECT_STR(is(columns, want, NULL), "column 1");
	want.type = BF_TYPE(TIMESTAMP);
	EXPECT_STR(is(columns, want, NULL), "column 1");
	want.type = BF_TYPE(TIMESTAMPTZ_NS);
	EXPECT(strncmp(is(columns, want, NULL), "UNSUPPORTED", 11) == 0);
	/* Promoted, batch by batch. */
	REQUIRE_OK(bfi_resolve(a, &columns, &wider, NULL, &c, &test_err));
	for (int round = 0; round < 2; round++)
	{
		REQUIRE_OK(bfi_resolved_vector(&c, &from, 2, &v, &test_err));
		EXPECT(v.n == 2 && v.storage == BF_STORE_I64);
		EXPECT(bf_vector_get(&v, 1, &x) && x.v.i64 == -6 - round);
		numbers[1]--;
	}
}
