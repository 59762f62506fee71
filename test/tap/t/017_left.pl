# What is left behind: files that changed under a kept writer, transactions that ended between PREPARE and its record,
# orphans of other tables.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('left', 'bifang.garbage_grace' => 0);

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub found
{
	my ($rel) = @_;

	return sql("SELECT coalesce(string_agg(severity || ': ' || what, '; ' ORDER BY what), 'nothing') FROM bifang.check('$rel')");
}

sub ledger_dir
{
	my ($table) = @_;

	return sql("SELECT current_setting('data_directory') || '/' || directory FROM bifang.ledger WHERE table_name = '$table' ORDER BY ledger_id DESC LIMIT 1");
}

# A session keeps its ledger's writer from one transaction to the next, and looks whether the files are as it left them.
sql('CREATE FUNCTION add(n int) RETURNS void LANGUAGE sql AS $$ INSERT INTO t SELECT 1, g FROM generate_series(1, $1) g $$');
my ($in, $out, $err) = ('', '', '');
my $psql = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=0', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$err);

# Runs a statement in that session; what came back.
sub kept
{
	my ($statement) = @_;

	$out = $err = '';
	$in .= "$statement;\n\\echo done\n\\warn done\n";
	$psql->pump until $out =~ /^done\n/m && $err =~ /^done\n/m;
	return ($out . $err) =~ s/^done\n//mgr =~ s/\s+\z//r;
}

is(kept('SELECT add(2000)'), '', 'a writer that is kept');
my $dir = ledger_dir('t');
my $log = "$dir/00000000000000000000.log";
append_to_file($log, 'left by a transaction that was lost');
is(kept('SELECT add(1)'), '', 'bytes that another one left behind');
is(kept('SELECT count(*), sum(i) FROM t'), '2001|2001001', 'are none of its rows');
is(found('t'), 'nothing', 'and don\'t stand before them');
is(kept('SELECT add(2000)'), '', 'kept again');
my $size = -s "$dir/00000000000000000000.timeindex";
append_to_file("$dir/00000000000000000000.timeindex", "\xff" x 12);
is(kept('SELECT add(1)'), '', 'an index that has grown');
is(kept('SELECT count(*) FROM t'), '4002', 'all rows');
isnt(slurp_file("$dir/00000000000000000000.timeindex") =~ /\xff{12}/ ? 'there' : 'gone', 'there', 'without what is not its own');
rename($log, "$log.away");
is(kept('SELECT add(1)'), '', 'a log that is gone is passed over');
ok(!-e $log, 'and not made anew, empty');
rename("$log.away", $log);
is(kept('SELECT add(1)'), '', 'back again');
is(kept('SELECT count(*) FROM t'), '4004', 'all rows');
is(found('t'), 'nothing', 'check finds nothing');
# The ledger goes on in another session: the kept writer is not where it ends.
sql('SELECT add(10)');
is(kept('SELECT add(1)'), '', 'a writer whose ledger went on elsewhere');
is(kept('SELECT count(*) FROM t'), '4015', 'takes nothing back');
is(found('t'), 'nothing', 'check finds nothing');
$in .= "\\q\n";
$psql->finish;

# PREPARE TRANSACTION that fails on its way: what was written is left as it is, since nobody can say whether it counts.
sql(q{SELECT bifang.roll('t')}); # each gets a ledger of its own
sql("BEGIN; SELECT add(100); PREPARE TRANSACTION 'one'");
my ($rc, $stdout, $stderr) = $node->psql('postgres', "BEGIN; SELECT add(100); PREPARE TRANSACTION 'one'");
like($stderr, qr/already in use/, 'PREPARE fails after the bytes were synced');
my $new = sql("SELECT last_value FROM bifang.ledger_id_seq");
my $live = $dir =~ s{/[^/]*$}{}r;
ok(-e "$live/$new/00000000000000000000.log", 'its new ledger is not cut away');
is(sql('SELECT count(*) FROM t'), '4015', 'and is not seen');
is(found('t'), 'notice: ' . 'orphan: nothing names it', 'check tells of it');
sql('SELECT bifang.remove_garbage()');
ok(!-e "$live/$new", 'a clean-up takes it');
sql("COMMIT PREPARED 'one'");
is(sql('SELECT count(*) FROM t'), '4115', 'what was prepared counts');
is(found('t'), 'nothing', 'check finds nothing');
# The next transaction of such a session aborts as ever: what it made is gone at once.
$node->psql('postgres', q{
	BEGIN; CREATE TEMP TABLE x (i int); SELECT add(1); PREPARE TRANSACTION 'two';
	SELECT bifang.remove_garbage();
	SELECT bifang.roll('t');
	BEGIN; SELECT add(100); ROLLBACK}, on_error_stop => 0);
is(found('t'), 'nothing', 'an abort after a PREPARE that failed cleans up');

# Metadata of a lake commit that is rolled back goes with it, by itself or with its savepoint.
sub metadata_files { return scalar(() = glob($node->data_dir . '/bifang/lake/*/metadata/*.metadata.json')); }
my $files = metadata_files();
sql("BEGIN; SELECT add(5); SELECT bifang.commit('t'); ROLLBACK");
is(metadata_files(), $files, 'metadata of a commit that is rolled back goes');
sql("BEGIN; SAVEPOINT s; SELECT add(5); SELECT bifang.commit('t'); ROLLBACK TO s; SELECT add(3); COMMIT");
is(metadata_files(), $files, 'with its savepoint, too');
sql("BEGIN; SAVEPOINT s; SELECT add(5); SELECT bifang.commit('t'); RELEASE s; COMMIT");
is(metadata_files(), $files + 1, 'and stays with it');
is(sql('SELECT count(*) FROM t'), '4123', 'all rows');
is(found('t'), 'nothing', 'check finds nothing');

# A ledger that nothing names is an orphan of its own table, not of its neighbours.
my $stray = 1 + sql('SELECT last_value FROM bifang.ledger_id_seq');
sql("INSERT INTO p VALUES (1, 1, 'x')");
$stray += 5;
mkdir("$live/$stray");
append_to_file("$live/$stray/00000000000000000000.log", 'x');
append_to_file("$live/$stray/table", slurp_file(ledger_dir('p') . '/table'));
is(found('t'), 'nothing', 'an orphan of another table');
is(found('p'), 'notice: orphan: nothing names it', 'is that table\'s');
sql('SELECT bifang.remove_garbage()');
ok(!-e "$live/$stray", 'a clean-up is for all');
$node->stop;
done_testing();
