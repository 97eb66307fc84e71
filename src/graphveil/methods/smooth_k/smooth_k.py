"""The method `smooth-k`: equal rows, whose entries are true of at least half of their class.

A defense beyond the rule: noisy thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, TrueOfMoreThanHalf
from graphveil.claims.guarantees import SmoothKAnonymity
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.methods.base import Reached
from graphveil.methods.equivalence_classes.rule import Profiles, Rule, Theta
from graphveil.methods.smooth_k.clustered import Clustered


def noisy(
    profiles: Profiles, rule: Rule, rate: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which pairs reach their least count plus a random number.

    Parameters
    ----------
    profiles
        The features of every cluster.
    rule
        The least counts.
    rate
        The random number is g >= 0 with probability proportional to ``exp(-rate * g)``.
    rng
        The randomness.

    Examples
    --------
    >>> one = Profiles(*(np.array(x) for x in ([0], [0], [2], [2])))
    >>> noisy(one, Rule(), 50.0, np.random.Generator(np.random.PCG64(1))).tolist()
    [True]
    """
    raised = rng.geometric(-np.expm1(-rate), size=profiles.counts.size) - 1
    return np.asarray(profiles.counts >= rule.least(profiles.sizes)[profiles.clusters] + raised)


@dataclass(frozen=True, kw_only=True)
class SmoothK(Clustered):
    """Every row equals at least k-1 others; each entry is true of at least theta of its class.

    Rows are put together in clusters of at least k; a cluster publishes, for all of its rows, the
    features that at least the share theta of them have, and no others. So some entries are lost
    and some are created. The default grows clusters greedily and refines them by local search;
    `Facility` is the published algorithm.

    Parameters
    ----------
    k
        The smallest class of equal rows.
    known
        Of a table, the columns that an attacker may know, in which rows are equal. Default: all.
    attach
        Columns of a table that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    theta
        The share of a cluster that must have a feature: a fraction in [1/2, 1], exactly.
    ties
        Whether a feature of exactly half of the rows is kept; ``"drop"`` with theta 1/2 only.
    algorithm
        ``Greedy(seed_order="auto", refine=LocalSearch(...))``, or the published one,
        ``Facility(beta=2, runs=10, ...)``.
    chunks
        ``Chunks(rows=100_000)`` where rows are to be anonymized in chunks. None takes all as one,
        or, where common features would make that take long, chunks as large as can be; the
        private record says so.
    threshold_noise
        A cluster keeps a feature from the least number of rows plus a random number on, which is g
        with probability proportional to exp(-threshold_noise * g): that exactly the least number
        have a feature is then certain of none.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or two exclude each other.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*; facility location as in its appendix D.
    On the command line and in files the fields of algorithms and chunks stand flat, as
    ``--algorithm facility --beta 2 --chunk-rows 100000``.

    Examples
    --------
    >>> from graphveil import Bipartite
    >>> data = Bipartite.from_lists([["rye", "tea"], ["rye", "tea"], ["ale", "tea"], ["ale"]])
    >>> release = SmoothK(k=2).anonymize(data)
    >>> sorted(set(map(tuple, release.data.to_lists()["items"].to_pylist())))
    [('ale', 'tea'), ('rye', 'tea')]
    """

    name: ClassVar[str] = "smooth-k"
    when: ClassVar[str] = (
        "Data is sparse, and a few false entries are acceptable if far more entries are kept."
    )
    promise: ClassVar[str] = (
        "Every row equals at least k-1 others; each entry is true of at least theta of its class."
    )
    source: ClassVar[str] = (
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; "
        "greedy growth and local search are graphveil's own"
    )
    limits: ClassVar[str] = "What the members of a class have in common."
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "In our tests, 84% of the published entries were true of everyone in their class; "
            "an attacker who knew 8 items of a person found that person's class in 96% of the "
            "cases (2,000 people, k=2, theta=1/2).",
            {"k": 2, "theta": "1/2"},
        ),
        Reached(
            "In our tests, 77% of the published entries were true of everyone in their class; "
            "an attacker who knew 8 items of a person found that person's class in 83% of the "
            "cases (32,561 people, k=8, theta=1/2).",
            {"k": 8, "theta": "1/2"},
        ),
        Reached(
            "In our tests, 38% of the published entries were true of everyone in their class; "
            "an attacker who knew 8 items of a person found that person's class in 67% of the "
            "cases (2,000 people, k=16, theta=1/2).",
            {"k": 16, "theta": "1/2"},
        ),
    )

    theta: Theta = parameter(
        default=Theta(1, 2),
        text=("share of a class that must have a feature for it to be published, 1/2 to 1"),
    )
    ties: Literal["keep", "drop"] = parameter(
        default="keep", text="what to do with features of exactly half of a class (theta 1/2)"
    )
    threshold_noise: float | None = parameter(
        default=None,
        text="raise thresholds at random; a smaller value raises them more",
        minimum=1e-3,
        unset="no noise",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and those that exclude each other."""
        super().__post_init__()
        if self.ties == "drop" and self.theta != Theta(1, 2):
            raise ParameterError(
                "ties=drop concerns features of exactly half of a cluster, but theta is "
                f"{self.theta}. Remove one of the two."
            )

    @property
    def rule(self) -> Rule:
        """Which features a cluster keeps."""
        return Rule(self.theta, self.ties)

    @property
    def guarantee(self) -> SmoothKAnonymity:
        """What is promised."""
        return SmoothKAnonymity(k=self.k, theta=str(self.theta), known=self.roles.known or UNSET)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds by construction."""
        drops = self.ties == "drop"
        true = (TrueOfMoreThanHalf(columns=self.roles.known or UNSET),) if drops else ()
        return (*super().conditions, *true)

    def published(self, profiles: Profiles, randomness: Randomness) -> NDArray[np.bool_]:
        """Return which pairs are published, after noise."""
        kept = profiles.kept(self.rule)
        if self.threshold_noise is not None:
            rng = randomness.stream("thresholds")
            kept &= noisy(profiles, self.rule, self.threshold_noise, rng)
        return kept
