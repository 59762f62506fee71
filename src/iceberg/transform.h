/*
 * iceberg/transform.h: partition specs and transforms
 * (https://iceberg.apache.org/spec/#partition-transforms). Values equal those of the Java implementation.
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
	int32_t param; /* bucket count, truncate width */
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

extern BfStatus bf_transform_parse(const char *text, BfTransform *out, BfError *err) BF_MUST_CHECK;
/* day(timestamp) is a DATE; year, month, hour, bucket an INT32; the rest as the source. BF_ERR_UNSUPPORTED when
 * the transform does not take the type. */
extern BfStatus bf_transform_result_type(BfTransform t, BfType source, BfType *out, BfError *err)
	BF_MUST_CHECK;
/* NULL gives NULL. A view result may point into the source or, for decimal results, nowhere. */
extern BfStatus bf_transform_apply(BfTransform t, const BfValue *source, BfValue *out, BfError *err)
	BF_MUST_CHECK;
/* Human form as in partition paths: 2017-11-16, null, base64 for binary; not escaped. */
extern BfStatus bf_transform_human(BfTransform t, const BfValue *result, BfBuffer *out, BfError *err)
	BF_MUST_CHECK;

#endif
