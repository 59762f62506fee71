/*
 * Opening a file: the footer, decoded once and in one pass. The metadata of column chunks is only
 * located; it is decoded from the footer's bytes when a chunk is used, so that a file with 10^6
 * chunks costs 4 bytes each until then.
 *
 *     "PAR1" … FileMetaData | u32 LE length of it | "PAR1"
 */
#include "parquet/internal.h"

#define TAIL_BYTES 8
#define TAIL_READ ((int64_t) 65536)
#define FILE_BYTES_MIN 12
/* Least bytes of the required fields of a RowGroup and a ColumnChunk. */
#define ROW_GROUP_BYTES_MIN 7
#define COLUMN_CHUNK_BYTES_MIN 3

const BfParquetLimits bf_parquet_default_limits = {
	.footer_bytes_max = (size_t) 64 << 20,
	.page_bytes_max = (size_t) 1 << 30,
	.window_bytes = (size_t) 256 << 10,
	.verify_crc = true,
};

/* Lists of FileMetaData that wait until the schema is known. */
typedef struct Pending
{
	BfiThriftList schema;
	BfiThriftList row_groups;
	BfiThriftList orders;
	bool has_schema;
	bool has_row_groups;
	bool has_orders;
	bool has_rows;
} Pending;

static BfStatus
read_footer(BfParquetFile *f, BfError *err)
{
	int64_t size = bf_source_size(f->source);
	int64_t tail = size < TAIL_READ ? size : TAIL_READ;
	const uint8_t *p;
	uint8_t *copy;
	uint32_t len;

	BF_DATA(err, size >= FILE_BYTES_MIN, 0, "not a Parquet file: only %lld bytes",
			(long long) size);
	BF_TRY(bf_source_window(f->source, size - tail, (size_t) tail, &p, err));
	if (memcmp(p + tail - 4, "PARE", 4) == 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, size - 4, "the file's footer is encrypted");
	BF_DATA(err, memcmp(p + tail - 4, "PAR1", 4) == 0, size - 4,
			"not a Parquet file: it does not end with PAR1");
	len = bf_load32le(p + tail - TAIL_BYTES);
	BF_DATA(err, len > 0 && (int64_t) len <= size - TAIL_BYTES, size - TAIL_BYTES,
			"a footer of %u bytes in a file of %lld", len, (long long) size);
	if (len > f->limits.footer_bytes_max)
		BF_FAIL_AT(err, BF_ERR_LIMIT, size - TAIL_BYTES,
				   "the footer has %u bytes, more than the limit of %zu", len,
				   f->limits.footer_bytes_max);
	f->footer.pos = size - TAIL_BYTES - (int64_t) len;
	BF_ASSERT(f->footer.pos >= 0 && f->footer.pos + (int64_t) len < size);
	BF_NEW_RAW(f->arena, copy, len, err);
	if ((int64_t) len + TAIL_BYTES <= tail)
		memcpy(copy, p + tail - TAIL_BYTES - len, len);
	else
		BF_TRY(bf_source_read(f->source, f->footer.pos, copy, len, err));
	f->footer.bytes = (BfView){copy, len};
	return BF_OK;
}

/* Walks the columns of a row group, noting where each chunk begins. */
static BfStatus
locate_chunks(BfParquetFile *f, BfCursor *c, int32_t rg, BfError *err)
{
	BfiThriftList list;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && f->chunk_at != NULL);
	BF_TRY(bfi_thrift_list(c, COLUMN_CHUNK_BYTES_MIN, &list, err));
	BF_DATA(err, (int64_t) list.n == f->tree.n_leaves && (list.n == 0 || list.type == BFI_T_STRUCT),
			bf_cursor_offset(c), "row group %d has %u column chunks, the schema has %d columns", rg,
			list.n, f->tree.n_leaves);
	for (uint32_t i = 0; i < list.n; i++)
	{
		f->chunk_at[(size_t) rg * list.n + i] = (uint32_t) (c->pos - c->start);
		BF_TRY(bfi_thrift_skip(c, BFI_T_STRUCT, 1, err));
	}
	return BF_OK;
}

