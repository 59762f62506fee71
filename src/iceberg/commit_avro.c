/*
 * Manifests and manifest lists, version 2, as Avro files in memory.
 */
#include "base/ascii.h"
#include "iceberg/internal.h"

/* A field of a record, names and ids as in the specification. `type` is JSON, or with a key_id the
 * value type of a map from column ids (key_id + 1 is the value's id). */
typedef struct AvroField
{
	int32_t id;
	const char *name;
	const char *type;
	bool nullable;
	int32_t key_id;
} AvroField;

static const AvroField entry_fields[] = {
	{0, "status", "\"int\"", false, 0},			 {1, "snapshot_id", "\"long\"", true, 0},
	{3, "sequence_number", "\"long\"", true, 0}, {4, "file_sequence_number", "\"long\"", true, 0},
	{2, "data_file", "%data_file", false, 0},
};

static const AvroField data_file_fields[] = {
	{134, "content", "\"int\"", false, 0},
	{100, "file_path", "\"string\"", false, 0},
	{101, "file_format", "\"string\"", false, 0},
	{102, "partition", "%partition", false, 0},
	{103, "record_count", "\"long\"", false, 0},
	{104, "file_size_in_bytes", "\"long\"", false, 0},
	{108, "column_sizes", "\"long\"", true, 117},
	{109, "value_counts", "\"long\"", true, 119},
	{110, "null_value_counts", "\"long\"", true, 121},
	{137, "nan_value_counts", "\"long\"", true, 138},
	{125, "lower_bounds", "\"bytes\"", true, 126},
	{128, "upper_bounds", "\"bytes\"", true, 129},
	{131, "key_metadata", "\"bytes\"", true, 0},
	{132, "split_offsets", "{\"type\":\"array\",\"items\":\"long\",\"element-id\":133}", true, 0},
	{135, "equality_ids", "{\"type\":\"array\",\"items\":\"int\",\"element-id\":136}", true, 0},
	{140, "sort_order_id", "\"int\"", true, 0},
};

/* The fields after file_size_in_bytes: metrics, which come as bytes (file_metrics.h) or are null,
 * and four of which we write one, split_offsets. */
#define N_METRICS_FIELDS 6
#define N_LAST_FIELDS 4

static const AvroField manifest_file_fields[] = {
	{500, "manifest_path", "\"string\"", false, 0},
	{501, "manifest_length", "\"long\"", false, 0},
	{502, "partition_spec_id", "\"int\"", false, 0},
	{517, "content", "\"int\"", false, 0},
	{515, "sequence_number", "\"long\"", false, 0},
	{516, "min_sequence_number", "\"long\"", false, 0},
	{503, "added_snapshot_id", "\"long\"", false, 0},
	{504, "added_files_count", "\"int\"", false, 0},
	{505, "existing_files_count", "\"int\"", false, 0},
	{506, "deleted_files_count", "\"int\"", false, 0},
	{512, "added_rows_count", "\"long\"", false, 0},
	{513, "existing_rows_count", "\"long\"", false, 0},
	{514, "deleted_rows_count", "\"long\"", false, 0},
	{507, "partitions", "%summaries", true, 0},
	{519, "key_metadata", "\"bytes\"", true, 0},
};

static const AvroField summary_fields[] = {
	{509, "contains_null", "\"boolean\"", false, 0},
	{518, "contains_nan", "\"boolean\"", true, 0},
	{510, "lower_bound", "\"bytes\"", true, 0},
	{511, "upper_bound", "\"bytes\"", true, 0},
};

#define COUNT(table) ((int32_t) (sizeof(table) / sizeof((table)[0])))

_Static_assert(COUNT(data_file_fields) == 6 + N_METRICS_FIELDS + N_LAST_FIELDS,
			   "put_entry writes six fields, the metrics, then four more");
_Static_assert(COUNT(entry_fields) == 5 && COUNT(summary_fields) == 4,
			   "put_entry and put_summary write so many fields");
_Static_assert(COUNT(manifest_file_fields) == 15, "put_list_entry writes so many fields");

static BfStatus put_record(BfBuffer *b, const char *name, const AvroField *fields, int32_t n,
						   const char *partition, BfError *err) BF_MUST_CHECK;

