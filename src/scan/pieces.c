/*
 * scan/pieces.c: units in pieces, for those who share a scan.
 *
 * A file is cut by numbers: piece i of n has row groups from G*i/n up to G*(i+1)/n, whatever number
 * G of row groups the one who opens it finds, so that nobody has to open it to cut it. What a log
 * has to be read of is cut by entries into pieces of as many.
 */
#include "scan/work.h"

/* Pieces that keep a process busy for some tenths of a second; logs take longer for a byte. */
#define PIECE_BYTES (INT64_C(32) * 1024 * 1024)
#define PIECE_LOG_BYTES (INT64_C(8) * 1024 * 1024)
#define PIECES_MAX 1024

static int64_t
pieces_of(const BfScanList *l, const BfScanUnit *u)
{
	int64_t n = u->bytes / (l->tiers[u->tier].log ? PIECE_LOG_BYTES : PIECE_BYTES) + 1;

	return n < PIECES_MAX ? n : PIECES_MAX;
}

int64_t
bf_scan_list_pieces(const BfScanList *l)
{
	int64_t n =
		l->totals.counted == 0 ? 0 : l->totals.counted + l->totals.counted_bytes / PIECE_BYTES;

	for (int32_t i = 0; i < l->n_units; i++)
		n += pieces_of(l, &l->units[i]);
	return n;
}

BfStatus
bf_scan_unit_cut_file(BfScanList *l, BfError *err)
{
	BfScanUnit whole;
	int64_t n;

	BF_ASSERT(l->n_units > 0);
	whole = l->units[l->n_units - 1];
	BF_ASSERT(whole.piece == 0 && whole.pieces == 1);
	n = l->how == BF_SCAN_CUT ? pieces_of(l, &whole) : 1;
	l->units[l->n_units - 1].pieces = (int32_t) n;
	for (int32_t i = 1; i < n; i++)
	{
		BfScanUnit *u;

		BF_TRY(bf_scan_unit_add(l, whole.tier, whole.path, &u, err));
		*u = whole;
		u->piece = i;
		u->pieces = (int32_t) n;
	}
	return BF_OK;
}

/* Ranges from number *at of `all` on, of which *taken entries are gone already, as far as `most`
 * entries reach. */
static BfStatus
next_piece(BfScanList *l, const BfRangeSet *all, int64_t most, int32_t *at, int64_t *taken,
		   BfRangeSet *out, BfError *err)
{
	int64_t left = most;
	int32_t end = *at;
	int64_t gone = *taken;

	BF_ASSERT(most > 0 && *at < all->n);
	while (end < all->n && left > 0)
	{
		const BfRange *r = &all->ranges[end];
		int64_t there = r->last - r->first + 1 - gone;

		if (there > left)
		{
			gone += left;
			left = 0;
			break;
		}
		left -= there;
		gone = 0;
		end++;
	}
	out->n = end - *at + (gone > 0);
	BF_NEW_RAW(l->arena, out->ranges, out->n, err);
	memcpy(out->ranges, all->ranges + *at, (size_t) out->n * sizeof *out->ranges);
	out->ranges[0].first += *taken;
	if (gone > 0)
		out->ranges[out->n - 1].last = all->ranges[end].first + gone - 1;
	*at = end;
	*taken = gone;
	return BF_OK;
}

BfStatus
bf_scan_unit_cut_ranges(BfScanList *l, BfError *err)
{
	BfScanUnit whole;
	int64_t entries;
	int64_t pieces;
	int32_t at = 0;
	int64_t taken = 0;

	BF_ASSERT(l->n_units > 0);
	whole = l->units[l->n_units - 1];
	entries = bf_rangeset_count(&whole.ranges);
	BF_ASSERT(entries > 0);
	pieces = l->how == BF_SCAN_CUT ? pieces_of(l, &whole) : 1;
	if (pieces <= 1)
		return BF_OK;
	l->n_units--;
	while (at < whole.ranges.n)
	{
		BfScanUnit *u;
		BfRangeSet ranges;

		BF_TRY(next_piece(l, &whole.ranges, entries / pieces + (entries % pieces != 0), &at, &taken,
						  &ranges, err));
		BF_TRY(bf_scan_unit_add(l, whole.tier, whole.path, &u, err));
		*u = whole;
		u->ranges = ranges;
		u->rows = bf_rangeset_count(&ranges);
	}
	return BF_OK;
}
