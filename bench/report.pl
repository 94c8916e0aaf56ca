#!/usr/bin/perl
#
# report.pl --- one table out of what measure.sh noted
#
#   bench/report.pl DIR TARGETS
#
# Reads DIR/about.txt and DIR/rounds.csv; prints the table and whether each target is met; writes
# DIR/results.csv and DIR/results.svg.  Exit status 1: a measurement failed, or two contestants do
# not agree on an answer.  A missed target is no failure.

use strict;
use warnings;

my ($dir, $targets) = @ARGV;
die "usage: report.pl DIR TARGETS\n" unless defined $targets;

# in the order of the table; a scale turns the unit of rounds.csv into the unit shown
my @figures = (
    [build   => 'build',            's',     1],
    [size    => 'index size',       'MiB',   1 / 1048576],
    [overlap => 'overlap',          'us',    1],
    [knn     => '10 nearest',       'us',    1],
    [insert  => 'insert',           'us',    1],
    [joined     => 'self-join by index',        'us', 1],
    [best_join  => 'self-join, best plan',      'us', 1],
    [join_gain  => 'BVH Join, times the index', 'x',  1],
    [rays       => 'first hit of a ray',        'us', 1],
    [ray_pages  => 'pages, straight to slanted rays', 'x', 1],
    [frustum    => 'frustum of 1%',             'ms', 1],
    [frustum_gain => 'frustum, times seq. scan', 'x', 1],
    [prepared   => 'one query, prepared',      'us', 1],
    [mix        => 'query, a tenth inserts',    'us', 1],
    [clients    => 'two clients to one',        'x',  1],
    [cache_build => 'tree in shared memory, to the build', 'x', 1],
    [cache_bytes => 'bytes a box there',        '',   1],
    [grown      => 'overlap, grown by inserts', 'us', 1],
    [leaf_pages => 'leaf pages of a probe',     '',   1],
    [tenfold    => 'overlap, to a tenth of it', 'x',  1],
);
my %label = map { $_->[0] => $_->[1] } @figures;
my %unit  = map { $_->[0] => $_->[2] } @figures;
my %scale = map { $_->[0] => $_->[3] } @figures;

# the part of measure.sh that yields a figure; when it was cut short, so was the figure
my %section = (build => 'build', size => 'build', overlap => 'overlap', knn => 'knn', insert => 'insert',
    joined => 'join', best_join => 'join', join_gain => 'join', rays => 'rays', ray_pages => 'rays',
    frustum => 'frustum', frustum_gain => 'frustum', prepared => 'prepared',
    mix => 'cache', clients => 'cache', cache_build => 'build', cache_bytes => 'build', grown => 'grown', leaf_pages => 'overlap', tenfold => 'overlap');

my (@who, %title, %ours, %tolerance, %about, %left_out, @sets, %boxes);
open my $in, '<', "$dir/about.txt" or die "$dir/about.txt: $!\n";
while (<$in>) {
    chomp;
    my ($what, @rest) = split /\|/;
    if ($what eq 'contestant') {
        my $name = $rest[0];
        push @who, $name;
        $title{$name} = $rest[1];
        $ours{$name} = $rest[2] eq 't';
        $tolerance{$name} = {overlap_hits => $rest[3], knn_total => $rest[4], knn_found => 0,
            joined_pairs => $rest[3], best_join_pairs => 0, rays_hits => $rest[3], frustum_hits => 0};
    } elsif ($what eq 'data') {
        push @sets, $rest[0];
        $boxes{$rest[0]} = $rest[1];
    } elsif ($what eq 'left out') {
        $left_out{$rest[0]} = $rest[1];
    } else {
        $about{$what} = $rest[0];
    }
}
close $in;
my @ours = grep { $ours{$_} } @who;
my @peers = grep { !$ours{$_} } @who;

# a peer's package may be missing, but the index that was just built may not
my (%rounds, %trouble);
my $broken = exists $left_out{gist};
open $in, '<', "$dir/rounds.csv" or die "$dir/rounds.csv: $!\n";
<$in>;
while (<$in>) {
    chomp;
    my ($section, $data, $who, $round, $metric, $value) = split /,/;
    if ($metric =~ /^(timeout|failed|skipped)$/) {
        $trouble{$data}{$who}{$section} = [$metric, $value];
        $broken = 1 if $metric eq 'failed';
    } else {
        push @{$rounds{$data}{$metric}{$who}}, $value;
    }
}
close $in;

sub least { my ($m, @rest) = @_; for (@rest) { $m = $_ if $_ < $m } return $m }
sub most  { my ($m, @rest) = @_; for (@rest) { $m = $_ if $_ > $m } return $m }

