/*
 * Which statistics of a file can be believed.
 *
 * Two pairs of bounds exist. min_value and max_value are in the order of the column's type where
 * the file says so (column_orders). The older min and max were compared as signed numbers and
 * signed bytes, whatever the type, and for bytes some writers compared something else again
 * (PARQUET-251): they are used where signed order is the type's order, or where both are equal.
 */
#include "parquet/internal.h"

/* Is the type's order the signed one of its physical numbers? */
static bool
is_signed_order(const BfiLeaf *leaf)
{
	return leaf->physical != BFI_BYTE_ARRAY && leaf->physical != BFI_FLBA &&
		   leaf->physical != BFI_INT96 && !leaf->is_unsigned;
}

/* Types without a defined order; and times of Parquet.Net, whose bounds are off by a time zone or a
 * unit that the column does not have (4.25, and others still in 6.0). */
static bool
has_no_order(const BfParquetFile *f, const BfiLeaf *leaf)
{
	if (f->writer.app == BFI_APP_PARQUET_NET && leaf->type.kind >= BF_KIND_DATE &&
		leaf->type.kind <= BF_KIND_TIMESTAMPTZ_NS)
		return true;
	return leaf->physical == BFI_INT96 || leaf->type.kind == BF_KIND_INTERVAL ||
		   leaf->type.kind == BF_KIND_NULL || leaf->type.kind == BF_KIND_GEOMETRY;
}

/* PARQUET-251: binary statistics that are simply wrong. CDH 5.5 had the fix in its 1.5.0. */
static bool
binary_bounds_are_damaged(const BfiWriter *w)
{
	if (w->major < 0)
		return true;
	if (!bfi_writer_before(w, BFI_APP_PARQUET_MR, 1, 8, 0))
		return false;
	return !(w->major == 1 && w->minor == 5 && w->patch == 0 &&
			 (w->cdh_major > 5 || (w->cdh_major == 5 && w->cdh_minor >= 5)));
}

static bool
same_bytes(BfView a, BfView b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Picks the pair that can be believed; a NULL pointer where there is none. */
static void
choose_pair(const BfParquetFile *f, int32_t leaf, const BfiStatistics *s, BfView *min, BfView *max)
{
	const BfiLeaf *l = &f->tree.leaves[leaf];
	uint8_t order = f->orders != NULL ? f->orders[leaf] : (uint8_t) BFI_ORDER_UNDEFINED;
	bool both_old = (s->seen & (BFI_STAT_MIN | BFI_STAT_MAX)) == (BFI_STAT_MIN | BFI_STAT_MAX);

	*min = *max = (BfView){NULL, 0};
	if (has_no_order(f, l))
		return;
	if ((s->seen & (BFI_STAT_MIN_VALUE | BFI_STAT_MAX_VALUE)) != 0)
	{
		if (order == BFI_ORDER_TYPE || (order == BFI_ORDER_UNDEFINED && is_signed_order(l)))
		{
			*min = s->min_value;
			*max = s->max_value;
		}
		return;
	}
	if (!is_signed_order(l) && (!both_old || !same_bytes(s->min, s->max)))
		return;
	if ((l->physical == BFI_BYTE_ARRAY || l->physical == BFI_FLBA) &&
		binary_bounds_are_damaged(&f->writer))
		return;
	*min = s->min;
	*max = s->max;
}

/* One bound, PLAIN without a length, as a value; false when it is none of this type. */
static bool
bound_value(const BfiLeaf *leaf, BfView b, BfValue *out)
{
	BfError ignored;
	uint64_t number = 0;
	const void *in = &number;
	uint32_t width = leaf->physical == BFI_BOOLEAN ? 1 : leaf->width;

	memset(out, 0, sizeof *out);
	out->type = leaf->type;
	BF_ASSERT(leaf->problem == NULL);
	if (b.ptr == NULL || (leaf->physical != BFI_BYTE_ARRAY && b.len != width))
		return false;
	if (leaf->physical == BFI_BYTE_ARRAY || leaf->physical == BFI_FLBA)
		in = &b;
	else
		memcpy(&number, b.ptr, b.len);
	if (leaf->convert != BFI_CONVERT_NONE)
	{
		bf_error_clear(&ignored);
		return bfi_convert(leaf, in, 1, &out->v, 0, &ignored) == BF_OK;
	}
	switch (leaf->storage)
	{
		case BF_STORE_U8: out->v.u8 = number != 0; return number <= 1;
		case BF_STORE_VIEW: out->v.view = b; return true;
		default: memcpy(&out->v, &number, sizeof number); return true;
	}
}

static bool
is_nan(const BfValue *v)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_F32: return v->v.f32 != v->v.f32;
		case BF_STORE_F64: return v->v.f64 != v->v.f64;
		default: return false;
	}
}

