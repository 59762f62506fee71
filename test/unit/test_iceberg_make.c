/* The maker of test_iceberg_make.h, and a test that what it makes is what is read. */
#include "unit/test_iceberg_make.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"

#define TRY(expr)                      \
	do                                 \
	{                                  \
		BfStatus try_status_ = (expr); \
		if (try_status_ != BF_OK)      \
			return try_status_;        \
	} while (0)

const BfValue *
make_i32(int32_t v)
{
	BfValue *out = bf_arena_alloc(test_arena(), sizeof *out);

	*out = (BfValue){.type = BF_TYPE(INT32)};
	out->v.i32 = v;
	return out;
}

const BfValue *
make_i64(int64_t v)
{
	BfValue *out = bf_arena_alloc(test_arena(), sizeof *out);

	*out = (BfValue){.type = BF_TYPE(INT64)};
	out->v.i64 = v;
	return out;
}

const BfValue *
make_text(const char *v)
{
	BfValue *out = bf_arena_alloc(test_arena(), sizeof *out);

	*out = (BfValue){.type = BF_TYPE(STRING)};
	out->v.view = (BfView){(const uint8_t *) v, (uint32_t) strlen(v)};
	return out;
}

const BfValue *
make_null(BfKind kind)
{
	BfValue *out = bf_arena_alloc(test_arena(), sizeof *out);

	*out = (BfValue){.is_null = true, .type = {.kind = kind}};
	return out;
}

BfValue *
make_tuple(int32_t n, ...)
{
	BfValue *out = bf_arena_alloc_array(test_arena(), (size_t) n, sizeof *out);
	va_list args;

	va_start(args, n);
	for (int32_t i = 0; i < n; i++)
		out[i] = *va_arg(args, const BfValue *);
	va_end(args);
	return out;
}

/* Of the table at hand: names of files of one test don't clash. */
static int32_t serial;
/* Of the table or manifest at hand: each call of test_arena makes one. */
static BfArena *arena;

/* --- Manifests ------------------------------------------------------------------------------ */

static BfStatus
put_text(BfBuffer *b, const char *text)
{
	TRY(bf_buffer_varint(b, (int64_t) strlen(text), &test_err));
	return bf_buffer_append(b, text, strlen(text), &test_err);
}

static BfStatus
put_optional(BfBuffer *b, bool has, int64_t v)
{
	TRY(bf_buffer_varint(b, has, &test_err));
	return has ? bf_buffer_varint(b, v, &test_err) : BF_OK;
}

typedef bool (*HasMetric)(const MakeColumn *c);
typedef BfStatus (*PutMetric)(BfBuffer *b, const MakeColumn *c);

static bool
has_lower(const MakeColumn *c)
{
	return c->lower != NULL;
}
static bool
has_upper(const MakeColumn *c)
{
	return c->upper != NULL;
}
static bool
has_values(const MakeColumn *c)
{
	return c->values >= 0;
}
static bool
has_nulls(const MakeColumn *c)
{
	return c->nulls >= 0;
}
static bool
has_nans(const MakeColumn *c)
{
	return c->nans >= 0;
}

static BfStatus
put_bound(BfBuffer *b, const BfValue *v)
{
	BfView bytes;

	TRY(bfi_single_value(arena, v, &bytes, &test_err));
	TRY(bf_buffer_varint(b, bytes.len, &test_err));
	return bf_buffer_append(b, bytes.ptr, bytes.len, &test_err);
}
static BfStatus
put_lower(BfBuffer *b, const MakeColumn *c)
{
	return put_bound(b, c->lower);
}
static BfStatus
put_upper(BfBuffer *b, const MakeColumn *c)
{
	return put_bound(b, c->upper);
}
static BfStatus
put_values(BfBuffer *b, const MakeColumn *c)
{
	return bf_buffer_varint(b, c->values, &test_err);
}
static BfStatus
put_nulls(BfBuffer *b, const MakeColumn *c)
{
	return bf_buffer_varint(b, c->nulls, &test_err);
}
static BfStatus
put_nans(BfBuffer *b, const MakeColumn *c)
{
	return bf_buffer_varint(b, c->nans, &test_err);
}

