/*
 * vec/mapping.h: which field of a file a field of the table is, and vectors of the one as vectors
 * of the other, nested ones included.
 *
 * Rules of finding (https://iceberg.apache.org/spec/#column-projection), the same on every level:
 *
 *   the table's field has    the file has ids    found by
 *   no id                    -                   name: exactly, else regardless of ASCII case if
 *                                                that is unique
 *   an id                    yes                 id; a field of the file without one by the ids of
 *                                                its parts, else it is invisible
 *   an id                    no                  the field's aliases (its name mapping); members
 *                                                without a mapping are BF_ERR_UNSUPPORTED
 *
 * The element of a list and key and value of a map are found by their place: they can't be added,
 * and a file without ids names them as it likes. Their ids must agree where both have one.
 *
 * A mapping is made once per file and applied to every batch. Leaves are promoted as
 * bf_type_promotable allows; members of structs may come in any order, under other names, be
 * missing (their initial default, else NULL) or be too many. A member that is required and missing
 * without a default is BF_ERR_CORRUPT where its struct is not itself missing.
 *
 * A variant of the table may be a plain struct of metadata, value and typed_value in the file (two
 * of them or all): whoever reads the file makes JSON of it, as of an annotated one.
 */
#ifndef BF_VEC_MAPPING_H
#define BF_VEC_MAPPING_H

#include "vec/batch.h"

/* Index of the file's field, -1: it has none. Only names that match more than one fail. */
extern BfStatus bf_field_find(const BfField *fields, int32_t n, bool file_has_ids,
							  const BfField *want, int32_t *out, BfError *err) BF_MUST_CHECK;

typedef struct BfMapping BfMapping;

/* BF_ERR_UNSUPPORTED, naming the field, where the types don't fit. Both fields are borrowed. */
extern BfStatus bf_mapping_new(BfArena *a, const BfField *from, const BfField *to,
							   bool file_has_ids, BfMapping **out, BfError *err) BF_MUST_CHECK;
/* Nothing to do: vectors of `from` are vectors of `to`. */
extern bool bf_mapping_is_identity(const BfMapping *m);
/* The file's struct holds a variant's parts: bf_mapping_apply wants the texts made of them. */
extern bool bf_mapping_is_variant(const BfMapping *m);
/* 0 of leaves and variants. */
extern int32_t bf_mapping_n_children(const BfMapping *m);
/* Of which field of the file a member of a STRUCT comes (-1: none), and its own mapping; LIST, MAP:
 * the same for their children. For readers that leave out what nobody wants. */
extern int32_t bf_mapping_child(const BfMapping *m, int32_t child, const BfMapping **out);
/* dst is filled for src's rows, sharing memory where nothing has to be converted: valid as long as
 * src is, and until the next call. dst is no vector with buffers of its own; the mapping has those.
 */
extern BfStatus
bf_mapping_apply(BfMapping *m, const BfVector *src, BfVector *dst, BfError *err) BF_MUST_CHECK;

/* `out` as the constant column that a field is which the file lacks: its initial default, else
 * NULL; BF_ERR_CORRUPT when it is required. `what` is what lacks it, for the message. */
extern BfStatus bf_mapping_missing(BfArena *a, const BfField *want, const char *what, BfVector *out,
								   BfError *err) BF_MUST_CHECK;
/* `out` as a constant column of field `want`. The value may be of a type that the column had
 * earlier and is promoted then; NULL stays NULL. */
extern BfStatus bf_mapping_constant(BfArena *a, const BfField *want, const BfValue *from,
									BfVector *out, BfError *err) BF_MUST_CHECK;

#endif
