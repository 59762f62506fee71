/*
 * pg/convert/out.c: column vectors into Datums; see out.h.
 *
 * A conversion is one function over a run of rows, chosen once per column. By-reference results go
 * into a bump buffer that is emptied at each call; results of dictionary entries go into a second
 * one, which lives as long as the dictionary. Entries are converted when a row first names them, so
 * that a large dictionary costs only what is used of it.
 */
#include "pg/convert/internal.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/convert/typemap.h"
#include "pg/server/encoding.h"

#define CHUNK_BYTES ((size_t) 64 * 1024)
#define KEPT_BYTES_MAX ((size_t) 16 * 1024 * 1024)

/* ---- buffers ---- */

static void
bump_init(BifangBump *b, MemoryContext parent)
{
	memset(b, 0, sizeof *b);
	b->cxt = AllocSetContextCreate(parent, "bifang values", ALLOCSET_SMALL_SIZES);
}

static void
bump_reset(BifangBump *b)
{
	if (!MemoryContextIsEmpty(b->cxt))
		MemoryContextReset(b->cxt);
	b->at = b->kept;
	b->left = b->kept_size;
}

void
bifang_bump_reserve(BifangOut *o, BifangBump *b, size_t size)
{
	if (b->left >= size)
		return;
	if (b->at == b->kept && b->left == b->kept_size) /* empty: a larger one to keep */
	{
		size_t cap = Max(size + size / 4, CHUNK_BYTES);

		if (cap <= KEPT_BYTES_MAX)
		{
			if (b->kept != NULL)
				pfree(b->kept);
			b->kept = NULL;
			b->kept_size = 0;
			b->kept = MemoryContextAlloc(o->cxt, cap);
			b->kept_size = cap;
			b->at = b->kept;
			b->left = cap;
			return;
		}
	}
	Assert(size > 0);
	b->left = Max(size, CHUNK_BYTES);
	b->at = MemoryContextAllocHuge(b->cxt, b->left);
}

/* ---- errors ---- */

void
bifang_out_of_range(BifangOut *o, const char *value)
{
	bool datetime = o->to.typid == DATEOID || o->to.typid == TIMEOID ||
					o->to.typid == TIMESTAMPOID || o->to.typid == TIMESTAMPTZOID ||
					o->to.typid == INTERVALOID;

	Assert(!o->refused);
	if (o->out_of_range == BIFANG_RANGE_NULL)
	{
		o->refused = true;
		return;
	}
	ereport(ERROR, (errcode(datetime ? ERRCODE_DATETIME_FIELD_OVERFLOW
									 : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					errmsg("value %s of column \"%s\" in \"%s\" does not fit type %s", value,
						   o->column, o->file, bifang_pg_type_text(o->to.typid, o->to.typmod))));
}

void
bifang_out_context(void *arg)
{
	const BifangOut *o = arg;

	errcontext("column \"%s\" of \"%s\"", o->column, o->file);
}

/* ---- which conversion ---- */

static void
nothing_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	(void) o;
	(void) vec;
	(void) first;
	(void) isnull;
	memset(values, 0, (size_t) n * sizeof *values);
}

static BifangChoice
choose(BfType from, Oid typid, bool typmod, bool fits)
{
	switch (bf_type_storage(from))
	{
		case BF_STORE_NONE: return (BifangChoice){nothing_flat, NULL};
		case BF_STORE_VIEW: return bifang_choose_view(from, typid, typmod);
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: return (BifangChoice){NULL, NULL};
		default: return bifang_choose_fixed(from, typid, fits);
	}
}

/* Readers make text of variants. */
static BfType
vector_type(const BfField *f)
{
	return f->type.kind == BF_KIND_VARIANT ? BF_TYPE(JSON) : f->type;
}

bool
bifang_out_fits(const BfField *from, Oid typid, BifangMisfit *why)
{
	BfType type = vector_type(from);

	if (bf_type_storage(type) == BF_STORE_NESTED)
		return bifang_nested_fits(from, typid, why);
	if (choose(type, typid, false, true).flat != NULL)
		return true;
	if (why != NULL)
		*why = (BifangMisfit){"", psprintf("%s cannot be read as %s", bifang_type_text(from->type),
										   bifang_pg_type_text(typid, -1))};
	return false;
}

bool
bifang_out_can_read(const BfField *from, Oid typid, int32 typmod)
{
	return bifang_out_fits(from, getBaseTypeAndTypmod(typid, &typmod), NULL);
}

/* Integer kinds by the decimal digits that their values may have. */
static int
integer_digits(BfType t)
{
	switch (t.kind)
	{
		case BF_KIND_INT8:
		case BF_KIND_UINT8: return 3;
		case BF_KIND_INT16:
		case BF_KIND_UINT16: return 5;
		case BF_KIND_INT32:
		case BF_KIND_UINT32: return 10;
		case BF_KIND_INT64: return 19;
		default: return 20;
	}
}

