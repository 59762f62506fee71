/*
 * vec/type_internal.h: what order and keys of values share.
 */
#ifndef BF_VEC_TYPE_INTERNAL_H
#define BF_VEC_TYPE_INTERNAL_H

#include "vec/type.h"

/* The number by which values of some kinds, that are bytes, are compared: of an INTERVAL the
 * milliseconds (a month counts 30 days, a day 24 hours, as in PostgreSQL), of an INT96 the
 * nanoseconds. false: the kind has none, or the bytes are not 12. */
extern bool bfi_view_number(BfKind kind, BfView v, bf_i128 *out);

#endif
