# What the TAP tests share: a server with the extension, and a lake table with an ordinary twin that
# is written in the same transactions. Whatever happens, one statement must find both equal.
package Lake;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_lake build_forget start_forgetful crash outcome start_script finish_script differences troubles);

# Whoever runs the tests, the superuser is postgres.
{
	no warnings 'redefine';
	my $init = \&PostgreSQL::Test::Cluster::init;

	*PostgreSQL::Test::Cluster::init = sub {
		my ($self, %params) = @_;

		$params{extra} = [ @{ $params{extra} // [] }, '-U', 'postgres' ];
		return $init->($self, %params);
	};
	$ENV{PGUSER} = 'postgres';
}

# A fresh server with table t and its twin.
sub new_lake
{
	my ($name, %settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', "fsync = on\nmax_prepared_transactions = 10\n");
	$node->append_conf('postgresql.conf', "$_ = '$settings{$_}'\n") for keys %settings;
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION bifang_fdw;
		CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
		CREATE FOREIGN TABLE t (w int, i int, n numeric(12,3), s text, ts timestamptz) SERVER lake;
		CREATE FOREIGN TABLE p (w int, i int, s text) SERVER lake OPTIONS (partition_by 'bucket(3, w), truncate(10, i)');
		CREATE TABLE twin (w int, i int, n numeric(12,3), s text, ts timestamptz);
		CREATE TABLE ptwin (w int, i int, s text);
	});
	return $node;
}

# The directory where forget.c keeps what it does for start_forgetful(): calls, in the order in which they were made,
# shadow/, what a power failure would leave, and the file fail, whose lines make syncs fail. Without a compiler the test
# is skipped.
sub build_forget
{
	my $cc = (grep { -x } map { "$_/cc" } split /:/, $ENV{PATH})[0];
	my $dir = PostgreSQL::Test::Utils::tempdir();

	plan skip_all => 'needs a C compiler' unless $cc;
	system($cc, '-shared', '-fPIC', '-O1', '-o', "$dir/forget.so", "$ENV{TESTDIR}/forget.c", '-ldl') == 0
		or die "forget.c does not compile";
	mkdir "$dir/shadow" or die "$dir/shadow: $!";
	return $dir;
}

# Starts a server with forget.c between it and its system calls; nobody else gets it.
sub start_forgetful
{
	my ($node, $dir) = @_;
	local %ENV = (%ENV, LD_PRELOAD => "$dir/forget.so", FORGET_ROOT => $node->data_dir . '/bifang', FORGET_SHADOW => "$dir/shadow",
		FORGET_LOG => "$dir/calls", FORGET_FAIL => "$dir/fail");

	$node->start;
	return;
}

# kill -9 of the whole server, then start it again.
sub crash
{
	my ($node) = @_;
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	# Stopped first, so that it does not restart what is killed; children are found by parent.
	kill 'STOP', $pid;
	my @children = split ' ', `ps -o pid= --ppid $pid`;
	# Children before it: those that see it gone would end in good order.
	kill 'KILL', @children, $pid;
	sleep 0.05 while kill 0, $pid;
	$node->{_pid} = undef;
	$node->start;
	return;
}

# What a statement that has to end by itself gives: exit code, output, complaints. Hanging is waiting
# for longer than any machine needs; how long something takes is the machine's affair, and no test's.
sub outcome
{
	my ($node, $sql, %params) = @_;
	my ($out, $err, $hangs) = ('', '', 0);
	my $rc = $node->psql('postgres', $sql, stdout => \$out, stderr => \$err,
		timeout => $PostgreSQL::Test::Utils::timeout_default, timed_out => \$hangs, %params);

	fail("hangs: $sql") if $hangs;
	return ($rc // -1, $out, $err);
}

my $scripts = 0;

# Runs a script in the background; what it says goes to files, so that nobody has to read along.
sub start_script
{
	my ($node, $script) = @_;
	my $name = PostgreSQL::Test::Utils::tempdir() . '/script' . ++$scripts;

	append_to_file("$name.sql", $script);
	return {
		name => $name,
		handle => IPC::Run::start(
			[ 'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=0', '-d', $node->connstr('postgres'), '-f', "$name.sql" ],
			'>', "$name.out", '2>', "$name.err") };
}

# What it wrote, and what it complained of.
sub finish_script
{
	my ($run) = @_;

	eval { IPC::Run::finish($run->{handle}) };
	return map { slurp_file("$run->{name}.$_") } qw(out err);
}

my $compare = q{
	SELECT (SELECT count(*) FROM (SELECT * FROM %1$s EXCEPT ALL SELECT * FROM %2$s) x) || ' lost, ' ||
		(SELECT count(*) FROM (SELECT * FROM %2$s EXCEPT ALL SELECT * FROM %1$s) x) || ' invented'
};

# "0 lost, 0 invented" of both tables, in one statement each.
sub differences
{
	my ($node) = @_;

	return join('; ', map { $node->safe_psql('postgres', sprintf($compare, @$_)) } [ 'twin', 't' ], [ 'ptwin', 'p' ]);
}

# Errors that bifang.check finds, after left-overs of lost transactions were taken away.
sub troubles
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'SELECT bifang.remove_garbage()');
	return $node->safe_psql('postgres', q{
		SELECT rel || ': ' || c.severity || ' ' || c.subject || ' ' || c.what FROM unnest('{t,p}'::regclass[]) rel, bifang.check(rel) c});
}

1;
