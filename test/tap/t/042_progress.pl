# bifang.progress: what commands are at that wait for somebody, whose table they are at, and that nothing is left of those that fail.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('progress');

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub progress { return sql("SELECT string_agg(concat_ws(' ', $_[0]), ', ') FROM bifang.progress"); }

sub waits
{
	my ($why) = @_;

	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ '^SELECT bifang' AND wait_event_type = 'Lock'") or die $why;
	return;
}

# Three ledgers, by three writers at once.
my @writers = map { $node->background_psql('postgres') } 1 .. 3;
$_->query_safe('BEGIN; INSERT INTO t SELECT 1, g FROM generate_series(1, 1000) g') for @writers;
$_->query_safe('COMMIT') for @writers;
$_->quit for @writers;
is(sql("SELECT count(*) FROM bifang.ledgers WHERE table_name = 't'"), '3', 'three ledgers');
is(progress('command'), '', 'nothing runs');
sql('CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN; GRANT SELECT ON t TO reader');

sql('CREATE DATABASE copied TEMPLATE postgres');

# ---- commit ----

my $lock = $node->background_psql('postgres');
$lock->query_safe('BEGIN; LOCK TABLE bifang.iceberg_tables IN SHARE MODE');
my $run = start_script($node, "SELECT bifang.commit('t');\n");
waits('commit');
is(progress('command, table_name, foreign_table, phase, done, total'), 'commit t t writing metadata', 'a commit before its end');
is(sql("SET ROLE reader; SELECT count(*) FROM bifang.progress WHERE started_at <= clock_timestamp() AND pid > 0"), '1', 'seen by who may read the table');
is(sql("SET ROLE stranger; SELECT count(*) FROM bifang.progress"), '0', 'and by nobody else');
is(sql("SET ROLE stranger; SELECT count(*) FROM bifang.progress_rows()"), '0', 'nor through the function');
is($node->safe_psql('copied', 'SELECT count(*) FROM bifang.progress_rows()'), '0', 'nor in another database that has the same tables');
$lock->query_safe('COMMIT');
finish_script($run);
is(progress('command'), '', 'gone with its end');

# ---- offload ----

sql("SELECT bifang.roll('t')");
my $second = sql("SELECT ledger_id FROM bifang.ledgers WHERE table_name = 't' ORDER BY 1 OFFSET 1 LIMIT 1");
$lock->query_safe("BEGIN; SELECT FROM bifang.ledger WHERE ledger_id = $second FOR UPDATE");
$run = start_script($node, "SELECT bifang.offload('t');\n");
waits('offload');
is(progress('command, phase, done, total'), 'offload ledgers 1 3', 'an offload in its second ledger');
is(progress('bytes_done > 100, bytes_done * 2 < bytes_total'), 't t', 'with bytes');
is(sql("SELECT pg_cancel_backend(pid) FROM bifang.progress"), 't', 'cancelled');
(undef, my $err) = finish_script($run);
like($err, qr/canceling statement/, 'which it is');
is(progress('command'), '', 'nothing is left of it');

$run = start_script($node, "DO \$\$ BEGIN SET LOCAL lock_timeout = 1000; PERFORM bifang.offload('t'); EXCEPTION WHEN lock_not_available THEN PERFORM pg_sleep(600); END\$\$;\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'") or die;
is(progress('command'), '', 'nor of one that an exception block ended');
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
finish_script($run);

# ---- check ----

$lock->query_safe("COMMIT; BEGIN; LOCK TABLE bifang.append IN ACCESS EXCLUSIVE MODE");
$run = start_script($node, "SELECT bifang.check('t');\n");
waits('check');
is(progress('command, phase'), 'check reading the catalog', 'a check at its beginning');
$lock->query_safe('COMMIT');
finish_script($run);

# ---- COPY ----

$run = start_script($node, "COPY t (w) FROM PROGRAM 'seq 1 100000; sleep 600';\n");
$node->poll_query_until('postgres', "SELECT done > 1000 FROM bifang.progress") or die;
is(progress('command, table_name, phase, bytes_done > done, total IS NULL'), 'copy t rows t t', 'COPY');
is(sql("SET ROLE stranger; SELECT count(*) FROM bifang.progress"), '0', 'which others do not see');
sql('SELECT pg_terminate_backend(pid) FROM bifang.progress');
finish_script($run);

# A command within one that the server tells of leaves it alone.
$lock->query_safe('BEGIN; LOCK TABLE bifang.iceberg_tables IN SHARE MODE');
sql('INSERT INTO t VALUES (1, 1)');
$run = start_script($node, "COPY (SELECT bifang.commit('t')) TO STDOUT;\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ '^COPY' AND wait_event_type = 'Lock'") or die;
is(sql('SELECT command FROM pg_stat_progress_copy'), 'COPY TO', 'the server\'s own stays');
$lock->query_safe('COMMIT');
finish_script($run);
$lock->quit;

is(troubles($node), '', 'check agrees');
$node->stop('fast');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing broke');
done_testing();
