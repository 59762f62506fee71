/*
 * Reading an offload file: its tail, then the root, then the index blocks that a range touches.
 * Everything is under a checksum that is checked before it is believed.
 */
#include "log/offload_format.h"

#include "base/sort.h"

/* Neighbours with a smaller hole between them are read together... */
#define HOLE_BYTES_MAX (64 << 10)
/* ... up to so many bytes, unless one batch alone is larger. */
#define GROUP_BYTES_MAX (1 << 20)
/* The source's first read at the end of a file brings in so much. */
#define FIRST_READ_BYTES (64 << 10)

struct BfOffloadFile
{
	BfSource *source; /* lives in the arena given at open */
	BfLogCounters *counters;
	BfLogCounters own_counters;
	BfOffloadInfo info;
	BfiOffloadBlock *blocks;
	int32_t n_blocks;
	int64_t data_start; /* of the first batch's length */
	int64_t data_end;
};

/* ---- opening ---- */

static BfStatus
find_root(BfSource *source, int64_t *position, uint32_t *length, BfError *err)
{
	int64_t size = bf_source_size(source);
	int64_t tail_at = size - BFI_OFFLOAD_TAIL_BYTES;
	const uint8_t *p;

	BF_DATA(err, tail_at >= BFI_OFFLOAD_HEADER_BYTES + BFI_OFFLOAD_ROOT_BYTES + 4, size,
			"the file is too short for an offload file");
	BF_TRY(bf_source_window(source, tail_at, BFI_OFFLOAD_TAIL_BYTES, &p, err));
	BF_DATA(err, memcmp(p + 16, BFI_OFFLOAD_TAIL_MAGIC, 8) == 0, tail_at + 16,
			"the file does not end like an offload file: it is cut off, or something else");
	BF_DATA(err, bf_crc32c(p, 12) == bf_load32be(p + 12), tail_at,
			"the checksum of the tail is wrong");
	*length = bf_load32be(p + 8);
	*position = (int64_t) bf_load64be(p);
	BF_DATA(err,
			*length >= BFI_OFFLOAD_ROOT_BYTES + 4 && *length <= tail_at &&
				*position == tail_at - *length && *position >= BFI_OFFLOAD_HEADER_BYTES,
			tail_at, "the root at %lld with %u bytes does not end where the tail begins",
			(long long) *position, *length);
	if (*length > BFI_OFFLOAD_ROOT_BYTES_MAX)
		BF_FAIL_AT(err, BF_ERR_LIMIT, tail_at, "a root of %u bytes is too large", *length);
	return BF_OK;
}

/* Without its checksum. */
static int64_t
block_bytes(const BfiOffloadBlock *b)
{
	return (int64_t) b->n * BFI_OFFLOAD_RECORD_BYTES + b->n_bounds;
}

/* The blocks must follow each other from the end of the data to the root, and so must their
 * entries from 0 to the number of entries. */
static BfStatus
parse_blocks(BfOffloadFile *f, const uint8_t *p, int64_t root_at, BfError *err)
{
	int64_t entry = 0;
	int64_t batches = 0;
	int64_t position = root_at;

	BF_ASSERT(f->n_blocks >= 0 && f->data_start <= root_at);
	for (int32_t i = 0; i < f->n_blocks; i++, p += BFI_OFFLOAD_ROOT_BLOCK_BYTES)
	{
		BfiOffloadBlock *b = &f->blocks[i];

		b->first = (int64_t) bf_load64be(p);
		b->last = (int64_t) bf_load64be(p + 8);
		b->position = (int64_t) bf_load64be(p + 16);
		b->n = (int32_t) bf_load32be(p + 24);
		b->n_bounds = bf_load32be(p + 28);
		if (i == 0)
			position = b->position;
		BF_DATA(err,
				b->first == entry && b->last >= b->first && b->last <= BF_ENTRY_MAX && b->n > 0 &&
					b->n <= BFI_OFFLOAD_BLOCK_RECORDS &&
					b->n_bounds <= BF_OFFLOAD_BOUNDS_BYTES_MAX && b->position == position &&
					b->position >= f->data_start && b->position < root_at,
				root_at, "index block %d with entries %lld-%lld at %lld does not fit the file", i,
				(long long) b->first, (long long) b->last, (long long) b->position);
		entry = b->last + 1;
		batches += b->n;
		position += block_bytes(b) + 4;
	}
	BF_DATA(
		err, entry == f->info.n_entries && batches == f->info.n_batches && position == root_at,
		root_at,
		"the index blocks have %lld entries and %lld batches up to position %lld, the root says "
		"%lld, %lld and %lld",
		(long long) entry, (long long) batches, (long long) position, (long long) f->info.n_entries,
		(long long) f->info.n_batches, (long long) root_at);
	f->data_end = f->n_blocks > 0 ? f->blocks[0].position : root_at;
	BF_DATA(err, f->n_blocks > 0 || f->data_end == f->data_start, root_at,
			"the file has data but no index");
	BF_ASSERT(f->data_start <= f->data_end && f->data_end <= root_at);
	return BF_OK;
}

