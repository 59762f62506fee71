#!/usr/bin/env python3
"""Writes Iceberg tables with Spark, and what Spark itself reads from them.

    spark_tables.py DIRECTORY JARS [all | WORD ...]

DIRECTORY gets a warehouse and `expected.json`, for lake_check.py. JARS are iceberg-spark-runtime and
sqlite-jdbc, separated by a comma. Without words the quick ones of spark_scenarios.py are made, with `all`
every one, else those whose names contain a word. This interpreter needs pyspark 3.5.

A table that Spark refuses to make counts as failed unless its scenario says `may_fail`. WALKS=n adds n
tables that spark_walk.py changes at random, from seed WALK_FIRST on.
"""

import json
import os
import sys
import time
import zlib

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

import spark_scenarios


def session(directory, jars):
    conf = {
        "spark.jars": jars,
        "spark.driver.extraClassPath": jars.replace(",", ":"),
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": os.environ.get("SPARK_MEMORY", "1g"),
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1",
        "spark.sql.caseSensitive": "true",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": f"{directory}/hive",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.h": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.h.type": "hadoop",
        "spark.sql.catalog.h.warehouse": f"{directory}/h",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hadoop",
        "spark.sql.catalog.spark_catalog.warehouse": f"{directory}/s",
    }
    for short, version in (("m", "V1"), ("jv0", "V0"), ("jv1", "V1")):
        name = f"spark.sql.catalog.{short}"
        conf |= {
            name: "org.apache.iceberg.spark.SparkCatalog",
            f"{name}.type": "jdbc",
            f"{name}.uri": f"jdbc:sqlite:{directory}/{short}.db",
            f"{name}.jdbc.schema-version": version,
            f"{name}.warehouse": f"{directory}/{short}",
        }
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def quote(name):
    return "`" + name.replace("`", "``") + "`"


def as_text(kind, expression, depth=0):
    """An expression that holds the same value with every leaf as text."""
    if isinstance(kind, ArrayType):
        item = f"x{depth}"
        return f"transform({expression}, {item} -> {as_text(kind.elementType, item, depth + 1)})"
    if isinstance(kind, MapType):
        item = f"x{depth}"
        key = as_text(kind.keyType, f"{item}.key", depth + 1)
        value = as_text(kind.valueType, f"{item}.value", depth + 1)
        return f"transform(map_entries({expression}), {item} -> struct({key} as k, {value} as v))"
    if isinstance(kind, StructType):
        parts = ", ".join(
            f"{as_text(f.dataType, f'{expression}.{quote(f.name)}', depth)} as f{i}" for i, f in enumerate(kind.fields)
        )
        return f"if({expression} is null, null, struct({parts}))"
    if isinstance(kind, BinaryType):
        return f"hex({expression})"
    return f"cast({expression} as string)"


def rows_of(spark, source, more=""):
    """Columns and rows of what a FROM clause names; `more` are columns that * does not have."""
    schema = spark.sql(f"SELECT *{more} FROM {source}").schema
    parts = [f"{as_text(f.dataType, quote(f.name))} as c{i}" for i, f in enumerate(schema.fields)]
    columns = [[f.name, json.loads(f.dataType.json())] for f in schema.fields]
    if not parts:
        return columns, []
    rows = spark.sql(
        f"SELECT to_json(struct({', '.join(parts)}), map('ignoreNullFields', 'false')) " f"FROM {source}"
    ).collect()
    return columns, [list(json.loads(r[0]).values()) for r in rows]


def java_table(spark, name):
    loader = spark._jvm.org.apache.iceberg.spark.Spark3Util
    return loader.loadIcebergTable(spark._jsparkSession, name)


