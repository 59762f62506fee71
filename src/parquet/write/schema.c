/*
 * The schema of a table as a file has it: groups, leaves, annotations, field ids.
 *
 *     LIST   <repetition> group <name> (LIST) { repeated group list { <element> } }
 *     MAP    <repetition> group <name> (MAP) { repeated group key_value { required <key>; <value> }
 * }
 *
 * Levels count what may be absent (definition) or repeated (repetition) from the top to a leaf.
 */
#include "parquet/write/internal.h"

/* What stands in a file for a kind. Decimals are not here: it depends on the precision. */
typedef struct Physical
{
	BfiPhysical physical;
	int8_t logical; /* BfiLogical */
	uint8_t converted;
	BfiNarrow narrow;
	BfiOrderKind order;
	int8_t bits; /* INTEGER; negative: unsigned */
	int8_t unit; /* TIME, TIMESTAMP: BfiTimeUnit */
	bool utc;
} Physical;

#define PLAIN_KIND(physical_, order_)                                                         \
	{                                                                                         \
		.physical = BFI_##physical_, .logical = BFI_LOGICAL_NONE, .converted = BFI_CONV_NONE, \
		.order = BFI_BOUNDS_##order_                                                          \
	}
#define NAMED_KIND(physical_, logical_, converted_, narrow_, order_)        \
	{                                                                       \
		.physical = BFI_##physical_, .logical = BFI_LOGICAL_##logical_,     \
		.converted = BFI_CONV_##converted_, .narrow = BFI_NARROW_##narrow_, \
		.order = BFI_BOUNDS_##order_                                        \
	}
#define INTEGER_KIND(physical_, bits_, converted_, narrow_, order_)         \
	{                                                                       \
		.physical = BFI_##physical_, .logical = BFI_LOGICAL_INTEGER,        \
		.converted = BFI_CONV_##converted_, .narrow = BFI_NARROW_##narrow_, \
		.order = BFI_BOUNDS_##order_, .bits = (bits_)                       \
	}
#define TIME_KIND(logical_, converted_, unit_, utc_)                                         \
	{                                                                                        \
		.physical = BFI_INT64, .logical = BFI_LOGICAL_##logical_,                            \
		.converted = BFI_CONV_##converted_, .order = BFI_BOUNDS_SIGNED, .unit = BFI_##unit_, \
		.utc = (utc_)                                                                        \
	}

_Static_assert(2 * BFI_WRITE_DEPTH_MAX < UINT8_MAX, "two levels for each field that is nested");
_Static_assert(BFI_LOGICAL_TIMESTAMP == 7 && BFI_LOGICAL_INTEGER == 8, "ids follow from them");

