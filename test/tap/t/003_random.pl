# A random walk of several sessions at once over everything that changes a table: insert, COPY, abort,
# savepoints, commit, roll, offload, optimize, clean-up, in all isolation levels. A twin is written in the same
# transactions; single statements compare the two all the time, in the middle of everything.
# BIFANG_SEED and BIFANG_STEPS choose another walk.
use strict;
use warnings;
use Test::More;
use Lake;

my $seed = $ENV{BIFANG_SEED} || 4711;
my $steps = $ENV{BIFANG_STEPS} || 700;    # per session
my $sessions = 3;
my $compared = "(SELECT count(*) FROM (SELECT * FROM twin EXCEPT ALL SELECT * FROM t) x) + (SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM twin) x)"
	. " + (SELECT count(*) FROM (SELECT * FROM ptwin EXCEPT ALL SELECT * FROM p) x) + (SELECT count(*) FROM (SELECT * FROM p EXCEPT ALL SELECT * FROM ptwin) x)";
my @levels = ('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE');

srand($seed);
note "seed $seed, $steps steps in each of $sessions sessions";

sub insert
{
	my ($w) = @_;
	my $rows = rand() < 0.1 ? 1 + int(rand(6000)) : 1 + int(rand(10));
	my $i = int(rand(1000));
	my $null = rand() < 0.3 ? 'NULL' : "g * 0.125";

	return "WITH x AS (INSERT INTO twin SELECT $w, $i, $null, md5(g::text), '1969-12-31'::timestamptz + g * interval '1 min' FROM generate_series(1, $rows) g RETURNING *) INSERT INTO t SELECT * FROM x;\n"
		if rand() < 0.6;
	$rows = 1 + $rows % 50;
	return "INSERT INTO p SELECT $w, $i + g, NULL FROM generate_series(1, $rows) g; INSERT INTO ptwin SELECT $w, $i + g, NULL FROM generate_series(1, $rows) g;\n";
}

sub step
{
	my ($w, $state) = @_;
	my $dice = rand();
	$state->{step}++;
	my $rel = rand() < 0.6 ? 't' : 'p';

	if (!$state->{open} && $dice < 0.35)
	{
		$state->{open} = 1;
		$state->{savepoints} = 0;
		return 'BEGIN ISOLATION LEVEL ' . $levels[ int(rand(@levels)) ] . ";\n";
	}
	if ($state->{open} && $dice < 0.12)
	{
		$state->{open} = 0;
		return rand() < 0.7 ? "COMMIT;\n" : "ROLLBACK;\n";
	}
	if ($state->{open} && $dice < 0.20)
	{
		$state->{savepoints}++;
		return "SAVEPOINT s$state->{savepoints};\n";
	}
	if ($state->{open} && $state->{savepoints} > 0 && $dice < 0.30)
	{
		my $at = 1 + int(rand($state->{savepoints}));

		$state->{savepoints} = $at - 1 if rand() < 0.5;
		return "RELEASE s$at;\n" if $state->{savepoints} == $at - 1;
		$state->{savepoints} = $at;
		return "ROLLBACK TO s$at;\n";
	}
	return 'SET bifang.tail_limit = ' . (0, 1, 8, 100)[ int(rand(4)) ] . ";\n" if $dice < 0.34;
	# Both tables or none: an error would leave the twin with rows that the table lacks.
	return (!$state->{open} ? "BEGIN;\n" . insert($w) . "COMMIT;\n" : insert($w)) if $dice < 0.60;
	return "SELECT bifang.commit('$rel') IS NULL;\n" if $dice < 0.68;
	return "SELECT bifang.roll('$rel') IS NULL;\n" if $dice < 0.72;
	return "SELECT bifang.offload('$rel') IS NULL;\n" if $dice < 0.76;
	return "SELECT bifang.remove_garbage() IS NULL;\n" if $dice < 0.80;
	return "SELECT 'TROUBLE ' || c::text FROM bifang.check('$rel') c WHERE severity = 'error';\n" if $dice < 0.85;
	return "SELECT 1/0;\n" if $dice < 0.86 && $state->{open} && $state->{savepoints} > 0;
	return "SELECT bifang.optimize('$rel') IS NULL;\n" if $dice < 0.89;
	return "SELECT bifang.expire('$rel', '0', 2) IS NULL;\n" if $dice < 0.91;
	# What the reader has under its feet goes into the message: it may be needed.
	return "SELECT 'DIFFERENT ' || n || ' at step $state->{step} ' || current_setting('transaction_isolation') || (SELECT string_agg(format(' %s:%s:%s', ledger_id, state, entries), '') FROM bifang.ledgers) FROM (SELECT $compared AS n) x WHERE n <> 0;\nSELECT 'compared';\n";
}

my $node = new_lake('random', 'bifang.garbage_grace' => 0, 'bifang.ledger_size_max' => '128kB', 'deadlock_timeout' => '50ms');
$node->safe_psql('postgres', "SELECT bifang.set_property('$_', 'commit.manifest.min-count-to-merge', '4')") for 't', 'p';
my @runs;

for my $w (1 .. $sessions)
{
	my %state = (open => 0);
	my $script = join('', map { step($w, \%state) } 1 .. $steps) . "COMMIT;\n\\echo done\n";

	push @runs, start_script($node, $script);
}

for my $w (1 .. $sessions)
{
	my ($out, $err) = finish_script($runs[ $w - 1 ]);
	my %kinds;
	my @bad;

	like($out, qr/^done$/m, "session $w came to its end");
	is(join("\n", $out =~ /^(DIFFERENT.*|TROUBLE.*)$/mg), '', "session $w saw the same rows in both, always");
	cmp_ok(scalar(() = $out =~ /^compared$/mg), '>', $steps / 40, "session $w compared often enough");
	for my $line ($err =~ /ERROR:\s+(.*)$/mg)
	{
		$kinds{$line}++;
		push @bad, $line
			unless $line =~ /^(could not serialize access|division by zero|current transaction is aborted|deadlock detected|savepoint "\w+" does not exist)/;
	}
	is(join("\n", @bad), '', "session $w met no unexpected error");
	note "$kinds{$_} x $_" for sort keys %kinds;
}
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'equal at the end');
is(troubles($node), '', 'check finds nothing');
note $node->safe_psql('postgres', "SELECT string_agg(kind || ' ' || n, ', ') FROM (SELECT kind, count(*) AS n FROM bifang.jobs GROUP BY 1 ORDER BY 1) x");
note $node->safe_psql('postgres', "SELECT count(*) || ' rows, ' || (SELECT count(*) FROM bifang.ledgers) || ' ledgers' FROM t");
$node->safe_psql('postgres', "SELECT bifang.roll(r, true), bifang.offload(r), bifang.commit(r), bifang.optimize(r) FROM unnest('{t,p}'::regclass[]) r");
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'equal in the lake');
is(troubles($node), '', 'check finds nothing there');
$node->stop;
done_testing();
