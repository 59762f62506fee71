/*
 * Nested columns: from the levels and values of the leaves to a tree of vectors.
 *
 * Every vector of the tree is made on its own, from the levels of one leaf below it (its guide; see
 * BfiShape for which level pairs are its slots and items):
 *
 *     LIST, MAP   one pass over the pairs: a slot starts a row at the number of items so far
 *     STRUCT      one pass: validity alone
 *     leaf        one pass: validity; the dense values are then spread over the slots
 *
 *     [[7,8],[]], NULL, [[9]]         outer list       inner list        leaf
 *     rep 0 2 1 0 0                   valid  1 0 1     valid  1 1 1      dense 7 8 9
 *     def 5 5 2 0 5                   offs.  0 2 2 3   offs.  0 2 2 3
 *
 * Leaves of one field repeat the structure of what is above them. That they agree is checked, since
 * damaged files exist in which they don't: the number of slots everywhere, and the offsets of every
 * list for every leaf below it.
 *
 * A struct of whose members the file has none that is wanted takes its validity from another leaf
 * below it, whose values are not decoded.
 */
#include "parquet/internal.h"

typedef struct Node
{
	const BfiShape *shape;
	const BfField *field;
	int32_t guide; /* index of the leaf's stream; -1: no leaf below is read */
	bool wanted;   /* false: a NULL constant */
	BfKind kind;   /* the field's, but for a struct that is read as a variant */
	BfBuffer *data;
	BfBuffer *validity;
	BfBuffer *offsets; /* VARIANT: the texts */
	BfBuffer *scratch; /* VARIANT */
	int32_t n_children;
	struct Node *children;
	BfVector *vectors; /* of the children */
} Node;

struct BfiNested
{
	BfiShared *shared; /* borrowed */
	int32_t n_streams;
	BfiColumn *streams; /* one per leaf that is read, in the file's order */
	int32_t failed;		/* index of a stream */
	BfBuffer *marks;	/* scratch: a byte per slot */
	Node root;
	BfVector vector;
};

/* ---- what is read ---- */

/* Per leaf of the file, from the field's first one on. */
enum
{
	LEAF_UNUSED,
	LEAF_LEVELS,
	LEAF_VALUES
};

typedef struct Plan
{
	const BfParquetFile *file;
	uint8_t *use;
	int32_t leaf_first;
} Plan;

static void
use_all(Plan *p, const BfiShape *s)
{
	BF_ASSERT(s->leaf_first >= p->leaf_first && s->leaf_first <= s->leaf_end);
	memset(p->use + (s->leaf_first - p->leaf_first), LEAF_VALUES,
		   (size_t) (s->leaf_end - s->leaf_first));
}

/* Some leaf tells where there is a value: one with as little repetition as can be had. */
static void
use_a_guide(Plan *p, const BfiShape *s)
{
	int32_t best = -1;

	for (int32_t i = s->leaf_first; i < s->leaf_end; i++)
	{
		if (p->use[i - p->leaf_first] != LEAF_UNUSED)
			return;
		if (best < 0 || p->file->tree.leaves[i].max_rep < p->file->tree.leaves[best].max_rep)
			best = i;
	}
	if (best >= 0)
		p->use[best - p->leaf_first] = LEAF_LEVELS;
}

static BfStatus build(BfArena *a, Plan *p, Node *n, const BfiShape *shape, const BfField *field,
					  const BfMapping *mapping, int32_t depth, BfError *err);

static BfStatus
build_children(BfArena *a, Plan *p, Node *n, const BfMapping *mapping, int32_t depth, BfError *err)
{
	/* A variant is all or nothing. */
	bool all = mapping == NULL || n->kind == BF_KIND_VARIANT;

	n->n_children = n->shape->n_children;
	BF_NEW(a, n->children, n->n_children, err);
	BF_NEW(a, n->vectors, n->n_children, err);
	for (int32_t i = 0; i < n->n_children; i++)
	{
		n->children[i].shape = &n->shape->children[i];
		n->children[i].field = &n->field->children[i];
		n->children[i].guide = -1;
		n->children[i].kind = n->field->children[i].type.kind;
		if (all)
			BF_TRY(build(a, p, &n->children[i], n->children[i].shape, n->children[i].field, NULL,
						 depth + 1, err));
	}
	for (int32_t i = 0; !all && i < bf_mapping_n_children(mapping); i++)
	{
		const BfMapping *child;
		int32_t from = bf_mapping_child(mapping, i, &child);

		if (from >= 0)
			BF_TRY(build(a, p, &n->children[from], n->children[from].shape, n->children[from].field,
						 child, depth + 1, err));
	}
	return BF_OK;
}

