# Background workers: errors and what is done about them, and whose rights count.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('worker_errors',
	'shared_preload_libraries' => 'bifang_fdw',
	'bifang.worker_naptime' => '1s',
	'bifang.worker_launch_interval' => '1s',
	'bifang.worker_commit_age' => '1s',
	'bifang.worker_roll_age' => '2s',
	'bifang.worker_garbage_interval' => '2s');
my $same = '0 lost, 0 invented; 0 lost, 0 invented';

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub both { return "INSERT INTO t SELECT $_[0], g FROM generate_series(1, $_[1]) g; INSERT INTO twin SELECT $_[0], g FROM generate_series(1, $_[1]) g;"; }

# Says what was there instead when it does not come about.
sub becomes
{
	my ($query, $what) = @_;

	return if ok($node->poll_query_until('postgres', $query), $what);
	diag(sql('SELECT * FROM bifang.work'), "\n", sql('SELECT * FROM bifang.jobs'), "\n", sql('SELECT * FROM bifang.ledgers'));
	die 'nothing else comes about, then';
}

my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0777, $dir;
sql(qq{
	CREATE ROLE nobody LOGIN;
	CREATE ROLE writer LOGIN;
	CREATE ROLE keeper;
	GRANT pg_write_server_files, pg_read_server_files TO keeper;
	CREATE SERVER outside FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/lake', live_dir '$dir/live');
	GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO keeper;
	ALTER SERVER outside OWNER TO keeper;
	GRANT USAGE ON FOREIGN SERVER outside TO writer;
	GRANT CREATE ON SCHEMA public TO writer;
	SET ROLE writer;
	CREATE FOREIGN TABLE w (i int) SERVER outside;
	RESET ROLE;
	BEGIN;
	INSERT INTO w VALUES (1);
	REVOKE pg_write_server_files FROM keeper;
	COMMIT});
becomes("SELECT count(*) >= 3 FROM bifang.jobs WHERE table_name = 'w' AND kind = 'commit' AND error ~ 'permission denied'", 'a job that is not allowed is an error');
is(sql("SELECT bool_and(retry_at - started_at = 2 ^ failures * interval '1 s') FROM bifang.jobs WHERE table_name = 'w' AND kind = 'commit'"), 't',
	'one that fails waits twice as long each time');
is(sql("SELECT count(*) FROM bifang.work w JOIN bifang.tables t USING (table_id) WHERE t.table_name = 'w' AND kind = 'commit' AND failures >= 3 AND error ~ 'permission denied'"),
	'1', 'and is remembered');
is(sql("SET ROLE nobody; SELECT count(*) FROM bifang.jobs"), '0', 'others do not see that');
isnt(sql("SET ROLE writer; SELECT count(*) FROM bifang.jobs WHERE error IS NOT NULL"), '0', 'its owner does');
sql(both(11, 3));
becomes(q{SELECT bool_and(l.state = 'offloaded') FROM bifang.ledgers l WHERE table_name = 't'}, 'other tables are looked after');
sql('GRANT pg_write_server_files TO keeper');
becomes("SELECT bool_and(l.state = 'offloaded') FROM bifang.ledgers l", 'once the reason is gone it succeeds');
is(sql("SELECT count(*) FROM bifang.work WHERE failures > 0 OR error IS NOT NULL OR retry_at IS NOT NULL"), '0', 'and that is the end of it');

