/* Table metadata JSON: what is read, what is tolerated, what is refused and how. */
#include "iceberg/metadata.h"
#include "iceberg/metrics.h"
#include "unit/lib/runner.h"

#define SCHEMA_V2                                                                        \
	"\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["                     \
	"{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"long\",\"doc\":\"the key\"}," \
	"{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"decimal( 9 , 2 )\"}]}],"     \
	"\"current-schema-id\":0,"
#define SPECS_V2                                                                          \
	"\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":1,\"field-id\":1000," \
	"\"name\":\"a_bucket\",\"transform\":\"bucket[4]\"}]}],\"default-spec-id\":0,"
#define HEAD_V2                                                              \
	"\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"file:///t/\"," \
	"\"last-sequence-number\":7,\"last-updated-ms\":1700000000000,\"last-column-id\":2,"
#define SNAPSHOTS                                                                            \
	"\"snapshots\":[{\"snapshot-id\":\"9007199254740993\",\"sequence-number\":1,"            \
	"\"timestamp-ms\":5,\"manifest-list\":\"file:///t/metadata/snap.avro\","                 \
	"\"summary\":{\"operation\":\"append\",\"total-records\":\"3\",\"n\":4,\"gone\":null}}," \
	"{\"snapshot-id\":11,\"parent-snapshot-id\":9007199254740993,\"timestamp-ms\":6,"        \
	"\"manifest-list\":\"x\",\"schema-id\":0}],\"current-snapshot-id\":9007199254740993,"

static BfStatus
parse(BfArena *a, const char *text, BfIceMetadata **out)
{
	bf_error_clear(&test_err);
	return bf_ice_metadata_parse(a, text, strlen(text), out, &test_err);
}

TEST(iceberg_metadata_v2)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;
	const BfIceSnapshot *s;

	REQUIRE_OK(parse(a,
					 "{" HEAD_V2 SCHEMA_V2 SPECS_V2 SNAPSHOTS
					 "\"refs\":{\"audit\":{\"snapshot-id\":11,\"type\":\"branch\"},"
					 "\"v1\":{\"snapshot-id\":11,\"type\":\"tag\"}},"
					 "\"snapshot-log\":[{\"timestamp-ms\":5,\"snapshot-id\":4}],"
					 "\"properties\":{\"k\":\"v\",\"flag\":true},\"unknown\":[1,2]}",
					 &m));
	EXPECT_EQ(m->format_version, 2);
	EXPECT_STR(m->location, "file:///t/");
	EXPECT_EQ(m->last_sequence_number, 7);
	EXPECT_EQ(m->snapshots.current_id, INT64_C(9007199254740993));
	EXPECT_EQ(m->specs.last_partition_id, 1000);
	EXPECT_EQ(m->refs.n, 3);
	EXPECT(bf_ice_ref(m, "main") != NULL);
	EXPECT_EQ(bf_ice_ref(m, "audit")->id, 11);
	EXPECT(bf_ice_ref(m, "none") == NULL);
	EXPECT_STR(bf_ice_property(m, "flag"), "true");
	EXPECT(bf_ice_property(m, "none") == NULL);
	s = bf_ice_snapshot(m, INT64_C(9007199254740993));
	REQUIRE(s != NULL);
	EXPECT_STR(s->operation, "append");
	EXPECT_STR(bf_ice_summary(s, "n"), "4");
	EXPECT(bf_ice_summary(s, "gone") == NULL);
	EXPECT_EQ(s->parent_id, -1);
	EXPECT_EQ(s->schema_id, -1);
	EXPECT(bf_ice_snapshot(m, 12) == NULL);
	EXPECT_EQ(m->snapshot_log.n, 1);
	REQUIRE(bf_ice_current_schema(m)->n_fields == 2);
	EXPECT_EQ(m->schemas.all[0].fields[1].type.kind, BF_KIND_DECIMAL);
	EXPECT_EQ(m->schemas.all[0].fields[1].type.precision, 9);
	EXPECT_EQ(m->schemas.all[0].fields[1].type.scale, 2);
	EXPECT(m->schemas.all[0].fields[0].required);
	EXPECT_STR(m->schemas.all[0].fields[0].doc, "the key");
	EXPECT(!m->schemas.all[0].fields[0].mapped);
	EXPECT_EQ(m->specs.all[0].fields[0].transform.kind, BF_TRANSFORM_BUCKET);
}