static BfStatus
decode_row_group(BfParquetFile *f, BfCursor *c, int32_t rg, BfError *err)
{
	BfiRowGroup *out = &f->row_groups[rg];
	int64_t at = bf_cursor_offset(c);
	bool has_rows = false;
	bool has_columns = false;

	for (int16_t id = 0;;)
	{
		int type;

		BF_TRY(bfi_thrift_field(c, &id, &type, err));
		if (type == BFI_T_STOP)
			break;
		if (id == 1 && type == BFI_T_LIST && !has_columns)
		{
			BF_TRY(locate_chunks(f, c, rg, err));
			has_columns = true;
		}
		else if (id == 3 && type == BFI_T_I64)
		{
			BF_TRY(bf_cursor_varint(c, &out->n_rows, err));
			has_rows = true;
		}
		else
			BF_TRY(bfi_thrift_skip(c, type, 1, err));
	}
	BF_DATA(err, has_rows && has_columns, at, "row group %d lacks its columns or number of rows",
			rg);
	BF_DATA(err, out->n_rows >= 0, at, "row group %d has %lld rows", rg, (long long) out->n_rows);
	out->first_row = f->n_rows;
	BF_DATA(err, !__builtin_add_overflow(f->n_rows, out->n_rows, &f->n_rows), at,
			"the file has more than 2^63 rows");
	return BF_OK;
}

/* Decodes the list at *c and leaves *c behind it. */
static BfStatus
decode_row_groups(BfParquetFile *f, BfCursor *c, BfError *err)
{
	BfiThriftList list;

	BF_ASSERT(f->row_groups == NULL && f->n_rows == 0);
	BF_TRY(bfi_thrift_list(c, ROW_GROUP_BYTES_MIN, &list, err));
	BF_DATA(err, list.n == 0 || list.type == BFI_T_STRUCT, bf_cursor_offset(c),
			"the row groups are not structs");
	BF_DATA(err,
			(uint64_t) list.n * (uint64_t) f->tree.n_leaves <=
				f->footer.bytes.len / COLUMN_CHUNK_BYTES_MIN,
			bf_cursor_offset(c), "%u row groups of %d columns in a footer of %u bytes", list.n,
			f->tree.n_leaves, f->footer.bytes.len);
	f->n_row_groups = (int32_t) list.n;
	BF_NEW(f->arena, f->row_groups, list.n, err);
	BF_NEW_RAW(f->arena, f->chunk_at, (size_t) list.n * (size_t) f->tree.n_leaves, err);
	BF_NEW(f->arena, f->dictionary_sizes, (size_t) list.n * (size_t) f->tree.n_leaves, err);
	BF_NEW(f->arena, f->n_dictionary_sizes, 1, err);
	for (int32_t i = 0; i < f->n_row_groups; i++)
		BF_TRY(decode_row_group(f, c, i, err));
	return BF_OK;
}

static BfStatus
decode_key_values(BfParquetFile *f, BfCursor *c, BfError *err)
{
	BfiThriftList list;

	BF_TRY(bfi_thrift_list(c, 1, &list, err));
	if (list.type != BFI_T_STRUCT)
	{
		/* fastparquet 0.8.2 wrote something else here. */
		for (uint32_t i = 0; i < list.n; i++)
			BF_TRY(bfi_thrift_skip(c, list.type, 1, err));
		return BF_OK;
	}
	/* A KeyValue has at least 3 bytes. */
	BF_DATA(err, list.n <= bf_cursor_left(c) / 3, bf_cursor_offset(c),
			"%u key-value pairs in %zu bytes", list.n, bf_cursor_left(c));
	BF_NEW(f->arena, f->key_values, list.n, err);
	for (uint32_t i = 0; i < list.n; i++)
	{
		BfiKeyValue kv;
		BfiKeyValueText *out = &f->key_values[f->n_key_values];

		BF_TRY(bfi_thrift_struct(c, &bfi_key_value_table, &kv, sizeof kv, err));
		BF_TRY_PTR(f->arena, out->key,
				   bf_arena_strndup(f->arena, (const char *) kv.key.ptr, kv.key.len), err);
		if (kv.value.ptr != NULL)
			BF_TRY_PTR(f->arena, out->value,
					   bf_arena_strndup(f->arena, (const char *) kv.value.ptr, kv.value.len), err);
		f->n_key_values++;
	}
	return BF_OK;
}

/* ColumnOrder is a union of empty structs; member 1 is TYPE_ORDER. A list that does not match the
 * leaves says nothing. */
