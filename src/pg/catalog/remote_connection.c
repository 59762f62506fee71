/*
 * pg/catalog/remote_connection.c: see remote_connection.h.
 */
#include "pg/catalog/remote_connection.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pg/server/error.h"

static dlist_head remotes = DLIST_STATIC_INIT(remotes);

/* Options ------------------------------------------------------------------------------------- */

static void
add_param(BifangRemoteParams *p, const char *keyword, const char *value)
{
	if (value == NULL)
		return;
	Assert(p->n < BIFANG_REMOTE_PARAMS_MAX);
	p->keywords[p->n] = keyword;
	p->values[p->n++] = value;
}

static uint64
params_hash(const BifangRemoteParams *p)
{
	StringInfoData s;
	uint64 hash;

	initStringInfo(&s);
	appendStringInfo(&s, "%s%c%d%c%d", p->schema == NULL ? "" : p->schema, 0, p->timeout, 0,
					 p->login.password_required);
	for (int i = 0; i < p->n; i++)
		appendStringInfo(&s, "%c%s=%s", 0, p->keywords[i], p->values[i]);
	hash = hash_bytes_extended((const unsigned char *) s.data, s.len, 0);
	memset(s.data, 0, (size_t) s.len);
	pfree(s.data);
	return hash;
}

void
bifang_remote_params(const BifangOptions *o, BifangRemoteParams *p)
{
	const BifangLoginOptions *login = &p->login;

	memset(p, 0, sizeof *p);
	bifang_login_options_get(o->userid, o->serverid, &p->login);
	p->server = GetForeignServer(o->serverid)->servername;
	p->schema = o->catalog_schema;
	p->timeout = o->catalog_timeout;
	add_param(p, "host", p->host = o->catalog_host);
	add_param(p, "port", p->port = o->catalog_port);
	add_param(p, "dbname", p->dbname = o->catalog_dbname);
	add_param(p, "sslmode", o->catalog_sslmode);
	add_param(p, "sslrootcert", o->catalog_sslrootcert);
	add_param(p, "user", login->user);
	add_param(p, "password", login->password);
	add_param(p, "sslcert", login->sslcert);
	add_param(p, "sslkey", login->sslkey);
	add_param(p, "client_encoding", GetDatabaseEncodingName());
	add_param(p, "application_name", "bifang_fdw");
	add_param(p, "gssencmode", "disable"); /* the server's tickets are nobody else's */
	p->hash = params_hash(p);
	if (p->login.user == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("user mapping for \"%s\" on server \"%s\" has no option \"user\"",
							   GetUserNameFromId(o->userid, false), p->server)));
	if (superuser_arg(o->userid))
		p->login.password_required = false;
	if (p->login.password_required && p->login.password == NULL)
		ereport(ERROR, (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
						errmsg("password is required"),
						errdetail("Non-superusers must provide a password in the user mapping.")));
}

/* Connections --------------------------------------------------------------------------------- */

static void
close_remote(BifangRemote *r)
{
	dlist_delete(&r->node);
	PQclear(r->result);
	PQfinish(r->conn);
	ReleaseExternalFD();
	pfree(r);
}

static void
on_xact(XactEvent event, void *arg)
{
	dlist_mutable_iter it;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	dlist_foreach_modify(it, &remotes) close_remote(dlist_container(BifangRemote, node, it.cur));
	Assert(dlist_is_empty(&remotes));
}

/* A savepoint's rollback frees what a cancelled or failed exchange left behind. */
static void
on_subxact(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	dlist_mutable_iter it;

	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	dlist_foreach_modify(it, &remotes)
	{
		BifangRemote *r = dlist_container(BifangRemote, node, it.cur);

		if (r->busy)
			close_remote(r);
	}
}

