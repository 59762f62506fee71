/*
 * exec/read/ledger_schema.c: see ledger_schema.h.
 */
#include "exec/read/ledger_schema.h"

#include "avro/rowcodec.h"
#include "io/source.h"

#define SCHEMA_BYTES_MAX ((size_t) 1 << 24)

BfStatus
bfi_ledger_live_schema(BfArena *a, const char *dir, BfSchema **out, BfError *err)
{
	const char *path;
	BfView json;

	BF_TRY_PTR(a, path, bf_arena_printf(a, "%s/%s", dir, BF_LEDGER_SCHEMA_FILE), err);
	BF_TRY(bf_source_read_all(a, path, SCHEMA_BYTES_MAX, NULL, &json, err));
	if (bf_avro_schema_to_table(a, (const char *) json.ptr, json.len, out, err) != BF_OK)
		return bf_error_object(err, path);
	return BF_OK;
}

BfStatus
bfi_ledger_offload_schema(BfArena *a, const BfOffloadFile *f, BfSchema **out, BfError *err)
{
	const char *json = bf_offload_info(f)->schema_json;

	BF_ASSERT(json != NULL);

	return bf_avro_schema_to_table(a, json, strlen(json), out, err);
}

BfStatus
bf_exec_ledger_schema(BfArena *a, BfLedgerPlace place, const char *path, BfSchema **out,
					  BfError *err)
{
	BfOffloadFile *f;

	if (place == BF_LEDGER_LIVE)
		return bfi_ledger_live_schema(a, path, out, err);
	BF_TRY(bf_offload_open(a, path, NULL, &f, err));
	if (bfi_ledger_offload_schema(a, f, out, err) != BF_OK)
		return bf_error_object(err, path);
	return BF_OK;
}
