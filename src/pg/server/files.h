/*
 * pg/server/files.h: paths as users write them; removing files when a transaction aborts.
 */
#ifndef BIFANG_PG_SERVER_FILES_H
#define BIFANG_PG_SERVER_FILES_H

#include "postgres.h"

/* file:///x, file:/x and /x as /x without repeated or trailing slashes; anything else that is not
 * absolute raises, naming `what`. */
extern char *bifang_local_path(const char *path, const char *what);
/* The same; NULL where that raises: other programs' rows name files too. */
extern char *bifang_find_local_path(const char *path);

/* A file that only the current (sub)transaction's rows name: removed when that aborts, and with it
 * its directory and the next `parents` ones above if nothing else is in them. Best effort: after a
 * crash it stays, as a file that nothing names. */
extern void bifang_remove_on_abort(const char *path, int parents);
/* For the transaction callbacks (write/ledger.c); raise nothing. */
extern void bifang_on_abort_end(bool abort);
extern void bifang_on_abort_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort);

#endif