static const Physical kinds[BF_KIND_COUNT] = {
	[BF_KIND_NULL] = NAMED_KIND(INT32, UNKNOWN, NONE, NONE, NONE),
	[BF_KIND_BOOL] = PLAIN_KIND(BOOLEAN, SIGNED),
	[BF_KIND_INT8] = INTEGER_KIND(INT32, 8, INT_8, RANGE, SIGNED),
	[BF_KIND_INT16] = INTEGER_KIND(INT32, 16, INT_16, RANGE, SIGNED),
	[BF_KIND_INT32] = PLAIN_KIND(INT32, SIGNED),
	[BF_KIND_INT64] = PLAIN_KIND(INT64, SIGNED),
	[BF_KIND_UINT8] = INTEGER_KIND(INT32, -8, UINT_8, RANGE, SIGNED),
	[BF_KIND_UINT16] = INTEGER_KIND(INT32, -16, UINT_16, RANGE, SIGNED),
	[BF_KIND_UINT32] = INTEGER_KIND(INT32, -32, UINT_32, I64_I32, SIGNED),
	[BF_KIND_UINT64] = INTEGER_KIND(INT64, -64, UINT_64, NONE, UNSIGNED),
	[BF_KIND_FLOAT16] = NAMED_KIND(FLBA, FLOAT16, NONE, F32_F16, FLOAT),
	[BF_KIND_FLOAT32] = PLAIN_KIND(FLOAT, FLOAT),
	[BF_KIND_FLOAT64] = PLAIN_KIND(DOUBLE, FLOAT),
	[BF_KIND_DATE] = NAMED_KIND(INT32, DATE, DATE, NONE, SIGNED),
	[BF_KIND_TIME] = TIME_KIND(TIME, TIME_MICROS, MICROS, false),
	[BF_KIND_TIME_NS] = TIME_KIND(TIME, NONE, NANOS, false),
	[BF_KIND_TIMESTAMP] = TIME_KIND(TIMESTAMP, NONE, MICROS, false),
	[BF_KIND_TIMESTAMPTZ] = TIME_KIND(TIMESTAMP, TIMESTAMP_MICROS, MICROS, true),
	[BF_KIND_TIMESTAMP_NS] = TIME_KIND(TIMESTAMP, NONE, NANOS, false),
	[BF_KIND_TIMESTAMPTZ_NS] = TIME_KIND(TIMESTAMP, NONE, NANOS, true),
	[BF_KIND_STRING] = NAMED_KIND(BYTE_ARRAY, STRING, UTF8, NONE, BYTES),
	[BF_KIND_JSON] = NAMED_KIND(BYTE_ARRAY, JSON, JSON, NONE, BYTES),
	[BF_KIND_ENUM] = NAMED_KIND(BYTE_ARRAY, ENUM, ENUM, NONE, BYTES),
	[BF_KIND_BINARY] = PLAIN_KIND(BYTE_ARRAY, BYTES),
	[BF_KIND_BSON] = NAMED_KIND(BYTE_ARRAY, BSON, BSON, NONE, BYTES),
	[BF_KIND_UUID] = NAMED_KIND(FLBA, UUID, NONE, FIXED, BYTES),
	[BF_KIND_FIXED] = NAMED_KIND(FLBA, NONE, NONE, FIXED, BYTES),
	[BF_KIND_INTERVAL] = NAMED_KIND(FLBA, NONE, INTERVAL, FIXED, NONE),
	[BF_KIND_INT96] = NAMED_KIND(INT96, NONE, NONE, FIXED, NONE),
	[BF_KIND_GEOMETRY] = NAMED_KIND(BYTE_ARRAY, GEOMETRY, NONE, NONE, NONE),
};

/* The fewest bytes that hold every number of so many digits, in two's complement. */
static uint32_t
decimal_bytes(int32_t precision)
{
	bf_u128 most;
	uint32_t bits = 0;

	if (precision > 38) /* log2(10) is below 3.3220 */
		return (uint32_t) (((int64_t) precision * 33220 / 10000 + 2) / 8 + 1);
	for (most = (bf_u128) bf_power_of_ten(precision) - 1; most > 0; most >>= 1)
		bits++;
	return bits / 8 + 1;
}

static Physical
physical_of(BfType t)
{
	Physical p;

	if (t.kind != BF_KIND_DECIMAL)
		return kinds[t.kind];
	p = (Physical){.logical = BFI_LOGICAL_DECIMAL, .converted = BFI_CONV_DECIMAL};
	if (t.precision <= 9)
		p.physical = BFI_INT32, p.narrow = BFI_NARROW_I64_I32, p.order = BFI_BOUNDS_SIGNED;
	else if (t.precision <= 18)
		p.physical = BFI_INT64, p.narrow = BFI_NARROW_NONE, p.order = BFI_BOUNDS_SIGNED;
	else if (t.precision <= 38)
		p.physical = BFI_FLBA, p.narrow = BFI_NARROW_I128_FLBA, p.order = BFI_BOUNDS_I128;
	else
		p.physical = BFI_FLBA, p.narrow = BFI_NARROW_WIDEN, p.order = BFI_BOUNDS_NONE;
	return p;
}

