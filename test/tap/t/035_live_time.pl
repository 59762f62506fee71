# Rows of live ledgers by the time at which they came: what is not read, and that nothing a time index says, wrong, of
# before a crash, or of another ledger, loses a row.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

use constant STATEMENTS => 30;

my $node = new_lake('live_time');

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{CREATE FOREIGN TABLE l (id int, s text, came timestamptz OPTIONS (meta 'timestamp'), ledger bigint OPTIONS (meta 'ledger')) SERVER lake});

# Each some 100 kB when compressed.
sub insert
{
	my $n = shift;
	return "INSERT INTO l (id, s) SELECT $n, string_agg(md5(random()::text), '') FROM generate_series(1, 200) g, generate_series(1, 32) k GROUP BY g;";
}

sub insert_some
{
	sql(insert($_) . ' SELECT pg_sleep(0.01);') for shift .. shift;
	return;
}

# What came at or after the n-th statement, with and without: rows and bytes read.
sub since
{
	my ($since, $what) = @_;
	my %found;

	for my $setting ('on', 'off')
	{
		my $set = "LOAD 'bifang_fdw'; SET bifang.enable_row_group_pruning = $setting; SET bifang.rescan_memory = 0;";
		my $where = "FROM l WHERE came >= '$since'";

		$found{$setting} = sql("$set SELECT count(*), min(id), max(id), md5(string_agg(s, '' ORDER BY id, s)) $where");
		my $plan = sql("$set EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT * $where");
		($found{"bytes $setting"}) = $plan =~ /I\/O: .*bytes=(\d+)/;
		($found{"decoded $setting"}) = $plan =~ /entries decoded=(\d+)/;
	}
	is($found{on}, $found{off}, "$what: the same rows");
	return \%found;
}

insert_some(1, STATEMENTS);
my $since = sql('SELECT max(came) FROM l WHERE id = ' . (STATEMENTS - 1));
my $f = since($since, 'open');
like($f->{on}, qr/^400\|29\|30\|/, 'two statements');
cmp_ok($f->{'bytes on'}, '<', $f->{'bytes off'} / 3, "open: bytes read: $f->{'bytes on'} of $f->{'bytes off'}");

# Rows of this very transaction, and those that a savepoint took back.
my $own = sql('BEGIN; ' . insert(31) . 'SAVEPOINT a; ' . insert(32) . 'ROLLBACK TO a; ' . insert(33) .
	"SELECT string_agg(DISTINCT id::text, ',') FROM l WHERE came >= '$since'; ROLLBACK;");
is($own, '29,30,31,33', 'a transaction\'s own');
like(since($since, 'rolled back')->{on}, qr/^400\|29\|30\|/, 'and no more');

# A prepared one hides behind its time.
$node->psql('postgres', 'BEGIN; ' . insert(40) . "PREPARE TRANSACTION 'later'");
insert_some(41, 42);
$node->psql('postgres', "COMMIT PREPARED 'later'");
like(since($since, 'prepared')->{on}, qr/^1000\|29\|42\|/, 'both ledgers');

# The server dies; index files may be as they never were.
crash($node);
like(since($since, 'crashed')->{on}, qr/^1000\|29\|42\|/, 'after a crash');
my @times = glob $node->data_dir . '/bifang/*/live/*/*.timeindex';
@times = split /\n/, `find @{[ $node->data_dir ]} -name '*.timeindex'` if !@times;
cmp_ok(scalar @times, '>', 1, 'time indexes');
my %good = map { $_ => slurp_file($_) } @times;

sub write_all
{
	my ($make) = @_;

	for my $file (@times)
	{
		open my $out, '>:raw', $file or die $!;
		print $out $make->($good{$file});
		close $out;
	}
	return;
}

my @middle = map { sql("SELECT max(came) FROM l WHERE id = $_") } 5, 15, 25, 41;
my %wrong = (
	'none' => sub { '' },
	'zeroes' => sub { "\0" x length $_[0] },
	'torn' => sub { substr $_[0], 0, length($_[0]) - 5 },
	'of a later time' => sub { my @e = unpack '(a8 N)*', $_[0]; join '', map { pack 'q>N', unpack('q>', $e[ 2 * $_ ]) + 60000, $e[ 2 * $_ + 1 ] } 0 .. $#e / 2 },
	'of an earlier time' => sub { my @e = unpack '(a8 N)*', $_[0]; join '', map { pack 'q>N', unpack('q>', $e[ 2 * $_ ]) - 60000, $e[ 2 * $_ + 1 ] } 0 .. $#e / 2 },
	'shifted' => sub { my @e = unpack '(a8 N)*', $_[0]; join '', map { pack 'a8N', $e[ 2 * $_ ], $e[ $_ < $#e / 2 - 1 ? 2 * $_ + 3 : 2 * $_ + 1 ] } 0 .. $#e / 2 },
	'all is old' => sub { my @e = unpack '(a8 N)*', $_[0]; pack 'q>N', 1, $e[-1] },
	'of other ledgers' => sub { join '', map { $good{$_} } reverse @times });
for my $what (sort keys %wrong)
{
	write_all($wrong{$what});
	since($_, "a time index $what") for @middle;
}
write_all(sub { $_[0] });

# The tail, a closed ledger, one that was committed, one that was offloaded.
sql("LOAD 'bifang_fdw'; SET bifang.tail_limit = '64kB'; INSERT INTO l (id, s) VALUES (50, 'tail')") for 1 .. 3;
is(sql('SELECT count(*) FROM bifang.tail'), 3, 'rows in the tail');
since($_, 'with a tail') for @middle;
like(since($since, 'with a tail')->{on}, qr/^1003\|29\|50\|/, 'and those of the tail');
sql("SELECT bifang.roll('l', true)");
$f = since($since, 'closed');
cmp_ok($f->{'bytes on'}, '<', $f->{'bytes off'} / 2, "closed: bytes read: $f->{'bytes on'} of $f->{'bytes off'}");
sql("SELECT bifang.commit('l')");
since($_, 'committed') for @middle;
sql("SELECT bifang.offload('l')");
since($_, 'offloaded') for @middle;

done_testing();