/* Marks what is wanted, and its leaves in the plan. */
static BfStatus
build(BfArena *a, Plan *p, Node *n, const BfiShape *shape, const BfField *field,
	  const BfMapping *mapping, int32_t depth, BfError *err)
{
	size_t bytes_max = p->file->limits.page_bytes_max * 2 + ((size_t) 1 << 20);

	n->shape = shape;
	n->field = field;
	n->guide = -1;
	n->wanted = true;
	n->kind =
		mapping != NULL && bf_mapping_is_variant(mapping) ? BF_KIND_VARIANT : field->type.kind;
	if (depth > BFI_FIELD_DEPTH_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the column is nested deeper than %d", BFI_FIELD_DEPTH_MAX);
	BF_TRY(bf_buffer_new(a, bytes_max, &n->data, err));
	BF_TRY(bf_buffer_new(a, bytes_max, &n->validity, err));
	BF_TRY(bf_buffer_new(a, bytes_max, &n->offsets, err));
	if (shape->leaf >= 0)
	{
		use_all(p, shape);
		return BF_OK;
	}
	if (n->kind == BF_KIND_VARIANT)
	{
		BF_TRY(bfi_variant_check(field, err));
		BF_TRY(bf_buffer_new(a, bytes_max, &n->scratch, err));
	}
	BF_TRY(build_children(a, p, n, mapping, depth, err));
	use_a_guide(p, shape);
	return BF_OK;
}

/* The stream that guides a node: of those below it the one with the least repetition. */
static void
choose_guides(BfiNested *t, Node *n)
{
	BF_ASSERT(n->shape->leaf_first <= n->shape->leaf_end);
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		const BfiColumn *c = &t->streams[i];

		if (c->leaf_index >= n->shape->leaf_first && c->leaf_index < n->shape->leaf_end &&
			(n->guide < 0 || c->leaf->max_rep < t->streams[n->guide].leaf->max_rep))
			n->guide = i;
	}
	for (int32_t i = 0; i < n->n_children; i++)
		if (n->children[i].wanted)
			choose_guides(t, &n->children[i]);
}

/* Lists have as many items as a leaf below them says: without one nobody knows. */
static BfStatus
check_node(const BfParquetFile *f, const Node *n, BfError *err)
{
	if (n->guide < 0 && n->kind != BF_KIND_STRUCT && n->kind != BF_KIND_NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "column \"%.100s\" is a list or variant without columns",
				n->field->name);
	for (int32_t i = 0; i < n->n_children; i++)
		if (n->children[i].wanted)
			BF_TRY(check_node(f, &n->children[i], err));
	return BF_OK;
}

