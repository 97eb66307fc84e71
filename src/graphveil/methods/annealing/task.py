"""Tasks: what a walk is given, how two results compare, and what a run then claims and warns of.

`Task` is for graphs (the method `structural`), `ProfileTask` for networks with directed edges or
several edge types (`profile`, and `structural` with the measure directed-count). Code that serves
both takes `Goals`, either of the two. `better` is the one place that says which of two results
wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import (
    AnyCondition,
    EditBudget,
    SameDegrees,
    Subgraph,
    Supergraph,
)
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.core.warnings import (
    MANY_UNPROTECTED,
    Advice,
    GoalMissedWarning,
    UnprotectedWarning,
    lost_clustering,
)
from graphveil.data import Graph, Network
from graphveil.measures.registry import PROFILE
from graphveil.methods.goals import Budget, Goal, share_of


def advice_on_missed_goal(goal: Goal, unprotected: int, n_nodes: int) -> list[str]:
    """Return advice if a goal was missed; none if it was reached, or is a budget."""
    allowed = goal.allowed(n_nodes)
    if unprotected <= allowed or isinstance(goal, Budget):
        return []
    advice = (
        f"goal {goal} was not reached: {counted(unprotected, 'node', 'is')} unprotected, {allowed} "
        "allowed. The release claims only the share reached, "
        f"{100 * (1 - unprotected / n_nodes):.1f}% of the people"
    )
    return [Advice(advice, UnprotectedWarning)]


KEPT: dict[str, tuple[AnyCondition, ...]] = {
    "delete": (Subgraph(),),
    "add": (Supergraph(),),
    "rewire": (SameDegrees(),),
    "any": (),
}
"""The condition that holds by construction, by the kind of edits."""


def budget_conditions(goal: Goal, *, edges_per_edit: Literal[1, 4] = 1) -> tuple[EditBudget, ...]:
    """Return the condition that bounds the edits of a budget; none for another goal."""
    if not isinstance(goal, Budget):
        return ()
    return (EditBudget(edges=goal.edges, share=goal.share, edges_per_edit=edges_per_edit),)


def claimed(
    promised: StructuralKAnonymity, goal: Goal, unprotected: int, n_nodes: int, *, coarser: str = ""
) -> StructuralKAnonymity:
    """Return what a run may claim: the share reached; refuse a run that protects nobody."""
    # A release that protects nobody would be the input under a claim: refuse it.
    if n_nodes and unprotected == n_nodes:
        ways = f"budget, lower k, or {coarser}" if coarser else "budget, or lower k"
        raise InfeasibleError(
            f"no node could be made {promised.k}-anonymous within goal={goal}. Raise the {ways}."
        )
    return msgspec.structs.replace(promised, share=share_of(n_nodes - unprotected, n_nodes))


EditKind = Literal["delete", "add", "rewire", "any"]

CODES = {"count": (1 << 40, 1), "edge-count": (1, 1), "degree": (1, 0)}
"""What a degree and a triangle add to the code of a node, by measure, at distance 1.

For count the two stay apart (`kernels.classes.DEGREE_BITS`). For edge-count they are added: the
neighborhood of a node has one edge for each neighbor and one for each triangle.
"""

COLOR_BITS = {"count": 24, "edge-count": 40, "degree": 40}
"""From which bit of a code on the color of a node stands; nothing else reaches these bits."""

MOST_COLORS = 1 << 16
"""Combinations of known attributes at most: with count, colors have bits 24 to 39 of a code."""

NEARLY = (4, 3)
"""Within a budget under phi: what a node counts in addition, in tenths of an unprotected one.

4 if it is unprotected at half of phi, 3 if it is from exact knowledge. Larger values spend more of
the budget on better knowledge, and protect fewer nodes at phi itself. How they were chosen is not
recorded.
"""

Pairs: TypeAlias = "NDArray[np.int32]"

Watch = Callable[[int, int], bool]
"""Called now and then with the best state's unprotected nodes and edits; True asks to stop."""


