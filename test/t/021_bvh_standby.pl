# A streaming standby answers from a bvh index as its primary: replay needs no code
# of this extension, and the library is loaded nowhere in advance.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my ($primary, $standby) = streaming_pair('bvh');
is($standby->safe_psql('postgres', 'SHOW shared_preload_libraries'), '', 'the library is not preloaded');

# same(name): the index is sound, the same on both nodes, and right; replay has
# compared each of its pages, so not every step needs all the questions
my %is_asked = map { $_ => 1 } 'start', 'pages deleted and used again', 'concurrent build', 'after that';
sub same
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby);
	is($primary->safe_psql('postgres', q{SELECT * FROM bvh_check('t_b', true)}), '', "$name: the index is sound");
	is($standby->safe_psql('postgres', q{SELECT bvh_stats('t_b')}), $primary->safe_psql('postgres', q{SELECT bvh_stats('t_b')}),
		"$name: and the same on both");
	is(answers($standby, 'postgres', 't', 'only'), answers($standby, 'postgres', 't', 'seq'), "$name: it answers as the table on the standby")
	  if $is_asked{$name};
	return;
}

like(($standby->psql('postgres', q{SELECT * FROM bvh_stats('u_b')}))[2], qr/cannot access unlogged indexes during recovery/, 'an unlogged index has no pages on a standby');
replay_changes($primary, $standby, \&same);

# queries while changes are replayed: in one snapshot, the index agrees with the table
$standby->safe_psql('postgres', 'SELECT 1');
$primary->safe_psql('postgres', q{
	CREATE PROCEDURE work(until timestamptz) LANGUAGE plpgsql AS $$
	DECLARE
		n int := 100000;
	BEGIN
		WHILE clock_timestamp() < until LOOP
			n := n + 200;
			INSERT INTO t SELECT n + id, b FROM (} . random_boxes(1, 200) . q{) r;
			DELETE FROM t WHERE id BETWEEN n - 1000 AND n - 900;
			UPDATE t SET b = box3d_translate(b, 3, 3, 3) WHERE id BETWEEN n - 600 AND n - 500;
			COMMIT;
		END LOOP;
	END $$;
	CREATE FUNCTION difference() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		q box3d := box3d_expand(box3d(random() * 1000, random() * 1000, random() * 1000), 150);
		query text := format('SELECT count(*), sum(box3d_hash_extended(b, 0)) FROM t WHERE b && %L', q);
		path text;
		want record;
		got record;
	BEGIN
		SET LOCAL jit = off;
		PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
		EXECUTE query INTO want;
		PERFORM set_config('enable_seqscan', 'off', true);
		FOREACH path IN ARRAY ARRAY['bitmap', 'index', 'indexonly'] LOOP
			PERFORM set_config('enable_bitmapscan', CASE path WHEN 'bitmap' THEN 'on' ELSE 'off' END, true),
				set_config('enable_indexscan', CASE path WHEN 'bitmap' THEN 'off' ELSE 'on' END, true),
				set_config('enable_indexonlyscan', CASE path WHEN 'indexonly' THEN 'on' ELSE 'off' END, true);
			EXECUTE query INTO got;
			IF got IS DISTINCT FROM want THEN
				RETURN format('%s, %s: %s, want %s', q, path, got, want);
			END IF;
		END LOOP;
		RETURN NULL;
	END $$;
});
$primary->wait_for_catchup($standby);
my $writer = IPC::Run::start(
	[ 'psql', '-X', '-q', '-d', $primary->connstr('postgres'), '-c', q{CALL work(clock_timestamp() + '3 s')} ],
	'<', \undef, '>', '/dev/null', '2>', '/dev/null');
my $nchecks = 0;
my @differences;
my $end = time() + 3;
while (time() < $end)
{
	$primary->safe_psql('postgres', 'VACUUM t') if $nchecks % 4 == 2;
	# a query that is in the way of replay may be cancelled, which is no difference
	my ($status, $out, $err) = $standby->psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; " . join(' ', ('SELECT difference();') x 5) . ' COMMIT;');
	push @differences, $out if $out =~ /\S/;
	push @differences, $err if $err =~ /ERROR/ && $err !~ /conflict with recovery/;
	$nchecks++;
}
$writer->finish;
is(join("\n", @differences), '', "queries during replay ($nchecks times)");
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id >= 100000');
same('after that');

$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(40001, 2000));
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: inserts');
$standby->safe_psql('postgres', 'VACUUM t');
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: vacuum');
$standby->safe_psql('postgres', 'INSERT INTO u ' . random_boxes(1, 2000));
is_agreed($standby, 'postgres', 'u', 'u_b', 'promoted: unlogged table');
is($standby->safe_psql('postgres', q{SELECT * FROM bvh_check('t_b', true); SELECT * FROM bvh_check('u_b', true)}), '', 'promoted: sound');
$standby->stop;

done_testing();
