#!/bin/bash
# The lints. Those that look at objects look at what is built and not older than the sources, see
# objects.pl; needs.sh and symbols.sh look at what is linked.
#   test/lint/run.sh [NAME ...]
# A lint says what is wrong and where, and ends with 0, or with 77 when it cannot look.
cd "$(dirname "$0")" || exit 2
failed=0
for lint in ${*:-layers objects outside names kinds style asserts headers words format}; do
	./"$lint".*
	case $? in
		0 | 77) ;;
		*)
			echo "lint $lint failed"
			failed=1
			;;
	esac
done
exit $failed