static BfStatus
init_stream(BfArena *a, BfiNested *t, int32_t leaf, bool values, BfError *err)
{
	BfiColumn *c = &t->streams[t->n_streams++];
	const BfiLeaf *l = &t->shared->file->tree.leaves[leaf];

	t->failed = t->n_streams - 1;
	BF_ASSERT(l->max_rep <= l->max_def);
	c->leaf_index = leaf;
	if (values && l->problem != NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the column has %s", l->problem);
	if (l->max_def > UINT8_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the column has %d levels, more than %d", l->max_def, UINT8_MAX);
	return bfi_column_init_levels(a, c, t->shared, leaf, values, err);
}

BfStatus
bfi_nested_init(BfArena *a, BfiShared *shared, int32_t field, const BfMapping *mapping,
				BfiNested **out, BfError *err)
{
	BfParquetFile *f = shared->file;
	const BfiShape *shape = &f->tree.shapes[field];
	int32_t n_leaves = shape->leaf_end - shape->leaf_first;
	Plan plan = {.file = f, .leaf_first = shape->leaf_first};
	int32_t n = 0;
	BfiNested *t;

	BF_ASSERT(field >= 0 && field < f->tree.schema.n_fields && shape->leaf < 0);
	BF_NEW(a, t, 1, err);
	*out = t;
	t->shared = shared;
	t->failed = -1;
	BF_NEW(a, plan.use, n_leaves, err);
	BF_TRY(bf_buffer_new(a, f->limits.page_bytes_max + ((size_t) 1 << 20), &t->marks, err));
	BF_TRY(build(a, &plan, &t->root, shape, &f->tree.schema.fields[field], mapping, 1, err));
	for (int32_t i = 0; i < n_leaves; i++)
		n += plan.use[i] != LEAF_UNUSED;
	BF_NEW(a, t->streams, n, err);
	for (int32_t i = 0; i < n_leaves; i++)
		if (plan.use[i] != LEAF_UNUSED)
			BF_TRY(init_stream(a, t, shape->leaf_first + i, plan.use[i] == LEAF_VALUES, err));
	BF_ASSERT(t->n_streams == n);
	t->failed = -1;
	choose_guides(t, &t->root);
	return check_node(f, &t->root, err);
}

/* ---- vectors ---- */

static BfStatus assemble(BfiNested *t, Node *node, int32_t n, BfVector *out, BfError *err);

static void
begin_vector(const Node *node, int32_t n, BfVector *out)
{
	memset(out, 0, sizeof *out);
	out->type = node->field->type;
	out->storage = bf_type_storage(out->type);
	out->form = BF_VEC_FLAT;
	out->n = out->capacity = n;
	out->children = node->vectors;
	out->n_children = node->n_children;
}

static BfStatus
assemble_children(BfiNested *t, Node *node, int32_t n, BfError *err)
{
	for (int32_t i = 0; i < node->n_children; i++)
		BF_TRY(assemble(t, &node->children[i], n, &node->vectors[i], err));
	return BF_OK;
}

static BfStatus
assemble_leaf(BfiNested *t, Node *node, BfiColumn *c, int32_t n, BfVector *out, BfError *err)
{
	size_t size = bf_storage_size(out->storage);
	BfBuffer *dense = c->levels->dense;

	BF_ASSERT(c->leaf_index == node->shape->leaf && node->n_children == 0);
	BF_TRY(bfi_slot_validity(node->shape, c, n, t->marks, node->validity, &out->validity, err));
	if (size == 0)
	{
		bf_vector_set_null(out, out->type, n);
		return BF_OK;
	}
	out->data.raw = dense->data;
	if (out->validity == NULL)
	{
		BF_NEVER(err, c->levels->n_dense != n);
		return BF_OK;
	}
	node->data->len = 0;
	BF_TRY(bf_buffer_reserve(node->data, ((size_t) n + 1) * size, err));
	bfi_spread(out->validity, 0, n, dense->data, node->data->data, size);
	out->data.raw = node->data->data;
	return BF_OK;
}

static BfStatus
assemble_list(BfiNested *t, Node *node, int32_t n, BfVector *out, BfError *err)
{
	const BfiColumn *guide = &t->streams[node->guide];
	int32_t *offsets;

	BF_ASSERT(node->guide >= 0 && node->guide < t->n_streams);
	node->offsets->len = 0;
	BF_TRY(bf_buffer_reserve(node->offsets, ((size_t) guide->levels->used + 2) * sizeof *offsets,
							 err));
	offsets = (int32_t *) (void *) node->offsets->data;
	BF_TRY(bfi_list_offsets(node->shape, guide, n, t->marks, node->validity, offsets,
							&out->validity, err));
	BF_ASSERT(offsets[0] == 0 && offsets[n] >= 0);
	out->offsets = offsets;
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		const BfiColumn *c = &t->streams[i];

		if (i == node->guide || c->leaf_index < node->shape->leaf_first ||
			c->leaf_index >= node->shape->leaf_end)
			continue;
		t->failed = i;
		BF_TRY(bfi_check_offsets(node->shape, c, n, offsets, err));
	}
	return assemble_children(t, node, offsets[n], err);
}

/* The parts as a struct, then its texts. */
static BfStatus
assemble_variant(BfiNested *t, Node *node, int32_t n, BfVector *out, BfError *err)
{
	BF_TRY(bfi_slot_validity(node->shape, &t->streams[node->guide], n, t->marks, node->validity,
							 &out->validity, err));
	BF_TRY(assemble_children(t, node, n, err));
	node->data->len = 0;
	BF_TRY(bf_buffer_reserve(node->data, ((size_t) n + 1) * sizeof(BfView), err));
	memset(node->data->data, 0, (size_t) n * sizeof(BfView));
	BF_TRY(bfi_variant_texts(node->field, out, n, node->offsets,
							 (BfView *) (void *) node->data->data, node->scratch, err));
	out->type = BF_TYPE(JSON);
	out->storage = BF_STORE_VIEW;
	out->data.raw = node->data->data;
	out->children = NULL;
	out->n_children = 0;
	return BF_OK;
}

static BfStatus
assemble(BfiNested *t, Node *node, int32_t n, BfVector *out, BfError *err)
{
	BfiColumn *guide = node->guide >= 0 ? &t->streams[node->guide] : NULL;

	if (!node->wanted || (guide == NULL && node->kind == BF_KIND_NULL))
	{
		bf_vector_set_null(out, node->field->type, n);
		return BF_OK;
	}
	t->failed = node->guide;
	begin_vector(node, n, out);
	switch (node->kind)
	{
		case BF_KIND_LIST:
		case BF_KIND_MAP: return assemble_list(t, node, n, out, err);
		case BF_KIND_VARIANT: return assemble_variant(t, node, n, out, err);
		case BF_KIND_STRUCT:
			/* Without any leaf below it is there wherever its parent is. */
			if (guide != NULL)
				BF_TRY(bfi_slot_validity(node->shape, guide, n, t->marks, node->validity,
										 &out->validity, err));
			return assemble_children(t, node, n, err);
		default: return assemble_leaf(t, node, guide, n, out, err);
	}
}

/* ---- reading ---- */

BfStatus
bfi_nested_open(BfiNested *t, int32_t rg, BfError *err)
{
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		t->failed = i;
		BF_TRY(bfi_column_open(&t->streams[i], rg, err));
	}
	t->failed = -1;
	return BF_OK;
}

