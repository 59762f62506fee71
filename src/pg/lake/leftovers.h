/*
 * pg/lake/leftovers.h: directories that nobody names and nobody may remove.
 */
#ifndef BIFANG_PG_LAKE_LEFTOVERS_H
#define BIFANG_PG_LAKE_LEFTOVERS_H

#include "postgres.h"

typedef void (*BifangLeftVisit)(void *arg, const char *path, const char *what);

/* Directories of ledgers in `live_dir` that don't say whose they are and that no row names. */
extern void bifang_unmarked_ledgers(const char *live_dir, BifangLeftVisit visit, void *arg);

#endif
