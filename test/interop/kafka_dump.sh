#!/bin/sh
# Kafka's own dump tool on segments that our writer made.
#
#   kafka_dump.sh [DIR ...]    every .log, .index and .timeindex below the directories; without any,
#                              ledgers that the unit test keep_ledgers writes
#
# Fails on any complaint of the tool: an invalid batch, an index entry that does not fit, bytes at
# the end that are no batch. Needs Java 17 and Maven; Kafka's jars are kept under $BUILD. Ends with
# `N passed, N failed, N skipped`.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
work=$BUILD/kafka-dump
version=4.1.1

if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
	echo "SKIPPED: Kafka's dump tool needs java and mvn"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

if [ ! -e "$work/jars-$version/complete" ]; then
	rm -rf "$work/jars-$version"
	mkdir -p "$work/jars-$version"
	cat >"$work/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bifang</groupId><artifactId>kafka-dump</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
XML
	mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies \
		-DoutputDirectory="$PWD/$work/jars-$version" -DincludeScope=runtime || {
		echo "SKIPPED: Maven does not get the jars of Kafka $version"
		echo "0 passed, 0 failed, 1 skipped"
		exit 0
	}
	touch "$work/jars-$version/complete"
fi

if [ $# -eq 0 ]; then
	rm -rf "$work/ledgers"
	mkdir -p "$work/ledgers"
	BIFANG_KEEP_DIR="$PWD/$work/ledgers" "${UNIT_RUN:-$BUILD/unit/run}" keep_ledgers
	set -- "$work/ledgers"
fi

passed=0
failed=0
for log in $(find "$@" -name '*.log' | sort); do
	stem=${log%.log}
	files=$log
	[ ! -s "$stem.index" ] || files=$files,$stem.index
	[ ! -s "$stem.timeindex" ] || files=$files,$stem.timeindex
	rc=0
	# --index-sanity-check alone does not compare entries with the log; both runs together do all.
	for options in "--print-data-log" "--index-sanity-check"; do
		java -Xmx512m -XX:+UseSerialGC -cp "$work/jars-$version/*" kafka.tools.DumpLogSegments \
			$options --files "$files" >"$work/out" 2>"$work/err" || rc=1
		grep -v -e SLF4J -e log4j -e StatusLogger "$work/err" >"$work/complaints" || true
		grep -e 'isvalid: false' -e 'ismatch' -e '^Mismatches' -e 'timestamp mismatch' -e 'not found' \
			-e 'out of order' -e 'invalid bytes' -e 'corrupt' "$work/out" >>"$work/complaints" || true
		[ "$options" != "--print-data-log" ] || batches=$(grep -c '^baseOffset' "$work/out" || true)
		[ ! -s "$work/complaints" ] || rc=1
		if [ $rc -ne 0 ]; then
			sed "s|^|$log: |" "$work/complaints" | head -20
			break
		fi
	done
	if [ $rc -eq 0 ] && [ "$batches" -gt 0 -o ! -s "$log" ]; then
		passed=$((passed + 1))
	else
		echo "FAIL $log ($batches batches)"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
