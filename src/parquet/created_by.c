/*
 * Who wrote the file:
 *
 *     created_by = application " version " semver [ " (build " hash ")" ]
 */
#include "base/ascii.h"
#include "parquet/internal.h"

/* Digits at *p; -1 when there are none. Large numbers are capped. */
static int32_t
parse_number(const char **p)
{
	int64_t v;
	size_t digits = bf_ascii_number(*p, strlen(*p), INT32_MAX, &v);

	*p += digits;
	if (digits == 0)
		return -1;
	return v < 0 ? INT32_MAX : (int32_t) v;
}

static void
parse_version(const char *p, BfiWriter *out)
{
	const char *cdh = strstr(p, "-cdh");

	out->major = parse_number(&p);
	if (out->major >= 0 && *p == '.')
	{
		p++;
		out->minor = parse_number(&p);
		if (out->minor >= 0 && *p == '.')
		{
			p++;
			out->patch = parse_number(&p);
		}
	}
	out->minor = out->minor < 0 ? 0 : out->minor;
	out->patch = out->patch < 0 ? 0 : out->patch;
	if (cdh != NULL)
	{
		cdh += 4;
		out->cdh_major = parse_number(&cdh);
		if (*cdh == '.')
		{
			cdh++;
			out->cdh_minor = parse_number(&cdh);
		}
	}
}

void
bfi_writer_parse(const char *created_by, BfiWriter *out)
{
	static const struct
	{
		const char *name;
		BfiApp app;
	} apps[] = {
		{"parquet-mr ", BFI_APP_PARQUET_MR},
		{"parquet-cpp-arrow ", BFI_APP_PARQUET_CPP_ARROW},
		{"parquet-cpp ", BFI_APP_PARQUET_CPP},
		{"impala ", BFI_APP_IMPALA},
		{"DuckDB", BFI_APP_DUCKDB},
		{"Parquet.Net", BFI_APP_PARQUET_NET},
	};
	const char *version = strstr(created_by, "version ");

	BF_ASSERT(created_by != NULL);
	memset(out, 0, sizeof *out);
	out->major = -1;
	for (size_t i = 0; i < sizeof apps / sizeof apps[0]; i++)
		if (strncmp(created_by, apps[i].name, strlen(apps[i].name)) == 0)
			out->app = apps[i].app;
	if (version != NULL)
		parse_version(version + strlen("version "), out);
}

bool
bfi_writer_before(const BfiWriter *w, BfiApp app, int major, int minor, int patch)
{
	if (w->app != app || w->major < 0)
		return false;
	if (w->major != major)
		return w->major < major;
	if (w->minor != minor)
		return w->minor < minor;
	return w->patch < patch;
}
