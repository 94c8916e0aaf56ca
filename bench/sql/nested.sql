-- :nested concentric boxes, each inside the next: every split of an index page has to cut through all
-- of them, and a bad split rule piles up nearly empty pages.
SET search_path = bench;
TRUNCATE raw, raw_probes, raw_more;

INSERT INTO raw SELECT i, -i, -i, -i, i, i, i FROM generate_series(1, :nested) i;
