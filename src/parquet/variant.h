/*
 * parquet/variant.h: variants as JSON text, for the files of this folder. The encoding is that of
 * VariantEncoding.md and VariantShredding.md of the Parquet format.
 *
 *   variant                            JSON
 *   null, booleans                     null, true, false
 *   integers, decimals                 numbers, exact
 *   float, double                      the shortest number that reads back; "NaN", "Infinity",
 *                                      "-Infinity"
 *   string                             string; a NUL is \u0000
 *   date, time, timestamps             "2024-02-29", "23:59:59.5", "2024-02-29T23:59:59.5" with
 *                                      +00:00 behind it when adjusted to UTC; nanoseconds all shown
 *   binary                             base64 text
 *   uuid                               "f24f9b64-81fa-49d1-b74e-8c09a6e31c56"
 *   array, object                      array, object; members in the order of their names
 */
#ifndef BF_PARQUET_VARIANT_H
#define BF_PARQUET_VARIANT_H

#include "vec/batch.h"

#define BFI_VARIANT_DEPTH_MAX 100

/* The dictionary of names.
 *
 *     metadata = header, u size, (size + 1) * u offset, bytes       u: offset_size bytes, LE
 *     header   = version 1 | sorted << 4 | (offset_size - 1) << 6
 */
typedef struct BfiVariantNames
{
	const uint8_t *offsets;
	const uint8_t *bytes;
	uint32_t offset_size;
	uint32_t n;
	uint32_t n_bytes;
} BfiVariantNames;

extern BfStatus
bfi_variant_names(BfView metadata, BfiVariantNames *out, BfError *err) BF_MUST_CHECK;

/* Appends a value's text; *used: how many of its bytes it takes. */
extern BfStatus bfi_variant_value(const BfiVariantNames *names, BfView value, int depth,
								  BfBuffer *out, size_t *used, BfError *err) BF_MUST_CHECK;

/* An object's members one by one; the value is none: BF_ERR_CORRUPT. */
typedef struct BfiVariantObject
{
	uint32_t n;
	uint32_t id_size;
	uint32_t offset_size;
	const uint8_t *ids;
	const uint8_t *offsets;
	BfView values;
} BfiVariantObject;

extern BfStatus bfi_variant_object(BfView value, BfiVariantObject *out, BfError *err) BF_MUST_CHECK;
extern BfStatus
bfi_variant_member(const BfiVariantNames *names, const BfiVariantObject *o, uint32_t i,
				   BfView *name, BfView *value, BfError *err) BF_MUST_CHECK;

/* Appends a value of a primitive type, as the table above says; not NULL. */
extern BfStatus bfi_json_value(BfBuffer *out, const BfValue *v, BfError *err) BF_MUST_CHECK;

#endif
