# How far the lake may be behind: bifang.lag, warnings, INSERT that fails or waits until a worker has done its part, and who sees what.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('lag', 'bifang.tail_limit' => '8kB', 'bifang.worker_naptime' => '1s', 'bifang.worker_launch_interval' => '1s',
	'bifang.worker_settle_age' => '100000s', 'bifang.worker_roll_age' => '100000s', 'bifang.worker_commit_age' => '100000s');

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub lag { return sql("SELECT concat_ws(' ', $_[0]) FROM bifang.lag WHERE table_name = 't'"); }

my $numbers = 'live_rows, tail_rows, open_ledgers, closed_ledgers, uncommitted_rows';

# ---- the view ----

is(lag($numbers), '0 0 0 0 0', 'nothing yet');
is(lag('live_bytes + tail_bytes + closed_bytes + uncommitted_bytes, uncommitted_since IS NULL, age IS NULL, beyond IS NULL, failing IS NULL, problem IS NULL'),
	'0 t t t t t', 'nor of anything else');
sql('INSERT INTO t SELECT 1, g FROM generate_series(1, 10) g') for 1 .. 3;
is(lag($numbers), '30 30 1 0 30', 'rows of small transactions');
sql('INSERT INTO t SELECT 1, g FROM generate_series(1, 5000) g');
is(lag($numbers), '5030 0 1 0 5030', 'settled');
is(lag("live_bytes > 1000, live_bytes = uncommitted_bytes, age BETWEEN '0' AND '1 h', uncommitted_since > now() - interval '1 h'"), 't t t t', 'bytes and age');
is(sql('BEGIN; INSERT INTO t SELECT 1, g FROM generate_series(1, 5) g; SELECT uncommitted_rows FROM bifang.lag WHERE table_name = \'t\'; ROLLBACK'), '5035',
	'a transaction sees its own');
sql("SELECT bifang.commit('t')");
is(lag($numbers), '5030 0 1 0 0', 'committed');
sql('INSERT INTO t VALUES (2, 2)');
my $second = sql("SELECT written_at FROM bifang.tail");
is(lag("uncommitted_since = '$second'"), 't', 'as old as the oldest that is not');
sql("SELECT bifang.roll('t')");
is(lag("$numbers, closed_bytes = live_bytes"), '5031 0 0 1 1 t', 'closed');
sql("SELECT bifang.offload('t')");
is(lag($numbers), '0 0 0 0 1', 'offloaded before it was committed');
sql("SELECT bifang.commit('t')");
is(lag($numbers), '0 0 0 0 0', 'all of it');

# ---- limits ----

sub limit { sql("ALTER FOREIGN TABLE t OPTIONS ($_[0])"); return; }

limit("ADD lag_rows_max '100', ADD lag_action 'error'");
sql('INSERT INTO t SELECT 3, g FROM generate_series(1, 100) g');
is(lag('uncommitted_rows, beyond IS NULL'), '100 t', 'up to the limit');
sql('INSERT INTO t VALUES (3, 0)');
is(lag('uncommitted_rows, beyond'), '101 rows', 'beyond it');
my ($rc, $out, $err) = outcome($node, "\\set VERBOSITY verbose\nINSERT INTO t VALUES (4, 1)");
like($err, qr/53400: the lake is too far behind table public\.t: 101 rows are not in it/, 'INSERT fails');
like($err, qr/HINT: .*bifang\.lag/, 'and says what to look at');
($rc, $out, $err) = outcome($node, 'COPY t (w) FROM stdin', extra_params => []);
is(sql('SELECT count(*) FROM t WHERE w = 4'), '0', 'nothing was written');
($rc, $out, $err) = outcome($node, "BEGIN; SELECT bifang.commit('t'); INSERT INTO t VALUES (5, 1); COMMIT");
is($rc, 0, 'whoever commits first may insert');
is(sql('SELECT count(*) FROM t WHERE w = 5'), '1', 'a row');
sql('INSERT INTO t SELECT 6, g FROM generate_series(1, 1000) g');
is(sql('SELECT count(*) FROM t WHERE w = 6'), '1000', 'a statement that goes beyond it is not split');

limit("SET lag_action 'warn'");
($rc, $out, $err) = outcome($node, 'INSERT INTO t VALUES (7, 1); INSERT INTO t VALUES (7, 2)');
is($rc, 0, 'a warning lets it be');
is(() = $err =~ /WARNING:  the lake is too far behind/g, 1, 'once');
is(sql('SELECT count(*) FROM t WHERE w = 7'), '2', 'both rows');

