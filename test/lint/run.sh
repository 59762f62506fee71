#!/bin/bash
# The lints that need nothing built (symbols.sh looks at the library).
#   test/lint/run.sh [NAME ...]
# A lint says what is wrong and where, and ends with 0, or with 77 when it cannot look.
cd "$(dirname "$0")" || exit 2
failed=0
for lint in ${*:-layers outside names style headers words format}; do
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
