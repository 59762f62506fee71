/*
 * pg/lake/upgrade.c: what scripts of ALTER EXTENSION ... UPDATE can't say in SQL.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "iceberg/table.h"
#include "pg/catalog/tables.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

PG_FUNCTION_INFO_V1(bifang_uuid_of_metadata);

/* NULL when the file can't be read, with a WARNING when it is one of this machine: the row stays
 * without what version 0.1 did not keep. */
Datum
bifang_uuid_of_metadata(PG_FUNCTION_ARGS)
{
	char *path = bifang_catalog_find_path(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	BfArena *arena;
	BfIceTable *t;
	BfError err = {0};
	char *uuid = NULL;

	if (path == NULL)
		PG_RETURN_NULL();
	arena = bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	if (bf_ice_load(arena, path, NULL, &t, &err) != BF_OK)
		bifang_warn(WARNING, &err);
	else if (t->metadata->uuid[0] != '\0')
		uuid = pstrdup(t->metadata->uuid);
	bifang_arena_free(arena);
	if (uuid == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(uuid));
}