class Task(NamedTuple):
    """A graph, what may be changed in it, and when it is enough.

    Parameters
    ----------
    graph
        The input.
    measure, distance
        What an attacker knows of a node: a name of `MEASURES`, and how many hops that reaches.
    k
        The smallest class of a protected node.
    edits
        ``"delete"``, ``"add"``, ``"rewire"`` or ``"any"``.
    budget
        The most edits (the paper's B).
    allowed
        How many nodes may stay unprotected (n minus the paper's T).
    by_budget
        Whether the fewest unprotected nodes are wanted, or the fewest edits.
    colors
        A number for the known attributes of every node, int64, shape (n,); None without any.
    phi
        The percent by which the attacker's knowledge is off.
    nearly
        What a node counts in addition, in tenths of an unprotected one, if it is unprotected from
        knowledge off by half of `phi`, and from exact knowledge.
    """

    graph: Graph
    measure: str
    distance: int
    k: int
    edits: str
    budget: int
    allowed: int
    by_budget: bool = False
    colors: Ints | None = None
    phi: float = 0.0
    nearly: tuple[int, int] = (0, 0)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.graph.n_nodes

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return self.graph.n_edges

    def colored(self, codes: Ints) -> Ints:
        """Return codes of degrees and triangles with the colors of nodes in bits of their own."""
        if self.colors is None:
            return codes
        # Bits are added: no color, and no number of edges around a node, may reach those of
        # another.
        room = 1 << COLOR_BITS[self.measure]
        if int(self.colors.max(initial=0)) >= MOST_COLORS or int((codes % (1 << 40)).max()) >= room:
            raise InfeasibleError(
                f"more than {MOST_COLORS:,} attribute values, or {room:,} edges or more around "
                "a node. Group values, or use measure=degree."
            )
        return codes + (self.colors << COLOR_BITS[self.measure])

    def labels_of(self, graph: Graph) -> Ints:
        """Return the exact class of every node of an edited graph, by measure and color."""
        from graphveil.measures import partition  # noqa: PLC0415  not for help
        from graphveil.measures.values import classes_of  # noqa: PLC0415  as above

        # Nodes of one class of the measure but of different colors are in different classes.
        labels = partition(graph, measure=self.measure, distance=self.distance)
        return labels if self.colors is None else classes_of(labels, self.colors)


class ProfileTask(NamedTuple):
    """A network with layers of edges, which of them may change, and when it is enough.

    The fields are those of `Task`; `measure` is the profile of degrees, or directed-count.
    """

    network: Network
    colors: Ints
    k: int
    edits: str
    budget: int
    allowed: int
    by_budget: bool
    measure: str = PROFILE

    @classmethod
    def of(cls, network: Network, colors: Ints, goal: Goal, *, k: int, edits: str) -> ProfileTask:
        """Return the task of a goal."""
        # Without a budget of its own a goal may change as many edges as there are.
        most = goal.budget(network.n_ties)
        budget = network.n_ties if most is None else min(most, network.n_ties)
        allowed, by_budget = goal.allowed(network.n_nodes), isinstance(goal, Budget)
        return cls(network, colors, k, edits, budget, allowed, by_budget)

    @property
    def n_nodes(self) -> int:
        """The number of people."""
        return self.network.n_nodes

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return self.network.n_ties


Goals: TypeAlias = Task | ProfileTask
"""What a walk is given, whatever is edited."""


def proposals(usual: int, iterations: int | None, effort: float) -> int:
    """Return those asked for, or a multiple of the usual ones, at least one."""
    return max(round(effort * usual), 1) if iterations is None else iterations


def counted_by_codes(task: Task) -> bool:
    """Whether a search follows this task by codes of degrees and triangles, in O(degree) a flip."""
    return task.measure in CODES and task.distance == 1 and task.edits != "rewire"


class Edited(NamedTuple):
    """The best state of a run: the edges changed, and its unprotected nodes, counted exactly."""

    added: Pairs
    deleted: Pairs
    unprotected: int
    nearly: int = 0

    @property
    def cost(self) -> int:
        """The edge edit distance: edges that are in one of the two graphs only."""
        return len(self.added) + len(self.deleted)


