/*
 * The headers of a record as JSON: [{"key": text, "value": base64 or null}, ...].
 */
#include "exec/read/kafka_json.h"

#include "base/text.h"

BfStatus
bfi_kafka_headers_json(const BfRecord *r, BfBuffer *out, BfError *err)
{
	BfView rest = r->headers;

	BF_TRY(bf_text_put(out, "[", err));
	for (int32_t i = 0; i < r->n_headers; i++)
	{
		BfView key, value;
		bool value_null;

		BF_TRY(bf_record_header(&rest, &key, &value, &value_null, err));
		if (i > 0)
			BF_TRY(bf_text_put(out, ",", err));
		BF_TRY(bf_text_put(out, "{\"key\":", err));
		BF_TRY(bf_text_json(out, key, BF_JSON_REPAIR, err));
		BF_TRY(bf_text_put(out, ",\"value\":", err));
		if (value_null)
			BF_TRY(bf_text_put(out, "null", err));
		else
		{
			BF_TRY(bf_text_put(out, "\"", err));
			BF_TRY(bf_text_base64(out, value, err));
			BF_TRY(bf_text_put(out, "\"", err));
		}
		BF_TRY(bf_text_put(out, "}", err));
	}
	BF_TRY(bf_text_put(out, "]", err));
	BF_DATA(err, rest.len == 0, -1,
			"there are bytes after the headers of the record at offset %lld",
			(long long) r->offset);
	return BF_OK;
}
