#!/bin/bash
# Reads the files of a corpus through SQL: test/corpus/run.sh [text that the file names must have].
# The corpus is the directory that BIFANG_CORPUS names; without it there is nothing to do.
. "$(dirname "$0")/../lib.sh"
if [ ! -d "${BIFANG_CORPUS:-}" ]; then
	echo "SKIPPED: BIFANG_CORPUS names no directory"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
server=$(dirname "$0")/../server.sh
"$server" start corpus || exit 1
eval "$("$server" env corpus)"
# What was once read wrongly first, then everything; the last line is the sum.
sums=$(mktemp)
status=0
for part in found check; do
	python3 "$(dirname "$0")/$part.py" "$@" | tee "$sums.$part"
	[ "${PIPESTATUS[0]}" = 0 ] || status=1
done
cat "$sums".* | awk -F'[ ,]+' '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
	p += $1; f += $3; s += $5 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped" }'
rm -f "$sums" "$sums".*
"$server" stop corpus
exit $status
