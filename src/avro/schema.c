/*
 * Schema JSON to nodes. Names resolve as in the Avro specification: a name with a dot is full, one
 * without belongs to the enclosing namespace. A type can only be referenced after (or inside) its
 * own definition, so every child is complete, or in progress and of unknown size, when its parent
 * is.
 */
#include "avro/internal.h"

#include <jansson.h>

#include "base/ascii.h"

#define NAME_BUCKETS 512
#define MIN_BYTES_CAP ((int64_t) 1 << 20)

typedef struct Named
{
	struct Named *next;
	const char *name;
	BfAvroSchema *schema;
} Named;

typedef struct Parser
{
	BfArena *a;
	int32_t n_nodes;
	Named *named[NAME_BUCKETS];
} Parser;

static const struct
{
	const char *name;
	BfAvroType type;
	int32_t min_bytes;
} primitives[] = {
	{"null", BF_AVRO_NULL, 0},	 {"boolean", BF_AVRO_BOOLEAN, 1}, {"int", BF_AVRO_INT, 1},
	{"long", BF_AVRO_LONG, 1},	 {"float", BF_AVRO_FLOAT, 4},	  {"double", BF_AVRO_DOUBLE, 8},
	{"bytes", BF_AVRO_BYTES, 1}, {"string", BF_AVRO_STRING, 1},	  {"fixed", BF_AVRO_FIXED, 0},
	{"enum", BF_AVRO_ENUM, 1},	 {"record", BF_AVRO_RECORD, 0},	  {"error", BF_AVRO_RECORD, 0},
	{"array", BF_AVRO_ARRAY, 1}, {"map", BF_AVRO_MAP, 1},
};

_Static_assert(sizeof primitives / sizeof *primitives == BF_AVRO_UNION + 1,
			   "each type but the union, which has no name, and a second name of records");
_Static_assert(MIN_BYTES_CAP < INT32_MAX, "a branch byte can be added");

static BfStatus parse_node(Parser *p, const json_t *j, const char *space, int depth,
						   BfAvroSchema **out, BfError *err) BF_MUST_CHECK;

static uint32_t
name_bucket(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t) *name) * 16777619u;
	return h % NAME_BUCKETS;
}

static BfAvroSchema *
find_named(const Parser *p, const char *name)
{
	for (const Named *n = p->named[name_bucket(name)]; n != NULL; n = n->next)
		if (strcmp(n->name, name) == 0)
			return n->schema;
	return NULL;
}

static BfStatus
add_named(Parser *p, BfAvroSchema *s, BfError *err)
{
	Named *n;
	uint32_t bucket = name_bucket(s->name);

	BF_ASSERT(s->type == BF_AVRO_RECORD || s->type == BF_AVRO_ENUM || s->type == BF_AVRO_FIXED);
	if (find_named(p, s->name) != NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema defines \"%s\" twice", s->name);
	BF_NEW(p->a, n, 1, err);
	n->name = s->name;
	n->schema = s;
	n->next = p->named[bucket];
	p->named[bucket] = n;
	return BF_OK;
}

static BfStatus
new_node(Parser *p, BfAvroType type, int32_t min_bytes, BfAvroSchema **out, BfError *err)
{
	if (++p->n_nodes > BF_AVRO_NODES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "Avro schema has more than %d nodes", BF_AVRO_NODES_MAX);
	BF_NEW(p->a, *out, 1, err);
	(*out)->type = type;
	BF_ASSERT(min_bytes >= 0);
	(*out)->min_bytes = min_bytes;
	return BF_OK;
}

/* A non-negative 32-bit number; writers also put numbers into strings. -1 when absent or other. */
static int32_t
get_int(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	json_int_t n = -1;

	if (json_is_integer(v))
		n = json_integer_value(v);
	else if (json_is_string(v))
	{
		const char *text = json_string_value(v);
		size_t len = json_string_length(v);

		int64_t digits;

		if (len > 0 && bf_ascii_number(text, len, INT32_MAX, &digits) == len)
			n = digits;
	}
	return n < 0 || n > INT32_MAX ? -1 : (int32_t) n;
}

