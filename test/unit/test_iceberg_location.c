/* Recorded and local paths of moved tables. */
#include "unit/lib/runner.h"

#include "iceberg/location.h"

TEST(location_canonical)
{
	static const struct
	{
		const char *in;
		const char *want; /* NULL: refused */
		BfStatus code;
	} cases[] = {
		{"/x", "/x", BF_OK},
		{"/x/", "/x", BF_OK},
		{"/", "/", BF_OK},
		{"//x///y//", "/x/y", BF_OK},
		{"file:/x", "/x", BF_OK},
		{"file:///x", "/x", BF_OK},
		{"file:////x", "/x", BF_OK},
		{"FILE:///x", "/x", BF_OK},
		{"file://localhost/x", "/x", BF_OK},
		{"file://data//x/", "data/x", BF_OK},
		{"file:x", "x", BF_OK},
		{"x/./y", "x/y", BF_OK},
		{"x/../../y", NULL, BF_ERR_CORRUPT},
		{"", NULL, BF_ERR_CORRUPT},
		{"./", NULL, BF_ERR_CORRUPT},
		{"file:", NULL, BF_ERR_CORRUPT},
		{"hdfs://nn:8020//a//b/", "hdfs://nn:8020/a/b", BF_OK},
		{"HDFS://NN:8020/a", "hdfs://NN:8020/a", BF_OK},
		{"hdfs:///a", "hdfs:///a", BF_OK},
		{"s3a://b/k", "s3://b/k", BF_OK},
		{"s3n://b/k", "s3://b/k", BF_OK},
		{"s3://b", "s3://b/", BF_OK},
		{"gs://b/k:1", "gs://b/k:1", BF_OK},
		{"/a/b:c", "/a/b:c", BF_OK},
		{"/a/./b/../c", "/a/c", BF_OK},
		{"/a/..", "/", BF_OK},
		{"/a/../..", NULL, BF_ERR_CORRUPT},
		{"/..", NULL, BF_ERR_CORRUPT},
		{"s3://b/../k", NULL, BF_ERR_CORRUPT},
		{"/a/...", "/a/...", BF_OK},
		{"/a/..b", "/a/..b", BF_OK},
		{"file:///a/x%20y/d=2017%3A1", "/a/x%20y/d=2017%3A1", BF_OK},
		{"/a/x y?q#f", "/a/x y?q#f", BF_OK},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		const char *out = NULL;

		if (cases[i].want == NULL)
			EXPECT_FAIL(bf_location_canonical(a, cases[i].in, &out, &test_err), cases[i].code, -1);
		else
		{
			REQUIRE_OK(bf_location_canonical(a, cases[i].in, &out, &test_err));
			EXPECT_STR(out, cases[i].want);
		}
	}
}

