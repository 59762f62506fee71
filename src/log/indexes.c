/*
 * The indexes of an open segment: which pages of them were read is kept by the directory, so that
 * whoever looks for the log's end and whoever then reads there share them. Files are open only
 * while a search reads.
 */
#include "log/internal.h"

/* Twice an index of the largest size, since a page may be asked for before all of it is. */
#define ARENA_BYTES_MAX ((size_t) 4 * BF_INDEX_BYTES_MAX)

/* What a search reads from. */
typedef struct IndexFile
{
	BfLogDir *dir;
	const char *path;
	int file; /* -1 = not open */
} IndexFile;

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

/* The slot of the segment, emptied when it was another's. */
static BfStatus
find_slot(BfiSegment *s, BfiIndexes **out, BfError *err)
{
	BfLogDir *d = s->dir;
	BfiIndexes *slot;

	BF_ASSERT(s->number >= 0 && (d->recent == 0 || d->recent == 1));
	if (d->indexes[d->recent].number != s->number)
		d->recent = 1 - d->recent;
	slot = *out = &d->indexes[d->recent];
	if (slot->number == s->number)
		return BF_OK;
	slot->number = -1;
	slot->known[BF_INDEX_OFFSETS] = slot->known[BF_INDEX_TIMES] = false;
	if (slot->arena != NULL)
		bf_arena_reset(slot->arena);
	else
	{
		BfArena *a = bf_arena_new(bf_arena_host(d->arena), "log index", ARENA_BYTES_MAX);

		if (a == NULL)
			return bf_arena_fail(d->arena, 0, err);
		if (!bf_arena_on_cleanup(d->arena, free_arena, a))
		{
			bf_arena_free(a);
			return bf_arena_fail(d->arena, 0, err);
		}
		slot->arena = a;
	}
	slot->number = s->number;
	return BF_OK;
}

static BfStatus
read_file(void *arg, int64_t pos, uint8_t *buf, size_t n, BfError *err)
{
	IndexFile *f = arg;
	const BfHost *host = bf_arena_host(f->dir->arena);
	BfIoCounters *io = &f->dir->counters->io;

	if (f->file < 0)
	{
		BF_TRY(host->open(host, f->path, BF_OPEN_READ, &f->file, err));
		io->files_opened++;
	}
	if (n == 0)
		return BF_OK;
	BF_TRY(host->read_at(host, f->file, pos, buf, n, err));
	io->reads++;
	io->bytes_read += (int64_t) n;
	return BF_OK;
}

static BfStatus
open_index(BfiIndexes *slot, BfIndexKind kind, const BfSegmentInfo *info, IndexFile *f,
		   BfError *err)
{
	const BfHost *host = bf_arena_host(f->dir->arena);
	int64_t size, used;

	BF_TRY(read_file(f, 0, NULL, 0, err));
	BF_TRY(host->file_size(host, f->file, &size, err));
	/* What a broker preallocated is a hole. An entry may reach into it with its zeroes. */
	used = host->data_end(host, f->file, size);
	used +=
		(kind == BF_INDEX_OFFSETS ? BF_OFFSET_INDEX_ENTRY_BYTES : BF_TIME_INDEX_ENTRY_BYTES) - 1;
	return bf_index_open(slot->arena, kind, info->base_offset, used < size ? used : size,
						 info->size, read_file, f, &f->dir->counters->index, &slot->index[kind],
						 err);
}

/* After a search. A failure that says nothing of the query makes it an index without entries:
 * everything in it stands in the log too. */
static BfStatus
close_index(BfIndex *ix, IndexFile *f, BfStatus status, const BfError *failed, BfError *err)
{
	const BfHost *host = bf_arena_host(f->dir->arena);

	if (f->file >= 0)
		host->close(host, f->file);
	f->file = -1;
	if (status == BF_OK)
		return BF_OK;
	ix->n = 0;
	if (status != BF_ERR_NOMEM && status != BF_ERR_CANCEL && status != BF_ERR_HOST)
		return BF_OK;
	*err = *failed;
	return status;
}

/* The index, ready to be searched through `f`, to be closed after that. */
static BfStatus
get_index(BfiSegment *s, BfIndexKind kind, IndexFile *f, BfIndex **out, BfError *err)
{
	bool there = kind == BF_INDEX_OFFSETS ? s->info->has_index : s->info->has_time_index;
	const char *suffix = kind == BF_INDEX_OFFSETS ? "index" : "timeindex";
	BfiIndexes *slot;
	BfIndex *ix;
	BfError failed;
	BfStatus status;

	BF_TRY(find_slot(s, &slot, err));
	ix = *out = &slot->index[kind];
	*f = (IndexFile){s->dir, NULL, -1};
	if (!slot->known[kind])
		*ix = (BfIndex){.kind = kind};
	if (!there || s->info->swap || (slot->known[kind] && ix->n == 0))
		return BF_OK;
	BF_TRY(bfi_dir_path(s->dir, s->arena, s->info->base_offset, suffix, &f->path, err));
	ix->arg = f;
	if (slot->known[kind])
		return BF_OK;
	slot->known[kind] = true;
	status = open_index(slot, kind, s->info, f, &failed);
	return status == BF_OK ? BF_OK : close_index(ix, f, status, &failed, err);
}

BfStatus
bfi_segment_index_floor(BfiSegment *s, BfIndexKind kind, int64_t target, BfIndexEntry *e,
						bool *found, BfError *err)
{
	IndexFile f;
	BfIndex *ix;
	BfError failed;
	BfStatus status;

	*found = false;
	BF_TRY(get_index(s, kind, &f, &ix, err));
	status = bf_index_floor(ix, target, e, found, &failed);
	*found = *found && status == BF_OK;
	return close_index(ix, &f, status, &failed, err);
}

BfStatus
bfi_segment_index_last(BfiSegment *s, int64_t *position, bool *found, BfError *err)
{
	IndexFile f;
	BfIndexEntry e;
	BfIndex *ix;
	BfError failed;
	BfStatus status;

	*found = false;
	BF_TRY(get_index(s, BF_INDEX_OFFSETS, &f, &ix, err));
	status = bf_index_last_inside(ix, s->size, &e, found, &failed);
	*found = *found && status == BF_OK;
	if (*found)
		*position = e.position;
	return close_index(ix, &f, status, &failed, err);
}

BfStatus
bfi_segment_index_load(BfiSegment *s, BfIndexKind kind, const BfIndex **out, BfError *err)
{
	IndexFile f;
	BfIndex *ix;
	BfError failed;
	BfStatus status;

	BF_TRY(get_index(s, kind, &f, &ix, err));
	*out = ix;
	status = bf_index_load(ix, &failed);
	return close_index(ix, &f, status, &failed, err);
}
