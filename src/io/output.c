/* The outputs that there are; see output.h. */
#include "io/output.h"

static BfStatus
write_publish(void *arg, const void *bytes, size_t n, BfError *err)
{
	return bf_publish_write(arg, bytes, n, err);
}

static BfStatus
write_buffer(void *arg, const void *bytes, size_t n, BfError *err)
{
	return bf_buffer_append(arg, bytes, n, err);
}

BfOutput
bf_output_publish(BfPublish *p)
{
	BF_ASSERT(p != NULL);
	return (BfOutput){.write = write_publish, .arg = p};
}

BfOutput
bf_output_buffer(BfBuffer *b)
{
	BF_ASSERT(b != NULL && b->len <= b->bytes_max);
	return (BfOutput){.write = write_buffer, .arg = b};
}
