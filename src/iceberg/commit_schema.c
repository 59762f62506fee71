/*
 * Changes of a table's columns: a schema of its own, and no snapshot.
 *
 * The JSON of the current schema is copied and changed in place, so that keys that we don't know
 * survive (defaults of version 3, identifier fields). A schema that the table had before is used
 * again, as the specification wants. Ids are never given twice: last-column-id only grows.
 *
 * What would make a file that is there unreadable, or a row of it wrong, is refused: types that
 * Iceberg does not promote, columns that partitions, sort order or identifier ask for.
 */
#include "iceberg/commit.h"

#include "iceberg/commit_internal.h"

#define NAME_MAPPING "schema.name-mapping.default"
#define COLUMN_METRICS "write.metadata.metrics.column."

typedef struct Evolution
{
	BfiCommit c;
	json_t *fields;	 /* of the new schema */
	json_t *mapping; /* of names; NULL = the table has none */
	int32_t last_id;
} Evolution;

static json_t *
find_field(const Evolution *e, int32_t id, size_t *at)
{
	BfError ignored = {0};

	for (size_t i = 0; i < json_array_size(e->fields); i++)
	{
		json_t *f = json_array_get(e->fields, i);
		int32_t found = 0;

		if (bfi_json_get_i32(f, "fields", "id", true, &found, &ignored) == BF_OK && found == id)
		{
			if (at != NULL)
				*at = i;
			return f;
		}
	}
	return NULL;
}

static bool
list_has_id(const json_t *list, int32_t id)
{
	BfError ignored = {0};

	for (size_t i = 0; i < json_array_size(list); i++)
	{
		int64_t found;

		if (bfi_json_int(json_array_get(list, i), "", "id", 0, INT32_MAX, &found, &ignored) ==
				BF_OK &&
			found == id)
			return true;
	}
	return false;
}

/* The table's schema with that column, as it is now. */
static const BfField *
column(const Evolution *e, int32_t id)
{
	const BfSchema *s = e->c.table->schema;
	int32_t at = bf_schema_find_id(s, id);

	return at < 0 ? NULL : &s->fields[at];
}

/* Names ---------------------------------------------------------------------------------------- */

static json_t *
mapped_entry(const Evolution *e, int32_t id)
{
	BfError ignored = {0};

	for (size_t i = 0; i < json_array_size(e->mapping); i++)
	{
		json_t *entry = json_array_get(e->mapping, i);
		int32_t found = 0;

		if (bfi_json_get_i32(entry, "", "field-id", false, &found, &ignored) == BF_OK &&
			found == id)
			return entry;
	}
	return NULL;
}

/* A name leads to one column from now on: old files without ids keep leading to whose it was first
 * by the names that they have. */
static void
take_name(const Evolution *e, const char *name)
{
	for (size_t i = 0; i < json_array_size(e->mapping); i++)
	{
		json_t *names = json_object_get(json_array_get(e->mapping, i), "names");

		for (size_t k = json_array_size(names); k-- > 0;)
		{
			const char *text = json_string_value(json_array_get(names, k));

			if (text != NULL && strcmp(text, name) == 0)
				json_array_remove(names, k);
		}
	}
}

static BfStatus
map_name(const Evolution *e, int32_t id, const char *name, BfError *err)
{
	json_t *entry;

	if (e->mapping == NULL)
		return BF_OK;
	take_name(e, name);
	entry = mapped_entry(e, id);
	if (entry == NULL)
		return bfi_json_append(e->mapping, json_pack("{s:i, s:[s]}", "field-id", id, "names", name),
							   err);
	return bfi_json_append(json_object_get(entry, "names"), json_string(name), err);
}

/* What a property says of a column's metrics goes with its name; new_name NULL: it is dropped. */
static BfStatus
move_metrics(const Evolution *e, const char *name, const char *new_name, BfError *err)
{
	json_t *properties = json_object_get(e->c.root, "properties"), *value;
	const char *key, *new_key;

	BF_TRY_PTR(e->c.arena, key, bf_arena_printf(e->c.arena, COLUMN_METRICS "%s", name), err);
	value = json_object_get(properties, key);
	if (value == NULL)
		return BF_OK;
	if (new_name != NULL)
	{
		BF_TRY_PTR(e->c.arena, new_key, bf_arena_printf(e->c.arena, COLUMN_METRICS "%s", new_name),
				   err);
		BF_TRY(bfi_json_set(properties, new_key, json_incref(value), err));
	}
	json_object_del(properties, key);
	return BF_OK;
}

/* Changes -------------------------------------------------------------------------------------- */

