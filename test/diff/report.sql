-- What differs, with the statement that shows it, and how much there was. What is left out are queries that the heap
-- refuses too.
\echo
SELECT format(E'FAILED %s\n  %s\n  heap:    %s\n  foreign: %s', mode, query, left(expected, 300), left(got, 300)) FROM diff.failed ORDER BY query, mode LIMIT 60;
SELECT 'modes: ' || string_agg(name, ', ' ORDER BY name) FROM diff.modes;
SELECT 'left out: ' || count(*) || ' ' || left(why, 100) FROM diff.skipped GROUP BY left(why, 100) ORDER BY count(*) DESC LIMIT 10;
SELECT 'left out by ' || string_agg(format('%s: %s of %s', what, got, expected), ', ') FROM (SELECT what, sum(got) AS got, sum(expected) AS expected FROM cnt.totals GROUP BY 1 ORDER BY 1) x;
SELECT 'took longest: ' || string_agg(format('%s %s s', t, round(extract(epoch FROM took), 1)), ', ' ORDER BY took DESC) FROM (SELECT * FROM diff.times ORDER BY took DESC LIMIT 8) x;
SELECT (SELECT count(*) FROM diff.passed) || ' passed, ' || (SELECT count(DISTINCT query) FROM diff.failed) || ' failed, 0 skipped';
