/* Properties of a table, one at a time; no snapshot is made. */
#include "iceberg/commit_internal.h"

static BfStatus
set_property(BfiCommit *c, const char *key, const char *value, const char **metadata_path,
			 BfError *err)
{
	json_t *properties;

	BF_TRY(bfi_commit_begin(c, err));
	BF_TRY(bfi_json_child(c->root, "properties", false, &properties, err));
	if (value == NULL)
		json_object_del(properties, key);
	else
		BF_TRY(bfi_json_set(properties, key, json_string(value), err));
	return bfi_commit_publish(c, metadata_path, err);
}

BfStatus
bf_ice_set_property(BfArena *a, const BfIceTable *t, const char *key, const char *value,
					const char **metadata_path, BfError *err)
{
	const char *old = bf_ice_property(t->metadata, key);
	BfiCommit *c;

	BF_ASSERT(key[0] != '\0');
	*metadata_path = NULL;
	if (value == NULL ? old == NULL : old != NULL && strcmp(old, value) == 0)
		return BF_OK;
	BF_NEW(a, c, 1, err);
	bfi_commit_init(c, a, t, NULL, 0);
	if (set_property(c, key, value, metadata_path, err) != BF_OK)
		return bf_error_object(err, t->metadata_path);
	return BF_OK;
}
