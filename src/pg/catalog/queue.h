/*
 * pg/catalog/queue.h: rows of bifang.garbage: what is removed once nobody can see what named it.
 */
#ifndef BIFANG_PG_CATALOG_QUEUE_H
#define BIFANG_PG_CATALOG_QUEUE_H

#include "postgres.h"

#include "access/transam.h"
#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

/* Queues a path for removal once the current transaction is older than every snapshot. */
extern void bifang_catalog_insert_garbage(const char *path, bool is_dir, const char *reason);
/* A path that nothing names, with all below it when it is a directory. */
typedef struct BifangGarbage
{
	char *path;
	bool is_dir;
	ItemPointerData row; /* of the queue */
	TimestampTz queued_at;
} BifangGarbage;
/* Locks the queue's rows of transactions before `horizon`; a list of BifangGarbage *, palloc'd.
 * The paths may go once the locks are durable up to here, and with them what queued the paths; then
 * their rows. */
extern List *bifang_catalog_take_garbage(FullTransactionId horizon, Snapshot snap);
extern void bifang_catalog_delete_garbage(const BifangGarbage *g);
/* Of files, as the snapshot sees the queue; char *. */
extern List *bifang_catalog_queued_files(Snapshot snap);
/* By this or another name of the same file. */
extern bool bifang_catalog_is_queued(const char *path, Snapshot snap);

#endif
