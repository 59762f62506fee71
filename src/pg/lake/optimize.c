/*
 * pg/lake/optimize.c: bifang.optimize(): rows that the lake names in the log become Parquet.
 *
 *   inputs = logical files of the bifang branch, minus what main covers as Parquet already
 *   one partition after the other, in the order of ledgers and entries:
 *       rows of its inputs --> <table>/data/bifang-<uuid>.parquet, of about a wanted size
 *   bf_ice_commit_moved: main gets the files, the branch loses the inputs; the pointer moves
 *
 * All of it belongs to the caller's transaction; when that is rolled back the files go, and after a
 * crash they are garbage that nothing names. The commit asks for nothing but its inputs, so what
 * others have committed meanwhile stays; another engine that moves the pointer in between makes us
 * write metadata again, and no rows. Every engine that reads main sees the rows from then on.
 *
 * Rows of a ledger that can't be read stay where they are; those of others move.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/ascii.h"
#include "base/text.h"
#include "exec/read/ledger_reader.h"
#include "exec/write/data_files.h"
#include "iceberg/commit.h"
#include "iceberg/file_metrics.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/tail.h"
#include "pg/lake/damage.h"
#include "pg/lake/lake.h"
#include "pg/lake/partitions.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"
#include "pg/server/progress.h"
#include "pg/server/remove.h"
#include "vec/key.h"

PG_FUNCTION_INFO_V1(bifang_optimize);

#define COMMIT_TRIES 10
#define TARGET_BYTES ((int64) 128 << 20)
#define TARGET_BYTES_MAX ((int64) 1 << 40)
#define KEY_BYTES_MAX ((size_t) 1 << 20)
/* Memory of the writer is that of a row group. */
#define ROW_GROUP_BYTES_MIN ((int64) 1 << 16)
#define ROW_GROUP_BYTES_MAX ((int64) 256 << 20)

/* A logical file, what is left of it. */
typedef struct Input
{
	const BfIceDataFile *file;
	const BifangLedger *ledger;
	BfRangeSet ranges;
	BfView partition; /* spec and values as bytes (vec/key.h) */
} Input;

typedef struct Result
{
	int64 snapshot_id; /* -1 = there was nothing to do */
	int32 files;
	int64 rows;
	int64 bytes;
} Result;

typedef struct Optimize
{
	MemoryContext cxt;
	BfArena *arena;
	Snapshot snap;
	BifangTable t;
	BfParquetWriteOptions parquet;
	int64 target_bytes;
	BfIceMetricsColumn *columns; /* that manifests tell of */
	int32_t n_columns;
	Input *inputs;
	int n_inputs;
	List *damaged; /* const BifangLedger *: passed over */
	BfIceNewFile *files;
	int n_files;
	int n_files_max;
	const char **moved; /* names of the inputs whose rows are in the files */
	int n_moved;
	int64 rows;
	int64 bytes;
} Optimize;

/* What the table asks for ---------------------------------------------------------------------- */

/* The property's number; `usual` where it is none, or none that can be had. */
static int64
number_property(const BfIceMetadata *m, const char *key, int64 min, int64 max, int64 usual)
{
	const char *text = bf_ice_property(m, key);
	int64_t value;

	if (text == NULL || text[0] == '\0' ||
		bf_ascii_number(text, strlen(text), INT64_MAX, &value) != strlen(text) || value < min ||
		value > max)
		return usual;
	return value;
}

static void
choose_codec(const BfIceMetadata *m, BfParquetWriteOptions *o)
{
	static const struct
	{
		const char *name;
		BfCodec codec;
		int level_max; /* 0 = it has none */
	} codecs[] = {{"zstd", BF_CODEC_ZSTD, 22},
				  {"gzip", BF_CODEC_GZIP, 9},
				  {"snappy", BF_CODEC_SNAPPY, 0},
				  {"lz4", BF_CODEC_LZ4_RAW, 0},
				  {"uncompressed", BF_CODEC_NONE, 0}};
	const char *name = bf_ice_property(m, "write.parquet.compression-codec");

	for (int i = 0; i < (int) lengthof(codecs); i++)
		if (name != NULL ? pg_strcasecmp(name, codecs[i].name) == 0 : codecs[i].codec == o->codec)
		{
			if (codecs[i].codec != o->codec)
				o->level = 0;
			o->codec = codecs[i].codec;
			if (codecs[i].level_max > 0)
				o->level = (int) number_property(m, "write.parquet.compression-level", 1,
												 codecs[i].level_max, o->level);
		}
}

