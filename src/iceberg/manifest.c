#include "iceberg/manifest.h"

#include <ctype.h>
#include <stdlib.h>

#include "iceberg/internal.h"

/* Copies at most this deep; a partition summary is an array of records of scalars. */
#define COPY_DEPTH_MAX 8

/* A decoded record has no byte position any more: its number tells where the damage is. */
static BfStatus
name_record(int64_t number, BfError *err)
{
	char text[BF_ERROR_TEXT_MAX];

	memcpy(text, err->text, sizeof text);
	snprintf(err->text, sizeof err->text, "record %lld: %.450s", (long long) number, text);
	return err->code;
}

/* A required number: absent or null is corrupt. `other_name` is an older spelling, or NULL. */
static BfStatus
get_number(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
		   const int64_t *fallback, int64_t *out, BfError *err)
{
	const BfAvroValue *v = bf_avro_field(record, id, name);

	if (v == NULL && other_name != NULL)
		v = bf_avro_field(record, 0, other_name);
	if (v == NULL)
	{
		BF_DATA(err, fallback != NULL, -1, "%s is missing", name);
		*out = *fallback;
		return BF_OK;
	}
	BF_DATA(err, v->schema->type == BF_AVRO_INT || v->schema->type == BF_AVRO_LONG, -1,
			"%s is not a number", name);
	*out = v->u.i;
	return BF_OK;
}

/* The same for a 32-bit number that may not be negative. */
static BfStatus
get_small(const BfAvroValue *record, int32_t id, const char *name, const char *other_name,
		  const int64_t *fallback, int32_t *out, BfError *err)
{
	int64_t v;

	BF_TRY(get_number(record, id, name, other_name, fallback, &v, err));
	BF_DATA(err, v <= INT32_MAX && v >= (fallback != NULL && *fallback < 0 ? -1 : 0), -1,
			"%s: %lld is out of range", name, (long long) v);
	*out = (int32_t) v;
	return BF_OK;
}

/* A required text, copied. */
static BfStatus
get_text(BfArena *a, const BfAvroValue *record, int32_t id, const char *name, const char **out,
		 BfError *err)
{
	const BfAvroValue *v = bf_avro_field(record, id, name);

	BF_DATA(err, v != NULL, -1, "%s is missing", name);
	BF_DATA(err, v->schema->type == BF_AVRO_STRING || v->schema->type == BF_AVRO_BYTES, -1,
			"%s is not a string", name);
	BF_DATA(err, v->u.bytes.len > 0 && memchr(v->u.bytes.ptr, 0, v->u.bytes.len) == NULL, -1,
			"%s is empty or has a zero byte", name);
	BF_TRY_PTR(a, *out, bf_arena_strndup(a, (const char *) v->u.bytes.ptr, v->u.bytes.len), err);
	return BF_OK;
}

static BfStatus
copy_view(BfArena *a, BfView from, BfView *to, BfError *err)
{
	BF_TRY_PTR(a, to->ptr, bf_arena_memdup(a, from.ptr, from.len), err);
	to->len = from.len;
	return BF_OK;
}

/* A deep copy, so that the record's arena can be reset. Schemas are shared with the reader. */
static BfStatus
copy_value(BfArena *a, const BfAvroValue *from, int depth, BfAvroValue *to, BfError *err)
{
	*to = *from;
	switch (from->schema->type)
	{
		case BF_AVRO_BYTES:
		case BF_AVRO_STRING:
		case BF_AVRO_FIXED: return copy_view(a, from->u.bytes, &to->u.bytes, err);
		case BF_AVRO_RECORD:
		case BF_AVRO_ARRAY:
			BF_DATA(err, depth < COPY_DEPTH_MAX, -1, "partitions: nested too deep");
			BF_NEW(a, to->u.list.items, from->u.list.n, err);
			for (int32_t i = 0; i < from->u.list.n; i++)
				BF_TRY(copy_value(a, &from->u.list.items[i], depth + 1, &to->u.list.items[i], err));
			return BF_OK;
		case BF_AVRO_MAP: BF_FAIL(err, BF_ERR_CORRUPT, "partitions: a map is not expected");
		default: return BF_OK;
	}
}

