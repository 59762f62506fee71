/*
 * Metadata JSON on its way out. Trees are changed in place: what is not touched is preserved.
 */
#include "iceberg/internal.h"

BfStatus
bfi_json_set(json_t *object, const char *key, json_t *value, BfError *err)
{
	if (json_object_set_new(object, key, value) != 0)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for metadata key \"%s\"", key);
	return BF_OK;
}

BfStatus
bfi_json_append(json_t *array, json_t *value, BfError *err)
{
	if (json_array_append_new(array, value) != 0)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a metadata list");
	return BF_OK;
}

BfStatus
bfi_json_child(json_t *object, const char *key, bool array, json_t **out, BfError *err)
{
	json_t *child = json_object_get(object, key);

	if (child == NULL || json_is_null(child))
	{
		BF_TRY(bfi_json_set(object, key, array ? json_array() : json_pack("{}"), err));
		child = json_object_get(object, key);
	}
	BF_DATA(err, array ? json_is_array(child) : json_is_object(child), -1,
			"metadata key \"%s\" has the wrong type", key);
	*out = child;
	return BF_OK;
}

BfStatus
bfi_uuid(const BfHost *host, char out[BF_UUID_TEXT_BYTES], BfError *err)
{
	uint8_t b[16];

	BF_TRY(host->random(host, b, sizeof b, err));
	b[6] = (uint8_t) ((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t) ((b[8] & 0x3f) | 0x80);
	bf_uuid_text(out, b);
	return BF_OK;
}

BfStatus
bfi_metadata_publish(BfArena *a, const char *dir, int64_t version, const json_t *root,
					 const char **path, BfError *err)
{
	char uuid[BF_UUID_TEXT_BYTES];
	const char *text, *name;

	BF_ASSERT(version >= 0 && json_is_object(root));
	BF_TRY(bfi_json_text(a, root, &text, err));
	if (strlen(text) > BF_ICE_JSON_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the table's metadata would have more than %zu bytes",
				BF_ICE_JSON_BYTES_MAX);
	BF_TRY(bfi_uuid(bf_arena_host(a), uuid, err));
	BF_TRY_PTR(a, name,
			   bf_arena_printf(a, "%s/%05lld-%s.metadata.json", dir, (long long) version, uuid),
			   err);
	BF_TRY(bf_publish_bytes(a, name, text, strlen(text), err));
	*path = name;
	return BF_OK;
}

static BfStatus
upgrade_specs(const BfIceMetadata *m, json_t *root, BfError *err)
{
	json_t *list;

	BF_TRY(bfi_json_set(root, "partition-specs", json_array(), err));
	list = json_object_get(root, "partition-specs");
	for (int32_t i = 0; i < m->specs.n; i++)
		BF_TRY(bfi_json_append(list,
							   json_pack("{s:i, s:o}", "spec-id", m->specs.all[i].spec_id, "fields",
										 bfi_spec_fields_json(&m->specs.all[i])),
							   err));
	BF_TRY(bfi_json_set(root, "default-spec-id", json_integer(m->specs.default_id), err));
	BF_TRY(bfi_json_set(root, "last-partition-id", json_integer(m->specs.last_partition_id), err));
	BF_ASSERT(json_array_size(list) == (size_t) m->specs.n);
	json_object_del(root, "partition-spec");
	return BF_OK;
}

BfStatus
bfi_metadata_upgrade(const BfIceMetadata *m, const BfHost *host, json_t *root, BfError *err)
{
	BF_ASSERT(m->format_version == 1);
	char uuid[37];

	BF_TRY(bfi_json_set(root, "format-version", json_integer(2), err));
	if (m->uuid[0] == '\0')
	{
		BF_TRY(bfi_uuid(host, uuid, err));
		BF_TRY(bfi_json_set(root, "table-uuid", json_string(uuid), err));
	}
	if (json_object_get(root, "schemas") == NULL)
	{
		json_t *schema = json_object_get(root, "schema");

		BF_TRY(bfi_json_set(schema, "schema-id", json_integer(m->schemas.current_id), err));
		BF_TRY(bfi_json_set(root, "schemas", json_pack("[O]", schema), err));
		BF_TRY(bfi_json_set(root, "current-schema-id", json_integer(m->schemas.current_id), err));
	}
	json_object_del(root, "schema");
	BF_TRY(upgrade_specs(m, root, err));
	if (json_object_get(root, "sort-orders") == NULL)
	{
		BF_TRY(bfi_json_set(root, "sort-orders",
							json_pack("[{s:i, s:[]}]", "order-id", 0, "fields"), err));
		BF_TRY(bfi_json_set(root, "default-sort-order-id", json_integer(0), err));
	}
	return BF_OK;
}
