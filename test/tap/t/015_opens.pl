# What a query does not need is not opened: files that are gone or can't be read don't stop it.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $data = $ENV{BIFANG_TEST_DATA};
my $node = new_lake('opens');
my $dir = $node->data_dir . '/../lake';
system("mkdir '$dir' && cp -r '$data/shop/orders' '$dir/orders' && mkdir '$dir/transforms' && tar -C '$dir/transforms' -xzf '$data/transforms.tar.gz' && chmod -R u+w '$dir'") == 0 or die;
system("cp -r '$data/kafka/many-1' '$dir/many-1' && cp '$data/boundaries/sorted.parquet' '$dir/sorted.parquet' && chmod -R u+w '$dir'") == 0 or die;
$node->safe_psql('postgres', qq{
	CREATE SERVER files FOREIGN DATA WRAPPER bifang_fdw;
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (location '$dir/orders');
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (location '$dir/transforms/int_identity');
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (location '$dir/transforms/timestamptz_year');
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (format 'parquet', location '$dir/sorted.parquet');
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (format 'kafka_log', location '$dir/many-1');
	ALTER FOREIGN TABLE orders ADD COLUMN file text OPTIONS (meta 'file');
	CREATE TABLE wanted (v int);
	INSERT INTO wanted VALUES (99), (99);
	INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
	SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.commit('t');
	INSERT INTO t SELECT g, g FROM generate_series(1001, 2000) g;
});

sub works
{
	my ($what, $sql, $expected) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql);

	is($err, '', "$what: no error");
	is($out, $expected, "$what: result") if defined $expected;
	return;
}

sub fails
{
	my ($what, $sql, $how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql);

	like($err, $how, "$what: fails");
	return;
}

# Parallel workers would take files of their own.
$node->safe_psql('postgres', 'ALTER SYSTEM SET max_parallel_workers_per_gather = 0');
$node->reload;

# No order is claimed, not even of a file that is sorted by its writer.
for my $query ('SELECT id FROM sorted ORDER BY id', 'SELECT * FROM many ORDER BY "offset"', 'SELECT * FROM int_identity ORDER BY v', 'SELECT DISTINCT ON (i) * FROM t ORDER BY i')
{
	like($node->safe_psql('postgres', "EXPLAIN $query"), qr/Sort/, "sorted by the server: $query");
}

# --- LIMIT: the first file is enough --------------------------------------------------------------------------------
my $first = $node->safe_psql('postgres', 'SELECT file FROM orders LIMIT 1');
my @others = grep { $_ ne $first } split /\n/, $node->safe_psql('postgres', 'SELECT DISTINCT file FROM orders');
cmp_ok(scalar @others, '>', 5, 'there are other files');
unlink(@others) == @others or die;
works('LIMIT', 'SELECT count(*) FROM (SELECT * FROM orders LIMIT 10) x', 10);
works('EXISTS', 'SELECT EXISTS (SELECT FROM orders)', 't');
works('LIMIT behind a filter', 'SELECT count(*) FROM (SELECT * FROM orders WHERE order_id > 0 LIMIT 10) x', 10);
works('a cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT 1 FROM orders; MOVE 100 FROM c; CLOSE c; COMMIT');
works('LIMIT in LATERAL', 'SELECT count(*) FROM generate_series(1, 20) g, LATERAL (SELECT * FROM orders LIMIT 3 + g * 0) x', 60);
fails('all rows', 'SELECT count(*), max(order_id) FROM orders', qr/No such file|could not open|does not exist/);
fails('a cursor to its end', 'BEGIN; DECLARE c CURSOR FOR SELECT order_id FROM orders; MOVE ALL FROM c', qr/No such file|could not open|does not exist/);

# --- Nothing at all -------------------------------------------------------------------------------------------------
unlink($first) or die;
chmod 0, "$dir/sorted.parquet", glob("$dir/many-1/*");
my $live = $node->safe_psql('postgres', "SELECT string_agg(coalesce(offload_path, directory), ' ') FROM bifang.ledger");
my @ledgers = map { m{^/} ? $_ : $node->data_dir . '/' . $_ } split / /, $live;
is(scalar(grep { -e $_ } @ledgers), 2, 'two ledgers');
rename($_, "$_.away") or die for @ledgers;
my %columns = (orders => 'order_id', sorted => 'i32', many => '"offset"', t => 'i');
for my $table (sort keys %columns)
{
	my $c = $columns{$table};

	works("EXPLAIN of $table", "EXPLAIN SELECT * FROM $table WHERE $c = 5 ORDER BY $c");
	works("EXPLAIN of a join with $table", "EXPLAIN SELECT count(*) FROM $table a JOIN $table b USING ($c) WHERE a.$c > (SELECT 7)");
	works("EXPLAIN of a generic plan of $table", "SET plan_cache_mode = force_generic_plan; PREPARE p(int) AS SELECT * FROM $table WHERE $c = \$1; EXPLAIN EXECUTE p(5)");
	works("LIMIT 0 of $table", "SELECT * FROM $table LIMIT 0", '');
	works("WHERE false of $table", "SELECT * FROM $table WHERE false", '');
	works("$table: nothing equals NULL", "SELECT * FROM $table WHERE $c = NULL", '');
	works("$table: nor at run time", "SELECT * FROM $table WHERE $c = (SELECT NULL::int)", '');
	works("$table: contradiction at run time", "SELECT * FROM $table WHERE $c = 5 AND (SELECT false)", '');
	works("$table: an empty outer side", "SELECT count(*) FROM generate_series(1, 0) e (x), LATERAL (SELECT FROM $table WHERE $c > x OFFSET 0) i", 0);
	works("$table: too large", "SELECT * FROM $table WHERE $c > 1e30::numeric", '') if $table ne 'sorted';
	works("$table: an empty list", "SELECT * FROM $table WHERE $c = ANY ((SELECT '{}'::int[])::int[])", '') if $table ne 'sorted';
	fails("$table: its rows", "SELECT max($c) FROM $table", qr/ERROR/);
}
rename("$_.away", $_) or die for @ledgers;

