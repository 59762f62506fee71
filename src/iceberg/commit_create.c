/*
 * New tables.
 */
#include "iceberg/internal.h"

#define PARTITION_ID_FIRST 1000

typedef struct Create
{
	BfArena *arena;
	BfSchema schema;
	BfIceSpec spec;
	int32_t last_column_id;
	int32_t last_partition_id;
} Create;

static BfStatus
copy_fields(BfArena *a, const BfField *from, int32_t n, BfField **out, BfError *err)
{
	BF_NEW(a, *out, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		(*out)[i] = from[i];
		BF_TRY(copy_fields(a, from[i].children, from[i].n_children, &(*out)[i].children, err));
	}
	return BF_OK;
}

/* Columns of one level first, then what is nested in them: the order of Iceberg's own libraries. */
static void
number_fields(BfField *fields, int32_t n, int32_t *last)
{
	for (int32_t i = 0; i < n; i++)
	{
		BF_ASSERT(fields[i].id == 0);
		fields[i].id = ++*last;
	}
	for (int32_t i = 0; i < n; i++)
		number_fields(fields[i].children, fields[i].n_children, last);
}

static void
survey_ids(const BfField *fields, int32_t n, int32_t *max, int32_t *n_zero, int32_t *n_given)
{
	for (int32_t i = 0; i < n; i++)
	{
		*(fields[i].id == 0 ? n_zero : n_given) += 1;
		*max = fields[i].id > *max ? fields[i].id : *max;
		survey_ids(fields[i].children, fields[i].n_children, max, n_zero, n_given);
	}
}

static BfStatus
assign_schema(Create *c, const BfSchema *schema, BfError *err)
{
	int32_t n_zero = 0, n_given = 0;

	BF_ASSERT(c->last_column_id == 0 && c->schema.fields == NULL);
	c->schema.n_fields = schema->n_fields;
	BF_TRY(copy_fields(c->arena, schema->fields, schema->n_fields, &c->schema.fields, err));
	survey_ids(c->schema.fields, c->schema.n_fields, &c->last_column_id, &n_zero, &n_given);
	if (n_zero > 0 && n_given > 0)
		BF_FAIL(err, BF_ERR_VALUE, "either all columns have a field id or none has");
	if (n_zero > 0)
		number_fields(c->schema.fields, c->schema.n_fields, &c->last_column_id);
	BF_ASSERT(c->last_column_id >= n_zero);
	for (int32_t i = 0; i < c->schema.n_fields; i++)
		for (int32_t k = 0; k < i; k++)
			if (strcmp(c->schema.fields[i].name, c->schema.fields[k].name) == 0)
				BF_FAIL(err, BF_ERR_VALUE, "two columns have the name \"%s\"",
						c->schema.fields[i].name);
	return BF_OK;
}

static bool
name_is_taken(const Create *c, const char *name, int32_t n_before, const BfField *source,
			  bool identity)
{
	for (int32_t i = 0; i < n_before; i++)
		if (strcmp(c->spec.fields[i].name, name) == 0)
			return true;
	for (int32_t i = 0; i < c->schema.n_fields; i++)
		if (strcmp(c->schema.fields[i].name, name) == 0 &&
			!(identity && &c->schema.fields[i] == source))
			return true;
	return false;
}

static BfStatus
assign_partition_field(Create *c, int32_t i, BfError *err)
{
	BfIcePartitionField *f = &c->spec.fields[i];
	const BfField *source = bf_ice_field(&c->schema, f->source_id);
	bool identity = f->transform.kind == BF_TRANSFORM_IDENTITY;
	BfType result;

	BF_ASSERT(i >= 0 && i < c->spec.n_fields);
	if (source == NULL)
		BF_FAIL(err, BF_ERR_VALUE, "partition field %d: no column has the field id %d", i + 1,
				f->source_id);
	if (f->transform.kind == BF_TRANSFORM_UNKNOWN)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "partition transform \"%s\" is not known",
				f->transform_text != NULL ? f->transform_text : "?");
	if (bf_transform_result_type(f->transform, source->type, &result, err) != BF_OK)
		return bf_error_column(err, source->name);
	if (f->field_id == 0)
		f->field_id = PARTITION_ID_FIRST + i;
	if (f->field_id > c->last_partition_id)
		c->last_partition_id = f->field_id;
	for (int32_t k = 0; k < i; k++)
		if (c->spec.fields[k].field_id == f->field_id)
			BF_FAIL(err, BF_ERR_VALUE, "two partition fields have the id %d", f->field_id);
	if (f->transform_text == NULL)
		BF_TRY(bfi_transform_text(c->arena, f->transform, &f->transform_text, err));
	if (f->name == NULL)
	{
		BF_TRY_PTR(c->arena, f->name,
				   bf_arena_printf(c->arena, "%s%s", source->name,
								   bf_transform_row(f->transform.kind)->suffix),
				   err);
		for (int32_t k = 2; name_is_taken(c, f->name, i, source, identity); k++)
			BF_TRY_PTR(c->arena, f->name,
					   bf_arena_printf(c->arena, "%s%s_%d", source->name,
									   bf_transform_row(f->transform.kind)->suffix, k),
					   err);
	}
	else if (name_is_taken(c, f->name, i, source, identity))
		BF_FAIL(err, BF_ERR_VALUE, "the name \"%s\" of a partition field is already used", f->name);
	BF_ASSERT(f->name != NULL && f->transform_text != NULL && f->field_id <= c->last_partition_id);
	return BF_OK;
}

