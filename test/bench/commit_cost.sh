#!/bin/bash
# What a commit to the lake costs after many of them, and how large the table's metadata gets:
#   POINTS="100 1000 5000 20000" KEEP=50 test/bench/commit_cost.sh
# Each commit is of ten rows. The table keeps KEEP snapshots of each branch, whatever their age; garbage is
# removed every 500 commits, without grace. Prints, of the 100 commits around each point, CPU time of the
# backend and bytes of metadata per commit, both also as ratios to the first point, and what the directory has.
# UNBOUNDED=1: nothing expires and nothing is merged, as a comparison. Ends with 1 when the CPU time of the
# last point is more than 1.5 times that of the first.
. "$(dirname "$0")/../lib.sh"

read -ra points <<<"${POINTS:-100 1000 5000 20000}"
"$ROOT/test/server.sh" start commits fresh >/dev/null || exit 1
eval "$("$ROOT/test/server.sh" env commits)"
trap '"$ROOT/test/server.sh" drop commits >/dev/null' EXIT
sql() { "$PGBIN/psql" -X -A -t -q -U postgres -d postgres -v ON_ERROR_STOP=1 -c "$1"; }

sql "CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE t (id bigint, at timestamptz, kind text, amount numeric(12,2)) SERVER lake" 2>/dev/null || exit 1
set_property() { sql "SELECT bifang.set_property('t', '$1', '$2')" >/dev/null || exit 1; }
if [ -z "$UNBOUNDED" ]; then
	set_property history.expire.max-snapshot-age-ms 0
	set_property history.expire.min-snapshots-to-keep "${KEEP:-50}"
else
	set_property commit.manifest-merge.enabled false
fi
dir=$(sql "SELECT regexp_replace(metadata_location, '^file://|/[^/]*$', '', 'g') FROM bifang.tables WHERE table_name = 't'")
# Ticks of this backend; a hundredth of a second each.
sql "CREATE FUNCTION ticks() RETURNS bigint LANGUAGE sql VOLATILE AS \$\$
		SELECT w[14]::bigint + w[15]::bigint FROM string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '\\(.*\\)', 'x'), ' ') w \$\$;
	CREATE PROCEDURE add(first int, last int, INOUT cpu bigint) LANGUAGE plpgsql AS \$\$
	BEGIN
		cpu := ticks();
		FOR i IN first .. last LOOP
			INSERT INTO t SELECT i * 10 + g, '2024-01-01 00:00:00+00'::timestamptz + i * interval '1 s', 'an event', 12.34 FROM generate_series(1, 10) g;
			PERFORM bifang.commit('t');
			COMMIT;
		END LOOP;
		cpu := ticks() - cpu;
	END \$\$"

# Bytes of all files that were made since.
metadata_bytes() { find "$dir" -newer "$1" -type f -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }'; }
mark=$(mktemp)
at=0
printf '%8s %12s %7s %14s %7s %12s %8s %10s\n' commits 'CPU ms' ratio 'bytes written' ratio 'directory' files 'snapshots'
for point in "${points[@]}"; do
	while [ $at -lt $((point - 50)) ]; do
		to=$((at + 500 < point - 50 ? at + 500 : point - 50))
		sql "CALL add($((at + 1)), $to, NULL)" >/dev/null || exit 1
		for _ in 1 2; do sql "SET bifang.garbage_grace = 0; SELECT bifang.remove_garbage()" >/dev/null || exit 1; done
		at=$to
	done
	touch "$mark"
	sleep 0.02
	cpu=$(sql "CALL add($((at + 1)), $((at + 100)), NULL)") || exit 1
	at=$((at + 100))
	bytes=$(($(metadata_bytes "$mark") / 100))
	for _ in 1 2; do sql "SET bifang.garbage_grace = 0; SELECT bifang.remove_garbage()" >/dev/null || exit 1; done
	: "${cpu_first:=$cpu}" "${bytes_first:=$bytes}"
	printf '%8d %12s %7s %14d %7s %12s %8d %10s\n' "$point" "$(echo "scale=1; $cpu / 10" | bc)" "$(echo "scale=2; $cpu / $cpu_first" | bc)" \
		"$bytes" "$(echo "scale=2; $bytes / $bytes_first" | bc)" "$(du -sb "$dir" | cut -f1)" "$(find "$dir" -type f | wc -l)" \
		"$(sql "SELECT count(*) FROM bifang.snapshots('t')")"
done
rm -f "$mark"
[ "$(sql "SELECT count(*) = $at * 10 AND sum(id) = (SELECT sum(i::bigint * 10 + g) FROM generate_series(1, $at) i, generate_series(1, 10) g) FROM t")" = t ] ||
	{ echo "rows are missing, or there twice"; exit 1; }
[ -z "$(sql "SELECT * FROM bifang.check('t')")" ] || { sql "SELECT * FROM bifang.check('t')"; exit 1; }
[ -n "$UNBOUNDED" ] || [ "$(echo "$cpu <= 1.5 * $cpu_first" | bc)" = 1 ]
