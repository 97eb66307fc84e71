"""The method `k-degree`: every degree of the release is shared by at least k nodes.

Liu and Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008, in their two phases, each
with a module for every subject:

0. the degree sequence (their degree anonymization): `sequence.py`, `cells.py` if attributes are
   known, `medians.py` and `parity.py`; `assignment.py` says which node gets which target;
1. to 7. the edges (their graph construction): `realize.py` numbers these steps; `raising.py` is
   step 7;
8. integer programs that look for fewer edits and prove bounds: `integer_programs/proof.py`.

`subset.py` is the variant for some people only. `paper.py` has the algorithms as printed; no
release is made by them.

Why it is right: every target is shared by at least k nodes, and a run is used only if its edits
lead to exactly the targets, which `edit_state.check` recomputes from the edits alone.

Departures from the paper: the given graph is edited instead of constructing one from the sequence;
edges may be deleted as well, by default; attributes may be known, too. Costs: near-linear in the
edges, and what the integer programs of small networks take.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, Supergraph
from graphveil.claims.guarantees import AnyGuarantee, StructuralKAnonymity
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Flags, Ints
from graphveil.core.errors import DataError, ParameterError, UsageError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import Restated
from graphveil.core.warnings import COPY, MANY_ADDITIONS
from graphveil.data import Graph, Network
from graphveil.methods import attributes
from graphveil.methods.attributes import AttributedMethod, Merge
from graphveil.methods.base import SourceName
from graphveil.methods.card import MethodCard, Reached
from graphveil.release.draft import Draft, EditedEdges

if TYPE_CHECKING:
    from graphveil.claims.ledger import Ledger
    from graphveil.methods.k_degree.realize import Realization
    from graphveil.release import Release


LISTED = "listed"
"""What a manifest states in place of the list of protected people."""

LIMITS_OF_PEOPLE = (
    "People who are not on the owner's list: they may be left with fewer than k candidates, and "
    "such a degree shows that its people are not on it. The figures below are of releases that "
    "protect everybody."
)


@dataclass(frozen=True)
class People:
    """The people whom the anonymity is for: by their ids, or all with one value of an attribute.

    Parameters
    ----------
    ids
        Ids of nodes as text.
    column
        The name of an attribute, instead of ids.
    value
        The value of the attribute.
    """

    ids: tuple[str, ...] = ()
    column: str | None = None
    value: str = ""

    def __post_init__(self) -> None:
        """Refuse a column whose name would be read as something else in the record."""
        if self.column is not None and ("=" in self.column or self.column.startswith("[")):
            raise ParameterError(
                f"people cannot name the column {self.column!r}, because of its = or [. Rename it, "
                "or give a list of ids."
            )

    @staticmethod
    def parse(given: object) -> People:
        """Return the people that a list, a file with one id per line, or ``COLUMN=VALUE`` names.

        Parameters
        ----------
        given
            Ids, the path of a file, a text as `str` writes it, or a mapping of one column to its
            value.

        Raises
        ------
        ParameterError
            The people are given in another form, or there are none.
        """
        if isinstance(given, Mapping) and len(given) == 1:
            return People(column=str(next(iter(given))), value=str(next(iter(given.values()))))
        if isinstance(given, str | Path):
            return _spelled(str(given))
        if not isinstance(given, Iterable) or isinstance(given, Mapping):
            raise ParameterError(f"people={given!r} is not valid. {_GIVE_PEOPLE}")
        ids = tuple(dict.fromkeys(str(each) for each in given))
        if not ids:
            raise ParameterError(f"people names nobody. {_GIVE_PEOPLE}")
        return People(ids)

    def __str__(self) -> str:
        """Return the text from which `People.parse` reads the same people, without any file."""
        if self.column is not None:
            return f"{self.column}={self.value}"
        return json.dumps(list(self.ids), ensure_ascii=False) if self.ids else LISTED

    def __repr__(self) -> str:
        """Return how many they are: a message may not name them."""
        shown = str(self) if self.column is not None else f"{len(self.ids)} ids"
        return f"People({shown})"

    def among(self, data: Graph | Network) -> Flags:
        """Return which nodes of the data are these people, bool, shape (n,).

        Raises
        ------
        DataError
            An id is not in the data, or there is no such attribute or value.
        ParameterError
            The people are those of a manifest, which does not name them.
        """
        if self.column is not None:
            return self._by_value(data)
        if not self.ids:
            raise ParameterError(f"people={LISTED} names nobody. {_GIVE_PEOPLE}")
        labels, wanted = [str(label) for label in data.labels().tolist()], set(self.ids)
        missing = [each for each in self.ids if each not in set(labels)]
        if missing:
            raise DataError(
                f"{len(missing)} of {len(wanted)} people to protect are not in the network; the "
                f"first is {missing[0]!r}. Correct the list."
            )
        return np.array([label in wanted for label in labels], dtype=np.bool_)

    def _by_value(self, data: Graph | Network) -> Flags:
        names = data.attributes
        if data.people is None or self.column not in names:
            raise DataError(
                f"no attribute {self.column!r} for people={self}. "
                f"{did_you_mean(str(self.column), names)}Attributes: {', '.join(names) or 'none'}."
            )
        at = data.people.columns.index(self.column)
        values = [str(value) for value in data.people.categories[at].tolist()]
        if self.value not in values:
            raise DataError(
                f"nobody has {self.column}={self.value}. {did_you_mean(self.value, values)}Give a "
                "value of the attribute."
            )
        chosen: Flags = data.people.codes[:, at] == values.index(self.value)
        return chosen


_GIVE_PEOPLE = "Give a list of ids, a file with one id per line, or COLUMN=VALUE."


def _spelled(text: str) -> People:
    """Return the people that a text names: what `str` writes, a file, or a rule."""
    if text == LISTED:
        return People()
    if text.startswith("["):
        try:
            return People(tuple(map(str, msgspec.json.decode(text, type=list[str | int]))))
        except msgspec.DecodeError as error:
            raise ParameterError(f"people is not a list of ids: {error}. {_GIVE_PEOPLE}") from error
    path = Path(text)
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"{path} cannot be read: {error}. {_GIVE_PEOPLE}") from error
        return People.parse(line.strip() for line in lines if line.strip())
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise ParameterError(f"people={text!r} is not a file. {_GIVE_PEOPLE}")
    return People(column=column, value=value)


EditedLists: TypeAlias = "tuple[Realization, Mapping[str, float], tuple[str, ...]]"
"""The edits of a graph, figures about them for the private record, and warnings for the owner."""


CARD = MethodCard(
    when=(
        "Recipients may know how many edges a person has, and hold no copy of any "
        "part of the network."
    ),
    promise="Every node of the release has the same degree as at least k-1 others.",
    source="Liu & Terzi, Towards identity anonymization on graphs, SIGMOD 2008",
    limits="Any knowledge beyond a node's degree.",
    reached=tuple(
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            f"network (242 nodes, dense, k={k}, edits={edits}); {found} by one who knew the "
            "degrees of a node's neighbors, and how common each degree is.",
            {"k": k, "edits": edits},
        )
        for k, edits, found in (
            (2, "add", "99.8%"),
            (5, "add", "99%"),
            (20, "add", "75%"),
            (2, "any", "99.6%"),
            (5, "any", "97%"),
            (20, "any", "76%"),
        )
    ),
    limits_of_attributes=(
        "If attributes are published, also the attributes of neighbors. Re-identified in our "
        "tests: 85% of the people by an attacker who knew those of a person and of that "
        "person's neighbors (1,500 people)."
    ),
    cost="near-linear in the number of edges",
    example={"k": 5},
    trial_size=300_000,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class KDegree(AttributedMethod):
    """Every node of the release has the same degree as at least k-1 others.

    The degree sequence is anonymized at the least total change, exactly, and the graph is edited
    to meet it: edges are added and deleted (``edits="any"``, fewer edits) or added only
    (``edits="add"``, a supergraph of the input). It always succeeds if the graph has at least k
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
        Whether an edge that no pair of nodes needs goes to a node a few steps away if there is
        one: fewer components are joined.
    restarts
        The least number of random starts that ``edits="any"`` tries; small graphs get more. The
        fewest edits win.
    prove
        Whether integer programs look for fewer edits, and for a proof that none are possible:
        ``"auto"`` on networks of up to some thousand edges, on which it takes seconds at most. Not
        if attributes are known.
    people
        The people whom the anonymity is for, if not for everybody: a list of ids, a file with one
        id per line, or ``COLUMN=VALUE`` (of a `Network`; that attribute is then not published
        unless it is attached). Each of them has the same degree as at least k-1 other nodes, which
        need not be on the list; fewer edges change. The list is kept in the private record alone.
    known
        For a `Network`: the attributes that an attacker knows of a person. Degrees are then shared
        by at least k people who have the same known attributes.
    attach
        For a `Network`: attributes that are published unchanged, outside the guarantee.
    may_narrow
        The share of the hidden cells of a known attribute that attached ones may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    merge
        What is done with people whose known attributes fewer than k share: ``"suppress"``
        suppresses all of theirs; ``"mondrian"`` and ``"smooth"`` (suppress-k, that is smooth-k with
        theta 1) put them in groups of at least k, which publish what all of a group share;
        ``"none"`` refuses the data.
    suppress
        The most people, as a share of all, whose known attributes are also suppressed if that
        needs fewer edits.

    Raises
    ------
    ParameterError
        A parameter is out of range, ``target="greedy"`` is combined with ``edits="any"``, people
        with known attributes, or a column is both known and attached.

    Notes
    -----
    Liu and Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008: their dynamic program
    and their greedy algorithm for the degree sequence, on the degree histogram; with
    ``edits="any"`` each group gets its median, their variant with deletions. Departing from their
    graph construction, the given graph is edited until it has exactly the degrees of the sequence.
    For some people only: Chester, Kapron, Srivastava and
    Venkatesh, *Complexity of social network anonymization*, 2013. Time is near-linear in the edges.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n=5)
    >>> release = KDegree(k=2).anonymize(star)
    >>> sorted(release.data.degrees().tolist())
    [2, 2, 2, 4, 4]
    """

    name: ClassVar[str] = "k-degree"
    accepts = (Graph, Network)
    card: ClassVar[MethodCard] = CARD
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")

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
        default=2, text="minimum number of random starts with edits=any", minimum=1, private=True
    )
    prove: Literal["auto", "always", "never"] = parameter(
        default="auto",
        text="use integer programs to find fewer edits and prove optimality; auto: on small "
        "networks only",
        private=True,
    )
    people: People | None = parameter(
        default=None,
        text="protect these people only: a file with one id per line, or COLUMN=VALUE",
        unset="everybody",
        stated_at_default=False,
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
        if self.target == "greedy" and self.edits == "any":
            raise ParameterError(
                "target='greedy' only works with edits='add'. Set edits='add', or target='exact'."
            )
        if self.people is not None and self.known is not None:
            raise ParameterError(
                "people and known cannot be combined: a class of attributes would have protected "
                f"people and others. Remove known, or use {option('attach', ','.join(self.known))}."
            )

    @property
    def guarantee(self) -> StructuralKAnonymity:
        """What is guaranteed, of every node; with a list of people, a run claims less."""
        everybody = StructuralKAnonymity(k=self.k, known=self._roles.known)
        if self.people is None:
            return everybody
        return msgspec.structs.replace(everybody, listed=True)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds by construction."""
        kept = (Supergraph(),) if self.edits == "add" else ()
        return (*kept, *self._roles.conditions(self.may_narrow))

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what is not protected against; with a list of people, the others come first.

        Parameters
        ----------
        kind
            The kind of the released data.
        claimed
            The claim of the run: if it covers every node, the list does not matter.

        Returns
        -------
        str
            Whole sentences.
        """
        usual = super().limits(kind, claimed)
        every_node = isinstance(claimed, StructuralKAnonymity) and claimed.share == 1
        return usual if self.people is None or every_node else f"{LIMITS_OF_PEOPLE} {usual}"

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest omits; of a list of people it states only that it is."""
        people = {"people": Restated(LISTED, withheld=True)} if self.people else {}
        return {**super().restated, **people}

    @property
    def _unpublished(self) -> tuple[str, ...]:
        column = None if self.people is None else self.people.column
        return () if column is None else (column,)

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

    def draft(self, data: Graph | Network, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        protected = None if self.people is None else self.people.among(data)
        if isinstance(data, Graph):
            return self._edited(data, randomness, None, protected)
        graph = data.graph()
        colors = attributes.colors_of(data, self._roles.known, self.k, self.merge, randomness)
        colors = attributes.suppressed_further(
            colors, self.suppress, self.k, partial(self._change, graph)
        )
        return self._with_attributes(
            data, self._edited(graph, randomness, colors.of_person, protected), colors
        )

    def _change(self, graph: Graph, colors: Ints) -> Ints:
        """Return by how much the optimal degrees change the degree of every node."""
        from graphveil.methods.k_degree.assignment import planned_change  # noqa: PLC0415  as below

        return planned_change(graph.degrees(), colors, self.k, edits=self.edits)

    def _edited(
        self, data: Graph, randomness: Randomness, colors: Ints | None, protected: Flags | None
    ) -> Draft[Any]:
        from graphveil.methods.k_degree.realize import apply_edits  # noqa: PLC0415  compiled code

        lists = data.indptr, data.indices
        # Edit, then apply the edits. A list of people may claim less than every node.
        found, facts, advice = self.edited_lists(lists, randomness, colors, protected)
        result = Draft(
            data=apply_edits(data, found), notes=OwnersNotes(cost=facts, warnings=advice)
        )
        return result if protected is None else self._of_some(result, data, found.targets)

    def _of_some(self, result: Draft[Any], data: Graph, degrees: Ints) -> Draft[Any]:
        """Return the result with the guarantee that it has: the share of nodes in classes >= k."""
        from graphveil.methods.goals import share_of  # noqa: PLC0415  rare

        few = np.flatnonzero(np.bincount(degrees)[degrees] < self.k)
        share = share_of(degrees.size - few.size, degrees.size)
        claimed = msgspec.structs.replace(self.guarantee, share=share)
        unprotected = tuple(data.labels()[few].tolist())
        return result._replace(guarantee=claimed).noting(unprotected=unprotected)

    def from_edges_on_disk(self, graph: Graph, randomness: Randomness) -> EditedEdges:
        """Return the edits of a graph whose edges the disk holds: those in memory, for the seed.

        Parameters
        ----------
        graph
            Its arrays are mapped from files.
        randomness
            That of the run.

        Returns
        -------
        EditedEdges
            The edges to add and to delete, and a check of the degrees that they give.

        Raises
        ------
        UsageError
            If only some people are to be protected.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> edited = gv.KDegree(k=2).from_edges_on_disk(star, Randomness(1))
        >>> len(edited.added), len(edited.deleted), edited.notes.cost["edits_lower_bound"]
        (3, 0, 3)
        """
        if self.people is not None:
            raise UsageError(
                "people needs the edges in memory. Remove --on-disk, or protect everybody."
            )
        found, facts, advice = self.edited_lists((graph.indptr, graph.indices), randomness)

        def check(degrees: Ints) -> None:
            classes = np.bincount(degrees)
            if np.any(degrees != found.targets) or classes[classes > 0].min() < self.k:
                raise RuntimeError(
                    f"about to publish degrees that differ from those planned for k={self.k}"
                )

        notes = OwnersNotes(cost=facts, warnings=advice)
        return EditedEdges(found.added, found.deleted, check, notes)

    def edited_lists(
        self,
        lists: tuple[Ints, NDArray[np.int32]],
        randomness: Randomness,
        colors: Ints | None = None,
        protected: Flags | None = None,
    ) -> EditedLists:
        """Return the edits of a graph whose neighbor lists may be on the disk.

        Parameters
        ----------
        lists
            `indptr` (int64, shape (n + 1,)) and `indices` (int32, sorted within a node), perhaps
            mapped from a file: few pages of the `indices` are read.
        randomness
            The root of all random numbers.
        colors
            The combination of known attributes of every node, int64, shape (n,), or None.
        protected
            Which nodes the anonymity is for, bool, shape (n,), or None for all.

        Returns
        -------
        EditedLists
            The edits, figures for the private record, and warnings for the owner.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> lists = star.indptr, star.indices
        >>> found, cost, _ = gv.KDegree(k=2).edited_lists(lists, Randomness(1))
        >>> sorted(found.targets.tolist()), cost["edits"]
        ([2, 2, 2, 4, 4], 3)
        """
        from graphveil.methods.k_degree.integer_programs.proof import proven  # noqa: PLC0415  as above
        from graphveil.methods.k_degree.realize import realize  # noqa: PLC0415  as above

        # Phases 1 and 2 of Liu and Terzi: an anonymous sequence, and edits that realize it.
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
        # Integer programs: fewer edits, and a bound that may prove that none are possible.
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
        # For some people only; what protects everybody is kept unless this takes fewer edits.
        if protected is not None and not protected.all():
            from graphveil.methods.k_degree.subset import realize_subset, subset_task  # noqa: PLC0415  as above

            found = realize_subset(
                subset_task(lists, protected, self.k, near=self.near),
                found,
                edits=self.edits,
                target=self.target,
                restarts=self.restarts,
                randomness=randomness,
            )
        n_edges = lists[1].size // 2
        many = MANY_ADDITIONS.passed_by(len(found.added), n_edges) if self.edits == "add" else ()
        edits = len(found.added) + len(found.deleted)
        facts = {
            "edits": edits,
            "degree_change_optimum": found.l1,
            "edits_lower_bound": found.lower_bound,
            "edits_lower_bound_for_targets": found.target_bound,
            "edits_proved_fewest": int(edits <= found.lower_bound),
            "rounds": found.rounds,
        }
        return found, facts, (COPY, *many)
