"""The method `structural`: nodes look the same by what an attacker knows of their surroundings.

Structural k-anonymity by altering edges: de Jong, van der Loo and Takes, *The anonymization problem
in social networks*. A measure M says what an attacker knows of a node (table 1). A node is
protected if at least k nodes, itself included, have the same M. `Full`, `Partial` and `Budget` are
the three variants of definition 1 (section 4).

This module has the parameters, refuses those that exclude each other, and claims what a run
reached. The work is elsewhere:

- `run`: the heuristics of one run, and the best of what they reach; `directed`: the same for
  directed edges.
- `paper`: the heuristics of the paper (section 5.3); `search`, `starts`, `target`, `uncertainty`:
  those of graphveil, by simulated annealing (`methods.annealing`).
- `utility`: the search for edits that keep more of the network; `recount`: exact counts.

Departures: a class of k *or more* nodes is anonymous (section 3.2 prints "exactly k"). Edges may
be added and rewired too. Attributes may belong to what an attacker knows (*colors*: nodes of one
class have one color), and knowledge may be inexact (`phi`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import AnyGuarantee, StructuralKAnonymity
from graphveil.claims.knowledge import OneKindMeasure
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Ints
from graphveil.core.bounds import KEPT as KEPT_SHARE
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import option
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import OMITTED, Restated
from graphveil.core.warnings import COPY, MANY_ADDITIONS, MANY_UNPROTECTED
from graphveil.data import Graph, Network
from graphveil.measures.registry import DIRECTED_COUNT
from graphveil.methods import attributes
from graphveil.methods.annealing import task as tasks
from graphveil.methods.annealing.task import Task
from graphveil.methods.attributes import AttributedMethod, Colors, Merge, Roles
from graphveil.methods.card import MethodCard, Reached
from graphveil.methods.goals import Budget, Full, Goal
from graphveil.methods.structural.settings import (
    PROPERTIES,
    Kept,
    OnInterrupt,
    Sampling,
    Settings,
    Until,
    Walking,
    known_to_target,
)
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.structural.run import Result


def check_together(method: Any) -> None:
    """Refuse parameters that exclude each other."""
    # What a measure supports, then what single parameters need, then pairs that exclude each other.
    if method.measure == DIRECTED_COUNT:
        _check_directed(method)
    else:
        _check_known(method)
    _check_phi(method)
    _check_kept(method)
    _ = method.guarantee  # refuses what no guarantee can say
    known = known_to_target(method.measure, method.distance, method.edits)
    if method.heuristic == "target" and not known:
        raise ParameterError(
            "heuristic=target supports measure=count at distance 1 with edits=any, not "
            f"{method.measure} at distance {method.distance} with edits={method.edits}. Use "
            "these, or heuristic=search."
        )
    if method.iterations is not None and method.effort != 1:
        raise ParameterError(
            f"iterations={method.iterations} sets the number of proposals; "
            f"effort={method.effort} multiplies the default number. Give one of them."
        )
    if method.heuristic in {"strip", "cut", "mirror"}:
        _check_deleting(method)


def _check_directed(method: Any) -> None:
    """Refuse heuristics and edits that do not support directed edges."""
    if method.heuristic not in {"auto", "search"}:
        raise ParameterError(
            f"heuristic={method.heuristic} supports undirected edges only, not "
            f"measure={method.measure}. Use search, or auto."
        )
    if method.edits == "rewire":
        raise ParameterError(
            f"edits=rewire cannot be combined with measure={method.measure}. Use any, add or "
            "delete."
        )


def _check_known(method: Any) -> None:
    """Refuse a walk over values if attributes are known: only codes have room for colors."""
    if not method.roles.known:
        return
    searched = method.measure in tasks.CODES and method.distance == 1 and method.edits != "rewire"
    if method.heuristic in {"search", "mirror"} and not searched:
        raise ParameterError(
            f"heuristic={method.heuristic} does not support attributes here "
            f"(measure={method.measure}, distance={method.distance}, edits={method.edits}). Use "
            "ua, or auto."
        )


def _check_phi(method: Any) -> None:
    """Refuse heuristics and edits that do not support similar nodes."""
    if not method.phi:
        return
    if method.heuristic not in {"auto", "search"}:
        raise ParameterError(
            f"heuristic={method.heuristic} makes nodes equal, but phi={method.phi} asks for "
            "similar ones. Use search, or leave phi at 0."
        )
    if method.edits == "rewire":
        raise ParameterError(
            f"edits=rewire cannot be combined with phi={method.phi}. Use any, or leave phi at 0."
        )


def _check_kept(method: Any) -> None:
    """Refuse `keep`, `until` and `spend_least` for runs that no priced search follows."""
    # `until` and `keep` look for other edits within the budget, `spend_least` for fewer: not both.
    asked = {f"until={method.until}": method.until, f"keep={method.keep}": method.keep}
    names = [name for name, given in asked.items() if given]
    if names and method.spend_least:
        raise ParameterError(
            f"{names[0]} and spend_least exclude each other. Remove one of the two."
        )
    names += ["spend_least"] if method.spend_least else []
    if not names:
        return
    name = names[0]
    if not isinstance(method.goal, Budget) or method.edits != "delete":
        raise ParameterError(
            f"{name} needs goal=budget:SHARE and edits=delete, not goal={method.goal} and "
            f"edits={method.edits}. Use these, or remove it."
        )
    if not _can_be_priced(method):
        raise ParameterError(
            f"{name} supports {', '.join(tasks.CODES)} at distance 1 with phi=0, not "
            f"measure={method.measure}, distance={method.distance}, phi={method.phi:g}. Use "
            "these, or remove it."
        )
    if method.heuristic not in {"auto", "search"}:
        raise ParameterError(
            f"{name} needs heuristic=auto or search, not {method.heuristic}. Use one of these."
        )


def _can_be_priced(method: Any) -> bool:
    """Return whether edges can be priced: a budget of deletions, a measure followed by codes."""
    by_budget = isinstance(method.goal, Budget) and method.edits == "delete"
    return by_budget and method.measure in tasks.CODES and method.distance == 1 and not method.phi


def _check_deleting(method: Any) -> None:
    """Refuse measures, edits and goals that the heuristics that only delete do not support."""
    by_codes = method.measure in tasks.CODES and method.distance == 1
    if method.heuristic != "mirror" and not by_codes:
        raise ParameterError(
            f"heuristic={method.heuristic} supports {', '.join(tasks.CODES)} at distance 1, not "
            f"{method.measure} at distance {method.distance}. Use search."
        )
    if method.heuristic == "mirror" and method.k != 2:
        raise ParameterError(
            "heuristic=mirror makes every node like one other, so it needs k=2, not "
            f"k={method.k}. Use auto, or k=2."
        )
    if method.edits != "delete" or isinstance(method.goal, Budget):
        raise ParameterError(
            f"heuristic={method.heuristic} only deletes edges, for a full or partial goal. Use "
            "search."
        )
    if method.heuristic == "cut" and method.preserve_triangles:
        raise ParameterError(
            "heuristic=cut removes every triangle, but preserve_triangles keeps them. Remove "
            "one of the two."
        )


Heuristic = Literal["auto", Sampling, Walking]

LIMITS_OF_PHI = (
    "Inaccurate knowledge leaves a person among similar nodes, not among equal ones: a node "
    "that is unique to exact knowledge may stay unique. With phi=10 and 5% of the edges deleted "
    "(1,133 people), exact knowledge singled out 4% of the people, inaccurate knowledge 0.4%."
)
"""What `phi` does not cover, for the limits of a release."""


_OF_20_KNOWN = (" who also knew 20 people", "1,490 people")

_BY_NEIGHBORS = (
    "; 16% by one who knew the degrees of a node's neighbors, and how common each degree is "
    "(241 nodes)"
)


CARD = MethodCard(
    when=(
        "Recipients may know more of a person's surroundings, such as the degrees of the neighbors."
    ),
    promise=(
        "Each released node, or the stated share, equals at least k-1 others by the chosen measure."
    ),
    source=(
        "de Jong, van der Loo & Takes, The anonymization problem in social networks, arXiv "
        "2409.16163"
    ),
    limits="Any knowledge beyond the chosen measure.",
    reached=tuple(
        Reached(
            f"Re-identified in our tests: {found} by an attacker with a copy of the network{more} "
            f"({where}, k={k}{', phi=10' if phi else ''}, measure={measure}){also}.",
            {"k": k, "measure": measure, "phi": phi},
        )
        for k, measure, phi, found, more, where, also in (
            (2, "count", None, "100% of the nodes", "", "242 nodes, dense", ""),
            (5, "count", None, "100% of the nodes", "", "242 nodes, dense", _BY_NEIGHBORS),
            (20, "count", None, "92% of the nodes", "", "1,224 nodes", ""),
            (2, DIRECTED_COUNT, None, "100% of the people", "", "3,000 people", ""),
            (20, DIRECTED_COUNT, None, "up to 63% of the others", *_OF_20_KNOWN, ""),
            (5, "count", 10.0, "100% of the nodes", "", "242 nodes, dense", ""),
        )
    ),
    limits_of_attributes=(
        "If attributes are published, also the attributes of neighbors. Re-identified in our "
        "tests: 53% of the people by an attacker who knew those of a person and of that "
        "person's neighbors (1,500 people)."
    ),
    cost=(
        "memory linear in the number of edges; seconds to minutes, depending on goal and heuristic"
    ),
    example={"measure": "count", "k": 2, "goal": "partial:0.95"},
    trial_size=3_000,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class StructuralAnonymity(AttributedMethod):
    """Each released node, or the stated share, equals at least k-1 others by the chosen measure.

    Edges are changed until the goal is reached, by the heuristics of the paper or by a search that
    looks ahead exactly. A partial or budgeted run guarantees the share that it reached, no more.

    Parameters
    ----------
    measure
        What an attacker knows of a node: a name of `graphveil.measures.MEASURES`; or, for a
        `Network` with one layer of directed edges, ``"directed-count"``: the out-degree, the
        in-degree, the number of neighbors, and the number of edges among these and the person.
    distance
        How far around the node that knowledge reaches, in hops.
    k
        The smallest class of an anonymous node.
    goal
        ``Full()``, ``Partial(share=0.95)``, ``Budget(share=0.05)`` or ``Budget(edges=200)``; as
        text ``full``, ``partial:0.95``, ``budget:0.05``, ``budget:200edges``.
    edits
        Which edges may change: ``"delete"``, ``"add"``, ``"rewire"`` (ends are exchanged, degrees
        stay) or ``"any"``.
    heuristic
        ``"auto"`` chooses. The paper's: ``"es"`` (edge sampling), ``"degree"``, ``"affected"``,
        ``"unique"``, ``"ua"`` (unique-affected); its program's ``"ua-only"``. Ours: ``"search"``,
        ``"strip"``, ``"cut"``, ``"mirror"``, ``"target"``.
    recompute_gap_edges
        For the paper's heuristics: edits between two recounts. Default: a hundredth of the edges.
    iterations
        For the others: proposals of a stretch. Default: 50 for each edge, at least 100,000 and at
        most 5,000,000; towards a full or partial goal at least 200,000, from 1,000 edges on
        400,000, and at most 2,000,000. Then several more stretches take a quarter to twice as many.
        Fewer if the measure makes them slow. For target: 500 for each edge, at least 1,000,000 on
        small and 3,000,000 on other networks, at most 15,000,000; beyond 40,000 edges, or a mean
        degree of 15, fewer again.
    effort
        For the same: a multiple of the default number of proposals, if `iterations` is None. With 1
        a run takes about half a minute of one processor on a network of 100,000 edges; with 4 up to
        four times as long. It counts steps, not seconds: a seed gives the same release on any
        machine.
    preserve_triangles
        Forbids ``"cut"``, which removes every triangle.
    time_limit_seconds
        After this time the best so far is released; ``"auto"`` divides it among its heuristics.
    on_interrupt
        What Ctrl-C does during the run: ``"stop"`` ends it without a release, ``"best"`` releases
        the best so far, which claims the share that it reached. A second one stops in any case.
    known
        For a `Network`: the attributes that an attacker knows of a person. Nodes of a class then
        have the same values of them, too. For count, edge-count and degree at distance 1 edits are
        searched for; other measures take the paper's heuristics.
    attach
        For a `Network`: attributes that are published unchanged, outside the guarantee.
    may_narrow
        The share of the hidden cells of a known attribute that attached ones may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    keep
        With a budget of deletions: properties of the network that fewer and other edits keep, some
        of ``"component"``, ``"paths"``, ``"clustering"``, ``"betweenness"`` and ``"communities"``,
        or ``"all"``. The best edits are then looked for again, with a price for every edge.
        ``"none"``: only the number of protected nodes counts. What is kept is measured, not
        guaranteed. Count, edge-count or degree at distance 1, without `phi`; heuristic auto or
        search. If not given: all for these with the heuristic auto, else none.
    until
        For the same runs: bounds that the released network meets, such as ``"clustering: relative
        error <= 5%"``, one or several. Bounded are the parts ``released``, ``absolute difference``
        and ``relative error`` of ``largest-component``, ``shortest-path`` and ``clustering``, the
        ``overlap`` of ``betweenness``, and ``kept``, the share of the edges. The cost of the
        release says what was reached. Fewer nodes may be protected. The bounds are kept in the
        private record alone: with the release, they would bound figures of the original.
    spare
        With `keep`: the share of the newly protected nodes that may be given up for it, at most a
        hundredth of all nodes.
    spend_least
        For the same runs, in place of `keep`: of the edits within the budget the fewest that are
        found to protect 99% of the nodes that a search newly protects.
    phi
        By how many percent what an attacker knows is off, from 0 to below 100, with four decimals
        at most. Above 0 a node is protected if at least k nodes, itself included, have a degree and
        a number of triangles each within phi percent of its own, which is weaker than exact
        look-alikes. The measure count, without rewiring or known attributes, by the search alone.
    merge
        What becomes of people whose known attributes fewer than k have: ``"suppress"`` all of
        theirs; ``"mondrian"`` and ``"smooth"`` (suppress-k, that is smooth-k with theta 1) put them
        in groups of at least k, which publish what all of a group share; ``"none"`` refuses the
        data.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or two exclude each other.

    Notes
    -----
    De Jong, van der Loo and Takes, *The anonymization problem in social networks*: the problem is
    that of section 4, ``es`` to ``ua`` are the heuristics of section 5.3. The others, `phi`, `keep`
    and `until` are graphveil's own.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> release = StructuralAnonymity(measure="count", k=2).anonymize(path)
    >>> release.guarantee.share
    1.0
    """

    name: ClassVar[str] = "structural"
    accepts = (Graph, Network)
    card: ClassVar[MethodCard] = CARD

    # What is guaranteed.
    measure: OneKindMeasure = parameter(
        default="count", text="what the attacker knows about a node"
    )
    distance: int = parameter(
        default=1,
        text="how far that knowledge reaches, in hops; unless measure is dk or hybrid, knowledge "
        "at 2 does not include knowledge at 1",
        minimum=1,
        maximum=100,
    )
    k: int = parameter(
        default=2, text="smallest equivalence class that counts as anonymous", minimum=2
    )
    # What a run is to reach, and by which edits.
    goal: Goal = parameter(
        default=Full(), text="full, partial:SHARE, budget:SHARE or budget:NUMBERedges"
    )
    edits: tasks.EditKind = parameter(default="delete", text="which edges may change")
    # How edits are found; most of it says nothing of the release, and stays private.
    heuristic: Heuristic = parameter(default="auto", text="how edits are found")
    recompute_gap_edges: int | None = parameter(
        default=None,
        text="edits between two recounts, for es to ua; m/100 if not set",
        minimum=1,
        private=True,
    )
    iterations: int | None = parameter(
        default=None,
        text="number of proposals, for search to target; depends on the edges if not set",
        minimum=1,
        private=True,
    )
    effort: float = parameter(
        default=1.0,
        text="multiple of the default number of proposals, for search to target",
        minimum=0.01,
        private=True,
    )
    preserve_triangles: bool = parameter(
        default=False, text="forbid cut, which removes all triangles"
    )
    time_limit_seconds: float | None = parameter(
        default=None, text="release the best result so far after this time", minimum=0, private=True
    )
    on_interrupt: OnInterrupt = parameter(
        default="stop",
        text="on Ctrl-C: no release, or a release of the best result so far",
        private=True,
    )

    # Inexact knowledge (part of the guarantee), and what a budget of deletions keeps.
    phi: float = parameter(
        default=0.0,
        text="percentage by which the attacker's knowledge may be off; 0: exact",
        minimum=0,
        maximum=99.9999,
        stated_at_default=False,
    )
    keep: Kept | None = parameter(
        default=None,
        text="what a search within a budget keeps: all, none, or some of " + ", ".join(PROPERTIES),
        unset="all if auto deletes edges within a budget, else none",
    )
    until: Until | None = parameter(
        default=None,
        text="stop before this bound on the released network is missed, such as 'clustering: "
        "relative error <= 5%'; repeatable",
        unset="no bound",
        private=True,
    )
    spare: float = parameter(
        default=0.1,
        text="share of the newly protected nodes given up for what is kept, at most 1% of all",
        minimum=0,
        maximum=1,
        private=True,
    )
    spend_least: bool = parameter(
        default=False, text="make the fewest edits for 99% of the gain", private=True
    )
    # The roles of attributes.
    known: Columns | None = attributes.known_parameter()
    attach: Columns | None = attributes.attach_parameter()
    may_narrow: float | None = attributes.may_narrow_parameter()
    merge: Merge = attributes.merge_parameter()

    def __post_init__(self) -> None:
        """Check every parameter, and those that exclude each other."""
        super().__post_init__()
        check_together(self)

    def _check_ties(self, network: Network) -> None:
        """Refuse edges that the measure does not see, or of several kinds."""
        # Directed edges need the measure directed-count, undirected ones any other; one layer in
        # any case.
        layers = network.layers
        if len(layers) == 1 and layers[0].directed and self.measure != DIRECTED_COUNT:
            raise DataError(
                f"the edges {layers[0].name!r} are directed, but measure={self.measure} ignores "
                f"directions. Use measure={DIRECTED_COUNT} or the method profile, or drop "
                f"directions with {option('directed', 'symmetrize')}."
            )
        if len(layers) == 1 and not layers[0].directed and self.measure == DIRECTED_COUNT:
            raise DataError(
                f"the edges are undirected, but measure={DIRECTED_COUNT} is for directed edges. "
                f"Read them with {option('directed', 'keep')}, or use measure=count."
            )
        if self.measure != DIRECTED_COUNT or len(layers) > 1:
            network.only_layer()

    @property
    def roles(self) -> Roles:
        """Which attributes an attacker is said to know, and which are attached."""
        return self._roles

    @property
    def guarantee(self) -> StructuralKAnonymity:
        """What is guaranteed if all nodes are reached; a run claims the share that it reached."""
        return StructuralKAnonymity(
            k=self.k,
            measure=self.measure,
            distance=self.distance,
            known=self._roles.known,
            phi=self.phi,
        )

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what is not protected against; with phi, what that leaves open comes first."""
        usual = super().limits(kind, claimed)
        return f"{LIMITS_OF_PHI} {usual}" if self.phi else usual

    @property
    def keeps(self) -> Kept:
        """What edits are to keep: the properties asked for, or all by default."""
        if self.keep is not None:
            return self.keep
        return Kept(PROPERTIES if self._keeps_by_default() else ())

    def _keeps_by_default(self) -> bool:
        return self.heuristic == "auto" and not self.spend_least and _can_be_priced(self)

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest omits; of what is kept, it states all that is."""
        kept = self.keeps or self._keeps_by_default()
        return {**super().restated, "keep": Restated(str(self.keeps)) if kept else OMITTED}

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds by construction."""
        # A rewiring is one edit and changes four edges, so a budget of edits bounds four times as
        # many.
        per_edit: Literal[1, 4] = 1 if self.edits in {"delete", "add"} else 4
        budget = tasks.budget_conditions(self.goal, edges_per_edit=per_edit)
        return (*tasks.KEPT[self.edits], *self._roles.conditions(self.may_narrow), *budget)

    def task(self, graph: Graph, colors: Ints | None = None) -> Task:
        """Return what the heuristics are given for this graph, and nodes of these colors.

        Parameters
        ----------
        graph
            The network.
        colors
            int64, shape (n,): the combination of known attributes of each node; None without
            attributes.

        Returns
        -------
        Task
            The network with goal, measure and budget.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], n=5)
        >>> method = StructuralAnonymity(measure="count", k=2, goal=Budget(edges=2))
        >>> task = method.task(path)
        >>> task.measure, task.budget, task.by_budget
        ('count', 2, True)
        """
        # A bound on the share of edges kept is a smaller budget.
        m, budget = graph.n_edges, self.goal.budget(graph.n_edges)
        most = [
            floor((1 - b.value) * m + 1e-9) for b in self.until or () if b.question == KEPT_SHARE
        ]
        return Task(
            graph=graph,
            measure=self.measure,
            distance=self.distance,
            k=self.k,
            edits=self.edits,
            budget=max(min([m if budget is None else budget, m, *most]), 0),
            allowed=self.goal.allowed(graph.n_nodes),
            by_budget=isinstance(self.goal, Budget),
            colors=colors,
            phi=self.phi,
            nearly=tasks.NEARLY if self.phi and isinstance(self.goal, Budget) else (0, 0),
        )

    def settings(self) -> Settings:
        """Return how the heuristics look for edits.

        Returns
        -------
        Settings
            The heuristic, its limits, and what it keeps.

        Examples
        --------
        >>> settings = StructuralAnonymity(measure="count", k=2, effort=0.5).settings()
        >>> settings.heuristic, settings.effort
        ('auto', 0.5)
        """
        given = {name: getattr(self, name) for name in Settings._fields}
        return Settings(**given | {"keep": self.keeps})

    def draft(self, data: Graph | Network, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Attributes become colors, one number for each combination of known values.
        of_arcs = self.measure == DIRECTED_COUNT
        if isinstance(data, Graph) and not of_arcs:
            return self._edited(data, randomness, None)
        colors = attributes.colors_of(data, self._roles.known, self.k, self.merge, randomness)
        if of_arcs:
            return self._of_arcs(data, randomness, colors)
        return self._with_attributes(
            data, self._edited(data.graph(), randomness, colors.of_person), colors
        )

    def _edited(self, data: Graph, randomness: Randomness, colors: Ints | None) -> Draft[Any]:
        from graphveil.methods.structural.run import facts_of, run  # noqa: PLC0415  compiled code, when needed

        task = self.task(data, colors)
        settings = self.settings()
        result = run(task, settings, randomness)
        claimed = self._claimed(result.edited.unprotected, data.n_nodes)
        facts = facts_of(task, result, keep=self.keeps, until=self.until or ())
        return Draft(
            data=result.graph,
            guarantee=claimed,
            notes=OwnersNotes(
                cost=facts,
                warnings=(
                    *self._advice(task, result),
                    *tasks.advice_on_phi(self.phi, self.k, facts),
                    *tasks.advice_on_losses(data.n_nodes, facts),
                ),
                unprotected=tuple(data.labels()[result.unprotected].tolist()),
            ),
        )

    def _claimed(self, unprotected: int, n_nodes: int) -> StructuralKAnonymity:
        coarser = "use a coarser measure"
        return tasks.claimed(self.guarantee, self.goal, unprotected, n_nodes, coarser=coarser)

    def _of_arcs(self, data: Network, randomness: Randomness, colors: Colors) -> Draft[Any]:
        """Return the result for directed edges."""
        from graphveil.methods.structural.directed import facts_of_arcs, run_on_arcs  # noqa: PLC0415  as in _edited

        # The task of the method profile, whose walks move over directed edges, with another
        # measure.
        n = data.n_nodes
        numbered = attributes.numbered_colors(colors.of_person, n)
        task = tasks.ProfileTask.of(data, numbered, self.goal, k=self.k, edits=self.edits)
        task = task._replace(measure=self.measure)
        result = run_on_arcs(task, self.settings(), randomness)
        left, added = result.unprotected.size, result.edited.added.size
        people = self._roles.published(data.people, colors.table)
        released = replace(result.network, people=people, ids=data.ids)
        many = MANY_ADDITIONS.passed_by(added, data.n_ties) if self.edits == "add" else ()
        return Draft(
            data=released,
            guarantee=self._claimed(left, n),
            notes=OwnersNotes(
                cost=facts_of_arcs(task, result),
                warnings=(
                    COPY,
                    *tasks.advice_on_interruption(result.interrupted),
                    *tasks.advice_on_missed_goal(self.goal, left, n),
                    *many,
                    *MANY_UNPROTECTED.passed_by(left, n),
                    *attributes.attached_advice(released, self._roles),
                ),
                unprotected=tuple(data.labels()[result.unprotected].tolist()),
            ),
        )

    def _advice(self, task: Task, result: Result) -> tuple[str, ...]:
        # That a copy of the network names people is said of every release; then what this run
        # missed.
        advice: list[str] = [COPY]
        graph, edited = task.graph, result.edited
        allowed = self.goal.allowed(graph.n_nodes)
        advice += tasks.advice_on_interruption(result.interrupted)
        advice += tasks.advice_on_missed_goal(self.goal, edited.unprotected, graph.n_nodes)
        if self.edits == "rewire":
            from graphveil.methods.annealing.bounds import unprotected_by_rewiring  # noqa: PLC0415  compiled code, when needed

            advice += tasks.advice_on_rewiring(unprotected_by_rewiring(task), allowed)
        if self.edits == "add":
            advice += MANY_ADDITIONS.passed_by(len(edited.added), graph.n_edges)
        if "target" in result.runners_up:
            advice += tasks.advice_on_fewer_edits(
                graph.n_nodes, edited, result.runners_up["target"], allowed
            )
        return tuple(advice)
