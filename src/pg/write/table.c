/*
 * pg/write/table.c: see table.h.
 */
#include "pg/write/table.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/rows.h"
#include "pg/server/remove.h"
#include "pg/server/version.h"
#include "pg/write/owner.h"

bool
bifang_table_is_managed(const BifangOptions *o)
{
	return o->format->lake && o->location == NULL && !o->remote_catalog &&
		   o->as_of_snapshot == NULL && o->as_of_timestamp == NULL && o->ref == NULL;
}

void
bifang_table_check_managed(const BifangOptions *o, const char *verb)
{
	const char *name = OidIsValid(o->relid) ? get_rel_name(o->relid) : "?";

	if (!o->format->lake)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("cannot %s foreign table \"%s\"", verb, name),
						errdetail("Tables of format %s are read only.", o->format->name)));
	if (o->remote_catalog && o->location == NULL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("cannot %s foreign table \"%s\"", verb, name),
						errdetail("Its catalog is in another database, which is only read.")));
	if (o->as_of_snapshot != NULL || o->as_of_timestamp != NULL || o->ref != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\"", verb, name),
				 errdetail("Its options show the lake table as it was, or another branch.")));
	if (o->location != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\"", verb, name),
				 errdetail("It is found by its location; its current state is kept elsewhere."),
				 errhint("Adopt the table with bifang.register_table() and make a foreign table "
						 "with options \"namespace\" and \"table\".")));
}

static void
find_row(const BifangOptions *o, Snapshot snap, BifangLakeTable *row)
{
	if (!bifang_catalog_lookup(o, snap, row))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
				 errmsg("lake table %s.%s does not exist in catalog \"%s\"", row->ns, row->name,
						row->catalog),
				 errhint("The view bifang.tables lists what exists; bifang.create_table() makes a "
						 "new one.")));
}

/* What out->row names. */
static void
open_row(MemoryContext cxt, BifangTable *out)
{
	out->ice = bifang_lake_table(cxt, out->row.metadata_location);
	out->uuid = out->ice->metadata->uuid;
	if (out->uuid[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("lake table %s.%s has no uuid", out->row.ns, out->row.name),
						errhint("Let another engine upgrade it to format version 2.")));
	bifang_catalog_check_uuid(&out->row, out->uuid);
}

void
bifang_table_open(Oid relid, Snapshot snap, MemoryContext cxt, BifangTable *out)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);

	bifang_options_get(relid, &out->options);
	bifang_table_check_managed(&out->options, "change");
	find_row(&out->options, snap, &out->row);
	open_row(cxt, out);
	MemoryContextSwitchTo(old);
}

/* What a foreign table was bound to when it was locked last: it is looked up once where that is so
 * still. */
static struct
{
	Oid relid;
	int64 table_id;
} last = {InvalidOid, 0};

static bool
lock_last(const BifangOptions *o, BifangTableLock mode, BifangLakeTable *row)
{
	Snapshot snap;
	bool fresh;

	if (o->relid != last.relid || !OidIsValid(o->relid) || IsolationUsesXactSnapshot())
		return false;
	fresh = bifang_lock_table(last.table_id, mode);
	snap = RegisterSnapshot(GetLatestSnapshot());
	find_row(o, snap, row);
	UnregisterSnapshot(snap);
	if (row->id == last.table_id)
		return true;
	if (fresh)
		bifang_unlock_table(last.table_id, mode);
	return false;
}

/* Who comes too late for a table finds none of that name any more, or another one. */
void
bifang_table_lock(const BifangOptions *o, BifangTableLock mode, BifangLakeTable *row)
{
	Snapshot snap;

	if (lock_last(o, mode, row))
	{
		Assert(bifang_table_is_locked(row->id, mode));
		return;
	}
	snap = RegisterSnapshot(bifang_work_snapshot());
	find_row(o, snap, row);
	UnregisterSnapshot(snap);
	while (bifang_lock_table(row->id, mode))
	{
		BifangLakeTable now;
		bool same;

		snap = RegisterSnapshot(GetLatestSnapshot());
		find_row(o, snap, &now);
		UnregisterSnapshot(snap);
		same = now.id == row->id;
		if (!same)
			bifang_unlock_table(row->id, mode);
		if (!same && IsolationUsesXactSnapshot())
			bifang_rows_refuse();
		if (!IsolationUsesXactSnapshot())
			*row = now;
		if (same)
			break;
	}
	Assert(bifang_table_is_locked(row->id, mode));
	if (OidIsValid(o->relid))
	{
		last.relid = o->relid;
		last.table_id = row->id;
	}
}

/* Who has an old snapshot would write rows as the table was then, with NULLs where it has none now.
 */
static void
refuse_old_schema(const BifangTable *t)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	BifangLakeTable now;

	find_row(&t->options, snap, &now);
	UnregisterSnapshot(snap);
	if (strcmp(now.metadata_location, t->row.metadata_location) != 0 &&
		bifang_lake_table(CurrentMemoryContext, now.metadata_location)->schema->schema_id !=
			t->ice->schema->schema_id)
		bifang_rows_refuse();
}

