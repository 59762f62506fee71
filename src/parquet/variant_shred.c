/*
 * Shredded variants: a variant whose value, or whose members' values, are in columns of their own.
 *
 *     value   typed_value
 *     NULL    NULL           missing; only members of objects may be
 *     set     NULL           the value, binary
 *     NULL    set            the value, in columns: a primitive, a LIST of such pairs, or a group
 *                            with such a pair per member
 *     set     set            an object: members in columns, and the others binary
 *
 * Members in columns and others are shown in one order, that of their names.
 */
#include "base/sort.h"
#include "base/text.h"
#include "parquet/internal.h"
#include "parquet/variant.h"

/* Columns of a pair. */
typedef struct Pair
{
	const BfVector *value; /* NULL: the group has none */
	const BfVector *typed;
	const BfField *typed_field;
} Pair;

typedef struct Member
{
	BfView name;
	BfView value; /* binary; ptr NULL: in columns */
	int32_t child;
} Member;

typedef struct Texts
{
	const BfiVariantNames *names;
	BfBuffer *out;
	BfBuffer *members; /* a stack of Member */
} Texts;

static BfStatus
damaged(BfError *err, const char *what)
{
	return bf_error(err, BF_ERR_CORRUPT, "a variant is damaged: %s", what);
}

static int32_t
child_named(const BfField *field, const char *name)
{
	for (int32_t i = 0; i < field->n_children; i++)
		if (strcmp(field->children[i].name, name) == 0)
			return i;
	return -1;
}

static Pair
pair_of(const BfField *field, const BfVector *v)
{
	int32_t value = child_named(field, "value");
	int32_t typed = child_named(field, "typed_value");

	return (Pair){
		.value = value >= 0 ? &v->children[value] : NULL,
		.typed = typed >= 0 ? &v->children[typed] : NULL,
		.typed_field = typed >= 0 ? &field->children[typed] : NULL,
	};
}

/* ---- which columns a variant can have ---- */

static BfStatus check_typed(const BfField *f, int depth, BfError *err);

/* A group of value and typed_value. */
static BfStatus
check_pair(const BfField *f, int depth, BfError *err)
{
	int32_t value = child_named(f, "value");
	int32_t typed = child_named(f, "typed_value");

	if (depth > BFI_VARIANT_DEPTH_MAX)
		return bf_error(err, BF_ERR_LIMIT, "a variant is shredded deeper than %d",
						BFI_VARIANT_DEPTH_MAX);
	if (f->type.kind != BF_KIND_STRUCT && f->type.kind != BF_KIND_VARIANT)
		return bf_error(err, BF_ERR_UNSUPPORTED,
						"part \"%.100s\" of a shredded variant is no group", f->name);
	if (value >= 0 && f->children[value].type.kind != BF_KIND_BINARY)
		return bf_error(err, BF_ERR_UNSUPPORTED,
						"a variant's value that is not of type BYTE_ARRAY");
	return typed >= 0 ? check_typed(&f->children[typed], depth, err) : BF_OK;
}

static BfStatus
check_typed(const BfField *f, int depth, BfError *err)
{
	char name[64];

	switch (f->type.kind)
	{
		case BF_KIND_STRUCT:
			for (int32_t i = 0; i < f->n_children; i++)
				BF_TRY(check_pair(&f->children[i], depth + 1, err));
			return BF_OK;
		case BF_KIND_LIST: return check_pair(&f->children[0], depth + 1, err);
		case BF_KIND_BOOL:
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32:
		case BF_KIND_INT64:
		case BF_KIND_FLOAT32:
		case BF_KIND_FLOAT64:
		case BF_KIND_DATE:
		case BF_KIND_TIME:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS:
		case BF_KIND_STRING:
		case BF_KIND_BINARY:
		case BF_KIND_UUID: return BF_OK;
		case BF_KIND_DECIMAL:
			if (f->type.precision <= 38 && f->type.scale <= 38)
				return BF_OK;
			break;
		default: break;
	}
	bf_type_name(f->type, name, sizeof name);
	return bf_error(err, BF_ERR_UNSUPPORTED, "a variant is shredded into the type %s", name);
}

