/*
 * Who wrote the file, and which of its statistics can be believed.
 *
 *     created_by = application " version " semver [ " (build " hash ")" ]
 */
#include "parquet/internal.h"

/* Digits at *p; -1 when there are none. Large numbers are capped. */
static int32_t
parse_number(const char **p)
{
	int32_t n = -1;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n < 0 ? **p - '0' : n < 100000 ? n * 10 + (**p - '0') : n;
	return n;
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
	};
	const char *version = strstr(created_by, "version ");

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
