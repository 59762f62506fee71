/*
 * Pages for the next scan: what bf_parquet_keep_pages has promised.
 *
 * A scan that stops within a row group leaves the dictionary and the page that each flat column is
 * in, decompressed. That is a copy per column and scan, and none for a scan that reads to the end.
 * Pages that were not compressed are not worth it, and those of nested columns are left alone.
 *
 * A kept page is as good as the one in the file: whoever keeps it knows by the file's identity that
 * it is the same. Only its checksum may still have to be looked at.
 */
#include "parquet/internal.h"

_Static_assert(sizeof(BfiKeptPage) % 8 == 0, "bytes behind it are aligned");

void
bf_parquet_keep_pages(BfParquetFile *f, BfParquetKeeper *pages)
{
	BF_ASSERT(pages == NULL || (pages->find != NULL && pages->keep != NULL));
	f->pages = pages;
}

const BfiKeptPage *
bfi_kept_find(const BfiColumn *c)
{
	BfParquetKeeper *pages = c->file->pages;
	const BfiKeptPage *k = NULL;

	if (pages == NULL || c->chunk.codec == BF_CODEC_NONE || c->levels != NULL)
		return NULL;
	k = (const BfiKeptPage *) (const void *) pages->find(pages, c->shared->arena,
														 c->chunk.next_page);
	if (k == NULL || k->rg != c->chunk.rg || k->leaf != c->leaf_index ||
		(c->file->limits.verify_crc && !k->verified))
		return NULL;
	BF_ASSERT(k->header_bytes > 0 && k->header.uncompressed_bytes >= 0);
	return k;
}

const uint8_t *
bfi_kept_bytes(const BfiKeptPage *k)
{
	return (const uint8_t *) (k + 1);
}

void
bfi_kept_note(const BfiColumn *c, BfiLeftPage *left, const BfiPageHeader *h, size_t header_bytes,
			  BfView levels, BfView body)
{
	BF_ASSERT(!left->there);
	if (c->file->pages == NULL || c->chunk.codec == BF_CODEC_NONE || c->levels != NULL ||
		c->kept != NULL)
		return;
	BF_ASSERT((size_t) levels.len + body.len == (size_t) h->uncompressed_bytes);
	*left = (BfiLeftPage){
		.there = true,
		.at = c->page.at,
		.is = {.header = *h,
			   .verified = c->file->limits.verify_crc || (h->seen & BFI_PH_CRC) == 0,
			   .n_values = c->page.n_values,
			   .rg = c->chunk.rg,
			   .leaf = c->leaf_index,
			   .header_bytes = header_bytes,
			   .level_bytes = levels.len},
		.levels = levels,
		.body = body,
	};
}

static void
leave(BfParquetKeeper *pages, const BfiLeftPage *left)
{
	static const uint8_t slack[BFI_SLACK];
	const BfView parts[] = {
		{(const uint8_t *) &left->is, sizeof left->is},
		left->levels,
		left->body,
		{slack, BFI_SLACK},
	};

	if (left->there)
		pages->keep(pages, left->at, parts, 4);
}

void
bfi_kept_leave(const BfiColumn *c)
{
	if (c->file->pages == NULL || c->page_left == 0)
		return;
	leave(c->file->pages, &c->left_dict);
	leave(c->file->pages, &c->left_page);
}