# best(data, figure, contestant) --- the fastest round: noise only ever adds time
sub best {
    my $values = $rounds{$_[0]}{$_[1]}{$_[2]};
    return $values ? least(@$values) : undef;
}

# how much longer a probe takes where there are ten times as many boxes
for my $who (@ours) {
    my ($many, $few) = (best('tenfold', 'overlap', $who), best('random', 'overlap', $who));
    $rounds{tenfold}{tenfold}{$who} = [$many / $few] if $many && $few;
}

# Peers have no better plan for a self-join than their index.
for my $data (@sets) {
    for my $who (@ours) {
        my ($index, $join) = (best($data, 'joined', $who), best($data, 'best_join', $who));
        $rounds{$data}{join_gain}{$who} = [$index / $join] if $index && $join;
    }
    next unless $rounds{$data}{best_join};
    for my $who (@peers) {
        $rounds{$data}{best_join}{$who} = $rounds{$data}{joined}{$who} if $rounds{$data}{joined}{$who};
    }
}

# ratio(data, figure, peer, own) --- how many times ours the peer's figure is.  A build that was cut
# short took at least as long as it was let, so it has a ratio, too, as a bound.
sub ratio {
    my ($data, $figure, $peer, $own) = @_;
    my $mine = best($data, $figure, $own);
    my $theirs = best($data, $figure, $peer);
    return (undef, 0) unless $mine;
    return ($theirs / $mine, 0) if defined $theirs;
    my $t = $trouble{$data}{$peer}{build};
    return ($t->[1] / $mine, 1) if $figure eq 'build' && $t && $t->[0] eq 'timeout';
    return (undef, 0);
}

sub short {
    my $v = shift;
    return sprintf($v >= 100 ? '%.0f' : $v >= 10 ? '%.1f' : $v >= 1 ? '%.2f' : '%.3f', $v);
}

sub grouped {
    my $n = sprintf '%.0f', shift;
    1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
    return $n;
}

sub cell {
    my ($data, $figure, $who) = @_;
    my $v = best($data, $figure, $who);
    return short($v * $scale{$figure}) if defined $v;
    my $t = $trouble{$data}{$who}{$section{$figure}} || $trouble{$data}{$who}{load} or return '-';
    return $t->[0] eq 'timeout' ? ($figure eq 'build' ? "> $t->[1]" : 'timeout') : $t->[0];
}

sub ratio_cell {
    my ($r, $bound) = ratio(@_);
    return '-' unless defined $r;
    return ($bound ? '> ' : '') . short($r) . 'x';
}

# answers(data, metric) --- what the contestants found, and a complaint for each that is too far from
# the first one that rounds nothing.  Rounding outward can only add hits.
sub answers {
    my ($data, $metric) = @_;
    my $found = $rounds{$data}{$metric} or return;
    my ($reference) = grep { $found->{$_} && !$tolerance{$_}{overlap_hits} } @who;
    my (@cells, @wrong);
    for my $who (@who) {
        if (!$found->{$who}) {
            push @cells, '-';
            next;
        }
        my ($low, $high) = (least(@{$found->{$who}}), most(@{$found->{$who}}));
        push @cells, $metric eq 'knn_total' ? sprintf('%.4g', $high) : grouped($high);
        push @wrong, "$who: $metric of $data changes from round to round" if $high - $low > 1e-9 * abs $high;
        next unless defined $reference;
        my $want = $found->{$reference}[0];
        my $off = ($high - $want) / ($want || 1);
        push @wrong, "$who: $metric of $data is $high, but $reference has $want"
            if $off > $tolerance{$who}{$metric} || $off < -1e-9;
    }
    return (\@cells, \@wrong);
}

