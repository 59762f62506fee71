# Files whose number of rows is not what their manifest entry says: other rows than those that were
# committed may be in them, and some may be missing. So it is of data files and of deletes.
use strict;
use warnings;
use Compress::Raw::Zlib;
use File::Find;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('counts');
my $data = $ENV{BIFANG_TEST_DATA};
my $long = qr/([\x80-\xff]*[\x00-\x7f])/;
my $tables = 0;

sub number
{
	my ($bytes) = @_;
	my ($n, $shift) = (0, 0);

	$n |= ($_ & 0x7f) << $shift, $shift += 7 for unpack 'C*', $bytes;
	return $n & 1 ? -1 - ($n >> 1) : $n >> 1;
}

sub varint
{
	my $n = $_[0] < 0 ? -2 * $_[0] - 1 : $_[0] * 2;
	my $bytes = '';

	$bytes .= chr($n & 0x7f | 0x80), $n >>= 7 while $n > 0x7f;
	return $bytes . chr $n;
}

sub deflate
{
	my ($bytes) = @_;
	my ($z) = Compress::Raw::Zlib::Deflate->new(-WindowBits => -MAX_WBITS(), -AppendOutput => 1);
	my $out = '';

	$z->deflate($bytes, $out);
	$z->flush($out);
	return $out;
}

sub inflate
{
	my ($bytes) = @_;
	my ($z) = Compress::Raw::Zlib::Inflate->new(-WindowBits => -MAX_WBITS());
	my $out;

	$z->inflate($bytes, $out);
	return $out;
}

# Writes the manifest again, with what `change` makes of count and size of each entry of the format.
# Returns how many there were.
sub change_manifest
{
	my ($file, $format, $change) = @_;
	my $bytes = slurp_file($file);
	my $sync = substr $bytes, -16;
	my $blocks = index($bytes, $sync) + 16;
	my $out = substr $bytes, 0, $blocks;
	my $before = chr(2 * length $format) . $format;
	my $changed = 0;

	my $small = $out =~ /avro\.codec.deflate/s;

	die "$file is compressed otherwise" if !$small && $out !~ /avro\.codec.null/s;
	pos($bytes) = $blocks;
	while ($bytes =~ /\G$long$long/gc)
	{
		my ($records, $size) = ($1, number($2));
		my $plain = substr $bytes, pos $bytes, $size;

		$plain = inflate($plain) if $small;

		# Of a table without partitions both stand behind the format.
		$changed += $plain =~ s{($before)$long$long}{
			my ($n, $bytes) = $change->(number($2), number($3));
			$1 . varint($n) . varint($bytes)}gse;
		$plain = deflate($plain) if $small;
		$out .= $records . varint(length $plain) . $plain . $sync;
		pos($bytes) += $size + 16;
	}
	open my $f, '>:raw', $file or die "$file: $!";
	print $f $out;
	close $f;
	return $changed;
}

# A foreign table over a copy of one of the test's tables, whose manifests were changed.
sub copy_of
{
	my ($of, $columns, $format, $change) = @_;
	my $name = 'c' . ++$tables;
	my $to = $node->basedir . "/$name";
	my $changed = 0;

	system('cp', '-r', "$data/$of", $to) == 0 or die;
	find(sub { $changed += change_manifest($_, $format, $change) if /\.avro$/ && !/^snap/ && $File::Find::dir =~ /metadata$/ }, $to);
	cmp_ok($changed, '>', 0, "$of: entries of $format were changed");
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE $name ($columns) SERVER lake OPTIONS (location '$to')");
	return $name;
}

