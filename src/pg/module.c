/*
 * pg/module.c: what happens when the server loads the library.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pg/lake/lag.h"
#include "pg/scan/kind.h"
#include "pg/scan/statistics.h"
#include "pg/server/settings.h"
#include "pg/worker/worker.h"
#include "pg/write/xact.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	bifang_settings_define();
	bifang_write_init();
	bifang_kinds_init();
	bifang_statistics_init();
	bifang_lag_init();
	bifang_worker_init();
}
