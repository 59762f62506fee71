/*
 * Paths of files: written in many ways, recorded for another place, or relative. All comparison is
 * between canonical ones.
 */
#include "iceberg/location.h"

#include <string.h>

#include "base/ascii.h"

#define METADATA_DIR "metadata"

/* A path in pieces; scheme and authority are empty for local files. */
typedef struct Parts
{
	const char *scheme; /* lower case */
	const char *authority;
	const char *path; /* no slash at the end but in "/"; relative ones begin without */
} Parts;

/* Schemes that name the same store. */
static const char *
scheme_alias(const char *scheme)
{
	return strcmp(scheme, "s3a") == 0 || strcmp(scheme, "s3n") == 0 ? "s3" : scheme;
}

/* Length of a leading scheme as in RFC 3986, 0 if there is none. */
static size_t
scheme_length(const char *path)
{
	size_t n = 0;

	if (!bf_ascii_letter(path[0]))
		return 0;
	while (bf_ascii_letter(path[n]) || bf_ascii_digit(path[n]) || path[n] == '+' ||
		   path[n] == '-' || path[n] == '.')
		n++;
	return path[n] == ':' ? n : 0;
}

/* Collapses slashes, resolves "." and "..". */
static BfStatus
normalize(BfArena *a, const char *in, const char **out, BfError *err)
{
	bool relative = in[0] != '/';
	size_t n = 0;
	char *s;

	/* Every segment is written with a slash before it. */
	BF_TRY_PTR(a, s, bf_arena_alloc(a, strlen(in) + 2), err);
	for (const char *p = in; *p != '\0';)
	{
		size_t len = strcspn(p, "/");

		BF_ASSERT(n == 0 || s[0] == '/');
		if (len == 2 && p[0] == '.' && p[1] == '.')
		{
			if (n == 0)
				BF_FAIL(err, BF_ERR_CORRUPT, "path \"%.200s\" leaves its root by \"..\"", in);
			while (s[--n] != '/')
				;
		}
		else if (len > 0 && (len != 1 || p[0] != '.'))
		{
			s[n++] = '/';
			memcpy(s + n, p, len);
			n += len;
		}
		p += len + (p[len] == '/' ? 1 : 0);
	}
	if (n == 0 && relative)
		BF_FAIL(err, BF_ERR_CORRUPT, "path \"%.200s\" is empty", in);
	if (n == 0)
		s[n++] = '/';
	BF_ASSERT(n <= strlen(in) + 1);
	s[n] = '\0';
	*out = relative ? s + 1 : s;
	return BF_OK;
}

static BfStatus
split(BfArena *a, const char *path, Parts *out, BfError *err)
{
	size_t n = scheme_length(path);
	const char *rest = path + n + (n > 0 ? 1 : 0);

	out->scheme = out->authority = "";
	if (n > 0)
	{
		char *scheme;

		BF_TRY_PTR(a, scheme, bf_arena_strndup(a, path, n), err);
		for (char *p = scheme; *p != '\0'; p++)
			*p = (char) bf_ascii_lower(*p);
		out->scheme = scheme_alias(scheme);
		if (rest[0] == '/' && rest[1] == '/')
		{
			size_t len = strcspn(rest + 2, "/");

			BF_TRY_PTR(a, out->authority, bf_arena_strndup(a, rest + 2, len), err);
			rest += 2 + len;
		}
		if (strcmp(out->scheme, "file") == 0)
		{
			/* file://data/x was meant as a relative path: file names have no hosts. */
			if (out->authority[0] != '\0' && strcmp(out->authority, "localhost") != 0)
				rest = path + n + 3;
			out->scheme = out->authority = "";
		}
		else if (rest[0] == '\0')
			rest = "/";
	}
	return normalize(a, rest, &out->path, err);
}

