/*
 * pg/scan.c: rows of a foreign table, many at a time; see scan.h.
 */
#include "pg/scan.h"

#include <strings.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "exec/kafka_reader.h"
#include "exec/ledger_reader.h"
#include "exec/parquet_reader.h"
#include "pg/error.h"
#include "pg/host.h"
#include "pg/plain.h"
#include "pg/plan.h"
#include "pg/typemap.h"

#define UNIX_MSECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000)

/* Datums of a slice may take this much, one row's worth at least; wide rows make short slices. */
#define SLICE_BYTES ((int64) 8 * 1024 * 1024)

static const BfType kafka_types[BF_KAFKA_COLUMNS] = {
	[BF_KAFKA_PARTITION] = {.kind = BF_KIND_INT32},
	[BF_KAFKA_OFFSET] = {.kind = BF_KIND_INT64},
	[BF_KAFKA_TIMESTAMP] = {.kind = BF_KIND_TIMESTAMPTZ},
	[BF_KAFKA_KEY] = {.kind = BF_KIND_BINARY},
	[BF_KAFKA_VALUE] = {.kind = BF_KIND_BINARY},
	[BF_KAFKA_HEADERS] = {.kind = BF_KIND_JSON},
};

/* ---- columns ---- */

static void
check_meta_type(const BifangColumn *c)
{
	static const Oid types[] = {
		[BIFANG_META_LEDGER] = INT8OID,
		[BIFANG_META_ENTRY] = INT8OID,
		[BIFANG_META_TIMESTAMP] = TIMESTAMPTZOID,
		[BIFANG_META_TIER] = TEXTOID,
		[BIFANG_META_FILE] = TEXTOID,
		[BIFANG_META_POS] = INT8OID,
	};

	if (c->typid != types[c->number])
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						errmsg("column \"%s\" must be of type %s", c->name,
							   bifang_pg_type_text(types[c->number], -1))));
}

static void
init_column(BifangScan *s, BifangColumn *c, Form_pg_attribute att)
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
	c->values = palloc0(BF_BATCH_ROWS * sizeof *c->values);
	c->isnull = palloc0(BF_BATCH_ROWS * sizeof *c->isnull);
	if (co.meta != BIFANG_META_NONE)
	{
		c->kind = BIFANG_FROM_META;
		c->number = co.meta;
		check_meta_type(c);
		if (co.meta == BIFANG_META_ENTRY || co.meta == BIFANG_META_TIMESTAMP)
			s->want_entry = true;
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

BifangScan *
bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs)
{
	MemoryContext scan_cxt = AllocSetContextCreate(cxt, "bifang scan", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scan_cxt);
	BifangScan *s = palloc0(sizeof *s);
	ListCell *lc;
	int i = 0;

	s->cxt = scan_cxt;
	s->unit_cxt = AllocSetContextCreate(scan_cxt, "bifang unit", ALLOCSET_SMALL_SIZES);
	s->relid = RelationGetRelid(rel);
	s->relname = pstrdup(RelationGetRelationName(rel));
	bifang_options_get(s->relid, &s->options);
	s->n_columns = list_length(attrs);
	s->columns = palloc0((Size) s->n_columns * sizeof *s->columns);
	foreach (lc, attrs)
		init_column(s, &s->columns[i++], TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1));
	s->range = bifang_log_everything;
	s->unit_step = 1;
	MemoryContextSwitchTo(old);
	return s;
}

/* By the field id of the column's option, else by name; names that differ only by case are taken
 * when just one does. */
static int32
find_field(const BifangScan *s, const BifangColumn *c)
{
	const BfSchema *schema = s->work->schema;
	int32 found;
	int32 n = 0;

	if (c->field_id > 0)
		return bf_schema_find_id(schema, c->field_id);
	found = bf_schema_find_name(schema, c->name);
	if (found >= 0)
		return found;
	for (int32 i = 0; i < schema->n_fields; i++)
		if (strcasecmp(schema->fields[i].name, c->name) == 0)
		{
			found = i;
			n++;
		}
	return n == 1 ? found : -1;
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

static void
bind_columns(BifangScan *s)
{
	s->vector_numbers = palloc0((Size) (s->n_columns + 1) * sizeof *s->vector_numbers);
	s->vector_names = palloc0((Size) (s->n_columns + 1) * sizeof *s->vector_names);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		if (c->kind == BIFANG_FROM_META)
			continue;
		if (c->kind == BIFANG_FROM_FIELD)
		{
			c->number = find_field(s, c);
			if (c->number < 0)
				ereport(ERROR,
						(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
						 errmsg("column \"%s\" of foreign table \"%s\" is not in the lake table",
								c->name, s->relname),
						 errhint("Use IMPORT FOREIGN SCHEMA to see the columns that it has.")));
		}
		c->vector = vector_for(s, c);
	}
	s->bound = true;
}

