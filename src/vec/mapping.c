/*
 * Columns of a file to columns that are wanted: found by id or by name, promoted, filled in where
 * the file lacks them.
 */
#include "vec/mapping.h"

typedef enum MapKind
{
	MAP_IDENTITY, /* the vector itself */
	MAP_PROMOTED, /* a leaf, converted */
	MAP_STRUCT,	  /* children one by one */
	MAP_ITEMS,	  /* LIST, MAP: the same, over the children's rows */
	MAP_VARIANT,  /* a struct of a variant's parts: the reader made JSON of it */
	MAP_CONSTANT  /* the file lacks it */
} MapKind;

struct BfMapping
{
	MapKind kind;
	int32_t from;	/* index in the parent's children of the file; -1: none */
	BfArena *arena; /* borrowed: own's buffers grow in it */
	BfType type;
	BfVector own; /* MAP_PROMOTED: its buffers; MAP_CONSTANT: the value */
	int32_t n_children;
	BfMapping *children;
	BfVector *vectors; /* what the result's children are */
};

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
}

static bool
equal_ignoring_case(const char *a, const char *b)
{
	while (*a != '\0' && lower(*a) == lower(*b))
	{
		a++;
		b++;
	}
	return *a == *b;
}

static int32_t
find_exactly(const BfField *fields, int32_t n, const char *name)
{
	for (int32_t i = 0; i < n; i++)
		if (strcmp(fields[i].name, name) == 0)
			return i;
	return -1;
}

static BfStatus
find_by_name(const BfField *fields, int32_t n, const char *name, int32_t *out, BfError *err)
{
	*out = find_exactly(fields, n, name);
	if (*out >= 0)
		return BF_OK;
	for (int32_t i = 0; i < n; i++)
	{
		if (!equal_ignoring_case(fields[i].name, name))
			continue;
		if (*out >= 0)
		{
			bf_error(err, BF_ERR_UNSUPPORTED,
					 "column \"%.100s\" matches both \"%.100s\" and \"%.100s\" of the file", name,
					 fields[*out].name, fields[i].name);
			return bf_error_column(err, name);
		}
		*out = i;
	}
	return BF_OK;
}

static int32_t
find_id(const BfField *fields, int32_t n, int32_t id)
{
	BF_ASSERT(id != 0);
	for (int32_t i = 0; i < n; i++)
		if (fields[i].id == id)
			return i;
	return -1;
}

/* Has a part of the field an id that belongs to the same part of `want`? An id is never given
 * twice, so they are one field then. */
static bool
shares_part(const BfField *f, const BfField *want)
{
	bool by_place = f->type.kind != BF_KIND_STRUCT;

	if (f->type.kind != want->type.kind)
		return false;
	for (int32_t i = 0; i < want->n_children; i++)
		for (int32_t k = 0; k < f->n_children; k++)
		{
			const BfField *part = &want->children[i], *have = &f->children[k];

			if ((k == i || !by_place) &&
				(have->id != 0 ? have->id == part->id : shares_part(have, part)))
				return true;
		}
	return false;
}

/* By id; a field without one, whose writer gave ids to its parts alone, by those. */
static int32_t
find_by_id(const BfField *fields, int32_t n, const BfField *want)
{
	int32_t at = find_id(fields, n, want->id);

	for (int32_t i = 0; i < n && at < 0; i++)
		if (fields[i].id == 0 && shares_part(&fields[i], want))
			at = i;
	return at;
}

BfStatus
bf_field_find(const BfField *fields, int32_t n, bool file_has_ids, const BfField *want,
			  int32_t *out, BfError *err)
{
	*out = -1;
	if (want->id == 0)
		return find_by_name(fields, n, want->name, out, err);
	if (file_has_ids)
	{
		*out = find_by_id(fields, n, want);
		return BF_OK;
	}
	for (int32_t i = 0; i < want->n_aliases && *out < 0; i++)
		*out = find_exactly(fields, n, want->aliases[i]);
	return BF_OK;
}

static BfStatus
bad_type(const BfField *from, const BfField *to, BfError *err)
{
	char from_name[64];
	char to_name[64];

	bf_type_name(from->type, from_name, sizeof from_name);
	bf_type_name(to->type, to_name, sizeof to_name);
	return bf_error(err, BF_ERR_UNSUPPORTED,
					"column \"%.100s\" is of type %s in the file, which can't be read as %s",
					to->name, from_name, to_name);
}

static BfStatus build(BfArena *a, const BfField *from, const BfField *to, bool file_has_ids,
					  BfMapping *m, BfError *err);

