/*
 * Reading a manifest: fields are found by id, inherited numbers filled in, and what only serves to
 * skip files is left out where it makes no sense.
 */
#include "iceberg/manifest.h"

#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/internal.h"

/* Of the data sequence number, which decides which deletes apply. */
#define SEQUENCE_ID 3

/* Reading one manifest. */
typedef struct ManifestRead
{
	BfArena *keep;
	const BfIceManifest *manifest;
	const BfIceMetadata *metadata;
	const BfIceSpec *spec;
	BfType *partition_types; /* of the spec's fields; NULL = as in the file */
	bool numbered;			 /* its header has a version that has sequence numbers */
	bool of_data;			 /* its list and its header say so */
	int64_t next_row_id;	 /* of the next file without one; -1 = none inherits any */
	BfIceFileVisit visit;
	void *arg;
} ManifestRead;

static int32_t
record_field(const BfAvroSchema *record, int32_t id, const char *name)
{
	for (int32_t i = 0; i < record->n_children; i++)
		if (record->field_ids[i] == id)
			return i;
	for (int32_t i = 0; i < record->n_children; i++)
		if (record->field_ids[i] == 0 && strcmp(record->field_names[i], name) == 0)
			return i;
	return -1;
}

static BfStatus
read_partition(const ManifestRead *r, const BfAvroValue *data_file, BfIceFile *file, BfError *err)
{
	const BfAvroValue *tuple = bf_avro_field(data_file, 102, "partition");
	int32_t n = r->spec->n_fields;

	BF_ASSERT(r->partition_types != NULL);
	BF_DATA(err, tuple == NULL || tuple->schema->type == BF_AVRO_RECORD, -1,
			"partition is not a record");
	file->n_partition = n;
	BF_NEW(r->keep, file->partition, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfIcePartitionField *f = &r->spec->fields[i];
		int32_t at = tuple != NULL ? record_field(tuple->schema, f->field_id, f->name) : -1;

		BF_TRY(bfi_partition_value(r->keep, at >= 0 ? &tuple->u.list.items[at] : NULL,
								   r->partition_types[i], f->name, &file->partition[i], err));
	}
	return BF_OK;
}

/* A per-column map: an array of {key, value} records, or an Avro map whose keys are numbers in
 * text. Item i as key and value; false when it has another form. */
static bool
map_item(const BfAvroValue *map, int32_t i, int32_t key_id, int32_t *field_id,
		 const BfAvroValue **value)
{
	const BfAvroValue *item = &map->u.list.items[i];
	const BfAvroValue *key;

	BF_ASSERT(i >= 0 && i < map->u.list.n);
	if (map->schema->type == BF_AVRO_MAP)
	{
		BfView k = map->u.list.keys[i];
		int64_t v;

		if (k.len == 0 || bf_ascii_number(k.ptr, k.len, INT32_MAX, &v) != k.len || v < 0)
			return false;
		*field_id = (int32_t) v;
		*value = item;
		return true;
	}
	if (item->schema->type != BF_AVRO_RECORD)
		return false;
	key = bf_avro_field(item, key_id, "key");
	*value = bf_avro_field(item, key_id + 1, "value");
	if (key == NULL || key->schema->type != BF_AVRO_INT)
		return false;
	*field_id = (int32_t) key->u.i;
	return true;
}

static const BfAvroValue *
metric_map(const BfAvroValue *data_file, int32_t id, const char *name)
{
	const BfAvroValue *map = bf_avro_field(data_file, id, name);

	if (map == NULL || (map->schema->type != BF_AVRO_ARRAY && map->schema->type != BF_AVRO_MAP))
		return NULL;
	return map;
}

static int
compare_bounds(const void *x, const void *y)
{
	int32_t a = ((const BfIceBound *) x)->field_id, b = ((const BfIceBound *) y)->field_id;

	return (a > b) - (a < b);
}

