# A catalog in another server's database: both layouts of its tables, logins, one pointer per statement or
# transaction, and everything that can go wrong on the way there.
use strict;
use warnings;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use Lake qw(outcome);
use PostgreSQL::Test::Utils;
use Test::More;

my $secret = 'gehe!m-4711';
my $orders = "$ENV{BIFANG_TEST_DATA}/shop/orders/metadata";
my @rows = (0, 0, 40000, 80000, 120000);    # of v1 to v4

my $remote = PostgreSQL::Test::Cluster->new('catalogs');
$remote->init;
$remote->append_conf('postgresql.conf', "log_statement = all\nlog_connections = on\npassword_encryption = 'scram-sha-256'\n");
my $hba = slurp_file($remote->data_dir . '/pg_hba.conf');
unlink $remote->data_dir . '/pg_hba.conf';
append_to_file($remote->data_dir . '/pg_hba.conf', "local all lake scram-sha-256\n$hba");
$remote->start;

# The tables as Spark's JdbcCatalog (V0 and V1) and PyIceberg's SqlCatalog make them.
$remote->safe_psql('postgres', qq{
	CREATE ROLE lake LOGIN PASSWORD '$secret';
	CREATE ROLE open LOGIN;
	CREATE SCHEMA "V 0"; CREATE SCHEMA "odd ""schema""";
	CREATE TABLE "V 0".iceberg_tables (catalog_name varchar(255) NOT NULL, table_namespace varchar(255) NOT NULL, table_name varchar(255) NOT NULL,
		metadata_location varchar(1000), previous_metadata_location varchar(1000), PRIMARY KEY (catalog_name, table_namespace, table_name));
	CREATE TABLE public.iceberg_tables (LIKE "V 0".iceberg_tables INCLUDING ALL, iceberg_type varchar(5));
	CREATE TABLE "odd ""schema""".iceberg_tables (LIKE "V 0".iceberg_tables INCLUDING ALL);
	GRANT USAGE ON SCHEMA "V 0", "odd ""schema""" TO lake; GRANT SELECT ON "V 0".iceberg_tables, public.iceberg_tables TO lake, open;
	INSERT INTO "V 0".iceberg_tables VALUES ('spark', 'shop.eu', 'orders', 'file:$orders/v4.metadata.json');
	INSERT INTO public.iceberg_tables VALUES ('spark', 'shop', 'orders', 'file://$orders/v2.metadata.json', NULL, 'TABLE'),
		('spark', 'shop', 'older', '$orders/v2.metadata.json', NULL, NULL),
		('spark', 'shop', 'a_view', '$orders/v2.metadata.json', NULL, 'VIEW'),
		('spark', 'shop', 'far', 's3://bucket/far/metadata/v1.metadata.json', NULL, 'TABLE'),
		('spark', 'shop', 'gone', '$orders/v99.metadata.json', NULL, 'TABLE'),
		('spark', 'shop', 'hollow', NULL, NULL, 'TABLE'),
		('spark', 'ärger', 'Größe"n', '$orders/v3.metadata.json', NULL, 'TABLE'),
		('other', 'shop', 'orders', '$orders/v4.metadata.json', NULL, 'TABLE');
});

my $local = PostgreSQL::Test::Cluster->new('reader');
$local->init;
$local->append_conf('postgresql.conf', "max_prepared_transactions = 2\nlog_min_messages = debug1\n");
$local->start;
my $where = sprintf("catalog_host '%s', catalog_port '%d', catalog_dbname 'postgres'", $remote->host, $remote->port);
my $move = "$ENV{TESTDATADIR}/move.sh";

