"""What the neighbors of a person tell of an attribute: people who are tied are often alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import ends_of
from graphveil.data import Graph, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.terminal import printable

Codes = NDArray[np.int32]
Shares = NDArray[np.float64]

ROUNDS = 30
"""How often values are passed on to neighbors, who pass them on."""

MOST_CELLS = 50_000_000
"""Of people times values: of more nothing is passed on."""


class _Guess(NamedTuple):
    """How likely every released person's value is guessed right, and without the release."""

    right: Shares
    baseline: float


def attribute_inference(
    situation: AttackInput[NetworkComparison], options: AttackOptions
) -> Outcome:
    """Return how often a value is guessed from the values that a person's neighbors show.

    Raises
    ------
    NotMeasuredError
        Where no attribute is published.
    """
    del options
    pair = situation.comparison
    people = pair.people
    if people is None or pair.released.n_nodes == 0:
        raise NotMeasuredError("no attribute is published")
    n = pair.released.n_nodes
    figures: list[AttackFigure] = []
    risk, baseline = np.zeros(n), np.zeros(n)
    for column, name in enumerate(people.released.columns):
        own = np.empty(n, dtype=np.int32)
        own[pair.linked] = people.before[:, column]
        shown = people.after[:, column]
        if (own == SUPPRESSED).all() or (shown == SUPPRESSED).all():
            continue
        near = _of_neighbors(pair.released, shown, own)
        figures += _figures(pair.released, printable(name), shown, own, near)
        better = near.right > risk
        risk[better], baseline[better] = near.right[better], near.baseline
    if not figures:
        raise NotMeasuredError("every cell of the published attributes is suppressed")
    return Outcome(figures, risk[pair.linked], baseline[pair.linked])


def _figures(
    graph: Graph, name: str, shown: Codes, own: Codes, near: _Guess
) -> Iterator[AttackFigure]:
    """Yield the figures of one attribute: of whom it is suppressed, and of everybody."""
    known = own != SUPPRESSED
    hidden = known & (shown == SUPPRESSED)
    share = "share of people"
    if hidden.any():
        least = float(np.mean(own[hidden] == _most_frequent(shown)))
        passed_on = _passed_on(graph, shown, own)
        for how, guess in (("neighbors", near.right), ("passed on", passed_on)):
            if guess is not None:
                value = float(guess[hidden].mean())
                yield AttackFigure(f"{name}, suppressed: {how}", value, share, least)
    value = float(near.right[known].mean())
    yield AttackFigure(f"{name}, everybody: neighbors", value, share, near.baseline)


def _of_neighbors(graph: Graph, shown: Codes, own: Codes) -> _Guess:
    """Return the guess of the value that most neighbors show; of several, each as often.

    Who has no neighbor with a value is guessed to have the most frequent one.
    """
    n, values = graph.n_nodes, int(max(shown.max(), own.max())) + 1
    row = np.repeat(np.arange(n), graph.degrees())
    codes = shown[graph.indices]
    pairs, counts = np.unique(row[codes >= 0] * values + codes[codes >= 0], return_counts=True)
    person, value = np.divmod(pairs, values)
    most = np.zeros(n, dtype=np.int64)
    np.maximum.at(most, person, counts)
    best = counts == most[person]
    ties = np.bincount(person[best], minlength=n)
    right = np.zeros(n)
    hit = best & (value == own[person])
    right[person[hit]] = 1 / ties[person[hit]]
    common = _most_frequent(shown)
    right[ties == 0] = own[ties == 0] == common
    known = own != SUPPRESSED
    return _Guess(right, float(np.mean(own[known] == common)))


def _passed_on(graph: Graph, shown: Codes, own: Codes) -> Shares | None:
    """Return the guess after shares of values were passed from neighbor to neighbor.

    Whoever shows a value keeps it; the others take the mean of their neighbors, again and again.
    None where people times values are too many.
    """
    from scipy import sparse  # noqa: PLC0415  not every release has suppressed cells

    n, values = graph.n_nodes, int(max(shown.max(), own.max())) + 1
    if n * values > MOST_CELLS:
        return None
    degrees = np.maximum(graph.degrees(), 1).astype(float)
    weight = np.repeat(1 / degrees, graph.degrees())
    means = sparse.csr_array((weight, graph.indices, graph.indptr), shape=(n, n))
    fixed = shown != SUPPRESSED
    start = np.bincount(shown[fixed], minlength=values) / max(int(fixed.sum()), 1)
    shares = np.tile(start, (n, 1))
    shares[fixed] = np.eye(values)[shown[fixed]]
    for _ in range(ROUNDS):
        passed = means @ shares
        alone = graph.degrees() == 0
        passed[alone] = start
        passed[fixed] = shares[fixed]
        shares = passed
    best = np.isclose(shares, shares.max(axis=1, keepdims=True))
    right: Shares = np.where(own >= 0, best[np.arange(n), own], False) / best.sum(axis=1)
    return right


def _most_frequent(shown: Codes) -> int:
    return int(np.argmax(np.bincount(shown[shown != SUPPRESSED])))


PER_END = 1e-6
"""Seconds for every end of an edge and every attribute, most of them to pass values on."""


def seconds(situation: AttackInput[NetworkComparison], options: AttackOptions) -> float:
    """Return about how long it takes."""
    del options
    pair = situation.comparison
    columns = 0 if pair.people is None else pair.people.released.n_columns
    return PER_END * ends_of(pair) * columns


ATTRIBUTE_INFERENCE = Attack(
    name="attribute-inference",
    kind=Network,
    knows="nothing but the release: the ties, and the attributes that it shows of neighbors",
    definition="how often the value that most neighbors of a person show is that person's own, of "
    "whom it is suppressed and of everybody; and where shares of values are passed from neighbor "
    "to neighbor. Beside it the most frequent value",
    source="Zheleva & Getoor, To join or not to join, WWW 2009; label propagation: Zhu & "
    "Ghahramani, CMU-CALD-02-107, 2002",
    needs_linkage=True,
    cost="linear in the edges and the attributes",
    compute=attribute_inference,
    seconds=seconds,
    options=AttackOptions,
)
"""The entry of this attack."""
