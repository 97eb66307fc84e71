"""How a text file separates its cells, whether it has a header, and what its columns hold.

Delimiter and header are read from the first lines, and expected of all others. The names of columns
tell whether a file holds a graph, or users and items.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import InputError, either, option
from graphveil.core.lazy import lazy_module
from graphveil.core.text import counted
from graphveil.data import Bipartite, Table
from graphveil.data.codes import NUMBER
from graphveil.data.columns import known_pairs, plain
from graphveil.data.ids import Ids, to_arrow
from graphveil.data.kinds import Container, kinds_named
from graphveil.io.formats import Header, format_of, name_without_compression, parts_of
from graphveil.io.parsed import ParsedColumn, encoded, ids_of
from graphveil.io.source import Source, shown

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet
else:
    pa = lazy_module("pyarrow")
    parquet = lazy_module("pyarrow.parquet")

WHITESPACE = " "
MARKS = {"# source\ttarget": ("source", "target"), "# user\titem": ("user", "item")}
"""First lines of text that graphveil writes: remarks to other readers, names of columns to us."""
_SAMPLE = 200
_ORDER = {"csv": ",;\t|", "tsv": "\t,;|", "text": "\t,;|"}
_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)
_ROW = re.compile(rb"^[ \t]*[^#%\s]", re.MULTILINE)
_BLANK_LINE = re.compile(rb"^ +(?=\r?$)", re.MULTILINE)
_QUOTED_BLANK = re.compile(rb'"[ \t]|[ \t]"')
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
_BLANK, _BREAK = 1, 2
_STEP = 1 << 18
_ZERO, _POINT = ord("0"), ord(".")
_KIND = bytes(
    _BREAK if code == ord("\n") else _BLANK if code in b"\t\v\f\r " else 0 for code in range(256)
)


_DICTIONARY = re.compile(r"^(?P<ids>.*?)\s*(?P<said>\{.*\})\s*$")
_BY_NETWORKX = re.compile(r"#\s*GMT\s")
"""A remark that NetworkX writes above adjacency lists, and above nothing else."""

_LAYOUTS = {".adjlist": "adjacency", ".lgl": "lgl"}


class Line(NamedTuple):
    """A line other than a remark: its number, the words before a dictionary, and the dictionary."""

    number: int
    words: list[str]
    said: str | None


def layout_of(source: Source) -> str | None:
    """Return which of these layouts a text file has; None where its lines are plain rows."""
    lines = list(islice(listed_lines(source), _SAMPLE))
    ends_in_braces = [line for line in lines if line.said is not None]
    if ends_in_braces and len(ends_in_braces) == len(lines):
        return "edges" if all(len(line.words) == 2 for line in lines) else None
    if ends_in_braces and _counts_what_follows(lines):
        return "multi-line"
    name = name_without_compression(source.path)
    named = next((layout for ending, layout in _LAYOUTS.items() if name.endswith(ending)), None)
    if named is None and not ends_in_braces and len({len(line.words) for line in lines}) > 1:
        remarks = (line for _, line in islice(source.lines(), 10) if line.startswith("#"))
        return "adjacency" if any(map(_BY_NETWORKX.match, remarks)) else None
    return named


def listed_lines(source: Source) -> Iterator[Line]:
    """Yield the lines of a file that are neither empty nor remarks."""
    commas = None  # NetworkX may write them between ids, and before a dictionary, too
    for number, line in source.lines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _DICTIONARY.match(stripped)
        ids = stripped if match is None else match["ids"]
        if commas is None and len(ids.replace(",", " ").split()) > 1:
            commas = "," in ids
        words = map(str.strip, ids.removesuffix(",").split(",")) if commas else ids.split()
        yield Line(number, list(words), match and match["said"])


def _counts_what_follows(lines: list[Line]) -> bool:
    """Whether lines without a dictionary say how many lines with one follow."""
    due = 0
    for line in lines:
        if line.said is None:
            if due or len(line.words) != 2 or not line.words[1].isdigit():
                return False
            due = int(line.words[1])
        elif not due or len(line.words) != 1:
            return False
        else:
            due -= 1
    return True


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
    separator = _spelled(source, delimiter)
    if separator is None:
        order = [*_ORDER.get(source.format.name, ",\t;|"), DOUBLE]
        separator = _delimiter(lines, order, fallback=WHITESPACE if spaces else order[0])
    if spaces:
        _refuse_attributes(source, lines, separator)
    rows = [split(line, separator) for line in lines]
    kind: str = "data" if lists_pairs(source) else "asked"
    if header == "auto" and kind != "data":
        kind = _first_row(source, rows)
    named = header == "yes" or kind in ("known", "inferred")
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


def names_again(source: Source, header: Header) -> tuple[int, ...]:
    """Return how many lines of each part are omitted, since they name columns again."""
    tops = [_top(part, comments=header == "auto") for part in source.parts]
    (_, first), *others = tops
    same = all(line == first for _, line in others)
    begins = [sniff(part, "auto") for part in source.parts] if header == "auto" else []
    named = [bool(begin.header) for begin in begins] or [True] * len(tops)
    if same and others and any(begin.undecided for begin in begins):
        source.refuse(
            f"each of the {len(tops)} parts begins with {shown(first)}. Use "
            f"{option('header', 'yes')} if these are names, or {option('header', 'no')} if "
            "they are data."
        )
    if not any(named):
        return ()
    for part, (number, line), names in zip(source.parts, tops, named, strict=True):
        if line != first and names:
            part.refuse(
                f"the first line is {shown(line)}, but {source.parts[0].name} begins with "
                f"{shown(first)}. Give all parts the same columns, or use "
                f"{option('header', 'no')} if they have no names.",
                line=number,
            )
    return (0, *(number if line == first else 0 for number, line in others))


def _top(source: Source, *, comments: bool) -> tuple[int, str]:
    """Return the number and the text of the first line that is neither empty nor a comment."""
    for number, line in source.lines():
        stripped = line.strip()
        if stripped and not (comments and stripped.startswith(("#", "%"))):
            return number, stripped
    return 0, ""


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
        if len(lines) == _SAMPLE:
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
    first = [cell.strip() for cell in rows[0]]
    if known_pairs(first, graph=True) or (len(first) == 1 and plain(first[0]) in _LIST_NAMES):
        return "known"
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


def without_comments(chunk: bytes) -> tuple[bytes, int]:
    """Return the lines with comments emptied, and the number of comments."""
    if b"#" not in chunk and b"%" not in chunk:
        return chunk, 0
    return _COMMENT.subn(b"", chunk)


def comments_below_rows(chunk: bytes, *, begun: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the position among the lines, and the text, of comments below the first row."""
    row = _ROW.search(chunk)
    start = 0 if begun else row.start() if row else len(chunk)
    line, at = 0, 0
    for comment in _COMMENT.finditer(chunk, start):
        line += chunk.count(b"\n", at, comment.start())
        at = comment.start()
        yield line, comment.group()


