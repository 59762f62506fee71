# Rows of small transactions, in bifang.tail: kill -9 of the server at each step of settling them, prepared transactions, many
# writers at once, a dump, DROP EXTENSION. Journals are what clients were told.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('tail', 'bifang.tail_limit' => '8kB', 'max_connections' => 60);

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub both { return "INSERT INTO t SELECT $_[0], g FROM generate_series(1, $_[1]) g; INSERT INTO twin SELECT $_[0], g FROM generate_series(1, $_[1]) g;"; }
sub tail_rows { return sql('SELECT count(*) FROM bifang.tail'); }

my $same = '0 lost, 0 invented; 0 lost, 0 invented';

# ---- crashes ----

# A session that is where it is when the server is killed.
sub killed_at
{
	my ($what, $script) = @_;
	my $run = start_script($node, "$script\nSELECT 'there';\nSELECT pg_sleep(600);\n");

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'})
		or die 'does not get there';
	crash($node);
	finish_script($run);
	is(differences($node), $same, "killed $what");
	is(troubles($node), '', 'check agrees');
	return;
}

sql(both(1, 3)) for 1 .. 20;
sql(both(1, 2000));
is(tail_rows(), '0', 'a large transaction settles');
sql(both(2, 3)) for 1 .. 20;
is(tail_rows(), '20', 'small ones are in the tail');
killed_at('with rows in memory', 'BEGIN; ' . both(3, 3));
is(tail_rows(), '20', 'which stays');
killed_at('after settling, before COMMIT', 'BEGIN; ' . both(4, 3) . both(4, 2000));
is(tail_rows(), '20', 'the rows are back');
killed_at('after settling in a savepoint that was rolled back', 'BEGIN; ' . both(5, 3) . 'SAVEPOINT s; ' . both(5, 2000) . 'ROLLBACK TO s;' . both(5, 3));
killed_at('in a roll', "BEGIN; SELECT bifang.roll('t');");
is(tail_rows(), '20', 'the rows are back');
killed_at('in a commit to the lake', "BEGIN; SELECT bifang.commit('t');");
killed_at('in an optimize', "BEGIN; SELECT bifang.commit('t'), bifang.optimize('t');");
killed_at('in an offload', "BEGIN; SELECT bifang.roll('t'), bifang.offload('t');");
is(tail_rows(), '20', 'the rows are back');
sql(both(6, 2000));
is(tail_rows(), '0', 'the next one settles them');
is(differences($node), $same, 'all rows');

# ---- somebody else's ----

# A session that has written a ledger notices that its directory is taken over.
sql(both(6, 3));
my $mark = $node->data_dir . '/' . sql("SELECT l.directory FROM bifang.ledger l JOIN bifang.tail USING (ledger_id) LIMIT 1") . '/table';
my (undef, $said, $refused) = $node->psql('postgres', "INSERT INTO t VALUES (6, 1);\n\\! sed -i 's/^/x/' '$mark'\nINSERT INTO t VALUES (6, 2);\n\\! sed -i 's/^x//' '$mark'\nINSERT INTO t VALUES (6, 3);", on_error_stop => 0);
like($refused, qr/belongs to another database/, 'a directory that is somebody else\'s now');
sql('INSERT INTO twin VALUES (6, 1), (6, 3)');
is(differences($node), $same, 'is not written');

# ---- prepared transactions ----

sql(both(7, 3));
sql('BEGIN; ' . both(8, 3) . "PREPARE TRANSACTION 'small'");
sql(both(9, 3));
sql('BEGIN; ' . both(10, 2000) . "PREPARE TRANSACTION 'large'");
sql("SELECT bifang.commit('t')");
crash($node);
is(differences($node), $same, 'prepared rows are not seen');
sql(both(11, 3));
sql("COMMIT PREPARED 'small'");
sql("ROLLBACK PREPARED 'large'");
is(differences($node), $same, 'one was committed, one rolled back');
sql(both(12, 2000));
sql(both(12, 2000));
is(differences($node), $same, 'and writers go on');
is(troubles($node), '', 'check agrees');

# ---- many writers ----

my $pgbench = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';

