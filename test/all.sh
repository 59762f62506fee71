#!/bin/bash
# Every test there is, one after the other; what fails does not keep the rest from running. Ends with
# one line over all: `N passed, N failed, N skipped`. Full output is in build/test/<step>.log.
#   ONLY="step ..." test/all.sh     some steps
# The sum is one of tests. What is built or looked at on the way (core, lints, stage) has none, and
# the unit tests count once, though they run over two kinds of objects; all of it counts when it fails.
# A step that could not do anything is skipped, and one without any test fails.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

logs=$ROOT/build/test
mkdir -p "$logs"
passed=0 failed=0 skipped=0

count() {
	grep -cE "$1" "$2"
}

# Adds what a step's log tells, in the words of the tool that wrote it.
#   sum      ends with `N passed, N failed, N skipped`
#   again    so does it, of tests that have been counted
#   regress  pg_regress
#   tap      TAP
#   work     no tests: right or wrong; 77 is skipped
add() {
	local step=$1 kind=$2 rc=$3 log=$logs/$1.log p=0 f=0 s=0 line said=
	case $kind in
		sum | again)
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
		work) case $rc in 0) ;; 77) s=1 ;; *) f=1 ;; esac ;;
	esac
	if [ "$kind" != work ] && [ $((p + f + s)) = 0 ]; then
		echo "$step: no test ran" >>"$log"
		f=1
	fi
	# A step that broke off before it could count is a failure too.
	if [ "$rc" != 0 ] && [ "$rc" != 77 ] && [ "$f" = 0 ]; then f=1; fi
	if [ "$f" = 0 ]; then
		case $kind:$p:$s in
			work:*:0) said=done ;;
			*:0:*) said=skipped ;;
			again:*) said='the same tests' ;;
		esac
	fi
	printf '%-16s %5d passed %4d failed %4d skipped %5d s  %s\n' "$step" "$p" "$f" "$s" "$((SECONDS - began))" "$said"
	[ "$kind" != again ] || p=0 s=0
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$s" = 0 ] || grep -iE '^skip(ped)?[: ]|^ok .*# skip|^1\.\.0 # skip' "$log" | cut -c1-150 | head -20 | sed 's/^/    /'
	if [ "$f" != 0 ]; then
		grep -E 'FAIL|not ok|[Ee]rror|ERROR|does not|undefined|runtime error' "$log" | head -40
		note_failed "$step" "$log"
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

# As a server that the extension was installed into.
installcheck() {
	test/server.sh start installed fresh || return 1
	(
		eval "$(test/server.sh env installed)"
		unset BIFANG_TEST_DATA
		test/regress.sh --installed read_caches read_parquet
	)
	local rc=$?
	test/server.sh drop installed
	return $rc
}

make="make --no-print-directory -j${JOBS:-2}"
step core work $make core
step lint-needs work test/lint/needs.sh build/core/core.so
for lint in layers objects outside names kinds style asserts headers words format; do
	step "lint-$lint" work test/lint/$lint.*
done
step lint-selftest sum test/lint/selftest.sh
# Mutants rot where nobody sees that their lines have moved.
step mutants-fit work $make mutants-check
step package sum test/package.sh check
step unit sum $make unit
step unit-release again $make unit-release
step fuzz-replay sum $make fuzz-replay
if step stage work $make stage; then
	step objects-pg work test/lint/objects.pl build/pg
	step symbols work test/lint/symbols.sh build/pg/bifang_fdw.so
	step docs work test/docs.sh check
	step diff sum test/diff/run.sh
	step corpus sum test/corpus/run.sh
fi
# What changes things runs with the assertions compiled in.
if CHECKED=1 step stage-checked work $make stage; then
	step regress regress test/regress.sh
	step installcheck regress installcheck
	step isolation regress test/isolation.sh
	step tap tap test/tap.sh
fi
tell_failed
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
