/*
 * pg/write/modify.h: INSERT and COPY into a foreign table; everything else is refused.
 */
#ifndef BIFANG_PG_WRITE_MODIFY_H
#define BIFANG_PG_WRITE_MODIFY_H

#include "postgres.h"

#include "foreign/fdwapi.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "pg/server/version.h"
#include "pg/write/table.h"

extern int bifangIsForeignRelUpdatable(Relation rel);
extern List *bifangPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index result_relation,
									 int subplan_index);
extern void bifangBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
									 List *fdw_private, int subplan_index, int eflags);
extern TupleTableSlot *bifangExecForeignInsert(EState *estate, ResultRelInfo *rri,
											   TupleTableSlot *slot, TupleTableSlot *plan_slot);
extern void bifangEndForeignModify(EState *estate, ResultRelInfo *rri);
extern void bifangBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rri);
extern void bifangEndForeignInsert(EState *estate, ResultRelInfo *rri);
extern void bifangExplainForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
									   List *fdw_private, int subplan_index, ExplainState *es);
/* Refuse with a clear error: UPDATE and DELETE at planning, TRUNCATE at execution. */
extern void bifangAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
										  RangeTblEntry *target_rte, Relation target_relation);
extern void bifangExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs);

/* Called before the first row that a transaction writes into a table; may wait or raise. Set by who
 * looks after how far the lake is behind. */
extern void (*bifang_modify_before_rows)(Oid relid, const BifangTable *t);

/* Rows that statements of this backend have buffered for the table go into its ledger and become
 * visible to commands after those statements'. table_id 0: of all tables. */
extern void bifang_modify_flush(int64 table_id);
/* Rows buffered for the writer by statements of other subtransactions than `subid` go into the
 * ledger, not yet visible. */
struct BifangWriter;
extern void bifang_modify_spill(struct BifangWriter *w, SubTransactionId subid);
/* Does a statement of this backend insert into the table? */
extern bool bifang_modify_is_running(int64 table_id);
/* Buffered statements of the subtransaction pass to its parent, or are forgotten on abort. */
extern void bifang_modify_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort);
extern void bifang_modify_forget(void);

#endif
