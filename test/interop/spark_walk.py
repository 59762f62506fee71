"""A table that Spark changes at random: schema, partitions, rows, format, maintenance."""

import random

SCALARS = [
    "int",
    "bigint",
    "float",
    "double",
    "decimal(9,2)",
    "decimal(18,4)",
    "string",
    "date",
    "timestamp",
    "timestamp_ntz",
    "binary",
    "boolean",
]
NESTED = ["struct<a: int, b: string>", "array<int>", "map<string, int>", "array<struct<x: int, y: string>>"]
WIDER = {"int": "bigint", "float": "double", "decimal(9,2)": "decimal(20,2)", "decimal(18,4)": "decimal(38,4)"}
NAMES = [chr(97 + i) for i in range(8)] + ["A", "b c", "d.e", "é", "select"]


def quote(name):
    return "`" + name + "`"


class Walk:
    def __init__(self, spark, table, seed):
        self.spark, self.table, self.random = spark, table, random.Random(seed)
        self.log = []
        self.n = 0

    def sql(self, text):
        """Whether Spark did it: what it refuses changes nothing."""
        try:
            self.spark.sql(text)
            self.log.append(text)
            return True
        except Exception as error:
            self.log.append(f"-- refused: {text}: {str(error)[:150]}")
            return False

    def columns(self):
        return [(f.name, f.dataType.simpleString()) for f in self.spark.table(self.table).schema.fields]

    def value(self, kind):
        r = self.random
        if r.random() < 0.15:
            return f"cast(NULL AS {kind})"
        if kind == "int":
            return f"int({r.choice([0, 1, -1, 7, 100, 2147483647, -2147483647, r.randrange(-20, 20)])})"
        if kind == "bigint":
            return f"bigint({r.choice([0, 1, -1, 5, 2**40, -2**62, 9223372036854775807, r.randrange(-20, 20)])})"
        if kind in ("float", "double"):
            return f"{kind}('{r.choice(['0.0', '-0.0', '1.5', 'NaN', 'Infinity', '-Infinity', '1e30', str(r.randrange(-5, 5))])}')"
        if kind.startswith("decimal"):
            return f"cast('{r.choice(['0', '1.25', '-1.25', '12345.67', '-99999.99', str(r.randrange(-9, 9))])}' AS {kind})"
        if kind == "string":
            return r.choice(
                [
                    "''",
                    "'a'",
                    "'abc'",
                    "'abd'",
                    "'z/x y'",
                    "'é汉😀'",
                    "'null'",
                    "repeat('long', 10)",
                    f"'s{r.randrange(20)}'",
                ]
            )
        if kind == "date":
            return f"date'{r.choice(['1970-01-01', '1969-12-31', '2026-02-28', '0001-01-01', '9999-12-31'])}' + {r.randrange(0, 1)}"
        if kind.startswith("timestamp"):
            stamp = r.choice(
                [
                    "1970-01-01 00:00:00",
                    "1969-12-31 23:59:59.999999",
                    "2026-02-28 12:30:00.5",
                    "0001-01-01 00:00:00",
                    "2026-03-01 00:00:00",
                    "1900-01-01 01:00:00",
                ]
            )
            return f"{kind}'{stamp}'"
        if kind == "binary":
            return f"X'{r.choice(['', '00', 'FF', 'DEADBEEF', 'FF' * 20])}'"
        if kind == "boolean":
            return r.choice(["true", "false"])
        if kind.startswith("struct<"):
            return "named_struct(" + ", ".join(f"'{n}', {self.value(t)}" for n, t in self.fields(kind[7:-1])) + ")"
        if kind.startswith("array<"):
            n = r.randrange(0, 3)
            if n == 0:
                return f"cast(array() AS {kind})"
            return "array(" + ", ".join(self.value(kind[6:-1]) for _ in range(n)) + ")"
        if kind.startswith("map<"):
            key, value = self.split(kind[4:-1])
            keys = r.sample(["'k1'", "'k2'", "'k 3'"], r.randrange(0, 3))
            if not keys:
                return f"cast(map() AS {kind})"
            return "map(" + ", ".join(f"{k}, {self.value(value)}" for k in keys) + ")"
        raise ValueError(kind)

    @staticmethod
    def split(text):
        parts, depth, start = [], 0, 0
        for i, c in enumerate(text):
            depth += c in "<("
            depth -= c in ">)"
            if c == "," and depth == 0:
                parts.append(text[start:i])
                start = i + 1
        return parts + [text[start:]]

    def fields(self, text):
        return [f.split(":", 1) for f in self.split(text)]

    def rows(self, n):
        columns = self.columns()
        rows = []
        for _ in range(n):
            self.n += 1
            rows.append("(" + ", ".join(str(self.n) if c == "id" else self.value(t) for c, t in columns) + ")")
        return ", ".join(rows)

    def condition(self):
        r = self.random
        if r.random() < 0.4:
            return f"id % {r.randrange(2, 12)} = {r.randrange(0, 2)}"
        column, kind = r.choice(self.columns())
        if kind not in SCALARS + ["decimal(20,2)", "decimal(38,4)"] or r.random() < 0.2:
            return f"{quote(column)} IS {r.choice(['', 'NOT '])}NULL AND id % 3 = 1"
        return f"{quote(column)} {r.choice(['=', '<', '>', '<>', '<=', '>='])} {self.value(kind)} AND id % 4 < 3"

    def insert(self):
        self.sql(f"INSERT INTO {self.table} VALUES {self.rows(self.random.randrange(1, 25))}")

    def delete(self):
        self.sql(f"DELETE FROM {self.table} WHERE {self.condition()}")

    def update(self):
        columns = [c for c in self.columns() if c[0] != "id"]
        if columns:
            column, kind = self.random.choice(columns)
            self.sql(f"UPDATE {self.table} SET {quote(column)} = {self.value(kind)} WHERE {self.condition()}")

    def add_column(self):
        r = self.random
        taken = [c for c, _ in self.columns()]
        name = r.choice([n for n in NAMES if n not in taken] or ["zz"])
        kind = r.choice(SCALARS + NESTED)
        place = r.choice(["", " FIRST", f" AFTER {quote(r.choice(taken))}"])
        self.sql(f"ALTER TABLE {self.table} ADD COLUMN {quote(name)} {kind}{place}")

    def drop_column(self):
        columns = [c for c, _ in self.columns() if c != "id"]
        if len(columns) > 2:
            self.sql(f"ALTER TABLE {self.table} DROP COLUMN {quote(self.random.choice(columns))}")

    def rename_column(self):
        taken = [c for c, _ in self.columns()]
        free = [n for n in NAMES if n not in taken]
        old = [c for c in taken if c != "id"]
        if free and old:
            self.sql(
                f"ALTER TABLE {self.table} RENAME COLUMN {quote(self.random.choice(old))} TO {quote(self.random.choice(free))}"
            )

    def widen(self):
        columns = [(c, t) for c, t in self.columns() if t in WIDER]
        if columns:
            column, kind = self.random.choice(columns)
            self.sql(f"ALTER TABLE {self.table} ALTER COLUMN {quote(column)} TYPE {WIDER[kind]}")

    def nested(self):
        r = self.random
        structs = [(c, t) for c, t in self.columns() if t.startswith("struct<")]
        lists = [(c, t) for c, t in self.columns() if t.startswith("array<struct")]
        if structs and r.random() < 0.6:
            column, kind = r.choice(structs)
            fields, path = self.fields(kind[7:-1]), quote(column)
        elif lists:
            column, kind = r.choice(lists)
            fields, path = self.fields(kind[13:-2]), quote(column) + ".element"
        else:
            return
        names = [n for n, _ in fields]
        free = [n for n in "abcdefgxyz" if n not in names]
        what = r.randrange(4)
        if what == 0:
            self.sql(f"ALTER TABLE {self.table} ADD COLUMN {path}.{r.choice(free)} {r.choice(SCALARS)}")
        elif what == 1 and len(names) > 1:
            self.sql(f"ALTER TABLE {self.table} DROP COLUMN {path}.{r.choice(names[1:])}")
        elif what == 2:
            self.sql(f"ALTER TABLE {self.table} RENAME COLUMN {path}.{r.choice(names)} TO {r.choice(free)}")
        else:
            wide = [(n, t) for n, t in fields if t in WIDER]
            if wide:
                name, t = r.choice(wide)
                self.sql(f"ALTER TABLE {self.table} ALTER COLUMN {path}.{name} TYPE {WIDER[t]}")

    def transform(self):
        r = self.random
        columns = [(c, t) for c, t in self.columns() if t in SCALARS]
        if not columns:
            return None
        column, kind = r.choice(columns)
        q = quote(column)
        choices = [q]
        if kind in ("int", "bigint", "string", "date", "binary") or kind.startswith(("decimal", "timestamp")):
            choices.append(f"bucket({r.randrange(2, 5)}, {q})")
        if kind in ("bigint", "string", "binary"):
            choices.append(f"truncate({r.choice([2, 10])}, {q})")
        if kind == "date" or kind.startswith("timestamp"):
            choices += [f"{u}({q})" for u in ("years", "months", "days")]
        return r.choice(choices)

    def partition(self):
        r = self.random
        parts = [
            row[1] for row in self.spark.sql(f"DESCRIBE TABLE {self.table}").collect() if row[0].startswith("Part ")
        ]
        new = self.transform()
        if new and (not parts or r.random() < 0.4):
            self.sql(f"ALTER TABLE {self.table} ADD PARTITION FIELD {new}")
        elif parts and r.random() < 0.6:
            self.sql(f"ALTER TABLE {self.table} DROP PARTITION FIELD {r.choice(parts)}")
        elif parts and new:
            self.sql(f"ALTER TABLE {self.table} REPLACE PARTITION FIELD {r.choice(parts)} WITH {new}")

    def setting(self):
        r = self.random
        key, values = r.choice(
            [
                ("write.delete.mode", ("merge-on-read", "copy-on-write")),
                ("write.update.mode", ("merge-on-read", "copy-on-write")),
                ("write.delete.granularity", ("file", "partition")),
                ("write.format.default", ("parquet", "parquet", "avro")),
                ("write.metadata.metrics.default", ("none", "counts", "truncate(4)", "full")),
                ("write.parquet.page-row-limit", ("3", "20000")),
                ("write.parquet.row-group-size-bytes", ("2000", "100000000")),
                ("write.parquet.row-group-check-min-record-count", ("10", "100")),
                ("write.parquet.row-group-check-max-record-count", ("20", "10000")),
                ("write.parquet.dict-size-bytes", ("1", "2097152")),
                ("write.metadata.compression-codec", ("gzip", "none")),
                ("write.object-storage.enabled", ("true", "false")),
                ("commit.manifest.min-count-to-merge", ("2", "100")),
                ("write.delete.format.default", ("parquet", "avro")),
                ("write.parquet.compression-codec", ("zstd", "snappy", "gzip", "uncompressed", "lz4")),
            ]
        )
        self.sql(f"ALTER TABLE {self.table} SET TBLPROPERTIES ('{key}'='{r.choice(values)}')")

    def maintain(self):
        catalog, rest = self.table.split(".", 1)
        what = self.random.choice(
            [
                "rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))",
                "rewrite_manifests(table => '{}')",
                "rewrite_position_delete_files(table => '{}', options => map('rewrite-all', 'true'))",
            ]
        )
        self.sql(f"CALL {catalog}.system.{what.format(rest)}")

    def upgrade(self):
        self.sql(f"ALTER TABLE {self.table} SET TBLPROPERTIES ('format-version'='{self.random.choice([2, 2, 3])}')")

    def reference(self):
        r = self.random
        name = f"r{r.randrange(100)}"
        if self.sql(f"ALTER TABLE {self.table} CREATE {r.choice(['TAG', 'BRANCH'])} {name}") and r.random() < 0.5:
            self.sql(f"INSERT INTO {self.table}.branch_{name} VALUES {self.rows(3)}")

    def equality(self):
        from spark_scenarios import equality_delete

        columns = [(c, t) for c, t in self.columns() if t in SCALARS and c not in ("b c", "d.e", "é", "select")]
        picked = self.random.sample(columns, min(len(columns), self.random.randrange(1, 3)))
        spec = self.spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self.spark._jsparkSession, self.table
        ).spec()
        names = ", ".join(quote(c) for c, _ in picked)
        if not picked:
            return
        form = self.random.choice(["PARQUET", "AVRO"])
        of = f"id = {self.random.randrange(1, self.n + 1)}" if spec.isPartitioned() else None
        try:
            equality_delete(
                f"SELECT {names} FROM {{t}} WHERE id % 5 = {self.random.randrange(5)} LIMIT 4",
                *[c for c, _ in picked],
                form=form,
                of=of,
            )(self.spark, self.table)
            self.log.append(f"-- equality delete {form} by {names}")
        except Exception as error:
            self.log.append(f"-- refused: equality delete by {names}: {str(error)[:200]}")

    def big(self):
        """Many rows: several pages, and row groups where the settings make them small."""
        columns = ", ".join(
            (
                "id"
                if c == "id"
                else (
                    f"element_at(array({', '.join(self.value(t) for _ in range(5))}), int(1 + id % 5))"
                    if self.random.random() < 0.6
                    else f"element_at(array({', '.join(self.value(t) for _ in range(3))}), int(1 + id / 200))"
                )
            )
            for c, t in self.columns()
        )
        self.sql(f"INSERT INTO {self.table} SELECT {columns} FROM range({self.n + 1}, {self.n + 600})")
        self.n += 600

    def default(self):
        """A column with an initial default, which only Iceberg's own interface can add."""
        jvm = self.spark._jvm
        types, literal = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.expressions.Expressions.lit
        java = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.table)
        kind, value = self.random.choice(
            [
                (types.IntegerType.get(), 7),
                (types.StringType.get(), "dé"),
                (types.BooleanType.get(), True),
                (types.DoubleType.get(), -0.5),
            ]
        )
        free = [n for n in NAMES if n not in [c for c, _ in self.columns()]]
        try:
            java.updateSchema().addColumn(free[0], kind, literal(value)).commit()
            self.spark.sql(f"REFRESH TABLE {self.table}")
            self.log.append(f"-- column {free[0]} with default {value}")
        except Exception as error:
            self.log.append(f"-- refused: default: {str(error)[:200]}")

    def run(self, steps):
        r = self.random
        kinds = r.sample(SCALARS + NESTED, 6)
        body = ", ".join(["id BIGINT"] + [f"{chr(97 + i)} {k}" for i, k in enumerate(kinds)])
        mode = r.choice(["merge-on-read", "copy-on-write", "merge-on-read"])
        self.sql(
            f"CREATE TABLE {self.table} ({body}) USING iceberg TBLPROPERTIES ('format-version'='{r.choice([1, 2, 2, 3])}', 'write.delete.mode'='{mode}', "
            f"'write.update.mode'='{mode}', 'write.spark.fanout.enabled'='true')"
        )
        self.insert()
        actions = (
            [self.insert] * 5
            + [self.delete] * 3
            + [self.update] * 2
            + [self.add_column] * 2
            + [
                self.drop_column,
                self.rename_column,
                self.rename_column,
                self.widen,
                self.nested,
                self.nested,
                self.partition,
                self.partition,
                self.partition,
                self.setting,
                self.setting,
                self.maintain,
                self.upgrade,
                self.reference,
                self.equality,
                self.equality,
                self.equality,
                self.default,
                self.big,
            ]
        )
        for _ in range(steps):
            r.choice(actions)()


def walk(seed, steps=30):
    def step(spark, table):
        w = Walk(spark, table, seed)
        try:
            w.run(steps)
        finally:
            with open(f"{spark.directory}/{table.rsplit('.', 1)[1]}.sql", "w") as f:
                f.write(";\n".join(w.log))

    return step
