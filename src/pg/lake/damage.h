/*
 * pg/lake/damage.h: work on many ledgers, one of which is damaged.
 *
 * It is passed over and told of; what can be done with the others is done. Its rows stay where they
 * are, and an error for whoever reads them, until somebody has decided: bifang.repair().
 */
#ifndef BIFANG_PG_LAKE_DAMAGE_H
#define BIFANG_PG_LAKE_DAMAGE_H

#include "postgres.h"

#include "base/status.h"
#include "pg/catalog/ledgers.h"

/* Does the error say that of the ledger's own bytes? */
extern bool bifang_ledger_is_damaged(const BifangLedger *l, const BfError *err);
/* WARNING; `what`: "is not committed". */
extern void bifang_ledger_passed_over(const BifangLedger *l, const BfError *err, const char *what);

#endif
