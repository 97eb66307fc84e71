"""The table of formats: adding one is an entry here and a module beside it.

The module of a format has, for each kind it holds, `read_KIND(source, options)`, which returns what
`graphveil.io.parsed` describes, and `write_KIND(data, stream, form)`, which writes to an open
stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from graphveil.core.errors import InputError, one_of, option
from graphveil.data.kinds import KINDS

_IDS = "ids"
"""What a format that can list ids holds beside kinds of data."""

_EXPORTED = "Save it as CSV in UTF-8, and give that file"
_UNREAD = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), ("a spreadsheet workbook", _EXPORTED)),
    **dict.fromkeys((".sav", ".zsav", ".por"), ("an SPSS file", _EXPORTED)),
    ".dta": ("a Stata file", _EXPORTED),
    ".sas7bdat": ("a SAS file", _EXPORTED),
    ".rds": ("an R file", _EXPORTED),
    ".clu": (
        "a Pajek partition",
        "Append its lines to the network's file, after a line *Partition NAME",
    ),
    ".zip": ("a zip archive", "Unzip it first, and give the file inside"),
    **dict.fromkeys(
        (".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz"),
        (
            "in an archive or compression format that is not supported",
            "Unpack it first, and give the file inside",
        ),
    ),
    ".jsonl": ("JSON", "Save it as CSV, and give that file"),
    ".ndjson": ("JSON", "Save it as CSV, and give that file"),
}
"""Extensions of what people have and no reader takes: what it is, and the way out."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format.

    Parameters
    ----------
    name
        As in ``--format``.
    extensions
        The first one names the data file of a release.
    kinds
        The containers it can hold, and whether it can list ids.
    module
        The module of `graphveil.io` that reads and writes it.
    keeps_isolated
        Whether nodes without edges and users without items survive in it.
    text_ids
        Whether ids may be text.
    compressible
        Whether it may be wrapped in gzip or Zstandard.
    released_as
        The format of a release of such a file, where releases do not have this one.
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[str, ...]
    module: str
    keeps_isolated: bool = False
    text_ids: bool = True
    compressible: bool = True
    released_as: str | None = None

    def reader(self, kind: str) -> Callable[..., Any]:
        """Return the function that reads this kind of data; of a network, the ties and nodes."""
        return self._function(f"read_{'graph' if kind == 'network' else kind}", kind)

    def writer(self, kind: str) -> Callable[..., Any]:
        """Return the function that writes this kind of data."""
        return self._function(f"write_{kind}", kind)

    def _function(self, name: str, kind: str) -> Callable[..., Any]:
        if kind not in self.kinds:
            able = ", ".join(f.name for f in FORMATS.values() if kind in f.kinds)
            rows = self.module == "delimited" and name.startswith("read")
            say = f", or use {option('input_format', 'csv')} if its lines are rows" if rows else ""
            raise InputError(f"{self.name} cannot store {_words(kind)}. Use one of {able}{say}.")
        module = import_module(f"graphveil.io.readers.{self.module}")
        general = name.replace("_graph", "_network")  # which a plain graph is, too
        function: Callable[..., Any] = getattr(module, name, None) or getattr(module, general)
        return function


def _words(kind: str) -> str:
    return KINDS[kind].words if kind in KINDS else "a list of ids"


_ALL = (*KINDS, _IDS)
_PAIRS = ("graph", "bipartite", _IDS)
_MATRIX = ("graph", "bipartite")

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(name="csv", extensions=(".csv",), kinds=_ALL, module="delimited"),
        Format(name="tsv", extensions=(".tsv",), kinds=_ALL, module="delimited"),
        Format(name="text", extensions=(".txt", ".edges"), kinds=_PAIRS, module="delimited"),
        Format(
            name="parquet",
            extensions=(".parquet",),
            kinds=_ALL,
            module="columnar",
            compressible=False,
        ),
        Format(
            name="arrow",
            extensions=(".arrow", ".feather"),
            kinds=_ALL,
            module="columnar",
            compressible=False,
            released_as="parquet",
        ),
        Format(
            name="graphml",
            extensions=(".graphml",),
            kinds=("graph", "network"),
            module="graphml",
            keeps_isolated=True,
        ),
        Format(
            name="gexf",
            extensions=(".gexf",),
            kinds=("graph", "network"),
            module="gexf",
            keeps_isolated=True,
            released_as="csv",
        ),
        Format(
            name="node-link",
            extensions=(".json",),
            kinds=("graph", "network"),
            module="node_link",
            keeps_isolated=True,
            released_as="csv",
        ),
        Format(
            name="gml",
            extensions=(".gml",),
            kinds=("graph", "network"),
            module="gml",
            keeps_isolated=True,
            released_as="csv",
        ),
        Format(
            name="pajek",
            extensions=(".net", ".paj"),
            kinds=("graph", "network"),
            module="pajek",
            keeps_isolated=True,
            released_as="csv",
        ),
        Format(
            name="metis",
            extensions=(".graph",),
            kinds=("graph",),
            module="metis",
            keeps_isolated=True,
            text_ids=False,
            released_as="csv",
        ),
        Format(
            name="nauty",
            extensions=(".nauty",),
            kinds=("graph",),
            module="nauty",
            keeps_isolated=True,
            text_ids=False,
            released_as="csv",
        ),
        Format(
            name="mtx",
            extensions=(".mtx",),
            kinds=_MATRIX,
            module="matrix",
            keeps_isolated=True,
            text_ids=False,
            released_as="csv",
        ),
        Format(
            name="npz",
            extensions=(".npz",),
            kinds=_MATRIX,
            module="matrix",
            keeps_isolated=True,
            text_ids=False,
            compressible=False,
            released_as="csv",
        ),
    )
}


def format_of(path: str | Path, override: str | None = None) -> Format:
    """Return the format of a file, by its extension, or of the name given.

    Raises
    ------
    InputError
        Where the name is unknown, or no name is given and the extension is unknown.

    Examples
    --------
    >>> format_of("friends.csv.gz").name
    'csv'
    """
    path = Path(path)
    if override is not None:
        if override not in FORMATS:
            raise InputError(f"unknown format {override!r}. {one_of(override, FORMATS)}")
        return FORMATS[override]
    extension = _inner(path).suffix.lower()
    if extension in _UNREAD:
        what, advice = _UNREAD[extension]
        raise InputError(f"{path.name} is {what}. {advice}.")
    for entry in FORMATS.values():
        if extension in entry.extensions:
            return entry
    known = " ".join(e for f in FORMATS.values() for e in f.extensions)
    raise InputError(
        f"{path.name}: unknown extension {extension or '(none)'}. Known: {known}. Or set "
        f"{option('input_format')} to one of {', '.join(FORMATS)}."
    )


def compression_of(path: str | Path) -> str | None:
    """Return gzip, zstd or None, by the last extension.

    Examples
    --------
    >>> compression_of("friends.csv.zst")
    'zstd'
    """
    return COMPRESSIONS.get(Path(path).suffix.lower())


def _inner(path: Path) -> Path:
    return path.with_suffix("") if compression_of(path) else path
