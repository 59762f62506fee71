/* Tables of the format's structs: one row per field, which thrift.c reads them by. */
#include "parquet/format.h"

#define FIELD(s, member, id_, type_, required_)                                              \
	{                                                                                        \
		.id = (id_), .type = (type_), .required = (required_), .offset = offsetof(s, member) \
	}
#define SUB(s, member, id_, required_, table_)                                                     \
	{                                                                                              \
		.id = (id_), .type = BFI_T_STRUCT, .required = (required_), .offset = offsetof(s, member), \
		.sub = (table_)                                                                            \
	}
/* A struct of which only the presence matters. */
#define PRESENT(id_)                      \
	{                                     \
		.id = (id_), .type = BFI_T_STRUCT \
	}
#define TABLE(var, text, fields_)                                                                 \
	const BfiThriftStruct var = {                                                                 \
		.name = text, .fields = fields_, .n_fields = (int) (sizeof fields_ / sizeof fields_[0])}; \
	_Static_assert(sizeof fields_ / sizeof fields_[0] <= 32, "`seen` has a bit for each")

static const BfiThriftField decimal_fields[] = {
	FIELD(BfiDecimalType, scale, 1, BFI_T_I32, true),
	FIELD(BfiDecimalType, precision, 2, BFI_T_I32, true),
};
static TABLE(decimal_table, "DecimalType", decimal_fields);

static const BfiThriftField unit_fields[] = {PRESENT(1), PRESENT(2), PRESENT(3)};
static TABLE(unit_table, "TimeUnit", unit_fields);

static const BfiThriftField time_fields[] = {
	FIELD(BfiTimeType, utc, 1, BFI_T_TRUE, true),
	SUB(BfiTimeType, unit, 2, true, &unit_table),
};
static TABLE(time_table, "TimeType", time_fields);

static const BfiThriftField integer_fields[] = {
	FIELD(BfiIntType, bits, 1, BFI_T_I8, true),
	FIELD(BfiIntType, is_signed, 2, BFI_T_TRUE, true),
};
static TABLE(integer_table, "IntType", integer_fields);

static const BfiThriftField logical_fields[] = {
	[BFI_LOGICAL_STRING] = PRESENT(1),
	[BFI_LOGICAL_MAP] = PRESENT(2),
	[BFI_LOGICAL_LIST] = PRESENT(3),
	[BFI_LOGICAL_ENUM] = PRESENT(4),
	[BFI_LOGICAL_DECIMAL] = SUB(BfiLogicalType, decimal, 5, false, &decimal_table),
	[BFI_LOGICAL_DATE] = PRESENT(6),
	[BFI_LOGICAL_TIME] = SUB(BfiLogicalType, time, 7, false, &time_table),
	[BFI_LOGICAL_TIMESTAMP] = SUB(BfiLogicalType, time, 8, false, &time_table),
	[BFI_LOGICAL_INTEGER] = SUB(BfiLogicalType, integer, 10, false, &integer_table),
	[BFI_LOGICAL_UNKNOWN] = PRESENT(11),
	[BFI_LOGICAL_JSON] = PRESENT(12),
	[BFI_LOGICAL_BSON] = PRESENT(13),
	[BFI_LOGICAL_UUID] = PRESENT(14),
	[BFI_LOGICAL_FLOAT16] = PRESENT(15),
	[BFI_LOGICAL_VARIANT] = PRESENT(16),
	[BFI_LOGICAL_GEOMETRY] = PRESENT(17),
	[BFI_LOGICAL_GEOGRAPHY] = PRESENT(18),
};
static TABLE(logical_table, "LogicalType", logical_fields);

static const BfiThriftField schema_element_fields[] = {
	FIELD(BfiSchemaElement, type, 1, BFI_T_I32, false),
	FIELD(BfiSchemaElement, type_length, 2, BFI_T_I32, false),
	FIELD(BfiSchemaElement, repetition, 3, BFI_T_I32, false),
	FIELD(BfiSchemaElement, name, 4, BFI_T_BINARY, true),
	FIELD(BfiSchemaElement, n_children, 5, BFI_T_I32, false),
	FIELD(BfiSchemaElement, converted, 6, BFI_T_I32, false),
	FIELD(BfiSchemaElement, scale, 7, BFI_T_I32, false),
	FIELD(BfiSchemaElement, precision, 8, BFI_T_I32, false),
	FIELD(BfiSchemaElement, field_id, 9, BFI_T_I32, false),
	SUB(BfiSchemaElement, logical, 10, false, &logical_table),
};
TABLE(bfi_schema_element_table, "SchemaElement", schema_element_fields);

