# The cache of bvh indexes in the life of a server: who builds, who may, what
# happens without memory, after errors, crashes and on a standby.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'bvhindex'
bvhindex.cache_min_pages = 8
restart_after_crash = on
fsync = off
autovacuum = off
jit = off
max_prepared_transactions = 2
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
$node->safe_psql('postgres', 'CREATE TABLE t AS ' . random_boxes(1, 5000));
$node->safe_psql('postgres', 'CREATE INDEX t_b ON t USING bvh (b); VACUUM ANALYZE t');

my $search = q{SET enable_seqscan = off; SET enable_bitmapscan = off;
	DO $$ BEGIN FOR i IN 1 .. %d LOOP PERFORM count(*) FROM t WHERE b && box3d(10, 10, 10, 90, 90, 90); END LOOP; END $$;};
# one(node, query): its only value
sub one { my ($of, $query) = @_; return $of->safe_psql('postgres', $query); }
sub cache { my ($columns, $index) = @_; return one($node, "SELECT $columns FROM bvh_cache WHERE index = '" . ($index // 't_b') . q{'::regclass}); }
sub searches { my ($n) = @_; return one($node, sprintf($search, $n)); }
# log_since(from): what the server has logged, and is() of how often a text is there
sub logged { my ($text, $from) = @_; my @found = slurp_file($node->logfile, $from) =~ /$text/g; return scalar @found; }

# what the memory is used for
sub memory { my ($columns) = @_; return one($node, "SELECT $columns FROM bvh_cache_memory()"); }
sub drop_all { return one($node, 'SELECT count(bvh_cache_drop(index)) FROM bvh_cache'); }

# a session that stays: session(), and ask(session, sql): what that prints
sub session
{
	my %session = (in => '', out => '', err => '');
	$session{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$session{in}, '>', \$session{out}, '2>', \$session{err});
	return \%session;
}
sub ask
{
	my ($session, $sql) = @_;
	$session->{out} = '';
	$session->{in} .= "$sql;\n\\echo --\n";
	$session->{run}->pump until $session->{out} =~ s/\n?--\n\z//;
	return $session->{out};
}
sub leave { my ($session) = @_; $session->{in} .= "\\q\n"; $session->{run}->finish; return; }

# ---------------------------------------------------------------- who builds

searches(10);
is(cache('state, builds, misses'), 'cold|0|10', 'a few scans are no reason to build');
searches(30);
ok($node->poll_query_until('postgres', q{SELECT state = 'ready' AND builds = 1 FROM bvh_cache WHERE index = 't_b'::regclass}), 'a background worker builds after more of them');
# (the last ones of before may have used it already)
my $hits = cache('hits');
searches(5);
is(cache("boxes, delta, hits - $hits, misses"), '5000|0|5|0', 'and scans use the tree');
one($node, "SET bvhindex.use_cache = off; " . sprintf($search, 3));
is(cache("hits - $hits"), 5, 'unless the session does not want to');
is(one($node, 'SELECT bvh_cache_load($$t_b$$)'), 5000, 'to load it again changes nothing');
is(cache('builds'), 1, 'nor builds it');
my $cost = q{CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
	DECLARE plan json;
	BEGIN
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_bitmapscan = off;
		EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
		RETURN plan #> '{0,Plan,Total Cost}';
	END $$};
$node->safe_psql('postgres', $cost);
my @warm = map { one($node, "SELECT cost(\$\$$_\$\$)") } 'SELECT FROM t WHERE b && box3d(10, 10, 10, 90, 90, 90)', 'SELECT FROM t ORDER BY b <-> box3d(1, 1, 1) LIMIT 5';
is(one($node, 'SELECT bvh_cache_drop($$t_b$$)'), 't', 'a tree is dropped');
my @cold = map { one($node, "SELECT cost(\$\$$_\$\$)") } 'SELECT FROM t WHERE b && box3d(10, 10, 10, 90, 90, 90)', 'SELECT FROM t ORDER BY b <-> box3d(1, 1, 1) LIMIT 5';
cmp_ok($warm[$_], '<', $cold[$_], 'the planner takes a scan to be cheaper with a tree') foreach 0, 1;
is(one($node, 'SELECT bvh_cache_drop($$t_b$$)'), 'f', 'and is gone');
is(cache('state, boxes, bytes'), 'cold|0|0', 'and so is its memory');

$node->safe_psql('postgres', 'CREATE TABLE small AS SELECT * FROM t LIMIT 300; CREATE INDEX small_b ON small USING bvh (b)');
one($node, "SET enable_seqscan = off; DO \$\$ BEGIN FOR i IN 1 .. 500 LOOP PERFORM FROM small WHERE b && box3d(1, 1, 1); END LOOP; END \$\$");
is(cache('state', 'small_b'), 'cold', 'a small index is not cached by itself');

# more rows than the delta holds: another tree, meanwhile the old one
one($node, 'SELECT bvh_cache_load($$t_b$$)');
$node->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(5001, 5000));
is(cache('boxes, delta'), '5000|5000', 'what is inserted goes to the delta');
is_agreed($node, 'postgres', 't', 't_b', 'tree and delta');
searches(40);
ok($node->poll_query_until('postgres', q{SELECT boxes = 10000 FROM bvh_cache WHERE index = 't_b'::regclass}), 'a long delta gets a tree');
is(cache('delta'), 0, 'and starts anew');
$node->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(10001, 7000));
is(cache('state'), 'cold', 'one that is too long ends the tree');
is_agreed($node, 'postgres', 't', 't_b', 'then pages answer');

# ---------------------------------------------------------------- who may

$node->safe_psql('postgres', q{CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN; GRANT SELECT ON t TO reader});
is(one($node, 'SET ROLE reader; SELECT bvh_cache_load($$t_b$$)'), 17000, 'who may read the table loads its index');
sub refused { my ($sql, $pattern, $name) = @_; my (undef, undef, $err) = $node->psql('postgres', $sql); like($err, $pattern, $name); return; }
refused('SET ROLE stranger; SELECT bvh_cache_load($$t_b$$)', qr/permission denied for index t_b/, 'others do not');
refused('SET ROLE reader; SELECT bvh_cache_drop($$t_b$$)', qr/must be owner of index t_b/, 'only the owner drops it');
is(one($node, 'SET ROLE reader; SELECT count(*) FROM bvh_cache'), 0, 'nor do others see what there is');
refused('SET ROLE reader; SELECT * FROM bvh_cache_memory()', qr/permission denied for function bvh_cache_memory/, 'nor how much memory it takes');
is(one($node, 'GRANT pg_read_all_stats TO reader; SET ROLE reader; SELECT count(*) > 0 FROM bvh_cache'), 't', 'but those who may see all statistics');
is(one($node, 'SET ROLE reader; SELECT used - this_database FROM bvh_cache_memory()'), 0, 'and how much memory that is');
$node->safe_psql('postgres', 'CREATE TEMP TABLE x AS SELECT 1; CREATE TABLE g (b box3d); CREATE INDEX g_b ON g USING gist (b); CREATE INDEX g_h ON g USING hash (b)');
refused('SELECT bvh_cache_load($$g_b$$)', qr/"g_b" is not a bvh index\nHINT:  Only indexes of access method bvh are cached/, 'GiST has no cache');
refused('SELECT bvh_cache_load($$g_h$$)', qr/"g_h" is not a bvh index/, 'nor has another index');
refused('CREATE TEMP TABLE y (b box3d); CREATE INDEX y_b ON y USING bvh (b); SELECT bvh_cache_load($$y_b$$)', qr/cannot cache temporary index "y_b"/, 'nor has a temporary one');

# ---------------------------------------------------------------- other files

# each leaves an index with other rows, or none, or the old one
my %change = (
	'TRUNCATE' => 'TRUNCATE w; INSERT INTO w SELECT * FROM t WHERE id < 200',
	'TRUNCATE undone' => 'BEGIN; TRUNCATE w; INSERT INTO w SELECT * FROM t WHERE id < 200; SELECT bvh_cache_load($$w_b$$); ROLLBACK',
	'REINDEX' => 'REINDEX INDEX w_b; INSERT INTO w SELECT * FROM t WHERE id < 90',
	'REINDEX CONCURRENTLY' => 'REINDEX INDEX CONCURRENTLY w_b',
	'VACUUM FULL' => 'DELETE FROM w WHERE id % 3 = 0; VACUUM FULL w',
	'CLUSTER' => 'CREATE INDEX w_id ON w (id); CLUSTER w USING w_id; DROP INDEX w_id',
	'CLUSTER by the index itself' => 'DELETE FROM w WHERE id % 5 = 0; CLUSTER w USING w_b',
	'a subtransaction undone' => 'BEGIN; SAVEPOINT s; INSERT INTO w SELECT * FROM t WHERE id < 300; ROLLBACK TO s; UPDATE w SET id = -id WHERE id < 100; COMMIT');
foreach my $name (sort keys %change)
{
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS w; CREATE TABLE w AS SELECT * FROM t WHERE id <= 3000; CREATE INDEX w_b ON w USING bvh (b); SELECT bvh_cache_load($$w_b$$)');
	# a statement each: some run in no transaction
	$node->safe_psql('postgres', join("\n", split /(?<=;) /, "$change{$name};"));
	is_agreed($node, 'postgres', 'w', 'w_b', "$name: pages");
	one($node, 'SELECT bvh_cache_load($$w_b$$)');
	is_agreed($node, 'postgres', 'w', 'w_b', "$name: tree");
}
is($node->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE n (id int, b box3d);
	CREATE INDEX n_b ON n USING bvh (b);
	INSERT INTO n SELECT * FROM t WHERE id <= 500;
	SET enable_seqscan = off;
	SELECT bvh_cache_load('n_b');
	TRUNCATE n;
	SELECT count(*) FROM n WHERE b && box3d(0, 0, 0, 1000, 1000, 1000);
	INSERT INTO n SELECT * FROM t WHERE id <= 20;
	SELECT count(*) FROM n WHERE b && box3d(0, 0, 0, 1000, 1000, 1000);
	ROLLBACK}), "500\n0\n20", 'TRUNCATE keeps the file of a new table, and drops its tree');