/* A type by its JSON, or one of the records that the tables above refer to. */
static BfStatus
put_type(BfBuffer *b, const AvroField *f, const char *partition, BfError *err)
{
	if (f->key_id > 0)
		return bf_buffer_printf(
			b, err,
			"{\"type\":\"array\",\"logicalType\":\"map\",\"items\":{\"type\":\"record\","
			"\"name\":\"k%d_v%d\",\"fields\":[{\"name\":\"key\",\"type\":\"int\",\"field-id\":%d},"
			"{\"name\":\"value\",\"type\":%s,\"field-id\":%d}]}}",
			f->key_id, f->key_id + 1, f->key_id, f->type, f->key_id + 1);
	if (strcmp(f->type, "%data_file") == 0)
		return put_record(b, "r2", data_file_fields, COUNT(data_file_fields), partition, err);
	if (strcmp(f->type, "%partition") == 0)
		return bf_buffer_printf(b, err, "{\"type\":\"record\",\"name\":\"r102\",\"fields\":%s}",
								partition);
	if (strcmp(f->type, "%summaries") != 0)
		return bf_buffer_printf(b, err, "%s", f->type);
	BF_TRY(bf_buffer_printf(b, err, "{\"type\":\"array\",\"element-id\":508,\"items\":"));
	BF_TRY(put_record(b, "r508", summary_fields, COUNT(summary_fields), NULL, err));
	return bf_buffer_printf(b, err, "}");
}

static BfStatus
put_record(BfBuffer *b, const char *name, const AvroField *fields, int32_t n, const char *partition,
		   BfError *err)
{
	BF_TRY(bf_buffer_printf(b, err, "{\"type\":\"record\",\"name\":\"%s\",\"fields\":[", name));
	for (int32_t i = 0; i < n; i++)
	{
		const AvroField *f = &fields[i];

		BF_TRY(bf_buffer_printf(b, err, "%s{\"name\":\"%s\",\"field-id\":%d,", i > 0 ? "," : "",
								f->name, f->id));
		BF_TRY(bf_buffer_printf(
			b, err, f->nullable ? "\"default\":null,\"type\":[\"null\"," : "\"type\":"));
		BF_TRY(put_type(b, f, partition, err));
		BF_TRY(bf_buffer_printf(b, err, f->nullable ? "]}" : "}"));
	}
	return bf_buffer_printf(b, err, "]}");
}

/* The schema of a file as text. */
static BfStatus
record_schema(BfArena *a, const char *name, const AvroField *fields, int32_t n,
			  const char *partition, const char **out, BfError *err)
{
	BfBuffer b;
	BfStatus status;

	bf_buffer_init(&b, bf_arena_host(a), (size_t) 16 << 20);
	status = put_record(&b, name, fields, n, partition, err);
	*out = status == BF_OK ? bf_arena_strndup(a, (const char *) b.data, b.len) : NULL;
	bf_buffer_free(&b);
	if (status == BF_OK && *out == NULL)
		return bf_arena_fail(a, 0, err);
	return status;
}

/* Avro names are ASCII words: other bytes become _x and their hexadecimal digits. */
static BfStatus
avro_name(BfArena *a, const char *name, const char **out, BfError *err)
{
	char *s;
	size_t n = 0;

	BF_TRY_PTR(a, s, bf_arena_alloc(a, strlen(name) * 4 + 2), err);
	for (const unsigned char *p = (const unsigned char *) name; *p != '\0'; p++)
	{
		bool digit = bf_ascii_digit(*p);
		bool letter = bf_ascii_letter(*p) || *p == '_';

		if (digit && n == 0)
			s[n++] = '_';
		if (digit || letter)
			s[n++] = (char) *p;
		else
			n += (size_t) snprintf(s + n, sizeof "_x00", "_x%02X", *p);
	}
	BF_ASSERT(n <= strlen(name) * 4 + 1);
	s[n] = '\0';
	*out = s;
	return BF_OK;
}