static int32_t
get_id(const json_t *object, const char *key)
{
	int32_t id = get_int(object, key);

	return id < 0 ? 0 : id;
}

/* The full name of a definition, and the namespace that its fields live in. */
static BfStatus
full_name(Parser *p, const json_t *j, const char *space, const char **name, const char **inner,
		  BfError *err)
{
	const char *given = json_string_value(json_object_get(j, "name"));
	const char *own_space = json_string_value(json_object_get(j, "namespace"));
	const char *dot;

	if (given == NULL || given[0] == '\0')
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema has a named type without a name");
	dot = strrchr(given, '.');
	if (dot != NULL)
	{
		BF_TRY_PTR(p->a, *name, bf_arena_strdup(p->a, given), err);
		BF_TRY_PTR(p->a, *inner, bf_arena_strndup(p->a, given, (size_t) (dot - given)), err);
		return BF_OK;
	}
	if (own_space != NULL)
		BF_TRY_PTR(p->a, space, bf_arena_strdup(p->a, own_space), err);
	*inner = space;
	BF_TRY_PTR(p->a, *name,
			   space[0] == '\0' ? bf_arena_strdup(p->a, given)
								: bf_arena_printf(p->a, "%s.%s", space, given),
			   err);
	return BF_OK;
}

static BfStatus
parse_reference(Parser *p, const char *name, const char *space, BfAvroSchema **out, BfError *err)
{
	char *full;

	if (strchr(name, '.') == NULL && space[0] != '\0')
	{
		BfArenaMark mark = bf_arena_mark(p->a);

		BF_TRY_PTR(p->a, full, bf_arena_printf(p->a, "%s.%s", space, name), err);
		*out = find_named(p, full);
		bf_arena_rewind(p->a, mark);
		if (*out != NULL)
			return BF_OK;
	}
	*out = find_named(p, name);
	if (*out == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema refers to \"%.100s\", which it does not define",
				name);
	return BF_OK;
}

/* A type given by its name: a primitive, or a named type seen before. */
static BfStatus
parse_name(Parser *p, const char *name, const char *space, BfAvroSchema **out, BfError *err)
{
	for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
		if (strcmp(primitives[i].name, name) == 0 && primitives[i].type < BF_AVRO_FIXED)
			return new_node(p, primitives[i].type, primitives[i].min_bytes, out, err);
	return parse_reference(p, name, space, out, err);
}

static BfStatus
parse_fields(Parser *p, const json_t *j, const char *space, int depth, BfAvroSchema *s,
			 BfError *err)
{
	const json_t *fields = json_object_get(j, "fields");
	size_t n = json_array_size(fields);
	int64_t min_bytes = 0;

	if (!json_is_array(fields))
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro record \"%.100s\" has no fields", s->name);
	if (n > BF_AVRO_NODES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "Avro schema has more than %d nodes", BF_AVRO_NODES_MAX);
	BF_NEW(p->a, s->children, n, err);
	BF_NEW(p->a, s->field_names, n, err);
	BF_NEW(p->a, s->field_ids, n, err);
	for (size_t i = 0; i < n; i++)
	{
		const json_t *f = json_array_get(fields, i);
		const char *name = json_string_value(json_object_get(f, "name"));
		const char *iceberg_name = json_string_value(json_object_get(f, "iceberg-field-name"));

		if (name == NULL)
			BF_FAIL(err, BF_ERR_CORRUPT, "Avro record \"%.100s\" has a field without a name",
					s->name);
		if (iceberg_name != NULL)
			name = iceberg_name;
		BF_TRY_PTR(p->a, s->field_names[i], bf_arena_strdup(p->a, name), err);
		s->field_ids[i] = get_id(f, "field-id");
		BF_TRY(parse_node(p, json_object_get(f, "type"), space, depth + 1, &s->children[i], err));
		min_bytes += s->children[i]->min_bytes;
	}
	s->n_children = (int32_t) n;
	s->min_bytes = (int32_t) (min_bytes > MIN_BYTES_CAP ? MIN_BYTES_CAP : min_bytes);
	return BF_OK;
}