static BfStatus
join(BfArena *a, const Parts *p, const char **out, BfError *err)
{
	BF_ASSERT(p->scheme[0] != '\0' || p->authority[0] == '\0');
	if (p->scheme[0] == '\0')
		*out = p->path;
	else
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s://%s%s", p->scheme, p->authority, p->path), err);
	return BF_OK;
}

BfStatus
bf_location_canonical(BfArena *a, const char *path, const char **out, BfError *err)
{
	Parts p;

	BF_TRY(split(a, path, &p, err));
	return join(a, &p, out, err);
}

/* What follows the directory in the path ("" or "/..."), NULL when the path is not under it. */
static const char *
path_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	BF_ASSERT(n == 1 || n == 0 || dir[n - 1] != '/');
	if (strcmp(dir, "/") == 0)
		return path[0] == '/' ? path : NULL;
	if (strncmp(dir, path, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path + n;
}

static const char *
parts_below(const Parts *dir, const Parts *path)
{
	if (dir->scheme[0] != '\0' && path->scheme[0] != '\0' &&
		(strcmp(dir->scheme, path->scheme) != 0 || strcmp(dir->authority, path->authority) != 0))
		return NULL;
	return path_below(dir->path, path->path);
}

/* Without the last segment; "/" stays. */
static BfStatus
parent(BfArena *a, const char *path, const char **out, BfError *err)
{
	const char *slash = strrchr(path, '/');

	BF_ASSERT(path[0] == '/');
	BF_TRY_PTR(a, *out, bf_arena_strndup(a, path, slash == path ? 1 : (size_t) (slash - path)),
			   err);
	return BF_OK;
}

BfStatus
bf_location_new(BfArena *a, const char *recorded, const char *metadata_path, BfLocation *out,
				BfError *err)
{
	const char *dir;
	const char *name;
	size_t n = strlen(recorded);
	Parts was;
	Parts is;

	out->map = NULL;
	BF_TRY(split(a, recorded, &was, err));
	BF_TRY(join(a, &was, &out->recorded, err));
	while (n > 1 && recorded[n - 1] == '/' && recorded[n - 2] != '/' && recorded[n - 2] != ':')
		n--;
	BF_TRY_PTR(a, out->written, bf_arena_strndup(a, recorded, n), err);

	BF_TRY(split(a, metadata_path, &is, err));
	if (is.scheme[0] != '\0' || is.path[0] != '/')
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "metadata file \"%.200s\" is not an absolute local path",
				metadata_path);
	BF_TRY(parent(a, is.path, &dir, err));
	name = strrchr(dir, '/') + 1;
	if (strcmp(name, METADATA_DIR) != 0 && was.scheme[0] == '\0' && was.path[0] == '/')
	{
		out->found = was.path;
		return BF_OK;
	}
	return parent(a, dir, &out->found, err);
}

/* The usual case without taking paths apart: what follows the location as it was written, with
 * nothing to normalise in it. */
static const char *
plain_below(const BfLocation *l, const char *path)
{
	size_t n = strlen(l->written);

	BF_ASSERT(n > 0);
	if (strncmp(l->written, path, n) != 0 || path[n] != '/' || strstr(path + n, "//") != NULL ||
		strstr(path + n, "/.") != NULL || path[n + strlen(path + n) - 1] == '/')
		return NULL;
	return path + n;
}

/* A relative path counts from a directory that nobody recorded, but it leads through the table's
 * own: what follows the one component that is called like the directory where the table was found.
 * NULL when there is no such component or more than one. */
static const char *
relative_below(const BfLocation *l, const char *path)
{
	const char *base = strrchr(l->found, '/') + 1;
	const char *below = NULL;
	size_t n = strlen(base);

	BF_ASSERT(l->found[0] == '/' && path[0] != '/');
	for (const char *p = path; n > 0;)
	{
		size_t len = strcspn(p, "/");

		if (p[len] == '\0')
			break;
		if (len == n && memcmp(p, base, n) == 0)
		{
			if (below != NULL)
				return NULL;
			below = p + len;
		}
		p += len + 1;
	}
	return below;
}