TEST(location_resolve)
{
	static const struct
	{
		const char *recorded;
		const char *metadata;
		const char *path;
		const char *want; /* NULL: refused */
		BfStatus code;
	} cases[] = {
		{"file:///srv/lake/db/t", "/data/t/metadata/v1.metadata.json",
		 "file:/srv/lake/db/t/data/x.parquet", "/data/t/data/x.parquet", BF_OK},
		{"file:///srv/lake/db/t", "/data/t/metadata/v1.metadata.json",
		 "/srv/lake/db/t/data/d=1%2F2/x", "/data/t/data/d=1%2F2/x", BF_OK},
		{"/srv/lake/db/t/", "/data/t/metadata/v1.metadata.json",
		 "file://localhost//srv/lake//db/t/x", "/data/t/x", BF_OK},
		/* A neighbour whose name begins alike is outside. */
		{"/srv/t", "/data/t/metadata/v1.metadata.json", "/srv/t2/x", "/srv/t2/x", BF_OK},
		{"/srv/t", "/data/t/metadata/v1.metadata.json", "/srv/t", "/data/t", BF_OK},
		{"hdfs://nn:8020/wh/t", "/data/t/metadata/v1.metadata.json", "hdfs://nn:8020/wh/t/x",
		 "/data/t/x", BF_OK},
		{"hdfs://nn:8020/wh/t", "/data/t/metadata/v1.metadata.json", "/wh/t/x", "/data/t/x", BF_OK},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "hdfs://nn:8020/wh/t/x", "/data/t/x", BF_OK},
		{"hdfs://nn:8020/wh/t", "/data/t/metadata/v1.metadata.json", "hdfs://other/wh/t/x", NULL,
		 BF_ERR_UNSUPPORTED},
		{"s3://b/t", "/data/t/metadata/v1.metadata.json", "s3a://b/t/x", "/data/t/x", BF_OK},
		{"s3://b/t", "/data/t/metadata/v1.metadata.json", "s3://c/t/x", NULL, BF_ERR_UNSUPPORTED},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "s3://c/x", NULL, BF_ERR_UNSUPPORTED},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "/wh/t/../../etc/passwd", NULL,
		 BF_ERR_CORRUPT},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "/wh/t/data/../x", "/data/t/x", BF_OK},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "/../x", NULL, BF_ERR_CORRUPT},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "data/x", NULL, BF_ERR_UNSUPPORTED},
		{"data/wh/t", "/data/t/metadata/v1.metadata.json", "data/wh/t/x", "/data/t/x", BF_OK},
		{"data/wh/t", "/data/t/metadata/v1.metadata.json", "./data/wh//t/x", "/data/t/x", BF_OK},
		{"data/wh/t", "/data/t/metadata/v1.metadata.json", "data/wh/t2/x", NULL,
		 BF_ERR_UNSUPPORTED},
		{"data/wh/t", "/data/t/metadata/v1.metadata.json", "/data/wh/t/x", "/data/wh/t/x", BF_OK},
		{"file://data/wh/t", "/data/t/metadata/v1.metadata.json", "file://data/wh/t/x", "/data/t/x",
		 BF_OK},
		{"file://data/wh/t", "/data/t/metadata/v1.metadata.json", "data/wh/t/x", "/data/t/x",
		 BF_OK},
		/* Relative to who knows what, but through the table's directory. */
		{"gs://b/name", "/data/t/metadata/v1.metadata.json", "wh/t/data/x", "/data/t/data/x",
		 BF_OK},
		{"/wh/t", "/data/t/metadata/v1.metadata.json", "./a//t/../t/x", "/data/t/x", BF_OK},
		{"gs://b/name", "/data/t/metadata/v1.metadata.json", "wh/t/data/t/x", NULL,
		 BF_ERR_UNSUPPORTED},
		{"gs://b/name", "/data/t/metadata/v1.metadata.json", "wh/data/t", NULL, BF_ERR_UNSUPPORTED},
		{"gs://b/name", "/data/t/metadata/v1.metadata.json", "wh/tt/x", NULL, BF_ERR_UNSUPPORTED},
		{"gs://b/name", "/data/t/metadata/v1.metadata.json", "gs://c/t/x", NULL,
		 BF_ERR_UNSUPPORTED},
		{"gs://b/name", "/metadata/v1.metadata.json", "wh/x", NULL, BF_ERR_UNSUPPORTED},
		{"data/wh/t", "/elsewhere/t/v1.metadata.json", "data/wh/t/x", "/elsewhere/x", BF_OK},
		/* Not in a directory `metadata`. */
		{"/wh/t", "/elsewhere/v1.metadata.json", "/wh/t/x", "/wh/t/x", BF_OK},
		{"/wh/t", "/metadata/v1.metadata.json", "/wh/t/x", "/x", BF_OK},
		{"/", "/data/t/metadata/v1.metadata.json", "/x", "/data/t/x", BF_OK},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		const char *out = NULL;
		BfLocation l;

		REQUIRE_OK(bf_location_new(a, cases[i].recorded, cases[i].metadata, &l, &test_err));
		if (cases[i].want == NULL)
			EXPECT_FAIL(bf_location_resolve(a, &l, cases[i].path, &out, &test_err), cases[i].code,
						-1);
		else
		{
			REQUIRE_OK(bf_location_resolve(a, &l, cases[i].path, &out, &test_err));
			EXPECT_STR(out, cases[i].want);
		}
	}
}

TEST(location_record)
{
	static const struct
	{
		const char *recorded;
		const char *path;
		const char *want;
	} cases[] = {
		{"file:///srv/t", "/data/t/data/x", "file:///srv/t/data/x"},
		{"file:/srv/t/", "/data/t/data/x", "file:/srv/t/data/x"},
		{"/srv/t", "/data/t//data/x", "/srv/t/data/x"},
		{"s3://b/", "/data/t/x", "s3://b/x"},
		{"hdfs://nn:1/t", "/data/t/x%20", "hdfs://nn:1/t/x%20"},
		{"file:///srv/t", "/data/t2/x", "file:///data/t2/x"},
	};
	BfArena *a = test_arena();
	BfLocation l;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		const char *out = NULL;
		const char *back = NULL;
		const char *canonical = NULL;

		REQUIRE_OK(bf_location_new(a, cases[i].recorded, "/data/t/metadata/v1.metadata.json", &l,
								   &test_err));
		EXPECT_STR(l.found, "/data/t");
		REQUIRE_OK(bf_location_record(a, &l, cases[i].path, &out, &test_err));
		EXPECT_STR(out, cases[i].want);
		/* Recorded and resolved again it is the same file. */
		REQUIRE_OK(bf_location_resolve(a, &l, out, &back, &test_err));
		REQUIRE_OK(bf_location_canonical(a, cases[i].path, &canonical, &test_err));
		EXPECT_STR(back, canonical);
	}
	EXPECT(bf_location_inside(&l, "/data/t/x"));
	EXPECT(bf_location_inside(&l, "/data/t"));
	EXPECT(!bf_location_inside(&l, "/data/t2/x"));
	EXPECT(!bf_location_inside(&l, "/data/t/../x"));
	EXPECT(!bf_location_inside(&l, "/etc/passwd"));
}

