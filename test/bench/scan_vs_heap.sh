#!/bin/bash
# make bench: scans of a Parquet file with 6 million rows (TPC-H lineitem, scale 1) against a heap table
# of the same rows: in turns, in one session, medians, in one process each. Prints the ratios.
#   RUNS=5 PARALLEL=0      PARALLEL: max_parallel_workers_per_gather, which the heap table can use
# The file is made by tpchgen-cli, in a virtual environment of its own; PARQUET=file takes another.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

runs=${RUNS:-5}
bench=$ROOT/build/bench
mkdir -p "$bench"
if [ -z "$PARQUET" ]; then
	PARQUET=$bench/lineitem.parquet
	if [ ! -s "$PARQUET" ]; then
		[ -x build/venv/bench/bin/tpchgen-cli ] || {
			python3 -m venv build/venv/bench && build/venv/bench/bin/pip install -q tpchgen-cli
		} || die "tpchgen-cli cannot be installed"
		build/venv/bench/bin/tpchgen-cli parquet --compression='ZSTD(1)' -s 1 --tables lineitem --output-dir "$bench" ||
			die "tpchgen-cli failed"
	fi
fi
test/server.sh start bench fresh shared_buffers=2GB max_wal_size=4GB max_parallel_workers_per_gather="${PARALLEL:-0}" || exit 1
trap 'test/server.sh drop bench' EXIT
if [ "$(id -u)" = 0 ]; then chmod a+rx "$bench" && chmod a+r "$PARQUET"; fi
as_server test -r "$PARQUET" || {
	cp "$PARQUET" "$(test/server.sh path bench)/lineitem.parquet"
	PARQUET=$(test/server.sh path bench)/lineitem.parquet
	if [ "$(id -u)" = 0 ]; then chown "$SERVER_USER" "$PARQUET"; fi
}
sql() {
	test/server.sh psql bench -qAt -v ON_ERROR_STOP=1 "$@"
}
sql <<SQL || exit 1
SET client_min_messages = error;
CREATE EXTENSION bifang_fdw;
CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
CREATE SCHEMA p; CREATE SCHEMA h;
IMPORT FOREIGN SCHEMA x FROM SERVER lake INTO p OPTIONS (format 'parquet', location '$PARQUET');
DO \$\$ BEGIN EXECUTE format('ALTER FOREIGN TABLE p.%I RENAME TO t', (SELECT relname FROM pg_class WHERE relnamespace = 'p'::regnamespace)); END \$\$;
CREATE TABLE h.t AS SELECT * FROM p.t;
VACUUM (FREEZE, ANALYZE) h.t;
ANALYZE p.t;
SQL

queries=$bench/queries
cat >"$queries" <<'QUERIES'
count(*)|SELECT count(*) FROM t
sum(bigint)|SELECT sum(l_orderkey) FROM t
sum(int)|SELECT sum(l_linenumber) FROM t
sum(numeric)|SELECT sum(l_extendedprice) FROM t
min(date)|SELECT min(l_shipdate) FROM t
text, 3 values|SELECT count(l_shipmode) FROM t WHERE l_returnflag = 'R'
text, all different|SELECT max(length(l_comment)) FROM t
group by 2 texts|SELECT l_returnflag, l_linestatus, count(*) FROM t GROUP BY 1, 2
date and number|SELECT sum(l_extendedprice * l_discount) FROM t WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' AND l_quantity < 24
one row|SELECT * FROM t WHERE l_orderkey = 3000000
QUERIES
: >"$bench/times"
# One session: its caches and buffers are those of a backend that has run before.
{
	echo '\timing on'
	for run in $(seq 0 "$runs"); do
		while IFS='|' read -r name query; do
			for schema in p h; do
				printf "\\\\echo 'at|%s|%s|%s'\nSET search_path = %s;\n%s \\\\g /dev/null\n" "$name" $schema "$run" $schema "$query"
			done
		done <"$queries"
	done
} >"$bench/script.sql"
sql -f "$bench/script.sql" >"$bench/out" || exit 1
# The second of two times, SET's and the query's, counts; the first run of each warms up.
awk -F'|' '/^at\|/ {at = $2 "\t" $3; run = $4} /^Time:/ {split($0, w, " "); last[at, run] = w[2]}
	END {for (k in last) {split(k, a, SUBSEP); if (a[2] > 0) print a[1] "\t" last[k]}}' "$bench/out" | sort >"$bench/times"
median() {
	awk -F'\t' -v q="$1" -v s="$2" '$1 == q && $2 == s {print $3}' "$bench/times" | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}
rows=$(sql -c 'SELECT count(*) FROM h.t')
printf '%s rows, %s MB of Parquet, heap of %s; medians of %s runs in turns\n' "$rows" \
	"$(($(stat -c %s "$PARQUET") / 1000000))" "$(sql -c "SELECT pg_size_pretty(pg_table_size('h.t'))")" "$runs"
printf '%-22s %12s %12s %8s\n' query 'Parquet ms' 'heap ms' ratio
bad=0
while IFS='|' read -r name query; do
	p=$(median "$name" p) h=$(median "$name" h)
	printf '%-22s %12.1f %12.1f %8s\n' "$name" "$p" "$h" "$(awk -v p="$p" -v h="$h" 'BEGIN {printf "%.2f", p / h}')"
	case $name in "count(*)" | "sum(bigint)") awk -v p="$p" -v h="$h" 'BEGIN {exit p > h}' || bad=1 ;; esac
done <"$queries"
[ $bad = 0 ] && echo "count(*) and sum(bigint) take no more time than the heap table" || echo "SLOWER than the heap table"
exit $bad
