/*
 * exec/read/kafka_dir.c: see kafka_dir.h.
 */
#include "exec/read/kafka_dir.h"

#include <string.h>

bool
bf_kafka_dir_name(const char *dir, const char **topic_end, int32_t *partition)
{
	size_t len = strlen(dir);
	size_t start, dash;
	int64_t number = 0;

	while (len > 0 && dir[len - 1] == '/')
		len--;
	for (start = len; start > 0 && dir[start - 1] != '/';)
		start--;
	for (dash = len; dash > start && dir[dash - 1] != '-';)
		dash--;
	/* dash is now one past the '-', which must follow a topic and precede digits. */
	if (dash < start + 2 || dash == len || (dir[dash] == '0' && len - dash > 1))
		return false;
	for (size_t i = dash; i < len; i++)
	{
		if (dir[i] < '0' || dir[i] > '9' || number > INT32_MAX / 10)
			return false;
		number = number * 10 + (dir[i] - '0');
	}
	if (number > INT32_MAX)
		return false;
	*topic_end = dir + dash - 1;
	*partition = (int32_t) number;
	return true;
}
