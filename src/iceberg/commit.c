/* The steps that commits are made of. */
#include "iceberg/commit.h"

#include "base/ascii.h"
#include "iceberg/commit_internal.h"

/* What Iceberg has without the property that says it. */
#define METADATA_LOG_MAX 100

BfStatus
bfi_commit_check_file(const BfiCommit *c, const BfIceNewFile *f, BfError *err)
{
	const BfIceMetadata *m = c->table->metadata;
	const BfIceSpec *spec = bf_ice_spec(m, f->spec_id);

	if (spec == NULL || spec->n_fields != f->n_partition)
		BF_FAIL(err, BF_ERR_VALUE, "%.300s: the table has no partition spec %d with %d fields",
				f->path, f->spec_id, f->n_partition);
	if (f->record_count < 0 || f->file_size < 0)
		BF_FAIL(err, BF_ERR_VALUE, "%.300s: a count is negative", f->path);
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		BfType want;

		if (bfi_partition_type(m, &spec->fields[i], &want) != BF_OK)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "partition field \"%s\" (%s) can't be written",
					spec->fields[i].name, spec->fields[i].transform_text);
		if (!f->partition[i].is_null && !bf_type_equal(f->partition[i].type, want))
			BF_FAIL(err, BF_ERR_VALUE,
					"%.300s: the value of partition field \"%s\" has another type", f->path,
					spec->fields[i].name);
	}
	return BF_OK;
}

/* The bytes of a bound, in the commit's memory: the value may be of a manifest that was read. */
static BfStatus
keep_bound(const BfiCommit *c, const BfValue *v, BfView *out, BfError *err)
{
	BfView bytes;

	BF_TRY(bfi_single_value(c->arena, v, &bytes, err));
	return bfi_copy_view(c->arena, bytes, out, err);
}

static BfStatus
summarise_field(const BfiCommit *c, const BfiNewEntry *entries, int32_t n, int32_t field,
				BfiPartitionSummary *s, BfError *err)
{
	const BfValue *low = NULL, *high = NULL;

	for (int32_t i = 0; i < n; i++)
	{
		const BfValue *v = &entries[i].file->partition[field];

		BF_ASSERT(field < entries[i].file->n_partition);
		if (entries[i].status == BF_ICE_DELETED)
			continue;
		if (v->is_null)
			s->contains_null = true;
		else if (bfi_value_is_nan(v))
			s->contains_nan = 1;
		else
		{
			low = low == NULL || bf_value_compare(v, low) < 0 ? v : low;
			high = high == NULL || bf_value_compare(v, high) > 0 ? v : high;
		}
	}
	BF_ASSERT((low == NULL) == (high == NULL));
	if (low == NULL)
		return BF_OK;
	BF_TRY(keep_bound(c, low, &s->lower, err));
	return keep_bound(c, high, &s->upper, err);
}

BfStatus
bfi_commit_summaries(const BfiCommit *c, const BfIceSpec *spec, const BfiNewEntry *entries,
					 int32_t n, BfiPartitionSummary **out, BfError *err)
{
	BF_NEW(c->arena, *out, spec->n_fields, err);
	for (int32_t i = 0; i < spec->n_fields; i++)
		BF_TRY(summarise_field(c, entries, n, i, &(*out)[i], err));
	return BF_OK;
}

static BfStatus
publish(BfiCommit *c, const char *name, BfView bytes, const char **recorded, BfError *err)
{
	const char *path;

	BF_TRY_PTR(c->arena, path, bf_arena_printf(c->arena, "%s/%s", c->dir, name), err);
	BF_TRY(bf_publish_bytes(c->arena, path, bytes.ptr, bytes.len, err));
	return bf_location_record(c->arena, &c->table->location, path, recorded, err);
}

BfStatus
bfi_commit_write_manifest(BfiCommit *c, const BfIceSpec *spec, const BfiNewEntry *entries,
						  int32_t n, BfIceManifest *m, BfError *err)
{
	const char *name;
	BfView bytes;

	BF_TRY(bfi_manifest_bytes(c->arena, c->table->metadata, spec, entries, n, &bytes, err));
	BF_TRY_PTR(c->arena, name, bf_arena_printf(c->arena, "%s-m%d.avro", c->uuid, c->n_manifests++),
			   err);
	BF_TRY(publish(c, name, bytes, &m->path, err));
	m->length = bytes.len;
	m->spec_id = spec->spec_id;
	return BF_OK;
}

