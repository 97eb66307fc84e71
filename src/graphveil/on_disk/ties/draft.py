"""What a method makes of neighbor lists on the disk: released edges, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Anonymizer
from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.methods.k_degree import KDegree
from graphveil.on_disk.ties.lists import NeighborLists
from graphveil.on_disk.ties.release import Changed, changed_edges, edges_of
from graphveil.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class DraftOfTies:
    """Released edges under the positions of the input.

    Parameters
    ----------
    edges
        Yields them as ``u << 32 | v``, u below v, some at a time; the same ones whenever asked.
    n_edges_expected
        About how many there are.
    check
        Refuses degrees of the published file, by position of the input, that are not as planned.
    cost, advice, guarantee, conditions
        As in `graphveil.anonymizer.MethodResult`.
    """

    edges: Callable[[], Iterator[NDArray[np.int64]]]
    n_edges_expected: int
    check: Callable[[NDArray[np.int64]], None]
    cost: Mapping[str, float | int]
    advice: tuple[str, ...] = ()
    guarantee: AnyGuarantee | None = None
    conditions: tuple[AnyCondition, ...] = ()


def draft_of(method: Anonymizer[Any], lists: NeighborLists, randomness: Randomness) -> DraftOfTies:
    """Return what a method makes of a graph whose neighbors the disk holds."""
    if isinstance(method, KDegree):
        return _same_degrees(method, lists, randomness)
    raise TypeError(f"{method.name} says that it takes ties from the disk, and nothing here does")


def _same_degrees(method: KDegree, lists: NeighborLists, randomness: Randomness) -> DraftOfTies:
    edited = method.edited_lists(tuple(lists), randomness)  # type: ignore[arg-type]  # of two arrays
    found = edited.realization

    def check(degrees: NDArray[np.int64]) -> None:
        classes = np.bincount(degrees)
        if np.any(degrees != found.targets) or classes[classes > 0].min() < method.k:
            raise RuntimeError(
                f"degrees were about to be published that are not those planned for k={method.k}"
            )

    return DraftOfTies(
        edges=lambda: changed_edges(edges_of(lists), Changed(found.added, found.deleted)),
        n_edges_expected=lists.indices.size // 2 + len(found.added) - len(found.deleted),
        check=check,
        cost=edited.cost,
        advice=edited.advice,
    )
