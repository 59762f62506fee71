# A table of very many logical files: check of it stays small and finds what is wrong, and all work on it ends soon
# when it is told to.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my ($files, $rounds) = (160000, 3);
my $node = new_lake('many_files', fsync => 'off', autovacuum => 'off', 'bifang.ledger_size_max' => '1GB');

sub sql { return $node->safe_psql('postgres', shift) }

# Each partition gets a few entries at a time, so that its file names several ranges.
sql(q{CREATE FOREIGN TABLE many (k int, v int) SERVER lake OPTIONS (partition_by 'k')});
sql(qq{INSERT INTO many SELECT g, $_ FROM generate_series(1, $files) g}) for 1 .. $rounds;
sql(qq{INSERT INTO many SELECT g, 0 FROM generate_series(1, 20000) g});
is(sql(q{SELECT files, rows FROM bifang.commit('many')}), "$files|500000", 'many logical files');

# The most that a backend had above what it began with, in MB, and what the query gave.
sub grown_by
{
	my ($query) = @_;
	my $status = q{SELECT (regexp_match(pg_read_file('/proc/self/status'), 'Vm%s:\s+(\d+)'))[1];};
	my @lines = split /\n/, sql(sprintf($status, 'RSS') . "$query;" . sprintf($status, 'HWM'));

	return (int(($lines[-1] - $lines[0]) / 1024), join("\n", @lines[1 .. $#lines - 1]));
}

my ($grown, $out) = grown_by(q{SELECT severity, subject, what FROM bifang.check('many')});
is($out, '', 'check finds nothing');
cmp_ok($grown, '<', 128, "in $grown MB");

# What is wrong is found at that size, too.
my $ledger = sql(q{SELECT min(ledger_id) FROM bifang.ledgers WHERE table_name = 'many'});
($grown, $out) = grown_by(qq{BEGIN; DELETE FROM bifang.append WHERE ledger_id = $ledger;
	SELECT what FROM bifang.check('many'); ROLLBACK});
is($out, 'beyond: entries 0-499999 are covered but the end is 0', 'what is covered is one range');
($grown, $out) = grown_by(qq{BEGIN; DELETE FROM bifang.ledger WHERE ledger_id = $ledger;
	SELECT count(*), count(DISTINCT what) FROM bifang.check('many') WHERE what LIKE 'dangling: %'; ROLLBACK});
is($out, ($files + 1) . '|' . ($files + 1), 'every file is told of');
cmp_ok($grown, '<', 256, "in $grown MB");

# Ended at whatever step a timeout leads to. What counts is the backend's own time, which a busy machine does not
# make longer.
sql(q{
	CREATE FUNCTION cpu_ms() RETURNS int LANGUAGE sql AS
		$$ SELECT (a[12]::int + a[13]::int) * 10 FROM string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '.*\) ', ''), ' ') a $$;
	CREATE FOREIGN TABLE more (k int, v text) SERVER lake OPTIONS (partition_by 'k');
	INSERT INTO more SELECT g, g::text FROM generate_series(1, 300000) g});
my %work = (
	commit => q{SELECT files FROM bifang.commit('more')},
	'commit of what is offloaded' => q{DO $$ BEGIN PERFORM bifang.roll('more'); PERFORM bifang.offload('more'); PERFORM bifang.commit('more'); END $$},
	check => q{SELECT count(*) FROM bifang.check('many')},
	manifest => q{SELECT count(*) FROM bifang.manifest('many')},
	files => q{SELECT count(*) FROM bifang.files('many')},
	scan => q{SELECT count(*) FROM many WHERE v > 1});
for my $what (sort keys %work)
{
	# A timeout that comes just when its statement is done ends the next one, which is the first ROLLBACK.
	my $script = join "\n", map { "SELECT cpu_ms() AS before \\gset\nBEGIN;\nSET LOCAL statement_timeout = $_;\n$work{$what};\nROLLBACK;\nROLLBACK;
		SELECT 'late by ' || greatest(cpu_ms() - :before - $_, 0);" } 10, 50, map { 100 * $_ } 1 .. 12;
	my (undef, $out) = outcome($node, $script, on_error_stop => 0);
	my ($latest, @others) = sort { $b <=> $a } $out =~ /^late by (\d+)$/mg;

	is(scalar(@others), 13, "$what: each time");
	cmp_ok($latest, '<', 1000, "$what: it ends, after $latest ms at most");
}
is(sql(q{SELECT count(*) FROM bifang.check('more')}), 0, 'nothing has happened');
is(sql(q{SELECT count(*) FROM more}), 300000, 'to any row');

$node->stop;
done_testing();