BfStatus
bfi_variant_check(const BfField *f, BfError *err)
{
	int32_t metadata = child_named(f, "metadata");

	if (metadata < 0 || f->children[metadata].type.kind != BF_KIND_BINARY)
		return bf_error(err, BF_ERR_UNSUPPORTED, "a variant without metadata");
	if (child_named(f, "value") < 0 && child_named(f, "typed_value") < 0)
		return bf_error(err, BF_ERR_UNSUPPORTED, "a variant without values");
	return check_pair(f, 1, err);
}

/* ---- texts ---- */

/* Is there a value at row i? NULL constants have none; other children are flat. */
static bool
has(const BfVector *v, int32_t i)
{
	return v != NULL && bf_valid(v->validity, v->form == BF_VEC_CONST ? 0 : i);
}

static bool
is_missing(const BfField *field, const BfVector *v, int32_t i)
{
	Pair p = pair_of(field, v);

	return !has(v, i) || (!has(p.value, i) && !has(p.typed, i));
}

static BfStatus
pair_text(Texts *t, const BfField *field, const BfVector *v, int32_t i, int depth, BfError *err);

static int
compare_members(const void *a, const void *b)
{
	const Member *x = a;
	const Member *y = b;
	uint32_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
	int c = n > 0 ? memcmp(x->name.ptr, y->name.ptr, n) : 0;

	return c != 0 ? c : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

static BfStatus
add_member(Texts *t, BfView name, BfView value, int32_t child, BfError *err)
{
	Member m = {.name = name, .value = value, .child = child};

	return bf_buffer_append(t->members, &m, sizeof m, err);
}

static bool
is_column(const BfField *typed, BfView name)
{
	for (int32_t i = 0; i < typed->n_children; i++)
		if (strlen(typed->children[i].name) == name.len &&
			memcmp(typed->children[i].name, name.ptr, name.len) == 0)
			return true;
	return false;
}

/* Members in columns, and those in `rest` (len 0: none); of a name that has both the column counts.
 */
static BfStatus
collect(Texts *t, const Pair *p, int32_t i, BfView rest, BfError *err)
{
	BfiVariantObject o;

	for (int32_t c = 0; c < p->typed_field->n_children; c++)
	{
		const BfField *f = &p->typed_field->children[c];
		BfView name = {(const uint8_t *) f->name, (uint32_t) strlen(f->name)};

		if (!is_missing(f, &p->typed->children[c], i))
			BF_TRY(add_member(t, name, (BfView){NULL, 0}, c, err));
	}
	if (rest.len == 0)
		return BF_OK;
	BF_TRY(bfi_variant_object(rest, &o, err));
	for (uint32_t m = 0; m < o.n; m++)
	{
		BfView name;
		BfView value;

		BF_TRY(bfi_variant_member(t->names, &o, m, &name, &value, err));
		if (!is_column(p->typed_field, name))
			BF_TRY(add_member(t, name, value, -1, err));
	}
	return BF_OK;
}

static BfStatus
object_text(Texts *t, const Pair *p, int32_t i, BfView rest, int depth, BfError *err)
{
	size_t base = t->members->len;
	size_t n;
	size_t total = 0;

	BF_TRY(collect(t, p, i, rest, err));
	BF_ASSERT(t->members->len >= base && (t->members->len - base) % sizeof(Member) == 0);
	n = (t->members->len - base) / sizeof(Member);
	if (n > 0)
		bf_sort(t->members->data + base, n, sizeof(Member), compare_members);
	BF_TRY(bf_buffer_u8(t->out, '{', err));
	for (size_t k = 0; k < n; k++)
	{
		Member m;
		size_t used = 0;

		/* The stack moves when it grows. */
		memcpy(&m, t->members->data + base + k * sizeof m, sizeof m);
		if (k > 0)
			BF_TRY(bf_buffer_u8(t->out, ',', err));
		BF_TRY(bf_text_json(t->out, m.name, BF_JSON_KEEP, err));
		BF_TRY(bf_buffer_u8(t->out, ':', err));
		if (m.child >= 0)
			BF_TRY(pair_text(t, &p->typed_field->children[m.child], &p->typed->children[m.child], i,
							 depth + 1, err));
		else
			BF_TRY(bfi_variant_value(t->names, m.value, depth + 1, t->out, &used, err));
		total += used;
		if (total > rest.len)
			return damaged(err, "an object's members overlap");
	}
	t->members->len = base;
	return bf_buffer_u8(t->out, '}', err);
}

static BfStatus
typed_text(Texts *t, const Pair *p, int32_t i, int depth, BfError *err)
{
	const BfVector *v = p->typed;
	int32_t first;
	int32_t end;
	BfValue value;

	if (v->type.kind == BF_KIND_STRUCT)
		return object_text(t, p, i, (BfView){NULL, 0}, depth, err);
	if (v->type.kind != BF_KIND_LIST)
	{
		bf_vector_get(v, i, &value);
		return bfi_json_value(t->out, &value, err);
	}
	BF_ASSERT(v->n_children == 1 && p->typed_field->n_children == 1);
	bf_vector_items(v, i, &first, &end);
	BF_TRY(bf_buffer_u8(t->out, '[', err));
	for (int32_t k = first; k < end; k++)
	{
		if (k > first)
			BF_TRY(bf_buffer_u8(t->out, ',', err));
		BF_TRY(pair_text(t, &p->typed_field->children[0], &v->children[0], k, depth + 1, err));
	}
	return bf_buffer_u8(t->out, ']', err);
}

static BfStatus
pair_text(Texts *t, const BfField *field, const BfVector *v, int32_t i, int depth, BfError *err)
{
	Pair p = pair_of(field, v);
	bool has_value = has(p.value, i);
	bool has_typed = has(p.typed, i);
	BfView value = has_value ? p.value->data.view[i] : (BfView){NULL, 0};
	size_t used;

	if (has_typed && has_value)
	{
		if (p.typed->type.kind != BF_KIND_STRUCT)
			return damaged(err, "it has both a value and a typed value");
		if (value.len == 0)
			return damaged(err, "a value of no bytes");
		return object_text(t, &p, i, value, depth, err);
	}
	if (has_typed)
		return typed_text(t, &p, i, depth, err);
	if (!has_value)
		return bf_buffer_append(t->out, "null", 4, err);
	return bfi_variant_value(t->names, value, depth, t->out, &used, err);
}

BfStatus
bfi_variant_texts(const BfField *field, const BfVector *parts, int32_t n, BfBuffer *text,
				  BfView *views, BfBuffer *scratch, BfError *err)
{
	const BfVector *metadata = &parts->children[child_named(field, "metadata")];
	BfiVariantNames names;
	Texts t = {.names = &names, .out = text, .members = scratch};
	size_t from = 0;

	BF_ASSERT(parts->n >= n && parts->n_children == field->n_children);
	text->len = 0;
	for (int32_t i = 0; i < n; i++)
	{
		if (!bf_valid(parts->validity, i))
			continue;
		if (!has(metadata, i))
			return damaged(err, "it has no metadata");
		BF_TRY(bfi_variant_names(metadata->data.view[i], &names, err));
		scratch->len = 0;
		BF_TRY(pair_text(&t, field, parts, i, 1, err));
		BF_NEVER(err, text->len - from > UINT32_MAX);
		views[i].len = (uint32_t) (text->len - from);
		from = text->len;
	}
	/* Only now is the text where it stays. */
	from = 0;
	for (int32_t i = 0; i < n; i++)
		if (bf_valid(parts->validity, i))
		{
			views[i].ptr = text->data + from;
			from += views[i].len;
		}
	BF_ASSERT(from == text->len);
	return BF_OK;
}
