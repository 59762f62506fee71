/*
 * pg/catalog/conflicts.h: which SERIALIZABLE transactions are in each other's way.
 *
 * PostgreSQL finds anomalies by what each such transaction has read: rows, pages of tables and of
 * indexes. Were rows of the catalog read that way, an INSERT that looks for a ledger would have
 * read what another INSERT changes, into whatever table. So the catalog is read without that
 * (rows.h), and what stands for the rows of a lake table is named here: a page of bifang.append
 * that is none, counted from the last possible one by the table's number.
 *
 *   reader   locks it (SIReadLock), then looks at the ends of the table's ledgers: whoever
 *            acknowledged one that its snapshot does not show is ahead of it
 *   writer   inserts the end, then looks who has locked it: those are ahead of the writer
 *
 * Whichever comes second sees the other. Names and states of tables and ledgers are not data: who
 * commits to the lake, rolls or offloads conflicts with nobody. Nor do other engines that move the
 * pointer.
 */
#ifndef BIFANG_PG_CATALOG_CONFLICTS_H
#define BIFANG_PG_CATALOG_CONFLICTS_H

#include "postgres.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

/* Before the ends are read. */
extern void bifang_conflicts_read(Relation append, int64 table_id, Snapshot snap);
/* After an end was inserted. */
extern void bifang_conflicts_write(Relation append, int64 table_id);

#endif
