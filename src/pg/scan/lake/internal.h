/*
 * pg/scan/lake/internal.h: what the files of lake.h share.
 */
#ifndef BIFANG_PG_SCAN_LAKE_INTERNAL_H
#define BIFANG_PG_SCAN_LAKE_INTERNAL_H

#include "pg/catalog/point.h"
#include "pg/scan/kind.h"
#include "pg/scan/lake/deletes.h"

/* BifangWorklist.own of a lake table. */
typedef struct BifangLakeWork
{
	BifangPoint point;
	const BfIcePlan *plan;	  /* NULL before it is planned */
	BifangDeleteSet *deletes; /* NULL before a file has some */
} BifangLakeWork;

static inline BifangLakeWork *
bifang_lake_work(const BifangWorklist *w)
{
	return w->own;
}

/* columns.c */
/* The schema of the point with, behind it, what it lacks of the table's other schemas
 * (iceberg/columns.h). Lives in w->cxt. */
extern const BfSchema *bifang_lake_columns(BifangWorklist *w);
/* Of BifangKind. */
extern int32
bifang_lake_column(const BifangWorklist *w, const char *relname, int32 field_id, const char *name);

/* known.c; of BifangKind */
extern uint64 bifang_lake_news(const BifangWorklist *w);
extern void bifang_lake_known(const BifangWorklist *w, BifangKnown *k);

/* unit.c */
extern void bifang_lake_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u);

/* import.c */
extern void bifang_lake_import(BifangImport *im);

#endif
