#!/usr/bin/perl
# Breaks promises one at a time, in a copy of the sources, and fails when no test sees it; README.md says what a mutant
# looks like.
#   test/mutants/run.pl [--check] [glob ...]
# --check only says which mutants don't fit the sources any more. JOBS=n is for make, TIMEOUT=s the longest that one
# test may take. What hangs was not seen to fail: it counts as failed and is named apart.
use strict;
use warnings;
use Cwd qw(abs_path);
use Fcntl qw(:flock);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use POSIX qw(:sys_wait_h setpgid);
use Time::HiRes qw(sleep time);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $tree = "$root/build/mutants/tree";
my $logs = "$root/build/mutants/log";
my $jobs = $ENV{JOBS} || 2;
my $timeout = $ENV{TIMEOUT} || 300;
my $interrupted = 0;

sub slurp { my ($path) = @_; open my $f, '<:raw', $path or die "$path: $!\n"; local $/; my $s = <$f>; return $s // ''; }
sub spill { my ($path, $text) = @_; open my $f, '>:raw', $path or die "$path: $!\n"; print $f $text; close $f or die "$path: $!\n"; return; }

# What git would keep; without git, as in a release that was unpacked, all but what was built.
sub paths {
	my @in = @_ ? @_ : '.';
	my @found = split /\0/, `git -C '$root' ls-files -z -co --exclude-standard @in 2>/dev/null`;
	@found = split /\0/, `cd '$root' && find @in -path ./build -prune -o -type f -print0` unless @found;
	return map { s{^\./}{}r } @found;
}

# The mutants ------------------------------------------------------------------------------------------------------

# One file to {name, promise, test, edits: [{in, at, old, new}]}.
sub parse {
	my ($path, $name) = @_;
	my %m = (name => $name, edits => []);
	my $edit;
	for (split /\n/, slurp($path)) {
		if (/^(Promise|Test): (.+)$/) { $m{ lc $1 } = $2; }
		elsif (/^In: (\S+)$/) { $edit = { in => $1, at => '', old => '', new => '' }; push @{ $m{edits} }, $edit; }
		elsif (/^At: (\w+)$/ && $edit) { $edit->{at} = $1; }
		elsif (/^-(.*)$/ && $edit) { $edit->{old} .= "$1\n"; }
		elsif (/^\+(.*)$/ && $edit) { $edit->{new} .= "$1\n"; }
		elsif (/\S/ && !/^#/) { die "$name: what is \"$_\"?\n"; }
	}
	for (qw(promise test)) { die "$name: no $_\n" unless $m{$_}; }
	die "$name: changes nothing\n" unless @{ $m{edits} } && !grep { $_->{old} !~ /\S/ } @{ $m{edits} };
	die "$name: unknown test \"$m{test}\"\n" unless commands($m{test});
	return \%m;
}

# From and to where in the text a function's body lies, or the whole.
sub scope {
	my ($text, $at) = @_;
	return (0, length $text) if $at eq '';
	my @found;
	# A definition stands at the start of a line; its body ends at the first brace that does.
	while ($text =~ /^\Q$at\E\(.*?^\}/msg) { push @found, [ $-[0], $+[0] ]; }
	return @found == 1 ? @{ $found[0] } : ();
}

# Where the old lines stand, however they are indented or wrapped: [path, from, to] each. A function that has moved to
# another file is looked for everywhere.
sub places {
	my ($edit, $files) = @_;
	my @named = grep { "/$_" =~ m{/\Q$edit->{in}\E$} } keys %$files;
	my @found = places_in($edit, $files, @named);

	return @found || $edit->{at} eq '' ? @found : places_in($edit, $files, keys %$files);
}

sub places_in {
	my ($edit, $files, @paths) = @_;
	my @found;
	my $old = join '\s+', map { quotemeta } split ' ', $edit->{old};
	for my $path (sort @paths) {
		my ($from, $to) = scope($files->{$path}, $edit->{at}) or next;
		my $text = substr $files->{$path}, $from, $to - $from;
		while ($text =~ /$old/g) { push @found, [ $path, $from + $-[0], $from + $+[0] ]; }
	}
	return @found;
}

# The changed files of a mutant: path => text. Dies when it doesn't fit.
sub mutate {
	my ($m, $files) = @_;
	my %changed;
	for my $e (@{ $m->{edits} }) {
		my @at = places($e, { %$files, %changed });
		my $where = "$e->{in}" . ($e->{at} && " ($e->{at})");
		die "does not apply: its old lines are " . (@at ? scalar(@at) . ' times' : 'not') . " in $where\n" if @at != 1;
		my ($path, $from, $to) = @{ $at[0] };
		my $text = $changed{$path} // $files->{$path};
		my $new = $e->{new} =~ s/^\s+|\s+$//gr;
		substr($text, $from, $to - $from) = $new;
		die "changes nothing in $where\n" if $text eq ($changed{$path} // $files->{$path});
		$changed{$path} = $text;
	}
	return \%changed;
}

sub wanted {
	my ($name, @globs) = @_;
	return 1 unless @globs;
	for my $glob (@globs) {
		my $re = join '', map { $_ eq '*' ? '.*' : quotemeta } split /(\*)/, $glob;
		return 1 if $name =~ m{^$re$} || $name =~ m{^$re/};
	}
	return 0;
}

# Running ----------------------------------------------------------------------------------------------------------

# What a test's words mean: [commands that build, command that runs].
sub commands {
	my ($test) = @_;
	my ($kind, @args) = split ' ', $test;
	my $make = "make --no-print-directory -s -j$jobs CORE_CC='$root/build/mutants/cc'";
	my @stage = ("CC='$root/build/mutants/cc' MAKEFLAGS='CC=$root/build/mutants/cc' JOBS=$jobs test/stage.sh");
	my $args = join ' ', map { /^[\w.=*-]+$/ ? $_ : return } @args;
	my %known = (
		unit => [ ["$make build/core/unit"], "build/core/unit $args" ],
		'unit-debug' => [ ["$make build/unit/run"], "build/unit/run $args" ],
		fuzz => [ [ "$make build/fuzz/replay-$args TARGET=$args" ], "$make fuzz-replay TARGET=$args" ],
		regress => [ \@stage, "test/regress.sh $args" ],
		isolation => [ \@stage, "test/isolation.sh $args" ],
		tap => [ [ @stage, "$make large-table" ], 'test/tap.sh ' . join ' ', map { "test/tap/t/$_.pl" } @args ],
		diff => [ \@stage, "env $args test/diff/run.sh" ],
		lint => [ [], "test/lint/run.sh $args" ],
		package => [ [], "test/package.sh $args" ]);
	return @args || $kind eq 'diff' ? $known{$kind} : undef;
}

# Runs a command in the copy; its exit status, or undef when it took too long or was interrupted.
sub run {
	my ($command, $log) = @_;
	my $until = $interrupted ? time + 60 : time + $timeout;
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0) {
		setpgid(0, 0);
		chdir $tree or die "$tree: $!\n";
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', $log or die "$log: $!\n";
		open STDERR, '>&', \*STDOUT;
		exec 'bash', '-c', $command or die "bash: $!\n";
	}
	my $late = 0;
	while (waitpid($pid, WNOHANG) == 0) {
		sleep 0.05;
		$until = 0 if $interrupted == 1 && ++$interrupted;
		next if time < $until;
		# Tests that have servers stop them when they are asked to end.
		kill $late++ ? 'KILL' : 'TERM', -$pid;
		$until = time + 20;
	}
	return $late ? undef : $?;
}

sub build {
	my ($test, $log) = @_;
	for my $command (@{ commands($test)->[0] }) {
		my $rc = run($command, $log);
		return 0 if !defined $rc || $rc != 0;
	}
	return 1;
}

# passed, failed, hung or skipped; a server that a broken test left behind is stopped.
sub try {
	my ($test, $log) = @_;
	my $rc = run(commands($test)->[1], $log);
	run("for s in build/servers/*/data/postmaster.pid; do [ ! -e \"\$s\" ] || { s=\${s%/data/*}; test/server.sh stop \"\${s##*/}\" immediate; }; done", $log);
	return 'hung' if !defined $rc;
	return 'failed' if $rc != 0;
	return 'skipped' if slurp($log) =~ /^0 passed, 0 failed, [1-9]\d* skipped$/m;
	return 'passed';
}

# The copy: what git would keep, and of that only what differs is written, so that make has little to do.
sub refresh {
	my ($files) = @_;
	my %have;
	for my $path (paths()) {
		next unless -f "$root/$path";
		$have{$path} = 1;
		$files->{$path} = slurp("$root/$path") if $path =~ m{^(src|sql)/};
		make_path(dirname("$tree/$path"));
		my $same = -f "$tree/$path" && -s "$tree/$path" == -s "$root/$path" && slurp("$tree/$path") eq slurp("$root/$path");
		copy("$root/$path", "$tree/$path") or die "$path: $!\n" unless $same;
		chmod((stat "$root/$path")[2] & 0777, "$tree/$path");
	}
	for (split /\n/, `cd '$tree' && find . -path ./build -prune -o -type f -print`) {
		s{^\./}{};
		unlink "$tree/$_" unless $have{$_};
	}
	return;
}

# Objects are found again by content; a mutant may leave a variable unused.
sub write_compiler {
	my $cc = grep({ -x "$_/ccache" } split /:/, $ENV{PATH}) ? 'ccache gcc' : 'gcc';
	my $text = "#!/bin/sh\nexec $cc \"\$@\" -w\n";
	my $path = "$root/build/mutants/cc";
	spill($path, $text) unless -f $path && slurp($path) eq $text;
	chmod 0755, $path;
	return;
}

# What became of a mutant: (verdict, text).
sub verdict {
	my ($m, $files, $base) = @_;
	my $log = "$logs/" . ($m->{name} =~ s{/}{.}gr) . '.log';
	unlink $log;
	my $changed = eval { mutate($m, $files) };
	return ('FAIL', $@ =~ s/\n//r) unless $changed;
	return ('FAIL', "its test fails without it: $m->{test}") if $base eq 'failed' || $base eq 'hung';
	return ('skip', "its test skips: $m->{test}") if $base eq 'skipped';
	spill("$tree/$_", $changed->{$_}) for keys %$changed;
	my $result = build($m->{test}, $log) ? try($m->{test}, $log) : 'uncompiled';
	spill("$tree/$_", $files->{$_}) for keys %$changed;
	return ('ok', "seen by $m->{test}") if $result eq 'failed';
	return ('FAIL', "HUNG $m->{test} for $timeout s: $m->{promise}") if $result eq 'hung';
	return ('FAIL', "does not compile, see $log") if $result eq 'uncompiled';
	return ('FAIL', "SURVIVED $m->{test}: $m->{promise}");
}

sub say_line { my ($what, $name, $text) = @_; printf "%-4s %s: %s\n", $what, $name, $text; return; }

sub check {
	my ($mutants) = @_;
	my %files;
	for (paths('src', 'sql')) { $files{$_} = slurp("$root/$_") if -f "$root/$_"; }
	my $failed = 0;
	for my $m (@$mutants) {
		next if eval { mutate($m, \%files) };
		say_line('FAIL', $m->{name}, $@ =~ s/\n//r);
		$failed++;
	}
	printf "%d passed, %d failed, 0 skipped\n", @$mutants - $failed, $failed;
	return $failed == 0;
}

sub run_all {
	my ($mutants) = @_;
	make_path($tree, $logs);
	open my $lock, '>', "$root/build/mutants/lock" or die "build/mutants/lock: $!\n";
	flock $lock, LOCK_EX | LOCK_NB or die "another run is using build/mutants\n";
	write_compiler();
	my (%files, %base, %count);
	refresh(\%files);
	# Mutants of one test together: it runs unchanged first.
	$SIG{INT} = $SIG{TERM} = sub { $interrupted ||= 1 };
	for my $m (sort { $a->{test} cmp $b->{test} || $a->{name} cmp $b->{name} } @$mutants) {
		my $began = time;
		my $log = "$logs/test." . ($m->{test} =~ s/[^\w.-]/_/gr) . '.log';
		if (!defined $base{ $m->{test} }) {
			unlink $log;
			$base{ $m->{test} } = build($m->{test}, $log) ? try($m->{test}, $log) : 'failed';
		}
		my ($what, $text) = verdict($m, \%files, $base{ $m->{test} });
		last if $interrupted;
		say_line($what, $m->{name}, sprintf '%s (%.0f s)', $text, time - $began);
		$count{$what}++;
	}
	printf "%d passed, %d failed, %d skipped\n", $count{ok} // 0, $count{FAIL} // 0, $count{skip} // 0;
	return !$count{FAIL} && $count{ok} && !$interrupted;
}

$| = 1;
my $check = @ARGV && $ARGV[0] eq '--check' && shift @ARGV;
my @mutants;
for my $path (glob "$root/test/mutants/*/*.mutant") {
	my ($name) = $path =~ m{test/mutants/(.*)\.mutant$};
	push @mutants, parse($path, $name) if wanted($name, @ARGV);
}
die "no such mutants\n" unless @mutants;
exit(($check ? check(\@mutants) : run_all(\@mutants)) ? 0 : 1);
