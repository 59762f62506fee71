/*
 * pg/scan/lake/unit.c: from a unit of a lake table to the reader of its rows.
 */
#include "pg/scan/lake/internal.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "exec/read/avro_reader.h"
#include "exec/read/counted.h"
#include "exec/read/ledger_reader.h"
#include "exec/read/parquet_reader.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/tail.h"
#include "pg/scan/learned.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"

/* Reserved field ids of row lineage. */
#define BF_ICE_ROW_ID 2147483540
#define BF_ICE_SEQUENCE_ID 2147483539

/* The table's fields, then those that row lineage needs. */
static BfProjection *
unit_projection(BifangScan *s, const BfScanUnit *u)
{
	static const BfField lineage[2] = {
		{.id = BF_ICE_ROW_ID, .name = "_row_id", .type = {.kind = BF_KIND_INT64}},
		{.id = BF_ICE_SEQUENCE_ID,
		 .name = "_last_updated_sequence_number",
		 .type = {.kind = BF_KIND_INT64}}};
	const BfSchema *table = s->work->schema;
	BfProjection *p = palloc0(sizeof *p);
	BfSchema *schema = palloc0(sizeof *schema);
	int32 *fields;

	Assert(s->cols.bound);
	p->want_entry = s->cols.want_entry;
	p->schema = table;
	p->fields = s->cols.numbers;
	p->n_fields = s->cols.n_vectors;
	s->open.lineage_vector = s->cols.want_lineage && u->file != NULL ? s->cols.n_vectors : -1;
	if (s->open.lineage_vector < 0)
		return p;
	schema->schema_id = table->schema_id;
	schema->fields = palloc((Size) (table->n_fields + 2) * sizeof(BfField));
	schema->n_fields = table->n_fields + 2;
	memcpy(schema->fields, table->fields, (Size) table->n_fields * sizeof(BfField));
	memcpy(schema->fields + table->n_fields, lineage, sizeof lineage);
	fields = palloc((Size) (s->cols.n_vectors + 2) * sizeof *fields);
	memcpy(fields, s->cols.numbers, (Size) s->cols.n_vectors * sizeof *fields);
	for (int32 i = 0; i < 2; i++)
		fields[s->cols.n_vectors + i] = table->n_fields + i;
	p->schema = schema;
	p->fields = fields;
	p->n_fields = s->cols.n_vectors + 2;
	return p;
}

/* Metadata comes from outside and may name any file of the machine. Who may read them all can make
 * tables by location; of others only files of the table itself are opened. */