$node->safe_psql('postgres', q{CREATE TABLE ex (b box3d, EXCLUDE USING bvh (b WITH &&)); INSERT INTO ex SELECT box3d(i, 0, 0) FROM generate_series(1, 500) i; SELECT bvh_cache_load('ex_b_excl')});
refused('INSERT INTO ex VALUES (box3d(77, 0, 0))', qr/violates exclusion constraint/, 'an exclusion constraint holds beside a tree');
refused('INSERT INTO ex VALUES (box3d(777, 0, 0)); INSERT INTO ex VALUES (box3d(777, 0, 0))', qr/violates exclusion constraint/, 'with rows of the delta, too');

# ---------------------------------------------------------------- indexes that are gone

my $few = 'SELECT * FROM t WHERE id <= 3000';
my $with_tree = "CREATE TABLE w AS $few; CREATE INDEX w_b ON w USING bvh (b); SELECT bvh_cache_load('w_b')";
drop_all();
is(memory('used'), 0, 'nothing is cached');
my %gone = (
	'DROP INDEX' => 'DROP INDEX w_b',
	'DROP INDEX CONCURRENTLY' => 'DROP INDEX CONCURRENTLY w_b',
	'DROP TABLE' => 'DROP TABLE w',
	'DROP OWNED' => 'CREATE ROLE goner; ALTER TABLE w OWNER TO goner; DROP OWNED BY goner; DROP ROLE goner',
	'TRUNCATE' => 'TRUNCATE w',
	'REINDEX' => 'REINDEX INDEX w_b',
	'REINDEX CONCURRENTLY' => 'REINDEX INDEX CONCURRENTLY w_b',
	'VACUUM FULL' => 'VACUUM FULL w',
	'another type' => 'ALTER TABLE w ALTER id TYPE bigint');
