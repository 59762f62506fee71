/*
 * pg/server/remove.h: removing what we made, and nothing else.
 *
 * What goes is told by identity, device and inode, never by the text of a path: two paths may lead
 * to one file. Directories are opened one below the other and no symbolic link is followed, so that
 * a link put among our files leads nowhere. Of a directory go the names that its kind of directory
 * gets from us (and a lake table's data from other engines); anything else stays, and it with it.
 */
#ifndef BIFANG_PG_SERVER_REMOVE_H
#define BIFANG_PG_SERVER_REMOVE_H

#include "postgres.h"

#include "base/status.h"

typedef struct BifangFileId
{
	uint64 device;
	uint64 inode;
} BifangFileId;

/* Of what the path leads to, links followed; false: nothing is there. */
extern bool bifang_file_id(const char *path, BifangFileId *id);
/* One file by two names? By text when one of them isn't there. */
extern bool bifang_same_file(const char *a, const char *b);
/* Does it lie in the data directory, wherever links lead, and not in what is mounted into it? Then
 * a copy of the data directory has a copy of it. */
extern bool bifang_in_data_directory(const char *path);

/* Of a name, without the ".tmp.<digits>" of a file that was being made (io/publish.h). */
extern size_t bifang_final_length(const char *name);

/* Parquet files that bifang.optimize() makes, with a uuid between the two; finished or not. */
#define BIFANG_DATA_FILE_PREFIX "bifang-"
#define BIFANG_DATA_FILE_SUFFIX ".parquet"
extern bool bifang_is_data_file(const char *name);

typedef enum BifangRemoveKind
{
	BIFANG_REMOVE_FILE,	  /* an offload file, a data file as above, or one of a table's metadata */
	BIFANG_REMOVE_LEDGER, /* a ledger's directory: flat */
	BIFANG_REMOVE_TABLE	  /* a part of a lake table's directory, with directories below */
} BifangRemoveKind;

/* Is this one in use? It stays then. Raises nothing. */
typedef bool (*BifangIsNamed)(void *arg, BifangFileId id);

typedef struct BifangRemoved
{
	int64 kept;			   /* entries left because they are not ours, or in use */
	char first[MAXPGPATH]; /* one of them */
} BifangRemoved;

/* Missing is fine. What can't be removed does not keep the rest: the first error is returned after
 * all else was tried. `named` may be NULL. Raises nothing. */
extern BfStatus bifang_remove(const char *path, BifangRemoveKind kind, BifangIsNamed named,
							  void *arg, BifangRemoved *out, BfError *err) BF_MUST_CHECK;

#endif