def without_blank_lines(chunk: bytes) -> bytes:
    """Return the lines with those emptied that hold spaces alone."""
    return _BLANK_LINE.sub(b"", chunk) if b"\n " in chunk or chunk.startswith(b" ") else chunk


def single_spaced(chunk: bytes) -> bytes:
    """Return lines whose cells are separated by one space, whatever white space there was."""
    ragged = (b"\t", b"\r", b"  ", b" \n", b"\n ", b"\v", b"\f")
    if not any(mark in chunk for mark in ragged) and not chunk.startswith(b" "):
        return chunk.removesuffix(b" ")
    text = np.frombuffer(chunk, dtype=np.uint8)
    kind = np.frombuffer(chunk.translate(_KIND), dtype=np.uint8)
    before = np.empty_like(kind)
    before[0] = _BREAK
    before[1:] = kind[:-1]
    keep = (kind != _BLANK) | (before == 0)
    text, kind = text[keep], kind[keep]
    after = np.full_like(kind, _BREAK)
    after[:-1] = kind[1:]
    keep = (kind != _BLANK) | (after == 0)
    text, kind = text[keep], kind[keep]
    text[kind == _BLANK] = 32
    spaced: bytes = text.tobytes()
    return spaced


def may_not_be_plain(chunk: bytes) -> bool:
    """Whether a number may be spelled in a way that an integer would not keep.

    Such are 007, 0x1F, -0, and 5 with a space inside its quotes.
    """
    if any(mark in chunk for mark in (b"x", b"X")) or (b"-" in chunk and b"-0" in chunk):
        return True
    if b'"' in chunk and _QUOTED_BLANK.search(chunk):
        return True
    text = np.frombuffer(b"\n" + chunk + b"\n", dtype=np.uint8)
    for start in range(0, text.size - 2, _STEP):
        before = text[start : start + _STEP][: text.size - 2 - start]
        here = text[start + 1 : start + 1 + before.size]
        after = text[start + 2 : start + 2 + before.size]
        leading = (here == _ZERO) & (after - _ZERO < 10) & (before - _ZERO >= 10)
        if np.any(leading & (before != _POINT)):
            return True
    return False


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


