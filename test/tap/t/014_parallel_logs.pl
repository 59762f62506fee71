# One big partition of a Kafka log, one big ledger, one offload file: several processes read them, and give what one
# gives.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $data = $ENV{BIFANG_TEST_DATA};
my $node = new_lake('parallel_logs', 'bifang.ledger_size_max' => '1GB', fsync => 'off', max_parallel_workers => 4, max_worker_processes => 8);

# A broker's logs, one with transactions, a third of them aborted, after the other again and again. The offset is not under the checksum.
sub repeat_log
{
	my ($to, $times, $per_segment, @from) = @_;
	my ($base, $end, $out) = (0, 0, undef);
	my @batches;

	for my $from (@from)
	{
		open(my $f, '<:raw', "$from/00000000000000000000.log") or die "$from: $!";
		my $log = do { local $/; <$f> };
		close $f;
		my $first = $end;
		for (my $at = 0; $at + 61 < length $log;)
		{
			my ($offset, $length) = unpack('q>N', substr($log, $at, 12));
			last if $length == 0;
			push @batches, [ $first + $offset, substr($log, $at + 8, $length + 4) ];
			$end = $first + $offset + unpack('N', substr($log, $at + 23, 4)) + 1;
			$at += 12 + $length;
		}
	}
	mkdir $to or die "$to: $!";
	for my $i (0 .. $times - 1)
	{
		if ($i % $per_segment == 0)
		{
			open($out, '>:raw', sprintf('%s/%020d.log', $to, $base)) or die $!;
		}
		print $out pack('q>', $base + $_->[0]), $_->[1] for @batches;
		$base += $end;
	}
	close $out;
	chmod 0755, $to;
	return $base;
}

my $dir = $node->data_dir . '/../logs';
mkdir $dir;
chmod 0755, $dir;
my $end = repeat_log("$dir/big-0", 60, 20, "$data/kafka/txn-0", "$data/kafka/disorder-0");
$node->safe_psql('postgres', qq{
	CREATE SERVER logs FOREIGN DATA WRAPPER bifang_fdw;
	CREATE SCHEMA k;
	IMPORT FOREIGN SCHEMA x FROM SERVER logs INTO k OPTIONS (format 'kafka_log', location '$dir/big-0');
	CREATE FOREIGN TABLE k.uncommitted (partition int, "offset" bigint, "timestamp" timestamptz, key bytea, value bytea) SERVER logs
		OPTIONS (format 'kafka_log', location '$dir/big-0', isolation 'read_uncommitted');
});

my $parallel = 'SET max_parallel_workers_per_gather = 3; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
my $serial = 'SET max_parallel_workers_per_gather = 0;';

sub same
{
	my ($what, $query) = @_;
	my $one = $node->safe_psql('postgres', "$serial $query");

	is($node->safe_psql('postgres', "$parallel $query"), $one, "$what: as one process");
	isnt($one, '', "$what: there is something");
	return;
}

# How many pieces, and that each row was decoded about once.
sub pieces
{
	my ($query, $key) = @_;
	my $plan = $node->safe_psql('postgres', "$parallel EXPLAIN (ANALYZE, FORMAT JSON, TIMING off) $query");
	my ($n) = $plan =~ /"\Q$key\E": (\d+)/;

	return $n // 0;
}

