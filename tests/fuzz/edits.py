"""Random edits of sealed releases: each fails verification, or everybody reads the same from it.

The releases claim all that they can, one class of everybody, so that hardly any other data keeps
the claim; of those with ids from a key the original and the key are at hand. An edit changes bytes,
rows or columns of one file; names, counts, sizes, digests and seal are made to fit. A part of the
time goes to files of about 1 MB: what is compared block by block, or at the beginning alone, shows
there.

    python tests/fuzz/edits.py --edits 100000 --seconds 1200
"""

from __future__ import annotations

import argparse
import csv
import io
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import graphveil as gv
from emptied import emptied_database
from forged.kit import COLUMNAR, WORDS, parquet_of, read_manifest, reseal
from forged.readers import DELIMITERS, Content, by_verify, readings_of
from graphveil.claims.guarantees import KAnonymity, StructuralKAnonymity
from graphveil.release import Provenance, Release
from graphveil.verify import verify
from graphveil.verify.files.canonical_text import first_difference

N = 12
CLAIM = {"classes", "same data", "ids from the key", "linkage", "same size", "items", "columns"}
SHAPE = {"entries", "endpoints", "simple graph", "counts", "ids", "canonical order"}
PAIRS = [(node, other) for node in range(N) for other in range(node + 1, N)]
COMPLETE = gv.Graph.from_edges(*zip(*PAIRS, strict=True), n=N)
RING = gv.Graph.from_edges(range(N), [*range(1, N), 0])
"""The one graph of alike nodes that stays the same under other numbers."""
ALIKE = gv.Bipartite.from_lists([["gin", "jam", "tea"]] * N)
QUOTED = gv.Bipartite.from_lists([["gin, dry", 'the "jam"', "NA"]] * N)
NUMBERED = gv.Bipartite.from_lists([[3, 10, 11]] * N)
CELLS = gv.Table.from_columns({"sex": ["f"] * N, "zip": ["*"] * N, "job": ["NA"] * N})
QUOTED_CELLS = gv.Table.from_columns(
    {"name, in full": ['a "b", c'] * N, "e\u0301": [" z"] * N, "*": ["*"] * N}
)
NUMBERED_CELLS = gv.Table.from_columns({"age": [40] * N, "zip": ["*"] * N, "7": [0] * N})
NAMED = [f"p{number}" for number in range(N)]
ROWS = gv.Table.from_columns(
    {"sex": ["f", "m", "*"] * 4, "age": [30, 40, 40, 50] * 3, "7": ["*"] * N}, ids=NAMED
)
"""Ids from a key stand beside no claim, so the rows need not be alike."""
GRAPHS = ("csv", "tsv", "text", "parquet", "graphml")
LISTED = ("csv", "tsv", "text", "parquet")
TABLES = ("csv", "tsv", "parquet")
PIECES = [b"0", b"1", b"9", b",", b"\n", b"\t", b" ", b'"', b"-", b"e0", b".0", b"#", b"\0", b"ann"]
PIECES += [b"\xef\xbb\xbf", b"*", b"A"]


class Target(NamedTuple):
    """What is released, in which format, and the key of its ids."""

    data: gv.Graph | gv.Bipartite | gv.Table
    form: str
    key: bytes | None = None


KEY = bytes(range(32))
TARGETS = [
    *(Target(data, form) for data in (COMPLETE, RING) for form in GRAPHS),
    *(Target(data, form) for data in (ALIKE, QUOTED) for form in LISTED),
    *(Target(NUMBERED, form) for form in ("csv", "parquet")),
    *(Target(data, form) for data in (CELLS, QUOTED_CELLS, NUMBERED_CELLS) for form in TABLES),
    *(Target(ROWS, form, KEY) for form in TABLES),
]


def cliques(number: int, size: int = 16) -> gv.Graph:
    """Return so many complete graphs, of so many nodes each: no exchange of ends gives another."""
    ends = np.column_stack(np.triu_indices(size, k=1))
    every = (ends + size * np.arange(number)[:, None, None]).reshape(-1, 2)
    return gv.Graph.from_edges(every[:, 0], every[:, 1], n=number * size)