static bool
schema_has(const BfAvroSchema *record, int32_t id)
{
	for (int32_t i = 0; i < record->n_children; i++)
		if (record->field_ids[i] == id)
			return true;
	return false;
}

static BfStatus
list_entry(BfArena *a, const BfAvroValue *record, BfIceManifest *m, BfError *err)
{
	static const int64_t zero = 0, unknown = -1;
	const BfAvroValue *partitions = bf_avro_field(record, 507, "partitions");
	const BfAvroValue *key = bf_avro_field(record, 519, "key_metadata");
	/* Version 1 lists have no sequence numbers: 0. A null in a column that is there is different:
	 * nothing may inherit it. */
	const int64_t *sequence = schema_has(record->schema, 515) ? &unknown : &zero;
	int64_t content;

	BF_TRY(get_text(a, record, 500, "manifest_path", &m->path, err));
	BF_TRY(get_number(record, 501, "manifest_length", NULL, &unknown, &m->length, err));
	BF_TRY(get_small(record, 502, "partition_spec_id", NULL, &zero, &m->spec_id, err));
	BF_TRY(get_number(record, 517, "content", NULL, &zero, &content, err));
	BF_DATA(err, content == 0 || content == 1, -1, "content %lld is neither data nor deletes",
			(long long) content);
	m->deletes = content == 1;
	BF_TRY(get_number(record, 515, "sequence_number", NULL, sequence, &m->sequence_number, err));
	BF_TRY(
		get_number(record, 516, "min_sequence_number", NULL, &zero, &m->min_sequence_number, err));
	BF_TRY(
		get_number(record, 503, "added_snapshot_id", NULL, &unknown, &m->added_snapshot_id, err));
	BF_TRY(get_small(record, 504, "added_files_count", "added_data_files_count", &unknown,
					 &m->added_files, err));
	BF_TRY(get_small(record, 505, "existing_files_count", "existing_data_files_count", &unknown,
					 &m->existing_files, err));
	BF_TRY(get_small(record, 506, "deleted_files_count", "deleted_data_files_count", &unknown,
					 &m->deleted_files, err));
	BF_TRY(get_number(record, 512, "added_rows_count", NULL, &unknown, &m->added_rows, err));
	BF_TRY(get_number(record, 513, "existing_rows_count", NULL, &unknown, &m->existing_rows, err));
	BF_TRY(get_number(record, 514, "deleted_rows_count", NULL, &unknown, &m->deleted_rows, err));
	if (key != NULL && (key->schema->type == BF_AVRO_BYTES || key->schema->type == BF_AVRO_FIXED))
		BF_TRY(copy_view(a, key->u.bytes, &m->key_metadata, err));
	if (partitions != NULL && partitions->schema->type == BF_AVRO_ARRAY)
	{
		BfAvroValue *copy;

		BF_NEW(a, copy, 1, err);
		BF_TRY(copy_value(a, partitions, 0, copy, err));
		m->partitions = copy;
	}
	return BF_OK;
}

typedef struct ManifestList
{
	BfIceManifest *items;
	int32_t n;
	int32_t capacity;
} ManifestList;

static BfStatus
list_room(BfArena *a, ManifestList *list, BfError *err)
{
	BfIceManifest *more;
	int32_t capacity = list->capacity > 0 ? list->capacity * 2 : 16;

	if (list->n < list->capacity)
		return BF_OK;
	if (list->n >= BF_ICE_MANIFESTS_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the manifest list has more than %d manifests",
				BF_ICE_MANIFESTS_MAX);
	BF_NEW(a, more, capacity, err);
	if (list->n > 0)
		memcpy(more, list->items, (size_t) list->n * sizeof *more);
	list->items = more;
	list->capacity = capacity;
	return BF_OK;
}

/* The reader lives in `a`: the summaries that are kept point to its schema. */
static BfStatus
read_list(BfArena *a, BfArena *row, BfSource *source, ManifestList *list, BfError *err)
{
	BfAvroReader *reader;
	const BfAvroValue *record;

	BF_TRY(bf_avro_open(a, source, &reader, err));
	BF_DATA(err, bf_avro_reader_schema(reader)->type == BF_AVRO_RECORD, -1,
			"a manifest list is made of records");
	for (;;)
	{
		bf_arena_reset(row);
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_avro_next(reader, row, &record, err));
		if (record == NULL)
			return BF_OK;
		BF_TRY(list_room(a, list, err));
		if (list_entry(a, record, &list->items[list->n], err) != BF_OK)
			return name_record(list->n + 1, err);
		list->n++;
	}
}

