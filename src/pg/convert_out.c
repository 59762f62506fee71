/*
 * pg/convert_out.c: column vectors into Datums; see convert_out.h.
 *
 * A conversion is one function over a run of rows, chosen once per column. By-reference results go
 * into a bump buffer that is emptied at each call; results of dictionary entries go into a second
 * one, which lives as long as the dictionary. Entries are converted when a row first names them, so
 * that a large dictionary costs only what is used of it.
 */
#include "pg/convert_internal.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/typemap.h"

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
	b->left = Max(size, CHUNK_BYTES);
	b->at = MemoryContextAllocHuge(b->cxt, b->left);
}

/* ---- errors ---- */

void
bifang_out_of_range(const BifangOut *o, const char *value)
{
	bool datetime = o->typid == DATEOID || o->typid == TIMEOID || o->typid == TIMESTAMPOID ||
					o->typid == TIMESTAMPTZOID || o->typid == INTERVALOID;

	ereport(ERROR, (errcode(datetime ? ERRCODE_DATETIME_FIELD_OVERFLOW
									 : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					errmsg("value %s of column \"%s\" in \"%s\" does not fit type %s", value,
						   o->column, o->file, bifang_pg_type_text(o->typid, o->typmod))));
}

void
bifang_out_context(void *arg)
{
	const BifangOut *o = arg;

	errcontext("column \"%s\" of \"%s\"", o->column, o->file);
}

/* ---- which conversion ---- */

static void
nothing_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
			 const bool *isnull)
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

bool
bifang_out_possible(BfType from, Oid typid)
{
	return choose(from, typid, false, true).flat != NULL;
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

BifangOut *
bifang_out_new(MemoryContext cxt, BfType from, Oid typid, int32 typmod, const char *column,
			   const char *file)
{
	BifangOut *o;
	BifangChoice c;
	bool fits;

	cxt = AllocSetContextCreate(cxt, "bifang column", ALLOCSET_SMALL_SIZES);
	o = MemoryContextAllocZero(cxt, sizeof *o);
	o->cxt = cxt;
	o->from = from;
	o->declared = typid;
	o->typmod = typmod;
	o->typid = getBaseTypeAndTypmod(typid, &o->typmod);
	o->column = MemoryContextStrdup(cxt, column);
	o->file = "";
	if (from.kind == BF_KIND_DECIMAL)
		fits = bifang_numeric_fits_always(o, from.precision, from.scale);
	else
		fits = bifang_numeric_fits_always(o, integer_digits(from), 0);
	c = choose(from, o->typid, o->typmod >= 0, fits);
	if (c.flat == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						errmsg("column \"%s\" of type %s cannot be read as %s", column,
							   bifang_type_text(from), bifang_pg_type_text(typid, typmod))));
	o->flat = c.flat;
	o->view = c.view;
	bump_init(&o->row_bump, cxt);
	bump_init(&o->dict_bump, cxt);
	o->bump = &o->row_bump;
	if (bifang_view_needs_input(c))
	{
		Oid fn;

		getTypeInputInfo(o->typid, &fn, &o->in_param);
		fmgr_info_cxt(fn, &o->in_fn, cxt);
	}
	o->has_domain = o->declared != o->typid && DomainHasConstraints(o->declared);
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
	o->file = file;
	o->dict_of = NULL;
}

int32
bifang_out_fit(const BifangOut *o, const BfVector *v, const uint16 *rows, int32 n, int64 bytes)
{
	int64 total = 0;

	if (o->view == NULL || v->form != BF_VEC_FLAT || n <= 1)
		return n;
	for (int32 i = 0; i < n; i++)
		total += v->data.view[rows[i]].len;
	if (likely(total <= bytes))
		return n;
	total = v->data.view[rows[0]].len;
	for (int32 i = 1; i < n; i++)
	{
		total += v->data.view[rows[i]].len;
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

/* Space for the dictionary's Datums, all unknown. */
static void
dict_begin(BifangOut *o, const BfVector *v)
{
	int32 n = v->dict->n;

	if (n > o->dict_cap)
	{
		o->dict_of = NULL;
		if (o->dict != NULL)
		{
			pfree(o->dict);
			pfree(o->dict_done);
			o->dict = NULL;
		}
		o->dict = MemoryContextAllocHuge(o->cxt, (size_t) n * sizeof *o->dict);
		o->dict_done = MemoryContextAllocHuge(o->cxt, (size_t) n);
		o->dict_cap = n;
	}
	memset(o->dict_done, false, (size_t) n);
	bump_reset(&o->dict_bump);
	o->dict_epoch = v->dict_epoch;
	o->dict_of = v->dict;
}

static void
convert_dict(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
			 const bool *isnull)
{
	const uint32 *codes = v->codes + first;
	static const bool not_null[1] = {false};

	if (o->dict_of != v->dict || o->dict_epoch != v->dict_epoch)
		dict_begin(o, v);
	o->bump = &o->dict_bump;
	for (int32 i = 0; i < n; i++)
	{
		uint32 code = codes[i];

		if (unlikely(!o->dict_done[code]))
		{
			if (isnull[i])
				continue;
			if (o->view != NULL)
				o->dict[code] = o->view(o, v->dict->data.view[code]);
			else
				o->flat(o, v->dict, (int32) code, 1, &o->dict[code], not_null);
			o->dict_done[code] = true;
		}
		values[i] = o->dict[code];
	}
	o->bump = &o->row_bump;
}

static void
check_domain(BifangOut *o, int32 n, Datum *values, const bool *isnull)
{
	ErrorContextCallback callback = {error_context_stack, bifang_out_context, o};

	error_context_stack = &callback;
	for (int32 i = 0; i < n; i++)
		domain_check(values[i], isnull[i], o->declared, &o->domain, o->cxt);
	error_context_stack = callback.previous;
}

/* Rows that follow each other. */
static bool
convert_run(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values, bool *isnull)
{
	bool any_null = false;

	switch (v->form)
	{
		case BF_VEC_FLAT:
			any_null = fill_isnull(v, first, n, isnull);
			o->flat(o, v, first, n, values, isnull);
			break;
		case BF_VEC_DICT:
			any_null = fill_isnull(v, first, n, isnull);
			convert_dict(o, v, first, n, values, isnull);
			break;
		case BF_VEC_CONST:
			any_null = fill_isnull(v, 0, 1, isnull);
			memset(isnull, any_null, (size_t) n);
			if (!any_null)
				o->flat(o, v, 0, 1, values, isnull);
			for (int32 i = 1; i < n; i++)
				values[i] = values[0];
			break;
	}
	return any_null;
}

bool
bifang_out_convert(BifangOut *o, const BfVector *v, const uint16 *rows, int32 n, Datum *values,
				   bool *isnull)
{
	bool any_null = false;

	if (v->storage == BF_STORE_NONE) /* of unknown type: NULL whatever the validity says */
	{
		memset(isnull, true, (size_t) n);
		return true;
	}
	bump_reset(&o->row_bump);
	if (v->form == BF_VEC_CONST || rows[n - 1] - rows[0] == n - 1)
		any_null = convert_run(o, v, rows[0], n, values, isnull);
	else
		for (int32 i = 0; i < n;)
		{
			int32 end = i + 1;

			while (end < n && rows[end] == rows[end - 1] + 1)
				end++;
			any_null |= convert_run(o, v, rows[i], end - i, values + i, isnull + i);
			i = end;
		}
	if (unlikely(o->has_domain))
		check_domain(o, n, values, isnull);
	return any_null;
}
