/*
 * pg/scan/kind.h: a kind of tables, as functions.
 *
 * What differs between a lake table, plain files and the directory of a log is here, a row of
 * functions per kind; nobody else asks which one a table is. A kind is a folder below this one with
 * its row, and a line in kinds.c. What it reads need not be local, nor files: a source is whatever
 * text finds it again.
 *
 *   option format -> kind            bifang_kind_of
 *   planner, executor, ANALYZE:      open, plan, (per unit) open_unit
 *   parallel:  leader                open, fix -> pins as bytes, plan -> pack_plan
 *              worker                join, plan, open_unit
 *   IMPORT FOREIGN SCHEMA            import
 *
 * Functions are called in a memory context that lives as long as what they make: the work list's
 * for open and join, the plan's for plan, the unit's for open_unit. They raise errors.
 */
#ifndef BIFANG_PG_SCAN_KIND_H
#define BIFANG_PG_SCAN_KIND_H

#include "postgres.h"

#include "commands/explain.h"

#include "pg/scan/import.h"
#include "pg/scan/known.h"
#include "pg/scan/scan.h"
#include "pg/scan/worklist.h"
#include "pg/server/version.h"

/* Where in EXPLAIN's output a kind may say something. */
typedef enum BifangExplainPart
{
	BIFANG_EXPLAIN_TABLE,  /* what is read, before the tiers */
	BIFANG_EXPLAIN_PRUNED, /* what was left out, before units that facts left out */
	BIFANG_EXPLAIN_REST	   /* behind them */
} BifangExplainPart;

typedef struct BifangKind
{
	BifangFormat format; /* what options know; first, so that it can be taken for the whole */
	/* Forms of rows, in the order of EXPLAIN; at most BF_SCAN_TIERS_MAX, the last has no name. */
	const BfScanTier *tiers;
	/* Columns, where all tables of the kind have the same; else NULL. */
	const BfSchema *schema;

	/* ---- the work list ---- */

	/* Looks up, under w->snap, what the scan reads: fills w->pins, and w->schema where tables have
	 * columns of their own. What a snapshot of this database does not decide is looked up once per
	 * snapshot (server/pins.h). Opens no data. */
	void (*open)(BifangWorklist *w, const BifangOptions *o);
	/* The rest of open, from pins of another process. NULL: pins are all there is. */
	void (*join)(BifangWorklist *w, const BifangOptions *o);
	/* Pins what open leaves to the first pass. NULL: nothing. */
	void (*fix)(BifangWorklist *w, const BifangOptions *o);
	/* Units into w->list, which says what for; none that could have a row is left out. */
	void (*plan)(BifangWorklist *w, uint32 prune);
	/* What is known of a field in all rows of a unit; NULL: nothing. */
	BfScanFieldStats field_stats;
	/* The plan as bytes, for the w->given of other processes. NULL: each of them plans. */
	BfView (*pack_plan)(const BifangWorklist *w, BfArena *a);

	/* ---- rows ---- */

	/* The number in w->schema of the column with that field id (0 = none) or name; raises when
	 * there is none. NULL: units have columns of their own, found by name when one is opened. */
	int32 (*column)(const BifangWorklist *w, const char *relname, int32 field_id, const char *name);
	/* Makes s->reader, which gives the unit's rows that count, and the conversions of s->columns.
	 * unit.h has what kinds share. */
	void (*open_unit)(BifangScan *s, BfArena *a, BfScanUnit *u);

	/* ---- planner ---- */

	/* Rows of the whole table, whatever the plan left out. NULL: those of the sources, which are
	 * what ANALYZE found where nobody has counted them. */
	double (*table_rows)(const BifangWorklist *w);
	/* Counts sources that nobody has counted yet, where a few small reads tell; for the planner,
	 * which has looked at the rights that the scan would need. What can't be read is left as it is:
	 * it is for the scan to say so. NULL: nothing tells. */
	void (*look)(BifangWorklist *w, Oid relid);
	/* Is the column searched for by an index, so that the rows read are those that match? NULL: no
	 * column is, and their order decides. */
	bool (*searches)(const char *column);

	/* A number that changes whenever `known` could say something else. */
	uint64 (*news)(const BifangWorklist *w);
	/* Answers what is known of the columns without reading anything; the work list is planned.
	 * NULL, and then `news` is too: nothing is, ever. */
	void (*known)(const BifangWorklist *w, BifangKnown *k);

	/* ---- people ---- */

	/* NULL: there is nothing to say. */
	void (*explain)(const BifangWorklist *w, BifangExplainPart part, ExplainState *es);
	/* A command for each table that im->stmt asks for. */
	void (*import)(BifangImport *im);
} BifangKind;

static inline const BifangKind *
bifang_kind_of(const BifangOptions *o)
{
	return (const BifangKind *) o->format;
}

/* Makes the kinds known to options. Once, when the library is loaded. */
extern void bifang_kinds_init(void);

#endif
