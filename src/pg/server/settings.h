/*
 * pg/server/settings.h: settings of the extension, as C variables.
 */
#ifndef BIFANG_PG_SERVER_SETTINGS_H
#define BIFANG_PG_SERVER_SETTINGS_H

#include "postgres.h"

extern bool bifang_create_on_ddl; /* bifang.create_on_ddl: CREATE FOREIGN TABLE makes lake tables */

extern bool bifang_planner_statistics; /* bifang.planner_statistics: what files say of columns */

/* Where in their history lake tables are read that don't say so themselves; "" = now. */
extern char *bifang_as_of_snapshot;
extern char *bifang_as_of_timestamp;
extern char *bifang_ref;

/* bifang.enable_header_walk: open transactions of a Kafka log are found by headers of batches */
extern bool bifang_enable_header_walk;

extern int bifang_ledger_kb_max;	 /* bifang.ledger_size_max: a fuller ledger is closed */
extern int bifang_tail_kb;			 /* bifang.tail_limit: smaller transactions go to the tail */
extern int bifang_garbage_grace_s;	 /* bifang.garbage_grace: age of left-overs that go */
extern int bifang_metadata_cache_kb; /* bifang.metadata_cache: decoded manifests of a backend */
extern int bifang_footer_cache_kb;	 /* bifang.footer_cache: footers of Parquet files */
extern int bifang_page_cache_kb;	 /* bifang.page_cache: their pages */
extern int bifang_rescan_kb;		 /* bifang.rescan_memory: rows of scans that run again */

/* What the background worker is asked for: bifang.worker and bifang.worker_... */
extern bool bifang_worker;
extern int bifang_worker_naptime_s;
extern int bifang_worker_launch_interval_s;
extern int bifang_worker_settle_age_s;
extern int bifang_worker_roll_age_s;
extern int bifang_worker_commit_age_s;
extern int bifang_worker_optimize_age_s;
extern int bifang_worker_commit_kb;
extern int bifang_worker_expire_age_s;
extern int bifang_worker_garbage_interval_s;
extern int bifang_worker_history_s;

/* How far the lake may be behind, for tables whose options don't say: bifang.lag_... */
extern int bifang_lag_kb_max;
extern int bifang_lag_rows_max;
extern int bifang_lag_age_max_s;
extern char *bifang_lag_action; /* "warn", "wait" or "error" */

/* Tells the server of them all. What is not defined by then is taken out of configuration files
 * with a warning, so nothing else may define one later. */
extern void bifang_settings_define(void);

/* Does the session have the settings that every dump script begins with? */
extern bool bifang_session_restores_dump(void);

/* BF_PRUNE_* of the settings bifang.enable_... */
extern uint32 bifang_prune_flags(void);

#endif
