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
python3 "$(dirname "$0")/check.py" "$@"
status=$?
"$server" stop corpus
exit $status
