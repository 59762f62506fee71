#!/bin/bash
# Commits of few rows into a lake table and into a heap, in turns, with pgbench (prepared statements):
#   SECONDS_EACH=5 TURNS=3 CLIENTS="1 4 16" test/bench/small_commits.sh
# prints transactions per second of both and the ratio, of the median turns: of single rows by numbers of
# clients, of 1000 rows; then what nine aggregates over COMMITS (30000) unsettled commits of ten rows take.
# The server is of an ordinary build, with its own settings but for TAIL_LIMIT (8kB).
. "$(dirname "$0")/../lib.sh"

seconds=${SECONDS_EACH:-5}
turns=${TURNS:-3}
"$ROOT/test/server.sh" start bench fresh >/dev/null || exit 1
eval "$("$ROOT/test/server.sh" env bench)"
dir=$(mktemp -d)
trap '"$ROOT/test/server.sh" drop bench >/dev/null; rm -rf "$dir"' EXIT
sql() { "$PGBIN/psql" -X -A -t -q -U postgres -d postgres -v ON_ERROR_STOP=1 -c "$1"; }

sql "CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw"
sql "ALTER DATABASE postgres SET bifang.tail_limit = '${TAIL_LIMIT:-8kB}'"
sql "ALTER SYSTEM SET max_wal_size = '8GB'"
sql "SELECT pg_reload_conf()" >/dev/null
for t in lake heap; do
	kind=TABLE
	[ $t = lake ] && kind="FOREIGN TABLE"
	options=
	[ $t = lake ] && options="SERVER lake"
	sql "CREATE $kind t_$t (id bigint, at timestamptz, kind text, amount numeric(12,2)) $options"
	cat >"$dir/one_$t.sql" <<-END
		\\set id random(1, 1000000000)
		INSERT INTO t_$t VALUES (:id, '2024-01-01 00:00:00+00', 'an event', 12.34);
	END
	cat >"$dir/thousand_$t.sql" <<-END
		\\set id random(1, 1000000000)
		INSERT INTO t_$t SELECT :id + g, '2024-01-01 00:00:00+00', 'an event', 12.34 FROM generate_series(1, 1000) g;
	END
done

rate() { # script table clients
	"$PGBIN/pgbench" -n -U postgres -M prepared -c "$3" -j "$(($3 < 2 ? 1 : 2))" -T "$seconds" -f "$dir/$1_$2.sql" postgres 2>/dev/null |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
median() { sort -n | sed -n "$(((turns + 1) / 2))p"; }
compare() { # script clients
	for _ in $(seq "$turns"); do
		rate "$1" lake "$2" >>"$dir/lake"
		rate "$1" heap "$2" >>"$dir/heap"
	done
	l=$(median <"$dir/lake")
	h=$(median <"$dir/heap")
	rm -f "$dir/lake" "$dir/heap"
	echo "$1 row(s), $2 client(s): lake $l/s, heap $h/s, ratio $(echo "scale=2; $l / $h" | bc)"
}
for clients in ${CLIENTS:-1 4 16}; do
	compare one "$clients"
done
compare thousand 1

commits=${COMMITS:-30000}
[ "$commits" -gt 0 ] || exit 0
sql "CREATE FOREIGN TABLE ten (id bigint, at timestamptz, kind text, amount numeric(12,2)) SERVER lake"
cat >"$dir/ten.sql" <<-END
	\\set id random(1, 1000000000)
	INSERT INTO ten SELECT :id + g, '2024-01-01 00:00:00+00', 'an event', 12.34 FROM generate_series(1, 10) g;
END
PGOPTIONS="-c synchronous_commit=off" "$PGBIN/pgbench" -n -U postgres -M prepared -c 4 -j 2 -t "$((commits / 4))" -f "$dir/ten.sql" postgres >/dev/null 2>&1
echo "unsettled: $(sql "SELECT count(*) || ' rows of bifang.tail, ' || pg_size_pretty(sum(length(batches))) FROM bifang.tail WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledgers WHERE table_name = 'ten')")"
for _ in $(seq "$turns"); do
	"$PGBIN/psql" -X -A -t -q -U postgres -d postgres -c '\timing on' -c "SELECT count(*), sum(id), avg(id), min(id), max(id), min(at), max(at), sum(amount), count(kind) FROM ten" | tail -1
done
