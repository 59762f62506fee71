/*
 * Which deletes apply to which data files.
 *
 * Of a data file with sequence number s, partition spec p and partition values t:
 *
 *   deletion vector   names the file; belongs to p and t and is not older than s, or it is corrupt.
 *                     Two of them are corrupt. With one, position deletes don't count.
 *   position deletes  sequence >= s, and they name the file, or belong to p and t
 *   equality deletes  sequence > s, and they belong to p and t, or to a spec that partitions
 *                     nothing: those apply to every partition
 *
 * Position deletes name their file by referenced_data_file, or by equal bounds of their path
 * column. Some writers cut bounds: then the text is only the beginning of the path, and the deletes
 * are taken for the partition's.
 *
 * A table can have thousands of deletes and as many data files, all of one partition: what applies
 * to a file is the rest of an array, sorted by sequence number, from some place on, and files share
 * the array. Deletes that apply to no file of the plan are left out at once.
 */
#include "base/sort.h"
#include "iceberg/internal.h"
#include "iceberg/plan_internal.h"
#include "vec/key.h"

#define KEY_BYTES_MAX ((size_t) 1 << 30)

typedef struct Node
{
	const BfIceDeleteFile *file;
	struct Node *next;
} Node;

typedef struct List
{
	int32_t n;
	Node *first;
	const BfIceDeleteFile **sorted; /* ascending sequence numbers */
} List;

/* The files of one spec with the same partition values. */
typedef struct Group
{
	List position;
	List equality;
} Group;

/* What names one file. */
typedef struct Target
{
	int32_t group; /* -1: the file takes no deletes */
	const BfIceDeleteFile *vector;
	List own;
} Target;

struct BfiDeletePlan
{
	BfArena *arena;
	BfArena *work;
	const BfIceTable *table;
	const BfIcePruner *pruner;
	BfIcePlanCounters *counters;
	BfIceDataFile *files;
	const BfiFileFlags *flags;
	int32_t n_files;
	const BfMap *paths;
	Target *targets; /* one per file */
	int64_t oldest;	 /* the least sequence number of the files; INT64_MAX = there are none */
	int32_t n_groups;
	Group *groups;
	BfMap group_of_key;
	BfBuffer *key; /* scratch */
	List global;
	const char **sorted_paths; /* made when first needed */
	int32_t n_sorted;
};

/* --- Groups --------------------------------------------------------------------------------- */

/* The key of a partition is its spec and its values, whatever type a manifest has them in. Floats
 * count by their bits, with one NaN. */
