/*
 * The text of a location map, and its order.
 */

#include "base/sort.h"
#include "iceberg/internal.h"
#include "iceberg/location.h"

/* Pairs of one map: each costs a comparison per path. */
#define PAIRS_MAX 1000

/* Copies up to an unescaped `end` or a comma or the end of the text, without the escapes. */
static BfStatus
take_part(BfArena *a, const char **text, char end, const char **out, BfError *err)
{
	const char *p = *text;
	char *s;
	size_t n = 0;

	BF_TRY_PTR(a, s, bf_arena_alloc(a, strlen(p) + 1), err);
	for (; *p != '\0' && *p != end && *p != ','; p++)
	{
		if (p[0] == '\\' && (p[1] == ',' || p[1] == '=' || p[1] == '\\'))
			p++;
		s[n++] = *p;
	}
	while (n > 0 && s[n - 1] == ' ')
		n--;
	s[n] = '\0';
	BF_ASSERT(n <= (size_t) (p - *text));
	*text = p;
	*out = s;
	return BF_OK;
}

static BfStatus
parse_pair(BfArena *a, const char **text, BfLocationPair *pair, BfError *err)
{
	const char *from, *to, *slashes;

	while (**text == ' ')
		(*text)++;
	BF_TRY(take_part(a, text, '=', &from, err));
	if (**text != '=')
		BF_FAIL(err, BF_ERR_VALUE,
				"location map: \"%.200s\" has no \"=\" between a recorded prefix and a directory",
				from);
	(*text)++;
	while (**text == ' ')
		(*text)++;
	BF_TRY(take_part(a, text, ',', &to, err));
	if (from[0] == '\0')
		BF_FAIL(err, BF_ERR_VALUE, "location map: the recorded prefix before \"=%.200s\" is empty",
				to);
	if (bf_location_canonical(a, from, &from, err) != BF_OK ||
		bf_location_canonical(a, to, &pair->local, err) != BF_OK)
		return err->code == BF_ERR_CORRUPT ? (err->code = BF_ERR_VALUE) : err->code;
	if (pair->local[0] != '/')
		BF_FAIL(err, BF_ERR_VALUE,
				"location map: \"%.200s\" is no absolute directory of this machine", to);
	slashes = strstr(from, "://");
	pair->scheme = pair->authority = "";
	pair->path = from;
	if (slashes == NULL)
		return BF_OK;
	BF_TRY_PTR(a, pair->scheme, bf_arena_strndup(a, from, (size_t) (slashes - from)), err);
	pair->path = slashes + 3 + strcspn(slashes + 3, "/");
	BF_TRY_PTR(a, pair->authority,
			   bf_arena_strndup(a, slashes + 3, (size_t) (pair->path - slashes - 3)), err);
	return BF_OK;
}

static int
compare_pairs(const void *x, const void *y)
{
	const BfLocationPair *p = x, *q = y;
	size_t a = strlen(p->path), b = strlen(q->path);

	return a != b ? (a < b) - (a > b) : p->number - q->number;
}

/* Two directories for one prefix: nobody knows which. */
static BfStatus
check_repeats(const BfLocationMap *m, BfError *err)
{
	for (int32_t i = 0; i < m->n; i++)
		for (int32_t k = i + 1; k < m->n; k++)
			if (strcmp(m->pairs[i].path, m->pairs[k].path) == 0 &&
				strcmp(m->pairs[i].scheme, m->pairs[k].scheme) == 0 &&
				strcmp(m->pairs[i].authority, m->pairs[k].authority) == 0)
				BF_FAIL(err, BF_ERR_VALUE, "location map: the prefix \"%.200s\" is given twice",
						m->pairs[i].path);
	return BF_OK;
}

BfStatus
bf_location_map_parse(BfArena *a, const char *text, BfLocationMap **out, BfError *err)
{
	BfLocationMap *m;
	int32_t commas = 0;

	for (const char *p = text; *p != '\0'; p++)
		if (*p == ',' && ++commas >= PAIRS_MAX)
			BF_FAIL(err, BF_ERR_LIMIT, "location map: more than %d prefixes", PAIRS_MAX);
	BF_NEW(a, m, 1, err);
	BF_TRY_PTR(a, m->text, bf_arena_strdup(a, text), err);
	BF_NEW(a, m->pairs, commas + 1, err);
	for (const char *p = text;; p++)
	{
		BF_ASSERT(m->n <= commas);
		m->pairs[m->n].number = m->n;
		BF_TRY(parse_pair(a, &p, &m->pairs[m->n++], err));
		if (*p == '\0')
			break;
	}
	bf_sort(m->pairs, (size_t) m->n, sizeof *m->pairs, compare_pairs);
	BF_TRY(check_repeats(m, err));
	BF_ASSERT(m->n > 0 && strlen(m->pairs[0].path) >= strlen(m->pairs[m->n - 1].path));
	*out = m;
	return BF_OK;
}
