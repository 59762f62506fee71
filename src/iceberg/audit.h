/*
 * iceberg/audit.h: all that a table names now, file by file, for who wants to check it.
 *
 * A plan holds every file, and is refused where one contradicts another. Here files come by one at
 * a time; what is kept is 32 bytes for each range of entries that a logical file names, until they
 * are merged, and 8 for each data file. So memory does not depend on how long names are, and a
 * table that can't be read any more can still be told what is wrong with it.
 *
 * The files are those of the current point (iceberg/table.h): what `main` names, deletes too, and
 * the logical files of `bifang`. Whatever both name is one file.
 */
#ifndef BF_ICEBERG_AUDIT_H
#define BF_ICEBERG_AUDIT_H

#include "iceberg/table.h"

typedef struct BfIceAuditFile
{
	BfIceContent content;
	const char *path;		  /* local path; of a logical file its name */
	const BfLogicalFile *log; /* NULL = not a logical file */
	int64_t file_size;
} BfIceAuditFile;

/* The file is valid during the call. */
typedef BfStatus (*BfIceAuditVisit)(void *arg, const BfIceAuditFile *file, BfError *err);

typedef struct BfIceAudit
{
	BfCoverage parquet;	 /* what main covers; is there before the first visit */
	BfCoverage covered;	 /* what main covers or logical files name */
	BfCoverage twice;	 /* what more than one of them names */
	int64_t n_doubled;	 /* data files beyond the first of their path */
	const char *doubled; /* one of them; NULL = none */
} BfIceAudit;

/* *out is filled in `a`. */
extern BfStatus bf_ice_audit(BfArena *a, const BfIceTable *t, BfIceAuditVisit visit, void *arg,
							 BfIceAudit *out, BfError *err) BF_MUST_CHECK;

#endif
