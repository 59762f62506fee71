/*
 * pg/lake/show.c: see show.h.
 */
#include "pg/lake/show.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/server/encoding.h"

#define UNIX_MSECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000)

void
bifang_show(BifangShow *r, Datum value)
{
	Assert(r->n < BIFANG_SHOW_COLUMNS_MAX);
	r->nulls[r->n] = false;
	r->values[r->n++] = value;
}

void
bifang_show_null(BifangShow *r)
{
	Assert(r->n < BIFANG_SHOW_COLUMNS_MAX);
	r->nulls[r->n] = true;
	r->values[r->n++] = (Datum) 0;
}

void
bifang_show_text(BifangShow *r, const char *text)
{
	if (text == NULL)
		bifang_show_null(r);
	else if (pg_verify_mbstr(PG_UTF8, text, (int) strlen(text), true))
		bifang_show(r, CStringGetTextDatum(bifang_shown(text)));
	else
		bifang_show(r, CStringGetTextDatum("(not valid text)"));
}

void
bifang_show_count(BifangShow *r, int64 n)
{
	if (n < 0)
		bifang_show_null(r);
	else
		bifang_show(r, Int64GetDatum(n));
}

void
bifang_show_time_ms(BifangShow *r, int64 ms)
{
	if (ms < 0 || ms > PG_INT64_MAX / 1000)
		bifang_show_null(r);
	else
		bifang_show(r, TimestampTzGetDatum((ms - UNIX_MSECS) * 1000));
}

void
bifang_show_end_row(BifangShow *r)
{
	Assert(r->n == r->rsinfo->setDesc->natts);
	tuplestore_putvalues(r->rsinfo->setResult, r->rsinfo->setDesc, r->values, r->nulls);
	r->n = 0;
}

BifangShow
bifang_show_begin(FunctionCallInfo fcinfo)
{
	BifangShow r = {0};

	InitMaterializedSRF(fcinfo, 0);
	r.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Assert(r.rsinfo->setDesc->natts <= BIFANG_SHOW_COLUMNS_MAX);
	return r;
}

void
bifang_show_ranges(BifangShow *r, const BfRangeSet *ranges)
{
	StringInfoData s;

	Assert(ranges->n > 0);
	initStringInfo(&s);
	for (int32 i = 0; i < ranges->n; i++)
		appendStringInfo(&s, "%s" INT64_FORMAT "-" INT64_FORMAT, i == 0 ? "" : "_",
						 ranges->ranges[i].first, ranges->ranges[i].last);
	bifang_show(r, CStringGetTextDatum(s.data));
}

void
bifang_show_lake_argument(FunctionCallInfo fcinfo, BifangOptions *o)
{
	Oid relid = PG_GETARG_OID(0);
	AclResult acl = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a foreign table", get_rel_name(relid))));
	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
	bifang_options_get(relid, o);
	if (!o->format->lake)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("foreign table \"%s\" is of format %s, not a lake table",
							   get_rel_name(relid), o->format->name)));
	bifang_options_check_read(o);
}
