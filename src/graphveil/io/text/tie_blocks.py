"""Files of edges that are read some rows at a time, in Parquet, Arrow or delimited text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from graphveil.core.errors import UsageError
from graphveil.core.hints import option
from graphveil.data.ids import Ids, as_ids
from graphveil.data.ids import distinct as in_order
from graphveil.io.formats import GraphOptions
from graphveil.io.parsed import ReadCounts
from graphveil.io.readers import delimited
from graphveil.io.readers.columnar import frame_says_directed, opened_frame, two_of_frame
from graphveil.io.source import Source
from graphveil.io.text.columns import labels_of
from graphveil.io.text.dialect import Dialect, sniff
from graphveil.io.text.header import check_no_second_header
from graphveil.io.text.layouts import layout_of

TEXT_FORMATS = ("csv", "tsv", "text")
FRAME_FORMATS = ("parquet", "arrow")
_BYTES_A_ROW = 12
"""How many bytes a row of a text file takes at least, as a rule: two ids of five digits."""


class Ends(NamedTuple):
    """The two ends of some edges: Arrow arrays, both of int64 or both of text."""

    source: pa.Array
    target: pa.Array


@dataclass
class TieFile(ABC):
    """A file of edges; `directed` is None if it says nothing, `notes` are of the last reading."""

    source: Source
    options: GraphOptions
    notes: ReadCounts = field(default_factory=ReadCounts)
    text: bool = False
    directed: bool | None = None
    names: tuple[str, ...] = ()
    skipped: int = 0

    def ends(self) -> Iterator[Ends]:
        """Yield all rows but those that are skipped, some at a time, in their order."""
        skipped = self.skipped
        for ends in self._rows():
            yield Ends(*(column.slice(skipped) for column in ends)) if skipped else ends
            skipped -= min(skipped, len(ends.source))

    @abstractmethod
    def _rows(self) -> Iterator[Ends]:
        """Yield all rows, some at a time."""

    @abstractmethod
    def rows_expected(self) -> int:
        """Return about how many rows there are; exactly, where the file says it."""

    def labels(self, distinct: pa.Array) -> Ids:
        """Return the ids in order, once those in text are known to be none that is refused."""
        return in_order(as_ids(distinct, what="ids"))


@dataclass
class FrameOfTies(TieFile):
    """Edges in a Parquet or Arrow file."""

    def __post_init__(self) -> None:
        """Choose the two columns, and look whether directions are said."""
        with opened_frame(self.source) as frame:
            self.names = two_of_frame(frame, self.notes, self.options)
            self.directed = frame_says_directed(frame, self.names) or None
            self.text = any(frame.is_text(name) for name in self.names)
            self._n_rows = frame.n_rows()

    def _rows(self) -> Iterator[Ends]:
        self.notes.rows = 0
        left, right = self.names
        with opened_frame(self.source) as frame:
            for batch in frame.batches((left, right)):
                self.notes.rows += batch.num_rows
                ids = [frame.ids(batch.column(i), name) for i, name in enumerate((left, right))]
                yield Ends(*(column.cast(pa.string()) for column in ids) if self.text else ids)

    def rows_expected(self) -> int:
        """Return the rows that the file states; else as many as fit into it as integers."""
        return self._n_rows if self._n_rows is not None else self.source.n_bytes // 16


@dataclass
class TextOfTies(TieFile):
    """Edges in delimited text."""

    def __post_init__(self) -> None:
        """Look how lines become cells, and which two of them count."""
        if layout_of(self.source) is not None:
            self.source.refuse(
                "this layout (adjacency lists, or attributes in braces) cannot be read in pieces. "
                f"Convert the file to csv with graphveil convert, or remove {option('on_disk')}."
            )
        check = sniff(self.source, self.options.header, delimiter=self.options.delimiter)
        delimited.check_konect(check)
        self.dialect: Dialect = check
        self.notes = ReadCounts(header=check.header, inferred=check.inferred)
        self.notes.declared = delimited.declared_counts(check)
        self._chosen = delimited.chosen_columns(check, self.options, self.notes)
        self.directed = delimited.says_directed(check, self._chosen)
        self.names = delimited.names_of_ends(self._chosen, check.header, self.notes.header)

    def _rows(self) -> Iterator[Ends]:
        for table in delimited.bipartite_batches(
            self.dialect, self._chosen, self.notes, text=self.text
        ):
            left, right = table.combine_chunks().columns
            yield Ends(left.combine_chunks(), right.combine_chunks())

    def rows_expected(self) -> int:
        """Return as many rows as there may be, by the length of the file."""
        packed = 1 if self.source.compression is None else 4
        return packed * self.source.n_bytes // _BYTES_A_ROW

    def labels(self, distinct: pa.Array) -> Ids:
        """Return the ids in order: integers where all spell one; refuse what is not an id."""
        if not self.text:
            return super().labels(distinct)
        labels = labels_of(self.dialect, self._chosen, distinct, self.notes)
        check_no_second_header(self.dialect, self.options.header, self._chosen, (labels, labels))
        return labels

    @property
    def may_begin_with_counts(self) -> bool:
        """Whether the first row may give the numbers of nodes and of edges."""
        asked = self.options.header == "no"
        return not (self.notes.header or self.dialect.marked or asked)


def tie_file(source: Source, options: GraphOptions) -> TieFile:
    r"""Return a file of edges, once it is one that can be read some rows at a time."""
    name = source.format.name
    if name in FRAME_FORMATS:
        return FrameOfTies(source, options)
    if name in TEXT_FORMATS:
        return TextOfTies(source, options)
    raise UsageError(
        f"{name} cannot be read in pieces. Use one of "
        f"{', '.join((*TEXT_FORMATS, *FRAME_FORMATS))}, or remove --on-disk."
    )
