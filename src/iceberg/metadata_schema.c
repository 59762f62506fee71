/*
 * Schemas, their types, and name mappings.
 *
 * A field of a type that we don't know (of later versions) does not spoil the table: old schemas
 * may have it. The schema gets a refusal text, and the error comes when rows of that schema are
 * wanted.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/internal.h"

#define FIXED_LENGTH_MAX (1 << 30)
#define DECIMAL_PRECISION_MAX 38

/* Iceberg's primitive types without parameters. `writable`: a version 2 table may have it. */
static const struct
{
	const char *name;
	BfKind kind;
	int32_t length;
	bool writable;
} primitives[] = {
	{"boolean", BF_KIND_BOOL, 0, true},
	{"int", BF_KIND_INT32, 0, true},
	{"long", BF_KIND_INT64, 0, true},
	{"float", BF_KIND_FLOAT32, 0, true},
	{"double", BF_KIND_FLOAT64, 0, true},
	{"date", BF_KIND_DATE, 0, true},
	{"time", BF_KIND_TIME, 0, true},
	{"timestamp", BF_KIND_TIMESTAMP, 0, true},
	{"timestamptz", BF_KIND_TIMESTAMPTZ, 0, true},
	{"timestamp_ns", BF_KIND_TIMESTAMP_NS, 0, false},
	{"timestamptz_ns", BF_KIND_TIMESTAMPTZ_NS, 0, false},
	{"string", BF_KIND_STRING, 0, true},
	{"uuid", BF_KIND_UUID, 16, true},
	{"binary", BF_KIND_BINARY, 0, true},
	{"unknown", BF_KIND_NULL, 0, false},
	{"variant", BF_KIND_VARIANT, 0, false},
	/* With or without parameters; their bounds are points, which bf_ice_bound_value doesn't read.
	 */
	{"geometry", BF_KIND_GEOMETRY, 0, false},
	{"geography", BF_KIND_GEOMETRY, 0, false},
};

typedef struct SchemaParse
{
	BfArena *arena;
	const char *where;
	const char *refusal; /* the first reason found */
	int64_t n_fields;	 /* at any depth */
} SchemaParse;

static BfStatus
refuse(SchemaParse *p, const char *name, const char *what, const char *detail, BfError *err)
{
	if (p->refusal == NULL)
		BF_TRY_PTR(p->arena, p->refusal,
				   bf_arena_printf(p->arena, "column \"%s\": %s%s", name, what, detail), err);
	return BF_OK;
}

/* Reads `(9, 2)` or `[16]`: `n` numbers between the brackets, blanks anywhere. */
static bool
parse_numbers(const char *s, char open, char close, int32_t *numbers, int32_t n)
{
	BF_ASSERT(n > 0);
	while (bf_ascii_space(*s))
		s++;
	if (*s++ != open)
		return false;
	for (int32_t i = 0; i < n; i++)
	{
		int64_t v;
		size_t digits;

		while (bf_ascii_space(*s))
			s++;
		digits = bf_ascii_number(s, strlen(s), INT32_MAX, &v);
		s += digits;
		while (bf_ascii_space(*s))
			s++;
		if (digits == 0 || v < 0 || *s++ != (i == n - 1 ? close : ','))
			return false;
		numbers[i] = (int32_t) v;
	}
	while (bf_ascii_space(*s))
		s++;
	return *s == '\0';
}

/* Does the text name this type, alone or followed by a bracket? */
static bool
type_is(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 &&
		   (text[n] == '\0' || text[n] == '(' || text[n] == '[' || bf_ascii_space(text[n]));
}

