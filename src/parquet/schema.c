/*
 * From the footer's depth-first list of SchemaElements to nodes, leaves and BfFields.
 *
 * LIST groups come in two layouts (https://github.com/apache/parquet-format, LogicalTypes.md,
 * "backward-compatibility rules"); is_element() below holds the rules. A repeated field outside of
 * a LIST or MAP is a required list of required elements.
 */
#include "parquet/internal.h"

#include <stdio.h>

/* The groups that are open while the list is walked. */
typedef struct OpenGroup
{
	int32_t node;
	int32_t left; /* children still to come */
} OpenGroup;

void
bfi_node_path(const BfParquetFile *f, int32_t node, char *buf, size_t size)
{
	int32_t chain[BFI_SCHEMA_DEPTH_MAX + 1];
	int depth = 0;
	size_t used = 0;

	BF_ASSERT(size > 0);
	buf[0] = '\0';
	for (; node > 0 && depth <= BFI_SCHEMA_DEPTH_MAX; node = f->tree.nodes[node].parent)
		chain[depth++] = node;
	while (depth-- > 0 && used < size)
	{
		int n = snprintf(buf + used, size - used, "%s%s", used > 0 ? "." : "",
						 f->tree.nodes[chain[depth]].name);

		used += n > 0 ? (size_t) n : 0;
	}
}

static BfStatus
fill_node(BfParquetFile *f, int32_t i, const BfiSchemaElement *e, int64_t at, BfError *err)
{
	BfiNode *node = &f->tree.nodes[i];
	const BfiNode *parent = node->parent >= 0 ? &f->tree.nodes[node->parent] : NULL;

	BF_ASSERT(node->parent < i);
	BF_TRY_PTR(f->arena, node->name,
			   bf_arena_strndup(f->arena, (const char *) e->name.ptr, e->name.len), err);
	node->leaf = -1;
	node->field_id = (e->seen & BFI_SE_FIELD_ID) != 0 ? e->field_id : 0;
	node->logical = (uint8_t) bfi_logical(e);
	node->converted = BFI_CONV_NONE;
	if ((e->seen & BFI_SE_CONVERTED) != 0 && e->converted >= 0 && e->converted < BFI_CONV_NONE)
		node->converted = (uint8_t) e->converted;
	if (parent == NULL)
		return BF_OK; /* some writers give the root a repetition: it has none */
	/* Without one (hyparquet's writer) it is required. */
	BF_DATA(err, e->repetition >= 0 && e->repetition <= 2, at,
			"column \"%.100s\" has no valid repetition", node->name);
	node->repetition = (uint8_t) e->repetition;
	node->def = (int16_t) (parent->def + (node->repetition != BFI_REQUIRED));
	node->rep = (int16_t) (parent->rep + (node->repetition == BFI_REPEATED));
	f->tree.has_field_ids |= node->field_id != 0;
	return BF_OK;
}

static BfStatus
add_leaf(BfParquetFile *f, int32_t i, const BfiSchemaElement *e, int64_t at, BfError *err)
{
	BfiLeaf *leaf = &f->tree.leaves[f->tree.n_leaves];

	BF_ASSERT(f->tree.n_leaves < f->tree.n_nodes);
	leaf->node = i;
	leaf->max_def = f->tree.nodes[i].def;
	leaf->max_rep = f->tree.nodes[i].rep;
	BF_TRY(bfi_leaf_type(e, leaf, at, err));
	f->tree.nodes[i].leaf = f->tree.n_leaves++;
	return BF_OK;
}