/* The pair with the longest prefix of the path; *below = what follows it. NULL: none has. */
static const BfLocationPair *
map_pair(const BfLocationMap *map, const Parts *path, const char **below)
{
	for (int32_t i = 0; i < map->n; i++)
	{
		const BfLocationPair *pair = &map->pairs[i];
		Parts dir = {pair->scheme, pair->authority, pair->path};

		BF_ASSERT(i == 0 || strlen(pair[-1].path) >= strlen(pair->path));
		*below = parts_below(&dir, path);
		if (*below != NULL)
			return pair;
	}
	return NULL;
}

/* Where the path leads by the table's location or the map; *dir = NULL: nowhere. */
static BfStatus
look_up(BfArena *a, const BfLocation *l, const char *recorded_path, Parts *path, const char **dir,
		const char **below, BfError *err)
{
	const BfLocationPair *pair = NULL;
	const char *below_pair;
	Parts own;

	*dir = l->found;
	*below = plain_below(l, recorded_path);
	if (*below != NULL && l->map == NULL)
		return BF_OK;
	BF_TRY(split(a, l->recorded, &own, err));
	BF_TRY(split(a, recorded_path, path, err));
	*below = parts_below(&own, path);
	if (l->map != NULL)
		pair = map_pair(l->map, path, &below_pair);
	if (pair != NULL && (*below == NULL || strlen(pair->path) >= strlen(own.path)))
	{
		*dir = pair->local;
		*below = below_pair;
		return BF_OK;
	}
	if (*below == NULL && path->scheme[0] == '\0' && path->path[0] != '/')
		*below = relative_below(l, path->path);
	if (*below == NULL)
		*dir = NULL;
	return BF_OK;
}

BfStatus
bf_location_resolve(BfArena *a, const BfLocation *l, const char *recorded_path, const char **out,
					BfError *err)
{
	const char *dir, *below;
	Parts path = {"", "", ""};

	BF_TRY(look_up(a, l, recorded_path, &path, &dir, &below, err));
	BF_ASSERT(dir == NULL || (dir[0] == '/' && below != NULL));
	if (dir != NULL)
	{
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s%s", strcmp(dir, "/") == 0 ? "" : dir, below),
				   err);
		return BF_OK;
	}
	if (path.scheme[0] != '\0')
		BF_FAIL(err, BF_ERR_UNSUPPORTED,
				"path \"%.200s\" is outside the table, and scheme %.20s is not supported",
				recorded_path, path.scheme);
	if (path.path[0] != '/')
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "path \"%.200s\" is relative and outside the table",
				recorded_path);
	/* The text began under the table: it has been led out of it on purpose. */
	if (strstr(recorded_path, "/../") != NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "path \"%.200s\" leaves the table by \"..\"", recorded_path);
	*out = path.path;
	return BF_OK;
}

bool
bf_location_inside(const BfLocation *l, const char *local_path)
{
	bool inside = path_below(l->found, local_path) != NULL;

	for (int32_t i = 0; l->map != NULL && i < l->map->n; i++)
		inside |= path_below(l->map->pairs[i].local, local_path) != NULL;
	return inside && strstr(local_path, "/../") == NULL;
}

BfStatus
bf_location_record(BfArena *a, const BfLocation *l, const char *local_path, const char **out,
				   BfError *err)
{
	const char *below;
	Parts path;

	BF_TRY(split(a, local_path, &path, err));
	BF_NEVER(err, path.scheme[0] != '\0' || path.path[0] != '/');
	below = path_below(l->found, path.path);
	if (below == NULL)
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "file://%s", path.path), err);
	else if (l->written[strlen(l->written) - 1] == '/' && below[0] == '/')
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s%s", l->written, below + 1), err);
	else
		BF_TRY_PTR(a, *out, bf_arena_printf(a, "%s%s", l->written, below), err);
	return BF_OK;
}
