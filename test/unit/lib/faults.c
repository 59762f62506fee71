/*
 * unit/lib/faults.c: see faults.h.
 */
#include "unit/lib/faults.h"

#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

/* The n-th call of a kind; false once there are fewer. */
static bool
fault(TestFault kind, BfStatus want, int64_t n, BfStatus (*run)(const BfHost *host), bool spares)
{
	TestHost h;
	BfStatus status;
	bool fired;

	test_host_init(&h);
	test_fault_arm(&h, kind, n, false);
	status = run(&h.host);
	fired = test_fault_fired(&h);
	EXPECT_EQ(h.live_allocs, 0);
	EXPECT_EQ(h.open_files, 0);
	if (status != BF_OK || !fired || !spares || kind != TEST_FAULT_ALLOC)
		EXPECT_EQ(status, fired ? want : BF_OK);
	return fired && !test_failed();
}

void
test_every_fault(BfStatus (*run)(const BfHost *host), bool spares)
{
	static const struct
	{
		TestFault kind;
		BfStatus want;
	} kinds[] = {
		{TEST_FAULT_ALLOC, BF_ERR_NOMEM},
		{TEST_FAULT_READ, BF_ERR_IO},
		{TEST_FAULT_CANCEL, BF_ERR_CANCEL},
	};

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
	{
		int64_t n = 1;

		while (fault(kinds[k].kind, kinds[k].want, n, run, spares))
			n++;
		EXPECT(n > 2);
	}
}
