/*
 * Entries of a manifest, one by one or through the cache, made out of what the manifest says and
 * left out by indexes and the predicate.
 */
#include "base/map.h"
#include "iceberg/entry.h"

#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"
#include "iceberg/prune_internal.h"

/* Reserved field id of the path column in position delete files. */
#define DELETE_PATH_ID 2147483546
/* Entries to make room for at once. */
#define CAPACITY_FIRST 16
#define CAPACITY_HINT_MAX 65536

/* The same to the last bit: values that are merely equal may be written differently. */
static bool
same_value(const BfValue *a, const BfValue *b)
{
	BfStorage storage = bf_type_storage(a->type);
	size_t n = bf_storage_size(storage);

	if (!bf_type_equal(a->type, b->type) || a->is_null != b->is_null)
		return false;
	if (a->is_null)
		return true;
	if (storage == BF_STORE_VIEW)
		return a->v.view.len == b->v.view.len &&
			   (a->v.view.len == 0 || memcmp(a->v.view.ptr, b->v.view.ptr, a->v.view.len) == 0);
	return n > 0 && memcmp(&a->v, &b->v, n) == 0;
}

/* Files of one partition stand together in a manifest: they share the values of the one before. */
static BfStatus
copy_partition(BfArena *keep, const BfIceFile *from, const BfiEntry *before, BfiEntry *to,
			   BfError *err)
{
	bool same = before != NULL && before->n_partition == from->n_partition;

	BF_ASSERT(before == NULL || before->spec_id == from->spec_id);
	for (int32_t i = 0; same && i < from->n_partition; i++)
		same = same_value(&before->partition[i], &from->partition[i]);
	to->n_partition = from->n_partition;
	if (same)
	{
		to->partition = before->partition;
		return BF_OK;
	}
	BF_NEW_RAW(keep, to->partition, from->n_partition, err);
	for (int32_t i = 0; i < from->n_partition; i++)
	{
		BfValue *v = &to->partition[i];

		*v = from->partition[i];
		if (!v->is_null && bf_type_storage(v->type) == BF_STORE_VIEW)
			BF_TRY(bfi_copy_view(keep, v->v.view, &v->v.view, err));
	}
	return BF_OK;
}

static const BfIceBound *
find_bound(const BfIceBound *bounds, int32_t n, int32_t id)
{
	for (int32_t i = 0; i < n; i++)
		if (bounds[i].field_id == id)
			return &bounds[i];
	return NULL;
}

/* The local path of a file; as it is recorded where it is only told of. */
static BfStatus
resolve_file(const BfiEntries *r, BfArena *keep, const char *recorded, const char **out,
			 BfError *err)
{
	BfStatus status = bf_location_resolve(keep, &r->table->location, recorded, out, err);

	BF_ASSERT(!bf_is_logical_path(recorded));
	BF_ASSERT(!r->listing || r->cache == NULL);
	if (status != BF_ERR_UNSUPPORTED || !r->listing)
		return status;
	bf_error_clear(err);
	BF_TRY_PTR(keep, *out, bf_arena_strdup(keep, recorded), err);
	return BF_OK;
}

/* Leaves the bound out when it is no path that can be resolved: it may have been cut. */
static BfStatus
resolve_bound(BfArena *keep, const BfLocation *l, const BfIceFile *f, BfiEntryDeletes *d,
			  BfError *err)
{
	const BfIceBound *lower = find_bound(f->metrics.lower, f->metrics.n_lower, DELETE_PATH_ID);
	const BfIceBound *upper = find_bound(f->metrics.upper, f->metrics.n_upper, DELETE_PATH_ID);
	const char *text;
	BfStatus status;
	BfError why;

	BF_ASSERT(f->content == BF_ICE_POSITION_DELETES && d->path_bound == NULL);
	if (lower == NULL || upper == NULL || lower->bytes.len != upper->bytes.len ||
		lower->bytes.len == 0 ||
		memcmp(lower->bytes.ptr, upper->bytes.ptr, lower->bytes.len) != 0 ||
		memchr(lower->bytes.ptr, 0, lower->bytes.len) != NULL)
		return BF_OK;
	BF_TRY_PTR(keep, text,
			   bf_arena_strndup(keep, (const char *) lower->bytes.ptr, lower->bytes.len), err);
	if (bf_is_logical_path(text))
		return BF_OK;
	status = bf_location_resolve(keep, l, text, &d->path_bound, &why);
	if (status == BF_ERR_UNSUPPORTED || status == BF_ERR_CORRUPT)
	{
		d->path_bound = NULL;
		return BF_OK;
	}
	if (status != BF_OK)
	{
		*err = why;
		return status;
	}
	d->bound_inside = bf_location_inside(l, d->path_bound);
	return BF_OK;
}

