/*
 * pg/lake/check_found.c: what bifang.check() found, as rows of its result.
 */
#include "pg/lake/check.h"

#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/sort.h"
#include "pg/server/encoding.h"

void
bifang_check_found(BifangCheck *c, const char *severity, const char *subject, const char *fmt, ...)
{
	char text[1024];
	Datum values[3];
	bool nulls[3] = {false};
	va_list args;

	Assert(c->rsinfo->setDesc->natts == (int) lengthof(values));
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	values[0] = CStringGetTextDatum(severity);
	subject = bifang_shown(subject);
	if (c->partition != NULL)
		subject = psprintf("%s: %s", c->partition, subject);
	values[1] = CStringGetTextDatum(subject);
	values[2] = CStringGetTextDatum(bifang_shown(text));
	tuplestore_putvalues(c->rsinfo->setResult, c->rsinfo->setDesc, values, nulls);
}

char *
bifang_check_ledger_name(int64 id)
{
	return psprintf("ledger " INT64_FORMAT, id);
}

char *
bifang_check_ranges_text(const BfRangeSet *s)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int32_t i = 0; i < s->n && text.len < 200; i++)
		appendStringInfo(&text, "%s" INT64_FORMAT "-" INT64_FORMAT, i == 0 ? "" : ", ",
						 s->ranges[i].first, s->ranges[i].last);
	if (text.len >= 200)
		appendStringInfoString(&text, ", ...");
	return text.data;
}

const BifangLedger *
bifang_check_ledger(const BifangCheck *c, int64 id)
{
	int32 at;

	BF_SEARCH(int32, at, c->n_ledgers, i, c->ledgers[i]->id < id);
	return at < c->n_ledgers && c->ledgers[at]->id == id ? c->ledgers[at] : NULL;
}
