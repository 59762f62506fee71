/*
 * pg/server/settings.c: see settings.h.
 */
#include "pg/server/settings.h"

#include <limits.h>

#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "vec/pred.h"

/* What they are without a configuration is said in the table. */
bool bifang_create_on_ddl;
bool bifang_enable_header_walk;
bool bifang_planner_statistics;
char *bifang_as_of_snapshot;
char *bifang_as_of_timestamp;
char *bifang_ref;
int bifang_ledger_kb_max;
int bifang_tail_kb;
int bifang_metadata_cache_kb;
int bifang_footer_cache_kb;
int bifang_page_cache_kb;
int bifang_rescan_kb;
int bifang_garbage_grace_s;
bool bifang_worker;
int bifang_worker_naptime_s;
int bifang_worker_launch_interval_s;
int bifang_worker_settle_age_s;
int bifang_worker_roll_age_s;
int bifang_worker_commit_age_s;
int bifang_worker_optimize_age_s;
int bifang_worker_commit_kb;
int bifang_worker_expire_age_s;
int bifang_worker_garbage_interval_s;
int bifang_worker_history_s;
int bifang_lag_kb_max;
int bifang_lag_rows_max;
int bifang_lag_age_max_s;
char *bifang_lag_action;

static bool prune_partitions;
static bool prune_manifests;
static bool prune_row_groups;
static bool prune_pages;
static bool prune_bloom;
static bool prune_dictionaries;
static bool prune_late;

/* The one of flag, kb and text that is given says what type the setting has. */
typedef struct Setting
{
	const char *name;
	const char *about;
	const char *more; /* a second sentence, or NULL */
	bool *flag;
	bool on;
	int *kb; /* a size in units of 1024 bytes, or of seconds */
	bool seconds;
	bool plain;		   /* a number without a unit */
	bool administered; /* by superusers alone */
	bool configured;   /* in the configuration alone, for processes that no session starts */
	int size;
	int least;
	int most;
	char **text;
	const char *initial;	  /* NULL = "" */
	GucStringCheckHook check; /* of the text, or NULL */
	uint32 prune; /* BF_PRUNE_... that the flag stands for; results never depend on it */
} Setting;

#define FLAG(variable, initial) .flag = &(variable), .on = (initial)
#define KB(variable, initial, low, high) \
	.kb = &(variable), .size = (initial), .least = (low), .most = (high)
#define SECONDS(variable, initial) \
	.kb = &(variable), .size = (initial), .least = 0, .most = INT_MAX, .seconds = true
#define WORKER_SECONDS(variable, initial, low)                                              \
	.kb = &(variable), .size = (initial), .least = (low), .most = INT_MAX, .seconds = true, \
	.configured = true
#define TEXT(variable, checked) .text = &(variable), .check = (checked)
#define ROWS(variable) \
	.kb = &(variable), .least = 0, .most = INT_MAX, .plain = true, .administered = true
#define PRUNES(variable, bit) .flag = &(variable), .on = true, .prune = (bit)

/* What is set is looked at in configuration files too, at a start and without a transaction: these
 * say no and raise nothing, where the types' own functions raise. */

static bool
check_snapshot(char **value, void **extra, GucSource source)
{
	const char *from = *value;
	char *end;

	(void) extra;
	(void) source;
	if (from[0] == '\0')
		return true;
	errno = 0;
	(void) strtoi64(from, &end, 10);
	if (end == from || errno != 0 || end[strspn(end, " \t\n")] != '\0')
	{
		GUC_check_errdetail("A snapshot is named by its number, a bigint.");
		return false;
	}
	return true;
}

static bool
check_lag_action(char **value, void **extra, GucSource source)
{
	static const char *const words[] = {"warn", "wait", "error"};

	(void) extra;
	(void) source;
	for (int i = 0; i < (int) lengthof(words); i++)
		if (strcmp(*value, words[i]) == 0)
			return true;
	GUC_check_errdetail("It is \"warn\", \"wait\" or \"error\".");
	return false;
}

/* As of words like "now" and "yesterday" only that they are such: when it is read they are a time.
 */
static bool
is_timestamp(const char *text)
{
	char fields_text[MAXDATELEN + MAXDATEFIELDS];
	char *field[MAXDATEFIELDS];
	int ftype[MAXDATEFIELDS];
	int n, kind, zone;
	struct pg_tm tm;
	fsec_t fsec;
	TimestampTz t;
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra why;
#endif

	if (ParseDateTime(text, fields_text, sizeof fields_text, field, ftype, MAXDATEFIELDS, &n) != 0)
		return false;
#if PG_VERSION_NUM >= 160000
	if (DecodeDateTime(field, ftype, n, &kind, &tm, &fsec, &zone, &why) != 0)
#else
	if (DecodeDateTime(field, ftype, n, &kind, &tm, &fsec, &zone) != 0)
#endif
		return false;
	return kind != DTK_DATE || tm2timestamp(&tm, fsec, &zone, &t) == 0;
}