/* What version 1 leaves out has a meaning. */
TEST(iceberg_metadata_v1)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;

	REQUIRE_OK(
		parse(a,
			  "{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,"
			  "\"last-column-id\":2,\"schema\":{\"type\":\"struct\",\"fields\":["
			  "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"int\"},"
			  "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"fixed[ 5 ]\"}]},"
			  "\"partition-spec\":[{\"source-id\":1,\"name\":\"a\",\"transform\":\"identity\"},"
			  "{\"source-id\":2,\"name\":\"b\",\"transform\":\"zorder\"}],"
			  "\"snapshots\":[{\"snapshot-id\":5,\"timestamp-ms\":3,"
			  "\"manifests\":[\"/t/metadata/m0.avro\"]}],\"current-snapshot-id\":5}",
			  &m));
	EXPECT_STR(m->uuid, "");
	EXPECT_EQ(m->last_sequence_number, 0);
	EXPECT_EQ(m->schemas.current_id, 0);
	EXPECT_EQ(m->specs.default_id, 0);
	EXPECT_EQ(m->specs.all[0].fields[0].field_id, 1000);
	EXPECT_EQ(m->specs.all[0].fields[1].field_id, 1001);
	EXPECT_EQ(m->specs.all[0].fields[1].transform.kind, BF_TRANSFORM_UNKNOWN);
	EXPECT_STR(m->specs.all[0].fields[1].transform_text, "zorder");
	EXPECT_EQ(m->specs.last_partition_id, 1001);
	EXPECT_EQ(m->snapshots.all[0].n_manifests, 1);
	EXPECT(m->snapshots.all[0].manifest_list == NULL);
	EXPECT_EQ(bf_ice_ref(m, "main")->id, 5);
	EXPECT_EQ(m->schemas.all[0].fields[1].type.length, 5);
}

/* Version 1 need not say which schema and spec are the current ones. */
TEST(iceberg_metadata_v1_without_ids)
{
#define V1(more) \
	"{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,\"last-column-id\":1," more "}"
#define FIELDS "\"fields\":[{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"long\"}]}"
#define SCHEMA(id) "{\"type\":\"struct\",\"schema-id\":" id "," FIELDS
#define DAYS(of) "[{\"source-id\":1,\"name\":\"d\",\"transform\":\"bucket[" of "]\"}]"
#define TWO                                           \
	"\"schemas\":[" SCHEMA("4") "," SCHEMA(           \
		"3") "],\"partition-specs\":[{\"spec-id\":7," \
			 "\"fields\":" DAYS("2") "},{\"spec-id\":6,\"fields\":" DAYS("3") "}]"
	BfArena *a = test_arena();
	BfIceMetadata *m;

	REQUIRE_OK(parse(a,
					 V1("\"schemas\":[" SCHEMA("4") "],\"partition-specs\":[{\"spec-id\":7,"
													"\"fields\":[]}]"),
					 &m));
	EXPECT_EQ(m->schemas.current_id, 4);
	EXPECT_EQ(m->specs.default_id, 7);
	REQUIRE_OK(parse(a, V1(TWO ",\"schema\":" SCHEMA("3") ",\"partition-spec\":" DAYS("3")), &m));
	EXPECT_EQ(m->schemas.current_id, 3);
	EXPECT_EQ(m->specs.default_id, 6);
	EXPECT_FAIL(parse(a, V1(TWO), &m), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(parse(a, V1(TWO ",\"schema\":" SCHEMA("9") ",\"partition-spec\":" DAYS("3")), &m),
				BF_ERR_CORRUPT, -1);
}

TEST(iceberg_metadata_nested_and_mapping)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;
	const BfField *f;

	REQUIRE_OK(parse(
		a,
		"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"type\":\"struct\",\"schema-id\":\"3\",\"fields\":["
		"{\"id\":1,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\","
		"\"element-id\":4,\"element-required\":true,\"element\":\"string\"}},"
		"{\"id\":2,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":5,"
		"\"key\":\"int\",\"value-id\":6,\"value-required\":false,\"value\":{\"type\":\"struct\","
		"\"fields\":[{\"id\":7,\"name\":\"x\",\"required\":true,\"type\":\"date\"}]}}}]}],"
		"\"current-schema-id\":\"3\",\"properties\":{\"schema.name-mapping.default\":"
		"\"[{\\\"field-id\\\":2,\\\"names\\\":[\\\"m\\\",\\\"old.m\\\"],\\\"fields\\\":"
		"[{\\\"field-id\\\":6,\\\"names\\\":[\\\"value\\\"],\\\"fields\\\":[{\\\"field-id\\\":7,"
		"\\\"names\\\":[\\\"y\\\"]}]}]},{\\\"names\\\":[\\\"gone\\\"]}]\"}}",
		&m));
	f = bf_ice_current_schema(m)->fields;
	EXPECT_EQ(f[0].type.kind, BF_KIND_LIST);
	EXPECT_EQ(f[0].children[0].id, 4);
	EXPECT(f[0].children[0].required);
	EXPECT_EQ(f[1].type.kind, BF_KIND_MAP);
	EXPECT(f[1].children[0].required);
	EXPECT_EQ(bf_ice_field_anywhere(m, 7)->type.kind, BF_KIND_DATE);
	EXPECT(bf_ice_field_anywhere(m, 8) == NULL);
	EXPECT(f[0].mapped && f[1].mapped);
	EXPECT_EQ(f[0].n_aliases, 0);
	REQUIRE(f[1].n_aliases == 2);
	EXPECT_STR(f[1].aliases[1], "old.m");
	EXPECT_STR(bf_ice_field_anywhere(m, 7)->aliases[0], "y");
}

