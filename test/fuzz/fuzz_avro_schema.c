/*
 * Avro schema JSON. A schema that is one of a ledger comes back from its text unchanged, and the
 * text is a fixed point.
 */
#include "fuzz/fuzz.h"

#include "avro/container.h"
#include "avro/rowcodec.h"

static void
check_nodes(const BfAvroSchema *s, int depth)
{
	FUZZ_CHECK(s->min_bytes >= 0);
	FUZZ_CHECK(s->type <= BF_AVRO_UNION);
	if (depth > 4)
		return;
	for (int32_t i = 0; i < s->n_children && i < 20; i++)
	{
		if (s->type == BF_AVRO_RECORD)
			FUZZ_CHECK(s->field_names[i] != NULL && s->field_ids[i] >= 0);
		FUZZ_CHECK(s->type != BF_AVRO_UNION || s->children[i]->type != BF_AVRO_UNION);
		check_nodes(s->children[i], depth + 1);
	}
}

static void
check_same(const BfSchema *x, const BfSchema *y)
{
	FUZZ_CHECK(x->n_fields == y->n_fields && x->schema_id == y->schema_id);
	for (int32_t i = 0; i < x->n_fields; i++)
	{
		const BfField *f = &x->fields[i];
		const BfField *g = &y->fields[i];

		FUZZ_CHECK(f->id == g->id && f->required == g->required);
		FUZZ_CHECK(bf_type_equal(f->type, g->type) && strcmp(f->name, g->name) == 0);
	}
}

int
bf_fuzz_avro_schema(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfAvroSchema *avro;
	BfSchema *x;
	BfSchema *y;
	const char *text;
	const char *again;
	BfError err;
	int rc = -1;

	bf_error_clear(&err);
	if (bf_avro_schema_parse(a, (const char *) data, size, &avro, &err) == BF_OK)
	{
		rc = 0;
		check_nodes(avro, 0);
		if (bf_avro_schema_to_table(a, (const char *) data, size, &x, &err) == BF_OK)
		{
			FUZZ_CHECK(bf_avro_schema_text(a, x, "r", &text, &err) == BF_OK);
			FUZZ_CHECK(bf_avro_schema_to_table(a, text, strlen(text), &y, &err) == BF_OK);
			check_same(x, y);
			FUZZ_CHECK(bf_avro_schema_text(a, y, "r", &again, &err) == BF_OK);
			FUZZ_CHECK(strcmp(text, again) == 0);
		}
	}
	else
		FUZZ_CHECK(err.text[0] != '\0');
	bf_arena_free(a);
	return rc;
}
