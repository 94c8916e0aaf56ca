# Moving objects with fat boxes: most updates are heap-only, the index does not grow, and
# queries find what a plain loop over the tight boxes finds, pairs of what moved included.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
fsync = off
jit = off
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');

# check_queries(table, side, name): objects by the index, and by a plain loop over tight boxes
sub check_queries
{
	my ($table, $side, $name) = @_;
	my $queries = qq{(SELECT box3d_expand(tight, $side) q FROM $table ORDER BY id % 17, id LIMIT 40) s};
	my $by_index = $node->safe_psql('postgres', qq{
		SET enable_seqscan = off;
		SELECT q, count(*), sum(id) FROM $queries, LATERAL (SELECT id FROM $table WHERE fat && q AND tight && q OFFSET 0) t
		GROUP BY q ORDER BY q});
	my $by_loop = $node->safe_psql('postgres', qq{
		SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
		SELECT q, count(*), sum(id) FROM $queries, LATERAL (SELECT id FROM $table WHERE tight && q OFFSET 0) t
		GROUP BY q ORDER BY q});
	is($by_index, $by_loop, "$name: queries find what is there");
	cmp_ok(scalar(split(/\n/, $by_loop)), '>', 20, "$name: and there is something");
	is($node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE NOT fat @> tight"), '0',
		"$name: every fat box contains its tight one");
	return;
}

# pairs of which one at least is in "moved", by the recipe and by a plain loop
sub check_pairs
{
	my ($table, $name) = @_;
	my $pairs = 'SELECT count(*), sum(least(a, b)::numeric * greatest(a, b)), count(DISTINCT (least(a, b), greatest(a, b)))';
	foreach my $join ('on', 'off')
	{
		is($node->safe_psql('postgres', qq{
			SET bvhindex.enable_join = $join;
			$pairs FROM (SELECT m.id AS a, o.id AS b
				FROM moved JOIN $table m USING (id)
				JOIN $table o ON m.fat && o.fat AND m.tight && o.tight AND m.id <> o.id
				WHERE m.id < o.id OR NOT EXISTS (SELECT FROM moved WHERE moved.id = o.id)) p}),
			$node->safe_psql('postgres', qq{
			SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET bvhindex.enable_join = off;
			$pairs FROM (SELECT x.id AS a, y.id AS b FROM $table x JOIN $table y ON x.tight && y.tight AND x.id < y.id
				WHERE x.id IN (SELECT id FROM moved) OR y.id IN (SELECT id FROM moved)) p}),
			"$name: pairs of what moved, each once, BVH join $join");
	}
	return;
}

# updates so far, part of them heap-only, size of the index
sub state_of
{
	my ($table) = @_;
	return split /\|/, $node->safe_psql('postgres', qq{
		SELECT n_tup_upd, n_tup_hot_upd::float8 / greatest(n_tup_upd, 1), pg_relation_size('${table}_fat')
		FROM pg_stat_user_tables WHERE relname = '$table'});
}

sub check_state
{
	my ($table, $before, $nupdates, $name) = @_;
	my ($n, $hot, $size) = state_of($table);
	is($n, $nupdates, "$name: $nupdates updates");
	cmp_ok($hot, '>', 0.9, "$name: heap-only: $hot");
	# a page more may be split at any time
	cmp_ok($size, '<=', $before * 1.1 + 8192, "$name: the index had $before bytes, and has $size");
	return;
}

