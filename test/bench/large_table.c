/*
 * An Iceberg table with very many data files, for tests and measurements of planning.
 *
 *     large_table DIR [files=N] [manifests=N] [version=1|2|3] [columns=N] [rows=N] [real=N]
 *                     [deletes=none|position|equality|vector] [commits=N] [rewrite=N] [claims=N]
 *                     [outside=DIR]
 *
 * Writes DIR/metadata and DIR/data. Row number n is in file n / rows; its columns:
 *
 *   id      n
 *   spread  a number that no other row has; files are in random order by it
 *   seven   n % 7: every file has all of them
 *   word    'word ' and n in ten digits
 *   c4 ...  n + 4, texts like word for every third
 *   day     the partition: file / (files / 50), in no file, as with Hive's tables
 *
 * The manifests tell bounds and counts of all but `day`. Every real-th data file exists (0 = none),
 * and so do its deletes: with deletes=, of each file among the first tenth the row `rows` * file +
 * 1 is deleted. Position delete files are of 100 data files or of one, in turns; equality delete
 * files (by id) of a day; vectors of one file.
 *
 * With outside=DIR, delete files are below DIR instead.
 *
 * With commits=, DIR/next/v2.metadata.json and so on are later versions, each with `rewrite` of the
 * manifests written anew; whoever moves them to DIR/metadata commits.
 *
 * With claims=, the list names so many more manifests, of 2^31 - 1 files each, which don't exist.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "unit/lib/parquet_make.h"
#include "codec/codec.h"
#include "io/publish.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

#define N_DAYS 50
#define DAY_ID 999
#define DELETE_PATH_ID 2147483546
#define DELETE_POS_ID 2147483545
#define POSITION_GROUP 100

typedef struct Large
{
	const char *dir;
	int64_t files, manifests, version, columns, rows, real, commits, rewrite, claims;
	const char *deletes, *outside;
	BfArena *arena;
	MakeManifest *data, *removed; /* manifests of data and, 0 or 1, of deletes */
} Large;

/* --- What runner.h promises, without a runner. ------------------------------------------------ */

BfError test_err;
static TestHost host;
static Large large;

void
test_register(const char *name, TestFunction fn)
{
	(void) name;
	(void) fn;
}

void
test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

const BfHost *
test_host(void)
{
	return &host.host;
}

BfArena *
test_arena(void)
{
	return large.arena;
}

