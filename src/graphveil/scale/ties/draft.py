"""What a method makes of neighbor lists on the disk: released edges, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.changes import EdgeChanges, cost_of
from graphveil.claims.conditions import AnyCondition, ExactSize, RandomizedCells
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, Ledger, LedgerReceipt, LedgerReference
from graphveil.core.progress import stage
from graphveil.data import Graph
from graphveil.methods.base import NoisyTies
from graphveil.methods.noise import Channel, words_from
from graphveil.methods.noisy_cells.noisy import listed_once
from graphveil.release.pipeline import Method
from graphveil.scale.ties.lists import NeighborLists
from graphveil.scale.ties.noise import degrees_in, draw, read, resize
from graphveil.scale.ties.reading import BYTES_A_NOISY_TIE, check_space
from graphveil.scale.ties.release import Changed, changed_edges, edges_of
from graphveil.scale.working import WorkingFolder

CELLS = "cells"
"""The file of noisy edges."""

NOISE = "noise"
"""The stage that draws them: epsilon is spent, and another draw would spend it again."""


@dataclass(frozen=True, kw_only=True)
class EdgeDraft:
    """Released edges under the positions of the input.

    Parameters
    ----------
    edges
        Yields them as ``u << 32 | v``, u below v, some at a time; the same ones whenever asked.
    n_edges_expected
        About how many there are.
    check
        Refuses degrees of the published file, by position of the input, that are not as planned.
    cost
        As in the private record.
    advice, guarantee, conditions
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
    spent: LedgerReceipt | None = None


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
        What was entered in a ledger, as `graphveil.claims.ledger.LedgerReceipt` has it.
    """

    stated: RandomizedCells
    published: int
    kept: int
    is_exact: bool = False
    note: LedgerReference | None = None
    known: list[str] = []
    composed: Composed | None = None

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What can be checked of them."""
        if not self.is_exact:
            return (self.stated,)
        return self.stated, ExactSize(size=str(self.published))

    @property
    def spent(self) -> LedgerReceipt | None:
        """What was entered in a ledger; None without one."""
        if self.note is None:
            return None
        return LedgerReceipt(self.note, frozenset(self.known), self.composed)


def draft_of(
    method: Method, graph: Graph, working: WorkingFolder, ledger: Ledger | None = None
) -> EdgeDraft:
    """Return what a method makes of a graph whose neighbors the disk holds.

    `graph`: the graph, mapped; `working`: the folder of the run, where noise is kept once it is
    drawn; `ledger`: where epsilon is entered before it is.
    """
    lists = NeighborLists(graph.indptr, graph.indices)
    made = method.from_ties(graph, working.randomness)
    if isinstance(made, NoisyTies):
        return _noisy(method, made, graph, working, ledger)
    spent = method.entered(graph, ledger, working.randomness.seed)
    changed, before = Changed(made.added, made.deleted), graph.n_edges
    changes = EdgeChanges(before, before - len(made.deleted), len(made.added))
    return EdgeDraft(
        edges=lambda: changed_edges(edges_of(lists), changed),
        n_edges_expected=changes.kept + changes.added,
        check=made.check,
        cost=cost_of(changes, made.facts),
        advice=made.advice,
        spent=spent,
    )


def _noisy(
    method: Method, noise: NoisyTies, graph: Graph, working: WorkingFolder, ledger: Ledger | None
) -> EdgeDraft:
    """Return noisy edges, which are drawn once: what an interrupted draw left nobody has seen."""
    file = working.folder / NOISE / CELLS
    done = working.finished(NOISE, Noise)
    if done is None:
        done = working.finish(NOISE, _drawn(method, noise, graph, working, ledger))
    published = done.published

    def check(degrees: NDArray[np.int64]) -> None:
        if np.any(degrees != degrees_in(file, graph.n_nodes)):
            raise RuntimeError("about to publish edges other than those that were sampled")

    return EdgeDraft(
        edges=lambda: read(file),
        n_edges_expected=published,
        check=check,
        cost=cost_of(
            EdgeChanges(graph.n_edges, done.kept, published - done.kept), listed_once(graph)
        ),
        advice=noise.advice(done.stated, published),
        guarantee=method.promised(graph),
        conditions=done.conditions,
        spent=done.spent,
    )


def _drawn(
    method: Method, noise: NoisyTies, graph: Graph, working: WorkingFolder, ledger: Ledger | None
) -> Noise:
    """Enter epsilon where there is room, and draw the noisy count and all cells into a file."""
    file = working.stage(NOISE) / CELLS
    n = noise.at_most
    what = (
        f"{method.name} releases up to about {n:,} edges (the input has {graph.n_edges:,}), which"
    )
    check_space(working.folder, BYTES_A_NOISY_TIE * n, what)
    spent = method.entered(graph, ledger, working.randomness.seed)
    stated = noise.state()
    lists = NeighborLists(graph.indptr, graph.indices)
    size = stated.noisy_count if noise.exact_size else None
    drawn_file = file if size is None else file.with_name("drawn")
    with stage("sampling noise", total=graph.n_edges) as advance:
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
        is_exact=noise.exact_size,
        note=None if spent is None else spent.note,
        known=[] if spent is None else sorted(spent.known),
        composed=None if spent is None else spent.composed,
    )
