/*
 * pg/convert/internal.h: what the files of the conversion into Datums share; see out.h.
 *
 *   out.c     which conversion, dictionaries, domains, the buffers
 *   fixed.c   numbers, dates and times
 *   views.c   text, bytes and what else has a length
 *   nested.c  arrays and composite types
 *   json.c    nested values as JSON
 */
#ifndef BIFANG_PG_CONVERT_INTERNAL_H
#define BIFANG_PG_CONVERT_INTERNAL_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "access/tupdesc.h"
#include "fmgr.h"
#include "lib/stringinfo.h"

#include "pg/convert/out.h"
#include "pg/server/error.h"

#define BIFANG_UNIX_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define BIFANG_UNIX_USECS ((int64) BIFANG_UNIX_DAYS * USECS_PER_DAY)

/* Bump allocation out of chunks; reset keeps the largest one. */
typedef struct BifangBump
{
	MemoryContext cxt; /* everything is in it, palloc'd results too */
	char *at;
	size_t left;
	char *kept; /* outside cxt: survives a reset */
	size_t kept_size;
} BifangBump;

/* Rows [first, first + n) of a flat vector, also row 0 of a constant one. Rows that are NULL may
 * get any Datum; more of them may become NULL: see bifang_out_nulled. */
typedef void (*BifangFlatFn)(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
							 bool *isnull);
/* One value of VIEW storage, into o->bump. May set o->refused. */
typedef Datum (*BifangViewFn)(BifangOut *o, BfView value);

/* flat = NULL: there is no such conversion. */
typedef struct BifangChoice
{
	BifangFlatFn flat;
	BifangViewFn view;
} BifangChoice;

/* What the column is declared as: from bifang_out_new on. */
typedef struct BifangTarget
{
	Oid typid; /* base type */
	Oid declared;
	int32 typmod;
	Datum numeric_limit; /* what a numeric of the declared type is below; 0: not made yet */
	bool has_domain;
	void *domain; /* the server's cache of the constraints */
} BifangTarget;

/* The declared type's input function, if the conversion needs it: from bifang_out_new on. */
typedef struct BifangInput
{
	FmgrInfo fn;
	Oid param;
} BifangInput;

/* What became of a dictionary's entries: until a vector comes with another one, over many calls. */
typedef struct BifangEntries
{
	BifangBump bump;
	Datum *values;
	uint8 *states; /* ENTRY_* */
	int32 cap;
	uint64 epoch;
	const BfVector *of; /* NULL: nothing remembered */
} BifangEntries;

/* Arrays: the element; composite types: the attributes in their order. From bifang_out_new on. */
typedef struct BifangParts
{
	int32 n;
	BifangOut **outs;
	int32 *fields; /* number of the child that each attribute is */
	TupleDesc desc;
} BifangParts;

/* How an array is put together: from bifang_out_new on. */
typedef struct BifangArrayForm
{
	int32 n_dims;
	int16 elem_len;
	bool elem_by_value;
	char elem_align;
} BifangArrayForm;

struct BifangOut
{
	/* From bifang_out_new on. */
	MemoryContext cxt;
	const BfField *field;
	BfType from; /* of the vectors: JSON for variants */
	const char *column;
	BifangTextPolicy invalid_text;
	BifangRangePolicy out_of_range;
	BifangFlatFn flat;
	BifangViewFn view; /* VIEW storage: one value; `flat` is then run by it */
	BifangTarget to;
	BifangInput input;
	BifangParts parts;
	BifangArrayForm array;

	/* Until bifang_out_begin says that another file comes. */
	const char *file;
	BifangEntries dict;

	/* Until bifang_out_reset. */
	BifangBump row_bump;

	/* During a value: scratch that is kept for the next. */
	StringInfoData json;

	/* During a run. */
	BifangBump *bump; /* where by-reference results go now */
	bool refused;	  /* the value at hand becomes NULL */
	bool nulled;	  /* some value of the run did */
};

/* Room for `size` bytes in one piece. */
extern void bifang_bump_reserve(BifangOut *o, BifangBump *b, size_t size);

static inline char *
bifang_bump_alloc(BifangOut *o, BifangBump *b, size_t size)
{
	char *p;

	size = MAXALIGN(size);
	if (unlikely(b->left < size))
		bifang_bump_reserve(o, b, size);
	p = b->at;
	b->at += size;
	b->left -= size;
	return p;
}

/* Raises, or marks the value as refused. */
extern void bifang_out_of_range(BifangOut *o, const char *value);
/* After a value that may have been refused. */
static inline void
bifang_out_nulled(BifangOut *o, bool *isnull)
{
	if (unlikely(o->refused))
	{
		*isnull = true;
		o->nulled = true;
		o->refused = false;
	}
}

/* Rows [first, first + n) into values and isnull; rows of which `parent` (NULL = none) says that
 * what they are part of is NULL are NULL. Says whether any is. Memory lasts until bifang_out_reset.
 */
extern bool bifang_out_run(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
						   bool *isnull, const bool *parent);
extern void bifang_out_reset(BifangOut *o);

/* Error context callback: names the column where a function of the server raises the error. */
extern void bifang_out_context(void *arg);

/* Is every value of decimal(precision, scale) one of the declared type, with the same scale? */
extern bool bifang_numeric_fits_always(const BifangOut *o, int precision, int scale);
/* To a declared precision and scale that may not hold the value. */
extern Datum bifang_numeric_fit(BifangOut *o, Datum num);

/* By storage: `fits` says that a numeric needs no check. */
extern BifangChoice bifang_choose_fixed(BfType from, Oid typid, bool fits);
/* `typmod`: the declared type has a length. */
extern BifangChoice bifang_choose_view(BfType from, Oid typid, bool typmod);
/* Does the choice go through the type's input function? */
extern bool bifang_view_needs_input(BifangChoice c);
/* The bytes as text of the database; o->refused: there is none. */
extern BfView bifang_checked_text(BifangOut *o, BfView v);
/* The same of a whole JSON value. */
extern BfView bifang_checked_json(BifangOut *o, BfView v);
/* By the type's input function. */
extern Datum bifang_input_text(BifangOut *o, char *text);

/* Why there is no conversion: of which part, and what is wrong with it. */
typedef struct BifangMisfit
{
	const char *path; /* behind the column's name: `.member`, `[]`; NULL = nothing found yet */
	const char *text;
} BifangMisfit;

/* As bifang_out_can_read, of a base type; `why` (NULL = nobody asks) is filled when there is no
 * conversion. */
extern bool bifang_out_fits(const BfField *from, Oid typid, BifangMisfit *why);
/* The same for nested types. */
extern bool bifang_nested_fits(const BfField *from, Oid typid, BifangMisfit *why);
/* Makes the conversions of its parts. */
extern BifangFlatFn bifang_choose_nested(BifangOut *o, const BifangOutWhat *what);

/* Appends the row's value; o is what the text is for. */
extern void
bifang_json_value(BifangOut *o, const BfField *f, const BfVector *v, int32 row, StringInfo s);

#endif
