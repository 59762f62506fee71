#!/usr/bin/env python3
"""Writes TPC-H's lineitem with our writer and with others, one thread each, in turns, and compares CPU time and size.

    parquet_write.py FILE TOOL [RUNS]

FILE is lineitem as Parquet, TOOL build/core/parquet_write. Rows are in memory, as each writer likes them, before its
clock runs. Fails when our file is larger than the smallest of the others, or than 133 MB at scale 1; when one of the
others cannot read it with equal rows; and when we take more CPU time than the quickest of them.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import duckdb
import polars
import pyarrow
import pyarrow.parquet as pq

FILE, TOOL = sys.argv[1:3]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
BYTES_MAX = 133_000_000  # of 6,001,215 rows

os.environ["POLARS_MAX_THREADS"] = "1"
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)


def cpu(function):
    t = time.process_time()
    function()
    return time.process_time() - t


def peers(directory):
    table = pq.read_table(FILE)
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute(f"CREATE TABLE lineitem AS SELECT * FROM '{FILE}'")
    frame = polars.from_arrow(table)
    path = {name: os.path.join(directory, f"{name}.parquet") for name in ("duckdb", "pyarrow", "polars")}
    return path, {
        "duckdb": lambda: connection.execute(f"COPY lineitem TO '{path['duckdb']}' (FORMAT parquet, COMPRESSION zstd)"),
        "pyarrow": lambda: pq.write_table(table, path["pyarrow"], compression="zstd"),
        "polars": lambda: frame.write_parquet(path["polars"], compression="zstd"),
    }


def ours(path):
    if os.path.exists(path):
        os.remove(path)
    out = subprocess.run([TOOL, FILE, path], check=True, capture_output=True, text=True).stdout
    rows, size, seconds = re.search(r"(\d+) rows (\d+) bytes .* ([\d.]+) s", out).groups()
    return int(rows), int(size), float(seconds)


def main():
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        paths, writers = peers(directory)
        best = {}
        own = os.path.join(directory, "bifang.parquet")
        for _ in range(RUNS):
            rows, size, seconds = ours(own)
            best["bifang"] = min(best.get("bifang", 1e9), seconds)
            for name, write in writers.items():
                best[name] = min(best.get(name, 1e9), cpu(write))
        sizes = {name: os.path.getsize(path) for name, path in paths.items()} | {"bifang": size}
        for name in sorted(best, key=best.get):
            print(f"{name:8} {rows / best[name] / 1e6:6.2f} million rows/s {sizes[name] / 1e6:8.1f} MB")
        nearest = min(writers, key=sizes.get)
        if best["bifang"] > best[nearest]:
            failed.append(f"{nearest} is quicker")
        if size > min(sizes.values()) or size > BYTES_MAX * rows / 6_001_215 * 1.002:
            failed.append(f"{size} bytes are too many")
        digest = "SELECT count(*), sum(hash(t)::HUGEINT) FROM "
        wanted = duckdb.execute(f"{digest} '{FILE}' t").fetchone()
        if duckdb.execute(f"{digest} '{own}' t").fetchone() != wanted:
            failed.append("DuckDB reads other rows")
        for name, t in ("PyArrow", pq.read_table(own)), ("Polars", polars.read_parquet(own).to_arrow()):
            if duckdb.execute(f"{digest} t").fetchone() != wanted:
                failed.append(f"{name} reads other rows")
    for what in failed:
        print("FAILED:", what)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
