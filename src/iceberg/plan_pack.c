/*
 * A plan as bytes, for other processes that read the same table: they need not read manifests.
 *
 *   number   zigzag LEB128
 *   text     length, bytes, NUL; length -1: no text
 *   value    kind, precision, scale, length of its type, is_null; unless NULL bytes of its storage
 *   tuple    number of values, values; -1: that of the file before
 *
 *   plan     numbers of the plan, coverages
 *            delete files, each once
 *            arrays of delete files, each once: files share them, and read from some place on
 *            data files
 *
 * The bytes are this library's own and are not checked like a file's. They stay where they are as
 * long as the plan that is made of them, which points to their texts.
 */
#include "iceberg/internal.h"

#define BYTES_MAX ((size_t) 1 << 30)

_Static_assert(BYTES_MAX <= UINT32_MAX, "a view holds a plan");

/* Numbers of pointers. */
typedef struct PointerMap
{
	uint32_t n_slots; /* a power of 2 */
	struct
	{
		const void *pointer; /* NULL = empty */
		int32_t number;
	} * slots;
	int32_t n;
} PointerMap;

typedef struct Pack
{
	BfBuffer *out;
	BfArena *work;
	const BfIcePlan *plan;
	PointerMap deletes; /* by delete file */
	PointerMap arrays;	/* by the end of the array, which those that begin later share */
	const BfIceDeletes **longest;
	const BfValue *tuple; /* of the file before */
} Pack;

/* --- Packing ---------------------------------------------------------------------------------- */

static BfStatus
map_init(BfArena *a, PointerMap *m, int64_t n, BfError *err)
{
	m->n_slots = 16;
	while (m->n_slots < n * 2)
		m->n_slots *= 2;
	BF_NEW(a, m->slots, m->n_slots, err);
	return BF_OK;
}

/* The number of the pointer, a new one if it has none. */
static int32_t
map_number(PointerMap *m, const void *pointer)
{
	uint64_t h = (uint64_t) (uintptr_t) pointer * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t) (h >> 32) & (m->n_slots - 1);

	BF_ASSERT(pointer != NULL && (m->n_slots & (m->n_slots - 1)) == 0);
	while (m->slots[i].pointer != NULL && m->slots[i].pointer != pointer)
		i = (i + 1) & (m->n_slots - 1);
	if (m->slots[i].pointer == NULL)
	{
		m->slots[i].pointer = pointer;
		m->slots[i].number = m->n++;
		BF_ASSERT((uint32_t) m->n < m->n_slots);
	}
	return m->slots[i].number;
}

static BfStatus
put(Pack *p, int64_t v, BfError *err)
{
	return bf_buffer_varint(p->out, v, err);
}

static BfStatus
put_text(Pack *p, const char *text, BfError *err)
{
	size_t n = text != NULL ? strlen(text) : 0;

	BF_TRY(put(p, text != NULL ? (int64_t) n : -1, err));
	return text != NULL ? bf_buffer_append(p->out, text, n + 1, err) : BF_OK;
}

static BfStatus
put_value(Pack *p, const BfValue *v, BfError *err)
{
	BfStorage storage = bf_type_storage(v->type);

	BF_TRY(put(p, v->type.kind, err));
	BF_TRY(put(p, v->type.precision, err));
	BF_TRY(put(p, v->type.scale, err));
	BF_TRY(put(p, v->type.length, err));
	BF_TRY(put(p, v->is_null, err));
	if (v->is_null)
		return BF_OK;
	if (storage != BF_STORE_VIEW)
		return bf_buffer_append(p->out, &v->v, bf_storage_size(storage), err);
	BF_TRY(put(p, v->v.view.len, err));
	return bf_buffer_append(p->out, v->v.view.ptr, v->v.view.len, err);
}

