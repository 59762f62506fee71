/*
 * Equality deletes by members of structs, over a file that Spark wrote: columns id 1 and
 * st 5 { x 12, y 13 { z 14, w 15 } }.
 */
#include "avro/container.h"
#include "exec/read/avro_reader.h"
#include "exec/delete/load.h"
#include "exec/read/parquet_reader.h"
#include "iceberg/columns.h"
#include "io/publish.h"
#include "unit/lib/runner.h"

#define DIR "test/data/types/nested/data/"
/* id 1, st (1, (q, [1.5, null])) */
#define FIRST DIR "00000-175-1fe0f7f7-2e68-441a-a2f4-dcad54f2bb80-0-00001.parquet"
/* id 2, st (null, null); id 3, st null */
#define SECOND DIR "00001-176-1fe0f7f7-2e68-441a-a2f4-dcad54f2bb80-0-00001.parquet"

/* The table now: x is a long and called otherwise, `new` came later. */
static const char metadata_text[] =
	"{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-sequence-number\":1,"
	"\"last-updated-ms\":1,\"last-column-id\":31,\"current-schema-id\":1,\"schemas\":[{"
	"\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":2,\"name\":\"a\",\"required\":false,"
	"\"type\":{\"type\":\"list\",\"element-id\":7,\"element\":\"int\",\"element-required\":false}}"
	"]},{\"type\":\"struct\",\"schema-id\":1,\"fields\":[{\"id\":1,\"name\":\"id\",\"type\":"
	"\"int\",\"required\":true},{\"id\":5,\"name\":\"s\",\"required\":false,\"type\":{\"type\":"
	"\"struct\",\"fields\":[{\"id\":31,\"name\":\"new\",\"type\":\"string\",\"required\":false},"
	"{\"id\":12,\"name\":\"was x\",\"type\":\"long\",\"required\":false},{\"id\":13,\"name\":\"y\","
	"\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[{\"id\":14,\"name\":\"z\","
	"\"type\":\"string\",\"required\":false}]}}]}}]}],\"default-spec-id\":0,\"partition-specs\":[{"
	"\"spec-id\":0,\"fields\":[]}]}";

static BfStatus
resolve(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	(void) arg;
	(void) a;
	(void) err;
	*out = path;
	return BF_OK;
}

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	return bf_ice_key_column(a, arg, id, out, err);
}

#define MEMBER(id, name, type) \
	"{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":[\"null\"," type "]}"
#define STRUCT(name, members) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" members "]}"

/* A delete file of one row: { st { x, y { z }, new } }. */
static const char *
key_file(const char *name, bool st, int64_t x, const char *z)
{
	static const char schema[] = STRUCT(
		"r",
		MEMBER(
			5, "st",
			STRUCT("s", MEMBER(12, "x", "\"int\"") "," MEMBER(
							13, "y",
							STRUCT("t", MEMBER(14, "z", "\"string\""))) "," MEMBER(31, "n",
																				   "\"string\""))));
	BfArena *a = test_arena();
	const char *path = bf_arena_strdup(a, test_path(name));
	BfAvroWriter *w;
	BfBuffer *b;
	BfView bytes;
	BfStatus s = bf_avro_writer_new(a, schema, &w, &test_err);

	b = bf_avro_writer_buffer(w);
	if (s == BF_OK)
		s = bf_buffer_varint(b, st, &test_err);
	if (s == BF_OK && st)
		s = bf_buffer_varint(b, x != 0, &test_err);
	if (s == BF_OK && st && x != 0)
		s = bf_buffer_varint(b, x, &test_err);
	if (s == BF_OK && st)
		s = bf_buffer_varint(b, z != NULL, &test_err);
	if (s == BF_OK && st && z != NULL)
		s = bf_buffer_printf(b, &test_err, "\x02%c%s", (int) (2 * strlen(z)), z);
	if (s == BF_OK && st)
		s = bf_buffer_varint(b, 0, &test_err);
	if (s == BF_OK)
		s = bf_avro_writer_end_record(w, &test_err);
	if (s == BF_OK)
		s = bf_avro_writer_finish(w, &bytes, &test_err);
	if (s == BF_OK)
		s = bf_publish_bytes(a, path, bytes.ptr, bytes.len, &test_err);
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return path;
}

/* The ids that are left of a data file, as text. */
static BfStatus
rows_left(const char *path, const BfDeleteSource *source, char *out)
{
	static BfField st[] = {{.id = 31, .name = "new", .type = {.kind = BF_KIND_STRING}},
						   {.id = 12, .name = "was x", .type = {.kind = BF_KIND_INT64}}};
	static BfField fields[] = {
		{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT32}},
		{.id = 5, .name = "s", .type = {.kind = BF_KIND_STRUCT}, .children = st, .n_children = 2}};
	static const BfSchema schema = {.n_fields = 2, .fields = fields};
	static const int32_t numbers[] = {0, 1};
	BfProjection p = {.schema = &schema, .fields = numbers, .n_fields = 2};
	BfArena *a = test_arena();
	BfDeleteOptions options = {
		.resolve = resolve, .column_of = column_of, .bytes_max = (size_t) 64 << 20};
	BfIceMetadata *metadata;
	BfRowFilter filter = {0};
	BfDeleteCache *c;
	BfParquetFile *f;
	BfReader *r;

	out[0] = '\0';
	BF_TRY(bf_ice_metadata_parse(a, metadata_text, strlen(metadata_text), &metadata, &test_err));
	options.arg = metadata;
	BF_TRY(bf_delete_cache_new(a, &options, &c, &test_err));
	BF_TRY(bf_deletes_load(a, c, path, 1, source, 1, &filter.deletes, &test_err));
	BF_TRY(bf_exec_parquet_open(a, path, NULL, &f, &test_err));
	BF_TRY(bf_exec_parquet_reader_filtered(a, f, &p, NULL, 0, -1, &filter, NULL, &r, &test_err));
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		for (int32_t row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1))
		{
			BfValue v;

			EXPECT(bf_vector_get(&b->cols[0], row, &v));
			snprintf(out + strlen(out), 16, "%d ", v.v.i32);
		}
	}
}

