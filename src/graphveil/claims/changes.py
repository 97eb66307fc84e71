"""What a release changed, counted by kind of data: edges, entries or cells.

The base of every method counts it from the input and the output, the checker from the files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from graphveil.claims.manifest import ColumnCells, Generalization
from graphveil.data import SUPPRESSED, Bipartite, Data, Graph, Network, Table
from graphveil.data.csr import in_both
from graphveil.data.ids import same_ids

Figures = dict[str, float | int]


@dataclass(frozen=True)
class Changes(ABC):
    """How much an original has of what is counted, how much of it a release keeps, what is new."""

    what: ClassVar[str]
    """What is counted."""

    names: ClassVar[tuple[str, str, str]]
    """The figures from which all others follow."""

    needed: ClassVar[frozenset[str]]
    """The figures that no record lacks."""

    before: int
    kept: int
    added: int = 0

    @classmethod
    @abstractmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""

    @property
    @abstractmethod
    def figures(self) -> Figures:
        """All figures by name."""

    @property
    def deleted(self) -> int:
        """How many of the original the release lacks."""
        return self.before - self.kept

    @property
    def jaccard(self) -> float:
        """Those of both over those of either; 1 if there are none."""
        either = self.before + self.added
        return self.kept / either if either else 1.0

    @property
    def kept_share(self) -> float | None:
        """Those of both over those of the original; None if it has none."""
        return self.kept / self.before if self.before else None

    @property
    def false_share(self) -> float | None:
        """Those that are new over those of the release; None if the original has none."""
        return self.added / max(self.kept + self.added, 1) if self.before else None


@dataclass(frozen=True)
class EdgeChanges(Changes):
    """The edges of a network, whatever their kind and direction.

    >>> EdgeChanges(before=4, kept=3, added=2).figures
    {'edges_before': 4, 'edges_kept': 3, 'edges_deleted': 1, 'edges_added': 2, 'jaccard': 0.5}
    """

    what: ClassVar[str] = "edges"
    names: ClassVar[tuple[str, str, str]] = ("edges_before", "edges_deleted", "edges_added")
    needed: ClassVar[frozenset[str]] = frozenset(names[1:])

    people_suppressed: int | None = None

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        before, deleted, added = (int(figures[name]) for name in cls.names)
        return cls(before, before - deleted, added)

    @property
    def figures(self) -> Figures:
        """All figures by name."""
        people = self.people_suppressed
        suppressed: Figures = {} if people is None else {"people_suppressed": people}
        return {
            "edges_before": self.before,
            "edges_kept": self.kept,
            "edges_deleted": self.deleted,
            "edges_added": self.added,
            "jaccard": self.jaccard,
            **suppressed,
        }


@dataclass(frozen=True)
class EntryChanges(Changes):
    """The entries of users by features.

    >>> EntryChanges(before=4, kept=3, added=2).figures["jaccard"]
    0.5
    """

    what: ClassVar[str] = "entries"
    names: ClassVar[tuple[str, str, str]] = ("entries_before", "entries_kept", "entries_created")
    needed: ClassVar[frozenset[str]] = frozenset({*names, "entries_suppressed"})

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        return cls(*(int(figures[name]) for name in cls.names))

    @property
    def figures(self) -> Figures:
        """All figures by name."""
        return {
            "entries_before": self.before,
            "entries_kept": self.kept,
            "entries_suppressed": self.deleted,
            "entries_created": self.added,
            "jaccard": self.jaccard,
            "suppressed_share": self.suppressed_share,
            "created_share": self.created_share,
        }

    @property
    def suppressed_share(self) -> float:
        """The entries that are suppressed, over those of the original."""
        return self.deleted / self.before if self.before else 0.0

    @property
    def created_share(self) -> float:
        """The entries that are new, over those of the original."""
        return self.added / self.before if self.before else 0.0


@dataclass(frozen=True)
class CellChanges(Changes):
    """The cells of a table; missing cells are not among those before.

    >>> CellChanges(before=8, kept=6, missing=2).figures
    {'cells': 10, 'stars_before': 2, 'stars_added': 2, 'kept_share': 0.6}
    >>> CellChanges(before=8, kept=5, added=2, missing=2, filled=1).figures["cells_replaced"]
    1
    """

    what: ClassVar[str] = "cells"
    names: ClassVar[tuple[str, str, str]] = ("cells", "stars_before", "stars_added")
    needed: ClassVar[frozenset[str]] = frozenset(names[2:])

    missing: int = 0
    filled: int = 0

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        cells, missing, suppressed = (int(figures[name]) for name in cls.names)
        replaced, filled = (int(figures.get(f"cells_{what}", 0)) for what in ("replaced", "filled"))
        before = cells - missing
        return cls(before, before - suppressed - replaced, replaced + filled, missing, filled)

    @property
    def figures(self) -> Figures:
        """All figures by name; the share is that of all cells. Values added have two of their own.

        These are there only where a cell shows a value that the original does not have there.
        """
        cells, replaced = self.before + self.missing, self.added - self.filled
        share = 1.0 - (self.missing + self.deleted) / cells if cells else 1.0
        added: Figures = {"cells_replaced": replaced, "cells_filled": self.filled}
        return {
            "cells": cells,
            "stars_before": self.missing,
            "stars_added": self.deleted - replaced,
            "kept_share": share,
            **(added if self.added else {}),
        }


def changes_stated(figures: Mapping[str, float]) -> Changes | None:
    """Return the changes that a record's figures state; None if it has none of any kind.

    >>> changes_stated({"edges_before": 10, "edges_deleted": 2, "edges_added": 8, "rounds": 3})
    EdgeChanges(before=10, kept=8, added=8, people_suppressed=None)
    """
    for kind in (EdgeChanges, EntryChanges, CellChanges):
        if figures.keys() >= set(kind.names):
            return kind.stated_in(figures)
    return None


def cost_of(changes: Changes, facts: Mapping[str, float | int]) -> Figures:
    """Return the figures of a record: what changed, and what the method knows."""
    return {**changes.figures, **facts, **changes.figures}  # which no fact replaces


def changes_between(before: Data, after: Data) -> Changes:
    """Return what changed between two containers of a kind; position i is the same person in both.

    >>> path = Graph.from_edges([0, 1], [1, 2], n=4)
    >>> changes_between(path, Graph.from_edges([0, 0], [1, 3], n=4))
    EdgeChanges(before=2, kept=1, added=1, people_suppressed=None)
    """
    if isinstance(before, Table) and isinstance(after, Table):
        places = [before.columns.index(name) for name in after.columns]  # without one of levels
        codes = before.codes if len(places) == before.n_columns else before.codes[:, places]
        missing = int(np.count_nonzero(codes == SUPPRESSED))
        shown = after.codes != SUPPRESSED
        own = [same_ids(before.categories[p], after.categories[c]) for c, p in enumerate(places)]
        added = shown & (after.codes != codes) & np.array(own, dtype=bool)  # else generalized
        filled = int(np.count_nonzero(added & (codes == SUPPRESSED)))
        new = int(np.count_nonzero(added))
        kept = int(np.count_nonzero(shown)) - new
        return CellChanges(codes.size - missing, kept, new, missing, filled)
    if isinstance(before, Bipartite) and isinstance(after, Bipartite):
        kept = in_both(before, after)
        return EntryChanges(before.n_entries, kept, after.n_entries - kept)
    if isinstance(before, Graph) and isinstance(after, Graph):
        kept = in_both(before, after, above=True)
        return EdgeChanges(before.n_edges, kept, after.n_edges - kept)
    if isinstance(before, Network) and isinstance(after, Network):
        kept = sum(
            in_both(one, other, above=not one.directed)
            for one, other in zip(before.layers, after.layers, strict=True)
        )
        people = people_suppressed(before.people, after.people)
        return EdgeChanges(before.n_ties, kept, after.n_ties - kept, people)
    raise TypeError(f"{type(before).__name__} and {type(after).__name__} cannot be compared")


def people_suppressed(before: Table | None, after: Table | None) -> int:
    """Return how many people lack a published attribute that they had.

    >>> sex = Table.from_columns({"sex": ["f", "m", "*"]})
    >>> people_suppressed(sex, Table.from_columns({"sex": ["f", "*", "*"]}))
    1
    """
    if before is None or after is None:
        return 0
    had, has = (
        table.codes[:, [table.columns.index(name) for name in after.columns]] != SUPPRESSED
        for table in (before, after)
    )
    return int(np.count_nonzero((had & ~has).any(axis=1)))


def cells_by_column(released: Table, generalized: Generalization | None) -> list[ColumnCells]:
    """Return what the cells of each column of a released table show.

    >>> [sex] = cells_by_column(Table.from_columns({"sex": ["f", "*"]}), None)
    >>> sex.values, sex.generalized, sex.suppressed
    (1, 0, 1)
    """
    above = frozenset() if generalized is None else generalized.above_values
    stars = dict(released.suppressed())
    found = []
    for name, codes, values in zip(
        released.columns, released.codes.T, released.categories, strict=True
    ):
        nodes = [at for at, one in enumerate(values.tolist()) if (name, str(one)) in above]
        more = int(np.isin(codes, nodes).sum()) if nodes else 0
        shown = released.n_rows - more - stars[name]
        found.append(ColumnCells(name=name, values=shown, generalized=more, suppressed=stars[name]))
    return found