static BfStatus
make_deletes(const BfiEntries *r, BfArena *keep, const BfIceFile *f, const BfiEntryDeletes **out,
			 BfError *err)
{
	BfiEntryDeletes *d;

	BF_ASSERT(f->content != BF_ICE_DATA);
	BF_NEW(keep, d, 1, err);
	d->content_offset = f->deletes.content_offset;
	d->content_size = f->deletes.content_size;
	d->n_equality_ids = f->deletes.n_equality_ids;
	BF_NEW_RAW(keep, d->equality_ids, f->deletes.n_equality_ids, err);
	if (f->deletes.n_equality_ids > 0)
		memcpy(d->equality_ids, f->deletes.equality_ids,
			   (size_t) f->deletes.n_equality_ids * sizeof *d->equality_ids);
	if (f->deletes.referenced_data_file != NULL &&
		bf_is_logical_path(f->deletes.referenced_data_file))
		BF_TRY_PTR(keep, d->referenced, bf_arena_strdup(keep, f->deletes.referenced_data_file),
				   err);
	else if (f->deletes.referenced_data_file != NULL)
		BF_TRY(resolve_file(r, keep, f->deletes.referenced_data_file, &d->referenced, err));
	if (f->content == BF_ICE_POSITION_DELETES && d->referenced == NULL)
		BF_TRY(resolve_bound(keep, &r->table->location, f, d, err));
	*out = d;
	return BF_OK;
}

/* Formats that are met all the time need no memory. */
static BfStatus
keep_format(BfArena *keep, const char *format, const char **out, BfError *err)
{
	static const char *const known[] = {"PARQUET", "AVRO", "ORC", "PUFFIN", "LOG"};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i], format) == 0)
		{
			*out = known[i];
			return BF_OK;
		}
	BF_TRY_PTR(keep, *out, bf_arena_strdup(keep, format), err);
	return BF_OK;
}

/* `scratch` holds the file and is used for more; `before`: the last entry, NULL = none. */
static BfStatus
make_entry(const BfiEntries *r, BfArena *keep, BfArena *scratch, const BfIceFile *f,
		   const BfiEntry *before, BfiEntry *e, BfError *err)
{
	*e = (BfiEntry){.logical = bf_is_logical_path(f->path),
					.has_content = f->has_content,
					.content = f->content,
					.spec_id = f->spec_id,
					.snapshot_id = f->snapshot_id,
					.sequence_number = f->sequence_number,
					.record_count = f->record_count,
					.file_size = f->file_size,
					.first_row_id = f->first_row_id};
	BF_TRY(keep_format(keep, f->format, &e->format, err));
	if (e->logical)
		BF_TRY_PTR(keep, e->path, bf_arena_strdup(keep, f->path), err);
	else
		BF_TRY(resolve_file(r, keep, f->path, &e->path, err));
	e->path_len = (uint32_t) strlen(e->path);
	e->path_hash = bf_hash(r->seed, e->path, e->path_len);
	BF_TRY(copy_partition(keep, f, before, e, err));
	if (f->content != BF_ICE_DATA)
		BF_TRY(make_deletes(r, keep, f, &e->deletes, err));
	if (r->metrics || r->cache != NULL)
	{
		BF_ASSERT(before == NULL || keep != scratch);
		return bf_ice_metrics_pack(keep, scratch, f, &e->metrics, err);
	}
	return BF_OK;
}

/* --- Reading without a cache: one entry at a time. -------------------------------------------- */

