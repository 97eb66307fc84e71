"""Goals: what a run is to reach, and the share that it may then claim.

The three variants of the anonymization problem (de Jong, van der Loo and Takes, *The anonymization
problem in social networks*, section 4, definition 1): `Full`, `Partial` (the paper's share alpha)
and `Budget` (its B alterations).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from graphveil.claims.conditions import edits_in
from graphveil.core.bounds import share_of_text
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import check_digits, rounded_down

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+((?P<exponent>e-?[0-9]+)|%)?")
"""A share as text: a decimal number, a percentage, or a small number as Python writes it (1e-5)."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a run is to reach: `Full`, `Partial` or `Budget`.

    Notes
    -----
    De Jong, van der Loo and Takes, *The anonymization problem in social networks*, definition 1.

    Examples
    --------
    >>> goal = Goal.parse("partial:0.9")
    >>> goal.allowed(n_nodes=50)
    5
    >>> Goal.parse("budget:5%").budget(n_edges=110)
    6
    """

    def allowed(self, n_nodes: int) -> int:
        """Return how many nodes may be unprotected, in small classes, when the run stops."""
        del n_nodes
        return 0

    def budget(self, n_edges: int) -> int | None:
        """Return the most edits, or None where the goal sets none."""
        del n_edges
        return None

    @staticmethod
    def parse(text: str) -> Goal:
        """Return the goal that a text such as ``full`` or ``budget:0.05`` names."""
        kind, _, amount = str(text).partition(":")
        if kind == "full" and not amount:
            return Full()
        if kind in {"partial", "budget"} and (number := _NUMBER.fullmatch(amount)):
            share = share_of_text(amount) if number["exponent"] is None else float(amount)
            if not 0 < share <= 1:
                raise ParameterError(
                    f"goal={text!r} is outside (0, 1]. Use a share or percent, such as "
                    f"{kind}:0.05 or {kind}:5%; a number of edges is budget:5edges."
                )
            return (Partial if kind == "partial" else Budget)(share=share)
        if kind == "budget" and re.fullmatch(r"[0-9]{1,12}edges", amount):
            return Budget(edges=int(amount.removesuffix("edges")))
        raise ParameterError(
            f"goal={text!r} is not valid. Use full, partial:SHARE, budget:SHARE or "
            "budget:NUMBERedges."
        )


@dataclass(frozen=True, kw_only=True)
class Full(Goal):
    """Every node is to be anonymous, with as few edits as possible.

    Examples
    --------
    >>> Full().allowed(n_nodes=105), Full().budget(n_edges=441)
    (0, None)
    """

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return "full"


@dataclass(frozen=True, kw_only=True)
class Partial(Goal):
    """A share of the nodes is to be anonymous, with as few edits as possible.

    Parameters
    ----------
    share
        In (0, 1]; at most ``floor((1 - share) * n + 1e-9)`` nodes stay unprotected.

    Raises
    ------
    ParameterError
        If the share is outside (0, 1].

    Examples
    --------
    >>> Partial(share=0.95).allowed(n_nodes=105)
    5
    """

    share: float = 0.95

    def __post_init__(self) -> None:
        """Check the share."""
        _check_range(self.share)
        check_digits("share", self.share)

    def allowed(self, n_nodes: int) -> int:
        """Return how many nodes may stay unprotected.

        Parameters
        ----------
        n_nodes
            How many nodes the network has.

        Returns
        -------
        int
            At most so many nodes stay unprotected.

        Examples
        --------
        >>> Partial(share=0.9).allowed(39)
        3
        """
        # 1e-9: (1 - 0.9) * 10 is 0.9999999999999998, where one node is meant.
        return math.floor((1 - self.share) * n_nodes + 1e-9)

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return f"partial:{self.share!r}"


@dataclass(frozen=True, kw_only=True)
class Budget(Goal):
    """As many nodes as a number of edits can make anonymous.

    Parameters
    ----------
    share
        Of the input's edges, in (0, 1], rounded up. A share with more than five significant
        digits is rounded down first, with a warning.
    edges
        Or their number, at least 1.

    Raises
    ------
    ParameterError
        If not exactly one of the two is given, or it is out of range.

    Examples
    --------
    >>> Budget(share=0.05).budget(n_edges=441)
    23
    """

    share: float | None = None
    edges: int | None = None

    def __post_init__(self) -> None:
        """Check that one of the two is given."""
        if (self.share is None) == (self.edges is None):
            raise ParameterError(
                "a budget is either a share of the edges or a number of edges. "
                "Give exactly one of them."
            )
        if self.share is not None:
            _check_range(self.share)
            object.__setattr__(self, "share", rounded_down("the share of a budget", self.share))
        if self.edges is not None and self.edges < 1:
            raise ParameterError(f"edges={self.edges} is not a valid budget. Give at least 1.")

    def budget(self, n_edges: int) -> int | None:
        """Return the most edits.

        Parameters
        ----------
        n_edges
            How many edges the network has.

        Returns
        -------
        int or None
            The largest number of edits.

        Examples
        --------
        >>> Budget(share=0.1).budget(39), Budget(edges=3).budget(39)
        (4, 3)
        """
        return self.edges if self.share is None else edits_in(self.share, n_edges)

    def __str__(self) -> str:
        """Return the text that `Goal.parse` reads."""
        return f"budget:{self.edges}edges" if self.edges is not None else f"budget:{self.share!r}"


def _check_range(share: float) -> None:
    if not 0 < share <= 1:
        raise ParameterError(f"share={share} is outside (0, 1]. Use a fraction in this range.")


def share_of(reached: int, n_nodes: int) -> float:
    """Return the share that a release may claim in which `reached` of n nodes are protected.

    That is reached / n, or a number just below it under which `Partial.allowed` gives the nodes
    that are not protected.
    """
    # Division may round up: step down to a share under which n - reached nodes may be unprotected.
    share = reached / n_nodes if n_nodes else 1.0
    while math.floor((1 - share) * n_nodes + 1e-9) < n_nodes - reached:
        share = math.nextafter(share, 0.0)
    return share