def large_targets() -> list[Target]:
    """Return a target of about 1 MB for every kind of data and format.

    Parquet would pack equal rows to nearly nothing: there, rows differ and have ids from a key.
    """
    n = 25_000
    rows = gv.Bipartite.from_lists([["gin", "jam", "rye", "tea"]] * n)
    cells = gv.Table.from_columns({f"a column {c}": [f"the value {c}"] * n for c in range(4)})
    rng = np.random.Generator(np.random.PCG64(1))
    some = [[f"item {i:03d}" for i in row] for row in rng.integers(0, 900, (n, 3)).tolist()]
    drawn = {f"c{c}": [f"value {v}" for v in rng.integers(0, 900, n)] for c in range(4)}
    people = [f"p{number}" for number in range(n)]
    return [
        *(Target(cliques(800), form) for form in DELIMITERS),
        Target(cliques(200), "graphml"),
        *(Target(rows, form) for form in DELIMITERS),
        *(Target(cells, form) for form in ("csv", "tsv")),
        Target(cliques(300), "parquet", KEY),
        Target(gv.Bipartite.from_lists([sorted(set(row)) for row in some]), "parquet", KEY),
        Target(gv.Table.from_columns(drawn, ids=people), "parquet", KEY),
    ]


SHOWN_BYTES = 2_000
SHARE_OF_LARGE = 0.25
"""The share of the time of a search that edits of large files have."""


def release(place: Path, target: Target) -> Path:
    """Return the folder of a release that claims one class of everybody, or has ids from a key.

    The linkage lies beside one with a key, so that `verify` knows whose row is whose; the record,
    which notices all, does not.
    """
    place.mkdir()
    if target.key is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gv.GraphveilWarning)
            made = gv.Rename(key=target.key).anonymize(target.data)
        folder = made.write(place / "release", format=target.form)
        (place / "release.private" / "record.json").unlink()
        return folder
    graph, n = isinstance(target.data, gv.Graph), target.data.size
    return Release(
        data=target.data.without_unused(),
        guarantee=StructuralKAnonymity(k=n) if graph else KAnonymity(k=n),
        provenance=Provenance(method="m", parameters={}, source="s", limits="l"),
    ).write(place / "release", format=target.form)


def edit_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """Put something in, take something out, or change a bit, here and there."""
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(0, len(content) + 1))
        drop = int(rng.integers(0, 4))
        piece = PIECES[rng.integers(len(PIECES))] if rng.random() < 0.7 else rng.bytes(2)
        if rng.random() < 0.3 and start < len(content):
            piece, drop = bytes([content[start] ^ (1 << int(rng.integers(8)))]), 1
        content = content[:start] + piece + content[start + drop :]
    return content


def edit_rows(rng: np.random.Generator, content: bytes) -> bytes:
    """Repeat, drop, exchange or cross lines."""
    lines = content.splitlines(keepends=True)
    one, other = (int(rng.integers(len(lines))) for _ in range(2))
    how = rng.choice([0, 1, 1, 1, 2, 3])
    if how == 0:
        lines.insert(other, lines[one])
    elif how == 1:
        del lines[one]
    elif how == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        half = len(lines[one]) // 2
        lines[one] = lines[one][:half] + lines[other][half:]
    return b"".join(lines)


def edit_columns(rng: np.random.Generator, content: bytes) -> bytes:
    """Exchange, drop or repeat columns of text, or give one the name of another."""
    delimiter = b"\t" if b"\t" in content.partition(b"\n")[0] else b","
    rows = [line.split(delimiter) for line in content.splitlines()]
    one, other = (int(rng.integers(len(rows[0]))) for _ in range(2))
    how = int(rng.integers(4))
    for row in rows[:1] if how == 3 else rows:
        if how == 0 and max(one, other) < len(row):
            row[one], row[other] = row[other], row[one]
        elif how == 1:
            del row[one : one + 1]
        elif how == 2:
            row[other:other] = row[one : one + 1]
        else:
            row[other : other + 1] = row[one : one + 1]
    return b"".join(delimiter.join(row) + b"\n" for row in rows)


def edit_cells(rng: np.random.Generator, content: bytes) -> bytes:
    """Write a Parquet file again with other cells, in the one form."""
    table = parquet.read_table(io.BytesIO(content))
    columns = {name: table[name].to_pylist() for name in table.column_names}
    name = table.column_names[rng.integers(len(columns))]
    row, other = (int(rng.integers(table.num_rows)) for _ in range(2))
    if rng.random() < 0.5:
        columns[name][row], columns[name][other] = columns[name][other], columns[name][row]
    else:
        for values in columns.values():
            values.insert(other, values[row]) if row % 2 else values.pop(other)
    return parquet_of(pa.table(columns, schema=table.schema))


