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
#include "pg/server/host.h"
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

/* The directory that was found to be ours last, and its mark at that time: a writer claims the same
 * one with each transaction. A mark is never changed but replaced. */
static struct
{
	char dir[MAXPGPATH];
	BfPathInfo mark;
} known;

static bool
mark_info(const char *dir, BfPathInfo *info)
{
	const BfHost *host = bifang_host();
	char path[MAXPGPATH];
	BfError err = {0};

	return snprintf(path, sizeof path, "%s/" BIFANG_OWNER_FILE, dir) < (int) sizeof path &&
		   host->stat(host, path, info, &err) == BF_OK && info->kind == BF_PATH_FILE;
}

static bool
is_known(const char *dir)
{
	BfPathInfo now;

	return strcmp(known.dir, dir) == 0 && mark_info(dir, &now) && bf_same_file(&now, &known.mark);
}

void
bifang_owner_claim(const char *dir, const BifangMark *ours)
{
	BfPathInfo before;
	bool stated;
	BifangMark m;
	BifangMarkState state;

	Assert(dir[0] == '/');
	if (is_known(dir))
		return;
	stated = mark_info(dir, &before);
	state = bifang_mark_read(dir, &m);
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
			else if (stated && strlen(dir) < sizeof known.dir)
			{
				strlcpy(known.dir, dir, sizeof known.dir);
				known.mark = before;
			}
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
