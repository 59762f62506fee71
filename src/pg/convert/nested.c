/*
 * pg/convert/nested.c: lists as arrays, structs as composite values; see out.h.
 *
 * The items of all rows of a run are converted at once, then cut into arrays. Lists of lists are
 * arrays of as many dimensions where all inner lists are of the same length; PostgreSQL has no
 * other arrays, and none of NULL sub-arrays. A NULL list is NULL, an empty one `{}`.
 */
#include "pg/convert/internal.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/convert/typemap.h"
#include "pg/server/encoding.h"

static bool
is_json(Oid typid)
{
	return typid == JSONBOID || typid == JSONOID || typid == TEXTOID;
}

/* Levels of lists around what is no list, or is declared as JSON itself. */
static const BfField *
innermost(const BfField *f, int32 *levels)
{
	*levels = 0;
	while (f->type.kind == BF_KIND_LIST && f->n_children == 1)
	{
		f = &f->children[0];
		(*levels)++;
	}
	return f;
}

static int32
child_named(const BfField *f, const char *attribute)
{
	return bf_fields_find(f->children, f->n_children, bifang_to_utf8(attribute));
}

/* The part's own path in front of what was found in it. */
static bool
misfit_below(BifangMisfit *why, const char *part)
{
	if (why != NULL)
		why->path = psprintf("%s%s", part, why->path);
	return false;
}

static bool
no_member(const BfField *from, const char *name, BifangMisfit *why)
{
	StringInfoData names;

	if (why == NULL)
		return false;
	initStringInfo(&names);
	for (int32 i = 0; i < from->n_children && names.len < 200; i++)
		appendStringInfo(&names, "%s\"%s\"", i > 0 ? ", " : "", from->children[i].name);
	*why = (BifangMisfit){psprintf(".%s", name),
						  psprintf("the struct has no such member (or several that differ in "
								   "case), it has %s",
								   names.data)};
	return false;
}

static bool
composite_fits(const BfField *from, Oid typid, BifangMisfit *why)
{
	TupleDesc desc = lookup_rowtype_tupdesc_noerror(typid, -1, true);
	bool ok = desc != NULL;

	for (int i = 0; ok && i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *name = NameStr(att->attname);
		int32 child = child_named(from, name);

		if (att->attisdropped)
			continue;
		if (child < 0)
			ok = no_member(from, name, why);
		else if (!bifang_out_fits(&from->children[child], getBaseType(att->atttypid), why))
			ok = misfit_below(why, psprintf(".%s", name));
	}
	if (desc != NULL)
		ReleaseTupleDesc(desc);
	return ok;
}

bool
bifang_nested_fits(const BfField *from, Oid typid, BifangMisfit *why)
{
	Oid elem = get_element_type(typid);
	int32 levels;
	const BfField *inner;

	check_stack_depth();
	if (is_json(typid))
		return true;
	if (from->type.kind == BF_KIND_STRUCT && get_typtype(typid) == TYPTYPE_COMPOSITE)
		return composite_fits(from, typid, why);
	inner = innermost(from, &levels);
	if (from->type.kind == BF_KIND_LIST && OidIsValid(elem) && levels <= MAXDIM)
		return bifang_out_fits(inner, getBaseType(elem), why) || misfit_below(why, "[]");
	if (why != NULL)
		*why = (BifangMisfit){"", psprintf("%s cannot be read as %s", bifang_type_text(from->type),
										   bifang_pg_type_text(typid, -1))};
	return false;
}

/* ---- JSON ---- */

static void
json_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	for (int32 i = 0; i < n; i++)
	{
		if (isnull[i])
			continue;
		resetStringInfo(&o->json);
		bifang_json_value(o, o->field, vec, first + i, &o->json);
		if (!o->refused)
			values[i] = bifang_input_text(o, o->json.data);
		bifang_out_nulled(o, &isnull[i]);
	}
	if (o->json.maxlen > 1024 * 1024) /* one large value is no reason to keep as much */
	{
		MemoryContext old = MemoryContextSwitchTo(o->cxt);

		pfree(o->json.data);
		initStringInfo(&o->json);
		MemoryContextSwitchTo(old);
	}
}

