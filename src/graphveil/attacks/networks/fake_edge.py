"""Can edges that a method added be told from real ones, and what remains once they are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, Outcome
from graphveil.attacks.costs import ends_of, squares
from graphveil.attacks.networks.candidate_set import CandidateSetOptions, right_guess
from graphveil.attacks.networks.candidate_set import seconds as candidate_seconds
from graphveil.attacks.networks.likeness import (
    Scores,
    common_neighbors,
    jaccard,
    spectral_cosine,
    three_paths,
)
from graphveil.attacks.networks.seed_propagation import (
    MOST_NODES,
    MOST_SQUARES,
    check_matching,
    check_people,
)
from graphveil.attacks.networks.signatures import SIGNATURES, Signatures, candidates
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import NotMeasuredError

FEWEST_FAKES = 5


@dataclass(frozen=True, kw_only=True)
class FakeEdgeOptions(CandidateSetOptions):
    """Of how many people something is known, once added edges are dropped."""

    label: ClassVar[str] = "fake-edge"


class Likeness(NamedTuple):
    """What the ends of every released edge have in common; less at added edges.

    Parameters
    ----------
    judged
        The scores of every test that is judged by itself, by its name.
    flagging
        The scores by whose sum of ranks edges are flagged.
    """

    judged: dict[str, Scores]
    flagging: tuple[Scores, ...]


def fake_edge(situation: AttackInput[GraphComparison], options: FakeEdgeOptions) -> Outcome:
    """Return how well added edges are told from real ones, and candidates once they are dropped.

    Raises
    ------
    NotMeasuredError
        Where there are no nodes, or edges were hardly added, or all were.
    """
    pair = situation.comparison
    check_people(pair)
    released, fake = pair.aligned, added_edges(pair)
    number = int(fake.sum())
    if number < FEWEST_FAKES:
        raise NotMeasuredError(f"{number:,} edges were added, fewer than {FEWEST_FAKES}")
    if number == fake.size:
        raise NotMeasuredError("all released edges were added")
    rng = situation.rng("fake-edge")
    likeness = likeness_of(released, rng)
    flagged = flag(likeness.flagging, number, rng)
    figures = [*_areas(likeness, fake), _precision(flagged, fake)]
    remaining = released.edges()[~flagged]
    n = released.n_nodes
    restored = Graph.from_edges(remaining[:, 0], remaining[:, 1], n=n)
    targets = np.sort(rng.permutation(n)[: options.of_nodes(n)])
    near = candidates(Signatures.of(pair.original), Signatures.of(restored), np.arange(n), targets)
    for name, right in zip(SIGNATURES, near.right, strict=True):
        figures.append(right_guess(f"{name} once flagged edges are dropped", right, n, rng))
    risk = np.full(n, np.nan)
    risk[targets] = near.right.max(axis=0)
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / n))


PER_SQUARE, PER_END = 1.8e-7, 4e-6
"""Seconds for every square of a degree, to count paths, and for every end of an edge, to find the
leading directions."""


def seconds(situation: AttackInput[GraphComparison], options: FakeEdgeOptions) -> float:
    """Return about how long it takes.

    Raises
    ------
    TooLargeError
        Where nodes or edges are too many.
    """
    pair = situation.comparison
    check_matching(pair)
    known_again = candidate_seconds(situation, options)
    return PER_SQUARE * squares(pair) + PER_END * ends_of(pair) + known_again


def added_edges(pair: GraphComparison) -> NDArray[np.bool_]:
    """Return which released edges, in the order of the original's nodes, are not the original's."""
    n = pair.original.n_nodes
    before, after = (
        graph.edges()[:, 0].astype(np.int64) * n + graph.edges()[:, 1]
        for graph in (pair.original, pair.aligned)
    )
    return np.isin(after, before, invert=True)


def likeness_of(released: Graph, rng: np.random.Generator) -> Likeness:
    """Return what the ends of every edge have in common."""
    number, weight = common_neighbors(released)
    degrees = released.degrees()[released.edges()]
    alike, cosine = jaccard(released, number), spectral_cosine(released, rng)
    judged = {
        "Jaccard": alike,
        "resource allocation": weight,
        "product of degrees": -np.log(degrees).sum(axis=1),
        "spectral cosine": cosine,
    }
    return Likeness(judged, (alike, cosine, three_paths(released)))


def ranks(values: Scores) -> Scores:
    """Return the rank of every value from 1 on; equal values have the mean of their ranks.

    Examples
    --------
    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    mean: Scores = (np.cumsum(count) - (count - 1) / 2)[number]
    return mean


def area(scores: Scores, fake: NDArray[np.bool_]) -> float:
    """Return how likely a real edge scores above an added one; equal scores count half.

    Examples
    --------
    >>> area(np.array([3.0, 1.0, 1.0]), np.array([False, False, True]))
    0.75
    """
    real = int((~fake).sum())
    above = ranks(scores)[~fake].sum() - real * (real + 1) / 2
    return float(above / (real * (fake.size - real)))


def flag(scores: tuple[Scores, ...], number: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return so many edges with the least sum of ranks; ties are broken by chance."""
    total = np.sum([ranks(score) for score in scores], axis=0)
    order = np.lexsort((rng.random(total.size), total))
    flagged = np.zeros(total.size, dtype=np.bool_)
    flagged[order[:number]] = True
    return flagged


def _areas(likeness: Likeness, fake: NDArray[np.bool_]) -> Iterator[AttackFigure]:
    """Yield the area under the curve of each test, and the largest, which is known in hindsight."""
    areas = {name: area(scores, fake) for name, scores in likeness.judged.items()}
    areas["best in hindsight"] = max(areas.values())
    for name, value in areas.items():
        yield AttackFigure(f"AUC, {name}", value, "probability", 0.5)


def _precision(flagged: NDArray[np.bool_], fake: NDArray[np.bool_]) -> AttackFigure:
    """Return how many of the flagged edges were added."""
    value = float((flagged & fake).sum() / flagged.sum())
    return AttackFigure("flagged, precision", value, "share of flagged edges", float(fake.mean()))


FAKE_EDGE = Attack(
    name="fake-edge",
    kind=Graph,
    knows="the release, and how many edges were added",
    definition="how likely a real edge has more in common at its ends than an added one (AUC), how "
    "many of the least likely edges, as many as were added, were added, and how often people are "
    "then known again as in candidate-set once these are dropped",
    source="resource allocation: Zhou, Lü & Zhang 2009; sum of ranks: ours",
    needs_linkage=True,
    cost=f"squares of the degrees, up to a sum of {MOST_SQUARES:,} and {MOST_NODES:,} nodes",
    compute=fake_edge,
    seconds=seconds,
    options=FakeEdgeOptions,
)
"""The entry of this attack."""
