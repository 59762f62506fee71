/* The ground layer: status, arena, bounded bytes. */
#include "unit/lib/runner.h"

#include <errno.h>

#include "base/arena.h"

TEST(base_error_fills_once)
{
	bf_error_at(&test_err, BF_ERR_CORRUPT, 17, "%d things", 3);
	EXPECT_STR(test_err.text, "3 things");
	EXPECT_EQ(test_err.offset, 17);
	bf_error_object(&test_err, "inner");
	bf_error_object(&test_err, "outer");
	EXPECT_STR(test_err.object, "inner");
	bf_error_column(&test_err, "c");
	EXPECT_STR(test_err.column, "c");
	EXPECT_EQ(bf_error_errno(&test_err, ENOENT, "f", "open"), BF_ERR_NOTFOUND);
	EXPECT_EQ(test_err.sys_errno, ENOENT);
}