static BfStatus
add_manifest(BfiCommit *c, const BfIceSpec *spec, int64_t snapshot_id, BfError *err)
{
	BfiListEntry *e = &c->branch.list[c->branch.n_list];
	BfIceManifest *m = &e->manifest;
	BfiNewEntry *entries;

	BF_ASSERT(c->branch.n_list < c->branch.list_capacity);
	BF_NEW(c->arena, entries, c->n_files, err);
	for (int32_t i = 0; i < c->n_files; i++)
		if (c->files[i].spec_id == spec->spec_id)
		{
			entries[m->added_files++] =
				(BfiNewEntry){BF_ICE_ADDED, snapshot_id, -1, -1, &c->files[i]};
			m->added_rows += c->files[i].record_count;
		}
	BF_TRY(bfi_commit_write_manifest(c, spec, entries, m->added_files, m, err));
	m->sequence_number = m->min_sequence_number = c->sequence_number;
	m->added_snapshot_id = snapshot_id;
	BF_ASSERT(m->added_files > 0 && m->existing_files == 0 && m->deleted_files == 0);
	e->n_summaries = spec->n_fields;
	BF_TRY(bfi_commit_summaries(c, spec, entries, m->added_files, &e->summaries, err));
	c->branch.n_list++;
	return BF_OK;
}

BfStatus
bfi_commit_add_manifests(BfiCommit *c, int64_t snapshot_id, BfError *err)
{
	const BfIceMetadata *m = c->table->metadata;

	for (int32_t i = 0; i < m->specs.n; i++)
		for (int32_t k = 0; k < c->n_files; k++)
			if (c->files[k].spec_id == m->specs.all[i].spec_id)
			{
				BF_TRY(add_manifest(c, &m->specs.all[i], snapshot_id, err));
				break;
			}
	return BF_OK;
}

BfStatus
bfi_commit_write_list(BfiCommit *c, const BfiListEntry *entries, int32_t n, int64_t id,
					  int64_t parent_id, int64_t sequence_number, const char **recorded,
					  BfError *err)
{
	const char *name;
	BfView bytes;

	BF_ASSERT(id > 0 && id != parent_id &&
			  sequence_number > c->table->metadata->last_sequence_number);
	BF_TRY(
		bfi_manifest_list_bytes(c->arena, entries, n, id, parent_id, sequence_number, &bytes, err));
	BF_TRY_PTR(c->arena, name,
			   bf_arena_printf(c->arena, "snap-%lld-1-%s.avro", (long long) id, c->uuid), err);
	return publish(c, name, bytes, recorded, err);
}

BfStatus
bfi_commit_set_count(json_t *summary, const char *key, int64_t value, BfError *err)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lld", (long long) value);
	return bfi_json_set(summary, key, json_string(digits), err);
}

BfStatus
bfi_commit_set_coverage(BfiCommit *c, json_t *object, const char *key, const BfCoverage *coverage,
						BfError *err)
{
	BfBuffer text;
	BfStatus status;

	bf_buffer_init(&text, bf_arena_host(c->arena), BF_ICE_JSON_BYTES_MAX);
	status = bf_coverage_format(coverage, &text, err);
	if (status == BF_OK && (text.len > 0 || json_object_get(object, key) != NULL))
		status = bfi_json_set(
			object, key, json_stringn(text.len > 0 ? (const char *) text.data : "", text.len), err);
	bf_buffer_free(&text);
	return status;
}

/* The bytes of main's files, as its summary says, of new ones and of the logical ones; false when
 * nobody says it in a number that can be added to. The total is for people: nothing is decided by
 * it. */
static bool
total_size(const BfiCommit *c, const BfIceDataFile *logical, int32_t n, int64_t *size)
{
	const char *text =
		c->branch.main == NULL ? "0" : bf_ice_summary(c->branch.main, "total-files-size");
	size_t digits;

	if (text == NULL)
		return false;
	digits = bf_ascii_number(text, strlen(text), INT64_MAX, size);
	if (digits == 0 || text[digits] != '\0' || *size < 0)
		return false;
	for (int32_t i = 0; i < n; i++)
		if (__builtin_add_overflow(*size, logical[i].file_size, size))
			return false;
	for (int32_t i = 0; i < c->n_files && !bf_is_logical_path(c->files[i].path); i++)
		if (__builtin_add_overflow(*size, c->files[i].file_size, size))
			return false;
	BF_ASSERT(*size >= 0);
	return true;
}