# ---------------------------------------------------------------------------
# two people, each bone a row, 30 updates a second
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', '\i test/data/load.sql');
$node->safe_psql('postgres', q{
	CREATE TABLE frames AS SELECT take, frame, bone, b, row_number() OVER (PARTITION BY take, bone ORDER BY frame) AS step
		FROM mocap_bones JOIN mocap_bones_attr USING (id);
	CREATE INDEX ON frames (step);
	CREATE TABLE bones (id serial PRIMARY KEY, take text, bone text, tight box3d, fat box3d, step float8[]) WITH (fillfactor = 30);
	CREATE TRIGGER fatten BEFORE INSERT OR UPDATE ON bones FOR EACH ROW EXECUTE FUNCTION bvh_fatten(fat, tight, 4, step);
	INSERT INTO bones (take, bone, tight) SELECT take, bone, b FROM frames WHERE step = 1;
	CREATE INDEX bones_fat ON bones USING bvh (fat);
	ANALYZE;
	CREATE PROCEDURE play(first int, last int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR s IN first .. last LOOP
			UPDATE bones SET tight = f.b,
				step = ARRAY[box3d_xmin(f.b) - box3d_xmin(tight), box3d_ymin(f.b) - box3d_ymin(tight), box3d_zmin(f.b) - box3d_zmin(tight)]
			FROM frames f WHERE f.step = s AND f.take = bones.take AND f.bone = bones.bone;
			COMMIT;
		END LOOP;
	END $$;
});
# in rounds, each with the VACUUM that autovacuum would do; the index, packed at first,
# finds its size in the first of them
my $last = $node->safe_psql('postgres', 'SELECT max(step) FROM frames');
my $before;
for (my $first = 2; $first <= $last; $first += 100)
{
	my $end = $first + 99 < $last ? $first + 99 : $last;
	$node->safe_psql('postgres', "CALL play($first, $end)");
	$node->safe_psql('postgres', 'VACUUM bones');
	check_queries('bones', 5, "bones, to step $end") if $first % 400 == 2;
	(undef, undef, $before) = state_of('bones') if $first == 202;
}
check_state('bones', $before, $node->safe_psql('postgres', 'SELECT count(*) FROM frames WHERE step > 1'), 'bones');
$node->safe_psql('postgres', q{
	CREATE TABLE moved AS SELECT id FROM bones WHERE bone ~ 'Hand|Foot|Arm';
	ANALYZE moved;
});
check_pairs('bones', 'bones');

# ---------------------------------------------------------------------------
# random walks
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	SELECT setseed(0.75);
	CREATE TABLE walkers (id int PRIMARY KEY, tight box3d, fat box3d) WITH (fillfactor = 40);
	CREATE TRIGGER fatten BEFORE INSERT OR UPDATE ON walkers FOR EACH ROW EXECUTE FUNCTION bvh_fatten(fat, tight, 6);
	INSERT INTO walkers SELECT i, box3d(x, y, z, x + 2, y + 2, z + 2)
		FROM (SELECT i, random() * 150 x, random() * 150 y, random() * 150 z FROM generate_series(1, 5000) i) s;
	CREATE INDEX walkers_fat ON walkers USING bvh (fat);
	VACUUM ANALYZE walkers;
	CREATE PROCEDURE walk(nsteps int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR s IN 1 .. nsteps LOOP
			UPDATE walkers SET tight = box3d_translate(tight, random() * 2 - 1, random() * 2 - 1, random() * 2 - 1);
			COMMIT;
		END LOOP;
	END $$;
});
foreach my $round (1 .. 8)
{
	$node->safe_psql('postgres', 'CALL walk(15)');
	check_queries('walkers', 5, "walkers, round $round") if $round % 2 == 0;
	$node->safe_psql('postgres', 'VACUUM walkers');
	(undef, undef, $before) = state_of('walkers') if $round == 4;
}
check_state('walkers', $before, 8 * 15 * 5000, 'walkers');
is($node->safe_psql('postgres', q{SELECT * FROM bvh_check('walkers_fat', true)}), '', 'walkers: the index is sound');
$node->safe_psql('postgres', 'TRUNCATE moved; INSERT INTO moved SELECT id FROM walkers WHERE id % 7 = 0; ANALYZE moved');
check_pairs('walkers', 'walkers');

# categories beside the key, and what stays apart from what moves
$node->safe_psql('postgres', q{
	ALTER TABLE walkers ADD kind int;
	UPDATE walkers SET kind = id % 8;
	CREATE INDEX walkers_kind ON walkers USING bvh (fat) INCLUDE (id, kind);
	CREATE INDEX walkers_static ON walkers USING bvh (fat) WHERE kind = 0;
	CREATE INDEX walkers_moving ON walkers USING bvh (fat) WHERE kind <> 0;
	VACUUM ANALYZE walkers;
});
my $masked = 'SELECT count(*), sum(id) FROM walkers WHERE fat && box3d(20, 20, 20, 70, 70, 70) AND kind & 5 <> 0';
like($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) $masked"),
	qr/Index Only Scan using walkers_kind/, 'categories: the index alone answers');
is($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; $masked"),
	$node->safe_psql('postgres', "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; $masked"),
	'categories: as the table does');
my $apart = 'SELECT count(*), sum(m.id::bigint * o.id) FROM walkers m JOIN walkers o ON m.fat && o.fat AND m.tight && o.tight AND m.id <> o.id
	WHERE m.kind <> 0 AND (o.kind = 0 OR (o.kind <> 0 AND m.id < o.id))';
is($node->safe_psql('postgres', $apart),
	$node->safe_psql('postgres', q{SET bvhindex.enable_join = off; SET enable_indexscan = off; SET enable_bitmapscan = off;
	SELECT count(*), sum(x.id::bigint * y.id) FROM walkers x JOIN walkers y ON x.tight && y.tight AND x.id < y.id WHERE x.kind <> 0 OR y.kind <> 0}),
	'what stays is not paired with what stays, and everything else once');

$node->stop;
done_testing();