static BfStatus
parse_primitive(SchemaParse *p, const char *text, BfField *f, BfError *err)
{
	int32_t numbers[2];

	if (type_is(text, "decimal"))
	{
		if (!parse_numbers(text + 7, '(', ')', numbers, 2) || numbers[0] < 1 ||
			numbers[0] > DECIMAL_PRECISION_MAX || numbers[1] > numbers[0])
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: column \"%s\" has the impossible type \"%.100s\"",
					p->where, f->name, text);
		f->type = (BfType){.kind = BF_KIND_DECIMAL, .precision = numbers[0], .scale = numbers[1]};
		return BF_OK;
	}
	if (type_is(text, "fixed"))
	{
		if (!parse_numbers(text + 5, '[', ']', numbers, 1) || numbers[0] < 1 ||
			numbers[0] > FIXED_LENGTH_MAX)
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: column \"%s\" has the impossible type \"%.100s\"",
					p->where, f->name, text);
		f->type = (BfType){.kind = BF_KIND_FIXED, .length = numbers[0]};
		return BF_OK;
	}
	for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
		if (type_is(text, primitives[i].name))
		{
			f->type = (BfType){.kind = primitives[i].kind, .length = primitives[i].length};
			return BF_OK;
		}
	f->type = BF_TYPE(NULL);
	return refuse(p, f->name, "unknown type ", text, err);
}

static BfStatus parse_type(SchemaParse *p, const json_t *type, BfField *f, int32_t depth,
						   BfError *err) BF_MUST_CHECK;

static BfStatus
parse_field_id(const SchemaParse *p, const json_t *object, const char *key, int32_t *id,
			   BfError *err)
{
	BF_TRY(bfi_json_get_i32(object, p->where, key, true, id, err));
	if (*id <= 0)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: %s %d is not a positive number", p->where, key, *id);
	return BF_OK;
}

static BfStatus
parse_struct_field(SchemaParse *p, const json_t *json, BfField *f, int32_t depth, BfError *err)
{
	const json_t *v;

	if (!json_is_object(json))
		BF_FAIL(err, BF_ERR_CORRUPT, "%s.fields: an object expected", p->where);
	BF_TRY(parse_field_id(p, json, "id", &f->id, err));
	BF_TRY(bfi_json_get_text(json, p->where, "name", true, &f->name, err));
	BF_TRY(bfi_json_get_bool(json, p->where, "required", false, &f->required, err));
	BF_TRY(bfi_json_get_text(json, p->where, "doc", false, &f->doc, err));
	v = json_object_get(json, "type");
	if (v == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: column \"%s\" has no type", p->where, f->name);
	BF_TRY(parse_type(p, v, f, depth, err));
	v = json_object_get(json, "initial-default");
	if (v == NULL || json_is_null(v))
		return BF_OK;
	/* Of an unknown type nothing is known; the schema is refused already. */
	if (f->type.kind == BF_KIND_NULL && p->refusal != NULL)
		return BF_OK;
	f->has_default = true;
	return bfi_default_value(p->arena, v, f, &f->initial_default, err);
}

static BfStatus
parse_fields(SchemaParse *p, const json_t *object, int32_t *n, BfField **fields, int32_t depth,
			 BfError *err)
{
	json_t *list;
	size_t count;

	BF_TRY(bfi_json_get_array(object, p->where, "fields", true, &list, err));
	count = json_array_size(list);
	BF_NEW(p->arena, *fields, count, err);
	for (size_t i = 0; i < count; i++)
		BF_TRY(parse_struct_field(p, json_array_get(list, i), &(*fields)[i], depth, err));
	*n = (int32_t) count;
	BF_ASSERT(count <= BF_ICE_JSON_VALUES_MAX && depth <= BF_ICE_TYPE_DEPTH_MAX);
	p->n_fields += (int64_t) count;
	return BF_OK;
}

/* The element of a list, the key or value of a map: id and type under their own keys. */
static BfStatus
parse_part(SchemaParse *p, const json_t *object, const char *part, BfField *f, int32_t depth,
		   BfError *err)
{
	char key[32];
	const json_t *type = json_object_get(object, part);

	BF_ASSERT(strlen(part) + sizeof "-required" <= sizeof key);
	f->name = part;
	snprintf(key, sizeof key, "%s-id", part);
	BF_TRY(parse_field_id(p, object, key, &f->id, err));
	snprintf(key, sizeof key, "%s-required", part);
	BF_TRY(bfi_json_get_bool(object, p->where, key, false, &f->required, err));
	if (strcmp(part, "key") == 0)
		f->required = true;
	if (type == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: a nested type has no \"%s\"", p->where, part);
	p->n_fields++;
	return parse_type(p, type, f, depth, err);
}

