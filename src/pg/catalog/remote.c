/*
 * pg/catalog/remote.c: see remote.h.
 *
 * A pointer that was read is kept in a list until nobody of the statement can ask for it again. A
 * statement is known by its snapshot: same address and same content. Each asker's memory context
 * holds the entry; while an asker of the statement runs, the address can't be another's. Where a
 * context lives on after its snapshot (the planner's), another snapshot may come to that address,
 * but then one of the same content, for which the pointer was read late enough just as well.
 */
#include "pg/catalog/remote.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "foreign/foreign.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "iceberg/location.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"

#define PARAMS_MAX 16
#define CATALOGS_NAMED 5 /* in a hint */

/* What the server's options and the user mapping say, palloc'd. */
typedef struct Params
{
	const char *server; /* name of the foreign server */
	const char *host;
	const char *port;
	const char *dbname;
	const char *schema; /* NULL = the login's search_path */
	int timeout;		/* seconds */
	BifangLoginOptions login;
	const char *keywords[PARAMS_MAX + 1]; /* for libpq, NULL at the end */
	const char *values[PARAMS_MAX + 1];
	int n;
	uint64 hash; /* of all of it */
} Params;

/* One per server, user and what their options are now. Closed at the transaction's end. */
typedef struct Remote
{
	dlist_node node;
	Oid serverid;
	Oid userid;
	uint64 hash;
	PGconn *conn;
	PGresult *result; /* the last answer; owned */
	bool busy;		  /* an error or a cancel broke in when this is still set at the next use */
} Remote;

typedef struct KnownPointer
{
	dlist_node node;
	bool listed; /* can be found */
	int uses;	 /* memory contexts that hold it, and the transaction when it is its */
	bool of_xact;
	const void *snapshot; /* address and content, unless of_xact */
	uint64 snapshot_hash;
	Oid serverid;
	Oid userid;
	uint64 hash; /* of Params and the catalog's name */
	char *ns;
	char *table;
	char *location;
} KnownPointer;

static dlist_head remotes = DLIST_STATIC_INIT(remotes);
static dlist_head pointers = DLIST_STATIC_INIT(pointers);

/* Options ------------------------------------------------------------------------------------- */

static void
add_param(Params *p, const char *keyword, const char *value)
{
	if (value == NULL)
		return;
	Assert(p->n < PARAMS_MAX);
	p->keywords[p->n] = keyword;
	p->values[p->n++] = value;
}

static uint64
params_hash(const Params *p)
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

static void
read_params(const BifangOptions *o, Params *p)
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
close_remote(Remote *r)
{
	dlist_delete(&r->node);
	PQclear(r->result);
	PQfinish(r->conn);
	ReleaseExternalFD();
	pfree(r);
}

static void
release_pointer(void *arg)
{
	KnownPointer *c = arg;

	if (--c->uses > 0)
		return;
	if (c->listed)
		dlist_delete(&c->node);
	pfree(c->ns);
	pfree(c->table);
	pfree(c->location);
	pfree(c);
}

static void
on_xact(XactEvent event, void *arg)
{
	dlist_mutable_iter it;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	dlist_foreach_modify(it, &remotes) close_remote(dlist_container(Remote, node, it.cur));
	dlist_foreach_modify(it, &pointers)
	{
		KnownPointer *c = dlist_container(KnownPointer, node, it.cur);

		dlist_delete(&c->node);
		c->listed = false;
		if (c->of_xact)
			release_pointer(c);
	}
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
		Remote *r = dlist_container(Remote, node, it.cur);

		if (r->busy)
			close_remote(r);
	}
}

/* Text of the other side as the client may get it: valid, and without the password. */
static char *
clean_text(const Params *p, const char *text)
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
static void fail_remote(Remote *r, const Params *p, int sqlstate, const char *what,
						const char *why) BIFANG_NORETURN;

static void
fail_remote(Remote *r, const Params *p, int sqlstate, const char *what, const char *why)
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
wait_socket(Remote *r, int wanted, TimestampTz deadline)
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
deadline_of(const Params *p)
{
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) p->timeout * 1000);
}