def describe(spark, name, scenario):
    """All that is compared: rows, snapshots with their rows, refs, history, files."""
    table = java_table(spark, name)
    entry = {
        "metadata": table.operations().current().metadataFileLocation(),
        "location": table.location(),
        "version": table.operations().current().formatVersion(),
    }
    if "rows" in scenario:
        entry["columns"], entry["rows"] = scenario["columns"], scenario["rows"]
    else:
        entry["columns"], entry["rows"] = rows_of(spark, name)
    snapshots = list(table.snapshots())
    entry["snapshots"] = [[s.snapshotId(), s.timestampMillis(), s.operation(), s.parentId()] for s in snapshots]
    entry["history"] = [[h.snapshotId(), h.timestampMillis()] for h in table.history()]
    refs = table.refs()
    entry["refs"] = [[k, "branch" if refs[k].isBranch() else "tag", refs[k].snapshotId()] for k in refs]
    current = table.currentSnapshot()
    entry["as_of"] = {}
    if scenario.get("travel", True):
        others = [s for s in snapshots if current is None or s.snapshotId() != current.snapshotId()]
        for snapshot in others[-scenario.get("max_travel", 8) :]:
            number = snapshot.snapshotId()
            entry["as_of"][number] = rows_of(spark, f"{name} VERSION AS OF {number}")
    entry["at_ref"] = {
        ref: rows_of(spark, f"{name} VERSION AS OF '{ref}'") for ref, _, number in entry["refs"] if ref != "main"
    }
    if scenario.get("lineage"):
        entry["lineage"] = rows_of(spark, name, ", _row_id, _last_updated_sequence_number")
    if scenario.get("positions"):
        entry["positions"] = rows_of(spark, name, ", _file, _pos")
    if scenario.get("files", True) and current is not None:
        entry["files"] = [
            list(r)
            for r in spark.sql(
                f"SELECT content, file_path, file_format, record_count, file_size_in_bytes FROM {name}.files"
            ).collect()
        ]
        entry["manifests"] = [
            list(r)
            for r in spark.sql(
                f"SELECT path, content, added_data_files_count + added_delete_files_count,"
                f" existing_data_files_count + existing_delete_files_count FROM {name}.manifests"
            ).collect()
        ]
        entry["partitions"] = [
            list(r) for r in spark.sql(f"SELECT record_count, file_count FROM {name}.partitions").collect()
        ]
    return entry


def main():
    directory, jars = os.path.abspath(sys.argv[1]), sys.argv[2]
    words = sys.argv[3:]
    spark = session(directory, jars)
    spark.directory = directory
    expected, failed, left = {}, 0, 0
    until = time.time() + float(os.environ.get("SPARK_SECONDS", 3600))
    scenarios = spark_scenarios.SCENARIOS
    if not words:  # some of each kind come first, should there be no time for all
        scenarios = sorted(scenarios, key=lambda s: zlib.crc32(s["name"].encode()))
    for scenario in scenarios:
        name = scenario["name"]
        if (
            words == []
            and name not in spark_scenarios.QUICK
            or words not in ([], ["all"])
            and not any(w in name for w in words)
        ):
            continue
        if time.time() > until:
            left += 1
            continue
        catalog = scenario.get("catalog", "h")
        table = scenario.get("table", f"{catalog}.t.{name}")
        started = time.time()
        try:
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.t")
            for statement in scenario["steps"]:
                if callable(statement):
                    statement(spark, table)
                else:
                    spark.sql(statement.format(t=table, dir=directory, u=f"{catalog}.t"))
            expected[name] = describe(spark, table, scenario)
            for key in ("moved", "refused", "values", "imported"):
                if key in scenario:
                    expected[name][key] = scenario[key]
            expected[name]["catalog"] = catalog
            for action in scenario.get("after", ()):
                action(spark, table)
            state = f"{len(expected[name]['rows'])} rows"
        except Exception as error:  # the other tables still tell something
            if os.environ.get("TRACE"):
                raise
            state = "FAILED: " + " | ".join(l.strip() for l in str(error).split("\n")[:3])[:400]
            failed += 0 if scenario.get("may_fail") else 1
        print(f"{time.time() - started:5.1f} s  {name}: {state}", flush=True)
        with open(f"{directory}/expected.json", "w") as f:
            json.dump(expected, f)
    if left:
        print(f"SKIPPED: {left} tables of Spark, for which there was no time")
    print(f"{len(expected)} passed, {failed} failed, {left} skipped")
    spark.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
