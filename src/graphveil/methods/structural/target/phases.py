"""The phases of the heuristic target: what counts, how warm, for how many proposals.

Every phase anneals the same energy with other weights. The constants were tuned one by one on the
networks of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

HUBS = 0.9
"""The quantile of the degrees from which a node is a hub."""

HUB_WEIGHT = 3


class Phase(NamedTuple):
    """One stretch of annealing.

    Parameters
    ----------
    share
        Of the proposals of the run.
    hot, cold
        The temperatures between which it cools, geometrically.
    price
        What an edit costs, in unprotected nodes.
    pull
        What a unit of distance to a node's aim costs; without it nodes have none.
    quantile
        Nodes below this quantile of the degrees neither count nor have an aim.
    hub_weight
        What an unprotected hub counts; other nodes count 1.
    anchored
        Whether anonymous nodes are pulled to where they are.
    every
        Proposals between two assignments of aims.
    focus, undo, revert
        Of the proposals, those near an unprotected node; of the others, those that revert an
        edit; of all, those that revert one as well.
    """

    share: float
    hot: float
    cold: float
    price: float
    pull: float = 0.0
    quantile: float = 0.0
    hub_weight: int = 1
    anchored: bool = True
    every: int = 100_000
    focus: float = 0.9
    undo: float = 0.5
    revert: float = 0.1


class Course(NamedTuple):
    """The phases of one kind of graph, in turn.

    Parameters
    ----------
    hubs
        Only the nodes of highest degree count; all is still allowed to move.
    everybody
        All nodes count.
    polish
        Nobody is pulled any more.
    again
        For those still unprotected, then polish once more: the anonymous are not anchored.
    rounds
        How often that is done, each time from the best state.
    """

    hubs: tuple[Phase, ...]
    everybody: Phase
    polish: tuple[Phase, ...]
    again: Phase
    rounds: int


POLISH = tuple(
    Phase(share=0.125, hot=0.14, cold=0.03, price=price, focus=0.7, undo=0.3)
    for price in (0.05, 0.02)
)
_SPARSE = Phase(share=0.35, hot=0.25, cold=0.04, price=0.15, pull=0.3, hub_weight=HUB_WEIGHT)
_DENSE = _SPARSE._replace(price=0.1)
_FIRST = Phase(share=0.15, hot=0.3, cold=0.045, price=0.5, pull=0.3, quantile=HUBS)
_STAGE = Phase(share=0.12, hot=0.2, cold=0.04, price=0.1, pull=0.3)


def _sparse(pull: float) -> Course:
    everybody = _SPARSE._replace(pull=pull)
    return Course(
        hubs=(_FIRST._replace(pull=pull),),
        everybody=everybody,
        polish=POLISH,
        again=everybody._replace(share=0.15, hot=0.15, anchored=False),
        rounds=1,
    )


SPARSE = (_sparse(pull=0.3), _sparse(pull=0.5))
"""In turn, start by start: which is better differs from graph to graph."""

DENSE = Course(
    hubs=(
        _FIRST,
        *(_STAGE._replace(quantile=quantile) for quantile in (0.75, 0.5, 0.25)),
    ),
    everybody=_DENSE,
    polish=POLISH,
    again=_DENSE._replace(share=0.15, hot=0.08, price=0.05, pull=0.1, anchored=False),
    rounds=5,
)

FINISH = tuple(
    Phase(share=0.3, hot=hot, cold=0.04, price=0.02, pull=pull, anchored=False, every=500_000)
    for pull, hot in ((0.3, 0.15), (1.0, 0.25)) * 2
)
"""For the last few, each from the best state."""

FINISHED = 20
"""The most nodes too many for which `FINISH` is tried."""

FINISHED_OF_COLORS = 4 * FINISHED
"""The same where nodes have colors: less of the network stays with the other heuristics then."""

BACKFILL = Phase(share=0.2, hot=0.05, cold=0.005, price=0.1, focus=0.5, undo=0.8)
GAIN = 0.02
MOST_BACKFILLS = 10

COUNT = Phase(share=1.0, hot=0.3, cold=0.05, price=0.0, focus=0.7, undo=0.3, revert=0.3)
"""With a budget: only the unprotected nodes."""

BUDGET = (
    _SPARSE._replace(price=0.3),
    POLISH[0]._replace(share=0.5, price=0.0),
)
"""With a budget, from the input once more."""
