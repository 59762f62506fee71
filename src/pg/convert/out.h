/*
 * pg/convert/out.h: column vectors into Datums.
 *
 * A BifangOut turns vectors of one lake type into arrays of Datums of one PostgreSQL type, many
 * rows per call and nothing allocated per row. What a Datum points to lives until the next call on
 * the same column, dictionary entries until the dictionary changes; UUIDs and other fixed-length
 * values may point into the vector itself.
 *
 *   lake type                         may be declared as
 *   boolean                           boolean
 *   all integers                      smallint integer bigint numeric "double precision" (checked)
 *   float, double, float16            real, double precision (checked); double also numeric
 *   decimal                           numeric, smallint integer bigint (checked)
 *   date                              date timestamp text
 *   time, time_ns                     time text
 *   timestamp(_ns)                    timestamp, text (ISO, all digits); _ns also bigint (raw)
 *   timestamptz(_ns)                  timestamptz, timestamp (in UTC), text; _ns also bigint (raw)
 *   int96                             timestamp, timestamptz, bytea
 *   string, enum, json                text varchar char name json jsonb bytea, enum types
 *   binary, fixed, bson               bytea, and as text where it is valid; fixed[16] also uuid
 *   uuid                              uuid, bytea, text
 *   interval                          interval
 *   geometry, geography               bytea (WKB)
 *   unknown                           anything, always NULL
 *   list                              arrays of what the element may be; of lists: rectangular ones
 *   struct                            composite types whose attributes are fields by name
 *   list, map, struct                 jsonb json text (json.c says how)
 *   variant                           as json
 *
 * "Checked": a value that would change raises 22003 (22008 for dates and times, 22021 for text that
 * the database cannot hold, 22001 for text that is too long), naming file and column (parts of
 * nested ones as `column.member` and `column[]`); or becomes NULL or, as to text, another one,
 * where the table's options out_of_range and invalid_text say so.
 */
#ifndef BIFANG_PG_CONVERT_OUT_H
#define BIFANG_PG_CONVERT_OUT_H

#include "postgres.h"

#include "pg/convert/policy.h"
#include "vec/batch.h"

typedef struct BifangOut BifangOut;

/* What becomes of what. */
typedef struct BifangOutWhat
{
	const BfField *field; /* borrowed: lives as long as the conversion */
	Oid typid;
	int32 typmod;
	const char *column;
	const char *file; /* NULL: errors of making it don't name one */
	BifangTextPolicy invalid_text;
	BifangRangePolicy out_of_range;
} BifangOutWhat;

/* Can a table's column be read into a foreign table's column declared so? */
extern bool bifang_out_can_read(const BfField *from, Oid typid, int32 typmod);

/* Raises HV004 naming both types (and the file, if given) when there is no conversion. Everything
 * lives in cxt. */
extern BifangOut *bifang_out_new(MemoryContext cxt, const BifangOutWhat *what);
/* NULL is allowed. */
extern void bifang_out_free(BifangOut *o);
/* Says what the next vectors come from; dictionaries seen before are forgotten. */
extern void bifang_out_begin(BifangOut *o, const char *file);
/* Rows of a vector, ascending. */
typedef struct BifangRows
{
	const uint16 *list; /* NULL: all from `first` on */
	int32 first;
	int32 n; /* at least 1 */
} BifangRows;

static inline int32
bifang_row(const BifangRows *rows, int32 i)
{
	return rows->list != NULL ? rows->list[i] : rows->first + i;
}

/* How many of the rows make Datums of at most `bytes` together; at least 1. */
extern int32
bifang_out_fit(const BifangOut *o, const BfVector *v, const BifangRows *rows, int64 bytes);
/* The rows into values[0..n) and isnull[0..n). Says whether one of them is NULL. */
extern bool bifang_out_convert(BifangOut *o, const BfVector *v, const BifangRows *rows,
							   Datum *values, bool *isnull);

#endif