ENOUGH_ROWS = 10
"""So many rows after the first one show whether it is different from them."""


def first_row_is_names(
    source: Source, left: ParsedColumn, right: ParsedColumn, *, shared: bool
) -> bool:
    """Whether the first row of text names the columns; refused where the rows do not show it.

    Its cells are names if they stand nowhere else while every other row shares an id with some
    row, of `ENOUGH_ROWS` at least. If they stand elsewhere, they are ids. If other rows stand as
    alone, or there are few, nobody can tell.
    """
    alone = _alone(left, right, shared=shared)
    if not alone[0]:
        return False
    if np.count_nonzero(alone) == 1 and alone.size > ENOUGH_ROWS:
        return True
    cells = [str(column.labels[column.codes[0]]) for column in (left, right)]
    return refuse_undecided(source, cells)


def refuse_undecided(source: Source, cells: list[str]) -> NoReturn:
    """Refuse a first row that may be names of columns or data."""
    source.refuse(
        f"cannot tell whether the first line ({shown(', '.join(cells))}) holds names or data: "
        f"its ids occur nowhere else. {either('header', 'yes', 'no')}"
    )


def _alone(left: ParsedColumn, right: ParsedColumn, *, shared: bool) -> NDArray[np.bool_]:
    """Return which rows hold two ids that stand in no other row."""
    if shared:
        counts = np.bincount(left.codes, minlength=left.labels.size)
        counts += np.bincount(right.codes, minlength=right.labels.size)
        return np.asarray((counts[left.codes] == 1) & (counts[right.codes] == 1))
    here, there = (np.bincount(column.codes) for column in (left, right))
    return np.asarray((here[left.codes] == 1) & (there[right.codes] == 1))


def without_first_row(
    left: ParsedColumn, right: ParsedColumn, *, shared: bool
) -> tuple[ParsedColumn, ParsedColumn]:
    """Return both columns without their first row, and without the labels that stood there alone.

    >>> from graphveil.data.ids import text
    >>> one, two = encoded(text(["ego", "ann"])), encoded(text(["tie", "tea"]))
    >>> [column.labels.tolist() for column in without_first_row(one, two, shared=False)]
    [['ann'], ['tea']]
    """
    if shared:
        both = encoded_again(np.concatenate([left.codes[1:], right.codes[1:]]), left.labels)
        n = left.codes.size - 1
        return ParsedColumn(both.codes[:n], both.labels), ParsedColumn(both.codes[n:], both.labels)
    return encoded_again(left.codes[1:], left.labels), encoded_again(right.codes[1:], right.labels)


def encoded_again(codes: NDArray[np.int32], labels: Ids) -> ParsedColumn:
    """Return a column over those of its labels that it holds; integers where all spell one now."""
    used = np.zeros(labels.size, dtype=np.bool_)
    used[codes] = True
    position = (np.cumsum(used) - 1).astype(np.int32)
    kept = _retyped(labels[used])
    if kept.dtype.kind == labels.dtype.kind:
        return ParsedColumn(position[codes], kept)
    order = encoded(kept)
    return ParsedColumn(order.codes[position[codes]], order.labels)


def _retyped(labels: Ids) -> Ids:
    """Return text labels as integers where all of them spell one."""
    return labels if labels.dtype.kind == "i" else ids_of(to_arrow(labels))


def check_no_second_header(
    dialect: Dialect, header: Header, chosen: tuple[int, int], ids: tuple[Ids, Ids]
) -> None:
    """Refuse a file in which the names of its first line stand again, as a line or as ids.

    Names that were demanded may also be ids.
    """
    if not dialect.header or all(labels.dtype.kind == "i" for labels in ids):
        return
    names = [dialect.header[column] for column in chosen]
    again = [name for name, labels in zip(names, ids, strict=True) if _holds(labels, name)]
    check_names_again(dialect, header, again)


def _holds(labels: Ids, name: str) -> bool:
    return labels.dtype.kind != "i" and bool(np.any(labels == name))


