/*
 * pg/scan/kafka_dir/import.c: a table per topic, with all its partitions.
 */
#include "pg/scan/kafka_dir/internal.h"

#include "exec/read/kafka_columns.h"
#include "pg/scan/location.h"
#include "pg/server/encoding.h"

static void
import_topic(BifangImport *im, const char *topic)
{
	im->valid_json = true;
	if (!bifang_import_begin(im, bifang_import_name(topic), &bf_kafka_schema) ||
		!bifang_import_location(im, im->options.location))
		return;
	bifang_import_option(im, "topic", topic);
	if (im->options.isolation != BIFANG_READ_COMMITTED)
		bifang_import_option(im, "isolation", "read_uncommitted");
	bifang_import_end(im);
}

void
bifang_kafka_dir_import(BifangImport *im)
{
	List *topics = NIL;
	ListCell *lc;

	foreach (lc, bifang_expand_location(im->options.location, NULL, WARNING))
	{
		char *topic;
		int32 partition;

		if (bifang_kafka_dir_partition(lfirst(lc), &topic, &partition) &&
			!bifang_import_has_name(topics, topic))
			topics = lappend(topics, topic);
	}
	if (topics == NIL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
						errmsg("location \"%s\" names no partition directory",
							   bifang_shown(im->options.location)),
						errhint("Directories of a Kafka broker are called <topic>-<partition>.")));
	foreach (lc, topics)
		import_topic(im, lfirst(lc));
}