typedef struct Stream
{
	const BfiEntries *reader;
	BfArena *scratch; /* the entry at hand */
	BfiEntryVisit visit;
	void *arg;
} Stream;

static BfStatus
visit_stream(void *arg, const BfIceFile *file, BfError *err)
{
	Stream *s = arg;
	BfiEntry e;

	if (file->status != BF_ICE_DELETED)
	{
		BF_TRY(make_entry(s->reader, s->scratch, s->scratch, file, NULL, &e, err));
		BF_TRY(s->visit(s->arg, &e, err));
	}
	bf_arena_reset(s->scratch);
	return BF_OK;
}

static BfStatus
stream_entries(const BfiEntries *r, const BfIceManifest *m, const char *path, BfiEntryVisit visit,
			   void *arg, BfError *err)
{
	Stream s = {.reader = r, .visit = visit, .arg = arg};
	BfStatus status;

	s.scratch = bf_arena_new(r->host, "manifest entry", BF_ICE_RECORD_BYTES_MAX);
	if (s.scratch == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status =
		bf_ice_read_manifest(s.scratch, path, m, r->table->metadata, r->io, visit_stream, &s, err);
	bf_arena_free(s.scratch);
	return status;
}

/* --- Reading into the cache: all entries, then the visits. ------------------------------------ */

typedef struct Collect
{
	const BfiEntries *reader;
	BfArena *scratch;
	BfArena *keep;
	BfiManifestData *data;
	int32_t capacity;
} Collect;

static BfStatus
collect_room(Collect *c, BfError *err)
{
	BfiManifestData *d = c->data;
	BfiEntry *more;

	BF_ASSERT(c->capacity > 0 && d->n <= c->capacity);
	if (d->n < c->capacity)
		return BF_OK;
	if (c->capacity > INT32_MAX / 2)
		BF_FAIL(err, BF_ERR_LIMIT, "the manifest has more than %d entries", INT32_MAX / 2);
	BF_NEW_RAW(c->keep, more, c->capacity * 2, err);
	memcpy(more, d->entries, (size_t) d->n * sizeof *more);
	d->entries = more;
	c->capacity *= 2;
	return BF_OK;
}

static BfStatus
visit_collect(void *arg, const BfIceFile *file, BfError *err)
{
	Collect *c = arg;
	BfiManifestData *d = c->data;

	if (file->status != BF_ICE_DELETED)
	{
		BfiEntry *e;

		BF_TRY(collect_room(c, err));
		e = &d->entries[d->n];
		BF_TRY(make_entry(c->reader, c->keep, c->scratch, file, d->n > 0 ? e - 1 : NULL, e, err));
		d->has_logical |= e->logical;
		d->plain &= e->content == BF_ICE_DATA && !e->logical && e->sequence_number >= 0 &&
					(strcmp(e->format, "PARQUET") == 0 || strcmp(e->format, "AVRO") == 0);
		d->n++;
		BF_ASSERT(!d->plain || !d->has_logical);
	}
	bf_arena_reset(c->scratch);
	return BF_OK;
}

static BfStatus
collect_entries(const BfiEntries *r, const BfIceManifest *m, const char *path, BfArena *keep,
				BfiManifestData *data, BfError *err)
{
	Collect c = {.reader = r, .keep = keep, .data = data, .capacity = CAPACITY_FIRST};
	int64_t hint = (int64_t) m->added_files + m->existing_files;
	BfStatus status;

	if (m->added_files >= 0 && m->existing_files >= 0 && hint > c.capacity)
		c.capacity = hint < CAPACITY_HINT_MAX ? (int32_t) hint : CAPACITY_HINT_MAX;
	memset(data, 0, sizeof *data);
	data->plain = true;
	BF_ASSERT(c.capacity >= CAPACITY_FIRST && c.capacity <= CAPACITY_HINT_MAX);
	BF_NEW_RAW(keep, data->entries, c.capacity, err);
	c.scratch = bf_arena_new(r->host, "manifest entry", BF_ICE_RECORD_BYTES_MAX);
	if (c.scratch == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status =
		bf_ice_read_manifest(c.scratch, path, m, r->table->metadata, r->io, visit_collect, &c, err);
	bf_arena_free(c.scratch);
	return status;
}

static BfStatus
visit_all(const BfiEntries *r, const BfiManifestData *data, BfiEntryVisit visit, void *arg,
		  BfError *err)
{
	for (int32_t i = 0; i < data->n; i++)
	{
		if ((i & 1023) == 1023)
			BF_TRY(bf_check_cancel(r->host, err));
		BF_TRY(visit(arg, &data->entries[i], err));
	}
	return BF_OK;
}

/* Those that indexes don't rule out. */
static BfStatus
visit_alive(BfiEntries *r, BfiManifestData *data, BfArena *scratch, BfiEntryVisit visit, void *arg,
			BfError *err)
{
	BfiAlive alive = {.n_words = (data->n + 63) / 64};

	BF_ASSERT(data->plain && r->cache != NULL && r->pruner != NULL);
	BF_NEW_RAW(scratch, alive.bits, alive.n_words, err);
	BF_NEW_RAW(scratch, alive.scratch, alive.n_words, err);
	memset(alive.bits, 0xff, (size_t) alive.n_words * sizeof *alive.bits);
	if (data->n % 64 != 0)
		alive.bits[alive.n_words - 1] = (UINT64_C(1) << (data->n % 64)) - 1;
	BF_TRY(bf_check_cancel(r->host, err));
	BF_TRY(bfi_index_exclude(r->cache, r->host, data, r->pruner, &alive, &r->n_by_partition,
							 &r->n_by_bounds, err));
	for (int32_t w = 0; w < alive.n_words; w++)
	{
		if ((w & 15) == 15)
			BF_TRY(bf_check_cancel(r->host, err));
		for (uint64_t word = alive.bits[w]; word != 0; word &= word - 1)
		{
			int32_t i = w * 64 + __builtin_ctzll(word);

			BF_ASSERT(i < data->n);
			BF_TRY(visit(arg, &data->entries[i], err));
		}
	}
	return BF_OK;
}

BfStatus
bfi_entries_hold(BfiEntries *r, BfArena *a, BfError *err)
{
	BF_ASSERT(r->lasting == (r->data != NULL));
	return r->data != NULL ? bfi_cache_hold(r->data, a, err) : BF_OK;
}

/* *data = NULL when the cache has no room for it: then it has to be streamed. */
static BfStatus
load_entries(const BfiEntries *r, const BfIceManifest *m, const char *path, BfiManifestData **data,
			 BfError *err)
{
	BfiCacheItem *item;
	BfStatus status;

	BF_ASSERT(r->cache != NULL && !r->listing);
	*data = NULL;
	BF_TRY(bfi_cache_begin(r->cache, path, &item, err));
	if (item == NULL)
		return BF_OK;
	status = collect_entries(r, m, path, bfi_cache_arena(item), bfi_cache_data(item), err);
	if (status == BF_OK)
		return bfi_cache_keep_manifest(r->cache, item, r->table, m, data, err);
	bfi_cache_drop(item);
	/* More than the cache takes of one manifest. */
	return status == BF_ERR_LIMIT ? BF_OK : status;
}

BfStatus
bfi_entries_read(BfiEntries *r, const BfIceManifest *m, BfiEntryVisit visit, void *arg,
				 BfError *err)
{
	BfArena *names = bf_arena_new(r->host, "manifest path", BF_ICE_RECORD_BYTES_MAX);
	BfiManifestData *data = NULL;
	const char *path;
	BfStatus status;

	if (names == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	r->lasting = false;
	r->data = NULL;
	status = bf_location_resolve(names, &r->table->location, m->path, &path, err);
	if (status == BF_OK && r->cache != NULL)
		data = bfi_cache_find_manifest(r->cache, r->table, m, path);
	if (data != NULL)
		r->n_cached++;
	else if (status == BF_OK)
	{
		r->n_read++;
		if (r->cache != NULL)
			status = load_entries(r, m, path, &data, err);
		if (status == BF_OK && data == NULL)
			status = stream_entries(r, m, path, visit, arg, err);
	}
	BF_ASSERT(data == NULL || r->cache != NULL);
	if (status == BF_OK && data != NULL)
	{
		r->lasting = true;
		r->data = data;
		status = r->pruner != NULL && data->plain ? visit_alive(r, data, names, visit, arg, err)
												  : visit_all(r, data, visit, arg, err);
	}
	if (status != BF_OK)
		bf_error_object(err, m->path);
	bf_arena_free(names);
	return status;
}

static BfStatus
visit_nothing(void *arg, const BfiEntry *entry, BfError *err)
{
	(void) arg;
	(void) entry;
	(void) err;
	return BF_OK;
}

/* Leaves a mark in the cache, if there is room, so that nobody looks again. */
static BfStatus
check_and_mark(BfiEntries *r, const BfIceManifest *m, const char *path, bool *told, BfError *err)
{
	BfiCacheItem *mark;

	BF_TRY(bfi_manifest_check(r->host, path, m, r->io, told, err));
	if (r->cache == NULL || !*told)
		return BF_OK;
	BF_TRY(bfi_cache_begin(r->cache, path, &mark, err));
	if (mark != NULL)
		bfi_cache_keep_mark(r->cache, mark);
	return BF_OK;
}

BfStatus
bfi_entries_check(BfiEntries *r, const BfIceManifest *m, BfError *err)
{
	BfArena *names = bf_arena_new(r->host, "manifest path", BF_ICE_RECORD_BYTES_MAX);
	const char *path;
	BfStatus status;
	bool told = true;

	BF_ASSERT(m->deletes);
	if (names == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = bf_location_resolve(names, &r->table->location, m->path, &path, err);
	if (status == BF_OK && (r->cache == NULL || !bfi_cache_find_mark(r->cache, path)))
		status = check_and_mark(r, m, path, &told, err);
	bf_arena_free(names);
	/* Then its entries have to tell. */
	return status == BF_OK && !told ? bfi_entries_read(r, m, visit_nothing, NULL, err) : status;
}

bool
bfi_entries_known_plain(BfiEntries *r, const BfIceManifest *m)
{
	BfArena *names = bf_arena_new(r->host, "manifest path", BF_ICE_RECORD_BYTES_MAX);
	const BfiManifestData *data = NULL;
	const char *path;
	BfError ignored;

	if (names != NULL && r->cache != NULL &&
		bf_location_resolve(names, &r->table->location, m->path, &path, &ignored) == BF_OK)
		data = bfi_cache_find_manifest(r->cache, r->table, m, path);
	bf_arena_free(names);
	return data != NULL && !data->has_logical;
}

/* *out = NULL when the cache has no room for the list. */
static BfStatus
load_list(BfiEntries *r, const char *path, const BfIceManifest **out, int32_t *n, BfError *err)
{
	BfiCacheItem *item;
	BfIceManifest *manifests;
	BfStatus status;

	*out = NULL;
	BF_TRY(bfi_cache_begin(r->cache, path, &item, err));
	if (item == NULL)
		return BF_OK;
	status = bf_ice_read_manifest_list(bfi_cache_arena(item), path, r->io, &manifests, n, err);
	if (status != BF_OK)
	{
		bfi_cache_drop(item);
		return status == BF_ERR_LIMIT ? BF_OK : status;
	}
	bfi_cache_keep_list(r->cache, item, manifests, *n);
	*out = manifests;
	return BF_OK;
}

BfStatus
bfi_entries_manifests(BfiEntries *r, BfArena *a, const BfIceSnapshot *s, const BfIceManifest **out,
					  int32_t *n, BfError *err)
{
	BfIceManifest *manifests;
	const char *path;

	*out = NULL;
	if (r->cache != NULL && s->manifest_list != NULL && !s->encrypted)
	{
		BF_TRY(bf_location_resolve(a, &r->table->location, s->manifest_list, &path, err));
		if (bfi_cache_find_list(r->cache, path, out, n))
			return BF_OK;
		BF_TRY(load_list(r, path, out, n, err));
		if (*out != NULL)
			return BF_OK;
	}
	BF_TRY(bfi_snapshot_manifests(a, r->table, s, r->io, &manifests, n, err));
	*out = manifests;
	return BF_OK;
}
