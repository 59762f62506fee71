/* Table metadata out of JSON, versions 1 to 3, maybe compressed. */
#include "iceberg/metadata.h"

#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/internal.h"

/* What a version 1 table without the key starts its partition field ids at. */
#define PARTITION_ID_FIRST 1000

/* Decompresses sniffed gzip or zstd into buf; *out is that, or the bytes themselves. */
static BfStatus
plain_text(BfArena *a, const void *bytes, size_t n, BfBuffer *buf, BfView *out, BfError *err)
{
	const uint8_t *p = bytes;
	BfCodec codec = BF_CODEC_NONE;
	BfCodecContext *ctx;

	if (n > BF_ICE_JSON_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "table metadata has %zu bytes, at most %zu are read", n,
				BF_ICE_JSON_BYTES_MAX);
	*out = (BfView){.ptr = bytes, .len = (uint32_t) n};
	if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		codec = BF_CODEC_GZIP;
	else if (n >= 4 && bf_load32be(p) == 0x28b52ffd)
		codec = BF_CODEC_ZSTD;
	if (codec == BF_CODEC_NONE)
		return BF_OK;
	BF_TRY(bf_codec_context_new(a, &ctx, err));
	BF_TRY(bf_decompress_append(ctx, codec, bytes, n, buf, err));
	*out = (BfView){.ptr = buf->data, .len = (uint32_t) buf->len};
	return BF_OK;
}

/* The text is not needed once the tree is there. */
static BfStatus
load_tree(BfArena *a, const void *bytes, size_t n, json_t **root, BfError *err)
{
	BfBuffer buf;
	BfView text;
	BfStatus status;

	bf_buffer_init(&buf, bf_arena_host(a), BF_ICE_JSON_BYTES_MAX);
	status = plain_text(a, bytes, n, &buf, &text, err);
	if (status == BF_OK)
		status = bfi_json_load(a, text.ptr, text.len, "table metadata", root, err);
	bf_buffer_free(&buf);
	return status;
}

/* Sorts (id, index) pairs and finds an id that is there twice. */
typedef struct IdIndex
{
	int64_t id;
	int32_t index;
} IdIndex;

static int
compare_id_index(const void *x, const void *y)
{
	int64_t a = ((const IdIndex *) x)->id, b = ((const IdIndex *) y)->id;

	return (a > b) - (a < b);
}

static BfStatus
sort_unique(IdIndex *ids, int32_t n, const char *what, BfError *err)
{
	bf_sort(ids, (size_t) n, sizeof *ids, compare_id_index);
	for (int32_t i = 1; i < n; i++)
		if (ids[i].id == ids[i - 1].id)
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: id %lld is given twice", what, (long long) ids[i].id);
	return BF_OK;
}

/* Version 1 need not name the current schema: it has it once more, under its own key. */
static BfStatus
current_schema(const json_t *root, BfIceMetadata *m, BfError *err)
{
	bool required = m->format_version > 1 || m->schemas.n == 0;
	json_t *single;

	m->schemas.current_id = INT32_MIN;
	BF_TRY(bfi_json_get_i32(root, "", "current-schema-id", required, &m->schemas.current_id, err));
	if (required || m->schemas.current_id != INT32_MIN)
		return BF_OK;
	BF_ASSERT(m->format_version == 1 && m->schemas.n > 0);
	m->schemas.current_id = m->schemas.all[0].schema_id;
	if (m->schemas.n == 1)
		return BF_OK;
	BF_TRY(bfi_json_get_object(root, "", "schema", true, &single, err));
	return bfi_json_get_i32(single, "schema", "schema-id", true, &m->schemas.current_id, err);
}

