# What the programs of kinds files and io500 share. Only what perl-base has is used.
use strict;
use warnings;
use Errno;
use Fcntl qw(O_WRONLY O_CREAT O_EXCL);

$| = 1;

# CLOCK_BOOTTIME in hundredths of a second.
sub now {
    open(my $uptime, "<", "/proc/uptime") or die "/proc/uptime: $!\n";
    my ($seconds) = split(/ /, readline($uptime));
    return $seconds;
}

# All of the file system that $path is on.
sub on_disk { my ($path) = @_; system("sync", "-f", $path) == 0 or die "sync -f $path failed\n"; }

# Pseudo-random bytes, the same in every process (drand48 with a fixed seed).
sub base_of {
    my ($length) = @_;
    srand(20260901);
    return pack("L*", map { int(rand(4294967296)) } 1 .. int(($length + 3) / 4));
}

# Chunk $chunk of file $file: the base, every 8 bytes of it under the key of this file and chunk, so that no block is
# like another. Products by odd numbers differ modulo 2^32 as their factors do.
sub content {
    my ($base, $file, $chunk, $bytes) = @_;
    my $key = pack("L2", ($file * 2654435761) & 0xffffffff, ($chunk * 2246822519) & 0xffffffff);
    return substr(substr($base, 0, $bytes) ^ ($key x int(($bytes + 7) / 8)), 0, $bytes);
}

sub create {
    my ($name) = @_;
    sysopen(my $handle, $name, O_WRONLY | O_CREAT | O_EXCL) or die "$name: $!\n";
    return $handle;
}

sub write_all {
    my ($handle, $name, $text) = @_;
    for (my $done = 0; $done < length($text);) {
        my $count = syswrite($handle, $text, length($text) - $done, $done);
        die "$name: $!\n" unless defined($count);
        $done += $count;
    }
}

# As many bytes as there are, $most at most, into $_[2].
sub read_some {
    my ($handle, $name, undef, $most) = @_;
    my $got = 0;
    while ($got < $most) {
        my $count = sysread($handle, $_[2], $most - $got, $got);
        die "$name: $!\n" unless defined($count);
        last if $count == 0;
        $got += $count;
    }
    return $got;
}

