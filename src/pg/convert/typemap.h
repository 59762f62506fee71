/*
 * pg/convert/typemap.h: column types, one table for IMPORT, CREATE, INSERT and the scan.
 *
 * A row of the table in typemap.c pairs a BfKind with the PostgreSQL type that IMPORT
 * declares, and says which other types a user may declare for it instead. What the scan can read
 * as what is finer than that and stands in out.h.
 */
#ifndef BIFANG_PG_CONVERT_TYPEMAP_H
#define BIFANG_PG_CONVERT_TYPEMAP_H

#include "postgres.h"

#include "vec/type.h"

/* The type that IMPORT declares for a column: nested ones are arrays where the elements are no
 * nested ones themselves, else jsonb. false: no type for it. */
extern bool bifang_type_default(const BfField *field, Oid *typid, int32 *typmod);
/* The Iceberg type that a column of this PostgreSQL type is stored as; domains count as
 * their base type. false: cannot be stored; *why (may be NULL) gets a phrase, and a hint is
 * possible from it. */
extern bool bifang_type_for_pg(Oid typid, int32 typmod, BfType *out, const char **why);
/* Can a table's column be written from a foreign table's column declared so? */
extern bool bifang_type_can_write(BfType t, Oid typid, int32 typmod);

/* "timestamptz" in the lake's words, palloc'd; and numeric(12,2) in PostgreSQL's. */
extern char *bifang_type_text(BfType t);
extern char *bifang_pg_type_text(Oid typid, int32 typmod);

#endif
