/*
 * pg/catalog/formats.h: the kinds of tables, as options and messages know them.
 *
 * A kind is a row of the table in pg/scan/kinds.c, which stands above; here is what those below
 * have to know of it. The rows are made known when the library is loaded.
 */
#ifndef BIFANG_PG_CATALOG_FORMATS_H
#define BIFANG_PG_CATALOG_FORMATS_H

#include "postgres.h"

typedef struct BifangFormat
{
	const char *name;	  /* the option's word: "kafka_log" */
	const char *is;		  /* what a table of it is: "plain Parquet files" */
	const char *location; /* what option location names; NULL = it has none */
	bool lake;			  /* an Iceberg table, in the catalog unless there is a location */
	bool log;			  /* records of a log: partitions of topics, transactions */
	bool parquet;		  /* rows may be in Parquet files */
	bool needs_location;  /* without one there is no table */
} BifangFormat;

/* The array ends with NULL, and is kept. */
extern void bifang_formats_set(const BifangFormat *const *formats);
extern const BifangFormat *const *bifang_formats(void);
/* The format that a word of option format means; NULL: none. */
extern const BifangFormat *bifang_format_find(const char *name);
/* A text in which {formats} stands for what tables of each are, {locations} for what their
 * locations name. Palloc'd unless neither is in it. */
extern const char *bifang_formats_text(const char *text);

#endif
