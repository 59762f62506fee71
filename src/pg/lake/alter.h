/*
 * pg/lake/alter.h: options of foreign tables after an ALTER.
 */
#ifndef BIFANG_PG_LAKE_ALTER_H
#define BIFANG_PG_LAKE_ALTER_H

#include "postgres.h"

#include "fmgr.h"

/* Raises unless the function is called as event trigger. */
extern void bifang_check_event(FunctionCallInfo fcinfo, const char *function);
/* Raises when a foreign table of the server has options that mean nothing for what it is. */
extern void bifang_check_tables_of_server(Oid serverid);

#endif
