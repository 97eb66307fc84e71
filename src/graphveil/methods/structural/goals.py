"""When structural anonymity is enough: for everybody, for a share, or for a price."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from graphveil.claims.conditions import edits_in
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import check_digits
from graphveil.core.warnings import Advice, UnprotectedWarning

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(e-?[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Goal(ABC):
    """What a run is to reach: `Full`, `Partial` or `Budget`.

    Examples
    --------
    >>> Goal.parse("partial:0.95")
    Partial(share=0.95)
    >>> str(Budget(edges=200))
    'budget:200edges'
    """

    @abstractmethod
    def allowed(self, n_nodes: int) -> int:
        """Return how many nodes may be unprotected, in small classes, when the run stops."""

    @abstractmethod
    def budget(self, n_edges: int) -> int | None:
        """Return the most edits, or None where the goal sets none."""

    @staticmethod
    def parse(text: str) -> Goal:
        """Return the goal that a text such as ``full`` or ``budget:0.05`` names.

        Raises
        ------
        ParameterError
            Where it names none, or a share or number is out of range.
        """
        kind, _, amount = str(text).partition(":")
        if kind == "full" and not amount:
            return Full()
        if kind in {"partial", "budget"} and _NUMBER.fullmatch(amount):
            return (
                Partial(share=float(amount)) if kind == "partial" else Budget(share=float(amount))
            )
        if kind == "budget" and re.fullmatch(r"[0-9]{1,12}edges", amount):
            return Budget(edges=int(amount.removesuffix("edges")))
        raise ParameterError(
            f"goal={text!r} is none. Give full, partial:SHARE, budget:SHARE or budget:NUMBERedges."
        )


@dataclass(frozen=True, kw_only=True)
class Full(Goal):
    """Every node is to be anonymous."""

    def allowed(self, n_nodes: int) -> int:
        """Return 0."""
        del n_nodes
        return 0

    def budget(self, n_edges: int) -> int | None:
        """Return None: as many edits as it takes."""
        del n_edges
        return None

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return "full"


@dataclass(frozen=True, kw_only=True)
class Partial(Goal):
    """A share of the nodes is to be anonymous.

    Parameters
    ----------
    share
        In (0, 1]; at most ``floor((1 - share) * n + 1e-9)`` nodes stay unprotected.
    """

    share: float = 0.95

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share(self.share)

    def allowed(self, n_nodes: int) -> int:
        """Return how many nodes may stay unprotected."""
        return math.floor((1 - self.share) * n_nodes + 1e-9)

    def budget(self, n_edges: int) -> int | None:
        """Return None: as many edits as it takes."""
        del n_edges
        return None

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return f"partial:{self.share!r}"


@dataclass(frozen=True, kw_only=True)
class Budget(Goal):
    """As many nodes as a number of edits can make anonymous.

    Parameters
    ----------
    share
        Of the input's edges, in (0, 1], rounded up.
    edges
        Or their number, at least 1.
    """

    share: float | None = None
    edges: int | None = None

    def __post_init__(self) -> None:
        """Check that one of the two is given."""
        if (self.share is None) == (self.edges is None):
            raise ParameterError("a budget is a share of the edges or their number. Give one.")
        if self.share is not None:
            _check_share(self.share)
        if self.edges is not None and self.edges < 1:
            raise ParameterError(f"edges={self.edges} is no budget. Give at least 1.")

    def allowed(self, n_nodes: int) -> int:
        """Return 0: the run goes on while the budget lasts."""
        del n_nodes
        return 0

    def budget(self, n_edges: int) -> int | None:
        """Return the most edits."""
        return self.edges if self.share is None else edits_in(self.share, n_edges)

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return f"budget:{self.edges}edges" if self.edges is not None else f"budget:{self.share!r}"


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise ParameterError(f"share={share} is outside (0, 1]. Give a fraction.")
    check_digits("share", share)


def share_of(reached: int, n_nodes: int) -> float:
    """Return the largest fraction that claims no more than so many of n nodes.

    Examples
    --------
    >>> share_of(19, 20)
    0.95
    """
    share = reached / n_nodes if n_nodes else 1.0
    while math.floor((1 - share) * n_nodes + 1e-9) < n_nodes - reached:
        share = math.nextafter(share, 0.0)
    return share


def missed(goal: Goal, unprotected: int, n_nodes: int) -> list[str]:
    """Return the advice on a goal that was missed; none where it was not, or is a budget."""
    allowed = goal.allowed(n_nodes)
    if unprotected <= allowed or isinstance(goal, Budget):
        return []
    advice = (
        f"the goal {goal} was missed: {unprotected} nodes are unprotected, "
        f"{allowed} may be. The release claims the share that was reached, "
        f"{100 * (1 - unprotected / n_nodes):.1f} % of the people"
    )
    return [Advice(advice, UnprotectedWarning)]