static BfStatus
parse_enum(Parser *p, const json_t *j, BfAvroSchema *s, BfError *err)
{
	const json_t *symbols = json_object_get(j, "symbols");
	size_t n = json_array_size(symbols);

	if (!json_is_array(symbols) || n > INT32_MAX)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro enum \"%.100s\" has no symbols", s->name);
	BF_NEW(p->a, s->symbols, n, err);
	for (size_t i = 0; i < n; i++)
	{
		const char *text = json_string_value(json_array_get(symbols, i));

		if (text == NULL)
			BF_FAIL(err, BF_ERR_CORRUPT, "Avro enum \"%.100s\" has a symbol that is not a string",
					s->name);
		BF_TRY_PTR(p->a, s->symbols[i], bf_arena_strdup(p->a, text), err);
	}
	s->n_symbols = (int32_t) n;
	return BF_OK;
}

static BfStatus
parse_one_child(Parser *p, const json_t *child, const char *space, int depth, BfAvroSchema *s,
				BfError *err)
{
	BF_NEW(p->a, s->children, 1, err);
	s->n_children = 1;
	return parse_node(p, child, space, depth + 1, &s->children[0], err);
}

static BfStatus
parse_union(Parser *p, const json_t *j, const char *space, int depth, BfAvroSchema **out,
			BfError *err)
{
	size_t n = json_array_size(j);
	int32_t least = INT32_MAX;
	BfAvroSchema *s;

	if (n == 0 || n > BF_AVRO_NODES_MAX)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema has a union of %zu types", n);
	BF_TRY(new_node(p, BF_AVRO_UNION, 0, &s, err));
	BF_NEW(p->a, s->children, n, err);
	for (size_t i = 0; i < n; i++)
	{
		if (json_is_array(json_array_get(j, i)))
			BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema has a union directly inside a union");
		BF_TRY(parse_node(p, json_array_get(j, i), space, depth, &s->children[i], err));
		if (s->children[i]->type == BF_AVRO_UNION)
			BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema has a union directly inside a union");
		if (s->children[i]->min_bytes < least)
			least = s->children[i]->min_bytes;
	}
	BF_ASSERT(least >= 0 && least <= MIN_BYTES_CAP);
	s->n_children = (int32_t) n;
	s->min_bytes = least + 1;
	*out = s;
	return BF_OK;
}

/* Annotations of the type. A decimal that makes no sense is its bare type, as the specification
 * wants it. */
static BfStatus
parse_logical(Parser *p, const json_t *j, BfAvroSchema *s, BfError *err)
{
	const char *logical = json_string_value(json_object_get(j, "logicalType"));
	const json_t *scale = json_object_get(j, "scale");

	s->element_id = get_id(j, "element-id");
	s->key_id = get_id(j, "key-id");
	s->value_id = get_id(j, "value-id");
	s->adjust_to_utc = json_is_true(json_object_get(j, "adjust-to-utc"));
	if (logical == NULL)
		return BF_OK;
	if (strcmp(logical, "decimal") == 0)
	{
		int32_t precision = get_int(j, "precision");
		int32_t digits = scale == NULL ? 0 : get_int(j, "scale");

		if (precision <= 0 || digits < 0 || digits > precision)
			return BF_OK;
		s->precision = precision;
		s->scale = digits;
	}
	BF_TRY_PTR(p->a, s->logical_type, bf_arena_strdup(p->a, logical), err);
	return BF_OK;
}

