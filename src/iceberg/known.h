/*
 * iceberg/known.h: what is known of a table's columns without reading anything, for estimates.
 *
 * Manifests that a cache has, and the statistics files that the metadata names. Nothing is opened:
 * of manifests that nobody has read nothing is said.
 *
 * A statistics file (https://iceberg.apache.org/puffin-spec/) has sketches, and the metadata file
 * has of each the number of different values that its writer made of it (property `ndv` of blobs of
 * type apache-datasketches-theta-v1, for one field each). That is all that is used. What is not as
 * it should be there is passed over: engines do without, and an estimate is no reason to fail.
 */
#ifndef BF_ICEBERG_KNOWN_H
#define BF_ICEBERG_KNOWN_H

#include "iceberg/cache.h"
#include "iceberg/table.h"

/* A data file of a snapshot. */
typedef struct BfIceKnownFile
{
	const char *path; /* local; bifang:// of a logical file */
	int64_t rows;
	int64_t size;
	const BfColumnStats *stats; /* of the columns that were asked for, in their order */
} BfIceKnownFile;

typedef BfStatus (*BfIceKnownVisit)(void *arg, const BfIceKnownFile *file, BfError *err);

/* At most about files_max of the files that cached manifests of `snapshot` name, spread evenly.
 * `columns`: fields of the schema. What stats point to is valid during the call; what it
 * needs meanwhile is given back (`a` says from whom it comes). */
extern BfStatus bf_ice_known_files(BfArena *a, const BfIceTable *t, const BfIceSnapshot *snapshot,
								   const BfSchema *schema, BfIceCache *cache,
								   const int32_t *columns, int32_t n_columns, int64_t files_max,
								   BfIceKnownVisit visit, void *arg, BfError *err) BF_MUST_CHECK;

/* Different values of a top-level column as a statistics file has them for that snapshot or for the
 * nearest one before it that has any. *rows: of the snapshot that they are about, by its summary;
 * -1 = not known. false: there are none. */
extern bool bf_ice_known_distinct(const BfIceMetadata *m, const BfIceSnapshot *snapshot,
								  int32_t field_id, int64_t *distinct, int64_t *rows);

#endif
