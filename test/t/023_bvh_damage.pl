# bvh_check() finds what is wrong with a page, of each kind that it knows; builds
# report their phases, and leave nothing behind when they are cancelled.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# damage is to reach the checks, where pages have checksums, too
$node->append_conf('postgresql.conf', qq{
fsync = off
autovacuum = off
ignore_checksum_failure = on
max_wal_size = 2GB
wal_level = replica
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');

# ---------------------------------------------------------------------------
# planted damage: one index for each kind
# ---------------------------------------------------------------------------

my $block_size = $node->safe_psql('postgres', 'SHOW block_size');

# A page as a string, changed in place.  offset(page, item): where item's tuple is.
sub offset
{
	my ($page, $item) = @_;
	return unpack('L', substr($$page, 24 + 4 * ($item - 1), 4)) & 0x7fff;
}

# the box of a tuple: six doubles behind TID and t_info
sub set_lane
{
	my ($page, $item, $lane, $value) = @_;
	substr($$page, offset($page, $item) + 8 + 8 * $lane, 8) = pack('d', $value);
	return;
}

sub lane
{
	my ($page, $item, $lane) = @_;
	return unpack('d', substr($$page, offset($page, $item) + 8 + 8 * $lane, 8));
}

# flags of a GiST page, in its special space: leaf 1, deleted 2, follow right 8
sub set_flags
{
	my ($page, $and, $or) = @_;
	my $at = unpack('S', substr($$page, 16, 2)) + 12;
	my $flags = unpack('S', substr($$page, $at, 2));
	substr($$page, $at, 2) = pack('S', $flags & $and | $or);
	return;
}

# the line pointer of an item: offset, flags (1 normal, 3 dead), length
sub set_pointer
{
	my ($page, $item, $change) = @_;
	my $at = 24 + 4 * ($item - 1);
	my $bits = unpack('L', substr($$page, $at, 4));
	my %pointer = (offset => $bits & 0x7fff, flags => $bits >> 15 & 3, length => $bits >> 17);
	$change->(\%pointer);
	substr($$page, $at, 4) = pack('L', $pointer{offset} | $pointer{flags} << 15 | $pointer{length} << 17);
	return;
}

# its size and flags, behind its TID: size 0x1fff, variable width 0x4000, NULLs 0x8000
sub set_info
{
	my ($page, $item, $and, $or) = @_;
	my $at = offset($page, $item) + 6;
	substr($$page, $at, 2) = pack('S', unpack('S', substr($$page, $at, 2)) & $and | $or);
	return;
}

# the block that an inner item leads to
sub set_downlink
{
	my ($page, $item, $block) = @_;
	substr($$page, offset($page, $item), 4) = pack('SS', $block >> 16, $block & 0xffff);
	return;
}

# the page's right sibling, of a split that was not finished
sub set_right
{
	my ($page, $block) = @_;
	substr($$page, unpack('S', substr($$page, 16, 2)) + 8, 4) = pack('L', $block);
	set_flags($page, 0xffff, 8);
	return;
}

my $nan = 9**9**9 / 9**9**9;

# level of the page to damage, how, and what bvh_check() and bvh_check(..., true)
# must say: invariants, and a part of the text.  The sub has the page and its block.
my %damage = (
	deleted => [ 0, sub { set_flags($_[0], 0xffff, 2) }, '1', '1,7', qr/page is deleted, but block \d+ leads to it/ ],
	nan => [ 0, sub { set_lane($_[0], 3, 1, $nan) }, '2', '2,7', qr/item 3 is not a box: \(.*,NaN,/ ],
	minus_zero => [ 0, sub { set_lane($_[0], 3, 1, -0.0); substr(${ $_[0] }, offset($_[0], 3) + 8 + 15, 1) = "\x80" }, '2', '2,7', qr/item 3 is not a box/ ],
	inverted => [ 0, sub { set_lane($_[0], 2, 5, lane($_[0], 2, 2) - 0.5) }, '2', '2,7', qr/item 2 is not a box/ ],
	outside => [ 0, sub { set_lane($_[0], 1, 3, 12345) }, '3', '3,7', qr/item 1, \(.*\),\(12345,.*\), is outside of the parent's key .* in block \d+/ ],
	outside_inner => [ 1, sub { set_lane($_[0], 1, 0, -12345) }, '3', '3', qr/item 1, \(-12345,.*\), is outside/ ],
	too_small_inner => [ 1, sub { set_lane($_[0], 1, 3 + $_, lane($_[0], 1, $_)) foreach 0 .. 2 }, '3', '3', qr/is outside of the parent's key/ ],
	uneven => [ 1, sub { set_flags($_[0], 0xffff, 1) }, '4,9', '4,7,9', qr/leaf is at depth \d, others at \d|is outside/ ],
	twice => [ 1, sub { substr(${ $_[0] }, offset($_[0], 2), 6) = substr(${ $_[0] }, offset($_[0], 1), 6) }, '3,5|5', '3,5,7|5,7', qr/page is reached again, from block \d+/ ],
	empty => [ 1, sub { substr(${ $_[0] }, 12, 2) = pack('S', 24) }, '6', '6,7', qr/inner page is empty/ ],
	lost => [ 0, sub { substr(${ $_[0] }, 12, 2) = pack('S', unpack('S', substr(${ $_[0] }, 12, 2)) - 4) }, '', '7', qr/row \(\d+,\d+\) of the table, with key \(.*\), is not in the index/ ],
	other_box => [ 0, sub { set_lane($_[0], 4, 3 + $_, lane($_[0], 4, $_)) foreach 0 .. 2 }, '', '7', qr/is not in the index/ ],
	other_row => [ 0, sub { substr(${ $_[0] }, offset($_[0], 4), 6) = pack('SSS', 0, 9999, 1) }, '9', '7,9', qr/item 4 points to row \(9999,1\), which the table cannot have/ ],
	no_row => [ 0, sub { substr(${ $_[0] }, offset($_[0], 4) + 4, 2) = pack('S', 0) }, '9', '7,9', qr/item 4 points to row \(\d+,0\), which/ ],
	no_block => [ 1, sub { set_downlink($_[0], 2, 65537) }, '1', '1,7', qr/page does not exist, but block \d+ leads to it/ ],
	last_block => [ 1, sub { set_downlink($_[0], 2, 0xffffffff) }, '1', '1,7', qr/page does not exist, but block \d+ leads to it/ ],
	no_right => [ 0, sub { set_right($_[0], 0xffffffff) }, '1', '1', qr/page does not exist, but block \d+ leads to it/ ],
	root_below => [ 1, sub { set_downlink($_[0], 2, 0) }, '5', '5,7', qr/page is reached again, from block \d+/ ],
	itself_below => [ 1, sub { set_downlink($_[0], 2, $_[1]) }, '5', '5,7', qr/page is reached again, from block \d+/ ],
	itself_beside => [ 0, sub { set_right(@_) }, '5', '5', qr/page is reached again, from block \d+/ ],
	zeroed => [ 0, sub { ${ $_[0] } = "\0" x $block_size }, '8', '7,8', qr/page is zeroed/ ],
	foreign => [ 0, sub { substr(${ $_[0] }, 16, 2) = pack('S', $block_size) }, '8', '7,8', qr/page is not one of GiST's/ ],
	half_page => [ 0, sub { substr(${ $_[0] }, 19, 1) = pack('C', $block_size >> 9) }, '8', '7,8', qr/page is not one of GiST's/ ],
	not_gist => [ 0, sub { substr(${ $_[0] }, -2) = "\0\0" }, '8', '7,8', qr/page is not one of GiST's/ ],
	too_many => [ 0, sub { substr(${ $_[0] }, 12, 2) = pack('S', 24 + 4 * 1000) }, '8', '7,8', qr/page has 1000 items, more than fit/ ],
	pointer_high => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{offset} = $block_size - 24 }) }, '8', '7,8', qr/line pointer 3, at \d+ with length 56, is out of place/ ],
	pointer_low => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{offset} = 8 }) }, '8', '7,8', qr/line pointer 3, at 8 with length 56, is out of place/ ],
	pointer_odd => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{offset}-- }) }, '8', '7,8', qr/line pointer 3, .* is out of place/ ],
	pointer_long => [ 0, sub { set_pointer($_[0], 1, sub { $_[0]->{length} = 32767 }) }, '8', '7,8', qr/line pointer 1, at \d+ with length 32767, is out of place/ ],
	pointer_empty => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{length} = 0 }) }, '8', '7,8', qr/line pointer 3, at \d+ with length 0, is out of place/ ],
	pointer_unused => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{flags} = 0 }) }, '8', '7,8', qr/line pointer 3 is unused/ ],
	pointer_redirect => [ 1, sub { set_pointer($_[0], 1, sub { $_[0]->{flags} = 2 }) }, '8', '7,8', qr/line pointer 1 is unused/ ],
	pointer_inner => [ 1, sub { set_pointer($_[0], 1, sub { $_[0]->{offset} = 32760 }) }, '8', '7,8', qr/line pointer 1, at 32760 with length 56, is out of place/ ],
	# dead items are in their place until VACUUM
	dead => [ 0, sub { set_pointer($_[0], 3, sub { $_[0]->{flags} = 3 }) }, '', '', undef ],
	long_item => [ 0, sub { set_info($_[0], 3, 0xe000, 512) }, '8', '7,8', qr/item 3 has length 512, its line pointer 56/ ],
	short_item => [ 0, sub { set_info($_[0], 3, 0xe000, 48); set_pointer($_[0], 3, sub { $_[0]->{length} = 48 }) }, '8', '7,8', qr/item 3, of length 48, has no room for its key/ ],
	shorter_item => [ 0, sub { set_info($_[0], 3, 0xe000, 8); set_pointer($_[0], 3, sub { $_[0]->{length} = 8 }) }, '8', '7,8', qr/item 3, of length 8, has no room for its key/ ],
	with_nulls => [ 0, sub { set_info($_[0], 3, 0xffff, 0x8000); substr(${ $_[0] }, offset($_[0], 3) + 8, 1) = "\x01" }, '8', '7,8', qr/item 3, of length 56, has no room for its key/ ],
	bare_nulls => [ 0, sub { set_info($_[0], 3, 0, 0x8000 | 8); set_pointer($_[0], 3, sub { $_[0]->{length} = 8 }) }, '8', '7,8', qr/item 3, of length 8, has no room for its key/ ],
	no_downlink => [ 1, sub { substr(${ $_[0] }, offset($_[0], 2) + 4, 2) = pack('S', 1) }, '8', '7,8', qr/item 2 is not a downlink/ ],
	# a leaf that says it is none
	no_leaf => [ 0, sub { set_flags($_[0], 0xfffe, 0) }, '8', '7,8', qr/item 1 is not a downlink/ ],
	# indexes whose names begin so have further columns, id and then s
	columns_long => [ 0, sub { substr(${ $_[0] }, offset($_[0], 3) + 8 + 48 + 4, 1) = pack('C', 2 * 127 + 1) }, '8', '7,8', qr/item 3, of length \d+, has columns that do not fit/ ],
	columns_huge => [ 0, sub { substr(${ $_[0] }, offset($_[0], 3) + 8 + 48 + 4, 4) = pack('L', 0x3ffffffc) }, '8', '7,8', qr/item 3, of length \d+, has columns that do not fit/ ],
	columns_elsewhere => [ 0, sub { substr(${ $_[0] }, offset($_[0], 3) + 8 + 48 + 4, 1) = "\x01" }, '8', '7,8', qr/item 3, of length \d+, has columns that do not fit/ ],
	columns_cut => [ 0, sub { set_info($_[0], 3, 0xe000, 56); set_pointer($_[0], 3, sub { $_[0]->{length} = 56 }) }, '8', '7,8', qr/item 3, of length 56, has columns that do not fit/ ],
	columns_sound => [ 0, sub { }, '', '', undef ],
	sound => [ 0, sub { }, '', '', undef ]);
