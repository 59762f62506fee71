/*
 * exec/read/kafka_dir.c: see kafka_dir.h.
 */
#include "exec/read/kafka_dir.h"

#include "base/ascii.h"

bool
bf_kafka_dir_name(const char *dir, const char **topic_end, int32_t *partition)
{
	size_t len = strlen(dir);
	size_t start, dash;
	int64_t number;

	while (len > 0 && dir[len - 1] == '/')
		len--;
	for (start = len; start > 0 && dir[start - 1] != '/';)
		start--;
	for (dash = len; dash > start && dir[dash - 1] != '-';)
		dash--;
	/* dash is now one past the '-', which must follow a topic and precede digits. */
	if (dash < start + 2 || dash == len || (dir[dash] == '0' && len - dash > 1))
		return false;
	if (bf_ascii_number(dir + dash, len - dash, INT32_MAX, &number) != len - dash || number < 0)
		return false;
	*topic_end = dir + dash - 1;
	*partition = (int32_t) number;
	return true;
}