limit("SET lag_rows_max '1000000', ADD lag_age_max '1', SET lag_action 'error'");
$node->poll_query_until('postgres', "SELECT beyond = 'age' FROM bifang.lag WHERE table_name = 't'") or die;
like((outcome($node, 'INSERT INTO t VALUES (8, 1)'))[2], qr/too far behind table public\.t: rows of .* are not in it/, 'age counts');
sql("SELECT bifang.commit('t')");
limit("SET lag_age_max '100000', ADD lag_size_max '1'");
sql("INSERT INTO t SELECT 9, g, g, (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 100) WHERE g > 0) FROM generate_series(1, 3000) g");
like((outcome($node, 'INSERT INTO t VALUES (9, -1)'))[2], qr/too far behind table public\.t: \d+ kB are not in it/, 'size counts');
sql("SELECT bifang.commit('t')");
limit('DROP lag_size_max, DROP lag_age_max, DROP lag_rows_max, DROP lag_action');
like((outcome($node, "LOAD 'bifang_fdw'; SET bifang.lag_action = 'never'"))[2], qr/invalid value for parameter "bifang.lag_action"/, 'an action that there is not');
like((outcome($node, "LOAD 'bifang_fdw'; SET ROLE pg_monitor; SET bifang.lag_rows_max = 7"))[2], qr/permission denied to set parameter/, 'limits are for superusers to set');
sql('INSERT INTO t SELECT 10, g FROM generate_series(1, 20) g');
like((outcome($node, "LOAD 'bifang_fdw'; SET bifang.lag_rows_max = 7; SET bifang.lag_action = 'error'; INSERT INTO t VALUES (10, 0)"))[2], qr/too far behind/,
	'settings count where options do not say');

# ---- waiting ----

limit("ADD lag_rows_max '10', ADD lag_action 'wait'");
my $waiting = start_script($node, "INSERT INTO t VALUES (11, 1);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND wait_event IN ('Extension', 'BifangLag')") or die;
is(sql('SELECT count(*) FROM t WHERE w = 11'), '0', 'INSERT waits');
like((outcome($node, "SET statement_timeout = '300ms'; INSERT INTO t VALUES (12, 1)"))[2], qr/canceling statement due to statement timeout/, 'and can be cancelled');
sql("SELECT bifang.commit('t')");
(undef, $err) = finish_script($waiting);
is(sql('SELECT count(*) FROM t WHERE w = 11'), '1', 'until there is room');
is(sql('SELECT count(*) FROM t WHERE w = 12'), '0', 'what was cancelled is not there');

# A transaction that has written, and what it found out then is old.
my ($held, $room) = outcome($node, "SET statement_timeout = '60s'; BEGIN; INSERT INTO t VALUES (13, 1); SELECT bifang.commit('t') IS NOT NULL; INSERT INTO t SELECT 13, g FROM generate_series(1, 50) g; SELECT pg_sleep(0.5); INSERT INTO t VALUES (13, 2); COMMIT");
is($held, 0, 'its own rows do not hold it up');

# A transaction that has the table for itself would wait for its own end.
for my $own ("ALTER FOREIGN TABLE t OPTIONS (ADD roll_age '100000')", "SELECT bifang.roll('t')")
{
	sql("SELECT bifang.commit('t')");
	my ($rc, $out, $err) = outcome($node, "SET statement_timeout = '60s'; INSERT INTO t SELECT 13, g FROM generate_series(1, 11) g; BEGIN; $own; SELECT pg_sleep(0.5); INSERT INTO t VALUES (13, 3); COMMIT");

	like("$rc $err", qr/^0 .*WARNING:  the lake is too far behind table public\.t: 11 rows/s, "nobody waits for himself: $own");
}

sql("SELECT bifang.commit('t')");

