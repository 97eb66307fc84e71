"""The table of formats, and the options of their readers: each is also a flag of the command line.

Adding a format is an entry here and a module next to it. It has, for each kind it holds,
`read_KIND(source, options)`, which returns what `graphveil.io.parsed` describes, and
`write_KIND(data, stream, form)`, which writes to an open stream.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphveil.core.errors import InputError
from graphveil.core.hints import one_of, option, options
from graphveil.core.parameters import reading_option
from graphveil.data.columns import Directed, Directions
from graphveil.data.kinds import KINDS, Kind
from graphveil.data.origin import Items

_IDS = "ids"
"""What a format that can list ids holds apart from kinds of data."""

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
    ".dl": ("a UCINET file", "Export it as Pajek (.net) or CSV, and give that file"),
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

_START = 1 << 16
"""So many bytes of a file with an unknown extension are looked at."""

_STARTS = (
    (rb"PAR1", "parquet"),
    (rb"ARROW1", "arrow"),
    (rb"(?s)\s*<.{,2000}?<?graphml\b", "graphml"),
    (rb"(?s)\s*<.{,2000}?<?gexf\b", "gexf"),
    (rb'(?s)\s*\{.*"(nodes|links|edges)"\s*:', "node-link"),
    (rb"(?i)(%[^\n]*\n)*\s*\*(vertices|network)\s", "pajek"),
    (rb"(?i)%%matrixmarket\s", "mtx"),
    (rb"(?is)(#[^\n]*\n|\s|creator\s[^\n]*\n|version\s[^\n]*\n)*graph\s*\[", "gml"),
)
"""What the content of a format begins with."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

IN_PARTS = ("csv", "tsv", "text", "parquet", "arrow")
"""Formats of rows: a folder of such files is read as one."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format; the first of its `extensions` names the data file of a release.

    `keeps_isolated`: whether nodes without edges and users without items survive in it;
    `released_as`: the format of a release of such a file, where releases do not have this one;
    `read_as`: kinds that can be read from it, too, but not written.

    Examples
    --------
    >>> FORMATS["csv"].extensions, FORMATS["metis"].keeps_isolated
    (('.csv',), True)
    """

    name: str
    extensions: tuple[str, ...]
    kinds: tuple[str, ...]
    module: str
    keeps_isolated: bool = False
    text_ids: bool = True
    compressible: bool = True
    released_as: str | None = None
    read_as: tuple[str, ...] = ()

    def reader(self, kind: str) -> Callable[..., Any]:
        """Return the function that reads this kind of data.

        Parameters
        ----------
        kind
            ``graph``, ``network``, ``bipartite``, ``table``, or ``ids`` for a list of ids.

        Returns
        -------
        Callable
            Takes a source and options, and returns what `graphveil.io.parsed` describes; for a
            network, the edges and nodes.

        Raises
        ------
        InputError
            If the format cannot store this kind.

        Examples
        --------
        >>> FORMATS["gml"].reader("graph").__name__
        'read_graph'
        """
        return self._function(f"read_{'graph' if kind == 'network' else kind}", kind)

    def writer(self, kind: str) -> Callable[..., Any]:
        """Return the function that writes this kind of data.

        Parameters
        ----------
        kind
            As of `reader`.

        Returns
        -------
        Callable
            Takes the data, an open binary stream, and the format.

        Raises
        ------
        InputError
            If the format cannot store this kind.

        Examples
        --------
        >>> FORMATS["csv"].writer("table").__name__
        'write_table'
        """
        return self._function(f"write_{kind}", kind)

    def _function(self, name: str, kind: str) -> Callable[..., Any]:
        if kind in self.read_as and name == f"read_{kind}":
            shared = import_module(f"graphveil.io.{_TWO_MODES}")
            return partial(getattr(shared, name), self.reader("network"))
        if kind not in self.kinds:
            reading = name.startswith("read")
            able = ", ".join(
                f.name for f in FORMATS.values() if kind in (f.kinds + f.read_as * reading)
            )
            rows = self.module == "delimited" and reading
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
_USERS = ("bipartite",)
_TWO_MODES = "graph_builder"
"""The module that reads nodes of two marked kinds as users and items."""


_LISTS_NODES: dict[str, Any] = {"keeps_isolated": True, "released_as": "csv"}
_WITH_ATTRIBUTES = {**_LISTS_NODES, "kinds": ("graph", "network"), "read_as": _USERS}
_COUNTS_NODES = {**_LISTS_NODES, "text_ids": False}
_FRAMES: dict[str, Any] = {"kinds": _ALL, "module": "columnar", "compressible": False}
_TEXT_EXTENSIONS = (".txt", ".edges", ".edgelist", ".ncol", ".adjlist", ".lgl")