BfStatus
bfi_transform_text(BfArena *a, BfTransform t, const char **out, BfError *err)
{
	const BfTransformRow *row = bf_transform_row(t.kind);

	BF_NEVER(err, row == NULL);
	*out = row->name;
	if (row->has_param)
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s[%d]", row->name, t.param), err);
	return BF_OK;
}

static BfStatus
assign_spec(Create *c, const BfIceSpec *spec, BfError *err)
{
	c->last_partition_id = PARTITION_ID_FIRST - 1;
	c->spec.n_fields = spec != NULL ? spec->n_fields : 0;
	BF_NEW(c->arena, c->spec.fields, c->spec.n_fields, err);
	for (int32_t i = 0; i < c->spec.n_fields; i++)
	{
		c->spec.fields[i] = spec->fields[i];
		BF_TRY(assign_partition_field(c, i, err));
	}
	return BF_OK;
}

/* Lists that are empty are written too: some readers want them. */
static BfStatus
put_lists(const Create *c, json_t *root, const char *const *keys, const char *const *values,
		  int32_t n, BfError *err)
{
	static const char *const empty_lists[] = {"snapshots", "snapshot-log", "metadata-log",
											  "statistics", "partition-statistics"};
	json_t *schema, *properties;

	BF_TRY(bfi_schema_json(&c->schema, &schema, err));
	BF_TRY(bfi_json_set(root, "schemas", json_pack("[o]", schema), err));
	BF_TRY(bfi_json_set(
		root, "partition-specs",
		json_pack("[{s:i, s:o}]", "spec-id", 0, "fields", bfi_spec_fields_json(&c->spec)), err));
	BF_TRY(bfi_json_set(root, "sort-orders", json_pack("[{s:i, s:[]}]", "order-id", 0, "fields"),
						err));
	BF_TRY(bfi_json_child(root, "properties", false, &properties, err));
	for (int32_t i = 0; i < n; i++)
		if (json_object_set_new(properties, keys[i], json_string(values[i])) != 0)
			BF_FAIL(err, BF_ERR_VALUE, "table property \"%.100s\" is not UTF-8", keys[i]);
	BF_TRY(bfi_json_set(root, "refs", json_pack("{}"), err));
	for (size_t i = 0; i < sizeof empty_lists / sizeof empty_lists[0]; i++)
		BF_TRY(bfi_json_set(root, empty_lists[i], json_array(), err));
	return BF_OK;
}

BfStatus
bf_ice_create(BfArena *a, const char *dir, const char *location, const BfSchema *schema,
			  const BfIceSpec *spec, const char *const *property_keys,
			  const char *const *property_values, int32_t n_properties, const char **metadata_path,
			  BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	Create c = {.arena = a};
	char uuid[37];
	json_t *root;
	const char *metadata_dir;

	BF_TRY(assign_schema(&c, schema, err));
	BF_TRY(assign_spec(&c, spec, err));
	if (location == NULL)
		BF_TRY_PTR(a, location, bf_arena_printf(a, "file://%s", dir), err);
	BF_TRY(bfi_uuid(host, uuid, err));
	root = json_pack("{s:i, s:s, s:s, s:i, s:I, s:i, s:i, s:i, s:i, s:i, s:i}", "format-version", 2,
					 "table-uuid", uuid, "location", location, "last-sequence-number", 0,
					 "last-updated-ms", (json_int_t) (host->now_us(host) / 1000), "last-column-id",
					 c.last_column_id, "current-schema-id", 0, "default-spec-id", 0,
					 "last-partition-id", c.last_partition_id, "default-sort-order-id", 0,
					 "current-snapshot-id", -1);
	if (root == NULL)
		BF_FAIL(err, BF_ERR_VALUE, "the table's location is not UTF-8");
	BF_TRY(bfi_json_own(a, root, err));
	BF_TRY(put_lists(&c, root, property_keys, property_values, n_properties, err));
	BF_TRY_PTR(a, metadata_dir, bf_arena_printf(a, "%s/metadata", dir), err);
	return bfi_metadata_publish(a, metadata_dir, 0, root, metadata_path, err);
}
