"""A small release of a table, and the hand of an attacker who knows the format."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tampering import manifest_of, private, recount_cells, reseal

from graphveil.claims.guarantees import KAnonymity
from graphveil.data import Table
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from stars import stars_by_row

COLUMNS = ("sex", "age", "town")
NAMES = ["ann", "bob", "cyd", "dan", "eve", "fay"]
BEFORE = ["f 30 x", "f 30 y", "m 40 x", "m 40 x", "f 40 *", "f 40 z"]
AFTER = ["f 30 *", "f 30 *", "m 40 x", "m 40 x", "f 40 *", "f 40 *"]
BEFORE, AFTER = ([row.split() for row in rows] for rows in (BEFORE, AFTER))
ORDER = np.array([3, 0, 5, 1, 4, 2])
"""Whose row stands where in the release."""


def table_of(rows: list[list[str]], *, ids: list[str] | None = None) -> Table:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
    return Table.from_columns(columns, ids=ids)


def original() -> Table:
    return table_of(BEFORE, ids=NAMES)


def release_of(rows: list[list[str]] = AFTER, *, guarantee=None, conditions=None) -> Release:
    """Return the release in which these are the rows of the people of the original, in order."""
    published = [rows[place] for place in ORDER]
    stars = stars_by_row(row.count("*") for row in rows)
    added = sum(
        now == "*" != before
        for row, had in zip(rows, BEFORE, strict=True)
        for now, before in zip(row, had, strict=True)
    )
    return Release(
        data=table_of(published).without_unused(),
        guarantee=KAnonymity(k=2) if guarantee is None else guarantee,
        conditions=(stars,) if conditions is None else conditions,
        provenance=Provenance(
            method="by-hand", source="a test", limits="Nothing beyond.", parameters={"k": 2}
        ),
        private=Private(
            input_sha256=digest_of(original()),
            cost={"stars_added": added},
            linkage=Linkage(original().labels(), np.argsort(ORDER)),
        ),
    )


def replace_data(folder: Path, text: str) -> None:
    """Write other cells, and size, digest and the counts of the release as they are now."""
    content = text.encode()
    (folder / "data.csv").write_bytes(content)
    manifest = manifest_of(folder)
    rows = [line.split(",") for line in text.splitlines()[1:]]
    file = manifest["data"]["files"][0]
    digest = hashlib.sha256(content).hexdigest()
    file |= {"bytes": len(content), "sha256": digest, "rows": len(rows)}
    stars = [row.count("*") for row in rows]
    manifest["data"]["counts"] |= {"rows": len(rows), "suppressed_cells": sum(stars)}
    for condition in manifest["claim"]["conditions"]:
        if condition["type"] == "stars-by-row":
            condition["rows"] = [[s, stars.count(s)] for s in sorted(set(stars))]
    recount_cells(folder, manifest)
    reseal(folder, manifest)


def rows_of(folder: Path) -> list[list[str]]:
    return [line.split(",") for line in (folder / "data.csv").read_text().splitlines()[1:]]


def replace_rows(folder: Path, rows: list[list[str]]) -> None:
    header = (folder / "data.csv").read_text().splitlines()[0]
    replace_data(folder, "".join(f"{line}\n" for line in [header, *map(",".join, rows)]))


def write_private(folder: Path, name: str, columns: dict) -> None:
    pq.write_table(pa.table(columns), private(folder) / name)
