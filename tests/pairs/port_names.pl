#!/usr/bin/perl
# Names of services for a log of connections: the list is read for each of them, or once.
use strict;
use warnings;
my $fixed = ($ARGV[0] // '') eq 'fixed';
my %kept;

sub services {
    return \%kept if $fixed && %kept;
    my %found;
    open(my $file, '<', '/etc/services') or die "/etc/services: $!";
    while (my $line = <$file>) {
        $found{"$2/$3"} = $1 if $line =~ m{^(\S+)\s+(\d+)/(tcp|udp)};
    }
    close $file;
    %kept = %found;
    return \%found;
}

my %seen;
for my $number (1 .. 600) {
    my $port = ($number * 37) % 1024;
    my $name = services()->{"$port/tcp"} // 'unknown';
    $seen{$name}++;
}
print join(',', map { "$_=$seen{$_}" } sort keys %seen), "\n";