foreach my $name (sort keys %gone)
{
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS w; $with_tree");
	die 'no tree' if memory('this_database') == 0;
	$node->safe_psql('postgres', join("\n", split /(?<=;) /, "$gone{$name};"));
	is(memory('used'), 0, "$name frees the tree");
}
$node->safe_psql('postgres', "DROP TABLE IF EXISTS w; $with_tree; BEGIN; DROP TABLE w; ROLLBACK; INSERT INTO w SELECT * FROM t WHERE id BETWEEN 3001 AND 3100");
is_agreed($node, 'postgres', 'w', 'w_b', 'an index that comes back');
$node->safe_psql('postgres', q{SELECT bvh_cache_load('w_b'); BEGIN; SAVEPOINT s; REINDEX INDEX w_b; SELECT bvh_cache_load('w_b'); ROLLBACK TO s; INSERT INTO w SELECT * FROM t WHERE id BETWEEN 3101 AND 3200; COMMIT});
is(memory('gone > 0'), 't', 'or has its old file again: the tree of the other file is left over');
is(one($node, q{SELECT count(*) FROM bvh_cache WHERE index = 'w_b'::regclass AND bytes > 0}) . memory('used'), '00', 'until someone looks');
is_agreed($node, 'postgres', 'w', 'w_b', 'and the old one has all rows');