static BfStatus
parse_schemas(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *list, *single = NULL;
	char where[BFI_WHERE_MAX];
	IdIndex *ids;

	BF_TRY(bfi_json_get_array(root, "", "schemas", false, &list, err));
	if (list == NULL)
		BF_TRY(bfi_json_get_object(root, "", m->format_version == 1 ? "schema" : "schemas", true,
								   &single, err));
	m->schemas.n = list != NULL ? (int32_t) json_array_size(list) : 1;
	BF_NEW(a, m->schemas.all, m->schemas.n, err);
	BF_NEW(a, m->schemas.refusals, m->schemas.n, err);
	BF_NEW(a, ids, m->schemas.n, err);
	for (int32_t i = 0; i < m->schemas.n; i++)
	{
		const json_t *item = list != NULL ? json_array_get(list, (size_t) i) : single;

		if (list != NULL)
			snprintf(where, sizeof where, "schemas[%d]", i);
		else
			snprintf(where, sizeof where, "schema");
		if (!json_is_object(item))
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: an object expected", where);
		BF_TRY(bfi_schema_parse(a, item, where, &m->schemas.all[i], &m->schemas.refusals[i], err));
		ids[i] = (IdIndex){m->schemas.all[i].schema_id, i};
	}
	BF_TRY(sort_unique(ids, m->schemas.n, "schemas", err));
	if (list == NULL)
		m->schemas.current_id = m->schemas.all[0].schema_id;
	else
		BF_TRY(current_schema(root, m, err));
	if (bf_ice_schema(m, m->schemas.current_id) == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "current-schema-id: no schema has the id %d",
				m->schemas.current_id);
	return BF_OK;
}

static BfStatus
parse_partition_field(const json_t *json, const char *where, int32_t position,
					  BfIcePartitionField *f, BfError *err)
{
	json_t *sources;

	if (!json_is_object(json))
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.fields: an object expected", where);
	f->field_id = PARTITION_ID_FIRST + position;
	BF_TRY(bfi_json_get_i32(json, where, "field-id", false, &f->field_id, err));
	BF_TRY(bfi_json_get_text(json, where, "name", true, &f->name, err));
	BF_TRY(bfi_json_get_text(json, where, "transform", true, &f->transform_text, err));
	BF_TRY(bfi_json_get_array(json, where, "source-ids", false, &sources, err));
	if (json_array_size(sources) > 0)
	{
		int64_t first;

		BF_TRY(bfi_json_int(json_array_get(sources, 0), where, "source-ids", 1, INT32_MAX, &first,
							err));
		f->source_id = (int32_t) first;
	}
	else
		BF_TRY(bfi_json_get_i32(json, where, "source-id", true, &f->source_id, err));
	if (json_array_size(sources) > 1)
	{
		/* A transform of several columns (version 3): its values are kept, nothing is done with
		 * them. */
		f->transform = (BfTransform){.kind = BF_TRANSFORM_UNKNOWN};
		return BF_OK;
	}
	return bf_transform_parse(f->transform_text, &f->transform, err);
}

static BfStatus
parse_spec(BfArena *a, const json_t *fields, const char *where, BfIceSpec *spec, BfError *err)
{
	size_t n = json_array_size(fields);
	IdIndex *ids;

	spec->n_fields = (int32_t) n;
	BF_NEW(a, spec->fields, n, err);
	BF_NEW(a, ids, n, err);
	for (size_t i = 0; i < n; i++)
	{
		BF_TRY(parse_partition_field(json_array_get(fields, i), where, (int32_t) i,
									 &spec->fields[i], err));
		ids[i] = (IdIndex){spec->fields[i].field_id, (int32_t) i};
	}
	return sort_unique(ids, (int32_t) n, where, err);
}

static bool
same_spec(const BfIceSpec *x, const BfIceSpec *y)
{
	for (int32_t i = 0; i < x->n_fields && x->n_fields == y->n_fields; i++)
		if (x->fields[i].source_id != y->fields[i].source_id ||
			strcmp(x->fields[i].transform_text, y->fields[i].transform_text) != 0)
			return false;
	return x->n_fields == y->n_fields;
}

/* Version 1 need not name the default spec: it has its fields once more, under a key of their own.
 */
