/*
 * scan/pins.h: what decides a scan, fixed once.
 *
 * A scan reads what one moment says, however often it starts over and whoever helps: the lake's
 * metadata file, ledgers with their ends; files of a table without metadata, or partitions with
 * their ends. Pins are plain data, so that other processes can be given them: packed they are one
 * piece of bytes without pointers.
 *
 *   number   zigzag LEB128
 *   text     length + 1, bytes; 0: no text
 *
 *   pins     "BFP2", flags, metadata path, snapshot
 *            number of ledgers, of each: id less that of the one before, place, path, end, tail,
 *              bytes, number of lost ranges, of each: first, last
 *            number of sources, of each: path, bytes, rows, counted, partition, start, end
 *
 * Bytes come from this library, and are checked all the same: a reader of other bytes fails with
 * BF_ERR_CORRUPT, the position, and what was expected.
 */
#ifndef BF_SCAN_PINS_H
#define BF_SCAN_PINS_H

#include "base/bytes.h"
#include "base/rangeset.h"

typedef enum BfScanPlace
{
	BF_SCAN_IN_DIRECTORY, /* Kafka segments */
	BF_SCAN_IN_FILE,	  /* an offload file */
	BF_SCAN_GONE,		  /* Parquet has the rows */
	BF_SCAN_PLACES
} BfScanPlace;

typedef struct BfScanLedger
{
	int64_t id;
	BfScanPlace place;
	const char *path;	 /* of directory or file; NULL = GONE */
	int64_t end;		 /* entries 0 .. end-1 count */
	int64_t tail;		 /* so many, the last ones, are not in the directory (log/live.h) */
	int64_t entry_bytes; /* estimated, of one; > 0 */
	BfRangeSet lost;	 /* entries that are known to be gone for good: nothing reads them */
} BfScanLedger;

/* What a table without metadata consists of: a file, a directory, a partition somewhere. */
typedef struct BfScanSource
{
	const char *path;
	int64_t bytes;
	int64_t rows;		  /* estimated, unless they are counted */
	bool counted;		  /* somebody has read how many there are */
	int32_t partition;	  /* of a log */
	int64_t offset_start; /* of a log: the first that may be there; -1 = nothing is */
	int64_t offset_end;	  /* of a log: exclusive end of what is read; -1 = not fixed yet */
} BfScanSource;

typedef struct BfScanPins
{
	const char *metadata_path; /* of a lake table; else NULL */
	int64_t snapshot_id;	   /* that is read of it; -1 = none */
	bool current;			   /* rows that the lake does not have yet belong to it */
	int32_t n_ledgers;
	BfScanLedger *ledgers; /* ascending ids */
	int32_t n_sources;
	BfScanSource *sources;
} BfScanPins;

/* Of that id; NULL = it is none of the pins'. */
extern const BfScanLedger *bf_scan_pins_ledger(const BfScanPins *pins, int64_t id);
/* The bytes are in `a`. */
extern BfStatus
bf_scan_pins_pack(BfArena *a, const BfScanPins *pins, BfView *out, BfError *err) BF_MUST_CHECK;
/* Copied into `a`: the bytes may go. */
extern BfStatus
bf_scan_pins_unpack(BfArena *a, BfView bytes, BfScanPins **out, BfError *err) BF_MUST_CHECK;

#endif
