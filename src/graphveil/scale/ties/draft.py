"""What a method makes of neighbor lists on the disk: released edges, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, CellFlips, ExactSize
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, Ledger, Note, Spent
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.base import Anonymizer
from graphveil.methods.k_degree import KDegree
from graphveil.methods.noise import Channel, words_from
from graphveil.methods.noisy_cells.asymmetric_response import AsymmetricResponse
from graphveil.methods.noisy_cells.noisy import cost_of_flips
from graphveil.methods.noisy_cells.randomized_response import RandomizedResponse
from graphveil.scale.ties.lists import NeighborLists
from graphveil.scale.ties.noise import degrees_in, draw, read, released_at_most, resize
from graphveil.scale.ties.reading import BYTES_A_NOISY_TIE, check_space
from graphveil.scale.ties.release import Changed, changed_edges, edges_of
from graphveil.scale.working import Working

CELLS = "cells"
"""The file of noisy edges."""

NOISE = "noise"
"""The stage that draws them: epsilon is spent, and another draw would spend it again."""


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
        As in `graphveil.methods.base.MethodResult`.
    spent
        What was entered in a ledger.
    """

    edges: Callable[[], Iterator[NDArray[np.int64]]]
    n_edges_expected: int
    check: Callable[[NDArray[np.int64]], None]
    cost: Mapping[str, float | int]
    advice: tuple[str, ...] = ()
    guarantee: AnyGuarantee | None = None
    conditions: tuple[AnyCondition, ...] = ()
    spent: Spent | None = None


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Noisy cells that were drawn.

    Parameters
    ----------
    stated
        Their chances.
    published, kept
        How many are published as edges, and how many of those are true.
    is_exact
        Whether edges were added or removed until so many were there.
    note, known, composed
        What was entered in a ledger, as `graphveil.claims.ledger.Spent` has it.
    """

    stated: CellFlips
    published: int
    kept: int
    is_exact: bool = False
    note: Note | None = None
    known: list[str] = []
    composed: Composed | None = None

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What can be checked of them."""
        if not self.is_exact:
            return (self.stated,)
        return self.stated, ExactSize(size=str(self.published))

    @property
    def spent(self) -> Spent | None:
        """What was entered in a ledger; None without one."""
        if self.note is None:
            return None
        return Spent(self.note, frozenset(self.known), self.composed)


def draft_of(
    method: Anonymizer[Any], graph: Graph, working: Working, ledger: Ledger | None = None
) -> DraftOfTies:
    """Return what a method makes of a graph whose neighbors the disk holds.

    Parameters
    ----------
    method
        The method.
    graph
        The graph, mapped.
    working
        The folder of the run, where noise is kept once it is drawn.
    ledger
        Where epsilon is entered before it is.
    """
    lists = NeighborLists(graph.indptr, graph.indices)
    if isinstance(method, KDegree):
        return _same_degrees(method, lists, working.randomness)
    if isinstance(method, AsymmetricResponse | RandomizedResponse):
        return _noisy(method, graph, working, ledger)
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


def _noisy(
    method: AsymmetricResponse | RandomizedResponse,
    graph: Graph,
    working: Working,
    ledger: Ledger | None,
) -> DraftOfTies:
    """Return noisy edges, which are drawn once: what an interrupted draw left nobody has seen."""
    file = working.folder / NOISE / CELLS
    done = working.finished(NOISE, Noise)
    if done is None:
        done = working.finish(NOISE, _drawn(method, graph, working, ledger))
    published = done.published

    def check(degrees: NDArray[np.int64]) -> None:
        if np.any(degrees != degrees_in(file, graph.n_nodes)):
            raise RuntimeError("other edges were about to be published than those that were drawn")

    return DraftOfTies(
        edges=lambda: read(file),
        n_edges_expected=published,
        check=check,
        cost=cost_of_flips(graph, before=graph.n_edges, kept=done.kept, after=published),
        advice=method.advice_for(graph, done.stated, published),
        guarantee=method.promised(graph),
        conditions=done.conditions,
        spent=done.spent,
    )


def _drawn(
    method: AsymmetricResponse | RandomizedResponse,
    graph: Graph,
    working: Working,
    ledger: Ledger | None,
) -> Noise:
    """Enter epsilon where there is room, and draw the noisy count and all cells into a file."""
    file = working.stage(NOISE) / CELLS
    n = released_at_most(method, graph)
    what = f"{method.name} releases up to about {n:,} ties of {graph.n_edges:,}, which"
    check_space(working.folder, BYTES_A_NOISY_TIE * n, what)
    spent = method.entered(graph, ledger, working.randomness.seed)
    stated = method.stated_for(graph, graph.n_edges, working.randomness)
    lists = NeighborLists(graph.indptr, graph.indices)
    exact = isinstance(method, AsymmetricResponse) and method.exact_size
    size = stated.noisy_count if exact else None
    drawn_file = file if size is None else file.with_name("drawn")
    with stage("drawing noise", total=graph.n_edges) as advance:
        drawn = draw(
            lists,
            Channel(int(stated.T0), int(stated.T1)),
            words_from(working.randomness, "cells"),
            drawn_file,
            advance,
        )
    if size is not None:
        words = words_from(working.randomness, "size")
        drawn = resize(lists, drawn_file, drawn, int(size), words, file)
        drawn_file.unlink()
    return Noise(
        stated=stated,
        published=drawn.published,
        kept=drawn.kept,
        is_exact=exact,
        note=None if spent is None else spent.note,
        known=[] if spent is None else sorted(spent.known),
        composed=None if spent is None else spent.composed,
    )