static const BfiThriftField key_value_fields[] = {
	FIELD(BfiKeyValue, key, 1, BFI_T_BINARY, true),
	FIELD(BfiKeyValue, value, 2, BFI_T_BINARY, false),
};
TABLE(bfi_key_value_table, "KeyValue", key_value_fields);

static const BfiThriftField statistics_fields[] = {
	FIELD(BfiStatistics, max, 1, BFI_T_BINARY, false),
	FIELD(BfiStatistics, min, 2, BFI_T_BINARY, false),
	FIELD(BfiStatistics, null_count, 3, BFI_T_I64, false),
	FIELD(BfiStatistics, max_value, 5, BFI_T_BINARY, false),
	FIELD(BfiStatistics, min_value, 6, BFI_T_BINARY, false),
	FIELD(BfiStatistics, max_exact, 7, BFI_T_TRUE, false),
	FIELD(BfiStatistics, min_exact, 8, BFI_T_TRUE, false),
	FIELD(BfiStatistics, nan_count, 9, BFI_T_I64, false),
	FIELD(BfiStatistics, distinct_count, 4, BFI_T_I64, false),
};
static TABLE(statistics_table, "Statistics", statistics_fields);

static const BfiThriftField column_meta_fields[] = {
	FIELD(BfiColumnMetaData, type, 1, BFI_T_I32, true),
	FIELD(BfiColumnMetaData, encodings, 2, BFI_T_LIST, true),
	FIELD(BfiColumnMetaData, codec, 4, BFI_T_I32, true),
	FIELD(BfiColumnMetaData, n_values, 5, BFI_T_I64, true),
	FIELD(BfiColumnMetaData, uncompressed_bytes, 6, BFI_T_I64, true),
	FIELD(BfiColumnMetaData, compressed_bytes, 7, BFI_T_I64, true),
	FIELD(BfiColumnMetaData, data_page_offset, 9, BFI_T_I64, true),
	FIELD(BfiColumnMetaData, dictionary_page_offset, 11, BFI_T_I64, false),
	SUB(BfiColumnMetaData, statistics, 12, false, &statistics_table),
	FIELD(BfiColumnMetaData, encoding_stats, 13, BFI_T_LIST, false),
	FIELD(BfiColumnMetaData, bloom_offset, 14, BFI_T_I64, false),
	FIELD(BfiColumnMetaData, bloom_bytes, 15, BFI_T_I32, false),
};
static TABLE(column_meta_table, "ColumnMetaData", column_meta_fields);

static const BfiThriftField encoding_stats_fields[] = {
	FIELD(BfiEncodingStats, page_type, 1, BFI_T_I32, true),
	FIELD(BfiEncodingStats, encoding, 2, BFI_T_I32, true),
	FIELD(BfiEncodingStats, n, 3, BFI_T_I32, true),
};
TABLE(bfi_encoding_stats_table, "PageEncodingStats", encoding_stats_fields);

static const BfiThriftField first_of_fields[] = {PRESENT(1)};
static TABLE(first_of_table, "union", first_of_fields);

static const BfiThriftField bloom_header_fields[] = {
	FIELD(BfiBloomHeader, bytes, 1, BFI_T_I32, true),
	SUB(BfiBloomHeader, algorithm, 2, true, &first_of_table),
	SUB(BfiBloomHeader, hash, 3, true, &first_of_table),
	SUB(BfiBloomHeader, compression, 4, true, &first_of_table),
};
TABLE(bfi_bloom_header_table, "BloomFilterHeader", bloom_header_fields);

static const BfiThriftField column_chunk_fields[] = {
	FIELD(BfiColumnChunk, file_path, 1, BFI_T_BINARY, false),
	SUB(BfiColumnChunk, meta, 3, false, &column_meta_table),
	FIELD(BfiColumnChunk, offset_index_offset, 4, BFI_T_I64, false),
	FIELD(BfiColumnChunk, offset_index_bytes, 5, BFI_T_I32, false),
	FIELD(BfiColumnChunk, column_index_offset, 6, BFI_T_I64, false),
	FIELD(BfiColumnChunk, column_index_bytes, 7, BFI_T_I32, false),
	PRESENT(8),
	FIELD(BfiColumnChunk, encrypted_meta, 9, BFI_T_BINARY, false),
};
TABLE(bfi_column_chunk_table, "ColumnChunk", column_chunk_fields);

static const BfiThriftField data_page_fields[] = {
	FIELD(BfiDataPageHeader, n_values, 1, BFI_T_I32, true),
	FIELD(BfiDataPageHeader, encoding, 2, BFI_T_I32, true),
	FIELD(BfiDataPageHeader, def_encoding, 3, BFI_T_I32, true),
	FIELD(BfiDataPageHeader, rep_encoding, 4, BFI_T_I32, true),
};
static TABLE(data_page_table, "DataPageHeader", data_page_fields);