def edited(rng: np.random.Generator, path: Path) -> bytes:
    """Return the content of a file of a release after an edit of any sort."""
    content = path.read_bytes()
    how = rng.random()
    if path.suffix == ".parquet" and how < 0.3:
        return edit_cells(rng, content)
    if path.suffix == ".parquet" and how < 0.5:
        every = {**COLUMNAR, **WORDS}
        return list(every.values())[rng.integers(len(every))](content)
    if path.suffix != ".parquet" and how < 0.5:
        return edit_rows(rng, content) if how < 0.4 else edit_columns(rng, content)
    return edit_bytes(rng, content)


class Counted(NamedTuple):
    """What a forger counts in a file of columns."""

    names: list[str]
    rows: list[tuple[Any, ...]]

    @property
    def stars(self) -> int:
        """How many cells are suppressed."""
        return sum(cell in (None, "*") for row in self.rows for cell in row)


def counted(path: Path, form: str) -> Counted | None:
    """Return what can be counted in a file; None where it is none of columns any more."""
    try:
        if form == "parquet":
            with duckdb.connect() as own:  # a broken file can leave it of no more use
                relation = own.read_parquet(str(path))
                return Counted(relation.columns, relation.fetchall())
        text = io.StringIO(path.read_bytes().decode(), newline="")
        header, *rows = csv.reader(text, delimiter=DELIMITERS[form])
    except (KeyError, ValueError, RuntimeError, csv.Error, duckdb.Error):
        return None
    return Counted(header, [tuple(row) for row in rows])


def cells_of(name: str, cells: list, above: set[tuple[str, str]]) -> dict:
    """Return what a manifest says of the cells of a column."""
    stars = sum(cell in (None, "*") for cell in cells)
    more = sum((name, cell) in above for cell in cells if cell not in (None, "*"))
    values = len(cells) - stars - more
    return {"name": name, "values": values, "generalized": more, "suppressed": stars}


def fitted(folder: Path) -> dict:
    """Return the manifest with the names and counts that the files have: a careful forger's."""
    manifest = read_manifest(folder)
    data = manifest["data"]
    for file in data["files"]:
        seen = counted(folder / file["name"], file["format"])
        if seen is None:
            continue
        file["rows"] = n = len(seen.rows)
        own = {"graph": {"edges": n}, "bipartite": {"entries": n}, "table": {"rows": n}}
        counts = own[data["kind"]] if file["role"] == "data" else {file["role"]: n}
        if data["kind"] == "bipartite" and file["role"] == "data":
            counts["items"] = len({row[-1:] for row in seen.rows})
        if data["kind"] == "table":
            counts |= {"columns": len(seen.names), "suppressed_cells": seen.stars}
            file["columns"] = seen.names
        if data["kind"] == "table" and file["role"] == "data":
            path = folder / "levels.csv"
            levels = counted(path, "csv") if path.exists() else None
            listed = () if levels is None else levels.rows
            above = {(row[0], row[2]) for row in listed if row[1:2] != ("0",) and len(row) > 2}
            data["cells"] = [
                cells_of(n, [*c], above) for n, *c in zip(seen.names, *seen.rows, strict=False)
            ]
        data["counts"] |= counts
    return manifest


def attempt(
    rng: np.random.Generator, folder: Path, target: Target, before: Content
) -> tuple[str, str | None]:
    """Edit a copy of a release; return what became of it, and the finding, if it is one."""
    place = folder.parent.with_name("edited")
    shutil.copytree(folder.parent, place)
    copy = place / folder.name
    try:
        names = [file["name"] for file in read_manifest(copy)["data"]["files"]]
        name = names[rng.integers(len(names))] if rng.random() < 0.9 else "release.json"
        path = copy / name
        content = before_bytes = path.read_bytes()
        while content == before_bytes:
            content = edit_bytes(rng, content) if name == "release.json" else edited(rng, path)
        path.write_bytes(content)
        if name != "release.json":
            reseal(copy, fitted(copy))
        outcome = judged(copy, target, before)
        if outcome == "verified" and name != "release.json":
            outcome = "finding: other bytes for the same"
        if not outcome.startswith("finding"):
            return outcome, None
        said = f"{folder.parent.name}/{name}: {outcome}: {around(content, before_bytes)}"
        return outcome.partition(":")[0], said
    finally:
        shutil.rmtree(place)


def around(content: bytes, before: bytes) -> str:
    """Return what an edit made of a file: all of a small one, of a large one where it begins."""
    if len(content) <= SHOWN_BYTES:
        return repr(content)
    at = first_difference(content, before)
    return f"from byte {at} of {len(content)} on {content[at : at + SHOWN_BYTES]!r}"


