/*
 * pg/scan/scan_columns.c: what a scan's columns are in the lake, and how its values become Datums.
 */
#include "pg/scan/internal.h"

#include "catalog/pg_type.h"

#include "pg/convert/typemap.h"
#include "pg/scan/columns.h"
#include "pg/scan/plan.h"
#include "pg/server/error.h"

const BfField bifang_kafka_fields[BF_KAFKA_COLUMNS] = {
	[BF_KAFKA_PARTITION] = {.name = "partition", .type = {.kind = BF_KIND_INT32}},
	[BF_KAFKA_OFFSET] = {.name = "offset", .type = {.kind = BF_KIND_INT64}},
	[BF_KAFKA_TIMESTAMP] = {.name = "timestamp", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
	[BF_KAFKA_KEY] = {.name = "key", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_VALUE] = {.name = "value", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_HEADERS] = {.name = "headers", .type = {.kind = BF_KIND_JSON}},
};

static void
check_meta_type(const BifangColumn *c)
{
	static const Oid types[BIFANG_META_COUNT] = {
		[BIFANG_META_LEDGER] = INT8OID,
		[BIFANG_META_ENTRY] = INT8OID,
		[BIFANG_META_TIMESTAMP] = TIMESTAMPTZOID,
		[BIFANG_META_TIER] = TEXTOID,
		[BIFANG_META_FILE] = TEXTOID,
		[BIFANG_META_POS] = INT8OID,
		[BIFANG_META_ROW_ID] = INT8OID,
		[BIFANG_META_SEQUENCE] = INT8OID,
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
	c->field_id = co.field_id;
	c->vector = -1;
	c->number = -1;
	if (co.meta != BIFANG_META_NONE)
	{
		c->kind = BIFANG_FROM_META;
		c->number = co.meta;
		check_meta_type(c);
		if (co.meta == BIFANG_META_ENTRY || co.meta == BIFANG_META_TIMESTAMP)
			s->want_entry = true;
		if (co.meta == BIFANG_META_ROW_ID || co.meta == BIFANG_META_SEQUENCE)
			s->want_lineage = true;
	}
	else if (s->options.format == BIFANG_ICEBERG)
		c->kind = BIFANG_FROM_FIELD;
	else if (s->options.format == BIFANG_PARQUET)
		c->kind = BIFANG_FROM_NAME;
	else
	{
		BfKafkaColumn k;

		c->kind = BIFANG_FROM_KAFKA;
		if (!bifang_kafka_column(c->name, &k))
			ereport(ERROR, (errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
							errmsg("a Kafka log has no column \"%s\"", c->name),
							errhint("Its columns are partition, offset, timestamp, key, value and "
									"headers.")));
		c->number = k;
	}
}

/* The vector that a column reads; columns of the same source share one. */
static int32
vector_for(BifangScan *s, const BifangColumn *c)
{
	for (int32 v = 0; v < s->n_vectors; v++)
		if (c->kind == BIFANG_FROM_NAME ? strcmp(s->vector_names[v], c->name) == 0
										: s->vector_numbers[v] == c->number)
			return v;
	s->vector_numbers[s->n_vectors] = c->number;
	s->vector_names[s->n_vectors] = c->name;
	return s->n_vectors++;
}

void
bifang_scan_bind_columns(BifangScan *s)
{
	s->vector_numbers = palloc0((Size) (s->n_columns + 1) * sizeof *s->vector_numbers);
	s->vector_names = palloc0((Size) (s->n_columns + 1) * sizeof *s->vector_names);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		if (c->kind == BIFANG_FROM_META)
			continue;
		if (c->kind == BIFANG_FROM_FIELD)
			c->number = bifang_lake_column(s->work, s->relname, c->field_id, c->name);
		c->vector = vector_for(s, c);
	}
	s->bound = true;
}

/* Plain files may describe a column differently, so what was made for one is compared with the next
 * one's; fields of tables live as long as the scan. */
void
bifang_scan_set_conversion(BifangScan *s, BifangColumn *c, const BfField *field)
{
	bool plain = s->options.format == BIFANG_PARQUET;
	bool nested = bf_type_storage(field->type) == BF_STORE_NESTED;

	if (c->out == NULL || !bf_type_equal(c->out_type, field->type) || (plain && nested))
	{
		BifangOutWhat what = {.field = field,
							  .typid = c->typid,
							  .typmod = c->typmod,
							  .column = c->name,
							  .file = plain ? s->reader->name(s->reader) : NULL,
							  .invalid_text = s->options.invalid_text,
							  .out_of_range = s->options.out_of_range};

		bifang_out_free(c->out);
		c->out = NULL;
		c->out = bifang_out_new(s->cxt, &what);
		c->out_type = field->type;
	}
	bifang_out_begin(c->out, s->reader->name(s->reader));
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
	const BifangColumn *c = s->columns;

	while (c->attnum != attnum)
		if (++c == s->columns + s->n_columns)
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
		case BIFANG_FROM_KAFKA:
			out->field = c->number;
			out->type = bifang_kafka_fields[c->number].type;
			return true;
		case BIFANG_FROM_NAME:
			if (s->types == NULL)
				return false;
			out->field = c->vector;
			out->type = s->types[c->vector];
			return true;
		case BIFANG_FROM_META: break;
	}
	if (s->types != NULL)
		return false;
	memset(out, 0, sizeof *out);
	out->type = bifang_meta_type((BifangMeta) c->number);
	out->field = c->number;
	if (s->work->format == BIFANG_ICEBERG)
		out->field = BIFANG_META_FIELD(s->work->schema->n_fields, c->number);
	else if (s->work->format == BIFANG_KAFKA_LOG)
		out->field = BIFANG_META_FIELD(BF_KAFKA_COLUMNS, c->number);
	return true;
}
