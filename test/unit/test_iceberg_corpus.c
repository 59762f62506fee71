/*
 * Tables that other engines wrote: every one is planned or refused as it should be. The expected
 * numbers come from the corpus (see its README); tables found by directory record other locations.
 */
#include <jansson.h>
#include <stdlib.h>

#include "iceberg/table.h"
#include "unit/lib/runner.h"

typedef struct Tally
{
	char name[32];
	int32_t planned;
	int32_t empty;
	int32_t refused;
	int64_t files;
	int64_t rows;
	int64_t deletes;
} Tally;

static Tally *
tally_of(Tally *tallies, int32_t *n, const char *name)
{
	for (int32_t i = 0; i < *n; i++)
		if (strcmp(tallies[i].name, name) == 0)
			return &tallies[i];
	snprintf(tallies[*n].name, sizeof tallies[*n].name, "%s", name);
	return &tallies[(*n)++];
}

static void
print_tallies(const Tally *tallies, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		printf("  %-16s %2d planned (%lld files, %lld rows, %lld delete files), %d empty, "
			   "%d refused\n",
			   tallies[i].name, tallies[i].planned, (long long) tallies[i].files,
			   (long long) tallies[i].rows, (long long) tallies[i].deletes, tallies[i].empty,
			   tallies[i].refused);
}

static json_t *
load_json(const char *dir, const char *name)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return json_load_file(path, 0, NULL);
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int64_t
number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool
has_format(const json_t *entry, const char *name)
{
	const json_t *formats = json_object_get(entry, "formats");

	for (size_t i = 0; i < json_array_size(formats); i++)
		if (strcmp(json_string_value(json_array_get(formats, i)), name) == 0)
			return true;
	return false;
}

static BfStatus
plan_at(const BfIceTable *t, BfIceAt at, BfIcePlan **plan)
{
	BfIceScan scan = {.io = NULL};

	BF_TRY(bf_ice_at_resolve(t, &at, &scan.point, &test_err));
	return bf_ice_plan_scan(test_arena(), t, &scan, plan, &test_err);
}

static void
check_entry(const char *corpus, const json_t *entry, Tally *tally)
{
	BfArena *a = test_arena();
	const char *table = text_of(entry, "table"), *metadata = text_of(entry, "metadata");
	const json_t *rows = json_object_get(entry, "manifest_record_count");
	char path[1024];
	BfIceTable *t;
	BfIcePlan *plan;
	BfStatus status;

	snprintf(path, sizeof path, "%s/%s/metadata/%s", corpus, table, metadata);
	status = bf_ice_load(a, path, NULL, &t, &test_err);
	if (status == BF_OK)
		status = plan_at(t, (BfIceAt){.kind = BF_ICE_AT_CURRENT}, &plan);
	if (json_object_get(entry, "data_files") == NULL)
	{
		REQUIRE_OK(status);
		EXPECT_EQ(plan->snapshot_id, -1);
		EXPECT_EQ(plan->n_files, 0);
		tally->empty++;
	}
	else if (!has_format(entry, "ORC"))
	{
		if (status != BF_OK)
			test_fail(__FILE__, __LINE__, "%s: %s: %s", table, test_err.object, test_err.text);
		REQUIRE_OK(status);
		EXPECT_EQ(plan->n_files, number_of(entry, "data_files"));
		EXPECT_EQ(plan->total_rows, json_integer_value(rows));
		EXPECT_EQ(plan->counters.delete_files + plan->counters.delete_files_unused,
				  number_of(entry, "delete_files"));
		EXPECT_EQ(plan->has_deletes, plan->counters.delete_files > 0);
		EXPECT_EQ(plan->covered.n, 0);
		tally->deletes += plan->counters.delete_files;
		for (int32_t i = 0; i < plan->n_files; i++)
		{
			BfPathInfo info;

			REQUIRE_OK(test_host()->stat(test_host(), plan->files[i].path, &info, &test_err));
			if (info.kind != BF_PATH_FILE)
				test_fail(__FILE__, __LINE__, "%s: no file %s", table, plan->files[i].path);
		}
		tally->planned++;
		tally->files += plan->n_files;
		tally->rows += plan->total_rows;
	}
	else
	{
		if (status != BF_ERR_UNSUPPORTED)
			test_fail(__FILE__, __LINE__, "%s: %s, expected UNSUPPORTED", table,
					  bf_status_name(status));
		tally->refused++;
	}
}

