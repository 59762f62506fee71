/*
 * vec/type.h: the types that a column can have, one table for all modules.
 *
 * A BfType is what the values mean; its storage (bf_type_storage) is how a vector holds them:
 *
 *   kind                                   storage      a value is
 *   BOOL                                   U8           0 or 1
 *   INT8 INT16 INT32 UINT8 UINT16          I32
 *   INT64 UINT32                           I64
 *   UINT64                                 I64          the bits of the unsigned number
 *   FLOAT16 FLOAT32                        F32
 *   FLOAT64                                F64
 *   DECIMAL, precision <= 18               I64          unscaled
 *   DECIMAL, precision 19..38              I128         unscaled
 *   DECIMAL, precision > 38                VIEW         unscaled, big-endian two's complement
 *   DATE                                   I32          days since 1970-01-01
 *   TIME                                   I64          microseconds since midnight
 *   TIMESTAMP TIMESTAMPTZ                  I64          microseconds since 1970-01-01 00:00 (UTC)
 *   TIMESTAMP_NS TIMESTAMPTZ_NS TIME_NS    I64          nanoseconds
 *   STRING JSON ENUM BINARY BSON           VIEW         bytes; text is not validated here
 *   UUID (16 bytes) FIXED (length bytes)   VIEW
 *   INTERVAL                               VIEW         12 bytes as in Parquet
 *   INT96                                  VIEW         12 bytes as in Parquet
 *   GEOMETRY (geography too)               VIEW         well-known binary; has no order
 *   NULL                                   NONE         all NULL ("unknown" in Iceberg v3)
 *   STRUCT LIST MAP VARIANT                NESTED       children of the vector
 */
#ifndef BF_VEC_TYPE_H
#define BF_VEC_TYPE_H

#include "base/bytes.h"

typedef enum BfKind
{
	BF_KIND_NULL,
	BF_KIND_BOOL,
	BF_KIND_INT8,
	BF_KIND_INT16,
	BF_KIND_INT32,
	BF_KIND_INT64,
	BF_KIND_UINT8,
	BF_KIND_UINT16,
	BF_KIND_UINT32,
	BF_KIND_UINT64,
	BF_KIND_FLOAT16,
	BF_KIND_FLOAT32,
	BF_KIND_FLOAT64,
	BF_KIND_DECIMAL,
	BF_KIND_DATE,
	BF_KIND_TIME,
	BF_KIND_TIME_NS,
	BF_KIND_TIMESTAMP,
	BF_KIND_TIMESTAMPTZ,
	BF_KIND_TIMESTAMP_NS,
	BF_KIND_TIMESTAMPTZ_NS,
	BF_KIND_STRING,
	BF_KIND_JSON,
	BF_KIND_ENUM,
	BF_KIND_BINARY,
	BF_KIND_BSON,
	BF_KIND_UUID,
	BF_KIND_FIXED,
	BF_KIND_INTERVAL,
	BF_KIND_INT96,
	BF_KIND_GEOMETRY,
	BF_KIND_STRUCT,
	BF_KIND_LIST,
	BF_KIND_MAP,
	BF_KIND_VARIANT,
	BF_KIND_COUNT
} BfKind;

typedef enum BfStorage
{
	BF_STORE_NONE,
	BF_STORE_U8,
	BF_STORE_I32,
	BF_STORE_I64,
	BF_STORE_F32,
	BF_STORE_F64,
	BF_STORE_I128,
	BF_STORE_VIEW,
	BF_STORE_NESTED,
	BF_STORE_COUNT
} BfStorage;

typedef struct BfType
{
	BfKind kind;
	int32_t precision; /* DECIMAL */
	int32_t scale;	   /* DECIMAL */
	int32_t length;	   /* FIXED, UUID: bytes */
} BfType;

#define BF_TYPE(k) ((BfType){.kind = BF_KIND_##k})

extern BfStorage bf_type_storage(BfType t);
/* Bytes of one value in a flat vector: 0 for NONE and NESTED. */
extern size_t bf_storage_size(BfStorage s);
extern bool bf_type_equal(BfType a, BfType b);
/* "decimal(12,2)", "timestamptz", "fixed[16]": Iceberg's spelling where Iceberg has the type. */
extern void bf_type_name(BfType t, char *buf, size_t size);

/* Storage-typed single value: partition constants, defaults, bounds. Views point into the arena
 * of whatever made the value. The view of a nested value is an array of BfValue and its length:
 * one per child of a STRUCT, the elements of a LIST, key, value, key, value... of a MAP. */
typedef struct BfValue
{
	bool is_null;
	BfType type;
	union
	{
		uint8_t u8;
		int32_t i32;
		int64_t i64;
		float f32;
		double f64;
		bf_i128 i128;
		BfView view;
	} v;
} BfValue;

static inline const BfValue *
bf_value_children(const BfValue *v)
{
	return (const BfValue *) (const void *) v->v.view.ptr;
}

/* A column of a table or file. */
typedef struct BfField
{
	int32_t id;		  /* Iceberg field id; 0 = none */
	const char *name; /* borrowed from the arena of the schema */
	BfType type;
	bool required;
	const char *doc;			/* NULL = none */
	const char *const *aliases; /* names to find it by in files without ids (name mapping) */
	int32_t n_aliases;
	bool mapped;			  /* a name mapping exists; aliases (perhaps none) are authoritative */
	struct BfField *children; /* STRUCT: fields; LIST: element; MAP: key, value */
	int32_t n_children;
	/* What rows of files that lack the column have (Iceberg v3); without one they have NULL. */
	bool has_default;
	BfValue initial_default;
} BfField;

/* A top-level column list; `schema_id` is Iceberg's. */
typedef struct BfSchema
{
	int32_t schema_id;
	int32_t n_fields;
	BfField *fields;
} BfSchema;

/* Index of the field, -1 if absent. */
extern int32_t bf_schema_find_id(const BfSchema *s, int32_t id);
extern int32_t bf_schema_find_name(const BfSchema *s, const char *name);
/* As names are meant in SQL: exactly, else the only one that differs in the case of ASCII letters
 * alone. */
extern int32_t bf_fields_find(const BfField *fields, int32_t n, const char *name);

/* Total order within one type as PostgreSQL has it: NaN above all, -0 = 0, bytes by memcmp, UINT64
 * unsigned. NULLs and nested values are not compared. */
extern int bf_value_compare(const BfValue *a, const BfValue *b);

/* 10^exponent, 0..38: every decimal of that many digits is smaller. */
extern bf_i128 bf_power_of_ten(int32_t exponent);

#endif