static BfStatus
check_unused(const Evolution *e, const BfField *f, BfError *err)
{
	const BfIceMetadata *m = e->c.table->metadata;
	const BfIceSpec *spec = bf_ice_spec(m, m->specs.default_id);
	const json_t *orders = json_object_get(e->c.root, "sort-orders"), *order;
	const json_t *wanted = json_object_get(e->c.root, "default-sort-order-id");
	size_t i, k;

	for (int32_t n = 0; spec != NULL && n < spec->n_fields; n++)
		if (spec->fields[n].source_id == f->id)
			BF_FAIL(err, BF_ERR_UNSUPPORTED,
					"column \"%s\" partitions the table: it can't be dropped", f->name);
	for (i = 0; i < json_array_size(orders); i++)
	{
		const json_t *fields;

		order = json_array_get(orders, i);
		if (!json_equal(json_object_get(order, "order-id"), wanted))
			continue;
		fields = json_object_get(order, "fields");
		for (k = 0; k < json_array_size(fields); k++)
			if (json_integer_value(json_object_get(json_array_get(fields, k), "source-id")) ==
				f->id)
				BF_FAIL(err, BF_ERR_UNSUPPORTED,
						"column \"%s\" sorts the table: it can't be dropped", f->name);
	}
	return BF_OK;
}

static BfStatus
check_no_identifier(const json_t *schema, const BfField *f, BfError *err)
{
	if (list_has_id(json_object_get(schema, "identifier-field-ids"), f->id))
		BF_FAIL(err, BF_ERR_UNSUPPORTED,
				"column \"%s\" identifies the table's rows: it stays, and is required", f->name);
	return BF_OK;
}

static BfStatus
add_column(Evolution *e, BfIceColumnChange *change, BfError *err)
{
	BfSchema one = {.n_fields = 1, .fields = &change->field};
	json_t *schema, *list;
	BfStatus status;

	BF_ASSERT(change->id == 0 && change->field.n_children == 0);
	change->id = change->field.id = ++e->last_id;
	BF_TRY(bfi_schema_json(&one, &schema, err));
	list = json_object_get(schema, "fields");
	status = bfi_json_append(e->fields, json_incref(json_array_get(list, 0)), err);
	json_decref(schema);
	BF_TRY(status);
	return map_name(e, change->id, change->field.name, err);
}

static BfStatus
drop_column(Evolution *e, const json_t *schema, const BfField *f, size_t at, BfError *err)
{
	BF_TRY(check_unused(e, f, err));
	BF_TRY(check_no_identifier(schema, f, err));
	json_array_remove(e->fields, at);
	return move_metrics(e, f->name, NULL, err);
}

static BfStatus
rename_column(Evolution *e, json_t *json, const BfField *f, const char *name, BfError *err)
{
	BF_TRY(bfi_json_set(json, "name", json_string(name), err));
	BF_TRY(map_name(e, f->id, name, err));
	return move_metrics(e, f->name, name, err);
}

bool
bf_ice_type_promotable(BfType from, BfType to)
{
	switch (from.kind)
	{
		case BF_KIND_INT32: return to.kind == BF_KIND_INT64;
		case BF_KIND_FLOAT32: return to.kind == BF_KIND_FLOAT64;
		case BF_KIND_DECIMAL:
			return to.kind == BF_KIND_DECIMAL && to.scale == from.scale &&
				   to.precision > from.precision;
		default: return false;
	}
}

static BfStatus
promote_column(json_t *json, const BfField *f, BfType type, BfError *err)
{
	BfField to = *f;
	BfSchema one = {.n_fields = 1, .fields = &to};
	char from_name[64], to_name[64];
	json_t *schema;
	BfStatus status;

	bf_type_name(f->type, from_name, sizeof from_name);
	bf_type_name(type, to_name, sizeof to_name);
	if (!bf_ice_type_promotable(f->type, type))
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "column \"%s\" of type %s can't become %s", f->name,
				from_name, to_name);
	to.type = type;
	BF_TRY(bfi_schema_json(&one, &schema, err));
	status = bfi_json_set(
		json, "type",
		json_incref(json_object_get(json_array_get(json_object_get(schema, "fields"), 0), "type")),
		err);
	json_decref(schema);
	return status;
}

static BfStatus
change_column(Evolution *e, const json_t *schema, BfIceColumnChange *change, BfError *err)
{
	const BfField *f = column(e, change->id);
	size_t at = 0;
	json_t *json;

	if (change->kind == BF_ICE_COLUMN_ADD)
		return add_column(e, change, err);
	json = find_field(e, change->id, &at);
	if (json == NULL || f == NULL)
		BF_FAIL(err, BF_ERR_NOTFOUND, "the table has no column with field id %d", change->id);
	switch (change->kind)
	{
		case BF_ICE_COLUMN_DROP: return drop_column(e, schema, f, at, err);
		case BF_ICE_COLUMN_RENAME: return rename_column(e, json, f, change->field.name, err);
		case BF_ICE_COLUMN_PROMOTE: return promote_column(json, f, change->field.type, err);
		case BF_ICE_COLUMN_REQUIRE: return bfi_json_set(json, "required", json_true(), err);
		default:
			BF_ASSERT(change->kind == BF_ICE_COLUMN_RELAX);
			BF_TRY(check_no_identifier(schema, f, err));
			return bfi_json_set(json, "required", json_false(), err);
	}
}