/* Text of the other side as the client may get it: valid, and without the password. */
static char *
clean_text(const BifangRemoteParams *p, const char *text)
{
	char *copy = pchomp(text);

	if (p->login.password != NULL && strstr(copy, p->login.password) != NULL &&
		strstr(p->login.user, p->login.password) == NULL &&
		strstr(p->host, p->login.password) == NULL &&
		(p->dbname == NULL || strstr(p->dbname, p->login.password) == NULL))
		return pstrdup("(text that has the password in it is left out)");
	if (!pg_verifymbstr(copy, (int) strlen(copy), true))
		for (char *c = copy; *c != '\0'; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	return copy;
}

/* Ends the connection, then says why. */
static void fail_remote(BifangRemote *r, const BifangRemoteParams *p, int sqlstate,
						const char *what, const char *why) BIFANG_NORETURN;

static void
fail_remote(BifangRemote *r, const BifangRemoteParams *p, int sqlstate, const char *what,
			const char *why)
{
	char *detail = clean_text(p, why != NULL ? why : PQerrorMessage(r->conn));

	close_remote(r);
	ereport(ERROR, (errcode(sqlstate),
					errmsg("%s the catalog of server \"%s\" on host \"%s\", port %s", what,
						   p->server, p->host, p->port == NULL ? DEF_PGPORT_STR : p->port),
					detail[0] == '\0' ? 0 : errdetail_internal("%s", detail)));
}

/* Sleeps until the socket is ready. False: it took too long. */
static bool
wait_socket(BifangRemote *r, int wanted, TimestampTz deadline)
{
	int events = WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | wanted;

	for (;;)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int rc;

		if (left <= 0)
			return false;
		rc = WaitLatchOrSocket(MyLatch, events, PQsocket(r->conn), left, PG_WAIT_EXTENSION);
		if (rc & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (rc & wanted)
			return true;
	}
}

static TimestampTz
deadline_of(const BifangRemoteParams *p)
{
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) p->timeout * 1000);
}

static void
establish(BifangRemote *r, const BifangRemoteParams *p)
{
	static const char what[] = "could not connect to";
	TimestampTz deadline = deadline_of(p);
	PostgresPollingStatusType poll = PGRES_POLLING_WRITING;

	if (PQstatus(r->conn) == CONNECTION_BAD)
		fail_remote(r, p, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION, what, NULL);
	while (poll != PGRES_POLLING_OK)
	{
		if (!wait_socket(r,
						 poll == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE,
						 deadline))
			fail_remote(r, p, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION, what,
						psprintf("There was no answer within %d s.", p->timeout));
		poll = PQconnectPoll(r->conn);
		if (poll == PGRES_POLLING_FAILED)
			fail_remote(r, p, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION, what, NULL);
	}
	if (p->login.password_required && !PQconnectionUsedPassword(r->conn))
	{
		close_remote(r);
		ereport(ERROR, (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
						errmsg("password is required"),
						errdetail("Non-superusers cannot connect if the catalog's server does not "
								  "request a password."),
						errhint("Its authentication method must be changed, or a superuser sets "
								"password_required 'false' in the user mapping.")));
	}
}

/* They would go to the server's log as they are. */
static void
ignore_notice(void *arg, const char *message)
{
	(void) arg;
	(void) message;
}

static BifangRemote *
connect_remote(const BifangOptions *o, const BifangRemoteParams *p)
{
	static bool registered = false;
	BifangRemote *r = MemoryContextAllocZero(TopMemoryContext, sizeof *r);

	if (!registered)
	{
		RegisterXactCallback(on_xact, NULL);
		RegisterSubXactCallback(on_subxact, NULL);
		registered = true;
	}
	r->serverid = o->serverid;
	r->userid = o->userid;
	r->hash = p->hash;
	if (!AcquireExternalFD())
	{
		pfree(r);
		ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
						errmsg("too many open files for a connection to the catalog of server "
							   "\"%s\"",
							   p->server),
						errhint("Raise max_files_per_process.")));
	}
	r->conn = PQconnectStartParams(p->keywords, p->values, 0);
	if (r->conn == NULL)
	{
		ReleaseExternalFD();
		pfree(r);
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	}
	PQsetNoticeProcessor(r->conn, ignore_notice, NULL);
	dlist_push_head(&remotes, &r->node);
	r->busy = true;
	establish(r, p);
	r->busy = false;
	return r;
}

/* NULL = none that can be used. */
static BifangRemote *
open_remote(const BifangOptions *o, const BifangRemoteParams *p)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &remotes)
	{
		BifangRemote *r = dlist_container(BifangRemote, node, it.cur);

		if (r->busy)
			close_remote(r);
		else if (r->serverid == o->serverid && r->userid == o->userid && r->hash == p->hash)
			return r;
	}
	return NULL;
}

/* Questions ----------------------------------------------------------------------------------- */

/* Adds a row to the answer, or ends the connection: what the other side sends is as long as it
 * likes. */
static void
keep_row(BifangRemote *r, const BifangRemoteParams *p, PGresult *row)
{
	int at = r->result == NULL ? 0 : PQntuples(r->result);
	bool kept = true;

	Assert(PQntuples(row) == 1);
	if (r->result == NULL)
		kept = (r->result = PQcopyResult(row, PG_COPYRES_ATTRS)) != NULL;
	for (int i = 0; kept && i < PQnfields(row); i++)
		kept = PQgetisnull(row, 0, i)
				   ? PQsetvalue(r->result, at, i, NULL, -1)
				   : PQsetvalue(r->result, at, i, PQgetvalue(row, 0, i), PQgetlength(row, 0, i));
	PQclear(row);
	if (!kept)
		fail_remote(r, p, ERRCODE_OUT_OF_MEMORY, "no memory for the answer of", "");
	if (PQresultMemorySize(r->result) > BIFANG_REMOTE_ANSWER_MAX)
		fail_remote(r, p, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "too long an answer from",
					psprintf("At most %d MB are taken.", BIFANG_REMOTE_ANSWER_MAX >> 20));
}

