/*
 * What a ledger's or a broker's directory has: segments in order, with their indexes, snapshots and
 * fixed sizes. A segment that waits to be swapped in counts while the plain one is missing.
 */
#include "base/ascii.h"
#include "base/sort.h"
#include "log/internal.h"

#define NAME_DIGITS 20
#define FILES_MAX 4000000

/* What a directory's file is, by its suffix. Everything else is ignored. */
typedef enum FileKind
{
	FILE_LOG,
	FILE_LOG_SWAP,
	FILE_INDEX,
	FILE_TIME_INDEX,
	FILE_TXN_INDEX,
	FILE_SNAPSHOT,
	FILE_KINDS
} FileKind;

static const char *const suffixes[FILE_KINDS] = {
	[FILE_LOG] = ".log",
	[FILE_LOG_SWAP] = ".log.swap",
	[FILE_INDEX] = ".index",
	[FILE_TIME_INDEX] = ".timeindex",
	[FILE_TXN_INDEX] = ".txnindex",
	[FILE_SNAPSHOT] = ".snapshot",
};

typedef struct FoundFile
{
	int64_t offset;
	FileKind kind;
} FoundFile;

bool
bf_segment_name(const char *name, int64_t *base_offset, const char **suffix)
{
	if (bf_ascii_number(name, strlen(name), BF_ENTRY_MAX, base_offset) != NAME_DIGITS ||
		*base_offset < 0 || name[NAME_DIGITS] != '.')
		return false;
	*suffix = name + NAME_DIGITS;
	return true;
}

static bool
parse_name(const char *name, FoundFile *out)
{
	const char *suffix;
	int64_t offset;

	if (!bf_segment_name(name, &offset, &suffix))
		return false;
	for (int k = 0; k < FILE_KINDS; k++)
		if (strcmp(suffix, suffixes[k]) == 0)
		{
			*out = (FoundFile){offset, (FileKind) k};
			return true;
		}
	return false;
}

static BfStatus
found_entry(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	FoundFile f;

	if (kind == BF_PATH_DIR || !parse_name(name, &f))
		return BF_OK;
	return bf_buffer_append(arg, &f, sizeof f, err);
}

static int
compare_files(const void *x, const void *y)
{
	const FoundFile *p = x;
	const FoundFile *q = y;

	if (p->offset != q->offset)
		return p->offset < q->offset ? -1 : 1;
	return (int) p->kind - (int) q->kind;
}

BfStatus
bfi_dir_path(const BfLogDir *d, BfArena *a, int64_t base, const char *suffix, const char **out,
			 BfError *err)
{
	BF_ASSERT(base >= 0);
	BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s/%020lld.%s", d->dir, (long long) base, suffix), err);
	return BF_OK;
}

/* Makes the segment list out of the sorted files: the files of one offset are neighbours. */
static BfStatus
collect(BfLogDir *d, const FoundFile *files, size_t n, BfError *err)
{
	BF_NEW(d->arena, d->segments, n, err);
	BF_NEW(d->arena, d->snapshots, n, err);
	d->n_segments = d->n_snapshots = 0;
	for (size_t i = 0; i < n;)
	{
		bool has[FILE_KINDS] = {false};
		int64_t offset = files[i].offset;
		BfSegmentInfo *s;

		BF_ASSERT(i == 0 || files[i - 1].offset < offset);
		for (; i < n && files[i].offset == offset; i++)
			has[files[i].kind] = true;
		if (has[FILE_SNAPSHOT])
			d->snapshots[d->n_snapshots++] = offset;
		if (!has[FILE_LOG] && !has[FILE_LOG_SWAP])
			continue;
		s = &d->segments[d->n_segments++];
		s->base_offset = offset;
		s->swap = !has[FILE_LOG];
		s->has_index = has[FILE_INDEX];
		s->has_time_index = has[FILE_TIME_INDEX];
		s->has_txn_index = has[FILE_TXN_INDEX];
		BF_TRY(bfi_dir_path(d, d->arena, offset, s->swap ? "log.swap" : "log", &s->path, err));
	}
	return BF_OK;
}

