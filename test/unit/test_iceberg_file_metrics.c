/* What a commit writes of columns, by the table's properties, and what a manifest gives back of it.
 */
#include "iceberg/file_metrics.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"

static BfField columns[] = {
	{.name = "id", .type = {.kind = BF_KIND_INT64}},
	{.name = "note", .type = {.kind = BF_KIND_STRING}},
	{.name = "f", .type = {.kind = BF_KIND_FLOAT64}},
	{.name = "u", .type = {.kind = BF_KIND_UUID, .length = 16}},
	{.name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 2}},
};
#define N_COLUMNS 5
static const BfSchema schema = {.n_fields = N_COLUMNS, .fields = columns};

static BfIceTable *
create(const char *name, int32_t n, const char *const *keys, const char *const *values)
{
	BfArena *a = test_arena();
	const char *path;
	BfIceTable *t = NULL;

	if (bf_ice_create(a, test_path(name), NULL, &schema, NULL, keys, values, n, &path, &test_err) !=
			BF_OK ||
		bf_ice_load(a, path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

#define DEFAULT "write.metadata.metrics.default"
#define COLUMN "write.metadata.metrics.column."
#define INFERRED "write.metadata.metrics.max-inferred-column-defaults"

/* A letter for each column's kind, '-' for none. */
static void
check_kinds(const char *key, const char *value, const char *other_key, const char *other_value,
			const char *expected)
{
	static int serial;
	const char *const keys[] = {key, other_key};
	const char *const values[] = {value, other_value};
	char name[20], found[] = "-----";
	BfIceTable *t;
	BfIceMetricsColumn *c;
	int32_t n;

	snprintf(name, sizeof name, "t%d", serial++);
	t = create(name, other_key != NULL ? 2 : key != NULL ? 1 : 0, keys, values);
	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_metrics_columns(test_arena(), t->metadata, &c, &n, &test_err));
	for (int32_t i = 0; i < n; i++)
		found[c[i].field] = "-ctf"[c[i].kind];
	EXPECT_STR(found, expected);
	for (int32_t i = 0; i < n; i++)
		if (c[i].kind == BF_ICE_METRICS_TRUNCATE && value != NULL && strstr(value, "(7)") != NULL)
			EXPECT_EQ(c[i].length, 7);
}

TEST(iceberg_metrics_modes)
{
	check_kinds(NULL, NULL, NULL, NULL, "tttct");
	check_kinds(DEFAULT, "none", NULL, NULL, "-----");
	check_kinds(DEFAULT, "Counts", NULL, NULL, "ccccc");
	check_kinds(DEFAULT, "FULL", NULL, NULL, "fffcf");
	check_kinds(DEFAULT, "Truncate(7)", NULL, NULL, "tttct");
	check_kinds(DEFAULT, "truncate(0)", NULL, NULL, "tttct");
	check_kinds(DEFAULT, "truncate(9", NULL, NULL, "tttct");
	check_kinds(DEFAULT, "nonesuch", NULL, NULL, "tttct");
	check_kinds(DEFAULT, "none", COLUMN "note", "full", "-f---");
	check_kinds(DEFAULT, "full", COLUMN "id", "none", "-ffcf");
	check_kinds(INFERRED, "2", NULL, NULL, "tt---");
	check_kinds(INFERRED, "0", COLUMN "u", "full", "---c-");
	check_kinds(INFERRED, "2", DEFAULT, "counts", "ccccc");
	check_kinds(INFERRED, "-1", NULL, NULL, "tttct");
}

typedef struct Found
{
	BfIceFileMetrics metrics;
	int n;
} Found;

static BfStatus
visit(void *arg, const BfIceFile *file, BfError *err)
{
	Found *f = arg;

	(void) err;
	f->metrics = file->metrics;
	f->n++;
	return BF_OK;
}

static const BfIceBound *
bound_of(const BfIceBound *all, int32_t n, int32_t id)
{
	for (int32_t i = 0; i < n; i++)
		if (all[i].field_id == id)
			return &all[i];
	return NULL;
}

static void
add_row(BfBounds *b, BfVector *v, const void *data)
{
	uint64_t none = 0;

	*v = (BfVector){.type = b->type,
					.storage = bf_type_storage(b->type),
					.form = BF_VEC_FLAT,
					.n = 1,
					.validity = data == NULL ? &none : NULL,
					.data.raw = (void *) (uintptr_t) data};
	if (bf_bounds_add(test_arena(), b, v, 0, 1, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

/* Two rows, one of them of NULLs alone. */
static void
fill(const BfIceMetricsColumn *c, int32_t n, BfBounds *bounds)
{
	static const char text[] = "a text of more than sixteen characters";
	const int64_t id = -2;
	const BfView note = {(const uint8_t *) text, sizeof text - 1};
	const double f = 1.5;
	const BfView uuid = {(const uint8_t *) text, 16};
	const bf_i128 amount = -300;
	const void *const row[N_COLUMNS] = {&id, &note, &f, &uuid, &amount};
	BfVector v;

	for (int32_t i = 0; i < n; i++)
	{
		add_row(&bounds[i], &v, row[c[i].field]);
		add_row(&bounds[i], &v, NULL);
	}
}

/* Writes metrics of `n` columns into a table's only manifest and reads them. */
static void
write_and_read(const BfIceTable *t, const BfIceMetricsColumn *c, const BfBounds *bounds, int32_t n,
			   Found *found)
{
	BfArena *a = test_arena();
	BfIceNewFile file = {.path = "bifang://db/t/7_0-1.log", .record_count = 2, .file_size = 20};
	const BfIceSnapshot *head;
	const char *path, *local;
	BfIceManifest *manifests;
	int32_t n_manifests;
	int64_t id;
	BfIceTable *after;

	*found = (Found){.n = 0};
	REQUIRE_OK(bf_ice_metrics_write(a, c, bounds, n, &file.metrics, &test_err));
	REQUIRE_OK(bf_ice_commit_logical(a, t, &file, 1, NULL, &path, &id, &test_err));
	REQUIRE_OK(bf_ice_load(a, path, NULL, &after, &test_err));
	head = bf_ice_ref(after->metadata, BF_ICE_BRANCH_BIFANG);
	REQUIRE(head != NULL);
	REQUIRE_OK(bf_location_resolve(a, &after->location, head->manifest_list, &local, &test_err));
	REQUIRE_OK(bf_ice_read_manifest_list(a, local, NULL, &manifests, &n_manifests, &test_err));
	REQUIRE(n_manifests == 1);
	REQUIRE_OK(bf_location_resolve(a, &after->location, manifests[0].path, &local, &test_err));
	REQUIRE_OK(bf_ice_read_manifest(a, local, &manifests[0], after->metadata, NULL, visit, found,
									&test_err));
	EXPECT_EQ(found->n, 1);
}

TEST(iceberg_metrics_written)
{
	BfIceTable *t = create("t", 0, NULL, NULL);
	BfBounds bounds[N_COLUMNS];
	BfIceMetricsColumn *c;
	const BfIceBound *b;
	Found found;
	int32_t n;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_metrics_columns(test_arena(), t->metadata, &c, &n, &test_err));
	REQUIRE(n == N_COLUMNS);
	for (int32_t i = 0; i < n; i++)
		bf_ice_metrics_begin(t->schema, &c[i], &bounds[i]);
	fill(c, n, bounds);
	write_and_read(t, c, bounds, n, &found);
	EXPECT_EQ(found.metrics.n_value_counts, 5);
	EXPECT_EQ(found.metrics.n_null_counts, 5);
	REQUIRE(found.metrics.n_nan_counts == 1);
	EXPECT_EQ(found.metrics.nan_counts[0].field_id, 3);
	EXPECT_EQ(found.metrics.value_counts[4].count, 2);
	EXPECT_EQ(found.metrics.null_counts[4].count, 1);
	/* UUIDs have no bounds. */
	EXPECT_EQ(found.metrics.n_lower, 4);
	EXPECT(bound_of(found.metrics.upper, found.metrics.n_upper, 4) == NULL);
	b = bound_of(found.metrics.lower, found.metrics.n_lower, 1);
	REQUIRE(b != NULL && b->bytes.len == 8);
	EXPECT_EQ((int64_t) bf_load64le(b->bytes.ptr), -2);
	b = bound_of(found.metrics.upper, found.metrics.n_upper, 2);
	REQUIRE(b != NULL && b->bytes.len == 16);
	EXPECT(memcmp(b->bytes.ptr, "a text of more u", 16) == 0);
	b = bound_of(found.metrics.lower, found.metrics.n_lower, 5);
	REQUIRE(b != NULL && b->bytes.len == 2);
	EXPECT(b->bytes.ptr[0] == 0xfe && b->bytes.ptr[1] == 0xd4);
}

/* Of columns that nobody has seen a value of nothing is said, and a file without any has none. */
TEST(iceberg_metrics_of_nothing)
{
	BfIceTable *t = create("t", 0, NULL, NULL);
	BfBounds bounds[N_COLUMNS];
	BfIceMetricsColumn *c;
	Found found;
	int32_t n;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_metrics_columns(test_arena(), t->metadata, &c, &n, &test_err));
	for (int32_t i = 0; i < n; i++)
		bf_ice_metrics_begin(t->schema, &c[i], &bounds[i]);
	write_and_read(t, c, bounds, n, &found);
	EXPECT_EQ(found.metrics.n_value_counts + found.metrics.n_lower + found.metrics.n_upper, 0);
}

/* More than an entry of a manifest can have is said to be so. */
TEST(iceberg_metrics_too_many)
{
	BfIceMetricsColumn c[200];
	BfBounds bounds[200];
	BfView text = {bf_arena_alloc(test_arena(), 65536), 65536};
	BfVector v;
	BfView out;

	memset((uint8_t *) (uintptr_t) text.ptr, 'x', text.len);
	for (int32_t i = 0; i < 200; i++)
	{
		c[i] = (BfIceMetricsColumn){.field = 1, .field_id = i + 1, .kind = BF_ICE_METRICS_FULL};
		bf_ice_metrics_begin(&schema, &c[i], &bounds[i]);
		add_row(&bounds[i], &v, &text);
	}
	EXPECT_FAIL(bf_ice_metrics_write(test_arena(), c, bounds, 200, &out, &test_err), BF_ERR_LIMIT,
				-1);
}