static BfStatus
default_spec(BfArena *a, const json_t *root, BfIceMetadata *m, bool listed, BfError *err)
{
	bool required = m->format_version > 1 || m->specs.n == 0;
	BfIceSpec single = {.spec_id = -1};
	json_t *fields;

	BF_ASSERT(listed || m->specs.n == 1);
	m->specs.default_id = listed ? INT32_MIN : 0;
	BF_TRY(bfi_json_get_i32(root, "", "default-spec-id", required && listed, &m->specs.default_id,
							err));
	if ((required && listed) || m->specs.default_id != INT32_MIN)
		return BF_OK;
	BF_ASSERT(m->specs.n > 0);
	m->specs.default_id = m->specs.all[0].spec_id;
	if (m->specs.n == 1)
		return BF_OK;
	BF_TRY(bfi_json_get_array(root, "", "partition-spec", true, &fields, err));
	BF_TRY(parse_spec(a, fields, "partition-spec", &single, err));
	for (int32_t i = 0; i < m->specs.n; i++)
		if (same_spec(&m->specs.all[i], &single))
			m->specs.default_id = m->specs.all[i].spec_id;
	return BF_OK;
}

static BfStatus
parse_specs(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *list, *fields;
	char where[BFI_WHERE_MAX];
	IdIndex *ids;
	int32_t field_id_max = PARTITION_ID_FIRST - 1;

	BF_TRY(bfi_json_get_array(root, "", "partition-specs", m->format_version > 1, &list, err));
	m->specs.n = list != NULL ? (int32_t) json_array_size(list) : 1;
	BF_NEW(a, m->specs.all, m->specs.n, err);
	BF_NEW(a, ids, m->specs.n, err);
	if (list == NULL)
	{
		BF_TRY(bfi_json_get_array(root, "", "partition-spec", true, &fields, err));
		BF_TRY(parse_spec(a, fields, "partition-spec", &m->specs.all[0], err));
	}
	for (int32_t i = 0; list != NULL && i < m->specs.n; i++)
	{
		const json_t *item = json_array_get(list, (size_t) i);

		snprintf(where, sizeof where, "partition-specs[%d]", i);
		if (!json_is_object(item))
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: an object expected", where);
		BF_TRY(bfi_json_get_i32(item, where, "spec-id", true, &m->specs.all[i].spec_id, err));
		BF_TRY(bfi_json_get_array(item, where, "fields", true, &fields, err));
		BF_TRY(parse_spec(a, fields, where, &m->specs.all[i], err));
		ids[i] = (IdIndex){m->specs.all[i].spec_id, i};
	}
	BF_TRY(sort_unique(ids, m->specs.n, "partition-specs", err));
	BF_TRY(default_spec(a, root, m, list != NULL, err));
	if (bf_ice_spec(m, m->specs.default_id) == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "default-spec-id: no partition spec has the id %d",
				m->specs.default_id);
	for (int32_t i = 0; i < m->specs.n; i++)
		for (int32_t k = 0; k < m->specs.all[i].n_fields; k++)
			if (m->specs.all[i].fields[k].field_id > field_id_max)
				field_id_max = m->specs.all[i].fields[k].field_id;
	m->specs.last_partition_id = field_id_max;
	return bfi_json_get_i32(root, "", "last-partition-id", false, &m->specs.last_partition_id, err);
}

static BfStatus
parse_snapshot(BfArena *a, const json_t *json, const char *where, int32_t version, BfIceSnapshot *s,
			   BfError *err)
{
	json_t *summary, *manifests;
	const char *key_id = NULL;

	if (!json_is_object(json))
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: an object expected", where);
	BF_TRY(bfi_json_get_i64(json, where, "snapshot-id", true, &s->id, err));
	if (s->id == -1)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.snapshot-id: -1 stands for none", where);
	s->parent_id = -1;
	s->schema_id = -1;
	BF_TRY(bfi_json_get_i64(json, where, "parent-snapshot-id", false, &s->parent_id, err));
	BF_TRY(bfi_json_get_i64(json, where, "sequence-number", false, &s->sequence_number, err));
	BF_TRY(bfi_json_get_i64(json, where, "timestamp-ms", true, &s->timestamp_ms, err));
	BF_TRY(bfi_json_get_i32(json, where, "schema-id", false, &s->schema_id, err));
	BF_TRY(bfi_json_get_text(json, where, "manifest-list", false, &s->manifest_list, err));
	BF_TRY(bfi_json_get_text(json, where, "key-id", false, &key_id, err));
	s->encrypted = key_id != NULL;
	if (s->manifest_list == NULL)
	{
		BF_TRY(bfi_json_get_array(json, where, version == 1 ? "manifests" : "manifest-list", true,
								  &manifests, err));
		s->n_manifests = (int32_t) json_array_size(manifests);
		BF_NEW(a, s->manifests, s->n_manifests, err);
		for (int32_t i = 0; i < s->n_manifests; i++)
		{
			s->manifests[i] = json_string_value(json_array_get(manifests, (size_t) i));
			if (s->manifests[i] == NULL)
				BF_FAIL(err, BF_ERR_CORRUPT, "%s.manifests: a string expected", where);
		}
	}
	BF_TRY(bfi_json_get_object(json, where, "summary", false, &summary, err));
	if (summary == NULL)
		return BF_OK;
	BF_TRY(bfi_json_text_map(a, summary, where, &s->n_summary, &s->summary_keys, &s->summary_values,
							 err));
	s->operation = bf_ice_summary(s, "operation");
	return BF_OK;
}