static const BfiThriftField dictionary_page_fields[] = {
	FIELD(BfiDictionaryPageHeader, n_values, 1, BFI_T_I32, true),
	FIELD(BfiDictionaryPageHeader, encoding, 2, BFI_T_I32, true),
};
static TABLE(dictionary_page_table, "DictionaryPageHeader", dictionary_page_fields);

static const BfiThriftField v2_fields[] = {
	FIELD(BfiDataPageHeaderV2, n_values, 1, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, n_nulls, 2, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, n_rows, 3, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, encoding, 4, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, def_bytes, 5, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, rep_bytes, 6, BFI_T_I32, true),
	FIELD(BfiDataPageHeaderV2, is_compressed, 7, BFI_T_TRUE, false),
};
static TABLE(v2_table, "DataPageHeaderV2", v2_fields);

static const BfiThriftField page_header_fields[] = {
	FIELD(BfiPageHeader, type, 1, BFI_T_I32, true),
	FIELD(BfiPageHeader, uncompressed_bytes, 2, BFI_T_I32, true),
	FIELD(BfiPageHeader, compressed_bytes, 3, BFI_T_I32, true),
	FIELD(BfiPageHeader, crc, 4, BFI_T_I32, false),
	SUB(BfiPageHeader, data, 5, false, &data_page_table),
	SUB(BfiPageHeader, dictionary, 7, false, &dictionary_page_table),
	SUB(BfiPageHeader, v2, 8, false, &v2_table),
};
TABLE(bfi_page_header_table, "PageHeader", page_header_fields);

static const struct
{
	const char *name;
	uint32_t bytes;
} physical_table[BFI_PHYSICAL_COUNT] = {
	[BFI_BOOLEAN] = {"BOOLEAN", 0},		  [BFI_INT32] = {"INT32", 4},
	[BFI_INT64] = {"INT64", 8},			  [BFI_INT96] = {"INT96", 12},
	[BFI_FLOAT] = {"FLOAT", 4},			  [BFI_DOUBLE] = {"DOUBLE", 8},
	[BFI_BYTE_ARRAY] = {"BYTE_ARRAY", 0}, [BFI_FLBA] = {"FIXED_LEN_BYTE_ARRAY", 0},
};

const char *
bfi_physical_name(int32_t type)
{
	return type >= 0 && type < BFI_PHYSICAL_COUNT ? physical_table[type].name : "unknown";
}

uint32_t
bfi_physical_bytes(BfiPhysical type)
{
	BF_ASSERT(type < BFI_PHYSICAL_COUNT);
	return physical_table[type].bytes;
}

/* ratio_max: what the format of the codec allows, rounded up. Zstandard repeats a byte 2^17 times
 * in 4; Brotli 2^24 times in a handful. */
static const struct
{
	const char *name;
	BfCodec codec;
	uint32_t ratio_max; /* 0 = we don't have the codec */
} codec_table[] = {
	{"UNCOMPRESSED", BF_CODEC_NONE, 1},	  {"SNAPPY", BF_CODEC_SNAPPY, 64},
	{"GZIP", BF_CODEC_GZIP, 1100},		  {"LZO", BF_CODEC_NONE, 0},
	{"BROTLI", BF_CODEC_BROTLI, 1 << 22}, {"LZ4", BF_CODEC_LZ4_HADOOP, 300},
	{"ZSTD", BF_CODEC_ZSTD, 1 << 16},	  {"LZ4_RAW", BF_CODEC_LZ4_RAW, 300},
};
#define N_CODECS ((int32_t) (sizeof codec_table / sizeof codec_table[0]))

const char *
bfi_codec_name(int32_t codec)
{
	return codec >= 0 && codec < N_CODECS ? codec_table[codec].name : "unknown";
}

bool
bfi_codec_find(int32_t codec, BfCodec *out, uint32_t *ratio_max)
{
	if (codec < 0 || codec >= N_CODECS || codec_table[codec].ratio_max == 0)
		return false;
	*out = codec_table[codec].codec;
	*ratio_max = codec_table[codec].ratio_max;
	return true;
}

BfiLogical
bfi_logical(const BfiSchemaElement *e)
{
	if ((e->seen & BFI_SE_LOGICAL) == 0 || e->logical.seen == 0)
		return BFI_LOGICAL_NONE;
	return (BfiLogical) __builtin_ctz(e->logical.seen);
}
