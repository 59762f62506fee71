/*
 * pg/server/error.c: core errors as PostgreSQL errors; see error.h for the table.
 */
#include "pg/server/error.h"

#include <errno.h>
#include <sys/stat.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/server/encoding.h"

static int
sqlstate_of(const BfError *err)
{
	switch (err->code)
	{
		case BF_ERR_NOMEM: return ERRCODE_OUT_OF_MEMORY;
		case BF_ERR_CORRUPT: return ERRCODE_DATA_CORRUPTED;
		case BF_ERR_UNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
		case BF_ERR_IO:
			return err->sys_errno == ENOSPC || err->sys_errno == EDQUOT ? ERRCODE_DISK_FULL
																		: ERRCODE_IO_ERROR;
		case BF_ERR_NOTFOUND: return ERRCODE_UNDEFINED_FILE;
		case BF_ERR_CONFLICT: return ERRCODE_T_R_SERIALIZATION_FAILURE;
		case BF_ERR_LIMIT: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		case BF_ERR_AUTH: return ERRCODE_INSUFFICIENT_PRIVILEGE;
		case BF_ERR_CANCEL: return ERRCODE_QUERY_CANCELED;
		case BF_ERR_VALUE: return ERRCODE_DATA_EXCEPTION;
		case BF_OK:
		case BF_ERR_HOST:
		case BF_STATUS_COUNT: break;
	}
	return ERRCODE_INTERNAL_ERROR;
}

/* After pg_upgrade the files of embedded tables are in the old data directory. */
static bool
embedded_lake_is_missing(const BfError *err)
{
	char dir[MAXPGPATH];
	struct stat st;
	size_t n;

	if (err->code != BF_ERR_NOTFOUND)
		return false;
	snprintf(dir, sizeof dir, "%s/bifang", DataDir);
	n = strlen(dir);
	return strncmp(err->object, dir, n) == 0 && err->object[n] == '/' && stat(dir, &st) != 0;
}

static int
hint(const BfError *err)
{
	if (err->unverified != NULL)
		return errhint("With option \"verify_checksums\" off the %s is read in spite of that.",
					   err->unverified);
	if (embedded_lake_is_missing(err))
		return errhint(
			"Directory \"bifang\" of the data directory, with all embedded tables, is "
			"missing. After pg_upgrade copy, link or move it from the old data directory "
			"before that one is deleted; then call bifang.adopt() in each database.");
	return 0;
}

static void
emit(int elevel, const BfError *err)
{
	const char *object = bifang_shown(err->object);
	const char *column = bifang_shown(err->column);
	const char *text = bifang_shown(err->text);

	if (strncmp(text, "column \"", 8) == 0) /* says so itself */
		column = "";
	ereport(
		elevel,
		(errcode(sqlstate_of(err)),
		 object[0] == '\0' && column[0] == '\0'
			 ? errmsg("%s", text)
			 : (column[0] == '\0' ? errmsg("\"%s\": %s", object, text)
								  : (object[0] == '\0' ? errmsg("column \"%s\": %s", column, text)
													   : errmsg("\"%s\": column \"%s\": %s", object,
																column, text))),
		 hint(err), err->offset >= 0 ? errdetail("At byte %lld.", (long long) err->offset) : 0));
}

/* What the server said to a callback; in TopTransactionContext, NULL = nothing. */
static ErrorData *kept = NULL;

BfStatus
bifang_keep_error(BfError *err)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

	kept = CopyErrorData();
	FlushErrorState();
	MemoryContextSwitchTo(old);
	return bf_error(err, BF_ERR_HOST, "%s", kept->message != NULL ? kept->message : "?");
}

void
bifang_report(const BfError *err)
{
	Assert(err->code != BF_OK);
	if (err->code == BF_ERR_HOST && kept != NULL)
	{
		ErrorData *error = kept;

		kept = NULL;
		ReThrowError(error);
	}
	if (err->code == BF_ERR_CANCEL)
	{
		CHECK_FOR_INTERRUPTS();
		ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED),
						errmsg("canceling statement due to user request")));
	}
	emit(ERROR, err);
	pg_unreachable();
}

void
bifang_warn(int elevel, const BfError *err)
{
	Assert(elevel < ERROR);
	emit(elevel, err);
}
