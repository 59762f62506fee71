/*
 * Manifest lists: which manifests a snapshot has, and what is known of them without reading them.
 */
#include "iceberg/internal.h"

/* Copies at most this deep; a partition summary is an array of records of scalars. */
#define COPY_DEPTH_MAX 8

/* A deep copy, so that the record's arena can be reset. Schemas are shared with the reader. */
static BfStatus
copy_value(BfArena *a, const BfAvroValue *from, int depth, BfAvroValue *to, BfError *err)
{
	BF_ASSERT(depth >= 0 && depth <= COPY_DEPTH_MAX);
	*to = *from;
	switch (from->schema->type)
	{
		case BF_AVRO_BYTES:
		case BF_AVRO_STRING:
		case BF_AVRO_FIXED: return bfi_copy_view(a, from->u.bytes, &to->u.bytes, err);
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
schema_has(const BfAvroSchema *record, int32_t id, const char *name)
{
	for (int32_t i = 0; i < record->n_children; i++)
		if (record->field_ids[i] == id ||
			(record->field_ids[i] == 0 && strcmp(record->field_names[i], name) == 0))
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
	const int64_t *sequence = schema_has(record->schema, 515, "sequence_number") ? &unknown : &zero;
	int64_t content;

	BF_TRY(bfi_record_text(a, record, 500, "manifest_path", &m->path, err));
	BF_TRY(bfi_record_number(record, 501, "manifest_length", NULL, &unknown, &m->length, err));
	BF_TRY(bfi_record_small(record, 502, "partition_spec_id", NULL, NULL, &m->spec_id, err));
	BF_TRY(bfi_record_number(record, 517, "content", NULL, &zero, &content, err));
	BF_DATA(err, content == 0 || content == 1, -1, "content %lld is neither data nor deletes",
			(long long) content);
	m->deletes = content == 1;
	BF_TRY(bfi_record_number(record, 515, "sequence_number", NULL, sequence, &m->sequence_number,
							 err));
	BF_TRY(bfi_record_number(record, 516, "min_sequence_number", NULL, &zero,
							 &m->min_sequence_number, err));
	BF_TRY(bfi_record_number(record, 503, "added_snapshot_id", NULL, &unknown,
							 &m->added_snapshot_id, err));
	BF_TRY(bfi_record_small(record, 504, "added_files_count", "added_data_files_count", &unknown,
							&m->added_files, err));
	BF_TRY(bfi_record_small(record, 505, "existing_files_count", "existing_data_files_count",
							&unknown, &m->existing_files, err));
	BF_TRY(bfi_record_small(record, 506, "deleted_files_count", "deleted_data_files_count",
							&unknown, &m->deleted_files, err));
	BF_TRY(bfi_record_number(record, 512, "added_rows_count", NULL, &unknown, &m->added_rows, err));
	BF_TRY(bfi_record_number(record, 513, "existing_rows_count", NULL, &unknown, &m->existing_rows,
							 err));
	BF_TRY(bfi_record_number(record, 514, "deleted_rows_count", NULL, &unknown, &m->deleted_rows,
							 err));
	BF_TRY(bfi_record_number(record, 520, "first_row_id", NULL, &unknown, &m->first_row_id, err));
	BF_DATA(err, m->first_row_id >= -1, -1, "first_row_id %lld is negative",
			(long long) m->first_row_id);
	if (key != NULL && (key->schema->type == BF_AVRO_BYTES || key->schema->type == BF_AVRO_FIXED))
		BF_TRY(bfi_copy_view(a, key->u.bytes, &m->key_metadata, err));
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

	BF_ASSERT(list->n >= 0 && list->n <= list->capacity);
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
	bf_avro_mark_opaque(reader, 503);
	for (;;)
	{
		bf_arena_reset(row);
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(bf_avro_next(reader, row, &record, err));
		if (record == NULL)
			return BF_OK;
		BF_TRY(list_room(a, list, err));
		if (list_entry(a, record, &list->items[list->n], err) != BF_OK)
			return bfi_record_name(list->n + 1, err);
		BF_ASSERT(list->items[list->n].spec_id >= 0 && list->items[list->n].added_files >= -1);
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

BfStatus
bfi_snapshot_manifests(BfArena *a, const BfIceTable *t, const BfIceSnapshot *s, BfIoCounters *io,
					   BfIceManifest **out, int32_t *n, BfError *err)
{
	const char *path;

	if (s->encrypted)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "snapshot %lld is encrypted", (long long) s->id);
	if (s->manifest_list != NULL)
	{
		BF_TRY(bf_location_resolve(a, &t->location, s->manifest_list, &path, err));
		return bf_ice_read_manifest_list(a, path, io, out, n, err);
	}
	BF_NEW(a, *out, s->n_manifests, err);
	for (int32_t i = 0; i < s->n_manifests; i++)
		(*out)[i] = (BfIceManifest){.path = s->manifests[i],
									.length = -1,
									.spec_id = -1,
									.added_snapshot_id = s->id,
									.first_row_id = -1,
									.added_files = -1,
									.existing_files = -1,
									.deleted_files = -1,
									.added_rows = -1,
									.existing_rows = -1,
									.deleted_rows = -1};
	*n = s->n_manifests;
	return BF_OK;
}
