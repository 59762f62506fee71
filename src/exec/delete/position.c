/*
 * exec/delete/position.c: position delete files: which rows of which data files they name.
 */
#include "exec/delete/internal.h"

#define FIELD_FILE_PATH 2147483546
#define FIELD_POS 2147483545

/* The path is one of a file that the table does not have. */
#define PATH_UNKNOWN (-1)

typedef struct PositionFile
{
	BfMap written; /* path as it stands in the file -> index of its set, PATH_UNKNOWN */
	BfMap local;   /* local path -> index */
	int32_t n;
	int32_t capacity;
	BfRows **sets;
} PositionFile;

static BfStatus
new_set(BfArena *a, PositionFile *f, BfError *err)
{
	BfRows **more;

	BF_ASSERT(f->n >= 0 && f->n <= f->capacity);
	if (f->n == f->capacity)
	{
		int32_t capacity = f->capacity == 0 ? 4 : 2 * f->capacity;

		if (capacity > INT32_MAX / 2)
			BF_FAIL(err, BF_ERR_LIMIT, "too many paths");
		BF_NEW(a, more, capacity, err);
		if (f->n > 0)
			memcpy(more, f->sets, (size_t) f->n * sizeof *more);
		f->sets = more;
		f->capacity = capacity;
	}
	BF_NEW(a, f->sets[f->n], 1, err);
	bf_rows_init(f->sets[f->n], a);
	f->n++;
	return BF_OK;
}

static BfStatus
put_path(BfMap *m, const char *path, int64_t fresh, int64_t **value, BfError *err)
{
	size_t n = strlen(path);

	return bf_map_put(m, path, n, bf_map_hash(m, path, n), fresh, value, err);
}

/* The set of a path that has not been met before. */
static BfStatus
resolve_path(BfDeleteCache *c, PositionFile *f, BfView path, BfArena *scratch, int64_t *index,
			 BfError *err)
{
	const char *local = NULL;
	int64_t *known;
	char *text;

	*index = PATH_UNKNOWN;
	if (memchr(path.ptr, 0, path.len) != NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "a path has a zero byte");
	BF_TRY_PTR(scratch, text, bf_arena_strndup(scratch, (const char *) path.ptr, path.len), err);
	BF_TRY(c->options.resolve(c->options.arg, scratch, text, &local, err));
	if (local == NULL)
		return BF_OK;
	BF_TRY(put_path(&f->local, local, PATH_UNKNOWN, &known, err));
	if (*known == PATH_UNKNOWN)
	{
		BF_TRY(new_set(c->arena, f, err));
		*known = f->n - 1;
	}
	*index = *known;
	return BF_OK;
}

static BfStatus
set_of_path(BfDeleteCache *c, PositionFile *f, BfView path, BfArena *scratch, BfRows **out,
			BfError *err)
{
	uint64_t hash = bf_map_hash(&f->written, path.ptr, path.len);
	const int64_t *known = bf_map_find(&f->written, path.ptr, path.len, hash);
	int64_t index;

	if (known != NULL)
		index = *known;
	else
	{
		BfArenaMark mark = bf_arena_mark(scratch);
		int64_t *ignored;

		if (path.len == 0)
			BF_FAIL(err, BF_ERR_CORRUPT, "a path is empty");
		BF_TRY(resolve_path(c, f, path, scratch, &index, err));
		bf_arena_rewind(scratch, mark);
		BF_TRY(bf_map_put(&f->written, path.ptr, path.len, hash, index, &ignored, err));
	}
	BF_ASSERT(index == PATH_UNKNOWN || (index >= 0 && index < f->n));
	*out = index == PATH_UNKNOWN ? NULL : f->sets[index];
	return BF_OK;
}