# many indexes share the table, and places in it are free again
$node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	DO $$ BEGIN
		FOR i IN 1 .. 240 LOOP
			EXECUTE format('CREATE TABLE many%s (b box3d); CREATE INDEX many%s_b ON many%s USING bvh (b)', i, i, i);
			EXECUTE format('SELECT FROM many%s WHERE b && box3d(0, 0, 0)', i);
		END LOOP;
		FOR i IN 1 .. 240 BY 2 LOOP
			EXECUTE format('DROP TABLE many%s', i);
		END LOOP;
		FOR i IN 2 .. 240 BY 2 LOOP
			EXECUTE format('SELECT FROM many%s WHERE b && box3d(0, 0, 0)', i);
		END LOOP;
	END $$});
is(one($node, q{SELECT count(*), sum(misses) FROM bvh_cache WHERE index::text LIKE 'many%'}), '120|240', 'the others are found, once');
$node->safe_psql('postgres', q{DO $$ BEGIN FOR i IN 2 .. 240 BY 2 LOOP EXECUTE format('DROP TABLE many%s', i); END LOOP; END $$});

# a database made from this one has files with the same numbers
$node->safe_psql('postgres', 'CREATE DATABASE first');
$node->safe_psql('first', 'CREATE EXTENSION bvhindex; CREATE TABLE t AS ' . random_boxes(1, 2000));
$node->safe_psql('first', 'CREATE INDEX t_b ON t USING bvh (b); SELECT bvh_cache_load($$t_b$$)');
$node->safe_psql('postgres', 'CREATE DATABASE second TEMPLATE first');
$node->safe_psql('second', 'DELETE FROM t WHERE id > 1000; VACUUM t; INSERT INTO t ' . random_boxes(5001, 50));
is_agreed($node, 'second', 't', 't_b', 'a copy of a database');
$node->safe_psql('second', 'SELECT bvh_cache_load($$t_b$$)');
is_agreed($node, 'second', 't', 't_b', 'with a tree of its own');
is_agreed($node, 'first', 't', 't_b', 'and its template');

# a database that is moved away, changed there, and moved back has the old names of files
$node->safe_psql('postgres', q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE away LOCATION ''});
my $everything = q{SET enable_seqscan = off; SELECT count(*), sum(id) FROM t WHERE b && box3d(-1000, -1000, -1000, 2000, 2000, 2000)};
$node->safe_psql('second', $everything);
$node->safe_psql('postgres', 'ALTER DATABASE second SET TABLESPACE away');
$node->safe_psql('second', 'DELETE FROM t WHERE id % 3 = 0; VACUUM t; INSERT INTO t ' . random_boxes(9001, 70));
$node->safe_psql('postgres', 'ALTER DATABASE second SET TABLESPACE pg_default');
is($node->safe_psql('second', $everything), $node->safe_psql('second', "SET bvhindex.use_cache = off; $everything"), 'moved away and back: no tree of before');
$node->safe_psql('second', 'SELECT bvh_cache_load($$t_b$$)');
is_agreed($node, 'second', 't', 't_b', 'and then one of its own');
is(memory('other_databases > 0 AND gone = 0'), 't', 'trees of other databases are seen as bytes');
$node->safe_psql('postgres', 'DROP DATABASE second');
is(memory('other_databases > 0 AND gone > 0'), 't', 'those of one that is gone are');
one($node, 'SELECT count(*) FROM bvh_cache');
is(memory('other_databases > 0 AND gone = 0'), 't', 'freed when someone looks');
one($node, q{SELECT bvh_cache_load('w_b')});
$node->safe_psql('postgres', 'ALTER INDEX w_b SET TABLESPACE away');
is(memory('this_database = 0 AND gone > 0'), 't', 'an index that moved has left its tree');
one($node, q{SELECT bvh_cache_load('small_b')});
is(memory('this_database > 0 AND gone = 0'), 't', 'that goes when another is built');
$node->safe_psql('postgres', 'DROP TABLE w');
# (a base backup could not follow it)
$node->safe_psql('postgres', 'DROP TABLESPACE away');

# ---------------------------------------------------------------- errors