void
bfi_bounds(const BfParquetFile *f, int32_t leaf, const BfiColumnMetaData *m, BfiBounds *out)
{
	const BfiLeaf *l = &f->tree.leaves[leaf];
	const BfiStatistics *s = &m->statistics;
	bool fixed = l->physical != BFI_BYTE_ARRAY && l->physical != BFI_FLBA;
	BfView min;
	BfView max;

	BF_ASSERT(leaf >= 0 && leaf < f->tree.n_leaves);
	memset(out, 0, sizeof *out);
	out->null_count = -1;
	if ((m->seen & BFI_CM_STATISTICS) == 0)
		return;
	if ((s->seen & BFI_STAT_NULL_COUNT) != 0 && s->null_count >= 0 && s->null_count <= m->n_values)
		out->null_count = s->null_count;
	if (l->problem != NULL)
		return;
	choose_pair(f, leaf, s, &min, &max);
	out->has_min = bound_value(l, min, &out->min) && !is_nan(&out->min);
	out->has_max = bound_value(l, max, &out->max) && !is_nan(&out->max);
	/* Inverted bounds are nobody's. */
	if (out->has_min && out->has_max && bf_value_compare(&out->min, &out->max) > 0)
		out->has_min = out->has_max = false;
	/* Writers may cut bytes short; numbers they can't. */
	out->min_exact = out->has_min && (fixed || s->min_exact);
	out->max_exact = out->has_max && (fixed || s->max_exact);
}

/* Does the order that bounds are in agree with bf_value_compare? */
static bool
order_is_known(const BfParquetFile *f, int32_t leaf)
{
	const BfiLeaf *l = &f->tree.leaves[leaf];
	uint8_t order = f->orders != NULL ? f->orders[leaf] : (uint8_t) BFI_ORDER_UNDEFINED;

	if (has_no_order(f, l))
		return false;
	return order == BFI_ORDER_TYPE || (order == BFI_ORDER_UNDEFINED && is_signed_order(l));
}

void
bfi_page_bounds(const BfParquetFile *f, int32_t leaf, const BfiPageBounds *b, BfColumnStats *out)
{
	const BfiLeaf *l = &f->tree.leaves[leaf];

	BF_ASSERT(!out->has_min && !out->has_max);
	if (!order_is_known(f, leaf))
		return;
	out->has_min = bound_value(l, b->min, &out->min) && !is_nan(&out->min);
	out->has_max = bound_value(l, b->max, &out->max) && !is_nan(&out->max);
	if (out->has_min && out->has_max && bf_value_compare(&out->min, &out->max) > 0)
		out->has_min = out->has_max = false;
}

