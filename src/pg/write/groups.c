/*
 * pg/write/groups.c: see groups.h.
 *
 * Rows are numbered by group over a hash table of their partitions' keys, then put in order of
 * groups by counting.
 */
#include "pg/write/groups.h"

#include "base/map.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/write/partition.h"

#define KEY_BYTES_MAX ((size_t) 1 << 30)

struct BifangGroups
{
	const BfIceSpec *spec;
	const BfSchema *schema;
	BfBuffer *keys; /* partitions as bytes, row after row */
	BfValue *values;
	size_t key_at[BF_BATCH_ROWS + 1];
	BfMap numbers; /* partition -> its group */
	int32 group_of_row[BF_BATCH_ROWS];
	int32 end[BF_BATCH_ROWS + 1];
	int32 ordered[BF_BATCH_ROWS];
};

BifangGroups *
bifang_groups_new(BfArena *a, const BfIceSpec *spec, const BfSchema *schema)
{
	BifangGroups *g = palloc(sizeof *g);
	const BfHost *host = bf_arena_host(a);
	BfError err = {0};
	uint64_t seed;

	Assert(spec->n_fields > 0);
	g->spec = spec;
	g->schema = schema;
	BIFANG_CHECK(bf_buffer_new(a, KEY_BYTES_MAX, &g->keys, &err), &err);
	BIFANG_CHECK(host->random(host, &seed, sizeof seed, &err), &err);
	bf_map_init(&g->numbers, a, seed);
	/* Not from palloc: the values are aligned to 16 bytes. */
	g->values = bf_arena_alloc_array(a, (size_t) spec->n_fields, sizeof *g->values);
	if (g->values == NULL)
	{
		(void) bf_arena_fail(a, (size_t) spec->n_fields, &err);
		bifang_report(&err);
	}
	return g;
}

/* Numbers the rows' partitions in order of appearance; returns how many there are. */
static int32
number_rows(BifangGroups *g, const BfBatch *batch)
{
	int32 n_groups = 0;
	BfError err = {0};

	g->keys->len = 0;
	g->key_at[0] = 0;
	for (int32 row = 0; row < batch->n_rows; row++)
	{
		BIFANG_CHECK(
			bifang_partition_of_row(g->spec, g->schema, batch, row, g->values, g->keys, &err),
			&err);
		g->key_at[row + 1] = g->keys->len;
	}
	/* Only now are the keys where they stay. */
	bf_map_clear(&g->numbers);
	for (int32 row = 0; row < batch->n_rows; row++)
	{
		const uint8_t *key = g->keys->data + g->key_at[row];
		size_t len = g->key_at[row + 1] - g->key_at[row];
		int64_t *number;

		BIFANG_CHECK(bf_map_put_borrowed(&g->numbers, key, len, bf_map_hash(&g->numbers, key, len),
										 n_groups, &number, &err),
					 &err);
		Assert(*number <= n_groups && n_groups <= row);
		g->group_of_row[row] = (int32) *number;
		n_groups += *number == n_groups;
	}
	return n_groups;
}

void
bifang_groups_split(BifangGroups *g, const BfBatch *batch, BifangGroupVisit visit, void *arg)
{
	int32 n_groups;
	int32 n_rows = batch->n_rows;
	int32 *end = g->end; /* one past the group's last row in `ordered` */
	int32 first = 0;

	Assert(n_rows > 0 && n_rows <= BF_BATCH_ROWS);
	n_groups = number_rows(g, batch);
	if (n_groups == 1)
	{
		visit(arg, NULL, n_rows);
		return;
	}
	memset(end, 0, sizeof *end * (Size) (n_groups + 1));
	for (int32 row = 0; row < n_rows; row++)
		end[g->group_of_row[row] + 1]++;
	for (int32 i = 0; i < n_groups; i++)
		end[i + 1] += end[i];
	for (int32 row = 0; row < n_rows; row++)
		g->ordered[end[g->group_of_row[row]]++] = row;
	for (int32 i = 0; i < n_groups; i++)
	{
		Assert(first < end[i]);
		visit(arg, g->ordered + first, end[i] - first);
		first = end[i];
	}
	Assert(first == n_rows);
}
