/*
 * pg/lake/lake.c: bifang.commit(): rows of the log get names in the lake; bifang.settle().
 *
 *   uncovered = [0, end) of every ledger, minus what the lake covers by any form
 *   one logical file per ledger and partition, more where the list of ranges would be too long
 *   bounds of its columns, read from its rows (metrics.c)
 *   bf_ice_commit_logical writes manifest, lists and metadata; the catalog's pointer moves
 *
 * All of it belongs to the caller's transaction. Commits of one table wait for each other; another
 * engine that moves the pointer in between makes us start again from its metadata. A transaction
 * with one snapshot for all its statements commits what that snapshot shows and fails when the
 * table changed since.
 *
 * A ledger whose rows can't be read, as is needed to learn their partitions, is passed over. Of one
 * whose rows were not read the older ends stay: by them bifang.repair() tells what was
 * acknowledged.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "exec/read/ledger_reader.h"
#include "iceberg/commit.h"
#include "pg/catalog/cache.h"
#include "pg/lake/damage.h"
#include "pg/lake/garbage.h"
#include "pg/lake/lake.h"
#include "pg/lake/metrics.h"
#include "pg/lake/partitions.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/progress.h"
#include "pg/write/locks.h"
#include "pg/write/partition.h"

PG_FUNCTION_INFO_V1(bifang_commit);
PG_FUNCTION_INFO_V1(bifang_settle);

#define COMMIT_TRIES 10
#define SETTLED_MAX 100

/* Entries of one ledger that belong to one partition. */
typedef struct Piece
{
	BfView key;
	const BfValue *values;
	BfRange range;
} Piece;

typedef struct Commit
{
	MemoryContext cxt;
	BfArena *arena;
	Snapshot snap;
	BifangTable t;
	const BfIceSpec *spec;
	BfBuffer *key;
	BfValue *values; /* of one row */
	Piece *pieces;	 /* of one ledger */
	int n_pieces;
	int n_pieces_max;
	List *read; /* BifangLedger * all of whose new entries were read and are good */
	BfIceNewFile *files;
	BfRangeSet *ranges; /* of each file */
	int n_files;
	int n_files_max;
	BifangMetrics metrics;
	BfCoverage covered;
	int64 rows;
	int64 bytes;
} Commit;

/* Pieces -------------------------------------------------------------------------------------- */

static BfStatus
grow_pieces(Commit *c, BfError *err)
{
	int n = Max(64, c->n_pieces_max * 2);
	Piece *more;

	BF_NEW_RAW(c->arena, more, n, err);
	if (c->n_pieces > 0)
		memcpy(more, c->pieces, sizeof *more * (size_t) c->n_pieces);
	c->pieces = more;
	c->n_pieces_max = n;
	return BF_OK;
}

/* The values of the current row, in the arena with what they point to. */
static BfStatus
keep_values(Commit *c, const BfValue **out, BfError *err)
{
	BfValue *values;

	BF_NEW(c->arena, values, c->spec->n_fields, err);
	for (int32_t i = 0; i < c->spec->n_fields; i++)
	{
		BfView *view = &values[i].v.view;

		values[i] = c->values[i];
		if (!values[i].is_null && bf_type_storage(values[i].type) == BF_STORE_VIEW)
			BF_TRY_PTR(c->arena, view->ptr, bf_arena_memdup(c->arena, view->ptr, view->len), err);
	}
	*out = values;
	return BF_OK;
}

/* The key of the current row stands in c->key. */
static BfStatus
add_piece(Commit *c, BfRange range, BfError *err)
{
	Piece *last = c->n_pieces > 0 ? &c->pieces[c->n_pieces - 1] : NULL;
	Piece *p;

	Assert(range.first >= 0 && range.first <= range.last);
	Assert(last == NULL || last->range.last < range.first); /* in the order of entries */
	if (last != NULL && last->key.len == c->key->len && last->range.last + 1 == range.first &&
		(c->key->len == 0 || memcmp(last->key.ptr, c->key->data, c->key->len) == 0))
	{
		last->range.last = range.last;
		return BF_OK;
	}
	if (c->n_pieces == c->n_pieces_max)
		BF_TRY(grow_pieces(c, err));
	p = &c->pieces[c->n_pieces];
	memset(p, 0, sizeof *p);
	p->range = range;
	if (c->spec != NULL)
	{
		p->key.len = (uint32_t) c->key->len;
		BF_TRY_PTR(c->arena, p->key.ptr, bf_arena_memdup(c->arena, c->key->data, c->key->len), err);
		BF_TRY(keep_values(c, &p->values, err));
	}
	c->n_pieces++;
	return BF_OK;
}