static BfStatus
put_tuple(Pack *p, const BfValue *values, int32_t n, BfError *err)
{
	if (n > 0 && values == p->tuple)
		return put(p, -1, err);
	p->tuple = values;
	BF_TRY(put(p, n, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(put_value(p, &values[i], err));
	return BF_OK;
}

static BfStatus
put_coverage(Pack *p, const BfCoverage *c, BfError *err)
{
	BF_TRY(put(p, c->n, err));
	for (int32_t i = 0; i < c->n; i++)
	{
		const BfRangeSet *set = &c->items[i].ranges;

		BF_TRY(put(p, c->items[i].ledger_id, err));
		BF_TRY(put(p, set->n, err));
		for (int32_t k = 0; k < set->n; k++)
		{
			BF_TRY(put(p, set->ranges[k].first, err));
			BF_TRY(put(p, set->ranges[k].last, err));
		}
	}
	return BF_OK;
}

static BfStatus
put_delete(Pack *p, const BfIceDeleteFile *f, BfError *err)
{
	BF_TRY(put(p, f->kind, err));
	BF_TRY(put(p, f->avro, err));
	BF_TRY(put_text(p, f->path, err));
	BF_TRY(put(p, f->sequence_number, err));
	BF_TRY(put(p, f->record_count, err));
	BF_TRY(put(p, f->file_size, err));
	BF_TRY(put(p, f->spec_id, err));
	BF_TRY(put_tuple(p, f->partition, f->n_partition, err));
	BF_TRY(put(p, f->n_equality_ids, err));
	for (int32_t i = 0; i < f->n_equality_ids; i++)
		BF_TRY(put(p, f->equality_ids[i], err));
	BF_TRY(put(p, f->scope, err));
	BF_TRY(put_text(p, f->referenced, err));
	BF_TRY(put(p, f->vector_offset, err));
	return put(p, f->vector_length, err);
}

static const BfIceDeletes *
deletes_of(const BfIceDataFile *f, int kind)
{
	BF_ASSERT(kind >= 0 && kind < 3);
	return kind == 0 ? &f->own : kind == 1 ? &f->position : &f->equality;
}

static BfStatus
put_deletes(Pack *p, BfError *err)
{
	const BfIcePlan *plan = p->plan;
	int64_t n_arrays = 0, n_deletes = 0;
	int32_t written = 0;

	for (int32_t i = 0; i < plan->n_files; i++)
		for (int kind = 0; kind < 3; kind++)
			n_arrays += deletes_of(&plan->files[i], kind)->n > 0;
	BF_TRY(map_init(p->work, &p->arrays, n_arrays, err));
	BF_NEW(p->work, p->longest, n_arrays, err);
	for (int32_t i = 0; i < plan->n_files && n_arrays > 0; i++)
		for (int kind = 0; kind < 3; kind++)
		{
			const BfIceDeletes *d = deletes_of(&plan->files[i], kind);
			int32_t a = d->n > 0 ? map_number(&p->arrays, d->files + d->n) : -1;

			if (a >= 0 && (p->longest[a] == NULL || p->longest[a]->n < d->n))
				p->longest[a] = d;
		}
	for (int32_t a = 0; a < p->arrays.n; a++)
		n_deletes += p->longest[a]->n;
	BF_TRY(map_init(p->work, &p->deletes, n_deletes, err));
	for (int32_t a = 0; a < p->arrays.n; a++)
		for (int32_t i = 0; i < p->longest[a]->n; i++)
			(void) map_number(&p->deletes, p->longest[a]->files[i]);
	BF_ASSERT(p->arrays.n <= n_arrays && p->deletes.n <= n_deletes);
	BF_TRY(put(p, p->deletes.n, err));
	BF_TRY(put(p, p->arrays.n, err));
	for (int32_t a = 0; a < p->arrays.n; a++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(p->work), err));
		BF_TRY(put(p, p->longest[a]->n, err));
		for (int32_t i = 0; i < p->longest[a]->n; i++)
		{
			int32_t number = map_number(&p->deletes, p->longest[a]->files[i]);

			BF_TRY(put(p, number, err));
			BF_ASSERT(number >= 0 && number <= written);
			if (number == written)
			{
				BF_TRY(put_delete(p, p->longest[a]->files[i], err));
				written++;
			}
		}
	}
	return BF_OK;
}

