# What the lints share: the sources without their comments and text, the functions in them, and one
# way to complain.
package Source;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(files source without_comments code without_directives without_attributes statements functions
	name_of circles complain except finish);

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
	$text =~ s{^[ \t]*(?:\#|%:)(?:[^\n\\]|\\.)*}{ "\n" x ($& =~ tr/\n//) }gmse;
	return $text;
}

# Attributes say nothing about names.
sub without_attributes
{
	my ($text) = @_;
	my $nested = qr/(\((?:[^()]++|(?-1))*+\))/;
	$text =~ s{\b(?:__attribute__|__attribute|_Alignas|__declspec)\s*$nested|\b__extension__\b|\bpg_attribute_\w+\s*$nested?|\[\[.*?\]\]}
		{ ' ' . "\n" x ($& =~ tr/\n//) }gse;
	return $text;
}

# What a text of code() says outside of all braces, one hash for each declaration and definition:
# its text, in which \x01 stands for what is in braces; the number of its first line; and of a
# function's definition the body and the line that it ends at. It does not take any layout for granted.
sub statements
{
	my $code = without_attributes(without_directives($_[0]));
	my ($text, $body, $line, $first, $braces, $parens, @found) = ('', '', 1, 0, 0, 0);
	while ($code =~ /\G([^{}();]+|.)/gs)
	{
		my $t = $1;
		$first = $line + ($t =~ /^(\s*)/ ? $1 =~ tr/\n// : 0) if $text eq '' && $t =~ /\S/;
		$line += $t =~ tr/\n//;
		if ($t eq '{')
		{
			$body = $braces++ == 0 ? '' : "$body\{";
		}
		elsif ($t eq '}' && --$braces == 0)
		{
			if ($parens == 0 && is_function($text))
			{
				push @found, { text => $text, line => $first, last => $line, body => $body };
				$text = '';
			}
			else
			{
				$text .= "\x01" . "\n" x ($body =~ tr/\n//);
			}
		}
		elsif ($braces > 0)
		{
			$body .= $t;
		}
		elsif ($t eq ';' && $parens == 0)
		{
			push @found, { text => $text, line => $first };
			$text = '';
		}
		else
		{
			$parens += $t eq '(' ? 1 : $t eq ')' ? -1 : 0;
			$t =~ s/^\s+// if $text eq '';
			$text .= $t;
		}
	}
	return @found;
}

# Is what stands in front of a brace a function's head? Nothing at all is what declarations of
# parameters, in the style from before C89, leave of one.
sub is_function
{
	my ($head) = @_;
	return 1 if $head eq '';
	1 while $head =~ s/\([^()]*\)/\x02/;
	return $head =~ /\x02/ && $head !~ /=|\b(?:struct|union|enum)\s*\w*\s*$/;
}

# Functions that a text of code() defines: name, line of the name, last line, whether static, body.
# Without a name: a body whose head is none, of a function in the style of before C89.
sub functions
{
	my @found;
	for my $s (grep { defined $_->{last} } statements($_[0]))
	{
		my ($name, $at) = name_of($s->{text});
		push @found, { name => $name, line => $s->{line} + (substr($s->{text}, 0, $at) =~ tr/\n//),
			last => $s->{last}, static => scalar($s->{text} =~ /\bstatic\b/), body => $s->{body} };
	}
	return @found;
}

# The name in the head of a function, and where in the head it is. In front of the head and behind
# it may be macros with arguments; the name may be in parentheses, to keep a macro of that name away
# or because the function gives a function, `int (*name(a))(b)`.
sub name_of
{
	my ($head) = @_;
	my ($depth, $before, @name) = (0, '');
	while ($head =~ /\G\s*(\w+|\S)/gs)
	{
		my ($token, $at) = ($1, $-[1]);
		$depth-- if $token eq ')';
		if ($token eq '(' && $depth++ == 0)
		{
			push @name, [$before, $at] if $before =~ /^\w/;
			$name[-1] = $name[-1][2] if @name && $before eq ')' && $name[-1][2];
			push @name, ['', $at] if !@name || $before !~ /^[\w)]/;
			$name[-1][2] = [$1, $at] if substr($head, $at) =~ /^\([\s*]*(\w+)\s*[()]/;
		}
		$before = $token;
	}
	my @plain = grep { $_->[0] !~ /^[A-Z][A-Z0-9_]*$/ } @name;
	my $best = $plain[-1] // $name[-1];
	return $best ? @$best[0, 1] : ('', 0);
}

# Who needs each other in a circle: the strongly connected parts of a graph {from}{to}, each sorted.
sub circles
{
	my ($edge) = @_;
	my (%number, %low, %open, @stack, @found, $visit);
	$visit = sub {
		my ($v) = @_;
		$number{$v} = $low{$v} = keys %number;
		push @stack, $v;
		$open{$v} = 1;
		for my $w (sort keys %{ $edge->{$v} // {} })
		{
			$visit->($w) unless defined $number{$w};
			my $reach = $open{$w} ? $low{$w} : $low{$v};
			$low{$v} = $reach if $reach < $low{$v};
		}
		return if $low{$v} != $number{$v};
		my @part;
		do
		{
			push @part, pop @stack;
			$open{ $part[-1] } = 0;
		} while $part[-1] ne $v;
		push @found, [sort @part] if @part > 1;
	};
	$visit->($_) for grep { !defined $number{$_} } sort keys %$edge;
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
