/*
 * pg/scan.c: rows of a foreign table, many at a time; see scan.h.
 */
#include "pg/scan.h"

#include <strings.h>

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "exec/avro_reader.h"
#include "exec/kafka_reader.h"
#include "exec/ledger_reader.h"
#include "exec/parquet_reader.h"
#include "pg/columns.h"
#include "pg/error.h"
#include "pg/host.h"
#include "pg/module.h"
#include "pg/parallel.h"
#include "pg/plain.h"
#include "pg/plan.h"
#include "pg/typemap.h"

/* Reserved field ids of row lineage. */
#define BF_ICE_ROW_ID 2147483540
#define BF_ICE_SEQUENCE_ID 2147483539

#define UNIX_MSECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000)

/* Datums of a slice may take this much, one row's worth at least; wide rows make short slices. */
#define SLICE_BYTES ((int64) 8 * 1024 * 1024)

static const BfField kafka_fields[BF_KAFKA_COLUMNS] = {
	[BF_KAFKA_PARTITION] = {.name = "partition", .type = {.kind = BF_KIND_INT32}},
	[BF_KAFKA_OFFSET] = {.name = "offset", .type = {.kind = BF_KIND_INT64}},
	[BF_KAFKA_TIMESTAMP] = {.name = "timestamp", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
	[BF_KAFKA_KEY] = {.name = "key", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_VALUE] = {.name = "value", .type = {.kind = BF_KIND_BINARY}},
	[BF_KAFKA_HEADERS] = {.name = "headers", .type = {.kind = BF_KIND_JSON}},
};

/* ---- columns ---- */

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

BifangScan *
bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs, BifangPushdown *push)
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
	s->unit_step = 1;
	s->push = push;
	if (push != NULL)
		s->pred_arena = bifang_arena(scan_cxt, "predicates", BIFANG_ARENA_MAX_METADATA);
	MemoryContextSwitchTo(old);
	return s;
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
			c->number = bifang_lake_column(s->work, s->relname, c->field_id, c->name);
		c->vector = vector_for(s, c);
	}
	s->bound = true;
}

/* Plain files may describe a column differently, so what was made for one is compared with the next
 * one's; fields of tables live as long as the scan. */
static void
set_conversion(BifangScan *s, BifangColumn *c, const BfField *field)
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

/* ---- predicates ---- */

static bool
is_text(Oid typid)
{
	return typid == TEXTOID || typid == VARCHAROID || typid == BPCHAROID || typid == NAMEOID;
}

/* The column of a predicate in terms of the lake, for one file of a plain table or for all units.
 */
static bool
push_column(void *arg, AttrNumber attnum, BifangPushColumn *out)
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
			out->type = kafka_fields[c->number].type;
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

/* Of the open unit; facts about rows have no vectors. */
static const BfVector *
vector_of(void *arg, int32 field)
{
	const BifangScan *s = arg;

	if (s->types != NULL)
		return &s->batch->cols[field];
	for (int32 v = 0; v < s->n_vectors; v++)
		if (s->vector_numbers[v] == field)
			return &s->batch->cols[v];
	return NULL;
}

static void
new_filter(BifangScan *s, BfArena *a, const BfPred *pred)
{
	BfError err;

	s->filter = NULL;
	if (pred == NULL || (s->prune & BF_PRUNE_LATE) == 0)
		return;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_pred_state_new(a, pred, &s->filter, &err), &err);
}

static const BfVector *
delete_vector_of(void *arg, int32 k)
{
	const BifangScan *s = arg;

	return &s->batch->cols[s->delete_vector + k];
}

static int32
count_rows(const uint64 *rows, int32 n_rows)
{
	int32 n = 0;

	for (int32 i = 0; i < n_rows; i++)
		n += (rows[i >> 6] >> (i & 63)) & 1;
	return n;
}

