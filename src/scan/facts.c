/*
 * scan/facts.c: facts about rows; see facts.h.
 */
#include "scan/facts.h"

BfType
bf_fact_type(BfFact fact)
{
	BF_ASSERT(fact > BF_FACT_NONE && fact < BF_FACT_COUNT);
	switch (fact)
	{
		case BF_FACT_TIMESTAMP: return BF_TYPE(TIMESTAMPTZ);
		case BF_FACT_TIER:
		case BF_FACT_FILE: return BF_TYPE(STRING);
		default: return BF_TYPE(INT64);
	}
}