void
bifang_table_open_locked(BifangTable *out, BifangTableLock mode, MemoryContext cxt)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);

	bifang_table_lock(&out->options, mode, &out->row);
	open_row(cxt, out);
	if (mode == BIFANG_TABLE_WRITE && IsolationUsesXactSnapshot())
		refuse_old_schema(out);
	MemoryContextSwitchTo(old);
}

bool
bifang_table_is_own(const BfIceTable *t)
{
	BifangOwner owner = bifang_owner_of(t->location.found, t->metadata->uuid);
	const char *origin;

	if (owner != BIFANG_OWNER_NONE)
		return owner == BIFANG_OWNER_OURS;
	origin = bf_ice_property(t->metadata, BIFANG_ORIGIN_PROPERTY);
	return origin != NULL && strcmp(origin, bifang_catalog_origin()) == 0;
}

char *
bifang_table_offload_dir(const BfIceTable *t)
{
	char *sub;

	if (bifang_table_is_own(t))
		return psprintf("%s/offload", t->location.found);
	sub = pstrdup(bifang_catalog_origin());
	*strchr(sub, '/') = '-';
	return psprintf("%s/offload/%s", t->location.found, sub);
}

static bool
lies_around(const BfIceTable *t, const char *metadata_path)
{
	char *dir = pstrdup(metadata_path);

	for (int i = 0; i < 2; i++)
	{
		char *slash = strrchr(dir, '/');

		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	return bifang_same_file(dir, t->location.found);
}

bool
bifang_table_may_remove(const BfIceTable *t, const char *metadata_path)
{
	return lies_around(t, metadata_path) &&
		   bifang_owner_of(t->location.found, t->metadata->uuid) == BIFANG_OWNER_OURS;
}

void
bifang_table_claim(const BfIceTable *t, const BifangLakeTable *row)
{
	BifangOwner owner = bifang_owner_of(t->location.found, t->metadata->uuid);
	BifangMark ours = bifang_mark_ours(t->metadata->uuid, row->ns, row->name);

	if (!lies_around(t, row->metadata_location) || owner == BIFANG_OWNER_OTHER ||
		(owner == BIFANG_OWNER_NONE && !bifang_table_is_own(t)))
		return;
	bifang_owner_claim(t->location.found, &ours);
}

void
bifang_table_check_write(const BifangOptions *o, const BfIceTable *t, Oid role, const char *what)
{
	const char *dir = t->location.found;
	size_t n = strlen(o->warehouse);

	Assert(dir[0] == '/' && o->warehouse[0] == '/');
	if ((strncmp(dir, o->warehouse, n) == 0 && dir[n] == '/') ||
		has_privs_of_role(role, ROLE_PG_WRITE_SERVER_FILES))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to %s \"%s\"", what, dir),
			 errdetail("The table lies outside of the server's warehouse; role \"%s\" needs the "
					   "privileges of pg_write_server_files.",
					   GetUserNameFromId(role, false))));
}

static const char *
kind_of_relation(Oid relid)
{
	switch (get_rel_relkind(relid))
	{
		case RELKIND_RELATION: return "a table";
		case RELKIND_PARTITIONED_TABLE: return "a partitioned table";
		case RELKIND_VIEW: return "a view";
		case RELKIND_MATVIEW: return "a materialized view";
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX: return "an index";
		case RELKIND_SEQUENCE: return "a sequence";
		case RELKIND_FOREIGN_TABLE: return "a foreign table of another wrapper";
		default: return "another kind of relation";
	}
}

bool
bifang_table_is_ours(Oid relid)
{
	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE &&
		   GetForeignServer(GetForeignServerIdByRelId(relid))->fdwid ==
			   get_foreign_data_wrapper_oid("bifang_fdw", false);
}

void
bifang_table_check_owner(Oid relid)
{
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("the foreign table does not exist")));
	if (!bifang_table_is_ours(relid))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is %s, not a foreign table of bifang_fdw",
							   get_rel_name(relid), kind_of_relation(relid))));
	if (!bifang_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
}

void
bifang_table_set_job(const BifangTable *t, BifangJob *job)
{
	Assert(job->kind != NULL && job->table_uuid == NULL);
	job->table_id = t->row.id;
	job->table_uuid = t->uuid;
	job->catalog = t->row.catalog;
	job->ns = t->row.ns;
	job->table = t->row.name;
}

BifangTarget
bifang_table_target(const BifangTable *t)
{
	const BfIceMetadata *md = t->ice->metadata;
	const BfIceSpec *spec = bf_ice_spec(md, md->specs.default_id);

	return (BifangTarget){.table_id = t->row.id,
						  .table_uuid = t->uuid,
						  .catalog = t->row.catalog,
						  .ns = t->row.ns,
						  .table = t->row.name,
						  .live_dir = t->options.live_dir,
						  .partitioned = spec != NULL && spec->n_fields > 0,
						  .schema = t->ice->schema};
}