TEST(iceberg_corpus_expected)
{
	const char *corpus = test_corpus();
	Tally tallies[16];
	int32_t n = 0;
	json_t *expected;

	if (corpus == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	memset(tallies, 0, sizeof tallies);
	expected = load_json(corpus, "expected/iceberg_expected.json");
	REQUIRE(expected != NULL);
	for (size_t i = 0; i < json_array_size(expected); i++)
	{
		const json_t *entry = json_array_get(expected, i);

		check_entry(corpus, entry, tally_of(tallies, &n, text_of(entry, "source")));
	}
	print_tallies(tallies, n);
	json_decref(expected);
}

/* Tables that have moved; all are found by directory. */
TEST(iceberg_corpus_spark)
{
	const char *corpus = test_corpus();
	Tally tally = {.name = "spark"};
	const char *name;
	json_t *expected, *entry;

	if (corpus == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	expected = load_json(corpus, "spark/expected.json");
	REQUIRE(expected != NULL);
	json_object_foreach(expected, name, entry)
	{
		BfArena *a = test_arena();
		const char *dot = strchr(name, '.'), *metadata;
		char path[1024];
		BfIceTable *t;
		BfIcePlan *plan;

		REQUIRE(dot != NULL);
		snprintf(path, sizeof path, "%s/spark/%.*s/%s", corpus, (int) (dot - name), name, dot + 1);
		REQUIRE_OK(bf_ice_find_metadata(a, path, &metadata, &test_err));
		REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
		REQUIRE_OK(plan_at(t, (BfIceAt){.kind = BF_ICE_AT_CURRENT}, &plan));
		if (plan->has_deletes)
			EXPECT(plan->total_rows > number_of(entry, "rows"));
		else
			EXPECT_EQ(plan->total_rows, number_of(entry, "rows"));
		tally.deletes += plan->counters.delete_files;
		tally.planned++;
		tally.files += plan->n_files;
		tally.rows += plan->total_rows;
	}
	print_tallies(&tally, 1);
	json_decref(expected);
}

/* Every snapshot of the tables has the recorded rows, deleted ones included. */
TEST(iceberg_corpus_snapshots)
{
	const char *corpus = test_corpus();
	json_t *expected, *entry;
	const char *name;
	int32_t planned = 0;

	if (corpus == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	expected = load_json(corpus, "spark/expected.json");
	REQUIRE(expected != NULL);
	json_object_foreach(expected, name, entry)
	{
		BfArena *a = test_arena();
		const char *metadata;
		char path[1024];
		BfIceTable *t;

		snprintf(path, sizeof path, "%s/spark/%.*s/%s", corpus, (int) (strchr(name, '.') - name),
				 name, strchr(name, '.') + 1);
		REQUIRE_OK(bf_ice_find_metadata(a, path, &metadata, &test_err));
		REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
		for (int32_t i = 0; i < t->metadata->snapshots.n; i++)
		{
			const BfIceSnapshot *s = &t->metadata->snapshots.all[i];
			const char *total = bf_ice_summary(s, "total-records");
			BfIcePlan *plan;
			BfStatus status =
				plan_at(t, (BfIceAt){.kind = BF_ICE_AT_SNAPSHOT, .snapshot_id = s->id}, &plan);

			REQUIRE_OK(status);
			REQUIRE(total != NULL);
			EXPECT_EQ(plan->total_rows, atoll(total));
			planned++;
		}
	}
	printf("  %d snapshots planned\n", planned);
	EXPECT(planned > 30);
	json_decref(expected);
}