_GRAPHML = {**_WITH_ATTRIBUTES, "released_as": None}
FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(name="csv", extensions=(".csv",), kinds=_ALL, module="delimited"),
        Format(name="tsv", extensions=(".tsv",), kinds=_ALL, module="delimited"),
        Format(name="text", extensions=_TEXT_EXTENSIONS, kinds=_PAIRS, module="delimited"),
        Format(name="parquet", extensions=(".parquet",), **_FRAMES),
        Format(name="arrow", extensions=(".arrow", ".feather"), **_FRAMES, released_as="parquet"),
        Format(name="graphml", extensions=(".graphml",), module="graphml", **_GRAPHML),
        Format(name="gexf", extensions=(".gexf",), module="gexf", **_WITH_ATTRIBUTES),
        Format(name="node-link", extensions=(".json",), module="node_link", **_WITH_ATTRIBUTES),
        Format(name="gml", extensions=(".gml",), module="gml", **_WITH_ATTRIBUTES),
        Format(name="pajek", extensions=(".net", ".paj"), module="pajek", **_WITH_ATTRIBUTES),
        Format(
            name="metis", extensions=(".graph",), module="metis", kinds=("graph",), **_COUNTS_NODES
        ),
        Format(
            name="nauty", extensions=(".nauty",), module="nauty", kinds=("graph",), **_COUNTS_NODES
        ),
        Format(name="mtx", extensions=(".mtx",), module="matrix", kinds=_MATRIX, **_COUNTS_NODES),
        Format(
            name="npz",
            extensions=(".npz",),
            module="matrix",
            kinds=_MATRIX,
            compressible=False,
            **_COUNTS_NODES,
        ),
    )
}


