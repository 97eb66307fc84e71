"""Whether the manifest describes the files as this kind of data has them.

Claim checked: names, roles, formats, columns, order and sizes of parts are exactly what graphveil
writes for this kind and format. Nothing is free, so nothing of it can carry a message. Column
names that some programs read as something else (quotes, line breaks, two names that differ in
case alone) are refused.
"""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from graphveil.claims import parts
from graphveil.claims.manifest import LEVELS_COLUMNS, LEVELS_ROLE, DataFile, Described
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS
from graphveil.data.network import LAYER
from graphveil.verify.evidence import CheckedKind
from graphveil.verify.verdict import Check, judged, shown

_EXTENSIONS = {form: f".{form}" for form in ("csv", "tsv", "parquet", "graphml")} | {"text": ".txt"}
"""The extension of the data file, by format."""

_WITH_EVERYONE = frozenset({"graphml"})
"""Formats whose data file has no columns, and lists everyone itself."""

_MISREAD = re.compile(r'["\n\r\0\v\f\x1c-\x1e\x85\u2028\u2029]|^[\s\ufeff]|\s$|[\t,;#%].*\\$')
"""Names in the first line of a text file that some programs strip, or take for several lines."""


def description_check(described: Described, checked: CheckedKind) -> Check:
    """Whether names, roles, formats, columns and semantics are those of this kind of data."""
    # Step 1: how suppressed cells are written belongs to the kind of data.
    kind = KINDS[described.kind]
    problems = []
    if described.suppressed_cells != kind.suppressed_cells:
        problems.append(
            f"suppressed_cells has the unexpected value {shown(described.suppressed_cells)}"
        )
    # Step 2: a release in parts lists parts alone.
    if parts.in_parts(described.files):
        problems += _parts(described, checked)
        n = counted(len(described.files), "part")
        return judged(problems, f"a {described.kind} in {n}")
    # Step 3: otherwise exactly one data file, listed first.
    data = [file for file in described.files if file.role == "data"]
    if len(data) != 1:
        problems.append(f"{len(data)} data files are listed instead of 1")
        return judged(problems, "")
    problems += [] if described.files[0] is data[0] else ["the data file is not listed first"]
    problems += _data_file(described, checked, data[0])
    companions = described.files[1:]
    alone = kind.everyone is None or data[0].format in _WITH_EVERYONE
    expected = [] if alone else [kind.everyone]
    listed_levels = [file for file in companions if file.role == LEVELS_ROLE]
    if described.columns is not msgspec.UNSET:
        has_levels = any(one.levels is not None for one in described.columns)
        expected += [LEVELS_ROLE] if has_levels else []
        problems += _columns_described(described, data[0], listed_levels)
        companions = [file for file in companions if file not in listed_levels]
    roles = [file.role for file in described.files[1:]]
    if roles != expected:
        problems.append(
            f"the files listed with the data have the roles {roles}, but a "
            f"{data[0].format} release has {expected}"
        )
    # Step 5: each of these files has its one name, format and columns.
    column = kind.people[:-1]
    problems += [
        f"{shown(file.name)} is not described as {file.role}.csv with the column {column}"
        for file in companions
        if (file.name, file.format) != (f"{file.role}.csv", "csv")
        or (file.columns[:1] if kind.name == "network" else file.columns) != [column]
    ]
    return judged(problems, f"a {described.kind} in {data[0].format}")


def _columns_described(described: Described, data: DataFile, levels: list[DataFile]) -> list[str]:
    """Return the problems in the described columns of a generalized table."""
    problems = []
    if described.kind != "table":
        problems.append(f"columns are described for data of kind {described.kind}")
    for file in levels:
        described_as = (file.name, file.format, file.columns)
        if described_as != (f"{LEVELS_ROLE}.csv", "csv", LEVELS_COLUMNS):
            problems.append(f"{shown(file.name)} is not described as the file of levels")
    if [one.name for one in described.columns or []] != data.columns:
        problems.append("the described columns are not those of the data")
    if len({one.levels is None for one in described.columns or [] if one.role == "known"}) > 1:
        problems.append("some known columns have levels, and others have none")
    return problems


def _parts(described: Described, checked: CheckedKind) -> list[str]:
    """Return the problems in the listed parts: names, order, columns, and sizes."""
    if checked.parts is None:
        return [f"data of kind {described.kind} cannot be in parts"]
    problems = []
    # The number of users decides how many parts there are, and how many rows each has.
    n = described.counts.get("users", 0)
    n_parts = parts.n_parts(n)
    if len(described.files) != n_parts:
        problems.append(
            f"{counted(len(described.files), 'file')} listed, but {counted(n, 'user')} must be "
            f"in {counted(n_parts, 'part')}"
        )
    for number, file in enumerate(described.files[:n_parts]):
        name, size = parts.part_name(number), parts.part_size(number, n)
        if file.name != name:
            problems.append(f"{shown(file.name)} is listed instead of {name}")
        elif (file.role, file.format, file.columns) != ("data", "parquet", parts.COLUMNS):
            problems.append(f"{name} is not described as parquet with {shown(parts.COLUMNS)}")
        elif file.rows != size:
            problems.append(
                f"{name} is listed with {counted(file.rows, 'row')}, but must have {size}"
            )
    return problems


def _data_file(described: Described, checked: CheckedKind, file: DataFile) -> list[str]:
    kind_name = described.kind
    if file.format not in checked.loaders:
        return [f"data of kind {kind_name} cannot have the format {shown(file.format)}"]
    problems = []
    if file.name != f"data{_EXTENSIONS[file.format]}":
        problems.append(f"{shown(file.name)} is not a valid name for {file.format} data")
    columns = list(KINDS[kind_name].columns) or file.columns
    if described.layers and len(described.layers) > 1:
        columns += [LAYER]
    if file.columns != ([] if file.format in _WITH_EVERYONE else columns):
        problems.append(
            f"{shown(file.name)} is listed with unexpected columns, {shown(file.columns)}"
        )
    return problems + _misread_names(file)


def _misread_names(file: DataFile) -> list[str]:
    """Return column names that some programs change, or that they take for one name."""
    times = Counter(name.lower() for name in file.columns)
    return [
        f"programs read the column name {shown(name)} differently"
        for name in file.columns
        if not name
        or times[name.lower()] > 1
        or (file.format != "parquet" and _MISREAD.search(name))
    ]