static void
set_conversion(BifangScan *s, BifangColumn *c, BfType type)
{
	if (c->out == NULL || !bf_type_equal(c->out_type, type))
	{
		bifang_out_free(c->out);
		c->out = NULL;
		c->out =
			bifang_out_new(s->cxt, type, c->typid, c->typmod, c->name,
						   s->options.format == BIFANG_PARQUET ? s->reader->name(s->reader) : NULL);
		c->out_type = type;
	}
	bifang_out_begin(c->out, s->reader->name(s->reader));
}

/* ---- units ---- */

BifangWorklist *
bifang_scan_work(BifangScan *s, Snapshot snapshot)
{
	if (s->work == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(s->cxt);

		bifang_options_check_read(&s->options);
		s->work = bifang_worklist(s->cxt, &s->options, snapshot);
		MemoryContextSwitchTo(old);
	}
	return s->work;
}

static void
close_unit(BifangScan *s)
{
	s->unit = NULL;
	s->reader = NULL;
	s->batch = NULL;
	MemoryContextReset(s->unit_cxt);
}

/* Fixes where the log ends for this scan, so that a rescan sees the rows of the first pass: with
 * read_committed at the last stable offset, for what was open then may have committed since. */
static void
fix_log_end(BifangScan *s, BifangUnit *u)
{
	BfArena *a = bifang_arena(s->unit_cxt, "log end", BIFANG_ARENA_MAX_SCAN);
	BfLogDir *dir;
	BfAbortedTxn *aborted;
	int32 n_aborted;
	int64 start;
	int64 end;
	int64 stable;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_log_dir_open(a, u->path, NULL, &dir, &err), &err);
	BIFANG_CHECK(bf_log_dir_bounds(dir, &start, &end, &err), &err);
	if (s->options.read_committed)
	{
		BIFANG_CHECK(bf_log_dir_transactions(dir, a, &stable, &aborted, &n_aborted, &err), &err);
		end = Min(end, stable);
	}
	u->offset_end = end;
	bifang_arena_free(a);
}

static void
open_kafka(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfKafkaColumn *columns = palloc0((Size) (s->n_vectors + 1) * sizeof *columns);
	BfKafkaRange range = s->range.range;
	BfError err;

	if (u->offset_end < 0)
		fix_log_end(s, u);
	range.offset_end = Min(range.offset_end, u->offset_end);
	for (int32 i = 0; i < s->n_vectors; i++)
		columns[i] = (BfKafkaColumn) s->vector_numbers[i];
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_kafka_reader(a, u->path, u->partition, s->options.read_committed, &range,
									  columns, s->n_vectors, &s->log, &s->reader, &err),
				 &err);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], kafka_types[s->columns[i].number]);
}

static void
open_plain(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfType *types = palloc0((Size) (s->n_vectors + 1) * sizeof *types);
	int64 rows;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_plain_open(a, u->path, s->vector_names, s->n_vectors, &s->io, &s->parquet,
								   &s->reader, types, &rows, &err),
				 &err);
	bifang_remember_rows(u->path, u->bytes, rows);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], types[s->columns[i].vector]);
}

static void
open_lake(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfProjection *projection = palloc0(sizeof *projection);
	BfError err;

	projection->schema = s->work->schema;
	projection->fields = s->vector_numbers;
	projection->n_fields = s->n_vectors;
	projection->want_entry = s->want_entry;
	bf_error_clear(&err);
	if (u->tier == BIFANG_TIER_PARQUET)
		BIFANG_CHECK(bf_exec_parquet_reader(a, u->path, projection, &u->constants, 0, -1, &s->io,
											&s->parquet, &s->reader, &err),
					 &err);
	else
		BIFANG_CHECK(bf_exec_ledger_reader(
						 a, u->tier == BIFANG_TIER_OFFLOAD ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
						 u->path, &u->ranges, projection, &s->log, &s->reader, &err),
					 &err);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], s->work->schema->fields[s->columns[i].number].type);
}

static void
open_unit(BifangScan *s, BifangUnit *u)
{
	MemoryContext old = MemoryContextSwitchTo(s->unit_cxt);
	BfArena *a = bifang_arena(s->unit_cxt, "scan unit", BIFANG_ARENA_MAX_SCAN);

	s->unit = u;
	s->units_read++;
	if (u->tier == BIFANG_TIER_KAFKA)
		open_kafka(s, a, u);
	else if (s->options.format == BIFANG_PARQUET)
		open_plain(s, a, u);
	else
		open_lake(s, a, u);
	MemoryContextSwitchTo(old);
}

