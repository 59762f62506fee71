# Background workers: what arrives as rows ends in the lake by itself; launcher and start_worker(), kill -9, restarts, databases that
# come, go and are copied, jobs by hand at the same time, signals, a clock that was set back.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my %quick = (
	'restart_after_crash' => 'on',
	'bifang.tail_limit' => '8kB',
	'bifang.worker_naptime' => '1s',
	'bifang.worker_launch_interval' => '1s',
	'bifang.worker_settle_age' => '1s',
	'bifang.worker_commit_age' => '2s',
	'bifang.worker_roll_age' => '3s',
	'bifang.worker_optimize_age' => '2s',
	'bifang.worker_garbage_interval' => '2s');
my $node = new_lake('worker', %quick);
my $same = '0 lost, 0 invented; 0 lost, 0 invented';
my $workers = q{SELECT string_agg(backend_type || coalesce(' ' || datname, ''), ', ' ORDER BY backend_type) FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'};
my $in_lake = q{SELECT bool_and(l.state = 'offloaded') AND NOT EXISTS (SELECT FROM bifang.manifest('t') WHERE form = 'live')
	AND NOT EXISTS (SELECT FROM bifang.files('t') WHERE format <> 'parquet') AND NOT EXISTS (SELECT FROM bifang.garbage) FROM bifang.ledgers l};

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub both { return "INSERT INTO t SELECT $_[0], g FROM generate_series(1, $_[1]) g; INSERT INTO twin SELECT $_[0], g FROM generate_series(1, $_[1]) g;"; }

# Says what was there instead when it does not come about.
sub becomes
{
	my ($query, $what, $db) = @_;

	return if ok($node->poll_query_until($db // 'postgres', $query), $what);
	diag(sql('SELECT * FROM bifang.work'), "\n", sql('SELECT * FROM bifang.jobs'), "\n", sql('SELECT * FROM bifang.ledgers'));
	die 'nothing else comes about, then';
}

# A server that restarts by itself.
sub comes_back
{
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		# A psql that is turned away leaves a broken pipe.
		return if eval { $node->psql('postgres', 'SELECT 1') == 0 };
		select undef, undef, undef, 0.1;
	}
	die 'does not come back';
}

sub worker_pid { return sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'bifang worker' AND datname = current_database()"); }

# ---- not preloaded ----

is(sql($workers), '', 'nobody works unasked');
sql('CREATE ROLE nobody LOGIN');
like((outcome($node, 'SET ROLE nobody; SELECT bifang.start_worker()'))[2], qr/permission denied for function start_worker/, 'not for everybody');
isnt(sql('SELECT bifang.start_worker()'), '', 'started by hand');
becomes("SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'", 'launcher and worker');
is(sql($workers), 'bifang launcher, bifang worker postgres', 'of this database');
my (undef, $second, $said) = outcome($node, 'SELECT bifang.start_worker() IS NULL');
is($second, 't', 'not twice');
like($said, qr/is kept running already/, 'which is said');

sql(both(1, 3)) for 1 .. 10;
becomes("SELECT count(*) = 1 FROM bifang.work WHERE kind = 'settle'", 'small transactions are settled');
sql(both(2, 3000));
becomes($in_lake, 'all that came goes into the lake, also when nothing more comes');
is(sql('SELECT count(*) FROM bifang.tail'), '0', 'nothing is left in the tail');
is(differences($node), $same, 'with all rows');
is(sql("SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind) FROM bifang.jobs WHERE error IS NULL"), 'commit offload optimize roll', 'jobs tell of it');
is(sql('SELECT string_agg(DISTINCT kind, \' \' ORDER BY kind) FROM bifang.work WHERE failures = 0 AND error IS NULL'), 'commit garbage offload optimize roll settle',
	'so do runs');
like(sql("SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'bifang worker'"), qr/^(Extension|BifangWorkerMain)$/, 'it waits');

# ---- nothing to do ----

my $runs = q{SELECT string_agg(kind || started_at, ' ' ORDER BY kind) FROM bifang.work WHERE kind <> 'garbage'};
my $before = sql($runs);
my $garbage = sql("SELECT started_at FROM bifang.work WHERE kind = 'garbage'");
becomes("SELECT started_at > '$garbage'::timestamptz + interval '3 s' FROM bifang.work WHERE kind = 'garbage'", 'looks go on');
is(sql($runs), $before, 'and nothing is done that need not be');

# ---- somebody does it by hand ----

sql(both(3, 3));
my $hand = $node->background_psql('postgres', on_error_stop => 0);
$hand->query_safe("BEGIN; SELECT bifang.commit('t')");
sql(both(4, 3000));
my $commits = sql("SELECT count(*) FROM bifang.jobs WHERE kind = 'commit'");
$garbage = sql("SELECT started_at FROM bifang.work WHERE kind = 'garbage'");
becomes("SELECT started_at > '$garbage'::timestamptz + interval '3 s' FROM bifang.work WHERE kind = 'garbage'", 'a job by hand holds up no other table');
is(sql("SELECT count(*) FROM bifang.jobs WHERE kind = 'commit'"), $commits, 'but its own');
is(sql('SELECT count(*) FROM bifang.jobs WHERE error IS NOT NULL'), '0', 'which is no error');
$hand->query_safe('COMMIT');
$hand->quit;
becomes($in_lake, 'then it goes on');
is(differences($node), $same, 'with all rows');

# ---- killed ----

sql(both(5, 3));
my $pid = worker_pid();
kill 'KILL', $pid;
comes_back();
becomes("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'bifang worker' AND pid <> $pid", 'the server starts another one');
becomes($in_lake, 'after kill -9 of the worker another one goes on');
sql(both(6, 3));
crash($node);
is(sql($workers), '', 'a restarted server has to be asked again');
sql('SELECT bifang.start_worker()');
becomes($in_lake, 'and goes on where it was');
$pid = sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang worker'");
becomes("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'bifang worker'", 'a worker that was terminated is followed by another one');
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang launcher'");
becomes("SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'", 'a launcher takes its worker with it');
is(differences($node), $same, 'all rows');
is(troubles($node), '', 'check agrees');

# A server that went down with a job counts that as a failure, and waits.
sql("UPDATE bifang.work SET started_at = now(), failures = 10, error = 'it did not end', ended_at = NULL WHERE kind = 'commit'");
sql(both(7, 3));
sql('SELECT bifang.start_worker()');
becomes("SELECT max(started_at) > now() - interval '30 s' FROM bifang.work WHERE kind = 'roll'", 'other jobs are done');
$garbage = sql("SELECT started_at FROM bifang.work WHERE kind = 'garbage'");
becomes("SELECT started_at > '$garbage'::timestamptz + interval '3 s' FROM bifang.work WHERE kind = 'garbage'", 'for a while');
is(sql("SELECT failures || error FROM bifang.work WHERE kind = 'commit'"), '10it did not end', 'the one that took it down is not');
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang launcher'");
becomes("SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'", 'stopped');
sql("DELETE FROM bifang.work");

# ---- preloaded ----

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bifang_fdw'\n");
$node->restart;
becomes("SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'", 'preloaded, nobody has to ask');
is((outcome($node, 'SELECT bifang.start_worker() IS NULL'))[1], 't', 'nor can');
becomes($in_lake, 'it goes on');
$node->restart;
sql(both(8, 3));
becomes($in_lake, 'after a restart, too');
is(differences($node), $same, 'all rows');

# ---- databases ----

my $of_other = "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'bifang worker' AND datname = 'other'";
sql('CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION bifang_fdw');
becomes($of_other, 'a new database gets a worker');
$node->safe_psql('other', 'DROP EXTENSION bifang_fdw');
becomes("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'bifang worker' AND datname = 'other' AND backend_start < now() - interval '2 s')",
	'one without the extension keeps none');
$node->safe_psql('other', 'CREATE EXTENSION bifang_fdw');
becomes($of_other, 'until it has it again');
sql('CREATE DATABASE copied TEMPLATE other');
pass('a database with a worker is copied');
becomes($of_other, 'and gets it back');
for my $option ('ALLOW_CONNECTIONS false', 'IS_TEMPLATE true')
{
	sql("ALTER DATABASE other $option");
	becomes($of_other =~ s/= 1/= 0/r, "it loses it: $option");
	sql('ALTER DATABASE other ALLOW_CONNECTIONS true IS_TEMPLATE false');
	becomes($of_other, 'and gets it back');
}
sql('ALTER DATABASE copied RENAME TO renamed');
pass('renamed');
sql('DROP DATABASE other');
sql('DROP DATABASE renamed');
pass('and dropped');
becomes("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'bifang worker'", 'one worker is left');

# ---- settings ----

$node->append_conf('postgresql.conf', "bifang.worker = off\n");
$node->reload;
becomes("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'", 'switched off');
sql(both(9, 3));
$node->append_conf('postgresql.conf', "bifang.worker = on\n");
$node->reload;
becomes($in_lake, 'switched on');
sql("ALTER FOREIGN TABLE p OPTIONS (ADD worker 'false')");
sql('INSERT INTO p VALUES (1, 1); INSERT INTO ptwin VALUES (1, 1)');
sql("ALTER FOREIGN TABLE t OPTIONS (ADD commit_age '100000', ADD roll_age '100000')");
sql(both(10, 3));
$garbage = sql("SELECT started_at FROM bifang.work WHERE kind = 'garbage'");
becomes("SELECT started_at > '$garbage'::timestamptz + interval '4 s' FROM bifang.work WHERE kind = 'garbage'", 'time passes');
is(sql("SELECT count(*) FROM bifang.ledgers WHERE state = 'open'"), '2', 'options of tables count');
sql("ALTER FOREIGN TABLE p OPTIONS (DROP worker); ALTER FOREIGN TABLE t OPTIONS (DROP commit_age, DROP roll_age)");
becomes($in_lake, 'and are taken back');

# ---- signals ----

$pid = worker_pid();
sql("SELECT pg_cancel_backend($pid)");
$garbage = sql("SELECT started_at FROM bifang.work WHERE kind = 'garbage'");
becomes("SELECT started_at > '$garbage'::timestamptz FROM bifang.work WHERE kind = 'garbage'", 'it goes on');
is(worker_pid(), $pid, 'a worker with no job has nothing to cancel');
$hand = $node->background_psql('postgres');
$hand->query_safe('BEGIN; LOCK TABLE bifang.iceberg_tables IN SHARE MODE');
sql(both(10, 3));
becomes("SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock' AND query = 'bifang: commit public.t'", 'what it is at shows');
sql("SELECT pg_cancel_backend($pid)");
becomes("SELECT count(*) >= 1 FROM bifang.jobs WHERE kind = 'commit' AND error ~ 'canceling statement'", 'a job that is cancelled is one that failed');
$hand->query_safe('COMMIT');
$hand->quit;
becomes($in_lake, 'and is done later');
is(worker_pid(), $pid, 'by the same worker');

# A clock that was set back, as seen from what was written before.
my $of_t = q{table_id IN (0, (SELECT table_id FROM bifang.tables WHERE table_name = 't')) AND kind IN ('roll', 'commit', 'offload', 'garbage')};
sql("UPDATE bifang.work SET started_at = now() + interval '1 year', failures = 5 WHERE $of_t");
sql("UPDATE bifang.ledger SET created_at = now() + interval '1 year', closed_at = closed_at + interval '1 year'");
$node->restart;
sql(both(10, 3));
becomes($in_lake, 'times to come are nothing to wait for');
is(sql('SELECT count(*) FROM bifang.work WHERE started_at > now() OR failures > 0'), '0', 'and are forgotten');

is(differences($node), $same, 'all rows');
is(troubles($node), '', 'check agrees');
sql('DROP EXTENSION bifang_fdw CASCADE');
becomes('SELECT true', 'the extension can be dropped');
$node->stop('fast');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing broke');
done_testing();