# A file whose entry says one row more or less is refused, unless nothing is verified. Of deletes more
# are there than somebody told in tables that everybody reads.
sub refused
{
	my ($what, $of, $columns, $format, $said, $query, %deletes) = @_;
	my $true = copy_of($of, $columns, $format, sub { @_ });
	my $rows = $node->safe_psql('postgres', sprintf $query, $true);
	my ($first) = $columns =~ /^(\w+)/;

	for my $by ($deletes{only} ? 1 : (-1, 1))
	{
		my $false = copy_of($of, $columns, $format, sub { $_[0] + $by, $_[1] + 1000 + $by });

		for my $workers (0, 2)
		{
			my ($rc, $out, $err) = outcome($node,
				"SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
				 SET max_parallel_workers_per_gather = $workers; " . (sprintf $query, $false), extra_params => [ '-v', 'VERBOSITY=verbose' ]);

			like($err, qr/ERROR:  XX001: "[^"]+\/data\/[^"]+": the $said has (\d+) rows, its manifest entry says (\d+)\n/,
				"$what, $by: an error, $workers workers");
			$err =~ /has (\d+) rows, its manifest entry says (\d+)/;
			is(($2 // 0) - ($1 // 0), $by, "$what, $by: both numbers");
			like($err, qr/HINT:  With option "verify_checksums" off the $said is read in spite of that\./, "$what, $by: what helps");
		}
		$node->safe_psql('postgres', "ALTER FOREIGN TABLE $false OPTIONS (ADD verify_checksums 'off')");
		is($node->safe_psql('postgres', sprintf $query, $false), $rows, "$what, $by: what is there");
	}
	# Sizes alone prove nothing.
	my $sizes = copy_of($of, $columns, $format, sub { $_[0], 2 * $_[1] + 7 });
	is($node->safe_psql('postgres', sprintf $query, $sizes), $rows, "$what: another size is not looked at");
	# Nor does a count below 0, which migrations of Avro tables leave: nobody counted.
	my $unknown = copy_of($of, $columns, $format, sub { $deletes{only} || $_[0] > 0 ? -1 : $_[0], $_[1] });
	for my $setting ('on', 'off')
	{
		my $set = "LOAD 'bifang_fdw'; SET bifang.enable_manifest_pruning = $setting; SET bifang.enable_partition_pruning = $setting;";
		is($node->safe_psql('postgres', $set . sprintf $query, $unknown), $rows, "$what: rows that nobody counted, pruning $setting");
		is($node->safe_psql('postgres', $set . sprintf "$query WHERE $first IN (1, 3)", $unknown),
			$node->safe_psql('postgres', sprintf "$query WHERE $first IN (1, 3)", $true), "$what: some of them, pruning $setting");
	}
	return unless $deletes{only};
	my $few = copy_of($of, $columns, $format, sub { $_[0] - 1, $_[1] });
	is($node->safe_psql('postgres', sprintf $query, $few), $rows, "$what: more than told are applied");
}

my $all = 'SELECT count(*), sum(id) FROM %s';

refused('Parquet data', 'dels/avro_deletes', 'id bigint', 'PARQUET', 'file', $all);
refused('Avro deletes', 'dels/avro_deletes', 'id bigint', 'AVRO', 'file', $all, only => 1);
refused('Avro data and deletes', 'dels/avro_all', 'id bigint', 'AVRO', 'file', $all);
refused('data or position deletes', 'dels/dangling', 'id bigint', 'PARQUET', 'file', $all);
refused('equality deletes', 'lake/iceberg_v2_delete_pos_and_multi_eq_ids', 'i bigint', 'PARQUET', 'file', 'SELECT count(*), sum(i) FROM %s');
refused('deletion vectors', 'lake/iceberg_v3_deletion_vectors', 'i bigint', 'PUFFIN', 'deletion vector', 'SELECT count(*), sum(i) FROM %s');

# They are nobody's to add up, and guessed in plans; bounds beside no count are none.
my $uncounted = copy_of('dels/avro_all', 'id bigint', 'AVRO', sub { -7, $_[1] });
is($node->safe_psql('postgres', "SELECT count(*) > 0, count(rows) FROM bifang.files('$uncounted')"), 't|0', 'files: no count');
is($node->safe_psql('postgres', "SELECT count(*) > 0, count(rows) FROM bifang.partitions('$uncounted')"), 't|0', 'partitions: no count');
for my $n (undef, -1)
{
	my $without = copy_of('lake/evolve', 'id bigint', 'PARQUET', sub { $n // $_[0], $_[1] });
	my $about = defined $n ? 'about ' : '';
	like($node->safe_psql('postgres', "EXPLAIN SELECT * FROM $without"), qr/Files: \d+ \($about\d+ rows\)/, "in a plan: $about");
}
for my $n (undef, -1)
{
	my $bounds = copy_of('dels/dangling', 'id bigint', 'PARQUET', sub { $n // $_[0], $_[1] });
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT * FROM $bounds WHERE id < -1000000");
	my $pruned = $plan =~ /by bounds/ ? 'some' : 'no';
	is($pruned, defined $n ? 'no' : 'some', "bounds leave $pruned file out");
}

$node->stop;
done_testing();