append_to_file($pgbench, "\\set w 100 + :client_id\nBEGIN;\nINSERT INTO t (w, i) VALUES (:w, 1);\nINSERT INTO twin (w, i) VALUES (:w, 1);\nCOMMIT;\n");
my $maintain = start_script($node, join '', map { "SELECT bifang.commit('t') IS NULL; SELECT bifang.roll('t') IS NULL; SELECT bifang.offload('t') IS NULL;\n" } 1 .. 20);
$node->command_checks_all([ 'pgbench', '-n', '-M', 'prepared', '-c', 32, '-j', 2, '-t', 100, '-f', $pgbench, $node->connstr('postgres') ],
	0, [ qr/processed: 3200\/3200/, qr/failed transactions: 0 / ], [ qr/^(?!.*ERROR)/s ], '32 writers, no failed commit');
my (undef, $complaints) = finish_script($maintain);
is($complaints, '', 'nor failed maintenance');
is(sql('SELECT count(*) FROM t WHERE w >= 100'), '3200', 'all their rows');
is(differences($node), $same, 'in each transaction both');
is(troubles($node), '', 'check agrees');
cmp_ok(sql("SELECT count(*) FROM bifang.ledgers WHERE state = 'open'"), '<=', 100, 'with a ledger for each, or two');

# What was told is there, whatever happens right then.
for my $round (1 .. 3)
{
	my $script = join '', map { "WITH x AS (INSERT INTO t (w, i) SELECT 500, 100000 * $round + $_ FROM generate_series(1, CASE WHEN $_ % 50 = 0 THEN 1000 ELSE 1 END) RETURNING i) SELECT min(i) FROM x;\n" } 1 .. 3000;
	my $run = start_script($node, $script);

	$node->poll_query_until('postgres', "SELECT count(*) > 200 FROM t WHERE w = 500 AND i > 100000 * $round") or die 'no rows come';
	crash($node);
	my ($told) = finish_script($run);
	my $list = join ',', map { "($_)" } $told =~ /^(\d+)$/mg;

	is(sql("SELECT count(*) FROM (VALUES $list) v (i) WHERE NOT EXISTS (SELECT FROM t WHERE w = 500 AND t.i = v.i)"), '0', 'rows that were acknowledged');
	is(sql("SELECT count(*) FROM (SELECT i % 50 = 0 AS large, count(*) AS n FROM t WHERE w = 500 GROUP BY i) x WHERE n <> CASE WHEN large THEN 1000 ELSE 1 END"), '0', 'each as a whole');
	is(troubles($node), '', 'check agrees');
}
sql('INSERT INTO twin SELECT w, i, n, s, ts FROM t WHERE w = 500');

# ---- elsewhere ----

sql(both(13, 3));
isnt(tail_rows(), '0', 'there is a tail');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], 'restore');
is($node->safe_psql('copy', 'SELECT count(*), sum(i) FROM t'), sql('SELECT count(*), sum(i) FROM t'), 'has the tail');
$node->safe_psql('copy', "SELECT bifang.commit('t'); SELECT bifang.roll('t'); SELECT bifang.offload('t'); INSERT INTO t VALUES (14, 14)");
is($node->safe_psql('copy', 'SELECT count(*) - 1 FROM t'), sql('SELECT count(*) FROM t'), 'and goes on with it');
is(differences($node), $same, 'the first one, too');
sql('DROP DATABASE copy');

# Rolled back, then in earnest.
sql('BEGIN; DROP EXTENSION bifang_fdw CASCADE; ROLLBACK');
is(differences($node), $same, 'the extension was almost dropped');
sql(both(15, 3));
sql(both(15, 2000));
sql(both(15, 3));
is(differences($node), $same, 'writers go on');
is(sql(q{SELECT count(*) > 0 FROM t; DROP EXTENSION bifang_fdw CASCADE; CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	SELECT string_agg(table_name || coalesce(problem, ''), ' ' ORDER BY table_name) FROM bifang.recover('lake')}), "t\np t", 'recovered, in a session that knew the old one');
sql('CREATE FOREIGN TABLE t (w int, i int, n numeric(12,3), s text, ts timestamptz) SERVER lake; CREATE FOREIGN TABLE p (w int, i int, s text) SERVER lake');
is(differences($node), $same, 'with all rows of the tail');
is(troubles($node), '', 'check agrees');
$node->stop;
done_testing();
