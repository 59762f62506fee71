/*
 * pg/scan/learned.c: see learned.h.
 */
#include "pg/scan/learned.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "parquet/prune.h"

/* As many as writers put into a row group by default, or less. */
#define GROUP_ROWS 131072.0
/* Pages of several columns don't end together: what has to be decoded for a row, about. */
#define PAGE_ROWS 20000.0

#define TABLES_MAX 1000
/* Of a file, and in all; they are alike. */
#define GROUPS_MAX 64
#define GROUPS_ENOUGH 256

typedef struct Learned
{
	Oid relid;
	double rows;
	double groups;
	double indexed; /* of them: with a page index */
} Learned;

static HTAB *tables;

void
bifang_learned_file(Oid relid, const BfParquetFile *file)
{
	int32 n = Min(bf_parquet_n_row_groups(file), GROUPS_MAX);
	Learned *t;
	bool found;

	if (tables == NULL)
	{
		HASHCTL how = {.keysize = sizeof(Oid), .entrysize = sizeof(Learned)};

		tables = hash_create("bifang: files of tables", 64, &how, HASH_ELEM | HASH_BLOBS);
	}
	if (hash_get_num_entries(tables) >= TABLES_MAX &&
		hash_search(tables, &relid, HASH_FIND, NULL) == NULL)
		return;
	t = hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
		*t = (Learned){.relid = relid};
	if (t->groups >= GROUPS_ENOUGH)
		return;
	for (int32 i = 0; i < n; i++)
	{
		t->rows += (double) bf_parquet_row_group_rows(file, i);
		t->groups += 1;
		t->indexed += bf_parquet_row_group_indexed(file, i);
	}
	Assert(t->indexed <= t->groups);
}

double
bifang_learned_unit_rows(Oid relid)
{
	const Learned *t = tables == NULL ? NULL : hash_search(tables, &relid, HASH_FIND, NULL);
	double rows;

	if (t == NULL || t->groups == 0)
		return GROUP_ROWS;
	rows = t->rows / t->groups;
	return rows + (Min(rows, PAGE_ROWS) - rows) * (t->indexed / t->groups);
}
