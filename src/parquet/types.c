/*
 * What a leaf's values mean: (physical type, logical or converted annotation) -> BfType and the
 * conversion to its storage. The logical type wins; the converted one is used where the logical
 * is absent or unknown to us. An annotation that does not fit its physical type makes the column
 * unreadable, not the file.
 */
#include "parquet/internal.h"

#define PRECISION_MAX 1000
#define NAME_LEN(e) ((int) ((e)->name.len < 100 ? (e)->name.len : 100))

typedef struct Annotation
{
	BfiLogical logical; /* STRING .. FLOAT16, INTERVAL below, or NONE */
	bool interval;
	int32_t scale;
	int32_t precision;
	BfiTimeUnit unit;
	bool unit_known;
	bool utc;
	int bits;
	bool is_signed;
} Annotation;

static const struct
{
	BfiLogical logical;
	int8_t bits;
	bool is_signed;
	BfiTimeUnit unit;
} converted_table[] = {
	[BFI_CONV_UTF8] = {.logical = BFI_LOGICAL_STRING},
	[BFI_CONV_MAP] = {.logical = BFI_LOGICAL_NONE},
	[BFI_CONV_MAP_KEY_VALUE] = {.logical = BFI_LOGICAL_NONE},
	[BFI_CONV_LIST] = {.logical = BFI_LOGICAL_NONE},
	[BFI_CONV_ENUM] = {.logical = BFI_LOGICAL_ENUM},
	[BFI_CONV_DECIMAL] = {.logical = BFI_LOGICAL_DECIMAL},
	[BFI_CONV_DATE] = {.logical = BFI_LOGICAL_DATE},
	[BFI_CONV_TIME_MILLIS] = {.logical = BFI_LOGICAL_TIME, .unit = BFI_MILLIS},
	[BFI_CONV_TIME_MICROS] = {.logical = BFI_LOGICAL_TIME, .unit = BFI_MICROS},
	[BFI_CONV_TIMESTAMP_MILLIS] = {.logical = BFI_LOGICAL_TIMESTAMP, .unit = BFI_MILLIS},
	[BFI_CONV_TIMESTAMP_MICROS] = {.logical = BFI_LOGICAL_TIMESTAMP, .unit = BFI_MICROS},
	[BFI_CONV_UINT_8] = {.logical = BFI_LOGICAL_INTEGER, .bits = 8},
	[BFI_CONV_UINT_16] = {.logical = BFI_LOGICAL_INTEGER, .bits = 16},
	[BFI_CONV_UINT_32] = {.logical = BFI_LOGICAL_INTEGER, .bits = 32},
	[BFI_CONV_UINT_64] = {.logical = BFI_LOGICAL_INTEGER, .bits = 64},
	[BFI_CONV_INT_8] = {.logical = BFI_LOGICAL_INTEGER, .bits = 8, .is_signed = true},
	[BFI_CONV_INT_16] = {.logical = BFI_LOGICAL_INTEGER, .bits = 16, .is_signed = true},
	[BFI_CONV_INT_32] = {.logical = BFI_LOGICAL_INTEGER, .bits = 32, .is_signed = true},
	[BFI_CONV_INT_64] = {.logical = BFI_LOGICAL_INTEGER, .bits = 64, .is_signed = true},
	[BFI_CONV_JSON] = {.logical = BFI_LOGICAL_JSON},
	[BFI_CONV_BSON] = {.logical = BFI_LOGICAL_BSON},
	[BFI_CONV_INTERVAL] = {.logical = BFI_LOGICAL_NONE},
};
#define N_CONVERTED ((int32_t) (sizeof converted_table / sizeof converted_table[0]))

_Static_assert(BFI_CONV_UTF8 == 0 &&
				   sizeof converted_table / sizeof *converted_table == BFI_CONV_INTERVAL + 1,
			   "a row for each that the format has");

static Annotation
annotation_of(const BfiSchemaElement *e)
{
	Annotation a = {.logical = bfi_logical(e), .scale = e->scale, .precision = e->precision};

	if (a.logical != BFI_LOGICAL_NONE)
	{
		uint32_t unit = e->logical.time.unit.seen;

		if (a.logical == BFI_LOGICAL_DECIMAL)
		{
			a.scale = e->logical.decimal.scale;
			a.precision = e->logical.decimal.precision;
		}
		a.utc = e->logical.time.utc;
		a.unit_known = unit != 0;
		a.unit = unit != 0 ? (BfiTimeUnit) __builtin_ctz(unit) : BFI_MICROS;
		a.bits = e->logical.integer.bits;
		a.is_signed = e->logical.integer.is_signed;
	}
	else if ((e->seen & BFI_SE_CONVERTED) != 0 && e->converted >= 0 && e->converted < N_CONVERTED)
	{
		a.logical = converted_table[e->converted].logical;
		a.interval = e->converted == BFI_CONV_INTERVAL;
		a.bits = converted_table[e->converted].bits;
		a.is_signed = converted_table[e->converted].is_signed;
		a.unit = converted_table[e->converted].unit;
		a.unit_known = true;
		a.utc = true;
	}
	return a;
}