/* Row by row: a batch has rows of one partition only by the spec that it was written under, and
 * another engine may have given the table a new one since. */
static BfStatus
read_rows(Commit *c, BfArena *arena, const BifangLedger *l, const BfRangeSet *ranges, BfError *err)
{
	const BfSchema *schema = c->t.ice->schema;
	BfSchema sources = {.schema_id = schema->schema_id};
	int32_t *fields = palloc(sizeof *fields * (Size) c->spec->n_fields);
	BfProjection projection = {.schema = schema, .fields = fields, .want_entry = true};
	bool offloaded = l->state == BIFANG_LEDGER_OFFLOADED;
	BfReader *reader;
	const BfBatch *batch;

	sources.fields = palloc(sizeof *sources.fields * (Size) c->spec->n_fields);
	for (int32_t i = 0; i < c->spec->n_fields; i++)
	{
		int32_t f = bf_schema_find_id(schema, c->spec->fields[i].source_id);

		if (f < 0 || bf_schema_find_id(&sources, c->spec->fields[i].source_id) >= 0)
			continue;
		fields[projection.n_fields++] = f;
		sources.fields[sources.n_fields++] = schema->fields[f];
	}
	BF_TRY(bf_exec_ledger_reader(arena, offloaded ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
								 offloaded ? l->offload_path : l->live_dir,
								 bifang_ledger_tail(l, c->snap), ranges, &projection, NULL, &reader,
								 err));
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		BF_TRY(reader->next(reader, &batch, err));
		if (batch == NULL)
			return BF_OK;
		for (int32 row = 0; row < batch->n_rows; row++)
		{
			c->key->len = 0;
			BF_TRY(bifang_partition_of_row(c->spec, &sources, batch, row, c->values, c->key, err));
			BF_TRY(add_piece(c, (BfRange){batch->entry[row], batch->entry[row]}, err));
		}
	}
}

static BfStatus
pieces_of_rows(Commit *c, const BifangLedger *l, const BfRangeSet *ranges, BfError *err)
{
	BfArena *arena = bifang_arena(c->cxt, "rows", BIFANG_ARENA_MAX_SCAN);
	BfStatus status = read_rows(c, arena, l, ranges, err);

	bifang_arena_free(arena);
	return status;
}

static BfStatus
collect_pieces(Commit *c, const BifangLedger *l, const BfRangeSet *ranges, BfError *err)
{
	c->n_pieces = 0;
	c->key->len = 0;
	if (c->spec != NULL)
		return pieces_of_rows(c, l, ranges, err);
	for (int32_t i = 0; i < ranges->n; i++)
		BF_TRY(add_piece(c, ranges->ranges[i], err));
	return BF_OK;
}

static int
compare_pieces(const void *a, const void *b)
{
	const Piece *x = a;
	const Piece *y = b;
	uint32_t common = Min(x->key.len, y->key.len);
	int order = common == 0 ? 0 : memcmp(x->key.ptr, y->key.ptr, common);

	CHECK_FOR_INTERRUPTS();
	if (order == 0)
		order = (x->key.len > y->key.len) - (x->key.len < y->key.len);
	if (order == 0)
		order = (x->range.first > y->range.first) - (x->range.first < y->range.first);
	return order;
}

/* Files --------------------------------------------------------------------------------------- */

