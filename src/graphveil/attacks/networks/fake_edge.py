"""Whether added edges can be distinguished from real ones, and what remains without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, Outcome, ends_of, squares
from graphveil.attacks.networks.candidate_set import CandidateSetOptions, right_guess
from graphveil.attacks.networks.candidate_set import seconds as candidate_seconds
from graphveil.attacks.networks.copies import check_people
from graphveil.attacks.networks.propagation import (
    MOST_NODES,
    MOST_SQUARES,
    check_matching,
    row_blocks,
)
from graphveil.attacks.networks.signatures import SIGNATURES, Signatures, candidates
from graphveil.attacks.wording import inferred
from graphveil.core.progress import in_time
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, Floats, GraphComparison, sparse
from graphveil.evaluate.metric import NotMeasuredError

Scores: TypeAlias = "Floats"
"""A number for every edge, in the order of `Graph.edges`."""

DIMENSIONS = 32
_SMALL = 200
_TOLERANCE = 1e-3
_CELLS = 20_000_000


def common_neighbors(graph: Graph) -> tuple[Scores, Scores]:
    """Return the common neighbors of the ends of every edge: their number and sum of 1/d."""
    near, degrees, ends = graph.to_scipy(), graph.degrees(), graph.edges()
    worth = np.column_stack([np.ones(graph.n_nodes), 1 / np.maximum(degrees, 1)])
    out = np.zeros((len(ends), 2))
    work = np.concatenate([[0], np.cumsum(degrees[ends].sum(axis=1))])
    for start, end in in_time(row_blocks(work)):
        both = near[ends[start:end, 0]].multiply(near[ends[start:end, 1]])
        out[start:end] = both @ worth
    return out[:, 0], out[:, 1]


def jaccard(graph: Graph, common: Scores) -> Scores:
    """Return the common neighbors over all neighbors of both ends."""
    ends = graph.degrees()[graph.edges()].sum(axis=1)
    scores: Scores = common / np.maximum(ends - common, 1)
    return scores


def three_paths(graph: Graph) -> Scores:
    """Return the number of paths of three edges between both ends, over the root of the degrees."""
    near, degrees, ends = graph.to_scipy().astype(np.float64), graph.degrees(), graph.edges()
    walks = np.zeros(len(ends))
    rows = max(_CELLS // max(graph.n_nodes, 1), 1)
    for first in in_time(range(0, graph.n_nodes, rows)):
        two_steps = (near[first : first + rows] @ near).toarray()
        start, end = np.searchsorted(ends[:, 0], [first, first + rows])
        source, target = ends[start:end, 0] - first, ends[start:end, 1]
        for low, high in row_blocks(np.concatenate([[0], np.cumsum(degrees[target])])):
            around = near[target[low:high]]
            edge = np.repeat(np.arange(high - low), np.diff(around.indptr))
            reached = two_steps[source[low:high][edge], around.indices]
            walks[start + low : start + high] = np.bincount(edge, reached, minlength=high - low)
    both = degrees[ends]
    paths: Scores = (walks - both.sum(axis=1) + 1) / np.sqrt(both.prod(axis=1))
    return paths


def spectral_cosine(graph: Graph, rng: np.random.Generator) -> Scores:
    """Return the cosine between both ends in the leading directions of the normalized adjacency."""
    from scipy.sparse import linalg  # noqa: PLC0415  heavy: not for help

    roots = 1 / np.sqrt(np.maximum(graph.degrees(), 1))
    scale = sparse.diags_array(roots)
    normalized = scale @ graph.to_scipy().astype(np.float64) @ scale
    if graph.n_nodes <= _SMALL:
        left, sizes, _ = np.linalg.svd(normalized.toarray())
    else:
        begin = rng.standard_normal(graph.n_nodes)
        values, left = linalg.eigsh(normalized, k=DIMENSIONS, v0=begin, tol=_TOLERANCE)
        sizes = np.abs(values)
    leading = np.argsort(-sizes, kind="stable")[:DIMENSIONS]
    points = left[:, leading] * np.sqrt(sizes[leading])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
    ends = graph.edges()
    cosine: Scores = np.einsum("ed,ed->e", points[ends[:, 0]], points[ends[:, 1]])
    return cosine


FEWEST_FAKES = 5
BEST, FLAGGED = "best in hindsight", "flagged, precision"


@dataclass(frozen=True, kw_only=True)
class FakeEdgeOptions(CandidateSetOptions, label="fake-edge"):
    """Of how many people something is known, once added edges are dropped."""


class Likeness(NamedTuple):
    """What the ends of every released edge have in common; less at added edges.

    `judged`: the scores of every test that is judged by itself, by its name; `flagging`: the scores
    by whose sum of ranks edges are flagged.
    """

    judged: dict[str, Scores]
    flagging: tuple[Scores, ...]


def fake_edge(situation: AttackInput[GraphComparison], options: FakeEdgeOptions) -> Outcome:
    """Return how well added edges are recognized, and candidates once they are dropped."""
    pair = situation.comparison
    check_people(pair)
    released, fake = pair.aligned, added_edges(pair)
    number = int(fake.sum())
    if number < FEWEST_FAKES:
        raise NotMeasuredError(
            f"only {counted(number, 'edge', 'was', spec=',')} added; {FEWEST_FAKES} are needed"
        )
    if number == fake.size:
        raise NotMeasuredError("all released edges were added")
    rng = situation.rng("fake-edge")
    likeness = likeness_of(released, rng)
    flagged = flag(likeness.flagging, number, rng)
    areas = {name: area(scores, fake) for name, scores in likeness.judged.items()}
    areas[BEST] = max(areas.values())
    figures = [AttackFigure(f"AUC, {name}", a, "probability", 0.5) for name, a in areas.items()]
    precision = float((flagged & fake).sum() / flagged.sum())
    figures.append(AttackFigure(FLAGGED, precision, "share of flagged edges", float(fake.mean())))
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
    """Return about how long it takes."""
    pair = situation.comparison
    check_matching(pair)
    known_again = candidate_seconds(situation, options)
    return PER_SQUARE * squares(pair) + PER_END * ends_of(pair) + known_again


def added_edges(pair: GraphComparison) -> Bools:
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

    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    mean: Scores = (np.cumsum(count) - (count - 1) / 2)[number]
    return mean


def area(scores: Scores, fake: Bools) -> float:
    """Return how likely a real edge scores above an added one; equal scores count half."""
    real = int((~fake).sum())
    above = ranks(scores)[~fake].sum() - real * (real + 1) / 2
    return float(above / (real * (fake.size - real)))


def flag(scores: tuple[Scores, ...], number: int, rng: np.random.Generator) -> Bools:
    """Return so many edges with the least sum of ranks; equal ones are chosen by chance."""
    total = np.sum([ranks(score) for score in scores], axis=0)
    order = np.lexsort((rng.random(total.size), total))
    flagged = np.zeros(total.size, dtype=np.bool_)
    flagged[order[:number]] = True
    return flagged


FAKE_EDGE = Attack(
    name="fake-edge",
    kind=Graph,
    knows="the release, and how many edges were added",
    definition="the probability that the ends of a real edge have more in common than those of "
    "an added edge (AUC); the share of added edges among the least likely edges, of "
    "which as many are flagged as were added; and how often people are "
    "re-identified, as in candidate-set, once the flagged edges are dropped",
    source="resource allocation: Zhou, Lü & Zhang 2009; the sum of ranks is graphveil's own",
    cost=f"sum of squared degrees, up to {MOST_SQUARES:,}, and up to {MOST_NODES:,} nodes",
    compute=fake_edge,
    seconds=seconds,
    options=FakeEdgeOptions,
    said=(
        inferred(
            f"AUC, {BEST}",
            does="compares what the ends of edges have in common",
            line="whether an edge is real or added",
            label="which connections are false",
            says="given one real and one added edge, the real one is recognized {n} times, by the "
            "best of four tests in hindsight",
        ),
    ),
)