BfStatus
bfi_commit_put_totals(BfiCommit *c, const BfiListEntry *list, int32_t n_list,
					  const BfIceDataFile *logical, int32_t n_logical, json_t *summary,
					  BfError *err)
{
	static const char *const of_main[] = {"total-position-deletes", "total-equality-deletes"};
	int64_t files = 0, deletes = 0, rows = 0, size;

	for (int32_t i = 0; i < n_list; i++)
	{
		const BfIceManifest *m = &list[i].manifest;

		*(m->deletes ? &deletes : &files) += (int64_t) m->added_files + m->existing_files;
		if (!m->deletes)
			BF_DATA(err,
					!__builtin_add_overflow(rows, m->added_rows, &rows) &&
						!__builtin_add_overflow(rows, m->existing_rows, &rows),
					-1, "row counts of manifests add up to more than 2^63");
	}
	BF_TRY(bfi_commit_set_count(summary, "total-data-files", files, err));
	BF_TRY(bfi_commit_set_count(summary, "total-delete-files", deletes, err));
	BF_TRY(bfi_commit_set_count(summary, "total-records", rows, err));
	if (total_size(c, logical, n_logical, &size))
		BF_TRY(bfi_commit_set_count(summary, "total-files-size", size, err));
	for (size_t i = 0; i < sizeof of_main / sizeof of_main[0]; i++)
	{
		const char *text =
			c->branch.main != NULL ? bf_ice_summary(c->branch.main, of_main[i]) : "0";

		if (text != NULL)
			BF_TRY(bfi_json_set(summary, of_main[i], json_string(text), err));
	}
	return BF_OK;
}

BfStatus
bfi_commit_put_added(BfiCommit *c, const char *operation, json_t *summary, BfError *err)
{
	int64_t rows = 0, size = 0;

	for (int32_t i = 0; i < c->n_files; i++)
	{
		rows += c->files[i].record_count;
		size += c->files[i].file_size;
	}
	BF_TRY(bfi_json_set(summary, "operation", json_string(operation), err));
	BF_TRY(bfi_commit_set_count(summary, "added-data-files", c->n_files, err));
	BF_TRY(bfi_commit_set_count(summary, "added-records", rows, err));
	return bfi_commit_set_count(summary, "added-files-size", size, err);
}

BfStatus
bfi_commit_end_branch(BfiCommit *c, const char *operation, json_t **out, BfError *err)
{
	const BfiBranch *b = &c->branch;
	const char *recorded;
	json_t *summary;

	BF_TRY(bfi_commit_write_list(c, b->list, b->n_list, c->snapshot_id, c->parent_id,
								 c->sequence_number, &recorded, err));
	BF_TRY(bfi_commit_add_snapshot(c, BF_ICE_BRANCH_BIFANG, c->snapshot_id, c->parent_id,
								   c->sequence_number, recorded, &summary, err));
	BF_TRY(bfi_commit_put_added(c, operation, summary, err));
	BF_TRY(bfi_commit_put_totals(c, b->list, b->n_list, b->logical, b->n_logical, summary, err));
	BF_TRY(bfi_commit_set_coverage(c, summary, BF_ICE_COVERED, &b->covered, err));
	*out = summary;
	return bfi_commit_set_coverage(c, summary, BF_ICE_COVERED_PARQUET, &b->parquet, err);
}

