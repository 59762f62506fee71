#!/bin/bash
# Other programs read what we wrote and write what we read: PyIceberg, Spark and DuckDB (the lake),
# Kafka's dump tool (the log). Their packages go into build/venv, build/spark-jars and
# build/kafka-dump; what can't be had is skipped, loudly and counted. Not part of `make test`.
#   test/interop.sh [step ...]        unit parquet sql kafka pyiceberg spark
#   INTEROP_PYTHON, DUCKDB_PYTHON, SPARK_PYTHON   interpreters that have the packages already
#   INTEROP_SECONDS                   how long all of it may take, roughly (540): Spark gets what is left
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

logs=$ROOT/build/test
mkdir -p "$logs"
passed=0 failed=0 skipped=0

missing=()
skip() {
	missing+=("$*")
	skipped=$((skipped + 1))
}

# Runs one program and adds the `N passed, N failed, N skipped` that it ends with.
step() {
	local name=$1 log=$logs/interop-$1.log rc p f s line
	shift
	"$@" >"$log" 2>&1 </dev/null
	rc=$?
	read -r p f s < <(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1 | tr -dc '0-9 \n')
	if [ $rc != 0 ] && [ "${f:-0}" = 0 ]; then f=1; fi
	if [ $((${p:-0} + ${f:-0} + ${s:-0})) = 0 ]; then
		echo "$name: no test ran" >>"$log"
		f=1
	fi
	printf '%-16s %5d passed %4d failed %4d skipped\n' "$name" "${p:-0}" "${f:-0}" "${s:-0}"
	while read -r line; do missing+=("$name: ${line#SKIPPED: }"); done < <(grep '^SKIPPED' "$log")
	if [ "${f:-0}" != 0 ]; then
		tail -"${TAIL:-40}" "$log"
		note_failed "$name" "$log"
	fi
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
			timeout "${PIP_SECONDS:-400}" "$dir/bin/pip" install -q --disable-pip-version-check "$@" >>"$dir.log" 2>&1 || return 1
		echo "$list" >"$dir/complete"
	fi
	echo "$dir/bin/python"
}

peers=${INTEROP_PYTHON:-$(venv peers 'pyiceberg[sql-postgres,sql-sqlite,pyarrow,pyiceberg-core]==0.12.*' fastavro)}
if [ -z "$peers" ]; then
	why="PyIceberg cannot be installed: $(tail -1 build/venv/peers.log)"
	for part in unit sql pyiceberg spark; do
		wanted $part && skip "$part: $why"
	done
fi
duckdb=${DUCKDB_PYTHON:-$(venv duckdb duckdb==1.4.4 duckdb-ext-iceberg duckdb-ext-avro duckdb-ext-parquet duckdb-ext-httpfs)}
if [ -z "$duckdb" ] && [ -n "$peers" ]; then
	why="DuckDB with its packaged extensions cannot be installed: $(tail -1 build/venv/duckdb.log)"
	for part in unit sql; do
		wanted $part && skip "DuckDB in $part: $why"
	done
fi

if wanted unit && [ -n "$peers" ]; then
	step unit "$peers" test/interop/iceberg_check.py build/unit/run $duckdb
fi
if wanted parquet; then
	# Files of our Parquet writer, judged by everybody who reads such.
	writers=$(venv writers duckdb==1.5.5 pyarrow==26.0.1 polars==2.1.0 datafusion==55.0.0 fastparquet==2026.9.0 pytz)
	if [ -z "$writers" ]; then
		skip "parquet: readers cannot be installed: $(tail -1 build/venv/writers.log)"
	elif make -s parquet-write CORE_CC="${CORE_CC:-gcc}" >"$logs/interop-parquet-build.log" 2>&1; then
		step parquet "$writers" test/interop/parquet_check.py build/core/parquet_write
	else
		failed=$((failed + 1))
		tail -20 "$logs/interop-parquet-build.log"
	fi
fi
segments=
if wanted sql || wanted kafka; then
	# Tables made and filled through SQL; the log directories are then judged by Kafka's tool.
	test/server.sh start interop fresh || exit 1
	eval "$(test/server.sh env interop)"
	export INTEROP_DIR=$(test/server.sh path interop)
	install -d -m 755 -o "$SERVER_USER" "$INTEROP_DIR/lake"
	if ! test/server.sh psql interop -q -v ON_ERROR_STOP=1 -v lake="$INTEROP_DIR/lake" -f test/interop/fill.sql \
		>"$logs/interop-fill.log" 2>&1; then
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
room() {
	echo $((${INTEROP_SECONDS:-540} - SECONDS))
}
# Tables of other programs, each compared with what its writer reads from it.
theirs() {
	local name=$1 dir=$INTEROP_DIR/$1
	shift
	rm -rf "$dir"
	mkdir -p "$dir"
	chmod 755 "$dir"
	step "$name-write" "$@"
	chmod -R a+rX "$dir"
	[ -f "$dir/expected.json" ] && CHECK_SECONDS=50 step "$name-read" "$peers" test/interop/lake_check.py "$dir"
}
spark_jars() {
	local jars=$ROOT/build/spark-jars jar
	for jar in org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0 org.xerial:sqlite-jdbc:3.46.1.3; do
		timeout 60 mvn -q -B dependency:copy -Dartifact=$jar -DoutputDirectory="$jars" >"$ROOT/build/spark-jars.log" 2>&1 || return 1
	done
	echo "$jars/iceberg-spark-runtime-3.5_2.12-1.10.0.jar,$jars/sqlite-jdbc-3.46.1.3.jar"
}
if { wanted pyiceberg || wanted spark; } && [ -n "$peers" ]; then
	test/server.sh start interop || exit 1
	eval "$(test/server.sh env interop)"
	export INTEROP_DIR=$(test/server.sh path interop)
	wanted pyiceberg && theirs pyiceberg "$peers" test/interop/pyiceberg_tables.py "$INTEROP_DIR/pyiceberg"
	if wanted spark && [ "$(room)" -lt 200 ]; then
		skip "spark: no time left"
	elif wanted spark; then
		spark=${SPARK_PYTHON:-$(PIP_SECONDS=$(($(room) - 160)) venv spark pyspark==3.5.6)}
		jars=$(spark_jars)
		seconds=$(($(room) - 100))
		if [ -z "$spark" ] || [ -z "$jars" ] || ! command -v java >/dev/null; then
			skip "spark: Spark 3.5.6 with Iceberg 1.10.0 cannot be had (PyPI, Maven and Java 17 are needed)"
		elif [ $seconds -lt 40 ]; then
			skip "spark: no time left"
		else
			wanted parquet && [ -n "$writers" ] &&
				step parquet-spark "$writers" test/interop/parquet_check.py build/core/parquet_write "$spark"
			SPARK_SECONDS=$((seconds < 150 ? seconds : 150)) theirs spark \
				"$spark" test/interop/spark_tables.py "$INTEROP_DIR/spark" "$jars"
		fi
	fi
fi
test/server.sh stop interop >/dev/null 2>&1
for part in "${missing[@]}"; do
	echo "SKIPPED $part"
done
tell_failed
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
