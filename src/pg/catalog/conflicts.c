/*
 * pg/catalog/conflicts.c: see conflicts.h.
 */
#include "pg/catalog/conflicts.h"

#include "storage/predicate.h"

/* Two tables that share one would only conflict more than they have to. */
static BlockNumber
page_of_table(int64 table_id)
{
	Assert(table_id > 0);
	return MaxBlockNumber - (BlockNumber) (table_id % (MaxBlockNumber / 2));
}

void
bifang_conflicts_read(Relation append, int64 table_id, Snapshot snap)
{
	PredicateLockPage(append, page_of_table(table_id), snap);
}

void
bifang_conflicts_write(Relation append, int64 table_id)
{
	CheckForSerializableConflictIn(append, NULL, page_of_table(table_id));
}