static BfStatus
parse_snapshots(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *list;
	char where[BFI_WHERE_MAX];
	IdIndex *ids;

	BF_TRY(bfi_json_get_array(root, "", "snapshots", false, &list, err));
	m->snapshots.n = (int32_t) json_array_size(list);
	BF_NEW(a, m->snapshots.all, m->snapshots.n, err);
	BF_NEW(a, m->snapshots.by_id, m->snapshots.n, err);
	BF_NEW(a, ids, m->snapshots.n, err);
	for (int32_t i = 0; i < m->snapshots.n; i++)
	{
		snprintf(where, sizeof where, "snapshots[%d]", i);
		BF_TRY(parse_snapshot(a, json_array_get(list, (size_t) i), where, m->format_version,
							  &m->snapshots.all[i], err));
		ids[i] = (IdIndex){m->snapshots.all[i].id, i};
	}
	BF_TRY(sort_unique(ids, m->snapshots.n, "snapshots", err));
	for (int32_t i = 0; i < m->snapshots.n; i++)
	{
		BF_ASSERT(i == 0 || ids[i - 1].id < ids[i].id);
		m->snapshots.by_id[i] = ids[i].index;
	}
	m->snapshots.current_id = -1;
	BF_TRY(bfi_json_get_i64(root, "", "current-snapshot-id", false, &m->snapshots.current_id, err));
	if (m->snapshots.current_id != -1 && bf_ice_snapshot(m, m->snapshots.current_id) == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "current-snapshot-id: no snapshot has the id %lld",
				(long long) m->snapshots.current_id);
	return BF_OK;
}

static BfStatus
parse_ref(const json_t *json, const char *name, const BfIceMetadata *m, BfIceRef *ref, BfError *err)
{
	char where[BFI_WHERE_MAX];
	const char *type = NULL;

	snprintf(where, sizeof where, "refs.%.100s", name);
	if (!json_is_object(json))
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: an object expected", where);
	ref->name = name;
	BF_TRY(bfi_json_get_i64(json, where, "snapshot-id", true, &ref->snapshot_id, err));
	BF_TRY(bfi_json_get_text(json, where, "type", true, &type, err));
	ref->is_branch = strcmp(type, "branch") == 0;
	if (!ref->is_branch && strcmp(type, "tag") != 0)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.type: \"%.40s\" is neither branch nor tag", where, type);
	if (bf_ice_snapshot(m, ref->snapshot_id) == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.snapshot-id: no snapshot has the id %lld", where,
				(long long) ref->snapshot_id);
	if (strcmp(name, BF_ICE_BRANCH_MAIN) == 0 && ref->snapshot_id != m->snapshots.current_id)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.snapshot-id is %lld, but current-snapshot-id is %lld",
				where, (long long) ref->snapshot_id, (long long) m->snapshots.current_id);
	return BF_OK;
}

