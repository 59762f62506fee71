/*
 * pg/write/partition.c: see partition.h.
 */
#include "pg/write/partition.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "parser/scansup.h"
#include "utils/builtins.h"

#include "base/ascii.h"
#include "pg/convert/typemap.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "vec/key.h"

List *
bifang_partition_list(ArrayType *elements)
{
	List *result = NIL;
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(elements, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("partition_by must not contain nulls")));
		result = lappend(result, TextDatumGetCString(values[i]));
	}
	return result;
}

static bool
is_blank(const char *s)
{
	return s[strspn(s, " \t\r\n")] == '\0';
}

/* At commas outside of parentheses and quotes. */
static List *
split(const char *text)
{
	List *parts = NIL;
	const char *start = text;
	bool quoted = false;
	int depth = 0;

	for (const char *p = text;; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted && *p == '(')
			depth++;
		else if (!quoted && *p == ')')
			depth--;
		if (*p == '\0' || (*p == ',' && !quoted && depth == 0))
		{
			parts = lappend(parts, pnstrdup(start, (Size) (p - start)));
			start = p + 1;
		}
		if (*p == '\0')
			return parts;
	}
}

List *
bifang_partition_split(const char *text)
{
	return is_blank(text) ? NIL : split(text);
}

BIFANG_NORETURN static void
refuse_element(const char *element, const char *why)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("cannot partition by \"%s\": %s", element, why),
					errhint("Write a column or one of year(c), month(c), day(c), hour(c), "
							"bucket(n, c), truncate(n, c).")));
}

/* An identifier as SQL reads it: quoted, or folded to lower case. */
static char *
identifier(const char *element, const char *text)
{
	const char *start = text + strspn(text, " \t\r\n");
	const char *end = start + strlen(start);
	StringInfoData name;

	while (end > start && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	if (end == start)
		refuse_element(element, "a name is missing");
	if (*start != '"')
		return downcase_identifier(start, (int) (end - start), false, false);
	if (end - start < 2 || end[-1] != '"')
		refuse_element(element, "a quote is not closed");
	initStringInfo(&name);
	for (const char *p = start + 1; p < end - 1; p++)
	{
		appendStringInfoChar(&name, *p);
		if (*p == '"' && p + 1 < end - 1)
			p++;
	}
	return name.data;
}

static bool
is_number(const char *text)
{
	const char *start = text + strspn(text, " \t\r\n");
	size_t digits = strspn(start, "0123456789");

	return digits > 0 && is_blank(start + digits);
}

/* The Iceberg spelling of the transform and its column. */
static const char *
parse_element(const char *element, char **column)
{
	const char *open = strchr(element, '(');
	const char *quote = strchr(element, '"');
	const char *close;
	char *name;
	size_t len;
	List *arguments;

	if (open == NULL || (quote != NULL && quote < open))
	{
		*column = identifier(element, element);
		return "identity";
	}
	name = identifier(element, pnstrdup(element, (Size) (open - element)));
	len = strlen(name);
	close = strrchr(open, ')');
	if (close == NULL || !is_blank(close + 1))
		refuse_element(element, "a parenthesis is not closed");
	arguments = split(pnstrdup(open + 1, (Size) (close - open - 1)));
	if (strcmp(name, "bucket") == 0 || strcmp(name, "truncate") == 0)
	{
		const char *number;
		const char *other;
		int64_t n;

		if (list_length(arguments) != 2)
			refuse_element(element, "it takes a number and a column");
		number = linitial(arguments);
		other = lsecond(arguments);
		if (!is_number(number))
		{
			number = other;
			other = linitial(arguments);
		}
		if (!is_number(number))
			refuse_element(element, "it takes a number and a column");
		*column = identifier(element, other);
		number += strspn(number, " \t\r\n");
		(void) bf_ascii_number(number, strlen(number), PG_INT64_MAX, &n);
		if (n < 0)
			refuse_element(element, "its number is too large");
		return psprintf("%s[" INT64_FORMAT "]", name, n);
	}
	if (list_length(arguments) != 1)
		refuse_element(element, "it takes one column");
	*column = identifier(element, linitial(arguments));
	if (len > 1 && name[len - 1] == 's') /* days(ts), as Spark writes it */
		name[len - 1] = '\0';
	return name;
}

static bool
is_time(BfTransformKind kind)
{
	const BfTransformRow *row = bf_transform_row(kind);

	return row != NULL && row->is_time;
}

/* Twice the same, or two times of one column: Iceberg calls the second redundant. */
static bool
is_redundant(const BfIceSpec *spec, const BfIcePartitionField *f)
{
	for (const BfIcePartitionField *other = spec->fields; other < f; other++)
		if (other->source_id == f->source_id &&
			(other->transform.kind == f->transform.kind ||
			 (is_time(other->transform.kind) && is_time(f->transform.kind))))
			return true;
	return false;
}

BfIceSpec *
bifang_partition_spec(const BfSchema *schema, List *elements)
{
	BfIceSpec *spec = palloc0(sizeof *spec);
	ListCell *lc;

	spec->fields = palloc0(sizeof *spec->fields * (Size) Max(list_length(elements), 1));
	foreach (lc, elements)
	{
		const char *element = lfirst(lc);
		BfIcePartitionField *f = &spec->fields[spec->n_fields++];
		char *column;
		BfError err = {0};
		BfType result;
		int32_t i;

		f->transform_text = parse_element(element, &column);
		if (bf_transform_parse(f->transform_text, &f->transform, &err) != BF_OK ||
			f->transform.kind == BF_TRANSFORM_UNKNOWN)
			refuse_element(element, "no such transform");
		i = bf_schema_find_name(schema, bifang_to_utf8(column));
		if (i < 0)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
							errmsg("cannot partition by \"%s\": column \"%s\" does not exist",
								   element, column)));
		f->source_id = schema->fields[i].id;
		if (bf_transform_result_type(f->transform, schema->fields[i].type, &result, &err) != BF_OK)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("cannot partition by \"%s\": %s does not take column \"%s\" of type %s",
							element, f->transform_text, column,
							bifang_type_text(schema->fields[i].type))));
		if (is_redundant(spec, f))
			refuse_element(element, "the column is partitioned like that already");
	}
	return spec;
}

BfStatus
bifang_partition_of_row(const BfIceSpec *spec, const BfSchema *schema, const BfBatch *batch,
						int32 row, BfValue *values, BfBuffer *key, BfError *err)
{
	Assert(batch->n_cols == schema->n_fields);
	Assert(row >= 0 && row < batch->n_rows);
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		int32_t column = bf_schema_find_id(schema, spec->fields[i].source_id);
		BfValue source = {.is_null = true};

		memset(&values[i], 0, sizeof values[i]);
		if (column >= 0)
		{
			source.is_null = !bf_vector_get(&batch->cols[column], row, &source);
			source.type = batch->cols[column].type;
		}
		BF_TRY(bf_transform_apply(spec->fields[i].transform, &source, &values[i], err));
		BF_TRY(bf_key_value(key, &values[i], BF_KEY_ZERO_SIGNED, err));
	}
	return BF_OK;
}