static BfStatus
parse_type(SchemaParse *p, const json_t *type, BfField *f, int32_t depth, BfError *err)
{
	const char *name = NULL;

	BF_ASSERT(f->n_children == 0 && depth >= 0);
	if (json_is_string(type))
		return parse_primitive(p, json_string_value(type), f, err);
	if (!json_is_object(type))
		BF_FAIL(err, BF_ERR_CORRUPT, "%s: type of column \"%s\": a string or an object expected",
				p->where, f->name);
	if (depth >= BF_ICE_TYPE_DEPTH_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "%s: column \"%s\" is nested more than %d levels deep", p->where,
				f->name, BF_ICE_TYPE_DEPTH_MAX);
	BF_TRY(bfi_json_get_text(type, p->where, "type", true, &name, err));
	if (strcmp(name, "struct") == 0)
	{
		f->type = BF_TYPE(STRUCT);
		return parse_fields(p, type, &f->n_children, &f->children, depth + 1, err);
	}
	if (strcmp(name, "list") == 0)
	{
		f->type = BF_TYPE(LIST);
		f->n_children = 1;
		BF_NEW(p->arena, f->children, 1, err);
		return parse_part(p, type, "element", &f->children[0], depth + 1, err);
	}
	if (strcmp(name, "map") == 0)
	{
		f->type = BF_TYPE(MAP);
		f->n_children = 2;
		BF_NEW(p->arena, f->children, 2, err);
		BF_TRY(parse_part(p, type, "key", &f->children[0], depth + 1, err));
		return parse_part(p, type, "value", &f->children[1], depth + 1, err);
	}
	f->type = BF_TYPE(NULL);
	return refuse(p, f->name, "unknown nested type ", name, err);
}

static int
compare_ids(const void *x, const void *y)
{
	int32_t a = *(const int32_t *) x, b = *(const int32_t *) y;

	return (a > b) - (a < b);
}

static int32_t *
collect_ids(const BfField *fields, int32_t n, int32_t *next)
{
	for (int32_t i = 0; i < n; i++)
	{
		*next++ = fields[i].id;
		next = collect_ids(fields[i].children, fields[i].n_children, next);
	}
	return next;
}

BfStatus
bfi_schema_parse(BfArena *a, const json_t *json, const char *where, BfSchema *out,
				 const char **refusal, BfError *err)
{
	SchemaParse p = {.arena = a, .where = where};
	int32_t *ids, *end;

	BF_TRY(bfi_json_get_i32(json, where, "schema-id", false, &out->schema_id, err));
	BF_TRY(parse_fields(&p, json, &out->n_fields, &out->fields, 0, err));
	BF_NEW(a, ids, p.n_fields, err);
	end = collect_ids(out->fields, out->n_fields, ids);
	BF_ASSERT(end - ids == p.n_fields);
	bf_sort(ids, (size_t) (end - ids), sizeof *ids, compare_ids);
	for (int64_t i = 1; i < p.n_fields; i++)
		if (ids[i] == ids[i - 1])
			BF_FAIL(err, BF_ERR_CORRUPT, "%s: field id %d is given twice", where, ids[i]);
	*refusal = p.refusal;
	return BF_OK;
}

/* Name mapping: a tree of {field-id?, names, fields?}. Ids are unique in it, so it is flattened. */
typedef struct MappedName
{
	int32_t id;
	int32_t n_names;
	const char *const *names;
} MappedName;

#define MAPPING_KEY "schema.name-mapping.default"