/* Which rows of the new batch count: not deleted, and no predicate says no. */
static void
select_rows(BifangScan *s)
{
	const BfBatch *b = s->batch;
	uint64 rows[BF_VALIDITY_WORDS];
	int32 deleted = 0;
	int32 n = 0;
	BfError err;

	s->at = 0;
	s->sel = b->sel;
	s->n_sel = bf_batch_n(b);
	if (s->deletes == NULL && s->filter == NULL)
		return;
	memset(rows, b->sel == NULL ? 0xff : 0, sizeof rows);
	if (b->sel != NULL)
		for (int32 i = 0; i < b->n_sel; i++)
			bf_validity_set(rows, b->sel[i], true);
	bf_error_clear(&err);
	if (s->deletes != NULL && bf_deletes_apply(s->deletes, b->first_row, b->n_rows,
											   delete_vector_of, s, rows, &err) != BF_OK)
	{
		bf_error_object(&err, s->unit->path);
		bifang_report(&err);
	}
	if (s->deletes != NULL)
		deleted = s->n_sel - count_rows(rows, b->n_rows);
	if (s->filter != NULL)
		BIFANG_CHECK(bf_pred_state_filter(s->filter, b->n_rows, vector_of, s, rows, &err), &err);
	for (int32 w = 0; w * 64 < b->n_rows; w++)
	{
		uint64 word = rows[w];

		if (b->n_rows - w * 64 < 64)
			word &= (UINT64CONST(1) << (b->n_rows - w * 64)) - 1;
		for (; word != 0; word &= word - 1)
			s->sel_room[n++] = (uint16) (w * 64 + __builtin_ctzll(word));
	}
	s->count.rows_filtered += s->n_sel - n - deleted;
	if (n == b->n_rows)
		s->sel = NULL;
	else
		s->sel = s->sel_room;
	s->n_sel = n;
}

/* ---- units ---- */

BifangWorklist *
bifang_scan_pin(BifangScan *s, Snapshot snapshot)
{
	if (s->work == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(s->cxt);

		bifang_options_check_read(&s->options);
		s->work = bifang_worklist_open(s->cxt, &s->options, snapshot);
		MemoryContextSwitchTo(old);
	}
	return s->work;
}

BifangWorklist *
bifang_scan_work(BifangScan *s, Snapshot snapshot)
{
	MemoryContext old;

	bifang_scan_pin(s, snapshot);
	if (s->planned)
		return s->work;
	old = MemoryContextSwitchTo(s->cxt);
	if (!s->bound)
		bind_columns(s);
	s->types = NULL;
	s->prune = bifang_prune_flags();
	if (s->push != NULL)
	{
		bifang_pushdown_eval(s->push, s->explain);
		bf_arena_reset(s->pred_arena);
		s->pred = bifang_pushdown_pred(s->push, s->pred_arena, push_column, s);
	}
	if (s->delete_set != NULL)
		bifang_delete_set_replan(s->delete_set);
	bifang_worklist_plan(s->work, s->pred, s->prune, s->shared != NULL);
	if (s->shared != NULL)
		bifang_shared_check(s->shared, s->work);
	s->planned = true;
	MemoryContextSwitchTo(old);
	return s->work;
}

static void
close_unit(BifangScan *s)
{
	s->unit = NULL;
	s->reader = NULL;
	s->batch = NULL;
	s->filter = NULL;
	s->deletes = NULL;
	s->types = NULL;
	MemoryContextReset(s->unit_cxt);
}

void
bifang_scan_fix_end(BifangScan *s, BifangFile *f)
{
	BfArena *a = bifang_arena(s->cxt, "log end", BIFANG_ARENA_MAX_SCAN);
	BfLogDir *dir;
	int64 start;
	int64 end;
	int64 stable;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_log_dir_open(a, f->path, NULL, &dir, &err), &err);
	BIFANG_CHECK(bf_log_dir_bounds(dir, &start, &end, &err), &err);
	if (s->options.read_committed)
	{
		BIFANG_CHECK(bf_log_dir_stable_offset(dir, &stable, &err), &err);
		end = Min(end, stable);
	}
	f->offset_end = end;
	bifang_arena_free(a);
}