/* Sizes. A segment that went away since it was listed is left out; *gone says so. */
static BfStatus
stat_segments(BfLogDir *d, bool *gone, BfError *err)
{
	const BfHost *host = bf_arena_host(d->arena);
	int32_t kept = 0;

	*gone = false;
	for (int32_t i = 0; i < d->n_segments; i++)
	{
		BfPathInfo info;

		if ((i & 255) == 255)
			BF_TRY(bf_check_cancel(host, err));
		BF_TRY(host->stat(host, d->segments[i].path, &info, err));
		if (info.kind == BF_PATH_MISSING)
		{
			*gone = true;
			continue;
		}
		d->segments[kept] = d->segments[i];
		d->segments[kept++].size = info.size;
	}
	d->n_segments = kept;
	return BF_OK;
}

static BfStatus
list_segments(BfLogDir *d, BfBuffer *found, bool *gone, BfError *err)
{
	const BfHost *host = bf_arena_host(d->arena);
	size_t n;

	found->len = 0;
	BF_TRY(host->list(host, d->dir, found_entry, found, err));
	BF_ASSERT(found->len % sizeof(FoundFile) == 0);
	n = found->len / sizeof(FoundFile);
	bf_sort(found->data, n, sizeof(FoundFile), compare_files);
	BF_TRY(collect(d, (const FoundFile *) (const void *) found->data, n, err));
	return stat_segments(d, gone, err);
}

BfStatus
bf_log_dir_open(BfArena *a, const char *dir, BfLogCounters *counters, BfLogDir **out, BfError *err)
{
	BfLogDir *d;
	BfBuffer found;
	BfStatus status = BF_OK;
	bool gone = true;

	BF_NEW(a, d, 1, err);
	d->arena = a;
	d->counters = counters != NULL ? counters : &d->own_counters;
	d->indexes[0].number = d->indexes[1].number = -1;
	BF_TRY_PTR(a, d->dir, bf_arena_strdup(a, dir), err);
	bf_buffer_init(&found, bf_arena_host(a), FILES_MAX * sizeof(FoundFile));
	/* Between the steps of a compaction a segment may have no name for a moment: look again. What
	 * stays away was deleted, by retention or by a ledger's next writer. */
	for (int attempt = 0; attempt < 3 && status == BF_OK && gone; attempt++)
		status = list_segments(d, &found, &gone, err);
	bf_buffer_free(&found);
	if (status != BF_OK)
		return bf_error_object(err, dir);
	*out = d;
	return BF_OK;
}

int32_t
bf_log_dir_n_segments(const BfLogDir *d)
{
	return d->n_segments;
}

int64_t
bf_log_dir_newest_snapshot(const BfLogDir *d)
{
	BF_ASSERT(d->n_snapshots >= 0);
	return d->n_snapshots > 0 ? d->snapshots[d->n_snapshots - 1] : -1;
}

const BfSegmentInfo *
bf_log_dir_segment(const BfLogDir *d, int32_t i)
{
	BF_ASSERT(i >= 0 && i < d->n_segments);
	return &d->segments[i];
}

int32_t
bfi_dir_find(const BfLogDir *d, int64_t entry)
{
	int32_t at;

	BF_SEARCH(int32_t, at, d->n_segments, i, d->segments[i].base_offset <= entry);
	return at > 0 ? at - 1 : 0;
}

BfStatus
bfi_dir_codec(BfLogDir *d, BfError *err)
{
	if (d->codec != NULL)
		return BF_OK;
	if (d->scratch == NULL)
		BF_TRY(bf_buffer_new(d->arena, BF_BATCH_BYTES_MAX, &d->scratch, err));
	return bf_codec_context_new(d->arena, &d->codec, err);
}

void
bf_log_dir_check_all(BfLogDir *d)
{
	d->check_all = true;
}
