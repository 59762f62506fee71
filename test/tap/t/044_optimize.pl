# Rows of the log become Parquet: kill -9 on the way, what it leaves and who removes that, and what must stay.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('optimize', 'bifang.garbage_grace' => 0);
my $same = '0 lost, 0 invented; 0 lost, 0 invented';

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub both { return "INSERT INTO t SELECT $_[0], g FROM generate_series(1, $_[1]) g; INSERT INTO twin SELECT $_[0], g FROM generate_series(1, $_[1]) g;"
	. "INSERT INTO p SELECT g, g % 10 FROM generate_series(1, $_[1]) g; INSERT INTO ptwin SELECT g, g % 10 FROM generate_series(1, $_[1]) g;"; }
sub files { my @all = glob($node->data_dir . '/bifang/lake/*/data/bifang-*'); return @all; }
sub named { return sql("SELECT count(*) FROM unnest('{t,p}'::regclass[]) r, bifang.files(r) f WHERE f.format = 'parquet'"); }
# Twice: what is found waits for who may still read it.
sub sweep { sql('SELECT bifang.remove_garbage()') for 1 .. 2; return; }

sql(both(1, 2000));
sql("SELECT bifang.commit(r) FROM unnest('{t,p}'::regclass[]) r");

# A session that is where it is when the server is killed.
my $run = start_script($node, "BEGIN; SELECT bifang.optimize('t'), bifang.optimize('p'); SELECT pg_sleep(600);\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'}) or die 'does not get there';
cmp_ok(scalar(files()), '>', 3, 'files that nobody names yet');
sweep();
cmp_ok(scalar(files()), '>', 3, 'are not taken from who writes them');
crash($node);
finish_script($run);
is(differences($node), $same, 'killed before COMMIT');
cmp_ok(scalar(files()), '>', 3, 'they are still there');

# What is not ours, by name or by kind, is nobody's to remove; what is unfinished goes.
my $data = (files())[0] =~ s{/[^/]*$}{}r;
my $uuid = '12345678-1234-1234-1234-123456789abc';
append_to_file("$data/part-0.parquet", 'x');
append_to_file("$data/bifang-$uuid.parquet.keep", 'x');
append_to_file("$data/bifang-mine.parquet", 'x');
append_to_file("$data/bifang-$uuid.parquet.tmp.0123456789abcdef", 'x');
mkdir "$data/bifang-$uuid.parquet";
my ($unfinished) = glob("$data/bifang-$uuid.parquet.tmp.*");
sweep();
ok(!-e $unfinished, 'an unfinished file goes') or note "$unfinished";
is(join(' ', sort map { s{.*/}{}r } files()), "bifang-$uuid.parquet bifang-$uuid.parquet.keep bifang-mine.parquet", 'and what was left behind, nothing else');
ok(-e "$data/part-0.parquet", 'other names are not looked at');
unlink "$data/part-0.parquet", "$data/bifang-$uuid.parquet.keep", "$data/bifang-mine.parquet";
rmdir "$data/bifang-$uuid.parquet";
is(differences($node), $same, 'all rows');
is(troubles($node), '', 'check agrees');

# The next one completes.
sql("SELECT bifang.optimize(r) FROM unnest('{t,p}'::regclass[]) r");
is(named(), scalar(files()), 'all files are named');
sweep();
is(named(), scalar(files()), 'and stay');
is(differences($node), $same, 'as do the rows');

# So do those of a snapshot that is not the last one.
my $old = sql("SELECT metadata_location FROM bifang.tables WHERE foreign_table = 't'::regclass");
my $first = sql("SELECT snapshot_id FROM bifang.refs('t') WHERE name = 'main'");
sql(both(2, 100));
sql("SELECT bifang.commit(r), bifang.optimize(r) FROM unnest('{t,p}'::regclass[]) r");
sweep();
is(sql("SET bifang.as_of_snapshot = $first; SELECT count(*) FROM t"), '2000', 'an older snapshot has its rows');
is(differences($node), $same, 'the newest has all');
is(troubles($node), '', 'check agrees');

# Somebody sets the pointer back: rows that had become Parquet since are read from the log again.
sql("UPDATE bifang.iceberg_tables SET metadata_location = '$old' WHERE table_name = 't'");
is(differences($node), $same, 'main set back: all rows');
sweep();
is(differences($node), $same, 'also when files that nobody names any more are gone');
sql("SELECT bifang.commit('t'), bifang.optimize('t')");
is(differences($node), $same, 'and moved again');
is(troubles($node), '', 'check agrees');
is(sql("SELECT string_agg(DISTINCT f.format, ',') FROM bifang.files('t') f"), 'parquet', 'all is Parquet');

# A damaged ledger's rows stay; those of others move.
sql(both(3, 100));
sql("SELECT bifang.roll('t'), bifang.commit('t')");
sql(both(4, 100));
sql("SELECT bifang.commit('t')");
my $ledger = sql("SELECT directory FROM bifang.ledger WHERE table_name = 't' AND state = 'closed' ORDER BY ledger_id DESC LIMIT 1");
my $log = $node->data_dir . "/$ledger/00000000000000000000.log";
my $bytes = slurp_file($log);
open my $out, '+<', $log or die;
seek $out, -20, 2;
print $out "\0" x 20;
close $out;
my ($rc, $said, $err) = $node->psql('postgres', "SELECT rows FROM bifang.optimize('t')");
is("$rc $said", '0 100', 'the other ledger moves');
like($err, qr/WARNING: .*ledger .*is not optimized/s, 'what does not is told');
open $out, '>', $log or die;
print $out $bytes;
close $out;
is(differences($node), $same, 'mended, its rows are there');
is(sql("SELECT rows FROM bifang.optimize('t')"), '100', 'and move');
is(differences($node), $same, 'all rows');
is(troubles($node), '', 'check agrees');

# Cancelled, it ends and leaves nothing.
my $count = scalar(files());
sql('INSERT INTO p SELECT g % 100, g FROM generate_series(1, 20000) g; INSERT INTO ptwin SELECT g % 100, g FROM generate_series(1, 20000) g');
sql("SELECT bifang.commit('p')");
$run = start_script($node, "SELECT bifang.optimize('p');\n");
$node->poll_query_until('postgres', q{SELECT done > 5 FROM bifang.progress WHERE command = 'optimize' AND phase = 'writing Parquet'}) or die 'does not get there';
sql(q{SELECT pg_cancel_backend(pid) FROM bifang.progress WHERE command = 'optimize'});
like((finish_script($run))[1], qr/canceling statement/, 'cancelled');
is(scalar(files()), $count, 'no file stays');
is(differences($node), $same, 'all rows');
$node->stop;
done_testing();
