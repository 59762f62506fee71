# What a backend holds does not grow with what it has done: rescans, cursors, statements that fail, and
# 1000 connections one after the other.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'sleep';
use Lake;

my $data = $ENV{BIFANG_TEST_DATA};
my $node = new_lake('resources', 'bifang.ledger_size_max' => '64kB');

$node->safe_psql('postgres', qq{
	INSERT INTO t SELECT g, g, g * 1.5, md5(g::text), '2024-01-01' FROM generate_series(1, 400) g;
	SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.commit('t');
	INSERT INTO t SELECT g, g, NULL, NULL, NULL FROM generate_series(401, 500) g;
	SELECT bifang.commit('t');
	INSERT INTO t SELECT g, g FROM generate_series(501, 520) g;
	INSERT INTO p SELECT g % 7, g, 's' FROM generate_series(1, 300) g;
	SELECT bifang.roll('p'); SELECT bifang.offload('p'); SELECT bifang.commit('p');
	CREATE SERVER files FOREIGN DATA WRAPPER bifang_fdw;
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (format 'parquet', location '$data/parquet/alpha.parquet');
	IMPORT FOREIGN SCHEMA x FROM SERVER files INTO public OPTIONS (format 'kafka_log', location '$data/kafka/many-*');
	IMPORT FOREIGN SCHEMA shop FROM SERVER files INTO public OPTIONS (location '$data/shop/orders');
});

