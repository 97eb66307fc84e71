"""The method `k-degree`: every degree of the release is shared by at least k nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, Supergraph
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import COPY, MANY_ADDITIONS
from graphveil.data import Graph, Network
from graphveil.methods.attributes import (
    AttributedMethod,
    Merge,
    attach_parameter,
    attached_advice,
    colors_of,
    known_parameter,
    merge_parameter,
    suppress_parameter,
    suppressed_further,
)
from graphveil.methods.base import EditedTies, MethodResult, Reached, SourceName

if TYPE_CHECKING:
    from graphveil.claims.ledger import Ledger
    from graphveil.methods.k_degree.realize import Realization
    from graphveil.release import Release


class EditedLists(NamedTuple):
    """The edits of a graph, what is known of them, and what the owner should know."""

    realization: Realization
    facts: Mapping[str, float | int]
    advice: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class KDegree(AttributedMethod):
    """Every node of the release has the same degree as at least k-1 others.

    The degree sequence is anonymized at the least total change, exactly, and the graph is edited
    to meet it: edges are added and deleted (``edits="any"``, fewer edits) or added only
    (``edits="add"``, a supergraph of the input). It never gives up where the graph has at least k
    nodes.

    Parameters
    ----------
    k
        The smallest number of nodes that share a degree.
    edits
        ``"any"`` or ``"add"``.
    target
        ``"exact"``, the optimal degree sequence, or ``"greedy"``, the one of the greedy algorithm
        (with ``edits="add"`` only).
    near
        Whether an edge that no pair of nodes needs goes to a node a few steps away where there is
        one: fewer components are joined.
    restarts
        The least number of random starts that ``edits="any"`` tries, small graphs get more; the
        fewest edits win.
    prove
        Whether integer programs look for fewer edits, and for a proof that none are possible:
        ``"auto"`` on networks of up to some thousand edges, where it takes seconds at most. Not
        where attributes are known.
    known
        Of a `Network`: the attributes that an adversary knows of a person. Degrees are then shared
        by at least k people who have the same of them.
    attach
        Of a `Network`: attributes that are published as they are, outside the promise.
    merge
        What becomes of people whose known attributes fewer than k have: ``"suppress"`` all of
        theirs; ``"mondrian"`` and ``"smooth"`` (suppress-k, that is smooth-k with theta 1) put them
        in groups of at least k, which publish what all of a group share; ``"none"`` refuses the
        data.
    suppress
        The most people, as a share of all, whose known attributes are suppressed besides where that
        needs fewer edits.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or ``target="greedy"`` meets ``edits="any"``, or a column
        is known and attached.

    Notes
    -----
    Liu and Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008. Time is near-linear in
    the edges; the dynamic program runs on the degree histogram.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n=5)
    >>> release = KDegree(k=2).anonymize(star)
    >>> sorted(release.data.degrees().tolist())
    [2, 2, 2, 4, 4]
    """

    name: ClassVar[str] = "k-degree"
    accepts = (Graph, Network)
    when: ClassVar[str] = (
        "Recipients may know how many edges a person has, and hold no copy of any "
        "part of the network."
    )
    promise: ClassVar[str] = "Every node of the release has the same degree as at least k-1 others."
    source: ClassVar[str] = "Liu & Terzi, Towards identity anonymization on graphs, SIGMOD 2008"
    limits: ClassVar[str] = "Any knowledge beyond a node's degree."
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=2, edits=add); 99% by one who knew the degrees of a "
            "node's neighbors.",
            {"k": 2, "edits": "add"},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=5, edits=add); 84% by one who knew the degrees of a "
            "node's neighbors.",
            {"k": 5, "edits": "add"},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=20, edits=add); 48% by one who knew the degrees of a "
            "node's neighbors (12,006 nodes, k=20, edits=add).",
            {"k": 20, "edits": "add"},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=2, edits=any); 99% by one who knew the degrees of a "
            "node's neighbors.",
            {"k": 2, "edits": "any"},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=5, edits=any); 95% by one who knew the degrees of a "
            "node's neighbors.",
            {"k": 5, "edits": "any"},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, k=20, edits=any); 68% by one who knew the degrees of a "
            "node's neighbors.",
            {"k": 20, "edits": "any"},
        ),
    )
    limits_of_attributes: ClassVar[str] = (
        "If attributes are published, also the attributes of neighbors. Re-identified in our "
        "tests: 85% of the people by an attacker who knew those of a person and of that "
        "person's neighbors (1,500 people)."
    )
    cost: ClassVar[str] = "near-linear in the number of edges"
    trial_size: ClassVar[int] = 300_000
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")
    example: ClassVar[Mapping[str, Any]] = {"k": 5}

    k: int = parameter(text="smallest number of nodes that share a degree", minimum=2)
    edits: Literal["add", "any"] = parameter(
        default="any", text="add and delete edges (fewer edits), or only add"
    )
    target: Literal["exact", "greedy"] = parameter(
        default="exact", text="optimal or greedy degree sequence (greedy: edits=add only)"
    )
    near: bool = parameter(
        default=True, text="prefer nodes a few steps away when placing single missing edges"
    )
    restarts: int = parameter(
        default=2,
        text="minimum number of random starts with edits=any",
        minimum=1,
        private=True,
    )
    prove: Literal["auto", "always", "never"] = parameter(
        default="auto",
        text=(
            "use integer programs to find fewer edits and prove optimality; auto: on small "
            "networks only"
        ),
        private=True,
    )
    known: Columns | None = known_parameter()
    attach: Columns | None = attach_parameter()
    merge: Merge = merge_parameter()
    suppress: float = suppress_parameter()

    def __post_init__(self) -> None:
        """Check every parameter, and those that exclude each other."""
        super().__post_init__()
        self._roles.check_needed(self.suppress)
        if self.target == "greedy" and self.edits == "any":
            raise ParameterError(
                "target='greedy' only works with edits='add'. Set edits='add', or target='exact'."
            )

    @property
    def rows_needed(self) -> int:
        """The fewest nodes for which the promise can be kept: k."""
        return self.k

    @property
    def guarantee(self) -> StructuralKAnonymity:
        """What is promised, of every node."""
        return StructuralKAnonymity(k=self.k, known=self._roles.known)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds by construction."""
        kept = (Supergraph(),) if self.edits == "add" else ()
        return (*kept, *self._roles.conditions)

    if TYPE_CHECKING:

        @overload
        def anonymize(
            self, data: Graph, *, seed: int | None = None, ledger: Ledger | None = None
        ) -> Release[Graph]: ...

        @overload
        def anonymize(
            self, data: Network, *, seed: int | None = None, ledger: Ledger | None = None
        ) -> Release[Network]: ...

        @overload
        def anonymize(
            self, data: Any, *, seed: int | None = None, ledger: Ledger | None = None
        ) -> Release[Graph]: ...

        def anonymize(self, data: Any, **_options: Any) -> Any:
            """Return a release of the kind of the data."""

    def _anonymize(self, data: Graph | Network, randomness: Randomness) -> MethodResult:
        if isinstance(data, Graph):
            return self._edited(data, randomness, None)
        graph = data.graph()
        colors = colors_of(data, self._roles.known, self.k, self.merge, randomness)
        colors = suppressed_further(colors, self.suppress, self.k, partial(self._change, graph))
        result = self._edited(graph, randomness, colors.of_person)
        released = self._beside(data, cast("Graph", result.data), colors)
        return result._replace(
            data=released,
            advice=(*result.advice, *attached_advice(released, self._roles)),
        )

    def _change(self, graph: Graph, colors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return by how much the optimal degrees change everyone's, for these colors."""
        from graphveil.methods.k_degree.roles import planned_change  # noqa: PLC0415  as below

        return planned_change(graph.degrees(), colors, self.k, edits=self.edits)

    def _edited(
        self, data: Graph, randomness: Randomness, colors: NDArray[np.int64] | None
    ) -> MethodResult:
        from graphveil.methods.k_degree.realize import apply_edits  # noqa: PLC0415  compiled code

        edited = self.edited_lists((data.indptr, data.indices), randomness, colors)
        return MethodResult(
            data=apply_edits(data, edited.realization), facts=edited.facts, advice=edited.advice
        )

    def from_ties(self, graph: Graph, randomness: Randomness) -> EditedTies:
        """Return the edits of a graph whose ties the disk holds: those in memory, for the seed."""
        edited = self.edited_lists((graph.indptr, graph.indices), randomness)
        found = edited.realization

        def check(degrees: NDArray[np.int64]) -> None:
            classes = np.bincount(degrees)
            if np.any(degrees != found.targets) or classes[classes > 0].min() < self.k:
                raise RuntimeError(
                    f"about to publish degrees that differ from those planned for k={self.k}"
                )

        return EditedTies(found.added, found.deleted, check, edited.facts, edited.advice)

    def edited_lists(
        self,
        lists: tuple[NDArray[np.int64], NDArray[np.int32]],
        randomness: Randomness,
        colors: NDArray[np.int64] | None = None,
    ) -> EditedLists:
        """Return the edits of a graph whose neighbor lists may lie on the disk.

        Parameters
        ----------
        lists
            `indptr` and `indices`, as `graphveil.data.Graph` has them; of the second few pages are
            read.
        randomness
            The run's.
        colors
            int64, shape (n,): what an adversary knows of everyone besides; None for nothing.
        """
        from graphveil.methods.k_degree.proof import proven  # noqa: PLC0415  as below
        from graphveil.methods.k_degree.realize import realize  # noqa: PLC0415  compiled code

        found = realize(
            lists,
            self.k,
            edits=self.edits,
            target=self.target,
            near=self.near,
            restarts=self.restarts,
            randomness=randomness,
            colors=colors,
        )
        if colors is None:
            found = proven(
                lists,
                found,
                self.k,
                edits=self.edits,
                prove=self.prove,
                near=self.near,
                randomness=randomness,
            )
        n_edges = lists[1].size // 2
        told_apart = (
            () if self.edits == "any" else MANY_ADDITIONS.passed_by(len(found.added), n_edges)
        )
        edits = len(found.added) + len(found.deleted)
        facts = {
            "edits": edits,
            "degree_change_optimum": found.l1,
            "edits_lower_bound": found.lower_bound,
            "edits_lower_bound_for_targets": found.target_bound,
            "edits_proved_fewest": int(edits <= found.lower_bound),
            "rounds": found.rounds,
        }
        return EditedLists(found, facts, (COPY, *told_apart))