static void
add_file(Commit *c, const BifangLedger *l, const Piece *pieces, int n)
{
	BfLogicalFile name = {.db = bifang_to_utf8(c->t.row.ns),
						  .table = bifang_to_utf8(c->t.row.name),
						  .ledger_id = l->id};
	BfRange *ranges = palloc(sizeof *ranges * (Size) n);
	BfIceNewFile *f;
	BfError err = {0};

	Assert(n > 0 && l->end_entry > l->end_segment);
	for (int i = 0; i < n; i++)
	{
		Assert(pieces[i].range.last < l->end_entry);
		ranges[i] = pieces[i].range;
	}
	BIFANG_CHECK(bf_rangeset_make(c->arena, ranges, n, &name.ranges, &err), &err);
	pfree(ranges);
	if (c->n_files == c->n_files_max)
	{
		c->n_files_max = Max(64, c->n_files_max * 2);
		c->files = c->files == NULL ? palloc(sizeof *f * (Size) c->n_files_max)
									: repalloc_huge(c->files, sizeof *f * (Size) c->n_files_max);
		c->ranges = c->ranges == NULL
						? palloc(sizeof *c->ranges * (Size) c->n_files_max)
						: repalloc_huge(c->ranges, sizeof *c->ranges * (Size) c->n_files_max);
	}
	c->ranges[c->n_files] = name.ranges;
	f = &c->files[c->n_files++];
	memset(f, 0, sizeof *f);
	BIFANG_CHECK(bf_logical_format(c->arena, &name, &f->path, &err), &err);
	f->format = "LOG";
	f->spec_id = c->t.ice->metadata->specs.default_id;
	f->n_partition = c->spec == NULL ? 0 : c->spec->n_fields;
	f->partition = pieces[0].values;
	f->record_count = bf_rangeset_count(&name.ranges);
	/* There is no file; what its rows take in the ledger's last segment and tail, on average. */
	f->file_size =
		Max(1, (int64) ((double) (l->end_position + l->tail_bytes) /
						(double) (l->end_entry - l->end_segment) * (double) f->record_count));
	c->rows += f->record_count;
	c->bytes += f->file_size;
}

static int
range_text_bytes(BfRange r)
{
	return snprintf(NULL, 0, INT64_FORMAT "-" INT64_FORMAT "_", r.first, r.last);
}

static bool
same_key(const Piece *a, const Piece *b)
{
	return a->key.len == b->key.len &&
		   (a->key.len == 0 || memcmp(a->key.ptr, b->key.ptr, a->key.len) == 0);
}

static void
add_ledger(Commit *c, const BifangLedger *l, const BfRangeSet *uncovered)
{
	int first_file = c->n_files;
	int start = 0;
	BfError err = {0};

	if (collect_pieces(c, l, uncovered, &err) != BF_OK)
	{
		if (!bifang_ledger_is_damaged(l, &err))
			bifang_report(&err);
		bifang_ledger_passed_over(l, &err, "is not committed");
		return;
	}
	if (c->n_pieces > 1)
		qsort(c->pieces, (size_t) c->n_pieces, sizeof *c->pieces, compare_pieces);
	while (start < c->n_pieces)
	{
		const Piece *p = &c->pieces[start];
		int text = 0;
		int n = 0;

		CHECK_FOR_INTERRUPTS();
		while (start + n < c->n_pieces && same_key(&p[0], &p[n]))
		{
			text += range_text_bytes(p[n].range);
			if (n > 0 && text > BF_ICE_RANGES_TEXT_MAX)
				break;
			n++;
		}
		Assert(n > 0);
		add_file(c, l, p, n);
		start += n;
	}
	if (bifang_metrics_of_ledger(&c->metrics, l, c->files + first_file, c->ranges + first_file,
								 c->n_files - first_file))
		c->read = lappend(c->read, unconstify(BifangLedger *, l));
	BIFANG_CHECK(bf_coverage_add(c->arena, &c->covered, l->id, uncovered, &c->covered, &err), &err);
}

/* The commit ---------------------------------------------------------------------------------- */