/* Walks the list; the stack of open groups says whose child each element is. */
static BfStatus
build_nodes(BfParquetFile *f, BfiThriftList elements, BfError *err)
{
	OpenGroup open[BFI_SCHEMA_DEPTH_MAX + 1];
	int depth = 0;

	for (int32_t i = 0; i < f->tree.n_nodes; i++)
	{
		BfiSchemaElement e;
		int64_t at = bf_cursor_offset(&elements.c);
		BfiNode *node = &f->tree.nodes[i];
		bool is_group;

		BF_TRY(bfi_thrift_struct(&elements.c, &bfi_schema_element_table, &e, sizeof e, err));
		while (depth > 0 && open[depth - 1].left == 0)
			f->tree.nodes[open[--depth].node].end = i;
		BF_DATA(err, i == 0 || depth > 0, at,
				"the schema has more elements than its groups have children");
		node->parent = depth > 0 ? open[depth - 1].node : -1;
		if (depth > 0)
			open[depth - 1].left--;
		BF_TRY(fill_node(f, i, &e, at, err));
		is_group = i == 0 || (e.seen & BFI_SE_TYPE) == 0;
		node->end = i + 1;
		node->first_leaf = f->tree.n_leaves;
		if (!is_group)
		{
			BF_DATA(err, e.n_children == 0, at, "column \"%.100s\" has both a type and children",
					node->name);
			BF_TRY(add_leaf(f, i, &e, at, err));
			continue;
		}
		BF_DATA(err, e.n_children >= 0 && e.n_children < f->tree.n_nodes - i, at,
				"group \"%.100s\" has %d children, but only %d elements follow", node->name,
				e.n_children, f->tree.n_nodes - i - 1);
		node->n_children = e.n_children;
		if (depth > BFI_SCHEMA_DEPTH_MAX - 1)
			BF_FAIL_AT(err, BF_ERR_LIMIT, at, "the schema is nested deeper than %d",
					   BFI_SCHEMA_DEPTH_MAX);
		open[depth++] = (OpenGroup){i, e.n_children};
	}
	while (depth > 0 && open[depth - 1].left == 0)
		f->tree.nodes[open[--depth].node].end = f->tree.n_nodes;
	BF_DATA(err, depth == 0, bf_cursor_offset(&elements.c),
			"the schema ends before all groups have their children");
	return BF_OK;
}

static bool
is_list(const BfiNode *n)
{
	return n->logical == BFI_LOGICAL_LIST ||
		   (n->logical == BFI_LOGICAL_NONE && n->converted == BFI_CONV_LIST);
}

static bool
is_map(const BfiNode *n)
{
	return n->logical == BFI_LOGICAL_MAP ||
		   (n->logical == BFI_LOGICAL_NONE &&
			(n->converted == BFI_CONV_MAP || n->converted == BFI_CONV_MAP_KEY_VALUE));
}

/* Is the repeated child `r` of a LIST group itself the element (two-level list)? */
static bool
is_element(const BfParquetFile *f, int32_t list, int32_t r)
{
	const BfiNode *n = &f->tree.nodes[r];
	size_t len = strlen(f->tree.nodes[list].name);

	if (n->leaf >= 0 || n->n_children != 1)
		return true;
	if (f->tree.nodes[r + 1].repetition == BFI_REPEATED || is_list(n) || is_map(n))
		return true;
	if (strcmp(n->name, "array") == 0)
		return true;
	return strncmp(n->name, f->tree.nodes[list].name, len) == 0 &&
		   strcmp(n->name + len, "_tuple") == 0;
}

static BfStatus build_field(BfParquetFile *f, int32_t node, bool as_element, const BfiShape *slot,
							BfField *out, BfiShape *shape, BfError *err);

/* All children of a group as out's children; `slot` has their slot_def and slot_rep. */
static BfStatus
build_children(BfParquetFile *f, int32_t node, int32_t n, const BfiShape *slot, BfField *out,
			   BfiShape *shape, BfError *err)
{
	int32_t child = node + 1;

	out->n_children = shape->n_children = n;
	BF_NEW(f->arena, out->children, n, err);
	BF_NEW(f->arena, shape->children, n, err);
	for (int32_t i = 0; i < f->tree.nodes[node].n_children; i++, child = f->tree.nodes[child].end)
		BF_TRY(build_field(f, child, false, slot, &out->children[i], &shape->children[i], err));
	return BF_OK;
}

/* The slots of a repeated node's items, and the items of the list around it. */
static void
set_items(const BfParquetFile *f, int32_t repeated, BfiShape *list, BfiShape *items)
{
	memset(items, 0, sizeof *items);
	items->slot_def = list->item_def = f->tree.nodes[repeated].def;
	items->slot_rep = list->item_rep = f->tree.nodes[repeated].rep;
}

/* `repeated`: the node that is repeated, `element`: it, or its only child. */
static BfStatus
build_list(BfParquetFile *f, int32_t repeated, int32_t element, BfField *out, BfiShape *shape,
		   BfError *err)
{
	BfiShape items;

	BF_ASSERT(element == repeated || element == repeated + 1);
	out->type = BF_TYPE(LIST);
	out->n_children = shape->n_children = 1;
	BF_NEW(f->arena, out->children, 1, err);
	BF_NEW(f->arena, shape->children, 1, err);
	set_items(f, repeated, shape, &items);
	return build_field(f, element, repeated == element, &items, out->children, shape->children,
					   err);
}