/* The schema ------------------------------------------------------------------------------------
 */

static BfStatus
check_names(const Evolution *e, BfError *err)
{
	size_t n = json_array_size(e->fields);

	if (n == 0)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the last column can't be dropped");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (json_equal(json_object_get(json_array_get(e->fields, i), "name"),
						   json_object_get(json_array_get(e->fields, k), "name")))
				BF_FAIL(err, BF_ERR_VALUE, "two columns would have the name \"%s\"",
						json_string_value(json_object_get(json_array_get(e->fields, i), "name")));
	return BF_OK;
}

/* Same columns and same identifier. */
static bool
same_schema(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "identifier-field-ids");
	const json_t *y = json_object_get(b, "identifier-field-ids");

	return json_equal(json_object_get(a, "fields"), json_object_get(b, "fields")) &&
		   ((json_array_size(x) == 0 && json_array_size(y) == 0) || json_equal(x, y));
}

/* Takes `schema` over, unless the table has one like it. */
static BfStatus
use_schema(Evolution *e, json_t *schemas, json_t *schema, BfError *err)
{
	const BfIceSchemas *known = &e->c.table->metadata->schemas;
	int32_t id = 0;

	BF_ASSERT(json_array_size(schemas) == (size_t) known->n);
	for (int32_t i = 0; i < known->n; i++)
		if (same_schema(schema, json_array_get(schemas, (size_t) i)))
		{
			json_decref(schema);
			return bfi_json_set(e->c.root, "current-schema-id",
								json_integer(known->all[i].schema_id), err);
		}
		else if (known->all[i].schema_id >= id)
			id = known->all[i].schema_id + 1;
	if (json_object_set_new(schema, "schema-id", json_integer(id)) != 0)
	{
		json_decref(schema);
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a schema");
	}
	BF_TRY(bfi_json_append(schemas, schema, err));
	return bfi_json_set(e->c.root, "current-schema-id", json_integer(id), err);
}

static BfStatus
load_mapping(Evolution *e, BfError *err)
{
	const char *text = bf_ice_property(e->c.table->metadata, NAME_MAPPING);

	return text == NULL
			   ? BF_OK
			   : bfi_json_load(e->c.arena, text, strlen(text), NAME_MAPPING, &e->mapping, err);
}

static BfStatus
store_mapping(const Evolution *e, BfError *err)
{
	const char *text;

	if (e->mapping == NULL)
		return BF_OK;
	BF_TRY(bfi_json_text(e->c.arena, e->mapping, &text, err));
	return bfi_json_set(json_object_get(e->c.root, "properties"), NAME_MAPPING, json_string(text),
						err);
}

static BfStatus
evolve(Evolution *e, BfIceColumnChange *changes, int32_t n, const char **metadata_path,
	   BfError *err)
{
	const BfIceMetadata *m = e->c.table->metadata;
	json_t *schemas, *schema;
	int32_t at = 0;

	BF_TRY(bfi_commit_begin(&e->c, err));
	BF_TRY(load_mapping(e, err));
	BF_TRY(bfi_json_child(e->c.root, "schemas", true, &schemas, err));
	while (at < m->schemas.n && m->schemas.all[at].schema_id != m->schemas.current_id)
		at++;
	BF_NEVER(err, at == m->schemas.n);
	schema = json_deep_copy(json_array_get(schemas, (size_t) at));
	BF_TRY(bfi_json_own(e->c.arena, schema, err));
	e->fields = json_object_get(schema, "fields");
	e->last_id = m->last_column_id;
	for (int32_t i = 0; i < n; i++)
		BF_TRY(change_column(e, schema, &changes[i], err));
	BF_TRY(check_names(e, err));
	BF_TRY(store_mapping(e, err));
	BF_TRY(use_schema(e, schemas, json_incref(schema), err));
	BF_TRY(bfi_json_set(e->c.root, "last-column-id", json_integer(e->last_id), err));
	return bfi_commit_publish(&e->c, metadata_path, err);
}

BfStatus
bf_ice_change_columns(BfArena *a, const BfIceTable *t, BfIceColumnChange *changes, int32_t n,
					  const char **metadata_path, BfError *err)
{
	Evolution *e;

	BF_NEW(a, e, 1, err);
	bfi_commit_init(&e->c, a, t, NULL, 0);
	if (evolve(e, changes, n, metadata_path, err) != BF_OK)
		return bf_error_object(err, t->metadata_path);
	return BF_OK;
}
