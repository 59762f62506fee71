#!/usr/bin/env python3
"""Other engines judge our Iceberg commits, and ours reads theirs, turn by turn.

    iceberg_check.py RUNNER [DUCKDB_PYTHON]

RUNNER is the unit-test binary (its iceberg_interop_* tests do our part). This interpreter needs
pyiceberg[sql-sqlite,pyarrow] and fastavro. DUCKDB_PYTHON is an interpreter with duckdb and its
packaged iceberg extension; without it that part is skipped. Ends with `N passed, N failed`.
"""
import datetime
import decimal
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

RUNNER = os.path.abspath(sys.argv[1])
DUCKDB = sys.argv[2] if len(sys.argv) > 2 else None
passed = failed = skipped = 0


def check(what, got, expected):
    global passed, failed
    if got == expected:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: {got!r}, expected {expected!r}")


def ours(test, target, files=None, moved=()):
    """Runs one step of ours; returns what it printed after the step's word."""
    ours.step += 1
    # The runner's random numbers are reproducible: another seed per step makes other file names.
    env = dict(os.environ, BIFANG_INTEROP=target, BIFANG_SEED=str(ours.step))
    if files is not None:
        env["BIFANG_INTEROP_FILES"] = " ".join(f"{name}:{rows}" for name, rows in files)
        env["BIFANG_INTEROP_MOVED"] = " ".join(moved)
    run = subprocess.run([RUNNER, test], env=env, capture_output=True, text=True)
    found = re.search(r"^(?:metadata|plan) (.*)$", run.stdout, re.M)
    if run.returncode != 0 or not found:
        raise SystemExit(f"{test} failed:\n{run.stdout}{run.stderr}")
    return found.group(1)


ours.step = 0


def plan(metadata):
    return [int(n) for n in ours("iceberg_interop_plan", metadata).split()]


def local(uri):
    return re.sub("^file://", "", uri)


def rows(schema, ids):
    day = datetime.date(2026, 3, 1)
    moment = datetime.datetime(2026, 3, 1, 12, 30)
    return pa.Table.from_pylist(
        [
            {
                "id": i, "b": i % 2 == 0, "i": i, "f": i / 2, "d": i / 4,
                "dec": decimal.Decimal(i), "day": day + datetime.timedelta(i % 3),
                "t": datetime.time(1, 2, 3), "ts": moment + datetime.timedelta(i),
                "tz": moment.replace(tzinfo=datetime.timezone.utc), "s": f"row {i}",
                "bin": b"\x00\xff", "u": bytes(range(16)), "fix": b"abc",
            }
            for i in ids
        ],
        schema=schema,
    )


class Table:
    """A table in a SqlCatalog, whose pointer we move as the extension would."""

    def __init__(self, work, metadata):
        self.db = os.path.join(work, "catalog.db")
        self.catalog = SqlCatalog("check", uri=f"sqlite:///{self.db}", warehouse=f"file://{work}")
        self.catalog.create_namespace_if_not_exists("n")
        self.catalog.register_table("n.t", metadata)

    def load(self):
        return self.catalog.load_table("n.t")

    def point_to(self, metadata):
        with sqlite3.connect(self.db) as db:
            moved = db.execute(
                "UPDATE iceberg_tables SET previous_metadata_location = metadata_location,"
                " metadata_location = ? WHERE table_name = 't'", (metadata,)).rowcount
        check("pointer moved", moved, 1)

    def metadata(self):
        return local(self.load().metadata_location)


def check_avro(table):
    """Our manifests and list as a generic Avro reader sees them."""
    io = table.io
    snapshot = table.snapshot_by_name("bifang")
    for manifest in snapshot.manifests(io):
        with open(local(manifest.manifest_path), "rb") as f:
            reader = fastavro.reader(f)
            entries = list(reader)
            header = reader.metadata
        live = [e for e in entries if e["status"] != 2]
        check("counts of a manifest", len(live), manifest.added_files_count +
              manifest.existing_files_count)
        check("what is gone of a manifest", len(entries) - len(live), manifest.deleted_files_count)
        if not live or not live[0]["data_file"]["file_path"].startswith("bifang://"):
            continue
        check("header keys", {"schema", "schema-id", "partition-spec", "partition-spec-id",
                              "format-version", "content"} - set(header), set())
        check("sum of records", sum(e["data_file"]["record_count"] for e in live),
              manifest.added_rows_count + manifest.existing_rows_count)
        fields = {f["name"]: f["field-id"] for f in reader.writer_schema["fields"]}
        check("ids of an entry", fields, {"status": 0, "snapshot_id": 1, "sequence_number": 3,
                                          "file_sequence_number": 4, "data_file": 2})
        check("content", {e["data_file"]["content"] for e in live}, {0})