def rows_below(dialect: Dialect) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every row below the names of columns."""
    rows = (
        (n, line)
        for n, line in dialect.source.lines()
        if line.strip() and line.lstrip()[0] not in "#%"
    )
    return islice(rows, bool(dialect.header), None)


def check_names_again(dialect: Dialect, header: Header, again: list[str]) -> None:
    """Refuse names of columns that are also ids there, as `check_no_second_header` says."""
    if not again:
        return
    for number, line in rows_below(dialect):
        if tuple(dialect.cells(line)) == dialect.header:
            dialect.source.refuse(
                "the header is repeated here, as if files were concatenated. Remove the line.",
                line=number,
            )
    if header == "auto" and (len(again) == 2 or len(again[0]) == 1):
        dialect.source.refuse(
            f"cannot tell whether the first line ({shown(', '.join(dialect.header))}) holds names "
            f"or data: {shown(again[0])} also occurs as an id. {either('header', 'yes', 'no')}"
        )


def refuse_first_id(dialect: Dialect, first: str) -> NoReturn:
    """Refuse the first line of a list of ids, which may be names of columns or an id."""
    if dialect.n_columns == 1:
        dialect.source.refuse(
            f"the first line ({shown(first)}) could be a column name or an id that is not in "
            "the data. Put a line with id above it, or remove it.",
            line=1,
        )
    _, line = next((n, text) for n, text in dialect.source.lines() if text.strip())
    cells = ", ".join(map(shown, dialect.cells(line)))
    dialect.source.refuse(
        f"a list of ids must have one column, but this file has {dialect.n_columns}: {cells}. "
        "Give only the ids, below a line with id.",
        line=1,
    )


TEXT = ("csv", "tsv", "text")

SHOWN = 5
"""So many names of columns stand in a message."""

MANY = 3
"""A file of more columns is probably a table, where their names say nothing else."""

PAIR = 2
"""So many columns of words are the ends of edges; a third has no weight."""

USE_A_TABLE, PAIRS = "a method for tables", "are pairs, not a table"
"""How the refusals of files of a different kind than asked for say which kind it is."""

PROBABLY_A_TABLE = "with so many columns, it is probably a table"


class Guess(NamedTuple):
    """What a file holds by its columns; `kind` is None where it must be asked: `found` says why."""

    kind: Container | None
    found: str
    probably: Container | None = None


class Columns(NamedTuple):
    """What the columns of a file say; `unnamed`: how many, where the first line names none.

    `worded`: whether its cells are words, which may be names above words.
    """

    names: tuple[str, ...]
    kind: Container | None
    unnamed: int = 0
    worded: bool = False

    def guess(self, kinds: Sequence[Container]) -> Guess:
        """Return what the file holds by its columns, the first of these kinds where it has none."""
        if self.kind in kinds:
            return Guess(self.kind, f"its columns ({first(self.names)}) say so")
        if len(self.names) == 1 and Table in kinds:
            return Guess(Table, "it has one column, and edges or entries need two")
        if self.names:
            found = f"its columns ({first(self.names)}) do not show what kind of data it holds"
        else:
            found = f"{self.unnamed} columns without names do not show what kind of data the file "
            found += "holds"
        many = Table in kinds and max(len(self.names), self.unnamed) > MANY
        words = Table in kinds and self.worded and self.unnamed > PAIR
        if words and not many:
            found = f"{self.unnamed} columns of words do not show what kind of data the file holds"
        if self.names or many or words:
            return Guess(None, found, Table if many else None)
        return Guess(kinds[0], "its rows are pairs without column names")


def first(names: Sequence[str]) -> str:
    """Return the first names of columns, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def columns_of(
    path: Path, form: str | None, *, header: Header = "auto", delimiter: str | None = None
) -> Columns:
    r"""Return what the columns of a file say that it holds."""
    try:
        names, listed, unnamed, worded = _names(path, form, header, delimiter)
    except (InputError, OSError, pa.ArrowInvalid):
        return Columns((), None)
    kinds = [Bipartite] if listed else [kind.container for kind in kinds_named(names)]
    return Columns(names, kinds[0] if len(kinds) == 1 else None, unnamed, worded)


def _names(
    path: Path, form: str | None, header: Header, delimiter: str | None
) -> tuple[tuple[str, ...], bool, int, bool]:
    """Return the names of the columns, whether one holds lists, how many have no names, or may."""
    path = parts_of(path)[0]
    known = format_of(path, form)
    if known.name in TEXT:
        dialect = sniff(Source(path, known), header, delimiter=delimiter)
        names = dialect.header or dialect.marked
        rows = known.name != "text" and len(dialect.widths) == 1 and not names
        return names, False, dialect.n_columns if rows else 0, dialect.undecided
    if known.name not in ("parquet", "arrow"):
        return (), False, 0, False
    with pa.OSFile(os.fsencode(path)) as stream:
        read = parquet.read_schema if known.name == "parquet" else _arrow_schema
        schema = read(stream)
    return tuple(schema.names), any(pa.types.is_nested(field.type) for field in schema), 0, False


def _arrow_schema(stream: pa.NativeFile) -> pa.Schema:
    return pa.ipc.open_file(stream).schema