static BfStatus
write_key(BfiDeletePlan *d, int32_t spec_id, const BfValue *values, int32_t n, uint64_t *hash,
		  BfError *err)
{
	d->key->len = 0;
	BF_TRY(bf_buffer_append(d->key, &spec_id, sizeof spec_id, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bf_key_value(d->key, &values[i], BF_KEY_ZERO_SIGNED, err));
	*hash = bf_map_hash(&d->group_of_key, d->key->data, d->key->len);
	return BF_OK;
}

/* -1: no file of the plan is in that partition. */
static BfStatus
find_group(BfiDeletePlan *d, int32_t spec_id, const BfValue *values, int32_t n, int32_t *out,
		   BfError *err)
{
	const int64_t *found;
	uint64_t hash;

	BF_TRY(write_key(d, spec_id, values, n, &hash, err));
	found = bf_map_find(&d->group_of_key, d->key->data, d->key->len, hash);
	*out = found != NULL ? (int32_t) *found : -1;
	BF_ASSERT(*out >= -1 && *out < d->n_groups);
	return BF_OK;
}

static BfStatus
group_files(BfiDeletePlan *d, BfError *err)
{
	const BfHost *host = bf_arena_host(d->work);
	BfMap *m = &d->group_of_key;

	bf_map_init(m, d->work, d->paths->seed);
	BF_TRY(bf_buffer_new(d->work, KEY_BYTES_MAX, &d->key, err));
	BF_NEW(d->work, d->groups, d->n_files, err);
	for (int32_t i = 0; i < d->n_files; i++)
	{
		const BfIceDataFile *f = &d->files[i];
		int64_t *group;
		uint64_t hash;

		d->targets[i].group = -1;
		if (!d->flags[i].takes_deletes)
			continue;
		if ((i & 1023) == 1023)
			BF_TRY(bf_check_cancel(host, err));
		if (f->sequence_number < d->oldest)
			d->oldest = f->sequence_number;
		BF_TRY(write_key(d, f->spec_id, f->partition, f->n_partition, &hash, err));
		BF_TRY(bf_map_put(m, d->key->data, d->key->len, hash, d->n_groups, &group, err));
		BF_ASSERT(*group >= 0 && *group <= d->n_groups);
		d->targets[i].group = (int32_t) *group;
		d->n_groups += *group == d->n_groups;
	}
	return BF_OK;
}

BfStatus
bfi_delete_plan_new(BfArena *a, BfArena *work, const BfIceTable *t, BfIceDataFile *files,
					const BfiFileFlags *flags, int32_t n_files, const BfMap *paths,
					const BfIcePruner *pruner, BfIcePlanCounters *counters, BfiDeletePlan **out,
					BfError *err)
{
	BfiDeletePlan *d;

	BF_NEW(work, d, 1, err);
	*d = (BfiDeletePlan){.arena = a,
						 .work = work,
						 .table = t,
						 .pruner = pruner,
						 .counters = counters,
						 .files = files,
						 .flags = flags,
						 .n_files = n_files,
						 .paths = paths,
						 .oldest = INT64_MAX};
	BF_NEW(work, d->targets, n_files, err);
	BF_TRY(group_files(d, err));
	*out = d;
	return BF_OK;
}

/* No entry of a manifest is younger than the manifest. */
bool
bfi_delete_plan_wants(const BfiDeletePlan *d, const BfIceManifest *m)
{
	return d->n_groups > 0 && (m->sequence_number < 0 || m->sequence_number >= d->oldest);
}

/* --- One delete file ------------------------------------------------------------------------ */

static BfStatus
push(BfiDeletePlan *d, List *list, const BfIceDeleteFile *file, BfError *err)
{
	Node *node;

	BF_NEW(d->work, node, 1, err);
	node->file = file;
	node->next = list->first;
	list->first = node;
	list->n++;
	return BF_OK;
}

static BfStatus
keep_entry(BfiDeletePlan *d, const BfiEntry *e, BfIceDeleteKind kind, BfIceDeleteFile **out,
		   BfError *err)
{
	BfIceDeleteFile *f;

	BF_ASSERT(e->content != BF_ICE_DATA && e->deletes != NULL);
	BF_NEW(d->arena, f, 1, err);
	f->kind = kind;
	f->avro = strcmp(e->format, "AVRO") == 0;
	f->sequence_number = e->sequence_number;
	f->record_count = e->record_count;
	f->file_size = e->file_size;
	f->spec_id = e->spec_id;
	f->vector_offset = e->deletes->content_offset;
	f->vector_length = e->deletes->content_size;
	BF_TRY_PTR(d->arena, f->path, bf_arena_strdup(d->arena, e->path), err);
	f->n_partition = e->n_partition;
	BF_NEW(d->arena, f->partition, e->n_partition, err);
	for (int32_t i = 0; i < e->n_partition; i++)
	{
		f->partition[i] = e->partition[i];
		if (!f->partition[i].is_null && bf_type_storage(f->partition[i].type) == BF_STORE_VIEW)
			BF_TRY(bfi_copy_view(d->arena, e->partition[i].v.view, &f->partition[i].v.view, err));
	}
	d->counters->delete_files++;
	*out = f;
	return BF_OK;
}

static BfStatus
unused(BfiDeletePlan *d)
{
	d->counters->delete_files_unused++;
	return BF_OK;
}

/* The file of the plan that has this path and takes deletes, -1 = none. */
static int32_t
find_file(const BfiDeletePlan *d, const char *path)
{
	size_t len = strlen(path);
	const int64_t *i = bf_map_find(d->paths, path, len, bf_map_hash(d->paths, path, len));

	BF_ASSERT(i == NULL || (*i >= 0 && *i < d->n_files));
	return i != NULL && d->targets[*i].group >= 0 ? (int32_t) *i : -1;
}

static BfStatus
add_vector(BfiDeletePlan *d, const BfiEntry *e, BfError *err)
{
	const BfiEntryDeletes *x = e->deletes;
	BfIceDeleteFile *file;
	int32_t i, group;

	BF_DATA(err, x->referenced != NULL && x->content_offset >= 0 && x->content_size >= 0, -1,
			"deletion vector in %.300s: the manifest does not tell %s", e->path,
			x->referenced == NULL ? "its data file" : "where it is");
	i = find_file(d, x->referenced);
	if (i < 0)
		return unused(d);
	BF_DATA(err, d->targets[i].vector == NULL, -1, "data file %.300s has two deletion vectors",
			x->referenced);
	BF_DATA(err, e->sequence_number >= d->files[i].sequence_number, -1,
			"the deletion vector of data file %.300s is older than it", x->referenced);
	BF_TRY(find_group(d, e->spec_id, e->partition, e->n_partition, &group, err));
	BF_DATA(err, group == d->targets[i].group, -1,
			"the deletion vector of data file %.300s belongs to another partition", x->referenced);
	BF_TRY(keep_entry(d, e, BF_ICE_DELETE_VECTOR, &file, err));
	file->referenced = d->files[i].path;
	d->targets[i].vector = file;
	return BF_OK;
}

static int
compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *) x, *(const char *const *) y);
}