my (@lines, @wrong, @csv);
for my $data (@sets) {
    my @block;
    for my $f (@figures) {
        my $figure = $f->[0];
        next unless grep { cell($data, $figure, $_) ne '-' } @who;
        push @block, ["  $f->[1]" . ($f->[2] && ", $f->[2]"), (map { cell($data, $figure, $_) } @who),
            map { my $own = $_; map { ratio_cell($data, $figure, $_, $own) } @peers } @ours];
        for my $who (@who) {
            my $values = $rounds{$data}{$figure}{$who};
            my $t = $trouble{$data}{$who}{$section{$figure}};
            next unless $values || $t;
            push @csv, join ',', $figure, $data, $boxes{$data}, $who, $f->[2],
                $values ? map({ sprintf '%.6g', $_ * $f->[3] } least(@$values), most(@$values)) : ('', ''),
                map({ my ($r) = ratio($data, $figure, $who, $_); defined $r ? sprintf('%.4g', $r) : '' } @ours),
                $t ? $t->[0] : '';
        }
        for my $metric (["overlap_hits", 'hits'], ["knn_total", 'sum of distances'], ["knn_found", ''],
            ["joined_pairs", 'pairs'], ["best_join_pairs", 'pairs'], ["rays_hits", 'rays that hit'], ["frustum_hits", 'hits']) {
            next unless $metric->[0] =~ /^${figure}_/;
            my ($cells, $wrong) = answers($data, $metric->[0]) or next;
            next unless $cells;
            push @wrong, @$wrong;
            push @block, ["    $metric->[1]", @$cells] if $metric->[1];
        }
        if (my $scan = $rounds{$data}{"${figure}_scan"}) {
            push @block, ['    scan', map { $scan->{$_} ? $scan->{$_}[0] =~ /Only/ ? 'index only' : 'index' : '-' } @who];
        }
    }
    push @lines, ["$data: " . grouped($boxes{$data}) . ' boxes'], @block if @block;
}
$broken = 1 if @wrong;

# columns as wide as their widest cell; the lines that name a data set do not count
my @head = ('', @who, map { my $own = $_; map { "$_/$own" } @peers } @ours);
my @width;
for my $line (\@head, grep { @$_ > 1 } @lines) {
    for my $i (0 .. $#$line) {
        my $n = length $line->[$i];
        $width[$i] = $n if !defined $width[$i] || $n > $width[$i];
    }
}

sub print_line {
    my $line = shift;
    if (@$line == 1) {
        print "\n$line->[0]\n";
        return;
    }
    my $text = sprintf "%-*s", $width[0], $line->[0];
    for my $i (1 .. $#head) {
        $text .= '  |' if $i > @who && ($i - 1 - @who) % @peers == 0;
        $text .= sprintf "  %*s", $width[$i], defined $line->[$i] ? $line->[$i] : '';
    }
    $text =~ s/[ |]+$//;
    print "$text\n";
}

print "$about{server} on $about{cpu}\n$about{settings}\n\n";
printf "%-14s %s\n", $_, $title{$_} for @who;
printf "%-14s left out: %s\n", $_, $left_out{$_} for sort keys %left_out;
print "\nThe fastest of all rounds; overlap per probe, 10 nearest per search, insert per row, heap included;\nself-join per row of the outer side;\nprepared per transaction.\n";
print "peer/ours: how many times ours the peer's figure is.\n\n";
print_line(\@head);
print_line($_) for @lines;

print "\nWRONG  $_\n" for @wrong;

my %bound_of;
my $say_full;
my @verdicts;
open $in, '<', $targets or die "$targets: $!\n";
while (<$in>) {
    s/#.*//;
    next unless /\S/;
    my ($figure, $data, $own, $peer, $op, $bound) = split;
    die "$targets:$.: cannot read this line\n"
        unless defined $bound && $label{$figure} && $op =~ /^[<>]=$/;
    my ($v, $at_least, $what);
    if ($peer eq '-') {
        $v = best($data, $figure, $own);
        $what = sprintf "%s, %s: %s %s", $label{$figure}, $data, $own, defined $v ? $v >= 1000 ? grouped($v) : short($v) : '?';
        $bound = grouped($bound) if $bound >= 1000;
    } else {
        ($v, $at_least) = ratio($data, $figure, $peer, $own);
        $what = sprintf "%s, %s: %s/%s %s%s", $label{$figure}, $data, $peer, $own,
            $at_least ? '> ' : '', defined $v ? short($v) . 'x' : '?';
        $bound_of{"$figure $data $own $peer"} = $bound;
        $say_full = 1 if $data eq 'random' && ($boxes{random} || 1_000_000) != 1_000_000;
    }
    (my $number = $bound) =~ tr/,//d;
    my $met = !defined $v ? 'not measured' : ($op eq '>=' ? $v >= $number : $v <= $number) ? 'met' : 'MISSED';
    push @verdicts, sprintf "%-12s  %s (%s %s)\n", $met, $what, $op eq '>=' ? 'at least' : 'at most', $bound;
}
close $in;
print "\nTargets", ($say_full ? ', meant for 1,000,000 random boxes:' : ':'), "\n", @verdicts;

open my $out, '>', "$dir/results.csv" or die "$dir/results.csv: $!\n";
print $out join(',', qw(figure data boxes contestant unit best worst), map({ "ratio_to_$_" } @ours), 'note'), "\n";
print $out "$_\n" for @csv;
close $out or die "$dir/results.csv: $!\n";

draw("$dir/results.svg") if @ours && @peers;
exit($broken ? 1 : 0);