# Runs `body` as one session: once to warm up, then again and again, and says what that added: file
# descriptors, bytes used in memory contexts (the blocks of the server's caches double now and then), bytes of
# the process.
sub growth
{
	my ($warm, $body) = @_;
	my $state = q{SELECT 'state', (SELECT count(*) FROM pg_ls_dir('/proc/self/fd')),
		(SELECT sum(used_bytes) FROM pg_backend_memory_contexts),
		(regexp_match(pg_read_file('/proc/self/status'), 'RssAnon:\s+(\d+)'))[1]::bigint * 1024;
	};
	my ($out, $err);

	$node->psql('postgres', "SET client_min_messages = error; SET jit = off;\n$state$warm\n$state$body\n$state",
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @states = map { [ split /\|/ ] } $out =~ /^state\|(.*)$/mg;
	return ([ map { $states[2][$_] - $states[1][$_] } 0 .. 2 ], $err);
}

# The server's own tables may get another file while one writes: `files` more descriptors then.
sub flat
{
	my ($what, $warm, $body, %may) = @_;
	my ($grown, $err) = growth($warm, $body);

	if (defined $may{error}) { like($err, $may{error}, "$what: fails as meant to") }
	else { is($err, '', "$what: no error") }
	cmp_ok($grown->[0], '<=', $may{files} // 0, "$what: descriptors");
	cmp_ok($grown->[1], '<', 128 * 1024, "$what: memory contexts");
	cmp_ok($grown->[2], '<', 4 * 1024 * 1024, "$what: memory of the process");
	note "$what: @$grown";
	return;
}

# Full rescans of every form, and rescans that stop at the first row.
my %tables = (t => 'i', p => 'i', alpha => 'length(id)', many => '"offset"');
for my $table (sort keys %tables)
{
	my $full = "SELECT sum(n) FROM generate_series(1, %d) g, LATERAL (SELECT count($tables{$table} + g) AS n FROM $table OFFSET 0) x;";

	flat("1000 rescans of $table", sprintf($full, 100), sprintf($full, 1000));
}
for my $table (sort(keys %tables), 'orders')
{
	my $first = "SELECT count(*) FROM generate_series(1, %d) g, LATERAL (SELECT g FROM $table OFFSET g %% 3 LIMIT 1) x;";

	flat("1000 rescans of $table that end early", sprintf($first, 100), sprintf($first, 1000));
}
my $plan = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;';
flat('a nested loop', "$plan SELECT count(*) FROM generate_series(1, 100) g LEFT JOIN t ON t.i = g;",
	"SELECT count(*) FROM generate_series(1, 1000) g LEFT JOIN t ON t.i = g;");

# Cursors left open at their first row, closed, and dropped with their transaction.
my $cursors = join("\n", map { "DECLARE c$_ CURSOR FOR SELECT * FROM t, p; FETCH 1 FROM c$_; CLOSE c$_;" } 1 .. 300);
flat('cursors', "\\o /dev/null\nBEGIN; $cursors COMMIT;\n\\o", "\\o /dev/null\nBEGIN; $cursors ROLLBACK;\n\\o");
my $open = "BEGIN; " . join("\n", map { "DECLARE d$_ CURSOR FOR SELECT i FROM t UNION ALL SELECT length(id) FROM alpha; FETCH 501 FROM d$_; DECLARE e$_ CURSOR FOR SELECT * FROM many; FETCH 1 FROM e$_;" } 1 .. 10);
flat('open cursors', "\\o /dev/null\n" . "$open COMMIT;\n" x 5 . "\\o", "\\o /dev/null\n" . "$open ROLLBACK;\n" x 10 . "\\o");

# Scans and inserts that fail half-way, caught and not.
my $caught = q{DO $$ BEGIN FOR n IN 1 .. %d LOOP
	BEGIN
		PERFORM 1 / (i - 510) FROM t;
	EXCEPTION WHEN division_by_zero THEN NULL; END;
	BEGIN
		INSERT INTO t SELECT 1, 1 / (g - 3000) FROM generate_series(1, 4000) g;
	EXCEPTION WHEN division_by_zero THEN NULL; END;
END LOOP; END $$;};
flat('errors that are caught', sprintf($caught, 30), sprintf($caught, 200), files => 2);
my $not_caught = "SELECT sum(1 / (i - 510)) FROM t;\nINSERT INTO t SELECT 1, 1 / (g - 3000) FROM generate_series(1, 4000) g;\n";
flat('errors that are not', $not_caught x 10, $not_caught x 200, error => qr/division by zero/, files => 2);
# What is kept of the lake's metadata grows with the metadata, but not what the rest of the way needs.
my $lake = "INSERT INTO t VALUES (1); SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.remove_garbage();\n";
flat('the way into the lake', "\\o /dev/null\n" . $lake x 10 . "\\o", "\\o /dev/null\n" . $lake x 50 . "\\o", files => 10);

# 1000 connections that read and write. Afterwards only the server's own processes are there, with what
# they had before, and the writers have left neither locks nor ledgers behind.
sub server_total
{
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	my ($fds, $kb, $n) = (0, 0, 0);

	for my $p ($pid, split(' ', `ps -o pid= --ppid $pid`))
	{
		opendir(my $dir, "/proc/$p/fd") or next;
		# Processes behind the scenes open files of WAL and of heap tables when they like.
		$fds += scalar(grep { /^\d+$/ && (readlink("/proc/$p/fd/$_") // '') !~ m{/(pg_wal|base|global)/} } readdir $dir);
		$n++;
		$kb += slurp_file("/proc/$p/status") =~ /RssAnon:\s+(\d+)/ ? $1 : 0;
	}
	return ($fds, $kb, $n);
}

# Until the last of them has gone, which may take a moment after its client heard of it.
sub wait_for_backends
{
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if `ps -o args= --ppid $pid` !~ /\[local\]/;
		sleep 0.1;
	}
	die 'backends stay';
}

my $script = PostgreSQL::Test::Utils::tempdir() . '/connection.sql';
append_to_file($script, "SELECT count(*) FROM t; SELECT count(*) FROM many, alpha LIMIT 1;\nINSERT INTO p VALUES (1, 1, 'connection');\n");
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->restart;
my @bench = ('pgbench', '-n', '-C', '-c', 4, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres');
my $ledgers = "SELECT count(*) FROM bifang.ledgers WHERE table_name = 'p'";
command_ok([ @bench, '-t', 25 ], '100 connections');
my $before = $node->safe_psql('postgres', $ledgers);
wait_for_backends();
my @before = server_total();
command_ok([ @bench, '-t', 250 ], '1000 connections');
wait_for_backends();
my @after = server_total();
is($after[2], $before[2], 'as many processes');
is($after[0], $before[0], 'as many descriptors');
cmp_ok($after[1], '<', $before[1] + 4096, 'as much memory');
is($node->safe_psql('postgres', "SELECT count(*) FROM p WHERE s = 'connection'"), 1100, 'their rows');
cmp_ok($node->safe_psql('postgres', $ledgers), '<=', $before + 3, 'few ledgers');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0, 'no locks');
is(troubles($node), '', 'check finds nothing');
$node->stop;
done_testing();