static int
compare_counts(const void *x, const void *y)
{
	int32_t a = ((const BfIceCount *) x)->field_id, b = ((const BfIceCount *) y)->field_id;

	return (a > b) - (a < b);
}

/* Metrics only help to skip files: what is not understood is left out. */
static BfStatus
read_bounds(BfArena *a, const BfAvroValue *map, int32_t key_id, BfIceBound **out, int32_t *n,
			BfError *err)
{
	const BfAvroValue *value;
	int32_t id;

	if (map == NULL)
		return BF_OK;
	BF_NEW(a, *out, map->u.list.n, err);
	for (int32_t i = 0; i < map->u.list.n; i++)
	{
		if (!map_item(map, i, key_id, &id, &value) || value == NULL ||
			(value->schema->type != BF_AVRO_BYTES && value->schema->type != BF_AVRO_FIXED))
			continue;
		(*out)[*n].field_id = id;
		BF_TRY(bfi_copy_view(a, value->u.bytes, &(*out)[*n].bytes, err));
		(*n)++;
	}
	BF_ASSERT(*n <= map->u.list.n);
	bf_sort(*out, (size_t) *n, sizeof **out, compare_bounds);
	return BF_OK;
}

static BfStatus
read_counts(BfArena *a, const BfAvroValue *map, int32_t key_id, BfIceCount **out, int32_t *n,
			BfError *err)
{
	const BfAvroValue *value;
	int32_t id;

	if (map == NULL)
		return BF_OK;
	BF_NEW(a, *out, map->u.list.n, err);
	for (int32_t i = 0; i < map->u.list.n; i++)
		if (map_item(map, i, key_id, &id, &value) && value != NULL &&
			(value->schema->type == BF_AVRO_LONG || value->schema->type == BF_AVRO_INT))
			(*out)[(*n)++] = (BfIceCount){id, value->u.i};
	BF_ASSERT(*n <= map->u.list.n);
	bf_sort(*out, (size_t) *n, sizeof **out, compare_counts);
	return BF_OK;
}

static BfStatus
read_equality_ids(BfArena *a, const BfAvroValue *list, BfIceFile *file, BfError *err)
{
	if (list == NULL || list->schema->type != BF_AVRO_ARRAY)
		return BF_OK;
	BF_NEW(a, file->deletes.equality_ids, list->u.list.n, err);
	for (int32_t i = 0; i < list->u.list.n; i++)
	{
		const BfAvroValue *v = &list->u.list.items[i];

		BF_DATA(err, v->schema->type == BF_AVRO_INT || v->schema->type == BF_AVRO_LONG, -1,
				"equality_ids: a number expected");
		BF_DATA(err, v->u.i > 0 && v->u.i <= INT32_MAX, -1, "equality_ids: %lld is no column",
				(long long) v->u.i);
		file->deletes.equality_ids[file->deletes.n_equality_ids++] = (int32_t) v->u.i;
	}
	return BF_OK;
}

/* Upper case. */
static BfStatus
read_format(BfArena *a, const BfAvroValue *data_file, const char **out, BfError *err)
{
	const char *text;
	char *copy;

	BF_TRY(bfi_record_text(a, data_file, 101, "file_format", &text, err));
	BF_TRY_PTR(a, copy, bf_arena_strdup(a, text), err);
	for (char *c = copy; *c != '\0'; c++)
		*c = (char) bf_ascii_upper(*c);
	*out = copy;
	return BF_OK;
}