def format_of(path: str | Path, override: str | None = None) -> Format:
    """Return the format of a file.

    Parameters
    ----------
    path
        The file, or a folder of its parts; the extension gives the format.
    override
        The name of a format, which then counts instead.

    Returns
    -------
    Format
        An entry of `FORMATS`.

    Raises
    ------
    InputError
        If the name or the extension is unknown; the message says what the content looks like.

    Examples
    --------
    >>> format_of("friends.csv.gz").name, format_of("friends.dat", "tsv").name
    ('csv', 'tsv')
    """
    path = Path(path)
    if override is not None:
        if override not in FORMATS:
            raise InputError(f"unknown format {override!r}. {one_of(override, FORMATS)}")
        return FORMATS[override]
    if path.is_dir():
        return format_of(parts_of(path)[0])
    extension = _inner(path).suffix.lower()
    if extension in _UNREAD:
        what, advice = _UNREAD[extension]
        raise InputError(f"{path.name} is {what}. {advice}.")
    for entry in FORMATS.values():
        if extension in entry.extensions:
            return entry
    known = " ".join(e for f in FORMATS.values() for e in f.extensions)
    unknown = f"{path.name}: unknown extension {extension or '(none)'}."
    likely = _by_its_start(path)
    if likely is not None:
        say = options(input_format=likely.format, **likely.how)
        use = "If its lines are edges, use" if likely.may_be_rows else "Use"
        raise InputError(f"{unknown} Its content looks like {likely.format}. {use} {say}.")
    raise InputError(
        f"{unknown} Known: {known}. Or set {option('input_format')} to one of {', '.join(FORMATS)}."
    )


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a folder by their names, or the one file that a path is.

    Names that begin with a dot or an underscore, as ``_SUCCESS`` does, are not parts.
    """
    if not path.is_dir():
        return (path,)
    name = path.name or path
    found = sorted(part for part in path.iterdir() if part.name[0] not in "._")
    inside = next((part.name for part in found if part.is_dir()), None)
    if inside is not None:
        raise InputError(
            f"{name} is a folder with another one inside ({inside}). Give one file, or a folder "
            "with nothing but the parts of one."
        )
    if not found:
        raise InputError(f"{name} is a folder without files. Give one file.")
    kinds = {"".join(part.suffixes[-2 if compression_of(part) else -1 :]): part for part in found}
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise InputError(
            f"{name} is a folder with different formats ({one.name}, {other.name}). Give one "
            "file, or a folder with nothing but the parts of one."
        )
    form = format_of(found[0])
    if form.name not in IN_PARTS or _inner(found[0]).suffix.lower() in _WHOLE:
        raise InputError(
            f"{name} is a folder of {form.name} files, which cannot be read as parts of one. "
            f"Give one file, or use parts in {', '.join(IN_PARTS)}."
        )
    return tuple(found)


_WHOLE = (".adjlist", ".lgl")
"""Extensions of text whose lines do not stand for themselves."""


class _Likely(NamedTuple):
    """What a file looks like: its format, how else it is read, and whether that is a guess.

    With more than two cells in a line of text, it may have rows of a table instead of edges.
    """

    format: str
    how: dict[str, Any]
    may_be_rows: bool = False


def _by_its_start(path: Path) -> _Likely | None:
    """Return the format that the first bytes of a file look like; None where they show nothing."""
    try:
        if not path.is_file():
            return None
        compressed = compression_of(path) == "gzip"
        with gzip.open(path) if compressed else path.open("rb") as file:
            start = file.read(_START).removeprefix(b"\xef\xbb\xbf")
    except (OSError, EOFError, zlib.error):
        return None
    marked = next((name for pattern, name in _STARTS if re.match(pattern, start)), None)
    return _by_its_rows(start) if marked is None else _Likely(marked, {})


def _by_its_rows(start: bytes) -> _Likely | None:
    """Return the format of text that has the same number of cells in each line, or several ids."""
    whole = start.rpartition(b"\n")[0] if len(start) == _START else start
    lines = whole.decode(errors="replace").splitlines()
    rows = [line for line in lines if line.strip() and line.lstrip()[0] not in "#%"]
    if not all(row.replace("\t", " ").isprintable() and "\ufffd" not in row for row in rows):
        return None
    konect = re.match(r"%\s*(a?sym|bip)\b", lines[0]) if lines else None
    if konect and rows:
        how: dict[str, Any] = {
            "bip": {"kind": "bipartite"},
            "asym": {"directed": "symmetrize"},
        }.get(konect[1], {})
        wide = any(len(row.split()) > 2 for row in rows)
        return _Likely("text", how | ({"ignore_weights": True} if wide else {}))
    for delimiter, name in ((",", "csv"), (";", "csv"), ("\t", "tsv"), ("::", "text")):
        widths = {len(row.strip().split(delimiter)) for row in rows}
        if len(widths) == 1 and widths != {1}:
            return _Likely(name, *_two_of(max(widths) if name == "text" else 2))
    widths = {len(row.split()) for row in rows}
    if max(widths, default=0) < 2 or any("{" in row for row in rows):
        return _Likely("text", {}) if max(widths, default=0) > 1 else None
    return _Likely("text", *_two_of(max(widths) if len(widths) == 1 else 2))


def _two_of(width: int) -> tuple[dict[str, Any], bool]:
    """Return the options that take the first two cells as an edge, where there are more."""
    if width == 2:
        return {}, False
    return {"source_column": 1, "target_column": 2, "ignore_weights": True}, True


def compression_of(path: str | Path) -> str | None:
    """Return the compression of a file, by the last extension.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    str or None
        ``gzip``, ``zstd``, or None.

    Examples
    --------
    >>> compression_of("friends.csv.gz"), compression_of("friends.csv")
    ('gzip', None)
    """
    return COMPRESSIONS.get(Path(path).suffix.lower())


def name_without_compression(path: Path) -> str:
    """Return the name of a file in lower case, without the extension of a compression."""
    return _inner(path).name.lower()


def _inner(path: Path) -> Path:
    return path.with_suffix("") if compression_of(path) else path


Header = Literal["auto", "yes", "no"]
Layout = Literal["auto", "pairs", "lists", "items"]

_FORMAT = "Input format, if the file extension does not show it."
_HEADER = "Whether the first line contains column names; auto decides from its content."
_WEIGHTS = "Ignore weights and extra columns instead of refusing the file."
_DELIMITER = "Cell separator: one character, ::, tab or space. Default: detected."
_ENCODING = (
    "Encoding of a text file that is not UTF-8, such as utf-16, windows-1252 or iso-8859-2. Such a "
    "file is refused without it; the refusal names the likely encoding and shows a word."
)
_DECIMAL = (
    "What begins the fraction of a number in a text file: a comma (1.234,5) or a point (1,234.5). "
    "Numbers become plain, 1234.5. Columns of numbers with commas are refused without it."
)
_MISSING = (
    "Codes of a column that stand for a missing value: COLUMN=-9 or COLUMN=n.a.,NSP. Other columns "
    "keep them."
)
_SUPPRESSED = "Values that mark a missing or suppressed cell."
_CATEGORIES = (
    "Values to keep as categories although they often mark missing data or totals, such as ?, NA "
    "or Total. A table with such a value is refused unless it is listed here or in --suppressed."
)
_BINS = (
    "How to bin a numeric column: COLUMN=median, COLUMN=quantiles:N or COLUMN=edges:A,B,C. "
    "all=RULE bins every other numeric column."
)


class Ends(NamedTuple):
    """Which two columns are the ends of a row, as far as the options say.

    A column is asked for by name or number from 1. The `kind_column` is not an end, and not
    omitted.
    """

    names: tuple[str, str]
    asked: tuple[str | int | None, str | int | None]
    ignore_weights: bool
    kind_column: str | int | None = None
    of_ties: bool = False


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """How a file is read as a graph.

    Examples
    --------
    >>> GraphOptions(directed="symmetrize").directed
    'symmetrize'
    """

    format: str | None = reading_option(default=None, text=_FORMAT)
    directed: Directed = reading_option(
        default="refuse",
        text="How to treat a directed file: symmetrize (drop directions) or refuse.",
    )
    source_column: str | int | None = reading_option(
        default=None, text="Column with the first node of each edge, by name or number (from 1)."
    )
    target_column: str | int | None = reading_option(
        default=None, text="Column with the second node of each edge, by name or number (from 1)."
    )
    ignore_weights: bool = reading_option(default=False, text=_WEIGHTS)
    one_mode: bool = reading_option(
        default=False,
        text="All nodes are people although the file marks two kinds of nodes, as a "
        "two-mode network does. Such a file is refused without this option.",
    )
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    encoding: str | None = reading_option(default=None, text=_ENCODING)
    nodes: Path | None = reading_option(
        default=None,
        text="File listing every node id, to keep isolated nodes. Under differential privacy this "
        "list counts as public, so it must not be derived from the edges.",
    )

    @property
    def ends(self) -> Ends:
        """Which two columns are the ends of an edge."""
        asked = (self.source_column, self.target_column)
        names = ("source_column", "target_column")
        return Ends(names, asked, self.ignore_weights, self.column_of_kinds, of_ties=True)

    @property
    def column_of_kinds(self) -> str | None:
        """The column that says of which kind an edge is: in a graph all are of one."""
        return None


@dataclass(frozen=True, kw_only=True)
class BipartiteOptions:
    """How a file is read as users and their items."""

    format: str | None = reading_option(default=None, text=_FORMAT)
    items: Items | None = reading_option(
        default=None,
        text="What items are: people (they get their new ids), things (they keep their "
        "names), or values (named column=value; under differential privacy one "
        "value counts as two entries). Required where it matters.",
    )
    user_column: str | int | None = reading_option(
        default=None,
        text="Column with users, by name or number (from 1). For graph formats: the "
        "attribute value that marks users, such as type=person.",
    )
    item_column: str | int | None = reading_option(
        default=None, text="Column with items, by name or number (from 1)."
    )
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    encoding: str | None = reading_option(default=None, text=_ENCODING)
    ignore_weights: bool = reading_option(default=False, text=_WEIGHTS)
    layout: Layout = reading_option(
        default="auto",
        text="Content of a line: one user and one item (pairs), a user followed by items "
        "(lists), or only items (items).",
    )
    users: Path | None = reading_option(
        default=None,
        text="File listing every user id, to keep users without items. Under differential privacy "
        "this list counts as public, so it must not be derived from the entries.",
    )
    item_list: Path | None = reading_option(
        default=None,
        text="File listing every item name, to keep items that nobody has. Under differential "
        "privacy this list counts as public, so it must not be derived from the entries.",
    )

    @property
    def ends(self) -> Ends:
        """Which two columns are the user and the item of a pair."""
        asked = (self.user_column, self.item_column)
        return Ends(("user_column", "item_column"), asked, self.ignore_weights)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a file is read as rows by categorical columns."""

    format: str | None = reading_option(default=None, text=_FORMAT)
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    encoding: str | None = reading_option(default=None, text=_ENCODING)
    decimal: Literal[",", "."] | None = reading_option(default=None, text=_DECIMAL)
    column_names: tuple[str, ...] = reading_option(
        default=(),
        text="Names of the columns, separated by commas, if the first line of a text file is data.",
    )
    missing: Mapping[str, str] = field(default_factory=dict, metadata={"help": _MISSING})
    ids: str | None = reading_option(default=None, text="Column with row ids; it is not published.")
    suppressed: tuple[str, ...] = reading_option(default=("*", ""), text=_SUPPRESSED)
    categories: tuple[str, ...] = reading_option(default=(), text=_CATEGORIES)
    bins: Mapping[str, str] = field(default_factory=dict, metadata={"help": _BINS})
    person: str | None = reading_option(
        default=None,
        text="Column that identifies people: each counts once, however many rows they have. row: "
        "every row is one person.",
    )
    household: str | None = reading_option(
        default=None,
        text="Column that identifies households: guarantees count these instead of rows.",
    )
    drop: tuple[str, ...] = reading_option(default=(), text="Columns to drop, separated by commas.")
    exact: bool = reading_option(
        default=False,
        text="Read numbers with fractions as they are written, without bins. Generalize "
        "does this by itself.",
    )
    one_hot: tuple[str, ...] = reading_option(
        default=(),
        text="Columns to one-hot encode (one 0/1 column per value). The values are "
        "published as column names.",
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(GraphOptions):
    """How files are read as a network: edges, and what is said of people."""

    directed: Directions = reading_option(  # type: ignore[assignment]  # a network can keep them
        default="refuse",
        text="How to treat a directed file: keep directions, symmetrize (drop them), or refuse.",
    )
    nodes: Path | None = reading_option(
        default=None,
        text="File listing every node id, to keep isolated nodes; further columns are "
        "attributes. Under differential privacy this list counts as public, so it "
        "must not be derived from the edges.",
    )
    node_column: str | None = reading_option(
        default=None, text="Column with ids in the node file. Default: the first."
    )
    kind_column: str | None = reading_option(
        default=None,
        text="Column or attribute with the type of each edge, by name or number (from "
        "1). Group numbers with --bins.",
    )
    kinds: tuple[str, ...] = reading_option(
        default=(), text="Edge types to read, separated by commas. [default: all]"
    )
    undirected: tuple[str, ...] = reading_option(
        default=(), text="Undirected edge types, separated by commas, if the others are directed."
    )
    drop: tuple[str, ...] = reading_option(
        default=(), text="Columns or attributes to drop, separated by commas."
    )
    bins: Mapping[str, str] = field(default_factory=dict, metadata={"help": _BINS})
    suppressed: tuple[str, ...] = reading_option(default=("*", ""), text=_SUPPRESSED)
    categories: tuple[str, ...] = reading_option(default=(), text=_CATEGORIES)

    @property
    def column_of_kinds(self) -> str | None:
        """The column that says of which kind an edge is."""
        return self.kind_column

    @property
    def of_people(self) -> TableOptions:
        """How the file of nodes is read: it is a table whose ids are those of nodes."""
        return TableOptions(
            ids=self.node_column,
            encoding=self.encoding,
            suppressed=self.suppressed,
            categories=self.categories,
            bins={name: rule for name, rule in self.bins.items() if name != self.kind_column},
            drop=self.drop,
        )


AnyOptions = GraphOptions | BipartiteOptions | TableOptions | NetworkOptions


def recorded(options: AnyOptions) -> dict[str, Any]:
    """Return reading options for the private record; the names of files stay out of it."""
    kept = asdict(options)
    return {name: value for name, value in kept.items() if not isinstance(value, Path)}


def from_record(defaults: AnyOptions, kept: Mapping[str, Any]) -> AnyOptions:
    """Return the reading options of a private record; unknown names are omitted."""
    names = {item.name for item in fields(defaults)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept.items()
        if name in names
    }
    return replace(defaults, **values)


_OPTIONS: Mapping[str, type[AnyOptions]] = {
    "graph": GraphOptions,
    "bipartite": BipartiteOptions,
    "table": TableOptions,
    "network": NetworkOptions,
}
"""The reading options of each kind of data, by the name of the kind."""


def options_of(kind: Kind) -> type[AnyOptions]:
    """Return the class of the options with which a kind is read.

    Parameters
    ----------
    kind
        The kind.

    Returns
    -------
    type
        The class of its reading options.

    Examples
    --------
    >>> options_of(KINDS["table"]).__name__
    'TableOptions'
    """
    return _OPTIONS[kind.name]


def kind_read(options: AnyOptions) -> Kind:
    """Return the kind of data that these options read.

    Parameters
    ----------
    options
        Reading options of some kind.

    Returns
    -------
    Kind
        The kind whose options these are.

    Examples
    --------
    >>> kind_read(TableOptions()).name
    'table'
    """
    return next(kind for kind in KINDS.values() if options_of(kind) is type(options))
