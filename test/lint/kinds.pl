#!/usr/bin/perl
# Which kind a table is of is asked in one place: options look the word of format up (bifang_format_find),
# and from there on the kind's functions and what its format says are used. Nobody compares words,
# rows or functions, and nobody but the kind itself spells its word or names its row.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

except('src/pg/catalog/option_list.h: "iceberg" is the word of a format', # the default of option format
	'src/pg/lake/show_table.c: "parquet" is the word of a format', # a format of files, not of tables
	'src/pg/scan/import.c: formats or kinds are compared'); # with the default, whichever that is

my (%folder, %word);
for my $file (files(qr/\.c$/, grep { -d } glob 'src/pg/scan/*'))
{
	$folder{ (split m{/}, $file)[3] } = 1;
	$word{$1} = 1 if without_comments($file) =~ /\.format\s*=\s*\{\s*\.name\s*=\s*"(\w+)"/;
}
if (!%word)
{
	complain('src/pg/scan', 0, 'no words of formats are found where kinds have theirs');
}

sub line_of
{
	return 1 + (substr($_[0], 0, $_[1]) =~ tr/\n//);
}

# A text that is a kind's folder or word, or so much of a word that it is meant.
sub means_a_kind
{
	my ($text) = @_;
	return $folder{$text} || (length $text > 2 && grep { index($_, $text) == 0 || index($text, $_) == 0 } keys %word);
}

# Texts that stand behind each other are one.
sub joined
{
	my ($text) = @_;
	my $one = qr/"(?:[^"\\\n]|\\.)*"/;
	$text =~ s{$one(?:\s+$one)+}{ '"' . join('', $& =~ /"((?:[^"\\\n]|\\.)*)"/g) . '"' . "\n" x ($& =~ tr/\n//) }ge;
	return $text;
}

my $nested = qr/(\((?:[^()"]++|"(?:[^"\\]|\\.)*+"|(?-1))*+\))/;
my $compare = qr/\b\w*(?:cmp|equals?|_eq|strstr|starts?_with|ends?_with)\w*\s*$nested/;
my $format = qr/\b(?:o|opts|options|opt)(?:->|\.)format\b|\bbifang_kind_of\s*$nested/;

for my $file (files(qr/\.[ch]$/, 'src'))
{
	next if $file =~ m{^src/pg/scan/(\w+)/} && $folder{$1};
	my $text = joined(without_comments($file));
	if ($file =~ m{^src/pg/})
	{
		for (keys %word)
		{
			complain($file, line_of($text, $-[0]), "\"$_\" is the word of a format") while $text =~ /"\Q$_\E"/g;
		}
	}
	while ($text =~ /$compare/g)
	{
		my ($call, $line) = ($&, line_of($text, $-[0]));
		complain($file, $line, "a kind of tables is told by comparing \"$_\"") for grep { means_a_kind($_) } $call =~ /"([^"]*)"/g;
		complain($file, $line, 'the word of a format is compared')
			if $call =~ /\bformats?(?:->|\.)(?:name|is)\b/ && $file ne 'src/pg/catalog/formats.c';
	}
	complain($file, line_of($text, $-[0]), 'the word of a format is compared')
		while $text =~ /\bformat(?:->|\.)(?:name|is)\s*(?:\[|[!=]=(?!\s*NULL\b))|[=(!&|]\s*\*\s*[\w.>-]*\bformat(?:->|\.)name\b/g;
	complain($file, line_of($text, $-[0]), 'formats or kinds are compared')
		while $text =~ /$format\s*[!=]=|[!=]=\s*(?:$format\s*(?![\s>.\w-])|bifang_formats\s*\()|bifang_formats\s*\(\s*\)\s*\[\s*\d/g;
	complain($file, line_of($text, $-[0]), 'a function of a kind is compared')
		while $text =~ /\bkind(?:->|\.)\w+\s*[!=]=(?!\s*NULL\b)/g;
	complain($file, line_of($text, $-[0]), "$& is the row of a kind")
		while $file ne 'src/pg/scan/kinds.c' && $text =~ /\bbifang_kind_(?!of\b)\w+/g;
}
finish();
