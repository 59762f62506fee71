/* What is known of columns without reading: cached manifests, counts of statistics files. */
#include "iceberg/known.h"

#include <string.h>

#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

#define SCHEMAS                                                       \
	"[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["              \
	"{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"long\"}," \
	"{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"string\"}]}]"
#define SPECS "[{\"spec-id\":0,\"fields\":[]}]"
#define FILES 10

/* ---- manifests ---- */

typedef struct Seen
{
	int32_t n;
	int64_t least, greatest;
	int64_t nulls;
	char text[80]; /* the first file's upper bound of the second column */
} Seen;

static BfStatus
see(void *arg, const BfIceKnownFile *f, BfError *err)
{
	Seen *seen = arg;
	const BfColumnStats *a = &f->stats[1]; /* asked for in this order */
	const BfColumnStats *b = &f->stats[0];

	(void) err;
	EXPECT_EQ(f->rows, 100);
	EXPECT_EQ(f->size, 5000);
	EXPECT(strstr(f->path, "/f") != NULL);
	EXPECT(a->known && a->has_min && a->has_max && b->has_min && b->has_max);
	EXPECT_EQ(a->row_count, 100);
	if (seen->n == 0 || a->min.v.i64 < seen->least)
		seen->least = a->min.v.i64;
	if (seen->n == 0 || a->max.v.i64 > seen->greatest)
		seen->greatest = a->max.v.i64;
	if (seen->n++ == 0)
		memcpy(seen->text, b->max.v.view.ptr, b->max.v.view.len);
	seen->nulls += a->null_count;
	return BF_OK;
}

static BfIceTable *
table_of_files(void)
{
	BfArena *a = test_arena();
	MakeManifest *m = bf_arena_alloc(a, FILES * sizeof *m);
	MakeManifest **list = bf_arena_alloc(a, FILES * sizeof *list);
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, FILES / 2, list};
	MakeTable table = {.version = 2,
					   .schemas = SCHEMAS,
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	MakeFile *files = bf_arena_alloc(a, FILES * sizeof *files);

	for (int32_t i = 0; i < FILES; i++)
	{
		MakeColumn *c = bf_arena_alloc(a, 2 * sizeof *c);

		c[0] = (MakeColumn){1, make_i64(i * 10), make_i64(i * 10 + 9), 100, 3, -1};
		c[1] = (MakeColumn){
			2, make_text(bf_arena_printf(a, "a low %d", i)), make_text("high"), 100, 0, -1};
		files[i] = (MakeFile){.status = BF_ICE_ADDED,
							  .path = test_path(bf_arena_printf(a, "f%d", i)),
							  .sequence = -1,
							  .rows = 100,
							  .size = 5000,
							  .n_columns = 2,
							  .columns = c};
	}
	for (int32_t i = 0; i < FILES / 2; i++)
	{
		m[i] = (MakeManifest){.name = bf_arena_printf(a, "m%d", i),
							  .sequence = 1,
							  .snapshot_id = 1,
							  .n_files = 2,
							  .files = files + i * 2};
		list[i] = &m[i];
	}
	return make_table(&table);
}

TEST(iceberg_known_files)
{
	static const int32_t columns[2] = {1, 0};
	BfIceScan scan = {.prune = 0};
	BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	BfIceTable *t = table_of_files();
	BfIcePlan *plan;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &now, &scan.point, &test_err));
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 1 << 20, &scan.cache, &test_err));
	for (int32_t max = 0; max <= FILES; max++)
	{
		Seen seen = {0};

		/* Of manifests that nobody has read nothing is known, and they are not read now. */
		if (max == 1)
			REQUIRE_OK(bf_ice_plan_scan(test_arena(), t, &scan, &plan, &test_err));
		REQUIRE_OK(bf_ice_known_files(test_arena(), t, scan.point.main, scan.point.schema,
									  scan.cache, columns, 2, max > 0 ? max : 1, see, &seen,
									  &test_err));
		EXPECT(max == 0 ? seen.n == 0 : seen.n > 0 && seen.n <= max);
		EXPECT_EQ(seen.nulls, seen.n * 3);
		if (max < FILES)
			continue;
		EXPECT_EQ(seen.n, FILES);
		EXPECT_EQ(seen.least, 0);
		EXPECT_EQ(seen.greatest, 99);
		EXPECT_STR(seen.text, "high");
	}
	bf_ice_cache_free(scan.cache);
	REQUIRE_OK(bf_ice_known_files(test_arena(), t, scan.point.main, scan.point.schema, NULL,
								  columns, 2, 1, see, NULL, &test_err));
}

