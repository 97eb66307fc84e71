"""A small release, and the hand of an attacker who knows the format."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphveil.claims.conditions import Supergraph
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.data import Graph
from graphveil.methods import METHODS
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage

K = 3
ORDER = np.array([3, 0, 6, 1, 5, 2, 4])
RELEASED = np.argsort(ORDER)


def original_graph() -> Graph:
    """Return a path of four nodes beside a path of three."""
    names = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil"]
    pairs = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)]
    return Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], ids=names)


def release_of(original: Graph, edits: str = "add") -> Release:
    """Return a release in which the longer path was closed: degrees 2 (5 nodes) and 1 (2 nodes).

    One more edge closes the shorter one, so that all seven nodes have degree 2.
    """
    edges = [*original.edges().tolist(), (0, 3), (4, 6)]
    closed = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=original.size)
    return Release(
        data=closed.permuted(ORDER),
        guarantee=StructuralKAnonymity(k=K),
        conditions=(Supergraph(),) if edits == "add" else (),
        provenance=provenance_of(
            "k-degree",
            {"k": K, "edits": edits, "target": "exact", "near": True},
        ),
        private=Private(
            input_sha256=digest_of(original),
            cost={"edges_added": 2, "edges_deleted": 0},
            linkage=Linkage(original.labels(), RELEASED),
        ),
    )


def provenance_of(method: str, parameters: dict) -> Provenance:
    """Return where a release comes from, in the words of its method."""
    known = METHODS[method]
    limits = limits_of(method, parameters)
    return Provenance(method=method, source=known.card.source, limits=limits, parameters=parameters)


def limits_of(method: str, parameters: dict) -> str:
    """Return what a method with these parameters says that it does not protect against."""
    known = METHODS[method]
    return known.from_parameters({**known.card.example, **parameters}).limits()


def smallest(method):
    """Return a method's example with the smallest classes, for data of a few people."""
    names = {item.name for item in dataclasses.fields(method)}
    least = {"k": 2, "levels": 2, "iterations": 1000}
    fitting = {name: value for name, value in least.items() if name in names}
    if method.name == "generalize":  # whose levels are rules by column
        fitting.pop("levels")
    return method.from_parameters({**method.card.example, **fitting})


def private(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.private")


def failed(verdict) -> dict[str, str]:
    """Return the detail of every condition that fails, by name."""
    return {item.name: item.detail for item in verdict.checks if item.outcome == "fails"}


def contradiction(problems: dict[str, str]) -> str | None:
    """Return how claim, parameters and method disagree; None where they do not."""
    names = [name for name in ("claim and parameters", "method") if name in problems]
    return "; ".join(problems[name] for name in names) or None


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "release.json").read_bytes())


def reseal(folder: Path, manifest: dict) -> None:
    """Write a manifest as a careful attacker does: canonical, with a new seal."""
    manifest["seal"] = hashlib.sha256(as_written(manifest | {"seal": ""})).hexdigest()
    (folder / "release.json").write_bytes(as_written(manifest))


def recount_cells(folder: Path, manifest: dict) -> None:
    """State of each column of a table what its cells in the files of text show now."""
    above = set()
    if (folder / "levels.csv").is_file():
        with (folder / "levels.csv").open(newline="") as listed:
            above = {(row[0], row[2]) for row in csv.reader(listed) if row[1] != "0"}
    with (folder / "data.csv").open(newline="") as data:
        names, *rows = csv.reader(data)
    cells = []
    for name, *column in zip(names, *rows, strict=True):
        stars = column.count("*")
        more = sum((name, cell) in above for cell in column)
        more -= stars * ((name, "*") in above)
        shown = len(column) - stars - more
        cells.append({"name": name, "values": shown, "generalized": more, "suppressed": stars})
    manifest["data"]["cells"] = cells


def as_written(manifest: dict) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def replace_file(folder: Path, name: str, content: bytes, *, rows: int | None = None) -> None:
    """Write a data file, and its size and digest into a manifest that is sealed anew."""
    (folder / name).write_bytes(content)
    manifest = manifest_of(folder)
    file = next(file for file in manifest["data"]["files"] if file["name"] == name)
    file["bytes"] = len(content)
    file["sha256"] = hashlib.sha256(content).hexdigest()
    if rows is not None:
        file["rows"] = rows
        manifest["data"]["counts"]["edges" if file["role"] == "data" else "nodes"] = rows
    reseal(folder, manifest)


def edges_of(folder: Path) -> list[list[int]]:
    lines = (folder / "data.csv").read_text().splitlines()[1:]
    return [[int(cell) for cell in line.split(",")] for line in lines]


def replace_edges(folder: Path, edges: list) -> None:
    text = "".join(f"{u},{v}\n" for u, v in edges)
    replace_file(folder, "data.csv", f"source,target\n{text}".encode(), rows=len(edges))


def leaves(value, path=()):
    """Yield the path and value of everything in a manifest that is no object and no list."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key), item


def changed(value):
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return "because"
    return value + "x" if isinstance(value, str) else value + 1


def put(manifest, path, value) -> None:
    for key in path[:-1]:
        manifest = manifest[key]
    manifest[path[-1]] = value


def write_linkage(folder: Path, original, released) -> None:
    path = private(folder) / "linkage.parquet"
    pq.write_table(pa.table({"original": original, "released": released}), path)


def linkage_of(folder: Path) -> tuple[list, list]:
    table = pq.read_table(private(folder) / "linkage.parquet")
    return table["original"].to_pylist(), table["released"].to_pylist()
