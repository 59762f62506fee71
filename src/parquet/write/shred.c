/*
 * From vectors to pieces: values without NULLs, and levels.
 *
 * Nested columns are walked top down. What a field has of the rows at hand are *slots*: for each a
 * repetition level, and either the row of its vector, or the definition level at which it ended
 * above. A list makes a slot of each item, one of an empty list and one of what ended above:
 *
 *     a: list of list of int     [[1, 2], []], NULL, [NULL, [3]]
 *     slots of a                 row 0          row 1     row 2
 *     its items                  0: row 0, 1: row 1   0: ended (0)   0: row 2, 1: row 3
 *     their items                0: row 0, 2: row 1   1: ended (3)   0: ended (0)
 *                                0: ended (2)         1: row 2
 */
#include "parquet/write/internal.h"

#define PIECE_BYTES_MAX ((size_t) 1 << 36)

struct BfiShred
{
	BfArena *arena;				 /* owned; of a piece */
	uint8_t def[BFI_PIECE_ROWS]; /* flat columns */
	bf_u128 dense[BFI_PIECE_ROWS];
	BfView views[BFI_PIECE_ROWS];
};

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bfi_shred_new(BfArena *a, BfiShred **out, BfError *err)
{
	BfiShred *s;

	BF_NEW(a, s, 1, err);
	BF_TRY_PTR(a, s->arena, bf_arena_new(bf_arena_host(a), "Parquet piece", PIECE_BYTES_MAX), err);
	if (!bf_arena_on_cleanup(a, free_arena, s->arena))
	{
		bf_arena_free(s->arena);
		return bf_arena_fail(a, 0, err);
	}
	*out = s;
	return BF_OK;
}

static BfStatus
required_null(const BfField *field, BfError *err)
{
	return bf_error(err, BF_ERR_VALUE, "NULL in \"%s\", which is required", field->name);
}

static inline int32_t
row_at(const BfiRows *rows, int32_t i)
{
	return rows->list != NULL ? rows->list[i] : rows->first + i;
}

/* ---- flat columns ---- */

#define GATHER(type)                    \
	do                                  \
	{                                   \
		const type *from = source;      \
		type *to = (type *) out;        \
                                        \
		for (int32_t i = 0; i < n; i++) \
			to[i] = from[rows[i]];      \
	} while (0)

static void
gather(const void *source, const int32_t *rows, int32_t n, size_t size, void *out)
{
	switch (size)
	{
		case 1: GATHER(uint8_t); break;
		case 4: GATHER(uint32_t); break;
		case 8: GATHER(uint64_t); break;
		default:
			BF_ASSERT(size == 16);
			GATHER(bf_u128);
			break;
	}
}

static bool
all_valid(const BfVector *v, const BfiRows *rows)
{
	if (v->validity == NULL)
		return true;
	for (int32_t i = 0; i < rows->n; i++)
		if (!bf_valid(v->validity, row_at(rows, i)))
			return false;
	return true;
}

/* The rows that are not NULL; their definition levels where some are. */
static int32_t
valid_rows(BfiShred *s, const BfVector *v, const BfiRows *rows, uint8_t max_def, int32_t *out,
		   BfiPiece *p)
{
	int32_t n = 0;

	BF_ASSERT(max_def > 0);
	for (int32_t i = 0; i < rows->n; i++)
	{
		int32_t row = row_at(rows, i);
		bool valid = bf_valid(v->validity, row);

		s->def[i] = (uint8_t) (max_def - !valid);
		out[n] = row;
		n += valid;
	}
	p->def = n < rows->n ? s->def : NULL;
	return n;
}

static void
constant_piece(BfiShred *s, const BfVector *v, const BfiRows *rows, uint8_t max_def, BfiPiece *p)
{
	int32_t zeroes[BFI_PIECE_ROWS] = {0};

	if (!bf_valid(v->validity, 0) || v->storage == BF_STORE_NONE)
	{
		memset(s->def, max_def - 1, sizeof s->def);
		p->def = s->def;
		return;
	}
	p->n_values = rows->n;
	gather(v->data.raw, zeroes, rows->n, bf_storage_size(v->storage), s->dense);
	p->values = s->dense;
}

static void
flat_piece(BfiShred *s, const BfVector *v, const BfiRows *rows, uint8_t max_def, BfiPiece *p)
{
	size_t size = bf_storage_size(v->storage);
	int32_t list[BFI_PIECE_ROWS];
	const void *source = v->form == BF_VEC_DICT ? v->dict->data.raw : v->data.raw;

	if (v->storage == BF_STORE_NONE)
	{
		memset(s->def, max_def - 1, sizeof s->def);
		p->def = s->def;
		return;
	}
	if (v->form == BF_VEC_FLAT && rows->list == NULL && all_valid(v, rows))
	{
		p->n_values = rows->n;
		p->values = (const uint8_t *) source + (size_t) rows->first * size;
		return;
	}
	p->n_values = valid_rows(s, v, rows, max_def, list, p);
	if (v->form == BF_VEC_DICT)
		for (int32_t i = 0; i < p->n_values; i++)
			list[i] = (int32_t) v->codes[list[i]];
	if (p->n_values > 0)
		gather(source, list, p->n_values, size, s->dense);
	p->values = s->dense;
}

