/*
 * Which snapshots and refs expire, and that nothing else of the table does.
 */
#include "iceberg/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

/* Later than any clock, so that it is the time of whatever is done. */
#define NOW INT64_C(1000000000000000)

static json_t *
parsed(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	if (json == NULL)
		test_fail(__FILE__, __LINE__, "no JSON: %s", text);
	return json;
}

/* "id parent age[ bifang| coverage]" each, ages before NOW in milliseconds. */
static BfIceTable *
made(const char *const *snapshots, int64_t current, const char *refs, const char *log,
	 const char *properties)
{
	BfArena *a = test_arena();
	json_t *root = parsed(
		"{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
		"\"last-sequence-number\":100,\"last-column-id\":1,\"current-schema-id\":0,\"schemas\":"
		"[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"id\",\"required\":"
		"false,\"type\":\"long\"}]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,"
		"\"fields\":[]}],\"last-partition-id\":999,\"default-sort-order-id\":0,\"sort-orders\":"
		"[{\"order-id\":0,\"fields\":[]}],\"of-tomorrow\":{\"k\":[1,null]}}");
	json_t *list = json_array();
	const char *path, *text;
	BfIceTable *t = NULL;

	json_object_set_new(root, "location", json_string(test_dir()));
	json_object_set_new(root, "last-updated-ms", json_integer(NOW));
	json_object_set_new(root, "current-snapshot-id", json_integer(current));
	for (; *snapshots != NULL; snapshots++)
	{
		long long id, parent, age;
		int n = 0;
		json_t *s, *summary = parsed("{\"operation\":\"append\"}");

		if (sscanf(*snapshots, "%lld %lld %lld%n", &id, &parent, &age, &n) != 3)
			test_fail(__FILE__, __LINE__, "no snapshot: %s", *snapshots);
		s = json_pack("{s:I, s:I, s:I, s:s, s:i}", "snapshot-id", (json_int_t) id, "timestamp-ms",
					  (json_int_t) (NOW - age), "sequence-number", (json_int_t) id, "manifest-list",
					  "none.avro", "of-tomorrow", 7);
		if (parent > 0)
			json_object_set_new(s, "parent-snapshot-id", json_integer(parent));
		if (strcmp(*snapshots + n, " bifang") == 0)
			json_object_set_new(summary, BF_ICE_COVERED, json_string("7:0-99"));
		else if ((*snapshots)[n] == ' ')
			json_object_set_new(summary, BF_ICE_COVERED_PARQUET, json_string(*snapshots + n + 1));
		json_object_set_new(s, "summary", summary);
		json_array_append_new(list, s);
	}
	json_object_set_new(root, "snapshots", list);
	json_object_set_new(root, "refs", parsed(refs));
	json_object_set_new(root, "snapshot-log", parsed(log));
	json_object_set_new(root, "properties", parsed(properties));
	json_object_set_new(
		root, "statistics",
		parsed("[{\"snapshot-id\":1,\"statistics-path\":\"s1\",\"file-size-in-bytes\":1,"
			   "\"file-footer-size-in-bytes\":1,\"blob-metadata\":[]},{\"snapshot-id\":4,"
			   "\"statistics-path\":\"s4\",\"file-size-in-bytes\":1,"
			   "\"file-footer-size-in-bytes\":1,\"blob-metadata\":[]}]"));
	if (bfi_json_text(a, root, &text, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	json_decref(root);
	path = bf_arena_printf(a, "%s/metadata/00000-x.metadata.json", test_dir());
	(void) remove(path);
	if (bf_publish_bytes(a, path, text, strlen(text), &test_err) != BF_OK ||
		bf_ice_load(a, path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

/* The table without what expires; NULL = nothing does. */
static BfIceTable *
expired(const BfIceTable *t, int64_t age, int64_t keep, int64_t ref_age, BfIceExpired *gone)
{
	BfIceExpiry rule = {age, keep, ref_age};
	BfIceTable *after = NULL;
	const char *path = NULL;

	if (t == NULL || bf_ice_expire(test_arena(), t, &rule, gone, &path, &test_err) != BF_OK ||
		(path != NULL && bf_ice_load(test_arena(), path, NULL, &after, &test_err) != BF_OK))
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return after;
}

/* Numbers of an array's items, with spaces between. */
static const char *
listed(const BfIceTable *t, const char *key)
{
	json_t *list = json_object_get(t->metadata->json, key);
	char *text = bf_arena_alloc(test_arena(), 400);
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < json_array_size(list); i++)
		n += (size_t) snprintf(text + n, 400 - n, i > 0 ? " %lld" : "%lld",
							   (long long) json_integer_value(
								   json_object_get(json_array_get(list, i), "snapshot-id")));
	return text;
}

static const char *
kept(const BfIceTable *t, int64_t age, int64_t keep, int64_t ref_age)
{
	BfIceExpired gone;
	BfIceTable *after = expired(t, age, keep, ref_age, &gone);

	if (after == NULL)
		return "all";
	EXPECT_EQ(gone.snapshots, t->metadata->snapshots.n - after->metadata->snapshots.n);
	EXPECT_EQ(gone.refs, t->metadata->refs.n - after->metadata->refs.n);
	return listed(after, "snapshots");
}

/* Main 1 to 5, bifang 6 to 8 on it, 9 undone by a rollback. */
static const char *const history[] = {
	"1 0 900", "2 1 800",		 "3 2 700",		   "9 3 650",		 "4 3 600",
	"5 4 500", "6 3 640 bifang", "7 6 450 bifang", "8 7 300 bifang", NULL};

#define BOTH                                                                          \
	"\"main\":{\"snapshot-id\":5,\"type\":\"branch\"},\"bifang\":{\"snapshot-id\":8," \
	"\"type\":\"branch\"}"
#define LOG(id, age) "{\"snapshot-id\":" #id ",\"timestamp-ms\":999999999999" #age "}"
#define WHOLE_LOG                                                                            \
	"[" LOG(1, 100) "," LOG(2, 200) "," LOG(3, 300) "," LOG(9, 350) "," LOG(3, 360) "," LOG( \
		4, 400) "," LOG(5, 500) "]"

TEST(iceberg_expire_by_age_and_count)
{
	BfIceTable *t = made(history, 5, "{" BOTH "}", WHOLE_LOG, "{}");

	EXPECT_STR(kept(t, 900, 1, INT64_MAX), "all");
	EXPECT_STR(kept(t, 899, 1, INT64_MAX), "2 3 9 4 5 6 7 8");
	EXPECT_STR(kept(t, 620, 1, INT64_MAX), "4 5 7 8");
	EXPECT_STR(kept(t, 0, 1, INT64_MAX), "5 8");
	EXPECT_STR(kept(t, 0, 2, INT64_MAX), "4 5 7 8");
	/* The bifang branch goes on into main; what no ref leads to has no count. */
	EXPECT_STR(kept(t, 0, 4, INT64_MAX), "2 3 4 5 6 7 8");
	EXPECT_STR(kept(t, 0, INT64_MAX, INT64_MAX), "1 2 3 4 5 6 7 8");
	EXPECT_STR(kept(t, 0, 1, 1), "5 8");
}

TEST(iceberg_expire_refs)
{
	BfIceTable *t = made(history, 5,
						 "{" BOTH ",\"audit\":{\"snapshot-id\":2,\"type\":\"tag\"},"
						 "\"other\":{\"snapshot-id\":9,\"type\":\"branch\"}}",
						 "[]", "{}");

	EXPECT_STR(kept(t, 0, 1, INT64_MAX), "2 9 5 8");
	EXPECT_STR(kept(t, 0, 1, 700), "9 5 8");
	EXPECT_STR(kept(t, 0, 1, 1), "5 8");
	/* A ref that goes, of a snapshot that stays. */
	EXPECT_STR(kept(t, 900, 1, 700), "1 2 3 9 4 5 6 7 8");
	t = made(history, 5,
			 "{\"main\":{\"snapshot-id\":5,\"type\":\"branch\",\"min-snapshots-to-keep\":2,"
			 "\"max-ref-age-ms\":1},\"bifang\":{\"snapshot-id\":8,\"type\":\"branch\","
			 "\"max-snapshot-age-ms\":460,\"max-ref-age-ms\":1},\"audit\":{\"snapshot-id\":2,"
			 "\"type\":\"tag\",\"max-ref-age-ms\":800},\"other\":{\"snapshot-id\":9,"
			 "\"type\":\"branch\",\"max-ref-age-ms\":649}}",
			 "[]", "{}");
	EXPECT_STR(kept(t, 0, 1, INT64_MAX), "2 4 5 7 8");
	EXPECT_STR(kept(t, 0, 1, 1), "2 4 5 7 8");
}

/* What is not about snapshots that go stays; the log goes on behind them. */
TEST(iceberg_expire_leaves_the_rest)
{
	BfIceTable *t = made(history, 5, "{" BOTH "}", WHOLE_LOG, "{\"k\":\"v\"}"), *after;
	BfIceExpired gone;
	json_t *root;

	after = expired(t, 620, 1, INT64_MAX, &gone);
	REQUIRE(after != NULL);
	root = after->metadata->json;
	EXPECT_EQ(gone.snapshots, 5);
	EXPECT_STR(listed(after, "snapshot-log"), "4 5");
	EXPECT_STR(listed(after, "statistics"), "4");
	EXPECT(json_equal(json_object_get(root, "of-tomorrow"),
					  json_object_get(t->metadata->json, "of-tomorrow")));
	EXPECT(json_equal(json_object_get(root, "properties"),
					  json_object_get(t->metadata->json, "properties")));
	EXPECT_EQ(json_integer_value(json_object_get(
				  json_array_get(json_object_get(root, "snapshots"), 0), "of-tomorrow")),
			  7);
	EXPECT_EQ(json_array_size(json_object_get(root, "metadata-log")), 1);
	EXPECT_EQ(after->metadata->last_sequence_number, 100);
}

static BfStatus
at(const BfIceTable *t, int64_t age, BfIcePoint *point)
{
	BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = NOW - age};

	return bf_ice_at_resolve(t, &when, point, &test_err);
}

/* A time of which only a part is left is an error, never what main or the branch had before. */
TEST(iceberg_expire_time_travel)
{
	BfIceTable *t = made(history, 5, "{" BOTH "}", WHOLE_LOG, "{}");
	BfIceExpired gone;
	BfIcePoint p;

	REQUIRE_OK(at(t, 400, &p));
	EXPECT(p.main->id == 5 && p.bifang->id == 7);
	t = expired(t, 450, 1, INT64_MAX, &gone);
	REQUIRE(t != NULL);
	EXPECT_STR(listed(t, "snapshots"), "5 7 8");
	REQUIRE_OK(at(t, 400, &p));
	EXPECT(p.main->id == 5 && p.bifang->id == 7);
	EXPECT_FAIL(at(t, 480, &p), BF_ERR_NOTFOUND, -1); /* of bifang 6 is gone */
	EXPECT_FAIL(at(t, 550, &p), BF_ERR_NOTFOUND, -1);
	/* Main's log begins later than the branch's newest: there is no time at which main is nothing.
	 */
	static const char *const late[] = {"1 0 900", "2 1 100", "3 1 800 bifang", "4 3 200 bifang",
									   NULL};
	t = made(late, 2,
			 "{\"main\":{\"snapshot-id\":2,\"type\":\"branch\"},\"bifang\":{\"snapshot-id\":4,"
			 "\"type\":\"branch\",\"min-snapshots-to-keep\":2}}",
			 "[" LOG(1, 100) "," LOG(2, 900) "]", "{}");
	t = expired(t, 0, 1, INT64_MAX, &gone);
	REQUIRE(t != NULL);
	EXPECT_STR(listed(t, "snapshots"), "2 3 4");
	EXPECT_FAIL(at(t, 150, &p), BF_ERR_NOTFOUND, -1);
	REQUIRE_OK(at(t, 50, &p));
	EXPECT(p.main->id == 2 && p.bifang->id == 4);
	/* So after a rollback to the first snapshot. */
	static const char *const back[] = {"1 0 900", "2 1 800", "3 1 700 bifang", NULL};
	t = made(back, 1,
			 "{\"main\":{\"snapshot-id\":1,\"type\":\"branch\"},\"bifang\":{\"snapshot-id\":3,"
			 "\"type\":\"branch\"}}",
			 "[" LOG(1, 100) "," LOG(2, 200) "," LOG(1, 600) "]", "{}");
	t = expired(t, 750, 1, INT64_MAX, &gone);
	REQUIRE(t != NULL);
	EXPECT_STR(listed(t, "snapshots"), "1 3");
	EXPECT_FAIL(at(t, 500, &p), BF_ERR_NOTFOUND, -1);
	REQUIRE_OK(at(t, 300, &p));
}

/* What main covers where it is rolled back does not depend on snapshots that are gone. */
TEST(iceberg_expire_keeps_coverage)
{
	static const char *const covered[] = {"1 0 900",  "2 1 800 7:0-4", "3 2 700", "4 3 600 7:0-9",
										  "5 77 500", "6 5 400",	   NULL};
	static const struct
	{
		int64_t id;
		const char *covers;
	} now[] = {{3, "7:0-4"}, {4, "7:0-9"}, {6, "7:0-19"}};
	BfArena *a = test_arena();
	BfIceTable *t = made(covered, 4,
						 "{\"main\":{\"snapshot-id\":4,\"type\":\"branch\","
						 "\"min-snapshots-to-keep\":2},\"odd\":{\"snapshot-id\":6,"
						 "\"type\":\"branch\"}}",
						 "[]", "{\"bifang.covered-parquet\":\"7:0-19\"}");
	BfIceExpired gone;

	t = expired(t, 0, 1, INT64_MAX, &gone);
	REQUIRE(t != NULL);
	EXPECT_STR(listed(t, "snapshots"), "3 4 6");
	for (int i = 0; i < 3; i++)
	{
		BfCoverage c;

		REQUIRE_OK(
			bfi_covered_parquet(a, t, bf_ice_snapshot(t->metadata, now[i].id), &c, &test_err));
		EXPECT_STR(coverage_text(&c), now[i].covers);
	}
	/* Before the first rows moved, main covered nothing. */
	t = made(covered, 4,
			 "{\"main\":{\"snapshot-id\":4,\"type\":\"branch\"},\"old\":{\"snapshot-id\":2,"
			 "\"type\":\"tag\"}}",
			 "[]", "{\"bifang.covered-parquet\":\"7:0-9\"}");
	json_object_del(
		json_object_get(json_array_get(json_object_get(t->metadata->json, "snapshots"), 1),
						"summary"),
		BF_ICE_COVERED_PARQUET);
	t = expired(t, 0, 1, INT64_MAX, &gone);
	REQUIRE(t != NULL);
	EXPECT_STR(listed(t, "snapshots"), "2 4");
	EXPECT_STR(bf_ice_summary(bf_ice_snapshot(t->metadata, 2), BF_ICE_COVERED_PARQUET), "");
}

TEST(iceberg_expire_properties)
{
	static const struct
	{
		const char *properties;
		BfIceExpiry rule;
		bool given;
	} cases[] = {
		{"{}", {432000000, 1, INT64_MAX}, false},
		{"{\"history.expire.min-snapshots-to-keep\":\"7\"}", {432000000, 7, INT64_MAX}, false},
		{"{\"history.expire.max-snapshot-age-ms\":\"0\"}", {0, 1, INT64_MAX}, true},
		{"{\"history.expire.max-snapshot-age-ms\":\"60000\",\"history.expire.max-ref-age-ms\":"
		 "\"5\",\"history.expire.min-snapshots-to-keep\":\"0\"}",
		 {60000, 1, 5},
		 true},
		{"{\"history.expire.max-snapshot-age-ms\":\"1h\",\"history.expire.max-ref-age-ms\":\"-1\"}",
		 {432000000, 1, INT64_MAX},
		 false},
		{"{\"history.expire.max-snapshot-age-ms\":\"\"}", {432000000, 1, INT64_MAX}, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfIceTable *t = made(history, 5, "{" BOTH "}", "[]", cases[i].properties);
		BfIceExpiry rule;

		EXPECT_EQ(bf_ice_expiry(t->metadata, &rule), cases[i].given);
		EXPECT_EQ(rule.max_snapshot_age_ms, cases[i].rule.max_snapshot_age_ms);
		EXPECT_EQ(rule.min_snapshots, cases[i].rule.min_snapshots);
		EXPECT_EQ(rule.max_ref_age_ms, cases[i].rule.max_ref_age_ms);
	}
}

/* Each commit of a table that says an age leaves what is older, and all rows. */
TEST(iceberg_expire_with_commits)
{
	static const char *const key = "history.expire.max-snapshot-age-ms", *const age = "60000";
	static BfField column = {.name = "id", .type = {.kind = BF_KIND_INT64}};
	static const BfSchema schema = {.n_fields = 1, .fields = &column};
	BfArena *a = test_arena();
	BfIceTable *t = NULL;
	BfIcePlan *p;
	const char *path;
	int64_t id;

	REQUIRE_OK(bf_ice_create(a, test_dir(), NULL, &schema, NULL, &key, &age, 1, &path, &test_err));
	for (int i = 0; i < 8; i++)
	{
		BfIceNewFile f = {.path =
							  bf_arena_printf(a, "bifang://d/t/7_%d-%d.log", i * 10, i * 10 + 9),
						  .record_count = 10,
						  .file_size = 100};
		json_t *list;

		REQUIRE_OK(bf_ice_load(a, path, NULL, &t, &test_err));
		list = json_object_get(t->metadata->json, "snapshots");
		for (size_t k = 0; i < 6 && k < json_array_size(list); k++)
			json_object_set_new(json_array_get(list, k), "timestamp-ms", json_integer(1));
		REQUIRE_OK(bf_ice_commit_logical(a, t, &f, 1, NULL, &path, &id, &test_err));
	}
	REQUIRE_OK(bf_ice_load(a, path, NULL, &t, &test_err));
	/* Main's empty one, and those of the last three commits. */
	EXPECT_EQ(t->metadata->snapshots.n, 4);
	EXPECT(bf_ice_snapshot(t->metadata, id) != NULL);
	REQUIRE_OK(bf_ice_plan(a, t, NULL, &p, &test_err));
	EXPECT_EQ(p->total_rows, 80);
	EXPECT_STR(coverage_text(&p->covered), "7:0-79");
}
