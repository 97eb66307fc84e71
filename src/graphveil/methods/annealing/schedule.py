"""Schedules: how long a stretch of annealing is, how warm, and what it proposes.

Lengths are counted in proposals, never in seconds, so that a seed gives the same release on every
machine. Temperatures and odds were tuned on the networks of the paper
(`benchmarks/anonymization_problem`). "Codes" are the exact numbers of degrees and triangles, which
a flip changes in O(degree); "values" are those of any other measure or distance, and much slower.
A *stretch* is one run of annealing from its highest temperature to its lowest; a walk makes
several. A *proposal* is one trial of it; over values, it takes many *steps of work*
(`state.work_of`).
"""

from __future__ import annotations

from typing import NamedTuple

from graphveil.methods.annealing.bounds import unprotected_by_rewiring
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.task import Goals, Task

LARGE_EDGES = 50_000
"""From this number of edges on, more proposals (0.8, not 0.5) are near unprotected nodes.

These are few of all nodes in large networks.
"""

MOST_STEPS = 5_000_000
"""The most proposals of a stretch over codes, unless `iterations` sets their number."""

MOST_WORK = 5_000_000_000
"""The most steps of work of a stretch over values within a budget; towards a goal a quarter of it.

Both only if `iterations` does not set the number of proposals.
"""

WORK_PER_EDGE = 1_000_000
"""The most steps of work for each edge, in a stretch over values towards a goal."""

MOST_WARM = 2_000_000
"""The warm stretch of `towards_goal` is twice as long as usual, up to this, but never shorter."""

MOST_WITH_ADDITIONS = 3_000_000
"""The most proposals of a stretch with ``edits="any"``: each takes about twice as long."""

FEWEST_STEPS = 1_000
"""The fewest proposals of a stretch over values, however slow they are."""

TRIES = 4
"""How many short searches take as many proposals as one stretch: see `shortened`."""


def default_iterations(n_edges: int) -> int:
    """Return 50 proposals for each edge, at least 100,000 and at most 5,000,000."""
    return min(max(50 * n_edges, 100_000), MOST_STEPS)


def goal_iterations(n_edges: int) -> int:
    """Return the proposals of a stretch towards a goal: small graphs get more than the default."""
    # Up to 500 edges 200,000 proposals, then 400 for each edge: at most four times the default.
    usual = default_iterations(n_edges)
    small = min(4 * usual, max(400 * n_edges, 200_000), 1_000_000)
    return min(max(usual, small), 2_000_000)


class AnnealingSegment(NamedTuple):
    """One stretch of annealing: how it runs (`plan`), and what it proposes (`odds`).

    The fields of both are described at `kernels.classes.Schedule` and `Odds`.
    """

    plan: node_classes.Schedule
    odds: node_classes.Odds


def usual_steps(task: Goals, work: int) -> int:
    """Return the proposals where none are asked for: the default, or fewer where they are slow."""
    steps = (default_iterations if task.by_budget else goal_iterations)(task.n_edges)
    if task.edits == "any":
        steps = min(steps, MOST_WITH_ADDITIONS)
    # Over values a proposal takes `work` steps: as many as fit into the bound, but never too few.
    most = MOST_WORK if task.by_budget else min(MOST_WORK // 4, WORK_PER_EDGE * task.n_edges)
    return min(steps, max(most // work, FEWEST_STEPS))


def within_budget(task: Goals, steps: int) -> AnnealingSegment:
    """Return the stretch that only counts nodes, and stops at those allowed.

    The constants were tuned on the networks of the paper.
    """
    # A rewiring keeps every degree: nodes of a rare degree stay unprotected whatever is rewired. At
    # k=2 classes are pairs, for which the tuned values are lower.
    pairs, rewire = task.k == 2, task.edits == "rewire"
    fewest = unprotected_by_rewiring(task) if rewire and isinstance(task, Task) else 0
    # Temperatures are in unprotected nodes. Edits are free here (price 0): the budget limits them.
    plan = node_classes.Schedule(
        steps=steps,
        hot=0.4 if pairs else 0.5,
        cold=0.05 if pairs else 0.07,
        price=0.0,
        allowed=max(task.allowed, fewest),
    )
    odds = node_classes.Odds(
        focus=0.8 if task.n_edges > LARGE_EDGES else 0.5,
        undo=0.3,
        swap=0.15 if pairs else 0.3,
        swap_back=0.1,
        add=0.0,
        budget=2 * task.budget if rewire else task.budget,
    )
    return AnnealingSegment(plan, odds)


def paying(stretch: AnnealingSegment, k: int, price: float) -> AnnealingSegment:
    """Return the stretch with a price for an edit; it does not stop at the allowed nodes.

    Energy does not reward fewer unprotected nodes than allowed (`spared`), nor less than these may
    lack (`spared_lack`). A node in a class of c lacks 2k - 1 - c; the mean over c = 1..k - 1, if
    the allowed nodes are spread evenly over classes of these sizes, is (3k - 2) / 2.
    """
    allowed = stretch.plan.allowed
    plan = stretch.plan._replace(
        price=price, spared=float(allowed), spared_lack=0.5 * (3 * k - 2) * allowed, stop=False
    )
    return AnnealingSegment(plan, stretch.odds)


def shortened(stretch: AnnealingSegment) -> AnnealingSegment:
    """Return the stretch in a quarter of its steps, to be tried several times."""
    return stretch._replace(plan=stretch.plan._replace(steps=-(-stretch.plan.steps // TRIES)))