class ChangedTies(NamedTuple):
    """Edits of edges, as sorted keys ``(layer * n + source) * n + target``."""

    added: Ints
    deleted: Ints
    unprotected: int

    @property
    def cost(self) -> int:
        """How many edges come or go."""
        return self.added.size + self.deleted.size


def better(one: Edited | ChangedTies, other: Edited | ChangedTies, task: Goals) -> bool:
    """Whether one result beats the other (the best of the trajectory).

    With a budget the fewest unprotected nodes win, then fewer edits. With a goal a state that
    reaches it wins over one that does not, then fewer edits, then fewer unprotected nodes.
    """
    return _rank(one, task) < _rank(other, task)


def _rank(edited: Edited | ChangedTies, task: Goals) -> tuple[int, int, int]:
    # Within a budget: nodes first, in tenths since `nearly` counts in tenths; then edits.
    if task.by_budget:
        nearly: int = getattr(edited, "nearly", 0)
        return (10 * edited.unprotected + nearly, edited.cost, edited.unprotected)
    # Towards a goal: first by how many nodes it is missed, then edits, then nodes.
    return (max(edited.unprotected - task.allowed, 0), edited.cost, edited.unprotected)


def advice_on_phi(phi: float, k: int, facts: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return advice on nodes that are protected from inexact knowledge alone; none without phi."""
    if not phi:
        return ()
    # Two figures of the released graph: exact classes, and an attacker whose numbers are off.
    few, noisy = facts["nodes_unprotected_exactly"], 100 * facts["share_unprotected_from_noisy"]
    advice = (
        f"phi={phi:g} is weaker than exact equivalence classes: "
        f"{counted(int(few), 'node', 'has', spec=',')} fewer than "
        f"{k} candidates under exact knowledge. An attacker whose numbers are off by up to "
        f"{phi:g}% is left with fewer than {k} candidates for {noisy:.2f}% of all nodes"
    )
    return (Advice(advice, UnprotectedWarning),)


def advice_on_interruption(interrupted: bool) -> tuple[str, ...]:  # noqa: FBT001  what is told of a run
    """Return advice if a run was interrupted; none if it was not."""
    if not interrupted:
        return ()
    return (Advice("the run was interrupted: this is the best result so far", UnprotectedWarning),)


def advice_on_losses(n_nodes: int, facts: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return advice if many nodes are unprotected, or if the edits cost much of the clustering."""
    unprotected = MANY_UNPROTECTED.passed_by(int(facts["nodes_unprotected"]), n_nodes)
    return (*unprotected, *lost_clustering(facts["clustering_before"], facts["clustering"]))


def advice_on_rewiring(unprotected: int, allowed: int) -> list[str]:
    """Return advice if rewiring cannot reach the goal, because degrees are rare; else none."""
    if unprotected <= allowed:
        return []
    advice = (
        f"no rewiring can make {counted(unprotected, 'node')} anonymous; {allowed} may stay "
        "unprotected. Rewiring keeps every degree, and their degrees are rare. Use "
        f"{option('edits', 'any')}, or a partial goal"
    )
    return [Advice(advice, GoalMissedWarning)]


def advice_on_fewer_edits(n_nodes: int, best: Edited, other: Edited, allowed: int) -> list[str]:
    """Return advice if another result has fewer edits but misses the goal; else none.

    `best` reaches the goal, `other` is what the heuristic target reached.
    """
    # Only if the other result has fewer edits, and misses a goal that the best one reaches.
    reaches = best.unprotected <= allowed < other.unprotected
    if not reaches or other.cost >= best.cost:
        return []
    advice = (
        f"reaching the goal took {counted(best.cost, 'edit')}. With {counted(other.cost, 'edit')}, "
        f"which keep triangles, {option('heuristic', 'target')} leaves {other.unprotected} of "
        f"{n_nodes} nodes unprotected; see cost in the record"
    )
    return [Advice(advice, GoalMissedWarning)]