TEST(iceberg_location_map)
{
	static const struct
	{
		const char *map, *path, *expected;
	} cases[] = {
		{"hdfs://nn:8020/wh=/data/wh", "hdfs://nn:8020/wh/t/x", "/data/wh/t/x"},
		{"hdfs://nn:8020/wh/=/data/wh/", "hdfs://nn:8020//wh/./t/x", "/data/wh/t/x"},
		{"hdfs://nn:8020/wh=/data/wh", "hdfs://nn:8020/wh", "/data/wh"},
		/* Whole components, the same authority. */
		{"hdfs://nn:8020/wh=/data/wh", "hdfs://nn:8020/wh2/t/x", NULL},
		{"hdfs://nn:8020/wh=/data/wh", "hdfs://mm:8020/wh/t/x", NULL},
		/* One side without a scheme. */
		{"hdfs://nn:8020/wh=/data/wh", "/wh/t/x", "/data/wh/t/x"},
		{"/wh=/data/wh", "hdfs://nn:8020/wh/t/x", "/data/wh/t/x"},
		/* The longest prefix, in any order. */
		{"s3://b=/m , s3a://b/cold=/cold", "s3n://b/cold/x", "/cold/x"},
		{"s3://b/cold=/cold,s3://b=/m", "s3://b/warm/x", "/m/warm/x"},
		{"s3://b=/", "s3://b/x", "/x"},
		/* The table's own place is one of them. */
		{"s3://lake=/elsewhere", "s3://lake/t/data/x", "/found/t/data/x"},
		{"s3://lake/t/data=/ssd", "s3://lake/t/data/x", "/ssd/x"},
		{"s3://lake/t/data=/ssd", "s3://lake/t/metadata/x", "/found/t/metadata/x"},
		{"s3://lake/t=/moved", "s3://lake/t/data/x", "/moved/data/x"},
		/* Escapes. */
		{"s3://b/p\\=1\\,2=/a\\,b\\\\c", "s3://b/p=1,2/x", "/a,b\\c/x"},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfLocationMap *map;
		BfLocation l;
		const char *path = "refused";

		REQUIRE_OK(
			bf_location_new(a, "s3://lake/t", "/found/t/metadata/v1.metadata.json", &l, &test_err));
		REQUIRE_OK(bf_location_map_parse(a, cases[i].map, &map, &test_err));
		l.map = map;
		if (cases[i].expected == NULL)
			EXPECT_FAIL(bf_location_resolve(a, &l, cases[i].path, &path, &test_err),
						BF_ERR_UNSUPPORTED, -1);
		else
		{
			REQUIRE_OK(bf_location_resolve(a, &l, cases[i].path, &path, &test_err));
			EXPECT_STR(path, cases[i].expected);
			EXPECT(bf_location_inside(&l, path));
		}
	}
}

TEST(iceberg_location_map_damaged)
{
	static const struct
	{
		const char *map, *names;
	} cases[] = {
		{"", "has no \"=\""},
		{"s3://b", "has no \"=\""},
		{"s3://b=/m,", "has no \"=\""},
		{"=/m", "is empty"},
		{"s3://b=", "path"},
		{"s3://b=m", "no absolute directory"},
		{"s3://b=s3://c", "no absolute directory"},
		{"s3://b/..=/m", "leaves its root"},
		{"s3://b=/m,s3a://b/=/n", "given twice"},
	};
	BfArena *a = test_arena();
	BfLocationMap *map;
	char many[4096];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		EXPECT_FAIL(bf_location_map_parse(a, cases[i].map, &map, &test_err), BF_ERR_VALUE, -1);
		if (strstr(test_err.text, cases[i].names) == NULL)
			test_fail(__FILE__, __LINE__, "\"%s\": \"%s\" does not name %s", cases[i].map,
					  test_err.text, cases[i].names);
	}
	memset(many, ',', sizeof many);
	many[sizeof many - 1] = '\0';
	EXPECT_FAIL(bf_location_map_parse(a, many, &map, &test_err), BF_ERR_LIMIT, -1);
}
