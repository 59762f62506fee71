# A segment whose indexes have 10 and 15 MB: what a look-up reads of them. The log is a file with holes; there are
# batches only where the look-ups lead to.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

use constant { BATCHES => 1250000, BYTES => 1000, TIME => 1700000000000 };

my @crc = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82f63b78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;

sub crc32c
{
	my $c = 0xffffffff;
	$c = $crc[ ($c ^ $_) & 255 ] ^ ($c >> 8) for unpack('C*', shift);
	return $c ^ 0xffffffff;
}

# Batch i: offsets 2i and 2i + 1, of which a compaction left the first, with i as its text.
sub batch
{
	my $i = shift;
	my $value = sprintf('%-930s', $i);
	my $record = pack('C4', 0, 0, 0, 1) . pack('CC', 0xc4, 0x0e) . $value . "\0";
	my $body = pack('nNq>q>q>nNN', 0, 1, TIME + $i, TIME + $i, -1, 0xffff, 0xffffffff, 1) . pack('CC', 0xd2, 0x0e) . $record;
	my $batch = pack('q>NNCN', 2 * $i, length($body) + 9, 0, 2, crc32c($body)) . $body;
	die length $batch unless length $batch == BYTES;
	return $batch;
}

my $node = new_lake('index_reads');
my $dir = $node->data_dir . '/../logs';
mkdir $dir;
mkdir "$dir/t-0";
chmod 0755, $dir, "$dir/t-0";

my @cold = (0, 1, 2, 511, 1000, 400000, 777777, 1000000, BATCHES - 1500);
my @warm = (BATCHES - 1000, BATCHES - 513, BATCHES - 2, BATCHES - 1);

open(my $log, '>:raw', "$dir/t-0/00000000000000000000.log") or die $!;
for my $i (sort { $a <=> $b } map { ($_ - 1, $_, $_ + 1) } @cold, @warm)
{
	next if $i < 0 || $i >= BATCHES;
	seek($log, $i * BYTES, 0);
	print $log batch($i);
}
close $log;

# The spare bytes at the end are a hole, or written.
sub indexes
{
	my ($spare, $written) = @_;
	for ([ 'index', sub { pack('NN', 2 * $_ + 1, $_ * BYTES) } ], [ 'timeindex', sub { pack('q>N', TIME + $_, 2 * $_ + 1) } ])
	{
		my ($suffix, $entry) = @$_;
		open(my $f, '>:raw', "$dir/t-0/00000000000000000000.$suffix") or die $!;
		print $f $entry->() for 0 .. BATCHES - 1;
		print $f "\0" x $spare if $written;
		truncate($f, tell($f) + $spare) if $spare && !$written;
		close $f;
	}
}

indexes(0);
$node->safe_psql('postgres', qq{
	CREATE SERVER logs FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE k (partition int, "offset" bigint, "timestamp" timestamptz, key bytea, value text) SERVER logs
		OPTIONS (format 'kafka_log', location '$dir/t-0', isolation 'read_uncommitted');
});

sub look_up
{
	my $where = shift;
	my $rows = $node->safe_psql('postgres', "SELECT trim(value) FROM k WHERE $where");
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT value FROM k WHERE $where");
	my ($bytes) = $plan =~ /I\/O: .*bytes=(\d+)/;
	my ($pages) = $plan =~ /Log Read: .*index pages=(\d+)/;

	cmp_ok($bytes, '<', 2_000_000, "bytes read for $where");
	return ($rows, $pages // 0);
}

for my $i (@warm)
{
	my ($rows, $pages) = look_up('"offset" = ' . 2 * $i);
	is($rows, $i, "row of batch $i, in the warm section");
	cmp_ok($pages, '<=', 3, "pages of a look-up in the warm section: $pages");
}
for my $i (@cold)
{
	my ($rows, $pages) = look_up('"offset" = ' . 2 * $i);
	is($rows, $i, "row of batch $i, in the cold part");
	cmp_ok($pages, '<=', 3 + 14, "pages of a look-up in the cold part: $pages");
}
{
	my ($rows, $pages) = look_up(sprintf(q{"timestamp" >= to_timestamp(%d / 1000.0)}, TIME + BATCHES - 2));
	is($rows, join("\n", BATCHES - 2, BATCHES - 1), 'rows by time');
	cmp_ok($pages, '<=', 3 + 3, "pages of both indexes for the youngest rows: $pages");
}

# As a broker preallocates them, and as some programs copy that: of the copy the last page, the first one and one that
# comes near are looked at besides.
for my $written (0, 1)
{
	my $more = $written ? 3 : 0;
	my $what = $written ? 'copied' : 'preallocated';

	indexes(5 << 20, $written);
	for my $i (@warm)
	{
		my ($rows, $pages) = look_up('"offset" = ' . 2 * $i);
		is($rows, $i, "row of batch $i, with a $what index");
		cmp_ok($pages, '<=', 3 + $more, "pages in the warm section of a $what index: $pages");
	}
	for my $i (@cold)
	{
		my ($rows, $pages) = look_up('"offset" = ' . 2 * $i);
		is($rows, $i, "row of batch $i, with a $what index");
		cmp_ok($pages, '<=', 3 + 14 + $more, "pages in the cold part of a $what index: $pages");
	}
}

done_testing();