static const char *
left_of(const char *path, const char *keys, bool avro, int32_t id1, int32_t id2)
{
	static char text[64];
	int32_t ids[] = {id1, id2};
	BfDeleteSource s = {.kind = BF_DELETE_EQUALITY,
						.path = keys,
						.record_count = -1,
						.avro = avro,
						.sequence = 2,
						.scope = BF_DELETE_SCOPE_OWN,
						.ids = ids,
						.n_ids = id2 == 0 ? 1 : 2};

	return rows_left(path, &s, text) == BF_OK ? text : test_err.text;
}

TEST(deletes_nested_keys)
{
	const char *one_q = key_file("one_q", true, 1, "q");
	const char *one_r = key_file("one_r", true, 1, "r");
	const char *nulls = key_file("nulls", true, 0, NULL);
	const char *nothing = key_file("nothing", false, 0, NULL);

	EXPECT_STR(left_of(FIRST, one_q, true, 12, 0), "");
	EXPECT_STR(left_of(FIRST, one_q, true, 14, 0), "");
	EXPECT_STR(left_of(FIRST, one_q, true, 14, 12), "");
	EXPECT_STR(left_of(FIRST, one_r, true, 12, 0), "");
	EXPECT_STR(left_of(FIRST, one_r, true, 14, 0), "1 ");
	EXPECT_STR(left_of(FIRST, one_r, true, 12, 14), "1 ");
	EXPECT_STR(left_of(FIRST, nulls, true, 12, 0), "1 ");
	EXPECT_STR(left_of(SECOND, one_q, true, 12, 14), "2 3 ");
	/* A member of a NULL is NULL, in the keys and in the rows. */
	EXPECT_STR(left_of(SECOND, nulls, true, 12, 14), "");
	EXPECT_STR(left_of(SECOND, nothing, true, 12, 14), "");
	EXPECT_STR(left_of(FIRST, nothing, true, 12, 14), "1 ");
	/* One that the data file lacks is NULL in all its rows. */
	EXPECT_STR(left_of(FIRST, one_q, true, 31, 0), "");
	EXPECT_STR(left_of(FIRST, one_q, true, 31, 12), "");
	EXPECT_STR(left_of(FIRST, one_r, true, 31, 14), "1 ");
	/* Parquet files as keys. */
	EXPECT_STR(left_of(FIRST, FIRST, false, 14, 1), "");
	EXPECT_STR(left_of(SECOND, FIRST, false, 14, 0), "2 3 ");
	EXPECT_STR(left_of(FIRST, SECOND, false, 14, 0), "1 ");
	EXPECT_STR(left_of(SECOND, SECOND, false, 14, 1), "");
}

TEST(deletes_nested_keys_refused)
{
	const char *one_q = key_file("one_q", true, 1, "q");

	/* A member that the delete file lacks would delete what nobody meant. */
	EXPECT_STR(left_of(FIRST, FIRST, false, 31, 0), "the file lacks the required column \"new\"");
	EXPECT_EQ(test_err.code, BF_ERR_CORRUPT);
	EXPECT(strstr(left_of(FIRST, one_q, true, 5, 0), "whole structs are not read") != NULL);
	EXPECT_EQ(test_err.code, BF_ERR_UNSUPPORTED);
	EXPECT(strstr(left_of(FIRST, one_q, true, 7, 0), "lists, maps") != NULL);
	EXPECT(strstr(left_of(FIRST, one_q, true, 2, 0), "lists, maps") != NULL);
	EXPECT(strstr(left_of(FIRST, one_q, true, 99, 0), "field 99") != NULL);
}