/* Is there a file whose path goes on where this text ends? */
static BfStatus
begins_a_path(BfiDeletePlan *d, const char *text, bool *out, BfError *err)
{
	int32_t at;

	if (d->sorted_paths == NULL)
	{
		BF_NEW(d->work, d->sorted_paths, d->n_files, err);
		for (int32_t i = 0; i < d->n_files; i++)
			if (d->targets[i].group >= 0)
				d->sorted_paths[d->n_sorted++] = d->files[i].path;
		bf_sort(d->sorted_paths, (size_t) d->n_sorted, sizeof *d->sorted_paths, compare_texts);
	}
	BF_SEARCH(int32_t, at, d->n_sorted, i, strcmp(d->sorted_paths[i], text) < 0);
	*out = at < d->n_sorted && strncmp(d->sorted_paths[at], text, strlen(text)) == 0;
	return BF_OK;
}

static BfStatus
add_position(BfiDeletePlan *d, const BfiEntry *e, BfError *err)
{
	const BfiEntryDeletes *x = e->deletes;
	const char *path = x->referenced != NULL ? x->referenced : x->path_bound;
	bool partition_wide = path == NULL;
	BfIceDeleteFile *file;
	int32_t i = path != NULL ? find_file(d, path) : -1, group;

	if (i >= 0)
	{
		if (e->sequence_number < d->files[i].sequence_number)
			return unused(d);
		BF_TRY(keep_entry(d, e, BF_ICE_DELETE_POSITION, &file, err));
		file->referenced = d->files[i].path;
		return push(d, &d->targets[i].own, file, err);
	}
	/* A bound that is no file's path may be the cut path of one. */
	if (path != NULL && x->referenced == NULL)
	{
		partition_wide = true;
		if (x->bound_inside)
			BF_TRY(begins_a_path(d, path, &partition_wide, err));
	}
	if (!partition_wide)
		return unused(d);
	BF_TRY(find_group(d, e->spec_id, e->partition, e->n_partition, &group, err));
	if (group < 0)
		return unused(d);
	BF_TRY(keep_entry(d, e, BF_ICE_DELETE_POSITION, &file, err));
	return push(d, &d->groups[group].position, file, err);
}

/* No fields, or none that tells partitions apart. */
static bool
partitions_nothing(const BfIceSpec *spec)
{
	for (int32_t i = 0; i < spec->n_fields; i++)
		if (spec->fields[i].transform.kind != BF_TRANSFORM_VOID)
			return false;
	return true;
}

static BfStatus
add_equality(BfiDeletePlan *d, const BfiEntry *e, BfError *err)
{
	const BfiEntryDeletes *x = e->deletes;
	const BfIceSpec *spec = bf_ice_spec(d->table->metadata, e->spec_id);
	List *list = &d->global;
	BfIceDeleteFile *file;
	int32_t group = -1;

	BF_NEVER(err, spec == NULL);
	BF_DATA(err, x->n_equality_ids > 0, -1,
			"equality delete file %.300s: the manifest does not tell its columns", e->path);
	if (!partitions_nothing(spec))
	{
		BF_TRY(find_group(d, e->spec_id, e->partition, e->n_partition, &group, err));
		if (group < 0)
			return unused(d);
		list = &d->groups[group].equality;
	}
	if (e->sequence_number <= d->oldest ||
		(d->pruner != NULL &&
		 bf_ice_prune_equality_delete(d->pruner, x->equality_ids, x->n_equality_ids,
									  e->record_count, e->metrics)))
		return unused(d);
	BF_TRY(keep_entry(d, e, BF_ICE_DELETE_EQUALITY, &file, err));
	file->scope = group + 1;
	file->n_equality_ids = x->n_equality_ids;
	BF_NEW(d->arena, file->equality_ids, x->n_equality_ids, err);
	BF_NEW(d->arena, file->equality_fields, x->n_equality_ids, err);
	for (int32_t i = 0; i < x->n_equality_ids; i++)
	{
		file->equality_ids[i] = x->equality_ids[i];
		file->equality_fields[i] = bf_ice_field_anywhere(d->table->metadata, x->equality_ids[i]);
		BF_DATA(err, file->equality_fields[i] != NULL, -1,
				"equality delete file %.300s: no schema of the table has its column %d", e->path,
				x->equality_ids[i]);
	}
	return push(d, list, file, err);
}

