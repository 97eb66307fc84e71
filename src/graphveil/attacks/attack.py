"""What an attack is: an entry that says what its adversary knows, and how success is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.evaluate import Comparison
from graphveil.evaluate.metric import Sample
from graphveil.release import Release

C = TypeVar("C", bound=Comparison[Any])

Rerun = Callable[[Data, int], Release]
"""Runs the method again: on the original with its rows in another order, under a seed."""

Exact = Literal["exact", "estimate", "sampled"]
"""Counted, approximated by an algorithm, or drawn."""


class Situation(NamedTuple, Generic[C]):
    """What an attack is computed from.

    Parameters
    ----------
    comparison
        The original beside the release, linked where the linkage is there.
    levels
        int64, shape (n,): how many candidates everybody was promised, in the order of the original;
        None where the promise is none of candidates.
    rerun
        Runs the method again; None where this version does not know it.
    """

    comparison: C
    levels: NDArray[np.int64] | None = None
    rerun: Rerun | None = None


class AttackFigure(NamedTuple):
    """One number of an attack.

    Parameters
    ----------
    part
        Which of the attack's numbers it is.
    value, unit
        The number.
    baseline
        What a guess without the release reaches; None where there is no such guess.
    direction
        Which way is better for the people.
    estimated
        Whether an algorithm approximates it.
    sample
        What a number that is drawn rests on; None where it is not.
    """

    part: str
    value: float
    unit: str
    baseline: float | None = None
    direction: Literal["lower is better", "higher is better"] = "lower is better"
    estimated: bool = False
    sample: Sample | None = None

    @property
    def exact(self) -> Exact:
        """How the number came about."""
        if self.sample is not None:
            return "sampled"
        return "estimate" if self.estimated else "exact"


class Outcome(NamedTuple):
    """What an attack came to.

    Parameters
    ----------
    figures
        Its numbers.
    risk, baseline
        float64, shape (n,): everybody's own risk, in the order of the original, and what it is
        without the release. For the owner alone.
    not_measured
        The parts that are missing, each with the reason.
    """

    figures: list[AttackFigure]
    risk: NDArray[np.float64]
    baseline: NDArray[np.float64]
    not_measured: Mapping[str, str] = MappingProxyType({})


class NotMeasuredError(Exception):
    """An attack cannot be computed here; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Attack(Generic[C]):
    """One attack.

    Parameters
    ----------
    name
        As on the command line.
    kind
        The container it reads.
    knows
        What its adversary knows beside the release.
    definition
        What is counted, in words.
    source
        Where it is defined.
    needs_linkage
        Whether success is counted by the linkage.
    cost
        How its time grows, and up to which size it is computed.
    compute
        Situation to outcome; raises `NotMeasuredError` where it is too large.
    """

    name: str
    kind: type[Graph | Bipartite | Table]
    knows: str
    definition: str
    source: str
    needs_linkage: bool
    cost: str
    compute: Callable[[Situation[C]], Outcome]