BfStatus
bf_mapping_missing(BfArena *a, const BfField *want, const char *what, BfVector *out, BfError *err)
{
	if (want->has_default)
		return bf_vector_init_const(a, out, want, &want->initial_default, 0, err);
	if (want->required)
		return bf_error(err, BF_ERR_CORRUPT, "the %s lacks the required column \"%.100s\"", what,
						want->name);
	bf_vector_set_null(out, want->type, 0);
	return BF_OK;
}

/* A member that the file lacks. */
static BfStatus
build_missing(BfArena *a, const BfField *to, BfMapping *m, BfError *err)
{
	m->kind = MAP_CONSTANT;
	m->from = -1;
	m->type = to->type;
	return bf_mapping_missing(a, to, "file", &m->own, err);
}

static bool
any_has_id(const BfField *fields, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (fields[i].id != 0)
			return true;
	return false;
}

/* Elements, keys and values are found by their place. That a member's id is not there means that
 * the file was written without that member, if its writer gave members ids at all. */
static BfStatus
find_child(const BfField *from, const BfField *to, int32_t i, bool file_has_ids, int32_t *out,
		   BfError *err)
{
	const BfField *want = &to->children[i];

	if (to->type.kind == BF_KIND_STRUCT && want->id != 0 && !file_has_ids && !want->mapped)
		return bf_error(err, BF_ERR_UNSUPPORTED,
						"the file has no field ids and the table has no name mapping to find "
						"\"%.100s\" of column \"%.100s\" by",
						want->name, to->name);
	if (to->type.kind == BF_KIND_STRUCT)
	{
		BF_TRY(bf_field_find(from->children, from->n_children, file_has_ids, want, out, err));
		if (*out < 0 && want->id != 0 && file_has_ids &&
			!any_has_id(from->children, from->n_children))
			return bf_error(
				err, BF_ERR_UNSUPPORTED,
				"no member of column \"%.100s\" has a field id in the file, whose other "
				"fields have some: \"%.100s\" can't be found",
				to->name, want->name);
		return BF_OK;
	}
	*out = i < from->n_children ? i : -1;
	if (*out >= 0 && want->id != 0 && from->children[i].id != 0 && want->id != from->children[i].id)
		return bf_error(err, BF_ERR_UNSUPPORTED,
						"\"%.100s\" of column \"%.100s\" has the field id %d in the file, not %d",
						want->name, to->name, from->children[i].id, want->id);
	return BF_OK;
}

static BfStatus
build_nested(BfArena *a, const BfField *from, const BfField *to, bool file_has_ids, BfMapping *m,
			 BfError *err)
{
	bool identity = from->n_children == to->n_children;

	m->kind = to->type.kind == BF_KIND_STRUCT ? MAP_STRUCT : MAP_ITEMS;
	m->n_children = to->n_children;
	BF_NEW(a, m->children, to->n_children, err);
	BF_NEW(a, m->vectors, to->n_children, err);
	for (int32_t i = 0; i < to->n_children; i++)
	{
		BfMapping *child = &m->children[i];
		int32_t at;

		BF_TRY(find_child(from, to, i, file_has_ids, &at, err));
		if (at < 0)
			BF_TRY(build_missing(a, &to->children[i], child, err));
		else
		{
			BF_ASSERT(at < from->n_children);
			BF_TRY(build(a, &from->children[at], &to->children[i], file_has_ids, child, err));
			child->from = at;
		}
		identity = identity && child->kind == MAP_IDENTITY && at == i;
	}
	if (identity)
		m->kind = MAP_IDENTITY;
	return BF_OK;
}

/* Are these the columns of a variant? Of typed_value any type will do here. */
static bool
has_variant_parts(const BfField *f)
{
	int32_t metadata = find_exactly(f->children, f->n_children, "metadata");
	int32_t value = find_exactly(f->children, f->n_children, "value");
	int32_t typed = find_exactly(f->children, f->n_children, "typed_value");

	return f->type.kind == BF_KIND_STRUCT && metadata >= 0 && (value >= 0 || typed >= 0) &&
		   f->n_children == 1 + (value >= 0) + (typed >= 0) &&
		   f->children[metadata].type.kind == BF_KIND_BINARY &&
		   (value < 0 || f->children[value].type.kind == BF_KIND_BINARY);
}

