/*
 * Manifests that are written again: the lines of one or more of them become those of a new one.
 * What goes is DELETED by the new snapshot; what stays is EXISTING and keeps the snapshot and the
 * sequence numbers that it came with, written out, since the new list would give others. What older
 * snapshots deleted is left out.
 */
#include "iceberg/commit_internal.h"

/* Counts stand in files: whoever wrote them, sums are within 63 bits. */
BfStatus
bfi_count_add(int64_t *sum, int64_t more, BfError *err)
{
	BF_DATA(err, more >= 0 && !__builtin_add_overflow(*sum, more, sum), -1,
			"rows, entries or bytes of logical files are negative or add up to more than 2^63");
	return BF_OK;
}

static BfStatus
grow(BfiRewrite *r, BfError *err)
{
	int32_t capacity = r->capacity > 0 ? r->capacity * 2 : 64;
	BfiNewEntry *more;

	if (r->n < r->capacity)
		return BF_OK;
	BF_NEW_RAW(r->arena, more, capacity, err);
	if (r->n > 0)
		memcpy(more, r->entries, (size_t) r->n * sizeof *more);
	BF_ASSERT(r->n < capacity);
	r->entries = more;
	r->capacity = capacity;
	return BF_OK;
}

static BfStatus
count_line(BfiRewrite *r, const BfIceFile *file, bool goes, BfError *err)
{
	BfIceManifest *m = &r->manifest;

	BF_DATA(err, file->sequence_number >= 0 && file->file_size >= 0, -1,
			"%.300s has no sequence number or no size", file->path);
	if (goes)
	{
		m->deleted_files++;
		BF_TRY(bfi_count_add(&m->deleted_rows, file->record_count, err));
		return bfi_count_add(&r->bytes_gone, file->file_size, err);
	}
	m->existing_files++;
	BF_TRY(bfi_count_add(&m->existing_rows, file->record_count, err));
	if (m->min_sequence_number < 0 || file->sequence_number < m->min_sequence_number)
		m->min_sequence_number = file->sequence_number;
	return BF_OK;
}

static BfStatus
visit_line(void *arg, const BfIceFile *file, BfError *err)
{
	BfiRewrite *r = arg;
	bool goes;
	BfIceNewFile *f;

	if (file->status == BF_ICE_DELETED)
		return BF_OK;
	BF_TRY(bf_check_cancel(bf_arena_host(r->arena), err));
	goes = r->goes(r->arg, file);
	BF_TRY(count_line(r, file, goes, err));
	BF_TRY(grow(r, err));
	BF_NEW(r->arena, f, 1, err);
	*f = (BfIceNewFile){.path = file->path,
						.format = file->format,
						.spec_id = file->spec_id,
						.n_partition = file->n_partition,
						.partition = file->partition,
						.record_count = file->record_count,
						.file_size = file->file_size};
	BF_TRY(bfi_metrics_again(r->arena, &file->metrics, &f->metrics, err));
	r->entries[r->n++] = (BfiNewEntry){
		goes ? BF_ICE_DELETED : BF_ICE_EXISTING, goes ? r->c->snapshot_id : file->snapshot_id,
		file->sequence_number,
		file->file_sequence_number >= 0 ? file->file_sequence_number : file->sequence_number, f};
	return BF_OK;
}

BfStatus
bfi_rewrite_add(BfiRewrite *r, const BfIceNewFile *file, int64_t sequence_number, BfError *err)
{
	BfIceManifest *m = &r->manifest;

	BF_TRY(grow(r, err));
	m->added_files++;
	if (m->min_sequence_number < 0 || sequence_number < m->min_sequence_number)
		m->min_sequence_number = sequence_number;
	BF_TRY(bfi_count_add(&m->added_rows, file->record_count, err));
	r->entries[r->n++] = (BfiNewEntry){BF_ICE_ADDED, r->c->snapshot_id, sequence_number, -1, file};
	return BF_OK;
}

void
bfi_rewrite_begin(BfiRewrite *r, BfiCommit *c, BfArena *arena,
				  bool (*goes)(void *arg, const BfIceFile *file), void *arg)
{
	*r = (BfiRewrite){.c = c, .arena = arena, .goes = goes, .arg = arg};
	r->manifest.min_sequence_number = -1;
}

BfStatus
bfi_rewrite_read(BfiRewrite *r, const BfIceManifest *old, BfError *err)
{
	BfIceManifest m = *old;
	const char *path;

	BF_ASSERT(!old->deletes);
	m.added_files = r->manifest.added_files;
	m.existing_files = r->manifest.existing_files;
	m.deleted_files = r->manifest.deleted_files;
	m.added_rows = r->manifest.added_rows;
	m.existing_rows = r->manifest.existing_rows;
	m.deleted_rows = r->manifest.deleted_rows;
	m.min_sequence_number = r->manifest.min_sequence_number;
	r->manifest = m;
	BF_TRY(bf_location_resolve(r->arena, &r->c->table->location, old->path, &path, err));
	return bf_ice_read_manifest(r->arena, path, old, r->c->table->metadata, NULL, visit_line, r,
								err);
}

BfStatus
bfi_rewrite_write(BfiRewrite *r, BfError *err)
{
	const BfIceSpec *spec;

	BF_ASSERT(r->n > 0);
	BF_ASSERT(r->n ==
			  r->manifest.added_files + r->manifest.existing_files + r->manifest.deleted_files);
	spec = bf_ice_spec(r->c->table->metadata, r->entries[0].file->spec_id);
	BF_NEVER(err, spec == NULL);
	if (r->manifest.min_sequence_number < 0)
		r->manifest.min_sequence_number = r->manifest.sequence_number;
	return bfi_commit_write_manifest(r->c, spec, r->entries, r->n, &r->manifest, err);
}