static uint32_t
width_of(BfType t, BfiPhysical physical)
{
	if (physical != BFI_FLBA)
		return bfi_physical_bytes(physical);
	switch (t.kind)
	{
		case BF_KIND_DECIMAL: return decimal_bytes(t.precision);
		case BF_KIND_FLOAT16: return 2;
		case BF_KIND_INTERVAL: return 12;
		case BF_KIND_UUID: return 16;
		default: return (uint32_t) t.length;
	}
}

static void
set_range(BfiLeafOut *leaf, int bits)
{
	if (leaf->narrow == BFI_NARROW_I64_I32 && bits == 0)
	{
		leaf->lo = INT32_MIN;
		leaf->hi = INT32_MAX;
	}
	else if (bits < 0)
		leaf->hi = bits == -64 ? INT64_MAX : ((int64_t) 1 << -bits) - 1;
	else if (bits > 0)
	{
		leaf->lo = -((int64_t) 1 << (bits - 1));
		leaf->hi = -leaf->lo - 1;
	}
}

/* ---- leaves ---- */

/* What is above the fields that are being walked. */
typedef struct Walk
{
	BfArena *arena;
	BfiLeafOut *leaves; /* NULL: they are being counted */
	int32_t n;
	int32_t top;
	int32_t n_path;
	const char *path[3 * BFI_WRITE_DEPTH_MAX];
} Walk;

static BfStatus
add_leaf(Walk *k, const BfField *f, int def, int rep, BfError *err)
{
	Physical p = physical_of(f->type);
	BfiLeafOut *leaf;

	if (k->n == BFI_WRITE_LEAVES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d columns", BFI_WRITE_LEAVES_MAX);
	k->n++;
	if (k->leaves == NULL)
		return BF_OK;
	BF_ASSERT(def >= 0 && def <= UINT8_MAX && rep >= 0 && rep <= def);
	leaf = &k->leaves[k->n - 1];
	*leaf = (BfiLeafOut){.field = f,
						 .storage = bf_type_storage(f->type),
						 .physical = p.physical,
						 .width = width_of(f->type, p.physical),
						 .narrow = p.narrow,
						 .order = p.order,
						 .max_def = (uint8_t) def,
						 .max_rep = (uint8_t) rep,
						 .n_path = k->n_path,
						 .top = k->top};
	set_range(leaf, p.bits);
	BF_TRY_PTR(k->arena, leaf->path,
			   bf_arena_memdup(k->arena, k->path, (size_t) k->n_path * sizeof k->path[0]), err);
	return BF_OK;
}

static BfStatus
check_leaf(const BfField *f, BfError *err)
{
	char name[64];

	bf_type_name(f->type, name, sizeof name);
	if (f->type.kind == BF_KIND_VARIANT)
		return bf_error(err, BF_ERR_UNSUPPORTED, "writing type %s", name);
	if (f->type.kind == BF_KIND_FIXED && f->type.length <= 0)
		return bf_error(err, BF_ERR_UNSUPPORTED, "writing values of %d bytes", f->type.length);
	if (f->type.kind == BF_KIND_DECIMAL && (f->type.precision < 1 || f->type.precision > 1000 ||
											f->type.scale < 0 || f->type.scale > f->type.precision))
		return bf_error(err, BF_ERR_UNSUPPORTED, "writing type %s", name);
	return BF_OK;
}

static BfStatus
walk_field(Walk *k, const BfField *f, const char *name, int def, int rep, int depth, BfError *err);

/* What is below a list or map has the names of the format. */
static const char *
name_in_file(const BfField *parent, int32_t i)
{
	if (parent->type.kind == BF_KIND_STRUCT)
		return parent->children[i].name;
	if (parent->type.kind == BF_KIND_LIST)
		return "element";
	return i == 0 ? "key" : "value";
}

static BfStatus
walk_children(Walk *k, const BfField *f, int def, int rep, int depth, BfError *err)
{
	int32_t n_path = k->n_path;

	if (f->type.kind == BF_KIND_STRUCT)
	{
		if (f->n_children == 0)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "writing a struct without fields");
	}
	else
	{
		BF_ASSERT(f->n_children == (f->type.kind == BF_KIND_LIST ? 1 : 2));
		k->path[k->n_path++] = f->type.kind == BF_KIND_LIST ? "list" : "key_value";
		def++;
		rep++;
	}
	for (int32_t i = 0; i < f->n_children; i++)
		BF_TRY(walk_field(k, &f->children[i], name_in_file(f, i), def, rep, depth + 1, err));
	k->n_path = n_path;
	return BF_OK;
}

