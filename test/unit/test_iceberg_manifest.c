/* Manifests and lists as strange writers make them, and damaged ones. */
#include "iceberg/manifest.h"

#include "avro/container.h"
#include "iceberg/internal.h"
#include "unit/lib/runner.h"

static const char metadata_text[] =
	"{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-sequence-number\":1,"
	"\"last-updated-ms\":1,\"last-column-id\":3,\"current-schema-id\":0,\"schemas\":[{"
	"\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"l\",\"type\":\"long\"},"
	"{\"id\":2,\"name\":\"t\",\"type\":\"timestamptz\"},"
	"{\"id\":3,\"name\":\"u\",\"type\":\"uuid\"}]}],\"default-spec-id\":0,\"partition-specs\":["
	"{\"spec-id\":0,\"fields\":[]},"
	"{\"spec-id\":1,\"fields\":[{\"source-id\":1,\"field-id\":1000,\"name\":\"l\",\"transform\":"
	"\"identity\"},{\"source-id\":2,\"field-id\":1001,\"name\":\"t_day\",\"transform\":\"day\"},"
	"{\"source-id\":3,\"field-id\":1002,\"name\":\"u\",\"transform\":\"identity\"},"
	"{\"source-id\":9,\"field-id\":1003,\"name\":\"gone\",\"transform\":\"identity\"}]}]}";