static BfStatus
parse_root(BfArena *a, BfOffloadFile *f, int64_t root_at, uint32_t length, BfError *err)
{
	uint8_t *p;
	uint32_t schema_len, n_blocks;
	char *schema;

	BF_NEW_RAW(a, p, length, err);
	BF_TRY(bf_source_read(f->source, root_at, p, length, err));
	BF_DATA(err, bf_crc32c(p, length - 4) == bf_load32be(p + length - 4), root_at,
			"the checksum of the root is wrong");
	f->info.n_entries = (int64_t) bf_load64be(p);
	f->info.n_batches = (int64_t) bf_load64be(p + 8);
	f->info.min_timestamp = (int64_t) bf_load64be(p + 16);
	f->info.max_timestamp = (int64_t) bf_load64be(p + 24);
	schema_len = bf_load32be(p + 32);
	n_blocks = bf_load32be(p + 36);
	BF_DATA(err,
			(uint64_t) schema_len + (uint64_t) n_blocks * BFI_OFFLOAD_ROOT_BLOCK_BYTES ==
				length - BFI_OFFLOAD_ROOT_BYTES - 4,
			root_at + 32, "%u bytes of schema and %u index blocks don't fit the root", schema_len,
			n_blocks);
	BF_DATA(err, schema_len <= root_at - BFI_OFFLOAD_HEADER_BYTES, root_at + 32,
			"%u bytes of schema don't fit before the root", schema_len);
	BF_DATA(err, memchr(p + BFI_OFFLOAD_ROOT_BYTES, 0, schema_len) == NULL,
			root_at + BFI_OFFLOAD_ROOT_BYTES, "the schema has a zero byte");
	BF_TRY_PTR(a, schema,
			   bf_arena_strndup(a, (const char *) p + BFI_OFFLOAD_ROOT_BYTES, schema_len), err);
	f->info.schema_json = schema;
	f->info.n_index_blocks = n_blocks;
	f->n_blocks = (int32_t) n_blocks;
	f->data_start = BFI_OFFLOAD_HEADER_BYTES + (int64_t) schema_len;
	BF_NEW_RAW(a, f->blocks, n_blocks, err);
	return parse_blocks(f, p + BFI_OFFLOAD_ROOT_BYTES + schema_len, root_at, err);
}

/* What the first read brought in anyway is checked; for larger files the header isn't needed. */
static BfStatus
check_header(BfOffloadFile *f, BfError *err)
{
	size_t schema_len = strlen(f->info.schema_json);
	const uint8_t *p;

	BF_ASSERT(f->data_start == BFI_OFFLOAD_HEADER_BYTES + (int64_t) schema_len);
	if (f->info.file_bytes > FIRST_READ_BYTES)
		return BF_OK;
	BF_TRY(bf_source_window(f->source, 0, BFI_OFFLOAD_HEADER_BYTES + schema_len, &p, err));
	BF_DATA(err, memcmp(p, BFI_OFFLOAD_MAGIC, 8) == 0, 0, "not an offload file");
	if (bf_load32be(p + 8) < BFI_OFFLOAD_VERSION_OLDEST ||
		bf_load32be(p + 8) > BFI_OFFLOAD_VERSION || bf_load32be(p + 12) != 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, 8, "version %u with flags %x is not supported",
				   bf_load32be(p + 8), bf_load32be(p + 12));
	BF_DATA(err,
			bf_load32be(p + 16) == schema_len &&
				memcmp(p + BFI_OFFLOAD_HEADER_BYTES, f->info.schema_json, schema_len) == 0,
			16, "the schema in the header is not that of the root");
	BF_DATA(err,
			bf_crc32c_extend(bf_crc32c(p, 20), p + BFI_OFFLOAD_HEADER_BYTES, schema_len) ==
				bf_load32be(p + 20),
			20, "the checksum of the header is wrong");
	return BF_OK;
}

