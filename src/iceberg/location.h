/*
 * iceberg/location.h: from recorded locations to local paths.
 *
 * Metadata records where a table was when it was written (file:///srv/lake/db/t, hdfs://nn:8020/…). Found
 * by its directory, the table may have been moved: a path under the recorded location is resolved under the directory
 * where the table was found. Scheme, authority and repeated slashes are brought to one canonical form before paths are compared:
 * `file:/x`, `file:///x` and `/x` are the same; `..` segments that leave the table are refused.
 */
#ifndef BF_ICEBERG_LOCATION_H
#define BF_ICEBERG_LOCATION_H

#include "base/arena.h"

typedef struct BfLocation
{
	const char *recorded; /* canonical `location` of the metadata, no trailing slash */
	const char *found;    /* local directory, absolute, no trailing slash */
} BfLocation;

/* metadata_path is the local path of the metadata file, <found>/metadata/x.json. */
extern BfStatus bf_location_new(BfArena *a, const char *recorded, const char *metadata_path,
								BfLocation *out, BfError *err) BF_MUST_CHECK;
/* Local path for a recorded one. Logical paths (bifang://) must not be passed. Other schemes outside the table:
 * BF_ERR_UNSUPPORTED naming the scheme. */
extern BfStatus bf_location_resolve(BfArena *a, const BfLocation *l, const char *recorded_path,
									const char **out, BfError *err) BF_MUST_CHECK;
/* The recorded form of a local path under `found`: what a commit writes into metadata. */
extern BfStatus bf_location_record(BfArena *a, const BfLocation *l, const char *local_path,
								   const char **out, BfError *err) BF_MUST_CHECK;
/* Canonical form for comparing any two recorded paths. */
extern BfStatus bf_location_canonical(BfArena *a, const char *path, const char **out, BfError *err)
	BF_MUST_CHECK;

#endif