bool
bf_parquet_row_group_stats(const BfParquetFile *f, int32_t rg, int32_t field, BfColumnStats *out)
{
	int32_t leaf = f->tree.shapes[field].leaf;
	const BfiColumnMetaData *m;
	BfiColumnChunk chunk;
	BfiBounds bounds;
	BfError ignored;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && field >= 0 && field < f->tree.schema.n_fields);
	memset(out, 0, sizeof *out);
	bf_error_clear(&ignored);
	if (leaf < 0 || f->tree.leaves[leaf].problem != NULL ||
		bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK)
		return false;
	m = &chunk.meta;
	/* Reading the column will tell what is wrong. */
	if (m->n_values != f->row_groups[rg].n_rows)
		return false;
	bfi_bounds(f, leaf, m, &bounds);
	out->known = true;
	out->has_min = bounds.has_min;
	out->has_max = bounds.has_max;
	out->min = bounds.min;
	out->max = bounds.max;
	out->row_count = m->n_values;
	out->null_count = bounds.null_count;
	if (f->tree.leaves[leaf].max_def == 0)
		out->null_count = 0;
	if (f->tree.leaves[leaf].storage == BF_STORE_NONE)
		out->null_count = out->row_count;
	out->may_have_nan = (m->seen & BFI_CM_STATISTICS) == 0 ||
						(m->statistics.seen & BFI_STAT_NAN_COUNT) == 0 ||
						m->statistics.nan_count != 0;
	return true;
}

bool
bfi_chunk_is_dictionary(const BfiColumnMetaData *m)
{
	BfiThriftList list = m->encoding_stats;
	BfError ignored;
	bool any = false;

	if ((m->seen & BFI_CM_ENCODING_STATS) == 0 || list.type != BFI_T_STRUCT)
		return false;
	bf_error_clear(&ignored);
	for (uint32_t i = 0; i < list.n; i++)
	{
		BfiEncodingStats s;
		const BfiEncoding *e;

		if (bfi_thrift_struct(&list.c, &bfi_encoding_stats_table, &s, sizeof s, &ignored) != BF_OK)
			return false;
		if ((s.page_type != BFI_PAGE_DATA && s.page_type != BFI_PAGE_DATA_V2) || s.n == 0)
			continue;
		e = bfi_encoding_find(s.encoding);
		if (e == NULL || !e->methods->codes)
			return false;
		any = true;
	}
	return any;
}

void
bfi_dictionary_note(const BfParquetFile *f, int32_t rg, int32_t leaf, int32_t n)
{
	uint32_t *size = &f->dictionary_sizes[(size_t) rg * (size_t) f->tree.n_leaves + (size_t) leaf];

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && leaf >= 0 && leaf < f->tree.n_leaves && n >= 0);
	if (*size == 0)
		++*f->n_dictionary_sizes;
	*size = (uint32_t) n + 1;
}

int64_t
bf_parquet_n_dictionaries_known(const BfParquetFile *f)
{
	return f->n_dictionary_sizes == NULL ? 0 : *f->n_dictionary_sizes;
}

/* A chunk's dictionary, else what its writer says; of what can't be, nothing. */
static int64_t
distinct_values(const BfParquetFile *f, int32_t rg, int32_t leaf, const BfiColumnMetaData *m)
{
	uint32_t size = f->dictionary_sizes[(size_t) rg * (size_t) f->tree.n_leaves + (size_t) leaf];
	const BfiStatistics *s = &m->statistics;
	bool told = (m->seen & BFI_CM_STATISTICS) != 0 && (s->seen & BFI_STAT_DISTINCT_COUNT) != 0;
	int64_t n = size > 0 ? (int64_t) size - 1 : told ? s->distinct_count : -1;
	int64_t values = m->n_values;

	if ((m->seen & BFI_CM_STATISTICS) != 0 && (s->seen & BFI_STAT_NULL_COUNT) != 0 &&
		s->null_count >= 0 && s->null_count <= values)
		values -= s->null_count;
	return n < 0 || n > values || (n == 0) != (values == 0) ? -1 : n;
}

/* Is an encoding that refers to a dictionary in the list? */
static bool
names_codes(BfiThriftList list)
{
	BfError ignored;

	bf_error_clear(&ignored);
	for (uint32_t i = 0; i < list.n && i < 32 && list.type == BFI_T_I32; i++)
	{
		const BfiEncoding *e;
		int32_t v;

		if (bf_cursor_varint32(&list.c, &v, &ignored) != BF_OK)
			return false;
		e = bfi_encoding_find(v);
		if (e != NULL && e->methods->codes)
			return true;
	}
	return false;
}