BfStatus
bfi_offload_open(BfArena *a, BfSource *source, BfLogCounters *counters, BfOffloadFile **out,
				 BfError *err)
{
	BfOffloadFile *f;
	int64_t root_at;
	uint32_t root_len;

	BF_NEW(a, f, 1, err);
	f->source = source;
	f->counters = counters != NULL ? counters : &f->own_counters;
	f->info.file_bytes = bf_source_size(source);
	BF_TRY(find_root(source, &root_at, &root_len, err));
	BF_TRY(parse_root(a, f, root_at, root_len, err));
	BF_TRY(check_header(f, err));
	*out = f;
	return BF_OK;
}

BfStatus
bf_offload_open(BfArena *a, const char *path, BfLogCounters *counters, BfOffloadFile **out,
				BfError *err)
{
	BfSource *source;
	BfStatus status;

	BF_TRY(bf_source_open(a, path, counters != NULL ? &counters->io : NULL, &source, err));
	status = bfi_offload_open(a, source, counters, out, err);
	if (status == BF_OK)
		return BF_OK;
	bf_source_close(source);
	return bf_error_object(err, path);
}

const BfOffloadInfo *
bf_offload_info(const BfOffloadFile *f)
{
	return &f->info;
}

/* ---- walking ---- */

struct BfOffloadWalk
{
	BfOffloadFile *file; /* borrowed */
	BfRangeSet ranges;	 /* owned copy */
	const BfHost *host;
	BfOffloadRecord *records; /* of the loaded block */
	int32_t block;			  /* -1 = none loaded */
	int32_t at;				  /* next record of the block to look at */
	int32_t group_end;		  /* records before this are in `bytes` */
	BfBuffer *bytes;
	int64_t bytes_position; /* in the file */
};

BfStatus
bf_offload_walk_new(BfArena *a, BfOffloadFile *f, const BfRangeSet *ranges, BfOffloadWalk **out,
					BfError *err)
{
	BfOffloadWalk *w;

	if (ranges->n > 0 && ranges->ranges[ranges->n - 1].last >= f->info.n_entries)
	{
		bf_error(err, BF_ERR_CORRUPT, "entry %lld is wanted of an offload file with %lld entries",
				 (long long) ranges->ranges[ranges->n - 1].last, (long long) f->info.n_entries);
		return bf_error_object(err, bf_source_name(f->source));
	}
	BF_NEW(a, w, 1, err);
	w->file = f;
	w->host = bf_arena_host(a);
	w->block = -1;
	BF_TRY(bf_rangeset_make(a, ranges->ranges, ranges->n, &w->ranges, err));
	BF_NEW_RAW(a, w->records, BFI_OFFLOAD_BLOCK_RECORDS, err);
	BF_TRY(bf_buffer_new(a, (size_t) BF_BATCH_BYTES_MAX + GROUP_BYTES_MAX, &w->bytes, err));
	*out = w;
	return BF_OK;
}

