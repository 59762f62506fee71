#!/usr/bin/perl
# What must hold is said where it must: of a thousand lines of a layer of the core, headers and
# comments included, 20 at least are asserts, of those of a folder of src/pg 8.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

my $assert = qr/\b(?:BF_ASSERT|BF_NEVER|_Static_assert|Assert|AssertMacro|StaticAssert\w+)\s*\(/;
my (%lines, %asserts);

for my $file (files(qr/\.[ch]$/, 'src'))
{
	my ($folder) = $file =~ m{^(src/pg/[^/]+|src/(?!pg/)[^/]+)/} or next;
	$lines{$folder} += source($file) =~ tr/\n//;
	$asserts{$folder} += () = without_directives(code($file)) =~ /$assert/g;
}
for my $folder (sort keys %lines)
{
	my $least = $folder =~ m{^src/pg/} ? 8 : 20;
	complain($folder, 0, "$asserts{$folder} asserts in $lines{$folder} lines, less than $least of a thousand")
		if $asserts{$folder} * 1000 < $lines{$folder} * $least;
}
finish();
