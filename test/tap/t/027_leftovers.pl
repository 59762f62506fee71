# Files of commits that did not come about go, those of commits that did stay; ledgers of servers without tables go; what
# nobody may remove is listed.
use strict;
use warnings;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('left');
my $dir = PostgreSQL::Test::Utils::tempdir();
mkdir "$dir/live" or die $!;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub garbage { return sql('SET bifang.garbage_grace = ' . ($_[0] // 0) . '; SELECT bifang.remove_garbage()'); }

my $table = dirname(dirname(sql(q{SELECT metadata_location FROM bifang.tables WHERE foreign_table = 't'::regclass}) =~ s{^file://}{}r));
my $live = $node->data_dir . '/bifang/live/' . sql('SELECT oid FROM pg_database WHERE datname = current_database()');

sub metadata { return sort map { basename($_) } glob "$table/metadata/*"; }

# ---- commits ----

for my $part (1 .. 3)
{
	sql("INSERT INTO t SELECT $part, g FROM generate_series(1, 50) g; INSERT INTO twin SELECT $part, g FROM generate_series(1, 50) g");
	sql(q{SELECT bifang.commit('t')});
}
my @counting = metadata();
is(garbage(), '0', 'nothing is left over');
is(garbage(), '0', 'nor waits');
is_deeply([ metadata() ], \@counting, 'all metadata is there');

# Rolled back, and lost in a crash.
sql('INSERT INTO t SELECT 4, g FROM generate_series(1, 50) g; INSERT INTO twin SELECT 4, g FROM generate_series(1, 50) g');
sql(q{BEGIN; SELECT bifang.commit('t'); ROLLBACK}) for 1 .. 3;
my $run = start_script($node, q{BEGIN; SELECT bifang.commit('t'); SELECT pg_sleep(600)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die;
crash($node);
finish_script($run);
append_to_file("$table/metadata/00009-x.metadata.json.tmp.0123456789abcdef", 'x');
append_to_file("$table/metadata/00000-older.metadata.json", 'x');
append_to_file("$table/metadata/letter.txt", 'x');
append_to_file("$table/metadata/somebody-else.avro", 'x');
my %before = map { $_ => 1 } metadata();
cmp_ok(scalar(keys %before), '>', @counting + 8, 'files are left behind');
is(garbage(3600), '0', 'what is young may belong to another engine');
is(sql('SELECT count(*) FROM bifang.garbage'), '0', 'and does not even wait');
like((outcome($node, 'CREATE ROLE r; SELECT count(*) FROM bifang.options(); SET ROLE r; SET bifang.garbage_grace = 0'))[2], qr/permission denied/, 'the age is for superusers to say');

# A scan may stand at what named them: they wait for it.
my $old = start_script($node, q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t; SELECT pg_sleep(600)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die;
is(garbage(), '0', 'first they are queued');
cmp_ok(sql(q{SELECT count(*) FROM bifang.garbage WHERE reason = 'not named'}), '>=', 10, 'all of them');
is(garbage(), '0', 'while somebody may look');
sql(q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
finish_script($old);
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die;

# Who holds back no snapshot of this server may need them all the same, however old they are: another engine, a standby.
utime 1, 1, glob "$table/metadata/*";
is(garbage(3600), '0', 'what nothing names waits for the time that others have');
my $waits = sql('SELECT count(*) FROM bifang.garbage');
cmp_ok($waits, '>=', 10, 'all of it');
my ($waiting) = map { basename($_) } glob "$table/metadata/*-older.metadata.json";
rename "$table/metadata/$waiting", "$dir/$waiting" or die $!;
garbage(3600);
is(sql('SELECT count(*) FROM bifang.garbage'), $waits - 1, 'until it is named, or gone');
rename "$dir/$waiting", "$table/metadata/$waiting" or die $!;

# A commit comes about meanwhile.
sql(q{SELECT bifang.commit('t')});
cmp_ok(garbage(), '>=', 10, 'then they go');
garbage();
my %after = map { $_ => 1 } metadata();
is_deeply([ grep { !$after{$_} } @counting ], [], 'what counts is there');
ok($after{'letter.txt'} && $after{'somebody-else.avro'}, 'and what is nobody\'s of ours');
ok(!$after{'00009-x.metadata.json.tmp.0123456789abcdef'}, 'unfinished files are not');
ok(!$after{'00000-older.metadata.json'}, 'nor one of a number that another one has');
is(scalar(grep { /^snap-|-m\d+\.avro$/ } keys %after), 2 * 4 + 1, 'a list and a manifest for each commit, and the empty list of main');
is(sql('SELECT count(*) FROM bifang.garbage'), '0', 'nothing waits');
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'all rows');
is(sql(q{SELECT * FROM bifang.check('t')}), '', 'check');

# More commits than the metadata's log goes back: those that counted stay, wherever they are named, if the table says so.
sub set_deletes
{
	my $path = sql(q{SELECT metadata_location FROM bifang.tables WHERE foreign_table = 't'::regclass}) =~ s{^file://}{}r;
	my $text = slurp_file($path);

	$text =~ s/("write.metadata.delete-after-commit.enabled": ?)"\w+"/$1"$_[0]"/ or die $text;
	unlink $path;
	append_to_file($path, $text);
	return;
}
set_deletes('false');
sql(join ';', map { "INSERT INTO t VALUES (5, $_); INSERT INTO twin VALUES (5, $_); SELECT bifang.commit('t')" } 1 .. 104);
my @many = metadata();
garbage() for 1 .. 2;
is_deeply([ metadata() ], \@many, 'metadata that is older than the log stays');
set_deletes('true');
utime 1, 1, glob "$table/metadata/*";
garbage(3600) for 1 .. 2;
is_deeply([ metadata() ], \@many, 'it may still be read where it is to go');
garbage() for 1 .. 2;
is(scalar(grep { /json$/ } metadata()), 101, 'then what the log names is left');
is(scalar(grep { /avro$/ } metadata()), scalar(grep { /avro$/ } @many), 'and what the snapshots name');
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'all rows');
is(sql(q{SELECT * FROM bifang.check('t')}), '', 'check');

# Somebody's manifest list is missing: then nobody knows what is left over.
sql(q{BEGIN; INSERT INTO t VALUES (6, 6); SELECT bifang.commit('t'); ROLLBACK});
my ($list) = grep { /^snap-/ && $after{$_} } metadata();
rename "$table/metadata/$list", "$dir/$list" or die $!;
@many = metadata();
garbage() for 1 .. 2;
is_deeply([ metadata() ], \@many, 'what can\'t be read keeps everything');
rename "$dir/$list", "$table/metadata/$list" or die $!;
garbage() for 1 .. 2;
cmp_ok(scalar(metadata()), '<', @many + 1, 'until it can');
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'all rows');

# ---- a live directory of a server that has no ledger ----

sql("CREATE SERVER outside FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$dir/live'); CREATE FOREIGN TABLE o (i int) SERVER outside");
$run = start_script($node, q{BEGIN; INSERT INTO o SELECT generate_series(1, 1000); SELECT count(*) FROM o; SELECT pg_sleep(600)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die;
crash($node);
finish_script($run);
is(scalar(my @ledgers = glob "$dir/live/*"), 1, 'a crash leaves a ledger');
is(garbage(), '1', 'which goes, though no row leads there');
is(scalar(@ledgers = glob "$dir/live/*"), 0, 'it is gone');

# What is not ours keeps its place, and the directory the word whose it is.
sql(q{INSERT INTO o SELECT generate_series(1, 10); SELECT bifang.roll('o'), bifang.offload('o')});
my ($ledger) = glob "$dir/live/*";
append_to_file("$ledger/letter.txt", 'x');
like((outcome($node, 'SELECT bifang.remove_garbage()'))[2], qr/NOTICE: .*is not removed/, 'what else is in a ledger is told');
is(join(' ', map { basename($_) } sort glob "$ledger/*"), 'letter.txt table', 'and stays, with the mark');
unlink "$ledger/letter.txt";

# ---- what is listed ----

is(sql('SELECT * FROM bifang.leftovers()'), '', 'nothing to list');
mkdir "$live/777777" or die $!;
append_to_file("$live/777777/00000000000000000000.log", 'x');
is(sql(q{SELECT severity || what FROM bifang.check('t')}), 'noticeleft over: it does not say whose it is', 'check tells of it');
is(sql('SELECT path, what FROM bifang.leftovers()'), "$live/777777|it does not say whose it is", 'so does the list');
garbage();
ok(-e "$live/777777", 'nobody removes it');
system('rm', '-r', "$live/777777") == 0 or die;
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION bifang_fdw; SELECT setval('bifang.ledger_id_seq', 5000); CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE n (i int) SERVER lake;
	INSERT INTO n SELECT generate_series(1, 10)});
is(sql('SELECT * FROM bifang.leftovers()'), '', 'what another database has is nobody\'s business');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(sql(q{SELECT count(*) FROM bifang.leftovers() WHERE what ~ 'which this cluster does not have'}), '2', 'until it is dropped');
is(sql(q{SELECT count(*) FROM bifang.check() WHERE foreign_table IS NULL AND severity = 'notice' AND what ~ '^left over: of database .* which this cluster does not have'}),
	'2', 'a check of the database tells of it');
is(sql(q{SELECT count(*) FROM bifang.check() WHERE severity = 'error'}), 0, 'and has nothing else to say');
is(sql(q{BEGIN; DELETE FROM bifang.append WHERE ledger_id = (SELECT min(ledger_id) FROM bifang.ledger WHERE table_name = 't');
	SELECT DISTINCT foreign_table FROM bifang.check() WHERE severity = 'error'; ROLLBACK}), 't', 'of a table it says what is wrong');
is(garbage(), '0', 'what could be recovered is not removed');
is(sql(q{SELECT table_name, entries FROM bifang.recover('lake')}), 'n|10', 'and can be');
is(sql(q{SELECT count(*) FROM bifang.leftovers()}), '0', 'then it is no left-over');
sql(q{SELECT bifang.adopt(); SELECT bifang.drop_table('lake', 'public', 'n')});
is(sql(q{SELECT count(*) FROM bifang.leftovers() WHERE what ~ 'dropped without purge'}), '1', 'a table that was dropped without purge');

# To be rid of what a dropped database had: taken back, dropped, removed, all by the usual rules.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION bifang_fdw; SELECT setval('bifang.ledger_id_seq', 9000); CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE gone (i int) SERVER lake;
	INSERT INTO gone SELECT generate_series(1, 10); SELECT bifang.roll('gone'), bifang.offload('gone'); INSERT INTO gone VALUES (11); SELECT bifang.commit('gone')});
$node->safe_psql('postgres', 'DROP DATABASE other');
cmp_ok(sql(q{SELECT count(*) FROM bifang.leftovers() WHERE what ~ 'which this cluster does not have'}), '>=', 2, 'another one is dropped');
is(sql(q{SELECT table_name, entries FROM bifang.recover('lake')}), 'gone|11', 'it is taken back');
sql(q{SELECT bifang.adopt()});
my $unpurged = q{SELECT count(*) FROM bifang.leftovers() WHERE what ~ 'dropped without purge'};
my $before = sql($unpurged);
sql(q{SELECT bifang.drop_table('lake', 'public', 'gone', purge => true)});
is(sql($unpurged), $before, 'what waits for its removal is no left-over');
cmp_ok(garbage(), '>', 0, 'and removed');
is(sql(q{SELECT count(*) FROM bifang.leftovers() WHERE what ~ 'which this cluster does not have'}), '0', 'nothing is left');
is(scalar(@{[ glob $node->data_dir . '/bifang/live/*/90*' ]}), 0, 'of its ledgers');
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'nor missing elsewhere');
like((outcome($node, 'SET ROLE r; SELECT * FROM bifang.leftovers()'))[2], qr/permission denied/, 'not for everybody');
like((outcome($node, 'SET ROLE r; SELECT * FROM bifang.check()'))[2], qr/permission denied/, 'nor the check of all');
$node->stop;
done_testing();