# draw(file) --- the ratios as bars on a logarithmic axis, one panel for each index of ours; a black
# tick across a bar is its target
sub draw {
    my $file = shift;
    my @colour = map { "#$_" } qw(4e79a7 f28e2b 59a14f b07aa1 9c755f);
    my ($left, $plot, $bar, $gap) = (230, 560, 11, 7);
    my @panels;
    my ($low, $high) = (1, 10);
    for my $own (@ours) {
        my @groups;
        for my $data (@sets) {
            for my $f (@figures) {
                my @bars;
                for my $p (0 .. $#peers) {
                    my ($r, $at_least) = ratio($data, $f->[0], $peers[$p], $own);
                    next unless defined $r && $r > 0;
                    push @bars, [$p, $r, $at_least, $bound_of{"$f->[0] $data $own $peers[$p]"}];
                    $low = $r if $r < $low;
                    $high = $r if $r > $high;
                }
                push @groups, ["$f->[1], $data", \@bars] if @bars;
            }
        }
        push @panels, [$own, \@groups] if @groups;
    }
    return unless @panels;
    my @ticks = grep { $_ >= $low / 3 } map { my $e = $_; map { $_ * 10**$e } 1, 2, 5 } -3 .. 6;
    # over three decades there is no room for more labels
    @ticks = grep { /^1/ || /^0\.0*1$/ } @ticks if $high / $low > 1000;
    shift @ticks while @ticks > 1 && $ticks[1] <= $low;
    my @shown = grep { $_ <= $high } @ticks;
    my ($from, $to) = ($shown[0], $high * 1.05);
    my $x = sub { $left + $plot * log($_[0] / $from) / log($to / $from) };

    my ($y, $svg) = (50, '');
    my $text = sub {
        my ($tx, $ty, $anchor, $words, $more) = @_;
        $words =~ s/&/&amp;/g;
        $words =~ s/</&lt;/g;
        $words =~ s/>/&gt;/g;
        $svg .= sprintf qq{<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>\n}, $tx, $ty, $anchor, $more || '', $words;
    };
    my $legend = $left;
    for my $p (0 .. $#peers) {
        $svg .= sprintf qq{<rect x="%.1f" y="34" width="10" height="10" fill="%s"/>\n}, $legend, $colour[$p % @colour];
        $text->($legend + 14, 43, 'start', $peers[$p]);
        $legend += 30 + 7 * length $peers[$p];
    }
    for my $panel (@panels) {
        my ($own, $groups) = @$panel;
        $y += 30;
        $text->($left, $y, 'start', "times the figure of $title{$own}", ' font-weight="bold"');
        $y += 12;
        my $height = 0;
        $height += $bar * @{$_->[1]} + $gap for @$groups;
        for my $t (@shown) {
            $svg .= sprintf qq{<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>\n},
                $x->($t), $y, $x->($t), $y + $height, $t == 1 ? '#333' : '#ddd';
            $text->($x->($t), $y + $height + 12, 'middle', "${t}x");
        }
        for my $group (@$groups) {
            my ($name, $bars) = @$group;
            $text->($left - 8, $y + $bar * @$bars / 2 + 4, 'end', $name);
            for my $b (@$bars) {
                my ($p, $r, $at_least, $bound) = @$b;
                my ($x1, $x2) = $r >= 1 ? ($x->(1), $x->($r)) : ($x->($r), $x->(1));
                $svg .= sprintf qq{<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>\n},
                    $x1, $y, $x2 - $x1, $bar - 1, $colour[$p % @colour];
                if (defined $bound && $bound >= $from && $bound <= $to) {
                    $svg .= sprintf qq{<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#000" stroke-width="2"/>\n},
                        $x->($bound), $y - 1, $x->($bound), $y + $bar;
                }
                $text->($x2 + 4, $y + $bar - 2, 'start', ($at_least ? '> ' : '') . short($r) . 'x', ' font-size="10"');
                $y += $bar;
            }
            $y += $gap;
        }
        $y += 16;
    }
    my ($w, $h) = ($left + $plot + 80, $y + 10);
    open my $o, '>', $file or die "$file: $!\n";
    print $o qq{<svg xmlns="http://www.w3.org/2000/svg" width="$w" height="$h" viewBox="0 0 $w $h" },
        qq{font-family="sans-serif" font-size="12">\n},
        qq{<rect width="$w" height="$h" fill="#fff"/>\n},
        qq{<text x="$left" y="22" font-size="15" font-weight="bold">3D box indexes, peer / ours (longer is better for ours)</text>\n},
        $svg, "</svg>\n";
    close $o or die "$file: $!\n";
}
