/*
 * exec/read/constants.c: see constants.h.
 */
#include "exec/read/constants.h"

const BfValue *
bfi_constant_of(const BfConstants *constants, int32_t id)
{
	if (constants != NULL && id != 0)
		for (int32_t i = 0; i < constants->n; i++)
			if (constants->ids[i] == id && constants->values[i].type.kind != BF_KIND_NULL)
				return &constants->values[i];
	return NULL;
}

static bool
has_constant(const BfField *f, const BfConstants *constants)
{
	if (f->type.kind != BF_KIND_STRUCT)
		return false;
	for (int32_t i = 0; i < f->n_children; i++)
		if (bfi_constant_of(constants, f->children[i].id) != NULL ||
			has_constant(&f->children[i], constants))
			return true;
	return false;
}

static BfStatus
set_default(BfField *f, const BfValue *constant, BfError *err)
{
	BF_ASSERT(constant->type.kind != BF_KIND_NULL);
	f->has_default = true;
	if (!constant->is_null)
		return bf_value_promote(constant, f->type, &f->initial_default, err);
	f->initial_default = *constant;
	f->initial_default.type = f->type;
	return BF_OK;
}

/* The struct of its members' defaults, if one of the constants among them is a value. */
static BfStatus
set_struct_default(BfArena *a, BfField *f, const BfConstants *constants, BfError *err)
{
	bool any = false;
	BfValue *values;

	for (int32_t i = 0; i < f->n_children; i++)
	{
		const BfField *c = &f->children[i];

		any = any || (c->has_default && !c->initial_default.is_null &&
					  (bfi_constant_of(constants, c->id) != NULL || has_constant(c, constants)));
	}
	if (!any)
		return BF_OK;
	BF_NEW(a, values, f->n_children, err);
	for (int32_t i = 0; i < f->n_children; i++)
		values[i] = f->children[i].has_default
						? f->children[i].initial_default
						: (BfValue){.is_null = true, .type = f->children[i].type};
	f->has_default = true;
	f->initial_default = (BfValue){.type = f->type};
	f->initial_default.v.view = (BfView){(const uint8_t *) values, (uint32_t) f->n_children};
	return BF_OK;
}

/* Fields nest no deeper than their schema was allowed to. */
static BfStatus
set_members(BfArena *a, BfField *f, const BfConstants *constants, BfError *err)
{
	const BfField *old = f->children;

	BF_ASSERT(f->type.kind == BF_KIND_STRUCT);
	BF_NEW_RAW(a, f->children, f->n_children, err);
	for (int32_t i = 0; i < f->n_children; i++)
	{
		const BfValue *constant = bfi_constant_of(constants, old[i].id);

		f->children[i] = old[i];
		if (constant != NULL)
			BF_TRY(set_default(&f->children[i], constant, err));
		else if (has_constant(&old[i], constants))
			BF_TRY(set_members(a, &f->children[i], constants, err));
	}
	return set_struct_default(a, f, constants, err);
}

BfStatus
bfi_field_with_constants(BfArena *a, const BfField *want, const BfConstants *constants,
						 const BfField **out, BfError *err)
{
	BfField *copy;

	*out = want;
	if (!has_constant(want, constants))
		return BF_OK;
	BF_NEW(a, copy, 1, err);
	*copy = *want;
	*out = copy;
	return set_members(a, copy, constants, err);
}