/* What only delete files have. */
static BfStatus
read_deletes(BfArena *a, const BfAvroValue *data_file, BfIceFile *file, BfError *err)
{
	static const int64_t none = -1;
	const BfAvroValue *referenced = bf_avro_field(data_file, 143, "referenced_data_file");

	BF_ASSERT(file->content != BF_ICE_DATA && file->deletes.n_equality_ids == 0);
	BF_TRY(read_equality_ids(a, bf_avro_field(data_file, 135, "equality_ids"), file, err));
	if (referenced != NULL)
		BF_TRY(bfi_record_text(a, data_file, 143, "referenced_data_file",
							   &file->deletes.referenced_data_file, err));
	BF_TRY(bfi_record_number(data_file, 144, "content_offset", NULL, &none,
							 &file->deletes.content_offset, err));
	return bfi_record_number(data_file, 145, "content_size_in_bytes", NULL, &none,
							 &file->deletes.content_size, err);
}

/* One for each row group of a Parquet file. */
static int32_t
count_splits(const BfAvroValue *data_file)
{
	const BfAvroValue *offsets = bf_avro_field(data_file, 132, "split_offsets");

	return offsets != NULL && offsets->schema->type == BF_AVRO_ARRAY ? offsets->u.list.n : -1;
}

static BfStatus
read_metrics(BfArena *a, const BfAvroValue *data_file, BfIceFile *file, BfError *err)
{
	BF_TRY(read_bounds(a, metric_map(data_file, 125, "lower_bounds"), 126, &file->metrics.lower,
					   &file->metrics.n_lower, err));
	BF_TRY(read_bounds(a, metric_map(data_file, 128, "upper_bounds"), 129, &file->metrics.upper,
					   &file->metrics.n_upper, err));
	BF_TRY(read_counts(a, metric_map(data_file, 109, "value_counts"), 119,
					   &file->metrics.value_counts, &file->metrics.n_value_counts, err));
	BF_TRY(read_counts(a, metric_map(data_file, 110, "null_value_counts"), 121,
					   &file->metrics.null_counts, &file->metrics.n_null_counts, err));
	return read_counts(a, metric_map(data_file, 137, "nan_value_counts"), 138,
					   &file->metrics.nan_counts, &file->metrics.n_nan_counts, err);
}

static BfStatus
read_data_file(const ManifestRead *r, const BfAvroValue *data_file, BfIceFile *file, BfError *err)
{
	static const int64_t zero = 0, none = -1;
	int64_t content;

	BF_TRY(bfi_record_text(r->keep, data_file, 100, "file_path", &file->path, err));
	BF_TRY(read_format(r->keep, data_file, &file->format, err));
	BF_TRY(bfi_record_number(data_file, 134, "content", NULL, &zero, &content, err));
	file->has_content = bf_avro_field(data_file, 134, "content") != NULL;
	BF_DATA(err, content >= 0 && content <= 2, -1, "content %lld of a data file does not exist",
			(long long) content);
	BF_DATA(err, content != BF_ICE_DATA || !r->manifest->deletes, -1,
			"a manifest of deletes has a data file: %.300s", file->path);
	/* Its rows would be missing, and whether anybody noticed would depend on what is pruned. */
	BF_DATA(err, content == BF_ICE_DATA || !r->of_data, -1,
			"a manifest of data has a delete file: %.300s", file->path);
	file->content = (BfIceContent) content;
	BF_TRY(bfi_record_number(data_file, 103, "record_count", NULL, NULL, &file->record_count, err));
	/* Migrations of Avro tables don't count. */
	if (file->record_count < 0)
		file->record_count = -1;
	BF_TRY(bfi_record_number(data_file, 104, "file_size_in_bytes", NULL, &zero, &file->file_size,
							 err));
	BF_DATA(err, file->file_size >= 0, -1, "file_size_in_bytes %lld is negative",
			(long long) file->file_size);
	BF_TRY(read_partition(r, data_file, file, err));
	file->n_splits = count_splits(data_file);
	BF_TRY(read_metrics(r->keep, data_file, file, err));
	BF_TRY(
		bfi_record_number(data_file, 142, "first_row_id", NULL, &none, &file->first_row_id, err));
	BF_DATA(err, file->first_row_id >= -1, -1, "first_row_id %lld is negative",
			(long long) file->first_row_id);
	file->deletes.content_offset = file->deletes.content_size = -1;
	return file->content != BF_ICE_DATA ? read_deletes(r->keep, data_file, file, err) : BF_OK;
}

