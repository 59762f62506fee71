#!/usr/bin/env python3
"""Writes the rows of other writers' files as another reader reads them: the differential test's twins.

    make_values.py DIR     DIR/<schema>.<table>.csv.gz, of test/data; values/README.md says more

One line a row, columns in the order of the file, every value quoted, NULL is \\N. What is nested is
JSON as pg/convert/json.c describes it, lists of scalars are arrays; the rest is text that PostgreSQL
reads. Parquet is read by PyArrow, by DuckDB where PyArrow can't, Kafka's batches by kafka-python.
"""
import datetime as dt
import glob
import gzip
import hashlib
import json
import math
import os
import struct
import sys
import tarfile
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
EPOCH = dt.datetime(1970, 1, 1)


def number(v, single=False):
    if math.isnan(v):
        return "NaN"
    if math.isinf(v):
        return "Infinity" if v > 0 else "-Infinity"
    return str(np.float32(v)) if single else repr(v)


def moment(us):
    """Microseconds since 1970, of any year."""
    days, us = divmod(us, 86400 * 10**6)
    seconds, us = divmod(us, 10**6)
    text = f"{day(days)} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + (f".{us:06d}" if us else "")


def day(days):
    y, m, d = str(np.datetime64(days, "D")).rsplit("-", 2)
    return f"{int(y):04d}-{m}-{d}" if int(y) > 0 else f"{1 - int(y):04d}-{m}-{d} BC"