/* https://iceberg.apache.org/docs/latest/configuration/#write-properties */
static void
choose_options(Optimize *o)
{
	const BfIceMetadata *m = o->t.ice->metadata;

	o->parquet = bf_parquet_write_defaults;
	choose_codec(m, &o->parquet);
	o->parquet.row_group_bytes =
		(size_t) number_property(m, "write.parquet.row-group-size-bytes", ROW_GROUP_BYTES_MIN,
								 ROW_GROUP_BYTES_MAX, (int64) o->parquet.row_group_bytes);
	o->target_bytes =
		number_property(m, "write.target-file-size-bytes", 1, TARGET_BYTES_MAX, TARGET_BYTES);
}

/* Inputs --------------------------------------------------------------------------------------- */

static int
compare_ids(const void *a, const void *b)
{
	const BifangLedger *const *x = a;
	const BifangLedger *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static int
compare_inputs(const void *a, const void *b)
{
	const Input *x = a;
	const Input *y = b;
	uint32_t common = Min(x->partition.len, y->partition.len);
	int order = memcmp(x->partition.ptr, y->partition.ptr, common);

	CHECK_FOR_INTERRUPTS();
	if (order == 0)
		order = (x->partition.len > y->partition.len) - (x->partition.len < y->partition.len);
	if (order == 0)
		order = (x->ledger->id > y->ledger->id) - (x->ledger->id < y->ledger->id);
	if (order == 0)
		order = (x->ranges.ranges[0].first > y->ranges.ranges[0].first) -
				(x->ranges.ranges[0].first < y->ranges.ranges[0].first);
	return order;
}

static bool
same_partition(const Input *a, const Input *b)
{
	return a->partition.len == b->partition.len &&
		   memcmp(a->partition.ptr, b->partition.ptr, a->partition.len) == 0;
}

static BfStatus
partition_key(Optimize *o, BfBuffer *key, const BfIceDataFile *f, BfView *out, BfError *err)
{
	key->len = 0;
	BF_TRY(bf_buffer_append(key, &f->spec_id, sizeof f->spec_id, err));
	for (int32_t i = 0; i < f->n_partition; i++)
		BF_TRY(bf_key_value(key, &f->partition[i], BF_KEY_ZERO_SIGNED, err));
	out->len = (uint32_t) key->len;
	BF_TRY_PTR(o->arena, out->ptr, bf_arena_memdup(o->arena, key->data, key->len), err);
	return BF_OK;
}

static const BifangLedger *
find_ledger(const BifangLedger **ledgers, int n, const BfIceDataFile *f)
{
	BifangLedger wanted = {.id = f->log.ledger_id};
	const BifangLedger *key = &wanted;
	const BifangLedger **found =
		n == 0 ? NULL : bsearch(&key, ledgers, (size_t) n, sizeof *ledgers, compare_ids);

	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("logical file \"%s\" is of a ledger that this database does not have",
						bifang_shown(f->path)),
				 errhint("bifang.check() tells what else is wrong with the table.")));
	return *found;
}

static void
collect_inputs(Optimize *o)
{
	const BfIcePlan *plan = bifang_lake_open(o->cxt, o->t.row.metadata_location)->plan;
	List *list = bifang_catalog_ledgers(o->t.row.id, o->snap);
	int n = list_length(list);
	const BifangLedger **ledgers = palloc(sizeof *ledgers * (Size) Max(n, 1));
	BfBuffer *key;
	BfError err = {0};

	for (int i = 0; i < n; i++)
		ledgers[i] = list_nth(list, i);
	qsort(ledgers, (size_t) n, sizeof *ledgers, compare_ids);
	BIFANG_CHECK(bf_buffer_new(o->arena, KEY_BYTES_MAX, &key, &err), &err);
	o->inputs = MemoryContextAllocHuge(o->cxt, sizeof *o->inputs * (Size) Max(plan->n_files, 1));
	for (int32_t i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];
		Input *input = &o->inputs[o->n_inputs];

		CHECK_FOR_INTERRUPTS();
		if (!f->logical)
			continue;
		input->file = f;
		BIFANG_CHECK(bf_rangeset_subtract(o->arena, &f->log.ranges,
										  bf_coverage_of(&plan->covered_parquet, f->log.ledger_id),
										  &input->ranges, &err),
					 &err);
		if (input->ranges.n == 0)
			continue;
		input->ledger = find_ledger(ledgers, n, f);
		BIFANG_CHECK(partition_key(o, key, f, &input->partition, &err), &err);
		o->n_inputs++;
	}
	if (o->n_inputs > 1)
		qsort(o->inputs, (size_t) o->n_inputs, sizeof *o->inputs, compare_inputs);
}

