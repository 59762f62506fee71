/* Avro object container files: hand-made bytes, round trips, damage. */
#include "unit/lib/runner.h"

#include "avro/container.h"
#include "io/publish.h"
#include "unit/lib/host_posix.h"

#define SYNC "0123456789abcdef"

/* A file by hand: header with the given schema and codec (NULL = no key). */
static BfBuffer *
begin_file(BfArena *a, const char *schema, const char *codec)
{
	BfBuffer *b = NULL;
	BfStatus s = bf_buffer_new(a, (size_t) 1 << 28, &b, &test_err);

	if (s == BF_OK)
		s = bf_buffer_append(b, "Obj\x01", 4, &test_err);
	/* One block per pair, the second in the form with a byte size. */
	if (s == BF_OK)
		s = bf_buffer_varint(b, 1, &test_err);
	if (s == BF_OK)
		s = bf_buffer_printf(b, &test_err, "\x16%s", "avro.schema");
	if (s == BF_OK)
		s = bf_buffer_varint(b, (int64_t) strlen(schema), &test_err);
	if (s == BF_OK)
		s = bf_buffer_append(b, schema, strlen(schema), &test_err);
	if (s == BF_OK && codec != NULL)
	{
		s = bf_buffer_varint(b, -1, &test_err);
		if (s == BF_OK)
			s = bf_buffer_varint(b, 12 + (int64_t) strlen(codec), &test_err);
		if (s == BF_OK)
			s = bf_buffer_printf(b, &test_err, "\x14%s", "avro.codec");
		if (s == BF_OK)
			s = bf_buffer_varint(b, (int64_t) strlen(codec), &test_err);
		if (s == BF_OK)
			s = bf_buffer_append(b, codec, strlen(codec), &test_err);
	}
	if (s == BF_OK)
		s = bf_buffer_varint(b, 0, &test_err);
	if (s == BF_OK)
		s = bf_buffer_append(b, SYNC, 16, &test_err);
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return b;
}

