/*
 * pg/lake/lag.h: how far the lake may be behind what was inserted.
 */
#ifndef BIFANG_PG_LAKE_LAG_H
#define BIFANG_PG_LAKE_LAG_H

#include "postgres.h"

#include "pg/catalog/options.h"
#include "policy/policy.h"

/* What the table's options say, where they don't the settings. NULL: the settings alone. */
extern void bifang_lag_limits(const BifangOptions *o, BfLagLimits *out);
/* What is too much, for messages; palloc'd. */
extern char *bifang_lag_text(const BfBacklogPart *uncommitted, BfLagOver over);
/* INSERT looks at it from then on. */
extern void bifang_lag_init(void);

#endif
