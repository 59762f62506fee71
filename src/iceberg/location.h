/*
 * iceberg/location.h: from recorded locations to local paths.
 *
 * Metadata records where a table was when it was written (file:///srv/lake/db/t,
 * hdfs://nn:8020/...). Found by its directory, the table may have been moved: a path under the
 * recorded location is resolved under the directory where the table was found.
 *
 * Paths are compared in one canonical form:
 *
 *   /x  file:/x  file:///x  file://localhost/x  FILE:///x    /x
 *   s3a://b/k  s3n://b/k  s3://b/k                           s3://b/k
 *   hdfs://nn:8020//a//b/                                    hdfs://nn:8020/a/b
 *   /a/./b/../c                                              /a/c
 *   a/b  file://a/b                                          a/b, relative: only in the table
 *   /../x                                                    corrupt: leaves the root
 *
 * Everything else is literal: `%20`, `?` and `#` are part of the name, as in Hadoop's Path. Two
 * paths of which only one has a scheme are compared without scheme and authority, since real tables
 * mix /wh/t and hdfs://nn:8020/wh/t.
 *
 * Some writers record relative paths that do not begin with the table's location (BigQuery's
 * exports: location gs://bucket/name, paths a/b/t/data/x). Such a path is taken apart at the
 * component that is called like the directory where the table was found: found as /lake/t it is
 * /lake/t/data/x. Where no component is called so, or more than one, it is refused.
 *
 * Where files lie that no table's directory tells of, a map does, given by the user:
 *
 *   hdfs://nn:8020/wh=/data/wh,s3://bucket/cold=/mnt/cold
 *
 * Recorded prefixes of whole components and the local directories that stand for them. `\` before a
 * comma, an equals sign or itself makes it part of a path. The longest prefix that a path has
 * counts, and the table's own location is one of them; of two equal ones the map's.
 */
#ifndef BF_ICEBERG_LOCATION_H
#define BF_ICEBERG_LOCATION_H

#include "base/arena.h"

typedef struct BfLocationPair
{
	const char *scheme; /* of the recorded prefix, in its canonical form; "" = none */
	const char *authority;
	const char *path;
	const char *local; /* absolute directory, no trailing slash but in "/" */
	int32_t number;	   /* in the text */
} BfLocationPair;

typedef struct BfLocationMap
{
	const char *text; /* as given */
	int32_t n;
	BfLocationPair *pairs; /* the longest path first */
} BfLocationMap;

typedef struct BfLocation
{
	const char *recorded; /* canonical `location` of the metadata, no trailing slash */
	const char *found;	  /* local directory, absolute, no trailing slash */
	const char *written;  /* `location` as written, no trailing slash: what a commit begins with */
	const BfLocationMap *map; /* borrowed; NULL = none */
} BfLocation;

/* BF_ERR_VALUE telling what is wrong with the text. */
extern BfStatus bf_location_map_parse(BfArena *a, const char *text, BfLocationMap **out,
									  BfError *err) BF_MUST_CHECK;

/* metadata_path is the local path of the metadata file, <found>/metadata/x.json. A metadata file
 * outside a directory `metadata` says nothing about the table's place: a local table is then where
 * the metadata says. */
extern BfStatus bf_location_new(BfArena *a, const char *recorded, const char *metadata_path,
								BfLocation *out, BfError *err) BF_MUST_CHECK;
/* Local path for a recorded one. Logical paths (bifang://) must not be passed. A local path outside
 * the table is returned as it is: see bf_location_inside. A relative path or another scheme outside
 * the table is BF_ERR_UNSUPPORTED; `..` out of the table is BF_ERR_CORRUPT. */
extern BfStatus bf_location_resolve(BfArena *a, const BfLocation *l, const char *recorded_path,
									const char **out, BfError *err) BF_MUST_CHECK;
/* Does a path that resolve gave lie under the table's directory, or one that the map names?
 * Metadata comes from outside: a caller that only trusts the table must not open others. */
extern bool bf_location_inside(const BfLocation *l, const char *local_path);
/* The recorded form of a local path under `found`: what a commit writes into metadata. Paths
 * elsewhere become file:// URIs. */
extern BfStatus bf_location_record(BfArena *a, const BfLocation *l, const char *local_path,
								   const char **out, BfError *err) BF_MUST_CHECK;
/* Canonical form for comparing any two recorded paths. */
extern BfStatus
bf_location_canonical(BfArena *a, const char *path, const char **out, BfError *err) BF_MUST_CHECK;

#endif