# the header of a page is checked by PostgreSQL when it is read, which ends the check
my %errors = (
	header => [ 0, sub { substr(${ $_[0] }, 12, 2) = pack('S', $block_size + 8) }, qr/invalid page in block \d+/ ]);

my %target;
my $setup = '';
my $targets = '';
foreach my $name (sort(keys %damage, keys %errors))
{
	my $level = ($damage{$name} // $errors{$name})->[0];
	my $columns = $name =~ /^columns/ ? 'INCLUDE (id, s)' : '';
	# small pages make four levels
	$setup .= qq{
		CREATE TABLE d_$name AS SELECT i AS id, box3d(x, y, z, x + 5, y + 5, z + 5) AS b, 'row ' || i AS s
			FROM (SELECT i, random() * 1000 + 1 x, random() * 1000 + 1 y, random() * 1000 + 1 z FROM generate_series(1, 1500) i) s;
		CREATE INDEX ${name}_b ON d_$name USING bvh (b) $columns WITH (fillfactor = 10);
	};
	$targets .= "SELECT '$name', pg_relation_filepath('${name}_b'), block FROM (SELECT block FROM bvh_nodes('${name}_b') WHERE level = $level ORDER BY block OFFSET 5 LIMIT 1) n;\n";
}
$node->safe_psql('postgres', $setup);
foreach my $line (split /\n/, $node->safe_psql('postgres', $targets))
{
	my ($name, @place) = split /\|/, $line;
	$target{$name} = \@place;
}
# what a call says in the end: its answer, or its complaint
$node->safe_psql('postgres', q{
	CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
		detail text;
		hint text;
	BEGIN
		EXECUTE query INTO answer;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		RETURN concat_ws('; ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
	END $$;
	CREATE FUNCTION invariants(index regclass, heapallindexed bool) RETURNS text LANGUAGE sql AS $$
		SELECT coalesce(string_agg(DISTINCT invariant::text, ',' ORDER BY invariant::text), '') FROM bvh_check(index, heapallindexed) $$;
});
# the union of pages with NULL keys alone is NULL
$node->safe_psql('postgres', q{
	CREATE TABLE below_null AS SELECT i AS id, NULL::box3d AS b FROM generate_series(1, 10000) i;
	CREATE INDEX below_null_b ON below_null USING bvh (b);
});
my @null_target = split /\|/, $node->safe_psql('postgres', q{SELECT pg_relation_filepath('below_null_b'), max(block) FROM bvh_nodes('below_null_b') WHERE level = 0});
my @box_source = split /\|/, $node->safe_psql('postgres', q{SELECT pg_relation_filepath('sound_b'), max(block) FROM bvh_nodes('sound_b') WHERE level = 0});

$node->stop;
sub read_page
{
	my ($path, $block) = @_;
	my $page;
	open my $f, '<:raw', $node->data_dir . "/$path" or die "$path: $!";
	seek $f, $block * $block_size, 0;
	read($f, $page, $block_size) == $block_size or die "no block $block in $path";
	close $f;
	return $page;
}

sub write_page
{
	my ($path, $block, $page) = @_;
	open my $f, '+<:raw', $node->data_dir . "/$path" or die "$path: $!";
	seek $f, $block * $block_size, 0;
	print $f $page;
	close $f or die "$path: $!";
	return;
}

foreach my $name (keys %target)
{
	my $page = read_page(@{ $target{$name} });
	($damage{$name} // $errors{$name})->[1]->(\$page, $target{$name}->[1]);
	write_page(@{ $target{$name} }, $page);
}
write_page(@null_target, read_page(@box_source));
$node->start;

foreach my $name (sort keys %damage)
{
	my (undef, undef, $without, $with, $text) = @{ $damage{$name} };
	my ($pages, $rows, $nowhere, $stats, $nodes, @problems) = split /\n/, $node->safe_psql('postgres', qq{
		SELECT invariants('${name}_b', false);
		SELECT invariants('${name}_b', true);
		SELECT count(*) FROM bvh_check('${name}_b') WHERE block IS NULL OR problem IS NULL;
		SELECT outcome('SELECT count(*) > 0 FROM bvh_stats(''${name}_b'')');
		SELECT outcome('SELECT count(*) > 0 FROM bvh_nodes(''${name}_b'')');
		SELECT problem FROM bvh_check('${name}_b', true)});
	like($pages, qr/^(?:$without)$/, "$name: invariants of the pages");
	like($rows, qr/^(?:$with)$/, "$name: and of the rows");
	is($nowhere, '0', "$name: says where");
	like(join("\n", @problems), $text, "$name: what it says") if $text;

	# the others look at what can be looked at, or say where it cannot
	my $complaint = $without eq '8' || $name =~ /^(?:no_block|last_block|no_right)$/ ? qr/^XX002; index "${name}_b" is damaged at block \d+; .*\.; Please REINDEX it\.$/ : qr/^true$/;
	like($stats, $complaint, "$name: bvh_stats()");
	like($nodes, $complaint, "$name: bvh_nodes()");
}
# a scan looks at less, but does not go where there is no page, or beyond one
my %scans = (too_many => qr/^XX002; a page of index "too_many_b" has 1000 items, which do not fit on it; Please REINDEX it\.$/,
	last_block => qr/^XX002; index "last_block_b" has a link to no page; Please REINDEX it\.$/);
foreach my $name (sort keys %scans)
{
	foreach my $query ("SELECT count(*) FROM d_$name WHERE b && box3d(-1e9,-1e9,-1e9, 1e9,1e9,1e9)",
		"SELECT count(*) FROM (SELECT FROM d_$name ORDER BY b <-> box3d(0,0,0)) s")
	{
		my ($before, $outcome, $after) = split /\n/, $node->safe_psql('postgres', qq{
			SET enable_seqscan = off;
			SET enable_sort = off;
			SELECT pg_relation_size('${name}_b');
			SELECT outcome(\$\$$query\$\$);
			SELECT pg_relation_size('${name}_b')});
		like($outcome, $scans{$name}, "$name: a scan");
		is($after, $before, "$name: and the index stays as it was");
	}
}
is($node->safe_psql('postgres', q{SELECT DISTINCT invariant FROM bvh_check('below_null_b')}), '3', 'below_null: invariants of the pages');
like($node->safe_psql('postgres', q{SELECT problem FROM bvh_check('below_null_b')}), qr/is below a NULL key in block \d+/, 'below_null: what it says');
foreach my $name (sort keys %errors)
{
	my ($status, $out, $err) = $node->psql('postgres', "SELECT * FROM bvh_check('${name}_b')");
	like($err, $errors{$name}->[2], "$name: an error");
}

# a number that is none hides itself, not its neighbours
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM d_nan WHERE b && box3d(0, 0, 0, 2000, 2000, 2000)'), '1499', 'nan: the other boxes are found');
is($node->safe_psql('postgres', 'SELECT count(*) FROM d_nan'), '1500', 'nan: the table is as it was');
$node->safe_psql('postgres', 'REINDEX INDEX nan_b');
is($node->safe_psql('postgres', q{SELECT * FROM bvh_check('nan_b', true)}), '', 'nan: REINDEX repairs it');

# ---------------------------------------------------------------------------
# phases of a build
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE big AS SELECT i AS id, box3d(x, y, z, x + 5, y + 5, z + 5) AS b
		FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 400000) i) s;
	CREATE TABLE phases (run text, place serial, phase text, done bigint, total bigint);
	-- note each change until the build is over, or cancel it in a phase
	CREATE PROCEDURE watch(run text, stop_at text DEFAULT NULL) LANGUAGE plpgsql AS $$
	DECLARE
		last record;
		p record;
		is_begun bool := false;
	BEGIN
		FOR i IN 1 .. 60000 LOOP
			SELECT pid, phase, tuples_done, tuples_total INTO p FROM pg_stat_progress_create_index WHERE relid = 'big'::regclass;
			EXIT WHEN NOT FOUND AND is_begun;
			IF FOUND AND p IS DISTINCT FROM last THEN
				is_begun := true;
				last := p;
				INSERT INTO phases (run, phase, done, total) VALUES (watch.run, p.phase, p.tuples_done, p.tuples_total);
				IF p.phase = 'building index: ' || stop_at THEN
					PERFORM pg_cancel_backend(p.pid);
				END IF;
			END IF;
			COMMIT;
			PERFORM pg_sleep(0.001);
		END LOOP;
	END $$;
});