static void
add_block(BfBuffer *b, int64_t count, const void *bytes, size_t n)
{
	if (bf_buffer_varint(b, count, &test_err) != BF_OK ||
		bf_buffer_varint(b, (int64_t) n, &test_err) != BF_OK ||
		bf_buffer_append(b, bytes, n, &test_err) != BF_OK ||
		bf_buffer_append(b, SYNC, 16, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

/* Reads everything; *n = records read before the end or the failure. */
static BfStatus
read_all(BfArena *a, const void *bytes, size_t len, int64_t *n)
{
	BfArena *row = bf_arena_new(test_host(), "row", (size_t) 1 << 28);
	BfSource *source;
	BfAvroReader *r;
	const BfAvroValue *v;
	BfStatus s;

	*n = 0;
	bf_error_clear(&test_err);
	s = bf_source_memory(a, bytes, len, "x.avro", &source, &test_err);
	if (s == BF_OK)
		s = bf_avro_open(a, source, &r, &test_err);
	while (s == BF_OK)
	{
		bf_arena_reset(row);
		s = bf_avro_next(r, row, &v, &test_err);
		if (s != BF_OK || v == NULL)
			break;
		(*n)++;
	}
	bf_arena_free(row);
	return s;
}

TEST(avro_container_by_hand)
{
	BfArena *a = test_arena();
	BfBuffer *b =
		begin_file(a,
				   "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
				   "{\"name\":\"i\",\"type\":\"int\",\"field-id\":5},"
				   "{\"name\":\"l\",\"type\":[\"null\",\"long\"],\"field-id\":6},"
				   "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"double\"},"
				   "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"s\",\"type\":\"string\"},"
				   "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"e\","
				   "\"symbols\":[\"A\",\"B\"]}},"
				   "{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"x\",\"size\":2}},"
				   "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},"
				   "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"int\"}}]}",
				   NULL);
	static const uint8_t records[] = {
		/* i=-2 l=null f=1.5 d=-2 b=true s="hi" e=B x=01 02 a=[1],[2,3] by size m={k:4} */
		3, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0, 1, 4, 'h', 'i', 2, 1, 2, 2, 2, 3, 4, 4,
		6, 0, 2, 2, 'k', 8, 0,
		/* i=64 l=300 rest zero */
		0x80, 1, 2, 0xd8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	BfSource *source;
	BfAvroReader *r;
	const BfAvroValue *v;
	const BfAvroValue *f;
	BfView codec;

	add_block(b, 0, "", 0);
	add_block(b, 2, records, sizeof records);
	REQUIRE_OK(bf_source_memory(a, b->data, b->len, "x.avro", &source, &test_err));
	REQUIRE_OK(bf_avro_open(a, source, &r, &test_err));
	EXPECT(!bf_avro_metadata(r, "avro.codec", &codec));
	EXPECT(bf_avro_metadata(r, "avro.schema", &codec));
	EXPECT_EQ(bf_avro_reader_schema(r)->n_children, 10);

	REQUIRE_OK(bf_avro_next(r, a, &v, &test_err));
	REQUIRE(v != NULL);
	f = bf_avro_field(v, 5, NULL);
	REQUIRE(f != NULL);
	EXPECT_EQ(f->u.i, -2);
	EXPECT(bf_avro_field(v, 6, "l") == NULL);
	EXPECT(bf_avro_field(v, 0, "absent") == NULL);
	EXPECT(bf_avro_field(v, 99, "f")->u.d == 1.5);
	EXPECT(bf_avro_field(v, 0, "d")->u.d == -2);
	EXPECT(bf_avro_field(v, 0, "b")->u.b);
	EXPECT_STR((const char *) bf_avro_field(v, 0, "s")->u.bytes.ptr, "hi");
	EXPECT_STR(bf_avro_field(v, 0, "e")->schema->symbols[bf_avro_field(v, 0, "e")->u.i], "B");
	EXPECT_EQ(bf_avro_field(v, 0, "x")->u.bytes.len, 2);
	f = bf_avro_field(v, 0, "a");
	REQUIRE(f->u.list.n == 3);
	EXPECT_EQ(f->u.list.items[0].u.i, 1);
	EXPECT_EQ(f->u.list.items[2].u.i, 3);
	f = bf_avro_field(v, 0, "m");
	REQUIRE(f->u.list.n == 1);
	EXPECT_STR((const char *) f->u.list.keys[0].ptr, "k");
	EXPECT_EQ(f->u.list.items[0].u.i, 4);
	EXPECT(bf_avro_field(f, 0, "k") == NULL);

	REQUIRE_OK(bf_avro_next(r, a, &v, &test_err));
	REQUIRE(v != NULL);
	EXPECT_EQ(bf_avro_field(v, 5, NULL)->u.i, 64);
	EXPECT_EQ(bf_avro_field(v, 6, NULL)->u.i, 300);
	EXPECT_EQ(bf_avro_field(v, 0, "s")->u.bytes.len, 0);
	REQUIRE_OK(bf_avro_next(r, a, &v, &test_err));
	EXPECT(v == NULL);
	REQUIRE_OK(bf_avro_next(r, a, &v, &test_err));
	EXPECT(v == NULL);
}

TEST(avro_container_damaged_records)
{
	static const struct
	{
		const char *schema;
		int64_t count;
		const char *bytes;
		size_t n;
		int64_t at; /* offset from the first byte of the records; -99 = of the block */
	} cases[] = {
		{"\"int\"", 1, "\xff\xff\xff\xff\x1f", 5, 0},
		{"\"int\"", 1, "\x80", 1, 0},
		{"\"int\"", 2, "\x01", 1, -99},
		{"\"int\"", 1, "\x01\x01", 2, -99},
		{"\"int\"", -1, "\x01", 1, -99},
		{"\"long\"", 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0},
		{"\"boolean\"", 1, "\x02", 1, 0},
		{"\"string\"", 1, "\x01", 1, 0},
		{"\"string\"", 1, "\x04x", 2, 1},
		{"\"string\"", 1, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 10},
		{"[\"null\",\"int\"]", 1, "\x04\x01", 2, 0},
		{"[\"null\",\"int\"]", 1, "\x01\x01", 2, 0},
		{"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", 1, "\x02", 1, 0},
		{"{\"type\":\"array\",\"items\":\"int\"}", 1, "\x06\x01\x01", 3, 0},
		{"{\"type\":\"array\",\"items\":\"int\"}", 1, "\x02\x01", 2, 2},
		{"{\"type\":\"array\",\"items\":\"int\"}", 1, "\x01\x64\x01", 3, 0},
		{"{\"type\":\"array\",\"items\":\"int\"}", 1, "\x01\x01\x01", 3, 0},
		{"{\"type\":\"array\",\"items\":\"int\"}", 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		 10, 0},
		{"{\"type\":\"array\",\"items\":\"null\"}", 1, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		 10, 0},
		{"{\"type\":\"map\",\"values\":\"null\"}", 1, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		 10, 0},
		{"\"null\"", 65537, "", 0, -99},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":2147483647}", 1, "abc", 3, -99},
		{"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"r\",\"type\":\"r\"}]}", 1, "",
		 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfArena *a = test_arena();
		BfBuffer *b = begin_file(a, cases[i].schema, "null");
		int64_t block = (int64_t) b->len;
		int64_t start = block + 2;
		BfStatus s;
		int64_t n;

		if (cases[i].count > 63)
			start += 2;
		add_block(b, cases[i].count, cases[i].bytes, cases[i].n);
		s = read_all(a, b->data, b->len, &n);
		EXPECT_EQ(s, BF_ERR_CORRUPT);
		if (test_err.offset != (cases[i].at == -99 ? block : start + cases[i].at))
			test_fail(__FILE__, __LINE__, "case %zu (%s): offset %lld, records start at %lld: %s",
					  i, cases[i].schema, (long long) test_err.offset, (long long) start,
					  test_err.text);
		EXPECT_STR(test_err.object, "x.avro");
	}
}

/* 40 record types, each with two fields of the one before: 2^40 nulls in no bytes at all. */
TEST(avro_container_exponential_schema)
{
	BfArena *a = test_arena();
	BfBuffer *s;
	BfBuffer *b;
	int64_t n;

	REQUIRE_OK(bf_buffer_new(a, 1 << 20, &s, &test_err));
	for (int i = 40; i > 0; i--)
		REQUIRE_OK(bf_buffer_printf(s, &test_err,
									"{\"type\":\"record\",\"name\":\"r%d\",\"fields\":["
									"{\"name\":\"a\",\"type\":",
									i));
	REQUIRE_OK(bf_buffer_printf(s, &test_err, "\"null\""));
	for (int i = 1; i <= 40; i++)
	{
		if (i == 1)
			REQUIRE_OK(bf_buffer_printf(s, &test_err, "},{\"name\":\"b\",\"type\":\"null\"}]}"));
		else
			REQUIRE_OK(
				bf_buffer_printf(s, &test_err, "},{\"name\":\"b\",\"type\":\"r%d\"}]}", i - 1));
	}
	REQUIRE_OK(bf_buffer_u8(s, 0, &test_err));
	b = begin_file(a, (const char *) s->data, NULL);
	add_block(b, 1, "", 0);
	EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(n, 0);
}

/* A linked list as long as the data: the depth is bounded. */
TEST(avro_container_recursion)
{
	BfArena *a = test_arena();
	uint8_t bytes[200];

	for (int depth = 1; depth < 200; depth++)
	{
		BfBuffer *b = begin_file(a,
								 "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":"
								 "\"next\",\"type\":[\"null\",\"r\"]}]}",
								 NULL);
		int64_t n;
		BfStatus s;

		memset(bytes, 2, sizeof bytes);
		bytes[depth - 1] = 0;
		add_block(b, 1, bytes, (size_t) depth);
		s = read_all(a, b->data, b->len, &n);
		EXPECT_EQ(s, depth <= BF_AVRO_DEPTH_MAX ? BF_OK : BF_ERR_CORRUPT);
	}
}

TEST(avro_container_bad_headers)
{
	BfArena *a = test_arena();
	int64_t n;
	BfBuffer *b;

	EXPECT_EQ(read_all(a, "", 0, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(read_all(a, "Obj", 3, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(read_all(a, "PAR1xxxxxxxxxxxxxxxxxxxxxxx", 27, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(test_err.offset, 0);
	EXPECT_EQ(read_all(a, "AGS1xxxxxxxxxxxxxxxxxxxxxxx", 27, &n), BF_ERR_UNSUPPORTED);
	EXPECT_EQ(read_all(a,
					   "Obj\x01\x00"
					   "0123456789abcdef",
					   21, &n),
			  BF_ERR_CORRUPT);
	EXPECT(strstr(test_err.text, "avro.schema") != NULL);

	b = begin_file(a, "\"int\"", "bzip2");
	EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_ERR_UNSUPPORTED);
	EXPECT(strstr(test_err.text, "bzip2") != NULL);
	b = begin_file(a, "\"int\"", "xz");
	EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_ERR_UNSUPPORTED);
	b = begin_file(a, "\"int", NULL);
	EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(test_err.offset, 18 + 4);

	b = begin_file(a, "\"int\"", "null");
	add_block(b, 1, "\x02", 1);
	b->data[b->len - 1] ^= 1;
	EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(test_err.offset, (int64_t) b->len - 16);
}

/* Records {long, string, nullable double} in a file of the given codec. */
static BfStatus
write_file(BfArena *a, BfCodec codec, int32_t n, BfView *out)
{
	BfAvroWriter *w;

	BF_TRY(bf_avro_writer_new(a,
							  "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
							  "{\"name\":\"k\",\"type\":\"long\"},{\"name\":\"s\",\"type\":"
							  "\"string\"},{\"name\":\"d\",\"type\":[\"double\",\"null\"]}]}",
							  &w, &test_err));
	BF_TRY(bf_avro_writer_codec(w, codec, &test_err));
	BF_TRY(bf_avro_writer_metadata(w, "format-version", "2", &test_err));
	for (int32_t i = 0; i < n; i++)
	{
		BfBuffer *b = bf_avro_writer_buffer(w);
		double d = i / 4.0;

		BF_TRY(bf_buffer_varint(b, (int64_t) i * 1000003, &test_err));
		BF_TRY(bf_buffer_varint(b, i % 50, &test_err));
		for (int32_t k = 0; k < i % 50; k++)
			BF_TRY(bf_buffer_u8(b, (uint8_t) ('a' + i % 26), &test_err));
		BF_TRY(bf_buffer_varint(b, i % 3 == 0, &test_err));
		if (i % 3 != 0)
			BF_TRY(bf_buffer_append(b, &d, sizeof d, &test_err));
		BF_TRY(bf_avro_writer_end_record(w, &test_err));
	}
	return bf_avro_writer_finish(w, out, &test_err);
}

static const BfCodec codecs[] = {BF_CODEC_NONE, BF_CODEC_DEFLATE, BF_CODEC_SNAPPY, BF_CODEC_ZSTD};

TEST(avro_container_round_trip)
{
	for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
		for (int32_t count = 0; count <= 20000; count = count * 4 + 1)
		{
			BfArena *a = test_arena();
			BfArena *row = test_arena();
			BfView file;
			BfView version;
			BfSource *source;
			BfAvroReader *r;
			const BfAvroValue *v;
			int32_t i;

			REQUIRE_OK(write_file(a, codecs[c], count, &file));
			REQUIRE_OK(bf_source_memory(a, file.ptr, file.len, "x.avro", &source, &test_err));
			REQUIRE_OK(bf_avro_open(a, source, &r, &test_err));
			EXPECT(bf_avro_metadata(r, "format-version", &version));
			for (i = 0;; i++)
			{
				bf_arena_reset(row);
				REQUIRE_OK(bf_avro_next(r, row, &v, &test_err));
				if (v == NULL)
					break;
				EXPECT_EQ(bf_avro_field(v, 0, "k")->u.i, (int64_t) i * 1000003);
				EXPECT_EQ(bf_avro_field(v, 0, "s")->u.bytes.len, i % 50);
				EXPECT((bf_avro_field(v, 0, "d") == NULL) == (i % 3 == 0));
				if (i % 3 != 0)
					EXPECT(bf_avro_field(v, 0, "d")->u.d == i / 4.0);
			}
			EXPECT_EQ(i, count);
		}
}

/* Cut anywhere a file either fails, or ends exactly at a block's end with the records so far. */
TEST(avro_container_truncated)
{
	for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
	{
		BfArena *a = test_arena();
		BfView file;
		int ok = 0;

		REQUIRE_OK(write_file(a, codecs[c], 100, &file));
		for (uint32_t len = 0; len <= file.len; len++)
		{
			BfArena *once = bf_arena_new(test_host(), "once", (size_t) 1 << 28);
			uint8_t *cut = bf_arena_memdup(once, file.ptr, len);
			int64_t n;

			if (read_all(once, cut, len, &n) == BF_OK)
			{
				ok++;
				EXPECT_EQ(n, len == file.len ? 100 : 0);
			}
			bf_arena_free(once);
		}
		EXPECT_EQ(ok, 2);
	}
}

/* One flipped bit: an error or other values, never a crash. Snappy has a checksum. */
TEST(avro_container_bit_flips)
{
	for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
	{
		BfArena *a = test_arena();
		BfView file;

		REQUIRE_OK(write_file(a, codecs[c], 40, &file));
		for (uint32_t i = 0; i < file.len * 8; i += 3)
		{
			BfArena *once = bf_arena_new(test_host(), "once", (size_t) 1 << 28);
			uint8_t *bad = bf_arena_memdup(once, file.ptr, file.len);
			int64_t n;

			bad[i / 8] ^= (uint8_t) (1 << (i % 8));
			(void) !read_all(once, bad, file.len, &n);
			bf_arena_free(once);
		}
	}
}

/* The header's length is unknown: any length must do, and a cut one must fail. */
TEST(avro_container_long_headers)
{
	for (size_t doc = 65400; doc < 2000000; doc = doc < 65600 ? doc + 7 : doc * 3)
	{
		BfArena *a = test_arena();
		char *text = bf_arena_alloc(a, doc + 1);
		const char *schema;
		BfBuffer *b;
		int64_t n;

		memset(text, 'x', doc);
		text[doc] = '\0';
		schema = bf_arena_printf(a, "{\"type\":\"int\",\"doc\":\"%s\"}", text);
		b = begin_file(a, schema, "null");
		EXPECT_EQ(read_all(a, b->data, b->len - 1, &n), BF_ERR_CORRUPT);
		EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_OK);
		add_block(b, 2, "\x02\x04", 2);
		EXPECT_EQ(read_all(a, b->data, b->len, &n), BF_OK);
		EXPECT_EQ(n, 2);
	}
}

/* Reading a file on disk with the N-th allocation or read failing. */
TEST(avro_container_faults)
{
	static const TestFault faults[] = {TEST_FAULT_ALLOC, TEST_FAULT_READ, TEST_FAULT_CANCEL};
	static const BfStatus codes[] = {BF_ERR_NOMEM, BF_ERR_IO, BF_ERR_CANCEL};
	BfArena *keep = test_arena();
	const char *path = bf_arena_printf(keep, "%s/x.avro", test_dir());
	BfView file;

	REQUIRE_OK(write_file(keep, BF_CODEC_DEFLATE, 5000, &file));
	REQUIRE_OK(bf_publish_bytes(keep, path, file.ptr, file.len, &test_err));
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
	{
		bool fired = true;

		for (int64_t k = 1; fired; k = k < 100 ? k + 1 : k + k / 3)
		{
			TestHost host;
			BfArena *a;
			BfArena *row;
			BfSource *source;
			BfAvroReader *r;
			const BfAvroValue *v = NULL;
			BfStatus s = BF_ERR_NOMEM;
			int64_t n = 0;

			test_host_init(&host);
			test_fault_arm(&host, faults[f], k, false);
			a = bf_arena_new(&host.host, "faulty", (size_t) 1 << 30);
			row = bf_arena_new(&host.host, "row", (size_t) 1 << 30);
			if (a != NULL && row != NULL)
				s = bf_source_open(a, path, NULL, &source, &test_err);
			if (s == BF_OK)
				s = bf_avro_open(a, source, &r, &test_err);
			while (s == BF_OK)
			{
				bf_arena_reset(row);
				s = bf_avro_next(r, row, &v, &test_err);
				if (v == NULL || s != BF_OK)
					break;
				n++;
			}
			bf_arena_free(row);
			bf_arena_free(a);
			fired = test_fault_fired(&host);
			EXPECT_EQ(s, fired ? codes[f] : BF_OK);
			EXPECT(fired || n == 5000);
			EXPECT_EQ(host.live_allocs, 0);
			EXPECT_EQ(host.open_files, 0);
			REQUIRE(!test_failed());
		}
	}
}