# --- Partitions: only the files of one are there --------------------------------------------------------------------
my $n = $node->safe_psql('postgres', 'SELECT count(*) FROM int_identity WHERE v = 99');
cmp_ok($n, '>', 0, 'there are some');
for my $partition (glob("$dir/transforms/int_identity/data/*"))
{
	system("rm -r '$partition'") if $partition !~ /=99$/;
}
fails('all rows', 'SELECT max(id) FROM int_identity', qr/No such file|could not open|does not exist/);
my $loops = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;';
works('a constant', 'SELECT count(*) FROM int_identity WHERE v = 99', $n);
works('a prepared statement', 'PREPARE p(int) AS SELECT count(*) FROM int_identity WHERE v = $1;' . 'EXECUTE p(99);' x 8, join("\n", ($n) x 8));
works('in its generic plan', 'SET plan_cache_mode = force_generic_plan; PREPARE p(int) AS SELECT count(*) FROM int_identity WHERE v = $1; EXECUTE p(99); EXECUTE p(NULL)', "$n\n0");
works('of another type', 'SET plan_cache_mode = force_generic_plan; PREPARE p(numeric) AS SELECT count(*) FROM int_identity WHERE v = $1; EXECUTE p(99.0); EXECUTE p(99.5)', "$n\n0");
works('an init plan', 'SELECT count(*) FROM int_identity WHERE v = (SELECT max(v) FROM wanted)', $n);
works('a nested loop', "$loops SELECT count(i.v) FROM wanted w LEFT JOIN int_identity i ON i.v = w.v", 2 * $n);
works('LATERAL', "$loops SELECT sum(x.n) FROM wanted w, LATERAL (SELECT count(*) AS n FROM int_identity i WHERE i.v = w.v) x", 2 * $n);
works('a correlated subquery', 'SELECT sum((SELECT count(*) FROM int_identity i WHERE i.v = w.v)) FROM wanted w', 2 * $n);
works('a cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT v FROM int_identity WHERE v = (SELECT max(v) FROM wanted); FETCH 1 FROM c; MOVE ALL FROM c; COMMIT', '99');
works('a cursor WITH HOLD', 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT v FROM int_identity WHERE v = (SELECT max(v) FROM wanted); COMMIT; FETCH 1 FROM c; CLOSE c', '99');
works('a scrollable cursor', 'BEGIN; DECLARE c SCROLL CURSOR FOR SELECT v FROM int_identity WHERE v = 99; MOVE ALL FROM c; FETCH FIRST FROM c; COMMIT', '99');
works('a function', 'CREATE FUNCTION f(x int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM int_identity WHERE v = x); END $$; SELECT ' . join(' + ', ('f(99)') x 8), 8 * $n);
works('an inlined function', 'CREATE FUNCTION q(x int) RETURNS SETOF int LANGUAGE sql STABLE AS $$ SELECT id FROM int_identity WHERE v = x $$; SELECT count(*) FROM q(99)', $n);
works('Gather', "$loops SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SELECT count(*) FROM int_identity WHERE v = 99", $n);
works('INSERT ... SELECT', 'CREATE TABLE copied AS SELECT * FROM int_identity WHERE v = 99; SELECT count(*) FROM copied', $n);

# --- Time -----------------------------------------------------------------------------------------------------------
for my $partition (glob("$dir/transforms/timestamptz_year/data/*"))
{
	system("rm -r '$partition'") if $partition !~ /=(2024|9999)$/;
}
my $recent = "(now() - interval '1 day' * (current_date - date '2023-06-01'))";
works('now() - interval', "SELECT count(*) > 0 FROM timestamptz_year WHERE v >= $recent", 't');
works('now() - interval in a generic plan', "SET plan_cache_mode = force_generic_plan; PREPARE p(int) AS SELECT count(*) > 0 FROM timestamptz_year WHERE v >= now() - interval '1 day' * \$1; EXECUTE p(100)", 't');
works('a date', "SET TimeZone = 'Asia/Tokyo'; SELECT count(*) > 0 FROM timestamptz_year WHERE v > '2024-01-03'::date", 't');
works('the time zone of each execution', "SET plan_cache_mode = force_generic_plan; PREPARE p(timestamp) AS SELECT count(*) > 0 FROM timestamptz_year WHERE v >= \$1; SET TimeZone = 'Asia/Tokyo'; EXECUTE p('2024-01-01 09:00'); SET TimeZone = 'UTC'; EXECUTE p('2024-01-01')", "t\nt");
fails('the year before', "SET TimeZone = 'Asia/Tokyo'; SELECT max(id) FROM timestamptz_year WHERE v > '1999-01-01'::timestamp", qr/ERROR/);
$node->stop;
done_testing();