static BfStatus
build(BfArena *a, const BfField *from, const BfField *to, bool file_has_ids, BfMapping *m,
	  BfError *err)
{
	m->arena = a;
	m->type = to->type;
	m->from = 0;
	if (bf_type_storage(to->type) == BF_STORE_NESTED && from->type.kind == to->type.kind &&
		to->type.kind != BF_KIND_VARIANT)
		return build_nested(a, from, to, file_has_ids, m, err);
	if (bf_type_equal(from->type, to->type))
	{
		m->kind = MAP_IDENTITY;
		return BF_OK;
	}
	if (to->type.kind == BF_KIND_VARIANT && has_variant_parts(from))
	{
		m->kind = MAP_VARIANT;
		return BF_OK;
	}
	if (!bf_type_promotable(from->type, to->type))
		return bad_type(from, to, err);
	m->kind = MAP_PROMOTED;
	return bf_vector_init(a, &m->own, to->type, err);
}

BfStatus
bf_mapping_new(BfArena *a, const BfField *from, const BfField *to, bool file_has_ids,
			   BfMapping **out, BfError *err)
{
	BF_NEW(a, *out, 1, err);
	return build(a, from, to, file_has_ids, *out, err);
}

bool
bf_mapping_is_identity(const BfMapping *m)
{
	return m->kind == MAP_IDENTITY;
}

bool
bf_mapping_is_variant(const BfMapping *m)
{
	return m->kind == MAP_VARIANT;
}

int32_t
bf_mapping_n_children(const BfMapping *m)
{
	return m->n_children;
}

int32_t
bf_mapping_child(const BfMapping *m, int32_t child, const BfMapping **out)
{
	BF_ASSERT(child >= 0 && child < m->n_children);
	*out = &m->children[child];
	return m->children[child].from;
}

static BfStatus
apply_children(BfMapping *m, const BfVector *src, BfVector *dst, BfError *err)
{
	int32_t rows = src->form == BF_VEC_CONST ? 1 : src->n;
	bool items = m->kind == MAP_ITEMS;

	BF_ASSERT(items || m->kind == MAP_STRUCT);
	BF_ASSERT(src->storage == BF_STORE_NESTED && src->form != BF_VEC_DICT);
	*dst = *src;
	dst->type = m->type;
	dst->own_data = NULL;
	dst->own_validity = NULL;
	dst->own_offsets = NULL;
	dst->own_children = NULL;
	dst->own_n_children = 0;
	dst->children = m->vectors;
	dst->n_children = m->n_children;
	for (int32_t i = 0; i < m->n_children; i++)
	{
		BfMapping *child = &m->children[i];

		if (child->from >= 0)
		{
			BF_ASSERT(child->from < src->n_children);
			BF_TRY(bf_mapping_apply(child, &src->children[child->from], &m->vectors[i], err));
			continue;
		}
		BF_ASSERT(child->kind == MAP_CONSTANT && child->own.form == BF_VEC_CONST);
		m->vectors[i] = child->own;
		m->vectors[i].n = items ? src->offsets[rows] : rows;
	}
	return BF_OK;
}

BfStatus
bf_mapping_apply(BfMapping *m, const BfVector *src, BfVector *dst, BfError *err)
{
	if (m->kind == MAP_IDENTITY || (m->kind == MAP_VARIANT && src->type.kind == BF_KIND_JSON))
	{
		*dst = *src;
		return BF_OK;
	}
	if (src->form == BF_VEC_CONST && !bf_valid(src->validity, 0))
	{
		bf_vector_set_null(dst, m->type, src->n);
		return BF_OK;
	}
	if (m->kind == MAP_VARIANT)
		return bf_error(err, BF_ERR_UNSUPPORTED,
						"variants can't be read from files of this format");
	if (m->kind != MAP_PROMOTED)
		return apply_children(m, src, dst, err);
	if (src->form != BF_VEC_CONST)
		BF_TRY(bf_vector_reserve(m->arena, &m->own, src->n, err));
	BF_TRY(bf_vector_promote(src, &m->own, err));
	BF_ASSERT(m->own.n == src->n && bf_type_equal(m->own.type, m->type));
	*dst = m->own;
	dst->own_data = NULL;
	dst->own_validity = NULL;
	return BF_OK;
}

BfStatus
bf_mapping_constant(BfArena *a, const BfField *want, const BfValue *from, BfVector *out,
					BfError *err)
{
	BfField field = {.name = want->name, .type = from->type};
	BfMapping *mapping;
	BfVector v;

	if (from->is_null || bf_type_equal(from->type, want->type))
		return bf_vector_init_const(a, out, want, from, 0, err);
	BF_TRY(bf_vector_init_const(a, &v, &field, from, 1, err));
	BF_TRY(bf_mapping_new(a, &field, want, true, &mapping, err));
	return bf_mapping_apply(mapping, &v, out, err);
}
