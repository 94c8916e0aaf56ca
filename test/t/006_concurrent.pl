# Sessions that insert, move and delete, while indexes are built, rebuilt and
# vacuumed: in every snapshot, and at the end, the index answers as the table.

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
$node->append_conf('postgresql.conf', qq{
fsync = off
autovacuum_naptime = 1s
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int, b box3d);
	CREATE INDEX t_id ON t (id);
	CREATE INDEX t_b ON t USING gist (b);
	INSERT INTO t } . random_boxes(1, 5000) . q{;

	-- in one snapshot, what the index finds and what is there
	CREATE FUNCTION compare(q box3d) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		by_index bigint;
		by_table bigint;
	BEGIN
		SET LOCAL enable_seqscan = off;
		SELECT count(*) INTO by_index FROM t WHERE b && q;
		SET LOCAL enable_seqscan = on;
		-- the function itself never uses an index
		SELECT count(*) INTO by_table FROM t WHERE box3d_overlaps(b, q);
		IF by_index <> by_table THEN
			RAISE EXCEPTION 'index % table %', by_index, by_table;
		END IF;
	END $$;
});

my $change = $node->basedir . '/change.sql';
append_to_file($change, q{
\set id random(1, 10000)
\set x random(0, 1000)
\set y random(0, 1000)
INSERT INTO t SELECT :id, box3d(:x, :y, i, :x + 1, :y + 1, i + 1) FROM generate_series(1, 10) i;
UPDATE t SET b = box3d_translate(b, 1, 1, 1) WHERE id = :id / 2;
DELETE FROM t WHERE id = :id / 3;
});
my $compare = $node->basedir . '/compare.sql';
append_to_file($compare, q{
\set x random(0, 1000)
\set y random(0, 1000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare(box3d(:x, :y, 0, :x + 150, :y + 150, 1000));
COMMIT;
});

my ($out, $err) = ('', '');
my $pgbench = IPC::Run::start(
	[ 'pgbench', '-n', '-T', 600, '-c', 4, '-j', 2, '-f', "$change\@3", '-f', "$compare\@1", $node->connstr('postgres') ],
	'<', \undef, '>', \$out, '2>', \$err);

foreach my $round (1 .. 2)
{
	$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY t_new ON t USING gist (b)');
	is($node->safe_psql('postgres', q{SELECT indisvalid FROM pg_index WHERE indexrelid = 't_new'::regclass}), 't', "round $round: the new index is valid");
	$node->safe_psql('postgres', 'DROP INDEX CONCURRENTLY t_b');
	$node->safe_psql('postgres', 'ALTER INDEX t_new RENAME TO t_b');
	$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY t_b');
	$node->safe_psql('postgres', 'VACUUM t');
}
ok($pgbench->pumpable, 'the sessions are still at work');
$pgbench->signal('INT');
$pgbench->finish;
unlike($err, qr/index \d+ table \d+/, 'in every snapshot, the index answers as the table');
# two statements may lock the same rows in different order
unlike($err, qr/ERROR:(?!  deadlock)/, 'no session failed');
is_agreed($node, 'postgres', 't', 't_b', 'at the end, the index answers as the table');
$node->safe_psql('postgres', 'VACUUM t');
is_agreed($node, 'postgres', 't', 't_b', 'and after another vacuum');
$node->stop;

done_testing();
