# The newest messages of a log without producer snapshots, committed ones only: what is read to know that no transaction
# before them is open.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

use constant { BATCHES => 600, BYTES => 16000 };

my @crc = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82f63b78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;

sub crc32c
{
	my $c = 0xffffffff;
	$c = $crc[ ($c ^ $_) & 255 ] ^ ($c >> 8) for unpack('C*', shift);
	return $c ^ 0xffffffff;
}

sub varint
{
	my $n = shift;
	$n = $n < 0 ? -2 * $n - 1 : 2 * $n;
	my $out = '';
	for (; $n > 127; $n >>= 7) { $out .= chr($n & 127 | 128); }
	return $out . chr($n);
}

# One record at an offset; producer -1 is nobody.
sub batch
{
	my ($offset, $producer, $sequence, $attributes, $key, $value) = @_;
	my $record = pack('C', 0) . varint(0) . varint(0)
	  . (defined $key ? varint(length $key) . $key : varint(-1)) . varint(length $value) . $value . varint(0);
	my $body = pack('nNq>q>q>nNN', $attributes, 0, 1700000000000, 1700000000000, $producer, $producer < 0 ? 0xffff : 0,
		$sequence & 0xffffffff, 1) . varint(length $record) . $record;
	return pack('q>NNCN', $offset, length($body) + 9, 0, 2, crc32c($body)) . $body;
}

my $node = new_lake('open_transactions');
my $dir = $node->data_dir . '/../logs';
mkdir $dir;
mkdir "$dir/t-0";
chmod 0755, $dir, "$dir/t-0";

# Data of a transaction, of nobody, and of an idempotent producer in turns, and markers.
my ($log, $index, $offset, @sequence) = ('', '', 0, 0, 0);

sub add
{
	my ($producer, $attributes, $key, $value) = @_;
	my $marker = $attributes & 0x20;
	my $sequence = $producer < 0 || $marker ? -1 : $sequence[ $producer % 2 ]++;
	$index .= pack('NN', $offset, length $log);
	$log .= batch($offset++, $producer, $sequence, $attributes, $key, $value);
}

sub data
{
	my ($producer, $attributes) = @_;
	add($producer, $attributes, undef, sprintf('%-' . (BYTES - 100) . 's', $offset));
}

sub marker
{
	add(4, 0x30, pack('nn', 0, shift), pack('nN', 0, 0));
}

for my $i (0 .. BATCHES - 1)
{
	data($i % 3 == 0 ? (4, 0x10) : $i % 3 == 1 ? (-1, 0) : (5, 0));
	marker($i % 2) if $i % 30 == 29;
}
data(-1, 0) for 1 .. 10;
append_to_file("$dir/t-0/00000000000000000000.log", $log);
append_to_file("$dir/t-0/00000000000000000000.index", $index);

$node->safe_psql('postgres', qq{
	CREATE SERVER logs FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE k (partition int, "offset" bigint, "timestamp" timestamptz, key bytea, value text) SERVER logs
		OPTIONS (format 'kafka_log', location '$dir/t-0');
});

my $newest = 'WHERE "offset" >= ' . ($offset - 10);

sub bytes_read
{
	my $settings = shift;
	my $plan = $node->safe_psql('postgres', "LOAD 'bifang_fdw'; $settings EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT value FROM k $newest");
	my ($bytes) = $plan =~ /I\/O: .*bytes=(\d+)/;
	return $bytes;
}

my $newest_rows = join("\n", $offset - 10 .. $offset - 1);

is($node->safe_psql('postgres', "SELECT trim(value) FROM k $newest"), $newest_rows, 'the newest rows');
my $bytes = bytes_read('');
# A window of 256 KiB or two for the end and as much for the rows; headers, and some batches.
cmp_ok($bytes, '<', 1_100_000, "bytes read by headers: $bytes of " . length $log);
$bytes = bytes_read('SET bifang.enable_header_walk = off;');
cmp_ok($bytes, '>=', length $log, "bytes read without: $bytes");

# Nor an index: where the log ends, and where its newest messages are, is found by headers, too.
rename "$dir/t-0/00000000000000000000.index", "$dir/index";
is($node->safe_psql('postgres', "SELECT trim(value) FROM k $newest"), $newest_rows, 'the newest rows without an index');
$bytes = bytes_read('');
cmp_ok($bytes, '<', 1_100_000, "bytes read by headers without an index: $bytes of " . length $log);
$bytes = bytes_read('SET bifang.enable_header_walk = off;');
cmp_ok($bytes, '>=', length $log, "bytes read without both: $bytes");
rename "$dir/index", "$dir/t-0/00000000000000000000.index";

my $sum = 'SELECT count(*), sum("offset"), md5(string_agg(value, \'\' ORDER BY "offset")) FROM k';
my $all = $node->safe_psql('postgres', $sum);
is($node->safe_psql('postgres', "LOAD 'bifang_fdw'; SET bifang.enable_header_walk = off; $sum"), $all, 'the same rows without');
like($all, qr/^\d{3}\|/, 'rows of committed transactions');

# One that stays open hides what is behind it.
my $open = $offset;
data(4, 0x10);
data(-1, 0) for 1 .. 3;
unlink "$dir/t-0/00000000000000000000.log", "$dir/t-0/00000000000000000000.index";
append_to_file("$dir/t-0/00000000000000000000.log", $log);
append_to_file("$dir/t-0/00000000000000000000.index", $index);
is($node->safe_psql('postgres', $sum), $all, 'an open transaction ends what is committed');
is($node->safe_psql('postgres', 'SELECT max("offset") FROM k'), $open - 1, 'up to where it begins');

# Its batch becomes that of nobody's transaction: an error, not the rows behind it.
open(my $f, '+<:raw', "$dir/t-0/00000000000000000000.log") or die $!;
my $at = index($log, pack('q>N', $open, 0) =~ s/....$//sr, length($log) - 5 * BYTES);
seek($f, $at + 22, 0);
print $f "\0";
close $f;
my ($ret, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM k');
isnt($ret, 0, 'a transaction that a damaged header hides');
like($err, qr/has checksum/, 'is an error');

done_testing();