bool
bfi_is_vector(const BfiEntry *e)
{
	return e->content == BF_ICE_POSITION_DELETES && strcmp(e->format, "PUFFIN") == 0;
}

BfStatus
bfi_delete_plan_add(BfiDeletePlan *d, const BfiEntry *e, BfError *err)
{
	BF_NEVER(err, e->deletes == NULL);
	if (bfi_is_vector(e))
		return add_vector(d, e, err);
	return e->content == BF_ICE_POSITION_DELETES ? add_position(d, e, err)
												 : add_equality(d, e, err);
}

/* --- Shared arrays -------------------------------------------------------------------------- */

static int
compare_sequence(const void *x, const void *y)
{
	const BfIceDeleteFile *a = *(const BfIceDeleteFile *const *) x,
						  *b = *(const BfIceDeleteFile *const *) y;

	if (a->sequence_number != b->sequence_number)
		return a->sequence_number < b->sequence_number ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* The list, with another one's files among them. */
static BfStatus
sort_list(BfiDeletePlan *d, List *list, const List *more, BfError *err)
{
	int32_t n = 0, n_more = more != NULL ? more->n : 0;

	BF_ASSERT(list->sorted == NULL && (more == NULL || more->sorted != NULL));
	BF_TRY(bf_check_cancel(bf_arena_host(d->work), err));
	BF_NEW(d->arena, list->sorted, (int64_t) list->n + n_more, err);
	for (const Node *node = list->first; node != NULL; node = node->next)
		list->sorted[n++] = node->file;
	if (n_more > 0)
		memcpy(list->sorted + n, more->sorted, (size_t) n_more * sizeof *list->sorted);
	list->n += n_more;
	BF_ASSERT(n + n_more == list->n);
	bf_sort(list->sorted, (size_t) list->n, sizeof *list->sorted, compare_sequence);
	return BF_OK;
}

/* From the first that is not older than `sequence`. */
static BfIceDeletes
not_older(const List *list, int64_t sequence)
{
	int32_t at;

	BF_ASSERT(list->n == 0 || list->sorted != NULL);
	BF_SEARCH(int32_t, at, list->n, i, list->sorted[i]->sequence_number < sequence);
	return (BfIceDeletes){list->n - at, at < list->n ? list->sorted + at : NULL};
}

static BfStatus
assign_file(BfiDeletePlan *d, int32_t i, BfError *err)
{
	BfIceDataFile *f = &d->files[i];
	Target *t = &d->targets[i];
	const Group *g = &d->groups[t->group];
	int64_t s = f->sequence_number;

	BF_ASSERT(t->group < d->n_groups && d->flags[i].takes_deletes && s >= d->oldest);
	if (t->vector != NULL)
	{
		const BfIceDeleteFile **one;

		BF_NEW(d->arena, one, 1, err);
		one[0] = t->vector;
		f->own = (BfIceDeletes){1, one};
	}
	else
	{
		if (t->own.n > 0)
			BF_TRY(sort_list(d, &t->own, NULL, err));
		f->own = not_older(&t->own, s);
		f->position = not_older(&g->position, s);
	}
	f->equality = not_older(&g->equality, s < INT64_MAX ? s + 1 : s);
	if (f->logical && bf_ice_n_deletes(f) > 0)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the table deletes rows of logical file %.300s", f->path);
	return BF_OK;
}

BfStatus
bfi_delete_plan_assign(BfiDeletePlan *d, BfError *err)
{
	BF_TRY(sort_list(d, &d->global, NULL, err));
	for (int32_t i = 0; i < d->n_groups; i++)
	{
		Group *g = &d->groups[i];

		if (g->position.n > 0)
			BF_TRY(sort_list(d, &g->position, NULL, err));
		if (g->equality.n > 0)
			BF_TRY(sort_list(d, &g->equality, &d->global, err));
		else
			g->equality = d->global;
	}
	for (int32_t i = 0; i < d->n_files; i++)
		if (d->targets[i].group >= 0)
			BF_TRY(assign_file(d, i, err));
	return BF_OK;
}