const char *
test_dir(void)
{
	return large.dir;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void *
allocate(size_t n, size_t size)
{
	void *p = bf_arena_alloc_array(large.arena, n, size);

	if (p == NULL)
		test_fail(__FILE__, __LINE__, "out of memory");
	memset(p, 0, n * size);
	return p;
}

static bool
is_text(int64_t column)
{
	return column % 3 == 0 && column > 0;
}

/* Files in random order: a step that has no divisor in common with their number visits all. */
static int64_t
spread(int64_t file)
{
	int64_t step = large.files * 5 / 8 + 1;

	for (;; step++)
	{
		int64_t a = step, b = large.files;

		while (b != 0)
		{
			int64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return file * step % large.files;
	}
}

static int64_t
number_at(int64_t column, int64_t row)
{
	switch (column)
	{
		case 0: return row;
		case 1: return spread(row / large.rows) * large.rows + row % large.rows;
		case 2: return row % 7;
		default: return row + column;
	}
}

static const char *
text_at(int64_t column, int64_t row)
{
	return bf_arena_printf(large.arena, column == 3 ? "word %010lld" : "value %010lld of a column",
						   (long long) row);
}

static const char *
column_name(int64_t column)
{
	static const char *const names[] = {"id", "spread", "seven", "word"};

	return column < 4 ? names[column] : bf_arena_printf(large.arena, "c%d", (int) column);
}

static void
set_bound(BfValue *v, int64_t column, int64_t file, bool upper)
{
	int64_t row = file * large.rows + (upper ? large.rows - 1 : 0);

	*v = (BfValue){.type = is_text(column) ? BF_TYPE(STRING) : BF_TYPE(INT64)};
	if (is_text(column))
	{
		v->v.view.ptr = (const uint8_t *) text_at(column, row);
		v->v.view.len = (uint32_t) strlen((const char *) v->v.view.ptr);
	}
	else if (column == 2 && large.rows >= 7)
		v->v.i64 = upper ? 6 : 0;
	else
		v->v.i64 = number_at(column, row);
}

/* --- Data files ------------------------------------------------------------------------------- */

static int64_t
day_of(int64_t file)
{
	return large.files < N_DAYS ? 0 : file / (large.files / N_DAYS);
}

static const char *
data_path(int64_t file)
{
	return bf_arena_printf(
		large.arena,
		"%s/data/day=%02lld/%05lld-%lld-8b1f6f5e-6a0c-4f6b-9d57-2f5d6b8a9c01-00001"
		".parquet",
		large.dir, (long long) day_of(file), (long long) (file % 200), (long long) file);
}

static bool
is_real(int64_t file)
{
	return large.real > 0 && file % large.real == 0;
}

static int64_t
write_parquet(const char *path, const MadeColumn *columns, int64_t n_columns, int64_t n_rows)
{
	MadeFile file = {
		.columns = columns, .n_columns = (int32_t) n_columns, .n_rows = (int32_t) n_rows};
	BfBuffer b;
	int64_t n;

	bf_buffer_init(&b, test_host(), (size_t) 1 << 30);
	if (made_parquet(&b, &file, &test_err) != BF_OK ||
		bf_publish_bytes(large.arena, path, b.data, b.len, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
	n = (int64_t) b.len;
	bf_buffer_free(&b);
	return n;
}

static int64_t
write_data(int64_t file)
{
	MadeColumn *columns = allocate((size_t) large.columns, sizeof *columns);

	for (int64_t c = 0; c < large.columns; c++)
	{
		int64_t *longs = allocate((size_t) large.rows, sizeof *longs);
		const char **texts = allocate((size_t) large.rows, sizeof *texts);

		for (int64_t i = 0; i < large.rows; i++)
			if (is_text(c))
				texts[i] = text_at(c, file * large.rows + i);
			else
				longs[i] = number_at(c, file * large.rows + i);
		columns[c] = (MadeColumn){.name = column_name(c), .id = (int32_t) c + 1};
		if (is_text(c))
			columns[c].texts = texts;
		else
			columns[c].longs = longs;
	}
	return write_parquet(data_path(file), columns, large.columns, large.rows);
}

static const BfValue *
day_value(int64_t file)
{
	BfValue *day = allocate(1, sizeof *day);

	*day = (BfValue){.type = BF_TYPE(INT64)};
	day->v.i64 = day_of(file);
	return day;
}

static MakeFile
data_file(int64_t file)
{
	MakeColumn *columns = allocate((size_t) large.columns, sizeof *columns);

	for (int64_t c = 0; c < large.columns; c++)
	{
		BfValue *bounds = allocate(2, sizeof *bounds);

		set_bound(&bounds[0], c, file, false);
		set_bound(&bounds[1], c, file, true);
		columns[c] = (MakeColumn){(int32_t) c + 1, &bounds[0], &bounds[1], large.rows, 0, -1};
	}
	return (MakeFile){.status = BF_ICE_ADDED,
					  .path = data_path(file),
					  .sequence = large.version == 1 ? 0 : 1,
					  .rows = large.rows,
					  .size = is_real(file) ? write_data(file) : 1 << 20,
					  .n_partition = 1,
					  .partition = day_value(file),
					  .n_columns = (int32_t) large.columns,
					  .columns = columns};
}

static MakeManifest
data_manifest(int64_t number)
{
	int64_t first = number * large.files / large.manifests;
	int64_t n = (number + 1) * large.files / large.manifests - first;
	MakeFile *files = allocate((size_t) n, sizeof *files);

	for (int64_t i = 0; i < n; i++)
		files[i] = data_file(first + i);
	return (MakeManifest){.name = bf_arena_printf(large.arena, "m%05d.avro", (int) number),
						  .sequence = large.version == 1 ? 0 : 1,
						  .snapshot_id = 1,
						  .first_row_id = large.version < 3 ? 0 : first * large.rows + 1,
						  .n_files = (int32_t) n,
						  .files = files};
}

/* --- Deletes ---------------------------------------------------------------------------------- */

static const char *
delete_path(const char *kind, int64_t first, const char *suffix)
{
	return bf_arena_printf(large.arena, "%s/data/day=%02lld/%s-%lld.%s",
						   large.outside != NULL ? large.outside : large.dir,
						   (long long) day_of(first), kind, (long long) first, suffix);
}

static MakeFile
delete_file(BfIceContent content, const char *path, int64_t first, int64_t rows)
{
	return (MakeFile){.status = BF_ICE_ADDED,
					  .content = content,
					  .path = path,
					  .sequence = 2,
					  .rows = rows,
					  .size = 1 << 10,
					  .n_partition = 1,
					  .partition = day_value(first)};
}

static MakeFile
position_deletes(int64_t first, int64_t n)
{
	MakeFile f =
		delete_file(BF_ICE_POSITION_DELETES, delete_path("pos", first, "parquet"), first, n);
	MakeColumn *column = allocate(1, sizeof *column);
	BfValue *bounds = allocate(2, sizeof *bounds);
	const char **paths = allocate((size_t) n, sizeof *paths);
	int64_t *positions = allocate((size_t) n, sizeof *positions);
	bool real = false;

	for (int64_t i = 0; i < n; i++)
	{
		paths[i] = data_path(first + i);
		positions[i] = 1;
		real |= is_real(first + i);
	}
	/* Bounds are those of sorted texts: of one file alone they are its path. */
	for (int k = 0; k < 2; k++)
	{
		const char *path = paths[0];

		for (int64_t i = 0; i < n; i++)
			if (k == 0 ? strcmp(paths[i], path) < 0 : strcmp(paths[i], path) > 0)
				path = paths[i];
		bounds[k] = (BfValue){.type = BF_TYPE(STRING)};
		bounds[k].v.view = (BfView){(const uint8_t *) path, (uint32_t) strlen(path)};
	}
	*column = (MakeColumn){DELETE_PATH_ID, &bounds[0], &bounds[1], n, 0, -1};
	f.columns = column;
	f.n_columns = 1;
	if (real)
		f.size = write_parquet(
			f.path,
			(MadeColumn[]){{.name = "file_path", .id = DELETE_PATH_ID, .texts = paths},
						   {.name = "pos", .id = DELETE_POS_ID, .longs = positions}},
			2, n);
	return f;
}

static MakeFile
equality_deletes(int64_t first, int64_t n)
{
	static const int32_t ids[] = {1};
	MakeFile f =
		delete_file(BF_ICE_EQUALITY_DELETES, delete_path("eq", first, "parquet"), first, n);
	int64_t *rows = allocate((size_t) n, sizeof *rows);

	for (int64_t i = 0; i < n; i++)
		rows[i] = (first + i) * large.rows + 1;
	f.equality_ids = ids;
	f.n_equality_ids = 1;
	if (large.real > 0)
		f.size = write_parquet(f.path, &(MadeColumn){.name = "id", .id = 1, .longs = rows}, 1, n);
	return f;
}

static void
put_be32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t) (v >> (24 - 8 * i));
}

/* Row 1 as a deletion vector behind the magic of a Puffin file. */
static MakeFile
deletion_vector(int64_t file)
{
	static const uint8_t bitmap[] = {
		0xd1, 0xd3, 0x39, 0x64,				/* magic */
		1,	  0,	0,	  0,	0, 0, 0, 0, /* one bitmap of 32 bits */
		0,	  0,	0,	  0,				/* its upper half */
		0x3a, 0x30, 0,	  0,	1, 0, 0, 0, /* without runs, one container */
		0,	  0,	0,	  0,				/* key 0, one value */
		16,	  0,	0,	  0,	1, 0,		/* at offset 16: 1 */
	};
	MakeFile f = delete_file(BF_ICE_POSITION_DELETES, delete_path("dv", file, "puffin"), file, 1);
	uint8_t bytes[4 + 4 + sizeof bitmap + 4] = "PFA1";

	put_be32(bytes + 4, sizeof bitmap);
	memcpy(bytes + 8, bitmap, sizeof bitmap);
	put_be32(bytes + 8 + sizeof bitmap, bf_crc32(bitmap, sizeof bitmap));
	f.format = "PUFFIN";
	f.referenced = data_path(file);
	f.offset = 4;
	f.length = sizeof bytes - 4;
	f.size = sizeof bytes;
	if (is_real(file) &&
		bf_publish_bytes(large.arena, f.path, bytes, sizeof bytes, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
	return f;
}

static MakeManifest *
delete_manifest(void)
{
	MakeManifest *m = allocate(1, sizeof *m);
	int64_t n = large.files / 10;
	MakeFile *files = allocate((size_t) n, sizeof *files);
	int32_t count = 0;

	for (int64_t file = 0; file < n;)
	{
		int64_t same = 1;

		while (file + same < n && day_of(file + same) == day_of(file))
			same++;
		if (strcmp(large.deletes, "vector") == 0)
			same = 1;
		else if (strcmp(large.deletes, "position") == 0)
			same = count % 2 == 0 || same < POSITION_GROUP ? 1 : POSITION_GROUP;
		files[count++] = strcmp(large.deletes, "vector") == 0	  ? deletion_vector(file)
						 : strcmp(large.deletes, "position") == 0 ? position_deletes(file, same)
																  : equality_deletes(file, same);
		file += same;
	}
	*m = (MakeManifest){.name = "deletes.avro",
						.deletes = true,
						.sequence = 2,
						.snapshot_id = 1,
						.n_files = count,
						.files = files};
	return m;
}

/* --- The table -------------------------------------------------------------------------------- */

static const char *
table_schemas(void)
{
	const char *fields = bf_arena_printf(
		large.arena, "{\"id\":%d,\"name\":\"day\",\"type\":\"long\",\"required\":false}", DAY_ID);

	for (int64_t c = large.columns; c-- > 0;)
		fields = bf_arena_printf(
			large.arena, "{\"id\":%d,\"name\":\"%s\",\"type\":\"%s\",\"required\":false},%s",
			(int) c + 1, column_name(c), is_text(c) ? "string" : "long", fields);
	return bf_arena_printf(large.arena, "[{\"schema-id\":0,\"type\":\"struct\",\"fields\":[%s]}]",
						   fields);
}

static void
write_version(int64_t version)
{
	int64_t n = large.manifests + (large.removed != NULL) + large.claims;
	MakeManifest **manifests = allocate((size_t) n, sizeof *manifests);
	MakeSnapshot snapshot = {.id = version,
							 .sequence = 2,
							 .timestamp_ms = version,
							 .schema_id = 0,
							 .n_manifests = (int32_t) n,
							 .manifests = manifests};
	MakeTable table = {.dir = large.dir,
					   .version = (int32_t) large.version,
					   .schemas = table_schemas(),
					   .specs = bf_arena_printf(large.arena,
												"[{\"spec-id\":0,\"fields\":[{\"name\":\"day\","
												"\"transform\":\"identity\",\"source-id\":%d,"
												"\"field-id\":1000}]}]",
												DAY_ID),
					   .current = version,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};

	snapshot.summary = bf_arena_printf(large.arena, ",\"total-records\":\"%lld\"",
									   (long long) (large.files * large.rows));
	for (int64_t i = 0; i < large.manifests; i++)
	{
		manifests[i] = &large.data[i];
		if (version > 1 && (i - version * large.rewrite) % large.manifests < large.rewrite &&
			(i - version * large.rewrite) % large.manifests >= 0)
			manifests[i]->path = NULL;
	}
	if (large.removed != NULL)
		manifests[large.manifests] = large.removed;
	for (int64_t i = n - large.claims; i < n; i++)
	{
		manifests[i] = allocate(1, sizeof *manifests[i]);
		*manifests[i] =
			(MakeManifest){.path = bf_arena_printf(large.arena, "%s/metadata/claimed-%09lld.avro",
												   large.dir, (long long) i),
						   .length = 1000,
						   .sequence = 1,
						   .snapshot_id = 1,
						   .claimed = INT32_MAX};
	}
	make_table(&table);
	if (version > 1 && rename(bf_arena_printf(large.arena, "%s/metadata/v%d.metadata.json",
											  large.dir, (int) version),
							  bf_arena_printf(large.arena, "%s/next/v%d.metadata.json", large.dir,
											  (int) version)) != 0)
		test_fail(__FILE__, __LINE__, "v%d.metadata.json cannot be moved", (int) version);
}

static void
parse(const char *arg)
{
	static const struct
	{
		const char *name;
		int64_t *value;
	} numbers[] = {{"files=", &large.files},	 {"manifests=", &large.manifests},
				   {"version=", &large.version}, {"columns=", &large.columns},
				   {"rows=", &large.rows},		 {"real=", &large.real},
				   {"commits=", &large.commits}, {"rewrite=", &large.rewrite},
				   {"claims=", &large.claims}};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strncmp(arg, numbers[i].name, strlen(numbers[i].name)) == 0)
		{
			*numbers[i].value = strtoll(arg + strlen(numbers[i].name), NULL, 10);
			return;
		}
	if (strncmp(arg, "outside=", 8) == 0)
	{
		large.outside = arg + 8;
		return;
	}
	if (strncmp(arg, "deletes=", 8) != 0)
		test_fail(__FILE__, __LINE__, "%s: what is that?", arg);
	large.deletes = arg + 8;
}

int
main(int argc, char **argv)
{
	test_host_init(&host);
	large = (Large){.files = 100000,
					.manifests = 100,
					.version = 2,
					.columns = 12,
					.rows = 10,
					.real = 0,
					.commits = 0,
					.rewrite = 1,
					.deletes = "none"};
	large.arena = bf_arena_new(test_host(), "large table", (size_t) 16 << 30);
	if (argc < 2)
		test_fail(__FILE__, __LINE__, "usage: %s DIR [name=value ...]", argv[0]);
	large.dir = argv[1];
	for (int i = 2; i < argc; i++)
		parse(argv[i]);
	(void) mkdir(large.dir, 0777);
	if (large.commits > 0)
		(void) mkdir(bf_arena_printf(large.arena, "%s/next", large.dir), 0777);
	large.data = allocate((size_t) large.manifests, sizeof *large.data);
	for (int64_t i = 0; i < large.manifests; i++)
		large.data[i] = data_manifest(i);
	if (strcmp(large.deletes, "none") != 0)
		large.removed = delete_manifest();
	for (int64_t version = 1; version <= large.commits + 1; version++)
		write_version(version);
	bf_arena_free(large.arena);
	return 0;
}
