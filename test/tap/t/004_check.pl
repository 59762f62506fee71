# bifang.check finds what is broken: each sabotage is made, found by name, and undone. Reading and
# writing over damage is an error, never a shorter result.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('check', 'bifang.garbage_grace' => 0);

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub found
{
	return sql(q{SELECT string_agg(severity || ': ' || regexp_replace(what, '"[^"]*/', '"', 'g'), '; ' ORDER BY what) FROM bifang.check('t')});
}

# The error that a statement gives, in one line.
sub fails
{
	my ($statement) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $statement);

	$err =~ s/\n.*//s;
	$err =~ s/^.*?ERROR:\s+//;
	return $rc == 0 ? 'no error' : $err;
}

# Undo with care: the bytes, not the file, since a backend may have it open.
sub patch
{
	my ($path, $at, $bytes) = @_;

	open(my $f, '+<', $path) or die "$path: $!";
	seek($f, $at, 0);
	read($f, my $old, length $bytes);
	seek($f, $at, 0);
	print $f $bytes;
	close($f);
	return $old;
}

# Three ledgers: offloaded and committed, closed and committed, open and live.
sql('INSERT INTO t SELECT 1, g FROM generate_series(1, 5000) g');
sql("SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t')");
sql('INSERT INTO t SELECT 2, g FROM generate_series(1, 5000) g');
sql("SELECT bifang.commit('t'), bifang.roll('t')");
sql('INSERT INTO t SELECT 3, g FROM generate_series(1, 5000) g');
sql('SELECT bifang.remove_garbage()');
my ($offloaded, $closed, $open) = split /\n/, sql("SELECT ledger_id FROM bifang.ledger WHERE table_name = 't' ORDER BY 1");
my $bfo = sql("SELECT current_setting('data_directory') || '/' || offload_path FROM bifang.ledger WHERE ledger_id = $offloaded");
my $log = sql("SELECT current_setting('data_directory') || '/' || directory || '/00000000000000000000.log' FROM bifang.ledger WHERE ledger_id = $open");
my $closed_log = sql("SELECT current_setting('data_directory') || '/' || directory || '/00000000000000000000.log' FROM bifang.ledger WHERE ledger_id = $closed");
is(found(), '', 'nothing to find at first');
is(sql('SELECT count(*) FROM t'), '15000', 'all rows');

# Bytes.
my $old = patch($log, 1000, 'X');
like(found(), qr/^error: lost: .*CRC|^error: lost: .*checksum/i, 'a changed byte in a live ledger');
like(fails('SELECT sum(i) FROM t'), qr/CRC|checksum/i, 'and reading says so');
patch($log, 1000, $old);
is(found(), '', 'undone');
$old = patch($bfo, 2000, 'X');
like(found(), qr/^error: lost: .*CRC|^error: lost: .*checksum/i, 'a changed byte in an offload file');
like(fails('SELECT sum(i) FROM t'), qr/CRC|checksum/i, 'and reading says so');
patch($bfo, 2000, $old);
is(found(), '', 'undone');
rename($bfo, "$bfo.away");
like(found(), qr/^error: lost: .*(No such file|does not exist)/, 'a missing offload file');
like(fails('SELECT sum(i) FROM t'), qr/$offloaded\.bfo/, 'and reading names it');
rename("$bfo.away", $bfo);
rename($closed_log, "$closed_log.away");
like(found(), qr/^error: lost: /, 'a missing log of a closed ledger');
isnt(fails('SELECT sum(i) FROM t'), 'no error', 'and reading fails');
like(fails("SELECT bifang.offload('t')"), qr/./, 'and so does offload');
rename("$closed_log.away", $closed_log);
is(found(), '', 'undone');
my $size = -s $log;
my $tail = slurp_file($log, $size - 100);
truncate($log, $size - 100);
like(found(), qr/^error: lost: /, 'a log that is shorter than acknowledged');
isnt(fails('SELECT sum(i) FROM t'), 'no error', 'and reading fails');
sql('INSERT INTO t VALUES (1, 1)');
like(found(), qr/^error: lost: [^;]*$/, 'a writer does not append behind the hole, but to another ledger');
is(sql("SELECT sum(entries) FILTER (WHERE ledger_id > $open), count(*) FILTER (WHERE ledger_id > $open) FROM bifang.ledgers WHERE table_name = 't'"), '1|1', 'a new one');
patch($log, $size - 100, '');
append_to_file($log, $tail);
is(found(), '', 'undone');
is(sql('SELECT count(*) FROM t'), '15001', 'all rows again');
my $schema = $log =~ s{[^/]*$}{schema.json}r;
my $json = slurp_file($schema);
patch($schema, 0, 'X');
like(found(), qr/^error: lost: .*schema/, 'a damaged schema of a live ledger');
patch($schema, 0, substr($json, 0, 1));
rename($schema, "$schema.away");
like(found(), qr/^error: lost: .*schema/, 'a missing one');
rename("$schema.away", $schema);
is(found(), '', 'undone');
append_to_file($log, 'torn tail of a lost transaction');
is(found(), '', 'bytes after the acknowledged end are nobody\'s trouble');
is(sql('SELECT count(*) FROM t'), '15001', 'nor the reader\'s');
sql('INSERT INTO t SELECT 3, 5001');
is(sql('SELECT count(*) FROM t'), '15002', 'and the next writer cuts them');
is(found(), '', 'check agrees');

