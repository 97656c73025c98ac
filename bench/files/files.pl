# Writes or reads many files by one thread, as lab C did:
#   perl -e "$(cat common.pl files.pl)" write|cached|read FOLDER FILES SIZE FOLDERS
# Round robin over FOLDERS directories, two levels deep; the read is in the order of the write. Every file's content
# is pseudo-random, differs from every other's, and is known by its number, so that a read can tell what it got.
# `cached` counts the pages that a sample of the files has in the page cache.
# Prints a line of JSON every two seconds, {"at":…}, and one at the end, {"phase":…} or {"cached":…}.
my ($phase, $folder, $files, $size, $folders) = @ARGV;

# The base is as long as a file, 1 MiB at most.
my $most = 1 << 20;
my $length = $size < $most ? $size : $most;
my $base = base_of($length);

my $side = int(sqrt($folders));
$side++ while $side * $side < $folders;
sub directory { my ($n) = @_; return sprintf("%s/%d/%d", $folder, int($n / $side), $n % $side); }
sub name { my ($n) = @_; return sprintf("%s/%d", directory($n % $folders), $n); }

if ($phase eq "write") {
    mkdir($folder) or die "$folder: $!\n";
    for my $n (0 .. $side - 1) { mkdir("$folder/$n") or die "$folder/$n: $!\n"; }
    for my $n (0 .. $folders - 1) { mkdir(directory($n)) or die directory($n) . ": $!\n"; }
    on_disk($folder);
}

# Looking at a file loads its inode, so no more than 16 are looked at, evenly spread. cachestat(2), since Linux 6.5, has
# one number on all of its machines but alpha; before it there is fincore(1), which maps the file and asks mincore(2).
sub cached_pages {
    my ($name) = @_;
    open(my $handle, "<", $name) or die "$name: $!\n";
    my ($range, $found) = (pack("Q2", 0, 0), "\0" x 40);
    return ("cachestat", unpack("Q", $found)) if syscall(451, fileno($handle), $range, $found, 0) == 0;
    die "cachestat of $name: $!\n" unless $!{ENOSYS};
    open(my $fincore, "-|", "fincore", "--raw", "--noheadings", "--output", "PAGES", $name) or return ();
    my $line = readline($fincore);
    die "fincore of $name failed\n" unless close($fincore) && $line =~ /^(\d+)$/;
    return ("fincore", $1);
}

if ($phase eq "cached") {
    my $step = int(($files + 15) / 16);
    my ($looked, $pages, $by) = (0, 0, "");
    for (my $file = 0; $file < $files; $file += $step, $looked++) {
        my ($how, $count) = cached_pages(name($file));
        ($pages, $by) = (undef, ""), last unless defined($how);
        $pages += $count;
        $by = $how;
    }
    printf("{\"cached\":{\"files\":%d,\"pages\":%s,\"by\":\"%s\"}}\n", $looked, defined($pages) ? $pages : "null", $by);
    exit;
}

# Not measured: what is above. `said` is the second of the last report.
my ($bytes, $said, $buffer) = (0, time(), "");
my $start = now();
my @before = times();

sub tell_how_far {
    my ($file) = @_;
    $said = time();
    printf("{\"at\":\"%s\",\"files\":%d,\"bytes\":%d,\"seconds\":%.2f}\n", $phase, $file, $bytes, now() - $start);
}

sub write_file {
    my ($file) = @_;
    my $name = name($file);
    my $handle = create($name);
    for (my ($at, $chunk) = (0, 0); $at < $size; $chunk++) {
        my $left = $size - $at < $length ? $size - $at : $length;
        write_all($handle, $name, content($base, $file, $chunk, $left));
        $at += $left;
        $bytes += $left;
        tell_how_far($file) if time() - $said >= 2;
    }
    close($handle) or die "$name: $!\n";
}

sub read_file {
    my ($file) = @_;
    my $name = name($file);
    open(my $handle, "<:raw", $name) or die "$name: $!\n";
    my $at = 0;
    for (my $chunk = 0; ; $chunk++) {
        my $got = read_some($handle, $name, $buffer, $length);
        last if $got == 0;
        # The beginning of each chunk, and every 64th chunk in whole: comparing all would be measured too.
        my $looked = ($file + $chunk) % 64 == 0 || $got < 64 ? $got : 64;
        die sprintf("%s: from byte %d it is not what was written\n", $name, $at)
            if substr($buffer, 0, $looked) ne content($base, $file, $chunk, $looked);
        $at += $got;
        $bytes += $got;
        tell_how_far($file) if time() - $said >= 2;
        last if $got < $length;
    }
    close($handle) or die "$name: $!\n";
    die "$name: $at bytes read, $size written\n" if $at != $size;
}

for my $file (0 .. $files - 1) { $phase eq "write" ? write_file($file) : read_file($file); }
my $ended = now();
on_disk($folder) if $phase eq "write";
my $end = now();
my @after = times();
printf(
    "{\"phase\":\"%s\",\"files\":%d,\"bytes\":%d,\"seconds\":%.2f,\"sync\":%.2f,\"user\":%.2f,\"system\":%.2f}\n",
    $phase, $files, $bytes, $end - $start, $end - $ended, $after[0] - $before[0], $after[1] - $before[1],
);
