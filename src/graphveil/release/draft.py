"""What a method hands over: a draft, from which `make_release` makes the release.

In a draft, position i still stands for position i of the input. `graphveil.release.making` claims,
gives new ids in a new order, and completes the owner's notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, RandomizedCells
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.manifest import Generalization
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Ints
from graphveil.data import Data

D = TypeVar("D", bound=Data)


class NewIds(NamedTuple):
    """The order of a release, and its ids.

    Parameters
    ----------
    order
        int64, shape (n,): which position of the input is at each position of the release.
    ids
        int64, shape (n,), ascending: the id at each position of the release; None for 0..n-1.
    """

    order: Ints
    ids: Ints | None = None

    def of_the_input(self) -> Ints:
        """Return the published id of every position of the input, int64, shape (n,).

        >>> NewIds(np.array([2, 0, 1]), np.array([5, 7, 9])).of_the_input().tolist()
        [7, 9, 5]
        """
        released = np.empty_like(self.order)
        released[self.order] = np.arange(self.order.size) if self.ids is None else self.ids
        return released


class Draft(NamedTuple, Generic[D]):
    """What a method hands over of one run.

    Parameters
    ----------
    data
        The anonymized data; position i stands for position i of the input.
    guarantee
        What is guaranteed of it; None for what the method guarantees of any data. A partial run
        claims less, never more.
    conditions
        What else holds of this release, in addition to the conditions of the method.
    notes
        What only this method knows of the run: figures of cost, warnings, and the other fields of
        `OwnersNotes` that it sets.
    order
        The order and the ids of the release, where the method decides them or states something by
        released node; None for a uniformly random order.
    generalized
        What is published of the levels of columns; None for data without levels.
    levels, witness
        For the owner's files: int64, shape (n,), the level of each position; and a sparse matrix
        as (indptr, indices) whose row i holds the positions that the record at i was chosen to fit,
        its own among them.
    """

    data: D
    guarantee: AnyGuarantee | None = None
    conditions: tuple[AnyCondition, ...] = ()
    notes: OwnersNotes = OwnersNotes()
    order: NewIds | None = None
    generalized: Generalization | None = None
    levels: Ints | None = None
    witness: tuple[Ints, NDArray[np.int32]] | None = None

    def noting(self, **notes: Any) -> Draft[D]:
        """Return the same draft with some notes replaced, by their names in `OwnersNotes`."""
        return self._replace(notes=msgspec.structs.replace(self.notes, **notes))

    def warning(self, *texts: str) -> Draft[D]:
        """Return the same draft with more warnings for the owner."""
        return self.noting(warnings=(*self.notes.warnings, *texts))

    def costing(self, figures: Mapping[str, float | int]) -> Draft[D]:
        """Return the same draft with more figures of cost."""
        return self.noting(cost={**self.notes.cost, **figures})


class EditedEdges(NamedTuple):
    """What a method makes of a graph on the disk by few edits of it.

    Parameters
    ----------
    added, deleted
        int32, shape (m, 2): edges, the smaller end first.
    check
        Refuses degrees of the published file, int64, shape (n,), that are not as planned.
    notes
        As in `Draft`.
    """

    added: NDArray[np.int32]
    deleted: NDArray[np.int32]
    check: Callable[[Ints], None]
    notes: OwnersNotes = OwnersNotes()


class NoisyEdges(NamedTuple):
    """How a method draws every pair of nodes of a graph on the disk, each for itself.

    Parameters
    ----------
    at_most
        A number of edges that the release hardly ever exceeds: space on the disk is checked for it.
    state
        Draws what the chances follow from, and returns it; epsilon is spent by then.
    advice
        Returns warnings for the owner from what was stated and the number of released edges.
    exact_size
        Whether edges are added or removed uniformly until the noisy number is reached.
    """

    at_most: int
    state: Callable[[], RandomizedCells]
    advice: Callable[[RandomizedCells, int], tuple[str, ...]]
    exact_size: bool = False
