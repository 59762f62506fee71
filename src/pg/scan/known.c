/*
 * pg/scan/known.c: see known.h.
 */
#include "pg/scan/known.h"

#include "pg/catalog/cache.h"
#include "pg/server/error.h"

static BfStatus
begin(BfArena *a, BifangKnownColumn *c, const BfField *from, BfError *err)
{
	BfField *field;

	BF_NEW(a, field, 1, err);
	BF_NEW_RAW(a, c->summary, 1, err);
	*field = (BfField){.id = from->id, .type = from->type};
	BF_TRY_PTR(a, field->name, bf_arena_strdup(a, from->name), err);
	bf_summary_begin(c->summary, a, from->type);
	c->field = field;
	return BF_OK;
}

void
bifang_known_field(BifangKnown *k, BifangKnownColumn *c, const BfField *field)
{
	BfError err;

	bf_error_clear(&err);
	if (c->field == NULL && field->n_children == 0)
		BIFANG_CHECK(begin(k->arena, c, field, &err), &err);
}

const BfParquetFile *
bifang_known_footer(const char *path, int64 size)
{
	return bf_footer_peek(bifang_footer_cache(), path, size);
}