static BfStatus
parse_refs(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *map, *value;
	const char *name;
	bool has_main = false;

	BF_TRY(bfi_json_get_object(root, "", "refs", false, &map, err));
	BF_NEW(a, m->refs.all, json_object_size(map) + 1, err);
	json_object_foreach(map, name, value)
	{
		BF_TRY(parse_ref(value, name, m, &m->refs.all[m->refs.n++], err));
		has_main |= strcmp(name, BF_ICE_BRANCH_MAIN) == 0;
	}
	if (!has_main && m->snapshots.current_id != -1)
		m->refs.all[m->refs.n++] = (BfIceRef){BF_ICE_BRANCH_MAIN, m->snapshots.current_id, true};
	BF_ASSERT((size_t) m->refs.n <= json_object_size(map) + 1);
	return BF_OK;
}

static BfStatus
parse_snapshot_log(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *list;

	BF_TRY(bfi_json_get_array(root, "", "snapshot-log", false, &list, err));
	m->snapshot_log.n = (int32_t) json_array_size(list);
	BF_NEW(a, m->snapshot_log.ms, m->snapshot_log.n, err);
	BF_NEW(a, m->snapshot_log.ids, m->snapshot_log.n, err);
	for (int32_t i = 0; i < m->snapshot_log.n; i++)
	{
		const json_t *item = json_array_get(list, (size_t) i);

		BF_TRY(bfi_json_get_i64(item, "snapshot-log", "timestamp-ms", true, &m->snapshot_log.ms[i],
								err));
		BF_TRY(bfi_json_get_i64(item, "snapshot-log", "snapshot-id", true, &m->snapshot_log.ids[i],
								err));
	}
	return BF_OK;
}

static BfStatus
parse_table(BfArena *a, const json_t *root, BfIceMetadata *m, BfError *err)
{
	json_t *properties;
	const char *mapping;

	BF_TRY(bfi_json_get_i32(root, "", "format-version", true, &m->format_version, err));
	if (m->format_version < 1)
		BF_FAIL(err, BF_ERR_CORRUPT, "format-version %d does not exist", m->format_version);
	if (m->format_version > 3)
		BF_FAIL(err, BF_ERR_UNSUPPORTED,
				"format-version %d is newer than 3, the newest that is read", m->format_version);
	m->uuid = "";
	BF_TRY(bfi_json_get_text(root, "", "table-uuid", m->format_version > 1, &m->uuid, err));
	BF_TRY(bfi_json_get_text(root, "", "location", true, &m->location, err));
	if (m->format_version > 1)
		BF_TRY(bfi_json_get_i64(root, "", "last-sequence-number", true, &m->last_sequence_number,
								err));
	BF_TRY(bfi_json_get_i64(root, "", "last-updated-ms", true, &m->last_updated_ms, err));
	BF_TRY(bfi_json_get_i32(root, "", "last-column-id", true, &m->last_column_id, err));
	BF_TRY(parse_schemas(a, root, m, err));
	BF_TRY(parse_specs(a, root, m, err));
	BF_TRY(bfi_json_get_object(root, "", "properties", false, &properties, err));
	BF_TRY(bfi_json_text_map(a, properties, "properties", &m->properties.n, &m->properties.keys,
							 &m->properties.values, err));
	mapping = bf_ice_property(m, "schema.name-mapping.default");
	if (mapping != NULL)
		BF_TRY(bfi_name_mapping_apply(a, mapping, m->schemas.all, m->schemas.n, err));
	BF_TRY(parse_snapshots(a, root, m, err));
	BF_TRY(parse_refs(a, root, m, err));
	return parse_snapshot_log(a, root, m, err);
}

BfStatus
bf_ice_metadata_parse(BfArena *a, const void *bytes, size_t n, BfIceMetadata **out, BfError *err)
{
	BfIceMetadata *m;
	json_t *root;

	BF_TRY(load_tree(a, bytes, n, &root, err));
	if (!json_is_object(root))
		BF_FAIL_AT(err, BF_ERR_CORRUPT, 0, "table metadata: a JSON object expected");
	BF_NEW(a, m, 1, err);
	m->json = root;
	BF_TRY(parse_table(a, root, m, err));
	BF_ASSERT(m->format_version >= 1 && m->format_version <= 3);
	BF_ASSERT(bf_ice_spec(m, m->specs.default_id) != NULL);
	BF_ASSERT((m->snapshots.current_id == -1) == (bf_ice_ref(m, BF_ICE_BRANCH_MAIN) == NULL));
	*out = m;
	return BF_OK;
}