/* The records of a block into `records`; *bounds are valid until the file is read again. */
static BfStatus
read_block(const BfOffloadFile *f, int32_t number, BfOffloadRecord *records, BfView *bounds,
		   BfError *err)
{
	const BfiOffloadBlock *b = &f->blocks[number];
	size_t len = (size_t) block_bytes(b);
	int64_t entry = b->first;
	int64_t position = -1;
	const uint8_t *p;

	BF_ASSERT(number >= 0 && number < f->n_blocks);
	BF_TRY(bf_source_window(f->source, b->position, len + 4, &p, err));
	BF_DATA(err, bf_crc32c(p, len) == bf_load32be(p + len), b->position,
			"the checksum of the index block of entries %lld-%lld is wrong", (long long) b->first,
			(long long) b->last);
	for (int32_t i = 0; i < b->n; i++, p += BFI_OFFLOAD_RECORD_BYTES)
	{
		BfOffloadRecord *r = &records[i];

		r->first = (int64_t) bf_load64be(p);
		r->last = (int64_t) bf_load64be(p + 8);
		r->position = (int64_t) bf_load64be(p + 16);
		r->length = (int32_t) bf_load32be(p + 24);
		r->n_records = (int32_t) bf_load32be(p + 28);
		r->min_timestamp = (int64_t) bf_load64be(p + 32);
		r->max_timestamp = (int64_t) bf_load64be(p + 40);
		BF_DATA(
			err,
			r->first == entry && r->last >= r->first && r->last <= b->last &&
				r->length >= BF_BATCH_HEADER_BYTES && r->length <= BF_BATCH_BYTES_MAX &&
				r->position >= f->data_start + 4 && r->position <= f->data_end - r->length &&
				(position < 0 || r->position == position),
			b->position + (int64_t) i * BFI_OFFLOAD_RECORD_BYTES,
			"the index has a batch of entries %lld-%lld at position %lld, which is not possible",
			(long long) r->first, (long long) r->last, (long long) r->position);
		entry = r->last + 1;
		position = r->position + r->length + 4;
	}
	BF_DATA(err, entry == b->last + 1, b->position,
			"the index block ends before entry %lld, expected %lld", (long long) entry,
			(long long) b->last + 1);
	*bounds = (BfView){p, b->n_bounds};
	return BF_OK;
}

static BfStatus
load_block(BfOffloadWalk *w, int32_t number, BfError *err)
{
	BfView bounds;

	BF_ASSERT(number > w->block);
	w->block = -1;
	BF_TRY(read_block(w->file, number, w->records, &bounds, err));
	w->block = number;
	w->at = w->group_end = 0;
	return BF_OK;
}

BfRange
bf_offload_block_entries(const BfOffloadFile *f, int32_t number)
{
	BF_ASSERT(number >= 0 && number < f->n_blocks);
	return (BfRange){f->blocks[number].first, f->blocks[number].last};
}

bool
bf_offload_block_has_bounds(const BfOffloadFile *f, int32_t number)
{
	BF_ASSERT(number >= 0 && number < f->n_blocks);
	return f->blocks[number].n_bounds > 0;
}

BfStatus
bf_offload_block(BfArena *a, BfOffloadFile *f, int32_t number, const BfOffloadRecord **records,
				 int32_t *n, BfView *bounds, BfError *err)
{
	BfOffloadRecord *all;
	BfStatus status;

	BF_ASSERT(number >= 0 && number < f->n_blocks);
	*n = f->blocks[number].n;
	*bounds = (BfView){NULL, 0};
	BF_NEW_RAW(a, all, *n, err);
	*records = all;
	status = read_block(f, number, all, bounds, err);
	if (status != BF_ERR_CORRUPT)
		return status;
	*n = 0;
	bf_error_clear(err);
	return BF_OK;
}

static bool
wanted(const BfOffloadWalk *w, const BfOffloadRecord *r)
{
	int32_t i = bf_rangeset_seek(&w->ranges, r->first);

	BF_ASSERT(r->first <= r->last);
	return i < w->ranges.n && w->ranges.ranges[i].first <= r->last;
}

/* Loads the next block that the ranges touch; false in *more when there is none. */
static BfStatus
next_block(BfOffloadWalk *w, bool *more, BfError *err)
{
	const BfOffloadFile *f = w->file;
	int64_t done = w->block >= 0 ? f->blocks[w->block].last : -1;
	int32_t i = bf_rangeset_seek(&w->ranges, done + 1);
	int32_t lo = w->block + 1;
	int32_t hi = f->n_blocks;
	int64_t need;

	*more = i < w->ranges.n;
	if (!*more)
		return BF_OK;
	need = w->ranges.ranges[i].first;
	while (lo < hi)
	{
		int32_t mid = lo + (hi - lo) / 2;

		if (f->blocks[mid].last < need)
			lo = mid + 1;
		else
			hi = mid;
	}
	BF_NEVER(err, lo == f->n_blocks);
	return load_block(w, lo, err);
}