static void
establish(Remote *r, const Params *p)
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

static Remote *
connect_remote(const BifangOptions *o, const Params *p)
{
	static bool registered = false;
	Remote *r = MemoryContextAllocZero(TopMemoryContext, sizeof *r);

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
static Remote *
open_remote(const BifangOptions *o, const Params *p)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &remotes)
	{
		Remote *r = dlist_container(Remote, node, it.cur);

		if (r->busy)
			close_remote(r);
		else if (r->serverid == o->serverid && r->userid == o->userid && r->hash == p->hash)
			return r;
	}
	return NULL;
}

/* Questions ----------------------------------------------------------------------------------- */

/* "name" whatever the other server's keywords are. */
static void
append_quoted(StringInfo s, const char *name)
{
	appendStringInfoChar(s, '"');
	for (const char *c = name; *c != '\0'; c++)
	{
		if (*c == '"')
			appendStringInfoChar(s, '"');
		appendStringInfoChar(s, *c);
	}
	appendStringInfoChar(s, '"');
}

/* The table's name in the other database. */
static const char *
tables_name(const Params *p)
{
	StringInfoData s;

	if (p->schema == NULL)
		return "iceberg_tables";
	initStringInfo(&s);
	append_quoted(&s, p->schema);
	appendStringInfoString(&s, ".iceberg_tables");
	return s.data;
}

/* False: the connection was lost before there was an answer. */
static bool
exchange(Remote *r, const Params *p, const char *sql, int n, const char *const *args)
{
	static const Oid types[3] = {TEXTOID, TEXTOID, TEXTOID};
	TimestampTz deadline = deadline_of(p);
	PGresult *next;

	Assert(n <= (int) lengthof(types));
	PQclear(r->result);
	r->result = NULL;
	if (!PQsendQueryParams(r->conn, sql, n, types, args, NULL, NULL, 0))
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
		PQclear(r->result);
		r->result = next;
	}
	return r->result != NULL && PQstatus(r->conn) != CONNECTION_BAD;
}

/* The other server's refusal, under its own SQLSTATE. */
static void refuse(Remote *r, const Params *p) BIFANG_NORETURN;

static void
refuse(Remote *r, const Params *p)
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

/* Asks, over the transaction's connection or a new one. The answer is r->result until the next. */
static Remote *
ask(const BifangOptions *o, const Params *p, const char *sql, int n, const char *const *args)
{
	Remote *r;
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

/* A value of the answer, palloc'd and valid in this database's encoding; NULL for NULL. */
static char *
value_at(const Remote *r, int row, int column)
{
	const char *value;

	if (PQgetisnull(r->result, row, column))
		return NULL;
	value = PQgetvalue(r->result, row, column);
	(void) pg_verifymbstr(value, PQgetlength(r->result, row, column), false);
	return pstrdup(value);
}

/* In layout V0 everything is a table, in V1 views have rows too. */
static bool
is_table(const Remote *r, int row, int column)
{
	return PQgetisnull(r->result, row, column) ||
		   strcmp(PQgetvalue(r->result, row, column), "TABLE") == 0;
}

/* The column that V0 lacks is asked for by way of the whole row. Operators and types are named in
 * full: other schemas of that database are not trusted. */
#define IS(column, arg) "t." column "::pg_catalog.text OPERATOR(pg_catalog.=) " arg
#define TYPE_OF_T "pg_catalog.to_jsonb(t) OPERATOR(pg_catalog.->>) 'iceberg_type'::pg_catalog.text"

/* What catalogs there are instead: their name is what is wrong most of the time. */
static char *
other_catalogs(const BifangOptions *o, const Params *p)
{
	const char *sql =
		psprintf("SELECT DISTINCT t.catalog_name::pg_catalog.text FROM %s t ORDER BY 1 LIMIT %d",
				 tables_name(p), CATALOGS_NAMED + 1);
	Remote *r = ask(o, p, sql, 0, NULL);
	int n = PQntuples(r->result);
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < n && i < CATALOGS_NAMED; i++)
	{
		char *name = value_at(r, i, 0);

		if (strcmp(name, o->catalog_name) == 0)
			return NULL;
		appendStringInfo(&s, "%s\"%s\"", i == 0 ? "" : ", ", name);
	}
	return n == 0
			   ? NULL
			   : psprintf("Catalogs there: %s%s. Option \"catalog_name\" of server \"%s\" chooses "
						  "one.",
						  s.data, n > CATALOGS_NAMED ? ", ..." : "", p->server);
}

