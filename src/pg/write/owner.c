/*
 * pg/write/owner.c: see owner.h.
 */
#include "pg/write/owner.h"

#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "base/ascii.h"
#include "pg/catalog/identity.h"
#include "pg/catalog/ledgers.h"
#include "pg/server/remove.h"

BifangOwner
bifang_owner_by(const BifangMark *m, const char *dir, const char *table_uuid)
{
	if ((table_uuid != NULL && strcmp(m->uuid, table_uuid) != 0) ||
		strcmp(m->origin, bifang_catalog_origin()) != 0)
		return BIFANG_OWNER_OTHER;
	if (m->catalog_id[0] != '\0' && strcmp(m->catalog_id, bifang_catalog_id()) != 0)
		return BIFANG_OWNER_FORMER;
	if (strcmp(m->identity, bifang_mark_identity()) != 0 && !bifang_in_data_directory(dir))
		return BIFANG_OWNER_COPY;
	return BIFANG_OWNER_OURS;
}

BifangOwner
bifang_owner_of(const char *dir, const char *table_uuid)
{
	BifangMark m;

	switch (bifang_mark_read(dir, &m))
	{
		case BIFANG_MARK_NONE: return BIFANG_OWNER_NONE;
		case BIFANG_MARK_UNREADABLE: return BIFANG_OWNER_OTHER;
		case BIFANG_MARK_READ: break;
	}
	return bifang_owner_by(&m, dir, table_uuid);
}

Oid
bifang_database_of_name(const char *name)
{
	int64_t oid;
	size_t n = bf_ascii_number(name, strlen(name), PG_UINT32_MAX, &oid);

	/* Another spelling of the number is not our name for it. */
	if (n == 0 || name[n] != '\0' || name[0] == '0' || oid < 0)
		return InvalidOid;
	return (Oid) oid;
}

bool
bifang_database_exists(Oid database)
{
	return OidIsValid(database) && SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database));
}

bool
bifang_owner_lives(const BifangMark *m)
{
	const char *ours = bifang_catalog_origin();
	const char *slash = strrchr(m->origin, '/');
	size_t n;

	Assert(slash != NULL || strchr(m->origin, '/') == NULL);
	if (slash == NULL || strcmp(m->origin, ours) == 0)
		return false;
	n = (size_t) (slash - m->origin) + 1;
	if (strncmp(m->origin, ours, n) != 0)
		return false;
	return bifang_database_exists(bifang_database_of_name(slash + 1));
}

static void
refuse(const char *dir, const char *whom, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("directory \"%s\" belongs to %s", dir, whom), errdetail("%s", detail),
			 errhint("If that is gone for good, or is this one in another place, take over what it "
					 "had with bifang.adopt().")));
}

void
bifang_owner_claim(const char *dir, const BifangMark *ours)
{
	BifangMark m;
	BifangMarkState state = bifang_mark_read(dir, &m);

	Assert(dir[0] == '/');
	if (state == BIFANG_MARK_NONE)
	{
		bifang_mark_write(dir, ours);
		return;
	}
	switch (state == BIFANG_MARK_READ ? bifang_owner_by(&m, dir, NULL) : BIFANG_OWNER_OTHER)
	{
		case BIFANG_OWNER_OURS:
			/* Its catalog was to be dropped and was not: what it said then is not so any more. */
			if (bifang_mark_has_left(&m))
				bifang_mark_write(dir, ours);
			break;
		case BIFANG_OWNER_NONE:
		case BIFANG_OWNER_OTHER:
			refuse(dir, "another database", "File \"" BIFANG_OWNER_FILE "\" in it says so.");
			break;
		case BIFANG_OWNER_FORMER:
			refuse(dir, "a catalog that this database had before",
				   "File \"" BIFANG_OWNER_FILE "\" in it says so.");
			break;
		case BIFANG_OWNER_COPY:
			refuse(dir, "another copy of this cluster",
				   "What that one has acknowledged there must not be changed from here.");
			break;
	}
}
