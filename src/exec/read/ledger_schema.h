/*
 * exec/read/ledger_schema.h: the schema that a ledger's rows are written with: in a file of a live
 * ledger's directory, in a block of an offload file.
 */
#ifndef BF_EXEC_READ_LEDGER_SCHEMA_H
#define BF_EXEC_READ_LEDGER_SCHEMA_H

#include "log/offload.h"
#include "vec/type.h"

/* In a ledger's directory: an Avro schema with field ids. */
#define BF_LEDGER_SCHEMA_FILE "schema.json"

typedef enum BfLedgerPlace
{
	BF_LEDGER_LIVE,	  /* path is the ledger's directory */
	BF_LEDGER_OFFLOAD /* path is the .bfo file */
} BfLedgerPlace;

extern BfStatus bf_exec_ledger_schema(BfArena *a, BfLedgerPlace place, const char *path,
									  BfSchema **out, BfError *err) BF_MUST_CHECK;
/* The same for readers, which have the offload file open. */
extern BfStatus
bfi_ledger_live_schema(BfArena *a, const char *dir, BfSchema **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_ledger_offload_schema(BfArena *a, const BfOffloadFile *f, BfSchema **out,
										  BfError *err) BF_MUST_CHECK;

#endif
