/*
 * pg/server/version.h: what differs between PostgreSQL 15 and 18, and nowhere else.
 */
#ifndef BIFANG_PG_SERVER_VERSION_H
#define BIFANG_PG_SERVER_VERSION_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "bifang_fdw needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#else
#include "commands/explain.h"
#endif
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/pg_locale.h"
#include "utils/wait_event.h"

/* Plain scan path without target list, outer path or private data of the restriction list. */
static inline ForeignPath *
bifang_scan_path(PlannerInfo *root, RelOptInfo *rel, double rows, Cost startup, Cost total,
				 List *pathkeys, Relids required_outer, List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup, total, pathkeys,
								   required_outer, NULL, NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer,
								   NULL, NIL, fdw_private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer,
								   NULL, fdw_private);
#endif
}

#if PG_VERSION_NUM >= 180000
#define bifang_vacuum_delay_point() vacuum_delay_point(true)
#else
#define bifang_vacuum_delay_point() vacuum_delay_point()
#endif

#if PG_VERSION_NUM >= 170000
#define bifang_lock_held(tag, mode) LockHeldByMe(tag, mode, false)
#else
#define bifang_lock_held(tag, mode) LockHeldByMe(tag, mode)
#endif

/* Is order by this collation that of bytes? */
#if PG_VERSION_NUM >= 180000
#define bifang_collation_is_c(collation) (pg_newlocale_from_collation(collation)->collate_is_c)
#else
#define bifang_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* Whose rights a scan of the relation uses: a view's owner's, or the current user's (InvalidOid).
 */
static inline Oid
bifang_rel_user(PlannerInfo *root, RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 160000
	(void) root;
	return rel->userid;
#else
	return planner_rt_fetch(rel->relid, root)->checkAsUser;
#endif
}

static inline Oid
bifang_scan_user(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

#if PG_VERSION_NUM >= 160000
	return plan->checkAsUser;
#else
	return exec_rt_fetch(plan->scan.scanrelid, node->ss.ps.state)->checkAsUser;
#endif
}

/* May the current user see all rows of the column? Minor releases of August 2025 brought the
 * server's own answer; before them nobody may. */
#if PG_VERSION_NUM >= 180000 || (PG_VERSION_NUM >= 170006 && PG_VERSION_NUM < 180000) || \
	(PG_VERSION_NUM >= 160010 && PG_VERSION_NUM < 170000) ||                             \
	(PG_VERSION_NUM >= 150014 && PG_VERSION_NUM < 160000)
#define bifang_all_rows_selectable(root, varno, attrs) all_rows_selectable(root, varno, attrs)
#else
#define bifang_all_rows_selectable(root, varno, attrs) ((void) (root), false)
#endif

/* reverse(bytea) came in 18. */
#if PG_VERSION_NUM >= 180000
#define BIFANG_F_REVERSE_TEXT F_REVERSE_TEXT
#else
#define BIFANG_F_REVERSE_TEXT F_REVERSE
#endif

/* The i-th of the backends that pgstat_fetch_stat_numbackends() counted, from 1 on. */
#if PG_VERSION_NUM >= 160000
#define bifang_backend_status(i) pgstat_get_local_beentry_by_index(i)
#else
#define bifang_backend_status(i) pgstat_fetch_stat_local_beentry(i)
#endif

/* Wait events with names of our own came in 17; `known` keeps what the server gave for the name. */
#if PG_VERSION_NUM >= 170000
static inline uint32
bifang_wait_event(uint32 *known, const char *name)
{
	if (*known == 0)
		*known = WaitEventExtensionNew(name);
	return *known;
}
#else
#define bifang_wait_event(known, name) ((void) (known), (void) (name), PG_WAIT_EXTENSION)
#endif

/* pg_foreign_server and friends: ownership checks were renamed in 16. */
#if PG_VERSION_NUM >= 160000
#define bifang_owns_relation(relid, roleid) object_ownercheck(RelationRelationId, relid, roleid)
#else
#define bifang_owns_relation(relid, roleid) pg_class_ownercheck(relid, roleid)
#endif

#endif
