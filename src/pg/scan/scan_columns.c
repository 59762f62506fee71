/*
 * pg/scan/scan_columns.c: what a scan's columns are in the lake, and how its values become Datums.
 */
#include "pg/scan/internal.h"

#include "catalog/pg_type.h"

#include "pg/convert/typemap.h"
#include "pg/scan/kind.h"
#include "pg/scan/unit.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"

static void
check_meta_type(const BifangColumn *c)
{
	static const Oid types[BF_FACT_COUNT] = {
		[BF_FACT_LEDGER] = INT8OID,
		[BF_FACT_ENTRY] = INT8OID,
		[BF_FACT_TIMESTAMP] = TIMESTAMPTZOID,
		[BF_FACT_TIER] = TEXTOID,
		[BF_FACT_FILE] = TEXTOID,
		[BF_FACT_POS] = INT8OID,
		[BF_FACT_ROW_ID] = INT8OID,
		[BF_FACT_SEQUENCE] = INT8OID,
	};

	if (c->typid != types[c->number])
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						errmsg("column \"%s\" must be of type %s", c->name,
							   bifang_pg_type_text(types[c->number], -1))));
}

void
bifang_scan_init_column(BifangScan *s, BifangColumn *c, Form_pg_attribute att)
{
	BifangColumnOptions co;

	bifang_column_options_get(s->relid, att->attnum, &co);
	c->attnum = att->attnum;
	c->typid = att->atttypid;
	c->typmod = att->atttypmod;
	c->name = pstrdup(NameStr(att->attname));
	c->source = pstrdup(bifang_column_name(&co, c->name));
	c->occurrence = co.occurrence;
	c->field_id = co.field_id;
	c->vector = -1;
	c->number = -1;
	if (co.meta != BF_FACT_NONE)
	{
		c->kind = BIFANG_FROM_META;
		c->number = co.meta;
		check_meta_type(c);
		if (co.meta == BF_FACT_ENTRY || co.meta == BF_FACT_TIMESTAMP)
			s->cols.want_entry = true;
		if (co.meta == BF_FACT_ROW_ID || co.meta == BF_FACT_SEQUENCE)
			s->cols.want_lineage = true;
	}
	else
		c->kind =
			bifang_kind_of(&s->options)->column != NULL ? BIFANG_FROM_FIELD : BIFANG_FROM_NAME;
}

int32
bifang_scan_fixed_column(const BfSchema *schema, const char *what, const char *name)
{
	int32 found = bf_schema_find_name(schema, name);
	StringInfoData names;

	if (found >= 0)
		return found;
	initStringInfo(&names);
	for (int32 i = 0; i < schema->n_fields; i++)
		appendStringInfo(&names, "%s%s",
						 i == 0						 ? ""
						 : i == schema->n_fields - 1 ? " and "
													 : ", ",
						 schema->fields[i].name);
	ereport(ERROR, (errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
					errmsg("%s has no column \"%s\"", what, name),
					errhint("Its columns are %s.", names.data)));
}

/* The vector that a column reads; columns of the same source share one. */
static int32
vector_for(BifangScan *s, const BifangColumn *c)
{
	for (int32 v = 0; v < s->cols.n_vectors; v++)
		if (c->kind == BIFANG_FROM_NAME
				? strcmp(s->cols.names[v], bifang_to_utf8(c->source)) == 0 &&
					  s->cols.occurrences[v] == c->occurrence
				: s->cols.numbers[v] == c->number)
			return v;
	Assert(s->cols.n_vectors < s->cols.n);
	s->cols.numbers[s->cols.n_vectors] = c->number;
	s->cols.names[s->cols.n_vectors] = bifang_to_utf8(c->source);
	s->cols.occurrences[s->cols.n_vectors] = c->occurrence;
	return s->cols.n_vectors++;
}

