"""The tables that spark_tables.py makes: SCENARIOS, one entry each.

A step is SQL, where {t} is the table and {dir} the warehouse's directory, or a function of the Spark
session and the table's name. Keys beyond name and steps: catalog (h hadoop, m a SQL one with locations of
its own, jv0 and jv1 SQL of either version), table (full name, where the catalog's rule does not fit), may_fail,
lineage and positions (compare Spark's metadata columns too), moved (directory to move to), refused (what
our refusal must say).
"""

import os

from spark_walk import walk

SCENARIOS = []


def table(name, *steps, **more):
    SCENARIOS.append({"name": name, "steps": steps, **more})


def raw(version=2, **more):
    """Properties whose names are given as they are."""
    pairs = {"format-version": version, **more}
    return "TBLPROPERTIES (" + ", ".join(f"'{k}'='{v}'" for k, v in pairs.items()) + ")"


def structure(**fields):
    return {"type": "struct", "fields": [{"name": k, "type": v} for k, v in fields.items()]}


def api(change):
    """A step through Iceberg's Java API: change(java, table, jvm)."""

    def step(spark, name):
        jvm = spark._jvm
        change(jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name), jvm)
        spark.sql(f"REFRESH TABLE {name}")

    return step


# --- Values at the ends of each type --------------------------------------------------------------
VALUES = {
    "boolean": ["true", "false"],
    "int": ["0", "1", "-1", "2147483647", "-2147483648", "34", "-100", "99", "100"],
    "bigint": [
        "0L",
        "1L",
        "-1L",
        "9223372036854775807L",
        "(-9223372036854775807L - 1L)",
        "34L",
        "-100L",
        "12345678901L",
    ],
    "float": [
        "float('NaN')",
        "float('Infinity')",
        "float('-Infinity')",
        "float('-0.0')",
        "float('0.0')",
        "float(1.5)",
        "float('1.4E-45')",
        "float('3.4028235E38')",
        "float(-1.5)",
    ],
    "double": [
        "double('NaN')",
        "double('Infinity')",
        "double('-Infinity')",
        "double('-0.0')",
        "double('0.0')",
        "1.5D",
        "4.9E-324D",
        "1.7976931348623157E308D",
        "-1.5D",
    ],
    "decimal(9,2)": ["0.00BD", "1.28BD", "-1.29BD", "14.20BD", "9999999.99BD", "-9999999.99BD", "10.65BD", "-0.01BD"],
    "decimal(18,6)": ["0BD", "1.5BD", "-1.5BD", "999999999999.999999BD", "-999999999999.999999BD", "-0.000001BD"],
    "decimal(38,10)": [
        "0BD",
        "1.5BD",
        "-1.5BD",
        "9999999999999999999999999999.9999999999BD",
        "-9999999999999999999999999999.9999999999BD",
        "-0.0000000001BD",
        "123456789012345678901.5BD",
    ],
    "date": [
        f"date'{d}'"
        for d in (
            "1970-01-01",
            "1969-12-31",
            "0001-01-01",
            "9999-12-31",
            "1582-10-15",
            "1900-02-28",
            "2026-02-28",
            "2017-11-16",
            "1969-01-01",
            "1968-02-29",
        )
    ],
    "timestamp": [
        f"timestamp'{d}'"
        for d in (
            "1970-01-01 00:00:00",
            "1969-12-31 23:59:59.999999",
            "0001-01-01 00:00:00",
            "9999-12-31 23:59:59.999999",
            "2026-02-28 12:34:56.789012",
            "2017-11-16 22:31:08",
            "1969-12-31 22:59:59",
            "1968-02-29 01:00:00",
        )
    ],
    "string": [
        "''",
        "'a'",
        "'A'",
        "'abc'",
        "'abcdef'",
        "'汉字 ünï 😀'",
        "'😀😀😀😀😀'",
        "'a b'",
        "'a/b'",
        "'a=b&c?d#e%20'",
        "'null'",
        "'__HIVE_DEFAULT_PARTITION__'",
        "'.'",
        "'..'",
        "'a\\tb\\nc'",
        "'\\'q\\'\"'",
        "repeat('z', 40)",
        "'é'",
        "'e\\u0301'",
    ],
    "binary": ["X''", "X'00'", "X'00FF10'", "X'DEADBEEF'", "X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'", "X'7F'"],
}
VALUES["timestamp_ntz"] = [v.replace("timestamp'", "timestamp_ntz'") for v in VALUES["timestamp"]]


def short(kind):
    return (
        kind.replace("(", "")
        .replace(",", "_")
        .replace(")", "")
        .replace("timestamp_ntz", "tsntz")
        .replace("timestamp", "ts")
    )


def fill(kind, first=1, half=None):
    """INSERT of each value and a NULL, or of one half of them."""
    values = VALUES[kind] + ["NULL"]
    if half is not None:
        values = values[half::2]
    return "INSERT INTO {t} VALUES " + ", ".join(f"({first + i}, {v})" for i, v in enumerate(values))


def of_type(prefix, kind, partition, version=2, **more):
    table(
        f"{prefix}_{short(kind)}",
        f"CREATE TABLE {{t}} (id INT, c {kind}) USING iceberg PARTITIONED BY ({partition}) {raw(version)}",
        fill(kind, 1, 0),
        fill(kind, 100, 1),
        **more,
    )


ALL_COLUMNS = [f"c_{short(k)}" for k in VALUES]


def all_types_rows():
    n = max(len(v) for v in VALUES.values())
    rows = [f"({i}, " + ", ".join(v[i % len(v)] for v in VALUES.values()) + ")" for i in range(n)]
    rows.append("(99, " + ", ".join(f"cast(NULL AS {k})" for k in VALUES) + ")")
    return ", ".join(rows)


ALL_TYPES = "id INT, " + ", ".join(f"{c} {k}" for c, k in zip(ALL_COLUMNS, VALUES))

for version in (1, 2, 3):
    table(
        f"types_v{version}",
        f"CREATE TABLE {{t}} ({ALL_TYPES}) USING iceberg {raw(version)}",
        "INSERT INTO {t} VALUES " + all_types_rows(),
        "INSERT INTO {t} SELECT * FROM {t} WHERE id > 5",
        positions=version == 2,
        lineage=version == 3,
    )

# --- Every transform over every type --------------------------------------------------------------
for kind in VALUES:
    of_type("ident", kind, "c", version=1 if kind in ("int", "string", "decimal(38,10)") else 2)
for kind in (
    "int",
    "bigint",
    "decimal(9,2)",
    "decimal(38,10)",
    "date",
    "timestamp",
    "timestamp_ntz",
    "string",
    "binary",
):
    of_type("bucket", kind, "bucket(4, c)")
for kind in ("int", "bigint"):
    of_type("trunc", kind, "truncate(10, c)")
# Spark itself overflows where the ends of a decimal are truncated.
table(
    "trunc_decimal9_2",
    f"CREATE TABLE {{t}} (id INT, c DECIMAL(9,2)) USING iceberg PARTITIONED BY (truncate(50, c)) {raw()}",
    "INSERT INTO {t} VALUES (1, 10.65), (2, -0.01), (3, 0), (4, NULL), (5, 9999999.99), (6, 10.50), (7, 10.49), (8, -10.50)",
)
table(
    "trunc_decimal38_10",
    f"CREATE TABLE {{t}} (id INT, c DECIMAL(38,10)) USING iceberg PARTITIONED BY (truncate(1000, c)) {raw()}",
    "INSERT INTO {t} VALUES (1, 10.65), (2, -0.0000000001), (3, 0), (4, NULL), (5, 9999999999999999999999999999.9999999999BD), (6, -99999999999999999999.5BD)",
)
of_type("trunc", "string", "truncate(2, c)")
of_type("trunc", "binary", "truncate(2, c)")
for unit in ("years", "months", "days", "hours"):
    for kind in ("date", "timestamp", "timestamp_ntz"):
        if (unit, kind) != ("hours", "date"):
            of_type(unit, kind, f"{unit}(c)", version=1 if unit == "months" else 2)

