"""Random edits of sealed releases: each fails verification, or everybody reads the same from it.

The releases claim all that they can, one class of everybody, so that no other data keeps the claim.
An edit changes bytes, rows or columns of one file; sizes, digests, counts and seal are made to fit.

    python tests/fuzz/edits.py --edits 100000 --seconds 1200
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import graphveil as gv
from emptied import emptied_database
from forged.kit import COLUMNAR, WORDS, parquet_of, read_manifest, reseal
from forged.readers import Content, readings_of
from graphveil.claims.guarantees import KAnonymity, StructuralKAnonymity
from graphveil.release import Provenance, Release
from graphveil.verify import verify

N = 12
SHAPE = {"classes", "entries", "endpoints", "simple graph", "counts", "ids", "canonical order"}
PAIRS = [(node, other) for node in range(N) for other in range(node + 1, N)]
COMPLETE = gv.Graph.from_edges(*zip(*PAIRS, strict=True), n=N)
"""The one graph of alike nodes that stays the same under other numbers."""
ALIKE = gv.Bipartite.from_lists([["gin", "jam", "tea"]] * N)
QUOTED = gv.Bipartite.from_lists([["gin, dry", 'the "jam"', "NA"]] * N)
NUMBERED = gv.Bipartite.from_lists([[3, 10, 11]] * N)
GRAPHS = ("csv", "tsv", "text", "parquet", "graphml", "gml", "pajek", "metis", "nauty", "mtx")
LISTED = ("csv", "tsv", "text", "parquet")
TARGETS = [
    *((COMPLETE, form) for form in GRAPHS),
    *((ALIKE, form) for form in LISTED),
    *((QUOTED, form) for form in LISTED),
    *((NUMBERED, form) for form in ("csv", "parquet", "mtx")),
]
PIECES = [b"0", b"1", b"9", b",", b"\n", b"\t", b" ", b'"', b"-", b"e0", b".0", b"#", b"\0", b"ann"]


def release(place: Path, data, form: str) -> Path:
    """Return the folder of a release that claims one class of everybody."""
    graph = isinstance(data, gv.Graph)
    return Release(
        data=data,
        guarantee=StructuralKAnonymity(k=N) if graph else KAnonymity(k=N),
        provenance=Provenance(method="m", parameters={}, source="s", limits="l"),
    ).write(place, format=form)


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
        return edit_rows(rng, content)
    return edit_bytes(rng, content)


def fit_counts(folder: Path) -> dict:
    """Return the manifest with the counts that the files have, where lines or rows tell them."""
    manifest = read_manifest(folder)
    for file in manifest["data"]["files"]:
        path = folder / file["name"]
        if file["format"] in ("csv", "tsv", "text"):
            file["rows"] = max(path.read_bytes().count(b"\n") - 1, 0)
        counted = {"nodes": "nodes", "users": "users"}.get(
            file["role"], "edges" if manifest["data"]["kind"] == "graph" else "entries"
        )
        manifest["data"]["counts"][counted] = file["rows"]
    return manifest


def attempt(rng: np.random.Generator, folder: Path, before: Content) -> tuple[str, str | None]:
    """Edit a copy of a release; return what became of it, and the finding, if it is one."""
    copy = folder.with_name(f"{folder.name}-edited")
    shutil.copytree(folder, copy)
    try:
        names = [file["name"] for file in read_manifest(copy)["data"]["files"]]
        name = names[rng.integers(len(names))] if rng.random() < 0.9 else "release.json"
        path = copy / name
        content = (
            edit_bytes(rng, path.read_bytes()) if name == "release.json" else edited(rng, path)
        )
        if content == path.read_bytes():
            return "no change", None
        path.write_bytes(content)
        if name != "release.json":
            reseal(copy, fit_counts(copy))
        failed = {check.name for check in verify(copy).failures()}
        if failed:
            return _reached(failed), None
        readings = readings_of(copy)
        others = [reader for reader, seen in readings.items() if sorted(seen) != sorted(before)]
        if all(is_renaming(before, seen) for seen in readings.values()) and _agree(readings):
            return "items renamed", None
        if others:
            return "finding", f"{folder.name}/{name}: {others} read something else: {content!r}"
        if name != "release.json":
            return "finding", f"{folder.name}/{name}: other bytes for the same: {content!r}"
        return "verified", None
    finally:
        shutil.rmtree(copy)


def is_renaming(before: Content, after: Content) -> bool:
    """Whether only names of items differ, one for one: such a release promises the same of others.

    Everybody in a release of users by items has the same row, so another set of as many names for
    everybody is a renaming. Of a graph nothing but numbers could differ, and they are all in it.
    """
    rows_before, rows_after = _rows_of(before), _rows_of(after)
    if rows_before is None or rows_after is None or before == after:
        return False
    patterns = {frozenset(items) for items in rows_after.values()}
    n_items = {len(items) for items in (*rows_before.values(), *rows_after.values())}
    return rows_before.keys() == rows_after.keys() and len(patterns) == len(n_items) == 1


def _rows_of(content: Content) -> dict[int, list[str]] | None:
    """Return the items of every user; None of a graph, and where an item stands twice."""
    rows: dict[int, list[str]] = {}
    for user, item in content:
        if not isinstance(item, str) or item in rows.setdefault(user, []):
            return None
        rows[user].append(item)
    return rows


def _agree(readings: dict[str, Content]) -> bool:
    return len({str(sorted(seen)) for seen in readings.values()}) == 1


def _reached(failed: set[str]) -> str:
    """Return how far the checker came: to the form of a file, the shape of the data, the claim."""
    if "classes" in failed and failed <= {"classes", "counts"}:
        return "claim"
    return "shape" if failed <= SHAPE else "form"


def search(edits: int, seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """Try so many edits, or as many as the CPU time is enough for."""
    outcomes: Counter[str] = Counter()
    findings: list[str] = []
    rng = np.random.Generator(np.random.PCG64(seed))
    with tempfile.TemporaryDirectory() as scratch:
        folders = [
            release(Path(scratch, f"{number}-{form}"), data, form)
            for number, (data, form) in enumerate(TARGETS)
        ]
        contents = [readings_of(folder)["verify"] for folder in folders]
        until = time.process_time() + seconds
        while sum(outcomes.values()) < edits and time.process_time() < until:
            target = int(rng.integers(len(folders)))
            outcome, finding = attempt(rng, folders[target], contents[target])
            outcomes[outcome] += 1
            findings += [finding] if finding else []
    return outcomes, findings


def main() -> int:
    """Search, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edits", type=int, default=100_000, help="how many")
    parser.add_argument("--seconds", type=float, default=1200, help="of CPU, at most")
    parser.add_argument("--seed", type=int, default=None, help="to repeat a search")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 10**9
    with mock.patch("graphveil.verify.check.database", emptied_database):
        outcomes, findings = search(given.edits, given.seconds, seed)
    for finding in findings:
        print(finding)  # noqa: T201  a command that prints
    print(f"seed {seed}: {sum(outcomes.values())} edits, {dict(outcomes)}")  # noqa: T201  as above
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
