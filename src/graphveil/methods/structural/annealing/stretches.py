"""Stretches of annealing: how long they are, how warm, and what they propose."""

from __future__ import annotations

from typing import NamedTuple

from graphveil.kernels.structural.schedule import Odds, Schedule
from graphveil.methods.structural.outcome import unprotected_by_rewiring
from graphveil.methods.structural.task import Goals, Task

LARGE_EDGES = 50_000

MOST_STEPS = 5_000_000
"""Proposals of a stretch over codes, at most, where none are asked for."""

AT_MOST = 5_000_000_000
"""Steps of work of a stretch over values, where no proposals are asked for; a quarter for a goal.
"""

AN_EDGE = 1_000_000
"""Steps of work an edge of a stretch over values towards a goal, at most."""

MOST_WARM = 2_000_000
"""Proposals of the stretch that looks for a goal, where this is no less than usual."""

MOST_WITH_ADDITIONS = 3_000_000
"""Proposals of a stretch over edges and pairs that may be added: each takes twice as long."""

FEWEST = 1_000
"""Proposals of such a stretch at least."""

TRIES = 4
"""Searches in the proposals of one, where several are made."""


def default_iterations(n_edges: int) -> int:
    """Return 50 proposals an edge, at least 100,000 and at most 5,000,000.

    Examples
    --------
    >>> default_iterations(14_484)
    724200
    """
    return min(max(50 * n_edges, 100_000), MOST_STEPS)


def goal_iterations(n_edges: int) -> int:
    """Return the proposals of a stretch towards a goal: small graphs get more than the default.

    At least 200,000, and 400 an edge up to 400,000. At most 2,000,000, since several stretches
    follow each other.

    Examples
    --------
    >>> goal_iterations(326), goal_iterations(923), goal_iterations(18_812)
    (200000, 369200, 1000000)
    """
    usual = default_iterations(n_edges)
    small = min(4 * usual, max(400 * n_edges, 200_000), 1_000_000)
    return min(max(usual, small), 2_000_000)


class Stretch(NamedTuple):
    """One stretch of annealing: how it runs, and what it proposes."""

    plan: Schedule
    odds: Odds


def usual_steps(task: Goals, work: int | None) -> int:
    """Return the proposals where none are asked for: the default, or fewer where they are slow.

    A walk over values has `work`, about the steps of a proposal; None is for one over codes.
    """
    steps = (default_iterations if task.by_budget else goal_iterations)(task.n_edges)
    if task.edits == "any":
        steps = min(steps, MOST_WITH_ADDITIONS)
    if work is None:
        return steps
    most = AT_MOST if task.by_budget else min(AT_MOST // 4, AN_EDGE * task.n_edges)
    return min(steps, max(most // work, FEWEST))


def within_budget(task: Goals, steps: int) -> Stretch:
    """Return the stretch that only counts nodes, and stops at those allowed.

    Larger classes to fill ask for more heat and more second flips; the constants were tuned on the
    networks of the paper.
    """
    pairs, rewire = task.k == 2, task.edits == "rewire"
    fewest = unprotected_by_rewiring(task) if rewire and isinstance(task, Task) else 0
    plan = Schedule(
        steps=steps,
        hot=0.4 if pairs else 0.5,
        cold=0.05 if pairs else 0.07,
        price=0.0,
        ease=1.0,
        pull=0.0,
        spared=0.0,
        spared_lack=0.0,
        allowed=max(task.allowed, fewest),
        stop=True,
    )
    odds = Odds(
        focus=0.8 if task.n_edges > LARGE_EDGES else 0.5,
        undo=0.3,
        swap=0.15 if pairs else 0.3,
        swap_back=0.1,
        add=0.0,
        budget=2 * task.budget if rewire else task.budget,
    )
    return Stretch(plan, odds)


def paying(stretch: Stretch, k: int, price: float) -> Stretch:
    """Return the stretch with a price for an edit; it does not stop at the allowed nodes.

    These are spared, and what they may lack: the classes of n nodes of all sizes 1..k - 1, equally
    many, lack ``(3k - 2) n`` over ``2 (2k - 2)``.
    """
    allowed = stretch.plan.allowed
    plan = stretch.plan._replace(
        price=price, spared=float(allowed), spared_lack=0.5 * (3 * k - 2) * allowed, stop=False
    )
    return Stretch(plan, stretch.odds)


def shortened(stretch: Stretch) -> Stretch:
    """Return the stretch in a quarter of its steps, to be tried several times."""
    return stretch._replace(plan=stretch.plan._replace(steps=-(-stretch.plan.steps // TRIES)))
