/*
 * pg/catalog/option_table.h: the rows of option_list.h as one table: finding, checking, storing.
 *
 * The validator, hints for misspelt names, bifang.options() and the structs of options.h all come
 * from it.
 */
#ifndef BIFANG_PG_CATALOG_OPTION_TABLE_H
#define BIFANG_PG_CATALOG_OPTION_TABLE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "pg/catalog/formats.h"

/* Where an option may stand. Each place has its own struct of values: BifangOptions for servers,
 * tables and IMPORT, BifangColumnOptions, BifangLoginOptions. */
typedef enum BifangOptionPlace
{
	BIFANG_ON_SERVER = 1,
	BIFANG_ON_TABLE = 2,
	BIFANG_ON_COLUMN = 4,
	BIFANG_ON_IMPORT = 8,
	BIFANG_ON_MAPPING = 16
} BifangOptionPlace;

/* Raises unless the current user may set all of them there; `place` 0 has none. */
extern void bifang_option_check(List *options, int place);
/* Raises when one of them is of no use for tables of that format. What was set before, and what a
 * dump sets again, is let be: it does nothing there. */
extern void
bifang_option_check_format(List *options, BifangOptionPlace place, const BifangFormat *format);
/* Defaults into the struct of the places; what has none is 0 or NULL. */
extern void bifang_option_defaults(int places, void *out);
/* Values of the options that the place has into its struct; those of other names are left out.
 * Pointers go to the list's own strings, or are palloc'd. */
extern void bifang_option_take(List *options, BifangOptionPlace place, void *io);

#endif