/* Rows ----------------------------------------------------------------------------------------- */

typedef struct Names
{
	BfArena *arena;
	const char *dir;
} Names;

static BfStatus
next_name(void *arg, const char **path, BfError *err)
{
	const Names *n = arg;
	const BfHost *host = bf_arena_host(n->arena);
	uint8_t random[16];
	char uuid[BF_UUID_TEXT_BYTES];

	BF_TRY(host->random(host, random, sizeof random, err));
	random[6] = (uint8_t) ((random[6] & 0x0f) | 0x40);
	random[8] = (uint8_t) ((random[8] & 0x3f) | 0x80);
	bf_uuid_text(uuid, random);
	BF_TRY_PTR(n->arena, *path,
			   bf_arena_printf(n->arena,
							   "%s/data/" BIFANG_DATA_FILE_PREFIX "%s" BIFANG_DATA_FILE_SUFFIX,
							   n->dir, uuid),
			   err);
	return BF_OK;
}

/* Files that have come are the transaction's before anything else can fail. */
static void
watch_files(const BfDataFiles *d, int32_t *n)
{
	int32_t now;
	const BfDataFile *files = bf_data_files_all(d, &now);

	for (; *n < now; ++*n)
		bifang_remove_on_abort(files[*n].path, 1);
}

static BfStatus
copy_rows(const Optimize *o, const Input *input, const BfProjection *projection, BfDataFiles *d,
		  int32_t *n_files, BfError *err)
{
	const BifangLedger *l = input->ledger;
	bool offloaded = l->state == BIFANG_LEDGER_OFFLOADED;
	BfArena *arena = bifang_arena(CurrentMemoryContext, "rows", BIFANG_ARENA_MAX_SCAN);
	BfReader *reader;
	const BfBatch *batch = NULL;
	BfStatus status = bf_exec_ledger_reader(arena, offloaded ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
											offloaded ? l->offload_path : l->live_dir,
											bifang_ledger_tail(l, o->snap), &input->ranges,
											projection, NULL, &reader, err);

	while (status == BF_OK)
	{
		CHECK_FOR_INTERRUPTS();
		status = reader->next(reader, &batch, err);
		if (status != BF_OK || batch == NULL)
			break;
		status = bf_data_files_write(d, batch, err);
		watch_files(d, n_files);
	}
	bifang_arena_free(arena);
	return status;
}

static BfProjection
whole_schema(const BfSchema *schema)
{
	int32_t *fields = palloc(sizeof *fields * (Size) schema->n_fields);

	for (int32_t i = 0; i < schema->n_fields; i++)
		fields[i] = i;
	return (BfProjection){.schema = schema, .fields = fields, .n_fields = schema->n_fields};
}

/* What Parquet's own statistics have is what manifests want to know. */
static void
bounds_of_column(const BfSchema *schema, const BfIceMetricsColumn *column,
				 const BfParquetWritten *written, BfBounds *out)
{
	bf_ice_metrics_begin(schema, column, out);
	for (int32_t i = 0; i < written->n_columns; i++)
	{
		const BfParquetColumnMetrics *m = &written->columns[i];

		if (m->field_id != column->field_id || m->repeated || !bf_type_equal(m->type, out->type))
			continue;
		out->values = m->values;
		out->nulls = m->nulls;
		out->nans = m->nans;
		out->has = m->has_lower && m->has_upper;
		if (out->has)
		{
			out->min = m->lower;
			out->max = m->upper;
		}
	}
}

static void
add_file(Optimize *o, const Input *input, const BfDataFile *file)
{
	BfBounds *bounds = palloc0(sizeof *bounds * (Size) Max(o->n_columns, 1));
	int64_t *splits = palloc(sizeof *splits * (Size) file->is.n_row_groups);
	BfIceNewFile *f;
	BfError err = {0};

	if (o->n_files == o->n_files_max)
	{
		o->n_files_max = Max(16, 2 * o->n_files_max);
		o->files = o->files == NULL ? palloc(sizeof *f * (Size) o->n_files_max)
									: repalloc_huge(o->files, sizeof *f * (Size) o->n_files_max);
	}
	Assert(file->is.rows > 0 && file->is.n_row_groups > 0);
	memcpy(splits, file->is.splits, sizeof *splits * (Size) file->is.n_row_groups);
	f = &o->files[o->n_files++];
	*f = (BfIceNewFile){.path = pstrdup(file->path),
						.spec_id = input->file->spec_id,
						.n_partition = input->file->n_partition,
						.partition = input->file->partition,
						.record_count = file->is.rows,
						.file_size = file->is.bytes,
						.n_splits = file->is.n_row_groups,
						.splits = splits};
	for (int32_t i = 0; i < o->n_columns; i++)
		bounds_of_column(o->t.ice->schema, &o->columns[i], &file->is, &bounds[i]);
	BIFANG_CHECK(
		bf_ice_metrics_write(o->arena, o->columns, bounds, o->n_columns, &f->metrics, &err), &err);
	pfree(bounds);
	o->rows += file->is.rows;
	o->bytes += file->is.bytes;
}

