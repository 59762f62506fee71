/*
 * exec/delete/load.c: see load.h.
 */
#include "exec/delete/load.h"

#include "exec/delete/internal.h"

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_delete_cache_new(BfArena *a, const BfDeleteOptions *options, BfDeleteCache **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfDeleteCache *c;

	BF_NEW(a, c, 1, err);
	c->options = *options;
	c->arena = bf_arena_new(host, "deletes", options->bytes_max);
	if (c->arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for deletes");
	if (!bf_arena_on_cleanup(a, free_arena, c->arena))
	{
		bf_arena_free(c->arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(host->random(host, &c->seed, sizeof c->seed, err));
	bf_map_init(&c->positions, c->arena, c->seed);
	bf_map_init(&c->key_sets, c->arena, c->seed);
	bf_map_init(&c->key_files, c->arena, c->seed);
	*out = c;
	return BF_OK;
}

const BfDeleteCounters *
bf_delete_counters(const BfDeleteCache *c)
{
	return &c->counters;
}

/* Adds what the source deletes of the data file. */
static BfStatus
load_source(BfArena *a, BfDeleteCache *c, const char *data_path, int64_t data_sequence,
			const BfDeleteSource *s, BfDeletes *d, BfError *err)
{
	BfKeySet *keys;
	BfRows *set = NULL;

	switch (s->kind)
	{
		case BF_DELETE_POSITION: BF_TRY(bfi_positions(c, s, data_path, &set, err)); break;
		case BF_DELETE_VECTOR:
			BF_NEW(a, set, 1, err);
			BF_TRY(bfi_vector_read(a, c, s, set, err));
			break;
		case BF_DELETE_EQUALITY:
			/* The planner gives only those that are newer. */
			BF_NEVER(err, s->sequence <= data_sequence);
			BF_TRY(bfi_equality(c, s, &keys, err));
			return bf_deletes_add_keys(a, d, keys, err);
	}
	return set != NULL ? bf_deletes_add_rows(a, d, set, err) : BF_OK;
}

BfStatus
bf_deletes_load(BfArena *a, BfDeleteCache *c, const char *data_path, int64_t data_sequence,
				const BfDeleteSource *sources, int32_t n, BfDeletes **out, BfError *err)
{
	BfDeletes *d;

	BF_ASSERT(n >= 0);
	*out = NULL;
	if (n == 0)
		return BF_OK;
	BF_TRY(bf_deletes_new(a, data_sequence, &d, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(load_source(a, c, data_path, data_sequence, &sources[i], d, err));
	if (bf_deletes_any(d))
		*out = d;
	return BF_OK;
}

void
bf_delete_count_dangling(BfDeleteCache *c, const BfDeletes *d, int64_t n_rows)
{
	BF_ASSERT(d != NULL);
	c->counters.dangling += bf_deletes_behind(d, n_rows);
}
