#!/usr/bin/perl
# What one can read in one sitting: lines of at most 100 columns (tabs of 4), functions of at most 70
# lines, files of at most 900 (1200 in src/pg); a head comment in every file, a README of at most 150
# lines in every layer.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

sub columns
{
	my ($line) = @_;
	utf8::decode($line);
	1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (4 - length($1) % 4)/e;
	return length $line;
}

for my $file (files(qr/\.[ch]$/, qw(src test/unit test/fuzz test/bench)))
{
	my @lines = split /\n/, source($file), -1;
	pop @lines;
	for (0 .. $#lines)
	{
		complain($file, $_ + 1, columns($lines[$_]) . ' columns, more than 100') if columns($lines[$_]) > 100;
		complain($file, $_ + 1, 'space at the end') if $lines[$_] =~ /[ \t]$/;
	}
	next unless $file =~ m{^src/};
	my $most = $file =~ m{^src/pg/} ? 1200 : 900;
	complain($file, 0, scalar(@lines) . " lines, more than $most") if @lines > $most;
	complain($file, 1, 'no head comment') unless $lines[0] =~ m{^/\*};
	for (functions(code($file)))
	{
		my $n = $_->{last} - $_->{line} + 1;
		complain($file, $_->{line}, "$_->{name} has $n lines, more than 70") if $n > 70;
	}
}

my %layer = map { (split m{/})[1] => 1 } files(qr/\.[ch]$/, 'src');
for my $dir (map { "src/$_" } sort keys %layer)
{
	if (!-f "$dir/README.md")
	{
		complain($dir, 0, 'no README.md');
	}
	elsif ((my $n = source("$dir/README.md") =~ tr/\n//) > 150)
	{
		complain("$dir/README.md", 0, "$n lines, more than 150");
	}
}
finish();