# Statements with the password go by a file with logging off: what we look for in the log is not ours.
sub quietly { return $local->safe_psql('postgres', "SET log_min_messages = panic; SET log_statement = none; SET log_min_error_statement = panic; $_[0]"); }
quietly(qq{
	CREATE EXTENSION bifang_fdw;
	CREATE SERVER v1 FOREIGN DATA WRAPPER bifang_fdw OPTIONS ($where, catalog_name 'spark');
	CREATE SERVER v0 FOREIGN DATA WRAPPER bifang_fdw OPTIONS ($where, catalog_schema 'V 0', catalog_name 'spark');
	CREATE USER MAPPING FOR postgres SERVER v1 OPTIONS (user 'lake', password '$secret');
	CREATE USER MAPPING FOR PUBLIC SERVER v0 OPTIONS (user 'lake', password '$secret');
});

sub in { return $local->safe_psql('postgres', $_[0]); }

# What a statement says when it fails.
sub failure
{
	my ($sql) = @_;
	my ($rc, $out, $err) = outcome($local, "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

	$err =~ s/^psql:<stdin>:\d+: //mg;
	$err =~ s/^LOCATION:.*\n?//mg;
	return $err;
}

sub pointer { return $remote->safe_psql('postgres', "UPDATE iceberg_tables SET metadata_location = '$orders/v$_[0].metadata.json' WHERE catalog_name = 'spark' AND table_name = 'orders'"); }
sub questions { my ($log) = slurp_file($remote->logfile); return scalar(() = $log =~ /SELECT pg_catalog\.left\(\(t\.metadata_location/g); }
sub connections { my ($log) = slurp_file($remote->logfile); return scalar(() = $log =~ /connection authorized: user=lake/g); }
sub left_open { return $remote->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bifang_fdw'"); }

# IMPORT ---------------------------------------------------------------------------------------------------------

my $err = failure('CREATE SCHEMA one; IMPORT FOREIGN SCHEMA shop FROM SERVER v1 INTO one');
is(in("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'one'::regnamespace"), 'older orders', 'V1: tables, but no view, are imported');
like($err, qr/WARNING.*table "far" is left out: its metadata is not a local file: "s3:/, 'what is elsewhere is named');
like($err, qr/WARNING.*table "gone" is left out/, 'what is missing, too');
like($err, qr/WARNING.*table "hollow" is left out/, 'and what has no metadata');
in('CREATE SCHEMA zero; IMPORT FOREIGN SCHEMA "shop.eu" FROM SERVER v0 INTO zero');
is(in('SELECT count(*), count(DISTINCT order_id) > 0 FROM zero.orders'), '120000|t', 'V0: imported and read');
is(in('SELECT count(*) FROM one.orders'), '40000', 'V1: read');
in('CREATE SCHEMA odd; IMPORT FOREIGN SCHEMA "ärger" FROM SERVER v1 INTO odd');
is(in('SELECT count(*) FROM odd."Größe""n"'), '80000', 'names of all kinds');
in('CREATE SCHEMA a_few; IMPORT FOREIGN SCHEMA shop LIMIT TO (older) FROM SERVER v1 INTO a_few');
is(in("SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'a_few'::regnamespace"), 'older', 'LIMIT TO');
like(failure('IMPORT FOREIGN SCHEMA nowhere FROM SERVER v1 INTO one'), qr/^ERROR:  HV00Q: namespace "nowhere" has no tables in catalog "spark" of server "v1"$/m, 'no such namespace');
in("ALTER SERVER v1 OPTIONS (SET catalog_name 'sprak')");
like(failure('IMPORT FOREIGN SCHEMA shop FROM SERVER v1 INTO one'), qr/^HINT:  Catalogs there: "other", "spark"\. Option "catalog_name" of server "v1" chooses one\.$/m, 'a wrong name of the catalog gets the right ones');
like(failure('SELECT count(*) FROM one.orders'), qr/HV00R: lake table "shop.orders" does not exist in catalog "sprak".*\nHINT:  Catalogs there: "other", "spark"/, 'in a scan, too');
in("ALTER SERVER v1 OPTIONS (SET catalog_name 'spark')");

# CREATE FOREIGN TABLE -------------------------------------------------------------------------------------------

in(q{CREATE FOREIGN TABLE hand (order_id bigint) SERVER v1 OPTIONS (namespace 'shop', "table" 'orders')});
like(in(q{SELECT attfdwoptions FROM pg_attribute WHERE attrelid = 'hand'::regclass AND attnum = 1}), qr/field_id=1/, 'columns are bound at creation');
like(failure(q{CREATE FOREIGN TABLE new (id int) SERVER v1 OPTIONS (namespace 'shop')}), qr/^ERROR:  HV00R: lake table "shop.new" does not exist/m, 'a table is never made there');
like(failure(q{CREATE FOREIGN TABLE v (id int) SERVER v1 OPTIONS (namespace 'shop', "table" 'a_view')}), qr/^ERROR:  42809: "shop.a_view" in catalog "spark" of server "v1" is not a table/m, 'a view is none');
like(failure(q{CREATE FOREIGN TABLE f (id int) SERVER v1 OPTIONS (namespace 'shop', "table" 'far')}), qr/^ERROR:  0A000: metadata of lake table "shop.far" is not a local file: "s3:/m, 'elsewhere');
like(failure(q{INSERT INTO hand VALUES (1)}), qr/^ERROR:  \w+: cannot insert into foreign table "hand"|does not allow inserts/m, 'read only: INSERT');
like(failure(q{SELECT bifang.commit('hand')}), qr/^ERROR:  0A000: .*\nDETAIL:  Its catalog is in another database, which is only read\.$/m, 'read only: commit');
like(failure(q{SELECT bifang.create_table('v1', 'shop', 'x', 'id int')}), qr/^ERROR:  0A000: catalog of server "v1" is in another database/m, 'read only: create_table');
like(failure(q{SELECT bifang.drop_table('v1', 'shop', 'orders')}), qr/^ERROR:  0A000: catalog of server "v1" is in another database/m, 'read only: drop_table');
is(in("SELECT count(*) FROM bifang.snapshots('hand')"), '1', 'functions that look at a table find it');

# Elsewhere, by a map ---------------------------------------------------------------------------------------------

$remote->safe_psql('postgres', "UPDATE iceberg_tables SET metadata_location = 's3://bucket/orders/metadata/v3.metadata.json' WHERE table_name = 'far'");
(my $dir = $orders) =~ s/\/orders\/metadata$//;
in("ALTER SERVER v1 OPTIONS (ADD location_map 's3://bucket=$dir')");
like(failure('CREATE SCHEMA mapped; IMPORT FOREIGN SCHEMA shop FROM SERVER v1 INTO mapped'), qr/"gone" is left out/, 'IMPORT with a map');
is(in('SELECT count(*) FROM mapped.far'), '80000', 'what the map says is read');
is(in('SELECT count(*) FROM mapped.orders'), '40000', 'and what it does not speak of');
in('ALTER SERVER v1 OPTIONS (DROP location_map)');
like(failure('SELECT count(*) FROM mapped.far'), qr/^ERROR:  0A000: metadata of lake table "shop.far" is not a local file: "s3:.*\nHINT:  Option "location_map"/m, 'without it no more');

# One pointer per statement, or per transaction ------------------------------------------------------------------

append_to_file($move, sprintf("psql -X -q -d '%s' -c \"UPDATE iceberg_tables SET metadata_location = '$orders/v\$1.metadata.json' WHERE catalog_name = 'spark' AND table_name = 'orders'\"\n", $remote->connstr('postgres')));
in("CREATE FUNCTION move(v int) RETURNS bigint VOLATILE LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; sh $move ' || v); RETURN -v; END \$\$");
my $during = "SELECT string_agg(n::text, ' ') FROM (SELECT count(*) n FROM one.orders UNION ALL SELECT move(%d) UNION ALL SELECT count(*) FROM hand) x;\n";
my $before = questions();
is(in(sprintf($during, 3)), '40000 -3 40000', 'two scans of a statement agree, whatever happens in between');
cmp_ok(questions() - $before, '<=', 3, 'which takes a question for each to plan and one to execute');
is(in('SELECT count(*) FROM one.orders'), '80000', 'the next statement sees the change');
is(in("BEGIN; SELECT count(*) FROM one.orders; SELECT move(4); SELECT count(*) FROM one.orders; COMMIT"), "80000\n-4\n120000", 'READ COMMITTED: each statement looks');
pointer(2);
$before = questions();
my $connected = connections();
is(in("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM one.orders; SELECT move(4); SELECT count(*) FROM one.orders, (SELECT 1) x; SAVEPOINT a; SELECT count(*) FROM hand; COMMIT"), "40000\n-4\n40000\n40000", 'REPEATABLE READ: one look per transaction');
is(questions() - $before, 1, 'and one question');
is(connections() - $connected, 1, 'over one connection');
in('SELECT move(2)');
is(in(q{DO $$ DECLARE a bigint; b bigint; BEGIN SELECT count(*) INTO a FROM one.orders; PERFORM move(3); SELECT count(*) INTO b FROM one.orders; CREATE TABLE seen AS SELECT a, b; END $$; SELECT * FROM seen}), '40000|80000', 'statements in a function look anew');
is(in("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM one.orders UNION ALL SELECT count(*) FROM hand; FETCH c; SELECT move(4); SELECT count(*) FROM hand; FETCH c; COMMIT"), "80000\n-4\n120000\n80000", 'a cursor keeps what it began with');
is(in("BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM one.orders; COMMIT; SELECT move(3); FETCH c"), "-3\n120000", 'a cursor WITH HOLD, too');
is(in("PREPARE q AS SELECT count(*) FROM one.orders; SET plan_cache_mode = force_generic_plan; EXECUTE q; SELECT move(4); EXECUTE q"), "80000\n-4\n120000", 'a generic plan looks at each execution');
is(in("BEGIN; SELECT count(*) FROM one.orders; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'"), '120000', 'PREPARE TRANSACTION');
is(left_open(), '0', 'nothing stays connected');
my $explain = in('EXPLAIN (ANALYZE, VERBOSE) SELECT count(*) FROM one.orders');
unlike($explain, qr/lake\b.*$secret|$secret/, 'EXPLAIN does not tell the password');

# Logins ---------------------------------------------------------------------------------------------------------

quietly("ALTER USER MAPPING FOR postgres SERVER v1 OPTIONS (SET password 'not-$secret')");
$err = failure('SELECT count(*) FROM one.orders');
like($err, qr/^ERROR:  08001: could not connect to the catalog of server "v1" on host "\Q@{[$remote->host]}\E", port \d+\nDETAIL:  .*password authentication failed for user "lake"/m, 'wrong password');
unlike($err, qr/$secret/, 'which is not told');
quietly("ALTER USER MAPPING FOR postgres SERVER v1 OPTIONS (SET password '$secret')");
is(in('SELECT count(*) FROM one.orders'), '120000', 'right again');
in('CREATE ROLE viewer; CREATE VIEW seen_by_all AS SELECT order_id FROM one.orders; GRANT SELECT ON seen_by_all TO viewer');
is(in('SET ROLE viewer; SELECT count(*) FROM seen_by_all'), '120000', "through a view its owner's mapping is used");
like(in('SET ROLE viewer; EXPLAIN SELECT count(*) FROM seen_by_all'), qr/Foreign Scan/, 'to plan, too');
in('CREATE ROLE joe; GRANT USAGE ON FOREIGN SERVER v1, v0 TO joe; GRANT USAGE ON SCHEMA one, zero TO joe; GRANT SELECT ON one.orders, zero.orders TO joe');
like(failure('SET ROLE joe; SELECT count(*) FROM one.orders'), qr/^ERROR:  42704: user mapping not found/m, 'no user mapping');
is(in('SET ROLE joe; SELECT count(*) FROM zero.orders'), '120000', 'the mapping of PUBLIC');
in("SET ROLE joe; CREATE USER MAPPING FOR joe SERVER v1 OPTIONS (user 'postgres')");
like(failure('SET ROLE joe; SELECT count(*) FROM one.orders'), qr/^ERROR:  2F003: password is required\nDETAIL:  Non-superusers must provide/m, 'who is no superuser needs a password');
in("SET ROLE joe; ALTER USER MAPPING FOR joe SERVER v1 OPTIONS (SET user 'open', ADD password 'unasked')");
like(failure('SET ROLE joe; SELECT count(*) FROM one.orders'), qr/^ERROR:  2F003: password is required\nDETAIL:  Non-superusers cannot connect if/m, 'and the other server has to ask for it');
in("ALTER USER MAPPING FOR joe SERVER v1 OPTIONS (ADD password_required 'false')");
is(in('SET ROLE joe; SELECT count(*) FROM one.orders'), '120000', 'unless a superuser says that it needs none');
like(failure("SET ROLE joe; ALTER USER MAPPING FOR joe SERVER v1 OPTIONS (SET user 'postgres')"), qr/^ERROR:  42501: permission denied for option "password_required"/m, 'which nobody else can build upon');
in('DROP USER MAPPING FOR joe SERVER v1; ALTER SERVER v1 OWNER TO postgres');
in("CREATE ROLE jane; GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO jane");
like(failure("SET ROLE jane; CREATE SERVER mine FOREIGN DATA WRAPPER bifang_fdw OPTIONS ($where)"), qr/^ERROR:  42501: permission denied for option "catalog_host"/m, 'a catalog names files, so it takes a role');
in('GRANT pg_read_server_files TO jane');
in("SET ROLE jane; CREATE SERVER mine FOREIGN DATA WRAPPER bifang_fdw OPTIONS ($where, catalog_name 'spark')");
quietly("CREATE USER MAPPING FOR PUBLIC SERVER mine OPTIONS (user 'lake', password '$secret')");
in(q{CREATE FOREIGN TABLE janes (order_id bigint) SERVER mine OPTIONS (namespace 'shop', "table" 'orders')});
is(in('SELECT count(*) FROM janes'), '120000', 'with it one can make the server');
in('REVOKE pg_read_server_files FROM jane');
like(failure('SELECT count(*) FROM janes'), qr/^ERROR:  42501: permission denied for option "catalog_host"/m, 'and the server works as long as its owner has it');
quietly("CREATE USER MAPPING FOR jane SERVER v1 OPTIONS (password '$secret')");
in('GRANT USAGE ON SCHEMA one TO jane; GRANT SELECT ON one.orders TO jane');
like(failure('SET ROLE jane; SELECT count(*) FROM one.orders'), qr/^ERROR:  HV00J: user mapping for "jane" on server "v1" has no option "user"/m, 'a mapping without a user');

# Servers that are not there, do not answer, or say no -----------------------------------------------------------

my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no socket: $!";
my $deaf = $listener->sockport;
my $closed = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Proto => 'tcp');
my $unused = $closed->sockport;
close $closed;
in("CREATE SERVER deaf FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host '127.0.0.1', catalog_port '$deaf'); CREATE SERVER unused FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host '127.0.0.1', catalog_port '$unused', catalog_sslmode 'disable')");
quietly("CREATE USER MAPPING FOR postgres SERVER $_ OPTIONS (user 'lake', password '$secret')") for 'deaf', 'unused';
in(qq{SET bifang.create_on_ddl = off; CREATE FOREIGN TABLE $_ (a int) SERVER $_}) for 'deaf', 'unused';
$err = failure('SELECT * FROM unused');
like($err, qr/^ERROR:  08001: could not connect to the catalog of server "unused" on host "127\.0\.0\.1", port $unused\nDETAIL:  .*Connection refused/m, 'nobody listens');
unlike($err, qr/$secret/, 'no password told');
like(failure("SET statement_timeout = '300ms'; SELECT * FROM deaf"), qr/^ERROR:  57014: canceling statement due to statement timeout/m, 'statement_timeout ends a connection that never comes');
like(failure("BEGIN; SET LOCAL statement_timeout = '300ms'; SAVEPOINT a; SELECT * FROM deaf; ROLLBACK TO a; SET LOCAL statement_timeout = 0; SELECT count(*) FROM one.orders; COMMIT"), qr/57014/, 'in a savepoint');
is(in(q{SET statement_timeout = '300ms'; DO $$ BEGIN PERFORM * FROM deaf; EXCEPTION WHEN query_canceled THEN NULL; END $$; RESET statement_timeout; SELECT count(*) FROM one.orders}), '120000', 'a caught cancel leaves nothing behind');
in("ALTER SERVER deaf OPTIONS (ADD catalog_timeout '1')");
like(failure('SELECT * FROM deaf'), qr/^ERROR:  08001: could not connect to the catalog of server "deaf" on host "127\.0\.0\.1", port $deaf\nDETAIL:  There was no answer within 1 s\./m, 'catalog_timeout does, too');
in("ALTER SERVER deaf OPTIONS (SET catalog_timeout '300')");
my $waiting = $local->background_psql('postgres', on_error_stop => 0);
$waiting->query_until(qr/on its way/, "\\echo on its way\nSELECT * FROM deaf;\n");
$local->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%deaf%' AND pid <> pg_backend_pid() AND wait_event_type = 'Extension'}) or die 'nobody waits';
in(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%deaf%' AND pid <> pg_backend_pid()});
ok($local->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%FROM deaf%' AND pid <> pg_backend_pid() AND state = 'active'}),
	'a cancel ends the wait');
$waiting->quit;
in("ALTER SERVER deaf OPTIONS (SET catalog_host '$ENV{TESTDATADIR}/no such dir')");
like(failure('SELECT * FROM deaf'), qr/^ERROR:  08001: .*no such dir/m, 'no such socket');

# A lock there: the question waits, and can be cancelled or time out.
my $locker = $remote->background_psql('postgres');
$locker->query_safe('BEGIN; LOCK TABLE iceberg_tables IN ACCESS EXCLUSIVE MODE');
like(failure("SET statement_timeout = '500ms'; SELECT count(*) FROM one.orders"), qr/^ERROR:  57014/m, 'a question that waits for a lock is cancelled');
in("ALTER SERVER v1 OPTIONS (ADD catalog_timeout '1')");
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  08006: no answer from the catalog of server "v1".*\nDETAIL:  There was none within 1 s\./m, 'or ends with catalog_timeout');
$locker->query_safe('ROLLBACK');
$locker->quit;
in('ALTER SERVER v1 OPTIONS (DROP catalog_timeout)');
is(in('SELECT count(*) FROM one.orders'), '120000', 'and works again');

# A catalog of very many rows or of one very long value is heard only so far.
sub peak
{
	return in("DO \$\$ BEGIN $_[0]; EXCEPTION WHEN OTHERS THEN NULL; END \$\$; SELECT (regexp_match(pg_read_file('/proc/self/status', 0, 10000), 'VmHWM:\\s+(\\d+)'))[1]");
}
$remote->safe_psql('postgres', q{
	CREATE SCHEMA endless; GRANT USAGE ON SCHEMA endless TO PUBLIC;
	CREATE VIEW endless.iceberg_tables AS SELECT 'spark' AS catalog_name, 'shop' AS table_namespace, 'orders' AS table_name, repeat('x', 4000) AS metadata_location
		FROM (SELECT generate_series(1, 100000)) AS g;
	CREATE SCHEMA huge; GRANT USAGE ON SCHEMA huge TO PUBLIC;
	CREATE VIEW huge.iceberg_tables AS SELECT 'spark' AS catalog_name, 'shop' AS table_namespace, 'orders' AS table_name, '/' || repeat('x', 100000000) AS metadata_location;
	GRANT SELECT ON endless.iceberg_tables, huge.iceberg_tables TO PUBLIC});
in("ALTER SERVER v1 OPTIONS (ADD catalog_schema 'endless', ADD catalog_timeout '180')");
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  54000: too long an answer from the catalog of server "v1".*\nDETAIL:  At most 64 MB are taken\./m, 'an answer of 400 MB');
cmp_ok(peak('PERFORM * FROM one.orders'), '<', 250000, 'takes little memory');
in("ALTER SERVER v1 OPTIONS (SET catalog_schema 'huge')");
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  HV024: metadata location of a lake table is too long$/m, 'a value of 100 MB');
cmp_ok(peak('PERFORM * FROM one.orders'), '<', 250000, 'takes little memory, too');
in('ALTER SERVER v1 OPTIONS (DROP catalog_schema, DROP catalog_timeout)');

# The other server is restarted in the middle of a transaction.
my $session = $local->background_psql('postgres', on_error_stop => 0);
is($session->query("BEGIN; SELECT count(*) FROM one.orders"), '120000', 'before the restart');
$remote->stop('fast');
$remote->start;
is($session->query("SELECT count(*) FROM one.orders"), '120000', 'a lost connection is made again');
$session->query('COMMIT');
$session->quit;

# The table is dropped there, then the catalog.
$remote->safe_psql('postgres', "DELETE FROM iceberg_tables WHERE catalog_name = 'spark' AND table_name = 'orders'");
$err = failure('SELECT count(*) FROM one.orders');
like($err, qr/^ERROR:  HV00R: lake table "shop.orders" does not exist in catalog "spark" of server "v1"$/m, 'a table that was dropped meanwhile');
unlike($err, qr/HINT/, 'when the catalog is right there is no hint about it');
$remote->safe_psql('postgres', 'REVOKE SELECT ON iceberg_tables FROM lake');
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  42501: could not read the catalog of server "v1": permission denied for table iceberg_tables/m, 'no right to read the catalog');
$remote->safe_psql('postgres', 'DROP TABLE iceberg_tables');
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  42P01: could not read the catalog of server "v1": relation "iceberg_tables" does not exist\nHINT:  Option "catalog_schema" says where/m, 'no catalog');
quietly("ALTER USER MAPPING FOR postgres SERVER v1 OPTIONS (SET user 'open', SET password 'iceberg_tables')");
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  42P01: could not read the catalog of server "v1": \(text that has the password in it is left out\)$/m, 'no password in what the other server says');
quietly("ALTER USER MAPPING FOR postgres SERVER v1 OPTIONS (SET user 'lake', SET password '$secret')");
in(q{ALTER SERVER v1 OPTIONS (ADD catalog_schema 'odd "schema"')});
like(failure('SELECT count(*) FROM one.orders'), qr/^ERROR:  42501: could not read the catalog of server "v1": permission denied/m, 'a schema of any name');

# An extension's own catalog in another database.
in("CREATE DATABASE theirs");
$local->safe_psql('theirs', 'CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE t (a int) SERVER lake; INSERT INTO t SELECT 1 FROM generate_series(1, 10)');
in(sprintf("CREATE SERVER theirs FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host '%s', catalog_port '%d', catalog_dbname 'theirs', catalog_schema 'bifang', catalog_name 'lake')", $local->host, $local->port));
in("CREATE USER MAPPING FOR postgres SERVER theirs OPTIONS (user 'postgres'); CREATE SCHEMA theirs; IMPORT FOREIGN SCHEMA public FROM SERVER theirs INTO theirs");
is(in('SELECT count(*) FROM theirs.t'), '0', 'rows that are in no Parquet file yet are theirs alone');
$local->safe_psql('theirs', "SELECT bifang.commit('t')");
like(failure('SELECT count(*) FROM theirs.t'), qr/which this database does not have/, 'and said to be so once the lake names them');

is(left_open(), '0', 'nothing stays connected');
unlike(slurp_file($local->logfile), qr/$secret/, 'the log does not have the password');
$local->stop;
$remote->stop;
done_testing();
