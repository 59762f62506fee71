/*
 * log/internal.h: shared inside the folder.
 *
 * The heart is BfiSegment: one segment of a directory, open at a position, read batch by batch.
 * Walks, bounds, time and transaction look-ups are loops over it. A loop looks like this:
 *
 *     bfi_segment_open(s, i)      position 0
 *     bfi_segment_seek(s, entry)  forward only, through the index, verified
 *     bfi_segment_header(s)       the batch at the position, or the end
 *     bfi_segment_fetch(s)        its bytes, checksum verified
 *     bfi_segment_advance(s)      past it
 *
 * A header that was not fetched or checked decides nothing but where the next one stands.
 */
#ifndef BF_LOG_INTERNAL_H
#define BF_LOG_INTERNAL_H

#include "log/segment.h"

/* ---- text (rangeset.c) ---- */

/* Decimal numbers as range sets spell them: no sign, no leading zeros, at most max. */
extern BfStatus bfi_text_number(BfCursor *c, int64_t max, int64_t *out, BfError *err) BF_MUST_CHECK;

/* ---- a directory (dir.c) ---- */

struct BfLogDir
{
	BfArena *arena; /* borrowed: the caller's, lives longer */
	const char *dir;
	BfLogCounters *counters; /* borrowed, or own_counters */
	BfLogCounters own_counters;
	int32_t n_segments;
	BfSegmentInfo *segments; /* ascending base offsets, all different */
	int32_t n_snapshots;
	int64_t *snapshots; /* offsets in the names of .snapshot files, ascending */
	bool bounds_known;
	int64_t start;
	int64_t end;
	BfCodecContext *codec; /* made when first needed */
	BfBuffer *scratch;
};

/* Greatest base offset <= entry; 0 when there is none, so that a walk starts at the first. */
extern int32_t bfi_dir_find(const BfLogDir *d, int64_t entry);
/* `<dir>/<20 digits>.<suffix>` */
extern BfStatus bfi_dir_path(const BfLogDir *d, BfArena *a, int64_t base, const char *suffix,
							 const char **out, BfError *err) BF_MUST_CHECK;
/* Gives d->codec and d->scratch. */
extern BfStatus bfi_dir_codec(BfLogDir *d, BfError *err) BF_MUST_CHECK;

/* ---- an open segment (segment.c) ---- */

typedef struct BfiSegment
{
	BfLogDir *dir;	/* borrowed */
	BfArena *arena; /* owned through a hook of the caller's arena; reset for each segment */
	bool tolerant;	/* a torn or zero tail of the last segment is its end */
	int32_t number; /* in the directory; -1 = none is open */
	const BfSegmentInfo *info;
	BfSource *source;	 /* lives in arena */
	int64_t size;		 /* bytes that count; never looked past */
	int64_t pos;		 /* of the next batch */
	int64_t last_offset; /* of the batch before pos; -1 = not known */
	bool offsets_loaded;
	bool times_loaded;
	BfOffsetIndex offsets; /* n = 0 when missing or not sane */
	BfTimeIndex times;
} BfiSegment;

extern BfStatus
bfi_segment_init(BfArena *a, BfLogDir *d, bool tolerant, BfiSegment *s, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_segment_open(BfiSegment *s, int32_t number, BfError *err) BF_MUST_CHECK;
extern void bfi_segment_close(BfiSegment *s);
extern BfStatus bfi_segment_load_offsets(BfiSegment *s, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_segment_load_times(BfiSegment *s, BfError *err) BF_MUST_CHECK;
/* Moves pos forward to a batch at or before the one that holds `entry`, if the index knows one. */
extern BfStatus bfi_segment_seek(BfiSegment *s, int64_t entry, BfError *err) BF_MUST_CHECK;
/* The header at pos; *end = true when there is no further whole batch. */
extern BfStatus
bfi_segment_header(BfiSegment *s, BfBatchHeader *h, bool *end, BfError *err) BF_MUST_CHECK;
/* All bytes of the batch at pos, valid until the next call; the CRC has been checked. */
extern BfStatus bfi_segment_fetch(BfiSegment *s, const BfBatchHeader *h, const uint8_t **batch,
								  BfError *err) BF_MUST_CHECK;
/* The same, not counted as read: for a batch whose header decides that it is passed over. */
extern BfStatus bfi_segment_check(BfiSegment *s, const BfBatchHeader *h, const uint8_t **batch,
								  BfError *err) BF_MUST_CHECK;
/* Before the batch at pos is fetched, where the reading ends with it: only the next batch's base
 * offset can tell that its own is too large. */
extern BfStatus
bfi_segment_check_next(BfiSegment *s, const BfBatchHeader *h, BfError *err) BF_MUST_CHECK;
extern void bfi_segment_advance(BfiSegment *s, const BfBatchHeader *h);

#endif