static BfStatus
decode_orders(BfParquetFile *f, BfiThriftList list, BfError *err)
{
	if ((int64_t) list.n != f->tree.n_leaves || list.type != BFI_T_STRUCT)
		return BF_OK;
	BF_NEW(f->arena, f->orders, list.n, err);
	for (uint32_t i = 0; i < list.n; i++)
	{
		f->orders[i] = BFI_ORDER_OTHER;
		for (int16_t id = 0;;)
		{
			int type;

			BF_TRY(bfi_thrift_field(&list.c, &id, &type, err));
			if (type == BFI_T_STOP)
				break;
			if (id == 1)
				f->orders[i] = BFI_ORDER_TYPE;
			BF_TRY(bfi_thrift_skip(&list.c, type, 2, err));
		}
	}
	return BF_OK;
}

/* One field of FileMetaData. Fields that need the schema wait for it when they come before. */
static BfStatus
decode_file_field(BfParquetFile *f, BfCursor *c, int16_t id, int type, Pending *p, BfError *err)
{
	BfCursor before = *c;
	BfView text;

	if (id == 2 && type == BFI_T_LIST && !p->has_schema)
	{
		BF_TRY(bfi_thrift_list(c, 3, &p->schema, err));
		*c = before;
		BF_TRY(bfi_schema_build(f, p->schema, err));
		p->has_schema = true;
	}
	else if (id == 3 && type == BFI_T_I64)
	{
		p->has_rows = true;
		return bf_cursor_varint(c, &f->footer.n_rows, err);
	}
	else if (id == 4 && type == BFI_T_LIST && !p->has_row_groups)
	{
		p->has_row_groups = true;
		if (p->has_schema)
			return decode_row_groups(f, c, err);
		p->row_groups.c = before;
	}
	else if (id == 5 && type == BFI_T_LIST && f->n_key_values == 0)
		return decode_key_values(f, c, err);
	else if (id == 6 && type == BFI_T_BINARY)
	{
		BF_TRY(bfi_thrift_binary(c, &text, err));
		BF_TRY_PTR(f->arena, f->created_by,
				   bf_arena_strndup(f->arena, (const char *) text.ptr, text.len), err);
		return BF_OK;
	}
	else if (id == 7 && type == BFI_T_LIST)
	{
		BF_TRY(bfi_thrift_list(c, 1, &p->orders, err));
		*c = before;
		p->has_orders = true;
	}
	return bfi_thrift_skip(c, type, 0, err);
}

static BfStatus
decode_footer(BfParquetFile *f, BfError *err)
{
	BfCursor c = bf_cursor(f->footer.bytes.ptr, f->footer.bytes.len, f->footer.pos);
	Pending p = {0};

	for (int16_t id = 0;;)
	{
		int type;

		BF_TRY(bfi_thrift_field(&c, &id, &type, err));
		if (type == BFI_T_STOP)
			break;
		BF_TRY(decode_file_field(f, &c, id, type, &p, err));
	}
	BF_DATA(err, p.has_schema && p.has_rows && p.has_row_groups, f->footer.pos,
			"the footer lacks the schema, the number of rows or the row groups");
	if (f->row_groups == NULL)
		BF_TRY(decode_row_groups(f, &p.row_groups.c, err));
	if (p.has_orders)
		BF_TRY(decode_orders(f, p.orders, err));
	return BF_OK;
}

BfStatus
bf_parquet_open(BfArena *a, BfSource *source, const BfParquetLimits *limits, BfParquetFile **out,
				BfError *err)
{
	BfParquetFile *f;
	BfStatus status;

	BF_ASSERT(source != NULL);
	BF_NEW(a, f, 1, err);
	f->arena = a;
	f->source = source;
	f->limits = limits != NULL ? *limits : bf_parquet_default_limits;
	f->created_by = "";
	status = read_footer(f, err);
	if (status == BF_OK)
		status = decode_footer(f, err);
	if (status != BF_OK)
		return bf_error_object(err, bf_source_name(source));
	BF_ASSERT(f->tree.n_leaves < f->tree.n_nodes && f->tree.schema.n_fields < f->tree.n_nodes);
	bfi_writer_parse(f->created_by, &f->writer);
	*out = f;
	return BF_OK;
}

