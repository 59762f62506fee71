/*
 * pg/scan/lake/deletes.h: what is deleted of the data files of one scan.
 *
 * Joins the planner's word on which delete files apply to a data file (iceberg/table.h) to those
 * that read them (exec/delete/load.h). One set per scan and process: a delete file is read once,
 * whatever number of data files it is about, and again at no rescan.
 */
#ifndef BIFANG_PG_SCAN_LAKE_DELETES_H
#define BIFANG_PG_SCAN_LAKE_DELETES_H

#include "postgres.h"

#include "exec/delete/load.h"
#include "iceberg/table.h"

typedef struct BifangDeleteSet BifangDeleteSet;

/* Lives in cxt; table and counters are borrowed. */
extern BifangDeleteSet *
bifang_delete_set_new(MemoryContext cxt, const BfIceTable *table, bool verify_checksums,
					  BfIoCounters *io, BfDeleteCounters *count);
/* The plan whose files were asked for goes away. */
extern void bifang_delete_set_replan(BifangDeleteSet *s);
/* In `a`; NULL when nothing of the file is deleted. `count`: what dangles is counted, once per
 * file.
 */
extern BfDeletes *
bifang_delete_set_of(BifangDeleteSet *s, BfArena *a, const BfIceDataFile *f, bool count);

#endif
