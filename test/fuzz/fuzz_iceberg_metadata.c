/* Table metadata: what parses is consistent, and parses to the same again after being dumped. */
#include "fuzz/fuzz.h"

#include "iceberg/internal.h"

static void
check_consistent(const BfIceMetadata *m)
{
	FUZZ_CHECK(m->format_version >= 1 && m->format_version <= 3);
	FUZZ_CHECK(bf_ice_current_schema(m) != NULL);
	FUZZ_CHECK(bf_ice_spec(m, m->default_spec_id) != NULL);
	for (int32_t i = 0; i < m->n_snapshots; i++)
		FUZZ_CHECK(bf_ice_snapshot(m, m->snapshots[i].id) == &m->snapshots[i]);
	for (int32_t i = 0; i < m->n_refs; i++)
		FUZZ_CHECK(bf_ice_ref(m, m->refs[i].name) != NULL);
	if (m->current_snapshot_id != -1)
		FUZZ_CHECK(bf_ice_ref(m, BF_ICE_BRANCH_MAIN)->id == m->current_snapshot_id);
	else
		FUZZ_CHECK(bf_ice_ref(m, BF_ICE_BRANCH_MAIN) == NULL);
	for (int32_t i = 0; i < m->n_schemas; i++)
		for (int32_t k = 0; k < m->schemas[i].n_fields; k++)
		{
			const BfField *f = &m->schemas[i].fields[k];

			FUZZ_CHECK(f->id > 0 && f->name != NULL);
			FUZZ_CHECK(bf_ice_field(&m->schemas[i], f->id) == f);
			FUZZ_CHECK(bf_ice_field_anywhere(m, f->id) != NULL);
		}
}

int
bf_fuzz_iceberg_metadata(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	BfIceMetadata *m, *again;
	const char *text;
	BfError err;
	int rc = -1;

	bf_error_clear(&err);
	if (bf_ice_metadata_parse(a, data, size, &m, &err) == BF_OK)
	{
		rc = 0;
		check_consistent(m);
		FUZZ_CHECK(bfi_json_text(a, m->json, &text, &err) == BF_OK);
		FUZZ_CHECK(bf_ice_metadata_parse(a, text, strlen(text), &again, &err) == BF_OK);
		FUZZ_CHECK(again->n_snapshots == m->n_snapshots && again->n_refs == m->n_refs);
		FUZZ_CHECK(again->n_schemas == m->n_schemas && again->n_specs == m->n_specs);
		FUZZ_CHECK(again->n_properties == m->n_properties);
	}
	else
		FUZZ_CHECK(err.text[0] != '\0' && err.code != BF_OK);
	bf_arena_free(a);
	return rc;
}
