/*
 * pg/write/locks.c: see locks.h.
 *
 * Modes of a ledger's lock: its holder has ExclusiveLock. A reservation is AccessShareLock, which
 * that does not conflict with; a claim has AccessExclusiveLock for a moment, which it does.
 */
#include "pg/write/locks.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "pg/server/version.h"

#define LOCK_LEDGER 0xBF01
#define LOCK_TABLE 0xBF02
#define LOCK_UUID 0xBF03
#define LOCK_WORKER 0xBF04

static const LOCKMODE table_modes[] = {[BIFANG_TABLE_WRITE] = RowExclusiveLock,
									   [BIFANG_TABLE_MAINTAIN] = ShareUpdateExclusiveLock,
									   [BIFANG_TABLE_DROP] = AccessExclusiveLock};

static LOCKTAG
ledger_tag(int64 ledger_id)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) ((uint64) ledger_id >> 32), (uint32) ledger_id,
						 LOCK_LEDGER);
	return tag;
}

static LOCKTAG
table_tag(int64 table_id)
{
	LOCKTAG tag;

	Assert(table_id > 0);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) ((uint64) table_id >> 32), (uint32) table_id,
						 LOCK_TABLE);
	return tag;
}

bool
bifang_lock_table(int64 table_id, BifangTableLock mode)
{
	LOCKTAG tag = table_tag(table_id);

	return LockAcquire(&tag, table_modes[mode], false, false) != LOCKACQUIRE_ALREADY_HELD;
}

bool
bifang_try_lock_table(int64 table_id, BifangTableLock mode)
{
	LOCKTAG tag = table_tag(table_id);

	return LockAcquire(&tag, table_modes[mode], false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
bifang_unlock_table(int64 table_id, BifangTableLock mode)
{
	LOCKTAG tag = table_tag(table_id);

	LockRelease(&tag, table_modes[mode], false);
}

/* Conflicts with DROP alone, who waits for it included. */
bool
bifang_table_is_unwanted(int64 table_id)
{
	LOCKTAG tag = table_tag(table_id);

	if (LockAcquire(&tag, AccessShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, AccessShareLock, false);
	return false;
}

bool
bifang_claim_ledger(int64 ledger_id)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	if (LockAcquire(&tag, AccessExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	LockRelease(&tag, AccessExclusiveLock, false);
	return true;
}

bool
bifang_lock_ledger(int64 ledger_id, bool wait)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

void
bifang_unlock_ledger(int64 ledger_id)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	LockRelease(&tag, ExclusiveLock, false);
}

void
bifang_reserve_ledger(int64 ledger_id)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	(void) LockAcquire(&tag, AccessShareLock, false, false);
}

void
bifang_release_ledger(int64 ledger_id)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	LockRelease(&tag, AccessShareLock, false);
}

void
bifang_lock_uuid(const char *uuid)
{
	uint64 hash = hash_bytes_extended((const unsigned char *) uuid, (int) strlen(uuid), 0);
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (hash >> 32), (uint32) hash, LOCK_UUID);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

bool
bifang_claim_worker(Oid database, BifangWorkerRole role)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, database, 0, (uint32) role, LOCK_WORKER);
	return LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Two who look at once see nobody. */
bool
bifang_has_worker(Oid database, BifangWorkerRole role)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, database, 0, (uint32) role, LOCK_WORKER);
	if (LockAcquire(&tag, ShareLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, ShareLock, true);
	return false;
}

bool
bifang_ledger_is_locked(int64 ledger_id)
{
	LOCKTAG tag = ledger_tag(ledger_id);

	return bifang_lock_held(&tag, ExclusiveLock);
}

bool
bifang_table_is_locked(int64 table_id, BifangTableLock mode)
{
	LOCKTAG tag = table_tag(table_id);

	return bifang_lock_held(&tag, table_modes[mode]);
}
