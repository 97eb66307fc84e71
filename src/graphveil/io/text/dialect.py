"""How a text file separates its cells, and whether its first line names the columns.

Both are read from the first `SAMPLE_LINES` lines, and expected of all others.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from graphveil.core.hints import either, option
from graphveil.core.text import counted
from graphveil.data.codes import NUMBER
from graphveil.data.columns import known_pairs, plain
from graphveil.io.formats import Header, name_without_compression
from graphveil.io.source import Source, shown

WHITESPACE = " "
"""Stands for a delimiter of any white space."""

MARKS = {"# source\ttarget": ("source", "target"), "# user\titem": ("user", "item")}
"""First lines of text that graphveil writes: remarks to other readers, names of columns to us."""

SAMPLE_LINES = 200
"""The rows at the top of a file that show its delimiter, its header and its layout."""

_ORDER = {"csv": ",;\t|", "tsv": "\t,;|", "text": "\t,;|"}
_ATTRIBUTES = re.compile(r"""^(.*?)\{\s*(?:\}|(['"]).+?\2\s*:.*\})\s*$""")
"""A line that ends in a dictionary, as Python writes one; what stands before it."""

_LIST_NAMES = frozenset({"id", "ids", "node", "vertex", "name", "user", "person", "item", "member"})
"""Names of the only column of a file that lists ids, as `plain` gives them."""

DOUBLE = "::"
"""A delimiter of two characters; a parser that knows those of one only sees `STANDS_FOR_DOUBLE`."""

STANDS_FOR_DOUBLE = "\x1f"
_SINGLE = "!$&'()*+,-./:;<=>?@[]^_`{|}~"
_SPELLED = {"tab": "\t", "\\t": "\t", "space": WHITESPACE, DOUBLE: DOUBLE}
_SPELLED |= {"comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class Dialect:
    """How the lines of a source become cells.

    `spaced`: a space follows every delimiter and is not a part of the cells; `widths`: of the first
    lines but the names; `plain_only`: 007 is not an integer; `undecided`: the first line may be
    names; `marked`: its names of `MARKS`, below which all is data.
    """

    source: Source
    delimiter: str
    n_columns: int
    header: tuple[str, ...]
    spaced: bool
    widths: frozenset[int]
    comments: tuple[str, ...] = ()
    plain_only: bool = True
    inferred: bool = False
    undecided: bool = False
    marked: tuple[str, ...] = ()

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line."""
        return [cell.strip() for cell in split(line, self.delimiter)]


def split(line: str, delimiter: str) -> list[str]:
    """Return the pieces of a line as they stand."""
    if delimiter == WHITESPACE:
        return line.split()
    if '"' not in line or delimiter == DOUBLE:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=False), [])
    except csv.Error:
        return line.split(delimiter)


def sniff(
    source: Source,
    header: Header,
    *,
    delimiter: str | None = None,
    spaces: bool = True,
    comments: bool = True,
) -> Dialect:
    """Return the dialect of a file.

    Without `spaces`, white space separates nothing; without `comments`, no line is one.
    """
    # Files that graphveil wrote say what they are in their first line.
    lines, remarks = _first_lines(source, comments=comments)
    marked = MARKS.get(remarks[0], ()) if remarks and header == "auto" and not delimiter else ()
    if marked and all(len(split(line, "\t")) == 2 for line in lines):
        return Dialect(source, "\t", 2, (), False, frozenset({2}), tuple(remarks), marked=marked)
    if not lines:
        source.refuse("the file is empty. Give a file with data.")
    if re.fullmatch(r"sep=.", lines[0].strip()):
        source.refuse(
            (f"{lines[0].strip()} is a spreadsheet directive, not data. Remove this line."), line=1
        )
    # The delimiter: the one asked for, else the one under which most lines are equally wide.
    separator = _spelled(source, delimiter)
    if separator is None:
        order = [*_ORDER.get(source.format.name, ",\t;|"), DOUBLE]
        separator = _delimiter(lines, order, fallback=WHITESPACE if spaces else order[0])
    if spaces:
        _refuse_attributes(source, lines, separator)
    # The first row: names, data, or undecided until all rows are read.
    rows = [split(line, separator) for line in lines]
    kind: str = "data" if lists_pairs(source) else "asked"
    if header == "auto" and kind != "data":
        kind = _first_row(source, rows)
    named = header == "yes" or kind in ("known", "inferred")
    # The width of most rows below counts; others are refused later, each with its line.
    data = rows[1:] if named else rows
    widths = Counter(len(row) for row in data) or Counter([len(rows[0])])
    return Dialect(
        source,
        delimiter=separator,
        n_columns=widths.most_common(1)[0][0],
        header=tuple(cell.strip() for cell in rows[0]) if named else (),
        spaced=_is_spaced(data or rows, lines, separator),
        widths=frozenset(widths),
        comments=tuple(remarks),
        inferred=kind == "inferred",
        undecided=kind == "undecided",
    )


def lists_pairs(source: Source) -> bool:
    """Whether a file is NCOL by its name: two ids and perhaps a weight in each line, no names."""
    return name_without_compression(source.parts[0].path).endswith(".ncol")


def _first_lines(source: Source, *, comments: bool) -> tuple[list[str], list[str]]:
    """Return the first lines of data, and the comments before and among them."""
    remarks: list[str] = []
    lines: list[str] = []
    for _, line in islice(source.lines(), 100_000):
        stripped = line.strip()
        if comments and stripped.startswith(("#", "%")):
            remarks.append(stripped)
        elif stripped:
            lines.append(line)
        if len(lines) == SAMPLE_LINES:
            break
    return lines, remarks


def _spelled(source: Source, delimiter: str | None) -> str | None:
    """Return the delimiter that an option spells."""
    if delimiter is None or delimiter in _SPELLED.values():
        return delimiter
    if delimiter.lower() in _SPELLED:
        return _SPELLED[delimiter.lower()]
    if len(delimiter) == 1 and delimiter in _SINGLE:
        return delimiter
    return source.refuse(
        f"{shown(delimiter)!r} is not a valid {option('delimiter')}. Use one character such as "
        "|, or ::, tab or space."
    )


def _refuse_attributes(source: Source, lines: list[str], separator: str) -> None:
    """Refuse edges with attributes in braces behind them that would become cells or ids."""
    braces = [match for line in lines if (match := _ATTRIBUTES.search(line))]
    if not braces:
        return
    parted = all(len(split(match[1].strip(), separator)) > 1 for match in braces)
    if parted and len({len(split(line, separator)) for line in lines}) == 1:
        return
    source.refuse(
        f"edge attributes in braces ({shown(braces[0].group().strip())}), as "
        "networkx.write_edgelist writes them, cannot be read. Write the edges only, with "
        "networkx.write_edgelist(graph, path, data=False), or attributes as columns, with "
        "data=['weight', 'date']."
    )


def _is_spaced(rows: list[list[str]], lines: list[str], delimiter: str) -> bool:
    quoted_space = f'{delimiter}" '
    return (
        delimiter != WHITESPACE
        and max(map(len, rows)) > 1
        and all(cell.startswith(" ") for row in rows for cell in row[1:])
        and not any(quoted_space in line for line in lines)
    )


def _first_row(
    source: Source, rows: list[list[str]]
) -> Literal["known", "inferred", "data", "undecided"]:
    """Return what the first row is: known names, words above numbers, data, or either."""
    # Known names of columns decide.
    first = [cell.strip() for cell in rows[0]]
    if known_pairs(first, graph=True) or (len(first) == 1 and plain(first[0]) in _LIST_NAMES):
        return "known"
    # Otherwise compare with the cells below: words above numbers are names.
    above = {"names": "", "data": ""}
    numbers_below = False
    for column, cell in enumerate(first):
        below = [row[column].strip() for row in rows[1:] if column < len(row)]
        below = [other for other in below if other]
        if cell and below and all(re.fullmatch(NUMBER, other) for other in below):
            numbers_below = True
            above["data" if re.fullmatch(NUMBER, cell) else "names"] = cell
    if above["names"] and above["data"]:
        source.refuse(
            "cannot tell whether the first line holds names or data: numbers follow below "
            f"{shown(above['names'])} and below {shown(above['data'])}. "
            f"{either('header', 'yes', 'no')}"
        )
    if numbers_below:
        return "inferred" if above["names"] else "data"
    words = len(first) == 2 and not any(re.fullmatch(NUMBER, cell) for cell in first)
    return "undecided" if len(rows) > 1 or words else "data"


def _delimiter(lines: list[str], order: list[str], fallback: str) -> str:
    """Return the delimiter under which most lines have the same number of cells, two or more."""
    best, share = order[0] if order[0] == "," else fallback, 0
    for candidate in (*order, fallback):
        counts = Counter(len(split(line, candidate)) for line in lines)
        wide = max((seen for width, seen in counts.items() if width > 1), default=0)
        if wide > share:
            best, share = candidate, wide
    return best


def expect_width(number: int, line: str, dialect: Dialect) -> list[str]:
    """Return the cells of a line, refused where their number is not that of the first lines."""
    cells = dialect.cells(line)
    if len(cells) != dialect.n_columns:
        dialect.source.refuse(
            f"{counted(len(cells), 'cell')} instead of {dialect.n_columns} "
            f"({shown(line.strip())}). Correct the line.",
            line=number,
        )
    return cells