static BfStatus
shred_flat(BfParquetWriter *w, const BfField *field, const BfVector *v, const BfiRows *rows,
		   BfiColumnOut *c, BfError *err)
{
	uint8_t max_def = field->required ? 1 : c->leaf->max_def;
	BfiPiece p = {.n_levels = rows->n, .n_rows = rows->n};

	BF_ASSERT(c->leaf->max_rep == 0 && rows->n <= BFI_PIECE_ROWS);
	if (v->form == BF_VEC_CONST)
		constant_piece(w->shred, v, rows, max_def, &p);
	else
		flat_piece(w->shred, v, rows, max_def, &p);
	if (field->required && p.def != NULL)
		return required_null(field, err);
	return bfi_column_append(w, c, &p, err);
}

/* ---- nested columns ---- */

typedef struct Slots
{
	int32_t n;
	uint8_t *rep;
	uint8_t *def; /* of those that ended */
	int32_t *row; /* -1: it ended */
} Slots;

/* What the walk goes on with. */
typedef struct Walk
{
	BfParquetWriter *w;
	BfiColumnOut *leaf; /* the next */
	int32_t n_rows;
} Walk;

static BfStatus
new_slots(BfArena *a, int64_t n, Slots *out, BfError *err)
{
	if (n > INT32_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "%lld values in some rows", (long long) n);
	*out = (Slots){0};
	BF_NEW_RAW(a, out->rep, (size_t) n + 1, err);
	BF_NEW_RAW(a, out->def, (size_t) n + 1, err);
	BF_NEW_RAW(a, out->row, (size_t) n + 1, err);
	return BF_OK;
}

static inline void
put_slot(Slots *s, uint8_t rep, uint8_t def, int32_t row)
{
	BF_ASSERT(row >= -1);
	s->rep[s->n] = rep;
	s->def[s->n] = def;
	s->row[s->n++] = row;
}

/* The row of a vector's buffers; -1: NULL. */
static inline int32_t
row_in(const BfVector *v, int32_t row)
{
	if (v->form == BF_VEC_CONST)
		row = 0;
	return bf_valid(v->validity, row) ? row : -1;
}

static BfStatus shred_field(Walk *k, const BfField *field, const BfVector *v, const Slots *slots,
							uint8_t def, uint8_t rep, BfError *err);

static BfStatus
shred_leaf(Walk *k, const BfField *field, const BfVector *v, const Slots *slots, uint8_t def,
		   BfError *err)
{
	BfArena *a = k->w->shred->arena;
	BfiColumnOut *c = k->leaf++;
	size_t size = bf_storage_size(v->storage);
	BfiPiece p = {.n_levels = slots->n, .n_rows = k->n_rows};
	bool absent = v->storage == BF_STORE_NONE;
	int32_t *rows;
	uint8_t *defs;
	void *dense;

	BF_ASSERT(c->leaf->field == field && def + !field->required == c->leaf->max_def);
	BF_NEW_RAW(a, rows, (size_t) slots->n + 1, err);
	BF_NEW_RAW(a, defs, (size_t) slots->n + 1, err);
	for (int32_t i = 0; i < slots->n; i++)
	{
		int32_t row = slots->row[i];

		if (row >= 0)
			row = absent ? -1 : row_in(v, row);
		if (row < 0 && slots->row[i] >= 0 && field->required)
			return required_null(field, err);
		defs[i] = slots->row[i] < 0 ? slots->def[i] : row < 0 ? def : c->leaf->max_def;
		rows[p.n_values] = row;
		p.n_values += row >= 0;
	}
	p.def = p.n_values < slots->n ? defs : NULL;
	p.rep = c->leaf->max_rep > 0 ? slots->rep : NULL;
	if (p.n_values > 0)
	{
		BF_TRY_PTR(a, dense, bf_arena_alloc_array(a, (size_t) p.n_values, size), err);
		gather(v->data.raw, rows, p.n_values, size, dense);
		p.values = dense;
	}
	return bfi_column_append(k->w, c, &p, err);
}