static bool
same_bytes(BfView a, BfView b)
{
	return a.len == b.len && (a.ptr == b.ptr || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Rows of the same path mostly follow each other. */
static BfStatus
take_batch(BfDeleteCache *c, PositionFile *f, const BfBatch *b, int64_t row, BfArena *scratch,
		   BfError *err)
{
	BfView last = {NULL, 0};
	BfRows *set = NULL;
	bool first = true;

	BF_ASSERT(b->n_cols == 2 && b->selected == NULL);
	BF_ASSERT(b->cols[0].storage == BF_STORE_VIEW && b->cols[1].storage == BF_STORE_I64);
	for (int32_t i = 0; i < b->n_rows; i++)
	{
		BfValue path;
		BfValue pos;

		if (!bf_vector_get(&b->cols[0], i, &path))
			continue;
		if (!bf_vector_get(&b->cols[1], i, &pos))
			BF_FAIL(err, BF_ERR_CORRUPT, "row %lld has no position", (long long) (row + i));
		if (pos.v.i64 < 0)
			BF_FAIL(err, BF_ERR_CORRUPT, "row %lld has position %lld", (long long) (row + i),
					(long long) pos.v.i64);
		if (first || !same_bytes(path.v.view, last))
			BF_TRY(set_of_path(c, f, path.v.view, scratch, &set, err));
		first = false;
		last = path.v.view;
		if (set != NULL)
			BF_TRY(bf_rows_add(set, (uint64_t) pos.v.i64, err));
		c->counters.positions++;
	}
	return BF_OK;
}

static BfStatus
read_rows(BfDeleteCache *c, PositionFile *f, BfReader *reader, BfArena *scratch, BfError *err)
{
	int64_t row = 0;

	for (;;)
	{
		const BfBatch *b;

		BF_TRY(bf_check_cancel(bf_arena_host(c->arena), err));
		BF_TRY(reader->next(reader, &b, err));
		if (b == NULL)
			break;
		BF_TRY(take_batch(c, f, b, row, scratch, err));
		row += b->n_rows;
	}
	c->counters.files_read++;
	return BF_OK;
}

static BfStatus
read_file(BfDeleteCache *c, const BfDeleteSource *s, PositionFile *f, BfError *err)
{
	static const char *const path_names[] = {"file_path"};
	static const char *const pos_names[] = {"pos"};
	static const BfField fields[] = {
		{.id = FIELD_FILE_PATH,
		 .name = "file_path",
		 .type = {.kind = BF_KIND_STRING},
		 .required = true,
		 .aliases = path_names,
		 .n_aliases = 1,
		 .mapped = true},
		{.id = FIELD_POS,
		 .name = "pos",
		 .type = {.kind = BF_KIND_INT64},
		 .required = true,
		 .aliases = pos_names,
		 .n_aliases = 1,
		 .mapped = true},
	};
	BfArena *scratch = NULL;
	BfReader *reader;
	BfStatus status;

	bf_map_init(&f->written, c->arena, c->seed);
	bf_map_init(&f->local, c->arena, c->seed);
	status = bfi_delete_open(c, s, fields, 2, &scratch, &reader, NULL, err);
	if (status == BF_OK)
		status = read_rows(c, f, reader, scratch, err);
	bf_arena_free(scratch);
	return status;
}

/* The file, read when it is asked for the first time. */
static BfStatus
find_file(BfDeleteCache *c, const BfDeleteSource *s, PositionFile **out, BfError *err)
{
	size_t n = strlen(s->path);
	const int64_t *known =
		bf_map_find(&c->positions, s->path, n, bf_map_hash(&c->positions, s->path, n));
	int64_t *ignored;

	if (known != NULL)
	{
		*out = (PositionFile *) (intptr_t) *known;
		return BF_OK;
	}
	BF_NEW(c->arena, *out, 1, err);
	BF_TRY(read_file(c, s, *out, err));
	return put_path(&c->positions, s->path, (int64_t) (intptr_t) *out, &ignored, err);
}

BfStatus
bfi_positions(BfDeleteCache *c, const BfDeleteSource *s, const char *data_path, BfRows **out,
			  BfError *err)
{
	size_t n = strlen(data_path);
	const int64_t *index;
	PositionFile *f;

	if (find_file(c, s, &f, err) != BF_OK)
		return bf_error_object(err, s->path);
	index = bf_map_find(&f->local, data_path, n, bf_map_hash(&f->local, data_path, n));
	BF_ASSERT(index == NULL || (*index >= 0 && *index < f->n));
	*out = index == NULL ? NULL : f->sets[*index];
	return BF_OK;
}