# a session that builds, and waits with the items in its hands
sub paused_builder
{
	my %session = (in => "SELECT bvh_cache_drop('t_b');\nSET application_name = 'builder';\nSET bvhindex.pause_at = 'collected';\nSELECT bvh_cache_load('t_b');\n", out => '', err => '');
	$session{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$session{in}, '>', \$session{out}, '2>', \$session{err});
	$session{run}->pump while $session{in} ne '';
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'builder' AND wait_event_type = 'Lock'}) or die 'no builder';
	return \%session;
}
my $holder = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \(my $lock = "SELECT pg_advisory_lock(71);\n"), '>', \(my $locked = ''));
$holder->pump until $locked ne '';
foreach my $how ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $builder = paused_builder();
	is(cache('state'), 'building', 'a tree is being built');
	one($node, "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'builder'");
	# who was terminated may not be there to read that
	$builder->{in} .= "\\q\n" if $how eq 'pg_cancel_backend';
	$builder->{run}->finish;
	like($builder->{err}, qr/canceling|terminating/, "$how stops it");
	is(cache('state'), 'cold', 'and leaves nothing behind');
}
my $builder = paused_builder();
my ($pid) = one($node, q{SELECT pid FROM pg_stat_activity WHERE application_name = 'builder'});
kill 'KILL', $pid;
$builder->{run}->finish;
$lock .= "\\q\n";
$holder->finish;
ok($node->poll_query_until('postgres', 'SELECT true'), 'the server comes back after a builder was killed');
is(one($node, 'SELECT bvh_cache_load($$t_b$$)'), 17000, 'and builds again');
is_agreed($node, 'postgres', 't', 't_b', 'rightly');
$node->stop('immediate');
$node->start;
is(one($node, 'SELECT count(*) FROM bvh_cache'), 0, 'nothing is cached after a crash');
one($node, 'SELECT bvh_cache_load($$t_b$$)');
is_agreed($node, 'postgres', 't', 't_b', 'nor wrong');

# ---------------------------------------------------------------- files that vanish

# Segments as files of this server's own folder: what a load made are the tree and its
# delta, and nothing else is touched.
$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = mmap');
$node->restart;
one($node, 'SELECT count(*) FROM bvh_cache');
sub segments { return glob($node->data_dir . '/pg_dynshmem/mmap.*'); }
my $keeper = session();
# the files of a tree that the keeper has built, so has mapped, the larger one first
sub load_anew
{
	ask($keeper, q{SELECT bvh_cache_drop('t_b')});
	my %before = map { $_ => 1 } segments();
	ask($keeper, q{SELECT bvh_cache_load('t_b')});
	return sort { -s $b <=> -s $a } grep { !$before{$_} } segments();
}
my $all = q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM t WHERE b && box3d(-10, -10, -10, 9999, 9999, 9999)};
my $complaint = qr/LOG:  could not use a cached tree: could not open shared memory segment/;
my $since = -s $node->logfile;

