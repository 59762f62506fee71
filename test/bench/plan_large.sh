#!/bin/bash
# make bench-plan: planning over Iceberg tables with 100,000 data files, through SQL, in fresh sessions.
#   FILES=100000 RUNS=5 VARIANTS="name ..."   (see `variants`)
# Each variant is one session: the first EXPLAIN reads all manifests, later ones find them in the cache.
# Then point lookups are run, planned anew, as a generic plan, and as the inner side of a nested loop.
# Fails when a first plan takes 3 s or more, a later one 0.2 s or more, a backend more than RSS_MAX MB.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

files=${FILES:-100000} runs=${RUNS:-5} rss_max=${RSS_MAX:-400}
variants='v2        manifests=100
one         manifests=1
thousand    manifests=1000
v1          manifests=100 version=1
position    manifests=100 deletes=position
equality    manifests=100 deletes=equality
vectors     manifests=100 version=3 deletes=vector
columns40   manifests=100 columns=40
commits     manifests=100 commits=50 rewrite=10
commits_one manifests=1 commits=10 rewrite=1'
tool=build/core/large_table
test/server.sh start benchplan fresh shared_buffers=128MB || exit 1
trap 'test/server.sh drop benchplan' EXIT
dir=$(test/server.sh path benchplan)
sql() {
	test/server.sh psql benchplan -qAtX -v ON_ERROR_STOP=1 "$@"
}
sql -c 'CREATE EXTENSION bifang_fdw'
id=$((files / 2 * 10 + 7))

# name|statement: timed RUNS + 1 times, the first time apart.
statements="all files|EXPLAIN SELECT * FROM t
one, sorted|EXPLAIN SELECT * FROM t WHERE id = $id
one, random order|EXPLAIN SELECT * FROM t WHERE spread = $id
one, IN of 3|EXPLAIN SELECT * FROM t WHERE id IN (7, 4007, $id)
none pruned|EXPLAIN SELECT * FROM t WHERE seven = 3
partition|EXPLAIN SELECT * FROM t WHERE day = 7
partition, bounds|EXPLAIN SELECT * FROM t WHERE day = 25 AND spread BETWEEN 1000 AND 2000
read one row|SELECT * FROM t WHERE id = $id
generic plan|EXECUTE by_id($id)"

state() {
	cat <<-SQL
		SELECT '@state', '$1', (SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts),
			(regexp_match(pg_read_file('/proc/self/status'), 'VmRSS:\s+(\d+)'))[1],
			(regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1];
	SQL
}

session() {
	local name run rest
	echo "\\timing on"
	echo "SET plan_cache_mode = force_generic_plan; PREPARE by_id (bigint) AS SELECT * FROM t WHERE id = \$1;"
	for run in $(seq 0 "$runs"); do
		while IFS='|' read -r name rest; do
			printf "\\\\echo '@at|%s|%s'\n%s \\\\g /dev/null\n" "$name" "$run" "$rest"
		done <<<"$statements"
	done
	echo "\\timing off"
	state "plans"
	cat <<-SQL
		SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
		\\timing on
		\\echo '@at|1000 rescans, sorted|1'
		SELECT count(*) FROM generate_series(1, 1000) g, LATERAL (SELECT * FROM t WHERE id = (g % ($files / 100)) * 1000 + 3 OFFSET 0) x \\g /dev/null
		\\echo '@at|1000 rescans, random|1'
		SELECT count(*) FROM generate_series(1, 1000) g, LATERAL (SELECT * FROM t WHERE spread = -g OFFSET 0) x \\g /dev/null
		\\timing off
	SQL
	state "rescans"
	if [ "$commits" -gt 0 ]; then
		for run in $(seq 2 $((commits + 1))); do
			printf '\\! mv %s/next/v%d.metadata.json %s/metadata/\n' "$table" "$run" "$table"
			printf "\\\\timing on\n\\\\echo '@at|after a commit|1'\nEXPLAIN SELECT * FROM t WHERE id = %d \\\\g /dev/null\n\\\\timing off\n" "$id"
		done
		state "$commits commits"
	fi
}

printf '%-12s %-24s %9s %9s %9s\n' table statement first median worst
bad=0
while read -r variant args; do
	case " ${VARIANTS:-$variant} " in *" $variant "*) ;; *) continue ;; esac
	table=$dir/$variant
	commits=$(sed -n 's/.*commits=\([0-9]*\).*/\1/p' <<<"$args")
	commits=${commits:-0}
	$tool "$table" files="$files" rows=10 real=100 $args || exit 1
	if [ "$(id -u)" = 0 ]; then chmod -R a+rX "$table"; fi
	sql <<-SQL
		SET client_min_messages = error;
		DROP SERVER IF EXISTS files CASCADE;
		CREATE SERVER files FOREIGN DATA WRAPPER bifang_fdw;
		CREATE FOREIGN TABLE t (id bigint, spread bigint, seven bigint, word text, c4 bigint, day bigint)
			SERVER files OPTIONS (format 'iceberg', location '$table');
	SQL
	session >"$dir/script.sql"
	sql -f "$dir/script.sql" >"$dir/out" || exit 1
	awk -F'|' -v table="$variant" -v rss_max="$rss_max" '
		/^@at/ { name = $2; run = $3; next }
		/^@state/ { printf "%-12s %-24s contexts %.1f MB, resident %.0f MB, most %.0f MB\n", table, "memory after " $2, $3 / 1024, $4 / 1024, $5 / 1024
			if ($5 / 1024 > rss_max) { print "  TOO MUCH MEMORY"; bad = 1 } next }
		/^Time:/ && name != "" {
			split($0, w, " ")
			if (!(name in n)) { order[++names] = name; n[name] = 0; first[name] = "" }
			if (run == 0) first[name] = w[2]
			else t[name, ++n[name]] = w[2] + 0
			name = ""
		}
		END {
			for (i = 1; i <= names; i++) {
				name = order[i]
				for (a = 2; a <= n[name]; a++)
					for (b = a; b > 1 && t[name, b - 1] > t[name, b]; b--) {
						swap = t[name, b]; t[name, b] = t[name, b - 1]; t[name, b - 1] = swap
					}
				median = t[name, int((n[name] + 1) / 2)]
				slow = name ~ /rescans/ ? median > 20000 : name ~ /commit/ ? median > 3000 : first[name] + 0 > 3000 || median > 200
				printf "%-12s %-24s %9s %9.1f %9.1f%s\n", table, name, first[name], median, t[name, n[name]], slow ? "  TOO SLOW" : ""
				bad = bad || slow
			}
			exit bad
		}' "$dir/out" || bad=1
	rm -rf "$table"
done <<<"$variants"
[ $bad = 0 ] && echo "every first plan below 3 s, every later one below 0.2 s" || echo "TOO SLOW or too large"
exit $bad