# --- Partition evolution --------------------------------------------------------------------------
ROW = "SELECT id, concat('s', id % 7), timestamp_ntz'2026-01-30 00:00:00' + make_interval(0,0,0,0,id,0,0), id * 1.5D FROM range({}, {})"
for version in (1, 2, 3):
    table(
        f"part_evolution_v{version}",
        f"CREATE TABLE {{t}} (id BIGINT, s STRING, ts TIMESTAMP_NTZ, d DOUBLE) USING iceberg {raw(version)}",
        "INSERT INTO {t} " + ROW.format(0, 40),
        "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)",
        "INSERT INTO {t} " + ROW.format(40, 80),
        "ALTER TABLE {t} ADD PARTITION FIELD days(ts) AS day",
        "INSERT INTO {t} " + ROW.format(80, 120),
        "ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)",
        "INSERT INTO {t} " + ROW.format(120, 160),
        "ALTER TABLE {t} REPLACE PARTITION FIELD day WITH months(ts) AS month",
        "INSERT INTO {t} " + ROW.format(160, 200),
        "ALTER TABLE {t} ADD PARTITION FIELD s",
        "INSERT INTO {t} " + ROW.format(200, 240),
        "ALTER TABLE {t} DROP PARTITION FIELD month",
        "ALTER TABLE {t} DROP PARTITION FIELD s",
        "INSERT INTO {t} " + ROW.format(240, 280),
        "ALTER TABLE {t} ADD PARTITION FIELD s",
        "INSERT INTO {t} " + ROW.format(280, 320),
        "DELETE FROM {t} WHERE id % 11 = 3",
        max_travel=4,
    )
table(
    "part_renamed",
    "CREATE TABLE {t} (id INT, c STRING, x STRUCT<a: INT, b: STRING>) USING iceberg "
    f"PARTITIONED BY (c, x.a, truncate(1, x.b)) {raw()}",
    # Spark reads a struct that is NULL as one of NULLs when a partition is made of its fields.
    "INSERT INTO {t} VALUES (1, 'a', named_struct('a', 1, 'b', 'xy')), (3, NULL, named_struct('a', NULL, 'b', 'z'))",
    "ALTER TABLE {t} RENAME COLUMN c TO k",
    "ALTER TABLE {t} RENAME COLUMN x.a TO aa",
    "INSERT INTO {t} VALUES (4, 'a', named_struct('aa', 1, 'b', 'xz')), (5, 'c', named_struct('aa', 2, 'b', NULL))",
)
table(
    "part_source_dropped",
    f"CREATE TABLE {{t}} (id INT, c STRING, n INT) USING iceberg PARTITIONED BY (truncate(1, c), bucket(3, n)) {raw()}",
    "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, NULL)",
    "ALTER TABLE {t} DROP PARTITION FIELD truncate(1, c)",
    "INSERT INTO {t} VALUES (4, 'a', 1), (5, 'd', 4)",
    "ALTER TABLE {t} DROP COLUMN c",
    "INSERT INTO {t} VALUES (6, 1), (7, 9)",
    "ALTER TABLE {t} ADD COLUMN c INT",
    "INSERT INTO {t} VALUES (8, 1, 5)",
    files=False,
)
table(
    "part_promoted",
    "CREATE TABLE {t} (id INT, n INT, f FLOAT, m DECIMAL(9,2)) USING iceberg "
    f"PARTITIONED BY (n, m, bucket(4, id)) {raw()}",
    "INSERT INTO {t} VALUES (1, 10, 1.5, 1.25), (2, -7, 2.5, -1.25), (3, NULL, NULL, NULL)",
    "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
    "ALTER TABLE {t} ALTER COLUMN m TYPE DECIMAL(18,2)",
    "INSERT INTO {t} VALUES (4, 10, 1.5, 1.25), (5000000000, 5000000000, 1e300, 1234567890123.25), (-1, -5000000000, -1e300, -9)",
    # Spark does not read the partitions that it wrote before the promotion.
    files=False,
    travel=False,
    columns=[["id", "long"], ["n", "long"], ["f", "double"], ["m", "decimal(18,2)"]],
    rows=[
        ["1", "10", "1.5", "1.25"],
        ["2", "-7", "2.5", "-1.25"],
        ["3", None, None, None],
        ["4", "10", "1.5", "1.25"],
        ["5000000000", "5000000000", "1e300", "1234567890123.25"],
        ["-1", "-5000000000", "-1e300", "-9.00"],
    ],
)
table(
    "part_two_fields",
    f"CREATE TABLE {{t}} (id INT, s STRING) USING iceberg PARTITIONED BY (bucket(4, id), bucket(8, s), truncate(1, s), s) {raw()}",
    "INSERT INTO {t} SELECT id, concat(char(97 + id % 5), id) FROM range(0, 30)",
)

# --- Schema evolution -----------------------------------------------------------------------------
for version in (1, 2, 3):
    table(
        f"schema_evolution_v{version}",
        f"CREATE TABLE {{t}} (id INT NOT NULL, a INT, b FLOAT, c DECIMAL(9,2), d STRING) USING iceberg {raw(version)}",
        "INSERT INTO {t} VALUES (1, 1, 1.5, 1.25, 'one'), (2, NULL, NULL, NULL, NULL)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN b TYPE DOUBLE",
        "ALTER TABLE {t} ALTER COLUMN c TYPE DECIMAL(38,2)",
        "INSERT INTO {t} VALUES (3, 5000000000, 1e300, 1e30, 'three')",
        "ALTER TABLE {t} RENAME COLUMN a TO aa",
        "ALTER TABLE {t} ADD COLUMN e STRING AFTER id",
        "INSERT INTO {t} VALUES (4, 'e', 4, 4.5, 4, 'four')",
        "ALTER TABLE {t} DROP COLUMN d",
        "ALTER TABLE {t} ADD COLUMN d INT",
        "INSERT INTO {t} VALUES (5, 'e', 5, 5.5, 5, 55)",
        "ALTER TABLE {t} RENAME COLUMN aa TO b2",
        "ALTER TABLE {t} RENAME COLUMN b TO aa",
        "ALTER TABLE {t} RENAME COLUMN b2 TO b",
        "ALTER TABLE {t} ALTER COLUMN e FIRST",
        "ALTER TABLE {t} ALTER COLUMN id DROP NOT NULL",
        "INSERT INTO {t} VALUES ('f', NULL, 6, 6.5, 6, 66)",
        "DELETE FROM {t} WHERE id = 3",
    )
