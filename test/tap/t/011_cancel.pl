# Long statements, hours of them, end with their timeout, with pg_cancel_backend and with Ctrl-C, wherever
# they are, and leave nothing behind: no open file, no lock, no half of a row.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $data = $ENV{BIFANG_TEST_DATA};
my $node = new_lake('cancel');
my $dir = PostgreSQL::Test::Utils::tempdir();

# Long input: one file under many names; a log segment whose batches are one batch at other offsets
# (the base offset of a batch stands before what its checksum covers).
mkdir "$dir/parquet";
my ($file) = glob "$data/shop/orders/data/*/*.parquet";
symlink($file, sprintf("$dir/parquet/%05d.parquet", $_)) for 1 .. 20000;

sub long_log
{
	my ($name, $source, $copies) = @_;
	my $bytes = slurp_file($source);
	my ($length, $delta) = (12 + unpack('x8 N', $bytes), unpack('x23 N', $bytes));
	my $batch = substr($bytes, 8, $length - 8);

	mkdir "$dir/$name-0";
	open(my $out, '>:raw', "$dir/$name-0/00000000000000000000.log") or die;
	print $out pack('Q>', $_ * ($delta + 1)) . $batch for 0 .. $copies - 1;
	close $out;
	return ($delta + 1) * $copies;
}
my $entries = long_log('long', "$data/kafka/many-0/00000000000000000000.log", 10000);

$node->safe_psql('postgres', qq{
	CREATE SERVER files FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE orders (order_id bigint, amount numeric(12,2), country text) SERVER files
		OPTIONS (format 'parquet', location '$dir/parquet');
	CREATE FOREIGN TABLE long ("offset" bigint, value bytea) SERVER files OPTIONS (format 'kafka_log', location '$dir/long-*');
	INSERT INTO t SELECT 1, g, g * 1.5, md5(g::text), '2024-01-01' FROM generate_series(1, 200000) g;
	SELECT bifang.roll('t'); SELECT bifang.offload('t');
	INSERT INTO t SELECT 2, g, g * 1.5, md5(g::text), '2024-01-01' FROM generate_series(1, 200000) g;
});
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT "offset") FROM long WHERE "offset" < 5000'), '5000|5000', 'the long log is a log');

# Each of these takes much longer than its timeout, which no condition that statistics answer does:
# what finds no rows has to read them.
my $again = 'SELECT sum(x) FROM generate_series(1, 100000) g, LATERAL (SELECT %s AS x FROM %s OFFSET 0) s';
my %long = (
	'Parquet, values' => sprintf($again, 'sum(amount + g)', 'orders'),
	'Parquet, footers' => sprintf($again, 'count(*)', 'orders WHERE g > 0'),
	'Parquet, no rows' => sprintf($again, 'count(*)', "orders WHERE country = 'nowhere' AND amount + g < 0"),
	'ledgers, live and offloaded' => sprintf($again, 'sum(i + g)', 't'),
	'ledgers, no rows' => sprintf($again, 'count(*)', 't WHERE i + g < 0'),
	'ledgers, counted only' => sprintf($again, 'count(*)', 't WHERE g > 0'),
	'Kafka, values' => sprintf($again, 'sum("offset" + g)', 'long'),
	'Kafka, no rows' => sprintf($again, 'count(*)', "long WHERE value = 'nothing' AND \"offset\" > -g"),
	'Kafka, a sort of all' => sprintf($again, 'max("offset" + g)', '(SELECT * FROM long ORDER BY value) l'),
	'INSERT' => 'INSERT INTO t SELECT 3, g, g, md5(g::text) FROM generate_series(1, 1000000000) g',
	'INSERT into partitions' => 'INSERT INTO p SELECT 3, g % 1000, md5(g::text) FROM generate_series(1, 1000000000) g',
	'INSERT from itself' => 'INSERT INTO t SELECT t.* FROM t, t t2',
	# The server sends the cancel to its children too; whose end is told first is luck.
	'COPY FROM' => "COPY t (w, i) FROM PROGRAM 'trap \"\" INT; exec yes \"3\t4\"'",
	'COPY TO' => "COPY (SELECT * FROM orders, generate_series(1, 100000)) TO PROGRAM 'trap \"\" INT; exec cat >/dev/null'",
	'bifang.log_segment' => "SELECT count(*) FROM generate_series(1, 100000), LATERAL bifang.log_segment('$dir/long-0')",
	'bifang.parquet_metadata' => "SELECT count(*) FROM generate_series(1, 100000), LATERAL bifang.parquet_metadata('$dir/parquet')",
	'ANALYZE' => 'DO $$ BEGIN LOOP ANALYZE orders, t; END LOOP; END $$',
	'bifang.check' => q{DO $$ BEGIN LOOP PERFORM bifang.check('t'); END LOOP; END $$},
);

