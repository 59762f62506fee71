# kill -9 of the server while rows are inserted, committed to the lake, rolled, offloaded and optimized. After
# recovery the table has exactly the rows of its twin, which holds what PostgreSQL committed, and
# every row whose COMMIT was answered; bifang.check finds nothing.
use strict;
use warnings;
use Time::HiRes qw(sleep);
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $rounds = $ENV{BIFANG_CRASH_ROUNDS} || 5;
my $seed = $ENV{BIFANG_SEED} || 20240229;
srand($seed);
note "seed $seed";

my $node = new_lake('crash', 'bifang.ledger_size_max' => '256kB', 'bifang.garbage_grace' => 0);
$node->safe_psql('postgres', "SELECT bifang.set_property('$_', 'commit.manifest.min-count-to-merge', '4')") for 't', 'p';
my %next = (1 => 0, 2 => 0, 3 => 0);

# Transactions of different sizes, some rolled back, some with a savepoint.
sub writer
{
	my ($w, $from, $n) = @_;
	my $script = 'SET bifang.tail_limit = ' . 8 * int(rand(2)) . ";\n";

	for my $i ($from .. $from + $n - 1)
	{
		my $rows = int(rand(4)) == 0 ? 1 + int(rand(9000)) : 1 + int(rand(20));

		$script .= "BEGIN;\n";
		$script .= "WITH x AS (INSERT INTO twin SELECT $w, $i, g * 1.5, repeat('s', g % 50), '2024-01-01'::timestamptz + g * interval '1 s' FROM generate_series(1, $rows) g RETURNING *) INSERT INTO t SELECT * FROM x;\n";
		$script .= "WITH x AS (INSERT INTO ptwin SELECT $w, $i, 's' FROM generate_series(1, 3) g RETURNING *) INSERT INTO p SELECT * FROM x;\n";
		$script .= "SAVEPOINT s; INSERT INTO t SELECT $w, -1 FROM generate_series(1, $rows); ROLLBACK TO s;\n" if int(rand(3)) == 0;
		$script .= int(rand(8)) == 0 ? "ROLLBACK; SELECT 1/0;\n" : "COMMIT;\n\\if :ERROR\n\\else\n\\echo ack $i\n\\endif\n";
	}
	return $script;
}

sub optimizer
{
	my $script = '';

	for (1 .. 500)
	{
		my $rel = rand() < 0.5 ? 't' : 'p';

		$script .= "SELECT bifang.commit('$rel');\n" if rand() < 0.7;
		$script .= "SELECT bifang.roll('$rel');\n" if rand() < 0.3;
		$script .= "SELECT bifang.offload('$rel');\n" if rand() < 0.5;
		$script .= "SELECT bifang.optimize('$rel');\n" if rand() < 0.4;
		$script .= "SELECT bifang.expire('$rel', '0');\n" if rand() < 0.4;
		$script .= "SELECT bifang.remove_garbage();\n" if rand() < 0.3;
	}
	return $script;
}

for my $round (1 .. $rounds)
{
	my %run = map { $_ => start_script($node, writer($_, $next{$_}, 2000)) } 1 .. 3;
	my $optimizer = start_script($node, optimizer());

	sleep(0.3 + rand(2));
	crash($node);
	finish_script($optimizer);
	my %out = map { $_ => (finish_script($run{$_}))[0] } 1 .. 3;

	is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', "round $round: exactly what was committed");
	for my $w (1 .. 3)
	{
		# A transaction that was rolled back on purpose has no ack, so gaps are filled by their numbers.
		my @acks = $out{$w} =~ /^ack (\d+)$/mg;
		my $missing = @acks ? $node->safe_psql('postgres',
			"SELECT count(*) FROM unnest('{" . join(',', @acks) . "}'::int[]) a WHERE NOT EXISTS (SELECT FROM twin WHERE w = $w AND i = a)") : 0;

		is($missing, 0, "round $round: writer $w misses no acknowledged transaction (" . scalar(@acks) . ')');
		$next{$w} = 1 + $node->safe_psql('postgres', "SELECT coalesce(max(i), -1) FROM twin WHERE w = $w");
	}
	is(troubles($node), '', "round $round: check finds nothing");
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '>', 1000, 'there was something to lose');
cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM bifang.ledgers WHERE state = 'offloaded'"), '>', 0, 'ledgers were offloaded');
$node->safe_psql('postgres', "SELECT bifang.roll(r), bifang.offload(r), bifang.commit(r), bifang.optimize(r) FROM unnest('{t,p}'::regclass[]) r");
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'all of it in the lake');
is($node->safe_psql('postgres', "SELECT string_agg(DISTINCT f.format, ',') FROM unnest('{t,p}'::regclass[]) r, bifang.files(r) f"), 'parquet', 'as Parquet');
is(troubles($node), '', 'and no trouble');
$node->stop;
done_testing();