static BfStatus
partition_fields_json(BfArena *a, const BfIceMetadata *m, const BfIceSpec *spec, json_t **out,
					  BfError *err)
{
	json_t *list = json_array();

	BF_TRY(bfi_json_own(a, list, err));
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		const BfIcePartitionField *f = &spec->fields[i];
		json_t *type = NULL, *item;
		const char *name = NULL;
		BfType result;

		if (bfi_partition_type(m, f, &result) == BF_OK)
			type = bfi_avro_type_json(result, f->field_id);
		if (type == NULL)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "partition field \"%s\" (%s) can't be written",
					f->name, f->transform_text);
		item = json_pack("{s:[s,o], s:n, s:i}", "type", "null", type, "default", "field-id",
						 f->field_id);
		BF_TRY(avro_name(a, f->name, &name, err));
		if (item == NULL || json_object_set_new(item, "name", json_string(name)) != 0 ||
			(strcmp(name, f->name) != 0 &&
			 json_object_set_new(item, "iceberg-field-name", json_string(f->name)) != 0) ||
			json_array_append_new(list, item) != 0)
			BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a manifest's schema");
	}
	*out = list;
	return BF_OK;
}

BfStatus
bfi_json_text(BfArena *a, const json_t *json, const char **out, BfError *err)
{
	size_t n = json_dumpb(json, NULL, 0, JSON_COMPACT);
	char *text;

	if (n == 0)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for JSON text");
	BF_TRY_PTR(a, text, bf_arena_alloc(a, n + 1), err);
	if (json_dumpb(json, text, n, JSON_COMPACT) != n)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for JSON text");
	text[n] = '\0';
	*out = text;
	return BF_OK;
}

static BfStatus
put_text(BfBuffer *b, const char *s, BfError *err)
{
	BF_TRY(bf_buffer_varint(b, (int64_t) strlen(s), err));
	return bf_buffer_append(b, s, strlen(s), err);
}

static BfStatus
manifest_header(BfArena *a, BfAvroWriter *w, const BfIceMetadata *m, const BfIceSpec *spec,
				BfError *err)
{
	const BfSchema *schema = bf_ice_current_schema(m);
	json_t *json;
	const char *text;
	char number[16];

	BF_TRY(bfi_schema_json(schema, &json, err));
	BF_TRY(bfi_json_own(a, json, err));
	BF_TRY(bfi_json_text(a, json, &text, err));
	BF_TRY(bf_avro_writer_metadata(w, "schema", text, err));
	snprintf(number, sizeof number, "%d", schema->schema_id);
	BF_TRY(bf_avro_writer_metadata(w, "schema-id", number, err));
	json = bfi_spec_fields_json(spec);
	BF_TRY(bfi_json_own(a, json, err));
	BF_TRY(bfi_json_text(a, json, &text, err));
	BF_TRY(bf_avro_writer_metadata(w, "partition-spec", text, err));
	snprintf(number, sizeof number, "%d", spec->spec_id);
	BF_TRY(bf_avro_writer_metadata(w, "partition-spec-id", number, err));
	BF_TRY(bf_avro_writer_metadata(w, "format-version", "2", err));
	return bf_avro_writer_metadata(w, "content", "data", err);
}

static BfStatus
put_nulls(BfBuffer *b, int32_t n, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bf_buffer_varint(b, 0, err));
	return BF_OK;
}

static BfStatus
put_sequence(BfBuffer *b, int64_t number, BfError *err)
{
	BF_TRY(bf_buffer_varint(b, number >= 0 ? 1 : 0, err));
	return number >= 0 ? bf_buffer_varint(b, number, err) : BF_OK;
}

static BfStatus
put_splits(BfBuffer *b, const BfIceNewFile *f, BfError *err)
{
	BF_TRY(bf_buffer_varint(b, f->n_splits > 0 ? 1 : 0, err));
	if (f->n_splits == 0)
		return BF_OK;
	BF_TRY(bf_buffer_varint(b, f->n_splits, err));
	for (int32_t i = 0; i < f->n_splits; i++)
		BF_TRY(bf_buffer_varint(b, f->splits[i], err));
	return bf_buffer_varint(b, 0, err);
}