sub state
{
	return $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM p), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
			(SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid())});
}
my $before = state();

for my $what (sort keys %long)
{
	my ($rc, $out, $err) = outcome($node, "SET statement_timeout = 300; $long{$what}");

	like($err, qr/canceling statement due to statement timeout/, "$what: times out");
	is(state(), $before, "$what: as before");
}

# Again and again in one session: descriptors and memory stay where they are.
my $fds = q{SELECT 'fds', count(*) FROM pg_ls_dir('/proc/self/fd');};
my $round = join('', map { "$long{$_};\n" } grep { !/INSERT|COPY|ANALYZE/ } sort keys %long);
my ($rc, $out, $err) = outcome($node, "SET statement_timeout = 40;\n$round$fds\n" . $round x 5 . $fds, on_error_stop => 0);
my @fds = $out =~ /^fds\|(\d+)$/mg;
is($fds[1], $fds[0], 'descriptors after many cancelled statements');

# Ended at whatever step a few milliseconds lead to: that nothing more is read then is no damage, and no
# sign that a directory is somebody else's.
$node->safe_psql('postgres', 'CREATE FOREIGN TABLE short (i bigint) SERVER lake');
($rc, $out, $err) = outcome($node, join('', map {
	sprintf "SET statement_timeout = %d;\nINSERT INTO short SELECT g FROM generate_series(1, %d) g;\n", 1 + $_ % 6, 1 + 211 * ($_ % 97)
} 1 .. 1500), on_error_stop => 0);
# At COMMIT the server has put the timer away, and no longer knows whose cancel it still finds.
my @said = grep { /\S/ && !/canceling statement due to (?:statement timeout|user request)/ } split /\n/, $err;
is(join("\n", @said), '', 'statements that end early say so and nothing else');

# Cancelled by another session and by Ctrl-C in psql.
for my $what ('Parquet, values', 'ledgers, no rows', 'Kafka, no rows', 'INSERT', 'COPY FROM')
{
	for my $way ('cancel', 'interrupt', 'terminate')
	{
		my $name = "w${way}";
		my $script = start_script($node, "SET application_name = '$name';\n$long{$what};\n");

		$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active' AND now() - query_start > '0.2 s'");
		if ($way eq 'interrupt') { $script->{handle}->signal('INT') }
		else { $node->safe_psql('postgres', "SELECT pg_${way}_backend(pid) FROM pg_stat_activity WHERE application_name = '$name'") }
		ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active'"),
			"$what: $way ends it");
		finish_script($script);
	}
	is(state(), $before, "$what: as before");
}
is(troubles($node), '', 'check finds nothing');

# Writers go on where they were.
$node->safe_psql('postgres', 'INSERT INTO t VALUES (4, 1); INSERT INTO p VALUES (4, 1)');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE w > 2'), 1, 'the next row');
$node->safe_psql('postgres', "SELECT bifang.roll(r), bifang.offload(r), bifang.commit(r) FROM unnest('{t,p}'::regclass[]) r");
is(troubles($node), '', 'check finds nothing in the lake');
$node->stop;
done_testing();
