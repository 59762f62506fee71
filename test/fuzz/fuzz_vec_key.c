/* Two rows of up to four columns from any bytes: their keys are equal exactly where all their
 * values are. */
#include "fuzz/fuzz.h"

#include <math.h>

#include "vec/key.h"

#define COLUMNS_MAX 4

static BfType
take_type(FuzzInput *in)
{
	static const BfType types[] = {{.kind = BF_KIND_BOOL},
								   {.kind = BF_KIND_INT32},
								   {.kind = BF_KIND_INT64},
								   {.kind = BF_KIND_UINT64},
								   {.kind = BF_KIND_FLOAT32},
								   {.kind = BF_KIND_FLOAT64},
								   {.kind = BF_KIND_DECIMAL, .precision = 9},
								   {.kind = BF_KIND_DECIMAL, .precision = 38},
								   {.kind = BF_KIND_DECIMAL, .precision = 50},
								   {.kind = BF_KIND_STRING},
								   {.kind = BF_KIND_INTERVAL},
								   {.kind = BF_KIND_INT96}};

	return types[fuzz_take_below(in, sizeof types / sizeof types[0])];
}

static void
take_value(FuzzInput *in, BfType type, BfValue *v)
{
	size_t n;

	*v = (BfValue){.type = type, .is_null = fuzz_take_below(in, 8) == 0};
	if (bf_type_storage(type) != BF_STORE_VIEW)
	{
		v->v.i128 = (bf_i128) ((bf_u128) fuzz_take(in, 8) << 64 | fuzz_take(in, 8));
		if (type.kind == BF_KIND_BOOL)
			v->v.u8 &= 1;
		return;
	}
	n = type.kind == BF_KIND_INTERVAL || type.kind == BF_KIND_INT96 ? 12 : fuzz_take(in, 2) % 600;
	n = n < in->size ? n : in->size;
	v->v.view = (BfView){in->data, (uint32_t) n};
	in->data += n;
	in->size -= n;
}

static bool
minus(const BfValue *v)
{
	return v->type.kind == BF_KIND_FLOAT32 ? signbit(v->v.f32) : signbit(v->v.f64);
}

static bool
equal(const BfValue *x, const BfValue *y, BfKeyZero zero)
{
	BfValue null = {.type = x->type};

	if (x->is_null || y->is_null)
		return x->is_null && y->is_null;
	if (bf_value_compare(x, y) != 0)
		return false;
	if (zero == BF_KEY_ZERO_ONE ||
		(x->type.kind != BF_KIND_FLOAT32 && x->type.kind != BF_KIND_FLOAT64))
		return true;
	return bf_value_compare(x, &null) != 0 || minus(x) == minus(y);
}

int
bf_fuzz_vec_key(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfKeyZero zero = (BfKeyZero) fuzz_take_below(&in, 2);
	int n = 1 + (int) fuzz_take_below(&in, COLUMNS_MAX);
	BfBuffer key[2];
	bool want = true;

	for (int r = 0; r < 2; r++)
		bf_buffer_init(&key[r], fuzz_host(), 1 << 16);
	for (int k = 0; k < n; k++)
	{
		BfType type = take_type(&in);
		BfValue v[2];
		BfError err;

		for (int r = 0; r < 2; r++)
		{
			take_value(&in, type, &v[r]);
			FUZZ_CHECK(bf_key_value(&key[r], &v[r], zero, &err) == BF_OK);
		}
		want &= equal(&v[0], &v[1], zero);
	}
	FUZZ_CHECK((key[0].len == key[1].len && memcmp(key[0].data, key[1].data, key[0].len) == 0) ==
			   want);
	for (int r = 0; r < 2; r++)
		bf_buffer_free(&key[r]);
	return 0;
}
