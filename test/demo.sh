#!/usr/bin/env bash
# make demo: a private PostgreSQL, a table that Spark wrote, and its three tiers in one query.
# The server stays up with KEEP=1; everything lives under build/ and the run directory that
# test/server.sh prints.
set -euo pipefail
cd "$(dirname "$0")/.."

name=demo
test/server.sh stop "$name" >/dev/null 2>&1 || true
test/server.sh start "$name" fresh
run=$(test/server.sh path "$name")
finish()
{
	if [ "${KEEP:-0}" = 1 ]; then
		printf '\nThe server is still running. Connect with\n    %s\nand stop it with\n    test/server.sh stop %s\n' \
			"test/server.sh psql $name" "$name"
	else
		test/server.sh stop "$name" >/dev/null
	fi
}
trap finish EXIT

# The Spark table ships with the sources; its metadata says file:///srv/lake/shop/orders, so what
# follows is a table that was moved.
warehouse=$run/lake
mkdir -p "$warehouse/shop"
cp -r test/data/shop/orders "$warehouse/shop/orders"
[ "$(id -u)" -ne 0 ] || chown -R "${BIFANG_TEST_USER:-postgres}:" "$warehouse"

say()
{
	printf '\n\033[1m-- %s\033[0m\n' "$1"
}

sql()
{
	test/server.sh psql "$name" -X -q -v ON_ERROR_STOP=1 -c '\pset footer off' "$@"
}

tiers="SELECT tier, count(*), sum(amount) AS amount, min(ordered_at), max(ordered_at)
	FROM orders GROUP BY ROLLUP (tier) ORDER BY tier"

say "An Iceberg table from Spark: 120,000 rows in 10 day partitions"
sql -c "CREATE EXTENSION bifang_fdw" \
	-c "CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$warehouse')" \
	-c "SELECT bifang.register_table('lake', 'shop', 'orders', '$warehouse/shop/orders') IS NOT NULL AS registered" \
	-c "IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO public" \
	-c "ALTER FOREIGN TABLE orders ADD COLUMN tier text OPTIONS (meta 'tier')" \
	-c '\d orders' \
	-c "SELECT country, count(*), sum(amount) FROM orders WHERE status = 'shipped' GROUP BY country ORDER BY 2 DESC LIMIT 5"

say "Rows are appended to the log and can be queried at once"
sql -c "INSERT INTO orders (order_id, ordered_at, customer_id, country, status, amount, items)
	SELECT 120000 + i, timestamp '2026-03-11' + i * interval '1 minute', i % 5000, 'CN', 'open', 9.99, 1
	FROM generate_series(0, 4999) i" -c "$tiers"

say "Commit names them in the lake, roll and offload move them; the answer stays the same"
sql -c "SELECT * FROM bifang.commit('orders')" \
	-c "SELECT bifang.roll('orders') AS ledgers_closed" \
	-c "SELECT * FROM bifang.offload('orders')" \
	-c "INSERT INTO orders (order_id, ordered_at, customer_id, country, status, amount, items)
	SELECT 125000 + i, timestamp '2026-03-15' + i * interval '1 minute', i % 5000, 'DE', 'open', 5.00, 1
	FROM generate_series(0, 999) i" \
	-c "$tiers"

say "What one query reads"
sql -c "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*), sum(amount) FROM orders"

say "The manifest: Parquet files, logical files and what is still only in the log"
sql -c "SELECT form, count(*) AS files, sum(rows) AS rows, string_agg(ranges, ' ' ORDER BY file) AS entries FROM bifang.manifest('orders') GROUP BY form ORDER BY form"

say "Every entry is covered exactly once: no row from bifang.check means all is well"
sql -c "SELECT count(*) AS findings FROM bifang.check('orders')"
