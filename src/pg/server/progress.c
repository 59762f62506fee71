/*
 * pg/server/progress.c: see progress.h.
 */
#include "pg/server/progress.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/server/version.h"

PG_FUNCTION_INFO_V1(bifang_progress_rows);

/* The server counts its own from 0. */
#define COMMAND_BASE 0xBF00

static const char *const command_names[BIFANG_COMMAND_COUNT] = {
	[BIFANG_COMMAND_COMMIT] = "commit", [BIFANG_COMMAND_OFFLOAD] = "offload",
	[BIFANG_COMMAND_CHECK] = "check",	[BIFANG_COMMAND_OPTIMIZE] = "optimize",
	[BIFANG_COMMAND_EXPIRE] = "expire",
};
static const char *const phase_names[BIFANG_PHASE_COUNT] = {
	[BIFANG_PHASE_CATALOG] = "reading the catalog",
	[BIFANG_PHASE_SETTLE] = "settling",
	[BIFANG_PHASE_LEDGERS] = "ledgers",
	[BIFANG_PHASE_FILES] = "files of the lake",
	[BIFANG_PHASE_PARQUET] = "writing Parquet",
	[BIFANG_PHASE_METADATA] = "writing metadata",
	[BIFANG_PHASE_LEFTOVERS] = "left-overs",
};

enum
{
	PARAM_PHASE,
	PARAM_TOTAL,
	PARAM_DONE,
	PARAM_BYTES_TOTAL,
	PARAM_BYTES_DONE,
	PARAM_STARTED,
	PARAM_COUNT
};
StaticAssertDecl(PARAM_COUNT <= PGSTAT_NUM_PROGRESS_PARAM, "as many as the server keeps");

static bool
is_ours(int command)
{
	return command >= COMMAND_BASE && command < COMMAND_BASE + BIFANG_COMMAND_COUNT;
}

static bool
is_told(void)
{
	return MyBEEntry != NULL && is_ours((int) MyBEEntry->st_progress_command);
}

void
bifang_progress_begin(BifangCommand command, Oid relid)
{
	Assert(command < BIFANG_COMMAND_COUNT && OidIsValid(relid));
	if (MyBEEntry == NULL || MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
		return;
	pgstat_progress_start_command((ProgressCommandType) (COMMAND_BASE + (int) command), relid);
	pgstat_progress_update_param(PARAM_STARTED, GetCurrentTimestamp());
}

void
bifang_progress_phase(BifangPhase phase)
{
	static const int params[] = {PARAM_PHASE, PARAM_TOTAL, PARAM_DONE, PARAM_BYTES_TOTAL,
								 PARAM_BYTES_DONE};
	int64 values[lengthof(params)] = {phase};

	if (is_told())
		pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
bifang_progress_total(int64 total, int64 bytes)
{
	static const int params[] = {PARAM_TOTAL, PARAM_BYTES_TOTAL};
	int64 values[] = {total, bytes};

	Assert(total >= 0 && bytes >= 0);
	if (is_told())
		pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
bifang_progress_add(int64 done, int64 bytes)
{
	const volatile PgBackendStatus *entry = MyBEEntry;

	if (!is_told())
		return;
	pgstat_progress_update_param(PARAM_DONE, entry->st_progress_param[PARAM_DONE] + done);
	pgstat_progress_update_param(PARAM_BYTES_DONE,
								 entry->st_progress_param[PARAM_BYTES_DONE] + bytes);
}

void
bifang_progress_end(void)
{
	if (is_told())
		pgstat_progress_end_command();
}

/* The function ----------------------------------------------------------------------------------
 */

/* What one shows of a backend to those who may read the table. */
static bool
may_see(Oid relid)
{
	return get_rel_name(relid) != NULL &&
		   (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
			pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK);
}

static void
put_row(ReturnSetInfo *rsinfo, const PgBackendStatus *b)
{
	const int64 *p = b->st_progress_param;
	int64 phase = p[PARAM_PHASE];
	Datum values[9];
	bool nulls[9] = {false};

	values[0] = Int32GetDatum(b->st_procpid);
	values[1] = CStringGetTextDatum(command_names[(int) b->st_progress_command - COMMAND_BASE]);
	values[2] = ObjectIdGetDatum(b->st_progress_command_target);
	values[3] =
		CStringGetTextDatum(phase >= 0 && phase < BIFANG_PHASE_COUNT ? phase_names[phase] : "?");
	values[4] = Int64GetDatum(p[PARAM_DONE]);
	values[5] = Int64GetDatum(p[PARAM_TOTAL]);
	nulls[5] = nulls[4] = p[PARAM_TOTAL] == 0;
	values[6] = Int64GetDatum(p[PARAM_BYTES_DONE]);
	values[7] = Int64GetDatum(p[PARAM_BYTES_TOTAL]);
	nulls[7] = nulls[6] = p[PARAM_BYTES_TOTAL] == 0;
	values[8] = TimestampTzGetDatum(p[PARAM_STARTED]);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
bifang_progress_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int n = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 1; i <= n; i++)
	{
		const PgBackendStatus *b = &bifang_backend_status(i)->backendStatus;

		if (b->st_databaseid == MyDatabaseId && is_ours((int) b->st_progress_command) &&
			may_see(b->st_progress_command_target))
			put_row(rsinfo, b);
	}
	return (Datum) 0;
}
