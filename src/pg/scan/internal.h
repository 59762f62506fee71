/*
 * pg/scan/internal.h: what the files of scan.h share.
 */
#ifndef BIFANG_PG_SCAN_INTERNAL_H
#define BIFANG_PG_SCAN_INTERNAL_H

#include "pg/scan/scan.h"

/* scan_columns.c */
extern void bifang_scan_init_column(BifangScan *s, BifangColumn *c, Form_pg_attribute att);
/* Matches columns with the schema: which vectors readers are asked for. */
extern void bifang_scan_bind_columns(BifangScan *s);

/* scan_open.c */
extern void bifang_scan_open_unit(BifangScan *s, BfScanUnit *u);

/* scan_slice.c */
/* Not before there is something to read: planning makes scans, too. */
extern void bifang_scan_make_room(BifangScan *s);
/* Of a new batch. */
extern void bifang_scan_begin_batch(BifangScan *s);
/* The next rows of the batch that count, as many as fit. */
extern void bifang_scan_fill_slice(BifangScan *s);

#endif
