/*
 * iceberg/known.c: see known.h.
 */
#include "iceberg/known.h"

#include "base/ascii.h"
#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"
#include "iceberg/prune_internal.h"

/* How far back in a history statistics are looked for. */
#define ANCESTORS_MAX 100
#define KNOWN_BYTES_MAX ((size_t) 16 << 20)

/* ---- manifests ---- */

typedef struct Known
{
	BfArena *arena;
	const BfIceTable *table;
	BfIceCache *cache;
	const BfIcePruner *pruner;
	const int32_t *columns;
	int32_t n_columns;
	BfColumnStats *stats;
	uint8_t (*bounds)[2][BF_ICE_BOUND_BYTES + 1]; /* per column: views are the pruner's scratch */
	BfIceKnownVisit visit;
	void *arg;
} Known;

static void
keep_view(BfValue *v, uint8_t *bytes)
{
	if (bf_type_storage(v->type) != BF_STORE_VIEW || v->v.view.len == 0)
		return;
	BF_ASSERT(v->v.view.len <= BF_ICE_BOUND_BYTES + 1);
	memcpy(bytes, v->v.view.ptr, v->v.view.len);
	v->v.view.ptr = bytes;
}

static BfStatus
visit_entry(const Known *k, const BfiEntry *e, BfError *err)
{
	BfIceKnownFile file = {
		.path = e->path, .rows = e->record_count, .size = e->file_size, .stats = k->stats};

	BF_ASSERT(e->deletes == NULL);
	for (int32_t i = 0; i < k->n_columns; i++)
	{
		BfColumnStats *s = &k->stats[i];

		bfi_prune_stats(k->pruner, k->columns[i], true, e->spec_id, e->partition, e->record_count,
						e->metrics, s);
		if (!s->known)
			bfi_prune_stats(k->pruner, k->columns[i], false, e->spec_id, e->partition,
							e->record_count, e->metrics, s);
		s->row_count = e->record_count;
		if (s->has_min)
			keep_view(&s->min, k->bounds[i][0]);
		if (s->has_max)
			keep_view(&s->max, k->bounds[i][1]);
	}
	return k->visit(k->arg, &file, err);
}

/* The cached entries of each data manifest; NULL where there are none. */
static BfStatus
find_manifests(const Known *k, const BfIceManifest *manifests, int32_t n,
			   const BfiManifestData **out, int64_t *total, BfError *err)
{
	*total = 0;
	for (int32_t i = 0; i < n; i++)
	{
		BfArenaMark mark = bf_arena_mark(k->arena);
		const char *path;

		out[i] = NULL;
		if (manifests[i].deletes)
			continue;
		BF_TRY(bf_location_resolve(k->arena, &k->table->location, manifests[i].path, &path, err));
		out[i] = bfi_cache_find_manifest(k->cache, k->table, &manifests[i], path);
		if (out[i] != NULL)
			*total += out[i]->n;
		bf_arena_rewind(k->arena, mark);
	}
	return BF_OK;
}

static BfStatus
visit_files(Known *k, const BfIceManifest *manifests, int32_t n, int64_t files_max, BfError *err)
{
	const BfiManifestData **data;
	int64_t total, step, at = 0;

	BF_NEW(k->arena, data, n, err);
	BF_TRY(find_manifests(k, manifests, n, data, &total, err));
	step = total > files_max ? (total + files_max - 1) / files_max : 1;
	for (int32_t i = 0; i < n; i++)
	{
		if (data[i] == NULL)
			continue;
		/* `at`: files to pass over before the next one. */
		for (; at < data[i]->n; at += step)
			if (data[i]->entries[at].deletes == NULL)
				BF_TRY(visit_entry(k, &data[i]->entries[at], err));
		at -= data[i]->n;
		BF_ASSERT(at >= 0 && at < step);
	}
	return BF_OK;
}