static bool
is_file(const char *path)
{
	BfPathInfo info;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), path, &info, &err), &err);
	return info.kind == BF_PATH_FILE;
}

/* A recorded location as a local path: as it stands when that is a file here, else by the server's
 * location_map. NULL: elsewhere. */
static char *
local_location(const BifangOptions *o, const char *location)
{
	BfLocation nowhere = {.recorded = "none://none/", .found = "/", .written = "none://none/"};
	bool local = location[0] == '/' || strncmp(location, "file:", 5) == 0;
	char *result = local ? bifang_local_path(location, "metadata location of a lake table") : NULL;
	BfLocationMap *map;
	const char *path;
	BfArena *a;
	BfError err;

	if (o->location_map == NULL || (local && is_file(result)))
		return result;
	a = bifang_arena(CurrentMemoryContext, "location map", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_location_map_parse(a, o->location_map, &map, &err), &err);
	nowhere.map = map;
	if (bf_location_resolve(a, &nowhere, location, &path, &err) == BF_OK && path[0] == '/')
		result = pstrdup(path);
	bifang_arena_free(a);
	return result;
}

static char *
ask_pointer(const BifangOptions *o, const Params *p)
{
	const char *args[3] = {o->catalog_name, o->ns, o->table};
	Remote *r = ask(o, p,
					psprintf("SELECT t.metadata_location, " TYPE_OF_T
							 " FROM %s t WHERE " IS("catalog_name", "$1") " AND " IS(
								 "table_namespace", "$2") " AND " IS("table_name", "$3"),
							 tables_name(p)),
					3, args);
	bool found = PQntuples(r->result) > 0;
	char *location;
	char *local;
	char *hint;

	if (found && !is_table(r, 0, 1))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s.%s\" in catalog \"%s\" of server \"%s\" is not a table", o->ns,
							   o->table, o->catalog_name, p->server)));
	if (!found)
	{
		hint = other_catalogs(o, p);
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\" of server "
							   "\"%s\"",
							   o->ns, o->table, o->catalog_name, p->server),
						hint == NULL ? 0 : errhint("%s", hint)));
	}
	location = value_at(r, 0, 0);
	if (location == NULL)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("catalog row of lake table \"%s.%s\" has no metadata location",
							   o->ns, o->table)));
	local = local_location(o, location);
	if (local == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("metadata of lake table \"%s.%s\" is not a local file: \"%s\"", o->ns,
						o->table, location),
				 errhint("Option \"location_map\" says which directories stand for others.")));
	return local;
}

/* Answers ------------------------------------------------------------------------------------- */

static uint64
snapshot_hash(Snapshot snap)
{
	uint64 h = hash_bytes_extended((const unsigned char *) snap->xip,
								   (int) (snap->xcnt * sizeof(TransactionId)), snap->xmin);

	h = hash_combine64(h, snap->xmax);
	h = hash_combine64(h, (uint64) snap->suboverflowed);
	return hash_combine64(
		h, hash_bytes_extended((const unsigned char *) snap->subxip,
							   (int) ((uint32) snap->subxcnt * sizeof(TransactionId)),
							   (uint64) snap->subxcnt));
}