static void
collect_files(Commit *c, const List *ledgers)
{
	const BifangLake *lake = bifang_lake_open(c->cxt, c->t.row.metadata_location);
	const BfIceMetadata *md = c->t.ice->metadata;
	ListCell *lc;
	BfError err = {0};

	c->covered = lake->plan->covered;
	c->spec = bf_ice_spec(md, md->specs.default_id);
	if (c->spec != NULL && c->spec->n_fields == 0)
		c->spec = NULL;
	if (c->spec != NULL)
	{
		/* Not from palloc: the values are aligned to 16 bytes. */
		c->values = bf_arena_alloc_array(c->arena, (size_t) c->spec->n_fields, sizeof *c->values);
		if (c->values == NULL)
		{
			(void) bf_arena_fail(c->arena, (size_t) c->spec->n_fields, &err);
			bifang_report(&err);
		}
	}
	BIFANG_CHECK(bf_buffer_new(c->arena, (size_t) 1 << 28, &c->key, &err), &err);
	bifang_metrics_begin(&c->metrics, c->arena, c->snap, c->t.ice);
	bifang_progress_phase(BIFANG_PHASE_LEDGERS);
	bifang_progress_total(list_length(ledgers), 0);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);
		BfRange all = {0, l->end_entry - 1};
		BfRangeSet have = {1, &all};
		BfRangeSet lost;
		BfRangeSet uncovered;

		CHECK_FOR_INTERRUPTS();
		bifang_progress_add(1, 0);
		if (l->end_entry == 0)
			continue;
		lost = bifang_ledger_lost(c->arena, l);
		BIFANG_CHECK(bf_rangeset_subtract(c->arena, &have, &lost, &have, &err), &err);
		BIFANG_CHECK(bf_rangeset_subtract(c->arena, &have, bf_coverage_of(&c->covered, l->id),
										  &uncovered, &err),
					 &err);
		if (uncovered.n > 0)
			add_ledger(c, l, &uncovered);
	}
}

/* False: the pointer moved meanwhile. */
static bool
commit_once(Oid relid, BifangCommitResult *result)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	Commit c = {.cxt = CurrentMemoryContext, .snap = snap};
	BifangJob job = {.kind = "commit", .started_at = GetCurrentTimestamp()};
	const char *metadata_path;
	BfError err = {0};
	List *ledgers;
	ListCell *lc;
	bool moved = true;

	bifang_table_open(relid, snap, c.cxt, &c.t);
	Assert(bifang_table_is_locked(c.t.row.id, BIFANG_TABLE_MAINTAIN));
	c.arena = bifang_arena(c.cxt, "commit", BIFANG_ARENA_MAX_METADATA);
	ledgers = bifang_catalog_ledgers(c.t.row.id, snap);
	collect_files(&c, ledgers);
	memset(result, 0, sizeof *result);
	result->snapshot_id = -1;
	if (c.n_files > 0)
	{
		bifang_progress_phase(BIFANG_PHASE_METADATA);
		BIFANG_CHECK(bf_ice_commit_logical(c.arena, c.t.ice, c.files, c.n_files, &c.covered,
										   &metadata_path, &result->snapshot_id, &err),
					 &err);
		bifang_remove_on_abort(metadata_path, 0);
		c.t.row.uuid = c.t.uuid;
		moved = bifang_catalog_move_pointer(&c.t.row, metadata_path);
	}
	if (moved && c.n_files > 0)
	{
		result->files = c.n_files;
		result->rows = c.rows;
		bifang_table_set_job(&c.t, &job);
		job.rows = c.rows;
		job.files = c.n_files;
		job.bytes = c.bytes;
		job.snapshot_id = result->snapshot_id;
		bifang_catalog_insert_job(&job);
	}
	if (moved && c.n_files > 0)
		foreach (lc, c.read)
		{
			const BifangLedger *l = lfirst(lc);

			Assert(l->end_entry >= l->files_entry);
			if (l->files_entry > 0)
				(void) bifang_catalog_prune_appends(l->id, l->files_entry, snap);
		}
	UnregisterSnapshot(snap);
	CommandCounterIncrement();
	return moved;
}