static BfStatus
known_files(Known *k, const BfIceSnapshot *snapshot, const BfSchema *schema, int64_t files_max,
			BfError *err)
{
	static const BfPred all = {.kind = BF_PRED_TRUE, .field = -1};
	const BfIceManifest *manifests;
	BfIcePruner *pruner;
	const char *path;
	int32_t n;

	BF_TRY(bf_location_resolve(k->arena, &k->table->location, snapshot->manifest_list, &path, err));
	if (!bfi_cache_find_list(k->cache, path, &manifests, &n))
		return BF_OK;
	BF_TRY(bf_ice_pruner_new(k->arena, k->table->metadata, schema, &all,
							 BF_PRUNE_PARTITION | BF_PRUNE_MANIFEST, &pruner, err));
	k->pruner = pruner;
	BF_NEW(k->arena, k->stats, k->n_columns, err);
	BF_NEW(k->arena, k->bounds, k->n_columns, err);
	return visit_files(k, manifests, n, files_max, err);
}

BfStatus
bf_ice_known_files(BfArena *a, const BfIceTable *t, const BfIceSnapshot *snapshot,
				   const BfSchema *schema, BfIceCache *cache, const int32_t *columns,
				   int32_t n_columns, int64_t files_max, BfIceKnownVisit visit, void *arg,
				   BfError *err)
{
	Known k = {.table = t,
			   .cache = cache,
			   .columns = columns,
			   .n_columns = n_columns,
			   .visit = visit,
			   .arg = arg};
	BfStatus status;

	BF_ASSERT(files_max > 0 && n_columns >= 0);
	if (cache == NULL || snapshot->manifest_list == NULL || snapshot->encrypted)
		return BF_OK;
	k.arena = bf_arena_new(bf_arena_host(a), "known of columns", KNOWN_BYTES_MAX);
	if (k.arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = known_files(&k, snapshot, schema, files_max, err);
	bf_arena_free(k.arena);
	return status;
}

/* ---- statistics files ---- */

static bool
number(const json_t *json, int64_t *out)
{
	BfError ignored;

	bf_error_clear(&ignored);
	return json != NULL && bfi_json_int(json, "", "", INT64_MIN, INT64_MAX, out, &ignored) == BF_OK;
}

/* `ndv` of a blob that is about this one field; false: it is another one. */
static bool
distinct_of_blob(const json_t *blob, int32_t field_id, int64_t *out)
{
	const char *type = json_string_value(json_object_get(blob, "type"));
	const json_t *fields = json_object_get(blob, "fields");
	int64_t id;

	if (type == NULL || strcmp(type, "apache-datasketches-theta-v1") != 0 ||
		!json_is_array(fields) || json_array_size(fields) != 1 ||
		!number(json_array_get(fields, 0), &id) || id != field_id)
		return false;
	return number(json_object_get(json_object_get(blob, "properties"), "ndv"), out) && *out >= 0;
}

static bool
distinct_at(const BfIceMetadata *m, int64_t snapshot_id, int32_t field_id, int64_t *out)
{
	const json_t *files = json_object_get(m->json, "statistics");

	for (size_t i = 0; json_is_array(files) && i < json_array_size(files); i++)
	{
		const json_t *file = json_array_get(files, i);
		const json_t *blobs = json_object_get(file, "blob-metadata");
		int64_t id;

		if (!number(json_object_get(file, "snapshot-id"), &id) || id != snapshot_id)
			continue;
		for (size_t k = 0; json_is_array(blobs) && k < json_array_size(blobs); k++)
			if (distinct_of_blob(json_array_get(blobs, k), field_id, out))
				return true;
	}
	return false;
}

static int64_t
rows_of(const BfIceSnapshot *s)
{
	const char *total = bf_ice_summary(s, "total-records");
	size_t digits;
	int64_t n;

	if (total == NULL)
		return -1;
	digits = bf_ascii_number(total, strlen(total), INT64_MAX, &n);
	return digits == 0 || total[digits] != '\0' ? -1 : n;
}

bool
bf_ice_known_distinct(const BfIceMetadata *m, const BfIceSnapshot *snapshot, int32_t field_id,
					  int64_t *distinct, int64_t *rows)
{
	if (json_object_get(m->json, "statistics") == NULL)
		return false;
	for (int i = 0; snapshot != NULL && i < ANCESTORS_MAX; i++)
	{
		if (distinct_at(m, snapshot->id, field_id, distinct))
		{
			*rows = rows_of(snapshot);
			return *rows < 0 || *distinct <= *rows;
		}
		snapshot = snapshot->parent_id == -1 ? NULL : bf_ice_snapshot(m, snapshot->parent_id);
	}
	return false;
}
