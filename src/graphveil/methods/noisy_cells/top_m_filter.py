"""The method `top-m-filter`: noisy cells above a threshold, with a noisy number of them.

Follows Nguyen, Imine & Rusinowitch, *Differentially Private Publication of Social Graphs at Linear
Cost* (2015), section III, Algorithm 1. A noisy number m~ of edges is released. Laplace noise is
added to every cell of the adjacency matrix in thought, and cells above a threshold theta are
published; theta is such that m~ cells are expected above it. Only the probabilities of passing
matter, P[1 + Lap > theta] for an edge and P[Lap > theta] for another pair, so no noisy matrix is
formed.

Epsilon is the total: `epsilon_count` is the paper's epsilon_2, the rest its epsilon_1. The default
of 0.5 is that of the authors' code; their experiments have epsilon_2 = 1 in addition to epsilon_1.

Departures, numbered as the lines of Algorithm 1:

- line 3: the noise of m~ is a whole number, and m~ is clamped into a range in which theta is
  defined;
- lines 4 to 8, as printed, contradict equations 3 and 4: the branches of line 5 are swapped, line 6
  lacks 1/2, and line 8 means e^epsilon_1. The equations are used;
- lines 9 to 15: passing is sampled with a threshold in whole numbers, which carries the claim;
- lines 16 to 22 fix the size of the release at m~. So theorem 3.2 fails for every epsilon: with a
  known m~, a larger output shows that all of its edges are true. ``variant="independent"`` samples
  the other pairs independently instead, and satisfies epsilon. ``variant="published"`` keeps the
  fixed size, fills it with pairs that are not edges (line 19 could pick a failed edge again), and
  carries no guarantee.

Cost: O(m + m~), as theorem 3.1, in expectation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar, Literal

from graphveil.claims.conditions import Condition, TopMThresholds
from graphveil.claims.guarantees import EdgeDP, NotClaimed
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import Advice, NoGuaranteeWarning
from graphveil.data import Graph
from graphveil.methods.card import MethodCard
from graphveil.methods.noise.cells import (
    Channel,
    cells_of,
    exp_below,
    flipped,
    number_of_cells,
    with_cells,
)
from graphveil.methods.noise.laws import (
    FULL,
    Cells,
    Words,
    bernoulli,
    discrete_laplace,
    union,
    words_from,
)
from graphveil.methods.noisy_cells import noisy
from graphveil.release.draft import Draft

_FEWEST_NODES = 4
"""With 4 nodes there are 6 cells, and m~ can be 1 or 2; with fewer, no m~ is below half of them."""

_DIGITS = Context(prec=60, rounding=ROUND_FLOOR)
"""Decimal digits of theta and of the probabilities: far more than the 19 of a threshold."""

_HALF = Decimal("0.5")

# The warning for the data owner on every release of the published variant.
UNPROVED = Advice(
    "variant=published carries no guarantee: its fixed number of edges satisfies no bound. For "
    "a guaranteed epsilon use variant=independent, or asymmetric-response",
    NoGuaranteeWarning,
)


CARD = MethodCard(
    when="You reproduce or compare with the published Top-m Filter.",
    promise="Edge differential privacy with factor e^epsilon; variant=published claims nothing.",
    source=(
        "Nguyen, Imine & Rusinowitch, Differentially Private Publication of Social Graphs at "
        "Linear Cost, algorithm 1, corrected"
    ),
    limits="All edges of one person together: epsilon is for a single edge.",
    reached=(
        noisy.copies_found(92, "1,224 nodes", epsilon=7.11, variant="independent"),
        noisy.copies_found(100, "242 nodes, dense", epsilon=4.0, variant="independent"),
        noisy.copies_found(100, "242 nodes, dense", epsilon=2.0, variant="independent"),
    ),
    cost="linear in the number of edges before and after",
    example={"epsilon": 4.0},
    **noisy.NOISY_FIELDS,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class TopMFilter(noisy.NoisyMethod):
    """Edge differential privacy with factor e^epsilon; variant=published claims nothing.

    Noise is added to every cell, and cells above a threshold are published. The threshold follows
    from a noisy number of edges, so that about as many are published.

    Parameters
    ----------
    epsilon
        The total, above `epsilon_count` and at most 40.
    epsilon_count
        The part of epsilon for the noisy number of edges. Default: 0.5.
    variant
        ``"independent"`` samples every cell independently. ``"published"`` is the paper's: edges
        that pass, filled with pairs that are not edges up to the noisy number. It is for study.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the count leaves nothing for the cells.

    Notes
    -----
    Nguyen, Imine & Rusinowitch (2015), equations 3 and 4, with the errors of their Algorithm 1
    corrected: the branches of line 5, the 1/2 that line 6 lacks, exp(epsilon) in line 8; line 19
    samples pairs that are not edges. The count has whole-number noise and is clamped into its
    range. Line 17 fixes the size, and with it theorem 3.2 fails for every epsilon: if the noisy
    count is known, more edges than it says show that all of them are true.

    With the threshold theta, e the part for the cells, m~ the noisy count of N cells, and x =
    ln(N/m~ - 1): theta = x/(2 e) + 1/2 if e > x, otherwise ln(N/(2 m~) + (exp(e) - 1)/2)/e. An edge
    passes with P[1 + Lap(1/e) > theta], another pair with P[Lap(1/e) > theta].

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> TopMFilter(epsilon=2.0).guarantee.check_word
    'by construction'
    >>> TopMFilter(epsilon=2.0, variant="published").guarantee.reasons
    ('fixed-size',)
    """

    name: ClassVar[str] = "top-m-filter"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = CARD
    # `shares` names the part. Its fraction is never used, since `epsilon_count` has a default.
    shares: ClassVar[Mapping[str, noisy.Share]] = {"epsilon_count": noisy.COUNT_SHARE}

    epsilon_count: float = parameter(
        default=0.5,
        text="share of epsilon spent on the noisy edge count",
        minimum=noisy.SMALLEST_PART,
        maximum=39,
    )
    variant: Literal["independent", "published"] = parameter(
        default="independent",
        text="each pair independently, or the paper's fixed size, which carries no guarantee",
    )

    @property
    def guarantee(self) -> EdgeDP | NotClaimed:
        """What a run without a seed guarantees; nothing with ``variant="published"``."""
        if self.variant == "published":
            return NotClaimed(reasons=("fixed-size",))
        return super().guarantee

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return () if self.variant == "published" else (TopMThresholds,)

    @property
    def rows_needed(self) -> int:
        """The fewest nodes for which some number of edges is in range."""
        return _FEWEST_NODES

    def check_size(self, n: int, *, noun: str = "nodes") -> None:
        """Refuse fewer than four nodes.

        Parameters
        ----------
        n
            The number of nodes, which is public.
        noun
            What they are called in the message.

        Raises
        ------
        InfeasibleError
            If there are fewer.
        """
        if n < _FEWEST_NODES:
            raise InfeasibleError(
                f"top-m-filter needs at least {_FEWEST_NODES} {noun}; the data has {n}. Use "
                "asymmetric-response."
            )

    def flips(self, n_cells: int, count: int) -> TopMThresholds:
        """Return the thresholds of a cell, and what they follow from.

        Parameters
        ----------
        n_cells
            The number of cells.
        count
            The noisy number of edges, from 1 to below half of the cells.

        Returns
        -------
        TopMThresholds
            The condition that states them.

        Examples
        --------
        >>> flips = TopMFilter(epsilon=2.5).flips(100, 20)
        >>> flips.epsilon_cells, round(int(flips.T0) / 2**64, 3), round(int(flips.T1) / 2**64, 3)
        ('2', 0.092, 0.632)
        """
        through = thresholds_of(n_cells, count, self.epsilon_cells)
        return TopMThresholds(
            cells=str(n_cells),
            epsilon_cells=str(self.epsilon_cells),
            T0=str(through.zero),
            T1=str(through.one),
            noisy_count=str(count),
        )

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Line 3: the noisy number of edges. One edge changes it by 1, so its noise has all of
        # epsilon_count. It is clamped afterwards, to where theta is defined: below half of the
        # cells, so that the x of equation 5 is above 0.
        ones, n_cells = cells_of(data), number_of_cells(data)
        noise = discrete_laplace(words_from(randomness, "count"), self.parts["epsilon_count"], 1)
        count = min(max(ones.size + int(noise[0]), 1), n_cells // 2 - 1)
        # Lines 4 to 8: the threshold, as the probabilities with which a 1 and a 0 pass it.
        stated = self.flips(n_cells, count)
        through = Channel(int(stated.T0), int(stated.T1))
        # Lines 9 to 22. Independent cells: one edge changes one factor, by at most e^epsilon_cells.
        # The published variant fixes the number of edges, for which there is no such bound.
        words, published = words_from(randomness, "cells"), self.variant == "published"
        if published:
            cells = filled(words, ones, n_cells, through.one, count)
        else:
            cells, _ = flipped(words, ones, n_cells, through)
        advice = (*noisy.copies_matched(data, through, count), *((UNPROVED,) if published else ()))
        conditions = () if published else (stated,)
        return noisy.noisy_draft(data, with_cells(data, cells), *advice, conditions=conditions)


def filled(words: Words, ones: Cells, n_cells: int, threshold: int, size: int) -> Cells:
    """Return the ones that pass, filled with uniform other cells up to `size`.

    If more pass, all of them are published, and nothing is filled.
    """
    # Lines 9 to 15: each 1 passes with the threshold.
    kept = ones[bernoulli(words, threshold, ones.size)]
    # Lines 16 to 22: fill with cells that are 0.
    missing = min(max(size - kept.size, 0), n_cells - ones.size)
    return union(kept, noisy.others(words, ones, n_cells, missing))


def thresholds_of(n_cells: int, count: int, epsilon: Fraction) -> Channel:
    """Return the channel that the filter's threshold gives; whole numbers carry the claim.

    Theta comes from rounded logarithms, so the claim cannot depend on it. The threshold of a 0 is
    rounded up. That of a 1 is the filter's, or the most that keeps both ratios within e^epsilon if
    that is less. It is never below that of a 0, as rounding could make it for the tiniest epsilon.
    """
    zero_chance, one_chance = _chances(n_cells, count, epsilon)
    largest = exp_below(epsilon)
    zero = ceil(Fraction(zero_chance) * FULL)
    most = min(floor(largest * zero), FULL - ceil((FULL - zero) / largest))
    return Channel(zero, max(zero, min(floor(Fraction(one_chance) * FULL), most)))


def _chances(n_cells: int, count: int, epsilon: Fraction) -> tuple[Decimal, Decimal]:
    """Return the probabilities of a 0 and of a 1 to be above theta, by equations 3 and 4."""
    # x = ln(N/m~ - 1) is the epsilon at which theta is 1 (equation 5).
    d = _DIGITS
    e = d.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    odds = d.divide(Decimal(n_cells - count), Decimal(count))
    x = d.ln(odds)
    # Equation 3, theta below 1: a 1 passes with 1 - e^(e (theta - 1)) / 2.
    if e > x:
        theta = d.add(d.divide(x, d.multiply(Decimal(2), e)), _HALF)
        below = d.multiply(e, d.subtract(theta, Decimal(1)))
        one = d.subtract(Decimal(1), d.multiply(_HALF, d.exp(below)))
    # Equation 4, theta from 1 on: a 1 passes with e^(e (1 - theta)) / 2.
    else:
        half = d.divide(d.add(odds, d.exp(e)), Decimal(2))
        theta = d.divide(d.ln(half), e)
        below = d.multiply(e, d.subtract(Decimal(1), theta))
        one = d.multiply(_HALF, d.exp(below))
    zero = d.multiply(_HALF, d.exp(d.multiply(e, theta).copy_negate()))
    return zero, one