/* A map from column ids; null when no column has such a metric. */
static BfStatus
put_map(BfBuffer *b, const MakeFile *f, HasMetric has, PutMetric put)
{
	int32_t n = 0;

	for (int32_t i = 0; i < f->n_columns; i++)
		n += has(&f->columns[i]);
	TRY(bf_buffer_varint(b, n > 0, &test_err));
	if (n == 0)
		return BF_OK;
	TRY(bf_buffer_varint(b, n, &test_err));
	for (int32_t i = 0; i < f->n_columns; i++)
		if (has(&f->columns[i]))
		{
			TRY(bf_buffer_varint(b, f->columns[i].id, &test_err));
			TRY(put(b, &f->columns[i]));
		}
	return bf_buffer_varint(b, 0, &test_err);
}

static BfStatus
put_entry(BfBuffer *b, const MakeManifest *m, const MakeFile *f)
{
	TRY(bf_buffer_varint(b, f->status, &test_err));
	TRY(put_optional(b, true, m->snapshot_id));
	TRY(put_optional(b, f->sequence >= 0, f->sequence));
	TRY(put_optional(b, f->sequence >= 0, f->sequence));
	TRY(bf_buffer_varint(b, f->content, &test_err));
	TRY(put_text(b, f->path));
	TRY(put_text(b, f->format != NULL ? f->format : "PARQUET"));
	for (int32_t i = 0; i < f->n_partition; i++)
		TRY(bfi_avro_put_value(b, &f->partition[i], &test_err));
	TRY(bf_buffer_varint(b, f->rows, &test_err));
	TRY(bf_buffer_varint(b, f->size, &test_err));
	TRY(put_map(b, f, has_values, put_values));
	TRY(put_map(b, f, has_nulls, put_nulls));
	TRY(put_map(b, f, has_nans, put_nans));
	TRY(put_map(b, f, has_lower, put_lower));
	TRY(put_map(b, f, has_upper, put_upper));
	TRY(bf_buffer_varint(b, f->n_equality_ids > 0, &test_err));
	if (f->n_equality_ids > 0)
	{
		TRY(bf_buffer_varint(b, f->n_equality_ids, &test_err));
		for (int32_t i = 0; i < f->n_equality_ids; i++)
			TRY(bf_buffer_varint(b, f->equality_ids[i], &test_err));
		TRY(bf_buffer_varint(b, 0, &test_err));
	}
	TRY(put_optional(b, f->first_row_id > 0, f->first_row_id - 1));
	TRY(bf_buffer_varint(b, f->referenced != NULL, &test_err));
	if (f->referenced != NULL)
		TRY(put_text(b, f->referenced));
	TRY(put_optional(b, f->length > 0, f->offset));
	return put_optional(b, f->length > 0, f->length);
}

static const char entry_before_partition[] =
	"{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["
	"{\"name\":\"status\",\"field-id\":0,\"type\":\"int\"},"
	"{\"name\":\"snapshot_id\",\"field-id\":1,\"type\":[\"null\",\"long\"]},"
	"{\"name\":\"sequence_number\",\"field-id\":3,\"type\":[\"null\",\"long\"]},"
	"{\"name\":\"file_sequence_number\",\"field-id\":4,\"type\":[\"null\",\"long\"]},"
	"{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\",\"name\":\"r2\","
	"\"fields\":["
	"{\"name\":\"content\",\"field-id\":134,\"type\":\"int\"},"
	"{\"name\":\"file_path\",\"field-id\":100,\"type\":\"string\"},"
	"{\"name\":\"file_format\",\"field-id\":101,\"type\":\"string\"},"
	"{\"name\":\"partition\",\"field-id\":102,\"type\":{\"type\":\"record\",\"name\":\"r10"
	"2\","
	"\"fields\":";

