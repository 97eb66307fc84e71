"""Attributes of the nodes of a network: known ones in classes of at least k, attached ones as is.

An attacker may know the *known* attributes of a person along with the structure around their node.
So a method for graphs with attributes works in two steps:

1. Here: known attributes are changed until every combination that is published is shared by at
   least k nodes. Nodes with the same published combination have one *color*. Combinations of fewer
   than k are suppressed, or generalized in groups by a method for tables (`Merge`).
2. In the method: edges are changed until nodes are indistinguishable within their color.

Suppressing further nodes can save edits of edges (`suppressed_further`). Attached attributes are
published unchanged, outside of the guarantee.

Cost: O(n) per column to find colors, and sorting; `suppressed_further` computes the edits anew for
each batch that it tries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.conditions import (
    LEAST_NARROWED,
    MOST_NARROWED,
    AnyCondition,
    AttachedColumns,
    OwnAttributes,
)
from graphveil.core.array_types import Ints
from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.hints import did_you_mean, mapping, option
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import OMITTED, Restated
from graphveil.core.text import counted
from graphveil.core.warnings import attached_to_network
from graphveil.data import SUPPRESSED, Data, Graph, Layer, Network, Table
from graphveil.data.id_columns import FEW, FEW_ATTACHED, naming_columns
from graphveil.data.ids import Ids
from graphveil.methods.base import Anonymizer
from graphveil.release.draft import Draft

Merge = Literal["suppress", "mondrian", "smooth", "none"]
"""What happens to nodes whose known attributes fewer than k share.

``suppress``: all of their known attributes are suppressed. ``mondrian``, ``smooth``: they are put
in groups of at least k by mondrian, or by suppress-k (smooth-k with theta 1), and cells that a
group does not share are suppressed. ``none``: the data is refused.
"""

TABLE_ROOM = 8
"""Colors are numbered through a lookup table of at most 8 entries per node, otherwise by sorting.

It bounds the memory of the table; the numbers are the same.
"""

MOST_ROWS = 1 << 62
"""With fewer combinations of values, each has a number of 64 bits; otherwise rows are sorted.

It keeps the largest number within an int64, and the way of counting does not change the colors.
"""

BATCHES = 8
"""Further nodes are suppressed in batches of an eighth of the budget, with new edits after each.

