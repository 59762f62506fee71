/*
 * pg/module.h: settings of the extension, as C variables.
 */
#ifndef BIFANG_PG_MODULE_H
#define BIFANG_PG_MODULE_H

#include "postgres.h"

extern bool bifang_create_on_ddl; /* bifang.create_on_ddl: CREATE FOREIGN TABLE makes lake tables */

#endif
