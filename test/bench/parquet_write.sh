#!/bin/bash
# make bench: TPC-H's lineitem at scale 1, written by us, DuckDB, PyArrow and Polars, in turns, one thread
# each; CPU time and size. Their packages go into build/venv; without a network this is skipped, loudly.
#   RUNS=3   LINEITEM=<file>
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

python=build/venv/bench-write/bin/python
$python -c 'import duckdb, polars, pyarrow' 2>/dev/null || {
	python3 -m venv build/venv/bench-write &&
		build/venv/bench-write/bin/pip install -q duckdb==1.5.5 duckdb-extension-tpch==1.5.5 pyarrow==26.0.1 polars==2.1.0
} || {
	echo "SKIPPED: writing lineitem: DuckDB, PyArrow and Polars cannot be installed from PyPI"
	exit 0
}
file=${LINEITEM:-build/bench/tpch-1/lineitem.parquet}
[ -f "$file" ] || $python test/bench/tpc_data.py tpch 1 build/bench/tpch-1 || exit 1
make -s parquet-write || exit 1
$python test/bench/parquet_write.py "$file" build/core/parquet_write "${RUNS:-3}"
