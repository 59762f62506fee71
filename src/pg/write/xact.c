/*
 * pg/write/xact.c: see xact.h.
 */
#include "pg/write/xact.h"

#include "access/xact.h"

#include "pg/catalog/ledgers.h"
#include "pg/server/files.h"
#include "pg/write/ledger.h"
#include "pg/write/modify.h"

/* The transaction is being prepared: its outcome is no longer ours, so the files stay as they are
 * even when the backend fails from here on. */
static bool handed_over = false;

static void
make_durable(void)
{
	Assert(!handed_over);
	bifang_modify_flush(0);
	bifang_writers_sync();
}

static void
end_all(BifangFate fate)
{
	bifang_writers_end(fate);
	bifang_modify_forget();
	bifang_on_abort_end(fate == BIFANG_FATE_CUT);
	handed_over = false;
}

static void
on_xact(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT: make_durable(); break;
		case XACT_EVENT_PRE_PREPARE:
			make_durable();
			handed_over = true;
			break;
		case XACT_EVENT_COMMIT: end_all(BIFANG_FATE_KEEP); break;
		case XACT_EVENT_PREPARE: end_all(BIFANG_FATE_CLOSE); break;
		/* An error after PRE_COMMIT comes before the commit record (after it the server would
		 * panic), so what was synced can be cut again. */
		case XACT_EVENT_ABORT: end_all(handed_over ? BIFANG_FATE_CLOSE : BIFANG_FATE_CUT); break;
		default: break;
	}
}

static void
on_subxact(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	bool abort = event == SUBXACT_EVENT_ABORT_SUB;

	if (event != SUBXACT_EVENT_COMMIT_SUB && !abort)
		return;
	bifang_modify_end_sub(subid, parent, abort);
	bifang_on_abort_end_sub(subid, parent, abort);
	bifang_writers_end_sub(subid, parent, abort);
}

void
bifang_write_init(void)
{
	bifang_catalog_before_ledgers = bifang_modify_flush;
	bifang_writer_before_mark = bifang_modify_spill;
	RegisterXactCallback(on_xact, NULL);
	RegisterSubXactCallback(on_subxact, NULL);
}
