/*
 * pg/scan/internal.h: what the files of scan.h share.
 */
#ifndef BIFANG_PG_SCAN_INTERNAL_H
#define BIFANG_PG_SCAN_INTERNAL_H

#include "pg/scan/scan.h"

#include "exec/read/kafka_reader.h"

/* scan_columns.c */
extern const BfField bifang_kafka_fields[BF_KAFKA_COLUMNS];

extern void bifang_scan_init_column(BifangScan *s, BifangColumn *c, Form_pg_attribute att);
/* Matches columns with the schema: which vectors readers are asked for. */
extern void bifang_scan_bind_columns(BifangScan *s);
/* Makes the column ready for the open unit's values. */
extern void bifang_scan_set_conversion(BifangScan *s, BifangColumn *c, const BfField *field);
/* A BifangPushColumnOf over the scan. */
extern bool bifang_scan_push_column(void *arg, AttrNumber attnum, BifangPushColumn *out);

/* scan_open.c */
extern void bifang_scan_open_unit(BifangScan *s, BifangUnit *u);
/* Which rows count of a unit whose reader gives whole batches; `deletes` may be NULL. The reader is
 * opened for the filter's projection, and read through it. */
extern BfFilter *bifang_scan_filter(BifangScan *s, BfArena *a, const BfProjection *projection,
									int32 n_fields, BfDeletes *deletes);
extern void bifang_scan_read_through(BifangScan *s, BfArena *a, BfFilter *f, BfReader *below);

/* scan_kafka.c */
extern void bifang_scan_open_kafka(BifangScan *s, BfArena *a, BifangUnit *u);

/* scan_slice.c */
/* Not before there is something to read: planning makes scans, too. */
extern void bifang_scan_make_room(BifangScan *s);
/* Of a new batch. */
extern void bifang_scan_begin_batch(BifangScan *s);
/* The next rows of the batch that count, as many as fit. */
extern void bifang_scan_fill_slice(BifangScan *s);

#endif