BfStatus
bfi_offload_next_batch(BfArena *a, BfOffloadFile *f, int64_t after, int64_t *entry, BfError *err)
{
	const BfRangeSet none = {0, NULL};
	BfOffloadWalk *w;
	int32_t at;

	*entry = -1;
	BF_TRY(bf_offload_walk_new(a, f, &none, &w, err));
	BF_SEARCH(int32_t, at, f->n_blocks, i, f->blocks[i].last <= after);
	if (at == f->n_blocks)
		return BF_OK;
	*entry = f->blocks[at].first;
	if (*entry > after)
		return BF_OK;
	*entry = at + 1 < f->n_blocks ? f->blocks[at + 1].first : -1;
	if (load_block(w, at, err) != BF_OK)
		return err->code == BF_ERR_CORRUPT ? BF_OK : err->code;
	for (int32_t i = f->blocks[at].n; i-- > 0 && w->records[i].first > after;)
		*entry = w->records[i].first;
	return BF_OK;
}

/* Reads the wanted record at w->at together with those after it that are near. */
static BfStatus
read_group(BfOffloadWalk *w, BfError *err)
{
	const BfOffloadFile *f = w->file;
	const BfOffloadRecord *first = &w->records[w->at];
	int64_t start = first->position - 4;
	int64_t end = first->position + first->length;
	int32_t n = f->blocks[w->block].n;
	int32_t last = w->at;

	BF_ASSERT(w->at < n && wanted(w, first));
	for (int32_t i = w->at + 1; i < n && w->records[i].position - 4 - end <= HOLE_BYTES_MAX; i++)
	{
		const BfOffloadRecord *r = &w->records[i];

		BF_ASSERT(r->position - 4 >= end);
		if (r->position + r->length - start > GROUP_BYTES_MAX)
			break;
		if (!wanted(w, r))
			continue;
		end = r->position + r->length;
		last = i;
		f->counters->io.coalesced++;
	}
	w->bytes->len = 0;
	BF_TRY(bf_buffer_reserve(w->bytes, (size_t) (end - start), err));
	BF_TRY(bf_source_read(f->source, start, w->bytes->data, (size_t) (end - start), err));
	w->bytes->len = (size_t) (end - start);
	w->bytes_position = start;
	w->group_end = last + 1;
	return BF_OK;
}

static BfStatus
check_batch(const BfOffloadRecord *r, const uint8_t *batch, BfBatchHeader *h, BfError *err)
{
	BF_DATA(err, bf_load32be(batch - 4) == (uint32_t) r->length, r->position - 4,
			"a batch has %u bytes, the index says %d", bf_load32be(batch - 4), r->length);
	BF_TRY(bf_batch_header(batch, (size_t) r->length, r->position, h, err));
	BF_DATA(err,
			h->total_bytes == r->length && h->base_offset == r->first &&
				h->last_offset == r->last && h->n_records == r->n_records,
			r->position, "a batch of entries %lld-%lld is where the index has %lld-%lld",
			(long long) h->base_offset, (long long) h->last_offset, (long long) r->first,
			(long long) r->last);
	return bf_batch_check_crc(h, batch, r->position, err);
}

static BfStatus
walk_next(BfOffloadWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
		  BfError *err)
{
	for (;;)
	{
		const BfOffloadRecord *r;

		BF_TRY(bf_check_cancel(w->host, err));
		if (w->block < 0 || w->at == w->file->blocks[w->block].n)
		{
			bool more;

			BF_TRY(next_block(w, &more, err));
			if (!more)
				return BF_OK;
		}
		r = &w->records[w->at];
		if (!wanted(w, r))
		{
			w->file->counters->batches_skipped++;
			w->at++;
			continue;
		}
		if (w->at >= w->group_end)
			BF_TRY(read_group(w, err));
		BF_ASSERT(r->position - 4 >= w->bytes_position);
		BF_ASSERT(r->position + r->length <= w->bytes_position + (int64_t) w->bytes->len);
		w->at++;
		*position = r->position;
		BF_TRY(check_batch(r, w->bytes->data + (r->position - w->bytes_position), h, err));
		*batch = w->bytes->data + (r->position - w->bytes_position);
		w->file->counters->batches_read++;
		return BF_OK;
	}
}

BfStatus
bf_offload_walk_next(BfOffloadWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
					 const char **path, BfError *err)
{
	BfStatus status;

	*batch = NULL;
	*path = bf_source_name(w->file->source);
	status = walk_next(w, h, batch, position, err);
	return status == BF_OK ? BF_OK : bf_error_object(err, *path);
}
