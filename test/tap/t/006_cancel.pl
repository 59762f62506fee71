# Statements cancelled and backends terminated in the middle of everything: as if they had never begun.
use strict;
use warnings;
use Time::HiRes qw(sleep);
use Test::More;
use Lake;

my $seed = $ENV{BIFANG_SEED} || 99;
srand($seed);
note "seed $seed";

my $node = new_lake('cancel', 'bifang.ledger_size_max' => '1MB');
my $same = '0 lost, 0 invented; 0 lost, 0 invented';
my %cancelled;

sub both
{
	my ($rows) = @_;

	return "WITH x AS (INSERT INTO twin SELECT 1, g, g * 0.5, md5(g::text), now() FROM generate_series(1, $rows) g RETURNING *) INSERT INTO t SELECT * FROM x;";
}

my @work = (
	[ insert => sub { both(100000) } ],
	[ commit => sub { "SELECT bifang.commit('t')" } ],
	[ roll => sub { "SELECT bifang.roll('t')" } ],
	[ offload => sub { "SELECT bifang.offload('t')" } ],
	[ check => sub { "SELECT bifang.check('t')" } ],
	[ read => sub { 'SELECT sum(i), count(DISTINCT s) FROM t' } ],
	[ savepoint => sub { 'BEGIN; ' . both(10) . ' SAVEPOINT s; ' . both(50000) . ' ROLLBACK TO s; ' . both(10) . ' COMMIT' } ]);

$node->safe_psql('postgres', both(20000));
for my $round (1 .. 40)
{
	my ($name, $sql) = @{ $work[ $round % @work ] };
	my $timeout = 1 + int(rand(rand() < 0.5 ? 20 : 250));
	my ($rc, $out, $err) = outcome($node, "SET statement_timeout = $timeout; " . $sql->());

	$cancelled{$name}++ if $rc != 0;
	like($err, qr/canceling statement due to statement timeout/, "round $round: $name was cancelled, nothing else") if $rc != 0;
}
is(differences($node), $same, 'the twin agrees');
is(troubles($node), '', 'check finds nothing');
note join(', ', map { "$_ $cancelled{$_}" } sort keys %cancelled);
# Whatever the machine, these take longer than the shortest of their timeouts; others may be done.
ok($cancelled{$_}, "$_ was cancelled") for qw(insert savepoint);

# Writers and an optimizer whose backends are terminated again and again.
for my $round (1 .. 8)
{
	my @runs = map { start_script($node, (both(2000 + int(rand(20000))) . "\n") x 50) } 1 .. 2;

	push @runs, start_script($node, "SELECT bifang.commit('t'); SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.remove_garbage();\n" x 50);
	sleep(0.1 + rand(0.5));
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
	finish_script($_) for @runs;
	is(differences($node), $same, "terminated $round: the twin agrees");
}
is(troubles($node), '', 'check finds nothing');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', 'no lock is left');
$node->stop;
done_testing();
