/* Table metadata: what parses is consistent, and parses to the same again after being dumped. */
#include "fuzz/fuzz.h"

#include "iceberg/internal.h"

static void
check_consistent(const BfIceMetadata *m)
{
	FUZZ_CHECK(m->format_version >= 1 && m->format_version <= 3);
	FUZZ_CHECK(bf_ice_current_schema(m) != NULL);
	FUZZ_CHECK(bf_ice_spec(m, m->specs.default_id) != NULL);
	for (int32_t i = 0; i < m->snapshots.n; i++)
		FUZZ_CHECK(bf_ice_snapshot(m, m->snapshots.all[i].id) == &m->snapshots.all[i]);
	for (int32_t i = 0; i < m->refs.n; i++)
		FUZZ_CHECK(bf_ice_ref(m, m->refs.all[i].name) != NULL);
	if (m->snapshots.current_id != -1)
		FUZZ_CHECK(bf_ice_ref(m, BF_ICE_BRANCH_MAIN)->id == m->snapshots.current_id);
	else
		FUZZ_CHECK(bf_ice_ref(m, BF_ICE_BRANCH_MAIN) == NULL);
	for (int32_t i = 0; i < m->schemas.n; i++)
		for (int32_t k = 0; k < m->schemas.all[i].n_fields; k++)
		{
			const BfField *f = &m->schemas.all[i].fields[k];

			FUZZ_CHECK(f->id > 0 && f->name != NULL);
			FUZZ_CHECK(bf_ice_field(&m->schemas.all[i], f->id) == f);
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
		FUZZ_CHECK(again->snapshots.n == m->snapshots.n && again->refs.n == m->refs.n);
		FUZZ_CHECK(again->schemas.n == m->schemas.n && again->specs.n == m->specs.n);
		FUZZ_CHECK(again->properties.n == m->properties.n);
	}
	else
		FUZZ_CHECK(err.text[0] != '\0' && err.code != BF_OK);
	bf_arena_free(a);
	return rc;
}