/* What a schema can't be read for is told when it is used, not when it is met. */
TEST(iceberg_metadata_refusals)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;
	BfValue point;

	REQUIRE_OK(
		parse(a,
			  "{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"/t\","
			  "\"last-sequence-number\":7,\"last-updated-ms\":1,\"last-column-id\":2," SPECS_V2
			  "\"schemas\":[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\","
			  "\"type\":\"raster(srid:4326)\"}]},"
			  "{\"schema-id\":1,\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\"},"
			  "{\"id\":2,\"name\":\"v\",\"type\":\"variant\"},"
			  "{\"id\":3,\"name\":\"n\",\"type\":\"timestamptz_ns\"},"
			  "{\"id\":4,\"name\":\"u\",\"type\":\"unknown\"},"
			  "{\"id\":5,\"name\":\"g\",\"type\":\"geometry(srid:4326)\"},"
			  "{\"id\":6,\"name\":\"h\",\"type\":\"geography(OGC:CRS84, spherical)\"}]},"
			  "{\"schema-id\":2,\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"vector\"}]}],"
			  "\"current-schema-id\":1}",
			  &m));
	REQUIRE_OK(bf_ice_schema_check(m, bf_ice_current_schema(m), &test_err));
	EXPECT_EQ(m->schemas.all[1].fields[1].type.kind, BF_KIND_VARIANT);
	EXPECT_EQ(m->schemas.all[1].fields[2].type.kind, BF_KIND_TIMESTAMPTZ_NS);
	EXPECT_EQ(m->schemas.all[1].fields[3].type.kind, BF_KIND_NULL);
	EXPECT_EQ(m->schemas.all[1].fields[4].type.kind, BF_KIND_GEOMETRY);
	EXPECT_EQ(m->schemas.all[1].fields[5].type.kind, BF_KIND_GEOMETRY);
	EXPECT(!bf_ice_bound_value((BfView){(const uint8_t[16]){0}, 16}, BF_TYPE(GEOMETRY), &point));
	EXPECT_FAIL(bf_ice_schema_check(m, &m->schemas.all[0], &test_err), BF_ERR_UNSUPPORTED, -1);
	EXPECT(strstr(test_err.text, "column \"a\"") != NULL);
	EXPECT(strstr(test_err.text, "raster(srid:4326)") != NULL);
	EXPECT_FAIL(bf_ice_schema_check(m, &m->schemas.all[2], &test_err), BF_ERR_UNSUPPORTED, -1);
	EXPECT(strstr(test_err.text, "vector") != NULL);
}