/* Values below bound the number of entries; counted first, filled second (entries = NULL). */
static BfStatus
flatten_mapping(BfArena *a, const json_t *list, MappedName *entries, int32_t *n, BfError *err)
{
	for (size_t i = 0; i < json_array_size(list); i++)
	{
		const json_t *item = json_array_get(list, i);
		json_t *names, *fields;
		int32_t id = 0;

		if (!json_is_object(item))
			BF_FAIL(err, BF_ERR_CORRUPT, MAPPING_KEY ": an object expected");
		BF_TRY(bfi_json_get_i32(item, MAPPING_KEY, "field-id", false, &id, err));
		BF_TRY(bfi_json_get_array(item, MAPPING_KEY, "names", true, &names, err));
		BF_TRY(bfi_json_get_array(item, MAPPING_KEY, "fields", false, &fields, err));
		if (entries != NULL && id > 0)
		{
			size_t count = json_array_size(names);
			const char **texts;

			BF_NEW(a, texts, count, err);
			for (size_t k = 0; k < count; k++)
			{
				texts[k] = json_string_value(json_array_get(names, k));
				if (texts[k] == NULL)
					BF_FAIL(err, BF_ERR_CORRUPT, MAPPING_KEY ".names: a string expected");
			}
			entries[*n] = (MappedName){.id = id, .n_names = (int32_t) count, .names = texts};
		}
		if (id > 0)
			(*n)++;
		if (fields != NULL)
			BF_TRY(flatten_mapping(a, fields, entries, n, err));
	}
	return BF_OK;
}

static int
compare_mapped(const void *x, const void *y)
{
	int32_t a = ((const MappedName *) x)->id, b = ((const MappedName *) y)->id;

	return (a > b) - (a < b);
}

static void
apply_mapping(BfField *fields, int32_t n_fields, const MappedName *entries, int32_t n)
{
	for (int32_t i = 0; i < n_fields; i++)
	{
		BfField *f = &fields[i];
		MappedName wanted = {.id = f->id};
		const MappedName *found =
			bsearch(&wanted, entries, (size_t) n, sizeof *entries, compare_mapped);

		f->mapped = true;
		if (found != NULL)
		{
			f->aliases = found->names;
			f->n_aliases = found->n_names;
		}
		apply_mapping(f->children, f->n_children, entries, n);
	}
}

BfStatus
bfi_name_mapping_apply(BfArena *a, const char *text, BfSchema *schemas, int32_t n_schemas,
					   BfError *err)
{
	json_t *json;
	MappedName *entries;
	int32_t n = 0, n_filled = 0;

	BF_TRY(bfi_json_load(a, text, strlen(text), MAPPING_KEY, &json, err));
	if (!json_is_array(json))
		BF_FAIL(err, BF_ERR_CORRUPT, MAPPING_KEY ": an array expected");
	BF_TRY(flatten_mapping(a, json, NULL, &n, err));
	BF_NEW(a, entries, n, err);
	BF_TRY(flatten_mapping(a, json, entries, &n_filled, err));
	BF_ASSERT(n_filled == n);
	bf_sort(entries, (size_t) n, sizeof *entries, compare_mapped);
	for (int32_t i = 1; i < n; i++)
		if (entries[i].id == entries[i - 1].id)
			BF_FAIL(err, BF_ERR_CORRUPT, MAPPING_KEY ": field id %d is given twice", entries[i].id);
	for (int32_t i = 0; i < n_schemas; i++)
		apply_mapping(schemas[i].fields, schemas[i].n_fields, entries, n);
	return BF_OK;
}

/* Writing. New references are handed up; json_pack and the *_new setters take them over and free
 * them on failure, so that a NULL at the end is the only case to look at. */

static json_t *type_json(const BfField *f);