static BfIceMetadata *
metadata(BfArena *a)
{
	BfIceMetadata *m = NULL;

	if (bf_ice_metadata_parse(a, metadata_text, strlen(metadata_text), &m, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return m;
}

/* An Avro file of one record whose bytes are given. */
static BfSource *
avro_file_of(BfArena *a, const char *schema, const void *record, size_t n, const char *version)
{
	BfAvroWriter *w;
	BfSource *source = NULL;
	BfView bytes;

	if (bf_avro_writer_new(a, schema, &w, &test_err) != BF_OK ||
		(version != NULL &&
		 bf_avro_writer_metadata(w, "format-version", version, &test_err) != BF_OK) ||
		bf_buffer_append(bf_avro_writer_buffer(w), record, n, &test_err) != BF_OK ||
		bf_avro_writer_end_record(w, &test_err) != BF_OK ||
		bf_avro_writer_finish(w, &bytes, &test_err) != BF_OK ||
		bf_source_memory(a, bytes.ptr, bytes.len, "x.avro", &source, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return source;
}

static BfSource *
avro_file(BfArena *a, const char *schema, const void *record, size_t n)
{
	return avro_file_of(a, schema, record, n, NULL);
}

static BfStatus
keep_file(void *arg, const BfIceFile *file, BfError *err)
{
	(void) err;
	*(const BfIceFile **) arg = file;
	return BF_OK;
}

/* The only entry of a manifest. */
static BfStatus
read_entry(BfArena *a, const char *schema, const void *record, size_t n,
		   const BfIceManifest *manifest, const BfIceFile **file)
{
	bf_error_clear(&test_err);
	*file = NULL;
	return bfi_manifest_read(a, avro_file(a, schema, record, n), manifest, metadata(a), keep_file,
							 file, &test_err);
}

/* Everything nullable, nothing has an id, fields in another order: names must do. */
#define BY_NAME                                                                         \
	"{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"data_file\",\"type\":" \
	"{\"type\":\"record\",\"name\":\"f\",\"fields\":["                                  \
	"{\"name\":\"record_count\",\"type\":[\"long\",\"null\"]},"                         \
	"{\"name\":\"file_format\",\"type\":\"string\"},"                                   \
	"{\"name\":\"file_path\",\"type\":[\"null\",\"string\"]},"                          \
	"{\"name\":\"lower_bounds\",\"type\":{\"type\":\"map\",\"values\":\"bytes\"}}]}},"  \
	"{\"name\":\"sequence_number\",\"type\":[\"null\",\"long\"]},"                      \
	"{\"name\":\"status\",\"type\":\"int\"}]}"

TEST(iceberg_manifest_by_name)
{
	BfArena *a = test_arena();
	BfIceManifest manifest = {.sequence_number = 5, .added_snapshot_id = 77};
	/* 3 rows, "orc", "/d", bounds {"12": 01}, no sequence number, ADDED */
	static const uint8_t record[] = {0, 6, 6,	'o', 'r', 'c', 2, 4, '/', 'd',
									 2, 4, '1', '2', 2,	  1,   0, 0, 2};
	const BfIceFile *f;

	REQUIRE_OK(read_entry(a, BY_NAME, record, sizeof record, &manifest, &f));
	REQUIRE(f != NULL);
	EXPECT_STR(f->path, "/d");
	EXPECT_STR(f->format, "ORC");
	EXPECT_EQ(f->record_count, 3);
	EXPECT_EQ(f->file_size, 0);
	EXPECT_EQ(f->content, BF_ICE_DATA);
	EXPECT_EQ(f->sequence_number, 5);
	EXPECT_EQ(f->snapshot_id, 77);
	REQUIRE(f->metrics.n_lower == 1);
	EXPECT_EQ(f->metrics.lower[0].field_id, 12);
	EXPECT_EQ(f->metrics.lower[0].bytes.len, 1);
	/* A file that existed before has one of its own, but where there are none. */
	for (int version = 0; version < 4; version++)
	{
		static const char *const versions[] = {NULL, "1", "2", "3"};
		uint8_t existing[sizeof record];
		BfStatus status;

		memcpy(existing, record, sizeof existing);
		existing[sizeof existing - 1] = 0;
		bf_error_clear(&test_err);
		status = bfi_manifest_read(
			a, avro_file_of(a, BY_NAME, existing, sizeof existing, versions[version]), &manifest,
			metadata(a), keep_file, &f, &test_err);
		EXPECT_EQ(status, version < 2 ? BF_OK : BF_ERR_CORRUPT);
		if (version < 2)
			EXPECT_EQ(f->sequence_number, 0);
		else
			EXPECT(strstr(test_err.text, "an existing file has no sequence_number") != NULL);
	}
	/* Nothing to inherit. */
	manifest.sequence_number = -1;
	EXPECT_FAIL(read_entry(a, BY_NAME, record, sizeof record, &manifest, &f), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "record 1: ") == test_err.text);
	EXPECT_STR(test_err.object, "x.avro");
}

TEST(iceberg_manifest_damaged)
{
	static const struct
	{
		uint8_t record[24];
		const char *names;
	} cases[] = {
		/* file_path null */
		{{0, 6, 6, 'o', 'r', 'c', 0, 0, 0, 2}, "file_path"},
		/* an empty path, one with a zero byte */
		{{0, 6, 6, 'o', 'r', 'c', 2, 0, 0, 0, 2}, "file_path"},
		{{0, 6, 6, 'o', 'r', 'c', 2, 4, 'a', 0, 0, 0, 2}, "file_path"},
		/* record_count null */
		{{2, 6, 'o', 'r', 'c', 2, 4, '/', 'd', 0, 0, 2}, "record_count"},
		/* status 3 */
		{{0, 6, 6, 'o', 'r', 'c', 2, 4, '/', 'd', 0, 0, 6}, "status"},
	};
	static const size_t sizes[] = {10, 11, 13, 12, 13};
	BfIceManifest manifest = {.sequence_number = 5};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const BfIceFile *f;

		EXPECT_FAIL(read_entry(test_arena(), BY_NAME, cases[i].record, sizes[i], &manifest, &f),
					BF_ERR_CORRUPT, -1);
		if (strstr(test_err.text, cases[i].names) == NULL)
			test_fail(__FILE__, __LINE__, "case %zu: \"%s\" does not name %s", i, test_err.text,
					  cases[i].names);
	}
}

/* The column was an int once and the day a plain int; a uuid as text; one field the manifest does
 * not have. */
#define OLD_PARTITION                                                                            \
	"{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"status\",\"type\":\"int\","     \
	"\"field-id\":0},{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\","      \
	"\"name\":\"f\",\"fields\":[{\"name\":\"path\",\"type\":\"string\",\"field-id\":100},"       \
	"{\"name\":\"fmt\",\"type\":\"string\",\"field-id\":101},"                                   \
	"{\"name\":\"n\",\"type\":\"long\",\"field-id\":103},"                                       \
	"{\"name\":\"p\",\"field-id\":102,\"type\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[" \
	"{\"name\":\"other\",\"type\":[\"null\",\"string\"],\"field-id\":1002},"                     \
	"{\"name\":\"l\",\"type\":[\"null\",\"int\"],\"field-id\":1000},"                            \
	"{\"name\":\"x\",\"type\":\"int\",\"field-id\":1001}]}}]}}]}"

TEST(iceberg_manifest_old_partition)
{
	BfArena *a = test_arena();
	BfIceManifest manifest = {.spec_id = 1};
	static const char uuid[] = "F79C3E09-677c-4bbd-a479-3f349cb785e7";
	static const uint8_t bytes[16] = {0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd,
									  0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7};
	uint8_t record[64] = {0, 2, 'p', 14, 'p', 'a', 'r', 'q', 'u', 'e', 't', 2, 2, 72};
	size_t n = 14;
	const BfIceFile *f;

	memcpy(record + n, uuid, 36);
	n += 36;
	record[n++] = 2; /* l: not null */
	record[n++] = 7; /* -4 */
	record[n++] = 1; /* -1 */
	REQUIRE_OK(read_entry(a, OLD_PARTITION, record, n, &manifest, &f));
	REQUIRE(f != NULL && f->n_partition == 4);
	EXPECT_EQ(f->partition[0].type.kind, BF_KIND_INT64);
	EXPECT_EQ(f->partition[0].v.i64, -4);
	EXPECT_EQ(f->partition[1].type.kind, BF_KIND_DATE);
	EXPECT_EQ(f->partition[1].v.i32, -1);
	EXPECT_EQ(f->partition[2].type.kind, BF_KIND_UUID);
	REQUIRE(f->partition[2].v.view.len == 16);
	EXPECT(memcmp(f->partition[2].v.view.ptr, bytes, 16) == 0);
	EXPECT_EQ(f->partition[3].type.kind, BF_KIND_NULL);
	EXPECT(f->partition[3].is_null);
	/* A uuid that is none. */
	record[14] = 'g';
	EXPECT_FAIL(read_entry(a, OLD_PARTITION, record, n, &manifest, &f), BF_ERR_CORRUPT, -1);
	manifest.spec_id = 4;
	EXPECT_FAIL(read_entry(a, OLD_PARTITION, record, n, &manifest, &f), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "partition spec 4") != NULL);
}

/* A list by name with the older spelling of counts, counts that are null, no sequence numbers. */
TEST(iceberg_manifest_list_v1)
{
	static const char list[] = "{\"type\":\"record\",\"name\":\"m\",\"fields\":["
							   "{\"name\":\"partition_spec_id\",\"type\":{\"type\":\"int\"}},"
							   "{\"name\":\"manifest_path\",\"type\":\"string\"},"
							   "{\"name\":\"added_data_files_count\",\"type\":[\"null\",\"int\"]},"
							   "{\"name\":\"existing_files_count\",\"type\":[\"null\",\"int\"]}]}";
	static const uint8_t record[] = {2, 4, '/', 'm', 2, 8, 0};
	BfArena *a = test_arena();
	BfIceManifest *m;
	int32_t n;

	REQUIRE_OK(
		bfi_manifest_list_read(a, avro_file(a, list, record, sizeof record), &m, &n, &test_err));
	REQUIRE(n == 1);
	EXPECT_STR(m[0].path, "/m");
	EXPECT_EQ(m[0].spec_id, 1);
	EXPECT_EQ(m[0].added_files, 4);
	EXPECT_EQ(m[0].existing_files, -1);
	EXPECT_EQ(m[0].deleted_rows, -1);
	EXPECT_EQ(m[0].sequence_number, 0);
	EXPECT(!m[0].deletes);
	EXPECT(m[0].partitions == NULL);
}

/* Without its spec nobody can say what a manifest's partition values are; a sequence number that is
 * null is not that of version 1. */
TEST(iceberg_manifest_list_required)
{
	static const char no_spec[] = "{\"type\":\"record\",\"name\":\"m\",\"fields\":["
								  "{\"name\":\"manifest_path\",\"type\":\"string\"}]}";
	static const char null_spec[] =
		"{\"type\":\"record\",\"name\":\"m\",\"fields\":["
		"{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"
		"{\"name\":\"x\",\"type\":[\"null\",\"int\"],\"field-id\":502}]}";
	static const char null_sequence[] =
		"{\"type\":\"record\",\"name\":\"m\",\"fields\":["
		"{\"name\":\"manifest_path\",\"type\":\"string\"},"
		"{\"name\":\"partition_spec_id\",\"type\":\"int\"},"
		"{\"name\":\"sequence_number\",\"type\":[\"null\",\"long\"]}]}";
	static const uint8_t record[] = {4, '/', 'm', 0, 0};
	BfArena *a = test_arena();
	BfIceManifest *m;
	int32_t n;

	EXPECT_FAIL(bfi_manifest_list_read(a, avro_file(a, no_spec, record, 3), &m, &n, &test_err),
				BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "partition_spec_id is missing") != NULL);
	EXPECT_FAIL(bfi_manifest_list_read(a, avro_file(a, null_spec, record, 4), &m, &n, &test_err),
				BF_ERR_CORRUPT, -1);
	REQUIRE_OK(
		bfi_manifest_list_read(a, avro_file(a, null_sequence, record, 5), &m, &n, &test_err));
	EXPECT_EQ(m[0].sequence_number, -1);
}

TEST(iceberg_manifest_encrypted)
{
	BfArena *a = test_arena();
	BfSource *source;
	BfIceManifest *m;
	int32_t n;

	REQUIRE_OK(bf_source_memory(a, "AGS1xxxxxxxxxxxxxxxxxxxx", 24, "list", &source, &test_err));
	EXPECT_FAIL(bfi_manifest_list_read(a, source, &m, &n, &test_err), BF_ERR_UNSUPPORTED, 0);
	EXPECT(strstr(test_err.text, "encrypted") != NULL);
}