static bool
check_timestamp(char **value, void **extra, GucSource source)
{
	(void) extra;
	(void) source;
	if ((*value)[0] == '\0' || is_timestamp(*value))
		return true;
	GUC_check_errdetail("It is read as a value of type timestamp with time zone.");
	return false;
}

static const Setting settings[] = {
	{"bifang.create_on_ddl",
	 "CREATE FOREIGN TABLE makes the lake table when the catalog has none, ALTER changes its "
	 "columns.",
	 "Switched off when a dump is restored over an existing catalog.",
	 FLAG(bifang_create_on_ddl, true)},
	{"bifang.as_of_snapshot", "Snapshot that lake tables are read at, by number.",
	 "Tables whose options say something else are not affected.",
	 TEXT(bifang_as_of_snapshot, check_snapshot)},
	{"bifang.as_of_timestamp", "Time as of which lake tables are read.",
	 "Tables whose options say something else are not affected.",
	 TEXT(bifang_as_of_timestamp, check_timestamp)},
	{"bifang.ref", "Branch or tag that lake tables are read at.",
	 "Tables whose options say something else are not affected.", TEXT(bifang_ref, NULL)},
	{"bifang.metadata_cache", "Memory that a backend may use to keep decoded manifests.", NULL,
	 KB(bifang_metadata_cache_kb, 262144, 0, MAX_KILOBYTES)},
	{"bifang.footer_cache", "Memory that a backend may use to keep footers of Parquet files.", NULL,
	 KB(bifang_footer_cache_kb, 32768, 0, MAX_KILOBYTES)},
	{"bifang.page_cache",
	 "Memory that a backend may use to keep decompressed pages of scans that stopped early.",
	 "Of Parquet files whose footers are kept; 0 keeps nothing.",
	 KB(bifang_page_cache_kb, 16384, 0, MAX_KILOBYTES)},
	{"bifang.rescan_memory",
	 "Memory that a backend may use to keep decoded rows of scans that run again.",
	 "Inner sides of nested loops and correlated subqueries; 0 keeps nothing.",
	 KB(bifang_rescan_kb, 262144, 0, MAX_KILOBYTES)},
	{"bifang.planner_statistics",
	 "Plans tables that were not analyzed with what their files say of columns.",
	 "NULLs, bounds, widths and numbers of different values, as far as they are known without "
	 "reading anything.",
	 FLAG(bifang_planner_statistics, true)},
	{"bifang.ledger_size_max", "Size at which a ledger is closed and rows go to another one.",
	 "A statement is not split: its rows stay in one ledger.",
	 KB(bifang_ledger_kb_max, 131072, 64, INT_MAX / 2)},
	{"bifang.tail_limit",
	 "Size up to which a transaction's rows are kept in bifang.tail until larger ones come.",
	 "They cost no more than PostgreSQL's own commit; 0 writes all rows to files at once.",
	 KB(bifang_tail_kb, 0, 0, 65536)},
	{"bifang.garbage_grace",
	 "Age at which files of commits that never came about, or have expired, are queued by "
	 "remove_garbage(), and time that they wait then.",
	 "Other engines write the files of a commit before the catalog shows it, and they, and "
	 "standbys, read for a while what has expired.",
	 SECONDS(bifang_garbage_grace_s, 3 * 24 * 3600)},
	{"bifang.worker", "Background workers look after tables.",
	 "They need shared_preload_libraries = 'bifang_fdw', or a call of bifang.start_worker().",
	 FLAG(bifang_worker, true), .configured = true},
	{"bifang.worker_naptime", "Time between two looks of a background worker at its tables.",
	 "A job of a table runs no more often; one that fails waits twice as long each time.",
	 WORKER_SECONDS(bifang_worker_naptime_s, 10, 1)},
	{"bifang.worker_launch_interval",
	 "Time after which a database without a background worker is looked at again.", NULL,
	 WORKER_SECONDS(bifang_worker_launch_interval_s, 60, 1)},
	{"bifang.worker_settle_age",
	 "Age at which rows of small transactions go from bifang.tail to files.", NULL,
	 WORKER_SECONDS(bifang_worker_settle_age_s, 60, 0)},
	{"bifang.worker_roll_age", "Age at which the background worker closes open ledgers.",
	 "Fuller ones than bifang.ledger_size_max are closed at once.",
	 WORKER_SECONDS(bifang_worker_roll_age_s, 600, 0)},
	{"bifang.worker_commit_age", "Age at which rows are committed to the lake.", NULL,
	 WORKER_SECONDS(bifang_worker_commit_age_s, 300, 0)},
	{"bifang.worker_optimize_age", "Age at which committed rows become Parquet.",
	 "Counted from their commit. They do so earlier where they are 128 MiB.",
	 WORKER_SECONDS(bifang_worker_optimize_age_s, 3600, 0)},
	{"bifang.worker_commit_size", "Size at which rows are committed to the lake, however young.",
	 NULL, KB(bifang_worker_commit_kb, 65536, 0, MAX_KILOBYTES), .configured = true},
	{"bifang.worker_expire_age", "Time that snapshots stay which could expire.",
	 "Those that the table's properties history.expire.* keep, five days without, never go.",
	 WORKER_SECONDS(bifang_worker_expire_age_s, 3600, 0)},
	{"bifang.worker_garbage_interval", "Time between two runs of remove_garbage().", NULL,
	 WORKER_SECONDS(bifang_worker_garbage_interval_s, 600, 1)},
	{"bifang.worker_history", "Age at which the background worker forgets jobs of bifang.jobs.",
	 NULL, WORKER_SECONDS(bifang_worker_history_s, 30 * 24 * 3600, 0)},
	{"bifang.lag_rows_max", "Rows that a table may have which are not in the lake yet.",
	 "0 means no limit. What happens beyond it says bifang.lag_action.", ROWS(bifang_lag_rows_max)},
	{"bifang.lag_size_max", "Size that rows may have which are not in the lake yet.",
	 "0 means no limit.", KB(bifang_lag_kb_max, 0, 0, MAX_KILOBYTES), .administered = true},
	{"bifang.lag_age_max", "Age that rows may have which are not in the lake yet.",
	 "0 means no limit.", SECONDS(bifang_lag_age_max_s, 0)},
	{"bifang.lag_action", "What INSERT does where the lake is too far behind: warn, wait or error.",
	 "With wait it goes on once the lake has caught up.", TEXT(bifang_lag_action, check_lag_action),
	 .initial = "warn", .administered = true},
	{"bifang.enable_partition_pruning", "Leaves out files by their partition values.", NULL,
	 PRUNES(prune_partitions, BF_PRUNE_PARTITION)},
	{"bifang.enable_manifest_pruning",
	 "Leaves out manifests by their summaries and files by the bounds of their columns.", NULL,
	 PRUNES(prune_manifests, BF_PRUNE_MANIFEST)},
	{"bifang.enable_row_group_pruning",
	 "Leaves out row groups, and blocks of offload files, by their statistics, and what came too "
	 "early to live ledgers by time indexes.",
	 NULL, PRUNES(prune_row_groups, BF_PRUNE_ROW_GROUP)},
	{"bifang.enable_page_pruning", "Leaves out pages by the page index.", NULL,
	 PRUNES(prune_pages, BF_PRUNE_PAGE)},
	{"bifang.enable_bloom_pruning", "Leaves out row groups by their Bloom filters.", NULL,
	 PRUNES(prune_bloom, BF_PRUNE_BLOOM)},
	{"bifang.enable_dictionary_pruning", "Leaves out row groups by their dictionaries.", NULL,
	 PRUNES(prune_dictionaries, BF_PRUNE_DICTIONARY)},
	{"bifang.enable_late_materialization",
	 "Reads columns that no predicate needs only where rows match.", NULL,
	 PRUNES(prune_late, BF_PRUNE_LATE)},
	{"bifang.enable_header_walk",
	 "Looks for the end of a Kafka log and for open transactions in the headers of its batches.",
	 "Switched off, all of the batches are read and their checksums are looked at.",
	 FLAG(bifang_enable_header_walk, true)},
};

