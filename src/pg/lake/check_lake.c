/*
 * pg/lake/check_lake.c: the part of bifang.check() that looks at what the lake names.
 *
 * Files come by one at a time (iceberg/audit.h). What is wrong with one is written down meanwhile
 * and told afterwards, since no error may be raised out of the core.
 */
#include "pg/lake/check.h"

#include "miscadmin.h"

#include "pg/server/error.h"
#include "pg/server/host.h"

typedef struct Trouble
{
	int64 ledger_id; /* that the file names and nobody knows; -1 = a file of rows or deletes */
	bool deletes;
	int64 size; /* -1 = it does not exist */
	int64 said;
	size_t path; /* where it begins in the paths */
} Trouble;

typedef struct Look
{
	BifangCheck *check;
	BfBuffer *troubles; /* Trouble */
	BfBuffer *paths;	/* NUL-terminated */
} Look;

/* Files --------------------------------------------------------------------------------------- */

static BfStatus
write_down(Look *l, Trouble t, const char *path, BfError *err)
{
	t.path = l->paths->len;
	BF_TRY(bf_buffer_append(l->paths, path, strlen(path) + 1, err));
	return bf_buffer_append(l->troubles, &t, sizeof t, err);
}

/* What Parquet has needs its ledger no more. */
static BfStatus
look_at_logical(Look *l, const BfIceAuditFile *f, BfError *err)
{
	BifangCheck *c = l->check;
	BfRangeSet rest;

	if (bifang_check_ledger(c, f->log->ledger_id) != NULL)
		return BF_OK;
	bf_arena_reset(c->scratch);
	BF_TRY(bf_rangeset_subtract(c->scratch, &f->log->ranges,
								bf_coverage_of(&c->lake.parquet, f->log->ledger_id), &rest, err));
	if (rest.n == 0)
		return BF_OK;
	return write_down(l, (Trouble){.ledger_id = f->log->ledger_id}, f->path, err);
}

static BfStatus
look_at(void *arg, const BfIceAuditFile *f, BfError *err)
{
	const BfHost *host = bifang_host();
	Look *l = arg;
	Trouble t = {.ledger_id = -1, .deletes = f->content != BF_ICE_DATA, .said = f->file_size};
	BfPathInfo info;

	if (f->log != NULL)
		return look_at_logical(l, f, err);
	BF_TRY(host->stat(host, f->path, &info, err));
	t.size = info.kind == BF_PATH_FILE ? info.size : -1;
	if (t.size >= 0 && (f->file_size <= 0 || info.size == f->file_size))
		return BF_OK;
	return write_down(l, t, f->path, err);
}

static void
tell(const Look *l)
{
	const Trouble *troubles = (const void *) l->troubles->data;
	size_t n = l->troubles->len / sizeof *troubles;

	for (size_t i = 0; i < n; i++)
	{
		const Trouble *t = &troubles[i];
		const char *path = (const char *) l->paths->data + t->path;
		const char *subject = t->deletes ? "delete file" : "data file";

		Assert(t->path < l->paths->len);
		if (t->ledger_id >= 0)
			bifang_check_found(l->check, "error", bifang_check_ledger_name(t->ledger_id),
							   "dangling: named by \"%s\" but not a ledger of this database", path);
		else if (t->size < 0)
			bifang_check_found(l->check, "error", subject, "lost: \"%s\" does not exist", path);
		else
			bifang_check_found(l->check, "error", subject,
							   "lost: \"%s\" has " INT64_FORMAT
							   " bytes, the manifest says " INT64_FORMAT,
							   path, t->size, t->said);
	}
}

static void
check_files(BifangCheck *c)
{
	Look l = {.check = c};
	BfError err = {0};

	BIFANG_CHECK(bf_buffer_new(c->arena, BIFANG_ARENA_MAX_METADATA, &l.troubles, &err), &err);
	BIFANG_CHECK(bf_buffer_new(c->arena, BIFANG_ARENA_MAX_METADATA, &l.paths, &err), &err);
	BIFANG_CHECK(bf_ice_audit(c->arena, c->t.ice, look_at, &l, &c->lake, &err), &err);
	tell(&l);
	if (c->lake.n_doubled > 0)
		bifang_check_found(c, "error", "data file",
						   "overlap: \"%s\" is named twice; there are " INT64_FORMAT " such names",
						   c->lake.doubled, c->lake.n_doubled);
}

/* Entries ------------------------------------------------------------------------------------- */

static BfRangeSet
without(BifangCheck *c, const BfRangeSet *x, const BfRangeSet *y)
{
	BfRangeSet rest;
	BfError err = {0};

	BIFANG_CHECK(bf_rangeset_subtract(c->scratch, x, y, &rest, &err), &err);
	return rest;
}

/* Twice by logical files. Those that Parquet has too are read from Parquet alone. */
static void
check_twice(BifangCheck *c)
{
	for (int32_t i = 0; i < c->lake.twice.n; i++)
		bifang_check_found(c, "error", bifang_check_ledger_name(c->lake.twice.items[i].ledger_id),
						   "overlap: entries %s are named by two logical files",
						   bifang_check_ranges_text(&c->lake.twice.items[i].ranges));
}

static void
check_beyond(BifangCheck *c, const BifangLedger *l, const BfRangeSet *covered)
{
	BfRange all = {0, l->end_entry - 1};
	BfRangeSet have = {l->end_entry > 0 ? 1 : 0, &all};
	BfRangeSet beyond = without(c, covered, &have);

	Assert(l->end_entry >= 0);
	if (beyond.n > 0)
		bifang_check_found(c, "error", bifang_check_ledger_name(l->id),
						   "beyond: entries %s are covered but the end is " INT64_FORMAT,
						   bifang_check_ranges_text(&beyond), l->end_entry);
}

/* What is in Parquet needs its ledger no more. */
static void
check_known(BifangCheck *c, int64 id, const BfRangeSet *covered)
{
	BfRangeSet rest = without(c, covered, bf_coverage_of(&c->lake.parquet, id));

	if (rest.n > 0)
		bifang_check_found(
			c, "error", bifang_check_ledger_name(id),
			"dangling: entries %s are covered but it is not a ledger of this database",
			bifang_check_ranges_text(&rest));
}

static void
check_coverage(BifangCheck *c)
{
	const BfCoverage *covered = &c->lake.covered;

	for (int32_t i = 0; i < covered->n; i++)
	{
		int64 id = covered->items[i].ledger_id;
		const BifangLedger *l = bifang_check_ledger(c, id);

		CHECK_FOR_INTERRUPTS();
		bf_arena_reset(c->scratch);
		if (l != NULL)
			check_beyond(c, l, &covered->items[i].ranges);
		else
			check_known(c, id, &covered->items[i].ranges);
	}
}

void
bifang_check_lake(BifangCheck *c)
{
	check_files(c);
	check_twice(c);
	check_coverage(c);
}
