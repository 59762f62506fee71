/*
 * pg/scan/files/internal.h: what the files of files.h share.
 */
#ifndef BIFANG_PG_SCAN_FILES_INTERNAL_H
#define BIFANG_PG_SCAN_FILES_INTERNAL_H

#include "pg/scan/kind.h"

#define BIFANG_FILES_SUFFIX ".parquet"

/* seen.c */
/* Rows that a file was seen to have, for later estimates. */
extern void bifang_files_remember(const char *path, int64 size, int64 rows);
/* false: nobody has. */
extern bool bifang_files_remembered(const char *path, const BfPathInfo *info, int64 *rows);

/* known.c; of BifangKind */
extern void bifang_files_look(BifangWorklist *w, Oid relid);
extern uint64 bifang_files_news(const BifangWorklist *w);
extern void bifang_files_known(const BifangWorklist *w, BifangKnown *k);

/* unit.c */
extern void bifang_files_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u);

/* import.c */
extern void bifang_files_import(BifangImport *im);

#endif