static const char entry_after_partition[] =
	"}},"
	"{\"name\":\"record_count\",\"field-id\":103,\"type\":\"long\"},"
	"{\"name\":\"file_size_in_bytes\",\"field-id\":104,\"type\":\"long\"},"
	"{\"name\":\"value_counts\",\"field-id\":109,\"type\":[\"null\",{\"type\":\"array\",\""
	"logicalType\":\"map\",\"items\":{\"type\":\"record\",\"name\":\"k119_v120\",\"fields"
	"\":[{\"name\":\"key\",\"field-id\":119,\"type\":\"int\"},{\"name\":\"value\",\"field-i"
	"d\":120,\"type\":\"long\"}]}}]},"
	"{\"name\":\"null_value_counts\",\"field-id\":110,\"type\":[\"null\",{\"type\":\"arr"
	"ay\",\"logicalType\":\"map\",\"items\":{\"type\":\"record\",\"name\":\"k121_v122\",\"f"
	"ields\":[{\"name\":\"key\",\"field-id\":121,\"type\":\"int\"},{\"name\":\"value\",\"fi"
	"eld-id\":122,\"type\":\"long\"}]}}]},"
	"{\"name\":\"nan_value_counts\",\"field-id\":137,\"type\":[\"null\",{\"type\":\"arra"
	"y\",\"logicalType\":\"map\",\"items\":{\"type\":\"record\",\"name\":\"k138_v139\",\"fi"
	"elds\":[{\"name\":\"key\",\"field-id\":138,\"type\":\"int\"},{\"name\":\"value\",\"fie"
	"ld-id\":139,\"type\":\"long\"}]}}]},"
	"{\"name\":\"lower_bounds\",\"field-id\":125,\"type\":[\"null\",{\"type\":\"array\",\""
	"logicalType\":\"map\",\"items\":{\"type\":\"record\",\"name\":\"k126_v127\",\"fields"
	"\":[{\"name\":\"key\",\"field-id\":126,\"type\":\"int\"},{\"name\":\"value\",\"field-i"
	"d\":127,\"type\":\"bytes\"}]}}]},"
	"{\"name\":\"upper_bounds\",\"field-id\":128,\"type\":[\"null\",{\"type\":\"array\",\""
	"logicalType\":\"map\",\"items\":{\"type\":\"record\",\"name\":\"k129_v130\",\"fields"
	"\":[{\"name\":\"key\",\"field-id\":129,\"type\":\"int\"},{\"name\":\"value\",\"field-i"
	"d\":130,\"type\":\"bytes\"}]}}]},"
	"{\"name\":\"equality_ids\",\"field-id\":135,\"type\":[\"null\",{\"type\":\"array\",\""
	"items\":\"int\",\"element-id\":136}]},"
	"{\"name\":\"first_row_id\",\"field-id\":142,\"type\":[\"null\",\"long\"]},"
	"{\"name\":\"referenced_data_file\",\"field-id\":143,\"type\":[\"null\",\"string\"]"
	"},"
	"{\"name\":\"content_offset\",\"field-id\":144,\"type\":[\"null\",\"long\"]},"
	"{\"name\":\"content_size_in_bytes\",\"field-id\":145,\"type\":[\"null\",\"long\"]}"
	"]}}]}";

static BfStatus
partition_schema(const BfIceMetadata *m, const BfIceSpec *spec, const char **out)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		const BfIcePartitionField *f = &spec->fields[i];
		BfType type;

		if (bfi_partition_type(m, f, &type) != BF_OK)
			type = BF_TYPE(BINARY);
		json_array_append_new(list, json_pack("{s:s, s:i, s:[s, o]}", "name", f->name, "field-id",
											  f->field_id, "type", "null",
											  bfi_avro_type_json(type, f->field_id)));
	}
	TRY(bfi_json_text(arena, list, out, &test_err));
	json_decref(list);
	return BF_OK;
}

BfStatus
make_manifest(const BfIceMetadata *m, MakeManifest *manifest, BfView *out, BfError *err)
{
	BfArena *a = arena = test_arena();
	const BfIceSpec *spec = bf_ice_spec(m, manifest->spec_id);
	const char *partition, *schema;
	BfAvroWriter *w;

	TRY(partition_schema(m, spec, &partition));
	schema = bf_arena_printf(a, "%s%s%s", entry_before_partition, partition, entry_after_partition);
	TRY(bf_avro_writer_new(a, schema, &w, err));
	TRY(bf_avro_writer_metadata(w, "partition-spec-id",
								manifest->header_spec_id != NULL
									? manifest->header_spec_id
									: bf_arena_printf(a, "%d", spec->spec_id),
								err));
	if (manifest->header_content != NULL)
		TRY(bf_avro_writer_metadata(w, "content", manifest->header_content, err));
	if (manifest->header_spec != NULL)
		TRY(bf_avro_writer_metadata(w, "partition-spec", manifest->header_spec, err));
	for (int32_t i = 0; i < manifest->n_files; i++)
	{
		TRY(put_entry(bf_avro_writer_buffer(w), manifest, &manifest->files[i]));
		TRY(bf_avro_writer_end_record(w, err));
	}
	return bf_avro_writer_finish(w, out, err);
}

