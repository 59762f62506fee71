/*
 * pg/scan/kinds.c: the table of kinds; see kind.h.
 */
#include "pg/scan/kind.h"

#include "pg/scan/files/files.h"
#include "pg/scan/kafka_dir/kafka_dir.h"
#include "pg/scan/lake/lake.h"

/* In the order in which people are told of them. */
static const BifangKind *const kinds[] = {
	&bifang_kind_lake,
	&bifang_kind_files,
	&bifang_kind_kafka_dir,
};

void
bifang_kinds_init(void)
{
	static const BifangFormat *formats[lengthof(kinds) + 1];

	StaticAssertStmt(offsetof(BifangKind, format) == 0, "a kind is found by its format");
	for (int i = 0; i < (int) lengthof(kinds); i++)
	{
		Assert(kinds[i]->format.name != NULL && kinds[i]->format.is != NULL);
		Assert(kinds[i]->tiers[0].name != NULL);
		Assert(kinds[i]->open != NULL && kinds[i]->plan != NULL);
		Assert(kinds[i]->open_unit != NULL && kinds[i]->import != NULL);
		formats[i] = &kinds[i]->format;
	}
	bifang_formats_set(formats);
}