PER_US = {"s": (10**6, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}


def to_us(unit, v):
    times, by = PER_US[unit]
    return v * times // by


def integers(array):
    """Times and dates as the integers that they are, since Python has no years beyond 9999."""
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    return array.view(width) if not isinstance(array, pa.ChunkedArray) else pa.chunked_array([c.view(width) for c in array.chunks], width)


def as_json(t, v):
    if v is None:
        return "null"
    if pa.types.is_boolean(t):
        return "true" if v else "false"
    if pa.types.is_integer(t) or pa.types.is_decimal(t):
        return format(v, "f") if pa.types.is_decimal(t) else str(v)
    if pa.types.is_floating(t):
        text = number(v, t.bit_width < 64)
        return text if text[-1].isdigit() else json.dumps(text)
    if pa.types.is_struct(t):
        return "{" + ", ".join(f"{json.dumps(f.name)}: {as_json(f.type, v.get(f.name))}" for f in t) + "}"
    if pa.types.is_map(t):
        return "{" + ", ".join(f"{json.dumps(as_key(t.key_type, k))}: {as_json(t.item_type, x)}" for k, x in v) + "}"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return "[" + ", ".join(as_json(t.value_type, x) for x in v) + "]"
    return json.dumps(as_key(t, v), ensure_ascii=False)


def as_key(t, v):
    if isinstance(v, bytes):
        return "\\x" + v.hex()
    if isinstance(v, (dt.datetime, dt.date)):
        return v.isoformat().replace("T00:00:00+00:00", "T00:00:00+00:00")
    return v if isinstance(v, str) else str(v)


def array_item(t, v):
    if v is None:
        return "NULL"
    return '"' + (v if isinstance(v, str) else str(v)).replace("\\", "\\\\").replace('"', '\\"') + '"'


def column(array, t):
    """The texts of a column."""
    if isinstance(t, pa.BaseExtensionType) and t.extension_name == "arrow.uuid":
        return [None if v is None else str(v) for v in array.to_pylist()]
    if pa.types.is_timestamp(t):
        zone = "+00" if t.tz else ""
        def at(v):
            text = moment(to_us(t.unit, v))
            return text.replace(" BC", "") + zone + (" BC" if text.endswith(" BC") else "")
        return [None if v is None else at(v) for v in integers(array).to_pylist()]
    if pa.types.is_date32(t):
        return [None if v is None else day(v) for v in integers(array).to_pylist()]
    if pa.types.is_time(t):
        return [None if v is None else moment(to_us(t.unit, v)).split(" ")[1] for v in integers(array).to_pylist()]
    values = array.to_pylist()
    if pa.types.is_floating(t):
        return [None if v is None else number(float(v), t.bit_width < 64) for v in values]
    if pa.types.is_list(t) and not pa.types.is_nested(t.value_type):
        return [None if v is None else "{" + ",".join(array_item(t.value_type, x) for x in v) + "}" for v in values]
    if pa.types.is_nested(t):
        return [None if v is None else as_json(t, v) for v in values]
    if pa.types.is_decimal(t):
        return [None if v is None else format(v, "f") for v in values]
    if pa.types.is_boolean(t):
        return [None if v is None else "t" if v else "f" for v in values]
    return [None if v is None else "\\x" + v.hex() if isinstance(v, bytes) else str(v) for v in values]


def quoted(text):
    return "\\N" if text is None else '"' + text.replace('"', '""') + '"'


def write(out, name, columns):
    # Of many rows a digest will do: 15 digits of the MD5 of each row's text, summed up.
    if len(columns[0]) > 100000:
        digest = sum(int(hashlib.md5("|".join(v or "" for v in row).encode()).hexdigest()[:15], 16) for row in zip(*columns))
        with open(f"{out}/{name}.digest", "w") as f:
            f.write(f"{len(columns[0])} {digest}\n")
        return
    lines = "".join(",".join(quoted(v) for v in row) + "\n" for row in zip(*columns))
    with open(f"{out}/{name}.csv.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(lines.encode())


def read(path):
    """Columns of one file."""
    table = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
    return [column(table.column(i), table.schema.field(i).type) for i in range(table.num_columns)]


def by_duckdb(path):
    import duckdb
    table = duckdb.sql(f"SELECT * FROM read_parquet('{path.replace(chr(39), chr(39) * 2)}')").fetch_arrow_table()
    return [column(table.column(i), table.schema.field(i).type) for i in range(table.num_columns)]


# PyArrow and DuckDB would take hours for these: one value each, as test/data/README.md has it.
DEEP = {"lists_99": "[" * 99 + "42" + "]" * 99, "structs_99": '{"s": ' * 98 + '{"x": 42' + "}" * 99}
# Nobody else reads this encoding: what test/data/parquet_encodings/README.md says of each row.
def alp():
    def value(i):
        if i % 23 == 5:
            return "NaN"
        if i % 29 == 7:
            return "Infinity"
        if i % 31 == 3:
            return -0.0
        return (i * 0.01, -1.5 * i, 1000.0 * i, i / 3)[i // 10 % 4]
    rows = [value(i) for i in range(100)]
    return [[v if isinstance(v, str) else number(v) for v in rows],
            [None if i % 7 == 3 else v if isinstance(v, str) else number(v, True) for i, v in enumerate(rows)]]


# Several files of the same rows.
SAME = {n: "prune" for n in ("delta", "dictionary", "no_index", "plain_v2")}
SAME.update({n: "nested" for n in ("v1_dict", "v1_plain", "v2_delta")})
# Deeper than we read.
TOO_DEEP = ("lists_101", "structs_120")


def together(files):
    parts = [read(f) for f in sorted(files)]
    return [sum(cells, []) for cells in zip(*parts)]


def transformed(directory, table):
    """Rows of a table of transforms.tar.gz with its name in front and the file that each row is in behind."""
    parts = []
    for path in sorted(glob.glob(f"{directory}/{table}/data/**/*.parquet", recursive=True)):
        columns = read(path)
        n = len(columns[0])
        parts.append([[table] * n] + columns + [[os.path.relpath(path, f"{directory}/{table}")] * n])
    return [sum(cells, []) for cells in zip(*parts)]


def kafka(directory):
    """Committed records: partition, offset, timestamp, key, value, headers."""
    from kafka.record import MemoryRecords
    rows, aborted, pending = [], [], {}
    for path in sorted(glob.glob(directory + "/*.log")):
        with open(path, "rb") as f:
            records = MemoryRecords(f.read())
        while True:
            try:
                batch = records.next_batch()
            except Exception:
                break
            if batch is None:
                break
            kept = list(batch)
            producer = batch.producer_id
            if batch.is_control_batch:
                committed = struct.unpack(">hh", kept[0].key[:4])[1] == 1
                mine = pending.pop(producer, [])
                if committed:
                    rows += mine
                continue
            cells = [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in kept]
            if batch.is_transactional:
                pending.setdefault(producer, []).extend(cells)
            else:
                rows += cells
    # Nothing counts from the first offset of a transaction that is still open.
    stable = min([cells[0][0] for cells in pending.values() if cells], default=1 << 62)
    return sorted(r for r in rows if r[0] < stable)


def topic(name):
    columns = [[], [], [], [], [], []]
    for directory in sorted(glob.glob(f"{DATA}/kafka/{name}-*")):
        for offset, ts, key, value, headers in kafka(directory):
            texts = [directory.rsplit("-", 1)[1], str(offset), moment(ts * 1000) + "+00"]
            texts += [None if b is None else "\\x" + b.hex() for b in (key, value)]
            texts.append(json.dumps([[k, v] for k, v in headers]))
            for c, t in zip(columns, texts):
                c.append(t)
    return columns


def main(out):
    os.makedirs(out, exist_ok=True)
    failed = []

    def attempt(name, *readers):
        for reader in readers:
            try:
                write(out, name, reader())
                return
            except Exception as e:
                why = f"{type(e).__name__}: {str(e)[:150]}"
        failed.append(f"{name}: {why}")

    for folder in ("boundaries", "parquet_prune", "parquet_encodings", "parquet_nested", "parquet"):
        for path in sorted(glob.glob(f"{DATA}/{folder}/*.parquet")):
            name = os.path.basename(path)[:-8]
            if name == "alp":
                write(out, "files.alp", alp())
            elif name in DEEP:
                write(out, "files." + name, [[DEEP[name]]])
            elif name not in TOO_DEEP:
                attempt("files." + SAME.get(name, name), lambda: read(path), lambda: by_duckdb(path))
    for table in sorted(glob.glob(f"{DATA}/types/*") + glob.glob(f"{DATA}/spark/*") + glob.glob(f"{DATA}/shop/*")):
        attempt("lakes." + os.path.basename(table), lambda: together(glob.glob(table + "/data/**/*.parquet", recursive=True)))
    for name in ("many", "txn", "tiny", "disorder"):
        attempt("topics." + name, lambda: topic(name))
    with tempfile.TemporaryDirectory() as unpacked:
        tarfile.open(f"{DATA}/transforms.tar.gz").extractall(unpacked, filter="data")
        tables = sorted(d for d in os.listdir(unpacked) if os.path.isdir(f"{unpacked}/{d}/data"))
        attempt("transforms", lambda: [sum(cells, []) for cells in zip(*(transformed(unpacked, t) for t in tables))])
    print("\n".join(failed))


main(sys.argv[1])
