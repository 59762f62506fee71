/*
 * Finding and loading a table's metadata.
 *
 * Three namings live in the wild: v12.metadata.json (file-system tables, with a version hint),
 * 00012-<uuid>.metadata.json (tables of a catalog) and v<epoch seconds>.metadata.json (exports);
 * each may be gzipped under two spellings.
 */
#include "iceberg/table.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "iceberg/internal.h"

#define HINT_BYTES_MAX 256
#define NAME_MAX_BYTES 256
#define VERSION_DIGITS_MAX 18

static const char *const suffixes[] = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};

#define N_SUFFIXES (sizeof suffixes / sizeof suffixes[0])

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static bool
is_metadata_name(const char *name)
{
	return name[0] != '.' && (ends_with(name, ".metadata.json") || ends_with(name, suffixes[2]));
}

/* The number in a metadata file's name, -1 when it has none. */
int64_t
bfi_metadata_version(const char *name)
{
	const char *p = name[0] == 'v' ? name + 1 : name;
	int64_t version;
	size_t digits = bf_ascii_number(p, strlen(p), INT64_MAX, &version);

	BF_ASSERT(strchr(name, '/') == NULL);
	p += digits;
	if (digits == 0 || digits > VERSION_DIGITS_MAX || !is_metadata_name(name))
		return -1;
	if (*p == '-')
		return name[0] != 'v' ? version : -1;
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (strcmp(p, suffixes[i]) == 0)
			return version;
	return -1;
}

/* <dir>/<stem><suffix>, the first that exists; *out = NULL when none does. */
static BfStatus
probe(BfArena *a, const char *dir, const char *stem, const char **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);

	*out = NULL;
	for (size_t i = 0; i < N_SUFFIXES; i++)
	{
		BfPathInfo info;
		const char *path;

		BF_TRY_PTR(a, path, bf_arena_printf(a, "%s/%s%s", dir, stem, suffixes[i]), err);
		BF_TRY(host->stat(host, path, &info, err));
		if (info.kind == BF_PATH_FILE)
		{
			*out = path;
			return BF_OK;
		}
	}
	return BF_OK;
}

static BfStatus
probe_version(BfArena *a, const char *dir, int64_t version, const char **out, BfError *err)
{
	BF_ASSERT(version >= 0);
	char stem[32];

	snprintf(stem, sizeof stem, "v%lld", (long long) version);
	return probe(a, dir, stem, out, err);
}

/* The hint's text, trimmed; "" when there is none or it can't be part of a file name. */
static BfStatus
read_hint(BfArena *a, const char *dir, char hint[HINT_BYTES_MAX + 1], BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	const char *path;
	BfPathInfo info;
	BfView text;
	size_t n = 0;

	hint[0] = '\0';
	BF_TRY_PTR(a, path, bf_arena_printf(a, "%s/version-hint.text", dir), err);
	BF_TRY(host->stat(host, path, &info, err));
	if (info.kind != BF_PATH_FILE || info.size > HINT_BYTES_MAX)
		return BF_OK;
	BF_TRY(bf_source_read_all(a, path, HINT_BYTES_MAX, NULL, &text, err));
	while (text.len > 0 && bf_ascii_space(text.ptr[text.len - 1]))
		text.len--;
	for (uint32_t i = 0; i < text.len; i++)
	{
		uint8_t c = text.ptr[i];

		if (n == 0 && bf_ascii_space(c))
			continue;
		if (!bf_ascii_letter(c) && !bf_ascii_digit(c) && c != '-' && c != '_' &&
			(c != '.' || n == 0))
		{
			hint[0] = '\0';
			return BF_OK;
		}
		hint[n++] = (char) c;
	}
	BF_ASSERT(n <= HINT_BYTES_MAX);
	hint[n] = '\0';
	return BF_OK;
}

/* What the hint names, and what follows it; *out = NULL when it names nothing. */
static BfStatus
follow_hint(BfArena *a, const char *dir, const char **out, BfError *err)
{
	char hint[HINT_BYTES_MAX + 1];
	const char *next;
	int64_t version;
	size_t digits;

	*out = NULL;
	BF_TRY(read_hint(a, dir, hint, err));
	if (hint[0] == '\0')
		return BF_OK;
	digits = bf_ascii_number(hint, strlen(hint), INT64_MAX, &version);
	if (hint[digits] != '\0' || digits > VERSION_DIGITS_MAX)
		return probe(a, dir, hint, out, err);
	BF_TRY(probe_version(a, dir, version, out, err));
	if (*out == NULL)
		return probe(a, dir, hint, out, err);
	for (;;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(probe_version(a, dir, ++version, &next, err));
		if (next == NULL)
			return BF_OK;
		*out = next;
	}
}