/* False: the connection was lost before there was an answer. */
static bool
exchange(BifangRemote *r, const BifangRemoteParams *p, const char *sql, int n,
		 const char *const *args)
{
	static const Oid types[3] = {TEXTOID, TEXTOID, TEXTOID};
	TimestampTz deadline = deadline_of(p);
	PGresult *next;

	Assert(n <= (int) lengthof(types));
	Assert(r->busy); /* so that an error closes it */
	PQclear(r->result);
	r->result = NULL;
	if (!PQsendQueryParams(r->conn, sql, n, types, args, NULL, NULL, 0) ||
		!PQsetSingleRowMode(r->conn))
		return false;
	for (;;)
	{
		while (PQisBusy(r->conn))
		{
			if (!wait_socket(r, WL_SOCKET_READABLE, deadline))
				fail_remote(r, p, ERRCODE_CONNECTION_FAILURE, "no answer from",
							psprintf("There was none within %d s.", p->timeout));
			if (!PQconsumeInput(r->conn))
				return false;
		}
		next = PQgetResult(r->conn);
		if (next == NULL)
			break;
		if (PQresultStatus(next) == PGRES_SINGLE_TUPLE)
			keep_row(r, p, next);
		else if (PQresultStatus(next) == PGRES_TUPLES_OK && r->result != NULL)
			PQclear(next); /* the end of the rows */
		else
		{
			PQclear(r->result);
			r->result = next;
		}
	}
	return r->result != NULL && PQstatus(r->conn) != CONNECTION_BAD;
}

/* The other server's refusal, under its own SQLSTATE. */
static void refuse(BifangRemote *r, const BifangRemoteParams *p) BIFANG_NORETURN;

static void
refuse(BifangRemote *r, const BifangRemoteParams *p)
{
	const char *state = PQresultErrorField(r->result, PG_DIAG_SQLSTATE);
	const char *primary = PQresultErrorField(r->result, PG_DIAG_MESSAGE_PRIMARY);
	bool no_table = state != NULL && strcmp(state, "42P01") == 0;
	int sqlstate = ERRCODE_CONNECTION_FAILURE;
	char *text = clean_text(p, primary != NULL ? primary : PQerrorMessage(r->conn));

	if (state != NULL && strlen(state) == 5)
		sqlstate = MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
	close_remote(r);
	ereport(ERROR, (errcode(sqlstate),
					errmsg("could not read the catalog of server \"%s\": %s", p->server, text),
					no_table ? errhint("Option \"catalog_schema\" says where the catalog's tables "
									   "are, \"catalog_dbname\" in which database.")
							 : 0));
}

BifangRemote *
bifang_remote_ask(const BifangOptions *o, const BifangRemoteParams *p, const char *sql, int n,
				  const char *const *args)
{
	BifangRemote *r;
	bool kept;

	if (IsParallelWorker())
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("a parallel worker must not ask for a lake table's pointer")));
	CHECK_FOR_INTERRUPTS();
	r = open_remote(o, p);
	kept = r != NULL;
	if (r == NULL)
		r = connect_remote(o, p);
	r->busy = true;
	if (!exchange(r, p, sql, n, args))
	{
		if (!kept)
			fail_remote(r, p, ERRCODE_CONNECTION_FAILURE, "lost the connection to", NULL);
		/* The other server was restarted since the last question. */
		close_remote(r);
		r = connect_remote(o, p);
		r->busy = true;
		if (!exchange(r, p, sql, n, args))
			fail_remote(r, p, ERRCODE_CONNECTION_FAILURE, "lost the connection to", NULL);
	}
	if (PQresultStatus(r->result) != PGRES_TUPLES_OK)
		refuse(r, p);
	r->busy = false;
	return r;
}

char *
bifang_remote_value(const BifangRemote *r, int row, int column)
{
	const char *value;

	Assert(row >= 0 && row < PQntuples(r->result) && column < PQnfields(r->result));
	if (PQgetisnull(r->result, row, column))
		return NULL;
	value = PQgetvalue(r->result, row, column);
	(void) pg_verifymbstr(value, PQgetlength(r->result, row, column), false);
	return pstrdup(value);
}
