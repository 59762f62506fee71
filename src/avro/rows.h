/* avro/rows.h: what the row codec's files share: how each type stands in a row. */
#ifndef BF_AVRO_ROWS_H
#define BF_AVRO_ROWS_H

#include "avro/rowcodec.h"

typedef enum BfiRowCode
{
	BFI_ROW_NULL,
	BFI_ROW_BOOL,
	BFI_ROW_INT,
	BFI_ROW_LONG,
	BFI_ROW_FLOAT,
	BFI_ROW_DOUBLE,
	BFI_ROW_BYTES,
	BFI_ROW_FIXED,
	BFI_ROW_DECIMAL64,
	BFI_ROW_DECIMAL128
} BfiRowCode;

typedef struct BfiRowType
{
	BfiRowCode code;
	int32_t size;		 /* FIXED, DECIMAL*: bytes */
	const char *avro;	 /* Avro's type */
	const char *logical; /* NULL = none */
	bool has_zone;		 /* timestamps: adjust-to-utc is written */
	bool adjust_to_utc;
} BfiRowType;

/* BF_ERR_UNSUPPORTED for types that rows cannot hold. */
extern BfStatus bfi_row_type(BfType t, BfiRowType *out, BfError *err) BF_MUST_CHECK;
/* Fewest bytes of two's complement that hold every number of that many digits (1..38). */
extern int32_t bfi_decimal_bytes(int32_t precision);

#endif
