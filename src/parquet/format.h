/*
 * parquet/format.h: the structs and enumerations of the format, in the words of parquet.thrift.
 *
 * Each enumeration is one table in format.c, from which names for messages and for
 * bifang.parquet_metadata come. Members that the reader has no use for are left out.
 */
#ifndef BF_PARQUET_FORMAT_H
#define BF_PARQUET_FORMAT_H

#include "codec/codec.h"
#include "parquet/thrift.h"

typedef enum BfiPhysical
{
	BFI_BOOLEAN = 0,
	BFI_INT32 = 1,
	BFI_INT64 = 2,
	BFI_INT96 = 3,
	BFI_FLOAT = 4,
	BFI_DOUBLE = 5,
	BFI_BYTE_ARRAY = 6,
	BFI_FLBA = 7,
	BFI_PHYSICAL_COUNT
} BfiPhysical;

typedef enum BfiRepetition
{
	BFI_REQUIRED = 0,
	BFI_OPTIONAL = 1,
	BFI_REPEATED = 2
} BfiRepetition;

typedef enum BfiPageType
{
	BFI_PAGE_DATA = 0,
	BFI_PAGE_INDEX = 1,
	BFI_PAGE_DICTIONARY = 2,
	BFI_PAGE_DATA_V2 = 3
} BfiPageType;

typedef enum BfiConverted
{
	BFI_CONV_UTF8 = 0,
	BFI_CONV_MAP = 1,
	BFI_CONV_MAP_KEY_VALUE = 2,
	BFI_CONV_LIST = 3,
	BFI_CONV_ENUM = 4,
	BFI_CONV_DECIMAL = 5,
	BFI_CONV_DATE = 6,
	BFI_CONV_TIME_MILLIS = 7,
	BFI_CONV_TIME_MICROS = 8,
	BFI_CONV_TIMESTAMP_MILLIS = 9,
	BFI_CONV_TIMESTAMP_MICROS = 10,
	BFI_CONV_UINT_8 = 11,
	BFI_CONV_UINT_16 = 12,
	BFI_CONV_UINT_32 = 13,
	BFI_CONV_UINT_64 = 14,
	BFI_CONV_INT_8 = 15,
	BFI_CONV_INT_16 = 16,
	BFI_CONV_INT_32 = 17,
	BFI_CONV_INT_64 = 18,
	BFI_CONV_JSON = 19,
	BFI_CONV_BSON = 20,
	BFI_CONV_INTERVAL = 21,
	BFI_CONV_NONE = 255 /* ours: absent */
} BfiConverted;

/* Bit numbers of BfiLogicalType.seen, in the order of its table. */
typedef enum BfiLogical
{
	BFI_LOGICAL_STRING,
	BFI_LOGICAL_MAP,
	BFI_LOGICAL_LIST,
	BFI_LOGICAL_ENUM,
	BFI_LOGICAL_DECIMAL,
	BFI_LOGICAL_DATE,
	BFI_LOGICAL_TIME,
	BFI_LOGICAL_TIMESTAMP,
	BFI_LOGICAL_INTEGER,
	BFI_LOGICAL_UNKNOWN,
	BFI_LOGICAL_JSON,
	BFI_LOGICAL_BSON,
	BFI_LOGICAL_UUID,
	BFI_LOGICAL_FLOAT16,
	BFI_LOGICAL_VARIANT,
	BFI_LOGICAL_GEOMETRY,
	BFI_LOGICAL_GEOGRAPHY,
	BFI_LOGICAL_NONE /* ours: absent, or a member that we don't know */
} BfiLogical;

typedef enum BfiTimeUnit
{
	BFI_MILLIS,
	BFI_MICROS,
	BFI_NANOS
} BfiTimeUnit;

typedef struct BfiDecimalType
{
	uint32_t seen;
	int32_t scale;
	int32_t precision;
} BfiDecimalType;

typedef struct BfiTimeUnitUnion
{
	uint32_t seen; /* bit = BfiTimeUnit */
} BfiTimeUnitUnion;

typedef struct BfiTimeType /* TIME and TIMESTAMP */
{
	uint32_t seen;
	bool utc;
	BfiTimeUnitUnion unit;
} BfiTimeType;

typedef struct BfiIntType
{
	uint32_t seen;
	int8_t bits;
	bool is_signed;
} BfiIntType;

typedef struct BfiLogicalType
{
	uint32_t seen; /* bit = BfiLogical */
	BfiDecimalType decimal;
	BfiTimeType time;
	BfiIntType integer;
} BfiLogicalType;

typedef struct BfiSchemaElement
{
	uint32_t seen;
	int32_t type;
	int32_t type_length;
	int32_t repetition;
	BfView name;
	int32_t n_children;
	int32_t converted;
	int32_t scale;
	int32_t precision;
	int32_t field_id;
	BfiLogicalType logical;
} BfiSchemaElement;
/* Bits of BfiSchemaElement.seen. */
enum
{
	BFI_SE_TYPE = 1 << 0,
	BFI_SE_TYPE_LENGTH = 1 << 1,
	BFI_SE_REPETITION = 1 << 2,
	BFI_SE_N_CHILDREN = 1 << 4,
	BFI_SE_CONVERTED = 1 << 5,
	BFI_SE_FIELD_ID = 1 << 8,
	BFI_SE_LOGICAL = 1 << 9
};

typedef struct BfiKeyValue
{
	uint32_t seen;
	BfView key;
	BfView value; /* may be absent */
} BfiKeyValue;

