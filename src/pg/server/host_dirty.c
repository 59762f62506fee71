/*
 * pg/server/host_dirty.c: descriptors of files that have bytes which were not synced.
 *
 * The kernel tells once of bytes that it could not write back, and those who have the file open
 * then. A virtual descriptor that the server closes between a write and its sync is opened again
 * for the sync; what failed in between was told to nobody, and is forgotten with the inode. So from
 * the first write on a second descriptor of the same opening is held, and it is the one that syncs.
 *
 *     write ---> held ---> synced, let go
 *                  \---> another file needs the descriptor: synced and let go before its time;
 *                        a failure is what the file's next sync gives
 *
 * The server counts these descriptors among those that others than its files use, which may be a
 * third of all; connections to other servers are of them. Half of that third is for us.
 */
#include "pg/server/host_internal.h"

#include <fcntl.h>
#include <unistd.h>

#include "storage/fd.h"
#include "utils/wait_event.h"

typedef struct Dirty
{
	int fd;		 /* -1: none is held */
	int failed;	 /* errno of a sync; then none succeeds any more */
	uint64 used; /* when it was last written */
} Dirty;

/* Of each File by its number, which are small. */
static Dirty *files;
static int room;
static int n_held;
static uint64 clock_of_writes;

int
bifang_raw_descriptor(File file)
{
	/* Opens it again where it was closed, which FileGetRawDesc itself does from version 18 on. */
	return FileSize(file) < 0 ? -1 : FileGetRawDesc(file);
}

static BfStatus
make_room(File file, BfError *err)
{
	int more = Max(2 * room, file + 64);
	Dirty *bigger;

	Assert(file > 0);
	if (file < room)
		return BF_OK;
	bigger = realloc(files, (size_t) more * sizeof *files);
	if (bigger == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory");
	for (int i = room; i < more; i++)
		bigger[i] = (Dirty){.fd = -1};
	files = bigger;
	room = more;
	return BF_OK;
}

static int
sync_descriptor(int fd)
{
	int rc;

	pgstat_report_wait_start(WAIT_EVENT_DATA_FILE_SYNC);
	rc = fd < 0 ? -1 : pg_fdatasync(fd);
	pgstat_report_wait_end();
	return rc;
}

static void
let_go(Dirty *d)
{
	Assert(d->fd > 2);
	close(d->fd);
	d->fd = -1;
	n_held--;
	ReleaseExternalFD();
}

static bool
sync_held(Dirty *d)
{
	if (d->failed == 0 && sync_descriptor(d->fd) != 0)
		d->failed = errno != 0 ? errno : EIO;
	let_go(d);
	return d->failed == 0;
}

/* Syncs the file that was not written for the longest time. */
static bool
give_up_one(void)
{
	Dirty *oldest = NULL;

	for (int i = 0; i < room; i++)
		if (files[i].fd >= 0 && (oldest == NULL || files[i].used < oldest->used))
			oldest = &files[i];
	if (oldest == NULL)
		return false;
	(void) sync_held(oldest);
	return true;
}

BfStatus
bifang_dirty_hold(File file, BfError *err)
{
	Dirty *d;
	int fd;

	BF_TRY(make_room(file, err));
	d = &files[file];
	d->used = ++clock_of_writes;
	if (d->fd >= 0)
		return BF_OK;
	if (n_held >= Max(max_safe_fds / 6, 1))
		(void) give_up_one();
	while (!AcquireExternalFD())
		if (!give_up_one())
		{
			ReserveExternalFD(); /* others have them all; one more is no harm */
			break;
		}
	do
	{
		fd = bifang_raw_descriptor(file);
		fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	} while (fd < 0 && (errno == EMFILE || errno == ENFILE) && give_up_one());
	if (fd < 0)
	{
		int e = errno;

		ReleaseExternalFD();
		return bf_error_errno(err, e, "", "open file");
	}
	d->fd = fd;
	n_held++;
	return BF_OK;
}

bool
bifang_dirty_sync(File file)
{
	Assert(file > 0);
	if (file >= room || (files[file].fd < 0 && files[file].failed == 0))
		return sync_descriptor(bifang_raw_descriptor(file)) == 0;
	if (files[file].fd >= 0 && sync_held(&files[file]))
		return true;
	errno = files[file].failed;
	return errno == 0;
}

void
bifang_dirty_forget(File file)
{
	if (file >= room)
		return;
	if (files[file].fd >= 0)
		let_go(&files[file]);
	files[file] = (Dirty){.fd = -1};
}