/* The part of the log that the predicate leaves. */
static BfKafkaRange
kafka_range(BifangScan *s, BifangUnit *u)
{
	BfKafkaRange r = {0, PG_INT64_MAX, PG_INT64_MIN, PG_INT64_MAX};
	int64 low;
	int64 high;

	if (s->pred != NULL)
	{
		if (!bifang_pred_hull(s->pred, BF_KAFKA_OFFSET, &low, &high))
			high = -1;
		r.offset_first = Max(low, 0);
		if (high < PG_INT64_MAX)
			r.offset_end = high + 1;
		bifang_pred_hull(s->pred, BF_KAFKA_TIMESTAMP, &low, &high);
		if (low > PG_INT64_MIN)
			r.time_first_ms = low / 1000 + (low % 1000 > 0);
		if (high < PG_INT64_MAX)
			r.time_last_ms = high / 1000 - (high % 1000 < 0);
	}
	r.offset_end = Min(r.offset_end, u->plain->offset_end);
	return r;
}

static void
open_kafka(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfKafkaColumn *columns = palloc0((Size) (s->n_vectors + 1) * sizeof *columns);
	BfKafkaRange range;
	BfError err;

	if (u->plain->offset_end < 0)
		bifang_scan_fix_end(s, u->plain);
	range = kafka_range(s, u);
	for (int32 i = 0; i < s->n_vectors; i++)
		columns[i] = (BfKafkaColumn) s->vector_numbers[i];
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_kafka_reader(a, u->path, u->plain->partition, s->options.read_committed,
									  &range, columns, s->n_vectors, &s->count.log, &s->reader,
									  &err),
				 &err);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], &kafka_fields[s->columns[i].number]);
	new_filter(s, a, s->pred);
}

/* What the core's reader of Parquet files leaves out itself. */
static BfRowFilter
row_filter(BifangScan *s, BfArena *a, const BfPred *pred, int32 n_fields)
{
	return (BfRowFilter){
		.pred = bifang_pred_of_fields(a, pred, n_fields), .prune = s->prune, .deletes = s->deletes};
}

static void
open_row_groups(BifangScan *s, BfArena *a, BifangUnit *u, BfParquetFile *file,
				const BfProjection *projection, const BfConstants *constants,
				const BfRowFilter *filter)
{
	int64 groups = bf_parquet_n_row_groups(file);
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_parquet_reader_filtered(a, file, projection, constants,
												 (int32) (groups * u->piece / u->pieces),
												 (int32) (groups * (u->piece + 1) / u->pieces),
												 filter, &s->count.parquet, &s->reader, &err),
				 &err);
}

static void
open_plain(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfProjection *projection = palloc0(sizeof *projection);
	BfType *types = palloc0((Size) (s->n_vectors + 1) * sizeof *types);
	int32 *fields = palloc0((Size) (s->n_vectors + 1) * sizeof *fields);
	const BfPred *pred = NULL;
	BfRowFilter filter;
	BfParquetFile *file;
	BfSchema *schema;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_plain_open(a, u->path, s->vector_names, s->n_vectors, &s->count.io, &file,
								   &schema, &err),
				 &err);
	bf_parquet_verify_checksums(file, s->options.verify_checksums);
	bifang_remember_rows(u->path, u->bytes, bf_parquet_n_rows(file));
	for (int32 i = 0; i < s->n_vectors; i++)
	{
		types[i] = schema->fields[i].type;
		fields[i] = i;
	}
	projection->schema = schema;
	projection->fields = fields;
	projection->n_fields = s->n_vectors;
	s->types = types;
	if (s->push != NULL)
		pred = bifang_pushdown_pred(s->push, a, push_column, s);
	filter = row_filter(s, a, pred, s->n_vectors);
	open_row_groups(s, a, u, file, projection, NULL, &filter);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], &schema->fields[s->columns[i].vector]);
}

