#!/bin/bash
# Other programs read what we wrote and write what we read: PyIceberg and DuckDB (the lake), Kafka's
# dump tool (the log). Their packages go into build/venv and build/kafka-dump; what can't be had is
# skipped, loudly and counted. Not part of `make test`.
#   test/interop.sh [step ...]        unit sql kafka
#   INTEROP_PYTHON, DUCKDB_PYTHON     interpreters that have the packages already
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

logs=$ROOT/build/test
mkdir -p "$logs"
passed=0 failed=0 skipped=0

skip() {
	echo "SKIPPED: $*"
	skipped=$((skipped + 1))
}

# Runs one program and adds the `N passed, N failed, N skipped` that it ends with.
step() {
	local name=$1 log=$logs/interop-$1.log rc p f s
	shift
	"$@" >"$log" 2>&1 </dev/null
	rc=$?
	read -r p f s < <(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1 | tr -dc '0-9 \n')
	if [ $rc != 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
	printf '%-16s %5d passed %4d failed %4d skipped\n' "$name" "${p:-0}" "${f:-0}" "${s:-0}"
	grep '^SKIPPED' "$log"
	[ "${f:-0}" = 0 ] || tail -"${TAIL:-40}" "$log"
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
}

wanted() {
	case " ${steps:-$1} " in *" $1 "*) return 0 ;; esac
	return 1
}
steps=$*

# A virtual environment with some packages; says the path of its interpreter.
venv() {
	local dir=$ROOT/build/venv/$1 list
	shift
	list=$*
	if [ "$(cat "$dir/complete" 2>/dev/null)" != "$list" ]; then
		rm -rf "$dir"
		mkdir -p "$(dirname "$dir")"
		python3 -m venv "$dir" >"$dir.log" 2>&1 &&
			timeout 400 "$dir/bin/pip" install -q --disable-pip-version-check "$@" >>"$dir.log" 2>&1 || return 1
		echo "$list" >"$dir/complete"
	fi
	echo "$dir/bin/python"
}

peers=${INTEROP_PYTHON:-$(venv peers 'pyiceberg[sql-postgres,sql-sqlite,pyarrow,pyiceberg-core]==0.12.*' fastavro)}
[ -n "$peers" ] || skip "PyIceberg cannot be installed: $(tail -1 build/venv/peers.log)"
duckdb=${DUCKDB_PYTHON:-$(venv duckdb duckdb==1.4.4 duckdb-ext-iceberg duckdb-ext-avro duckdb-ext-parquet duckdb-ext-httpfs)}
[ -n "$duckdb" ] || skip "DuckDB with its packaged extensions cannot be installed: $(tail -1 build/venv/duckdb.log)"

if wanted unit && [ -n "$peers" ]; then
	step unit "$peers" test/interop/iceberg_check.py build/unit/run $duckdb
fi
segments=
if wanted sql || wanted kafka; then
	# Tables made and filled through SQL; the log directories are then judged by Kafka's tool.
	test/server.sh start interop fresh || exit 1
	eval "$(test/server.sh env interop)"
	export INTEROP_DIR=$(test/server.sh path interop)
	install -d -m 755 -o "$SERVER_USER" "$INTEROP_DIR/lake"
	if test/server.sh psql interop -q -v ON_ERROR_STOP=1 -v lake="$INTEROP_DIR/lake" -f test/interop/fill.sql \
		>"$logs/interop-fill.log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -20 "$logs/interop-fill.log"
	fi
	if [ -n "$peers" ]; then
		wanted sql && step sql "$peers" test/interop/sql_check.py $duckdb
	fi
	segments=$(test/server.sh data interop)/bifang/live
fi
if wanted kafka; then
	step kafka-unit sh test/interop/kafka_dump.sh
	step kafka-sql sh test/interop/kafka_dump.sh "$segments"
fi
test/server.sh stop interop >/dev/null 2>&1
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
