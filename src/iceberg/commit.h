/*
 * iceberg/commit.h: making new table metadata (v2 written, v1 tables keep their version for reading and are upgraded to 2).
 *
 * A commit writes a manifest, a manifest list per ref and a new metadata file, all durable before it returns
 * the new file's path. Moving the catalog's pointer is the caller's: it does so in its transaction, and on conflict
 * loads the newer metadata and commits again; files of a lost attempt are garbage.
 */
#ifndef BF_ICEBERG_COMMIT_H
#define BF_ICEBERG_COMMIT_H

#include "iceberg/table.h"

/* A new table. Field ids are given by position from 1 when the schema's are 0. `spec` fields: source_id
 * and transform are given, field_id from 1000 when 0, names filled when NULL. Writes <dir>/metadata/00000-<uuid>.metadata.json;
 * `location` is recorded (file:// URI of dir when NULL). */
extern BfStatus bf_ice_create(BfArena *a, const char *dir, const char *location,
							  const BfSchema *schema, const BfIceSpec *spec,
							  const char *const *property_keys, const char *const *property_values,
							  int32_t n_properties, const char **metadata_path, BfError *err)
	BF_MUST_CHECK;

typedef struct BfIceNewFile
{
	const char *path; /* recorded form, or bifang:// */
	const char *format;
	int32_t spec_id;
	int32_t n_partition;
	const BfValue *partition;
	int64_t record_count;
	int64_t file_size;
} BfIceNewFile;

/* Appends files to the `bifang` branch (started from main's head when missing) in one `append` snapshot, sets
 * bifang.covered in the summary and in the table properties to `covered`. `main` does not move but exists
 * afterwards: a table without a main snapshot gets an empty one, so that refs stay valid. *metadata_path = the new file. */
extern BfStatus bf_ice_commit_logical(BfArena *a, const BfIceTable *t, const BfIceNewFile *files,
									  int32_t n_files, const BfCoverage *covered,
									  const char **metadata_path, int64_t *snapshot_id,
									  BfError *err) BF_MUST_CHECK;

#endif