/* A misfit: the values can still be described, by the physical type, but not scanned. */
static void
misfit(BfiLeaf *leaf, const char *problem)
{
	BF_ASSERT(problem != NULL);
	if (leaf->problem == NULL)
		leaf->problem = problem;
}

static void
physical_type(BfiLeaf *leaf)
{
	static const BfKind kinds[BFI_PHYSICAL_COUNT] = {
		[BFI_BOOLEAN] = BF_KIND_BOOL,	   [BFI_INT32] = BF_KIND_INT32,
		[BFI_INT64] = BF_KIND_INT64,	   [BFI_INT96] = BF_KIND_INT96,
		[BFI_FLOAT] = BF_KIND_FLOAT32,	   [BFI_DOUBLE] = BF_KIND_FLOAT64,
		[BFI_BYTE_ARRAY] = BF_KIND_BINARY, [BFI_FLBA] = BF_KIND_FIXED,
	};

	BF_ASSERT(leaf->physical < BFI_PHYSICAL_COUNT);
	leaf->type = (BfType){.kind = kinds[leaf->physical]};
	if (leaf->physical == BFI_FLBA)
		leaf->type.length = (int32_t) leaf->width;
	leaf->convert = BFI_CONVERT_NONE;
}

static void
decimal_type(BfiLeaf *leaf, const Annotation *a)
{
	if (a->precision < 1 || a->precision > PRECISION_MAX || a->scale < 0 ||
		a->scale > PRECISION_MAX)
	{
		misfit(leaf, "a decimal annotation whose precision or scale is out of range");
		return;
	}
	leaf->type = (BfType){.kind = BF_KIND_DECIMAL, .precision = a->precision, .scale = a->scale};
	switch (leaf->physical)
	{
		case BFI_INT32:
			leaf->convert = a->precision <= 18 ? BFI_CONVERT_I32_I64 : BFI_CONVERT_I32_I128;
			break;
		case BFI_INT64:
			leaf->convert = a->precision <= 18 ? BFI_CONVERT_NONE : BFI_CONVERT_I64_I128;
			break;
		case BFI_BYTE_ARRAY:
		case BFI_FLBA:
			leaf->convert = a->precision <= 18	 ? BFI_CONVERT_BYTES_I64
							: a->precision <= 38 ? BFI_CONVERT_BYTES_I128
												 : BFI_CONVERT_NONE;
			break;
		default: misfit(leaf, "a decimal annotation on a type that can't hold it"); break;
	}
	if (a->precision > 38 && (leaf->physical == BFI_INT32 || leaf->physical == BFI_INT64))
		misfit(leaf, "a decimal of more than 38 digits in an integer");
}

static void
integer_type(BfiLeaf *leaf, const Annotation *a)
{
	static const struct
	{
		int bits;
		bool is_signed;
		BfiPhysical physical;
		BfKind kind;
		BfiConvert convert;
		int32_t lo;
		int32_t hi;
	} table[] = {
		{8, true, BFI_INT32, BF_KIND_INT8, BFI_CONVERT_RANGE_I32, INT8_MIN, INT8_MAX},
		{16, true, BFI_INT32, BF_KIND_INT16, BFI_CONVERT_RANGE_I32, INT16_MIN, INT16_MAX},
		{32, true, BFI_INT32, BF_KIND_INT32, BFI_CONVERT_NONE, 0, 0},
		{64, true, BFI_INT64, BF_KIND_INT64, BFI_CONVERT_NONE, 0, 0},
		{8, false, BFI_INT32, BF_KIND_UINT8, BFI_CONVERT_RANGE_I32, 0, UINT8_MAX},
		{16, false, BFI_INT32, BF_KIND_UINT16, BFI_CONVERT_RANGE_I32, 0, UINT16_MAX},
		{32, false, BFI_INT32, BF_KIND_UINT32, BFI_CONVERT_U32_I64, 0, 0},
		{64, false, BFI_INT64, BF_KIND_UINT64, BFI_CONVERT_NONE, 0, 0},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].bits == a->bits && table[i].is_signed == a->is_signed &&
			table[i].physical == leaf->physical)
		{
			leaf->type = (BfType){.kind = table[i].kind};
			leaf->convert = table[i].convert;
			leaf->lo = table[i].lo;
			leaf->hi = table[i].hi;
			leaf->is_unsigned = !a->is_signed;
			BF_ASSERT(leaf->lo <= leaf->hi);
			return;
		}
	misfit(leaf, "an integer annotation that does not fit its physical type");
}

