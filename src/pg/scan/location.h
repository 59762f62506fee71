/*
 * pg/scan/location.h: which local files a location names.
 */
#ifndef BIFANG_PG_SCAN_LOCATION_H
#define BIFANG_PG_SCAN_LOCATION_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/snapshot.h"

#include "base/host.h"

/* Paths that a location names: itself, what matches a glob, or, with `suffix`, the files of a
 * directory whose names end so; sorted bytewise. Palloc'd strings. Raises when there is none; that
 * a directory below a glob can't be read is said at `elevel`. */
extern List *bifang_expand_location(const char *location, const char *suffix, int elevel);
/* The same once per snapshot (server/pins.h); `what` tells it from other expansions. */
extern List *
bifang_pinned_location(const char *location, const char *suffix, const char *what, Snapshot snap);
/* Raises when nobody can say. */
extern BfPathKind bifang_path_kind(const char *path);
/* What follows the last slash. */
extern const char *bifang_base_name(const char *path);

#endif