table(
    "schema_nested",
    "CREATE TABLE {t} (id INT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<x: INT, y: STRING>>, "
    f"m MAP<STRING, STRUCT<p: INT, q: STRING>>) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'b1'), array(named_struct('x', 1, 'y', 'y1'), NULL), "
    "map('k', named_struct('p', 1, 'q', 'q1'), 'n', NULL)), (2, NULL, NULL, NULL), (3, named_struct('a', NULL, 'b', NULL), array(), map())",
    "ALTER TABLE {t} ADD COLUMN s.c DOUBLE FIRST",
    "ALTER TABLE {t} ADD COLUMN l.element.z DATE",
    "ALTER TABLE {t} ADD COLUMN m.value.r STRING",
    "ALTER TABLE {t} ALTER COLUMN s.a TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN l.element.x TYPE BIGINT",
    "ALTER TABLE {t} RENAME COLUMN m.value.q TO qq",
    "ALTER TABLE {t} DROP COLUMN l.element.y",
    "INSERT INTO {t} VALUES (4, named_struct('c', 2.5D, 'a', 5000000000, 'b', 'b4'), array(named_struct('x', 5000000000, 'z', date'2026-01-01')), "
    "map('k4', named_struct('p', 4, 'qq', 'q4', 'r', 'r4')))",
    "ALTER TABLE {t} DROP COLUMN s.b",
    "ALTER TABLE {t} ADD COLUMN s.b INT",
    "ALTER TABLE {t} ADD COLUMN l.element.y INT AFTER x",
    "INSERT INTO {t} VALUES (5, named_struct('c', 5.5D, 'a', 5, 'b', 55), array(named_struct('x', 5, 'y', 55, 'z', NULL)), "
    "map('k5', named_struct('p', 5, 'qq', 'q5', 'r', 'r5')))",
)
table(
    "schema_all_children_new",
    f"CREATE TABLE {{t}} (id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<a: INT>>) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, named_struct('a', 1), array(named_struct('a', 1), NULL)), (2, NULL, NULL), (3, named_struct('a', NULL), array())",
    "ALTER TABLE {t} ADD COLUMN s.b INT",
    "ALTER TABLE {t} DROP COLUMN s.a",
    "ALTER TABLE {t} ADD COLUMN l.element.b STRING",
    "ALTER TABLE {t} DROP COLUMN l.element.a",
    "INSERT INTO {t} VALUES (4, named_struct('b', 4), array(named_struct('b', 'four')))",
    # Spark takes a struct or list for NULL when none of the wanted fields is in the file; it was there.
    files=False,
    travel=False,
    columns=[
        ["id", "integer"],
        ["s", structure(b="integer")],
        ["l", {"type": "array", "elementType": structure(b="string")}],
    ],
    rows=[
        ["1", {"b": None}, [{"b": None}, None]],
        ["2", None, None],
        ["3", {"b": None}, []],
        ["4", {"b": "4"}, [{"b": "four"}]],
    ],
)
table(
    "schema_column_became_struct",
    f"CREATE TABLE {{t}} (id INT, c INT, d STRUCT<a: INT>) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, 1, named_struct('a', 1))",
    "ALTER TABLE {t} DROP COLUMN c",
    "ALTER TABLE {t} DROP COLUMN d",
    "ALTER TABLE {t} ADD COLUMN c STRUCT<a: INT, b: ARRAY<INT>>",
    "ALTER TABLE {t} ADD COLUMN d INT",
    "INSERT INTO {t} VALUES (2, named_struct('a', 2, 'b', array(1, NULL)), 2)",
)


def add_defaults(java, jvm):
    types, literal = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.expressions.Expressions.lit
    date = jvm.org.apache.iceberg.types.Types.DateType.get()
    update = java.updateSchema()
    update.addColumn("i", types.IntegerType.get(), literal(5))
    update.addColumn("s", types.StringType.get(), literal("dé\nf"))
    update.addColumn("d", types.DoubleType.get(), literal(2.5))
    update.addColumn("b", types.BooleanType.get(), literal(True))
    update.addColumn("dt", date, literal("2026-02-28").to(date))
    stamp = types.TimestampType.withZone()
    update.addColumn("ts", stamp, literal("2026-02-28T01:02:03.000004+00:00").to(stamp))
    plain = types.TimestampType.withoutZone()
    update.addColumn("tsn", plain, literal("1969-12-31T23:59:59.999999").to(plain))
    number = types.DecimalType.of(20, 3)
    update.addColumn("n", number, literal("-1.250").to(number))
    update.addColumn("l", types.LongType.get(), literal(1 << 40))
    fixed = types.FloatType.get()
    update.addColumn("f", fixed, literal(1.5).to(fixed))
    update.commit()


for form in ("parquet", "avro"):
    table(
        f"defaults_{form}",
        f"CREATE TABLE {{t}} (id INT, x STRUCT<a: INT>) USING iceberg {raw(3, **{'write.format.default': form})}",
        "INSERT INTO {t} VALUES (1, named_struct('a', 1)), (2, NULL)",
        api(add_defaults),
        "INSERT INTO {t} SELECT 3, named_struct('a', 3), 6, 's', 3.5D, false, date'2020-01-01', timestamp'2020-01-01', "
        "timestamp_ntz'2020-01-01', 1.5BD, 7L, float(2.5)",
        "INSERT INTO {t} SELECT 4, NULL, " + ", ".join(["NULL"] * 10),
        "ALTER TABLE {t} ALTER COLUMN i TYPE BIGINT",
        "DELETE FROM {t} WHERE id = 2",
        may_fail=form == "avro",
        lineage=True,
    )

# --- Deletes --------------------------------------------------------------------------------------
MOR = {f"write.{what}.mode": "merge-on-read" for what in ("delete", "update", "merge")}
PEOPLE = "SELECT id, concat('name ', id % 1000), id % 13, double(id) / 3 FROM range({}, {})"
CHANGES = [
    "DELETE FROM {t} WHERE id % 10 = 3",
    "UPDATE {t} SET name = 'changed', d = NULL WHERE id % 10 = 4",
    "MERGE INTO {t} x USING (SELECT * FROM {t} WHERE id % 50 = 5 UNION ALL SELECT id, 'new', 1, 0D FROM range(100000, 100020)) y ON x.id = y.id "
    "WHEN MATCHED AND x.g > 6 THEN DELETE WHEN MATCHED THEN UPDATE SET name = concat(x.name, '!') WHEN NOT MATCHED THEN INSERT *",
]
for version in (2, 3):
    for granularity in ("file", "partition") if version == 2 else ("file",):
        for parts in ("", "PARTITIONED BY (g)", "PARTITIONED BY (bucket(3, id))"):
            name = f"mor_v{version}_{granularity}_{'plain' if not parts else 'ident' if 'g' == parts[-2] else 'bucket'}"
            table(
                name,
                "CREATE TABLE {t} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg "
                f"{parts} {raw(version, **MOR, **{'write.delete.granularity': granularity, 'write.distribution-mode': 'hash'})}",
                "INSERT INTO {t} " + PEOPLE.format(0, 300),
                "INSERT INTO {t} " + PEOPLE.format(300, 500),
                *CHANGES,
                "DELETE FROM {t} WHERE id BETWEEN 100 AND 150 AND id % 2 = 0",
                "INSERT INTO {t} " + PEOPLE.format(500, 550),
                "DELETE FROM {t} WHERE g = 7 AND id > 20",
                lineage=version == 3,
                positions=parts == "",
                max_travel=3,
            )
SMALL_PAGES = {
    "write.parquet.row-group-size-bytes": 65536,
    "write.parquet.page-size-bytes": 2048,
    "write.parquet.page-row-limit": 300,
    "write.parquet.dict-size-bytes": 4096,
    "write.parquet.row-group-check-min-record-count": 100,
    "write.parquet.row-group-check-max-record-count": 500,
}
for version in (2, 3):
    table(
        f"mor_large_v{version}",
        f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg {raw(version, **MOR, **SMALL_PAGES)}",
        "INSERT INTO {t} " + PEOPLE.format(0, 60000),
        "DELETE FROM {t} WHERE id % 17 IN (0, 5) OR id BETWEEN 20000 AND 29999",
        "DELETE FROM {t} WHERE id BETWEEN 40000 AND 40100",
        "UPDATE {t} SET name = 'x' WHERE id % 1000 = 999",
        travel=False,
        lineage=version == 3,
    )