/* The table's fields, then those that deletes and row lineage need. */
static BfProjection *
unit_projection(BifangScan *s, BifangUnit *u)
{
	static const BfField lineage[2] = {
		{.id = BF_ICE_ROW_ID, .name = "_row_id", .type = {.kind = BF_KIND_INT64}},
		{.id = BF_ICE_SEQUENCE_ID,
		 .name = "_last_updated_sequence_number",
		 .type = {.kind = BF_KIND_INT64}}};
	const BfSchema *table = s->work->schema;
	BfProjection *p = palloc0(sizeof *p);
	BfSchema *schema = palloc0(sizeof *schema);
	const BfField *keys = NULL;
	int32 n_keys = 0;
	int32 *fields;

	p->want_entry = s->want_entry;
	p->schema = table;
	p->fields = s->vector_numbers;
	p->n_fields = s->delete_vector = s->n_vectors;
	if (s->deletes != NULL && u->file->format == BF_ICE_FORMAT_AVRO)
		keys = bf_deletes_fields(s->deletes, &n_keys);
	s->lineage_vector = s->want_lineage && u->file != NULL ? s->n_vectors + n_keys : -1;
	if (n_keys == 0 && s->lineage_vector < 0)
		return p;
	schema->schema_id = table->schema_id;
	schema->fields = palloc((Size) (table->n_fields + n_keys + 2) * sizeof(BfField));
	schema->n_fields = table->n_fields + n_keys + 2;
	memcpy(schema->fields, table->fields, (Size) table->n_fields * sizeof(BfField));
	if (n_keys > 0)
		memcpy(schema->fields + table->n_fields, keys, (Size) n_keys * sizeof(BfField));
	memcpy(schema->fields + table->n_fields + n_keys, lineage, sizeof lineage);
	fields = palloc((Size) (s->n_vectors + n_keys + 2) * sizeof *fields);
	memcpy(fields, s->vector_numbers, (Size) s->n_vectors * sizeof *fields);
	for (int32 i = 0; i < n_keys + 2; i++)
		fields[s->n_vectors + i] = table->n_fields + i;
	p->schema = schema;
	p->fields = fields;
	p->n_fields = s->n_vectors + n_keys + (s->lineage_vector < 0 ? 0 : 2);
	return p;
}

/* Metadata comes from outside and may name any file of the machine. Who may read them all can make
 * tables by location; of others only files of the table itself are opened. */
static void
check_inside(const BifangScan *s, const char *path)
{
	const BfLocation *location = &s->work->table->location;
	Oid owner;

	if (bf_location_inside(location, path))
		return;
	owner = bifang_relation_owner(s->relid);
	if (has_privs_of_role(owner, ROLE_PG_READ_SERVER_FILES))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("\"%s\" is outside of the table's directory \"%s\"", path, location->found),
			 errdetail("Role \"%s\" does not have the privileges of role \"%s\".",
					   GetUserNameFromId(owner, false),
					   GetUserNameFromId(ROLE_PG_READ_SERVER_FILES, false))));
}

