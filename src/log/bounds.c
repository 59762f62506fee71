/* Where a directory of segments begins and ends: the last one is walked from its last index entry.
 */
#include "log/internal.h"

static BfStatus
find_end(BfLogDir *d, int64_t *end, BfError *err)
{
	BfiSegment s;
	int64_t passed;

	BF_ASSERT(d->n_segments > 0);
	BF_TRY(bfi_segment_init(d->arena, d, true, &s, err));
	BF_TRY(bfi_segment_open(&s, d->n_segments - 1, err));
	BF_TRY(bfi_segment_seek(&s, BF_ENTRY_MAX, err));
	BF_TRY(bfi_segment_pass(&s, INT64_MAX, &passed, err));
	/* An empty last segment is named by the next offset. */
	*end = s.last_offset >= 0 ? s.last_offset + 1 : s.info->base_offset;
	bfi_segment_close(&s);
	return BF_OK;
}

BfStatus
bf_log_dir_bounds(BfLogDir *d, int64_t *start, int64_t *end, BfError *err)
{
	if (!d->bounds_known)
	{
		d->start = d->end = 0;
		if (d->n_segments > 0)
		{
			d->start = d->segments[0].base_offset;
			BF_TRY(find_end(d, &d->end, err));
			BF_ASSERT(d->start <= d->end);
		}
		d->bounds_known = true;
	}
	*start = d->start;
	*end = d->end;
	return BF_OK;
}
