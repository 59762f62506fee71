/*
 * pg/server/progress.h: how far a long command is, for others to see (view bifang.progress).
 *
 * It stands where the server keeps progress of its own commands, in the backend's entry of shared
 * memory, under numbers that none of them has. So the library need not be preloaded, an error or a
 * rolled-back savepoint ends it, and a command that runs inside of one that the server reports on
 * leaves that alone. With track_activities off nothing is told.
 */
#ifndef BIFANG_PG_SERVER_PROGRESS_H
#define BIFANG_PG_SERVER_PROGRESS_H

#include "postgres.h"

typedef enum BifangCommand
{
	BIFANG_COMMAND_COMMIT,
	BIFANG_COMMAND_OFFLOAD,
	BIFANG_COMMAND_CHECK,
	BIFANG_COMMAND_OPTIMIZE,
	BIFANG_COMMAND_EXPIRE,
	BIFANG_COMMAND_COUNT
} BifangCommand;

typedef enum BifangPhase
{
	BIFANG_PHASE_CATALOG,  /* reading what there is */
	BIFANG_PHASE_SETTLE,   /* moving rows of small transactions into files */
	BIFANG_PHASE_LEDGERS,  /* going over ledgers; done and total are theirs */
	BIFANG_PHASE_FILES,	   /* looking at what the lake names */
	BIFANG_PHASE_PARQUET,  /* writing Parquet files; done and total are logical files */
	BIFANG_PHASE_METADATA, /* writing manifests and metadata */
	BIFANG_PHASE_LEFTOVERS,
	BIFANG_PHASE_COUNT
} BifangPhase;

/* Of a foreign table; phase CATALOG. Another one may have begun before and not ended: then nothing
 * is told of this one. */
extern void bifang_progress_begin(BifangCommand command, Oid relid);
extern void bifang_progress_phase(BifangPhase phase);
/* What there is to do in this phase; bytes 0 = not known. */
extern void bifang_progress_total(int64 total, int64 bytes);
extern void bifang_progress_add(int64 done, int64 bytes);
extern void bifang_progress_end(void);

#endif
