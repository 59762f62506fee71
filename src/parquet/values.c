/*
 * The values of a column's page in storage form: decoded by their encoding (encoding/), then
 * converted where the storage of the table's type differs from the physical one; and the dictionary
 * of a chunk, whose entries are converted once.
 */
#include "parquet/internal.h"

BfStatus
bfi_column_init_values(BfArena *a, BfiColumn *c, BfError *err)
{
	c->values = (BfiValues){
		.physical = c->leaf->physical,
		.width = c->leaf->width,
		.bytes_max = c->file->limits.page_bytes_max,
		.batch = c->batch.arena,
		.scratch = c->batch.codes,
		.spare = c->shared->native,
	};
	return bfi_values_init(a, &c->values, err);
}

BfStatus
bfi_column_begin_values(BfiColumn *c, BfError *err)
{
	return bfi_values_begin(&c->values, c->page.encoding, c->page.body, c->page.n_values,
							c->page.at, err);
}

BfStatus
bfi_column_decode(BfiColumn *c, int32_t n, void *out, BfError *err)
{
	BF_ASSERT(n <= BF_BATCH_ROWS && n <= c->values.left);
	/* Entries of a dictionary have been converted. */
	if (c->leaf->convert == BFI_CONVERT_NONE || bfi_column_has_codes(c))
		return bfi_values_decode(&c->values, n, out, err);
	BF_TRY(bfi_values_decode(&c->values, n, c->shared->native, err));
	return bfi_convert(c->leaf, c->shared->native, n, out, c->values.at, err);
}

/* Are the entries' bytes what their values are in storage? */
static bool
is_in_place(const BfiColumn *c)
{
	const BfiLeaf *leaf = c->leaf;
	size_t size = bf_storage_size(leaf->storage);

	return leaf->convert == BFI_CONVERT_NONE && leaf->storage != BF_STORE_VIEW &&
		   (leaf->physical == BFI_INT32 || leaf->physical == BFI_INT64 ||
			leaf->physical == BFI_FLOAT || leaf->physical == BFI_DOUBLE) &&
		   leaf->width == size && (uintptr_t) c->dict.page.ptr % size == 0;
}

/* The n entries, which are the values of a PLAIN page: where they are, or batch by batch. */
static BfStatus
decode_entries(BfiColumn *c, int32_t n, int64_t at, const void **values, BfError *err)
{
	size_t size = bf_storage_size(c->leaf->storage);

	BF_TRY(bfi_values_begin(&c->values, BFI_PLAIN, c->dict.page, n, at, err));
	if (is_in_place(c))
	{
		*values = c->dict.page.ptr;
		return bfi_values_skip(&c->values, n, err);
	}
	c->dict.values->len = 0;
	BF_TRY(bf_buffer_reserve(c->dict.values, ((size_t) n + 1) * size, err));
	for (int32_t done = 0; done < n;)
	{
		int32_t k = n - done < BF_BATCH_ROWS ? n - done : BF_BATCH_ROWS;

		BF_TRY(bf_check_cancel(bf_arena_host(c->batch.arena), err));
		BF_TRY(bfi_column_decode(c, k, c->dict.values->data + (size_t) done * size, err));
		done += k;
	}
	*values = c->dict.values->data;
	return BF_OK;
}

BfStatus
bfi_dictionary_load(BfiColumn *c, int32_t n, int64_t at, BfError *err)
{
	const BfiLeaf *leaf = c->leaf;
	const void *values;

	BF_ASSERT(n >= 0 && c->values.dict.n < 0);
	BF_TRY(decode_entries(c, n, at, &values, err));
	BF_ASSERT(c->values.left == 0);
	c->values.dict = (BfiDictionary){
		.n = n,
		.value_bytes = (uint32_t) bf_storage_size(leaf->storage),
		.values = values,
	};
	c->dict.vec.type = leaf->type;
	c->dict.vec.storage = leaf->storage;
	c->dict.vec.form = BF_VEC_FLAT;
	c->dict.vec.n = n;
	c->dict.vec.data.raw = (void *) (uintptr_t) values;
	c->dict.vec.dict_epoch = ++c->shared->epoch;
	return BF_OK;
}
