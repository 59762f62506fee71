#!/usr/bin/env python3
"""Runs queries in one session over several schemas that have the same tables, in turns.

    tpc_run.py [options] DIRECTORY SCHEMA...      the first is the one to be judged
      --psql='psql -d x'   how to reach the server, as a superuser
      --runs=3             the least of so many counts
      --timeout=30         seconds, of one query
      --only=1,9           queries
      --most=h:1.2         fails when a query takes more than 1.2 times what it takes in schema h
      --mean=h:0.8         likewise the geometric mean

Time is that of the backend's CPU (schedstat), so that other load does not count; a query that was cancelled counts as
the timeout. DIRECTORY is one that tpc_data.py made. Results must be equal in all schemas; what DuckDB answers is
compared, too, and counted, since order and ties under a LIMIT are its own.
"""
import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile

CLOCK = "SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1) AS {} \\gset"


def script(queries, o, out):
    lines = ["\\set QUIET on", "\\pset format unaligned", "\\pset tuples_only on", "\\pset pager off", "\\pset fieldsep '\\x1f'",
             f"SET statement_timeout = '{o.timeout}s';"]
    for run in range(o.runs):
        for number, query in queries:
            for schema in o.schemas:
                # A run that was cancelled doesn't take the place of a whole one.
                lines += [f"SET search_path = {schema};", CLOCK.format("a"), f"\\o {out}/run",
                          query.rstrip().rstrip(";") + "\n;", "\\set failed :ERROR", "\\o", CLOCK.format("b"),
                          "\\if :failed", "\\else", f"\\! mv {out}/run {out}/{number}.{schema}", "\\endif",
                          f"\\echo at {number} {schema} :failed :a :b"]
    return "\n".join(lines) + "\n"


def close(a, b):
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-6)
    except ValueError:
        return False


def is_number(v):
    try:
        float(v)
        return True
    except ValueError:
        return False


def ordered(rows):
    """By what is equal to the letter, then by numbers."""
    return sorted(rows, key=lambda r: ([v for v in r if not is_number(v)], [float(v) for v in r if is_number(v)]))


def same(a, b):
    return len(a) == len(b) and all(len(x) == len(y) and all(map(close, x, y)) for x, y in zip(ordered(a), ordered(b)))


def rows_of(path):
    with open(path) as f:
        return [line.rstrip("\n").split("\x1f") for line in f]


def limits(values):
    return {s: float(x) for s, x in (v.split(":") for v in values)}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("directory")
    p.add_argument("schemas", nargs="+")
    p.add_argument("--psql", default="psql")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--timeout", type=int, default=30)
    p.add_argument("--only", default="")
    p.add_argument("--most", action="append", default=[])
    p.add_argument("--mean", action="append", default=[])
    return p.parse_args()


def measure(queries, o, out):
    r = subprocess.run(shlex.split(o.psql) + ["-X", "-q", "-f", "-"], input=script(queries, o, out), capture_output=True, text=True)
    times = {}
    for line in r.stdout.splitlines():
        w = line.split()
        if len(w) == 6 and w[0] == "at":
            t = o.timeout * 1000.0 if w[3] == "true" else (int(w[5]) - int(w[4])) / 1e6
            times.setdefault((int(w[1]), w[2]), []).append((t, w[3] == "true"))
    for e in sorted({line for line in r.stderr.splitlines() if "ERROR" in line and "statement timeout" not in line}):
        print(e)
    return {k: min(v) for k, v in times.items()}


def main():
    o = arguments()
    with open(os.path.join(o.directory, "queries.json")) as f:
        queries = [q for q in json.load(f) if o.only == "" or str(q[0]) in o.only.split(",")]
    with open(os.path.join(o.directory, "answers.json")) as f:
        answers = json.load(f)
    out = tempfile.mkdtemp()
    first, others = o.schemas[0], o.schemas[1:]
    most, mean = limits(o.most), limits(o.mean)
    times = measure(queries, o, out)
    logs = {s: [] for s in others}
    bad, as_duckdb, compared = 0, 0, 0
    print("query " + " ".join(f"{s + ' ms':>10}" for s in o.schemas) + " " + " ".join(f"{first + '/' + s:>7}" for s in others))
    for number, _ in queries:
        t = {s: times.get((number, s), (o.timeout * 1000.0, True)) for s in o.schemas}
        marks = []
        for s in others:
            ratio = t[first][0] / t[s][0]
            logs[s].append(math.log(ratio))
            if s in most and ratio > most[s]:
                marks.append(f"SLOW against {s}")
            if not t[first][1] and not t[s][1] and not same(rows_of(f"{out}/{number}.{first}"), rows_of(f"{out}/{number}.{s}")):
                marks.append(f"DIFFERENT from {s}")
        if not t[first][1]:
            compared += 1
            as_duckdb += same(rows_of(f"{out}/{number}.{first}"), answers[str(number)])
        bad += len(marks)
        print(f"{number:5} " + " ".join(f"{'>' if t[s][1] else ''}{t[s][0]:.1f}".rjust(10) for s in o.schemas) + " " +
              " ".join(f"{t[first][0] / t[s][0]:7.2f}" for s in others) + "  " + ", ".join(marks))
    for s in others:
        g = math.exp(sum(logs[s]) / len(logs[s]))
        slow = s in mean and g > mean[s]
        bad += slow
        print(f"geometric mean of {first}/{s}: {g:.2f}{'  SLOW' if slow else ''}")
    print(f"as DuckDB answers: {as_duckdb} of {compared}")
    sys.exit(bad > 0)


main()
