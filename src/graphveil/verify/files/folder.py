"""Checks on the files of a release folder, before anything in them is read."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

from graphveil.data.kinds import KINDS
from graphveil.data.network import LAYER
from graphveil.errors import ResourceError, option
from graphveil.records import parts
from graphveil.records.manifest import MANIFEST, DataFile, Described, Manifest
from graphveil.verify.files.released import Released
from graphveil.verify.kinds.kind import checked_kind
from graphveil.verify.verdict import Check, beyond, counted, fails, judged, shown

FILES, OTHERS, DESCRIPTION = "files", "no other files", "description"

_EXTENSIONS = {
    "csv": ".csv",
    "tsv": ".tsv",
    "text": ".txt",
    "parquet": ".parquet",
    "graphml": ".graphml",
}
_WITH_EVERYONE = frozenset({"graphml"})
"""Formats whose data file has no columns, and lists everyone itself."""

_MISREAD = re.compile(r'["\n\r\0\v\f\x1c-\x1e\x85\u2028\u2029]|^[\s\ufeff]|\s$|[\t,;#%].*\\$')
"""Names in the first line of a text file that some programs strip, or take for several lines."""


def file_checks(released: Released, manifest: Manifest, limit_bytes: int) -> list[Check]:
    """Return the checks on which files there are, and on their bytes."""
    files = manifest.data.files
    unrolled = checked_kind(manifest.data.kind).unrolled
    limits = {
        file.name: None if file.role == "data" and file.format in unrolled else limit_bytes
        for file in files
    }
    found = (file_problem(released, file, limits[file.name]) for file in files)
    problems = [problem for problem in found if problem]
    n = len(files)
    what = "1 file has the size and SHA-256" if n == 1 else f"{n} files have the sizes and SHA-256"
    return [
        judged(FILES, problems, f"{what} that {MANIFEST} states"),
        _others(released, files),
        _description(manifest.data),
    ]


def file_problem(released: Released, file: DataFile, limit_bytes: int | None) -> str | None:
    """Return why a listed file is not the one described, or None.

    Raises
    ------
    ResourceError
        Where the file is larger than what may be read: then nothing is known of it.
    """
    size = released.size(file.name)
    if size is None:
        return f"{shown(file.name)} is not the name of a regular file in the folder"
    if size != file.bytes:
        return f"{file.name} has {size} bytes, {MANIFEST} says {file.bytes}"
    if limit_bytes is not None and size > limit_bytes:
        why = beyond(file.name, size, limit_bytes)
        raise ResourceError(f"{why}. Raise {option('limit')} if you trust it")
    try:
        digest = sha256_of(released.path(file.name))
    except OSError as error:
        return f"{file.name} cannot be read ({error.strerror})"
    if digest != file.sha256:
        return f"{file.name} has SHA-256 {digest[:12]}, {MANIFEST} says {shown(file.sha256[:12])}"
    return None


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _others(released: Released, files: list[DataFile]) -> Check:
    listed = {file.name for file in files} | {MANIFEST}
    try:
        names = released.names(with_parts=parts.in_parts(files))
    except OSError as error:
        return fails(OTHERS, f"the folder cannot be listed ({error.strerror})")
    problems = [f"{shown(name)} is not listed" for name in names if name not in listed]
    if released.folder is not None and (released.folder / MANIFEST).is_symlink():
        problems.append(f"{MANIFEST} is a link to another file")
    return judged(OTHERS, problems, f"the folder holds {counted(len(names), 'file')}, all listed")


def _description(described: Described) -> Check:
    """Whether names, roles, formats, columns and semantics are those of this kind of data."""
    kind = KINDS[described.kind]
    problems = []
    if described.suppressed_cells != kind.suppressed_cells:
        problems.append(f"suppressed_cells is {shown(described.suppressed_cells)}")
    if parts.in_parts(described.files):
        problems += _parts(described)
        n = counted(len(described.files), "part")
        return judged(DESCRIPTION, problems, f"a {described.kind} in {n}")
    data = [file for file in described.files if file.role == "data"]
    if len(data) != 1:
        problems.append(f"{len(data)} data files are listed, not 1")
        return judged(DESCRIPTION, problems, "")
    problems += [] if described.files[0] is data[0] else ["the data file is not listed first"]
    problems += _data_file(described, data[0])
    companions = described.files[1:]
    alone = kind.everyone is None or data[0].format in _WITH_EVERYONE
    expected = [] if alone else [kind.everyone]
    if [file.role for file in companions] != expected:
        roles = [file.role for file in companions]
        problems.append(f"beside the data stand {roles}, a {data[0].format} release has {expected}")
    column = kind.people[:-1]
    problems += [
        f"{shown(file.name)} is not described as {file.role}.csv with the column {column}"
        for file in companions
        if (file.name, file.format) != (f"{file.role}.csv", "csv")
        or (file.columns[:1] if kind.name == "network" else file.columns) != [column]
    ]
    return judged(DESCRIPTION, problems, f"a {described.kind} in {data[0].format}")


def _parts(described: Described) -> list[str]:
    """Return what is odd in parts that are listed: names, order, columns, and sizes."""
    if checked_kind(described.kind).parts is None:
        return [f"a {described.kind} does not come in parts"]
    problems = []
    n = described.counts.get("users", 0)
    n_parts = parts.n_parts(n)
    if len(described.files) != n_parts:
        problems.append(
            f"{counted(len(described.files), 'file')} are listed, {counted(n, 'user')} have "
            f"{counted(n_parts, 'part')}"
        )
    for number, file in enumerate(described.files[:n_parts]):
        name, size = parts.part_name(number), parts.part_size(number, n)
        if file.name != name:
            problems.append(f"{shown(file.name)} is listed where {name} comes")
        elif (file.role, file.format, file.columns) != ("data", "parquet", parts.COLUMNS):
            problems.append(f"{name} is not described as parquet with {shown(parts.COLUMNS)}")
        elif file.rows != size:
            problems.append(f"{name} has {counted(file.rows, 'row')}, in its place stand {size}")
    return problems


def _data_file(described: Described, file: DataFile) -> list[str]:
    kind_name = described.kind
    if file.format not in checked_kind(kind_name).loaders:
        return [f"a {kind_name} does not come as {shown(file.format)}"]
    problems = []
    if file.name != f"data{_EXTENSIONS[file.format]}":
        problems.append(f"{shown(file.name)} is no name for {file.format} data")
    columns = list(KINDS[kind_name].columns) or file.columns
    if described.layers and len(described.layers) > 1:
        columns += [LAYER]
    if file.columns != ([] if file.format in _WITH_EVERYONE else columns):
        problems.append(f"{shown(file.name)} has the columns {shown(file.columns)}")
    return problems + _misread_names(file)


def _misread_names(file: DataFile) -> list[str]:
    """Return which names of columns are another to some programs, or of which two are one."""
    times = Counter(name.lower() for name in file.columns)
    return [
        f"programs read the column {shown(name)} in different ways"
        for name in file.columns
        if not name
        or times[name.lower()] > 1
        or (file.format != "parquet" and _MISREAD.search(name))
    ]
