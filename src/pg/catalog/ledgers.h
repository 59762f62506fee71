/*
 * pg/catalog/ledgers.h: rows of bifang.ledger, one per ledger, and of bifang.append, insert-only: a
 * ledger's visible end is the maximum under the snapshot.
 */
#ifndef BIFANG_PG_CATALOG_LEDGERS_H
#define BIFANG_PG_CATALOG_LEDGERS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/snapshot.h"

#include "log/live.h"
#include "log/writer.h"

#define BIFANG_LEDGER_OPEN 'o'
#define BIFANG_LEDGER_CLOSED 'c'
#define BIFANG_LEDGER_OFFLOADED 'f'
#define BIFANG_LEDGER_TRIMMED 't'

typedef struct BifangLedger
{
	int64 id;
	int64 table_id;
	char state;
	int32 schema_id;
	const char *table_uuid; /* of the table when the ledger was made, as all of its name */
	const char *catalog;
	const char *ns;
	const char *table;
	const char *live_dir;	  /* the ledger's own directory */
	const char *offload_path; /* NULL unless offloaded */
	const char *origin;		  /* database that may write it: "<system identifier>/<database oid>" */
	int64 end_entry;		  /* visible end: entries 0 .. end_entry-1 count */
	int64 files_entry;	/* entries 0 .. files_entry-1 are in its files, the others in the tail */
	int64 end_segment;	/* base entry of the segment that holds the files' end */
	int64 end_position; /* byte position in that segment */
	int64 tail_bytes;	/* what the tail takes (tail.h) */
	int64 created_at;	/* TimestampTz */
	int64 closed_at;	/* 0 = it is open */
	const char *lost;	/* entries that are gone for good, as ranges; NULL = none */
} BifangLedger;

/* Called before the ledgers of a table are read: rows that a running statement of this backend has
 * buffered are written out (they stay invisible to that statement itself, but must be seen by a
 * function that it calls). Set by those who buffer rows. */
extern void (*bifang_catalog_before_ledgers)(int64 table_id);
/* All ledgers of a table in ascending id, as List of BifangLedger *, palloc'd. */
extern List *bifang_catalog_ledgers(int64 table_id, Snapshot snap);
/* The same for who reads the table's rows (conflicts.h). */
extern List *bifang_catalog_read_ledgers(int64 table_id, Snapshot snap);
/* The open ones alone, without their ends: a table may have many ledgers, few of them open. */
extern List *bifang_catalog_open_ledgers(int64 table_id, Snapshot snap);
/* One ledger; NULL when not visible. */
extern BifangLedger *bifang_catalog_ledger(int64 ledger_id, Snapshot snap);

/* Every version of the ledger's row that counts or may come to count, without ends, as of now: one
 * that a running transaction made, one that it replaced or deleted. *settled: no other transaction
 * is at it. */
extern List *bifang_catalog_ledger_versions(int64 ledger_id, bool *settled);
/* Fills in the ends of a ledger that was read without. */
extern void bifang_catalog_ledger_ends(BifangLedger *l, Snapshot snap);
/* Ids of open ledgers of the table, those included that running transactions are making. */
extern List *bifang_catalog_open_or_coming(int64 table_id);

/* Ledgers of all tables, without their ends. */
extern List *bifang_catalog_all_ledgers(Snapshot snap);

extern int64 bifang_catalog_new_ledger_id(void);
/* Ids up to and including `id` are not given out any more. */
extern void bifang_catalog_reserve_ledger_ids(int64 id);
extern void bifang_catalog_insert_ledger(const BifangLedger *l, CommandId cid);
/* Changes state, offload path and times of the ledger row. 40001 when the transaction's snapshot
 * does not show its newest version. */
extern void bifang_catalog_update_ledger(const BifangLedger *l);
/* From now on the ledger's entries `lost` (text, ranges) are not read. One that was open is closed:
 * nobody may append to bytes that are not what they should be. */
extern void bifang_catalog_set_lost(const BifangLedger *l, const char *lost);
/* The set that l->lost says; in `a`. */
extern BfRangeSet bifang_ledger_lost(BfArena *a, const BifangLedger *l);
/* The ledger is this database's from now on. One that was open is closed: who had it before may
 * have the same files, and append to them. */
extern void bifang_catalog_adopt_ledger(const BifangLedger *l);
extern void bifang_catalog_delete_ledger(int64 ledger_id);
/* Where the ledger's files end. */
static inline BfLedgerEnd
bifang_ledger_files_end(const BifangLedger *l)
{
	return (BfLedgerEnd){l->files_entry, l->end_segment, l->end_position};
}

/* What is in bifang.tail (tail.h) under the snapshot, which must live as long; NULL = nothing. */
extern const BfLogTail *bifang_ledger_tail(const BifangLedger *l, Snapshot snap);

/* Acknowledges entries up to `end`, all of them in files, visible to commands after `cid`. */
extern void bifang_catalog_insert_append(const BifangLedger *l, BfLedgerEnd end, CommandId cid);
/* When the first entries from `entry` on were acknowledged, as far as that was kept: a later time
 * where it was not; PG_INT64_MAX where there are none. */
extern int64 bifang_catalog_written_at(int64 ledger_id, int64 entry, Snapshot snap);
/* The ends that were acknowledged, ascending, as far as they were kept; *n of them, palloc'd. */
extern BfLedgerEnd *bifang_catalog_appends(int64 ledger_id, Snapshot snap, int32 *n);
/* Deletes the append rows below keep_end, which itself must be visible under the snapshot. */
extern int64 bifang_catalog_prune_appends(int64 ledger_id, int64 keep_end, Snapshot snap);

/* "<system identifier>/<database oid>" of this database. */
extern const char *bifang_catalog_origin(void);

#endif