/* Ids of 64 bits, as a number and as text; nothing else may be so large. */
TEST(iceberg_metadata_wide_ids)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;
	int64_t id = (int64_t) UINT64_C(9876543210123456789);

	REQUIRE_OK(parse(a,
					 "{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"snapshots\":[{\"snapshot-id\" :\t"
					 "9876543210123456789,\"parent-snapshot-id\":\"18446744073709551614\","
					 "\"sequence-number\":1,\"timestamp-ms\":5,\"manifest-list\":"
					 "\"x\\\"snapshot-id\\\":9876543210123456789\"}],"
					 "\"current-snapshot-id\":\"9876543210123456789\","
					 "\"refs\":{\"b\":{\"snapshot-id\":9876543210123456789,\"type\":\"tag\"}}}",
					 &m));
	EXPECT_EQ(m->snapshots.current_id, id);
	REQUIRE(bf_ice_snapshot(m, id) != NULL);
	EXPECT_EQ(bf_ice_snapshot(m, id)->parent_id, -2);
	EXPECT_STR(bf_ice_snapshot(m, id)->manifest_list, "x\"snapshot-id\":9876543210123456789");
	EXPECT(bf_ice_ref(m, "b") == bf_ice_snapshot(m, id));
	/* The greatest number is the text for "none". */
	EXPECT_FAIL(parse(a,
					  "{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"snapshots\":[{\"snapshot-id\":"
					  "18446744073709551615,\"timestamp-ms\":5,\"manifest-list\":\"x\"}]}",
					  &m),
				BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "snapshots[0].snapshot-id") != NULL);
	EXPECT_FAIL(parse(a,
					  "{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"snapshots\":[{\"snapshot-id\":"
					  "18446744073709551616,\"timestamp-ms\":5,\"manifest-list\":\"x\"}]}",
					  &m),
				BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(parse(a,
					  "{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"snapshots\":[{\"snapshot-id\":1,"
					  "\"timestamp-ms\":9876543210123456789,\"manifest-list\":\"x\"}]}",
					  &m),
				BF_ERR_CORRUPT, -1);
}

