# After a crash at any point of inserts, deletes, vacuum and builds, a bvh index is
# sound, and answers as the table does; also where a build was not logged.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

use BvhTest;

my $seed = $ENV{SEED} // time();
srand($seed);
note("SEED=$seed");

# is_sound(node, index, name): bvh_check() with all rows of the table
sub is_sound
{
	my ($node, $index, $name) = @_;
	is($node->safe_psql('postgres', "SELECT * FROM bvh_check('$index', true)"), '', $name);
	return;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# a checkpoint only when asked for, so that recovery has something to do
$node->append_conf('postgresql.conf', qq{
fsync = off
wal_level = replica
full_page_writes = on
checkpoint_timeout = 1h
max_wal_size = 2GB
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
is($node->safe_psql('postgres', 'SHOW shared_preload_libraries'), '', 'the library is not preloaded');

$node->safe_psql('postgres', q{
	CREATE TABLE t (id int, batch int, b box3d);
	CREATE INDEX t_b ON t USING bvh (b);
	CREATE INDEX t_i ON t USING bvh (box3d_expand(b, 1)) INCLUDE (batch) WHERE id % 2 = 0;
	CREATE TABLE batches (batch serial PRIMARY KEY);
	CREATE UNLOGGED TABLE u (id int, b box3d);
	INSERT INTO u } . random_boxes(1, 3000) . q{;
	CREATE INDEX u_b ON u USING bvh (b);
	CREATE PROCEDURE work() LANGUAGE plpgsql AS $$
	DECLARE
		n int;
	BEGIN
		LOOP
			INSERT INTO batches DEFAULT VALUES RETURNING batch INTO n;
			INSERT INTO t SELECT id, n, b FROM (} . random_boxes(1, 100) . q{) r;
			IF n % 3 = 0 THEN
				DELETE FROM t WHERE batch = n - 2;
			END IF;
			IF n % 5 = 0 THEN
				UPDATE t SET b = box3d_translate(b, 1, 1, 1) WHERE batch = n - 1;
			END IF;
			COMMIT;
		END LOOP;
	END $$;
});
$node->safe_psql('postgres', 'CHECKPOINT');

# crash_during(command, ...): start the commands, stop the server at once some
# time later, and start it again
sub crash_during
{
	my @commands = @_;
	my @running;

	foreach my $command (@commands)
	{
		push @running,
		  IPC::Run::start(
			[ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c', $command ],
			'<', \undef, '>', '/dev/null', '2>', '/dev/null');
	}
	usleep(150_000 + int(rand(300_000)));
	$node->stop('immediate');
	foreach my $h (@running)
	{
		eval { $h->finish };
	}
	$node->start;
	return;
}

my @work = ('CALL work()', 'CALL work()');
foreach my $round (1 .. 3)
{
	crash_during(@work);
	is_sound($node, 't_b', "inserts, round $round: the index is sound");
	is_sound($node, 't_i', "inserts, round $round: so is the partial one");
}
is_agreed($node, 'postgres', 't', 't_b', 'inserts: the index answers as the table');
is($node->safe_psql('postgres',
		'SELECT count(*) FROM (SELECT batch FROM t GROUP BY batch HAVING count(*) <> 100) s'),
	'0', 'inserts: transactions are whole');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM batches'), '>', 10, 'inserts: some were done');

# what a crash left behind does no harm to what comes after it
$node->safe_psql('postgres', 'INSERT INTO t SELECT id, 0, b FROM (' . random_boxes(1, 5000) . ') r');
is_sound($node, 't_b', 'inserts after the crash: the index is sound');

# an unlogged table is empty after a crash, and its index is an empty one
is($node->safe_psql('postgres', q{SELECT height, tuples FROM bvh_stats('u_b')}), '0|0', 'unlogged: the index is empty');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM u WHERE b && box3d(0, 0, 0, 999, 999, 999)'),
	'0', 'unlogged: and answers so');
$node->safe_psql('postgres', 'INSERT INTO u ' . random_boxes(1, 2000));
is_agreed($node, 'postgres', 'u', 'u_b', 'unlogged: usable again');
is_sound($node, 'u_b', 'unlogged: and sound');

foreach my $round (1 .. 2)
{
	crash_during(@work, 'VACUUM t', 'REINDEX INDEX t_i');
	is_sound($node, $_, "VACUUM and REINDEX, round $round: $_ is sound") foreach 't_b', 't_i';
}
crash_during(@work, 'CREATE INDEX CONCURRENTLY t_b2 ON t USING bvh (b)');
is_sound($node, 't_b', 'CREATE INDEX CONCURRENTLY: the other index is sound');
$node->safe_psql('postgres', 'DROP INDEX IF EXISTS t_b2');

# pages that were deleted and used again
$node->safe_psql('postgres', q{DELETE FROM t WHERE b << box3d(950, 0, 0)});
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'SELECT txid_current()');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'INSERT INTO t SELECT id, 0, box3d_translate(b, 2000, 0, 0) FROM (' . random_boxes(1, 5000) . ') r');
$node->stop('immediate');
$node->start;
is_agreed($node, 'postgres', 't', 't_b', 'deleted pages: the index answers as the table');
is_sound($node, $_, "deleted pages: $_ is sound") foreach 't_b', 't_i';

# a build that was committed, and one that was not
$node->safe_psql('postgres', 'CREATE TABLE made AS ' . random_boxes(1, 20000));
$node->safe_psql('postgres', 'CREATE INDEX made_b ON made USING bvh (b)');
$node->stop('immediate');
$node->start;
is_sound($node, 'made_b', 'a build before the crash');
$node->stop;

# ---------------------------------------------------------------------------
# what wal_level = minimal does not log
# ---------------------------------------------------------------------------

my $minimal = PostgreSQL::Test::Cluster->new('minimal');
$minimal->init;
# with fsync, as files are synced instead
$minimal->append_conf('postgresql.conf', qq{
wal_level = minimal
max_wal_senders = 0
fsync = on
checkpoint_timeout = 1h
autovacuum = off
});
$minimal->start;
$minimal->safe_psql('postgres', 'CREATE EXTENSION bvhindex; CHECKPOINT');
# small enough to be logged at commit, and too large for that; with inserts into
# the index within the same transaction, and after it
foreach my $n (100, 40000)
{
	$minimal->safe_psql('postgres', qq{
		BEGIN;
		CREATE TABLE m$n AS } . random_boxes(1, $n) . qq{;
		CREATE INDEX m${n}_b ON m$n USING bvh (b);
		INSERT INTO m$n } . random_boxes(100001, 1500) . qq{;
		COMMIT;
		CREATE TABLE later$n AS } . random_boxes(1, $n) . qq{;
		CREATE INDEX later${n}_b ON later$n USING bvh (b);
	});
	$minimal->safe_psql('postgres', "INSERT INTO later$n " . random_boxes(200001, 1500));
}
$minimal->stop('immediate');
$minimal->start;
foreach my $n (100, 40000)
{
	foreach my $table ("m$n", "later$n")
	{
		is($minimal->safe_psql('postgres', "SELECT count(*) FROM $table"), $n + 1500, "wal_level = minimal: $table has its rows");
		is_sound($minimal, "${table}_b", "wal_level = minimal: ${table}_b is sound");
		is($minimal->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*) FROM $table WHERE b && box3d(0, 0, 0, 1005, 1005, 1005)"),
			$n + 1500, "wal_level = minimal: ${table}_b answers");
	}
}
# pages that were not logged, changed by what is
$minimal->safe_psql('postgres', 'INSERT INTO m40000 ' . random_boxes(300001, 3000));
$minimal->safe_psql('postgres', 'DELETE FROM m40000 WHERE id % 3 = 0');
$minimal->safe_psql('postgres', 'VACUUM m40000');
$minimal->safe_psql('postgres', 'REINDEX INDEX later40000_b');
$minimal->stop('immediate');
$minimal->start;
is_sound($minimal, $_, "wal_level = minimal, again: $_ is sound") foreach 'm40000_b', 'later40000_b';
$minimal->stop;

done_testing();