typedef struct Newest
{
	int64_t version;
	int32_t n_numbered; /* files with that version */
	int32_t n_other;	/* metadata files without a number */
	char name[NAME_MAX_BYTES];
	char second[NAME_MAX_BYTES];
} Newest;

static BfStatus
visit_name(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Newest *newest = arg;
	int64_t version = bfi_metadata_version(name);

	(void) err;
	if (kind != BF_PATH_FILE || strlen(name) >= NAME_MAX_BYTES || !is_metadata_name(name))
		return BF_OK;
	if (version < 0)
	{
		newest->n_other++;
		if (newest->n_numbered == 0)
			memcpy(newest->name, name, strlen(name) + 1);
	}
	else if (newest->n_numbered == 0 || version > newest->version)
	{
		newest->version = version;
		newest->n_numbered = 1;
		memcpy(newest->name, name, strlen(name) + 1);
	}
	else if (version == newest->version)
	{
		newest->n_numbered++;
		memcpy(newest->second, name, strlen(name) + 1);
	}
	return BF_OK;
}

static BfStatus
find_greatest(BfArena *a, const char *dir, const char **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	Newest *newest;

	BF_NEW(a, newest, 1, err);
	BF_TRY(host->list(host, dir, visit_name, newest, err));
	if (newest->n_numbered > 1)
		BF_FAIL(err, BF_ERR_UNSUPPORTED,
				"%.150s and %.150s have the same version, and only a catalog knows which counts: "
				"give the path of one of them",
				newest->name, newest->second);
	if (newest->n_numbered == 0 && newest->n_other != 1)
		BF_FAIL(err, BF_ERR_NOTFOUND, "the directory has %s",
				newest->n_other == 0 ? "no metadata file"
									 : "several metadata files and none has a version number");
	BF_ASSERT(newest->name[0] != '\0');
	BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s/%s", dir, newest->name), err);
	return BF_OK;
}

BfStatus
bf_ice_find_metadata(BfArena *a, const char *dir_or_file, const char **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	size_t n = strlen(dir_or_file);
	BfPathInfo info;
	const char *dir;

	while (n > 1 && dir_or_file[n - 1] == '/')
		n--;
	BF_TRY_PTR(a, dir, bf_arena_strndup(a, dir_or_file, n), err);
	BF_TRY(host->stat(host, dir, &info, err));
	if (info.kind == BF_PATH_FILE)
	{
		*out = dir;
		return BF_OK;
	}
	BF_TRY_PTR(a, dir, bf_arena_printf(a, "%s/metadata", dir), err);
	BF_TRY(host->stat(host, dir, &info, err));
	if (info.kind != BF_PATH_DIR)
	{
		bf_error(err, BF_ERR_NOTFOUND, "not an Iceberg table: there is no directory \"metadata\"");
		return bf_error_object(err, dir_or_file);
	}
	if (follow_hint(a, dir, out, err) != BF_OK)
		return bf_error_object(err, dir);
	if (*out == NULL && find_greatest(a, dir, out, err) != BF_OK)
		return bf_error_object(err, dir);
	return BF_OK;
}

static BfStatus
load_bytes(BfArena *a, BfArena *scratch, const char *path, BfIoCounters *io, BfIceMetadata **out,
		   BfError *err)
{
	BfView bytes;

	BF_TRY(bf_source_read_all(scratch, path, BF_ICE_JSON_BYTES_MAX, io, &bytes, err));
	return bf_ice_metadata_parse(a, bytes.ptr, bytes.len, out, err);
}

BfStatus
bf_ice_load(BfArena *a, const char *metadata_path, BfIoCounters *io, BfIceTable **out, BfError *err)
{
	return bf_ice_load_mapped(a, metadata_path, NULL, io, out, err);
}

BfStatus
bf_ice_load_mapped(BfArena *a, const char *metadata_path, const BfLocationMap *map,
				   BfIoCounters *io, BfIceTable **out, BfError *err)
{
	BfArena *scratch;
	BfIceTable *t;
	BfStatus status;

	BF_NEW(a, t, 1, err);
	BF_TRY_PTR(a, t->metadata_path, bf_arena_strdup(a, metadata_path), err);
	scratch = bf_arena_new(bf_arena_host(a), "table metadata", BF_ICE_JSON_BYTES_MAX * 2);
	if (scratch == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = load_bytes(a, scratch, metadata_path, io, &t->metadata, err);
	bf_arena_free(scratch);
	if (status == BF_OK)
		status = bf_location_new(a, t->metadata->location, metadata_path, &t->location, err);
	if (status != BF_OK)
		return bf_error_object(err, metadata_path);
	t->location.map = map;
	t->schema = bf_ice_current_schema(t->metadata);
	*out = t;
	return BF_OK;
}
