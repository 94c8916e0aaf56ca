# After a crash in the middle of inserts, deletes, vacuum and index builds, the
# index answers as the table does, and every transaction is there as a whole.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# a checkpoint only when asked for, so that recovery has something to do
$node->append_conf('postgresql.conf', qq{
fsync = off
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
	CREATE INDEX t_b ON t USING gist (b);
	CREATE TABLE batches (batch serial PRIMARY KEY);
	CREATE UNLOGGED TABLE u (id int, b box3d);
	CREATE INDEX u_b ON u USING gist (b);
	INSERT INTO u } . random_boxes(1, 1000) . q{;
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
			COMMIT;
		END LOOP;
	END $$;
});

# crash_during(command, ...): start the commands, stop the server at once
# while they run, and start it again
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
	# until the work is well under way
	$node->poll_query_until('postgres',
		'SELECT count(*) > (SELECT coalesce(max(mark), 0) + 20 FROM marks) FROM batches')
	  or die 'no work is done';
	$node->stop('immediate');
	foreach my $h (@running)
	{
		eval { $h->finish };
	}
	$node->start;
	$node->safe_psql('postgres', 'INSERT INTO marks SELECT count(*) FROM batches');
	return;
}

$node->safe_psql('postgres', 'CREATE TABLE marks (mark int); CHECKPOINT');

crash_during('CALL work()', 'CALL work()');
is_agreed($node, 'postgres', 't', 't_b', 'inserts: the index answers as the table');
is($node->safe_psql('postgres',
		'SELECT count(*) FROM (SELECT batch FROM t GROUP BY batch HAVING count(*) <> 100) s'),
	'0', 'inserts: transactions are whole');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t LEFT JOIN batches USING (batch) WHERE batches.batch IS NULL'),
	'0', 'inserts: nothing of others');

# an unlogged table is empty after a crash, and its index is an empty one
is($node->safe_psql('postgres', 'SELECT count(*) FROM u'), '0', 'unlogged: empty');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM u WHERE b && box3d(0, 0, 0, 999, 999, 999)'),
	'0', 'unlogged: so is the index');
$node->safe_psql('postgres', 'INSERT INTO u ' . random_boxes(1, 2000));
is_agreed($node, 'postgres', 'u', 'u_b', 'unlogged: usable again');

crash_during('CALL work()', 'VACUUM t', 'REINDEX INDEX t_b');
is_agreed($node, 'postgres', 't', 't_b', 'with VACUUM and REINDEX: the index answers as the table');

crash_during('CALL work()', 'CREATE INDEX CONCURRENTLY t_b2 ON t USING gist (b)');
$node->safe_psql('postgres', 'DROP INDEX IF EXISTS t_b2');
is_agreed($node, 'postgres', 't', 't_b', 'with CREATE INDEX CONCURRENTLY: the index answers as the table');

# pages that were deleted and used again
$node->safe_psql('postgres', q{DELETE FROM t WHERE b << box3d(950, 0, 0)});
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'SELECT txid_current()');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'INSERT INTO t SELECT id, 0, box3d_translate(b, 2000, 0, 0) FROM (' . random_boxes(1, 5000) . ') r');
$node->stop('immediate');
$node->start;
is_agreed($node, 'postgres', 't', 't_b', 'deleted pages: the index answers as the table');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE b && box3d(2000, 0, 0, 3100, 1100, 1100)'),
	'5000', 'deleted pages: the new rows are found');

# and an orderly restart
$node->restart;
is_agreed($node, 'postgres', 't', 't_b', 'after a restart');
$node->stop;

done_testing();
