/*
 * pg/write/mark.h: the file that says whose a directory is.
 *
 * Whoever makes a ledger's directory, or a lake table's, writes the file `table` into it:
 *
 *   <uuid of the table>
 *   <system identifier>/<oid of the database>
 *   <the data directory's own identity>
 *   catalog <id>                what the database's catalog calls itself (pg/catalog/identity.h)
 *   namespace <name>            of the table at that time, UTF-8; % and ends of lines as %25, %0A
 *   name <name>
 *   end <entry> <base entry of its segment> <position>     of a ledger, when its catalog was
 * dropped: lost <ranges>                                          what was acknowledged, and what
 * is gone metadata <name of a file>   of a table, likewise: its current metadata
 *
 * Lines of the second kind may be missing, in files of older versions, and others may come: readers
 * pass over what they don't know. Written as a whole by rename, durable.
 */
#ifndef BIFANG_PG_WRITE_MARK_H
#define BIFANG_PG_WRITE_MARK_H

#include "postgres.h"

#include "log/writer.h"

#define BIFANG_OWNER_FILE "table"

typedef struct BifangMark
{
	const char *uuid;
	const char *origin;
	const char *identity;
	const char *catalog_id; /* "" = it does not say */
	const char *ns;			/* likewise */
	const char *name;
	/* Said by a catalog that goes (pg/lake/leave.c), taken back when it goes on. */
	BfLedgerEnd end;	  /* entry -1 = not said */
	const char *lost;	  /* "" = nothing, or not said */
	const char *metadata; /* likewise */
} BifangMark;

/* Has its catalog taken leave? */
static inline bool
bifang_mark_has_left(const BifangMark *m)
{
	return m->end.entry >= 0 || m->metadata[0] != '\0';
}

typedef enum BifangMarkState
{
	BIFANG_MARK_NONE, /* no such file, or none that can be understood */
	BIFANG_MARK_READ,
	BIFANG_MARK_UNREADABLE /* there may be one */
} BifangMarkState;

/* Strings are palloc'd. */
extern BifangMarkState bifang_mark_read(const char *dir, BifangMark *out);
/* A mark of this database; strings are borrowed. */
extern BifangMark bifang_mark_ours(const char *uuid, const char *ns, const char *name);
/* The file's text; palloc'd. */
extern char *bifang_mark_text(const BifangMark *m);
/* In place of what is there. A directory that isn't there is left so. */
extern void bifang_mark_write(const char *dir, const BifangMark *m);
/* The greatest number of a ledger that a catalog of this database had when it was dropped: ledgers
 * that come back keep their numbers. 0 = there was none, or it did not say. */
extern int64 bifang_mark_last_ledger(void);
extern void bifang_mark_set_last_ledger(int64 id);
/* What tells this data directory from a copy of it; lives as long as the backend. */
extern const char *bifang_mark_identity(void);

#endif
