/*
 * exec/read/resolve.c: see resolve.h.
 */
#include "exec/read/resolve.h"

#include "exec/read/constants.h"

/* The field as the table's type says that it is to be understood. */
static BfStatus
with_zone(BfArena *a, const BfField *f, BfKind want, const BfField **out, BfError *err)
{
	BfField *copy;

	*out = f;
	if (!(f->type.kind == BF_KIND_TIMESTAMP && want == BF_KIND_TIMESTAMPTZ) &&
		!(f->type.kind == BF_KIND_TIMESTAMP_NS && want == BF_KIND_TIMESTAMPTZ_NS))
		return BF_OK;
	BF_NEW(a, copy, 1, err);
	*copy = *f;
	copy->type.kind = want;
	*out = copy;
	return BF_OK;
}

/* A column that is not there. */
static BfStatus
resolve_missing(BfArena *a, const BfiColumns *columns, const BfField *want,
				const BfConstants *constants, BfVector *out, BfError *err)
{
	const BfValue *constant = bfi_constant_of(constants, want->id);

	if (constant != NULL)
		return bf_mapping_constant(a, want, constant, out, err);
	if (!columns->numbered && bfi_unknown_by_id(columns, want))
		BF_FAIL(err, BF_ERR_UNSUPPORTED,
				"the file has no field ids and the table has no name mapping");
	return bf_mapping_missing(a, want, columns->what, out, err);
}

static BfStatus
resolve(BfArena *a, const BfiColumns *columns, const BfField *want, const BfConstants *constants,
		BfiResolved *c, BfError *err)
{
	const BfSchema *s = columns->schema;

	BF_TRY(bfi_field_with_constants(a, want, constants, &c->want, err));
	if (columns->numbered && bfi_unknown_by_id(columns, want))
		c->column = want->id <= s->n_fields ? want->id - 1 : -1;
	else
		BF_TRY(bf_field_find(s->fields, s->n_fields, columns->has_ids, c->want, &c->column, err));
	if (c->column < 0)
		return resolve_missing(a, columns, c->want, constants, &c->constant, err);
	BF_ASSERT(c->column < s->n_fields);
	c->from = &s->fields[c->column];
	if (columns->no_zones)
		BF_TRY(with_zone(a, c->from, want->type.kind, &c->from, err));
	return bf_mapping_new(a, c->from, c->want, columns->has_ids, &c->mapping, err);
}

BfStatus
bfi_resolve(BfArena *a, const BfiColumns *columns, const BfField *want,
			const BfConstants *constants, BfiResolved *out, BfError *err)
{
	memset(out, 0, sizeof *out);
	if (resolve(a, columns, want, constants, out, err) != BF_OK)
		return bf_error_column(err, want->name);
	BF_ASSERT((out->mapping == NULL) == (out->column < 0));
	BF_ASSERT(out->mapping != NULL || bf_type_equal(out->constant.type, want->type) ||
			  want->type.kind == BF_KIND_VARIANT);
	return BF_OK;
}

BfStatus
bfi_resolved_vector(BfiResolved *c, const BfVector *from, int32_t n, BfVector *out, BfError *err)
{
	if (c->mapping == NULL)
	{
		*out = c->constant;
		out->n = n;
		return BF_OK;
	}
	BF_ASSERT(from->n >= n);
	if (bf_mapping_apply(c->mapping, from, out, err) != BF_OK)
		return bf_error_column(err, c->want->name);
	return BF_OK;
}
