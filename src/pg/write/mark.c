/*
 * pg/write/mark.c: see mark.h.
 */
#include "pg/write/mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/ascii.h"
#include "io/publish.h"
#include "io/source.h"
#include "pg/catalog/identity.h"
#include "pg/catalog/ledgers.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

#define MARK_BYTES_MAX 8192

/* A file that initdb makes and nobody writes again: whoever copies the data directory makes another
 * one. The time of its birth besides, where the file system tells it: inodes of two file systems
 * that were filled alike may be the same. */
const char *
bifang_mark_identity(void)
{
	static char text[64];
	char path[MAXPGPATH];
	struct statx st;

	if (text[0] != '\0')
		return text;
	snprintf(path, sizeof path, "%s/PG_VERSION", DataDir);
	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not stat file \"%s\": %m", path)));
	if ((st.stx_mask & STATX_BTIME) == 0)
		st.stx_btime = (struct statx_timestamp){0};
	snprintf(text, sizeof text, "%llu-%lld.%09u", (unsigned long long) st.stx_ino,
			 (long long) st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
	return text;
}

/* Writing ------------------------------------------------------------------------------------- */

static void
append_line(StringInfo text, const char *key, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	appendStringInfo(text, "%s ", key);
	for (const char *p = value; *p != '\0'; p++)
		if (*p == '%' || *p == '\n')
			appendStringInfo(text, "%%%02X", (unsigned int) *p);
		else
			appendStringInfoChar(text, *p);
	appendStringInfoChar(text, '\n');
}

char *
bifang_mark_text(const BifangMark *m)
{
	StringInfoData text;

	Assert(m->uuid[0] != '\0' && strchr(m->uuid, '\n') == NULL && strchr(m->origin, '/') != NULL);
	initStringInfo(&text);
	appendStringInfo(&text, "%s\n%s\n%s\n", m->uuid, m->origin, m->identity);
	append_line(&text, "catalog", m->catalog_id);
	append_line(&text, "namespace", m->ns);
	append_line(&text, "name", m->name);
	if (m->end.entry >= 0)
		appendStringInfo(&text, "end " INT64_FORMAT " " INT64_FORMAT " " INT64_FORMAT "\n",
						 m->end.entry, m->end.segment, m->end.position);
	append_line(&text, "lost", m->lost);
	append_line(&text, "metadata", m->metadata);
	return text.data;
}

BifangMark
bifang_mark_ours(const char *uuid, const char *ns, const char *name)
{
	return (BifangMark){.uuid = uuid,
						.origin = bifang_catalog_origin(),
						.identity = bifang_mark_identity(),
						.catalog_id = bifang_catalog_id(),
						.ns = bifang_to_utf8(ns),
						.name = bifang_to_utf8(name),
						.end = {.entry = -1},
						.lost = "",
						.metadata = ""};
}

void
bifang_mark_write(const char *dir, const BifangMark *m)
{
	const BfHost *host = bifang_host();
	BfArena *arena = bifang_arena(CurrentMemoryContext, "mark", BIFANG_ARENA_MAX_METADATA);
	char *path = psprintf("%s/" BIFANG_OWNER_FILE, dir);
	char *text = bifang_mark_text(m);
	BfPathInfo info;
	BfError err = {0};

	BIFANG_CHECK(host->stat(host, dir, &info, &err), &err);
	if (info.kind == BF_PATH_DIR)
	{
		BIFANG_CHECK(host->unlink(host, path, &err), &err);
		BIFANG_CHECK(bf_publish_bytes(arena, path, text, strlen(text), &err), &err);
	}
	bifang_arena_free(arena);
}

/* Numbers ------------------------------------------------------------------------------------- */

static char *
last_ledger_path(void)
{
	return psprintf("%s/bifang/live/%u/last", DataDir, MyDatabaseId);
}

