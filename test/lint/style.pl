#!/usr/bin/perl
# What one can read in one sitting: lines of at most 100 columns (tabs of 4), functions and macros of
# at most 70 lines, structs of at most 24 members, files of at most 900 lines (1200 in src/pg); a head
# comment in every file, a README of at most 150 lines in every layer.
# And what neither people nor lints read: digraphs and trigraphs, lines that go on where no macro
# does, functions in the style from before C89, assembler, pragmas that change what a name means.
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

sub line_of
{
	return 1 + (substr($_[0], 0, $_[1]) =~ tr/\n//);
}

# Pragmas that say something about one loop or about warnings.
my $harmless = qr/GCC (?:unroll \d+|diagnostic (?:push|pop|ignored "-Wtautological-compare"))/;

sub check_spelling
{
	my ($file) = @_;
	my $text = without_comments($file);
	my $code = code($file);
	my $plain = without_directives($code);
	complain($file, line_of($text, $-[0]), 'a trigraph') while $text =~ /\?\?[=\/'()!<>-]/g;
	complain($file, line_of($code, $-[0]), "a digraph, $&") while $code =~ /<[%:]|%[>:]|:>/g;
	complain($file, line_of($code, $-[0]), 'a line goes on in the middle of a word') while $code =~ /\S\\$/gm;
	complain($file, line_of($code, $-[0]), 'assembler') while $code =~ /\b(?:__)?asm(?:__)?\b/g;
	complain($file, line_of($text, $-[0]), "a pragma, $1")
		while $text =~ /(^[ \t]*#[ \t]*pragma(?![ \t]+$harmless$).*|\b_Pragma\b)/gm;
	complain($file, line_of($code, $-[0]), 'a line goes on, and is no macro')
		while $plain =~ /\\$/gm;
}

sub check_macros
{
	my ($file) = @_;
	my $code = code($file);
	while ($code =~ /^[ \t]*#(?:[ \t]|\\\n)*define(?:[ \t]|\\\n)+(\w+)(?:[^\n\\]|\\.)*/gms)
	{
		my ($name, $n) = ($1, 1 + ($& =~ tr/\n//));
		complain($file, line_of($code, $-[0]), "macro $name has $n lines, more than 70") if $n > 70;
	}
}

# Members of structs, each with its own count; what a macro makes of a list is not looked at.
sub check_structs
{
	my ($file) = @_;
	my $code = without_attributes(without_directives(code($file)));
	my $nested = qr/(\{((?:[^{}]++|(?-2))*+)\})/;
	while ($code =~ /\bstruct\s*(\w*)\s*(?=$nested)/g)
	{
		my ($name, $line, $body) = ($1, line_of($code, $-[0]), $3);
		1 while $body =~ s/\{[^{}]*\}//;
		1 while $body =~ s/\([^()]*\)//;
		my $n = () = $body =~ /[;,]/g;
		complain($file, $line, "struct $name has $n members, more than 24") if $n > 24;
	}
}

for my $file (files(qr/\.[ch]$/, qw(src test/unit test/fuzz test/bench test/tap)))
{
	my @lines = split /\n/, source($file), -1;
	pop @lines;
	for (0 .. $#lines)
	{
		complain($file, $_ + 1, columns($lines[$_]) . ' columns, more than 100') if columns($lines[$_]) > 100;
		complain($file, $_ + 1, 'space at the end') if $lines[$_] =~ /[ \t]$/;
	}
	complain($file, 1, 'no head comment') unless @lines && $lines[0] =~ m{^/\*};
	next unless $file =~ m{^src/};
	my $most = $file =~ m{^src/pg/} ? 1200 : 900;
	complain($file, 0, scalar(@lines) . " lines, more than $most") if @lines > $most;
	check_spelling($file);
	check_macros($file);
	check_structs($file);
	for (functions(code($file)))
	{
		my $n = $_->{last} - $_->{line} + 1;
		complain($file, $_->{line}, 'braces without a head: a function in an old style?') if $_->{name} eq '';
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
