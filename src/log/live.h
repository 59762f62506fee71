/*
 * log/live.h: batches of a ledger that is written, wherever they are kept.
 *
 *   entries   0 ................ first .............. end
 *             segments of its directory | tail: batches that somebody else keeps
 *
 * The tail's batches are whole record batches as segments have them, each under its checksum. They
 * come in pieces by a call; what is not asked for is not read. Where all wanted entries are in the
 * tail the directory is not looked at, and the other way round.
 */
#ifndef BF_LOG_LIVE_H
#define BF_LOG_LIVE_H

#include "log/segment.h"
#include "log/writer.h"

typedef struct BfLogTail
{
	int64_t first;	  /* entries from here on are in it */
	const char *name; /* for messages */
	/* Appends whole batches to `out`, in the order of entries without a hole: from the one that
	 * holds `first`, or some before it, to that of `last`, or fewer that make up a good piece.
	 * Nothing: there is none. Who keeps them knows where they begin, and has looked whether the
	 * first one does. */
	BfStatus (*read)(void *arg, int64_t first, int64_t last, BfBuffer *out, BfError *err);
	void *arg;
} BfLogTail;

typedef struct BfLiveWalk BfLiveWalk;

/* Batches that intersect `ranges`, ascending, each entry of which must be there. tail = NULL: the
 * directory has all. The ranges are copied, `counters` may be NULL. */
extern BfStatus
bf_live_walk_new(BfArena *a, const char *dir, const BfLogTail *tail, const BfRangeSet *ranges,
				 BfLogCounters *counters, BfLiveWalk **out, BfError *err) BF_MUST_CHECK;
/* bf_log_dir_leave_before, of what is not in the tail. */
extern BfStatus
bf_live_leave_before(BfArena *a, const char *dir, const BfLogTail *tail, int64_t t_ms,
					 BfLogCounters *counters, BfRangeSet *ranges, BfError *err) BF_MUST_CHECK;
/* As bf_log_walk_next. The position of a batch of the tail is that in a piece. */
extern BfStatus bf_live_walk_next(BfLiveWalk *w, BfBatchHeader *h, const uint8_t **batch,
								  int64_t *position, const char **path, BfError *err) BF_MUST_CHECK;
/* Was the last batch one of the tail? */
extern bool bf_live_walk_in_tail(const BfLiveWalk *w);

/* Appends the entries of the tail up to `end` to the ledger, whose end is the tail's first entry.
 * `merge`: neighbours go into one batch, as large as those of large transactions; entries keep
 * their numbers and times. Without it every batch stays one. */
extern BfStatus bf_ledger_settle(BfArena *a, BfLedgerWriter *w, const BfLogTail *tail, int64_t end,
								 bool merge, BfError *err) BF_MUST_CHECK;

#endif
