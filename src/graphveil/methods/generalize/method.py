"""The method `generalize`: every row of a table equals others in what it publishes.

The class checks roles and rules, calls the recoding (`frames.generalized`), and describes the
result: which columns are known, by which kind of levels, and the nodes of the levels file. A
release lists only the nodes that it publishes and those above them, since the leaves of a hierarchy
can be the list of values that the data has.

Why the guarantee holds: the recoding puts every row into a cluster of at least k. A cluster
publishes in each known column one node, which is above the values of all its rows. So its rows are
equal in all known columns, and each published cell is true of its row. Clusters that publish the
same are one class, which can only be larger. A missing cell is below `*` alone, so it makes its
cluster publish `*`. How clusters were found does not matter for this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET

from graphveil.claims.conditions import AnyCondition, Close, Diverse, OwnersLevels
from graphveil.claims.guarantees import AnyGuarantee, KAnonymity
from graphveil.claims.manifest import DescribedColumn, Generalization, LevelNode
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import mapping, option
from graphveil.core.parameters import Columns, PerColumn, parameter
from graphveil.core.questions import Problem
from graphveil.core.randomness import Randomness
from graphveil.data import SUPPRESSED, Data, Table
from graphveil.data.ids import Ids, text
from graphveil.methods import roles as table_roles
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard, reached_by_k
from graphveil.methods.generalize import frames
from graphveil.methods.generalize.hierarchy import ALL, Hierarchy
from graphveil.methods.generalize.levels import kind_of_levels, values_of
from graphveil.methods.roles import TableRoles
from graphveil.release.draft import Draft

CARD = MethodCard(
    when="You publish a table of people, and an attacker may know some of its columns.",
    promise=(
        "Every row of the release equals at least k-1 others in what it publishes of known columns."
    ),
    source=(
        "Samarati, Protecting respondents' identities in microdata release, TKDE 2001, by local "
        "recoding with a search of our own"
    ),
    limits=(
        "What the rows of a class have in common; attached columns, unless a condition limits "
        "them; a second release of the same people; whether a person is in the data. A class is "
        "generalized only as far as it must be. An attacker who knows the method and all other "
        "rows can therefore rule out values; how many was not measured. The attack minimality "
        "knows the method and how common each value is. On a census (30,162 people, k=5 and k=10) "
        "it guessed about one generalized cell in four, as the most common value alone does. "
        "Columns whose levels are from the data publish edges that were computed from it."
    ),
    reached=reached_by_k(
        "In our tests without levels, {one}% of the original cells were published as true of "
        "everyone in their class; an attacker who knew a whole row found its class in {other}% "
        "of the cases ({people} people, k={k}).",
        (2, 91, 75, "2,000"),
        (5, 81, 56, "2,000"),
        (20, 69, 48, "2,000"),
    ),
    cost="near-linear in the number of cells, times the number of orders searched",
    example={"k": 5},
    counts_people=True,
    layers_itself=True,
    may_state=(OwnersLevels,),
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class Generalize(Anonymizer[Table]):
    """Every row of the release equals at least k-1 others in what it publishes of known columns.

    Rows are put in classes of at least k. A class publishes in every known column the narrowest
    node of its hierarchy that all of its rows share, so every published value is true. The classes
    are formed by a lattice of levels and a local search that lose as little as they can.

    Parameters
    ----------
    k
        The smallest class of rows that are equal in the known columns.
    known
        The columns that an attacker may know. Default: all.
    attach
        Columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    levels
        For a known column how it is generalized: widths ``5,10``, ``edges:18,65``,
        ``prefix:4,3``, ``month,year``, ``auto``, or a csv file with one line for each value, from
        the value to the root. Default: a value is published or suppressed.
    diverse
        For an attached column how many different known values every class has, or ``entropy:L``:
        their entropy is at least log L. Missing cells and words for missing do not count.
    close
        For an attached column how far the shares of its values in a class may be from those in the
        table: their total variation, of at most four digits.
    weight
        For a known column how much its loss counts in the search. Default: 1.
    dates
        For a known column how it writes dates, such as ``%d/%m/%Y``. Default: ISO 8601.
    publish_levels
        Whether files of levels are published whole. Default: the release has only the nodes that it
        shows and those above them.

    Notes
    -----
    k-anonymity by generalization and suppression: Samarati, *Protecting respondents' identities in
    microdata release*, TKDE 2001. Departures: rows are recoded locally, so two rows of one value
    may publish it at different levels, and the search for classes is our own. l-diversity:
    Machanavajjhala et al., ICDE 2006. Closeness: Li, Li and Venkatasubramanian, ICDE 2007, with the
    total variation instead of the earth mover's distance.

    Examples
    --------
    >>> people = Table.from_columns({"age": [23, 27, 31, 38], "ill": ["flu", "cold", "flu", "flu"]})
    >>> method = Generalize(k=2, known="age", attach="ill", levels={"age": "10,20"})
    >>> sorted(method.anonymize(people).data.to_arrow()["age"].to_pylist())
    ['20-29', '20-29', '30-39', '30-39']
    """

    name: ClassVar[str] = "generalize"
    accepts = (Table,)
    card: ClassVar[MethodCard] = CARD

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    known: Columns | None = table_roles.known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = table_roles.attached_columns_parameter(conditions=True)  # noqa: RUF009  a field
    label: Columns | None = table_roles.label_columns_parameter()  # noqa: RUF009  a field
    may_narrow: float | None = table_roles.may_narrow_parameter()
    levels: PerColumn | None = parameter(
        default=None,
        text="COLUMN=RULE: widths 5,10, edges:18,65, prefix:4,3, month,year, auto, stars, or a "
        "csv file with one line per value, from value to root",
        unset="stars: a value is published or suppressed",
        private=True,
    )
    diverse: PerColumn | None = parameter(
        default=None,
        text="COLUMN:L, every class has at least L different values of an attached column; "
        "COLUMN:entropy:L bounds their entropy by log L",
        unset="no condition",
    )
    close: PerColumn | None = parameter(
        default=None,
        text="COLUMN:T, the values of an attached column are shared out in every class as in the "
        "table, up to the total variation T",
        unset="no condition",
    )
    weight: PerColumn | None = parameter(
        default=None,
        text="COLUMN=W, how much the loss of a known column counts in the search",
        unset="1 for every column",
        private=True,
    )
    dates: PerColumn | None = parameter(
        default=None,
        text="COLUMN=FORMAT, how a known column writes dates, such as birth=%d/%m/%Y",
        unset="YYYY-MM-DD",
        private=True,
    )
    publish_levels: bool = parameter(
        default=False,
        text="publish files of levels whole, with values that nobody in the release has",
        unset="only published nodes and those above them",
        stated_at_default=False,
    )

    def __post_init__(self) -> None:
        """Check the parameters, and that roles and conditions go together."""
        # Conditions are about attached columns: what is known is generalized anyway.
        super().__post_init__()
        attached = self.roles.attached
        for what, rules in (("diverse", self.diverse), ("close", self.close)):
            for name, _ in rules or ():
                if name not in attached:
                    raise ParameterError(
                        f"{what} names the column {name!r}, which is not attached. Add "
                        f"{option('attach', name)}."
                    )
        for name, given in self.weight or ():
            _weight(name, given)
        if self.publish_levels and not any(_is_file(rule) for _, rule in self.levels or ()):
            raise ParameterError(
                "no column has levels from a file, which alone can be published whole. Remove "
                f"{option('publish_levels', value=True)}, or use "
                f"{mapping('levels', 'COLUMN', 'FILE.csv')}."
            )
        _ = self.conditions  # whose bounds are checked

    @property
    def roles(self) -> TableRoles:
        """The roles of the columns, as far as they are given; the table decides about the rest."""
        return TableRoles.of(self.known, self.attach, self.label)

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what a release with these parameters does not protect against.

        Parameters
        ----------
        kind
            The kind of the data; None if it is not known.
        claimed
            The claim of the run; None for what the method guarantees.

        Returns
        -------
        str
            The limits of the method, with a sentence about levels that are published whole.
        """
        whole = " Files of levels are published whole, with all of their values."
        return f"{super().limits(kind, claimed)}{whole if self.publish_levels else ''}"

    @property
    def reads_exactly(self) -> bool:
        """Whether a table keeps its values as they are written: the method groups them itself."""
        return True

    @property
    def guarantee(self) -> KAnonymity:
        """The guarantee: k-anonymity in the known columns."""
        return KAnonymity(k=self.k, known=self.roles.known)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """The conditions: roles, bounds on attached columns, and whose word levels are."""
        diverse = (_diverse(name, given) for name, given in self.diverse or ())
        close = (_close(name, given) for name, given in self.close or ())
        has_file = any(_is_file(rule) for _, rule in self.levels or ())
        owners = (OwnersLevels(),) if has_file else ()
        return (*self.roles.conditions(self.may_narrow), *diverse, *close, *owners)

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize, and roles that do not suit its columns.

        Parameters
        ----------
        data
            What is to be anonymized: a `Table`.

        Raises
        ------
        UsageError
            If it is not a table, or roles do not suit it.
        DataError
            If it has no columns, an attached one names people, or it must be decided whether a
            column names people of several rows.
        InfeasibleError
            If it has fewer than k rows.
        """
        if not isinstance(data, Table):
            super().check(data)
            return
        self.roles.check(data, levels=True)
        data.check_columns()
        levels = dict(self.levels or ())
        # What a row is comes first; what else is open is asked in the same refusal.
        if data.questions_of_rows():
            given = {"levels": levels, "dates": dict(self.dates or ())}
            raise DataError.asking(questions_of(data, self.roles, levels), given)
        if data.units is not None and self.close:
            raise ParameterError(
                f"close compares the rows of a class with those of the table, but {data.person} "
                f"have several rows. Remove {option('close')}, or use {option('diverse')}."
            )
        self.check_size(data.n_rows)

    def draft(self, data: Table, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Recode the known columns of the table, under the rules by column.
        roles = self.roles.of_table(data.columns)
        levels = dict(self.levels or ())
        rules = frames.Rules(
            levels,
            dict(self.diverse or ()),
            dict(self.close or ()),
            {name: _weight(name, given) for name, given in self.weight or ()},
            dict(self.dates or ()),
        )
        # Classes of at least k, and the nodes that each publishes.
        recoded = frames.generalized(
            data.to_arrow(),
            roles.known,
            roles.attached,
            rules,
            k=self.k,
            rng=randomness.stream("generalize"),
            units=data.units,
        )
        # Put the known columns, as published, and the attached ones in the order of the input.
        shown = _published(data, recoded, roles.known)
        kept = data.without(roles.known)
        released = TableRoles.joined(data.columns, shown, kept)
        return Draft(
            data=released,
            notes=OwnersNotes(
                cost={
                    "exact_share": _exact_share(data, released),
                    "granularity": round(recoded.granularity, 6),
                    "smallest_class": recoded.smallest_class,
                },
                ancestors={
                    name: _above(recoded.hierarchies[name], values)
                    for name, values in zip(data.columns, data.categories, strict=True)
                    if name in levels and _is_file(levels[name])
                },
            ),
            generalized=Generalization(
                tuple(
                    _described(name, roles, levels, whole=self.publish_levels)
                    for name in data.columns
                ),
                tuple(
                    node
                    for name, values in zip(shown.columns, shown.categories, strict=True)
                    for node in _nodes(
                        name,
                        recoded.hierarchies[name],
                        self._listed(recoded.hierarchies[name], levels.get(name, "stars"), values),
                        counted=_is_file(levels.get(name, "stars")),
                    )
                ),
            ),
        )

    def _listed(self, hierarchy: Hierarchy, rule: str, values: Ids) -> set[str]:
        """Return the texts of the nodes that the levels file lists, without the nodes above them.

        `values`: the published values. With `publish_levels`, all nodes of a file are listed.
        """
        whole = hierarchy.texts if self.publish_levels and _is_file(rule) else ()
        return {*values.tolist(), *(text for level in whole for text in level), ALL}


def questions_of(data: Table, roles: TableRoles, levels: Mapping[str, str]) -> list[Problem]:
    """Return what must be decided before a table can be generalized with these levels.

    Columns may name people of several rows, and others would be lost without levels.

    Parameters
    ----------
    data
        The table.
    roles
        The roles of its columns, as far as they were given.
    levels
        The rules by column.

    Returns
    -------
    list of Problem
        Each names the column, an option that answers it, and a suggested value.

    Examples
    --------
    >>> people = Table.from_columns({"age": [23, 27, 31, 38]})
    >>> [(asked.option, asked.value) for asked in questions_of(people, TableRoles(), {})]
    [('levels', 'auto')]
    """
    # The column that is proposed as the people's is asked about once.
    people = data.questions_of_rows()
    asked = {problem.column for problem in people[:1]}
    known = [name for name in roles.of_table(data.columns).known if name not in asked]
    cells = data.to_arrow()
    values = [values_of(name, cells.column(name), ()) for name in known]
    return [*people, *frames.questions_of_levels(values, levels)]


def _exact_share(before: Table, after: Table) -> float:
    """Return the share of cells, missing ones excluded, that are published unchanged."""
    # `new` maps the original codes of a column to its published codes. -2 equals none of them: it
    # stands for values that no cell publishes and, as the last element, for missing cells.
    same, present = 0, 0
    for name, codes, values in zip(after.columns, after.codes.T, after.categories, strict=True):
        at = before.columns.index(name)
        code_of = {str(value): code for code, value in enumerate(values.tolist())}
        new = np.array([code_of.get(str(v), -2) for v in before.categories[at].tolist()] + [-2])
        same += int(np.count_nonzero(new[before.codes[:, at]] == codes))
        present += int(np.count_nonzero(before.codes[:, at] != SUPPRESSED))
    return round(same / max(present, 1), 6)


def _weight(name: str, given: str) -> float:
    """Return a weight as a number, or refuse one that is not positive."""
    try:
        weight = float(given)
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise ParameterError(f"weight {name}={given} is not a positive number. Use 3 or its like.")
    return weight


def _canonical(what: str, name: str, given: str) -> str:
    """Return the canonical spelling of a number: the manifest has one text per value."""
    try:
        number = Decimal(given)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ParameterError(f"{what} {name}={given} is not a number.")
    return f"{number.normalize():f}"


def _diverse(name: str, given: str) -> Diverse:
    """Return the condition of a rule ``L`` or ``entropy:L``."""
    # ``entropy:L`` bounds the entropy by log L, ``L`` the number of different values.
    entropy = given.startswith("entropy:")
    least = _canonical("diverse", name, given.removeprefix("entropy:"))
    try:
        return Diverse(column=name, least=least, measure="entropy" if entropy else "distinct")
    except ParameterError as error:
        above = "a number above 1 of at most 4 digits" if entropy else "a whole number from 2"
        raise ParameterError(
            f"diverse {name}={given} states nothing that classes could meet. Use {above}."
        ) from error


def _close(name: str, given: str) -> Close:
    """Return the condition that bounds the distance of classes from the table."""
    try:
        return Close(column=name, most=_canonical("close", name, given))
    except ParameterError as error:
        raise ParameterError(
            f"close {name}={given} is not a distance that says something. Use a number from 0 to "
            "below 1 of at most 4 digits."
        ) from error


def _is_file(rule: str) -> bool:
    """Return whether a rule names a file of levels."""
    return kind_of_levels(rule) == "file"


def _described(
    name: str, roles: TableRoles, levels: Mapping[str, str], *, whole: bool
) -> DescribedColumn:
    """Return what the manifest records about a column: its role, and the kind of its levels."""
    if name in roles.attached:
        return DescribedColumn(name=name, role=roles.described(name))
    kind = kind_of_levels(levels.get(name, "stars"))
    return DescribedColumn(
        name=name,
        role="known",
        levels=kind,
        origin="from the data" if kind == "auto" else "given",
        whole=True if whole and kind == "file" else UNSET,
    )


def _published(data: Table, recoded: frames.GeneralizedTable, known: tuple[str, ...]) -> Table:
    """Return the known columns as published; ``*`` is a suppressed cell."""
    # Codes follow the order of the nodes, with ``*`` taken out of the categories.
    codes, categories = [], []
    for name in known:
        column = recoded.table.column(name).combine_chunks()
        texts = column.dictionary.to_pylist()
        shown = [node for node in texts if node != ALL]
        place = np.array([shown.index(t) if t != ALL else SUPPRESSED for t in texts], np.int32)
        codes.append(place[column.indices.to_numpy()])
        categories.append(text(shown))
    return Table(np.column_stack(codes), known, tuple(categories), data.ids, data.person)


def _nodes(name: str, hierarchy: Hierarchy, shown: set[str], *, counted: bool) -> list[LevelNode]:
    """Return the nodes of these texts and those above them, by level and text.

    `shown`: the texts; written: parents are added. `counted`: whether the number of leaves is
    published, which only files of levels have independently of the data.
    """
    # From the leaves up, list each node that is shown once, at its lowest level, and add its
    # parent: the first node above it with a different text.
    listed: dict[str, LevelNode] = {}
    missing = ALL in hierarchy.texts[0]
    for level, (row, texts) in enumerate(zip(hierarchy.nodes, hierarchy.texts, strict=True)):
        _, first, sizes = np.unique(row, return_index=True, return_counts=True)
        last = level == len(hierarchy.texts) - 1
        for node, leaf, size in zip(texts, first.tolist(), sizes.tolist(), strict=True):
            if node not in shown or node in listed or (node == ALL and not last):
                continue
            parent = next((above for above in _chain(hierarchy, leaf, level) if above != node), ALL)
            shown.add(parent)
            leaves = size - missing if node == ALL else size
            listed[node] = LevelNode(name, level, node, parent, leaves if counted else None)
    return sorted(listed.values(), key=lambda row: (row.level, row.node))


def _chain(hierarchy: Hierarchy, leaf: int, level: int) -> list[str]:
    """Return the texts of the nodes above a leaf, from a level to the last."""
    pairs = list(zip(hierarchy.texts, hierarchy.nodes[:, leaf].tolist(), strict=True))
    return [texts[node] for texts, node in pairs[level:]]


def _above(hierarchy: Hierarchy, values: Ids) -> dict[str, list[str]]:
    """Return for each value of a column the nodes above it, without ``*``."""
    leaves = {value: leaf for leaf, value in enumerate(hierarchy.texts[0])}
    return {
        value: [node for node in dict.fromkeys(_chain(hierarchy, leaves[value], 1)) if node != ALL]
        for value in map(str, values.tolist())
    }