void
bifang_scan_bind_columns(BifangScan *s)
{
	s->cols.numbers = palloc0((Size) (s->cols.n + 1) * sizeof *s->cols.numbers);
	s->cols.names = palloc0((Size) (s->cols.n + 1) * sizeof *s->cols.names);
	s->cols.occurrences = palloc0((Size) (s->cols.n + 1) * sizeof *s->cols.occurrences);
	for (int32 i = 0; i < s->cols.n; i++)
	{
		BifangColumn *c = &s->cols.list[i];

		if (c->kind == BIFANG_FROM_META)
			continue;
		if (c->kind == BIFANG_FROM_FIELD)
		{
			c->number = s->work->kind->column(s->work, s->relname, c->field_id, c->source);
			Assert(c->number >= 0 && c->number < s->work->schema->n_fields);
		}
		c->vector = vector_for(s, c);
	}
	s->cols.bound = true;
}

/* Plain files may describe a column differently, so what was made for one is compared with the next
 * one's; fields of tables live as long as the scan. */
static void
set_conversion(BifangScan *s, BifangColumn *c, const BfField *field)
{
	bool plain = c->kind == BIFANG_FROM_NAME;
	bool nested = bf_type_storage(field->type) == BF_STORE_NESTED;

	Assert(c->vector >= 0 && s->open.reader != NULL);
	if (c->out == NULL || !bf_type_equal(c->out_type, field->type) || (plain && nested))
	{
		BifangOutWhat what = {.field = field,
							  .typid = c->typid,
							  .typmod = c->typmod,
							  .column = c->name,
							  .file = plain ? s->open.reader->name(s->open.reader) : NULL,
							  .invalid_text = s->options.invalid_text,
							  .out_of_range = s->options.out_of_range};

		bifang_out_free(c->out);
		c->out = NULL;
		c->out = bifang_out_new(s->cxt, &what);
		c->out_type = field->type;
	}
	bifang_out_begin(c->out, s->open.reader->name(s->open.reader));
}

void
bifang_scan_set_conversions(BifangScan *s, const BfSchema *of_unit)
{
	for (int32 i = 0; i < s->cols.n; i++)
	{
		BifangColumn *c = &s->cols.list[i];

		if (c->kind == BIFANG_FROM_FIELD)
			set_conversion(s, c, &of_unit->fields[c->number]);
		else if (c->kind == BIFANG_FROM_NAME)
			set_conversion(s, c, &of_unit->fields[c->vector]);
	}
}

static bool
is_text(Oid typid)
{
	return typid == TEXTOID || typid == VARCHAROID || typid == BPCHAROID || typid == NAMEOID;
}

/* The column of a predicate in terms of the lake, for one file of a plain table or for all units.
 */
bool
bifang_scan_push_column(void *arg, AttrNumber attnum, BifangPushColumn *out)
{
	const BifangScan *s = arg;
	const BifangColumn *c = s->cols.list;

	while (c->attnum != attnum)
		if (++c == s->cols.list + s->cols.n)
			return false;
	memset(out, 0, sizeof *out);
	out->loses =
		s->options.out_of_range == BIFANG_RANGE_NULL || s->options.invalid_text == BIFANG_TEXT_NULL;
	out->changes = s->options.invalid_text == BIFANG_TEXT_REPLACE && is_text(c->typid);
	switch (c->kind)
	{
		case BIFANG_FROM_FIELD:
			out->field = c->number;
			out->type = s->work->schema->fields[c->number].type;
			return true;
		case BIFANG_FROM_NAME:
			if (s->open.types == NULL)
				return false;
			out->field = c->vector;
			out->type = s->open.types[c->vector];
			return true;
		case BIFANG_FROM_META: break;
	}
	if (s->open.types != NULL)
		return false;
	memset(out, 0, sizeof *out);
	out->type = bf_fact_type((BfFact) c->number);
	out->field = bifang_worklist_fields(s->work) + c->number;
	return true;
}
