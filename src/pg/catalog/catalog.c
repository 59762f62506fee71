/*
 * pg/catalog/catalog.c: see catalog.h.
 */
#include "pg/catalog/catalog.h"

#include "pg/catalog/remote.h"
#include "pg/catalog/walls.h"

bool
bifang_catalog_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out)
{
	if (o->ns == NULL || o->table == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("foreign table has no options \"namespace\" and \"table\""),
						errhint("They say which lake table it is. ALTER FOREIGN TABLE ... OPTIONS "
								"(ADD namespace '...', ADD \"table\" '...').")));
	if (o->remote_catalog)
	{
		bifang_remote_lookup(o, snap, out);
		return true;
	}
	return bifang_catalog_find_table(bifang_catalog_name(o), o, snap, out);
}
