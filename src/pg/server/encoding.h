/*
 * pg/server/encoding.h: between UTF-8, which everything in the lake is, and the database's
 * encoding.
 *
 * Names of columns and tables, paths and option values are the database's text where SQL has them
 * and UTF-8 below: options are converted when they are taken, names where they are looked for or
 * declared, texts of files where they are shown. In databases in UTF-8 or SQL_ASCII nothing
 * changes, but what is not UTF-8 is no text of the lake in SQL_ASCII either.
 */
#ifndef BIFANG_PG_SERVER_ENCODING_H
#define BIFANG_PG_SERVER_ENCODING_H

#include "postgres.h"

/* Is text of the lake that of the database? */
extern bool bifang_same_encoding(void);
/* Text of the database; the argument itself where that is UTF-8 already. */
extern char *bifang_to_utf8(const char *text);
/* NULL: the text is damaged, or has a character that the database lacks. */
extern char *bifang_from_utf8(const char *text);
/* For people: '?' for what the database lacks. Also where no transaction is open. */
extern const char *bifang_shown(const char *text);
/* As much of valid UTF-8 as there is a place for in the database's encoding, terminated, in `to`
 * with room for BIFANG_CONVERTED_MAX(n) bytes. Returns how many bytes were converted. */
extern int bifang_convert_utf8(const uint8 *p, int n, char *to);

#define BIFANG_CONVERTED_MAX(n) ((Size) (n) *4 + 1)

#endif