bool
bf_parquet_row_group_values(const BfParquetFile *f, int32_t rg, int32_t field, BfParquetValues *out)
{
	int32_t leaf = f->tree.shapes[field].leaf;
	BfiColumnChunk chunk;
	BfError ignored;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && field >= 0 && field < f->tree.schema.n_fields);
	*out = (BfParquetValues){.distinct = -1};
	bf_error_clear(&ignored);
	if (leaf < 0 || bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK ||
		chunk.meta.n_values != f->row_groups[rg].n_rows)
		return false;
	out->distinct = distinct_values(f, rg, leaf, &chunk.meta);
	out->bytes = chunk.meta.uncompressed_bytes;
	out->has_dictionary =
		chunk.meta.dictionary_page_offset > 0 || names_codes(chunk.meta.encodings);
	return out->bytes >= 0;
}

static BfStatus
encoding_names(BfArena *a, BfiThriftList list, const char **out, BfError *err)
{
	char buf[512] = "";
	size_t used = 0;

	/* Each value at most once; a list that is longer than there are encodings has nothing to say.
	 */
	for (uint32_t i = 0; i < list.n && i < 32 && list.type == BFI_T_I32; i++)
	{
		int32_t e;
		const char *name;
		size_t n;

		BF_TRY(bf_cursor_varint32(&list.c, &e, err));
		name = bfi_encoding_name(e);
		n = strlen(name);
		if (used + n + 2 > sizeof buf)
			break;
		if (used > 0)
			buf[used++] = ',';
		memcpy(buf + used, name, n + 1);
		used += n;
		BF_ASSERT(used < sizeof buf && buf[used] == '\0');
	}
	BF_TRY_PTR(a, *out, bf_arena_strdup(a, buf), err);
	return BF_OK;
}

static BfStatus
own_view(BfArena *a, bool has, BfValue *v, BfError *err)
{
	if (!has || bf_type_storage(v->type) != BF_STORE_VIEW)
		return BF_OK;
	BF_TRY_PTR(a, v->v.view.ptr, bf_arena_memdup(a, v->v.view.ptr, v->v.view.len), err);
	return BF_OK;
}

BfStatus
bf_parquet_chunk_info(const BfParquetFile *f, BfArena *a, int32_t rg, int32_t leaf,
					  BfParquetChunkInfo *out, BfError *err)
{
	BfiColumnChunk chunk;
	BfiBounds bounds;
	char path[1024];

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && leaf >= 0 && leaf < f->tree.n_leaves);
	memset(out, 0, sizeof *out);
	bfi_node_path(f, f->tree.leaves[leaf].node, path, sizeof path);
	BF_TRY_PTR(a, out->path, bf_arena_strdup(a, path), err);
	if (bfi_chunk_meta(f, rg, leaf, &chunk, err) != BF_OK)
	{
		bf_error_column(err, path);
		return bf_error_object(err, bf_source_name(f->source));
	}
	out->physical_type = bfi_physical_name(chunk.meta.type);
	out->codec = bfi_codec_name(chunk.meta.codec);
	BF_TRY(encoding_names(a, chunk.meta.encodings, &out->encodings, err));
	out->n_values = chunk.meta.n_values;
	out->compressed_bytes = chunk.meta.compressed_bytes;
	out->uncompressed_bytes = chunk.meta.uncompressed_bytes;
	bfi_bounds(f, leaf, &chunk.meta, &bounds);
	out->null_count = bounds.null_count;
	out->has_min = bounds.has_min;
	out->has_max = bounds.has_max;
	out->min = bounds.min;
	out->max = bounds.max;
	out->min_exact = bounds.min_exact;
	out->max_exact = bounds.max_exact;
	BF_TRY(own_view(a, out->has_min, &out->min, err));
	return own_view(a, out->has_max, &out->max, err);
}