static BfStatus
put_entry(BfBuffer *b, const BfiNewEntry *e, BfError *err)
{
	const BfIceNewFile *f = e->file;

	BF_ASSERT(e->status == BF_ICE_ADDED || (e->sequence_number >= 0 && e->snapshot_id != -1));
	BF_ASSERT(f->record_count >= 0 && f->file_size >= 0);
	BF_TRY(bf_buffer_varint(b, e->status, err));
	BF_TRY(bf_buffer_varint(b, 1, err));
	BF_TRY(bf_buffer_varint(b, e->snapshot_id, err));
	BF_TRY(put_sequence(b, e->sequence_number, err));
	BF_TRY(put_sequence(b, e->file_sequence_number, err));
	BF_TRY(bf_buffer_varint(b, BF_ICE_DATA, err));
	BF_TRY(put_text(b, f->path, err));
	BF_TRY(put_text(b, f->format != NULL ? f->format : "LOG", err));
	for (int32_t i = 0; i < f->n_partition; i++)
		BF_TRY(bfi_avro_put_value(b, &f->partition[i], err));
	BF_TRY(bf_buffer_varint(b, f->record_count, err));
	BF_TRY(bf_buffer_varint(b, f->file_size, err));
	if (f->metrics.len > 0)
		BF_TRY(bf_buffer_append(b, f->metrics.ptr, f->metrics.len, err));
	else
		BF_TRY(put_nulls(b, N_METRICS_FIELDS, err));
	BF_TRY(put_nulls(b, 1, err)); /* key_metadata */
	BF_TRY(put_splits(b, f, err));
	return put_nulls(b, 2, err); /* equality_ids, sort_order_id */
}