/* The next unit that can have rows for us. */
static BifangUnit *
next_unit(BifangScan *s)
{
	while (!s->range.empty && s->next_unit < s->work->n_units)
	{
		BifangUnit *u = &s->work->units[s->next_unit];

		s->next_unit += s->unit_step;
		if (u->tier == BIFANG_TIER_KAFKA &&
			(u->partition < s->range.partition_first || u->partition > s->range.partition_last))
			continue;
		return u;
	}
	return NULL;
}

void
bifang_scan_restart(BifangScan *s, const BifangLogRange *range)
{
	close_unit(s);
	s->range = *range;
	s->next_unit = 0;
	s->row = 0;
	s->n_rows = 0;
}

/* ---- slices ---- */

static void
fill_same(BifangColumn *c, int32 n, Datum value, bool isnull)
{
	memset(c->isnull, isnull, (size_t) n);
	for (int32 i = 0; i < n; i++)
		c->values[i] = value;
}

/* The same for all rows of a unit, so made once. */
static Datum
unit_text(BifangScan *s, BifangColumn *c, const char *text)
{
	if (c->text_of != s->units_read)
	{
		MemoryContext old = MemoryContextSwitchTo(s->unit_cxt);

		c->text = CStringGetTextDatum(text);
		c->text_of = s->units_read;
		MemoryContextSwitchTo(old);
	}
	return c->text;
}

static void
fill_meta(BifangScan *s, BifangColumn *c, int32 first, int32 n)
{
	const BfBatch *b = s->batch;

	switch ((BifangMeta) c->number)
	{
		case BIFANG_META_LEDGER:
			fill_same(c, n, Int64GetDatum(s->unit->ledger_id), s->unit->ledger_id < 0);
			break;
		case BIFANG_META_ENTRY:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->entry == NULL;
				c->values[i] = b->entry == NULL ? (Datum) 0 : Int64GetDatum(b->entry[first + i]);
			}
			break;
		case BIFANG_META_TIMESTAMP:
			for (int32 i = 0; i < n; i++)
			{
				int64 ms = b->timestamp == NULL ? -1 : b->timestamp[first + i];

				c->isnull[i] = ms < 0 || ms > PG_INT64_MAX / 1000;
				c->values[i] = c->isnull[i] ? (Datum) 0 : Int64GetDatum((ms - UNIX_MSECS) * 1000);
			}
			break;
		case BIFANG_META_TIER:
			fill_same(c, n, unit_text(s, c, bifang_tier_name(s->unit->tier)), false);
			break;
		case BIFANG_META_FILE:
			fill_same(c, n, unit_text(s, c, s->reader->name(s->reader)), false);
			break;
		case BIFANG_META_POS:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->first_row < 0;
				c->values[i] = Int64GetDatum(b->first_row + first + i);
			}
			break;
		case BIFANG_META_NONE: break;
	}
}

static void
fill_slice(BifangScan *s)
{
	const BfBatch *b = s->batch;
	int32 first = s->batch_row;
	int32 n = b->n_rows - first;

	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			n = bifang_out_fit(s->columns[i].out, &b->cols[s->columns[i].vector], first, n,
							   SLICE_BYTES);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		if (c->vector < 0)
		{
			fill_meta(s, c, first, n);
			c->has_nulls = true;
		}
		else
			c->has_nulls =
				bifang_out_convert(c->out, &b->cols[c->vector], first, n, c->values, c->isnull);
	}
	s->batch_row = first + n;
	s->row = 0;
	s->n_rows = n;
	s->rows_out += n;
}

bool
bifang_scan_fill(BifangScan *s, Snapshot snapshot)
{
	BfError err;

	if (!s->bound)
	{
		MemoryContext old = MemoryContextSwitchTo(s->cxt);

		bifang_scan_work(s, snapshot);
		bind_columns(s);
		MemoryContextSwitchTo(old);
	}
	s->row = 0;
	s->n_rows = 0;
	bf_error_clear(&err);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->batch != NULL && s->batch_row < s->batch->n_rows)
		{
			fill_slice(s);
			return true;
		}
		if (s->reader == NULL)
		{
			BifangUnit *u = next_unit(s);

			if (u == NULL)
				return false;
			open_unit(s, u);
		}
		BIFANG_CHECK(s->reader->next(s->reader, &s->batch, &err), &err);
		s->batch_row = 0;
		if (s->batch == NULL)
			close_unit(s);
	}
}