/* A sequence number that an entry leaves out: an ADDED one inherits the manifest's. Others were
 * written before sequence numbers existed, when their manifest is of version 1 (which need not say
 * so); of a later one, an EXISTING file could have any: deletes might count for it or not. */
static BfStatus
inherit_sequence(const ManifestRead *r, const BfAvroValue *entry, int32_t id, const char *name,
				 BfIceStatus status, int64_t *out, BfError *err)
{
	static const int64_t zero = 0;
	const BfAvroValue *v = bf_avro_field(entry, id, name);

	BF_DATA(err, v != NULL || status != BF_ICE_EXISTING || id != SEQUENCE_ID || !r->numbered, -1,
			"an existing file has no %s", name);
	if (v != NULL || status != BF_ICE_ADDED)
		return bfi_record_number(entry, id, name, NULL, &zero, out, err);
	BF_DATA(err, r->manifest->sequence_number >= 0, -1,
			"an added file inherits its sequence number, but the manifest list has none");
	*out = r->manifest->sequence_number;
	return BF_OK;
}

/* Live data files without an id of their first row get one in the order of the entries. */
static BfStatus
inherit_row_id(ManifestRead *r, BfIceFile *file, BfError *err)
{
	if (r->next_row_id < 0 || file->status == BF_ICE_DELETED || file->content != BF_ICE_DATA ||
		file->first_row_id >= 0)
		return BF_OK;
	BF_ASSERT(!r->manifest->deletes);
	file->first_row_id = r->next_row_id;
	if (file->record_count < 0)
	{
		r->next_row_id = -1; /* nor is it known of those behind it */
		return BF_OK;
	}
	BF_DATA(err, !__builtin_add_overflow(r->next_row_id, file->record_count, &r->next_row_id), -1,
			"row ids exceed 2^63");
	return BF_OK;
}

static BfStatus
read_entry(ManifestRead *r, const BfAvroValue *entry, BfIceFile *file, BfError *err)
{
	const BfAvroValue *data_file = bf_avro_field(entry, 2, "data_file");
	int64_t status;

	BF_TRY(bfi_record_number(entry, 0, "status", NULL, NULL, &status, err));
	BF_DATA(err, status >= 0 && status <= 2, -1, "status %lld does not exist", (long long) status);
	BF_DATA(err, data_file != NULL && data_file->schema->type == BF_AVRO_RECORD, -1,
			"data_file is missing");
	BF_ASSERT(r->manifest->spec_id < 0 || r->spec->spec_id == r->manifest->spec_id);
	file->status = (BfIceStatus) status;
	file->spec_id = r->spec->spec_id;
	BF_TRY(bfi_record_number(entry, 1, "snapshot_id", NULL, &r->manifest->added_snapshot_id,
							 &file->snapshot_id, err));
	BF_TRY(inherit_sequence(r, entry, SEQUENCE_ID, "sequence_number", file->status,
							&file->sequence_number, err));
	BF_TRY(inherit_sequence(r, entry, 4, "file_sequence_number", file->status,
							&file->file_sequence_number, err));
	BF_TRY(read_data_file(r, data_file, file, err));
	return inherit_row_id(r, file, err);
}

/* -1 = the header tells none. */
static int32_t
header_number(const BfAvroReader *reader, const char *key)
{
	BfView text;
	int64_t v;

	if (!bf_avro_metadata(reader, key, &text) || text.len == 0)
		return -1;
	return bf_ascii_number(text.ptr, text.len, INT32_MAX, &v) == text.len ? (int32_t) v : -1;
}

/* A field of the spec in the header's JSON: does it say the same as the table's metadata? Names
 * change, and old writers have no field ids. */
