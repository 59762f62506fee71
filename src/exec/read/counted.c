/*
 * exec/read/counted.c: see counted.h.
 */
#include "exec/read/counted.h"

typedef struct Counted
{
	BfReader base;
	BfReader *below;
	int64_t n;
	BfRowClaim says;
} Counted;

BfStatus
bf_counted_check(const char *what, const char *name, int64_t has, BfRowClaim says, BfError *err)
{
	BF_ASSERT(has >= 0);
	if (says.n < 0 || has == says.n || (says.more && has > says.n))
		return BF_OK;
	bf_error(err, BF_ERR_CORRUPT, "the %s has %lld rows, its manifest entry says %lld", what,
			 (long long) has, (long long) says.n);
	err->unverified = what;
	return bf_error_object(err, name);
}

static BfStatus
next(BfReader *base, const BfBatch **out, BfError *err)
{
	Counted *c = (Counted *) base;

	BF_TRY(c->below->next(c->below, out, err));
	if (*out == NULL)
		return bf_counted_check("file", base->name(base), c->n, c->says, err);
	BF_ASSERT((*out)->selected == NULL && (*out)->n_rows > 0);
	c->n += (*out)->n_rows;
	return BF_OK;
}

static const char *
name(const BfReader *base)
{
	const Counted *c = (const Counted *) base;

	return c->below->name(c->below);
}

BfStatus
bf_counted_reader(BfArena *a, BfReader *below, BfRowClaim says, BfReader **out, BfError *err)
{
	Counted *c;

	BF_ASSERT(below != NULL);
	BF_NEW(a, c, 1, err);
	*c = (Counted){.base = {.next = next, .name = name}, .below = below, .says = says};
	*out = &c->base;
	return BF_OK;
}
