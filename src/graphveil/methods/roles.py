"""Roles of the columns of a table: known to an attacker, attached, or the label of a model.

A method reads the known columns, which are part of its guarantee. It publishes the attached ones
and labels unchanged, outside of it. A column that is dropped is not read. Every column of a table
needs a role once one has; without any, all are known.

`TableRoles` holds and checks the roles. `WithRoles` gives a method that suppresses cells (such as
`suppress-k` and `mondrian`) their parameters: it runs the method on the known columns, puts the
others next to the result, and describes the columns for the manifest, so that `verify` knows what
the guarantee is about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from graphveil.claims.conditions import (
    LEAST_NARROWED,
    MOST_NARROWED,
    AnyCondition,
    AttachedColumns,
    Generalized,
    SuppressionHistogram,
)
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.manifest import DescribedColumn, Generalization, LevelNode, Role
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import did_you_mean, mapping, option
from graphveil.core.libraries import pa
from graphveil.core.parameters import Columns, parameter
from graphveil.core.questions import Problem
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import OMITTED, Restated
from graphveil.core.text import counted
from graphveil.data import SUPPRESSED, Data, Table
from graphveil.data.id_columns import FEW_ATTACHED, naming_columns
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.kinds import kind_of
from graphveil.methods.base import Anonymizer
from graphveil.release.draft import Draft

D = TypeVar("D", bound=Data)

ALL = "*"
"""The value above all values of a column, as which a suppressed cell is published."""

LIMITS_OF_ATTACHED = (
    "Attached columns are published unchanged and are not covered. All columns were known in the "
    "releases that were attacked in our tests."
)
"""What a release with attached columns does not protect against, in addition to `limits`."""


def known_columns_parameter() -> Any:
    """Return the parameter of the columns that an attacker may know."""
    return parameter(
        default=None,
        text="columns an attacker may know (comma-separated); part of the guarantee",
        unset="all",
    )


def attached_columns_parameter(*, conditions: bool = False) -> Any:
    """Return the parameter of the columns that are published outside of the guarantee."""
    only = "" if conditions else " and without conditions; only generalize has --diverse, --close"
    return parameter(
        default=None, text=f"columns published unchanged, outside the guarantee{only}", unset="none"
    )


def label_columns_parameter() -> Any:
    """Return the parameter of attached columns that a model is to predict."""
    return parameter(default=None, text="attached columns that a model is to predict", unset="none")


def may_narrow_parameter() -> Any:
    """Return the parameter of how far attached columns may narrow what known ones hide."""
    return parameter(
        default=None,
        text="share of the hidden cells of a known column that attached ones may narrow to one "
        "value, beyond chance",
        minimum=LEAST_NARROWED,
        maximum=MOST_NARROWED,
        unset=f"a run asks above {LEAST_NARROWED}",
        stated_at_default=False,
    )


class TableRoles(NamedTuple):
    """Which columns of a table are known, attached, or labels; if all are empty, all are known.

    Parameters
    ----------
    known
        Columns that an attacker may know: the guarantee is about them.
    attach
        Columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.

    >>> roles = TableRoles.of("sex,zip", None, "ill")
    >>> roles.attached, roles.of_table(["ill", "zip", "sex"]).known
    (('ill',), ('zip', 'sex'))
    """

    known: tuple[str, ...] = ()
    attach: tuple[str, ...] = ()
    label: tuple[str, ...] = ()

    @classmethod
    def of(cls, known: object, attach: object, label: object, drop: object = None) -> TableRoles:
        """Return the roles that three parameters state.

        Parameters
        ----------
        known, attach, label
            Names of columns, as `Columns.parse` reads them, or None.
        drop
            Columns that are dropped: only checked against the others.

        Raises
        ------
        ParameterError
            A column has two roles.
        """
        every = (known, attach, label, drop)
        named = [() if names is None else tuple(Columns.parse(names)) for names in every]
        fields = dict(zip((*cls._fields, "drop"), named, strict=True))
        # Each column has one role at most.
        for name in dict.fromkeys(name for names in fields.values() for name in names):
            given = [role for role, names in fields.items() if name in names]
            if len(given) > 1:
                raise ParameterError(
                    f"column {name!r} is listed twice, in {' and '.join(given)}. Give it one role."
                )
        return cls(*named[:3])

    @property
    def are_given(self) -> bool:
        """Whether any column has a role."""
        return any(self)

    @property
    def attached(self) -> tuple[str, ...]:
        """The columns that are published unchanged."""
        return (*self.attach, *self.label)

    def conditions(self, may_narrow: float | None = None) -> tuple[AnyCondition, ...]:
        """Return the condition that states the columns outside of the guarantee, if there are any.

        `may_narrow`: as `AttachedColumns` has it; None where it is not set.
        """
        if not self.attached:
            return ()
        share = msgspec.UNSET if may_narrow is None else may_narrow
        return (AttachedColumns(attach=self.attach, label=self.label, may_narrow=share),)

    def of_table(self, every: Sequence[str]) -> TableRoles:
        """Return the roles of the columns of a table, each in the order of the table.

        Parameters
        ----------
        every
            The names of all columns.

        Raises
        ------
        ParameterError
            A named column does not exist, no column is known, or a column has no role.
        """
        for role, names in zip(self._fields, self, strict=True):
            for name in names:
                check_column(name, role, every)
        if not self.known and not self.attached:
            return TableRoles(known=tuple(every))
        if not self.known:
            raise ParameterError(
                f"none of the {counted(len(every), 'column')} is known to an attacker. List at "
                f"least one in {option('known')}."
            )
        rest = [name for name in every if name not in (*self.known, *self.attached)]
        if rest:
            raise ParameterError(
                f"no role for {', '.join(rest)}. List each in {option('known')}, "
                f"{option('attach')}, {option('label')} or {option('drop')}."
            )
        return TableRoles(*(tuple(name for name in every if name in names) for names in self))

    def check(self, table: Table, *, levels: bool = False) -> None:
        """Refuse roles that do not suit a table, and attached columns that name people.

        Parameters
        ----------
        table
            The table.
        levels
            Whether the method has levels of generalization, which the message then suggests.

        Raises
        ------
        ParameterError
            As `of_table`.
        DataError
            An attached column has so many values that it nearly identifies people.
        """
        roles = self.of_table(table.columns)
        for name in naming_columns(_with_columns(table, roles.attached), FEW_ATTACHED):
            at = table.columns.index(name)
            values = int(np.unique(table.codes[table.codes[:, at] >= 0, at]).size)
            known = f", or {option('known', name)} and {option('levels')}" if levels else ""
            raise DataError(
                f"{name} has {counted(values, 'value')} in {counted(table.n_rows, 'row')}, so "
                "it nearly identifies "
                f"people and cannot be attached. Use {option('drop', name)}{known}."
            )

    def split(self, table: Table) -> tuple[Table, Table]:
        """Return two tables of the same rows: the known columns, and those published unchanged."""
        roles = self.of_table(table.columns)
        return _with_columns(table, roles.known), _with_columns(table, roles.attached)

    def described(self, name: str) -> Role:
        """Return the role of a column as the manifest spells it."""
        if name in self.attached:
            return "label" if name in self.label else "attached"
        return "known"

    @staticmethod
    def joined(columns: Sequence[str], *parts: Table) -> Table:
        """Return one table with the columns of several tables of the same rows, in this order.

        Ids, persons and origins are those of the first table.

        >>> one, other = Table.from_columns({"a": [1]}), Table.from_columns({"b": [2]})
        >>> TableRoles.joined(["b", "a"], one, other).columns
        ('b', 'a')
        """
        # Where each column is: in which table, and at which position.
        at = {name: (part, i) for part in parts for i, name in enumerate(part.columns)}
        kept = [name for name in columns if name in at]
        codes = np.column_stack([at[name][0].codes[:, at[name][1]] for name in kept])
        values = tuple(at[name][0].categories[at[name][1]] for name in kept)
        first = parts[0]
        return replace(first, codes=codes, columns=tuple(kept), categories=values)


def _with_columns(table: Table, names: Collection[str]) -> Table:
    return table.without([name for name in table.columns if name not in names])


def check_column(name: str, role: str, every: Sequence[str]) -> None:
    """Refuse a name that is not a column."""
    if name not in every:
        raise ParameterError(
            f"no column {name!r} for {role}. {did_you_mean(name, every)}Columns: "
            f"{', '.join(every)}."
        )


class WithRoles(Anonymizer[D]):
    """A method that suppresses cells of a table, and takes roles of its columns.

    It reads the known columns only. What it publishes of them is put next to the attached columns,
    which stay unchanged. A class that derives from it has the fields `known`, `attach`,
    `label` and `may_narrow`, made by the functions of this module.
    """

    known: Columns | None
    attach: Columns | None
    label: Columns | None
    may_narrow: float | None

    @property
    def roles(self) -> TableRoles:
        """The roles of the columns, as far as they were given."""
        return TableRoles.of(self.known, self.attach, self.label)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """The conditions that state attached columns."""
        return self.roles.conditions(self.may_narrow)

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what a release of this kind of data does not protect against."""
        limits = super().limits(kind, claimed)
        return f"{limits} {LIMITS_OF_ATTACHED}" if self.roles.attached else limits

    @property
    def withheld_columns(self) -> tuple[str, ...]:
        """The columns that parameters name, and that no release has."""
        return ()

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest omits: the roles, if there are none."""
        names = (*TableRoles._fields, "may_narrow")
        return {} if self.roles.are_given else dict.fromkeys(names, OMITTED)

    @property
    def reads_exactly(self) -> bool:
        """Whether a table keeps its values: with roles, attached columns are published as such."""
        return self.roles.are_given

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize, and roles that do not suit its columns."""
        if not self.roles.are_given:
            super().check(data)
            return
        if not isinstance(data, Table):
            given = ", ".join(option(role) for role in TableRoles._fields if getattr(self, role))
            raise ParameterError(
                f"{given}: roles are for the columns of a table, and this is "
                f"{kind_of(data).words}. Remove them."
            )
        # All questions about known columns in one refusal, with one command that answers them.
        kept = data.without(self.withheld_columns)
        self.roles.check(kept)
        known, _ = self.roles.split(kept)
        problems = [*_questions(known)]
        if problems:
            raise DataError.asking(problems, {})
        super().check(data)

    def drafted(
        self, data: Any, draw: Callable[[Any, Randomness], Draft[Any]], randomness: Randomness
    ) -> Draft[Any]:
        """Return what `draw` makes of the known columns, next to the unchanged others."""
        if not self.roles.are_given:
            return super().drafted(data, draw, randomness)
        roles = self.roles.of_table(data.without(self.withheld_columns).columns)
        draft = super().drafted(data.without(roles.attached), draw, randomness)
        # The method sees the known columns only; the others join its result at the same rows.
        known = draft.data
        if not isinstance(known, Table):
            raise TypeError(f"{self.name} makes a {type(known).__name__} of a table")
        # A guarantee that implies `Generalized` says that every published value is true of its row.
        true = any(isinstance(item, Generalized) for item in self.guarantee.implied)
        joined = TableRoles.joined(data.columns, known, _with_columns(data, roles.attached))
        return draft._replace(
            data=joined,
            conditions=tuple(_for_full_rows(draft.conditions, joined)),
            generalized=_star_levels(known, joined.columns, roles, true=true),
        )