BfStatus
bfi_commit_add_snapshot(BfiCommit *c, const char *ref_name, int64_t id, int64_t parent_id,
						int64_t sequence_number, const char *manifest_list, json_t **summary,
						BfError *err)
{
	json_t *list, *refs, *ref, *snapshot = json_pack("{}");

	BF_ASSERT(bf_ice_snapshot(c->table->metadata, id) == NULL);
	BF_TRY(bfi_json_child(c->root, "snapshots", true, &list, err));
	BF_TRY(bfi_json_append(list, snapshot, err));
	BF_TRY(bfi_json_set(snapshot, "snapshot-id", json_integer(id), err));
	if (parent_id >= 0)
		BF_TRY(bfi_json_set(snapshot, "parent-snapshot-id", json_integer(parent_id), err));
	BF_TRY(bfi_json_set(snapshot, "sequence-number", json_integer(sequence_number), err));
	BF_TRY(bfi_json_set(snapshot, "timestamp-ms", json_integer(c->now_ms), err));
	BF_TRY(bfi_json_set(snapshot, "manifest-list", json_string(manifest_list), err));
	BF_TRY(bfi_json_set(snapshot, "schema-id", json_integer(c->table->metadata->schemas.current_id),
						err));
	BF_TRY(bfi_json_child(snapshot, "summary", false, summary, err));
	BF_TRY(bfi_json_child(c->root, "refs", false, &refs, err));
	BF_TRY(bfi_json_child(refs, ref_name, false, &ref, err));
	BF_TRY(bfi_json_set(ref, "snapshot-id", json_integer(id), err));
	return bfi_json_set(ref, "type", json_string("branch"), err);
}

BfStatus
bfi_commit_log_main(BfiCommit *c, BfError *err)
{
	json_t *log;

	BF_TRY(bfi_json_set(c->root, "current-snapshot-id", json_integer(c->main_id), err));
	BF_TRY(bfi_json_child(c->root, "snapshot-log", true, &log, err));
	return bfi_json_append(log,
						   json_pack("{s:I, s:I}", "timestamp-ms", (json_int_t) c->now_ms,
									 "snapshot-id", (json_int_t) c->main_id),
						   err);
}

/* The file that this metadata follows, with the oldest entries cut off. */
static BfStatus
log_metadata(BfiCommit *c, BfError *err)
{
	const BfIceMetadata *m = c->table->metadata;
	const char *text = bf_ice_property(m, "write.metadata.previous-versions-max");
	int64_t max = METADATA_LOG_MAX;
	const char *recorded;
	json_t *log;

	if (text != NULL && bf_ascii_number(text, strlen(text), INT32_MAX, &max) != strlen(text))
		max = METADATA_LOG_MAX;
	if (max < 0)
		max = INT32_MAX;
	BF_TRY(
		bf_location_record(c->arena, &c->table->location, c->table->metadata_path, &recorded, err));
	BF_TRY(bfi_json_child(c->root, "metadata-log", true, &log, err));
	BF_TRY(bfi_json_append(log,
						   json_pack("{s:I, s:s}", "timestamp-ms", (json_int_t) m->last_updated_ms,
									 "metadata-file", recorded),
						   err));
	while ((int64_t) json_array_size(log) > (max > 1 ? max : 1))
		json_array_remove(log, 0);
	return BF_OK;
}

BfStatus
bfi_commit_new_id(const BfiCommit *c, int64_t *out, BfError *err)
{
	const BfHost *host = bf_arena_host(c->arena);

	do
	{
		uint64_t bits;

		BF_TRY(host->random(host, &bits, sizeof bits, err));
		*out = (int64_t) (bits & INT64_MAX);
	} while (*out == 0 || bf_ice_snapshot(c->table->metadata, *out) != NULL);
	return BF_OK;
}

BfStatus
bf_ice_can_commit(const BfIceTable *t, BfError *err)
{
	const BfIceMetadata *m = t->metadata;
	const BfIceSnapshot *heads[] = {bf_ice_ref(m, BF_ICE_BRANCH_MAIN),
									bf_ice_ref(m, BF_ICE_BRANCH_BIFANG)};

	if (m->format_version > 2)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "tables of format-version %d are not written",
				m->format_version);
	for (int32_t i = 0; i < m->snapshots.n; i++)
		if (m->snapshots.all[i].id < 0)
			BF_FAIL(err, BF_ERR_UNSUPPORTED,
					"the table has snapshot ids of more than 63 bits: they can't be written");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		if (heads[i] != NULL && heads[i]->manifest_list == NULL)
			BF_FAIL(
				err, BF_ERR_UNSUPPORTED,
				"the snapshot of branch \"%s\" has no manifest list, only manifests: it can't be "
				"extended",
				i == 0 ? BF_ICE_BRANCH_MAIN : BF_ICE_BRANCH_BIFANG);
	if (m->last_sequence_number >= INT64_MAX - 2)
		BF_FAIL(err, BF_ERR_CORRUPT, "last-sequence-number %lld leaves no next one",
				(long long) m->last_sequence_number);
	return BF_OK;
}