static void
no_conversion(const BifangOutWhat *what, const BifangMisfit *why)
{
	Oid typid;
	int32 typmod;
	bool hint = bifang_type_default(what->field, &typid, &typmod);
	bool detail = why->path != NULL && why->path[0] != '\0';

	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
					what->file == NULL
						? errmsg("column \"%s\" of type %s cannot be read as %s", what->column,
								 bifang_type_text(what->field->type),
								 bifang_pg_type_text(what->typid, what->typmod))
						: errmsg("\"%s\": column \"%s\" of type %s cannot be read as %s",
								 what->file, what->column, bifang_type_text(what->field->type),
								 bifang_pg_type_text(what->typid, what->typmod)),
					detail ? errdetail("\"%s%s\": %s.", what->column, why->path, why->text) : 0,
					hint ? errhint("Declare it as %s.", bifang_pg_type_text(typid, typmod)) : 0));
}

static void
choose_conversion(BifangOut *o, const BifangOutWhat *what)
{
	BifangMisfit why = {0};
	BifangChoice c;
	bool fits;

	if (!bifang_out_fits(what->field, o->to.typid, &why))
		no_conversion(what, &why);
	if (bf_type_storage(o->from) == BF_STORE_NESTED)
	{
		o->flat = bifang_choose_nested(o, what);
		return;
	}
	if (o->from.kind == BF_KIND_DECIMAL)
		fits = bifang_numeric_fits_always(o, o->from.precision, o->from.scale);
	else
		fits = bifang_numeric_fits_always(o, integer_digits(o->from), 0);
	c = choose(o->from, o->to.typid, o->to.typmod >= 0, fits);
	Assert(c.flat != NULL); /* bifang_out_fits said so */
	o->flat = c.flat;
	o->view = c.view;
	if (bifang_view_needs_input(c))
	{
		Oid fn;

		getTypeInputInfo(o->to.typid, &fn, &o->input.param);
		fmgr_info_cxt(fn, &o->input.fn, o->cxt);
	}
}