const BfSchema *
bf_ice_schema(const BfIceMetadata *m, int32_t schema_id)
{
	for (int32_t i = 0; i < m->schemas.n; i++)
		if (m->schemas.all[i].schema_id == schema_id)
			return &m->schemas.all[i];
	return NULL;
}

const BfSchema *
bf_ice_current_schema(const BfIceMetadata *m)
{
	const BfSchema *s = bf_ice_schema(m, m->schemas.current_id);

	BF_ASSERT(s != NULL);
	return s;
}

BfStatus
bf_ice_schema_check(const BfIceMetadata *m, const BfSchema *schema, BfError *err)
{
	const char *refusal;

	BF_ASSERT(schema >= m->schemas.all && schema < m->schemas.all + m->schemas.n);
	refusal = m->schemas.refusals[schema - m->schemas.all];
	if (refusal != NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the table's schema can't be read: %s", refusal);
	return BF_OK;
}

const BfIceSpec *
bf_ice_spec(const BfIceMetadata *m, int32_t spec_id)
{
	for (int32_t i = 0; i < m->specs.n; i++)
		if (m->specs.all[i].spec_id == spec_id)
			return &m->specs.all[i];
	return NULL;
}

const BfIceSnapshot *
bf_ice_snapshot(const BfIceMetadata *m, int64_t id)
{
	int32_t at;

	BF_SEARCH(int32_t, at, m->snapshots.n, i, m->snapshots.all[m->snapshots.by_id[i]].id < id);
	if (at == m->snapshots.n || m->snapshots.all[m->snapshots.by_id[at]].id != id)
		return NULL;
	return &m->snapshots.all[m->snapshots.by_id[at]];
}

const BfIceSnapshot *
bf_ice_ref(const BfIceMetadata *m, const char *name)
{
	for (int32_t i = 0; i < m->refs.n; i++)
		if (strcmp(m->refs.all[i].name, name) == 0)
			return bf_ice_snapshot(m, m->refs.all[i].snapshot_id);
	return NULL;
}

static const char *
find_text(const char *const *keys, const char *const *values, int32_t n, const char *key)
{
	for (int32_t i = 0; i < n; i++)
		if (strcmp(keys[i], key) == 0)
			return values[i];
	return NULL;
}

const char *
bf_ice_property(const BfIceMetadata *m, const char *key)
{
	return find_text(m->properties.keys, m->properties.values, m->properties.n, key);
}

bool
bf_ice_property_bool(const BfIceMetadata *m, const char *key, bool fallback)
{
	const char *text = bf_ice_property(m, key);
	const char *want = "true";

	if (text == NULL)
		return fallback;
	while (*want != '\0' && bf_ascii_lower(*text) == *want)
	{
		text++;
		want++;
	}
	return *want == '\0' && *text == '\0';
}

const char *
bf_ice_summary(const BfIceSnapshot *s, const char *key)
{
	BF_ASSERT(s->n_summary >= 0);
	return find_text(s->summary_keys, s->summary_values, s->n_summary, key);
}

static const BfField *
find_field(const BfField *fields, int32_t n, int32_t id)
{
	for (int32_t i = 0; i < n; i++)
	{
		const BfField *inner;

		if (fields[i].id == id)
			return &fields[i];
		inner = find_field(fields[i].children, fields[i].n_children, id);
		if (inner != NULL)
			return inner;
	}
	return NULL;
}

const BfField *
bf_ice_field(const BfSchema *schema, int32_t field_id)
{
	return find_field(schema->fields, schema->n_fields, field_id);
}

const BfField *
bf_ice_field_anywhere(const BfIceMetadata *m, int32_t field_id)
{
	const BfField *f = bf_ice_field(bf_ice_current_schema(m), field_id);

	for (int32_t i = m->schemas.n - 1; f == NULL && i >= 0; i--)
		f = bf_ice_field(&m->schemas.all[i], field_id);
	return f;
}