/* ---- arrays ---- */

typedef struct Shape
{
	const BifangOut *o;
	int dims[MAXDIM];
	bool known[MAXDIM];
} Shape;

static void
ragged(const BifangOut *o)
{
	ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					errmsg("lists in column \"%s\" of \"%s\" are not of the same length or NULL",
						   o->column, o->file),
					errdetail("An array has sub-arrays of the same length only."),
					errhint("Declare the column as jsonb.")));
}

/* Lengths on each level, which must be the same everywhere. */
static void
measure(Shape *s, const BfVector *v, int32 row, int32 level)
{
	int32 first;
	int32 end;

	Assert(level < s->o->array.n_dims && s->o->array.n_dims <= MAXDIM);
	bf_vector_items(v, row, &first, &end);
	if (s->known[level] && s->dims[level] != end - first)
		ragged(s->o);
	s->known[level] = true;
	s->dims[level] = end - first;
	if (level + 1 == s->o->array.n_dims)
		return;
	for (int32 i = first; i < end; i++)
	{
		if (!bf_valid(v->children[0].validity, v->children[0].form == BF_VEC_CONST ? 0 : i))
			ragged(s->o);
		measure(s, &v->children[0], i, level + 1);
	}
}

/* The innermost vector, and the rows of it that belong to rows [*first, *end) of v. */
static const BfVector *
descend(const BifangOut *o, const BfVector *v, int32 *first, int32 *end)
{
	for (int32 level = 0; level < o->array.n_dims; level++)
	{
		int32 from = *first;
		int32 to = *end;
		int32 dummy;

		if (v->n_children == 0) /* lists that are all NULL */
		{
			*first = *end = 0;
			return v;
		}
		if (from < to)
		{
			bf_vector_items(v, from, first, &dummy);
			bf_vector_items(v, to - 1, &dummy, end);
		}
		v = &v->children[0];
	}
	return v;
}

static Datum
make_array(BifangOut *o, const BfVector *v, int32 row, Datum *items, bool *nulls)
{
	Shape s = {.o = o};
	int lower[MAXDIM];
	int n_items = 1;

	measure(&s, v, row, 0);
	for (int32 i = 0; i < o->array.n_dims; i++)
	{
		lower[i] = 1;
		n_items = s.dims[i] == 0 ? 0 : n_items;
	}
	if (n_items == 0)
		return PointerGetDatum(construct_empty_array(o->parts.outs[0]->to.declared));
	return PointerGetDatum(construct_md_array(items, nulls, o->array.n_dims, s.dims, lower,
											  o->parts.outs[0]->to.declared, o->array.elem_len,
											  o->array.elem_by_value, o->array.elem_align));
}

static void
array_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(o->row_bump.cxt);
	int32 items_first = first;
	int32 items_end = first + n;
	const BfVector *items = descend(o, vec, &items_first, &items_end);
	int32 n_items = Max(items_end - items_first, 0);
	Datum *all = palloc_extended((Size) (n_items + 1) * sizeof *all, MCXT_ALLOC_HUGE);
	bool *nulls = palloc_extended((Size) n_items + 1, MCXT_ALLOC_HUGE);
	ErrorContextCallback callback = {error_context_stack, bifang_out_context, o};

	if (n_items > 0)
		bifang_out_run(o->parts.outs[0], items, items_first, n_items, all, nulls, NULL);
	error_context_stack = &callback;
	for (int32 i = 0; i < n; i++)
	{
		int32 at = first + i;
		int32 end = at + 1;

		if (isnull[i])
			continue;
		descend(o, vec, &at, &end);
		Assert(at >= items_first && end <= items_end);
		values[i] =
			make_array(o, vec, first + i, all + (at - items_first), nulls + (at - items_first));
	}
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
}

/* ---- composite types ---- */

