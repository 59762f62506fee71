# A dump restored into another database of the cluster: both read the same files and write each its
# own; neither takes the other's away.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('dump');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';

sub in { return $node->safe_psql($_[0], $_[1]); }

in('postgres', "COMMENT ON FOREIGN TABLE t IS 'about'; INSERT INTO t SELECT 1, g FROM generate_series(1, 1000) g; SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t')");
in('postgres', "INSERT INTO t SELECT 2, g FROM generate_series(1, 1000) g; SELECT bifang.commit('t'), bifang.roll('t')");
in('postgres', "INSERT INTO t SELECT 3, g FROM generate_series(1, 1000) g; INSERT INTO p SELECT 1, g FROM generate_series(1, 1000) g");
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'dump');
in('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], 'restore, without any setting');
is(in('copy', 'SELECT count(*), sum(i) FROM t'), in('postgres', 'SELECT count(*), sum(i) FROM t'), 'the same rows');
is(in('copy', 'SELECT count(*), sum(i) FROM p'), in('postgres', 'SELECT count(*), sum(i) FROM p'), 'of the partitioned table, too');
is(in('copy', "SELECT count(*) FROM bifang.check('t')"), '0', 'and check has nothing to say');

in('copy', 'INSERT INTO t SELECT 4, g FROM generate_series(1, 500) g');
in('postgres', 'INSERT INTO t SELECT 5, g FROM generate_series(1, 700) g');
is(in('copy', 'SELECT count(*) FROM t'), '3500', 'what the copy gets stays there');
is(in('postgres', 'SELECT count(*) FROM t'), '3700', 'and what the first gets, here');
for my $db ('copy', 'postgres')
{
	in($db, "SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t'), bifang.commit('p')");
	in($db, 'SELECT bifang.remove_garbage()');
}
is(in('copy', 'SELECT count(*) FROM bifang.garbage'), '0', 'the copy has nothing in mind for what is not its own');
is(in('copy', 'SELECT count(*) FROM t'), '3500', 'after each has cleaned up: the copy');
is(in('postgres', 'SELECT count(*) FROM t'), '3700', 'and the first');
for my $db ('copy', 'postgres')
{
	is(in($db, "SELECT count(*) FROM bifang.check('t')"), '0', "check in $db");
	is(in($db, 'SELECT count(*) FROM p'), '1000', "the other table in $db");
}
is(in('copy', "SELECT count(*) FROM bifang.tables WHERE foreign_table IN ('t'::regclass, 'p'::regclass)"), '2', 'bound as before');
my ($rc, $out, $err) = $node->psql('copy', "SELECT bifang.drop_table('lake', 'public', 't', true)");
like($err, qr/belong to another database/, 'the copy cannot purge what it shares');
in('copy', "SELECT bifang.drop_table('lake', 'public', 't')");
is(in('postgres', 'SELECT count(*) FROM t'), '3700', 'dropping it there leaves the first alone');
$node->stop;
done_testing();