static bool
same_field(const BfIceSpec *spec, size_t i, const json_t *field)
{
	const json_t *source = json_object_get(field, "source-id");
	const json_t *id = json_object_get(field, "field-id");
	const char *transform = json_string_value(json_object_get(field, "transform"));
	const BfIcePartitionField *f = NULL;
	BfTransform t;
	BfError ignored;

	for (int32_t k = 0; k < spec->n_fields; k++)
		if (id != NULL ? spec->fields[k].field_id == json_integer_value(id) : (size_t) k == i)
			f = &spec->fields[k];
	if (f == NULL || source == NULL || transform == NULL ||
		bf_transform_parse(transform, &t, &ignored) != BF_OK)
		return true;
	return f->source_id == json_integer_value(source) && f->transform.kind == t.kind &&
		   f->transform.param == t.param;
}

/* The fields of the spec, an array or within an object. What can't be understood says nothing. */
static BfStatus
check_header_spec(const ManifestRead *r, BfArena *own, const BfAvroReader *reader, BfError *err)
{
	const json_t *field;
	json_t *json;
	BfStatus status;
	BfError why;
	BfView text;
	size_t i;

	if (!bf_avro_metadata(reader, "partition-spec", &text))
		return BF_OK;
	bf_error_clear(&why);
	status = bfi_json_load(own, text.ptr, text.len, "partition-spec", &json, &why);
	if (status == BF_ERR_NOMEM)
	{
		*err = why;
		return status;
	}
	if (status != BF_OK)
		return BF_OK;
	if (json_is_object(json))
		json = json_object_get(json, "fields");
	json_array_foreach(json, i, field) BF_DATA(
		err, same_field(r->spec, i, field), -1,
		"the manifest's header contradicts the table's partition spec %d", r->spec->spec_id);
	return BF_OK;
}

static bool
header_says_data(const BfAvroReader *reader)
{
	BfView content;

	return bf_avro_metadata(reader, "content", &content) && content.len == 4 &&
		   memcmp(content.ptr, "data", 4) == 0;
}

/* What the list says of the manifest must not be what its header denies: else data would be taken
 * for deletes, and values for those of another partition field. */
static BfStatus
check_header(const BfIceManifest *m, const BfAvroReader *reader, BfError *err)
{
	int32_t spec_id = header_number(reader, "partition-spec-id");

	BF_DATA(err, !m->deletes || !header_says_data(reader), -1,
			"the manifest is one of data, but the manifest list has it for one of deletes");
	BF_DATA(err, spec_id < 0 || m->spec_id < 0 || spec_id == m->spec_id, -1,
			"the manifest belongs to partition spec %d, but the manifest list says %d", spec_id,
			m->spec_id);
	return BF_OK;
}

/* The spec of the list, else the manifest's own. */
static BfStatus
choose_spec(ManifestRead *r, BfArena *own, const BfAvroReader *reader, BfError *err)
{
	int32_t id = r->manifest->spec_id;

	BF_ASSERT(r->spec == NULL);
	if (id < 0)
	{
		int32_t own_id = header_number(reader, "partition-spec-id");

		id = own_id < 0 ? 0 : own_id;
	}
	r->spec = bf_ice_spec(r->metadata, id);
	BF_DATA(err, r->spec != NULL, -1,
			"the manifest belongs to partition spec %d, which the table "
			"does not have",
			id);
	BF_NEW(own, r->partition_types, r->spec->n_fields, err);
	for (int32_t i = 0; i < r->spec->n_fields; i++)
		if (bfi_partition_type(r->metadata, &r->spec->fields[i], &r->partition_types[i]) != BF_OK)
			r->partition_types[i] = BF_TYPE(NULL);
	return BF_OK;
}