table(
    "mor_upgraded",
    f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg PARTITIONED BY (truncate(100, id)) {raw(1, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 300),
    "ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='2')",
    CHANGES[0],
    CHANGES[1],
    "ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')",
    CHANGES[2],
    "DELETE FROM {t} WHERE id % 7 = 2",
    "INSERT INTO {t} " + PEOPLE.format(300, 350),
    lineage=True,
)
table(
    "mor_whole_files",
    f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg {raw(2, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 50),
    "INSERT INTO {t} " + PEOPLE.format(50, 100),
    "DELETE FROM {t} WHERE id < 60 AND g >= 0",
    "DELETE FROM {t} WHERE name LIKE 'name%'",
)
table(
    "mor_evolved",
    f"CREATE TABLE {{t}} (id INT, a STRING, b INT) USING iceberg {raw(2, **MOR)}",
    "INSERT INTO {t} SELECT id, concat('a', id), id * 2 FROM range(0, 50)",
    "DELETE FROM {t} WHERE b = 10",
    "ALTER TABLE {t} RENAME COLUMN a TO z",
    "ALTER TABLE {t} ADD COLUMN c DATE",
    "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
    "UPDATE {t} SET c = date'2026-01-01' WHERE id % 5 = 0",
    "ALTER TABLE {t} DROP COLUMN b",
    "DELETE FROM {t} WHERE id IN (7, 20, 21)",
    "ALTER TABLE {t} ADD PARTITION FIELD bucket(2, id)",
    "UPDATE {t} SET z = 'up' WHERE id > 40",
    "DELETE FROM {t} WHERE id = 45",
)
for form in ("avro", "orc"):
    table(
        f"mor_{form}_deletes",
        f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg "
        f"{raw(2, **MOR, **{'write.delete.format.default': form})}",
        "INSERT INTO {t} " + PEOPLE.format(0, 300),
        *CHANGES,
        travel=False,
        **({"refused": "ORC"} if form == "orc" else {}),
    )
table(
    "cow",
    f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg PARTITIONED BY (g) {raw()}",
    "INSERT INTO {t} " + PEOPLE.format(0, 100),
    *CHANGES,
    "DELETE FROM {t} WHERE g = 5",
    "TRUNCATE TABLE {t}",
    "INSERT INTO {t} " + PEOPLE.format(100, 120),
)
table(
    "overwrites",
    f"CREATE TABLE {{t}} (id BIGINT, name STRING, g BIGINT, d DOUBLE) USING iceberg PARTITIONED BY (g) {raw()}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "SET spark.sql.sources.partitionOverwriteMode=dynamic",
    "INSERT OVERWRITE {t} SELECT 1000 + id, 'dynamic', id % 3, 0D FROM range(0, 9)",
    "SET spark.sql.sources.partitionOverwriteMode=static",
    "INSERT OVERWRITE {t} PARTITION (g = 4) SELECT id, 'static', 0D FROM range(2000, 2003)",
)


# --- Maintenance and branches ---------------------------------------------------------------------
def call(procedure, *arguments):
    """A procedure over the table, in whatever catalog it is."""

    def step(spark, name):
        catalog, rest = name.split(".", 1)
        snapshots = [
            r[0] for r in spark.sql(f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at").collect()
        ]
        text = ", ".join([f"table => '{rest}'", *arguments])
        for i, number in enumerate(snapshots):
            text = text.replace(f"#{i}#", str(number))
        spark.sql(f"CALL {catalog}.system.{procedure}({text})").collect()

    return step


def with_snapshot(sql):
    def step(spark, name):
        numbers = [r[0] for r in spark.sql(f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at").collect()]
        text = sql.format(t=name)
        for i, number in enumerate(numbers):
            text = text.replace(f"#{i}#", str(number))
        spark.sql(text)

    return step


COLUMNS = "(id BIGINT, name STRING, g BIGINT, d DOUBLE)"
for version in (2, 3):
    table(
        f"rewritten_v{version}",
        f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (bucket(2, g)) {raw(version, **MOR)}",
        *["INSERT INTO {t} " + PEOPLE.format(i * 20, i * 20 + 20) for i in range(4)],
        "DELETE FROM {t} WHERE id % 9 = 1",
        "DELETE FROM {t} WHERE id % 9 = 2",
        call("rewrite_position_delete_files", "options => map('rewrite-all', 'true')"),
        call("rewrite_data_files", "options => map('rewrite-all', 'true')"),
        "DELETE FROM {t} WHERE id % 9 = 3",
        call("rewrite_manifests"),
        call(
            "rewrite_data_files",
            "strategy => 'sort'",
            "sort_order => 'name DESC NULLS LAST'",
            "options => map('rewrite-all', 'true')",
        ),
        "INSERT INTO {t} " + PEOPLE.format(500, 510),
        lineage=version == 3,
        max_travel=5,
    )
table(
    "expired",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(2, **MOR)}",
    *["INSERT INTO {t} " + PEOPLE.format(i * 20, i * 20 + 20) for i in range(4)],
    "DELETE FROM {t} WHERE id % 9 = 1",
    "UPDATE {t} SET d = 0 WHERE id < 30",
    call("rewrite_data_files", "options => map('rewrite-all', 'true')"),
    call("expire_snapshots", "older_than => timestamp'2100-01-01'", "retain_last => 2"),
    "DELETE FROM {t} WHERE id % 9 = 2",
)
for version in (1, 2):
    table(
        f"manifests_merged_v{version}",
        f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) "
        f"{raw(version, **{'commit.manifest.min-count-to-merge': 2, 'commit.manifest.target-size-bytes': 8192})}",
        *["INSERT INTO {t} " + PEOPLE.format(i * 20, i * 20 + 20) for i in range(6)],
        "DELETE FROM {t} WHERE g = 3",
        "DELETE FROM {t} WHERE id % 5 = 0",
    )
table(
    "branches",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(2, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 20),
    "ALTER TABLE {t} CREATE TAG `v1.0`",
    "ALTER TABLE {t} CREATE BRANCH b",
    "INSERT INTO {t}.branch_b " + PEOPLE.format(100, 110),
    "DELETE FROM {t}.branch_b WHERE id % 3 = 0",
    "INSERT INTO {t} " + PEOPLE.format(20, 40),
    "ALTER TABLE {t} CREATE TAG t2 RETAIN 30 DAYS",
    "ALTER TABLE {t} ADD COLUMN extra STRING",
    "INSERT INTO {t} SELECT *, 'e' FROM (" + PEOPLE.format(40, 45) + ")",
    "ALTER TABLE {t} CREATE BRANCH `with space`",
    "ALTER TABLE {t} CREATE BRANCH gone",
    "ALTER TABLE {t} DROP BRANCH gone",
)
table(
    "wap",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(2, **{'write.wap.enabled': 'true'})}",
    "INSERT INTO {t} " + PEOPLE.format(0, 20),
    "SET spark.wap.id=one",
    "INSERT INTO {t} " + PEOPLE.format(20, 40),
    "SET spark.wap.id=two",
    "INSERT INTO {t} " + PEOPLE.format(40, 60),
    "RESET spark.wap.id",
    "INSERT INTO {t} " + PEOPLE.format(60, 80),
    call("publish_changes", "wap_id => 'two'"),
    "ALTER TABLE {t} CREATE BRANCH audit",
    "SET spark.wap.branch=audit",
    "INSERT INTO {t} " + PEOPLE.format(80, 90),
    "RESET spark.wap.branch",
)
table(
    "rolled_back",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}",
    *["INSERT INTO {t} " + PEOPLE.format(i * 20, i * 20 + 20) for i in range(4)],
    call("rollback_to_snapshot", "snapshot_id => #1#"),
    call("cherrypick_snapshot", "snapshot_id => #3#"),
    "INSERT INTO {t} " + PEOPLE.format(500, 505),
    call("set_current_snapshot", "snapshot_id => #2#"),
    "DELETE FROM {t} WHERE id % 2 = 0",
)
table(
    "fast_forward",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}",
    "INSERT INTO {t} " + PEOPLE.format(0, 20),
    "ALTER TABLE {t} CREATE BRANCH b",
    "INSERT INTO {t}.branch_b " + PEOPLE.format(20, 40),
    call("fast_forward", "branch => 'main'", "to => 'b'"),
)
table(
    "replaced",
    f"CREATE TABLE {{t}} (id INT, a STRING, b INT) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, 'a', 1)",
    f"CREATE OR REPLACE TABLE {{t}} USING iceberg PARTITIONED BY (b) {raw()} AS SELECT date'2026-01-01' AS id, 7 AS b, array(1, 2) AS a",
    "INSERT INTO {t} VALUES (date'2026-01-02', 8, NULL)",
)
table(
    "only_branch",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}",
    "ALTER TABLE {t} CREATE BRANCH b",
    "INSERT INTO {t}.branch_b " + PEOPLE.format(0, 5),
)
table(
    "statistics",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (bucket(2, id)) {raw()}",
    "INSERT INTO {t} " + PEOPLE.format(0, 100),
    call("compute_table_stats"),
    call("compute_partition_stats"),
    "INSERT INTO {t} " + PEOPLE.format(100, 110),
)

