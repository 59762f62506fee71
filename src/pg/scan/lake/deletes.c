/*
 * pg/scan/lake/deletes.c: what is deleted of the data files of one scan; see deletes.h.
 */
#include "pg/scan/lake/deletes.h"

#include "lib/stringinfo.h"
#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "iceberg/columns.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

struct BifangDeleteSet
{
	MemoryContext cxt;
	MemoryContext plan_cxt; /* what points into the plan */
	const BfIceTable *table;
	BfDeleteCache *cache;
	BfDeleteCounters counted; /* what of the cache's counters is in *count */
	BfDeleteCounters *count;  /* borrowed */
	HTAB *scopes;			  /* partition as bytes -> number */
	HTAB *scope_ofs;		  /* delete file of the plan -> number */
	int32 n_scopes;
};

/* Keys of this table are digests: 128 bits of what tells partitions apart. */
typedef struct Scope
{
	uint64 key[2];
	int32 number;
} Scope;

typedef struct ScopeOf
{
	const BfIceDeleteFile *file;
	int32 number;
} ScopeOf;

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
							   .no_checksums = !verify_checksums};
	HASHCTL ctl = {.keysize = sizeof(uint64[2]), .entrysize = sizeof(Scope), .hcxt = cxt};
	BfError err;

	s->cxt = cxt;
	s->table = table;
	s->count = count;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_delete_cache_new(bifang_arena(cxt, "deletes", BIFANG_ARENA_MAX_METADATA),
									 &options, &s->cache, &err),
				 &err);
	s->scopes = hash_create("bifang scopes", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return s;
}

void
bifang_delete_set_replan(BifangDeleteSet *s)
{
	if (s->plan_cxt != NULL)
		MemoryContextDelete(s->plan_cxt);
	s->plan_cxt = NULL;
	s->scope_ofs = NULL;
}

/* ---- scopes of equality deletes: which of them apply to the same files, but for sequences ---- */

static void
add_value(StringInfo s, const BfValue *v)
{
	appendStringInfoChar(s, v->is_null ? 1 : 0);
	appendBinaryStringInfo(s, (const char *) &v->type.kind, sizeof v->type.kind);
	if (v->is_null)
		return;
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: appendBinaryStringInfo(s, (const char *) &v->v.u8, 1); break;
		case BF_STORE_I32:
		case BF_STORE_F32: appendBinaryStringInfo(s, (const char *) &v->v.i32, 4); break;
		case BF_STORE_I64:
		case BF_STORE_F64: appendBinaryStringInfo(s, (const char *) &v->v.i64, 8); break;
		case BF_STORE_I128: appendBinaryStringInfo(s, (const char *) &v->v.i128, 16); break;
		case BF_STORE_VIEW:
			appendBinaryStringInfo(s, (const char *) &v->v.view.len, sizeof v->v.view.len);
			appendBinaryStringInfo(s, (const char *) v->v.view.ptr, (int) v->v.view.len);
			break;
		default: break;
	}
}

static int32
new_scope(BifangDeleteSet *s, const BfIceDeleteFile *f)
{
	StringInfoData text;
	Scope *scope;
	uint64 key[2];
	bool found;

	initStringInfo(&text);
	if (f->n_partition > 0) /* unpartitioned ones apply everywhere, whatever their spec */
		appendBinaryStringInfo(&text, (const char *) &f->spec_id, sizeof f->spec_id);
	for (int32 i = 0; i < f->n_partition; i++)
		add_value(&text, &f->partition[i]);
	key[0] = hash_bytes_extended((const unsigned char *) text.data, text.len, 1);
	key[1] = hash_bytes_extended((const unsigned char *) text.data, text.len, 2);
	pfree(text.data);
	scope = hash_search(s->scopes, key, HASH_ENTER, &found);
	if (!found)
		scope->number = s->n_scopes++;
	return scope->number;
}

static int32
scope_of(BifangDeleteSet *s, const BfIceDeleteFile *f)
{
	ScopeOf *entry;
	bool found;

	if (s->plan_cxt == NULL)
	{
		HASHCTL ctl = {.keysize = sizeof(void *), .entrysize = sizeof(ScopeOf)};

		s->plan_cxt = AllocSetContextCreate(s->cxt, "bifang scopes", ALLOCSET_SMALL_SIZES);
		ctl.hcxt = s->plan_cxt;
		s->scope_ofs =
			hash_create("bifang scopes of files", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(s->scope_ofs, &f, HASH_ENTER, &found);
	if (!found)
		entry->number = new_scope(s, f);
	return entry->number;
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
	if (out != NULL && count)
		bf_delete_count_dangling(s->cache, out, f->record_count);
	count_more(s);
	return out;
}