static BfStatus
read_entries(ManifestRead *r, BfArena *own, BfArena *row, BfSource *source, BfError *err)
{
	const BfHost *host = bf_arena_host(own);
	BfAvroReader *reader;
	const BfAvroValue *entry;

	BF_TRY(bf_avro_open(own, source, &reader, err));
	BF_DATA(err, bf_avro_reader_schema(reader)->type == BF_AVRO_RECORD, -1,
			"a manifest is made of records");
	bf_avro_mark_opaque(reader, 1);
	BF_TRY(check_header(r->manifest, reader, err));
	r->numbered = header_number(reader, "format-version") > 1;
	r->of_data = !r->manifest->deletes && header_says_data(reader);
	BF_TRY(choose_spec(r, own, reader, err));
	BF_TRY(check_header_spec(r, own, reader, err));
	for (int64_t n = 1;; n++)
	{
		BfIceFile *file;

		bf_arena_reset(row);
		BF_TRY(bf_check_cancel(host, err));
		BF_TRY(bf_avro_next(reader, row, &entry, err));
		if (entry == NULL)
			return BF_OK;
		BF_NEW(r->keep, file, 1, err);
		if (read_entry(r, entry, file, err) != BF_OK)
			return bfi_record_name(n, err);
		BF_TRY(r->visit(r->arg, file, err));
	}
}

BfStatus
bfi_manifest_read(BfArena *keep, BfSource *source, const BfIceManifest *manifest,
				  const BfIceMetadata *metadata, BfIceFileVisit visit, void *arg, BfError *err)
{
	const BfHost *host = bf_arena_host(keep);
	ManifestRead r = {.keep = keep,
					  .manifest = manifest,
					  .metadata = metadata,
					  .next_row_id = manifest->deletes ? -1 : manifest->first_row_id,
					  .visit = visit,
					  .arg = arg};
	/* Not in `keep`, which visit may reset. */
	BfArena *own = bf_arena_new(host, "manifest", BF_ICE_READER_BYTES_MAX);
	BfArena *row = bf_arena_new(host, "manifest record", BF_ICE_RECORD_BYTES_MAX);
	BfStatus status = BF_ERR_NOMEM;

	BF_ASSERT(manifest->first_row_id >= -1);
	if (own != NULL && row != NULL)
		status = read_entries(&r, own, row, source, err);
	else
		bf_error(err, BF_ERR_NOMEM, "out of memory");
	bf_arena_free(row);
	bf_arena_free(own);
	return status == BF_OK ? BF_OK : bf_error_object(err, bf_source_name(source));
}

BfStatus
bf_ice_read_manifest(BfArena *keep, const char *path, const BfIceManifest *manifest,
					 const BfIceMetadata *metadata, BfIoCounters *io, BfIceFileVisit visit,
					 void *arg, BfError *err)
{
	BfArena *own = bf_arena_new(bf_arena_host(keep), "manifest file", BF_ICE_READER_BYTES_MAX);
	BfSource *source;
	BfStatus status;

	if (own == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = bf_source_open(own, path, io, &source, err);
	if (status == BF_OK)
		status = bfi_manifest_read(keep, source, manifest, metadata, visit, arg, err);
	bf_arena_free(own);
	return status;
}

/* The header alone; *told: it says whether its files are data or deletes. */
BfStatus
bfi_manifest_check(const BfHost *host, const char *path, const BfIceManifest *manifest,
				   BfIoCounters *io, bool *told, BfError *err)
{
	BfArena *own = bf_arena_new(host, "manifest header", BF_ICE_READER_BYTES_MAX);
	BfAvroReader *reader;
	BfSource *source;
	BfStatus status;
	BfView ignored;

	if (own == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = bf_source_open(own, path, io, &source, err);
	if (status == BF_OK)
		status = bf_avro_open(own, source, &reader, err);
	if (status == BF_OK)
	{
		*told = bf_avro_metadata(reader, "content", &ignored);
		status = check_header(manifest, reader, err);
	}
	if (status != BF_OK)
		bf_error_object(err, manifest->path);
	bf_arena_free(own);
	return status;
}