# --- How files are written ------------------------------------------------------------------------
for codec in ("zstd", "snappy", "gzip", "lz4", "uncompressed", "brotli"):
    table(
        f"codec_{codec}",
        f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(2, **{'write.parquet.compression-codec': codec})}",
        "INSERT INTO {t} " + PEOPLE.format(0, 3000),
        may_fail=codec in ("lz4", "brotli"),
        travel=False,
    )
for mode in ("none", "counts", "truncate(2)", "truncate(16)", "full"):
    table(
        "metrics_" + mode.replace("(", "").replace(")", ""),
        f"CREATE TABLE {{t}} ({ALL_TYPES}) USING iceberg {raw(2, **{'write.metadata.metrics.default': mode})}",
        "INSERT INTO {t} VALUES " + all_types_rows(),
        "INSERT INTO {t} SELECT * FROM {t} WHERE c_string > 'b'",
        "INSERT INTO {t} SELECT * FROM {t} WHERE id = 99",
        travel=False,
    )
table(
    "metrics_long_strings",
    f"CREATE TABLE {{t}} (id INT, s STRING, b BINARY) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, repeat('a', 15) || 'é', unhex(repeat('FF', 20))), (2, repeat('a', 16) || 'z', unhex(repeat('FF', 16) || '00'))",
    "INSERT INTO {t} VALUES (3, repeat('\\uFFFF', 16) || 'z', X'00'), (4, repeat('😀', 20), unhex(repeat('00', 30)))",
    "INSERT INTO {t} VALUES (5, repeat('\\uD7FF', 17), NULL)",
    "INSERT INTO {t} VALUES (6, concat(repeat('b', 15), '\\uDBFF\\uDFFF', 'c'), X'')",
    "INSERT INTO {t} VALUES (7, repeat('\\uDBFF\\uDFFF', 20), unhex(repeat('FE', 20)))",
    "INSERT INTO {t} VALUES (8, repeat('y', 100000), NULL)",
)
for name, more in (
    ("pages", SMALL_PAGES),
    ("no_dictionary", {**SMALL_PAGES, "write.parquet.dict-size-bytes": 1}),
    (
        "bloom",
        {
            **SMALL_PAGES,
            **{
                f"write.parquet.bloom-filter-enabled.column.c_{c}": "true"
                for c in (
                    "int",
                    "bigint",
                    "string",
                    "date",
                    "decimal9_2",
                    "decimal38_10",
                    "binary",
                    "double",
                    "float",
                    "ts",
                )
            },
        },
    ),
):
    table(
        f"files_{name}",
        f"CREATE TABLE {{t}} ({ALL_TYPES}) USING iceberg {raw(2, **more)}",
        "INSERT INTO {t} SELECT CAST(id AS INT), id % 2 = 0, CAST(id * 7 % 5000 AS INT), id * 1000003, float(id % 100) / 4, double(id) / 7, "
        "CAST(id % 1000 / 4 AS DECIMAL(9,2)), CAST(id / 8 AS DECIMAL(18,6)), CAST(id / 16 AS DECIMAL(38,10)), date_add(date'1969-06-01', CAST(id % 700 AS INT)), "
        "timestamp_micros(id * 1000000007 - 7000000000000), concat('row ', id % 3000), CAST(concat('b', id % 50) AS BINARY), "
        "CAST(timestamp_micros(id * 77777777) AS TIMESTAMP_NTZ) FROM range(0, 12000)".replace(
            "timestamp_micros(id * 1000000007 - 7000000000000), concat",
            "timestamp_micros(id * 1000000007 - 7000000000000), concat",
        ),
        travel=False,
    )
for form in ("avro", "orc"):
    table(
        f"{form}_types",
        f"CREATE TABLE {{t}} ({ALL_TYPES}) USING iceberg PARTITIONED BY (bucket(2, id)) {raw(2, **{'write.format.default': form}, **MOR)}",
        "INSERT INTO {t} VALUES " + all_types_rows(),
        "DELETE FROM {t} WHERE id = 2",
        **({"refused": "ORC"} if form == "orc" else {}),
    )
NESTED = (
    "id INT, l ARRAY<INT>, ll ARRAY<ARRAY<STRING>>, lm ARRAY<MAP<STRING, STRUCT<a: INT, b: ARRAY<DATE>>>>, m MAP<STRING, INT>, "
    "mi MAP<INT, DECIMAL(20,3)>, md MAP<DATE, ARRAY<STRUCT<x: BOOLEAN>>>, s STRUCT<a: INT, b: STRUCT<c: STRING, d: ARRAY<DOUBLE>, e: BINARY>, t: TIMESTAMP, n: TIMESTAMP_NTZ>, "
    "ls ARRAY<STRUCT<a: INT, b: STRING>>, lt ARRAY<TIMESTAMP>, ld ARRAY<DECIMAL(38,10)>, lb ARRAY<BINARY>, lo ARRAY<BOOLEAN>, lf ARRAY<FLOAT>"
)
NESTED_ROWS = """INSERT INTO {t} VALUES
 (1, array(1, NULL, 3), array(array('a', NULL), array(), NULL), array(map('k', named_struct('a', 1, 'b', array(date'2026-01-01', NULL)), 'n', NULL), map(), NULL),
  map('a', 1, 'b', NULL, '', 3), map(2, 1.5BD, -1, NULL), map(date'1969-12-31', array(named_struct('x', true), NULL)),
  named_struct('a', 1, 'b', named_struct('c', 'x"y\\\\z', 'd', array(1.5D, double('NaN'), double('-Infinity')), 'e', X'00FF'), 't', timestamp'2026-01-01 00:00:00.000001', 'n', timestamp_ntz'0001-01-01'),
  array(named_struct('a', 1, 'b', 'é😀'), named_struct('a', NULL, 'b', NULL), NULL), array(timestamp'9999-12-31 23:59:59.999999', NULL), array(-0.0000000001BD, 9999999999999999999999999999BD),
  array(X'', X'DEADBEEF', NULL), array(true, false, NULL), array(float('NaN'), float(-0.0), float(1.1))),
 (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (3, array(), array(), array(), map(), map(), map(), named_struct('a', NULL, 'b', NULL, 't', NULL, 'n', NULL), array(), array(), array(), array(), array(), array()),
 (4, array(NULL), array(NULL), array(NULL), map('x', NULL), map(0, NULL), map(date'2000-01-01', NULL), named_struct('a', 1, 'b', named_struct('c', NULL, 'd', array(), 'e', NULL), 't', NULL, 'n', NULL), array(NULL), array(NULL), array(NULL), array(NULL), array(NULL), array(NULL))"""
for form in ("parquet", "avro"):
    table(
        f"nested_{form}",
        f"CREATE TABLE {{t}} ({NESTED}) USING iceberg {raw(2, **{'write.format.default': form}, **MOR)}",
        NESTED_ROWS,
        "DELETE FROM {t} WHERE id = 3",
        "INSERT INTO {t} SELECT * FROM {t} WHERE id <> 2",
    )
table(
    "nested_large",
    f"CREATE TABLE {{t}} (id INT, l ARRAY<STRUCT<a: INT, m: MAP<STRING, ARRAY<INT>>>>, s STRUCT<x: ARRAY<STRING>, y: INT>) USING iceberg {raw(2, **SMALL_PAGES, **MOR)}",
    "INSERT INTO {t} SELECT CAST(id AS INT), CASE WHEN id % 7 = 0 THEN NULL ELSE transform(sequence(0, CAST(id % 11 AS INT)), x -> CASE WHEN x = 3 THEN NULL ELSE named_struct('a', CAST(id AS INT) + x, "
    "'m', CASE WHEN x = 2 THEN NULL ELSE map(concat('k', x), array(x, NULL, x + 1)) END) END) END, CASE WHEN id % 5 = 0 THEN NULL ELSE named_struct('x', array(concat('v', id), NULL), 'y', CAST(id % 3 AS INT)) END FROM range(0, 3000)",
    "DELETE FROM {t} WHERE id % 6 = 1",
    travel=False,
)