static BfStatus
write_manifest(const MakeTable *t, const BfIceMetadata *m, MakeManifest *manifest)
{
	BfView bytes;

	if (manifest->path != NULL)
		return BF_OK;
	TRY(make_manifest(m, manifest, &bytes, &test_err));
	manifest->path = bf_arena_printf(arena, "%s/metadata/%d-%s", t->dir, serial, manifest->name);
	manifest->length = bytes.len;
	return bf_publish_bytes(arena, manifest->path, bytes.ptr, bytes.len, &test_err);
}

/* --- Lists ---------------------------------------------------------------------------------- */

static const char list_schema[] =
	"{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
	"{\"name\":\"manifest_path\",\"field-id\":500,\"type\":\"string\"},"
	"{\"name\":\"manifest_length\",\"field-id\":501,\"type\":\"long\"},"
	"{\"name\":\"partition_spec_id\",\"field-id\":502,\"type\":\"int\"},"
	"{\"name\":\"content\",\"field-id\":517,\"type\":\"int\"},"
	"{\"name\":\"sequence_number\",\"field-id\":515,\"type\":\"long\"},"
	"{\"name\":\"min_sequence_number\",\"field-id\":516,\"type\":\"long\"},"
	"{\"name\":\"added_snapshot_id\",\"field-id\":503,\"type\":\"long\"},"
	"{\"name\":\"added_files_count\",\"field-id\":504,\"type\":\"int\"},"
	"{\"name\":\"existing_files_count\",\"field-id\":505,\"type\":\"int\"},"
	"{\"name\":\"deleted_files_count\",\"field-id\":506,\"type\":\"int\"},"
	"{\"name\":\"partitions\",\"field-id\":507,\"type\":[\"null\",{\"type\":\"array\",\"el"
	"ement-id\":508,\"items\":{\"type\":\"record\",\"name\":\"r508\",\"fields\":[{\"name\""
	":\"contains_null\",\"field-id\":509,\"type\":\"boolean\"},{\"name\":\"contains_na"
	"n\",\"field-id\":518,\"type\":[\"null\",\"boolean\"]},{\"name\":\"lower_bound\",\"fi"
	"eld-id\":510,\"type\":[\"null\",\"bytes\"]},{\"name\":\"upper_bound\",\"field-id\":"
	"511,\"type\":[\"null\",\"bytes\"]}]}}]},"
	"{\"name\":\"first_row_id\",\"field-id\":520,\"type\":[\"null\",\"long\"]}]}";

/* What the list says of one partition field. */
static BfStatus
put_summary(BfBuffer *b, const MakeManifest *m, int32_t field)
{
	const BfValue *lower = NULL, *upper = NULL;
	bool nulls = false, nans = false;

	for (int32_t i = 0; i < m->n_files; i++)
	{
		const BfValue *v = &m->files[i].partition[field];

		nulls |= v->is_null;
		nans |= !v->is_null && bfi_value_is_nan(v);
		if (v->is_null || bfi_value_is_nan(v))
			continue;
		if (lower == NULL || bf_value_compare(v, lower) < 0)
			lower = v;
		if (upper == NULL || bf_value_compare(v, upper) > 0)
			upper = v;
	}
	TRY(bf_buffer_u8(b, nulls, &test_err));
	TRY(bf_buffer_varint(b, 1, &test_err));
	TRY(bf_buffer_u8(b, nans, &test_err));
	TRY(bf_buffer_varint(b, lower != NULL, &test_err));
	if (lower == NULL)
		return bf_buffer_varint(b, 0, &test_err);
	TRY(put_bound(b, lower));
	TRY(bf_buffer_varint(b, 1, &test_err));
	return put_bound(b, upper);
}