BfStatus
bfi_manifest_list_read(BfArena *a, BfSource *source, BfIceManifest **out, int32_t *n, BfError *err)
{
	ManifestList list = {NULL, 0, 0};
	BfArena *row = bf_arena_new(bf_arena_host(a), "manifest list record", BF_ICE_RECORD_BYTES_MAX);
	BfStatus status;

	if (row == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = read_list(a, row, source, &list, err);
	bf_arena_free(row);
	if (status != BF_OK)
		return bf_error_object(err, bf_source_name(source));
	*out = list.items;
	*n = list.n;
	return BF_OK;
}

BfStatus
bf_ice_read_manifest_list(BfArena *a, const char *path, BfIoCounters *io, BfIceManifest **out,
						  int32_t *n, BfError *err)
{
	BfSource *source;
	BfStatus status;

	BF_TRY(bf_source_open(a, path, io, &source, err));
	status = bfi_manifest_list_read(a, source, out, n, err);
	bf_source_close(source);
	return status;
}

/* Reading one manifest. */
typedef struct ManifestRead
{
	BfArena *keep;
	const BfIceManifest *manifest;
	const BfIceMetadata *metadata;
	const BfIceSpec *spec;
	BfType *partition_types; /* of the spec's fields; NULL = as in the file */
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

	if (map->schema->type == BF_AVRO_MAP)
	{
		BfView k = map->u.list.keys[i];
		int64_t v = 0;

		for (uint32_t c = 0; c < k.len; c++)
		{
			if (k.ptr[c] < '0' || k.ptr[c] > '9' || v > INT32_MAX)
				return false;
			v = v * 10 + (k.ptr[c] - '0');
		}
		if (k.len == 0 || v > INT32_MAX)
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
		BF_TRY(copy_view(a, value->u.bytes, &(*out)[*n].bytes, err));
		(*n)++;
	}
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
	return BF_OK;
}

static BfStatus
read_equality_ids(BfArena *a, const BfAvroValue *list, BfIceFile *file, BfError *err)
{
	if (list == NULL || list->schema->type != BF_AVRO_ARRAY)
		return BF_OK;
	BF_NEW(a, file->equality_ids, list->u.list.n, err);
	for (int32_t i = 0; i < list->u.list.n; i++)
	{
		const BfAvroValue *v = &list->u.list.items[i];

		BF_DATA(err, v->schema->type == BF_AVRO_INT, -1, "equality_ids: a number expected");
		file->equality_ids[file->n_equality_ids++] = (int32_t) v->u.i;
	}
	return BF_OK;
}

/* Upper case. */
static BfStatus
read_format(BfArena *a, const BfAvroValue *data_file, const char **out, BfError *err)
{
	const char *text;
	char *copy;

	BF_TRY(get_text(a, data_file, 101, "file_format", &text, err));
	BF_TRY_PTR(a, copy, bf_arena_strdup(a, text), err);
	for (char *c = copy; *c != '\0'; c++)
		*c = (char) toupper((unsigned char) *c);
	*out = copy;
	return BF_OK;
}

static BfStatus
read_data_file(const ManifestRead *r, const BfAvroValue *data_file, BfIceFile *file, BfError *err)
{
	static const int64_t zero = 0;
	int64_t content;

	BF_TRY(get_text(r->keep, data_file, 100, "file_path", &file->path, err));
	BF_TRY(read_format(r->keep, data_file, &file->format, err));
	BF_TRY(get_number(data_file, 134, "content", NULL, &zero, &content, err));
	BF_DATA(err, content >= 0 && content <= 2, -1, "content %lld of a data file does not exist",
			(long long) content);
	file->content = (BfIceContent) content;
	BF_TRY(get_number(data_file, 103, "record_count", NULL, NULL, &file->record_count, err));
	BF_DATA(err, file->record_count >= 0, -1, "record_count %lld is negative",
			(long long) file->record_count);
	BF_TRY(get_number(data_file, 104, "file_size_in_bytes", NULL, &zero, &file->file_size, err));
	BF_DATA(err, file->file_size >= 0, -1, "file_size_in_bytes %lld is negative",
			(long long) file->file_size);
	BF_TRY(read_partition(r, data_file, file, err));
	BF_TRY(read_bounds(r->keep, metric_map(data_file, 125, "lower_bounds"), 126, &file->lower,
					   &file->n_lower, err));
	BF_TRY(read_bounds(r->keep, metric_map(data_file, 128, "upper_bounds"), 129, &file->upper,
					   &file->n_upper, err));
	BF_TRY(read_counts(r->keep, metric_map(data_file, 110, "null_value_counts"), 121,
					   &file->null_counts, &file->n_null_counts, err));
	return read_equality_ids(r->keep, bf_avro_field(data_file, 135, "equality_ids"), file, err);
}

/* A sequence number that an entry leaves out: an ADDED one inherits the manifest's, others were
 * written before sequence numbers existed. */
static BfStatus
inherit_sequence(const ManifestRead *r, const BfAvroValue *entry, int32_t id, const char *name,
				 BfIceStatus status, int64_t *out, BfError *err)
{
	static const int64_t zero = 0;
	const BfAvroValue *v = bf_avro_field(entry, id, name);

	if (v != NULL || status != BF_ICE_ADDED)
		return get_number(entry, id, name, NULL, &zero, out, err);
	BF_DATA(err, r->manifest->sequence_number >= 0, -1,
			"an added file inherits its sequence number, but the manifest list has none");
	*out = r->manifest->sequence_number;
	return BF_OK;
}

static BfStatus
read_entry(const ManifestRead *r, const BfAvroValue *entry, BfIceFile *file, BfError *err)
{
	const BfAvroValue *data_file = bf_avro_field(entry, 2, "data_file");
	int64_t status;

	BF_TRY(get_number(entry, 0, "status", NULL, NULL, &status, err));
	BF_DATA(err, status >= 0 && status <= 2, -1, "status %lld does not exist", (long long) status);
	BF_DATA(err, data_file != NULL && data_file->schema->type == BF_AVRO_RECORD, -1,
			"data_file is missing");
	file->status = (BfIceStatus) status;
	file->spec_id = r->spec->spec_id;
	BF_TRY(get_number(entry, 1, "snapshot_id", NULL, &r->manifest->added_snapshot_id,
					  &file->snapshot_id, err));
	BF_TRY(inherit_sequence(r, entry, 3, "sequence_number", file->status, &file->sequence_number,
							err));
	BF_TRY(inherit_sequence(r, entry, 4, "file_sequence_number", file->status,
							&file->file_sequence_number, err));
	return read_data_file(r, data_file, file, err);
}

/* The spec of the list, else the manifest's own. */
static BfStatus
choose_spec(ManifestRead *r, BfArena *own, const BfAvroReader *reader, BfError *err)
{
	int32_t id = r->manifest->spec_id;
	BfView text;

	if (id < 0)
	{
		char digits[12] = "0";

		if (bf_avro_metadata(reader, "partition-spec-id", &text) && text.len < sizeof digits)
		{
			memcpy(digits, text.ptr, text.len);
			digits[text.len] = '\0';
		}
		id = atoi(digits);
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
	BF_TRY(choose_spec(r, own, reader, err));
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
			return name_record(n, err);
		BF_TRY(r->visit(r->arg, file, err));
	}
}

BfStatus
bfi_manifest_read(BfArena *keep, BfSource *source, const BfIceManifest *manifest,
				  const BfIceMetadata *metadata, BfIceFileVisit visit, void *arg, BfError *err)
{
	const BfHost *host = bf_arena_host(keep);
	ManifestRead r = {
		.keep = keep, .manifest = manifest, .metadata = metadata, .visit = visit, .arg = arg};
	/* Not in `keep`, which visit may reset. */
	BfArena *own = bf_arena_new(host, "manifest", BF_ICE_READER_BYTES_MAX);
	BfArena *row = bf_arena_new(host, "manifest record", BF_ICE_RECORD_BYTES_MAX);
	BfStatus status = BF_ERR_NOMEM;

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