/* ---- statistics files ---- */

#define OF(snapshot, blobs) \
	"{\"snapshot-id\":" snapshot ",\"statistics-path\":\"x\",\"blob-metadata\":" blobs "}"
#define BLOB(type, fields, ndv) \
	"[{\"type\":\"" type "\",\"fields\":" fields ",\"properties\":{\"ndv\":" ndv "}}]"
#define THETA(fields, ndv) BLOB("apache-datasketches-theta-v1", fields, ndv)
#define ONE(snapshot, fields, ndv) ",\"statistics\":[" OF(snapshot, THETA(fields, ndv)) "]"

/* Three snapshots, each after the other, the second without a number of rows that is one. */
static const char table_text[] =
	"{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"file:///t/\","
	"\"last-sequence-number\":7,\"last-updated-ms\":1700000000000,\"last-column-id\":2,"
	"\"schemas\":" SCHEMAS ",\"current-schema-id\":0,\"partition-specs\":" SPECS
	",\"default-spec-id\":0,\"current-snapshot-id\":3,\"snapshots\":["
	"{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"x\",\"summary\":"
	"{\"operation\":\"append\",\"total-records\":\"100\"}},"
	"{\"snapshot-id\":2,\"parent-snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"x\","
	"\"summary\":{\"operation\":\"append\",\"total-records\":\"x\"}},"
	"{\"snapshot-id\":3,\"parent-snapshot-id\":2,\"timestamp-ms\":5,\"manifest-list\":\"x\","
	"\"summary\":{\"operation\":\"append\",\"total-records\":\"50\"}}]%s}";

/* Whatever stands there: the table can be read, and what is wrong counts for nothing. */
TEST(iceberg_known_distinct)
{
	static const struct
	{
		const char *text;
		int64_t distinct, rows; /* of column 1; -1: none known */
	} cases[] = {
		{"", -1, -1},
		{ONE("3", "[1]", "\"42\""), 42, 50},
		{ONE("3", "[1]", "42"), 42, 50},
		/* The nearest one before it, without a summary that tells, and an older one. */
		{",\"statistics\":[" OF("1", THETA("[1]", "9")) "," OF("2", THETA("[1]", "7")) "]", 7, -1},
		{ONE("1", "[1]", "\"9\""), 9, 100},
		/* Of another column, of several, of another kind, of a snapshot that is none of its own. */
		{ONE("3", "[2]", "\"42\""), -1, -1},
		{ONE("3", "[1,2]", "\"42\""), -1, -1},
		{",\"statistics\":[" OF("3", BLOB("x", "[1]", "4")) "]", -1, -1},
		{ONE("9", "[1]", "\"42\""), -1, -1},
		/* More than there are rows, fewer than none, no number, nothing of the kind. */
		{ONE("3", "[1]", "\"51\""), -1, -1},
		{ONE("3", "[1]", "\"-1\""), -1, -1},
		{ONE("3", "[1]", "\"1e3\""), -1, -1},
		{ONE("3", "[1]", "[]"), -1, -1},
		{ONE("3", "\"1\"", "\"4\""), -1, -1},
		{",\"statistics\":[" OF("3", "{}") ",7,null,[]]", -1, -1},
		{",\"statistics\":{\"a\":1}", -1, -1},
		{",\"statistics\":7", -1, -1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const char *text = bf_arena_printf(test_arena(), table_text, cases[i].text);
		int64_t distinct = -1, rows = -1;
		BfIceMetadata *m;

		REQUIRE_OK(bf_ice_metadata_parse(test_arena(), text, strlen(text), &m, &test_err));
		EXPECT(bf_ice_known_distinct(m, bf_ice_snapshot(m, 3), 1, &distinct, &rows) ==
			   (cases[i].distinct >= 0));
		if (cases[i].distinct < 0)
			continue;
		EXPECT_EQ(distinct, cases[i].distinct);
		EXPECT_EQ(rows, cases[i].rows);
	}
}