BfStatus
bfi_nested_begin(BfiNested *t, int32_t want, int32_t *room, BfError *err)
{
	BF_ASSERT(want > 0);
	*room = want;
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		t->failed = i;
		BF_TRY(bfi_levels_begin(&t->streams[i], *room, room, err));
	}
	t->failed = -1;
	return BF_OK;
}

BfStatus
bfi_nested_read(BfiNested *t, int32_t n, bool last, BfError *err)
{
	BF_ASSERT(n > 0);
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		t->failed = i;
		BF_TRY(bfi_levels_read(&t->streams[i], n, last, err));
	}
	if (assemble(t, &t->root, n, &t->vector, err) != BF_OK)
	{
		if (err->offset < 0 && t->failed >= 0)
			err->offset = t->streams[t->failed].page.at;
		return err->code;
	}
	t->failed = -1;
	return BF_OK;
}

BfStatus
bfi_nested_seek(BfiNested *t, int64_t row, BfError *err)
{
	for (int32_t i = 0; i < t->n_streams; i++)
	{
		t->failed = i;
		BF_TRY(bfi_levels_seek(&t->streams[i], row, err));
	}
	t->failed = -1;
	return BF_OK;
}

int64_t
bfi_nested_items_per_row(const BfiNested *t)
{
	int64_t most = 1;

	for (int32_t i = 0; i < t->n_streams; i++)
	{
		const BfiColumn *c = &t->streams[i];
		int64_t rows = c->file->row_groups[c->chunk.rg].n_rows;
		int64_t per_row = rows > 0 ? c->chunk.n_values / rows : 0;

		most = per_row > most ? per_row : most;
	}
	return most;
}

const BfVector *
bfi_nested_vector(const BfiNested *t)
{
	return &t->vector;
}

int32_t
bfi_nested_failed_leaf(const BfiNested *t)
{
	return t->failed >= 0 ? t->streams[t->failed].leaf_index : -1;
}