BfStatus
bf_parquet_open_known(BfArena *a, const BfParquetFile *known, BfSource *source, BfParquetFile **out,
					  BfError *err)
{
	BfParquetFile *f;

	BF_ASSERT(known->footer.bytes.ptr != NULL && bf_source_size(source) > known->footer.pos);
	BF_NEW_RAW(a, f, 1, err);
	*f = *known;
	f->arena = a;
	f->source = source;
	*out = f;
	return BF_OK;
}

BfStatus
bfi_chunk_meta(const BfParquetFile *f, int32_t rg, int32_t leaf, BfiColumnChunk *out, BfError *err)
{
	uint32_t at = f->chunk_at[(size_t) rg * (size_t) f->tree.n_leaves + (size_t) leaf];
	BfCursor c = bf_cursor(f->footer.bytes.ptr + at, f->footer.bytes.len - at, f->footer.pos + at);
	int64_t file_at = f->footer.pos + at;
	const BfiColumnMetaData *m = &out->meta;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && leaf >= 0 && leaf < f->tree.n_leaves);
	BF_ASSERT(at < f->footer.bytes.len);
	BF_TRY(bfi_thrift_struct(&c, &bfi_column_chunk_table, out, sizeof *out, err));
	if ((out->seen & (BFI_CC_CRYPTO | BFI_CC_ENCRYPTED_META)) != 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, file_at, "the column is encrypted");
	if ((out->seen & BFI_CC_FILE_PATH) != 0 && out->file_path.len > 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, file_at,
				   "the column's data is in another file, \"%.*s\"",
				   (int) (out->file_path.len > 200 ? 200 : out->file_path.len),
				   (const char *) out->file_path.ptr);
	BF_DATA(err, (out->seen & BFI_CC_META) != 0, file_at, "the column chunk has no metadata");
	BF_DATA(err, m->type == (int32_t) f->tree.leaves[leaf].physical, file_at,
			"the column chunk is of type %s, the schema says %s", bfi_physical_name(m->type),
			bfi_physical_name((int32_t) f->tree.leaves[leaf].physical));
	BF_DATA(err, m->n_values >= 0 && m->compressed_bytes >= 0, file_at,
			"the column chunk has %lld values in %lld bytes", (long long) m->n_values,
			(long long) m->compressed_bytes);
	return BF_OK;
}

bool
bfi_chunk_bytes(const BfParquetFile *f, const BfiColumnChunk *chunk, int64_t *start, int64_t *end)
{
	const BfiColumnMetaData *m = &chunk->meta;

	BF_ASSERT(m->compressed_bytes >= 0);
	*start = m->data_page_offset;
	if (m->dictionary_page_offset > 0 && m->dictionary_page_offset < *start)
		*start = m->dictionary_page_offset;
	return *start >= 4 && *start <= f->footer.pos &&
		   !__builtin_add_overflow(*start, m->compressed_bytes, end) && *end <= f->footer.pos;
}

void
bf_parquet_verify_checksums(BfParquetFile *f, bool verify)
{
	f->limits.verify_crc = verify;
}

const char *
bf_parquet_name(const BfParquetFile *f)
{
	return bf_source_name(f->source);
}

const BfSchema *
bf_parquet_schema(const BfParquetFile *f)
{
	return &f->tree.schema;
}

bool
bf_parquet_has_field_ids(const BfParquetFile *f)
{
	return f->tree.has_field_ids;
}

int64_t
bf_parquet_n_rows(const BfParquetFile *f)
{
	return f->n_rows;
}

int32_t
bf_parquet_n_row_groups(const BfParquetFile *f)
{
	return f->n_row_groups;
}

int64_t
bf_parquet_row_group_rows(const BfParquetFile *f, int32_t rg)
{
	BF_ASSERT(rg >= 0 && rg < f->n_row_groups);
	return f->row_groups[rg].n_rows;
}

int64_t
bf_parquet_row_group_first_row(const BfParquetFile *f, int32_t rg)
{
	BF_ASSERT(rg >= 0 && rg < f->n_row_groups);
	return f->row_groups[rg].first_row;
}

const char *
bf_parquet_created_by(const BfParquetFile *f)
{
	return f->created_by;
}

const char *
bf_parquet_key_value(const BfParquetFile *f, const char *key)
{
	for (int32_t i = 0; i < f->n_key_values; i++)
		if (strcmp(f->key_values[i].key, key) == 0)
			return f->key_values[i].value;
	return NULL;
}

int32_t
bf_parquet_n_leaves(const BfParquetFile *f)
{
	return f->tree.n_leaves;
}
