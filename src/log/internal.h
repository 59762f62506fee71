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
 *     bfi_segment_pass(s, entry)  on to the batch that holds `entry`
 *
 * A header that was not fetched or checked decides nothing but where the next one stands, or what a
 * BfiTrail has others confirm.
 */
#ifndef BF_LOG_INTERNAL_H
#define BF_LOG_INTERNAL_H

#include "log/segment.h"

/* ---- text (rangeset.c) ---- */

/* Decimal numbers as range sets spell them: no sign, no leading zeros, at most max. */
extern BfStatus bfi_text_number(BfCursor *c, int64_t max, int64_t *out, BfError *err) BF_MUST_CHECK;

/* ---- a directory (dir.c) ---- */

/* The indexes of one segment, as far as they were read (indexes.c). */
typedef struct BfiIndexes
{
	BfArena *arena; /* owned through a hook of the directory's arena; NULL = never used */
	int32_t number; /* of the segment; -1 = of none */
	bool known[2];	/* by BfIndexKind: the index was opened, or there is none */
	BfIndex index[2];
} BfiIndexes;

struct BfLogDir
{
	BfArena *arena; /* borrowed: the caller's, lives longer */
	const char *dir;
	bool check_all;			 /* no header is believed without its batch */
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
	/* Of the segments that were searched last: of the log's end, and of where rows are read. */
	BfiIndexes indexes[2];
	int recent; /* which of them was used last */
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
	bool sparse;	/* most batches will not be fetched: their headers alone are read */
	int32_t number; /* in the directory; -1 = none is open */
	const BfSegmentInfo *info;
	BfSource *source;	 /* lives in arena */
	int64_t size;		 /* bytes that count; never looked past */
	int64_t pos;		 /* of the next batch */
	int64_t last_offset; /* of the batch before pos; -1 = not known */
} BfiSegment;

extern BfStatus
bfi_segment_init(BfArena *a, BfLogDir *d, bool tolerant, BfiSegment *s, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_segment_open(BfiSegment *s, int32_t number, BfError *err) BF_MUST_CHECK;
extern void bfi_segment_close(BfiSegment *s);
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
/* Moves pos on to the batch that ends at or past `entry`, or to the end, by headers that confirm
 * each other. *n = batches that were passed. */
extern BfStatus
bfi_segment_pass(BfiSegment *s, int64_t entry, int64_t *n, BfError *err) BF_MUST_CHECK;

/* ---- where looking for open transactions may begin (hints.c) ---- */

typedef struct BfiTxn
{
	int64_t producer_id;
	int64_t first_offset;
} BfiTxn;

/* From `from` on the log's batches say what becomes of these. */
typedef struct BfiTxnHint
{
	int64_t from;
	size_t n;
	BfiTxn *open;
} BfiTxnHint;

/* The arena is reset. Without any hint it is the log's start. */
extern BfStatus bfi_txn_hint(BfArena *a, BfLogDir *d, BfiTxnHint *out, BfError *err) BF_MUST_CHECK;

/* ---- which headers are believed (trail.c) ---- */

typedef struct BfiTrail BfiTrail;

extern BfStatus bfi_trail_new(BfArena *a, BfiSegment *s, bool check_all, BfiTrail **out,
							  BfError *err) BF_MUST_CHECK;
/* The batch at the position is the next one. *batch = the bytes of a control batch, checked; NULL
 * of any other. */
extern BfStatus bfi_trail_see(BfiTrail *t, const BfBatchHeader *h, const uint8_t **batch,
							  BfError *err) BF_MUST_CHECK;
/* What was seen since the segment was opened, or since the last call, is now certain. `next` is the
 * offset with which the log goes on; -1 = it is not known. */
extern BfStatus bfi_trail_end(BfiTrail *t, int64_t next, BfError *err) BF_MUST_CHECK;

/* ---- its indexes (indexes.c); one that can't be read is as good as none ---- */

extern BfStatus bfi_segment_index_floor(BfiSegment *s, BfIndexKind kind, int64_t target,
										BfIndexEntry *e, bool *found, BfError *err) BF_MUST_CHECK;
/* The last position in the index that is inside what we see of the file: the broker may have
 * appended since. *found = false: none. */
extern BfStatus
bfi_segment_index_last(BfiSegment *s, int64_t *position, bool *found, BfError *err) BF_MUST_CHECK;
/* All of it was read and ascends, else it has no entries. Lives until the directory's indexes of
 * other segments are asked for. */
extern BfStatus bfi_segment_index_load(BfiSegment *s, BfIndexKind kind, const BfIndex **out,
									   BfError *err) BF_MUST_CHECK;

#endif