static BfStatus
put_list_entry(BfBuffer *b, const BfIceMetadata *metadata, const MakeManifest *m)
{
	const BfIceSpec *spec = bf_ice_spec(metadata, m->spec_id);
	int32_t counts[3] = {0, 0, 0};

	for (int32_t i = 0; i < m->n_files; i++)
		counts[m->files[i].status]++;
	counts[BF_ICE_ADDED] += m->claimed;
	TRY(put_text(b, m->path));
	TRY(bf_buffer_varint(b, m->length, &test_err));
	TRY(bf_buffer_varint(b, m->spec_id, &test_err));
	TRY(bf_buffer_varint(b, m->deletes, &test_err));
	TRY(bf_buffer_varint(b, m->sequence, &test_err));
	TRY(bf_buffer_varint(b, 0, &test_err));
	TRY(bf_buffer_varint(b, m->snapshot_id, &test_err));
	TRY(bf_buffer_varint(b, counts[BF_ICE_ADDED], &test_err));
	TRY(bf_buffer_varint(b, counts[BF_ICE_EXISTING], &test_err));
	TRY(bf_buffer_varint(b, counts[BF_ICE_DELETED], &test_err));
	TRY(bf_buffer_varint(b, !m->no_summaries, &test_err));
	if (!m->no_summaries)
	{
		if (spec->n_fields > 0)
			TRY(bf_buffer_varint(b, spec->n_fields, &test_err));
		for (int32_t i = 0; i < spec->n_fields; i++)
			TRY(put_summary(b, m, i));
		TRY(bf_buffer_varint(b, 0, &test_err));
	}
	return put_optional(b, m->first_row_id > 0, m->first_row_id - 1);
}

static BfStatus
write_list(const MakeTable *t, const BfIceMetadata *m, const MakeSnapshot *s)
{
	BfArena *a = arena;
	BfAvroWriter *w;
	BfView bytes;

	TRY(bf_avro_writer_new(a, list_schema, &w, &test_err));
	for (int32_t i = 0; i < s->n_manifests; i++)
	{
		TRY(write_manifest(t, m, s->manifests[i]));
		TRY(put_list_entry(bf_avro_writer_buffer(w), m, s->manifests[i]));
		TRY(bf_avro_writer_end_record(w, &test_err));
	}
	TRY(bf_avro_writer_finish(w, &bytes, &test_err));
	return bf_publish_bytes(
		a, bf_arena_printf(a, "%s/metadata/snap-%d-%lld.avro", t->dir, serial, (long long) s->id),
		bytes.ptr, bytes.len, &test_err);
}

/* --- Metadata ------------------------------------------------------------------------------- */

static BfStatus
put_metadata(const MakeTable *t, BfBuffer *b)
{
	TRY(bf_buffer_printf(
		b, &test_err,
		"{\"format-version\":%d,\"table-uuid\":\"u\",\"location\":\"file://%s\","
		"\"last-sequence-number\":99,\"last-updated-ms\":99,\"last-column-id\":99,"
		"\"schemas\":%s,\"current-schema-id\":%d,\"partition-specs\":%s,\"default-spec-id\":0,"
		"\"last-partition-id\":1999,\"current-snapshot-id\":%lld",
		t->version, t->dir, t->schemas, t->schema_id, t->specs,
		t->current != 0 ? (long long) t->current : -1LL));
	if (t->refs != NULL)
		TRY(bf_buffer_printf(b, &test_err, ",\"refs\":%s", t->refs));
	if (t->log != NULL)
		TRY(bf_buffer_printf(b, &test_err, ",\"snapshot-log\":%s", t->log));
	if (t->more != NULL)
		TRY(bf_buffer_printf(b, &test_err, "%s", t->more));
	TRY(bf_buffer_printf(b, &test_err, ",\"snapshots\":["));
	for (int32_t i = 0; i < t->n_snapshots; i++)
	{
		const MakeSnapshot *s = &t->snapshots[i];

		TRY(bf_buffer_printf(b, &test_err,
							 "%s{\"snapshot-id\":%lld,\"sequence-number\":%lld,"
							 "\"timestamp-ms\":%lld,\"manifest-list\":"
							 "\"file://%s/metadata/snap-%d-%lld.avro\","
							 "\"summary\":{\"operation\":\"append\"%s}",
							 i > 0 ? "," : "", (long long) s->id, (long long) s->sequence,
							 (long long) s->timestamp_ms, t->dir, serial, (long long) s->id,
							 s->summary != NULL ? s->summary : ""));
		if (s->parent_id != 0)
			TRY(bf_buffer_printf(b, &test_err, ",\"parent-snapshot-id\":%lld",
								 (long long) s->parent_id));
		if (s->schema_id >= 0)
			TRY(bf_buffer_printf(b, &test_err, ",\"schema-id\":%d", s->schema_id));
		TRY(bf_buffer_printf(b, &test_err, "}"));
	}
	return bf_buffer_printf(b, &test_err, "]}");
}