def _questions(known: Table) -> Iterator[Problem]:
    """Yield what must be decided about known columns before they can be suppressed sensibly.

    Fractions must be grouped into bins, and columns that name people dropped or grouped: nearly
    every value is unique, so that almost all cells would be suppressed.
    """
    from graphveil.data.codes import fractions_in  # noqa: PLC0415  as above
    from graphveil.io.text.table_cells import fraction_among  # noqa: PLC0415  as above

    naming = naming_columns(known)
    for name, values in zip(known.columns, known.categories, strict=True):
        numbers = values.dtype.kind == "i"
        fraction = None if numbers else fraction_among(to_arrow(as_text(values)).cast(pa.string()))
        if fraction is not None:
            yield fractions_in(name, fraction)
        elif name in naming:
            yield Problem(
                name,
                "bins" if numbers else "drop",
                "quantiles:4" if numbers else name,
                f"column {name} has {values.size} values in {known.n_rows} rows, so almost "
                "nothing of it could be published",
                f"use {option('drop', name)}, {mapping('bins', name, 'quantiles:4')} for numbers, "
                "or the method generalize with levels",
            )


def _for_full_rows(conditions: Iterable[AnyCondition], released: Table) -> Iterator[AnyCondition]:
    """Yield the conditions of the known columns as conditions of the complete rows.

    The histogram of suppressed cells per row is recomputed over all columns: attached ones may have
    missing cells, too.
    """
    for condition in conditions:
        if isinstance(condition, SuppressionHistogram):
            stars = np.count_nonzero(released.codes == SUPPRESSED, axis=1)
            pairs = np.unique(stars, return_counts=True)
            yield SuppressionHistogram(rows=tuple(zip(*map(np.ndarray.tolist, pairs), strict=True)))
        else:
            yield condition


def _star_levels(
    known: Table, columns: Sequence[str], roles: TableRoles, *, true: bool
) -> Generalization:
    """Return the manifest's description of columns whose cells show a value or are suppressed.

    Known columns have two levels, the value and `ALL`, if each published value is `true` of its
    row; otherwise a value may be false and the levels would claim too much.
    """
    known_column = DescribedColumn(name="", role="known", levels="stars", origin="given")
    known_column = known_column if true else DescribedColumn(name="", role="known")
    described = tuple(
        msgspec.structs.replace(known_column, name=name)
        if name in known.columns
        else DescribedColumn(name=name, role=roles.described(name))
        for name in columns
    )
    if not true:
        return Generalization(described, ())
    # Level 0 are the values that some cell shows, level 1 is the suppressed cell.
    nodes = []
    for name, codes, values in zip(known.columns, known.codes.T, known.categories, strict=True):
        shown = np.unique(codes[codes != SUPPRESSED])
        texts = sorted(str(value) for value in values[shown].tolist())
        nodes += [LevelNode(name, 0, text, ALL, None) for text in texts]
        nodes.append(LevelNode(name, 1, ALL, ALL, None))
    return Generalization(described, tuple(nodes))