def judged(folder: Path, target: Target, before: Content) -> str:
    """Return what becomes of an edited release, from the checker and from all who read it."""
    failed = failures(folder, target)
    if failed:
        return _reached(failed)
    readings = readings_of(folder)
    one = readings["verify"]
    differ = {reader: seen for reader, seen in readings.items() if sorted(seen) != sorted(one)}
    if differ:
        return f"finding: readers differ: {differ}"
    if sorted(one) == sorted(before):
        return "verified"
    other = target.key is None and is_another_release(folder, one)
    return "another release" if other else "finding: other data passes"


def failures(folder: Path, target: Target) -> set[str]:
    """Return the checks that fail; of a release with a key the owner asks."""
    owner = {} if target.key is None else {"original": target.data, "key": target.key}
    return {check.name for check in verify(folder, **owner).failures()}


def is_another_release(folder: Path, content: Content) -> bool:
    """Whether it is other data of which the claim is true, as can be counted in what is read.

    In such a release everybody shows the same, so other names of items or columns for everybody, or
    another one who shows the same, keep the claim. In a graph two ends may be exchanged: everybody
    has as many neighbors as before.
    """
    data = read_manifest(folder)["data"]
    counts = data["counts"]
    if data["kind"] == "graph":
        degrees = Counter(end for edge in content for end in edge)
        simple = len(set(map(frozenset, content))) == len(content) and all(
            u < v for u, v in content
        )
        return simple and len(degrees) == counts["nodes"] >= N and len(set(degrees.values())) == 1
    people = next(counts[who] for who in ("nodes", "users", "rows") if who in counts)
    shows = _shown_by_people(content)
    return len(shows) == people >= N and len(set(map(tuple, shows))) == 1


def _shown_by_people(content: Content) -> list[list[str]]:
    """Return the items of every user, or the cells of every row; nothing where one stands twice."""
    if not isinstance(content[0][0], int):
        names, *rows = map(list, content)
        return rows if len(set(names)) == len(names) else []
    items: dict[int, list[str]] = {}
    for user, item in content:
        items.setdefault(user, []).append(item)
    return [] if any(len(set(row)) < len(row) for row in items.values()) else list(items.values())


def _reached(failed: set[str]) -> str:
    """Return how far the checker came: to the form of a file, the shape of the data, the claim."""
    if failed & CLAIM and failed <= CLAIM | {"counts"}:
        return "claim"
    return "shape" if failed <= SHAPE | CLAIM else "form"


def search(
    edits: int, seconds: float, seed: int, targets: list[Target] = TARGETS
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Try so many edits of the targets in turn, or as many as the CPU time is enough for.

    Returns
    -------
    tuple
        How many edits of a kind of data ended how, and the findings.
    """
    outcomes: Counter[tuple[str, str]] = Counter()
    findings: list[str] = []
    rng = np.random.Generator(np.random.PCG64(seed))
    with tempfile.TemporaryDirectory() as scratch:
        folders = [
            release(Path(scratch, f"{number}-{target.form}"), target)
            for number, target in enumerate(targets)
        ]
        for folder, target in zip(folders, targets, strict=True):
            assert not failures(folder, target), "an edit of what fails already shows nothing"
        contents = [by_verify(folder) for folder in folders]
        until = time.process_time() + seconds
        for number in range(edits):
            if time.process_time() > until:
                break
            at = number % len(targets)
            outcome, finding = attempt(rng, folders[at], targets[at], contents[at])
            outcomes[type(targets[at].data).__name__, outcome] += 1
            findings += [finding] if finding else []
    return outcomes, findings


def main() -> int:
    """Search, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edits", type=int, default=100_000, help="how many")
    parser.add_argument("--seconds", type=float, default=1200, help="of CPU, at most")
    parser.add_argument("--seed", type=int, default=None, help="to repeat a search")
    parser.add_argument("--kind", choices=["Graph", "Bipartite", "Table"], help="of these only")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 10**9
    outcomes: Counter[tuple[str, str]] = Counter()
    findings: list[str] = []
    for every, share in ((TARGETS, 1 - SHARE_OF_LARGE), (large_targets(), SHARE_OF_LARGE)):
        targets = [t for t in every if given.kind in (None, type(t.data).__name__)]
        with mock.patch("graphveil.verify.check.database", emptied_database):
            ended, more = search(given.edits, share * given.seconds, seed, targets)
        outcomes.update(ended)
        findings += more
    for finding in findings:
        print(finding)  # noqa: T201  a command that prints
    print(f"seed {seed}: {sum(outcomes.values())} edits")  # noqa: T201  as above
    for (kind, outcome), number in sorted(outcomes.items()):
        print(f"{kind:10} {outcome:16} {number}")  # noqa: T201  as above
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
