-- A real set, just copied into raw: :probes of its own boxes are the probes, chosen by a hash of the
-- id so that they are the same in every run and spread over the whole set.
SET search_path = bench;
TRUNCATE raw_probes, raw_more;

INSERT INTO raw_probes SELECT * FROM raw ORDER BY hashint4(id), id LIMIT :probes;
