/*
 * pg/convert/in.h: Datums into the vectors of a batch.
 *
 * Nothing is clamped or rounded: a value that the lake's type cannot hold exactly is an error that
 * names the column (infinite dates, NaN in a decimal, more digits than the scale, 24:00:00).
 */
#ifndef BIFANG_PG_CONVERT_IN_H
#define BIFANG_PG_CONVERT_IN_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "vec/batch.h"

typedef struct BifangColumnIn BifangColumnIn;
typedef void (*BifangStore)(const BifangColumnIn *c, BfVector *v, int32 row, Datum d,
							BfArena *bytes);

struct BifangColumnIn
{
	AttrNumber attnum;	  /* of the foreign table; 0 = it has no such column: NULL */
	const BfField *field; /* of the lake table; borrowed */
	const char *name;	  /* for messages: the foreign table's name of it, else the lake's */
	BifangStore store;
	FmgrInfo out; /* for types that are stored as their text */
};

/* Chooses the conversion; raises when there is none. */
extern void bifang_in_prepare(BifangColumnIn *c, const BfField *field, Form_pg_attribute att);

/* Row `row` of the vector becomes the value. `bytes` holds what views point to; allocations that
 * detoasting makes are left in the current context. */
static inline void
bifang_in_store(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, bool is_null,
				BfArena *bytes)
{
	bf_validity_set(v->validity, row, !is_null);
	if (!is_null)
		c->store(c, v, row, d, bytes);
	else if (v->storage == BF_STORE_VIEW)
		v->data.view[row] = (BfView){NULL, 0};
}

#endif
