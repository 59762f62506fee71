#!/usr/bin/env python3
"""Other readers of Parquet against our writer.

    parquet_check.py TOOL [SPARK_PYTHON]

PyArrow writes rows of every type, TOOL (build/core/parquet_write) rewrites the file in several ways, and each reader must
find in ours what it finds in PyArrow's. Ends with `N passed, N failed, N skipped`.
"""
import datetime as dt
import decimal
import json
import os
import random
import subprocess
import sys
import tempfile

import datafusion
import duckdb
import fastparquet
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

TOOL = sys.argv[1]
SPARK = sys.argv[2] if len(sys.argv) > 2 else None
ROWS = 12000
# The name of a way, the tool's arguments, and whether it is for readers that know only the basics.
WAYS = {
    "default": [],
    "v2 pages": ["-v", "2"],
    "lengths": ["-d"],
    "basic": ["-b"],
    "basic v2": ["-b", "-v", "2"],
    "small pages": ["-p", "700"],
    "level 12": ["-l", "12"],
}
random.seed(3)


def some(value, nulls=True):
    """A column of values; some are NULL, some repeat, some rise."""
    values = [value(i) for i in range(ROWS)]
    return [None if nulls and random.random() < 0.2 else v for v in values]


def number(bits, signed=True):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    kinds = [lambda i: random.randint(low, high), lambda i: random.choice([low, high, 0]), lambda i: min(i // 3, high)]
    return lambda i: kinds[i * 3 // ROWS](i)


def digits(precision, scale):
    return lambda i: decimal.Decimal(random.randint(-(10**precision) + 1, 10**precision - 1)).scaleb(-scale)


def text(i):
    if i < ROWS // 3:
        return random.choice(["", "a", "ä€😀", "furiously " * 9])
    return "".join(random.choice("abcdef ghé") for _ in range(random.randint(0, 40)))


def columns():
    epoch = dt.datetime(1970, 1, 1)
    moment = lambda i: epoch + dt.timedelta(microseconds=random.randint(-(10**15), 4 * 10**15))
    floats = lambda i: random.choice([float("nan"), 0.0, -0.0, 1.5, float("inf"), random.gauss(0, 1e6)])
    decimal.getcontext().prec = 60
    flat = {
        "b": (pa.bool_(), some(lambda i: random.random() < 0.5)),
        "i8": (pa.int8(), some(number(8))),
        "i16": (pa.int16(), some(number(16))),
        "i32": (pa.int32(), some(number(32))),
        "i64": (pa.int64(), some(number(64))),
        "u8": (pa.uint8(), some(number(8, False))),
        "u16": (pa.uint16(), some(number(16, False))),
        "u32": (pa.uint32(), some(number(32, False))),
        "u64": (pa.uint64(), some(number(64, False))),
        "f32": (pa.float32(), some(lambda i: random.choice([0.5, -0.0, 3.25]) * (i % 700))),
        "f64": (pa.float64(), some(floats)),
        "d": (pa.date32(), some(lambda i: dt.date(1970, 1, 1) + dt.timedelta(random.randint(-9000, 30000)))),
        "t": (pa.time64("us"), some(lambda i: dt.time(i % 24, 59, 1, random.randint(0, 999999)))),
        "ts": (pa.timestamp("us"), some(moment)),
        "tz": (pa.timestamp("us", "UTC"), some(moment)),
        "s": (pa.string(), some(text)),
        "req": (pa.string(), some(text, nulls=False)),
        "y": (pa.binary(), some(lambda i: random.randbytes(random.randint(0, 20)))),
        "x5": (pa.binary(5), some(lambda i: random.randbytes(5))),
        "nulls": (pa.int32(), [None] * ROWS),
        "one": (pa.int64(), [7] * ROWS),
    }
    decimals = {
        f"dec{p}": (pa.decimal128(p, s), some(digits(p, s))) for p, s in [(5, 2), (9, 0), (10, 3), (18, 18), (19, 2), (38, 10)]
    }
    few = lambda value: lambda i: [value(i) for _ in range(random.choice([0, 0, 1, 3]))]
    nested = {
        "l": (pa.list_(pa.int32()), some(few(number(32)))),
        "ll": (pa.list_(pa.list_(pa.string())), some(few(lambda i: random.choice([None, [], ["a", None]])))),
        "st": (pa.struct([("a", pa.int64()), ("b", pa.string())]), some(lambda i: {"a": i, "b": random.choice([None, "x"])})),
        "ls": (pa.list_(pa.struct([("n", pa.float64()), ("l", pa.list_(pa.int8()))])), some(few(lambda i: {"n": i / 4, "l": [1, None]}))),
        "m": (pa.map_(pa.string(), pa.int64()), some(lambda i: [(k, i) for k in "abc"[: i % 4]])),
    }
    return flat, decimals, nested


def write(path, *parts):
    fields = {name: column for part in parts for name, column in part.items()}
    schema = pa.schema([pa.field(n, t, nullable=n != "req") for n, (t, _) in fields.items()])
    table = pa.table([pa.array(v, t) for t, v in fields.values()], schema=schema)
    pq.write_table(table, path, compression="none", row_group_size=5000)


def by_pyarrow(path):
    return repr(pq.read_table(path).to_pylist())


def by_polars(path):
    return repr(polars.read_parquet(path).to_arrow().to_pylist())


def by_datafusion(path):
    # Row groups come in any order.
    return repr(sorted(map(repr, datafusion.SessionContext().read_parquet(path).to_arrow_table().to_pylist())))


def by_duckdb(path):
    return repr(duckdb.execute(f"SELECT * FROM '{path}'").fetchall())


def by_fastparquet(path):
    # It cannot read PyArrow's column of NULLs alone, and has NULLs as one of several things.
    f = fastparquet.ParquetFile(path)
    frame = f.to_pandas([c for c in f.columns if c != "nulls"])
    return repr({c: [None if pandas.isna(v) else v for v in frame[c]] for c in frame})


def by_duckdb_filtered(path):
    """With statistics, page index and Bloom filters in use."""
    wanted = ["i64 > 100", "s = 'a'", "s > 'f'", "f64 = 1.5", "d < DATE '1980-01-01'", "i32 IS NULL", "req = ''", "one = 8"]
    return repr([duckdb.execute(f"SELECT count(*) FROM '{path}' WHERE {w}").fetchone() for w in wanted])


SPARK_CODE = """
import json, sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.sql.session.timeZone", "UTC").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
source, *files = sys.argv[1:]
rows = lambda path: sorted(str(r) for r in spark.read.parquet(path).collect())
wanted = rows(source)
print(json.dumps([rows(f) == wanted for f in files]))
"""

READERS = {
    "PyArrow": by_pyarrow,
    "Polars": by_polars,
    "DataFusion": by_datafusion,
    "DuckDB": by_duckdb,
    "fastparquet": by_fastparquet,
    "DuckDB, filters": by_duckdb_filtered,
}
# What a reader can't read of anybody's.
ONLY = {"fastparquet": {"flat"}, "DuckDB, filters": {"flat"}}
BASIC = {"fastparquet"}


def main():
    passed, failed, skipped = 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        flat, decimals, nested = columns()
        times = {"t": flat.pop("t")}
        sources = {"flat": [flat], "times": [times], "decimals": [decimals], "nested": [nested]}
        for what, parts in sources.items():
            source = os.path.join(directory, f"{what}.parquet")
            write(source, *parts)
            files = {}
            for way, arguments in WAYS.items():
                files[way] = os.path.join(directory, f"{what}-{way.replace(' ', '-')}.parquet")
                subprocess.run([TOOL, "-s", *arguments, source, files[way]], check=True, stdout=subprocess.DEVNULL)
            for name, read in READERS.items():
                if what not in ONLY.get(name, sources):
                    continue
                wanted = read(source)
                for way, path in files.items():
                    if name in BASIC and way != "basic":
                        continue
                    try:
                        found = read(path)
                    except Exception as e:  # whatever a reader says
                        found = f"{type(e).__name__}: {e}"
                    if found == wanted:
                        passed += 1
                    else:
                        failed += 1
                        print(f"FAIL {name} reads {what}, {way}: {found[:300]} not {wanted[:300]}")
            if SPARK and what != "times":  # which it does not have
                del files["lengths"]  # Spark 3.5 reads them wrongly, PyArrow's too
                out = subprocess.run([SPARK, "-c", SPARK_CODE, source, *files.values()], capture_output=True, text=True)
                if out.returncode != 0:
                    failed += 1
                    print(f"FAIL Spark reads {what}: {out.stderr[-600:]}")
                    continue
                for way, same in zip(files, json.loads(out.stdout.strip().splitlines()[-1])):
                    passed, failed = passed + same, failed + (not same)
                    if not same:
                        print(f"FAIL Spark reads {what}, {way}")
    if not SPARK:
        skipped += 1
        print("SKIPPED: Spark on written Parquet files: no interpreter that has it")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
