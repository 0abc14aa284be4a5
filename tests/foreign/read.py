#!/usr/bin/env python3
"""Reads a recording with a reader that knows nothing of slowpath, and holds it against docs/recording-format.md.

    read.py RECORDING docs/recording-format.md

Every table that is written is documented, with the columns, types and nulls that the page tells of; numbers point to rows
that exist.
"""
import json
import pathlib
import re
import sys

import pyarrow.parquet as pq

TYPES = {"utf8": "string", "bool": "bool", "float64": "double", "list of utf8": "list<item: string not null>",
         "list of uint64": "list<item: uint64 not null>"}


def documented(page):
    """Of each table its columns: name, type, whether it may be null."""
    tables, table = {}, None
    for line in page.read_text().splitlines():
        if heading := re.match(r"### `(\w+)`", line):
            table = tables.setdefault(heading[1], {})
        elif line.startswith("## "):
            table = None
        elif table is not None and (row := re.match(r"\| `(\w+)` \| ([^|]+) \|", line)):
            kind, _, null = row[2].strip().partition(", ")
            table[row[1]] = (TYPES.get(kind, kind), null == "nullable")
    return tables


def main():
    recording, page = map(pathlib.Path, sys.argv[1:])
    wanted = documented(page)
    tables = {}
    for folder in sorted(path for path in recording.iterdir() if path.is_dir()):
        name = folder.name
        assert name in wanted, f"table {name} is not documented"
        segments = [pq.read_table(segment) for segment in sorted(folder.glob("*.parquet"))]
        for segment in segments:
            found = {field.name: (str(field.type), field.nullable) for field in segment.schema}
            assert found == wanted[name], f"{name}: written {found}, documented {wanted[name]}"
        tables[name] = [row for segment in segments for row in segment.to_pylist()]
    sampled = ("processes", "threads", "samples", "stacks", "locations", "functions", "frames")
    counted = ("processes", "modules", "functions", "slices", "slice_calls")
    exact = json.loads((recording / "about.json").read_text())["instructions"]
    for needed in sampled if exact is None else counted:
        assert tables.get(needed), f"{needed} is empty"
    if exact is not None:
        functions = {row["function"] for row in tables["functions"]}
        assert all(row["function"] in functions for row in tables["slices"])
        assert all({row["caller"], row["callee"]} <= functions for row in tables["slice_calls"])
        assert sum(row["self_instructions"] for row in tables["slices"]) == exact
        print(f"{len(tables)} tables, {sum(map(len, tables.values()))} rows: as documented, and all instructions are there")
        return
    stacks = {row["stack"] for row in tables["stacks"]}
    threads = {row["thread"] for row in tables["threads"]}
    assert all(row["stack"] is None or row["stack"] in stacks for row in tables["samples"])
    assert all(row["thread"] in threads for row in tables["samples"])
    print(f"{len(tables)} tables, {sum(map(len, tables.values()))} rows: as documented")


main()
