#!/bin/bash
# The differential test: predicates over tables of every type and partition transform, in all tiers. Whatever is
# switched on or off, the foreign table and its heap twin must give the same answer, and files, row groups, pages and
# rows that must be left out are counted as left out; what differs is printed as the statement that shows it.
#   test/diff/run.sh
# DIFF_SEED=n other tables and predicates; DIFF_N=n predicates per table (more take longer); DIFF_MODES=all each
# with every setting off by itself, not only one of them in turn; DIFF_CORPUS=all adds every
# table and file of the corpus; DIFF_KEEP=1 leaves the server running. A query is one test, in however many modes.
. "$(dirname "$0")/../lib.sh"
here=$(dirname "$0")
server=$here/../server.sh

"$server" start diff fresh fsync=off synchronous_commit=off shared_buffers=256MB || exit 1
eval "$("$server" env diff)"
# A time zone with daylight saving: what depends on it must not be decided at the wrong place.
seed=${DIFF_SEED:-1} n=${DIFF_N:-10}
export PGTZ=America/New_York BIFANG_CORPUS=${BIFANG_CORPUS:-}
export PGOPTIONS="-c diff.seed=$((seed % 1000)) -c diff.all_modes=$([ "${DIFF_MODES:-}" = all ] && echo on || echo off)"

# Every Iceberg table and Parquet file of the corpus, those with deletes among them.
corpus_tables() {
	local dir i=0
	echo '\set ON_ERROR_STOP 0'
	find "$BIFANG_CORPUS" -type d -name metadata | LC_ALL=C sort | while read -r dir; do
		i=$((i + 1))
		echo "CREATE SCHEMA c$i; IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO c$i OPTIONS (location '${dir%/metadata}');"
		echo "\\echo c$i is: ${dir#"$BIFANG_CORPUS"/}"
		echo "SELECT diff.corpus_schema('c$i', $n);"
	done
	find "$BIFANG_CORPUS" -name '*.parquet' \( -path '*/parquet-testing/*' -o -not -path '*/data/*' \) | LC_ALL=C sort | while read -r file; do
		i=$((i + 1))
		echo "CREATE SCHEMA p$i; IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO p$i OPTIONS (format 'parquet', location '${file//\'/\'\'}');"
		echo "\\echo p$i is: ${file#"$BIFANG_CORPUS"/}"
		echo "SELECT diff.corpus_schema('p$i', $n);"
	done
	echo '\set ON_ERROR_STOP 1'
}
# Twins of files of other writers: what another reader found in them.
twins() {
	local file table twin
	for file in "$here"/values/*.csv.gz; do
		table=$(basename "$file" .csv.gz)
		case $table in
			files.prune) tables="files.delta files.dictionary files.no_index files.plain_v2" ;;
			files.nested) tables="files.v1_dict files.v1_plain files.v2_delta" ;;
			*[!a-z0-9_.]* | *.*.* | transforms) continue ;;
			*) tables=$table ;;
		esac
		for twin in $tables; do
			echo "CREATE TABLE ${twin}_heap (LIKE $twin);"
			echo "\\copy ${twin}_heap FROM PROGRAM 'gzip -dc $file' (FORMAT csv, NULL '\\N')"
		done
	done
	for file in "$here"/values/*.digest; do
		echo "INSERT INTO diff.digests VALUES ('$(basename "$file" .digest)', '$(cat "$file")');"
	done
}
transforms=$("$server" path diff)/transforms
mkdir -p "$transforms" && tar -C "$transforms" -xzf "$RUN/data/transforms.tar.gz" && chmod -R a+rX "$transforms" || exit 1
echo "seed $seed, $n predicates per table"
{
	cat "$here/lib.sql" "$here/generic.sql"
	perl "$here/generate.pl" "$seed" "$n"
	cat "$here/sources.sql"
	echo "SET TimeZone = 'UTC';"
	twins
	echo "RESET TimeZone;"
	for schema in files lakes topics; do echo "SELECT diff.generic_schema('$schema', :n);"; done
	cat "$here/hostile.sql"
	cat "$here/counters.sql"
	echo "\\copy cnt.theirs FROM PROGRAM 'gzip -dc $here/values/transforms.csv.gz' (FORMAT csv, NULL '\\N')"
	perl "$here/counters.pl" "$seed" "$((n * 6 / 10 + 1))" "$transforms" ledgers
	[ "${DIFF_CORPUS:-}" != all ] || corpus_tables
	cat "$here/report.sql"
} >"$RUN/diff.sql"
psql -X -q -A -t -v ON_ERROR_STOP=1 -v n="$n" -f "$RUN/diff.sql" 2>&1 | grep -v '^$' | tee "$RUN/diff.out"
[ "${DIFF_KEEP:-}" ] || "$server" stop diff
tail -1 "$RUN/diff.out" | grep -q '^[1-9][0-9]* passed, 0 failed,'