$parallel .= 'SET parallel_leader_participation = off;';
for my $table ('k.big', 'k.uncommitted')
{
	same($table, qq{SELECT count(*), sum("offset"), count(key), sum(length(value)), sum(hashtext("offset" || encode(value, 'hex'))::bigint) FROM $table});
	same("$table, count", "SELECT count(*) FROM $table");
	my $many = pieces("SELECT sum(\"offset\") FROM $table", 'Pieces Read');
	cmp_ok($many, '>', 1, "$table: $many pieces");
	# A batch at a cut is looked at twice.
	cmp_ok(pieces("SELECT sum(\"offset\") FROM $table", 'Log Read entries decoded'), '<', $end + $many * 1000, "$table: no record is decoded again and again");
	for my $where ("\"offset\" > $end / 2", "\"offset\" BETWEEN 1000 AND $end - 1000", "\"offset\" % 1000 = 7", "\"offset\" IN (7, 100000, $end - 5000)",
		"\"offset\" < 5000 OR \"offset\" BETWEEN $end / 3 AND $end / 3 + 70000 OR \"offset\" > $end - 9000", '"timestamp" >= (SELECT max("timestamp") - interval \'1 ms\' FROM k.big)',
		'"timestamp" <= (SELECT min("timestamp") + interval \'1 ms\' FROM k.big)', "value IS NULL OR length(value) > 3")
	{
		same("$table: $where", "SELECT count(*), sum(\"offset\"), min(\"offset\"), max(\"offset\") FROM $table WHERE $where");
	}
}
is($node->safe_psql('postgres', "$parallel SELECT g, (SELECT sum(\"offset\") FROM k.big WHERE \"offset\" >= g AND \"offset\" < g + 100000) FROM generate_series(0, 400000, 100000) g"),
	$node->safe_psql('postgres', "$serial SELECT g, (SELECT sum(\"offset\") FROM k.big WHERE \"offset\" >= g AND \"offset\" < g + 100000) FROM generate_series(0, 400000, 100000) g"), 'searches under Gather, again and again');

# What a compaction left that was interrupted.
my $whole = 'SELECT count(*), sum("offset"), sum(hashtext("offset" || encode(value, \'hex\'))::bigint) FROM k.big';
my $before = $node->safe_psql('postgres', "$serial $whole");
rename("$dir/big-0/00000000000000000000.log", "$dir/big-0/00000000000000000000.log.swap") or die $!;
is($node->safe_psql('postgres', "$serial $whole"), $before, 'a merged segment');
is($node->safe_psql('postgres', "$parallel $whole"), $before, 'a merged segment, by several processes');
rename("$dir/big-0/00000000000000000000.log.swap", "$dir/big-0/00000000000000000000.log") or die $!;

# A ledger: live, offloaded, and some of it in the lake.
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE one (a bigint, s text, entry bigint OPTIONS (meta 'entry')) SERVER lake OPTIONS (namespace 'x', "table" 'one');
	INSERT INTO one SELECT g, (SELECT string_agg(md5((g * k)::text), '') FROM generate_series(3, 10) k) FROM generate_series(1, 130000) g;
});
for my $state ('live', 'offloaded', 'offloaded and in the lake', 'with younger rows')
{
	$node->safe_psql('postgres', "SELECT bifang.roll('one'); SELECT bifang.offload('one')") if $state eq 'offloaded';
	$node->safe_psql('postgres', "SELECT bifang.commit('one')") if $state eq 'offloaded and in the lake';
	$node->safe_psql('postgres', "INSERT INTO one SELECT -g, 'young' FROM generate_series(1, 1000) g") if $state eq 'with younger rows';
	same($state, 'SELECT count(*), sum(a), sum(hashtext(s)::bigint), min(a), max(a) FROM one');
	same("$state, count", 'SELECT count(*) FROM one');
	same("$state, entries", 'SELECT count(*), sum(a), min(entry), max(entry) FROM one WHERE entry BETWEEN 1000 AND 100000 OR entry IN (5, 120000)');
	my $many = pieces('SELECT sum(a) FROM one', 'Pieces Read');
	cmp_ok($many, '>', 2, "$state: $many pieces");
	cmp_ok(pieces('SELECT sum(a) FROM one', 'Log Read entries decoded'), '==', $state eq 'with younger rows' ? 131000 : 130000, "$state: each entry once");
}
# Only what is wanted.
cmp_ok(pieces('SELECT sum(a) FROM one WHERE entry IN (5, 120000)', 'Log Read entries decoded'), '<', 20000, 'two entries of many');
$node->stop;
done_testing();
