/*
 * log/gone.h: which of a ledger's entries can't be read any more, and why.
 *
 * The ledger is read from entry 0 on, as a scan reads it: strictly, checksums included. Where that
 * fails reading is tried again at the next place that can be told without what is damaged: an
 * entry of an index, the next segment, the next batch in an offload file's index. What lies between
 * is gone; nothing else is.
 *
 *   entries   0 ... 999  1000 ... 1049  1050 ... 4999  5000 ... 5099
 *             good       damaged        good           file ends before
 *   gone                 1000-1049                     5000-5099
 *
 * Bytes can also be whole and not those that were acknowledged, where a copy was taken while a
 * transaction wrote that was rolled back later. They are found where batches don't end at the
 * places that were acknowledged; everything from the last place on that agrees is gone then. So it
 * is where the files end before the ledger does: whose the last batches are nothing tells.
 *
 * Files that may not be read, or that a device fails on, are an error: that can be mended.
 */
#ifndef BF_LOG_GONE_H
#define BF_LOG_GONE_H

#include "log/writer.h"

typedef struct BfGone
{
	BfRange entries;
	const char *why;
} BfGone;

typedef struct BfGoneList
{
	int32_t n;
	BfGone *items; /* ascending, disjoint; in the arena given */
} BfGoneList;

/* Of a ledger's directory. `ends` are places that were acknowledged, ascending by entry, at least
 * one; the last one is the ledger's end. */
extern BfStatus bf_log_gone(BfArena *a, const char *dir, const BfLedgerEnd *ends, int32_t n_ends,
							BfGoneList *out, BfError *err) BF_MUST_CHECK;
/* Of an offload file that should have the entries before `end`. */
extern BfStatus bf_offload_gone(BfArena *a, const char *path, int64_t end, BfGoneList *out,
								BfError *err) BF_MUST_CHECK;

#endif