# One whose metadata is gone.
my $metadata = sql("SELECT metadata_location FROM bifang.tables WHERE table_name = 'w'") =~ s{^file://}{}r;
sql('INSERT INTO w VALUES (2)');
rename $metadata, "$metadata.x" or die;
becomes("SELECT count(*) >= 2 FROM bifang.jobs WHERE table_name = 'w' AND kind = 'look' AND failures >= 2", 'a table that can\'t be looked at is told of');
sql(both(12, 3));
becomes(q{SELECT bool_and(l.state = 'offloaded') FROM bifang.ledgers l WHERE table_name = 't'}, 'and in nobody\'s way');
rename "$metadata.x", $metadata or die;
becomes("SELECT bool_and(l.state = 'offloaded') FROM bifang.ledgers l", 'until it can');

# What is called by the job says who calls it.
sql(q{CREATE OR REPLACE FUNCTION bifang.roll("table" regclass, wait boolean DEFAULT false) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'as %, with %, %', current_user, current_setting('search_path'), $1;
	END$$;
	INSERT INTO w VALUES (3)});
becomes("SELECT count(*) >= 1 FROM bifang.jobs WHERE error = 'as writer, with pg_catalog, pg_temp, public.w'", 'a job runs with the rights of the table\'s owner');
sql(q{CREATE OR REPLACE FUNCTION bifang.roll("table" regclass, wait boolean DEFAULT false) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'with %', (SELECT set_config('role', 'postgres', false));
	END$$});
becomes("SELECT count(*) >= 1 FROM bifang.jobs WHERE error ~ 'within security-restricted operation'", 'which it can\'t exchange');
# What sessions of the database begin with is not the worker's.
my %session = ('role' => 'nobody', 'search_path' => 'public', 'default_transaction_isolation' => 'serializable', 'default_transaction_read_only' => 'on',
	'default_transaction_deferrable' => 'on', 'statement_timeout' => '1d', 'lock_timeout' => '1d', 'idle_in_transaction_session_timeout' => '1d',
	'bifang.as_of_snapshot' => '1', 'bifang.as_of_timestamp' => '2020-01-01', 'bifang.ref' => 'x');
my $c_garbage = sql("SELECT pg_get_functiondef('bifang.remove_garbage()'::regprocedure)");

sql(join('; ', "LOAD 'bifang_fdw'", map { "ALTER DATABASE postgres SET $_ = '$session{$_}'" } keys %session));
$ENV{PGOPTIONS} = '-c role=none -c default_transaction_read_only=off -c search_path=public';
sql(q{CREATE OR REPLACE FUNCTION bifang.remove_garbage() RETURNS integer LANGUAGE plpgsql AS $$BEGIN
		RAISE EXCEPTION 'as % of %, %', current_user, session_user, (SELECT string_agg(format('%s=%s', n, current_setting(n)), ' ') FROM unnest('{search_path,transaction_isolation,transaction_read_only,transaction_deferrable,
			statement_timeout,lock_timeout,idle_in_transaction_session_timeout,bifang.as_of_snapshot,bifang.as_of_timestamp,bifang.ref}'::text[]) n);
	END$$;
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang worker'});
becomes("SELECT count(*) >= 1 FROM bifang.jobs WHERE error = 'as postgres of postgres, search_path=pg_catalog, pg_temp transaction_isolation=read committed transaction_read_only=off transaction_deferrable=off "
	. "statement_timeout=0 lock_timeout=1min idle_in_transaction_session_timeout=0 bifang.as_of_snapshot= bifang.as_of_timestamp= bifang.ref='", 'what sessions of a database begin with is nothing to the worker');
sql("ALTER DATABASE postgres RESET ALL; $c_garbage");
delete $ENV{PGOPTIONS};
sql(q{CREATE OR REPLACE FUNCTION bifang.roll("table" regclass, wait boolean DEFAULT false) RETURNS integer LANGUAGE C VOLATILE STRICT AS '$libdir/bifang_fdw', 'bifang_roll'});
becomes("SELECT bool_and(l.state = 'offloaded') FROM bifang.ledgers l", 'and is done after all');

# Who owns the schema puts other things in its place.
sql('CREATE DATABASE theirs');
sql('GRANT CREATE ON DATABASE theirs TO nobody');
my $garbage_runs = q{SELECT started_at FROM bifang.work WHERE kind = 'garbage'};
$node->safe_psql('theirs', q{CREATE SCHEMA bifang; CREATE EXTENSION bifang_fdw; ALTER SCHEMA bifang OWNER TO nobody});
ok($node->poll_query_until('theirs', q{SELECT count(*) = 1 FROM bifang.work WHERE kind = 'garbage' AND failures = 0}), 'a schema that was there is no hindrance');
my @columns = map { my $t = $_; [$t, $node->safe_psql('theirs', qq{SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
	FROM pg_attribute WHERE attrelid = 'bifang.$t'::regclass AND attnum > 0})] } qw(work job iceberg_tables ledger);
$node->safe_psql('theirs', join('; ', 'SET ROLE nobody', 'ALTER SCHEMA bifang RENAME TO away', 'CREATE SCHEMA bifang',
	(map { "CREATE TABLE bifang.$_->[0] ($_->[1])" } @columns),
	'ALTER TABLE bifang.work ADD PRIMARY KEY (table_id, kind)',
	'CREATE SEQUENCE bifang.seen',
	q{CREATE FUNCTION bifang.remove_garbage() RETURNS integer LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('bifang.seen'); ALTER ROLE nobody SUPERUSER; RETURN 0; END$$}));
my $old_run = sql($garbage_runs);
becomes("SELECT started_at > '$old_run'::timestamptz + interval '6 s' FROM bifang.work WHERE kind = 'garbage'", 'time passes');
is($node->safe_psql('theirs', 'SELECT is_called FROM bifang.seen'), 'f', 'what only has the name of a job is not called');
is($node->safe_psql('theirs', 'SELECT count(*) FROM bifang.work'), '0', 'and what only has that of a table not written to');
is(sql("SELECT rolsuper FROM pg_roles WHERE rolname = 'nobody'"), 'f', 'nobody gets rights by it');
sql('DROP DATABASE theirs');

sql('ALTER EXTENSION bifang_fdw DROP FUNCTION bifang.remove_garbage()');
becomes("SELECT count(*) >= 1 FROM bifang.jobs WHERE kind = 'garbage' AND error ~ 'remove_garbage is not one of extension'", 'a function that left the extension is not called');
sql('ALTER EXTENSION bifang_fdw ADD FUNCTION bifang.remove_garbage()');
becomes("SELECT failures = 0 FROM bifang.work WHERE kind = 'garbage'", 'until it is back');
# As that of a role that has made the extension and is no superuser any more.
sql('ALTER FUNCTION bifang.remove_garbage() OWNER TO nobody');
becomes("SELECT failures > 0 AND error ~ 'that a superuser owns' FROM bifang.work WHERE kind = 'garbage'", 'nor one that a role could replace that is no superuser');
sql('ALTER FUNCTION bifang.remove_garbage() OWNER TO CURRENT_USER');
becomes("SELECT failures = 0 FROM bifang.work WHERE kind = 'garbage'", 'until it can not');

# Dropped tables are forgotten.
sql('DROP FOREIGN TABLE w');
sql("SELECT bifang.drop_table('outside', 'public', 'w', true)");
becomes('SELECT bool_and(table_id = 0 OR table_id IN (SELECT table_id FROM bifang.tables)) FROM bifang.work', 'runs of dropped tables are forgotten');

is(differences($node), $same, 'all rows');
is(troubles($node), '', 'check agrees');
$node->stop('fast');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing broke');
done_testing();