def check_created(table):
    schema = table.schema()
    check("columns", [f.name for f in schema.fields],
          "id b i f d dec day t ts tz s bin u fix".split())
    check("types", [str(f.field_type) for f in schema.fields],
          ["long", "boolean", "int", "float", "double", "decimal(12, 2)", "date", "time",
           "timestamp", "timestamptz", "string", "binary", "uuid", "fixed[3]"])
    check("required", [f.required for f in schema.fields], [True] + [False] * 13)
    check("spec", [str(f.transform) for f in table.spec().fields],
          ["identity", "bucket[4]", "day", "truncate[100]"])
    check("version", table.metadata.format_version, 2)


def duckdb_count(metadata, what="count(*), sum(id)", moved=False):
    """Moved tables are named by directory and version, others by their metadata file."""
    scan = "iceberg_scan(?)"
    if moved:
        scan = ("iceberg_scan(?, allow_moved_paths => true, version => '%s',"
                " version_name_format => '%%s%%s.metadata.json')"
                % os.path.basename(metadata).removesuffix(".metadata.json"))
        metadata = os.path.dirname(os.path.dirname(metadata))
    code = (
        "import duckdb, duckdb_ext, os, sys\n"
        "c = duckdb.connect(config={'extension_directory':"
        " os.path.join(list(duckdb_ext.__path__)[0], 'extensions')})\n"
        "c.execute('load avro'); c.execute('load iceberg')\n"
        "print(c.execute(sys.argv[1], [sys.argv[2]]).fetchone())\n")
    run = subprocess.run([DUCKDB, "-c", code, f"select {what} from {scan}", metadata],
                         capture_output=True, text=True)
    return run.stdout.strip() or run.stderr[-400:]


def check_duckdb(metadata, expected):
    global skipped
    if DUCKDB is None:
        skipped += 1
        return
    check("DuckDB's count and sum", duckdb_count(metadata), expected)