static KnownPointer *
find_pointer(const KnownPointer *key)
{
	dlist_iter it;

	dlist_foreach(it, &pointers)
	{
		KnownPointer *c = dlist_container(KnownPointer, node, it.cur);

		if (c->serverid == key->serverid && c->userid == key->userid && c->hash == key->hash &&
			strcmp(c->ns, key->ns) == 0 && strcmp(c->table, key->table) == 0 &&
			(c->of_xact ||
			 (c->snapshot == key->snapshot && c->snapshot_hash == key->snapshot_hash)))
			return c;
	}
	return NULL;
}

/* Kept as long as CurrentMemoryContext lives. */
static KnownPointer *
keep_pointer(const KnownPointer *key, const char *location)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	KnownPointer *c = palloc(sizeof *c);

	*c = *key;
	c->ns = pstrdup(key->ns);
	c->table = pstrdup(key->table);
	c->location = pstrdup(location);
	c->uses = c->of_xact ? 1 : 0;
	c->listed = true;
	dlist_push_head(&pointers, &c->node);
	MemoryContextSwitchTo(old);
	return c;
}

void
bifang_remote_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out)
{
	MemoryContextCallback *hold;
	KnownPointer *c;
	KnownPointer key = {0};
	Params p;

	read_params(o, &p);
	key.of_xact = IsolationUsesXactSnapshot();
	if (!key.of_xact)
	{
		key.snapshot = snap;
		key.snapshot_hash = snapshot_hash(snap);
	}
	key.serverid = o->serverid;
	key.userid = o->userid;
	key.hash = hash_bytes_extended((const unsigned char *) o->catalog_name,
								   (int) strlen(o->catalog_name), p.hash);
	key.ns = unconstify(char *, o->ns);
	key.table = unconstify(char *, o->table);
	hold = palloc(sizeof *hold);
	c = find_pointer(&key);
	if (c == NULL)
		c = keep_pointer(&key, ask_pointer(o, &p));
	hold->func = release_pointer;
	hold->arg = c;
	c->uses++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, hold);
	out->catalog = pstrdup(o->catalog_name);
	out->ns = pstrdup(o->ns);
	out->name = pstrdup(o->table);
	out->metadata_location = pstrdup(c->location);
}

/* The local metadata file of a row; NULL, with a WARNING, when there is none. */
static char *
importable(const BifangOptions *o, const BifangLakeTable *row)
{
	char *path = row->metadata_location == NULL ? NULL : local_location(o, row->metadata_location);

	if (path != NULL && is_file(path))
		return path;
	ereport(WARNING,
			(errmsg("table \"%s\" is left out: its metadata is not a local file: \"%s\"", row->name,
					row->metadata_location == NULL ? "" : row->metadata_location)));
	return NULL;
}

void
bifang_remote_visit_tables(const BifangOptions *o, const char *ns, BifangTableVisit visit,
						   void *arg)
{
	const char *args[2] = {o->catalog_name, ns};
	BifangLakeTable *rows;
	int n = 0;
	Remote *r;
	Params p;

	read_params(o, &p);
	r = ask(o, &p,
			psprintf("SELECT t.table_name, t.metadata_location, " TYPE_OF_T " FROM %s t WHERE " IS(
						 "catalog_name", "$1") " AND " IS("table_namespace", "$2") " ORDER BY 1",
					 tables_name(&p)),
			2, args);
	rows = palloc_extended((Size) PQntuples(r->result) * sizeof *rows + 1, MCXT_ALLOC_HUGE);
	for (int i = 0; i < PQntuples(r->result); i++)
		if (is_table(r, i, 2))
			rows[n++] =
				(BifangLakeTable){o->catalog_name, ns, value_at(r, i, 0), value_at(r, i, 1)};
	if (n == 0)
	{
		char *hint = other_catalogs(o, &p);

		ereport(ERROR, (errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
						errmsg("namespace \"%s\" has no tables in catalog \"%s\" of server \"%s\"",
							   ns, o->catalog_name, p.server),
						hint == NULL ? 0 : errhint("%s", hint)));
	}
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[i].metadata_location = importable(o, &rows[i]);
		if (rows[i].metadata_location == NULL)
			continue;
		if (!visit(arg, &rows[i]))
			break;
	}
}
