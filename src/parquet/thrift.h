/*
 * parquet/thrift.h: decoding of the Thrift compact protocol, as far as Parquet uses it.
 *
 *     struct  = { field } 0x00
 *     field   = 1 byte: id delta << 4 | type; delta 0: a zigzag varint with the id follows
 *     list    = 1 byte: size << 4 | element type; size 15: a varint with the size follows
 *     i16/i32/i64 zigzag varint, double 8 bytes, binary varint length + bytes, bool in the type
 *
 * Structs are decoded by tables: a BfiThriftStruct lists the fields that we want, their types and
 * where they go in a C struct. Ids may come in any order; unknown ids, and optional fields with an
 * unexpected type, are skipped; a missing required field is corrupt. Every C struct that a table
 * describes begins with `uint32_t seen`: bit i is set when field i of the table was present. A
 * union is a struct whose members are optional: no bit set means a member that we don't know.
 *
 * Nothing is allocated: binaries are views into the input, lists are remembered by position.
 */
#ifndef BF_PARQUET_THRIFT_H
#define BF_PARQUET_THRIFT_H

#include "base/bytes.h"

typedef enum BfiThriftType
{
	BFI_T_STOP = 0,
	BFI_T_TRUE = 1, /* in a table: a bool */
	BFI_T_FALSE = 2,
	BFI_T_I8 = 3,
	BFI_T_I16 = 4,
	BFI_T_I32 = 5,
	BFI_T_I64 = 6,
	BFI_T_DOUBLE = 7,
	BFI_T_BINARY = 8,
	BFI_T_LIST = 9,
	BFI_T_SET = 10,
	BFI_T_MAP = 11,
	BFI_T_STRUCT = 12,
	BFI_T_UUID = 13
} BfiThriftType;

#define BFI_THRIFT_DEPTH_MAX 64

/* Where a list's elements begin; `c` ends where the enclosing bytes end. */
typedef struct BfiThriftList
{
	BfCursor c;
	uint32_t n;
	int type; /* of the elements */
} BfiThriftList;

struct BfiThriftStruct;

typedef struct BfiThriftField
{
	int16_t id;
	uint8_t type; /* BfiThriftType; the C member: bool, int8_t, int32_t, int64_t, BfView,
				   * BfiThriftList or the struct itself */
	bool required;
	uint16_t offset;
	const struct BfiThriftStruct *sub; /* STRUCT: its table; NULL: presence only */
} BfiThriftField;

typedef struct BfiThriftStruct
{
	const char *name; /* for messages */
	const BfiThriftField *fields;
	int n_fields; /* <= 32 */
} BfiThriftStruct;

/* Zeroes *out (size bytes) and fills it. */
extern BfStatus bfi_thrift_struct(BfCursor *c, const BfiThriftStruct *table, void *out, size_t size,
								  BfError *err) BF_MUST_CHECK;

/* For structs that are walked by hand: *id is the previous id on entry (0 before the first). */
extern BfStatus bfi_thrift_field(BfCursor *c, int16_t *id, int *type, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_thrift_skip(BfCursor *c, int type, int depth, BfError *err) BF_MUST_CHECK;
/* The header of a list; a count that the remaining bytes can't hold, at element_min bytes each, is
 * corrupt. */
extern BfStatus
bfi_thrift_list(BfCursor *c, size_t element_min, BfiThriftList *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_thrift_binary(BfCursor *c, BfView *out, BfError *err) BF_MUST_CHECK;

#endif
