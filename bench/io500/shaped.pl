# One phase of the shape of the IO500's, by one process:
#   perl -e "$(cat common.pl shaped.pl)" PHASE FOLDER SECONDS BYTES FILES
# The load is that of io500's ior and mdtest with one process: easy = a file of its own in transfers of 2 MiB, empty
# files; hard = records of 47,008 bytes in a shared file, files of 3,901 bytes. A phase that writes ends after SECONDS
# (the stonewall), BYTES or FILES; those that read, stat, find and delete do it to all that was written. FOLDER/PHASE.n
# says how much that is. Prints a line of JSON every two seconds, {"at":…}, and one at the end, {"ended":…}.
my ($phase, $folder, $seconds, $most_bytes, $most_files) = @ARGV;

my ($tool, $level, $what) = $phase =~ /^(?:(ior|mdtest)-(easy|hard)-)?(write|read|stat|delete|find)$/
    or die "$phase is no phase\n";
my $easy = ($level // "") eq "easy";
my $tree = "$folder/" . join("-", $tool // "", $level // "");
my $record = ($tool // "") eq "ior" ? ($easy ? 2097152 : 47008) : ($easy ? 0 : 3901);
my $base = base_of($record);

sub said_written {
    my ($of) = @_;
    open(my $handle, "<", "$folder/$of.n") or die "$folder/$of.n: $!\n";
    my ($count) = readline($handle) =~ /^(\d+)$/ or die "$folder/$of.n is no number\n";
    close($handle);
    return $count;
}

my ($count, $bytes, $said) = (0, 0, time());
my $all = $what eq "write" || $what eq "find" ? undef : said_written("$tool-$level-write");
if ($what eq "write") { mkdir($tree) or die "$tree: $!\n"; on_disk($folder); }

my $start = now();
my @before = times();

sub tell_how_far {
    return if time() - $said < 2;
    $said = time();
    printf("{\"at\":\"%s\",\"count\":%d,\"bytes\":%d,\"seconds\":%.2f}\n", $phase, $count, $bytes, now() - $start);
}
# The clock is asked once in 64 files: a look costs as much as a stat.
sub is_over { return ($record > 4096 || $count % 64 == 0) && now() - $start >= $seconds; }
sub file { my ($n) = @_; return "$tree/file.mdtest.0.$n"; }

sub ior_write {
    my $handle = create("$tree/data");
    until ($bytes + $record > $most_bytes || is_over()) {
        write_all($handle, "$tree/data", content($base, 0, $count++, $record));
        $bytes += $record;
        tell_how_far();
    }
    # IOR's -e: the write is over when it is on the disks.
    on_disk("$tree/data");
    close($handle) or die "$tree/data: $!\n";
}

sub ior_read {
    open(my $handle, "<:raw", "$tree/data") or die "$tree/data: $!\n";
    my $buffer = "";
    for (; $count < $all; $count++) {
        my $got = read_some($handle, "$tree/data", $buffer, $record);
        die "$tree/data: from byte $bytes it is not what was written\n"
            if $got != $record || substr($buffer, 0, 64) ne content($base, 0, $count, 64);
        $bytes += $got;
        tell_how_far();
    }
    close($handle);
}

sub mdtest_write {
    until ($count >= $most_files || is_over()) {
        my $name = file($count);
        my $handle = create($name);
        write_all($handle, $name, content($base, $count, 0, $record)) if $record > 0;
        close($handle) or die "$name: $!\n";
        $count++;
        $bytes += $record;
        tell_how_far();
    }
}

sub mdtest_read {
    my $buffer = "";
    for (; $count < $all; $count++) {
        my $name = file($count);
        open(my $handle, "<:raw", $name) or die "$name: $!\n";
        my $got = read_some($handle, $name, $buffer, $record + 1);
        die "$name: not what was written\n"
            if $got != $record || substr($buffer, 0, 64) ne content($base, $count, 0, 64);
        close($handle);
        $bytes += $got;
        tell_how_far();
    }
}

sub mdtest_stat {
    for (; $count < $all; $count++) {
        my $size = (stat(file($count)))[7] // die file($count) . ": $!\n";
        die file($count) . ": $size bytes, $record written\n" if $size != $record;
        tell_how_far();
    }
}

sub mdtest_delete {
    for (; $count < $all; $count++) {
        unlink(file($count)) or die file($count) . ": $!\n";
        tell_how_far();
    }
}

# As `find -name '*01*' -size 3901c`, over all trees; the IOPS are those of all that was looked at.
sub find {
    my $matches = 0;
    my @folders = ($folder);
    while (defined(my $in = shift(@folders))) {
        opendir(my $handle, $in) or die "$in: $!\n";
        while (defined(my $name = readdir($handle))) {
            next if $name eq "." || $name eq "..";
            my @status = lstat("$in/$name") or die "$in/$name: $!\n";
            push(@folders, "$in/$name") if -d _;
            $matches++ if $name =~ /01/ && $status[7] == 3901;
            $count++;
            tell_how_far();
        }
        closedir($handle);
    }
}

if ($what eq "find") { find(); }
elsif ($tool eq "ior") { $what eq "write" ? ior_write() : ior_read(); }
else { +{ write => \&mdtest_write, read => \&mdtest_read, stat => \&mdtest_stat, delete => \&mdtest_delete }->{$what}->(); }

my $took = now() - $start;
my @after = times();
if ($what eq "write") {
    my $note = create("$folder/$phase.n");
    write_all($note, "$folder/$phase.n", "$count\n");
    close($note) or die "$folder/$phase.n: $!\n";
}
printf(
    "{\"ended\":\"%s\",\"count\":%d,\"bytes\":%d,\"seconds\":%.2f,\"user\":%.2f,\"system\":%.2f}\n",
    $phase, $count, $bytes, $took, $after[0] - $before[0], $after[1] - $before[1],
);
