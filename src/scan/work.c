/*
 * scan/work.c: the work list; see work.h.
 */
#include "scan/work.h"

BfStatus
bf_scan_list_reserve(BfScanList *l, int64_t n, BfError *err)
{
	BfScanUnit *units;
	int64_t room;

	BF_ASSERT(l->n_units <= l->room);
	if (n <= l->room)
		return BF_OK;
	room = (int64_t) l->room * 2;
	room = n > room ? n : room;
	if (room > INT32_MAX)
		return bf_error(err, BF_ERR_LIMIT, "a scan has more than %d units", INT32_MAX);
	BF_NEW_RAW(l->arena, units, room, err);
	if (l->n_units > 0)
		memcpy(units, l->units, (size_t) l->n_units * sizeof *units);
	l->units = units;
	l->room = (int32_t) room;
	return BF_OK;
}

BfStatus
bf_scan_unit_add(BfScanList *l, int32_t tier, const char *path, BfScanUnit **out, BfError *err)
{
	BF_ASSERT(tier >= 0 && tier < BF_SCAN_TIERS_MAX);
	BF_ASSERT(path != NULL);
	if (l->n_units == l->room)
		BF_TRY(bf_scan_list_reserve(l, l->n_units < 16 ? 16 : (int64_t) l->n_units + 1, err));
	*out = &l->units[l->n_units++];
	**out = (BfScanUnit){.tier = tier, .path = path, .ledger_id = -1, .pieces = 1};
	return BF_OK;
}

void
bf_scan_unit_drop(BfScanList *l)
{
	BF_ASSERT(l->n_units > 0);
	l->totals.pruned++;
	l->n_units--;
}

/* Numbers come from files: too large ones stay at the limit. */
static int64_t
plus(int64_t a, int64_t b)
{
	int64_t sum;

	BF_ASSERT(a >= 0 && b >= 0);
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void
bf_scan_list_count(BfScanList *l, int32_t tier, int64_t n, int64_t rows, int64_t bytes)
{
	BfScanTotals *t = &l->totals;
	int64_t units = plus(t->n_of_tier[tier], n);

	t->n_of_tier[tier] = units < INT32_MAX ? (int32_t) units : INT32_MAX;
	t->rows_of_tier[tier] = plus(t->rows_of_tier[tier], rows);
	t->bytes_of_tier[tier] = plus(t->bytes_of_tier[tier], bytes);
	t->rows = plus(t->rows, rows);
	t->bytes = plus(t->bytes, bytes);
}

bool
bf_scan_unit_keep(BfScanList *l)
{
	const BfScanUnit *u = &l->units[l->n_units - 1];

	BF_ASSERT(l->n_units > 0);
	BF_ASSERT(u->rows >= 0 && u->bytes >= 0);
	BF_ASSERT(u->piece == 0 && u->pieces == 1); /* a piece is cut from what was kept */
	if (!bf_scan_unit_may_match(l, u))
	{
		bf_scan_unit_drop(l);
		return false;
	}
	bf_scan_list_count(l, u->tier, 1, u->rows, u->bytes);
	return true;
}

BfStatus
bf_scan_asks_for_facts(const BfScanList *l, bool *out, BfError *err)
{
	int32_t *fields;
	int32_t n;

	*out = false;
	if (l->pred == NULL)
		return BF_OK;
	BF_TRY(bf_pred_fields(l->pred, l->arena, &fields, &n, err));
	*out = n > 0 && fields[n - 1] >= l->n_fields;
	return BF_OK;
}

static uint64_t
mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

uint64_t
bf_scan_list_fingerprint(const BfScanList *l)
{
	uint64_t h = mixed(0, (uint64_t) l->n_units);

	for (int32_t i = 0; i < l->n_units; i++)
	{
		const BfScanUnit *u = &l->units[i];

		h = mixed(h, (uint64_t) u->tier << 32 | (uint32_t) u->piece);
		h = mixed(h, (uint64_t) u->ledger_id);
		h = mixed(h, (uint64_t) u->rows);
		h = mixed(h, (uint64_t) u->bytes);
		for (int32_t k = 0; k < u->ranges.n; k++)
		{
			h = mixed(h, (uint64_t) u->ranges.ranges[k].first);
			h = mixed(h, (uint64_t) u->ranges.ranges[k].last);
		}
	}
	return h | 1;
}