# build(run, settings, stop_at): a build that is watched; returns its complaints
sub build
{
	my ($run, $settings, $stop_at) = @_;
	my ($out, $err) = ('', '');
	my $stop = defined $stop_at ? "'$stop_at'" : 'NULL';
	my $watcher = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "CALL watch('$run', $stop)" ],
		'<', \undef, '>', \$out, '2>', \$err);
	my (undef, undef, $complaints) = $node->psql('postgres', "$settings CREATE INDEX big_b ON big USING bvh (b)");
	$watcher->finish;
	is($err, '', "$run: watched");
	return $complaints;
}

my @known = ('initializing', map { "building index: $_" } 'initializing', 'scanning table', 'sorting boxes', 'packing leaf pages', 'packing upper levels');
foreach my $run ('in memory', 'sorted')
{
	is(build($run, $run eq 'sorted' ? "SET maintenance_work_mem = '1MB';" : ''), '', "$run: built");
	my %seen = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', "SELECT DISTINCT phase FROM phases WHERE run = '$run'");
	my @wanted = ('scanning table', 'packing leaf pages');
	push @wanted, 'sorting boxes' if $run eq 'sorted';
	ok($seen{"building index: $_"}, "$run: phase $_") foreach @wanted;
	my %unknown = %seen;
	delete @unknown{@known};
	is(join(', ', sort keys %unknown), '', "$run: no other phases");
	is($node->safe_psql('postgres', "SELECT count(*) FROM phases WHERE run = '$run' AND phase ~ 'packing leaf' AND (done > total OR total NOT IN (0, 400000))"),
		'0', "$run: never more done than there is");
	cmp_ok($node->safe_psql('postgres', "SELECT max(done) FROM phases WHERE run = '$run' AND phase ~ 'packing leaf'"), '>', 100000, "$run: work is counted");
	is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT done, lag(done) OVER (ORDER BY place) AS before FROM phases WHERE run = '$run' AND phase ~ 'packing leaf') s WHERE done < before"),
		'0', "$run: and never goes back");
	is($node->safe_psql('postgres', q{SELECT * FROM bvh_check('big_b', true)}), '', "$run: sound");
	$node->safe_psql('postgres', 'DROP INDEX big_b');
}