static void
open_file(BifangScan *s, BfArena *a, BifangUnit *u)
{
	const BfIceDataFile *f = u->file;
	BfConstants *constants = palloc(sizeof *constants);
	BfProjection *projection;
	BfRowFilter filter;
	BfParquetFile *file;
	BfError err;

	check_inside(s, u->path);
	for (int32 i = 0; i < bf_ice_n_deletes(f); i++)
		check_inside(s, bf_ice_delete(f, i)->path);
	if (bf_ice_n_deletes(f) > 0)
	{
		if (s->delete_set == NULL)
			s->delete_set = bifang_delete_set_new(s->cxt, s->work->table,
												  s->options.verify_checksums, &s->count.io);
		s->deletes = bifang_delete_set_of(s->delete_set, a, f);
	}
	*constants = (BfConstants){f->n_constants, f->constant_ids, f->constants};
	projection = unit_projection(s, u);
	bf_error_clear(&err);
	if (f->format == BF_ICE_FORMAT_AVRO)
	{
		BIFANG_CHECK(
			bf_exec_avro_reader(a, u->path, projection, constants, &s->count.io, &s->reader, &err),
			&err);
		new_filter(s, a, s->pred);
		return;
	}
	BIFANG_CHECK(bf_exec_parquet_open(a, u->path, &s->count.io, &file, &err), &err);
	bf_parquet_verify_checksums(file, s->options.verify_checksums);
	filter = row_filter(s, a, s->pred, s->work->schema->n_fields);
	open_row_groups(s, a, u, file, projection, constants, &filter);
	s->deletes = NULL; /* the reader sees to it */
}

static void
open_lake(BifangScan *s, BfArena *a, BifangUnit *u)
{
	BfError err;

	bf_error_clear(&err);
	if (u->tier == BIFANG_TIER_PARQUET)
		open_file(s, a, u);
	else
	{
		BIFANG_CHECK(bf_exec_ledger_reader(
						 a, u->tier == BIFANG_TIER_OFFLOAD ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
						 u->path, &u->ranges, unit_projection(s, u), &s->count.log, &s->reader,
						 &err),
					 &err);
		new_filter(s, a, s->pred);
	}
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			set_conversion(s, &s->columns[i], &s->work->schema->fields[s->columns[i].number]);
}

static void
open_unit(BifangScan *s, BifangUnit *u)
{
	MemoryContext old = MemoryContextSwitchTo(s->unit_cxt);
	BfArena *a = bifang_arena(s->unit_cxt, "scan unit", BIFANG_ARENA_MAX_SCAN);

	s->unit = u;
	s->count.units_read++;
	if (u->tier == BIFANG_TIER_KAFKA)
		open_kafka(s, a, u);
	else if (s->options.format == BIFANG_PARQUET)
		open_plain(s, a, u);
	else
		open_lake(s, a, u);
	MemoryContextSwitchTo(old);
}

void
bifang_scan_count_deletes(BifangScan *s)
{
	if (s->delete_set != NULL)
		s->count.deletes = *bifang_delete_set_counters(s->delete_set);
}

/* The next unit for this process. */
static BifangUnit *
next_unit(BifangScan *s)
{
	int32 n;

	if (s->shared != NULL)
		n = bifang_shared_next(s->shared);
	else
	{
		n = s->next_unit;
		s->next_unit += s->unit_step;
	}
	return n < s->work->n_units ? &s->work->units[n] : NULL;
}

void
bifang_scan_restart(BifangScan *s)
{
	close_unit(s);
	if (s->push != NULL && s->planned && bifang_pushdown_eval(s->push, s->explain))
		s->planned = false;
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
	if (c->text_of != s->count.units_read)
	{
		MemoryContext old = MemoryContextSwitchTo(s->unit_cxt);

		c->text = CStringGetTextDatum(text);
		c->text_of = s->count.units_read;
		MemoryContextSwitchTo(old);
	}
	return c->text;
}

/* What the file says of the row, else what is true of all rows that it says nothing of. */
static void
fill_lineage(BifangScan *s, BifangColumn *c, const uint16 *rows, int32 n, int32 vector, int64 base,
			 bool by_row)
{
	const BfVector *v = s->lineage_vector < 0 ? NULL : &s->batch->cols[vector];
	BfValue value;

	for (int32 i = 0; i < n; i++)
	{
		c->isnull[i] = false;
		if (v != NULL && bf_vector_get(v, rows[i], &value))
			c->values[i] = Int64GetDatum(value.v.i64);
		else if (v == NULL || base < 0)
			c->isnull[i] = true;
		else
			c->values[i] = Int64GetDatum(base + (by_row ? s->batch->first_row + rows[i] : 0));
	}
}

