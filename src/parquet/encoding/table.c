/*
 * The table of encodings, and what is the same for all of them: which one a page has and whether
 * that is allowed, counting down, and the memory they work in.
 */
#include "parquet/encoding/encoding.h"

#define ROW(number_, name_, file, fits_) \
	{.name = #name_, .number = (number_), .fits = (fits_), .methods = &bfi_encoding_##file},
static const BfiEncoding table[] = {BFI_ENCODINGS(ROW)};
#undef ROW
#define N_ENCODINGS ((int32_t) (sizeof table / sizeof table[0]))

const BfiEncoding *
bfi_encoding_find(int32_t number)
{
	for (int32_t i = 0; i < N_ENCODINGS; i++)
		if (table[i].number == number)
			return &table[i];
	return NULL;
}

const char *
bfi_encoding_name(int32_t number)
{
	const BfiEncoding *e = bfi_encoding_find(number);

	return e == NULL ? "unknown" : e->name;
}

BfStatus
bfi_values_init(BfArena *a, BfiValues *v, BfError *err)
{
	uint64_t *state;
	size_t bytes = 0;

	BF_ASSERT(v->batch != NULL && v->scratch != NULL && v->spare != NULL);
	for (int32_t i = 0; i < N_ENCODINGS; i++)
		bytes = table[i].methods->state_bytes > bytes ? table[i].methods->state_bytes : bytes;
	BF_NEW(a, state, bytes / sizeof *state + 1, err);
	v->state = state;
	v->methods = &bfi_encoding_plain;
	BF_TRY(bf_buffer_new(a, v->bytes_max + BFI_SLACK, &v->previous_kept, err));
	bfi_values_reset(v, false);
	return BF_OK;
}

void
bfi_values_reset(BfiValues *v, bool carry_previous)
{
	v->dict = (BfiDictionary){.n = -1};
	v->previous = (BfView){NULL, 0};
	v->carry_previous = carry_previous;
}

BfStatus
bfi_values_begin(BfiValues *v, int32_t encoding, BfView section, int32_t n, int64_t at,
				 BfError *err)
{
	const BfiEncoding *e = bfi_encoding_find(encoding);

	BF_ASSERT(n >= 0 && v->physical < BFI_PHYSICAL_COUNT);
	if (e == NULL || (e->fits >> v->physical & 1) == 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, at, "values of type %s encoded as %s (%d)",
				   bfi_physical_name((int32_t) v->physical), bfi_encoding_name(encoding), encoding);
	v->methods = e->methods;
	v->at = at;
	v->n = v->left = n;
	/* A row that fits no values is for levels alone. */
	BF_ASSERT(e->methods->begin != NULL && e->methods->decode != NULL);
	if (n == 0)
		return BF_OK; /* whatever the section holds, nobody asks for it */
	return e->methods->begin(v, section.ptr, section.len, err);
}

BfStatus
bfi_values_decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	BF_ASSERT(n >= 0 && n <= BF_BATCH_ROWS && n <= v->left);
	if (n == 0)
		return BF_OK; /* the page may have no section to decode from */
	BF_TRY(v->methods->decode(v, n, out, err));
	v->left -= n;
	return BF_OK;
}

BfStatus
bfi_values_skip(BfiValues *v, int32_t n, BfError *err)
{
	BF_ASSERT(n >= 0 && n <= v->left);
	while (n > 0)
	{
		int32_t k = n < BF_BATCH_ROWS ? n : BF_BATCH_ROWS;

		if (v->methods->skip != NULL)
			BF_TRY(v->methods->skip(v, k, err));
		else
			BF_TRY(v->methods->decode(v, k, v->spare, err));
		v->left -= k;
		n -= k;
	}
	return BF_OK;
}

BfStatus
bfi_skip_by_number(BfiValues *v, int32_t n, BfError *err)
{
	(void) v;
	(void) n;
	(void) err;
	return BF_OK;
}

BfStatus
bfi_values_alloc(BfiValues *v, size_t n, uint8_t **out, BfError *err)
{
	*out = bf_arena_alloc(v->batch, n);
	if (*out == NULL)
		return bf_arena_fail(v->batch, n, err);
	return BF_OK;
}