BifangOut *
bifang_out_new(MemoryContext cxt, const BifangOutWhat *what)
{
	MemoryContext old;
	BifangOut *o;

	cxt = AllocSetContextCreate(cxt, "bifang column", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	o = palloc0(sizeof *o);
	o->cxt = cxt;
	o->field = what->field;
	o->from = vector_type(what->field);
	o->invalid_text = what->invalid_text;
	o->out_of_range = what->out_of_range;
	o->to.declared = what->typid;
	o->to.typmod = what->typmod;
	o->to.typid = getBaseTypeAndTypmod(what->typid, &o->to.typmod);
	o->column = pstrdup(what->column);
	o->file = "";
	bump_init(&o->row_bump, cxt);
	bump_init(&o->dict.bump, cxt);
	o->bump = &o->row_bump;
	choose_conversion(o, what);
	o->to.has_domain = o->to.declared != o->to.typid && DomainHasConstraints(o->to.declared);
	MemoryContextSwitchTo(old);
	return o;
}

void
bifang_out_free(BifangOut *o)
{
	if (o != NULL)
		MemoryContextDelete(o->cxt);
}

void
bifang_out_begin(BifangOut *o, const char *file)
{
	MemoryContext old = MemoryContextSwitchTo(o->cxt);

	o->file = bifang_shown(file);
	MemoryContextSwitchTo(old);
	o->dict.of = NULL;
	for (int32 i = 0; i < o->parts.n; i++)
		bifang_out_begin(o->parts.outs[i], file);
}

int32
bifang_out_fit(const BifangOut *o, const BfVector *v, const BifangRows *rows, int64 bytes)
{
	int32 n = rows->n;
	int64 total = 0;

	Assert(n > 0 && bytes > 0);
	if (o->view == NULL || v->form != BF_VEC_FLAT || n <= 1)
		return n;
	for (int32 i = 0; i < n; i++)
		total += v->data.view[bifang_row(rows, i)].len;
	if (likely(total <= bytes))
		return n;
	total = v->data.view[bifang_row(rows, 0)].len;
	for (int32 i = 1; i < n; i++)
	{
		total += v->data.view[bifang_row(rows, i)].len;
		if (total > bytes)
			return i;
	}
	return n;
}

/* Says whether any of the rows is NULL. */
static bool
fill_isnull(const BfVector *v, int32 first, int32 n, bool *isnull)
{
	bool any = false;

	if (v->validity == NULL)
	{
		memset(isnull, false, (size_t) n);
		return false;
	}
	for (int32 i = 0; i < n; i++)
	{
		int32 r = first + i;

		isnull[i] = ((v->validity[r >> 6] >> (r & 63)) & 1) == 0;
		any |= isnull[i];
	}
	return any;
}

/* States of entries. */
#define ENTRY_NEW 0
#define ENTRY_DONE 1
#define ENTRY_NULL 2 /* refused */

/* Space for the dictionary's Datums, all unknown. */
static void
dict_begin(BifangOut *o, const BfVector *v)
{
	int32 n = v->dict->n;

	if (n > o->dict.cap)
	{
		o->dict.of = NULL;
		if (o->dict.values != NULL)
		{
			pfree(o->dict.values);
			pfree(o->dict.states);
			o->dict.values = NULL;
		}
		o->dict.values = MemoryContextAllocHuge(o->cxt, (size_t) n * sizeof *o->dict.values);
		o->dict.states = MemoryContextAllocHuge(o->cxt, (size_t) n);
		o->dict.cap = n;
	}
	memset(o->dict.states, ENTRY_NEW, (size_t) n);
	bump_reset(&o->dict.bump);
	o->dict.epoch = v->dict_epoch;
	o->dict.of = v->dict;
}

static void
convert_entry(BifangOut *o, const BfVector *dict, uint32 code)
{
	bool isnull = false;

	if (o->view != NULL)
	{
		o->dict.values[code] = o->view(o, dict->data.view[code]);
		bifang_out_nulled(o, &isnull);
	}
	else
		o->flat(o, dict, (int32) code, 1, &o->dict.values[code], &isnull);
	o->dict.states[code] = isnull ? ENTRY_NULL : ENTRY_DONE;
}

static void
convert_dict(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values, bool *isnull)
{
	const uint32 *codes = v->codes + first;

	if (o->dict.of != v->dict || o->dict.epoch != v->dict_epoch)
		dict_begin(o, v);
	Assert(o->bump == &o->row_bump && v->dict->n <= o->dict.cap);
	o->bump = &o->dict.bump;
	for (int32 i = 0; i < n; i++)
	{
		uint32 code = codes[i];

		Assert(code < (uint32) v->dict->n);
		if (unlikely(o->dict.states[code] != ENTRY_DONE))
		{
			if (isnull[i])
				continue;
			if (o->dict.states[code] == ENTRY_NEW)
				convert_entry(o, v->dict, code);
			if (o->dict.states[code] == ENTRY_NULL)
				isnull[i] = o->nulled = true;
		}
		values[i] = o->dict.values[code];
	}
	o->bump = &o->row_bump;
}

static void
check_domain(BifangOut *o, int32 n, Datum *values, bool *isnull)
{
	ErrorContextCallback callback = {error_context_stack, bifang_out_context, o};

	error_context_stack = &callback;
	for (int32 i = 0; i < n; i++)
		domain_check(values[i], isnull[i], o->to.declared, &o->to.domain, o->cxt);
	error_context_stack = callback.previous;
}

bool
bifang_out_run(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values, bool *isnull,
			   const bool *parent)
{
	bool any_null = false;

	Assert(!o->refused && !o->nulled);
	Assert(first >= 0 && (v->form == BF_VEC_CONST || first + n <= v->n));
	if (v->storage == BF_STORE_NONE) /* of unknown type: NULL whatever the validity says */
	{
		memset(isnull, true, (size_t) n);
		return true;
	}
	if (v->form == BF_VEC_CONST)
		memset(isnull, !bf_valid(v->validity, 0), (size_t) n);
	else
		any_null = fill_isnull(v, first, n, isnull);
	for (int32 i = 0; parent != NULL && i < n; i++)
	{
		isnull[i] |= parent[i];
		any_null |= isnull[i];
	}
	switch (v->form)
	{
		case BF_VEC_FLAT: o->flat(o, v, first, n, values, isnull); break;
		case BF_VEC_DICT: convert_dict(o, v, first, n, values, isnull); break;
		case BF_VEC_CONST:
			any_null |= isnull[0];
			if (!bf_valid(v->validity, 0))
				break;
			{
				bool one = false;

				o->flat(o, v, 0, 1, values, &one);
				for (int32 i = 0; i < n; i++)
				{
					values[i] = values[0];
					isnull[i] |= one;
				}
			}
			break;
	}
	any_null |= o->nulled;
	o->nulled = false;
	if (unlikely(o->to.has_domain))
		check_domain(o, n, values, isnull);
	return any_null;
}

void
bifang_out_reset(BifangOut *o)
{
	bump_reset(&o->row_bump);
	for (int32 i = 0; i < o->parts.n; i++)
		bifang_out_reset(o->parts.outs[i]);
}

bool
bifang_out_convert(BifangOut *o, const BfVector *v, const BifangRows *rows, Datum *values,
				   bool *isnull)
{
	const uint16 *list = rows->list;
	int32 n = rows->n;
	bool any_null = false;

	Assert(n > 0);
	bifang_out_reset(o);
	if (list == NULL)
		return bifang_out_run(o, v, rows->first, n, values, isnull, NULL);
	if (v->form == BF_VEC_CONST || list[n - 1] - list[0] == n - 1)
		return bifang_out_run(o, v, list[0], n, values, isnull, NULL);
	for (int32 i = 0; i < n;)
	{
		int32 end = i + 1;

		Assert(end == n || list[end] > list[end - 1]);
		while (end < n && list[end] == list[end - 1] + 1)
			end++;
		any_null |= bifang_out_run(o, v, list[i], end - i, values + i, isnull + i, NULL);
		i = end;
	}
	return any_null;
}