static void
fill_meta(BifangScan *s, BifangColumn *c, const uint16 *rows, int32 n)
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
				c->values[i] = b->entry == NULL ? (Datum) 0 : Int64GetDatum(b->entry[rows[i]]);
			}
			break;
		case BIFANG_META_TIMESTAMP:
			for (int32 i = 0; i < n; i++)
			{
				int64 ms = b->timestamp == NULL ? -1 : b->timestamp[rows[i]];

				c->isnull[i] = ms < 0 || ms > PG_INT64_MAX / 1000;
				c->values[i] = c->isnull[i] ? (Datum) 0 : Int64GetDatum((ms - UNIX_MSECS) * 1000);
			}
			break;
		case BIFANG_META_TIER:
			fill_same(c, n, unit_text(s, c, bifang_tier_name(s->unit->tier)), false);
			break;
		case BIFANG_META_FILE: fill_same(c, n, unit_text(s, c, s->unit->path), false); break;
		case BIFANG_META_POS:
			for (int32 i = 0; i < n; i++)
			{
				c->isnull[i] = b->first_row < 0;
				c->values[i] = Int64GetDatum(b->first_row + rows[i]);
			}
			break;
		case BIFANG_META_ROW_ID:
			fill_lineage(s, c, rows, n, s->lineage_vector,
						 s->unit->file == NULL ? -1 : s->unit->file->first_row_id, true);
			break;
		case BIFANG_META_SEQUENCE:
			fill_lineage(s, c, rows, n, s->lineage_vector + 1,
						 s->unit->file == NULL ? -1 : s->unit->file->sequence_number, false);
			break;
		case BIFANG_META_NONE:
		case BIFANG_META_COUNT: break;
	}
}

static const uint16 *
all_rows(void)
{
	static uint16 rows[BF_BATCH_ROWS];

	if (rows[1] == 0)
		for (int i = 0; i < BF_BATCH_ROWS; i++)
			rows[i] = (uint16) i;
	return rows;
}

static void
fill_slice(BifangScan *s)
{
	const BfBatch *b = s->batch;
	const uint16 *rows = (s->sel == NULL ? all_rows() : s->sel) + s->at;
	int32 n = s->n_sel - s->at;

	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			n = bifang_out_fit(s->columns[i].out, &b->cols[s->columns[i].vector], rows, n,
							   SLICE_BYTES);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		if (c->vector < 0)
		{
			fill_meta(s, c, rows, n);
			c->has_nulls = true;
		}
		else
			c->has_nulls =
				bifang_out_convert(c->out, &b->cols[c->vector], rows, n, c->values, c->isnull);
	}
	s->at += n;
	s->row = 0;
	s->n_rows = n;
	s->count.rows_out += n;
}

/* Not before there is something to read: planning makes scans, too. */
static void
make_room(BifangScan *s)
{
	s->sel_room = MemoryContextAlloc(s->cxt, BF_BATCH_ROWS * sizeof *s->sel_room);
	for (int32 i = 0; i < s->n_columns; i++)
	{
		BifangColumn *c = &s->columns[i];

		c->values = MemoryContextAllocZero(s->cxt, BF_BATCH_ROWS * sizeof *c->values);
		c->isnull = MemoryContextAllocZero(s->cxt, BF_BATCH_ROWS * sizeof *c->isnull);
	}
}

bool
bifang_scan_fill(BifangScan *s, Snapshot snapshot)
{
	BfError err;

	if (!s->planned)
		bifang_scan_work(s, snapshot);
	if (s->sel_room == NULL)
		make_room(s);
	s->row = 0;
	s->n_rows = 0;
	bf_error_clear(&err);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->batch != NULL && s->at < s->n_sel)
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
		if (s->batch == NULL)
			close_unit(s);
		else
			select_rows(s);
	}
}