static void
check_inside(const BifangScan *s, const char *path)
{
	const BfLocation *location = &bifang_lake_work(s->work)->point.table->location;
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
open_file(BifangScan *s, BfArena *a, const BfScanUnit *u)
{
	BifangLakeWork *lake = bifang_lake_work(s->work);
	const BfIceDataFile *f = u->file;
	BfRowClaim says = {.n = s->options.verify_checksums ? f->record_count : -1};
	BfConstants *constants = palloc(sizeof *constants);
	int32 n_fields = s->work->schema->n_fields;
	BfDeletes *deletes = NULL;
	BfProjection *projection;
	BfRowFilter filter;
	BfParquetFile *file;
	BfError err;

	check_inside(s, u->path);
	for (int32 i = 0; i < bf_ice_n_deletes(f); i++)
		check_inside(s, bf_ice_delete(f, i)->path);
	if (bf_ice_n_deletes(f) > 0)
	{
		if (lake->deletes == NULL)
			lake->deletes =
				bifang_delete_set_new(s->work->cxt, lake->point.table, s->options.verify_checksums,
									  &s->count.io, &s->count.deletes);
		deletes = bifang_delete_set_of(lake->deletes, a, f, u->piece == 0);
	}
	*constants = (BfConstants){f->n_constants, f->constant_ids, f->constants};
	projection = unit_projection(s, u);
	filter = bifang_scan_row_filter(s, a, s->pred.tree, n_fields, deletes);
	if (bifang_scan_read_row_groups_again(s, a, projection, &filter))
		return;
	bf_error_clear(&err);
	if (f->format == BF_ICE_FORMAT_AVRO)
	{
		BfFilter *rows = bifang_scan_filter(s, a, projection, n_fields, deletes);
		BfReader *avro;

		BIFANG_CHECK(bf_exec_avro_reader(a, u->path, bf_filter_projection(rows), constants,
										 &s->count.io, &avro, &err),
					 &err);
		BIFANG_CHECK(bf_counted_reader(a, avro, says, &avro, &err), &err);
		bifang_scan_read_through(s, a, rows, avro);
		return;
	}
	BIFANG_CHECK(bf_footer_open(bifang_footer_cache(), a, u->path, &s->count.io, &file, &err),
				 &err);
	BIFANG_CHECK(bf_counted_check("file", u->path, bf_parquet_n_rows(file), says, &err), &err);
	bf_parquet_verify_checksums(file, s->options.verify_checksums);
	bifang_learned_file(s->relid, file);
	bifang_scan_open_row_groups(s, a, u, file, projection, constants, &filter);
}

/* What the ledger's directory does not have; NULL = nothing. In the unit's memory. */
static const BfLogTail *
tail_of_unit(const BifangScan *s, const BfScanUnit *u)
{
	const BfScanLedger *l = bf_scan_pins_ledger(s->work->pins, u->ledger_id);

	Assert(l != NULL && l->tail <= l->end && s->work->snap != NULL);
	return u->tier == BF_SCAN_LIVE && l->tail > 0
			   ? bifang_tail_of(l->id, l->end - l->tail, s->work->snap)
			   : NULL;
}

/* What the index of an offload file or a live ledger is asked for; false: nothing. What is kept for
 * rescans does not depend on predicates, so then all is read. */
static bool
where_of(BifangScan *s, BfArena *a, const BfScanUnit *u, BfLedgerWhere *out)
{
	const BfScanList *l = &s->work->list;
	int32 n_fields = s->work->schema->n_fields;
	int64 low;
	int64 high;

	if (s->pred.tree == NULL || s->open.kept != NULL || (s->pred.prune & BF_PRUNE_ROW_GROUP) == 0)
		return false;
	*out = (BfLedgerWhere){.pred = bifang_scan_row_filter(s, a, s->pred.tree, n_fields, NULL).pred,
						   .time_first_ms = PG_INT64_MIN,
						   .time_last_ms = PG_INT64_MAX};
	/* Planning has left out units without any time. */
	(void) bf_scan_unit_hull(l, u, bf_scan_fact_field(l, BF_FACT_TIMESTAMP), &low, &high);
	if (low > PG_INT64_MIN)
		out->time_first_ms = low / 1000 + (low % 1000 > 0);
	if (high < PG_INT64_MAX)
		out->time_last_ms = high / 1000 - (high % 1000 < 0);
	/* A live one has times alone. */
	return u->tier == BF_SCAN_OFFLOAD || out->time_first_ms > 0;
}

static void
open_ledger(BifangScan *s, BfArena *a, const BfScanUnit *u)
{
	BfLedgerWhere where;
	BfFilter *f = bifang_scan_filter(s, a, unit_projection(s, u), s->work->schema->n_fields, NULL);
	BfReader *ledger;
	BfError err;

	Assert(u->ledger_id >= 0 && u->ranges.n > 0);
	if (bifang_scan_read_again(s, a, f))
		return;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_ledger_reader_where(
					 a, u->tier == BF_SCAN_OFFLOAD ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE, u->path,
					 tail_of_unit(s, u), &u->ranges, bf_filter_projection(f),
					 where_of(s, a, u, &where) ? &where : NULL, &s->count.log, &ledger, &err),
				 &err);
	bifang_scan_read_through(s, a, f, ledger);
}

void
bifang_lake_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u)
{
	bifang_scan_keep(s, u, NULL, 0);
	if (u->tier == BF_SCAN_PARQUET)
		open_file(s, a, u);
	else
		open_ledger(s, a, u);
	bifang_scan_set_conversions(s, s->work->schema);
}