int64
bifang_mark_last_ledger(void)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "last", BIFANG_ARENA_MAX_METADATA);
	BfError err = {0};
	BfView bytes;
	int64 id = 0;
	BfStatus status =
		bf_source_read_all(arena, last_ledger_path(), MARK_BYTES_MAX, NULL, &bytes, &err);

	if (status == BF_OK)
		id = strtoi64(pnstrdup((const char *) bytes.ptr, bytes.len), NULL, 10);
	else if (status != BF_ERR_NOTFOUND)
		bifang_report(&err);
	bifang_arena_free(arena);
	return Max(id, 0);
}

void
bifang_mark_set_last_ledger(int64 id)
{
	const BfHost *host = bifang_host();
	BfArena *arena = bifang_arena(CurrentMemoryContext, "last", BIFANG_ARENA_MAX_METADATA);
	char *text = psprintf(INT64_FORMAT "\n", id);
	BfError err = {0};

	BIFANG_CHECK(host->unlink(host, last_ledger_path(), &err), &err);
	BIFANG_CHECK(bf_publish_bytes(arena, last_ledger_path(), text, strlen(text), &err), &err);
	bifang_arena_free(arena);
}

/* Reading ------------------------------------------------------------------------------------- */

/* Cuts a line off the text; NULL at its end. */
static char *
next_line(char **text)
{
	char *line = *text;
	char *end = line != NULL ? strchr(line, '\n') : NULL;

	if (end == NULL)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

static const char *
decoded(const char *value)
{
	StringInfoData text;

	initStringInfo(&text);
	for (; *value != '\0'; value++)
		if (strncmp(value, "%25", 3) == 0 || strncmp(value, "%0A", 3) == 0)
		{
			appendStringInfoChar(&text, value[1] == '2' ? '%' : '\n');
			value += 2;
		}
		else
			appendStringInfoChar(&text, *value);
	return text.data;
}

/* Three numbers; anything else is not an end. */
static void
take_end(BifangMark *m, const char *text)
{
	BfLedgerEnd end;
	int64_t *const numbers[] = {&end.entry, &end.segment, &end.position};

	for (int i = 0; i < 3; i++)
	{
		size_t digits = bf_ascii_number(text, strlen(text), PG_INT64_MAX, numbers[i]);

		if (digits == 0 || *numbers[i] < 0 || text[digits] != (i < 2 ? ' ' : '\0'))
			return;
		text += digits + 1;
	}
	if (end.entry >= end.segment)
		m->end = end;
}

static void
take_line(BifangMark *m, const char *line)
{
	if (strncmp(line, "end ", 4) == 0)
		take_end(m, line + 4);
	else if (strncmp(line, "lost ", 5) == 0)
		m->lost = decoded(line + 5);
	else if (strncmp(line, "metadata ", 9) == 0)
		m->metadata = decoded(line + 9);
	else if (strncmp(line, "catalog ", 8) == 0)
		m->catalog_id = decoded(line + 8);
	else if (strncmp(line, "namespace ", 10) == 0)
		m->ns = decoded(line + 10);
	else if (strncmp(line, "name ", 5) == 0)
		m->name = decoded(line + 5);
}

BifangMarkState
bifang_mark_read(const char *dir, BifangMark *out)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "mark", BIFANG_ARENA_MAX_METADATA);
	char *text = NULL;
	char *line;
	BfError err = {0};
	BfView bytes;
	BfStatus status = bf_source_read_all(arena, psprintf("%s/" BIFANG_OWNER_FILE, dir),
										 MARK_BYTES_MAX, NULL, &bytes, &err);

	*out = (BifangMark){
		.catalog_id = "", .ns = "", .name = "", .end = {.entry = -1}, .lost = "", .metadata = ""};
	if (status == BF_OK)
		text = pnstrdup((const char *) bytes.ptr, bytes.len);
	bifang_arena_free(arena);
	if (status == BF_ERR_CANCEL)
		bifang_report(&err);
	if (status != BF_OK)
		return status == BF_ERR_NOTFOUND ? BIFANG_MARK_NONE : BIFANG_MARK_UNREADABLE;
	out->uuid = next_line(&text);
	out->origin = next_line(&text);
	out->identity = next_line(&text);
	if (out->identity == NULL)
		return BIFANG_MARK_NONE;
	while ((line = next_line(&text)) != NULL)
		take_line(out, line);
	return BIFANG_MARK_READ;
}