/* Key and value; a value that is not there is of the type that is always NULL. */
static BfStatus
build_map(BfParquetFile *f, int32_t repeated, BfField *out, BfiShape *shape, BfError *err)
{
	BfiShape items;

	BF_ASSERT(f->tree.nodes[repeated].n_children == 1 || f->tree.nodes[repeated].n_children == 2);
	out->type = BF_TYPE(MAP);
	set_items(f, repeated, shape, &items);
	BF_TRY(build_children(f, repeated, 2, &items, out, shape, err));
	if (f->tree.nodes[repeated].n_children == 1)
	{
		out->children[1] = (BfField){.name = "value", .type = BF_TYPE(NULL)};
		shape->children[1] = items;
		shape->children[1].node = shape->children[1].leaf = -1;
		shape->children[1].leaf_first = shape->children[1].leaf_end =
			f->tree.nodes[repeated].first_leaf;
	}
	return BF_OK;
}

static BfStatus
build_group(BfParquetFile *f, int32_t node, BfField *out, BfiShape *shape, BfError *err)
{
	const BfiNode *n = &f->tree.nodes[node];
	const BfiNode *child = n->n_children == 1 ? &f->tree.nodes[node + 1] : NULL;
	bool repeated_child = child != NULL && child->repetition == BFI_REPEATED;

	if (n->logical == BFI_LOGICAL_VARIANT)
		out->type = BF_TYPE(VARIANT);
	else if (is_list(n) && repeated_child)
		return build_list(f, node + 1, is_element(f, node, node + 1) ? node + 1 : node + 2, out,
						  shape, err);
	else if (is_map(n) && repeated_child && child->leaf < 0 && child->n_children >= 1 &&
			 child->n_children <= 2)
		return build_map(f, node + 1, out, shape, err);
	else
		out->type = BF_TYPE(STRUCT);
	return build_children(f, node, n->n_children, shape, out, shape, err);
}

/* as_element: the node's own REPEATED is already expressed by the list around it. */
static BfStatus
build_field(BfParquetFile *f, int32_t node, bool as_element, const BfiShape *slot, BfField *out,
			BfiShape *shape, BfError *err)
{
	const BfiNode *n = &f->tree.nodes[node];

	out->id = n->field_id;
	out->name = n->name;
	out->required = n->repetition != BFI_OPTIONAL;
	shape->node = node;
	shape->leaf = -1;
	shape->leaf_first = n->first_leaf;
	shape->leaf_end =
		n->end < f->tree.n_nodes ? f->tree.nodes[n->end].first_leaf : f->tree.n_leaves;
	shape->slot_def = slot->slot_def;
	shape->slot_rep = slot->slot_rep;
	shape->def = n->def;
	BF_ASSERT(shape->leaf_first <= shape->leaf_end && shape->leaf_end <= f->tree.n_leaves);
	if (n->repetition == BFI_REPEATED && !as_element)
	{
		/* The list is there whenever what is around it is. */
		shape->def = (int16_t) (n->def - 1);
		return build_list(f, node, node, out, shape, err);
	}
	if (n->leaf < 0)
		return build_group(f, node, out, shape, err);
	shape->leaf = n->leaf;
	out->type = f->tree.leaves[n->leaf].type;
	return BF_OK;
}

BfStatus
bfi_schema_build(BfParquetFile *f, BfiThriftList elements, BfError *err)
{
	int64_t at = bf_cursor_offset(&elements.c);
	BfiShape top = {0};
	int32_t node = 1;

	BF_DATA(err, elements.n > 0 && elements.type == BFI_T_STRUCT, at, "the schema is empty");
	if (elements.n > BFI_SCHEMA_NODES_MAX)
		BF_FAIL_AT(err, BF_ERR_LIMIT, at, "the schema has %u elements, more than %d", elements.n,
				   BFI_SCHEMA_NODES_MAX);
	f->tree.n_nodes = (int32_t) elements.n;
	BF_NEW(f->arena, f->tree.nodes, f->tree.n_nodes, err);
	BF_NEW(f->arena, f->tree.leaves, f->tree.n_nodes, err);
	BF_TRY(build_nodes(f, elements, err));

	f->tree.schema.n_fields = f->tree.nodes[0].n_children;
	BF_NEW(f->arena, f->tree.schema.fields, f->tree.schema.n_fields, err);
	BF_NEW(f->arena, f->tree.shapes, f->tree.schema.n_fields, err);
	for (int32_t i = 0; i < f->tree.schema.n_fields; i++, node = f->tree.nodes[node].end)
	{
		BF_TRY(
			build_field(f, node, false, &top, &f->tree.schema.fields[i], &f->tree.shapes[i], err));
	}
	return BF_OK;
}