int64
bifang_table_begin_work(Oid relid, const char *function)
{
	BifangTable t;

	PreventCommandIfReadOnly(function);
	bifang_table_check_owner(relid);
	/* Again, of what is there once it stays. */
	LockRelationOid(relid, BIFANG_WORK_LOCK);
	bifang_table_check_owner(relid);
	bifang_options_get(relid, &t.options);
	bifang_table_check_managed(&t.options, "change");
	bifang_catalog_check_adopted();
	bifang_options_check_write(&t.options);
	bifang_table_open_locked(&t, BIFANG_TABLE_MAINTAIN, CurrentMemoryContext);
	bifang_table_check_write(&t.options, t.ice, bifang_relation_owner(relid), "write to");
	bifang_table_claim(t.ice, &t.row);
	return t.row.id;
}

/* Open ledgers that nobody writes put what they have in bifang.tail into their files. This is not
 * what the commit needs, so a few at a time: their locks are held to the transaction's end. How
 * many did. */
static int32
settle_tails(Oid relid)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	BifangTable t;
	BifangTarget target;
	List *ledgers;
	ListCell *lc;
	int32 settled = 0;

	bifang_table_open(relid, snap, CurrentMemoryContext, &t);
	ledgers = bifang_catalog_ledgers(t.row.id, snap);
	UnregisterSnapshot(snap);
	target = bifang_table_target(&t);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (settled < SETTLED_MAX && l->state == BIFANG_LEDGER_OPEN &&
			l->files_entry < l->end_entry && bifang_writer_settle(&target, l))
			settled++;
	}
	if (settled > 0)
		CommandCounterIncrement();
	return settled;
}

void
bifang_commit_table(Oid relid, BifangCommitResult *result)
{
	MemoryContext caller = CurrentMemoryContext;
	bool done = false;

	bifang_progress_phase(BIFANG_PHASE_SETTLE);
	(void) settle_tails(relid);
	for (int attempt = 0; !done && attempt < COMMIT_TRIES; attempt++)
	{
		MemoryContext cxt = AllocSetContextCreate(caller, "bifang commit", ALLOCSET_DEFAULT_SIZES);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		done = commit_once(relid, result);
		MemoryContextSwitchTo(caller);
		MemoryContextDelete(cxt);
	}
	if (!done)
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("another engine changed the table in each of %d tries to commit",
							   COMMIT_TRIES)));
}

/* Adds to a result of several tables: it has a snapshot when just one of them has a new one. */
static void
commit_one(Oid relid, BifangCommitResult *sum)
{
	int64 table_id = bifang_table_begin_work(relid, "bifang.commit()");
	BifangCommitResult one;

	bifang_progress_begin(BIFANG_COMMAND_COMMIT, relid);
	bifang_commit_table(relid, &one);
	bifang_progress_end();
	if (one.files == 0)
	{
		bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
		return;
	}
	Assert(one.snapshot_id > 0 && one.rows > 0);
	sum->snapshot_id = sum->files == 0 ? one.snapshot_id : -1;
	sum->files += one.files;
	sum->rows += one.rows;
}

Datum
bifang_lake_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

Datum
bifang_commit(PG_FUNCTION_ARGS)
{
	BifangCommitResult result = {.snapshot_id = -1};
	List *tables;
	ListCell *lc;
	Datum values[3];
	bool nulls[3] = {false};

	tables = bifang_tables_of(PG_GETARG_OID(0));
	foreach (lc, tables)
		commit_one(lfirst_oid(lc), &result);
	values[0] = Int64GetDatum(result.snapshot_id);
	nulls[0] = result.snapshot_id < 0;
	values[1] = Int32GetDatum(result.files);
	values[2] = Int64GetDatum(result.rows);
	return bifang_lake_row(fcinfo, values, nulls);
}

Datum
bifang_settle(PG_FUNCTION_ARGS)
{
	List *tables = bifang_tables_of(PG_GETARG_OID(0));
	int32 settled = 0;
	ListCell *lc;

	foreach (lc, tables)
	{
		int64 table_id = bifang_table_begin_work(lfirst_oid(lc), "bifang.settle()");
		int32 n = settle_tails(lfirst_oid(lc));

		if (n == 0)
			bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
		settled += n;
	}
	PG_RETURN_INT32(settled);
}
