#!/usr/bin/perl
# How often each of 200 words is in a text: by a grep for each, or in the program itself.
use strict;
use warnings;
use File::Temp qw(tempfile);
my $fixed = ($ARGV[0] // '') eq 'fixed';
my ($file, $path) = tempfile(UNLINK => 1);
my @lines = map { "line $_ mentions word" . ($_ % 200) . " and word" . ($_ * 7 % 200) . "\n" } 1 .. 2000;
print $file @lines;
close $file;
my $total = 0;
for my $number (0 .. 199) {
    if ($fixed) {
        $total += grep { /\bword$number\b/ } @lines;
    } else {
        $total += `grep -cw word$number $path`;
    }
}
print "$total\n";