def main(work):
    metadata = ours("iceberg_interop_create", os.path.join(work, "t"))
    table = Table(work, metadata)
    check_created(table.load())
    arrow_schema = table.load().schema().as_arrow()

    # Ours on an empty table: main gets an empty snapshot.
    metadata = ours("iceberg_interop_commit", metadata, [("bifang://n/t/1_0-4.log", 5)])
    check("plan after the first commit", plan(metadata), [0, 1, 5])
    table.point_to(metadata)
    check("refs", sorted(table.load().refs()), ["bifang", "main"])
    check("main is empty", table.load().scan().to_arrow().num_rows, 0)

    # Theirs on main; the branch and our properties must survive.
    table.load().append(rows(arrow_schema, range(10)))
    check("main has their rows", table.load().scan().to_arrow().num_rows, 10)
    check("refs survive", sorted(table.load().refs()), ["bifang", "main"])
    check("property survives", table.load().properties.get("bifang.covered"), "1:0-4")
    theirs = plan(table.metadata())
    check("we see both", theirs[1:], [1, 15])

    # Ours again: the branch takes main's manifests, main stays.
    metadata = ours("iceberg_interop_commit", table.metadata(),
                    [("bifang://n/t/1_5-9_20-29.log", 15), ("bifang://n/t/2_0-0.log", 1)])
    check("plan after the second commit", plan(metadata), [theirs[0], 3, 31])
    table.point_to(metadata)
    loaded = table.load()
    check("main is as it was", loaded.scan().to_arrow().num_rows, 10)
    check("main's sum", sum(loaded.scan().to_arrow()["id"].to_pylist()), 45)
    mains = {m.manifest_path for m in loaded.current_snapshot().manifests(loaded.io)}
    branch = {m.manifest_path for m in loaded.snapshot_by_name("bifang").manifests(loaded.io)}
    check("the branch has main's manifests", mains - branch, set())
    check("and two of its own", len(branch - mains), 2)
    check("sequence number", loaded.snapshot_by_name("bifang").sequence_number,
          loaded.metadata.last_sequence_number)
    check("records of the branch",
          loaded.snapshot_by_name("bifang").summary["total-records"], "31")
    check("inspect", loaded.inspect.snapshots().num_rows, len(loaded.snapshots()))
    check("refs in detail", loaded.inspect.refs().num_rows, 2)
    check("history knows only main", len(loaded.history()), 2)
    check("metadata log", len(loaded.metadata.metadata_log) >= 3, True)
    check_avro(loaded)
    check_duckdb(metadata, "(10, 45)")

    # Theirs replaces what main has; we follow, and the branch forgets the old manifests.
    loaded.overwrite(rows(arrow_schema, range(100, 103)))
    after = plan(table.metadata())
    check("after an overwrite", after[1:], [3, 24])
    metadata = ours("iceberg_interop_commit", table.metadata(), [("bifang://n/t/2_1-1.log", 1)])
    check("plan after the third commit", plan(metadata), [after[0], 4, 25])
    table.point_to(metadata)
    check("main after all", sorted(table.load().scan().to_arrow()["id"].to_pylist()),
          [100, 101, 102])
    check("records of the branch now",
          table.load().snapshot_by_name("bifang").summary["total-records"], "25")
    check_avro(table.load())
    check_duckdb(metadata, "(3, 303)")

    # Rows of the log become Parquet: they have them then, and the branch has them once.
    path = os.path.join(work, "t", "data", "moved.parquet")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    values = rows(arrow_schema, range(200, 206)).set_column(
        arrow_schema.get_field_index("day"), arrow_schema.field("day"),
        pa.nulls(6, pa.date32()))
    pq.write_table(values, path)
    metadata = ours("iceberg_interop_moved", metadata, [(path, 6)],
                    ["bifang://n/t/2_1-1.log", "bifang://n/t/1_0-4.log"])
    check("plan after rows moved", plan(metadata), [after[0] + 1, 2, 25])
    table.point_to(metadata)
    loaded = table.load()
    check("main has what moved", sorted(loaded.scan().to_arrow()["id"].to_pylist()),
          [100, 101, 102, 200, 201, 202, 203, 204, 205])
    check("records of main", loaded.current_snapshot().summary["total-records"], "9")
    check("records of the branch after rows moved",
          loaded.snapshot_by_name("bifang").summary["total-records"], "25")
    check_avro(loaded)
    check_duckdb(metadata, "(9, 1518)")

    # A row predicate on their side makes no delete files (copy on write), so it is read too.
    table.load().delete("id = 101")
    check("after their delete", plan(table.metadata())[2], 24)


def check_foreign(work, name, version, n_rows):
    """Ours on top of a table that Spark wrote: main stays, version 1 becomes 2."""
    global skipped
    corpus = os.environ.get("BIFANG_CORPUS")
    if corpus is None:
        skipped += 1
        return
    moved = os.path.join(work, os.path.basename(name))
    shutil.copytree(os.path.join(corpus, "spark", name), moved)
    newest = max(glob.glob(f"{moved}/metadata/v*.metadata.json"),
                 key=lambda p: int(re.search(r"v(\d+)\.", p).group(1)))
    with open(newest) as f:
        old = json.load(f)
    check(f"{name}: version", old["format-version"], version)
    metadata = ours("iceberg_interop_commit", newest, [("bifang://s/t/1_0-4.log", 5)])
    check(f"{name}: rows", plan(metadata)[2], n_rows + 5)
    with open(metadata) as f:
        new = json.load(f)
    check(f"{name}: kept keys", {k for k in old if k not in new} - {"schema", "partition-spec"},
          set())
    check(f"{name}: snapshots kept", new["snapshots"][:-1], old["snapshots"])
    static = StaticTable.from_metadata(metadata)
    check(f"{name}: now version 2", static.metadata.format_version, 2)
    check(f"{name}: main", static.current_snapshot().snapshot_id, old["current-snapshot-id"])
    check(f"{name}: branch", static.snapshot_by_name("bifang").parent_snapshot_id,
          old["current-snapshot-id"])
    check(f"{name}: uuid", str(static.metadata.table_uuid), old["table-uuid"])
    # DuckDB 1.4 reads no manifest of version 1 in a table of version 2, whoever upgraded it.
    if DUCKDB is None or version == 1:
        skipped += 1
        return
    check(f"{name}: DuckDB", duckdb_count(metadata, "count(*)", moved=True), f"({n_rows},)")


with tempfile.TemporaryDirectory(prefix="iceberg_check.") as work:
    main(work)
    check_foreign(work, "shop/orders", 2, 120000)
    check_foreign(work, "t/v1", 1, 100)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
