/*
 * pg/server/pins.h: what was found outside of PostgreSQL, once per snapshot.
 *
 * The catalog's rows are read under the query's snapshot. What lies outside of it is not: the ends
 * of a broker's logs, the files of a directory, the newest metadata file of a location, the pointer
 * in another database. Whatever the first scan of a snapshot finds is kept here as text or numbers
 * under a key, for all others with the same snapshot: in READ COMMITTED those of a statement and of
 * the STABLE functions that it calls, above that level those of the transaction.
 *
 * Parallel workers get what the leader pinned (parallel.c); scans that each process would do on its
 * own are left to the leader (plan.c).
 */
#ifndef BIFANG_PG_SERVER_PINS_H
#define BIFANG_PG_SERVER_PINS_H

#include "postgres.h"

#include "utils/snapshot.h"

/* A query begins whose snapshot lives at least as long as cxt. Without it nothing is kept, but for
 * snapshots of transactions. */
extern void bifang_pins_begin(Snapshot snap, MemoryContext cxt);
/* The bytes under a key, or NULL. They are valid until the query ends. */
extern const char *bifang_pin_get(Snapshot snap, const char *key, Size *n);
extern void bifang_pin_put(Snapshot snap, const char *key, const char *bytes, Size n);

/* What maintenance looks at: the transaction's snapshot where it has one for all statements, else
 * the newest. */
extern Snapshot bifang_work_snapshot(void);

#endif