/* Every damage is corrupt and names the key. */
TEST(iceberg_metadata_damaged)
{
	static const struct
	{
		const char *text;
		BfStatus code;
		const char *names;
	} cases[] = {
		{"", BF_ERR_CORRUPT, "JSON"},
		{"[]", BF_ERR_CORRUPT, "object"},
		{"{\"a\":1,\"a\":2}", BF_ERR_CORRUPT, "an object has a key twice"},
		{"{\"format-version\":4}", BF_ERR_UNSUPPORTED, "format-version 4"},
		{"{\"format-version\":0}", BF_ERR_CORRUPT, "format-version"},
		{"{\"format-version\":99999999999999999999}", BF_ERR_CORRUPT, "JSON"},
		{"{\"format-version\":2}", BF_ERR_CORRUPT, "table-uuid"},
		{"{\"format-version\":true}", BF_ERR_CORRUPT, "format-version"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":1,\"fields\":[]}],"
		 "\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "current-schema-id"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":1,\"fields\":[]},"
		 "{\"schema-id\":1,\"fields\":[]}],\"current-schema-id\":1}",
		 BF_ERR_CORRUPT, "schemas: id 1 is given twice"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":0,\"fields\":["
		 "{\"id\":1,\"name\":\"a\",\"type\":\"int\"},{\"id\":1,\"name\":\"b\",\"type\":\"int\"}]}],"
		 "\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "schemas[0]: field id 1 is given twice"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":0,\"fields\":["
		 "{\"id\":0,\"name\":\"a\",\"type\":\"int\"}]}],\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "schemas[0]: id 0"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":0,\"fields\":["
		 "{\"id\":1,\"name\":\"a\",\"type\":\"decimal(39,2)\"}]}],\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "decimal(39,2)"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":0,\"fields\":["
		 "{\"id\":1,\"name\":\"a\",\"type\":\"decimal(9,10)\"}]}],\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "decimal(9,10)"},
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[{\"schema-id\":0,\"fields\":["
		 "{\"id\":1,\"name\":\"a\",\"type\":\"fixed[-1]\"}]}],\"current-schema-id\":0}",
		 BF_ERR_CORRUPT, "fixed[-1]"},
		{"{" HEAD_V2 SCHEMA_V2 "\"partition-specs\":[{\"spec-id\":1,\"fields\":[]}],"
		 "\"default-spec-id\":0}",
		 BF_ERR_CORRUPT, "default-spec-id"},
		/* Ids that once stood for "not told", of which there is none. */
		{"{" HEAD_V2 SPECS_V2 "\"schemas\":[],\"current-schema-id\":-2147483648}", BF_ERR_CORRUPT,
		 "current-schema-id"},
		{"{" HEAD_V2 SCHEMA_V2 "\"partition-specs\":[],\"default-spec-id\":-2147483648}",
		 BF_ERR_CORRUPT, "default-spec-id"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"current-snapshot-id\":5}", BF_ERR_CORRUPT,
		 "current-snapshot-id"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2 SNAPSHOTS
		 "\"refs\":{\"x\":{\"snapshot-id\":1,\"type\":\"tag\"}}}",
		 BF_ERR_CORRUPT, "refs.x.snapshot-id"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2 SNAPSHOTS
		 "\"refs\":{\"main\":{\"snapshot-id\":11,\"type\":\"branch\"}}}",
		 BF_ERR_CORRUPT, "refs.main.snapshot-id"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":1}]}",
		 BF_ERR_CORRUPT, "snapshots[0].manifest-list"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2 "\"properties\":{\"a\":[]}}", BF_ERR_CORRUPT,
		 "properties.a"},
		{"{" HEAD_V2 SCHEMA_V2 SPECS_V2
		 "\"properties\":{\"schema.name-mapping.default\":\"[{}]\"}}",
		 BF_ERR_CORRUPT, "schema.name-mapping.default"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfIceMetadata *m;

		EXPECT_FAIL(parse(test_arena(), cases[i].text, &m), cases[i].code, -1);
		if (strstr(test_err.text, cases[i].names) == NULL)
			test_fail(__FILE__, __LINE__, "case %zu: \"%s\" does not name %s", i, test_err.text,
					  cases[i].names);
	}
}

TEST(iceberg_metadata_bounds)
{
	BfArena *a = test_arena();
	BfIceMetadata *m;
	size_t n = 100000;
	char *deep = bf_arena_alloc(a, n + 1);

	REQUIRE(deep != NULL);
	memset(deep, '[', n);
	deep[n] = '\0';
	EXPECT_FAIL(parse(a, deep, &m), BF_ERR_LIMIT, BF_ICE_JSON_DEPTH_MAX);
	/* Brackets inside a string don't count. */
	deep[0] = '"';
	deep[n - 1] = '"';
	EXPECT_FAIL(parse(a, deep, &m), BF_ERR_CORRUPT, -1);
}

/* A file that is no JSON may be any file: wherever it stops to make sense, no word of it is said.
 */
TEST(iceberg_metadata_quotes_nothing)
{
	static const char good[] = "{\"a\":[1,-2.5e3,true,null,\"x\\u0041\"],\"b\":{\"c\":\"y\"}}";
	static const char *const words[] = {
		"sEcReT",		 "\"sEcReT",	"\"sEcReT\":",	"'sEcReT'",
		"99e999 sEcReT", "\"sEcReT\\q", "\"sEcReT\n\"", "\"sEcReT\":1,\"sEcReT\":1"};

	for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
		for (int at = 0; at < (int) sizeof good; at++)
		{
			BfArena *a = test_arena();
			const char *text = bf_arena_printf(a, "%.*s%s%s", at, good, words[w], good + at);
			BfIceMetadata *m;

			REQUIRE(text != NULL);
			EXPECT(parse(a, text, &m) != BF_OK);
			if (strstr(test_err.text, "sEcReT") != NULL)
				test_fail(__FILE__, __LINE__, "%s at %d: %s", words[w], at, test_err.text);
		}
}
