#!/bin/bash
# make bench: TPC-H and TPC-DS on Parquet files against heap tables of the same rows, in turns, in one
# session; CPU time of the backend, so that other load does not count. Tables are made by DuckDB, in a
# virtual environment of its own; without a network this is skipped, loudly.
#   SUITES="tpch-0.2 tpch-1 tpcds-0.3"   RUNS=3   TIMEOUT=30   ONLY=9,20
# Schemas: p Parquet, not analysed; q Parquet, analysed; h heap without indexes; k heap with primary keys.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

suites=${SUITES:-tpch-0.2 tpch-1 tpcds-0.3}
python=build/venv/tpc/bin/python
$python -c 'import duckdb' 2>/dev/null || {
	python3 -m venv build/venv/tpc &&
		build/venv/tpc/bin/pip install -q duckdb==1.5.5 duckdb-extension-tpch==1.5.5 duckdb-extension-tpcds==1.5.5
} || {
	echo "SKIPPED: TPC-H and TPC-DS: DuckDB cannot be installed from PyPI"
	exit 0
}
test/server.sh start tpc fresh shared_buffers=2GB max_wal_size=4GB work_mem=64MB jit=off \
	max_parallel_workers_per_gather="${PARALLEL:-0}" fsync=off || exit 1
trap 'test/server.sh drop tpc' EXIT
sql() {
	test/server.sh psql tpc -qAt -v ON_ERROR_STOP=1 "$@"
}

# The primary keys of TPC-H.
keys() {
	local key
	for key in "part (p_partkey)" "supplier (s_suppkey)" "partsupp (ps_partkey, ps_suppkey)" "customer (c_custkey)" \
		"orders (o_orderkey)" "lineitem (l_orderkey, l_linenumber)" "nation (n_nationkey)" "region (r_regionkey)"; do
		echo "ALTER TABLE k.${key%% *} ADD PRIMARY KEY ${key#* };"
	done
}

load() {
	local database=$1 dir=$2 kind=$3
	sql -c "CREATE DATABASE $database"
	{
		echo "SET client_min_messages = error; CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;"
		for schema in p q; do
			echo "CREATE SCHEMA $schema; IMPORT FOREIGN SCHEMA x FROM SERVER lake INTO $schema OPTIONS (format 'parquet', location '$dir');"
		done
		for schema in h $([ "$kind" = tpch ] && echo k); do
			echo "CREATE SCHEMA $schema;"
			echo "SELECT format('CREATE TABLE $schema.%I AS SELECT * FROM p.%I', relname, relname) FROM pg_class WHERE relnamespace = 'p'::regnamespace \\gexec"
		done
		[ "$kind" = tpch ] && keys
		echo "SELECT format('ANALYZE q.%I', relname) FROM pg_class WHERE relnamespace = 'q'::regnamespace \\gexec"
		echo "VACUUM (FREEZE, ANALYZE);"
	} | sql -d "$database" || die "$database cannot be loaded"
}

rc=0
for suite in $suites; do
	kind=${suite%-*} scale=${suite#*-}
	data=build/bench/$suite
	$python test/bench/tpc_data.py "$kind" "$scale" "$data" || exit 1
	dir=$(test/server.sh path tpc)/$suite
	cp -r "$data" "$dir" && chmod -R a+rX "$dir"
	load "${suite//[-.]/_}" "$dir" "$kind"
	echo "$suite, analysed; CPU milliseconds, the least of ${RUNS:-3} runs in turns"
	if [ "$kind" = tpch ]; then
		schemas="q h k" bars="--most=h:1.2 --most=k:2"
	else
		schemas="q h" bars="--most=h:2 --mean=h:0.8"
	fi
	# shellcheck disable=SC2086
	$python test/bench/tpc_run.py "$data" $schemas $bars --runs="${RUNS:-3}" --timeout="${TIMEOUT:-30}" --only="$ONLY" \
		--psql="test/server.sh psql tpc -d ${suite//[-.]/_}" || rc=1
	rm -r "$dir"
done
exit $rc
