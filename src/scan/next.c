/*
 * scan/next.c: which unit is read next; see next.h.
 */
#include "scan/next.h"

static int32_t
take_alone(BfScanNext *next, int32_t n)
{
	BfScanAlone *c = (BfScanAlone *) (void *) next;
	int64_t taken = c->at;

	if (taken >= n)
		return -1;
	c->at += c->step;
	return (int32_t) taken;
}

void
bf_scan_next_alone(BfScanAlone *c, int32_t step)
{
	BF_ASSERT(step >= 1);
	*c = (BfScanAlone){.next = {take_alone}, .step = step};
}

/* A counter that has come to the end stays there, or it would come round again some day. Nothing
 * but the number itself is handed over, hence the relaxed order. */
static int32_t
take_shared(BfScanNext *next, int32_t n)
{
	const BfScanShared *c = (const BfScanShared *) (const void *) next;
	uint32_t at = atomic_load_explicit(c->at, memory_order_relaxed);

	do
	{
		if (n <= 0 || at >= (uint32_t) n)
			return -1;
	} while (!atomic_compare_exchange_weak_explicit(c->at, &at, at + 1, memory_order_relaxed,
													memory_order_relaxed));
	return (int32_t) at;
}

void
bf_scan_next_shared(BfScanShared *c, BfScanCounter *at)
{
	BF_ASSERT(at != NULL);
	*c = (BfScanShared){.next = {take_shared}, .at = at};
}