/* Files of a try that is given up. They were nobody's yet. */
static void
remove_files(const BfDataFiles *d)
{
	const BfHost *host = bifang_host();
	int32_t n;
	const BfDataFile *files = bf_data_files_all(d, &n);
	BfError err = {0};

	for (int32_t i = 0; i < n; i++)
		BIFANG_CHECK(host->unlink(host, files[i].path, &err), &err);
}

/* Writes the rows of one partition, but for those of damaged ledgers. False: one more was found to
 * be damaged, and nothing was written. */
static bool
write_partition(Optimize *o, const Input *inputs, int n)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "partition", BIFANG_ARENA_MAX_SCAN);
	const BfProjection projection = whole_schema(o->t.ice->schema);
	Names names = {.arena = arena, .dir = o->t.ice->location.found};
	const BfDataFilesWhat what = {.schema = o->t.ice->schema,
								  .parquet = &o->parquet,
								  .target_bytes = o->target_bytes,
								  .name = next_name,
								  .arg = &names};
	BfDataFiles *d;
	const BfDataFile *files;
	int32_t n_files = 0;
	int first_moved = o->n_moved;
	BfError err = {0};

	Assert(n > 0 && same_partition(&inputs[0], &inputs[n - 1]));
	BIFANG_CHECK(bf_data_files_new(arena, &what, &d, &err), &err);
	for (int i = 0; i < n; i++)
	{
		if (list_member_ptr(o->damaged, inputs[i].ledger))
			continue;
		if (copy_rows(o, &inputs[i], &projection, d, &n_files, &err) != BF_OK)
		{
			if (!bifang_ledger_is_damaged(inputs[i].ledger, &err))
				bifang_report(&err);
			bifang_ledger_passed_over(inputs[i].ledger, &err, "is not optimized");
			o->damaged = lappend(o->damaged, unconstify(BifangLedger *, inputs[i].ledger));
			o->n_moved = first_moved;
			remove_files(d);
			bifang_arena_free(arena);
			return false;
		}
		o->moved[o->n_moved++] = inputs[i].file->path;
		bifang_progress_add(1, inputs[i].file->file_size);
	}
	BIFANG_CHECK(bf_data_files_end(d, &err), &err);
	watch_files(d, &n_files);
	files = bf_data_files_all(d, &n_files);
	for (int32_t i = 0; i < n_files; i++)
		add_file(o, inputs, &files[i]);
	bifang_arena_free(arena);
	return true;
}

static void
write_files(Optimize *o)
{
	int64 bytes = 0;
	int start = 0;

	for (int i = 0; i < o->n_inputs; i++)
		bytes += o->inputs[i].file->file_size;
	bifang_progress_phase(BIFANG_PHASE_PARQUET);
	bifang_progress_total(o->n_inputs, bytes);
	o->moved = MemoryContextAllocHuge(o->cxt, sizeof *o->moved * (Size) Max(o->n_inputs, 1));
	while (start < o->n_inputs)
	{
		int n = 1;

		CHECK_FOR_INTERRUPTS();
		while (start + n < o->n_inputs && same_partition(&o->inputs[start], &o->inputs[start + n]))
			n++;
		while (!write_partition(o, &o->inputs[start], n))
			CHECK_FOR_INTERRUPTS();
		start += n;
	}
	Assert(o->n_moved <= o->n_inputs && (o->n_files > 0) == (o->n_moved > 0));
}

/* The commit ----------------------------------------------------------------------------------- */

/* The branch is another one than that whose rows were read. */
static void
refuse_conflict(const Optimize *o, const BfError *err)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("lake table %s.%s changed while its rows were written", o->t.row.ns,
						   o->t.row.name),
					errdetail("%s", bifang_shown(err->text))));
}

