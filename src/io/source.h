/*
 * io/source.h: a byte source that is read by position.
 *
 * One interface over local files now and object stores later. Small reads are served from a
 * read-ahead window of 256 KiB or more, reused for the life of the source; large ones go straight
 * to the caller's memory. Counters tell EXPLAIN what was really read.
 */
#ifndef BF_IO_SOURCE_H
#define BF_IO_SOURCE_H

#include "base/bytes.h"

typedef struct BfSource BfSource;

typedef struct BfIoCounters
{
	int64_t bytes_read;
	int64_t reads;	   /* calls that reached the host */
	int64_t coalesced; /* ranges that were served by a neighbour's read */
	int64_t files_opened;
	int64_t footers_cached; /* of files that were opened: known from an earlier scan */
} BfIoCounters;

/* Opens a local file; closed with the arena. `counters` may be NULL; it is added to. */
extern BfStatus bf_source_open(BfArena *a, const char *path, BfIoCounters *counters, BfSource **out,
							   BfError *err) BF_MUST_CHECK;
/* A source over bytes in memory (tests, fuzzing); borrowed. */
extern BfStatus bf_source_memory(BfArena *a, const void *bytes, size_t n, const char *name,
								 BfSource **out, BfError *err) BF_MUST_CHECK;

extern const char *bf_source_name(const BfSource *s);
/* The size at open; later growth is not seen unless refreshed. Refreshing also forgets what was
 * read ahead: the bytes past a ledger's committed end may have been cut and written anew. */
extern int64_t bf_source_size(const BfSource *s);
extern BfStatus bf_source_refresh_size(BfSource *s, BfError *err) BF_MUST_CHECK;

/* Exactly len bytes; when the file ends before, BF_ERR_CORRUPT with the name and the position where
 * it ends. Any pos and len may be asked for: both are checked here. */
extern BfStatus
bf_source_read(BfSource *s, int64_t pos, void *buf, size_t len, BfError *err) BF_MUST_CHECK;
/* Bytes in the source's own memory: valid until the next call on this source. */
extern BfStatus bf_source_window(BfSource *s, int64_t pos, size_t len, const uint8_t **p,
								 BfError *err) BF_MUST_CHECK;
/* The same for small looks here and there: it reads what is asked for, and ahead of that only while
 * looks follow each other and use up what was read. */
extern BfStatus
bf_source_peek(BfSource *s, int64_t pos, size_t len, const uint8_t **p, BfError *err) BF_MUST_CHECK;
/* The whole file into the arena, at most bytes_max. */
extern BfStatus bf_source_read_all(BfArena *a, const char *path, size_t bytes_max,
								   BfIoCounters *counters, BfView *out, BfError *err) BF_MUST_CHECK;

/* Closes early; the arena's hook then does nothing. */
extern void bf_source_close(BfSource *s);

#endif