BfStatus
bfi_commit_begin(BfiCommit *c, BfError *err)
{
	const BfIceMetadata *m = c->table->metadata;
	const BfHost *host = bf_arena_host(c->arena);
	const char *slash = strrchr(c->table->metadata_path, '/');

	BF_TRY(bf_ice_can_commit(c->table, err));
	BF_NEVER(err, slash == NULL);
	BF_TRY_PTR(c->arena, c->dir,
			   bf_arena_strndup(c->arena, c->table->metadata_path,
								(size_t) (slash - c->table->metadata_path)),
			   err);
	BF_TRY(bfi_uuid(host, c->uuid, err));
	c->now_ms = host->now_us(host) / 1000;
	if (c->now_ms < m->last_updated_ms)
		c->now_ms = m->last_updated_ms;
	c->branch.main = bf_ice_ref(m, BF_ICE_BRANCH_MAIN);
	c->branch.branch_head = bf_ice_ref(m, BF_ICE_BRANCH_BIFANG);
	c->sequence_number = m->last_sequence_number + 1;
	BF_TRY(bfi_commit_new_id(c, &c->main_id, err));
	BF_TRY(bfi_commit_new_id(c, &c->snapshot_id, err));
	c->root = json_deep_copy(m->json);
	BF_TRY(bfi_json_own(c->arena, c->root, err));
	return m->format_version == 1 ? bfi_metadata_upgrade(m, host, c->root, err) : BF_OK;
}

BfStatus
bfi_commit_publish(BfiCommit *c, const char **metadata_path, BfError *err)
{
	const char *name = strrchr(c->table->metadata_path, '/') + 1;
	int64_t version = bfi_metadata_version(name);

	BF_ASSERT(c->now_ms >= c->table->metadata->last_updated_ms);
	BF_TRY(bfi_json_set(c->root, "last-updated-ms", json_integer(c->now_ms), err));
	BF_TRY(log_metadata(c, err));
	return bfi_metadata_publish(c->arena, c->dir, version + 1, c->root, metadata_path, err);
}

BfStatus
bfi_commit_finish(BfiCommit *c, const char **metadata_path, BfError *err)
{
	BfIceExpiry rule;
	BfIceExpired gone;
	json_t *properties;

	BF_ASSERT(c->sequence_number > c->table->metadata->last_sequence_number);
	BF_TRY(bfi_json_set(c->root, "last-sequence-number", json_integer(c->sequence_number), err));
	BF_TRY(bfi_json_child(c->root, "properties", false, &properties, err));
	BF_TRY(bfi_commit_set_coverage(c, properties, BF_ICE_COVERED, &c->branch.covered, err));
	BF_TRY(bfi_commit_set_coverage(c, properties, BF_ICE_COVERED_PARQUET, &c->branch.parquet, err));
	if (bf_ice_expiry(c->table->metadata, &rule))
		BF_TRY(bfi_commit_expire(c, &rule, &gone, err));
	return bfi_commit_publish(c, metadata_path, err);
}

void
bfi_commit_init(BfiCommit *c, BfArena *a, const BfIceTable *t, const BfIceNewFile *files,
				int32_t n_files)
{
	BF_ASSERT(n_files >= 0);
	*c = (BfiCommit){.arena = a,
					 .table = t,
					 .files = files,
					 .n_files = n_files,
					 .branch = {.arena = a, .table = t}};
}

BfStatus
bf_ice_expire(BfArena *a, const BfIceTable *t, const BfIceExpiry *rule, BfIceExpired *gone,
			  const char **metadata_path, BfError *err)
{
	BfiCommit *c;
	BfStatus status;

	*metadata_path = NULL;
	BF_NEW(a, c, 1, err);
	bfi_commit_init(c, a, t, NULL, 0);
	status = bfi_commit_begin(c, err);
	if (status == BF_OK)
		status = bfi_commit_expire(c, rule, gone, err);
	if (status == BF_OK && (gone->snapshots > 0 || gone->refs > 0))
		status = bfi_commit_publish(c, metadata_path, err);
	return status == BF_OK ? BF_OK : bf_error_object(err, t->metadata_path);
}