static void
time_type(BfiLeaf *leaf, const Annotation *a)
{
	bool is_time = a->logical == BFI_LOGICAL_TIME;
	bool fits;

	if (!a->unit_known)
	{
		misfit(leaf, "a time unit that is not known");
		return;
	}
	/* Only TIME_MILLIS has 32 bits. */
	fits = leaf->physical == (is_time && a->unit == BFI_MILLIS ? BFI_INT32 : BFI_INT64);
	if (!fits)
	{
		misfit(leaf, "a time annotation that does not fit its physical type");
		return;
	}
	if (is_time)
	{
		leaf->type = a->unit == BFI_NANOS ? BF_TYPE(TIME_NS) : BF_TYPE(TIME);
		leaf->convert = a->unit == BFI_MILLIS ? BFI_CONVERT_I32_I64_1000 : BFI_CONVERT_NONE;
		return;
	}
	if (a->unit == BFI_NANOS)
		leaf->type = a->utc ? BF_TYPE(TIMESTAMPTZ_NS) : BF_TYPE(TIMESTAMP_NS);
	else
		leaf->type = a->utc ? BF_TYPE(TIMESTAMPTZ) : BF_TYPE(TIMESTAMP);
	leaf->convert = a->unit == BFI_MILLIS ? BFI_CONVERT_I64_1000 : BFI_CONVERT_NONE;
}

/* An annotation that only names what the bytes are. */
static void
bytes_type(BfiLeaf *leaf, BfKind kind, BfiPhysical physical, uint32_t width)
{
	if (leaf->physical != physical || (width != 0 && leaf->width != width))
	{
		misfit(leaf, "an annotation that does not fit its physical type");
		return;
	}
	leaf->type = (BfType){.kind = kind};
	if (kind == BF_KIND_UUID)
		leaf->type.length = 16;
}

static void
annotated_type(BfiLeaf *leaf, const Annotation *a)
{
	BF_ASSERT(leaf->problem == NULL && leaf->convert == BFI_CONVERT_NONE);
	if (a->interval)
	{
		bytes_type(leaf, BF_KIND_INTERVAL, BFI_FLBA, 12);
		return;
	}
	switch (a->logical)
	{
		case BFI_LOGICAL_STRING:
			/* Some writers call fixed-length text a string, too. */
			if (leaf->physical == BFI_FLBA)
				leaf->type = BF_TYPE(STRING);
			else
				bytes_type(leaf, BF_KIND_STRING, BFI_BYTE_ARRAY, 0);
			break;
		case BFI_LOGICAL_ENUM: bytes_type(leaf, BF_KIND_ENUM, BFI_BYTE_ARRAY, 0); break;
		case BFI_LOGICAL_JSON: bytes_type(leaf, BF_KIND_JSON, BFI_BYTE_ARRAY, 0); break;
		case BFI_LOGICAL_BSON: bytes_type(leaf, BF_KIND_BSON, BFI_BYTE_ARRAY, 0); break;
		case BFI_LOGICAL_UUID: bytes_type(leaf, BF_KIND_UUID, BFI_FLBA, 16); break;
		case BFI_LOGICAL_GEOMETRY:
		case BFI_LOGICAL_GEOGRAPHY: bytes_type(leaf, BF_KIND_GEOMETRY, BFI_BYTE_ARRAY, 0); break;
		case BFI_LOGICAL_DATE:
			if (leaf->physical == BFI_INT32)
				leaf->type = BF_TYPE(DATE);
			else
				misfit(leaf, "a date annotation on a type other than INT32");
			break;
		case BFI_LOGICAL_FLOAT16:
			bytes_type(leaf, BF_KIND_FLOAT16, BFI_FLBA, 2);
			if (leaf->problem == NULL)
				leaf->convert = BFI_CONVERT_F16_F32;
			break;
		case BFI_LOGICAL_DECIMAL: decimal_type(leaf, a); break;
		case BFI_LOGICAL_INTEGER: integer_type(leaf, a); break;
		case BFI_LOGICAL_TIME:
		case BFI_LOGICAL_TIMESTAMP: time_type(leaf, a); break;
		case BFI_LOGICAL_UNKNOWN: leaf->type = BF_TYPE(NULL); break;
		default: break; /* annotations of groups, on a leaf: the physical type */
	}
}

BfStatus
bfi_leaf_type(const BfiSchemaElement *e, BfiLeaf *leaf, int64_t at, BfError *err)
{
	Annotation a = annotation_of(e);

	BF_DATA(err, e->type >= 0 && e->type < BFI_PHYSICAL_COUNT, at,
			"column \"%.*s\" has the unknown physical type %d", NAME_LEN(e),
			(const char *) e->name.ptr, e->type);
	leaf->physical = (BfiPhysical) e->type;
	leaf->width = bfi_physical_bytes(leaf->physical);
	if (leaf->physical == BFI_FLBA)
	{
		BF_DATA(err, e->type_length > 0, at, "column \"%.*s\" has values of %d bytes", NAME_LEN(e),
				(const char *) e->name.ptr, e->type_length);
		leaf->width = (uint32_t) e->type_length;
	}
	physical_type(leaf);
	annotated_type(leaf, &a);
	if (leaf->problem != NULL)
		physical_type(leaf);
	leaf->storage = bf_type_storage(leaf->type);
	BF_ASSERT(leaf->storage == BF_STORE_NONE || bf_storage_size(leaf->storage) > 0);
	return BF_OK;
}
