/*
 * io/output.h: where bytes go that are written one after the other.
 *
 * What a writer of a format needs of its file, so that it does not matter whether that is one on
 * disk (bf_output_publish), memory (bf_output_buffer), or something that is yet to come. Names,
 * durability and what becomes of a file that fails half-way are the business of whoever made it.
 */
#ifndef BF_IO_OUTPUT_H
#define BF_IO_OUTPUT_H

#include "io/publish.h"

typedef struct BfOutput
{
	/* Appends n bytes or fails. */
	BfStatus (*write)(void *arg, const void *bytes, size_t n, BfError *err);
	void *arg; /* borrowed */
} BfOutput;

extern BfOutput bf_output_publish(BfPublish *p);
/* BF_ERR_LIMIT at the buffer's bytes_max. */
extern BfOutput bf_output_buffer(BfBuffer *b);

#endif
