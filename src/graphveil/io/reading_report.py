"""What was read of a file, and what was omitted on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from graphveil.core.hints import Message, mapping, option, several
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedWarning
from graphveil.data import Bipartite
from graphveil.data.id_columns import naming_question
from graphveil.data.kinds import kind_of
from graphveil.data.origin import left_out_words
from graphveil.data.spellings import two_ids
from graphveil.io.formats import FORMATS

D = TypeVar("D")


@dataclass(frozen=True, kw_only=True)
class ReadingReport:
    """What was read, and what was omitted on the way.

    Parameters
    ----------
    kind
        What the file was read as, in words.
    format, compression
        The format that it has.
    parts
        The files that were read: several where a folder was given.
    rows
        Data rows (edges as listed, lines of a table, entries of a matrix).
    header
        The names in the first line, where it was read as names.
    comment_lines
        Lines that begin with ``#`` or ``%``.
    count_line
        The first line where it only gave the numbers of nodes and edges.
    unlike
        What the file declares to hold and what it holds, where these numbers differ.
    self_loops, duplicates, reciprocal_pairs
        Dropped loops, dropped repeats, and edges that the file lists in both directions.
    symmetrized
        Arcs of a directed file that had no reverse and became undirected.
    isolated
        Nodes without an edge, or users without an item.
    columns_ignored
        Columns omitted as weights.
    attributes_ignored
        Attributes of nodes and edges that were omitted.
    inferred
        Whether the first line was taken for names because it differs from what stands below.
    odd_ids, example
        How many ids are not integers while others are, so that all are text; and one of them.
    suppressed_cells
        Cells of a table read as missing: empty, or a text for such cells.
    binned
        Columns whose numbers became categories.
    naming
        Columns of a table that may name people: nearly every row has another value.
    many_numbers
        Columns of a table with many different numbers, each of which is a category.
    odd_cells
        Columns of a table that hold numbers or nothing, spelled as text; each with such a cell.
    empty_rows
        Rows of a table in which every cell is suppressed.
    maybe_missing
        Ids that may stand for missing ones, with their numbers.
    total
        The two ids of a row that may be the sum of a spreadsheet.
    look_alike
        Two ids that differ only in how an accent is written.
    spelled_twice
        For each column with two values that may be one in two spellings, what to say of them.
    square
        Whether a matrix was read as a network that may as well be one of users by items.

    Examples
    --------
    >>> ReadingReport(format="csv", rows=5, self_loops=1).lines()
    ['read 5 rows of csv', 'dropped 1 self-loop']
    """

    kind: str = ""
    format: str
    compression: str | None = None
    parts: int = 1
    rows: int = 0
    header: tuple[str, ...] = ()
    comment_lines: int = 0
    count_line: str | None = None
    unlike: str = ""
    self_loops: int = 0
    duplicates: int = 0
    reciprocal_pairs: int = 0
    symmetrized: int = 0
    isolated: int = 0
    columns_ignored: tuple[str, ...] = ()
    attributes_ignored: tuple[str, ...] = ()
    inferred: bool = False
    odd_ids: int = 0
    example: str = ""
    suppressed_cells: int = 0
    binned: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    many_numbers: tuple[str, ...] = ()
    odd_cells: tuple[tuple[str, str], ...] = ()
    empty_rows: int = 0
    maybe_missing: str = ""
    total: str = ""
    look_alike: str = ""
    spelled_twice: tuple[str, ...] = ()
    square: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the columns and attributes that are not in the data."""
        return (*self.columns_ignored, *self.attributes_ignored)

    def lines(self) -> list[Message]:
        """Return a sentence for everything that happened.

        Returns
        -------
        list[Message]
            First what was read, then what was dropped or guessed, then other notes.

        Examples
        --------
        >>> ReadingReport(format="csv", rows=5, isolated=1).lines()
        ['read 5 rows of csv', 'kept 1 node without edges']
        """
        packed = f", {self.compression}" if self.compression else ""
        kind = f" as {self.kind}" if self.kind else ""
        parts = f" in {self.parts:,} parts" if self.parts > 1 else ""
        read = Message(f"read {_many(self.rows, 'row')} of {self.format}{packed}{parts}{kind}")
        return [read, *self._notes()]

    def _odd_ids(self) -> str:
        if self.odd_ids == 1:
            return f"{self.example} is not an integer"
        return f"{self.odd_ids:,} are not integers, such as {self.example}"

    def dropped(self) -> list[Message]:
        """Return a sentence for what is not in the data, what was guessed, and what is to be asked.

        >>> ReadingReport(format="csv", rows=5, reciprocal_pairs=2).dropped()
        []

        Returns
        -------
        list[Message]
            What `warn_of_dropped` warns of.
        """
        is_data = option("header", "no")
        an_edge = f"counts; if it is an edge, use {is_data}"
        named = f"read the first line as column names ({', '.join(self.header)})"
        missing = 'if they mean "missing", remove their rows'
        sentences = [
            (self.count_line, f"skipped the first line ({self.count_line}): it contains {an_edge}"),
            (self.unlike, f"the file declares {self.unlike}: {self._if_complete()}"),
            (self.self_loops, f"dropped {_many(self.self_loops, 'self-loop')}"),
            (self.duplicates, f"dropped {_many(self.duplicates, 'duplicate')}"),
            (self.symmetrized, f"dropped the direction of {_many(self.symmetrized, 'arc')}"),
            (self.inferred, f"{named}: if it is data, use {is_data}"),
            *((True, words) for words in left_out_words(self.left_out)),
            (self.maybe_missing, f"read {self.maybe_missing} as ids: {missing}"),
            (
                self.total,
                f"read {self.total} as ids: if their row is a sum, remove it",
            ),
            (self.look_alike, two_ids(self.look_alike)),
            *((True, words) for words in self.spelled_twice),
            *((True, words) for words in self._odd_columns()),
        ]
        return [Message(sentence) for happened, sentence in sentences if happened]

    def _if_complete(self) -> str:
        """Return what to do where a file does not hold what it declares."""
        listed = "nodes" in self.unlike and not FORMATS[self.format].keeps_isolated
        nodes = f", or list nodes without edges with {option('nodes')}" if listed else ""
        return f"check that it is complete{nodes}"

    def _odd_columns(self) -> list[str]:
        """Return what is to be asked of columns whose values say little as categories."""
        asked = []
        for name in self.naming:
            measures = f"; if it measures something, use {_grouped(name)}"
            asked.append(naming_question(name) + (measures if name in self.many_numbers else ""))
        asked.extend(_odd_cell(name, cell) for name, cell in self.odd_cells)
        others = [name for name in self.many_numbers if name not in self.naming]
        if others:
            asked.append(
                f"every distinct number in {', '.join(others)} is its own category. To group "
                f"them: {_grouped(others[0])}"
            )
        return asked

    def _notes(self) -> list[Message]:
        both = _many(self.reciprocal_pairs, "edge")
        of_users = self.kind == kind_of(Bipartite).words
        who, what = ("user", "items") if of_users else ("node", "edges")
        sentences = [
            (
                self.header and not self.inferred,
                f"read the first line as column names: {', '.join(self.header)}",
            ),
            (
                self.square,
                (
                    "took the square matrix for a network; if its rows are users and its columns "
                    f"items, use {option('kind', 'bipartite')}"
                ),
            ),
            (self.comment_lines, f"skipped {_many(self.comment_lines, 'comment line')}"),
            (self.reciprocal_pairs, f"merged {both} listed in both directions"),
            (self.isolated, f"kept {_many(self.isolated, who)} without {what}"),
            (
                self.odd_ids,
                f"read all ids as text: {self._odd_ids()}",
            ),
            (self.suppressed_cells, f"read {_many(self.suppressed_cells, 'cell')} as missing"),
            (
                self.empty_rows,
                f"counted {_many(self.empty_rows, 'row')} with only missing cells as people",
            ),
            (self.binned, f"binned {', '.join(self.binned)}"),
        ]
        return self.dropped() + [Message(sentence) for happened, sentence in sentences if happened]


class Reading(NamedTuple, Generic[D]):
    """Data, and the report of how it was read.

    Parameters
    ----------
    data
        The container.
    report
        What was read, dropped and guessed.

    Examples
    --------
    >>> Reading("data", ReadingReport(format="csv")).report.format
    'csv'
    """

    data: D
    report: ReadingReport


def _grouped(name: str) -> str:
    return mapping("bins", name, "quantiles:4")


def _odd_cell(name: str, cell: str) -> str:
    """Return the question about a column with a cell that is not a number and stands for one."""
    blank = "cells with only spaces" if cell else "empty cells"
    other = f"{cell} among numbers" if cell.strip() else blank
    say = several("suppressed", *dict.fromkeys(("*", "", cell)))
    return f'column {name} has {other}, read as a category. If it means "missing", use {say}'


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def warn_of_dropped(report: ReadingReport) -> None:
    """Warn once, where something of a file is not in what was read of it."""
    dropped = report.dropped()
    if dropped:
        warn("; ".join(sentence.text for sentence in dropped), DroppedWarning)