static BfStatus
shred_struct(Walk *k, const BfField *field, const BfVector *v, const Slots *slots, uint8_t def,
			 uint8_t rep, BfError *err)
{
	Slots inner;

	BF_TRY(new_slots(k->w->shred->arena, slots->n, &inner, err));
	for (int32_t i = 0; i < slots->n; i++)
	{
		int32_t row = slots->row[i] < 0 ? -1 : row_in(v, slots->row[i]);

		if (row < 0 && slots->row[i] >= 0 && field->required)
			return required_null(field, err);
		put_slot(&inner, slots->rep[i], slots->row[i] < 0 ? slots->def[i] : def, row);
	}
	def = (uint8_t) (def + !field->required);
	for (int32_t i = 0; i < field->n_children; i++)
		BF_TRY(shred_field(k, &field->children[i], i < v->n_children ? &v->children[i] : NULL,
						   &inner, def, rep, err));
	return BF_OK;
}

/* Slots that the items of a list or map will be. */
static int64_t
count_items(const BfVector *v, const Slots *slots)
{
	int64_t n = 0;

	for (int32_t i = 0; i < slots->n; i++)
	{
		int32_t row = slots->row[i] < 0 ? -1 : row_in(v, slots->row[i]);
		int32_t items = row < 0 ? 0 : v->offsets[row + 1] - v->offsets[row];

		BF_ASSERT(items >= 0);

		n += items > 0 ? items : 1;
	}
	return n;
}

static BfStatus
shred_list(Walk *k, const BfField *field, const BfVector *v, const Slots *slots, uint8_t def,
		   uint8_t rep, BfError *err)
{
	Slots inner;

	BF_TRY(new_slots(k->w->shred->arena, count_items(v, slots), &inner, err));
	for (int32_t i = 0; i < slots->n; i++)
	{
		int32_t row = slots->row[i] < 0 ? -1 : row_in(v, slots->row[i]);

		if (row < 0 && slots->row[i] >= 0 && field->required)
			return required_null(field, err);
		if (row < 0)
			put_slot(&inner, slots->rep[i], slots->row[i] < 0 ? slots->def[i] : def, -1);
		else if (v->offsets[row] == v->offsets[row + 1])
			put_slot(&inner, slots->rep[i], (uint8_t) (def + !field->required), -1);
		else
			for (int32_t item = v->offsets[row]; item < v->offsets[row + 1]; item++)
				put_slot(&inner, item == v->offsets[row] ? slots->rep[i] : (uint8_t) (rep + 1), 0,
						 item);
	}
	def = (uint8_t) (def + !field->required + 1);
	for (int32_t i = 0; i < field->n_children; i++)
		BF_TRY(shred_field(k, &field->children[i], i < v->n_children ? &v->children[i] : NULL,
						   &inner, def, (uint8_t) (rep + 1), err));
	return BF_OK;
}

/* def, rep: levels at which what is around the field is there. v NULL: everything ended above. */
static BfStatus
shred_field(Walk *k, const BfField *field, const BfVector *v, const Slots *slots, uint8_t def,
			uint8_t rep, BfError *err)
{
	BfArenaMark mark = bf_arena_mark(k->w->shred->arena);
	BfVector none;

	if (v == NULL)
	{
		bf_vector_set_null(&none, field->type, 0);
		v = &none;
	}
	BF_ASSERT(v->form != BF_VEC_DICT && bf_type_storage(field->type) == v->storage);
	if (field->type.kind == BF_KIND_STRUCT)
		BF_TRY(shred_struct(k, field, v, slots, def, rep, err));
	else if (field->type.kind == BF_KIND_LIST || field->type.kind == BF_KIND_MAP)
		BF_TRY(shred_list(k, field, v, slots, def, rep, err));
	else
		BF_TRY(shred_leaf(k, field, v, slots, def, err));
	bf_arena_rewind(k->w->shred->arena, mark);
	return BF_OK;
}

static BfStatus
shred_nested(BfParquetWriter *w, const BfField *field, const BfVector *v, const BfiRows *rows,
			 BfiColumnOut *leaf, BfError *err)
{
	Walk k = {.w = w, .leaf = leaf, .n_rows = rows->n};
	Slots slots;

	bf_arena_reset(w->shred->arena);
	BF_TRY(new_slots(w->shred->arena, rows->n, &slots, err));
	for (int32_t i = 0; i < rows->n; i++)
		put_slot(&slots, 0, 0, row_at(rows, i));
	BF_ASSERT(slots.n == rows->n && row_at(rows, rows->n - 1) < v->n);
	return shred_field(&k, field, v, &slots, 0, 0, err);
}

BfStatus
bfi_shred_column(BfParquetWriter *w, const BfField *field, const BfVector *v, const BfiRows *rows,
				 BfiColumnOut *leaf, BfError *err)
{
	BF_ASSERT(rows->n > 0 && rows->n <= BFI_PIECE_ROWS);
	if (bf_type_storage(field->type) == BF_STORE_NESTED)
		return shred_nested(w, field, v, rows, leaf, err);
	return shred_flat(w, field, v, rows, leaf, err);
}