static BfStatus
put_file(Pack *p, const BfIceDataFile *f, BfError *err)
{
	bool shared = f->n_constants == f->n_partition && f->constants == f->partition;

	BF_ASSERT(f->n_constants <= f->n_partition && f->logical == (f->format == BF_ICE_FORMAT_LOG));
	BF_TRY(put_text(p, f->path, err));
	BF_TRY(put(p, f->format, err));
	BF_TRY(put(p, f->record_count, err));
	BF_TRY(put(p, f->file_size, err));
	BF_TRY(put(p, f->spec_id, err));
	BF_TRY(put(p, f->sequence_number, err));
	BF_TRY(put(p, f->first_row_id, err));
	BF_TRY(put(p, f->snapshot_id, err));
	BF_TRY(put_tuple(p, f->partition, f->n_partition, err));
	BF_TRY(put(p, shared ? -1 : f->n_constants, err));
	for (int32_t i = 0; i < f->n_constants; i++)
	{
		BF_TRY(put(p, f->constant_ids[i], err));
		if (!shared)
			BF_TRY(put_value(p, &f->constants[i], err));
	}
	for (int kind = 0; kind < 3; kind++)
	{
		const BfIceDeletes *d = deletes_of(f, kind);

		BF_TRY(put(p, d->n, err));
		if (d->n > 0)
			BF_TRY(put(p, map_number(&p->arrays, d->files + d->n), err));
	}
	return BF_OK;
}

static BfStatus
put_plan(Pack *p, BfError *err)
{
	const BfIcePlan *plan = p->plan;

	BF_TRY(put(p, plan->snapshot_id, err));
	BF_TRY(put(p, plan->bifang_snapshot_id, err));
	BF_TRY(put(p, plan->total_rows, err));
	BF_TRY(put(p, plan->total_bytes, err));
	BF_TRY(put(p, plan->has_deletes, err));
	BF_TRY(put(p, plan->rows_guessed, err));
	BF_TRY(put(p, plan->n_manifests, err));
	BF_TRY(bf_buffer_append(p->out, &plan->counters, sizeof plan->counters, err));
	BF_TRY(put_coverage(p, &plan->covered, err));
	BF_TRY(put_coverage(p, &plan->covered_parquet, err));
	BF_TRY(put_deletes(p, err));
	BF_TRY(put(p, plan->n_files, err));
	p->tuple = NULL;
	for (int32_t i = 0; i < plan->n_files; i++)
	{
		if ((i & 1023) == 1023)
			BF_TRY(bf_check_cancel(bf_arena_host(p->work), err));
		BF_TRY(put_file(p, &plan->files[i], err));
	}
	return BF_OK;
}

