"""Recognizing added edges, and what is found once they are dropped: the attack `fake-edge`.

The attacker has the release and knows how many edges were added. Steps: (1) score every released
edge by what its ends have in common (`edge_similarity.py`); (2) judge each score by its area under
the curve, real edges against added ones; (3) flag as many edges as were added, those with the least
sum of ranks of three scores; (4) drop them and repeat `candidate-set`.

Baselines: an area of 1/2; a precision equal to the share of added edges, that of random flags; 1/n
for a right guess. *Best in hindsight* picks the best of four areas with the answer at hand: an
upper bound of these scores, and named so. Areas count all edges and have no interval. The scores
are of the papers named in `edge_similarity.py`; the combination is graphveil's own. Cost: the sum
of squared degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, Outcome, ends_of, squares
from graphveil.attacks.networks.candidate_set import CandidateSetOptions, right_guess
from graphveil.attacks.networks.candidate_set import seconds as candidate_seconds
from graphveil.attacks.networks.copies.reidentification import check_people
from graphveil.attacks.networks.edge_similarity import Scores, edge_similarity
from graphveil.attacks.networks.propagation import MOST_NODES, MOST_SQUARES, check_matching
from graphveil.attacks.networks.signatures import SIGNATURES, Signatures, candidates
from graphveil.attacks.wording import inferred
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, GraphComparison
from graphveil.evaluate.metric import NotMeasuredError

FEWEST_FAKES = 5
"""With fewer added edges nothing is measured: a share of four edges says little."""

BEST, FLAGGED = "best in hindsight", "flagged, precision"
"""Names of two figures."""


@dataclass(frozen=True, kw_only=True)
class FakeEdgeOptions(CandidateSetOptions, label="fake-edge"):
    """How many people are looked for once added edges are dropped."""


def fake_edge(situation: AttackInput[GraphComparison], options: FakeEdgeOptions) -> Outcome:
    """Return how well added edges are recognized, and who is found once they are dropped."""
    pair = situation.comparison
    check_people(pair)
    # Who added what: the linkage is used to score, not to recognize.
    released, fake = pair.aligned, added_edges(pair)
    # The attacker is given this number alone.
    number = int(fake.sum())
    if number < FEWEST_FAKES:
        raise NotMeasuredError(
            f"only {counted(number, 'edge', 'was', spec=',')} added; {FEWEST_FAKES} are needed"
        )
    if number == fake.size:
        raise NotMeasuredError("all released edges were added")
    rng = situation.rng("fake-edge")
    # Steps 1 and 2: scores, and the area of each.
    similarity = edge_similarity(released, rng)
    flagged = flag(similarity.flagging, number, rng)
    areas = {name: area(scores, fake) for name, scores in similarity.judged.items()}
    areas[BEST] = max(areas.values())
    figures = [AttackFigure(f"AUC, {name}", a, "probability", 0.5) for name, a in areas.items()]
    # Step 3: how many of the flagged edges were added.
    precision = float((flagged & fake).sum() / flagged.sum())
    figures.append(AttackFigure(FLAGGED, precision, "share of flagged edges", float(fake.mean())))
    # Step 4: without them, people are looked for by their signatures.
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
"""Seconds per squared degree, to count paths, and per end of an edge, to find leading
directions."""


def seconds(situation: AttackInput[GraphComparison], options: FakeEdgeOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    check_matching(pair)
    known_again = candidate_seconds(situation, options)
    return PER_SQUARE * squares(pair) + PER_END * ends_of(pair) + known_again


def added_edges(pair: GraphComparison) -> Bools:
    """Return which released edges, in the order of the original's nodes, are not the original's."""
    # Edges as numbers u * n + v in the original's order: what is not among the original's was
    # added.
    n = pair.original.n_nodes
    before, after = (
        graph.edges()[:, 0].astype(np.int64) * n + graph.edges()[:, 1]
        for graph in (pair.original, pair.aligned)
    )
    return np.isin(after, before, invert=True)


def ranks(values: Scores) -> Scores:
    """Return the rank of every value from 1 on; equal values have the mean of their ranks.

    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    mean: Scores = (np.cumsum(count) - (count - 1) / 2)[number]
    return mean


def area(scores: Scores, fake: Bools) -> float:
    """Return how likely a real edge scores above an added one; equal scores count half.

    The Mann-Whitney statistic: the sum of ranks of the real edges, less its least value.
    """
    real = int((~fake).sum())
    above = ranks(scores)[~fake].sum() - real * (real + 1) / 2
    return float(above / (real * (fake.size - real)))


def flag(scores: tuple[Scores, ...], number: int, rng: np.random.Generator) -> Bools:
    """Return that many edges with the least sum of ranks; chance decides between equal ones."""
    # Ranks make scores of different units comparable.
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