# Names. A transaction holds each sabotage of the catalog.
sub with
{
	my ($sabotage) = @_;

	return sql(qq{BEGIN; $sabotage;
		SELECT string_agg(severity || ': ' || what, '; ' ORDER BY what) FROM bifang.check('t'); ROLLBACK});
}
like(with("DELETE FROM bifang.ledger WHERE ledger_id = $closed"), qr/dangling: named by "bifang:.*not a ledger/, 'a logical file of an unknown ledger');
like(with("DELETE FROM bifang.append WHERE ledger_id = $closed"), qr/beyond: entries 0-4999 are covered but the end is 0/, 'coverage beyond the end');
like(with("UPDATE bifang.append SET end_entry = end_entry + 5 WHERE ledger_id = $open"), qr/lost: /, 'an end beyond the bytes');
like(with("UPDATE bifang.ledger SET offload_path = '$bfo' , state = 'f' WHERE ledger_id = $open"), qr/lost: /, 'another ledger\'s file');
like(with("UPDATE bifang.ledger SET state = 't' WHERE ledger_id = $closed"), qr/lost: entries 0-4999 were trimmed/, 'a ledger trimmed too early');

# Left-overs.
my $table_dir = $bfo =~ s{/offload/.*}{}r;
append_to_file("$table_dir/offload/$closed.bfo", 'x');
is(found(), 'notice: orphan: nothing names it', 'an offload file that nothing names');
sql('SELECT bifang.remove_garbage()');
ok(!-e "$table_dir/offload/$closed.bfo", 'is removed');
# One that was not finished: nobody has the ledger, so nobody is at it.
my $unfinished = "$table_dir/offload/$closed.bfo.tmp.0123456789abcdef";
append_to_file($unfinished, 'x');
is(found(), 'notice: orphan: nothing names it', 'an offload file that was not finished');
sql('SELECT bifang.remove_garbage()');
ok(!-e $unfinished, 'is removed');
my $stray = (sql('SELECT last_value + 1 FROM bifang.ledger_id_seq'));
# Of a ledger without a row: what was not finished nobody ever had, of the rest nobody knows.
my $rowless = "$table_dir/offload/$stray.bfo";
append_to_file("$rowless.tmp.0123456789abcdef", 'x');
is(found(), 'notice: orphan: nothing names it', 'an unfinished offload file without a ledger');
sql('SELECT bifang.remove_garbage()');
ok(!-e "$rowless.tmp.0123456789abcdef", 'is removed');
append_to_file($rowless, 'x');
is(found(), 'notice: unknown: the catalog does not have its ledger', 'a finished one');
my ($kept) = (outcome($node, 'SELECT bifang.remove_garbage()'))[2];
like($kept, qr/NOTICE: .*\Q$stray.bfo\E" is not removed.*does not have its ledger/s, 'is told of');
ok(-e $rowless, 'and kept');
unlink $rowless or die $!;
my $live = $log =~ s{/[^/]*/[^/]*$}{}r;
mkdir("$live/$stray");
append_to_file("$live/$stray/00000000000000000000.log", 'x');
append_to_file("$live/$stray/table", slurp_file("$live/$open/table"));
is(found(), 'notice: orphan: nothing names it', 'a ledger that nothing names');
sql('SELECT bifang.remove_garbage()');
ok(!-e "$live/$stray", 'is removed');
ok(-e $log && -e $bfo && -e $closed_log, 'what is named stays');

# A directory that can't be written.
sql("SELECT bifang.roll('t')");
chmod(0500, $live);
like(fails('INSERT INTO t VALUES (1, 1)'), qr/Permission denied|could not/, 'no permission: an error');
chmod(0700, $live);
sql('INSERT INTO t VALUES (1, 1)');
is(found(), '', 'and all is well after it');
is(sql('SELECT count(*) FROM t'), '15003', 'with every row');
$node->stop;
done_testing();
