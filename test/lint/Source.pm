# What the lints share: the sources without their comments and text, the functions in them, and one
# way to complain.
package Source;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(files source without_comments code without_directives functions complain except finish);

my $bad = 0;
my (%known, %met);

# Files below some folders whose path matches, sorted.
sub files
{
	my ($like, @roots) = @_;
	my @found = split /\n/, join '', map { -d $_ ? `find $_ -type f` : () } @roots;
	return sort grep { $_ =~ $like } @found;
}

my %text;

sub source
{
	my ($file) = @_;
	return $text{$file} //= do {
		local (@ARGV, $/) = ($file);
		scalar <>;
	};
}

# Comments, and text between quotes, become as many line ends as they had.
sub blank
{
	my ($text, $quotes) = @_;
	$text =~ s{(/\*.*?\*/|//[^\n]*)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'}
		{ defined $1 ? ' ' . "\n" x ($1 =~ tr/\n//) : $quotes ? $& : substr($&, 0, 1) x 2 }gse;
	return $text;
}

sub without_comments
{
	return blank(source($_[0]), 1);
}

sub code
{
	return blank(source($_[0]), 0);
}

# The code without what is said to the preprocessor, macros included.
sub without_directives
{
	my ($text) = @_;
	$text =~ s{^[ \t]*\#(?:[^\n\\]|\\.)*}{ "\n" x ($& =~ tr/\n//) }gmse;
	return $text;
}

# Functions that a text of code() defines: name, line of the name, last line, whether static. The
# layout of .clang-format is taken for granted: name and braces stand at the start of a line.
sub functions
{
	my @lines = split /\n/, $_[0];
	my @found;
	for my $open (grep { $lines[$_] =~ /^\{/ } 0 .. $#lines)
	{
		my $at = $open - 1;
		$at-- while $at > 0 && $lines[$at] =~ /^[ \t]/;
		# `Type(name)(...)` keeps a macro of that name away.
		$lines[$at] =~ /^(?:\w+\((\w+)\)|(?:[\w \t*]*[ \t*])?(\w+))\(/ or next;
		my $name = $1 // $2;
		my $from = $at;
		$from-- while $from > 0 && $lines[$from - 1] =~ /^[A-Za-z_]/;
		my $last = $open;
		$last++ while $last < $#lines && $lines[$last] !~ /^\}/;
		push @found, { name => $name, line => $at + 1, last => $last + 1,
			static => scalar(join(' ', @lines[$from .. $at]) =~ /\bstatic\b/) };
	}
	return @found;
}

# Complaints that are known and bearable, as "file: text" of what complain() would say without its
# line. One that is not heard any more has to go from the list.
sub except
{
	$known{$_} = 1 for @_;
}

sub complain
{
	my ($file, $line, $text) = @_;
	if ($known{"$file: $text"})
	{
		$met{"$file: $text"} = 1;
		return;
	}
	print $line ? "$file:$line: $text\n" : "$file: $text\n";
	$bad = 1;
}

sub finish
{
	for (sort grep { !$met{$_} } keys %known)
	{
		print "$0: no exception is needed any more for: $_\n";
		$bad = 1;
	}
	exit $bad;
}

1;
