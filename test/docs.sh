#!/bin/bash
# The parts of README.md that are said by the extension itself: options, settings, functions and views.
#   test/docs.sh print      the tables, as they should be
#   test/docs.sh check      fails when README.md differs, or an object of the extension has no comment
#   test/docs.sh write      puts them into README.md, between <!-- NAME --> and <!-- /NAME -->
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 2

out=$ROOT/build/test/docs
mkdir -p "$out"
test/server.sh start docs || exit 1
trap 'test/server.sh stop docs' EXIT
sql() {
	test/server.sh psql docs -qAt -v ON_ERROR_STOP=1 "$@" || exit 1
}
sql -c "SET client_min_messages = error; DROP EXTENSION IF EXISTS bifang_fdw CASCADE; CREATE EXTENSION bifang_fdw" || exit 1

# Tables of Markdown; a cell has no line ends and no bars.
sql >"$out/options" <<'SQL'
SELECT '| option | of | values | default | who may set it | what |';
SELECT '|---|---|---|---|---|---|';
SELECT format('| `%s` | %s | %s | %s | %s | %s |', name, applies_to, replace(kind, '"', '`'),
	default_value, CASE WHEN role LIKE 'pg\_%' THEN '`' || role || '`' WHEN role IS NOT NULL THEN 'superusers' END,
	replace(description, '|', '\|'))
FROM (SELECT name, applies_to, kind, replace(default_value, '<', '&lt;') AS default_value, role, description FROM bifang.options()) o
ORDER BY array_position('{server,"foreign table",column,"IMPORT FOREIGN SCHEMA"}', split_part(applies_to, ', ', 1)) NULLS LAST, name COLLATE "C";
SQL
sql >"$out/settings" <<'SQL'
SELECT '| setting | type | default | who may set it | what |';
SELECT '|---|---|---|---|---|';
LOAD 'bifang_fdw';
SELECT format('| `%s` | %s | `%s` | %s | %s |', name, vartype,
	CASE WHEN unit IN ('kB', '8kB', 'B', 'MB') THEN pg_size_pretty(pg_size_bytes(reset_val || unit)) ELSE reset_val || coalesce(unit, '') END,
	CASE context WHEN 'user' THEN 'anyone' ELSE context END, concat_ws(' ', short_desc, extra_desc))
FROM pg_settings WHERE name LIKE 'bifang.%' ORDER BY name COLLATE "C";
SQL
sql -v uncommented="$out/uncommented" >"$out/objects" <<'SQL'
CREATE TEMP VIEW object AS
SELECT classid, objid, obj_description(objid, classid::regclass::name) AS about,
	pg_describe_object(classid, objid, 0) AS described,
	CASE WHEN classid = 'pg_proc'::regclass THEN (SELECT CASE WHEN prorettype IN ('fdw_handler'::regtype, 'event_trigger'::regtype)
			OR oid = (SELECT fdwvalidator FROM pg_foreign_data_wrapper WHERE fdwname = 'bifang_fdw') THEN 'internal' ELSE 'function' END FROM pg_proc WHERE oid = objid)
		WHEN classid = 'pg_class'::regclass THEN (SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'r' THEN 'table' ELSE 'internal' END FROM pg_class WHERE oid = objid)
		ELSE 'internal' END AS kind,
	CASE WHEN classid = 'pg_proc'::regclass THEN (SELECT format('%I.%I(%s)', pronamespace::regnamespace, proname, pg_get_function_arguments(oid)) FROM pg_proc WHERE oid = objid)
		WHEN classid = 'pg_class'::regclass THEN objid::regclass::text END AS name
FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bifang_fdw') AND classid <> 'pg_type'::regclass;
SELECT '| function | what |';
SELECT '|---|---|';
SELECT format('| `%s` | %s |', regexp_replace(regexp_replace(replace(name, '"', ''), ',? ?\mOUT [^,)]*', '', 'g'), '\(,? *', '('), about) FROM object WHERE kind = 'function' ORDER BY name COLLATE "C";
SELECT '';
SELECT '| view, table | what |';
SELECT '|---|---|';
SELECT format('| `%s` | %s |', name, about) FROM object WHERE kind IN ('view', 'table') ORDER BY kind DESC, name COLLATE "C";
SELECT described FROM object WHERE about IS NULL \g :uncommented
SQL

# What stands between the markers of README.md, or README.md with the new text there.
case ${1:-check} in
	print) cat "$out/options" "$out/settings" "$out/objects" ;;
	write | check)
		OUT=$out perl -0pe 's{(<!-- (options|settings|objects) -->\n).*?(<!-- /\2 -->)}
			{ my ($a, $n, $z) = ($1, $2, $3); local $/; open(my $f, "<", "$ENV{OUT}/$n") or die; $a . <$f> . $z }gse' README.md >"$out/README.md"
		if [ "${1:-check}" = write ]; then
			cp "$out/README.md" README.md
		else
			rc=0
			[ "$(grep -c '^<!-- /*\(options\|settings\|objects\) -->$' README.md)" = 6 ] || {
				echo "README.md lacks a marker"
				rc=1
			}
			diff -u README.md "$out/README.md" || {
				echo "README.md is not what the extension says: make docs-tables"
				rc=1
			}
			[ ! -s "$out/uncommented" ] || {
				sed 's/$/: no COMMENT/' "$out/uncommented"
				rc=1
			}
			exit $rc
		fi
		;;
	*) die "print, check or write" ;;
esac
