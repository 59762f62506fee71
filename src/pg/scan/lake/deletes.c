/*
 * pg/scan/lake/deletes.c: what is deleted of the data files of one scan; see deletes.h.
 */
#include "pg/scan/lake/deletes.h"

#include "base/map.h"
#include "iceberg/columns.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "vec/key.h"

struct BifangDeleteSet
{
	const BfIceTable *table;
	BfDeleteCache *cache;
	BfDeleteCounters counted; /* what of the cache's counters is in *count */
	BfDeleteCounters *count;  /* borrowed */
	BfArena *arena;
	BfBuffer *key;	 /* scratch */
	BfMap scopes;	 /* spec and partition -> number */
	BfMap scope_ofs; /* delete file of the plan, by its address -> number */
};

static BfStatus
resolve(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	const BifangDeleteSet *s = arg;

	return bf_location_resolve(a, &s->table->location, path, out, err);
}

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	const BifangDeleteSet *s = arg;

	return bf_ice_key_column(a, s->table->metadata, id, out, err);
}

BifangDeleteSet *
bifang_delete_set_new(MemoryContext cxt, const BfIceTable *table, bool verify_checksums,
					  BfIoCounters *io, BfDeleteCounters *count)
{
	BifangDeleteSet *s = MemoryContextAllocZero(cxt, sizeof *s);
	BfDeleteOptions options = {.resolve = resolve,
							   .column_of = column_of,
							   .arg = s,
							   .bytes_max = BIFANG_ARENA_MAX_METADATA,
							   .io = io,
							   .unverified = !verify_checksums};
	const BfHost *host = bifang_host();
	uint64 seed;
	BfError err;

	s->table = table;
	s->count = count;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_delete_cache_new(bifang_arena(cxt, "deletes", BIFANG_ARENA_MAX_METADATA),
									 &options, &s->cache, &err),
				 &err);
	s->arena = bifang_arena(cxt, "scopes of deletes", BIFANG_ARENA_MAX_METADATA);
	BIFANG_CHECK(bf_buffer_new(s->arena, BIFANG_ARENA_MAX_METADATA, &s->key, &err), &err);
	BIFANG_CHECK(host->random(host, &seed, sizeof seed, &err), &err);
	bf_map_init(&s->scopes, s->arena, seed);
	bf_map_init(&s->scope_ofs, s->arena, seed);
	return s;
}

void
bifang_delete_set_replan(BifangDeleteSet *s)
{
	bf_map_clear(&s->scope_ofs);
}

/* ---- scopes of equality deletes: which of them apply to the same files, but for sequences ---- */

static BfStatus
new_scope(BifangDeleteSet *s, const BfIceDeleteFile *f, int32 *out, BfError *err)
{
	BfBuffer *key = s->key;
	int64_t *number;

	key->len = 0;
	if (f->n_partition > 0) /* unpartitioned ones apply everywhere, whatever their spec */
		BF_TRY(bf_buffer_append(key, &f->spec_id, sizeof f->spec_id, err));
	for (int32 i = 0; i < f->n_partition; i++)
		BF_TRY(bf_key_value(key, &f->partition[i], BF_KEY_ZERO_SIGNED, err));
	BF_TRY(bf_map_put(&s->scopes, key->data, key->len, bf_map_hash(&s->scopes, key->data, key->len),
					  s->scopes.n, &number, err));
	*out = (int32) *number;
	return BF_OK;
}

static int32
scope_of(BifangDeleteSet *s, const BfIceDeleteFile *f)
{
	int64 address = (int64) (intptr_t) f;
	int64_t *number = bf_map_find_number(&s->scope_ofs, address);
	BfError err = {0};
	int32 scope;

	if (number != NULL)
		return (int32) *number;
	BIFANG_CHECK(new_scope(s, f, &scope, &err), &err);
	BIFANG_CHECK(bf_map_put_number(&s->scope_ofs, address, scope, &number, &err), &err);
	return scope;
}

/* ---- sources ---- */

static BfDeleteSource
source_of(BifangDeleteSet *s, const BfIceDeleteFile *f)
{
	BfDeleteSource source = {.path = f->path,
							 .avro = f->avro,
							 .sequence = f->sequence_number,
							 .scope = BF_DELETE_SCOPE_OWN,
							 .record_count = f->record_count};

	switch (f->kind)
	{
		case BF_ICE_DELETE_POSITION: source.kind = BF_DELETE_POSITION; break;
		case BF_ICE_DELETE_EQUALITY:
			source.kind = BF_DELETE_EQUALITY;
			source.scope = scope_of(s, f);
			source.ids = f->equality_ids;
			source.n_ids = f->n_equality_ids;
			break;
		case BF_ICE_DELETE_VECTOR:
			source.kind = BF_DELETE_VECTOR;
			source.offset = f->vector_offset;
			source.length = f->vector_length;
			break;
	}
	return source;
}

/* What the cache has counted since the last time. */
static void
count_more(BifangDeleteSet *s)
{
	const BfDeleteCounters *now = bf_delete_counters(s->cache);

	Assert(now->files_read >= s->counted.files_read && now->keys >= s->counted.keys);
	s->count->files_read += now->files_read - s->counted.files_read;
	s->count->positions += now->positions - s->counted.positions;
	s->count->keys += now->keys - s->counted.keys;
	s->count->dangling += now->dangling - s->counted.dangling;
	s->counted = *now;
}

BfDeletes *
bifang_delete_set_of(BifangDeleteSet *s, BfArena *a, const BfIceDataFile *f, bool count)
{
	int32 n = bf_ice_n_deletes(f);
	BfDeleteSource *sources;
	BfDeletes *out;
	BfError err;

	if (n == 0)
		return NULL;
	sources = palloc_extended((Size) n * sizeof *sources, MCXT_ALLOC_HUGE);
	for (int32 i = 0; i < n; i++)
		sources[i] = source_of(s, bf_ice_delete(f, i));
	bf_error_clear(&err);
	BIFANG_CHECK(bf_deletes_load(a, s->cache, f->path, f->sequence_number, sources, n, &out, &err),
				 &err);
	pfree(sources);
	if (out != NULL && count && f->record_count >= 0)
		bf_delete_count_dangling(s->cache, out, f->record_count);
	count_more(s);
	return out;
}