static BfStatus
write_table(const MakeTable *t, BfIceTable **out)
{
	BfArena *a = arena;
	BfIceMetadata *m;
	const char *path;
	BfBuffer *b;

	serial++;
	TRY(bf_buffer_new(a, (size_t) 1 << 28, &b, &test_err));
	TRY(put_metadata(t, b));
	TRY(bf_ice_metadata_parse(a, b->data, b->len, &m, &test_err));
	for (int32_t i = 0; i < t->n_snapshots; i++)
		TRY(write_list(t, m, &t->snapshots[i]));
	path = bf_arena_printf(a, "%s/metadata/v%d.metadata.json", t->dir, serial);
	TRY(bf_publish_bytes(a, path, b->data, b->len, &test_err));
	return bf_ice_load(a, path, NULL, out, &test_err);
}

BfIceTable *
make_table(MakeTable *t)
{
	BfIceTable *out = NULL;

	arena = test_arena();
	if (t->dir == NULL)
		t->dir = test_dir();
	if (write_table(t, &out) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
		return NULL;
	}
	return out;
}

TEST(iceberg_make)
{
	MakeColumn column = {1, make_i64(-5), make_i64(9), 10, 2, -1};
	MakeFile files[] = {{BF_ICE_ADDED, BF_ICE_DATA, "data/a.parquet", NULL, -1, 10, 100, 1,
						 make_tuple(1, make_text("x")), 1, &column, 0, NULL, NULL, 0, 0, 0},
						{BF_ICE_EXISTING, BF_ICE_DATA, "data/b.avro", "avro", 3, 5, 50, 1,
						 make_tuple(1, make_null(BF_KIND_STRING)), 0, NULL, 0, NULL, NULL, 0, 0, 8},
						{BF_ICE_DELETED, BF_ICE_DATA, "data/c.parquet", NULL, 3, 5, 50, 1,
						 make_tuple(1, make_text("z")), 0, NULL, 0, NULL, NULL, 0, 0, 0}};
	MakeManifest manifest = {.name = "m0.avro",
							 .sequence = 7,
							 .snapshot_id = 1,
							 .first_row_id = 101,
							 .n_files = 3,
							 .files = files};
	MakeManifest *manifests[] = {&manifest};
	MakeSnapshot snapshot = {1, 0, 7, 5, -1, NULL, 1, manifests};
	MakeTable table = {
		.version = 3,
		.schemas = "[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"},"
				   "{\"id\":2,\"name\":\"s\",\"type\":\"string\"}]}]",
		.specs = "[{\"spec-id\":0,\"fields\":[{\"name\":\"s\",\"transform\":\"identity\","
				 "\"source-id\":2,\"field-id\":1000}]}]",
		.current = 1,
		.n_snapshots = 1,
		.snapshots = &snapshot};
	BfIceTable *t;
	BfIceScan scan = {.io = NULL};
	BfIcePlan *p;

	for (size_t i = 0; i < 3; i++)
		files[i].path = bf_arena_printf(test_arena(), "%s/%s", test_dir(), files[i].path);
	t = make_table(&table);
	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	REQUIRE_OK(bf_ice_plan_scan(test_arena(), t, &scan, &p, &test_err));
	REQUIRE(p->n_files == 2);
	EXPECT_EQ(p->files[0].sequence_number, 7);
	EXPECT_EQ(p->files[0].format, BF_ICE_FORMAT_PARQUET);
	EXPECT_EQ(p->files[0].first_row_id, 100);
	EXPECT_EQ(p->files[0].n_constants, 1);
	EXPECT_EQ(p->files[1].sequence_number, 3);
	EXPECT_EQ(p->files[1].format, BF_ICE_FORMAT_AVRO);
	EXPECT_EQ(p->files[1].first_row_id, 7);
	EXPECT(p->files[1].constants[0].is_null);
	EXPECT_EQ(p->total_rows, 15);
	EXPECT(!p->has_deletes);
	EXPECT_FAIL(bf_ice_plan(test_arena(), t, NULL, &p, &test_err), BF_ERR_UNSUPPORTED, -1);
	EXPECT(strstr(test_err.text, "AVRO") != NULL);
}

const char *
coverage_text(const BfCoverage *c)
{
	BfBuffer *b;

	if (bf_buffer_new(test_arena(), 1 << 20, &b, &test_err) != BF_OK ||
		bf_coverage_format(c, b, &test_err) != BF_OK)
		return "?";
	return bf_arena_strndup(test_arena(), (const char *) b->data, b->len);
}
