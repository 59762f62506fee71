/*
 * pg/worker/internal.h: what the files of this folder share.
 */
#ifndef BIFANG_PG_WORKER_INTERNAL_H
#define BIFANG_PG_WORKER_INTERNAL_H

#include "postgres.h"

#include "policy/policy.h"

#define BIFANG_LIBRARY "bifang_fdw"
#define BIFANG_NAME_MAX (3 * NAMEDATALEN)

/* A lake table that the worker looks after, through one of its foreign tables. */
typedef struct BifangSubject
{
	int64 table_id; /* 0: the database */
	Oid relid;
	char name[BIFANG_NAME_MAX]; /* of the foreign table, for messages */
	/* Of the lake table, palloc'd in the survey's context. */
	const char *uuid;
	const char *catalog;
	const char *ns;
	const char *table;
	bool lags;			 /* the lake is further behind than it may be */
	int32 look_failures; /* looks that failed, in a row */
	int64 next_look;	 /* not before, after such ones */
} BifangSubject;

/* Subjects and what policy/ knows of them, side by side. The first is the database. */
typedef struct BifangSurvey
{
	MemoryContext cxt;
	int32 n;
	int32 n_max;
	BifangSubject *subjects;
	BfPolicyTable *tables;
} BifangSurvey;

/* survey.c */

/* Looks at all tables anew; what is remembered of runs comes from `old`, and from the database when
 * there is none. Palloc'd in `cxt`. False: there is no extension to work for. */
extern bool
bifang_survey(MemoryContext cxt, const BifangSurvey *old, BifangSurvey *out, void (*between)(void));
/* Looks at one of them again. */
extern void bifang_survey_again(BifangSurvey *s, int32 i);

/* database.c */

/* Is it being dropped, renamed, moved or copied, which waits until nobody is connected to it? */
extern bool bifang_database_is_wanted(Oid database);

/* step.c */

/* Calls `work` in a transaction of its own. What it raises is logged and returned, palloc'd in the
 * current context; NULL: nothing. */
typedef void (*BifangWorkFn)(void *arg);
extern char *bifang_in_transaction(BifangWorkFn work, void *arg, const char *activity);
/* As the owner of a relation, with no rights beyond his, until the transaction ends or the id and
 * context that are returned are set again. */
typedef struct BifangIdentitySwitch
{
	Oid user;
	int context;
} BifangIdentitySwitch;
extern BifangIdentitySwitch bifang_become_owner(Oid relid);
extern void bifang_become_again(BifangIdentitySwitch before);
/* Writes into bifang.job that something failed, which is tried again at that time. */
extern void bifang_tell_failure(const BifangSubject *b, const char *kind, const char *error,
								int32 failures, int64 started, int64 retry_at);

/* run.c */

/* Does the job; what came of it is in the survey and the database. */
extern void bifang_run_job(BifangSurvey *s, int32 i, BfJobKind job);

#endif
