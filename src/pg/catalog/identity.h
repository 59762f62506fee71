/*
 * pg/catalog/identity.h: the row of bifang.identity, which tells this catalog from others and says
 * which cluster it belongs to.
 *
 *   catalog_id           random, made with the extension: a catalog that was dropped and one that
 *                        was made anew are two, though cluster and database are the same
 *   system_identifier    of the cluster that the catalog was made in, or adopted by
 *
 * pg_upgrade, and a reset of the control file, give a cluster another system identifier. Its files
 * may be elsewhere then, or shared with what it was before, so nothing is written, cut or removed
 * until somebody has said that it may be (pg/lake/adopt.c).
 */
#ifndef BIFANG_PG_CATALOG_IDENTITY_H
#define BIFANG_PG_CATALOG_IDENTITY_H

#include "postgres.h"

/* Lives as long as the backend. */
extern const char *bifang_catalog_id(void);
/* Does the catalog belong to this cluster? */
extern bool bifang_catalog_is_adopted(void);
/* Before anything is written: raises when it does not, with a hint what to do. */
extern void bifang_catalog_check_adopted(void);
/* What the two of them say, for people. */
extern const char *bifang_catalog_not_adopted_text(void);
extern const char *bifang_catalog_adoption_hint(void);

/* "<system identifier>/<oid>" that this database had when its catalog was made or adopted. */
extern char *bifang_catalog_former_origin(void);
/* From now on (with the transaction's commit) the catalog belongs to this cluster. */
extern void bifang_catalog_set_adopted(void);

#endif
