#!/bin/bash
# Other programs read what we wrote and write what we read. Needs those programs; what is missing is
# skipped. Not part of `make test`.
#   test/interop.sh [file ...]        INTEROP_PYTHON: an interpreter with the peers' packages
#                                     DUCKDB_PYTHON: one with duckdb and its packaged extensions
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

python=${INTEROP_PYTHON:-python3}
passed=0 failed=0 skipped=0
files=$*
[ -n "$files" ] || files=$(ls test/interop/*.py test/interop/*.sh 2>/dev/null)
logs=$ROOT/build/test
mkdir -p "$logs"
for f in $files; do
	log=$logs/interop-$(basename "$f").log
	case $f in
		*.py)
			# All modules that it imports at the left margin have to be there.
			modules=$(sed -nE 's/^(import|from) ([A-Za-z0-9_]+).*/import \2/p' "$f" | sort -u)
			if ! echo "$modules" | "$python" - 2>/dev/null; then
				echo "skip $f: $python lacks a module of: $(echo $modules | sed 's/import //g')"
				skipped=$((skipped + 1))
				continue
			fi
			"$python" "$f" build/unit/run ${DUCKDB_PYTHON:-} >"$log" 2>&1
			;;
		*) bash "$f" >"$log" 2>&1 ;;
	esac
	rc=$?
	cat "$log"
	read -r p x s < <(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1 | tr -dc '0-9 \n')
	if [ $rc != 0 ] && [ "${x:-0}" = 0 ]; then x=1; fi
	passed=$((passed + ${p:-0})) failed=$((failed + ${x:-0})) skipped=$((skipped + ${s:-0}))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