BfStatus
bfi_manifest_bytes(BfArena *a, const BfIceMetadata *m, const BfIceSpec *spec,
				   const BfiNewEntry *entries, int32_t n, BfView *out, BfError *err)
{
	BfAvroWriter *w;
	json_t *fields;
	const char *fields_text, *schema;

	BF_TRY(partition_fields_json(a, m, spec, &fields, err));
	BF_TRY(bfi_json_text(a, fields, &fields_text, err));
	BF_TRY(record_schema(a, "manifest_entry", entry_fields, COUNT(entry_fields), fields_text,
						 &schema, err));
	BF_TRY(bf_avro_writer_new(a, schema, &w, err));
	BF_TRY(manifest_header(a, w, m, spec, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_ASSERT(entries[i].file->spec_id == spec->spec_id);
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(put_entry(bf_avro_writer_buffer(w), &entries[i], err));
		BF_TRY(bf_avro_writer_end_record(w, err));
	}
	return bf_avro_writer_finish(w, out, err);
}

static BfStatus
put_bytes_or_null(BfBuffer *b, const BfView *v, BfError *err)
{
	BF_TRY(bf_buffer_varint(b, v != NULL && v->ptr != NULL ? 1 : 0, err));
	if (v == NULL || v->ptr == NULL)
		return BF_OK;
	BF_TRY(bf_buffer_varint(b, v->len, err));
	return bf_buffer_append(b, v->ptr, v->len, err);
}

static BfStatus
put_summary(BfBuffer *b, const BfiPartitionSummary *s, BfError *err)
{
	BF_ASSERT(s->contains_nan >= -1 && s->contains_nan <= 1);
	BF_TRY(bf_buffer_u8(b, s->contains_null, err));
	BF_TRY(bf_buffer_varint(b, s->contains_nan >= 0 ? 1 : 0, err));
	if (s->contains_nan >= 0)
		BF_TRY(bf_buffer_u8(b, s->contains_nan != 0, err));
	BF_TRY(put_bytes_or_null(b, &s->lower, err));
	return put_bytes_or_null(b, &s->upper, err);
}

/* A summary as another engine wrote it. */
static BfStatus
summary_of(const BfAvroValue *v, BfiPartitionSummary *s, BfError *err)
{
	const BfAvroValue *field;

	*s = (BfiPartitionSummary){.contains_nan = -1};
	BF_DATA(err, v->schema->type == BF_AVRO_RECORD, -1, "partitions: records expected");
	field = bf_avro_field(v, 509, "contains_null");
	s->contains_null = field == NULL || field->schema->type != BF_AVRO_BOOLEAN || field->u.b;
	field = bf_avro_field(v, 518, "contains_nan");
	if (field != NULL && field->schema->type == BF_AVRO_BOOLEAN)
		s->contains_nan = field->u.b;
	field = bf_avro_field(v, 510, "lower_bound");
	if (field != NULL && field->schema->type == BF_AVRO_BYTES)
		s->lower = field->u.bytes;
	field = bf_avro_field(v, 511, "upper_bound");
	if (field != NULL && field->schema->type == BF_AVRO_BYTES)
		s->upper = field->u.bytes;
	return BF_OK;
}

static BfStatus
put_summaries(BfBuffer *b, const BfiListEntry *e, BfError *err)
{
	const BfAvroValue *read = e->manifest.partitions;
	int32_t n = e->summaries != NULL ? e->n_summaries : read != NULL ? read->u.list.n : 0;

	BF_ASSERT(e->summaries == NULL || read == NULL);
	BF_TRY(bf_buffer_varint(b, e->summaries != NULL || read != NULL ? 1 : 0, err));
	if (e->summaries == NULL && read == NULL)
		return BF_OK;
	if (n > 0)
		BF_TRY(bf_buffer_varint(b, n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BfiPartitionSummary s;

		if (e->summaries != NULL)
			s = e->summaries[i];
		else
			BF_TRY(summary_of(&read->u.list.items[i], &s, err));
		BF_TRY(put_summary(b, &s, err));
	}
	return bf_buffer_varint(b, 0, err);
}

static BfStatus
put_list_entry(BfBuffer *b, const BfiListEntry *e, BfError *err)
{
	const BfIceManifest *m = &e->manifest;

	BF_ASSERT(m->added_files >= 0 && m->existing_files >= 0 && m->deleted_files >= 0);
	BF_ASSERT(m->sequence_number >= 0);
	BF_ASSERT(m->added_rows >= 0 && m->existing_rows >= 0 && m->deleted_rows >= 0);
	BF_TRY(put_text(b, m->path, err));
	BF_TRY(bf_buffer_varint(b, m->length, err));
	BF_TRY(bf_buffer_varint(b, m->spec_id, err));
	BF_TRY(bf_buffer_varint(b, m->deletes ? 1 : 0, err));
	BF_TRY(bf_buffer_varint(b, m->sequence_number, err));
	BF_TRY(bf_buffer_varint(b, m->min_sequence_number, err));
	BF_TRY(bf_buffer_varint(b, m->added_snapshot_id, err));
	BF_TRY(bf_buffer_varint(b, m->added_files, err));
	BF_TRY(bf_buffer_varint(b, m->existing_files, err));
	BF_TRY(bf_buffer_varint(b, m->deleted_files, err));
	BF_TRY(bf_buffer_varint(b, m->added_rows, err));
	BF_TRY(bf_buffer_varint(b, m->existing_rows, err));
	BF_TRY(bf_buffer_varint(b, m->deleted_rows, err));
	BF_TRY(put_summaries(b, e, err));
	return put_bytes_or_null(b, &m->key_metadata, err);
}

BfStatus
bfi_manifest_list_bytes(BfArena *a, const BfiListEntry *entries, int32_t n, int64_t snapshot_id,
						int64_t parent_id, int64_t sequence_number, BfView *out, BfError *err)
{
	BfAvroWriter *w;
	const char *schema;
	char number[24];

	BF_TRY(record_schema(a, "manifest_file", manifest_file_fields, COUNT(manifest_file_fields),
						 NULL, &schema, err));
	BF_TRY(bf_avro_writer_new(a, schema, &w, err));
	snprintf(number, sizeof number, "%lld", (long long) snapshot_id);
	BF_TRY(bf_avro_writer_metadata(w, "snapshot-id", number, err));
	snprintf(number, sizeof number, "%lld", (long long) parent_id);
	BF_TRY(bf_avro_writer_metadata(w, "parent-snapshot-id", parent_id < 0 ? "null" : number, err));
	snprintf(number, sizeof number, "%lld", (long long) sequence_number);
	BF_TRY(bf_avro_writer_metadata(w, "sequence-number", number, err));
	BF_TRY(bf_avro_writer_metadata(w, "format-version", "2", err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(put_list_entry(bf_avro_writer_buffer(w), &entries[i], err));
		BF_TRY(bf_avro_writer_end_record(w, err));
	}
	return bf_avro_writer_finish(w, out, err);
}
