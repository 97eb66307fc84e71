"""Which further edges an attacker learns who knows most of them: the attack `edge-gain`.

The attacker knows a share `overlap` of the edges, none of them false, and the released nodes of
some people. Steps for one copy: (1) match the known edges with the release as in `propagation.py`;
(2) every released edge between two matched people that is not known is learned; (3) compare with
the hidden edges of the original: precision and recall. The baseline is link prediction from the
known edges alone: as many pairs, those with the largest sum of 1/degree over common neighbors
(resource allocation, Zhou, Lü and Zhang, 2009).

Rates pool all copies; from `FEWEST_DRAWS` copies on the interval is a bootstrap over copies. A
person's risk is the share of their hidden edges that are shown. Cost of a copy: a matching, and the
sum of squared degrees for the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.networks import propagation
from graphveil.attacks.networks.assignment import expand_when_stuck, mutual_best
from graphveil.attacks.networks.copies.paired_copy import pairing
from graphveil.attacks.networks.copies.reidentification import FEWEST_DRAWS, check_people
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time, stage
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison, Int32s, sparse
from graphveil.evaluate.metric import NotMeasuredError, Sample

Pairs: TypeAlias = "Ints"
"""Pairs of nodes u < v of n, as the sorted numbers u * n + v, int64."""


@dataclass(frozen=True, kw_only=True)
class EdgeGainOptions(attack.AttackOptions, label="edge-gain"):
    """What the attacker knows, and how many copies are made."""

    overlap: float = parameter(
        default=0.8,
        text="share of the original edges that the attacker knows",
        minimum=0,
        maximum=1,
    )
    known: int = parameter(
        default=30, text="number of people whose released node is known", minimum=1
    )
    draws: int = parameter(
        default=10, text="number of copies, each with different known people", minimum=1
    )


class Learned(NamedTuple):
    """The pairs of one copy, as pairs of people of the original.

    Parameters
    ----------
    hidden : Pairs
        The original's edges that the attacker did not know.
    shown : Pairs
        The pairs that the release shows to the attacker as further edges.
    predicted : Pairs
        As many pairs that are likeliest by the known edges alone.
    """

    hidden: Pairs
    shown: Pairs
    predicted: Pairs


def edge_gain(
    situation: attack.AttackInput[GraphComparison], options: EdgeGainOptions
) -> attack.Outcome:
    """Return how many unknown edges a matching of the known ones with the release shows.

    A person's risk is the share of their hidden edges that the release shows, next to the share
    that is predicted.
    """
    pair = situation.comparison
    check_people(pair)
    rng = situation.rng("edge-gain")
    trials: list[Learned] = []
    capped = 0
    for draw in in_time(range(options.draws)):
        with stage(f"matching known edges, {draw + 1} of {options.draws}"):
            # Steps 1 and 2, copy by copy.
            two = pairing(pair, options.overlap, rng, filled=False)
            matched = propagation.guess(two, options.known, rng)
            trials.append(learned(pair.original, matched))
            capped += matched.capped
    if not any(trial.hidden.size for trial in trials):
        raise NotMeasuredError("the attacker already knows every edge of the original")
    # Step 3: everybody's risk, and the figures.
    risk, baseline = (
        _revealed(pair.original.n_nodes, trials, source) for source in ("shown", "predicted")
    )
    figures, missing = _figures(trials, Setting(capped=capped or None), rng)
    return attack.Outcome(figures, risk, baseline, missing)


PER_SQUARE = 1e-7
"""Seconds of one copy per squared degree, to predict as many edges."""


def seconds(situation: attack.AttackInput[GraphComparison], options: EdgeGainOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    propagation.check_matching(pair)
    return options.draws * (propagation.seconds_of_draw(pair) + PER_SQUARE * attack.squares(pair))


def learned(original: Graph, guess: propagation.Guess) -> Learned:
    """Return which further edges the release shows to an attacker who made this match."""
    two, n = guess.pairing, original.n_nodes
    # What is known, hidden and shown, as pairs of people, through the orders of the pairing and the
    # match.
    known = pair_numbers(two.person[two.copy.edges()], n)
    ends = expand_when_stuck.inverse(guess.match, n)[two.released.edges()]
    matched = two.person[ends[(ends >= 0).all(axis=1)]]
    shown = np.setdiff1d(pair_numbers(matched, n), known)
    # The baseline has as many tries as the release shows edges, so that precisions can be compared.
    likely = two.person[likeliest_pairs(two.copy, shown.size)]
    return Learned(
        hidden=np.setdiff1d(pair_numbers(original.edges(), n), known),
        shown=shown,
        predicted=pair_numbers(likely, n),
    )


def pair_numbers(pairs: Ints | Int32s, n: int) -> Pairs:
    """Return pairs of n nodes, shape (pairs, 2), as sorted numbers.

    >>> pair_numbers(np.array([[2, 1], [0, 1]]), 3).tolist()
    [1, 5]
    """
    ends = np.sort(pairs.reshape(-1, 2).astype(np.int64), axis=1)
    return np.unique(ends[:, 0] * n + ends[:, 1])


def likeliest_pairs(graph: Graph, size: int) -> Ints:
    """Return pairs without an edge that are likeliest to have one, int64, shape (at most size, 2).

    By the sum of 1/degree over common neighbors, above 0: resource allocation, Zhou, Lü and Zhang,
    2009. It costs the squares of the degrees, a block of rows at a time.
    """
    near = graph.to_scipy().astype(np.float64)
    degrees = graph.degrees()
    weighed = near @ sparse.diags_array(1 / np.maximum(degrees, 1.0))
    work = np.concatenate([[0], np.cumsum(degrees[near.indices])])[near.indptr]
    best = np.empty((0, 2), dtype=np.int64)
    scores = np.empty(0)
    for start, end in in_time(mutual_best.row_blocks(work)):
        # Two steps with weights 1/degree of the middle node, less pairs that have an edge already.
        block = weighed[start:end] @ near
        block = (block - block.multiply(near[start:end])).tocoo()
        row = block.row.astype(np.int64) + start
        new = (row < block.col) & (block.data > 0)
        best = np.concatenate([best, np.column_stack([row[new], block.col[new]])])
        scores = np.concatenate([scores, block.data[new]])
        # Keep the best so far: memory stays at `size` pairs and one block.
        order = np.argsort(-scores, kind="stable")[:size]
        best, scores = best[order], scores[order]
    return best


def _figures(
    trials: Sequence[Learned], setting: Setting, rng: np.random.Generator
) -> tuple[list[attack.AttackFigure], dict[str, str]]:
    """Return precision and recall over all copies, and why one of them is missing."""
    # True edges among those that the release shows, and among those that are predicted.
    hits, guesses = (
        np.array(
            [np.intersect1d(getattr(trial, source), trial.hidden).size for trial in trials],
            dtype=float,
        )
        for source in ("shown", "predicted")
    )
    bases = {
        "precision": np.array([trial.shown.size for trial in trials], dtype=float),
        "recall": np.array([trial.hidden.size for trial in trials], dtype=float),
    }
    figures, missing = [], {}
    # Precision divides by what is shown, recall by what is hidden.
    for part, base in bases.items():
        if not base.sum():
            missing[part] = "the release reveals no further edge in any draw"
            continue
        enough = len(trials) >= FEWEST_DRAWS
        sample = bootstrap_ratio(hits, base, rng) if enough else Sample(len(trials))
        value, baseline = (float(number.sum() / base.sum()) for number in (hits, guesses))
        unit = "share of revealed edges" if part == "precision" else "share of unknown edges"
        figure = attack.AttackFigure(part, value, unit, baseline, sample=sample, setting=setting)
        figures.append(figure)
    return figures, missing


def _revealed(n: int, trials: Sequence[Learned], source: str) -> Floats:
    """Return the share of everybody's hidden edges that one source shows, over all copies.

    `source` is the name of a field of `Learned`: what the release shows, or what is predicted.
    """
    hidden, hit = np.zeros(n), np.zeros(n)
    for trial in trials:
        hidden += _ties(trial.hidden, n)
        hit += _ties(np.intersect1d(getattr(trial, source), trial.hidden), n)
    return np.where(hidden > 0, hit / np.maximum(hidden, 1), np.nan)


def _ties(pairs: Pairs, n: int) -> Ints:
    return np.bincount(np.concatenate([pairs // n, pairs % n]), minlength=n)


EDGE_GAIN = attack.Attack(
    name="edge-gain",
    kind=Graph,
    knows="most of the edges of the original, none of them false, with their directions, their "
    "types and the published attributes if the release has them; and the released nodes "
    "of some people",
    definition="for released edges between matched people that the attacker did not know: the "
    "share that are edges of the original, and the share of all unknown original edges that they "
    "reveal; compared with the same number of pairs predicted from the known edges alone",
    source="matching as in seed-propagation; prediction: Zhou, Lü & Zhang 2009",
    cost=f"heavy, up to {propagation.MOST_NODES:,} nodes and a sum of squared degrees of "
    f"{propagation.MOST_SQUARES:,}; not run by default",
    compute=edge_gain,
    seconds=seconds,
    options=EdgeGainOptions,
    by_name=True,
    said=(
        inferred(
            "precision",
            does="knows most edges and reads further ones from the release",
            line="revealed edges that are correct, for an attacker who knows most edges",
            label="further connections of known people",
            says="{n} of the connections it shows are true",
        ),
        inferred(
            "recall", line="unknown edges that are revealed, for an attacker who knows most edges"
        ),
    ),
)
