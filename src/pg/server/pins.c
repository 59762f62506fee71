/*
 * pg/server/pins.c: see pins.h.
 *
 * A snapshot is told by its address, which is its own as long as the query that registered it runs:
 * the group of its pins goes with that query's memory.
 */
#include "pg/server/pins.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct Pin
{
	struct Pin *next;
	const char *key;
	Size n;
	char bytes[FLEXIBLE_ARRAY_MEMBER];
} Pin;

typedef struct Group
{
	struct Group *next;
	Snapshot snap; /* NULL = of the transaction */
	MemoryContext cxt;
	Pin *pins;
	MemoryContextCallback gone;
} Group;

static Group *groups;

static void
forget(void *arg)
{
	for (Group **g = &groups; *g != NULL; g = &(*g)->next)
		if (*g == arg)
		{
			*g = (*g)->next;
			return;
		}
}

static Group *
find_group(Snapshot snap)
{
	for (Group *g = groups; g != NULL; g = g->next)
		if (g->snap == snap)
			return g;
	return NULL;
}

static Group *
new_group(Snapshot snap, MemoryContext cxt)
{
	Group *g = MemoryContextAllocZero(cxt, sizeof *g);

	Assert(find_group(snap) == NULL);
	g->snap = snap;
	g->cxt = cxt;
	g->gone.func = forget;
	g->gone.arg = g;
	MemoryContextRegisterResetCallback(cxt, &g->gone);
	g->next = groups;
	groups = g;
	return g;
}

/* NULL: nothing is kept for it. */
static Group *
group_of(Snapshot snap)
{
	Group *g;

	if (snap == NULL || !IsTransactionState())
		return NULL;
	if (!IsolationUsesXactSnapshot())
		return find_group(snap);
	g = find_group(NULL);
	return g != NULL ? g : new_group(NULL, TopTransactionContext);
}

void
bifang_pins_begin(Snapshot snap, MemoryContext cxt)
{
	if (snap != NULL && !IsolationUsesXactSnapshot() && find_group(snap) == NULL)
		new_group(snap, cxt);
}

const char *
bifang_pin_get(Snapshot snap, const char *key, Size *n)
{
	const Group *g = group_of(snap);

	for (const Pin *p = g == NULL ? NULL : g->pins; p != NULL; p = p->next)
		if (strcmp(p->key, key) == 0)
		{
			*n = p->n;
			return p->bytes;
		}
	return NULL;
}

void
bifang_pin_put(Snapshot snap, const char *key, const char *bytes, Size n)
{
	Group *g = group_of(snap);
	Pin *p;

	if (g == NULL)
		return;
	p = MemoryContextAlloc(g->cxt, offsetof(Pin, bytes) + n);
	p->key = MemoryContextStrdup(g->cxt, key);
	p->n = n;
	memcpy(p->bytes, bytes, n);
	p->next = g->pins;
	g->pins = p;
}

Snapshot
bifang_work_snapshot(void)
{
	return IsolationUsesXactSnapshot() ? GetTransactionSnapshot() : GetLatestSnapshot();
}