static int64
commit_files(Optimize *o, Oid relid)
{
	for (int attempt = 0; attempt < COMMIT_TRIES; attempt++)
	{
		const char *metadata_path;
		int64_t snapshot_id;
		BfError err = {0};
		BfStatus status = bf_ice_commit_moved(o->arena, o->t.ice, o->files, o->n_files, o->moved,
											  o->n_moved, &metadata_path, &snapshot_id, &err);
		Snapshot snap;

		CHECK_FOR_INTERRUPTS();
		if (status == BF_ERR_CONFLICT)
			refuse_conflict(o, &err);
		BIFANG_CHECK(status, &err);
		bifang_remove_on_abort(metadata_path, 0);
		o->t.row.uuid = o->t.uuid;
		if (bifang_catalog_move_pointer(&o->t.row, metadata_path))
			return snapshot_id;
		snap = RegisterSnapshot(bifang_work_snapshot());
		bifang_table_open(relid, snap, o->cxt, &o->t);
		UnregisterSnapshot(snap);
	}
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("another engine changed the table in each of %d tries to commit",
						   COMMIT_TRIES)));
}

static void
optimize_table(Oid relid, int64 target_bytes, Result *result)
{
	Optimize o = {.cxt = CurrentMemoryContext};
	BifangJob job = {.kind = "optimize", .started_at = GetCurrentTimestamp()};
	BfError err = {0};

	o.snap = RegisterSnapshot(bifang_work_snapshot());
	bifang_table_open(relid, o.snap, o.cxt, &o.t);
	Assert(bifang_table_is_locked(o.t.row.id, BIFANG_TABLE_MAINTAIN));
	o.arena = bifang_arena(o.cxt, "optimize", BIFANG_ARENA_MAX_METADATA);
	BIFANG_CHECK(bf_ice_can_commit(o.t.ice, &err), &err);
	choose_options(&o);
	if (target_bytes > 0)
		o.target_bytes = target_bytes;
	BIFANG_CHECK(bf_ice_metrics_columns(o.arena, o.t.ice->metadata, &o.columns, &o.n_columns, &err),
				 &err);
	collect_inputs(&o);
	write_files(&o);
	*result = (Result){.snapshot_id = -1};
	if (o.n_files > 0)
	{
		bifang_progress_phase(BIFANG_PHASE_METADATA);
		*result = (Result){commit_files(&o, relid), o.n_files, o.rows, o.bytes};
		bifang_table_set_job(&o.t, &job);
		job.rows = o.rows;
		job.files = o.n_files;
		job.bytes = o.bytes;
		job.snapshot_id = result->snapshot_id;
		bifang_catalog_insert_job(&job);
	}
	UnregisterSnapshot(o.snap);
	CommandCounterIncrement();
}

/* Adds to a result of several tables: it has a snapshot when just one of them has a new one. */
static void
optimize_one(Oid relid, int64 target_bytes, Result *sum)
{
	int64 table_id = bifang_table_begin_work(relid, "bifang.optimize()");
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang optimize", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(cxt);
	Result one;

	bifang_progress_begin(BIFANG_COMMAND_OPTIMIZE, relid);
	optimize_table(relid, target_bytes, &one);
	bifang_progress_end();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(cxt);
	if (one.files == 0)
	{
		bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
		return;
	}
	Assert(one.snapshot_id > 0 && one.rows > 0 && one.bytes > 0);
	sum->snapshot_id = sum->files == 0 ? one.snapshot_id : -1;
	sum->files += one.files;
	sum->rows += one.rows;
	sum->bytes += one.bytes;
}

Datum
bifang_optimize(PG_FUNCTION_ARGS)
{
	Result result = {.snapshot_id = -1};
	int64 target_bytes = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
	List *tables;
	ListCell *lc;
	Datum values[4];
	bool nulls[4] = {false};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1) && (target_bytes < 1 || target_bytes > TARGET_BYTES_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("target_bytes must be between 1 and " INT64_FORMAT, TARGET_BYTES_MAX)));
	tables = bifang_tables_of(PG_GETARG_OID(0));
	foreach (lc, tables)
		optimize_one(lfirst_oid(lc), target_bytes, &result);
	values[0] = Int64GetDatum(result.snapshot_id);
	nulls[0] = result.snapshot_id < 0;
	values[1] = Int32GetDatum(result.files);
	values[2] = Int64GetDatum(result.rows);
	values[3] = Int64GetDatum(result.bytes);
	return bifang_lake_row(fcinfo, values, nulls);
}
