"""The method `suppress-k`: rows equal at least k-1 others, and nothing is added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from msgspec import UNSET

from graphveil.claims.guarantees import KAnonymity
from graphveil.methods.base import Reached
from graphveil.methods.equivalence_classes.rule import Rule, Theta
from graphveil.methods.smooth_k.clustered import Clustered


@dataclass(frozen=True, kw_only=True)
class SuppressK(Clustered):
    """Every row equals at least k-1 others; nothing was added.

    Rows are put together in clusters of at least k; a cluster publishes the features that all of
    its rows have. The parameters are those of `SmoothK` without its thresholds. The rows of a table
    are put together by the columns that a class publishes, the finest first.

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
    algorithm
        ``Greedy(...)``, or ``Facility(...)``: the published non-smooth variant, which cuts clusters
        unless it is given ``cut=False``.
    chunks
        As in `SmoothK`.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or two exclude each other.

    Notes
    -----
    Esfandiari et al., *Smooth Anonymity for Sparse Graphs*, the comparison by suppression.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> data = Bipartite.from_lists([["rye", "tea"], ["rye", "tea"], ["ale", "tea"], ["ale"]])
    >>> release = SuppressK(k=2).anonymize(data)
    >>> sorted(set(map(tuple, release.data.to_lists()["items"].to_pylist())))
    [('ale',), ('rye', 'tea')]
    """

    name: ClassVar[str] = "suppress-k"
    when: ClassVar[str] = "Every published entry must be true; rare entries may be suppressed."
    promise: ClassVar[str] = "Every row equals at least k-1 others; nothing was added."
    source: ClassVar[str] = (
        "Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs; "
        "greedy growth and local search are graphveil's own"
    )
    limits: ClassVar[str] = (
        "What the members of a class have in common: the entries that are published."
    )
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "In our tests these were 91% of the original entries; an attacker who knew 8 items "
            "of a person found that person's class in 73% of the cases (2,000 people, k=2).",
            {"k": 2},
        ),
        Reached(
            "In our tests these were 92% of the original entries; an attacker who knew 8 items "
            "of a person found that person's class in 69% of the cases (32,561 people, k=8).",
            {"k": 8},
        ),
        Reached(
            "In our tests these were 72% of the original entries; an attacker who knew 8 items "
            "of a person found that person's class in 50% of the cases (2,000 people, k=16).",
            {"k": 16},
        ),
    )
    cuts: ClassVar[bool] = True

    @property
    def rule(self) -> Rule:
        """Which features a cluster keeps: those that all of its rows have."""
        return Rule(Theta(1))

    @property
    def guarantee(self) -> KAnonymity:
        """What is promised."""
        return KAnonymity(k=self.k, known=self.roles.known or UNSET)
