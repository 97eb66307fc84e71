"""How one stretch of annealing runs, and what it proposes: the same for all walks."""

from __future__ import annotations

from typing import NamedTuple


class Schedule(NamedTuple):
    """How one stretch of annealing runs.

    The temperature falls from `hot` to `cold` geometrically over `steps` proposals. The energy is
    `price` an edit, `pull` a unit of gap, and for the unprotected nodes a mean of their number and
    of what their classes lack, the latter with weight `ease`; both count only beyond what is
    `spared`, and what is `spared_lack`. With `stop` the walk ends at the nodes `allowed`. Where the
    adversary's knowledge is off by some percent, a node counts `half` tenths besides if it is
    unprotected from knowledge that is off by half of that, and `exact` if from an exact one.
    """

    steps: int
    hot: float
    cold: float
    price: float
    ease: float
    pull: float
    spared: float
    spared_lack: float
    allowed: int
    stop: bool
    half: int = 0
    exact: int = 0


class Odds(NamedTuple):
    """How likely what is proposed is.

    `focus` is the probability to look near an unprotected node, else `undo` that to revert an edit;
    `swap` that to revert one beside an edit. Walks over a pool make an edit beside a revert with
    probability `swap_back`; walks with aims `add` an edge, where they do not delete one. At most
    `budget` pairs change.
    """

    focus: float
    undo: float
    swap: float
    swap_back: float
    add: float
    budget: int
