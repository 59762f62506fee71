/*
 * pg/server/settings.c: see settings.h.
 */
#include "pg/server/settings.h"

#include <limits.h>

#include "utils/guc.h"

#include "vec/pred.h"

bool bifang_create_on_ddl = true;
char *bifang_as_of_snapshot = NULL;
char *bifang_as_of_timestamp = NULL;
char *bifang_ref = NULL;
int bifang_ledger_kb_max = 131072;
int bifang_metadata_cache_kb = 262144;
int bifang_footer_cache_kb = 32768;

/* One setting per level at which rows are left out; results never depend on them. */
static struct
{
	const char *name;
	const char *about;
	uint32 flag;
	bool on;
} prune_settings[] = {
	{"bifang.enable_partition_pruning", "Leaves out files by their partition values.",
	 BF_PRUNE_PARTITION, true},
	{"bifang.enable_manifest_pruning",
	 "Leaves out manifests by their summaries and files by the bounds of their columns.",
	 BF_PRUNE_MANIFEST, true},
	{"bifang.enable_row_group_pruning", "Leaves out row groups by their statistics.",
	 BF_PRUNE_ROW_GROUP, true},
	{"bifang.enable_page_pruning", "Leaves out pages by the page index.", BF_PRUNE_PAGE, true},
	{"bifang.enable_bloom_pruning", "Leaves out row groups by their Bloom filters.", BF_PRUNE_BLOOM,
	 true},
	{"bifang.enable_dictionary_pruning", "Leaves out row groups by their dictionaries.",
	 BF_PRUNE_DICTIONARY, true},
	{"bifang.enable_late_materialization",
	 "Reads columns that no predicate needs only where rows match.", BF_PRUNE_LATE, true},
};

uint32
bifang_prune_flags(void)
{
	uint32 flags = 0;

	for (int i = 0; i < (int) lengthof(prune_settings); i++)
		if (prune_settings[i].on)
			flags |= prune_settings[i].flag;
	return flags;
}

void
bifang_settings_define(void)
{
	DefineCustomBoolVariable("bifang.create_on_ddl",
							 "CREATE FOREIGN TABLE makes the lake table when the catalog has none.",
							 "Switched off when a dump is restored over an existing catalog.",
							 &bifang_create_on_ddl, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("bifang.as_of_snapshot",
							   "Snapshot that lake tables are read at, by number.",
							   "Tables whose options say something else are not affected.",
							   &bifang_as_of_snapshot, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("bifang.as_of_timestamp", "Time as of which lake tables are read.",
							   "Tables whose options say something else are not affected.",
							   &bifang_as_of_timestamp, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("bifang.ref", "Branch or tag that lake tables are read at.",
							   "Tables whose options say something else are not affected.",
							   &bifang_ref, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("bifang.metadata_cache",
							"Memory that a backend may use to keep decoded manifests.", NULL,
							&bifang_metadata_cache_kb, 262144, 0, MAX_KILOBYTES, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("bifang.footer_cache",
							"Memory that a backend may use to keep footers of Parquet files.", NULL,
							&bifang_footer_cache_kb, 32768, 0, MAX_KILOBYTES, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	for (int i = 0; i < (int) lengthof(prune_settings); i++)
		DefineCustomBoolVariable(prune_settings[i].name, prune_settings[i].about, NULL,
								 &prune_settings[i].on, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL,
								 NULL);
	DefineCustomIntVariable(
		"bifang.ledger_size_max", "Size at which a ledger is closed and rows go to another one.",
		"A statement is not split: its rows stay in one ledger.", &bifang_ledger_kb_max, 131072, 64,
		INT_MAX / 2, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	MarkGUCPrefixReserved("bifang");
}