BfStatus
bf_ice_plan_pack(BfArena *a, const BfIcePlan *plan, BfView *out, BfError *err)
{
	Pack p = {.plan = plan};
	BfStatus status;

	BF_ASSERT(plan->n_counted == 0);
	BF_TRY(bf_buffer_new(a, BYTES_MAX, &p.out, err));
	p.work = bf_arena_new(bf_arena_host(a), "packing a plan", BYTES_MAX);
	if (p.work == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = put_plan(&p, err);
	bf_arena_free(p.work);
	*out = (BfView){p.out->data, (uint32_t) p.out->len};
	return status;
}

/* --- Unpacking -------------------------------------------------------------------------------- */

typedef struct Unpack
{
	BfArena *arena;
	const BfIceTable *table;
	const uint8_t *at;
	const uint8_t *end;
	BfIceDeleteFile *deletes;
	int32_t n_deletes;
	BfIceDeletes *arrays;
	int32_t n_tuple; /* of the file before */
	BfValue *tuple;
} Unpack;

static int64_t
get(Unpack *u)
{
	uint64_t v = 0;
	unsigned shift = 0;

	do
	{
		v |= (uint64_t) (*u->at & 0x7f) << shift;
		shift += 7;
		BF_ASSERT(shift <= 70 && u->at < u->end);
	} while ((*u->at++ & 0x80) != 0);
	return bf_unzigzag(v);
}

static const char *
get_text(Unpack *u)
{
	int64_t n = get(u);
	const char *text = (const char *) u->at;

	if (n < 0)
		return NULL;
	BF_ASSERT(n < u->end - u->at && text[n] == '\0');
	u->at += n + 1;
	return text;
}

static void
get_value(Unpack *u, BfValue *v)
{
	BfStorage storage;

	memset(v, 0, sizeof *v);
	v->type.kind = (BfKind) get(u);
	v->type.precision = (int32_t) get(u);
	v->type.scale = (int32_t) get(u);
	v->type.length = (int32_t) get(u);
	v->is_null = get(u) != 0;
	if (v->is_null)
		return;
	storage = bf_type_storage(v->type);
	if (storage == BF_STORE_VIEW)
	{
		v->v.view.len = (uint32_t) get(u);
		v->v.view.ptr = u->at;
		u->at += v->v.view.len;
		return;
	}
	BF_ASSERT(bf_storage_size(storage) <= sizeof v->v);
	if (bf_storage_size(storage) > 0)
		memcpy(&v->v, u->at, bf_storage_size(storage));
	u->at += bf_storage_size(storage);
}

static BfStatus
get_tuple(Unpack *u, BfValue **values, int32_t *n, BfError *err)
{
	int64_t count = get(u);

	if (count >= 0)
	{
		BF_NEW_RAW(u->arena, u->tuple, count, err);
		for (int64_t i = 0; i < count; i++)
			get_value(u, &u->tuple[i]);
		u->n_tuple = (int32_t) count;
	}
	BF_ASSERT(count >= 0 || u->tuple != NULL);
	*values = u->tuple;
	*n = u->n_tuple;
	return BF_OK;
}

static BfStatus
get_coverage(Unpack *u, BfCoverage *c, BfError *err)
{
	c->n = (int32_t) get(u);
	BF_NEW(u->arena, c->items, c->n, err);
	for (int32_t i = 0; i < c->n; i++)
	{
		BfRangeSet *set = &c->items[i].ranges;

		c->items[i].ledger_id = get(u);
		set->n = (int32_t) get(u);
		BF_NEW_RAW(u->arena, set->ranges, set->n, err);
		for (int32_t k = 0; k < set->n; k++)
		{
			set->ranges[k].first = get(u);
			set->ranges[k].last = get(u);
		}
	}
	return BF_OK;
}

static BfStatus
get_delete(Unpack *u, BfIceDeleteFile *f, BfError *err)
{
	f->kind = (BfIceDeleteKind) get(u);
	f->avro = get(u) != 0;
	f->path = get_text(u);
	f->sequence_number = get(u);
	f->record_count = get(u);
	f->file_size = get(u);
	f->spec_id = (int32_t) get(u);
	BF_TRY(get_tuple(u, &f->partition, &f->n_partition, err));
	f->n_equality_ids = (int32_t) get(u);
	BF_NEW_RAW(u->arena, f->equality_ids, f->n_equality_ids, err);
	BF_NEW_RAW(u->arena, f->equality_fields, f->n_equality_ids, err);
	for (int32_t i = 0; i < f->n_equality_ids; i++)
	{
		f->equality_ids[i] = (int32_t) get(u);
		f->equality_fields[i] = bf_ice_field_anywhere(u->table->metadata, f->equality_ids[i]);
		BF_NEVER(err, f->equality_fields[i] == NULL);
	}
	f->scope = (int32_t) get(u);
	f->referenced = get_text(u);
	f->vector_offset = get(u);
	f->vector_length = get(u);
	return BF_OK;
}

static BfStatus
get_deletes(Unpack *u, BfError *err)
{
	int64_t n_deletes = get(u), n_arrays = get(u);

	BF_NEW(u->arena, u->deletes, n_deletes, err);
	BF_NEW(u->arena, u->arrays, n_arrays, err);
	for (int64_t a = 0; a < n_arrays; a++)
	{
		int32_t n = (int32_t) get(u);
		const BfIceDeleteFile **files;

		BF_TRY(bf_check_cancel(bf_arena_host(u->arena), err));
		BF_NEW_RAW(u->arena, files, n, err);
		for (int32_t i = 0; i < n; i++)
		{
			int32_t number = (int32_t) get(u);

			if (number == u->n_deletes)
				BF_TRY(get_delete(u, &u->deletes[u->n_deletes++], err));
			BF_ASSERT(number >= 0 && number < u->n_deletes && u->n_deletes <= n_deletes);
			files[i] = &u->deletes[number];
		}
		u->arrays[a] = (BfIceDeletes){n, files};
	}
	return BF_OK;
}

static BfStatus
get_constants(Unpack *u, BfIceDataFile *f, BfError *err)
{
	int64_t n = get(u);
	bool shared = n < 0;

	BF_ASSERT(n <= f->n_partition);
	f->n_constants = shared ? f->n_partition : (int32_t) n;
	f->constants = f->partition;
	if (f->n_constants == 0)
		return BF_OK;
	BF_NEW_RAW(u->arena, f->constant_ids, f->n_constants, err);
	if (!shared)
		BF_NEW_RAW(u->arena, f->constants, n, err);
	for (int32_t i = 0; i < f->n_constants; i++)
	{
		f->constant_ids[i] = (int32_t) get(u);
		if (!shared)
			get_value(u, &f->constants[i]);
	}
	return BF_OK;
}

static BfStatus
get_file(Unpack *u, BfIceDataFile *f, BfError *err)
{
	f->path = get_text(u);
	f->format = (BfIceFormat) get(u);
	f->logical = f->format == BF_ICE_FORMAT_LOG;
	if (f->logical)
		BF_TRY(bf_logical_parse(u->arena, f->path, &f->log, err));
	f->record_count = get(u);
	f->file_size = get(u);
	f->spec_id = (int32_t) get(u);
	f->sequence_number = get(u);
	f->first_row_id = get(u);
	f->snapshot_id = get(u);
	BF_TRY(get_tuple(u, &f->partition, &f->n_partition, err));
	BF_TRY(get_constants(u, f, err));
	for (int kind = 0; kind < 3; kind++)
	{
		int32_t n = (int32_t) get(u);
		BfIceDeletes *d = kind == 0 ? &f->own : kind == 1 ? &f->position : &f->equality;

		if (n > 0)
		{
			const BfIceDeletes *array = &u->arrays[get(u)];

			BF_ASSERT(n <= array->n);
			*d = (BfIceDeletes){n, array->files + (array->n - n)};
		}
	}
	return BF_OK;
}

BfStatus
bf_ice_plan_unpack(BfArena *a, const BfIceTable *t, BfView bytes, BfIcePlan **out, BfError *err)
{
	Unpack u = {.arena = a, .table = t, .at = bytes.ptr, .end = bytes.ptr + bytes.len};
	BfIcePlan *plan;

	BF_NEW(a, plan, 1, err);
	plan->snapshot_id = get(&u);
	plan->bifang_snapshot_id = get(&u);
	plan->total_rows = get(&u);
	plan->total_bytes = get(&u);
	plan->has_deletes = get(&u) != 0;
	plan->rows_guessed = get(&u) != 0;
	plan->n_manifests = (int32_t) get(&u);
	memcpy(&plan->counters, u.at, sizeof plan->counters);
	u.at += sizeof plan->counters;
	BF_TRY(get_coverage(&u, &plan->covered, err));
	BF_TRY(get_coverage(&u, &plan->covered_parquet, err));
	BF_TRY(get_deletes(&u, err));
	plan->n_files = (int32_t) get(&u);
	BF_NEW(a, plan->files, plan->n_files, err);
	u.n_tuple = 0;
	u.tuple = NULL;
	for (int32_t i = 0; i < plan->n_files; i++)
	{
		if ((i & 1023) == 1023)
			BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(get_file(&u, &plan->files[i], err));
	}
	BF_NEVER(err, u.at != u.end);
	*out = plan;
	return BF_OK;
}