uint32
bifang_prune_flags(void)
{
	uint32 flags = 0;

	for (int i = 0; i < (int) lengthof(settings); i++)
		if (settings[i].prune != 0 && *settings[i].flag)
			flags |= settings[i].prune;
	return flags;
}

bool
bifang_session_restores_dump(void)
{
	const char *check_bodies = GetConfigOption("check_function_bodies", true, false);
	const char *row_security = GetConfigOption("row_security", true, false);
	const char *search_path = GetConfigOption("search_path", true, false);

	return check_bodies != NULL && strcmp(check_bodies, "off") == 0 && row_security != NULL &&
		   strcmp(row_security, "off") == 0 && search_path != NULL &&
		   (search_path[0] == '\0' || strcmp(search_path, "\"\"") == 0);
}

void
bifang_settings_define(void)
{
	for (int i = 0; i < (int) lengthof(settings); i++)
	{
		const Setting *s = &settings[i];

		GucContext who = s->configured					 ? PGC_SIGHUP
						 : s->seconds || s->administered ? PGC_SUSET
														 : PGC_USERSET;

		Assert((s->flag != NULL) + (s->kb != NULL) + (s->text != NULL) == 1);
		if (s->flag != NULL)
			DefineCustomBoolVariable(s->name, s->about, s->more, s->flag, s->on, who,
									 s->prune != 0 ? GUC_EXPLAIN : 0, NULL, NULL, NULL);
		else if (s->kb != NULL)
			DefineCustomIntVariable(s->name, s->about, s->more, s->kb, s->size, s->least, s->most,
									who,
									s->plain	 ? 0
									: s->seconds ? GUC_UNIT_S
												 : GUC_UNIT_KB,
									NULL, NULL, NULL);
		else
			DefineCustomStringVariable(s->name, s->about, s->more, s->text,
									   s->initial != NULL ? s->initial : "", who, 0, s->check, NULL,
									   NULL);
	}
	MarkGUCPrefixReserved("bifang");
}