static json_t *
fields_json(const BfField *fields, int32_t n)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < n; i++)
	{
		json_t *item =
			json_pack("{s:i, s:s, s:b, s:o}", "id", fields[i].id, "name", fields[i].name,
					  "required", (int) fields[i].required, "type", type_json(&fields[i]));

		if (item != NULL && fields[i].doc != NULL)
			json_object_set_new(item, "doc", json_string(fields[i].doc));
		if (item == NULL || json_array_append_new(list, item) != 0)
		{
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
type_json(const BfField *f)
{
	const BfField *c = f->children;

	BF_ASSERT(f->type.kind != BF_KIND_LIST || f->n_children == 1);
	BF_ASSERT(f->type.kind != BF_KIND_MAP || f->n_children == 2);
	switch (f->type.kind)
	{
		case BF_KIND_STRUCT:
			return json_pack("{s:s, s:o}", "type", "struct", "fields",
							 fields_json(c, f->n_children));
		case BF_KIND_LIST:
			return json_pack("{s:s, s:i, s:o, s:b}", "type", "list", "element-id", c[0].id,
							 "element", type_json(&c[0]), "element-required", (int) c[0].required);
		case BF_KIND_MAP:
			return json_pack("{s:s, s:i, s:o, s:i, s:o, s:b}", "type", "map", "key-id", c[0].id,
							 "key", type_json(&c[0]), "value-id", c[1].id, "value",
							 type_json(&c[1]), "value-required", (int) c[1].required);
		case BF_KIND_DECIMAL:
			return json_sprintf("decimal(%d, %d)", f->type.precision, f->type.scale);
		case BF_KIND_FIXED: return json_sprintf("fixed[%d]", f->type.length);
		default:
			for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
				if (primitives[i].kind == f->type.kind)
					return json_string(primitives[i].name);
			return NULL;
	}
}

/* Can a version 2 table have this column? */
static BfStatus
check_writable(const BfField *f, int32_t depth, BfError *err)
{
	static const struct
	{
		BfKind kind;
		int32_t n_children;
	} nested[] = {{BF_KIND_LIST, 1}, {BF_KIND_MAP, 2}, {BF_KIND_STRUCT, -1}};
	bool ok = f->type.kind == BF_KIND_DECIMAL
				  ? f->type.precision >= 1 && f->type.precision <= DECIMAL_PRECISION_MAX &&
						f->type.scale >= 0 && f->type.scale <= f->type.precision
				  : f->type.kind == BF_KIND_FIXED && f->type.length >= 1;
	char name[64];

	for (size_t i = 0; i < sizeof nested / sizeof nested[0] && depth < BF_ICE_TYPE_DEPTH_MAX; i++)
		ok |= nested[i].kind == f->type.kind &&
			  (nested[i].n_children < 0 || nested[i].n_children == f->n_children);
	for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
		ok |= primitives[i].writable && primitives[i].kind == f->type.kind;
	if (!ok)
	{
		bf_type_name(f->type, name, sizeof name);
		bf_error(err, BF_ERR_UNSUPPORTED, "an Iceberg table can't have a column of type %s", name);
		return bf_error_column(err, f->name);
	}
	for (int32_t i = 0; i < f->n_children; i++)
		BF_TRY(check_writable(&f->children[i], depth + 1, err));
	return BF_OK;
}

BfStatus
bfi_schema_json(const BfSchema *schema, json_t **out, BfError *err)
{
	for (int32_t i = 0; i < schema->n_fields; i++)
		BF_TRY(check_writable(&schema->fields[i], 0, err));
	*out = json_pack("{s:s, s:i, s:o}", "type", "struct", "schema-id", schema->schema_id, "fields",
					 fields_json(schema->fields, schema->n_fields));
	/* The texts are known to be there, so what is left is memory or a name that is not UTF-8. */
	if (*out == NULL)
		BF_FAIL(err, BF_ERR_VALUE, "the schema can't be written as JSON: a name is not UTF-8");
	return BF_OK;
}

json_t *
bfi_spec_fields_json(const BfIceSpec *spec)
{
	json_t *list = json_array();

	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		const BfIcePartitionField *f = &spec->fields[i];

		if (json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i}", "name", f->name,
												  "transform", f->transform_text, "source-id",
												  f->source_id, "field-id", f->field_id)) != 0)
		{
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