typedef struct BfiStatistics
{
	uint32_t seen;
	BfView max; /* deprecated pair: signed order */
	BfView min;
	int64_t null_count;
	BfView max_value;
	BfView min_value;
	bool max_exact;
	bool min_exact;
	int64_t nan_count;
	int64_t distinct_count;
} BfiStatistics;
enum
{
	BFI_STAT_MAX = 1 << 0,
	BFI_STAT_MIN = 1 << 1,
	BFI_STAT_NULL_COUNT = 1 << 2,
	BFI_STAT_MAX_VALUE = 1 << 3,
	BFI_STAT_MIN_VALUE = 1 << 4,
	BFI_STAT_NAN_COUNT = 1 << 7,
	BFI_STAT_DISTINCT_COUNT = 1 << 8
};

typedef struct BfiColumnMetaData
{
	uint32_t seen;
	int32_t type;
	BfiThriftList encodings;
	int32_t codec;
	int64_t n_values;
	int64_t uncompressed_bytes;
	int64_t compressed_bytes;
	int64_t data_page_offset;
	int64_t dictionary_page_offset; /* 0 = absent */
	BfiStatistics statistics;
	BfiThriftList encoding_stats;
	int64_t bloom_offset; /* 0 = absent */
	int32_t bloom_bytes;
} BfiColumnMetaData;
enum
{
	BFI_CM_STATISTICS = 1 << 8,
	BFI_CM_ENCODING_STATS = 1 << 9,
	BFI_CM_BLOOM_BYTES = 1 << 11
};

/* How many pages of a type have an encoding. */
typedef struct BfiEncodingStats
{
	uint32_t seen;
	int32_t page_type;
	int32_t encoding;
	int32_t n;
} BfiEncodingStats;

typedef struct BfiColumnChunk
{
	uint32_t seen;
	BfView file_path;
	BfiColumnMetaData meta;
	int64_t offset_index_offset;
	int32_t offset_index_bytes;
	int64_t column_index_offset;
	int32_t column_index_bytes;
	BfView encrypted_meta;
} BfiColumnChunk;
enum
{
	BFI_CC_FILE_PATH = 1 << 0,
	BFI_CC_META = 1 << 1,
	BFI_CC_OFFSET_INDEX = 1 << 2,
	BFI_CC_COLUMN_INDEX = 1 << 4,
	BFI_CC_CRYPTO = 1 << 6,
	BFI_CC_ENCRYPTED_META = 1 << 7
};

typedef struct BfiDataPageHeader
{
	uint32_t seen;
	int32_t n_values;
	int32_t encoding;
	int32_t def_encoding;
	int32_t rep_encoding;
} BfiDataPageHeader;

typedef struct BfiDictionaryPageHeader
{
	uint32_t seen;
	int32_t n_values;
	int32_t encoding;
} BfiDictionaryPageHeader;

typedef struct BfiDataPageHeaderV2
{
	uint32_t seen;
	int32_t n_values;
	int32_t n_nulls;
	int32_t n_rows;
	int32_t encoding;
	int32_t def_bytes;
	int32_t rep_bytes;
	bool is_compressed; /* meaningful when BFI_V2_IS_COMPRESSED is seen, else true */
} BfiDataPageHeaderV2;
enum
{
	BFI_V2_IS_COMPRESSED = 1 << 6
};

typedef struct BfiPageHeader
{
	uint32_t seen;
	int32_t type;
	int32_t uncompressed_bytes;
	int32_t compressed_bytes;
	int32_t crc;
	BfiDataPageHeader data;
	BfiDictionaryPageHeader dictionary;
	BfiDataPageHeaderV2 v2;
} BfiPageHeader;
enum
{
	BFI_PH_CRC = 1 << 3,
	BFI_PH_DATA = 1 << 4,
	BFI_PH_DICTIONARY = 1 << 5,
	BFI_PH_V2 = 1 << 6
};

/* Unions of which the first member is the only one that we know. */
typedef struct BfiFirstOf
{
	uint32_t seen;
} BfiFirstOf;

typedef struct BfiBloomHeader
{
	uint32_t seen;
	int32_t bytes;
	BfiFirstOf algorithm;
	BfiFirstOf hash;
	BfiFirstOf compression;
} BfiBloomHeader;

extern const BfiThriftStruct bfi_bloom_header_table;
extern const BfiThriftStruct bfi_encoding_stats_table;
extern const BfiThriftStruct bfi_schema_element_table;
extern const BfiThriftStruct bfi_key_value_table;
extern const BfiThriftStruct bfi_column_chunk_table;
extern const BfiThriftStruct bfi_page_header_table;

/* Names; "unknown" for numbers that the format doesn't have. */
extern const char *bfi_physical_name(int32_t type);
extern const char *bfi_codec_name(int32_t codec);

/* Bytes of a value, 0 where it varies (BYTE_ARRAY, FLBA) or is a bit (BOOLEAN). */
extern uint32_t bfi_physical_bytes(BfiPhysical type);

/* Parquet's codec number as ours; false: unknown or unsupported. `ratio_max` bounds what the
 * codec can expand one byte to, so that a page can't claim a size that its bytes can't yield. */
extern bool bfi_codec_find(int32_t codec, BfCodec *out, uint32_t *ratio_max);

/* The member of the union, BFI_LOGICAL_NONE when absent or unknown. */
extern BfiLogical bfi_logical(const BfiSchemaElement *e);

#endif
