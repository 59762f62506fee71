/*
 * iceberg/transform.h: partition specs and transforms
 * (https://iceberg.apache.org/spec/#partition-transforms). Values equal those of the Java
 * implementation, which every other writer follows.
 *
 *   transform     sources                                       result
 *   identity      all but nested types and variant              as the source
 *   bucket[N]     int long decimal date time timestamp* string  int, 0 .. N-1
 *                 uuid fixed binary
 *   truncate[W]   int long decimal string binary                as the source
 *   year month    date timestamp*                               int since 1970 / 1970-01
 *   day           date timestamp*                               date
 *   hour          timestamp*                                    int since 1970-01-01 00
 *   void          all                                           NULL of the source's type
 *
 * Times floor: 1969-12-31 23:59 is year -1, month -1, day -1, hour -1. bucket is
 * (murmur3_x86_32(bytes) & 0x7fffffff) % N; a string truncates to code points, a decimal by its
 * unscaled value. truncate of int and long wraps in the type's own width as Java's arithmetic does:
 * near the smallest number the result is greater than the source, so a range over truncated values
 * proves nothing where the result exceeds the source.
 */
#ifndef BF_ICEBERG_TRANSFORM_H
#define BF_ICEBERG_TRANSFORM_H

#include "vec/batch.h"

typedef enum BfTransformKind
{
	BF_TRANSFORM_IDENTITY,
	BF_TRANSFORM_BUCKET,
	BF_TRANSFORM_TRUNCATE,
	BF_TRANSFORM_YEAR,
	BF_TRANSFORM_MONTH,
	BF_TRANSFORM_DAY,
	BF_TRANSFORM_HOUR,
	BF_TRANSFORM_VOID,
	BF_TRANSFORM_UNKNOWN /* kept, not usable for writing */
} BfTransformKind;

typedef struct BfTransform
{
	BfTransformKind kind;
	int32_t param; /* bucket count, truncate width; > 0 */
} BfTransform;

typedef struct BfIcePartitionField
{
	int32_t source_id;
	int32_t field_id;
	const char *name;
	BfTransform transform;
	const char *transform_text; /* as written */
} BfIcePartitionField;

typedef struct BfIceSpec
{
	int32_t spec_id;
	int32_t n_fields;
	BfIcePartitionField *fields;
} BfIceSpec;

/* What is said of a kind in one row of the table in transform.c. */
typedef struct BfTransformRow
{
	const char *name;
	const char
		*suffix; /* of a partition field, behind its column's name, as in Iceberg's libraries */
	bool has_param;
	bool is_time; /* two of one column say the same */
} BfTransformRow;

/* NULL for UNKNOWN. */
extern const BfTransformRow *bf_transform_row(BfTransformKind kind);

/* Names in any case; a name that is none of ours gives UNKNOWN, a parameter below 1 is corrupt. */
extern BfStatus bf_transform_parse(const char *text, BfTransform *out, BfError *err) BF_MUST_CHECK;
/* BF_ERR_UNSUPPORTED when the transform does not take the type. */
extern BfStatus
bf_transform_result_type(BfTransform t, BfType source, BfType *out, BfError *err) BF_MUST_CHECK;
/* NULL gives NULL. A view result points into the source. BF_ERR_VALUE when the result does not fit
 * its type (hours beyond year 244983). */
extern BfStatus
bf_transform_apply(BfTransform t, const BfValue *source, BfValue *out, BfError *err) BF_MUST_CHECK;
/* The 32-bit hash behind bucket; the source is not NULL. */
extern BfStatus bf_transform_hash(const BfValue *source, int32_t *out, BfError *err) BF_MUST_CHECK;
/* Human form as in partition paths: 2017-11-16, null, base64 for binary; not escaped. Appended. */
extern BfStatus
bf_transform_human(BfTransform t, const BfValue *result, BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