More batches choose with better knowledge of what each suppression saves, and cost a computation of
all edits each.
"""


class Colors(NamedTuple):
    """The nodes by their published known attributes.

    `table`: the known attributes as published; `of_person`: int64, shape (n,): the color of every
    node, numbered by first appearance. Both are None if nothing is known.
    """

    table: Table | None
    of_person: Ints | None


def colors_of(
    network: Network, known: tuple[str, ...], k: int, merge: Merge, randomness: Randomness
) -> Colors:
    """Return colors of at least k nodes each; nodes of rarer combinations lose known attributes.

    Parameters
    ----------
    network
        The network with its attributes.
    known
        The attributes that an attacker may know.
    k
        The fewest nodes of a color.
    merge
        What happens to rarer combinations.
    randomness
        That of the run, for ``smooth``.

    Returns
    -------
    Colors
        Every color has at least k nodes, unless the network has fewer.

    Raises
    ------
    InfeasibleError
        If a combination is rarer and `merge` is ``none``.
    """
    if not known or network.people is None:
        return Colors(None, None)
    chosen = network.with_attributes(known).people
    table = chosen if chosen is not None else network.people
    # Find the combinations that fewer than k nodes share.
    of_person, sizes = _classes(table)
    small = sizes < k
    if merge == "none" and np.any(small):
        few = int(sizes[small].sum())
        raise InfeasibleError(
            f"{few} of {counted(network.n_nodes, 'node')} share {', '.join(known)} with fewer than "
            f"{k - 1} others. Use {option('merge', 'suppress')}, group values, or drop a column."
        )
    # Generalize them in groups of k among themselves.
    if merge in {"mondrian", "smooth"}:
        rare = _enlarged(small, sizes, k)[of_person]
        if not rare.any():
            return Colors(table, of_person)
        return _generalized(table, rare, k, merge, randomness)
    # Or suppress them. Nodes without any known value are of the suppressed color already, which the
    # others join: it counts towards the k nodes that this color needs.
    suppressed = (table.codes[_first_of(of_person)] == SUPPRESSED).all(axis=1)
    small &= ~suppressed
    if not small.any() and not suppressed.any():
        return Colors(table, of_person)
    return with_suppressed(table, _enlarged(small | suppressed, sizes, k)[of_person])


def _enlarged(chosen: NDArray[np.bool_], sizes: Ints, k: int) -> NDArray[np.bool_]:
    """Return these colors and the next smallest ones, until together they have k nodes.

    All nodes that are changed could become one class, which must not be smaller than k.

    `chosen`: bool, shape (colors,): the colors to be changed; `sizes`: int64, shape (colors,).
    """
    chosen = chosen.copy()
    while chosen.any() and sizes[chosen].sum() < k and not chosen.all():
        unchosen = np.flatnonzero(~chosen)
        chosen[unchosen[np.argmin(sizes[unchosen])]] = True
    return chosen


def _generalized(
    table: Table, rare: NDArray[np.bool_], k: int, merge: Merge, randomness: Randomness
) -> Colors:
    """Return the colors once rare nodes are in groups of k, which publish what their rows share."""
    codes = table.codes.copy()
    rows = Table(codes[rare], table.columns, table.categories)
    groups = _groups_of(rows, k, merge, randomness)
    codes[rare] = shared_cells(rows.codes, groups)
    published = Table(codes, table.columns, table.categories)
    return Colors(published, _classes(published)[0])


def _groups_of(rows: Table, k: int, merge: Merge, randomness: Randomness) -> NDArray[np.integer]:
    """Return the group of every row, as the method for tables forms them."""
    from graphveil.methods.mondrian import Mondrian  # noqa: PLC0415  methods, when needed
    from graphveil.methods.smooth_k.smooth_k import SuppressK  # noqa: PLC0415  as above

    if merge == "mondrian":
        return Mondrian(k=k, split="balanced").groups(rows.one_hot())
    return SuppressK(k=k).groups(rows.one_hot(), randomness.stream("rare attributes"))


def shared_cells(codes: NDArray[np.int32], groups: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the rows with the cells that all rows of their group share, the others suppressed.

    `codes`: int32, shape (n, d); `groups`: shape (n,): the group of every row.

    >>> codes = np.array([[1, 0], [1, 2], [3, 3]], dtype=np.int32)
    >>> shared_cells(codes, np.array([0, 0, 1])).tolist()
    [[1, -1], [1, -1], [3, 3]]
    """
    # A column of a group is shared if its smallest and its largest code are the same. A suppressed
    # cell has the code -1, so that it differs from every value.
    _, of_row = np.unique(groups, return_inverse=True)
    n_groups = int(of_row.max(initial=-1)) + 1
    least = np.full((n_groups, codes.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    most = np.full_like(least, SUPPRESSED)
    np.minimum.at(least, of_row, codes)
    np.maximum.at(most, of_row, codes)
    return np.where(least == most, least, np.int32(SUPPRESSED))[of_row]


def with_suppressed(table: Table, chosen: NDArray[np.bool_]) -> Colors:
    """Return the colors once all cells of the chosen rows are suppressed."""
    codes = table.codes.copy()
    codes[chosen] = SUPPRESSED
    published = Table(codes, table.columns, table.categories)
    return Colors(published, _classes(published)[0])


def numbered_colors(colors: Ints | None, n: int) -> Ints:
    """Return colors numbered by first appearance, so that nothing depends on their names.

    `colors`: int64, shape (n,); None for one color of all n nodes.
    """
    if colors is None:
        return np.zeros(n, dtype=np.int64)
    # By a lookup table from colors to first nodes if colors are small numbers, else by sorting.
    least = colors.min(initial=0)
    if colors.max(initial=0) - least < TABLE_ROOM * n:
        labels = colors - least
        first = _first_of(labels)
        occurring = np.flatnonzero(first < n)
        number = np.empty(first.size, dtype=np.int64)
        number[occurring[np.argsort(first[occurring])]] = np.arange(occurring.size)
        numbered: Ints = number[labels]
        return numbered
    _, first, labels = np.unique(colors, return_index=True, return_inverse=True)
    by_first: Ints = np.argsort(np.argsort(first))[labels.reshape(-1)]
    return by_first


def _first_of(labels: Ints) -> Ints:
    """Return the first index of every label; the length of `labels` for one that does not occur."""
    first = np.full(int(labels.max(initial=-1)) + 1, labels.size, dtype=np.int64)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # of several, the last one written stays
    return first


def _classes(table: Table) -> tuple[Ints, Ints]:
    """Return the class of equal rows of every row, and the number of rows of every class.

    Classes are numbered by first appearance: codes of values follow the order of their names, on
    which nothing may depend.
    """
    # Number the rows by their values as digits, if the product of the bases fits.
    rows = 1
    for values in table.categories:
        rows *= values.size + 1
    if rows < MOST_ROWS:
        of_row = np.zeros(table.n_rows, dtype=np.int64)
        for column, values in enumerate(table.categories):
            of_row *= values.size + 1
            of_row += table.codes[:, column] + 1
    else:
        of_row = np.unique(table.codes, axis=0, return_inverse=True)[1].reshape(-1)
    of_person = numbered_colors(of_row, table.n_rows)
    return of_person, np.bincount(of_person).astype(np.int64)


def suppressed_further(
    colors: Colors, share: float, k: int, change: Callable[[Ints], Ints]
) -> Colors:
    """Return colors with up to a share of the nodes also suppressed, those that cost most edits.

    Parameters
    ----------
    colors
        Colors of at least k nodes each.
    share
        The largest share of nodes to suppress.
    k
        The fewest nodes of a color, before and after.
    change
        From colors, int64, shape (n,), to the edits that every node needs under them.

    Returns
    -------
    Colors
        The best ones that were tried; no batch is kept that saves no edits.
    """
    table, of_person = colors.table, colors.of_person
    if table is None or of_person is None or share <= 0:
        return colors
    # The 1e-9 undoes rounding: 0.29 x 100 is slightly below 29.
    budget = int(share * of_person.size + 1e-9)
    batch = max(k, budget // BATCHES)
    best, least = colors, int(change(of_person).sum())
    while 0 < batch <= budget:
        # Suppressed nodes are one color, which a batch joins; the first needs k nodes itself.
        of_person, published = best.of_person, best.table
        if of_person is None or published is None:
            break
        suppressed = (published.codes == SUPPRESSED).all(axis=1)
        if batch < k and not suppressed.any():
            break
        # Choose the nodes that need most edits, of colors that can spare them: those keep k nodes.
        spare = np.bincount(of_person) - k
        chosen = np.zeros(of_person.size, dtype=np.bool_)
        edits = change(of_person)
        for person in np.argsort(-edits, kind="stable").tolist():
            if edits[person] == 0 or np.count_nonzero(chosen) == batch:
                break
            if not suppressed[person] and spare[of_person[person]] > 0:
                chosen[person] = True
                spare[of_person[person]] -= 1
        if np.count_nonzero(chosen) < (1 if suppressed.any() else k):
            break
        # Compute the edits anew; if the batch saves none, try half as many.
        tried = with_suppressed(table, suppressed | chosen)
        after = int(change(tried.of_person).sum()) if tried.of_person is not None else least
        if after >= least:
            batch //= 2
            continue
        best, least, budget = tried, after, budget - int(np.count_nonzero(chosen))
    return best


def known_parameter() -> Any:
    """Return the field of the attributes that an attacker may know."""
    return parameter(
        default=None,
        text="attributes an attacker may know (comma-separated); part of the guarantee",
        unset="none",
    )


def attach_parameter() -> Any:
    """Return the field of the attributes that are published outside the guarantee."""
    return parameter(
        default=None, text="attributes published unchanged, outside the guarantee", unset="none"
    )


def may_narrow_parameter() -> Any:
    """Return the field of how far attached attributes may narrow what known ones hide."""
    return parameter(
        default=None,
        text="share of the hidden cells of a known attribute that attached ones may narrow to one "
        "value, beyond chance",
        minimum=LEAST_NARROWED,
        maximum=MOST_NARROWED,
        unset=f"a run asks above {LEAST_NARROWED}",
        stated_at_default=False,
    )


def merge_parameter() -> Any:
    """Return the field for what happens to rare combinations of attributes."""
    return parameter(
        default="suppress",
        text="what to do with people whose known attributes are shared by fewer than k: "
        "suppress all of theirs, generalize them in groups (mondrian, smooth), or refuse "
        "(none)",
    )


def suppress_parameter() -> Any:
    """Return the field of the share of nodes that may also be suppressed."""
    return parameter(
        default=0.0,
        text="maximum share of nodes whose attributes are suppressed if that saves edits",
        minimum=0.0,
        maximum=0.5,
    )


class Roles(NamedTuple):
    """Which attributes an attacker may know, and which are published outside the guarantee."""

    known: tuple[str, ...]
    attach: tuple[str, ...]

    @classmethod
    def of(cls, known: Columns | None, attach: Columns | None) -> Roles:
        """Return the roles of two parameters.

        Raises
        ------
        ParameterError
            If an attribute is in both.
        """
        both = [name for name in known or () if name in (attach or ())]
        if both:
            raise ParameterError(
                f"the column {both[0]!r} is both known and attached. Choose one: known columns "
                "are published, too."
            )
        return cls(tuple(known or ()), tuple(attach or ()))

    def conditions(self, may_narrow: float | None = None) -> tuple[AnyCondition, ...]:
        """Return the conditions about published attributes.

        `may_narrow`: as `AttachedColumns` has it; None where it is not set.
        """
        conditions = (OwnAttributes(),) if self.known else ()
        if not self.attach:
            return conditions
        share = UNSET if may_narrow is None else may_narrow
        return (*conditions, AttachedColumns(attach=self.attach, may_narrow=share))

    def check_needed(self, suppress: float) -> None:
        """Refuse a share of nodes to suppress if no attribute is known."""
        if suppress and not self.known:
            raise ParameterError(
                f"suppress={suppress} suppresses known attributes, but none are given. Name "
                f"them with {option('known', 'COLUMN')}, or remove suppress."
            )

    def check(self, network: Network, k: int, unpublished: tuple[str, ...] = ()) -> None:
        """Refuse attributes without a role, and known or attached ones that name people.

        Parameters
        ----------
        network
            The network with its attributes.
        k
            The smallest class: a known attribute with more than n / k values cannot have classes of
            k for each.
        unpublished
            Attributes that are read and not published, which need no role.

        Raises
        ------
        DataError
            If an attribute does not exist, has no role, or nearly identifies people.
        """
        for name in (*self.known, *self.attach):
            if name not in network.attributes:
                raise DataError(
                    f"no attribute {name!r}. {did_you_mean(name, network.attributes)}Attributes: "
                    f"{', '.join(network.attributes) or 'none'}."
                )
        # Every attribute that was read needs a role.
        roles = (*self.known, *self.attach, *unpublished)
        without = [name for name in network.attributes if name not in roles]
        if without:
            raise DataError(_without_role(network, without))
        # Columns with nearly as many values as nodes identify people, known or attached.
        people = network.people
        if people is None:
            return
        others = [name for name in people.columns if name not in self.attach]
        naming = {
            *naming_columns(people),
            *naming_columns(people.without(others), FEW_ATTACHED),
        }
        for column, name in enumerate(people.columns):
            used = int(np.count_nonzero(np.bincount(people.codes[:, column] + 1)))
            most = max(network.n_nodes // max(k, 1), FEW)
            if name in naming or (name in self.known and used > most):
                role = "attached" if name in self.attach else "known"
                raise DataError(
                    f"{name} has {counted(used, 'value')} for "
                    f"{counted(network.n_nodes, 'person')}, so it nearly "
                    f"identifies them and cannot be {role}. Use {option('drop', name)}, or "
                    f"group its values first (numbers: {mapping('bins', name, 'quantiles:4')})."
                )

    def published(self, people: Table | None, known: Table | None) -> Table | None:
        """Return the published attributes: known ones as in `known`, attached ones as in `people`.

        Columns are in the order of their names. None if there are none.
        """
        columns: dict[str, tuple[NDArray[np.int32], Ids]] = {}
        for table, names in ((known, self.known), (people, self.attach)):
            for name in names:
                if table is not None:
                    at = table.columns.index(name)
                    columns[name] = table.codes[:, at], table.categories[at]
        if not columns:
            return None
        ordered = sorted(columns)
        codes = np.column_stack([columns[name][0] for name in ordered])
        return Table(codes, tuple(ordered), tuple(columns[name][1] for name in ordered))


def _without_role(network: Network, names: list[str]) -> str:
    """Return the refusal of attributes without a role, with how unique their values are."""
    described = []
    for name in names:
        values, sizes = np.unique(network.codes_of(name), return_counts=True)
        unique = int(np.count_nonzero(sizes == 1))
        nodes = "no node has"
        if unique:
            nodes = f"{unique} {'node has' if unique == 1 else 'nodes have'}"
        described.append(f"{name} ({counted(values.size, 'value')}; {nodes} a unique one)")
    first = names[0]
    return (
        f"no role given for {', '.join(described)}. Give {option('known', first)} if an "
        f"attacker may know it (covered by the guarantee), {option('attach', first)} to publish "
        f"it unprotected, or {option('drop', first)} to remove it."
    )


def as_network(data: Data) -> Network:
    """Return the data if it is a network, a graph among them; raise `TypeError` otherwise."""
    if not isinstance(data, Network):
        raise TypeError(f"a {type(data).__name__} is not a network")
    return data


def attached_advice(network: Network, roles: Roles) -> tuple[str, ...]:
    """Return warnings for the data owner about attached attributes that single nodes out."""
    # A node is unique if no other has its attributes and its degrees.
    if not roles.attach or network.people is None:
        return ()
    rows = np.column_stack([network.people.codes, network.profiles()])
    _, sizes = np.unique(rows, axis=0, return_counts=True)
    return attached_to_network(roles.attach, int(np.count_nonzero(sizes == 1)), network.n_nodes)


OF_ATTRIBUTES = ("known", "attach", "may_narrow", "merge", "suppress")
"""The parameters that concern attributes alone."""


class AttributedMethod(Anonymizer[Graph]):
    """A method for graphs that also takes attributes: of a network of one kind of edges.

    Derived classes have the fields `k`, `known`, `attach`, `may_narrow` and `merge`, made by this
    module's functions.
    """

    k: int
    known: Columns | None
    attach: Columns | None
    may_narrow: float | None

    @property
    def _roles(self) -> Roles:
        return Roles.of(self.known, self.attach)

    @property
    def _unpublished(self) -> tuple[str, ...]:
        """The attributes that are read and not published."""
        return ()

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest omits: those of attributes, if none has a role."""
        if self.known is not None or self.attach is not None:
            return {}
        unused = (
            item.name
            for item in fields(self)
            if item.name in OF_ATTRIBUTES and getattr(self, item.name) == item.default
        )
        return dict.fromkeys(unused, OMITTED)

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize, and attributes without a role.

        Raises
        ------
        UsageError
            If the data is of a different kind.
        DataError
            If attributes have no role, or nearly identify people.
        """
        super().check(data)
        network = as_network(data)
        self._roles.check(network, self.k, self._unpublished)
        self._check_ties(network)

    def _check_ties(self, network: Network) -> None:
        """Refuse directed edges, and several layers."""
        network.graph()

    def prepared(self, data: Any) -> Any:
        """Return the data that is anonymized; a network without attributes becomes a graph."""
        prepared: Network = super().prepared(data)
        return prepared.graph() if prepared.is_bare else prepared

    def _with_attributes(self, network: Network, edited: Draft[Any], colors: Colors) -> Draft[Any]:
        """Return the draft for a network: the edited edges, with the published attributes."""
        people = self._roles.published(network.people, colors.table)
        layer = Layer.of(cast("Graph", edited.data), name=network.only_layer().name)
        released = Network((layer,), people, network.ids)
        return edited._replace(data=released).warning(*attached_advice(released, self._roles))
