#!/bin/bash
# Which layer may include which: arrows point down, neighbours don't see each other.
# Only pg/ includes the server's headers.
cd "$(dirname "$0")/../.." || exit 2

ground="base"
second="$ground vec kernels codec io"
third="$second parquet avro log store"
fourth="$third iceberg exec policy"
allowed() {
	case $1 in
		base) echo "base" ;;
		vec | kernels | codec | io) echo "$ground $1" ;;
		parquet | avro | log | store) echo "$second $1" ;;
		iceberg | exec | policy) echo "$third $1" ;;
		scan) echo "$fourth scan" ;;
		pg) echo "$fourth scan pg" ;;
	esac
}

fail=0
for dir in src/*/; do
	layer=$(basename "$dir")
	may=$(allowed "$layer")
	if [ -z "$may" ]; then
		echo "$dir: not in the table of layers"
		fail=1
		continue
	fi
	while IFS=: read -r file line text; do
		target=${text#*\"}
		target=${target%%/*}
		# pg/ has headers of the server in quotes.
		[ -d "src/$target" ] || [ "$layer" != pg ] || continue
		case " $may " in
			*" $target "*) ;;
			*)
				echo "$file:$line: $layer must not include $target:$text"
				fail=1
				;;
		esac
	done < <(grep -rn --include='*.[ch]' "^#include \"" "$dir")
done
if grep -rn --include='*.[ch]' '"postgres' src | grep -v '^src/pg/'; then
	echo "only src/pg may include the server's headers"
	fail=1
fi
exit $fail