# Nor is a table waited for that somebody else wants for himself: nobody would get it before.
sub behind
{
	my ($what) = @_;

	sql("SELECT bifang.commit('t'); INSERT INTO t SELECT 17, g FROM generate_series(1, 11) g");
	my $insert = start_script($node, "SET statement_timeout = '100s'; INSERT INTO t VALUES (17, 0);\n");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND wait_event IN ('Extension', 'BifangLag')") or die;
	return ($insert, start_script($node, "SET statement_timeout = '100s'; $what;\n"));
}
my ($insert, $alter) = behind("ALTER FOREIGN TABLE t OPTIONS (SET roll_age '100001')");
(undef, $err) = finish_script($insert);
like($err, qr/WARNING:  the lake is too far behind(?!.*ERROR)/s, 'it goes on when somebody waits to alter the table');
(undef, $err) = finish_script($alter);
unlike($err, qr/ERROR/, 'who can');
($insert, $alter) = behind('CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE relation = 't'::regclass AND NOT granted") or die;
is((outcome($node, "SET statement_timeout = '100s'; SELECT rows FROM bifang.commit('t')"))[1], '11', 'a trigger that is made is not in the way of a commit');
unlike((finish_script($_))[1], qr/ERROR/, 'and both end') for $insert, $alter;
sql('DROP TRIGGER tr ON t');
sql("SET client_min_messages = error; CREATE FOREIGN TABLE gone (i int) SERVER lake OPTIONS (lag_rows_max '1', lag_action 'wait'); INSERT INTO gone VALUES (1), (2)");
$insert = start_script($node, "SET statement_timeout = '100s'; INSERT INTO gone VALUES (3);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND wait_event IN ('Extension', 'BifangLag')") or die;
is((outcome($node, "SET statement_timeout = '100s'; SELECT bifang.drop_table('lake', 'public', 'gone', true)"))[0], 0, 'nor is one that is being dropped');
unlike((finish_script($insert))[1], qr/ERROR/, 'which waits for the row');
sql('DROP FOREIGN TABLE gone');
sql("SELECT bifang.commit('t')");

# The worker makes room by itself, long before rows are old.
sql('SELECT bifang.start_worker()');
outcome($node, join '', map { "INSERT INTO t SELECT 14, g FROM generate_series(1, 11) g;\n" } 1 .. 3);
is(sql('SELECT count(*) FROM t WHERE w = 14'), '33', 'with a worker waiting ends');
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang launcher'");
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'") or die;
limit("SET lag_action 'warn', SET lag_rows_max '1'");
sql('INSERT INTO t SELECT 15, g FROM generate_series(1, 11) g');
sql('ALTER FOREIGN TABLE t OPTIONS (ADD worker \'true\')');
my $hold = $node->background_psql('postgres');
$hold->query_safe("BEGIN; LOCK TABLE bifang.iceberg_tables IN SHARE MODE");
sql('SELECT bifang.start_worker()');
$node->wait_for_log(qr/WARNING:  the lake is behind table public\.t: \d+ rows are not in it/);
pass('a worker says so in the log');
$hold->query_safe('COMMIT');
$hold->quit;
$node->poll_query_until('postgres', "SELECT uncommitted_rows = 0 FROM bifang.lag WHERE table_name = 't'") or die;
limit('DROP lag_rows_max, DROP lag_action');

# ---- roles ----

sql(q{CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN; GRANT SELECT ON t TO reader; GRANT USAGE ON FOREIGN SERVER lake TO stranger});
is(sql("SET ROLE reader; SELECT string_agg(table_name, ' ') FROM bifang.lag"), 't', 'a role sees tables that it may read');
is(sql("SET ROLE reader; SELECT live_rows > 0 FROM bifang.lag"), 't', 'with numbers');
is(sql("SET ROLE stranger; SELECT string_agg(concat_ws(' ', table_name, live_rows, problem), ', ' ORDER BY table_name) FROM bifang.lag"), 'p, t',
	'without that right there are none');
like((outcome($node, "SET ROLE stranger; SELECT bifang.table_lag('t')"))[2], qr/permission denied for foreign table t/, 'nor by the function');

# ---- what can't be looked at ----

sql('INSERT INTO t VALUES (16, 1)');
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bifang launcher'");
my $metadata = sql("SELECT metadata_location FROM bifang.tables WHERE table_name = 't'") =~ s{^file://}{}r;
rename $metadata, "$metadata.x" or die;
is(sql("SELECT string_agg(concat_ws(' ', table_name, live_rows IS NOT NULL, problem ~ 'metadata.json'), ', ' ORDER BY table_name) FROM bifang.lag"), 'p t, t f t',
	'a table that can\'t be looked at is in nobody\'s way');
rename "$metadata.x", $metadata or die;
is(lag('live_rows > 0, problem IS NULL'), 't t', 'until it can');
is(troubles($node), '', 'check agrees');
$node->stop('fast');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing broke');
done_testing();
