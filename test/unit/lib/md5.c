/* MD5 as RFC 1321 has it; the constants are made of sines, as there, and not written out. */
#include "unit/lib/md5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t
rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void
transform(TestMd5 *m, const uint8_t *block)
{
	static const unsigned shifts[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
	static uint32_t sines[64];
	uint32_t a = m->state[0], b = m->state[1], c = m->state[2], d = m->state[3];

	if (sines[0] == 0)
		for (int i = 0; i < 64; i++)
			sines[i] = (uint32_t) floor(fabs(sin(i + 1)) * 4294967296.0);
	for (unsigned i = 0; i < 64; i++)
	{
		uint32_t f, word, t;
		unsigned g;

		if (i < 16)
			f = (b & c) | (~b & d), g = i;
		else if (i < 32)
			f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
		else if (i < 48)
			f = b ^ c ^ d, g = (3 * i + 5) % 16;
		else
			f = c ^ (b | ~d), g = (7 * i) % 16;
		memcpy(&word, block + 4 * g, 4);
		t = d;
		d = c;
		c = b;
		b += rotate(a + f + sines[i] + word, shifts[i / 16][i % 4]);
		a = t;
	}
	m->state[0] += a;
	m->state[1] += b;
	m->state[2] += c;
	m->state[3] += d;
}

void
test_md5_init(TestMd5 *m)
{
	static const uint32_t start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

	memcpy(m->state, start, sizeof start);
	m->bytes = 0;
}

void
test_md5_add(TestMd5 *m, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n > 0)
	{
		size_t used = m->bytes % 64;
		size_t take = n < 64 - used ? n : 64 - used;

		memcpy(m->block + used, b, take);
		m->bytes += take;
		b += take;
		n -= take;
		if (m->bytes % 64 == 0)
			transform(m, m->block);
	}
}

void
test_md5_hex(TestMd5 *m, char out[33])
{
	uint64_t bits = m->bytes * 8;
	const uint8_t one = 0x80;
	const uint8_t zero = 0;

	test_md5_add(m, &one, 1);
	while (m->bytes % 64 != 56)
		test_md5_add(m, &zero, 1);
	test_md5_add(m, &bits, 8);
	for (int i = 0; i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", ((const uint8_t *) m->state)[i]);
}