static bool
is_nested(const BfField *f)
{
	return f->type.kind == BF_KIND_STRUCT || f->type.kind == BF_KIND_LIST ||
		   f->type.kind == BF_KIND_MAP;
}

static BfStatus
walk_field(Walk *k, const BfField *f, const char *name, int def, int rep, int depth, BfError *err)
{
	BfStatus status;

	if (depth > BFI_WRITE_DEPTH_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "a column is nested deeper than %d", BFI_WRITE_DEPTH_MAX);
	k->path[k->n_path++] = name;
	def += !f->required;
	if (is_nested(f))
		status = walk_children(k, f, def, rep, depth, err);
	else
	{
		status = check_leaf(f, err);
		if (status == BF_OK)
			status = add_leaf(k, f, def, rep, err);
	}
	k->n_path--;
	return status;
}

static BfStatus
walk_schema(Walk *k, const BfSchema *schema, BfError *err)
{
	k->n = 0;
	BF_ASSERT(k->n_path == 0);
	for (k->top = 0; k->top < schema->n_fields; k->top++)
	{
		const BfField *f = &schema->fields[k->top];

		if (walk_field(k, f, f->name, 0, 0, 1, err) != BF_OK)
			return bf_error_column(err, f->name);
	}
	BF_ASSERT(k->n_path == 0 && k->top == schema->n_fields);
	return BF_OK;
}

BfStatus
bfi_write_leaves(BfArena *a, const BfSchema *schema, BfiLeafOut **leaves, int32_t *n, BfError *err)
{
	Walk k = {.arena = a};

	BF_TRY(walk_schema(&k, schema, err));
	BF_NEW(a, k.leaves, k.n, err);
	*leaves = k.leaves;
	BF_TRY(walk_schema(&k, schema, err));
	*n = k.n;
	return BF_OK;
}

/* ---- elements ---- */

static void
put_unit(BfiThriftOut *t, int16_t id, const Physical *p)
{
	bfi_put_struct(t, id);
	bfi_put_bool(t, 1, p->utc);
	bfi_put_struct(t, 2);
	bfi_put_empty(t, (int16_t) (p->unit + 1));
	bfi_put_struct_end(t);
	bfi_put_struct_end(t);
}

/* The member of the union LogicalType. */
static void
put_logical(BfiThriftOut *t, const Physical *p, BfType type)
{
	/* Ids in the order of BfiLogical; 9 is nobody's. */
	int16_t id = (int16_t) (p->logical + (p->logical < BFI_LOGICAL_INTEGER ? 1 : 2));

	bfi_put_struct(t, 10);
	switch (p->logical)
	{
		case BFI_LOGICAL_DECIMAL:
			bfi_put_struct(t, id);
			bfi_put_i32(t, 1, type.scale);
			bfi_put_i32(t, 2, type.precision);
			bfi_put_struct_end(t);
			break;
		case BFI_LOGICAL_INTEGER:
			bfi_put_struct(t, id);
			bfi_put_i8(t, 1, (int8_t) (p->bits < 0 ? -p->bits : p->bits));
			bfi_put_bool(t, 2, p->bits > 0);
			bfi_put_struct_end(t);
			break;
		case BFI_LOGICAL_TIME:
		case BFI_LOGICAL_TIMESTAMP: put_unit(t, id, p); break;
		default: bfi_put_empty(t, id); break;
	}
	bfi_put_struct_end(t);
}

