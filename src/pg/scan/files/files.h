/*
 * pg/scan/files/files.h: plain Parquet files, a path, a directory or a glob.
 *
 * Nothing says what columns they have but the files themselves, one by one; of the number of rows
 * there is what this backend saw when it read a file, else what ANALYZE found, else a guess from
 * its size. Where they are a few, planning reads their footers, which the scan would do anyway.
 */
#ifndef BIFANG_PG_SCAN_FILES_FILES_H
#define BIFANG_PG_SCAN_FILES_FILES_H

#include "pg/scan/kind.h"

extern const BifangKind bifang_kind_files;

#endif
