/* The entry point of libFuzzer for one target, given by -DFUZZ_TARGET=<name>. */
#include "fuzz/fuzz.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_run(PASTE(bf_fuzz_, FUZZ_TARGET), data, size);
}
