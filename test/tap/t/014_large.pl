# Iceberg tables with very many files (make bench-plan has 100,000): what is left of them is counted right,
# whatever the manifests look like, memory stays bounded while the table moves on, and what claims too much
# ends with an error or at once when it is told to.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $files = 3000;
my $node = new_lake('large');
my $dir = $node->basedir . '/large';

mkdir $dir;
$node->safe_psql('postgres', q{
	CREATE SERVER files FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FUNCTION explain(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE line text; lines text := '';
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
			IF line ~ 'Parquet Files|Pruned' THEN lines := lines || trim(line) || '; '; END IF;
		END LOOP;
		RETURN lines;
	END $$;
});

# A table made by the tool, as foreign table of that name.
sub make_table
{
	my ($name, @args) = @_;

	system($ENV{BIFANG_LARGE_TABLE}, "$dir/$name", @args) == 0 or die "$name cannot be made";
	$node->safe_psql('postgres', qq{CREATE FOREIGN TABLE $name (id bigint, spread bigint, seven bigint, word text, c4 bigint, day bigint)
		SERVER files OPTIONS (format 'iceberg', location '$dir/$name')});
	return;
}

my %variants = (
	v1 => ['manifests=30', 'version=1'],
	one => ['manifests=1'],
	many => ['manifests=300'],
	position => ['manifests=30', 'deletes=position'],
	equality => ['manifests=30', 'deletes=equality'],
	vectors => ['manifests=30', 'version=3', 'deletes=vector'],
);
for my $name (sort keys %variants)
{
	my @args = @{ $variants{$name} };
	my $deletes = grep { /deletes/ } @args;

	make_table($name, "files=$files", 'real=10', @args);
	# Each statement several times: indexes are made at the third.
	my $out = $node->safe_psql('postgres', qq{
		PREPARE by_spread (bigint) AS SELECT id FROM $name WHERE spread = \$1;
		SET plan_cache_mode = force_generic_plan;
		SELECT explain('SELECT * FROM $name WHERE id = 15003') FROM generate_series(1, 4);
		SELECT explain('SELECT * FROM $name WHERE spread IN (1, 15003, 40000)') FROM generate_series(1, 4);
		SELECT explain('SELECT * FROM $name WHERE word COLLATE "C" > ''word 0000029985''') FROM generate_series(1, 4);
		SELECT explain('SELECT * FROM $name WHERE seven = 3') FROM generate_series(1, 4);
		SELECT 'row ' || word FROM $name WHERE id = 15003;
		SELECT 'first ' || count(*) FROM $name WHERE id < 10;
		SELECT 'nested ' || count(*) || ' ' || sum(x.id) FROM generate_series(0, 299) g, LATERAL (SELECT id FROM $name WHERE id = g * 100 + 1 OFFSET 0) x;
		SELECT 'random ' || count(*) FROM generate_series(1, 300) g, LATERAL (SELECT id FROM $name WHERE spread = -g OFFSET 0) x;
		EXECUTE by_spread(-7);
	});
	my %count;

	$count{$_}++ for split /\n/, $out;
	# With all files of an order, just those whose bounds have the value are left.
	my @left = grep { /Parquet Files: 1 \(10 rows/ } keys %count;
	is(scalar(@left), 1, "$name: one file of $files has the id, indexed or not");
	like($left[0] // '', qr/by bounds=\d+/, "$name: others are left out by bounds");
	is(scalar(grep { /^Parquet Files: 2 \(/ } split /\n/, $out), 8, "$name: two files by numbers, two by a text");
	is(scalar(grep { /^Parquet Files: $files \(/ } split /\n/, $out), 4, "$name: none is left out where all have the value");
	is($count{'row word 0000015003'}, 1, "$name: a row is read");
	is($count{'first ' . ($deletes ? 9 : 10)}, 1, "$name: deletes of one file");
	my $rows = $deletes ? 270 : 300;
	my $sum = 0;
	$sum += $_ * 100 + 1 for ($deletes ? 30 : 0) .. 299;
	is($count{"nested $rows $sum"}, 1, "$name: a nested loop over files");
	is($count{'random 0'}, 1, "$name: a nested loop that finds nothing");
}

# In parallel, workers have the leader's plan; the same rows come out.
for my $name ('many', 'vectors')
{
	my $serial = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; SELECT count(*), sum(id) FROM $name WHERE id BETWEEN 3000 AND 3009 OR id BETWEEN 9000 AND 9009");
	my $parallel = $node->safe_psql('postgres', "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		SELECT count(*), sum(id) FROM $name WHERE id BETWEEN 3000 AND 3009 OR id BETWEEN 9000 AND 9009");

	is($parallel, $serial, "$name: in parallel");
}

# A backend that sees a table move on for fifty versions keeps what one of them takes.
my $memory = q{SELECT 'memory ' || (regexp_match(pg_read_file('/proc/self/status'), 'VmRSS:\s+(\d+)'))[1];};
make_table('moving', "files=$files", 'manifests=3', 'commits=50', 'rewrite=3');
my $script = "SELECT explain('SELECT * FROM moving WHERE id = 7');\n" x 5 . "$memory\n";
for my $version (2 .. 51)
{
	$script .= "\\! mv $dir/moving/next/v$version.metadata.json $dir/moving/metadata/\n";
	$script .= "SELECT explain('SELECT * FROM moving WHERE id = 7');\n";
}
my @seen = $node->safe_psql('postgres', "SET bifang.metadata_cache = '8MB'; $script $memory SELECT 'snapshot ' || max(sequence_number) FROM bifang.snapshots('moving');") =~ /^memory (\d+)/mg;
is(scalar(@seen), 2, 'fifty versions');
cmp_ok($seen[1] - $seen[0], '<', 12 * 1024, 'memory after fifty versions');
note "memory: @seen";

# More than there is: an error in bounded memory; a cancel is heard while the list is read.
make_table('claims', 'files=100', 'manifests=1', 'claims=200000');
my ($out, $err) = ('', '');
$node->psql('postgres', "SELECT explain('SELECT * FROM claims');\nSELECT 'most ' || (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\\s+(\\d+)'))[1];",
	stdout => \$out, stderr => \$err, on_error_stop => 0);
like($err, qr{/metadata/claimed-\d+\.avro": could not open file}, 'manifests that are not there are named');
my ($most) = $out =~ /^most (\d+)/m;
cmp_ok($most, '<', 250 * 1024, 'memory for 200,000 manifests of 2^31 files');
(undef, undef, $err) = outcome($node, 'SET statement_timeout = 30; EXPLAIN SELECT * FROM claims');
like($err, qr/statement timeout/, 'planning is cancelled');
(undef, undef, $err) = outcome($node, 'SET statement_timeout = 5; EXPLAIN SELECT * FROM many');
like($err, qr/statement timeout/, 'planning over many manifests is cancelled');

$node->stop;
done_testing();
