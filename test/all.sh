#!/bin/bash
# Every test there is, one after the other; what fails does not keep the rest from running. Ends with
# one line over all: `N passed, N failed, N skipped`. Full output is in build/test/<step>.log.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

logs=$ROOT/build/test
mkdir -p "$logs"
passed=0 failed=0 skipped=0

count() {
	grep -cE "$1" "$2"
}

# Adds what a step's log tells, in the words of the tool that wrote it.
add() {
	local step=$1 kind=$2 rc=$3 log=$logs/$1.log p=0 f=0 s=0 line
	case $kind in
		sum)
			line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -1)
			read -r p f s < <(echo "${line:-0 passed, 0 failed, 0 skipped}" | tr -dc '0-9 ')
			;;
		regress) # "test name ... ok 12 ms", in a later release "ok 1 - name"
			p=$(count '^(test .*\.\.\. ok|ok [0-9]+ )' "$log")
			f=$(count '^(test .*\.\.\. FAILED|not ok [0-9]+ )' "$log")
			;;
		tap)
			s=$(count '^ok .*# (SKIP|skip)|^1\.\.0 # SKIP' "$log")
			p=$(($(count '^ok ' "$log") - $(count '^ok .*# (SKIP|skip)' "$log")))
			f=$(count '^not ok ' "$log")
			;;
		one) if [ "$rc" = 0 ]; then p=1; else f=1; fi ;;
	esac
	# A step that broke off before it could count is a failure too.
	if [ "$rc" != 0 ] && [ "$f" = 0 ]; then f=1; fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-16s %5d passed %4d failed %4d skipped %5d s\n' "$step" "$p" "$f" "$s" "$((SECONDS - began))"
	if [ "$f" != 0 ]; then
		grep -E 'FAIL|not ok|[Ee]rror|ERROR|does not|undefined|runtime error' "$log" | head -40
		echo "--- the end of $log"
		tail -"${TAIL:-30}" "$log"
		echo "---"
	fi
}

step() {
	local name=$1 kind=$2 rc
	shift 2
	case " ${ONLY:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	began=$SECONDS
	"$@" >"$logs/$name.log" 2>&1 </dev/null
	rc=$?
	add "$name" "$kind" $rc
	return $rc
}

make="make --no-print-directory -j${JOBS:-2}"
step core one $make core
step lint one test/lint/run.sh
step lint-selftest sum test/lint/selftest.sh
step unit sum $make unit
step unit-release sum $make unit-release
step fuzz-replay sum $make fuzz-replay
if step stage one $make stage; then
	step symbols one test/lint/symbols.sh build/pg/bifang_fdw.so
	step docs one test/docs.sh check
	step regress regress test/regress.sh
	step isolation regress test/isolation.sh
	step tap tap test/tap.sh
	step diff sum test/diff/run.sh
	[ ! -x test/corpus/run.sh ] || step corpus sum test/corpus/run.sh
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