static BfStatus
parse_definition(Parser *p, const json_t *j, BfAvroType type, const char *space, int depth,
				 BfAvroSchema **out, BfError *err)
{
	const char *inner = space;
	BfAvroSchema *s;

	BF_ASSERT(type >= BF_AVRO_FIXED && type < BF_AVRO_UNION);
	BF_TRY(new_node(p, type, type == BF_AVRO_RECORD || type == BF_AVRO_FIXED ? 0 : 1, &s, err));
	*out = s;
	BF_TRY(parse_logical(p, j, s, err));
	if (type == BF_AVRO_ARRAY)
		return parse_one_child(p, json_object_get(j, "items"), space, depth, s, err);
	if (type == BF_AVRO_MAP)
		return parse_one_child(p, json_object_get(j, "values"), space, depth, s, err);

	BF_TRY(full_name(p, j, space, &s->name, &inner, err));
	BF_TRY(add_named(p, s, err));
	if (type == BF_AVRO_RECORD)
		return parse_fields(p, j, inner, depth, s, err);
	if (type == BF_AVRO_ENUM)
		return parse_enum(p, j, s, err);
	BF_ASSERT(type == BF_AVRO_FIXED);
	s->fixed_size = get_int(j, "size");
	if (s->fixed_size < 0)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro fixed type \"%.100s\" has no valid size", s->name);
	s->min_bytes = s->fixed_size > MIN_BYTES_CAP ? (int32_t) MIN_BYTES_CAP : s->fixed_size;
	return BF_OK;
}

static BfStatus
parse_object(Parser *p, const json_t *j, const char *space, int depth, BfAvroSchema **out,
			 BfError *err)
{
	const json_t *type = json_object_get(j, "type");
	const char *name = json_string_value(type);
	int32_t n_before = p->n_nodes;

	if (name == NULL) /* a wrapped type: {"type": {"type": "long"}} */
		return parse_node(p, type, space, depth + 1, out, err);
	for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
		if (primitives[i].type >= BF_AVRO_FIXED && strcmp(primitives[i].name, name) == 0)
			return parse_definition(p, j, primitives[i].type, space, depth, out, err);
	BF_TRY(parse_name(p, name, space, out, err));
	BF_ASSERT(p->n_nodes - n_before <= 1);
	/* A referenced type keeps the annotations of its own definition. */
	if (p->n_nodes != n_before)
		BF_TRY(parse_logical(p, j, *out, err));
	return BF_OK;
}

static BfStatus
parse_node(Parser *p, const json_t *j, const char *space, int depth, BfAvroSchema **out,
		   BfError *err)
{
	if (depth > BF_AVRO_DEPTH_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "Avro schema is nested deeper than %d levels",
				BF_AVRO_DEPTH_MAX);
	if (json_is_string(j))
		return parse_name(p, json_string_value(j), space, out, err);
	if (json_is_array(j))
		return parse_union(p, j, space, depth, out, err);
	if (json_is_object(j))
		return parse_object(p, j, space, depth, out, err);
	BF_FAIL(err, BF_ERR_CORRUPT, "Avro schema has a type that is neither name, object nor list");
}

BfStatus
bfi_avro_schema_parse(BfArena *a, const char *json, size_t n, BfAvroSchema **out, int32_t *n_nodes,
					  BfError *err)
{
	json_error_t json_err;
	json_t *root;
	Parser *p;
	BfStatus status;

	if (n > BF_AVRO_SCHEMA_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "Avro schema is longer than %zu bytes",
				BF_AVRO_SCHEMA_BYTES_MAX);
	BF_NEW(a, p, 1, err);
	p->a = a;
	root = json_loadb(json, n, JSON_DECODE_ANY, &json_err);
	if (root == NULL) /* without json_err.text, which quotes what stands there */
		BF_FAIL_AT(err, BF_ERR_CORRUPT, json_err.position, "Avro schema is not JSON");
	status = parse_node(p, root, "", 0, out, err);
	BF_ASSERT(status != BF_OK || (p->n_nodes > 0 && p->n_nodes <= BF_AVRO_NODES_MAX));
	json_decref(root);
	*n_nodes = p->n_nodes;
	return status;
}

BfStatus
bf_avro_schema_parse(BfArena *a, const char *json, size_t n, BfAvroSchema **out, BfError *err)
{
	int32_t n_nodes;

	return bfi_avro_schema_parse(a, json, n, out, &n_nodes, err);
}