# --- Names, places --------------------------------------------------------------------------------
table(
    "names",
    "CREATE TABLE {t} (id INT, `a.b` INT, `q\"uote` STRING, `Case` INT, `case` INT, `ünï 汉 😀` STRING, `sp ace` INT, `back\\slash` INT, "
    f"`select` INT, `1digit` INT, `a-b` STRUCT<`x.y`: INT, `Z`: INT, `z`: INT>, `per%cent` INT, `semi;colon` INT, `{'l' * 63}` INT) USING iceberg PARTITIONED BY (`sp ace`, `a.b`, `ünï 汉 😀`) {raw(2, **MOR)}",
    "INSERT INTO {t} VALUES (1, 2, 'q', 3, 4, 'ü', 5, 6, 7, 8, named_struct('x.y', 9, 'Z', 10, 'z', 11), 12, 13, 14), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO {t} SELECT * FROM {t}",
    "DELETE FROM {t} WHERE `a.b` = 2 AND `Case` = 4",
)
table(
    "names_avro",
    "CREATE TABLE {t} (id INT, `a.b` INT, `q\"uote` STRING, `Case` INT, `case` INT, `ünï 汉 😀` STRING, `sp ace` INT, `1digit` INT, `a-b` STRUCT<`x.y`: INT, `Z`: INT>) "
    f"USING iceberg PARTITIONED BY (`sp ace`, `a.b`) {raw(2, **{'write.format.default': 'avro'})}",
    "INSERT INTO {t} VALUES (1, 2, 'q', 3, 4, 'ü', 5, 8, named_struct('x.y', 9, 'Z', 10)), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
)
table(
    "names_odd",
    f"CREATE TABLE {{t}} (id INT, `{'x' * 70}a` INT, `{'x' * 70}b` INT, `{'é' * 40}` INT, ctid INT, xmin STRING, tableoid INT) USING iceberg {raw()}",
    "INSERT INTO {t} VALUES (1, 2, 3, 4, 5, 'x', 6)",
    imported=["id", "x" * 63, "x" * 61 + "_3", "é" * 31, "ctid_", "xmin_", "tableoid_"],
)
table(
    "wide",
    "CREATE TABLE {t} (id INT, " + ", ".join(f"c{i} INT" for i in range(250)) + f") USING iceberg {raw()}",
    "INSERT INTO {t} SELECT CAST(id AS INT), "
    + ", ".join(f"CAST(id + {i} AS INT)" for i in range(250))
    + " FROM range(0, 20)",
)
table("empty_none", f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}")
table("empty_v3", f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(3)}")
table(
    "empty_after",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}",
    "INSERT INTO {t} " + PEOPLE.format(0, 20),
    "DELETE FROM {t}",
)
table("empty_append", f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}", "INSERT INTO {t} " + PEOPLE.format(0, 0))
table(
    "nulls_only",
    f"CREATE TABLE {{t}} ({ALL_TYPES}) USING iceberg {raw()}",
    "INSERT INTO {t} SELECT id, " + ", ".join("NULL" for _ in VALUES) + " FROM range(0, 5)",
    "INSERT INTO {t} VALUES " + all_types_rows(),
)
table(
    "nan_only",
    f"CREATE TABLE {{t}} (id INT, f FLOAT, d DOUBLE) USING iceberg PARTITIONED BY (id) {raw()}",
    "INSERT INTO {t} VALUES (1, float('NaN'), double('NaN')), (2, NULL, NULL), (3, 1.5, 2.5), (4, float('-Infinity'), double('Infinity')), (1, float('NaN'), 1), (2, 0.0, -0.0)",
)
table(
    "gzip_metadata",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw(2, **{'write.metadata.compression-codec': 'gzip'})}",
    "INSERT INTO {t} " + PEOPLE.format(0, 20),
)
table(
    "many_versions",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg {raw()}",
    *["INSERT INTO {t} " + PEOPLE.format(i, i + 1) for i in range(9)],
    after=[lambda spark, name: os.remove(f"{spark.directory}/h/t/many_versions/metadata/version-hint.text")],
)
table(
    "object_layout",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) {raw(2, **{'write.object-storage.enabled': 'true'}, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
)
table(
    "object_layout_no_partition",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) {raw(2, **{'write.object-storage.enabled': 'true', 'write.object-storage.partitioned-paths': 'false'}, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
)
table(
    "own_location",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg LOCATION '{{dir}}/elsewhere/own location é%20' {raw(2, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
    catalog="m",
)
table(
    "data_elsewhere",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) LOCATION '{{dir}}/elsewhere/a' {raw(2, **MOR)}",
    lambda spark, name: spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('write.data.path'='file://{spark.directory}/outside/d', 'write.metadata.path'='{spark.directory}/outside/m')"
    ),
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
    catalog="m",
)
table(
    "moved",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) {raw(2, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
    "UPDATE {t} SET d = 0 WHERE id % 7 = 1",
    moved=True,
)
table(
    "moved_v3",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (g) {raw(3, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
    "UPDATE {t} SET d = 0 WHERE id % 7 = 1",
    moved=True,
)


def change_location(spark, name):
    """The table's location changes between writes, as after a move that rewrote nothing."""
    spark.sql(f"ALTER TABLE {name} SET LOCATION '{spark.directory}/elsewhere/second'")


table(
    "location_changed",
    f"CREATE TABLE {{t}} {COLUMNS} USING iceberg LOCATION '{{dir}}/elsewhere/first' {raw(2, **MOR)}",
    "INSERT INTO {t} " + PEOPLE.format(0, 30),
    change_location,
    "INSERT INTO {t} " + PEOPLE.format(30, 60),
    "DELETE FROM {t} WHERE id % 7 = 0",
    catalog="m",
)
for version in ("v0", "v1"):
    table(
        f"jdbc_{version}",
        f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (bucket(3, id)) {raw(2, **MOR)}",
        "INSERT INTO {t} " + PEOPLE.format(0, 60),
        "DELETE FROM {t} WHERE id % 7 = 0",
        catalog=f"j{version}",
    )


# --- Files that were there before the table -------------------------------------------------------
def plain_files(sql, name, form="parquet", partitions=(), **options):
    def step(spark, _):
        frame = spark.sql(sql)
        writer = frame.coalesce(1).write.mode("overwrite")
        if partitions:
            writer = writer.partitionBy(*partitions)
        for key, value in options.items():
            if key.startswith("conf_"):
                spark.conf.set(key[5:].replace("__", "."), value)
                if key.startswith("conf_parquet"):
                    spark._jsc.hadoopConfiguration().set(key[5:].replace("__", "."), value)
        getattr(writer, form)(f"{spark.directory}/files/{name}")
        for key in options:
            if key.startswith("conf_"):
                spark.conf.unset(key[5:].replace("__", "."))
                if key.startswith("conf_parquet"):
                    spark._jsc.hadoopConfiguration().unset(key[5:].replace("__", "."))

    return step


def add_files(name, *arguments):
    def step(spark, table_name):
        catalog, rest = table_name.split(".", 1)
        more = "".join(f", {a}" for a in arguments)
        spark.sql(
            f"CALL {catalog}.system.add_files(table => '{rest}', source_table => '`parquet`.`{spark.directory}/files/{name}`'{more})"
        ).collect()

    return step


SPECIAL = (
    "SELECT id, element_at(array('a', 'a b', 'a/b', 'é汉', 'x=y', '', NULL, '%20', 'a:b', '1'), CAST(id % 10 + 1 AS INT)) AS p, CAST(id % 3 AS INT) AS n, "
    "concat('v', id) AS v, named_struct('a', id, 'b', array(id, NULL)) AS st FROM range(0, 40)"
)
table(
    "added_files",
    f"CREATE TABLE {{t}} (id BIGINT, p STRING, n INT, v STRING, st STRUCT<a: BIGINT, b: ARRAY<BIGINT>>) USING iceberg PARTITIONED BY (p, n) {raw(2, **MOR)}",
    plain_files(SPECIAL, "hive", partitions=("p", "n")),
    add_files("hive"),
    "INSERT INTO {t} " + SPECIAL.replace("range(0, 40)", "range(40, 50)"),
    "DELETE FROM {t} WHERE id % 4 = 1 AND v <> 'x'",
    "UPDATE {t} SET v = 'up' WHERE id = 2",
)
table(
    "added_files_evolved",
    f"CREATE TABLE {{t}} (id BIGINT, v STRING, st STRUCT<a: BIGINT, b: ARRAY<BIGINT>>, m MAP<STRING, INT>) USING iceberg {raw(2, **MOR)}",
    plain_files(
        "SELECT id, concat('v', id) AS v, named_struct('a', id, 'b', array(id, NULL)) AS st, map('k', 1) AS m FROM range(0, 20)",
        "flat",
    ),
    add_files("flat"),
    "ALTER TABLE {t} RENAME COLUMN v TO w",
    "ALTER TABLE {t} ADD COLUMN u INT",
    "ALTER TABLE {t} RENAME COLUMN st.a TO aa",
    "ALTER TABLE {t} ADD COLUMN st.c STRING",
    "INSERT INTO {t} SELECT 100, 'w', named_struct('aa', 1L, 'b', array(2L), 'c', 'new'), map('z', 2), 7",
    "DELETE FROM {t} WHERE id = 3",
)
# A new column takes the name, also in the mapping, so old files show it under the new one.
table(
    "added_files_renamed",
    f"CREATE TABLE {{t}} (id BIGINT, v STRING) USING iceberg {raw(2, **MOR)}",
    plain_files("SELECT id, concat('v', id) AS v FROM range(0, 20)", "renamed"),
    add_files("renamed"),
    "ALTER TABLE {t} RENAME COLUMN v TO w",
    "ALTER TABLE {t} ADD COLUMN v STRING",
    "INSERT INTO {t} VALUES (100, 'w', 'v')",
    "DELETE FROM {t} WHERE id = 3",
)
table(
    "added_files_int96",
    f"CREATE TABLE {{t}} (id BIGINT, ts TIMESTAMP, n DECIMAL(9,2), s STRUCT<a: DECIMAL(20,1)>) USING iceberg {raw()}",
    plain_files(
        "SELECT id, timestamp'1960-01-01 00:00:00.123456' + make_interval(0, 0, 0, CAST(id AS INT) * 7000, 0, 0, 0.000001) AS ts, CAST(id AS DECIMAL(9,2)) AS n, "
        "named_struct('a', CAST(id AS DECIMAL(20,1))) AS s FROM range(0, 20)",
        "int96",
        conf_spark__sql__parquet__outputTimestampType="INT96",
        conf_spark__sql__parquet__writeLegacyFormat="true",
    ),
    add_files("int96"),
    "INSERT INTO {t} SELECT 100, timestamp'2026-01-01', 1.5BD, NULL",
)
table(
    "added_files_v2_pages",
    f"CREATE TABLE {{t}} (id BIGINT, s STRING, d DOUBLE, b BOOLEAN, n DECIMAL(30,2), dt DATE, bin BINARY, i INT) USING iceberg "
    f"{raw(2, **{'read.parquet.vectorization.enabled': 'false'})}",
    plain_files(
        "SELECT id, CASE WHEN id % 5 = 0 THEN NULL ELSE concat('prefix ', id) END AS s, double(id) / 7 AS d, id % 3 = 0 AS b, CAST(id AS DECIMAL(30,2)) AS n, date_add(date'1950-01-01', CAST(id AS INT)) AS dt, "
        "CAST(concat('bin', id) AS BINARY) AS bin, CAST(id * 31 % 1000 AS INT) AS i FROM range(0, 5000)",
        "v2pages",
        **{
            "conf_parquet__writer__version": "PARQUET_2_0",
            "conf_parquet__enable__dictionary": "false",
            "conf_parquet__page__size": "2000",
            "conf_parquet__block__size": "60000",
        },
    ),
    add_files("v2pages"),
    travel=False,
)
# Partition columns that are only in the path, promoted later; Spark does not read them then.
table(
    "added_files_promoted",
    f"CREATE TABLE {{t}} (i INT, n INT, f FLOAT, m DECIMAL(5,3), d DATE) USING iceberg PARTITIONED BY (n, f, m, d) {raw(1)}",
    plain_files(
        "SELECT CAST(id AS INT) AS i, CAST(id % 2 - 1 AS INT) AS n, float(1.1) AS f, IF(id % 3 = 0, NULL, CAST(3.141 AS DECIMAL(5,3))) AS m, date'1969-12-31' AS d FROM range(0, 6)",
        "promoted",
        partitions=("n", "f", "m", "d"),
    ),
    add_files("promoted"),
    "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
    "ALTER TABLE {t} ALTER COLUMN m TYPE DECIMAL(8,3)",
    "INSERT INTO {t} VALUES (100, 5000000000, 2.5D, 12345.678, NULL)",
    files=False,
    travel=False,
    columns=[["i", "integer"], ["n", "long"], ["f", "double"], ["m", "decimal(8,3)"], ["d", "date"]],
    rows=[
        [str(i), str(i % 2 - 1), "1.100000023841858", None if i % 3 == 0 else "3.141", "1969-12-31"] for i in range(6)
    ]
    + [["100", "5000000000", "2.5", "12345.678", None]],
)
table(
    "snapshot_of_files",
    plain_files(SPECIAL, "snapped", partitions=("n",)),
    lambda spark, name: spark.sql(
        f"CREATE TABLE IF NOT EXISTS spark_catalog.default.snapped USING parquet LOCATION '{spark.directory}/files/snapped'"
    ),
    lambda spark, name: spark.sql(
        f"CALL m.system.snapshot(source_table => 'spark_catalog.default.snapped', table => 't.snapshot_of_files')"
    ).collect(),
    catalog="m",
    may_fail=True,
)


# --- Equality deletes -----------------------------------------------------------------------------
# Spark reads them but writes none: Iceberg's own generic writer makes the files.
def each(iterable):
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()


def equality_delete(keys, *names, form="PARQUET", of=None, spec=None, extra=()):
    """Deletes the rows whose columns `names` equal a row of the query `keys`; `extra` columns are in
    the file but no keys. `of` is a condition on a data file whose partition is meant; `spec` the number
    of the partition spec if it isn't the current one."""

    def step(spark, name):
        jvm, gateway = spark._jvm, spark._sc._gateway
        iceberg = jvm.org.apache.iceberg
        load = iceberg.spark.Spark3Util.loadIcebergTable
        spark.sql(f"DROP TABLE IF EXISTS {name}_keys")
        spark.sql(f"CREATE TABLE {name}_keys USING iceberg AS {keys.format(t=name)}")
        java = load(spark._jsparkSession, name)
        schema = java.schema()
        fields = [schema.findField(n) for n in (*names, *extra)]
        row_type = iceberg.Schema(fields) if not any("." in n for n in names) else schema.select(list(names))
        ids = gateway.new_array(jvm.int, len(names))
        for i in range(len(names)):
            ids[i] = fields[i].fieldId()
        partition_spec = java.spec() if spec is None else java.specs()[spec]
        partition = None
        if of is not None:
            rows = spark.sql(f"SELECT _file FROM {name} WHERE {of} LIMIT 1").collect()
            for task in each(java.newScan().planFiles()):
                if task.file().location() == rows[0][0]:
                    partition = task.file().partition().copy()
        records = list(each(iceberg.data.IcebergGenerics.read(load(spark._jsparkSession, f"{name}_keys")).build()))
        if not records:  # the writer makes no file then
            return
        factory = iceberg.data.GenericAppenderFactory(schema, partition_spec, ids, row_type, None)
        place = java.locationProvider().newDataLocation(f"eq-{jvm.java.util.UUID.randomUUID()}.{form.lower()}")
        output = iceberg.encryption.EncryptionUtil.plainAsEncryptedOutput(java.io().newOutputFile(place))
        writer = factory.newEqDeleteWriter(output, getattr(iceberg.FileFormat, form), partition)
        for record in records:
            writer.write(record)
        writer.close()
        java.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
        spark.sql(f"REFRESH TABLE {name}")

    return step


for form in ("PARQUET", "AVRO"):
    for kind in VALUES:
        table(
            f"eq_{form.lower()}_{short(kind)}",
            f"CREATE TABLE {{t}} (id INT, c {kind}) USING iceberg {raw(2)}",
            fill(kind, 1),
            fill(kind, 100, 0),
            equality_delete("SELECT c FROM {t} WHERE id % 2 = 0 OR c IS NULL", "c", form=form),
            fill(kind, 200),
            equality_delete("SELECT c FROM {t} WHERE id % 3 = 0", "c", form=form),
            fill(kind, 300, 1),
            max_travel=2,
            values=3,
        )
table(
    "eq_several_keys",
    f"CREATE TABLE {{t}} (id INT, a INT, b STRING, d DATE) USING iceberg {raw(2, **MOR)}",
    "INSERT INTO {t} SELECT id, IF(id % 4 = 0, NULL, id % 4), IF(id % 3 = 0, NULL, concat('b', id % 3)), IF(id % 5 = 0, NULL, date'2026-01-01') FROM range(0, 60)",
    equality_delete("SELECT a, b FROM VALUES (1, 'b1'), (NULL, 'b2'), (2, NULL), (NULL, NULL) v(a, b)", "a", "b"),
    equality_delete("SELECT d FROM VALUES (CAST(NULL AS DATE)) v(d)", "d"),
    "INSERT INTO {t} VALUES (100, 1, 'b1', NULL), (101, NULL, NULL, NULL)",
    equality_delete("SELECT 7 AS id", "id"),
    "DELETE FROM {t} WHERE id = 11",
    equality_delete("SELECT id, a FROM VALUES (13, 1), (14, 99) v(id, a)", "id", extra=("a",)),
    equality_delete("SELECT id, b FROM VALUES (17, CAST(NULL AS STRING)), (19, 'b1') v(id, b)", "id", "b"),
)
table(
    "eq_partition_scope",
    f"CREATE TABLE {{t}} (id INT, p INT, s STRING) USING iceberg PARTITIONED BY (p) {raw(2, **MOR)}",
    "INSERT INTO {t} SELECT id % 10, CAST(id / 10 AS INT), concat('s', id) FROM range(0, 40)",
    "INSERT INTO {t} VALUES (1, NULL, 'n'), (2, NULL, 'n')",
    equality_delete("SELECT CAST(id AS INT) AS id FROM range(0, 3)", "id", of="p = 1"),
    equality_delete("SELECT 5 AS id", "id", of="p = 2"),
    equality_delete("SELECT 1 AS id", "id", of="p IS NULL"),
    "INSERT INTO {t} VALUES (1, 1, 'again')",
    "ALTER TABLE {t} ADD PARTITION FIELD truncate(1, s)",
    "INSERT INTO {t} VALUES (5, 2, 's again'), (6, 2, 't')",
    equality_delete("SELECT 6 AS id", "id", of="id = 6 AND s = 't'"),
    equality_delete("SELECT 7 AS id", "id", of="p = 3", spec=0),
)
table(
    "eq_global",
    f"CREATE TABLE {{t}} (id INT, p INT) USING iceberg {raw(2)}",
    "INSERT INTO {t} SELECT id, id % 3 FROM range(0, 20)",
    "ALTER TABLE {t} ADD PARTITION FIELD p",
    "INSERT INTO {t} SELECT id, id % 3 FROM range(20, 40)",
    equality_delete("SELECT id FROM VALUES (3), (25), (50) v(id)", "id", spec=0),
    "INSERT INTO {t} VALUES (3, 0), (50, 1)",
    equality_delete("SELECT id FROM VALUES (4), (26) v(id)", "id", of="id = 26"),
)
table(
    "eq_evolved",
    f"CREATE TABLE {{t}} (id INT, c INT, n INT) USING iceberg {raw(2)}",
    "INSERT INTO {t} SELECT id, id % 5, id FROM range(0, 20)",
    equality_delete("SELECT 1 AS c", "c"),
    "ALTER TABLE {t} RENAME COLUMN c TO k",
    "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT",
    "INSERT INTO {t} VALUES (20, 1, 5000000000), (21, 2, 2)",
    equality_delete("SELECT 2 AS k", "k"),
    equality_delete("SELECT n FROM VALUES (5000000000L), (3L) v(n)", "n"),
    "ALTER TABLE {t} ADD COLUMN c INT",
    "INSERT INTO {t} VALUES (22, 3, 3, 7), (23, 3, 3, NULL)",
    equality_delete("SELECT CAST(NULL AS INT) AS c, 4 AS k", "c", "k"),
    equality_delete("SELECT 7 AS c", "c"),
)
table(
    "eq_dropped",
    f"CREATE TABLE {{t}} (id INT, c INT) USING iceberg {raw(2)}",
    "INSERT INTO {t} SELECT id, id % 5 FROM range(0, 20)",
    equality_delete("SELECT 1 AS c", "c"),
    "ALTER TABLE {t} DROP COLUMN c",
    "INSERT INTO {t} VALUES (20)",
    may_fail=True,
)
table(
    "eq_v3",
    f"CREATE TABLE {{t}} (id INT, c STRING) USING iceberg {raw(3, **MOR)}",
    "INSERT INTO {t} SELECT id, concat('c', id % 5) FROM range(0, 40)",
    "DELETE FROM {t} WHERE id % 7 = 1",
    equality_delete("SELECT 'c1' AS c", "c"),
    "DELETE FROM {t} WHERE id % 7 = 2",
    api(
        lambda java, jvm: java.updateSchema()
        .addColumn(
            "d",
            jvm.org.apache.iceberg.types.Types.IntegerType.get(),
            jvm.org.apache.iceberg.expressions.Expressions.lit(5),
        )
        .commit()
    ),
    "INSERT INTO {t} VALUES (50, 'c1', 6), (51, 'c2', 5)",
    equality_delete("SELECT 5 AS d, 'c2' AS c", "d", "c"),
    lineage=True,
)
table(
    "eq_over_avro",
    f"CREATE TABLE {{t}} (id INT, c STRING) USING iceberg {raw(2, **MOR, **{'write.format.default': 'avro'})}",
    "INSERT INTO {t} SELECT id, concat('c', id % 5) FROM range(0, 40)",
    equality_delete("SELECT 'c1' AS c", "c"),
    "DELETE FROM {t} WHERE id % 7 = 2",
    equality_delete("SELECT 5 AS id", "id", form="AVRO"),
)


# --- At random ------------------------------------------------------------------------------------
for seed in range(
    int(os.environ.get("WALK_FIRST", 0)), int(os.environ.get("WALK_FIRST", 0)) + int(os.environ.get("WALKS", 0))
):
    table(f"walk_{seed}", walk(seed), max_travel=12, values=3, metadata_files=False)

QUICK = set("""
types_v1 types_v2 types_v3 ident_string ident_date ident_double ident_decimal38_10 bucket_int bucket_bigint bucket_decimal9_2
bucket_date bucket_ts bucket_string bucket_binary trunc_int trunc_decimal9_2 trunc_string trunc_binary years_date months_tsntz
days_ts hours_ts part_evolution_v1 part_renamed part_source_dropped part_promoted schema_evolution_v2 schema_nested
schema_all_children_new schema_column_became_struct defaults_parquet defaults_avro mor_v2_file_ident mor_v2_partition_plain
mor_v3_file_bucket mor_upgraded mor_evolved mor_avro_deletes overwrites rewritten_v3 manifests_merged_v2 branches wap
rolled_back replaced codec_zstd codec_snappy codec_gzip codec_lz4 codec_uncompressed metrics_none metrics_truncate2
metrics_long_strings files_bloom avro_types orc_types nested_parquet nested_avro names names_odd nulls_only nan_only
empty_none empty_after gzip_metadata many_versions object_layout own_location data_elsewhere moved moved_v3 location_changed
jdbc_v0 jdbc_v1 added_files added_files_evolved added_files_int96 added_files_promoted added_files_v2_pages eq_parquet_string eq_avro_int
eq_several_keys eq_partition_scope eq_v3
""".split())
assert QUICK <= {s["name"] for s in SCENARIOS}
