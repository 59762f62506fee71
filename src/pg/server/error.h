/*
 * pg/server/error.h: the only place where a core error becomes a PostgreSQL error.
 *
 *   BfStatus      SQLSTATE                                 text
 *   CORRUPT       XX001 data_corrupted                     "<object>": <text>
 *   UNSUPPORTED   0A000 feature_not_supported              likewise
 *   IO            58030 io_error, or by errno               <text>: %m
 *   NOTFOUND      58P01 undefined_file
 *   CONFLICT      40001 serialization_failure
 *   LIMIT, NOMEM  54000 program_limit_exceeded, 53200 out_of_memory
 *   AUTH          42501 insufficient_privilege
 *   CANCEL        57014 query_canceled, raised by CHECK_FOR_INTERRUPTS where it can
 *   VALUE         22000 data_exception
 *   HOST          the server's own error, as it was
 *
 * The byte position goes into the detail, the column into the message.
 */
#ifndef BIFANG_PG_SERVER_ERROR_H
#define BIFANG_PG_SERVER_ERROR_H

#include "postgres.h"

#include "base/status.h"

/* The server's own spelling changed in PostgreSQL 18. */
#define BIFANG_NORETURN __attribute__((noreturn))

extern void bifang_report(const BfError *err) BIFANG_NORETURN;
/* In PG_CATCH, of a callback of the core's: the error is kept until it is reported, by which the
 * core's frames are left. Returns BF_ERR_HOST. The caller has switched back to its own context. */
extern BfStatus bifang_keep_error(BfError *err);
/* Core errors raised below `elevel` ERROR: a WARNING or LOG line, returns. */
extern void bifang_warn(int elevel, const BfError *err);

#define BIFANG_CHECK(expr, err)        \
	do                                 \
	{                                  \
		if (unlikely((expr) != BF_OK)) \
			bifang_report(err);        \
	} while (0)

#endif