static void
composite_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(o->row_bump.cxt);
	Datum **columns = palloc((Size) (o->parts.n + 1) * sizeof *columns);
	bool **nulls = palloc((Size) (o->parts.n + 1) * sizeof *nulls);
	Datum *row = palloc0((Size) o->parts.desc->natts * sizeof *row);
	bool *row_nulls = palloc((Size) o->parts.desc->natts * sizeof *row_nulls);
	ErrorContextCallback callback = {error_context_stack, bifang_out_context, o};

	for (int32 k = 0; k < o->parts.n; k++)
	{
		columns[k] = palloc_extended((Size) n * sizeof(Datum), MCXT_ALLOC_HUGE);
		nulls[k] = palloc_extended((Size) n, MCXT_ALLOC_HUGE);
		bifang_out_run(o->parts.outs[k], &vec->children[o->parts.fields[k]], first, n, columns[k],
					   nulls[k], isnull);
	}
	error_context_stack = &callback;
	for (int32 i = 0; i < n; i++)
	{
		int32 k = 0; /* of the attributes that are not dropped */

		if (isnull[i])
			continue;
		for (int att = 0; att < o->parts.desc->natts; att++)
		{
			row_nulls[att] = TupleDescAttr(o->parts.desc, att)->attisdropped;
			if (row_nulls[att])
				continue;
			Assert(k < o->parts.n);
			row[att] = columns[k][i];
			row_nulls[att] = nulls[k++][i];
		}
		values[i] = HeapTupleGetDatum(heap_form_tuple(o->parts.desc, row, row_nulls));
	}
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
}

/* ---- which conversion ---- */

static BifangOut *
part_of(BifangOut *o, const BifangOutWhat *what, const BfField *field, const char *name, Oid typid,
		int32 typmod)
{
	BifangOutWhat part = *what;

	part.column = psprintf("%s%s", what->column, name);
	part.field = field;
	part.typid = typid;
	part.typmod = typmod;
	return bifang_out_new(o->cxt, &part);
}

BifangFlatFn
bifang_choose_nested(BifangOut *o, const BifangOutWhat *what)
{
	if (is_json(o->to.typid))
	{
		Oid fn;

		getTypeInputInfo(o->to.typid, &fn, &o->input.param);
		fmgr_info_cxt(fn, &o->input.fn, o->cxt);
		initStringInfo(&o->json);
		return json_flat;
	}
	if (o->from.kind == BF_KIND_LIST)
	{
		Oid elem = get_element_type(o->to.typid);
		const BfField *inner = innermost(o->field, &o->array.n_dims);

		Assert(OidIsValid(elem) && o->array.n_dims > 0 && o->array.n_dims <= MAXDIM);
		get_typlenbyvalalign(elem, &o->array.elem_len, &o->array.elem_by_value,
							 &o->array.elem_align);
		o->parts.outs = palloc(sizeof *o->parts.outs);
		o->parts.outs[0] = part_of(o, what, inner, "[]", elem, o->to.typmod);
		o->parts.n = 1;
		return array_flat;
	}
	o->parts.desc = lookup_rowtype_tupdesc_copy(o->to.typid, -1);
	o->parts.outs = palloc((Size) (o->parts.desc->natts + 1) * sizeof *o->parts.outs);
	o->parts.fields = palloc((Size) (o->parts.desc->natts + 1) * sizeof *o->parts.fields);
	for (int i = 0; i < o->parts.desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(o->parts.desc, i);
		int32 child;

		if (att->attisdropped)
			continue;
		child = child_named(o->field, NameStr(att->attname));
		Assert(child >= 0 && child < o->field->n_children); /* bifang_out_fits said so */
		o->parts.fields[o->parts.n] = child;
		o->parts.outs[o->parts.n] =
			part_of(o, what, &o->field->children[child], psprintf(".%s", NameStr(att->attname)),
					att->atttypid, att->atttypmod);
		o->parts.n++;
	}
	return composite_flat;
}