# ---------------------------------------------------------------------------
# a build that is cancelled, in each of them
# ---------------------------------------------------------------------------

# files of the database, but for what statistics and catalogs do with theirs
sub files
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $oid = $node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
	my $catalog = $node->safe_psql('postgres', q{SELECT string_agg(pg_relation_filenode(oid)::text, '|') FROM pg_class WHERE pg_relation_filenode(oid) IS NOT NULL});
	return join(' ', sort grep { /^\d+$/ && !/^(?:$catalog)$/ } slurp_dir($node->data_dir . "/base/$oid"));
}
my $files = files();
foreach my $phase ('scanning table', 'sorting boxes', 'packing leaf pages')
{
	like(build("cancelled while $phase", $phase eq 'sorting boxes' ? "SET maintenance_work_mem = '1MB';" : '', $phase),
		qr/canceling statement due to user request/, "$phase: cancelled");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname = 'big_b'}), '0', "$phase: no index");
	is(files(), $files, "$phase: no files");
	is(join(' ', grep { /^pgsql_tmp/ } map { slurp_dir($_) } grep { -d $_ } $node->data_dir . '/base/pgsql_tmp'), '', "$phase: no temporary files");
}
foreach my $timeout (30, 200)
{
	my (undef, undef, $err) = $node->psql('postgres', "SET statement_timeout = ${timeout}; CREATE INDEX big_b ON big USING bvh (b) INCLUDE (id)");
	like($err, qr/canceling statement due to statement timeout/, "timeout of $timeout ms");
	is(files(), $files, "timeout of $timeout ms: no files");
}
$node->safe_psql('postgres', 'CREATE INDEX big_b ON big USING bvh (b)');
is($node->safe_psql('postgres', q{SELECT * FROM bvh_check('big_b', true)}), '', 'then a build succeeds');

$node->stop;
done_testing();
