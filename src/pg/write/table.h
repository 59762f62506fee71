/*
 * pg/write/table.h: a lake table as the catalog names it, for those who write or maintain it.
 */
#ifndef BIFANG_PG_WRITE_TABLE_H
#define BIFANG_PG_WRITE_TABLE_H

#include "postgres.h"

#include "iceberg/table.h"
#include "pg/catalog/catalog.h"
#include "pg/write/ledger.h"
#include "pg/write/locks.h"

typedef struct BifangTable
{
	BifangOptions options;
	BifangLakeTable row;
	const BfIceTable *ice; /* lives as long as the context given */
	const char *uuid;
} BifangTable;

/* Raises with a hint when the foreign table is not bound to a table of the catalog (other format,
 * found by location) or the catalog has none of that name. */
extern void bifang_table_open(Oid relid, Snapshot snap, MemoryContext cxt, BifangTable *out);
/* The table that the options name, locked, as it is now. Raises when it is not there any more once
 * others let the lock go, and 40001 when the transaction's snapshot shows another one. */
extern void bifang_table_lock(const BifangOptions *o, BifangTableLock mode, BifangLakeTable *row);
/* The same with all that it is; out->options are given. */
extern void bifang_table_open_locked(BifangTable *out, BifangTableLock mode, MemoryContext cxt);
/* Is it, by its options? The other one raises that refusal: `verb` is "insert into", "commit". */
extern bool bifang_table_is_managed(const BifangOptions *o);
extern void bifang_table_check_managed(const BifangOptions *o, const char *verb);

/* A table that this database made says so by the mark in its directory; one that nobody has marked
 * yet by a property. Another one's (the database was copied, or the table was registered) is
 * shared: its files are never removed, and our offload files keep apart from its owner's. */
#define BIFANG_ORIGIN_PROPERTY "bifang.origin"
extern bool bifang_table_is_own(const BfIceTable *t);
extern char *bifang_table_offload_dir(const BfIceTable *t);

/* May files in the table's directory go? It lies around its metadata, not merely where that says,
 * and was marked as ours. */
extern bool bifang_table_may_remove(const BfIceTable *t, const char *metadata_path);
/* Before it is written to: raises when it is the table of another copy of this cluster. */
extern void bifang_table_claim(const BfIceTable *t, const BifangLakeTable *row);

/* Writing next to a table that lies outside of the server's warehouse (it was adopted) needs the
 * role pg_write_server_files. Raises 42501 when `role` lacks it; `what` is done to which directory.
 */
extern void
bifang_table_check_write(const BifangOptions *o, const BfIceTable *t, Oid role, const char *what);

/* Is the relation a foreign table of this wrapper? */
extern bool bifang_table_is_ours(Oid relid);
/* Raises unless it is one and the current user owns it. */
extern void bifang_table_check_owner(Oid relid);

/* Whose job it is; strings are borrowed from t. */
extern void bifang_table_set_job(const BifangTable *t, BifangJob *job);
/* What a writer of the table needs to know; strings are borrowed from t. */
extern BifangTarget bifang_table_target(const BifangTable *t);

#endif
