"""The method `profile`: out-degrees and in-degrees that at least k nodes share.

The guarantee is that of Casas-Roma, Salas, Malliaros and Vazirgiannis (KAIS 2019); the algorithm is
our own. This module holds the parameters and the order of the steps:

1. Known attributes that fewer than k nodes share are merged (`attributes.colors_of`); nodes of one
   color have the same published attributes.
2. A full goal: plan targets and realize them by adding and deleting arcs (`realize_layers`).
3. A share, a budget, or deletions alone: search from such plans and from the network (`search`).
4. The share that was reached is counted on the released network, and claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Ints
from graphveil.core.errors import DataError
from graphveil.core.hints import option
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import COPY, MANY_ADDITIONS, MANY_UNPROTECTED
from graphveil.data import Data, Network
from graphveil.methods import attributes
from graphveil.methods.annealing import task as tasks
from graphveil.methods.attributes import Merge, Roles
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard, Reached
from graphveil.methods.goals import Budget, Full, Goal
from graphveil.release.claiming import with_edge_types
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.profile.realize import EditedLayers

MOST_NUMBERS = 8
"""The most degrees per node: with more, hardly any node shares all with others."""


CARD = MethodCard(
    when=(
        "The network has directed edges, several edge types or attributes that recipients may know."
    ),
    promise=(
        "Every person, or the stated share, has the same in- and out-degree as at least k-1 others."
    ),
    source=(
        "Casas-Roma, Salas, Malliaros & Vazirgiannis, k-degree anonymity on directed networks, "
        "KAIS 2019 (the guarantee; the algorithm is our own)"
    ),
    limits="Any knowledge beyond out-degree and in-degree.",
    reached=tuple(
        Reached(
            "Re-identified in our tests: 100% of the people by an attacker with a copy of the "
            f"network (3,000 people, k=20, edits={edits}); {found} by one who knew the degrees of "
            "a person's neighbors in each direction, and how common each degree is.",
            {"k": 20, "edits": edits},
        )
        for edits, found in (("any", "82%"), ("add", "55%"))
    ),
    limits_of_attributes=(
        "If attributes are published, also the attributes of neighbors. Re-identified in our "
        "tests: 88% of the people by an attacker who knew those of a person and of that "
        "person's neighbors (1,500 people)."
    ),
    cost="near-linear in the number of edges, plus n k**2 for groups of nodes",
    example={"k": 5},
    directed=True,
    trial_size=50_000,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class Profile(Anonymizer[Network]):
    """Every person, or the stated share, has the same in- and out-degree as at least k-1 others.

    People whose profile (out-degree, in-degree) at least k share keep it. The others join such
    people, or groups of at least k, at a small total change. Then arcs are added and deleted until
    every profile is as planned. As a last resort all arcs are added or deleted: a full goal always
    succeeds. For a share of the people, or a budget, a search looks for the arcs to change. Such a
    run guarantees the share that it reached, no more.

    Parameters
    ----------
    k
        The smallest number of people who share a profile.
    goal
        ``Full()``, ``Partial(share=0.95)``, ``Budget(share=0.05)`` or ``Budget(edges=200)``; as
        text ``full``, ``partial:0.95``, ``budget:0.05``, ``budget:200edges``.
    edits
        ``"any"``: arcs are added and deleted (fewer edits); ``"add"``: only added; ``"delete"``:
        only deleted, which suits a budget: to protect everybody that way takes most of the arcs.
    effort
        A multiple of the usual proposals of a search. It counts steps, not seconds: a seed gives
        the same release on any machine.
    known
        The attributes that an attacker knows of a person. Profiles are then shared by at least k
        people who have the same of them.
    attach
        Attributes that are published as they are, outside the guarantee.
    may_narrow
        The share of the hidden cells of a known attribute that attached ones may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    merge
        What is done with people whose known attributes fewer than k have: ``"suppress"`` all of
        theirs; ``"mondrian"`` and ``"smooth"`` (suppress-k, that is smooth-k with theta 1) put them
        in groups of at least k, which publish what all of a group share; ``"none"`` refuses the
        data.
    suppress
        The most people, as a share of all, whose known attributes are also suppressed if that needs
        fewer edits.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or a column is known and attached.

    Notes
    -----
    The guarantee is that of Casas-Roma, Salas, Malliaros and Vazirgiannis, *k-degree anonymity on
    directed networks*, KAIS 61 (2019); the algorithm is our own. How many arcs go both ways is not
    part of it.

    Examples
    --------
    >>> from graphveil import Layer
    >>> calls = Layer.from_arcs([0, 0, 0, 1], [1, 2, 3, 0], n=4)
    >>> release = Profile(k=2).anonymize(Network((calls,)), seed=1)
    >>> sorted(map(tuple, release.data.profiles().tolist()))
    [(0, 1), (0, 1), (2, 1), (2, 1)]
    """

    name: ClassVar[str] = "profile"
    accepts = (Network,)
    card: ClassVar[MethodCard] = CARD

    k: int = parameter(text="smallest number of nodes that share a profile", minimum=2)
    goal: Goal = parameter(
        default=Full(), text="full, partial:SHARE, budget:SHARE or budget:NUMBERedges"
    )
    edits: Literal["add", "any", "delete"] = parameter(
        default="any",
        text="allow edges to be added and deleted (fewer edits), only added, or only deleted",
    )
    effort: float = parameter(
        default=1.0,
        text="multiple of the default number of search proposals",
        minimum=0.01,
        private=True,
    )
    known: Columns | None = attributes.known_parameter()
    attach: Columns | None = attributes.attach_parameter()
    may_narrow: float | None = attributes.may_narrow_parameter()
    merge: Merge = attributes.merge_parameter()
    suppress: float = attributes.suppress_parameter()

    def __post_init__(self) -> None:
        """Check every parameter, and those that exclude each other."""
        super().__post_init__()
        self._roles.check_needed(self.suppress)

    @property
    def guarantee(self) -> StructuralKAnonymity:
        """What is guaranteed of every node, before the data is read."""
        return StructuralKAnonymity(k=self.k, measure="profile", known=self._roles.known)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds by construction."""
        return (
            *tasks.KEPT[self.edits],
            *self._roles.conditions(self.may_narrow),
            *tasks.budget_conditions(self.goal),
        )

    @property
    def _roles(self) -> Roles:
        return Roles.of(self.known, self.attach)

    def check(self, data: Data) -> None:
        """Refuse one undirected layer, too many degrees per node, attributes without a role.

        Parameters
        ----------
        data
            The network.
        """
        super().check(data)
        network = attributes.as_network(data)
        if not network.is_directed and len(network.layers) == 1:
            raise DataError(
                "the edges are undirected, so there are no out-degrees and in-degrees. Read "
                f"them with {option('directed', 'keep')}, or use k-degree."
            )
        numbers = network.profiles().shape[1]
        if numbers > MOST_NUMBERS:
            names = ", ".join(layer.name for layer in network.layers)
            raise DataError(
                f"the edge types ({names}) give {numbers} numbers per node, more than "
                f"{MOST_NUMBERS}: nearly every node would be changed. Read fewer of them with "
                f"{option('kinds')}, or drop directions."
            )
        self._roles.check(network, self.k)

    def draft(self, data: Network, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        from graphveil.methods.profile.pool import unprotected_in  # noqa: PLC0415  as below

        def change(candidate: Ints) -> Ints:
            return self._planned(data, candidate, randomness)

        # Step 1: merge rare attributes, and suppress further ones if that makes the plan cheaper.
        colors = attributes.colors_of(data, self._roles.known, self.k, self.merge, randomness)
        colors = attributes.suppressed_further(colors, self.suppress, self.k, change)
        of_person = attributes.numbered_colors(colors.of_person, data.n_nodes)
        # Step 2: edit the layers, within the colors as they are published.
        changes = self._edited(data, of_person, randomness)
        layers = tuple(each.layer for each in changes.layers)
        people = self._roles.published(data.people, colors.table)
        released = Network(layers, people, data.ids)
        unprotected = unprotected_in(released, of_person, self.k)
        facts = {"edits": changes.cost, "profile_change": changes.change, "rounds": changes.rounds}
        return Draft(
            data=released,
            guarantee=tasks.claimed(
                with_edge_types(self.guarantee, data), self.goal, unprotected.size, data.n_nodes
            ),
            notes=OwnersNotes(
                cost=facts | self._reached(data, of_person, unprotected.size),
                warnings=(
                    *self._advice(data, changes, unprotected.size),
                    *attributes.attached_advice(released, self._roles),
                ),
                unprotected=tuple(data.labels()[unprotected].tolist()),
            ),
        )

    def _edited(self, data: Network, colors: Ints, randomness: Randomness) -> EditedLayers:
        """Return layers in which every node is protected, or as many as the goal asks for."""
        from graphveil.methods.profile.realize import realize_layers  # noqa: PLC0415  compiled code, when needed

        allowed = self.goal.allowed(data.n_nodes)
        additions = {"any": (False, True), "add": (True,), "delete": ()}[self.edits]
        protect_all = self.edits != "delete" and allowed == 0 and not isinstance(self.goal, Budget)
        # Plans that protect every node; a full goal is done with the first one.
        plans = [
            realize_layers(data, colors, self.k, additions=only_additions, randomness=randomness)
            for only_additions in (additions[:1] if protect_all else additions)
        ]
        if protect_all:
            return plans[0]
        from graphveil.methods.profile.pool import applied  # noqa: PLC0415  as above
        from graphveil.methods.profile.search import search  # noqa: PLC0415  as above

        task = tasks.ProfileTask.of(data, colors, self.goal, k=self.k, edits=self.edits)
        layers = [tuple(each.layer for each in plan.layers) for plan in plans]
        rng = randomness.stream("profile search")
        return applied(data, search(task, plans=layers, effort=self.effort, rng=rng))

    def _reached(self, data: Network, colors: Ints, unprotected: int) -> dict[str, int]:
        """Return how many nodes are unprotected, before and after; nothing for a full goal."""
        from graphveil.methods.profile.pool import unprotected_in  # noqa: PLC0415  as above

        if isinstance(self.goal, Full):
            return {}
        return {
            "nodes_unprotected": unprotected,
            "nodes_unprotected_before": unprotected_in(data, colors, self.k).size,
            "nodes_allowed_unprotected": self.goal.allowed(data.n_nodes),
        }

    def _advice(self, data: Network, changes: EditedLayers, unprotected: int) -> tuple[str, ...]:
        """Return advice on copies, a missed goal, many additions and unprotected nodes."""
        added = sum(each.added for each in changes.layers)
        many = MANY_ADDITIONS.passed_by(added, data.n_ties) if self.edits == "add" else ()
        left = MANY_UNPROTECTED.passed_by(unprotected, data.n_nodes)
        return (
            COPY,
            *tasks.advice_on_missed_goal(self.goal, unprotected, data.n_nodes),
            *many,
            *left,
        )

    def _planned(self, network: Network, colors: Ints, randomness: Randomness) -> Ints:
        """Return by how much a plan changes the degrees of each node, given these colors."""
        from graphveil.methods.profile.targets import ADDITIONS, Prices, plan_of_profiles  # noqa: PLC0415  as above

        points = network.profiles()
        prices = ADDITIONS if self.edits == "add" else Prices()
        rng = randomness.stream("profile suppress")
        of_person = attributes.numbered_colors(colors, network.n_nodes)
        return plan_of_profiles(points, of_person, self.k, prices, rng).change(points)