foreach my $what ([ 0, 1 ], [0], [1])
{
	my @files = load_anew();
	is(scalar @files, 2, 'a tree has two files');
	my $mark = -s $node->logfile;
	unlink @files[@$what] or die "no file: $!";
	my $n = ask($keeper, $all);
	is(one($node, $all), $n, "without files @$what, a scan walks pages");
	is(cache('state, bytes'), 'cold|0', 'and no other will try again');
	is(logged($complaint, $mark), 1, 'the log says so, once');
	is(ask($keeper, $all), $n, 'nor does who has it mapped');
	is(memory('used'), 0, 'and then its memory is not counted');
	is(one($node, q{SELECT bvh_cache_load('t_b') > 0}), 't', 'another tree is built');
	is_agreed($node, 'postgres', 't', 't_b', 'and used');
}
unlink load_anew();
$node->safe_psql('postgres', q{INSERT INTO t SELECT 100000 + i, box3d(2000 + i, 0, 0) FROM generate_series(1, 10) i});
is(cache('state'), 'cold', 'an insert that cannot tell a tree ends it');
is(ask($keeper, 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE b && box3d(2000, 0, 0, 3000, 0, 0)'), 10, 'so those who have it mapped do not miss the row');

unlink load_anew();
$node->safe_psql('postgres', q{DELETE FROM t WHERE id > 100000; VACUUM (TRUNCATE off, INDEX_CLEANUP on) t});
is(cache('state'), 'cold', 'so does VACUUM');
$node->safe_psql('postgres', q{INSERT INTO t SELECT 100000 + i, box3d(4000 + i, 0, 0) FROM generate_series(1, 10) i});
is(ask($keeper, 'SELECT count(*) FROM t WHERE b && box3d(2000, 0, 0, 3000, 0, 0)'), 0, 'and a TID that is used again is not found where it was');
is_agreed($node, 'postgres', 't', 't_b', 'nor elsewhere');
unlink load_anew();
is(one($node, q{SELECT bvh_cache_drop('t_b')}), 't', 'a tree without files is dropped');
unlink load_anew();
is(ask($keeper, q{SELECT bvh_cache_drop('t_b')}), 't', 'and by who has it mapped');
ask($keeper, 'SELECT 1');

# of a tree that is being built, there is a delta
$holder = session();
ask($holder, 'SELECT pg_advisory_lock(71)');
my %before = map { $_ => 1 } segments();
$builder = paused_builder();
unlink grep { !$before{$_} } segments();
$node->safe_psql('postgres', 'INSERT INTO t VALUES (100011, box3d(4011, 0, 0))');
leave($holder);
like(ask($builder, 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE b && box3d(4000, 0, 0, 5000, 0, 0)'), qr/^11\z/m, 'who has built it does not use a tree that lacks a row');
leave($builder);
is(cache('state, delta'), 'ready|0', 'but built again');
$node->safe_psql('postgres', 'DELETE FROM t WHERE id > 100000; VACUUM (INDEX_CLEANUP on) t');
drop_all();
is(memory('used'), 0, 'nothing is left of all this');
is(logged(qr/WARNING/, $since), 0, 'nor did the server wonder');
is($keeper->{err}, '', 'nor a session that was there all the time');
leave($keeper);
$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = posix');

# ---------------------------------------------------------------- memory

my $full = qr/no memory to cache index "t_b"/;
my $from = -s $node->logfile;
$node->append_conf('postgresql.conf', "bvhindex.cache_size = 2MB\nmax_worker_processes = 0\n");
$node->restart;
refused('SELECT bvh_cache_load($$t_b$$)', qr/$full\nDETAIL:  Its tree takes at least \d+ kB, and all trees together may take 2048 kB\.\nHINT:  You might need to increase bvhindex.cache_size/, 'no memory');
searches(300);
is(cache('state, bytes'), 'cold|0', 'no tree then');
is(logged(qr/LOG:  $full/, $from), 1, 'the log says so once');
is_agreed($node, 'postgres', 't', 't_b', 'and pages answer');

$node->append_conf('postgresql.conf', 'bvhindex.cache_size = 4MB');
$node->reload;
one($node, 'SELECT pg_sleep(0.2)');
$node->poll_query_until('postgres', q{SELECT setting::int > 4000 FROM pg_settings WHERE name = 'bvhindex.cache_size'});
searches(2000);
is(cache('state'), 'ready', 'without a worker, a scan builds');
$node->safe_psql('postgres', 'CREATE TABLE o AS SELECT * FROM t; CREATE INDEX o_b ON o USING bvh (b); SELECT pg_sleep(1.1)');
is(one($node, 'SELECT bvh_cache_load($$o_b$$)'), 17000, 'another index is cached');
is(cache('state'), 'cold', 'in the place of the one used longest ago');
one($node, 'SELECT bvh_cache_load($$small_b$$)');
is(cache('state', 'o_b') . cache('state', 'small_b'), 'coldready', 'and so on');

# who has an old tree mapped keeps it, and gives it up when it dies
one($node, 'SELECT bvh_cache_drop($$small_b$$), bvh_cache_load($$o_b$$)');
my ($in, $out) = ("SET enable_seqscan = off; SET enable_bitmapscan = off;\nBEGIN; DECLARE c CURSOR FOR SELECT id FROM o WHERE b && box3d(0, 0, 0, 1000, 1000, 1000);\nFETCH 1 FROM c;\n", '');
my $reader = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \my $err);
$reader->pump until $out =~ /\d/;
one($node, 'SELECT bvh_cache_drop($$o_b$$)');
refused('SELECT bvh_cache_load($$o_b$$)', qr/no memory to cache index "o_b"/, 'memory is counted while a scan is in it');
$out = '';
$in .= "MOVE ALL FROM c;\nSELECT 'moved';\n";
$reader->pump until $out =~ /moved/;
is($out, "moved\n", 'the scan goes on');
one($node, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT ''moved%'});
$reader->finish;
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'SELECT ''moved%' AND pid <> pg_backend_pid()});
is(one($node, 'SELECT bvh_cache_load($$o_b$$)'), 17000, 'and its memory is there again when it is gone');

# an old tree goes with the transaction that was the last to use it
my $user = session();
ask($user, 'SET enable_seqscan = off');
foreach my $end ('COMMIT', 'SELECT 1 / 0', q{PREPARE TRANSACTION 'p'})
{
	ask($user, 'ROLLBACK; SELECT bvh_cache_load($$o_b$$); BEGIN; DECLARE c CURSOR FOR SELECT id FROM o WHERE b && box3d(0, 0, 0, 1000, 1000, 1000); FETCH 1 FROM c');
	one($node, 'SELECT bvh_cache_drop($$o_b$$)');
	is(memory('used > 0 AND used = old'), 't', 'a transaction keeps the tree that it uses');
	ask($user, $end);
	is(memory('used'), 0, "until $end");
}
ask($user, q{COMMIT PREPARED 'p'});
leave($user);

# less memory than before
sub set_size
{
	my ($size) = @_;
	$node->append_conf('postgresql.conf', "bvhindex.cache_size = $size");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('bvhindex.cache_size') = '$size'") or die 'no reload';
	return;
}
set_size('64MB');
one($node, 'SELECT bvh_cache_load($$t_b$$), bvh_cache_load($$o_b$$), pg_sleep(1.1)');
searches(1);
is(cache('state') . cache('state', 'o_b'), 'readyready', 'two trees');
set_size('4MB');
is(memory('used > cache_size'), 't', 'and then less memory');
one($node, 'SET enable_seqscan = off; SELECT count(*) FROM small WHERE b && box3d(1, 1, 1)');
is(memory('used BETWEEN 1 AND cache_size'), 't', 'with the next scan, that is all that is used');
is(cache('state') . cache('state', 'o_b'), 'readycold', 'by the tree used last');
set_size('0');
one($node, 'SET enable_seqscan = off; SELECT count(*) FROM small WHERE b && box3d(1, 1, 1)');
is(cache('state') . memory('this_database'), 'cold0', 'and nothing, without any');
set_size('64MB');
one($node, 'SELECT bvh_cache_load($$t_b$$)');
set_size('1MB');
refused('SELECT bvh_cache_load($$t_b$$)', $full, 'what is there is not loaded, either, if it is too large now');
set_size('0');
$node->restart;
refused('SELECT bvh_cache_load($$t_b$$)', qr/cannot cache index "t_b" while bvhindex.cache_size is 0/, 'a cache that is off');
searches(100);
is(one($node, q{SELECT coalesce(sum(hits), 0) FROM bvh_cache}), 0, 'answers nothing');
$node->append_conf('postgresql.conf', "bvhindex.cache_size = 64MB\nmax_worker_processes = 8\n");
$node->restart;

# ---------------------------------------------------------------- standby

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "bvhindex.use_cache = always\n");
$standby->start;
$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 2 = 0; VACUUM t; INSERT INTO t ' . random_boxes(50001, 3000));
$node->wait_for_catchup($standby);
is_agreed($standby, 'postgres', 't', 't_b', 'on a standby, pages answer');
my (undef, undef, $complaint) = $standby->psql('postgres', 'SELECT bvh_cache_load($$t_b$$)');
like($complaint, qr/cannot cache index "t_b" during recovery/, 'and nothing is loaded');
is(one($standby, 'SELECT count(*) FROM bvh_cache'), 0, 'or seen');
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(90001, 500));
is_agreed($standby, 'postgres', 't', 't_b', 'promoted');
cmp_ok(one($standby, q{SELECT hits FROM bvh_cache WHERE index = 't_b'::regclass}), '>', 0, 'it has a cache');
$standby->stop;

# ---------------------------------------------------------------- without the library at start

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
if ($node->pg_version < 17)
{
	refused('SELECT bvh_cache_load($$t_b$$)', qr/bvhindex has no shared memory\nHINT:  Add bvhindex to shared_preload_libraries/, 'no shared memory');
}
else
{
	cmp_ok(one($node, 'SELECT bvh_cache_load($$t_b$$)'), '>', 0, 'shared memory by name');
}
is_agreed($node, 'postgres', 't', 't_b', 'not loaded at start');
$node->stop;

done_testing();