/* What all elements of the list have. */
static void
put_element(BfiThriftOut *t, const char *name, int repetition, int32_t n_children, int converted)
{
	bfi_put_i32(t, 3, repetition);
	bfi_put_text(t, 4, name);
	if (n_children > 0)
		bfi_put_i32(t, 5, n_children);
	if (converted != BFI_CONV_NONE)
		bfi_put_i32(t, 6, converted);
}

static void put_field(BfiThriftOut *t, const BfField *f, const char *name);

static void
put_group(BfiThriftOut *t, const BfField *f, const char *name)
{
	bool list = f->type.kind == BF_KIND_LIST;
	bool repeated = f->type.kind != BF_KIND_STRUCT;

	bfi_put_element_struct(t);
	put_element(t, name, f->required ? BFI_REQUIRED : BFI_OPTIONAL, repeated ? 1 : f->n_children,
				!repeated ? BFI_CONV_NONE
				: list	  ? BFI_CONV_LIST
						  : BFI_CONV_MAP);
	if (f->id > 0)
		bfi_put_i32(t, 9, f->id);
	if (repeated)
	{
		bfi_put_struct(t, 10);
		bfi_put_empty(t, list ? 3 : 2);
		bfi_put_struct_end(t);
	}
	bfi_put_struct_end(t);
	if (repeated)
	{
		bfi_put_element_struct(t);
		put_element(t, list ? "list" : "key_value", BFI_REPEATED, f->n_children, BFI_CONV_NONE);
		bfi_put_struct_end(t);
	}
	for (int32_t i = 0; i < f->n_children; i++)
		put_field(t, &f->children[i], name_in_file(f, i));
}

static void
put_field(BfiThriftOut *t, const BfField *f, const char *name)
{
	Physical p;

	if (is_nested(f))
	{
		put_group(t, f, name);
		return;
	}
	p = physical_of(f->type);
	bfi_put_element_struct(t);
	bfi_put_i32(t, 1, (int32_t) p.physical);
	if (p.physical == BFI_FLBA)
		bfi_put_i32(t, 2, (int32_t) width_of(f->type, p.physical));
	put_element(t, name, f->required ? BFI_REQUIRED : BFI_OPTIONAL, 0, p.converted);
	if (f->type.kind == BF_KIND_DECIMAL)
	{
		bfi_put_i32(t, 7, f->type.scale);
		bfi_put_i32(t, 8, f->type.precision);
	}
	if (f->id > 0)
		bfi_put_i32(t, 9, f->id);
	if (p.logical != BFI_LOGICAL_NONE)
		put_logical(t, &p, f->type);
	bfi_put_struct_end(t);
}

static size_t
count_elements(const BfField *f)
{
	size_t n = 1;

	if (f->type.kind == BF_KIND_LIST || f->type.kind == BF_KIND_MAP)
		n++;
	for (int32_t i = 0; i < f->n_children; i++)
		n += count_elements(&f->children[i]);
	return n;
}

void
bfi_write_schema(BfiThriftOut *t, int16_t id, const BfSchema *schema)
{
	size_t n = 1;

	for (int32_t i = 0; i < schema->n_fields; i++)
		n += count_elements(&schema->fields[i]);
	bfi_put_list(t, id, BFI_T_STRUCT, n);
	bfi_put_element_struct(t);
	bfi_put_text(t, 4, "table");
	bfi_put_i32(t, 5, schema->n_fields);
	bfi_put_struct_end(t);
	for (int32_t i = 0; i < schema->n_fields; i++)
		put_field(t, &schema->fields[i], schema->fields[i].name);
}
