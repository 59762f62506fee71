/*
 * pg/catalog/rows.h: rows of the extension's own tables, for the files of this folder.
 *
 * Reads go through BifangRows under the snapshot given by the caller; writes form a tuple, insert
 * it and its index entries. Constraints other than unique indexes are not run by these paths, so
 * what is written here must obey them. Column numbers follow the CREATE TABLE statements of the
 * extension script.
 */
#ifndef BIFANG_PG_CATALOG_ROWS_H
#define BIFANG_PG_CATALOG_ROWS_H

#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"

#include "pg/server/error.h"

#define BIFANG_SLOT(att) ((att) -1)

/* A table, index or sequence of the extension in schema bifang; InvalidOid where there is none, and
 * where somebody else's has that name. */
extern Oid bifang_rows_find(const char *name);
/* The same, known once found; raises when the extension is not there. `name` is a literal. */
extern Oid bifang_rows_relid(const char *name);
extern Relation bifang_rows_open(const char *name, LOCKMODE mode);

extern void bifang_rows_key_text(ScanKey key, AttrNumber att, const char *value);
extern void bifang_rows_key_int8(ScanKey key, AttrNumber att, int64 value);

/* The row's columns; raises unless the table has as many as this library knows. */
extern void bifang_rows_read(Relation rel, HeapTuple tuple, int natts, Datum *values, bool *nulls);
extern char *bifang_rows_text(const Datum *values, const bool *nulls, int att);

/* A scan of rows that the snapshot shows: those that match the keys in the order of the index, or
 * all of them where that is NULL. A row lives until the next one. To a SERIALIZABLE transaction it
 * is no read of data (conflicts.h): PostgreSQL is asked for all versions then, which it takes no
 * notice of, and the snapshot is looked at here. */
typedef struct BifangRows
{
	SysScanDesc scan;
	Relation index;
	bool close_index;	 /* opened by bifang_rows_begin */
	Snapshot shown_by;	 /* NULL = the scan's own */
	bool tell_conflicts; /* set by who reads data: rows that are not shown were written by others */
} BifangRows;

extern BifangRows
bifang_rows_begin(Relation rel, const char *index, Snapshot snap, int n_keys, ScanKey keys);
/* The same on an index that the caller has opened, for many scans. */
extern BifangRows
bifang_rows_begin_on(Relation rel, Relation index, Snapshot snap, int n_keys, ScanKey keys);
/* NULL: there are no more. */
extern HeapTuple bifang_rows_next(BifangRows *r);
/* From the end of the index; not mixed with the other direction. */
extern HeapTuple bifang_rows_previous(BifangRows *r);
extern void bifang_rows_end(BifangRows *r);

extern void bifang_rows_insert(Relation rel, Datum *values, bool *nulls);
/* Visible to commands after `cid`, which may be older than the current one: a statement's rows are
 * visible to whatever comes after that statement began. */
extern void bifang_rows_insert_at(Relation rel, Datum *values, bool *nulls, CommandId cid);

/* Locks the row version so that it can be changed or deleted without surprise. False: somebody
 * changed it since the snapshot under which it was found. */
extern bool bifang_rows_lock(Relation rel, HeapTuple tuple);
/* Raises 40001: the transaction's snapshot does not show the newest version. */
extern void bifang_rows_refuse(void) BIFANG_NORETURN;

/* Paths. A copy of the cluster at another place, say a restored base backup, must find its own
 * files and leave the first one's alone. So paths below the data directory are kept without it. */
extern const char *bifang_rows_stored_path(const char *path);
extern char *bifang_rows_full_path(char *stored);
/* Paths are UTF-8, rows are text of the database. */
extern Datum bifang_rows_path_datum(const char *path);

#endif
