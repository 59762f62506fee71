/*
 * pg/module.c: loading, and settings.
 */
#include "pg/module.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "pg/ledger.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

bool bifang_create_on_ddl = true;

void
_PG_init(void)
{
	DefineCustomBoolVariable("bifang.create_on_ddl",
							 "CREATE FOREIGN TABLE makes the lake table when the catalog has none.",
							 "Switched off when a dump is restored over an existing catalog.",
							 &bifang_create_on_ddl, true, PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("bifang");
	bifang_ledger_init();
}
