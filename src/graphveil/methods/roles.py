"""Roles of the columns of a table: known to an attacker, attached, or the label of a model.

A method reads the known columns, which are part of its guarantee. It publishes the others as they
are, outside of it. A column that is dropped was not read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphveil.claims.conditions import AnyCondition, AttachedColumns
from graphveil.core.errors import DataError, ParameterError, did_you_mean, option
from graphveil.core.parameters import Columns, parameter
from graphveil.data import Table
from graphveil.data.ids import naming_columns


def known_columns_parameter() -> Any:
    """Return the parameter of the columns that an attacker may know."""
    return parameter(
        default=None,
        text="columns an attacker may know (comma-separated); part of the guarantee",
        unset="all",
    )


def attached_columns_parameter() -> Any:
    """Return the parameter of the columns that are published outside of the guarantee."""
    return parameter(
        default=None,
        text="columns published unchanged, outside the guarantee",
        unset="none",
    )


def label_columns_parameter() -> Any:
    """Return the parameter of attached columns that a model is to predict."""
    return parameter(
        default=None,
        text="attached columns that a model is to predict",
        unset="none",
    )


class TableRoles(NamedTuple):
    """Which columns of a table are known, attached, or labels; where all are empty, all are known.

    Examples
    --------
    >>> roles = TableRoles.of("sex,zip", None, "ill")
    >>> roles.attached, roles.of_table(["ill", "zip", "sex"]).known
    (('ill',), ('zip', 'sex'))
    """

    known: tuple[str, ...] = ()
    attach: tuple[str, ...] = ()
    label: tuple[str, ...] = ()

    @classmethod
    def of(cls, known: object, attach: object, label: object, drop: object = None) -> TableRoles:
        """Return the roles that three parameters state, beside the columns that are dropped.

        Raises
        ------
        ParameterError
            If a column has two roles.
        """
        every = (known, attach, label, drop)
        named = [() if one is None else tuple(Columns.parse(one)) for one in every]
        fields = dict(zip((*cls._fields, "drop"), named, strict=True))
        for name in dict.fromkeys(name for names in fields.values() for name in names):
            given = [role for role, names in fields.items() if name in names]
            if len(given) > 1:
                raise ParameterError(
                    f"column {name!r} is listed twice, in {' and '.join(given)}. Give it one role."
                )
        return cls(*named[:3])

    @property
    def attached(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return (*self.attach, *self.label)

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What is stated of the columns outside of the guarantee."""
        if not self.attached:
            return ()
        return (AttachedColumns(attach=self.attach, label=self.label),)

    def of_table(self, every: Sequence[str]) -> TableRoles:
        """Return the roles of the columns of a table, each in their order there.

        Raises
        ------
        ParameterError
            If there is no such column, a column has no role although others have, or none is known.
        """
        for role, names in zip(self._fields, self, strict=True):
            for name in names:
                _check_column(name, role, every)
        if not self.known and not self.attached:
            return TableRoles(known=tuple(every))
        if not self.known:
            raise ParameterError(
                f"none of the {len(every)} columns is known to an attacker. List at least one in "
                f"{option('known')}."
            )
        rest = [name for name in every if name not in (*self.known, *self.attached)]
        if rest:
            raise ParameterError(
                f"no role for {', '.join(rest)}. List each in {option('known')}, "
                f"{option('attach')}, {option('label')} or {option('drop')}."
            )
        return TableRoles(*(tuple(name for name in every if name in names) for names in self))

    def check(self, table: Table) -> None:
        """Refuse roles that do not suit a table, and attached columns that name people.

        Raises
        ------
        ParameterError
            As `of_table`.
        DataError
            If nearly every row has a different value of an attached column.
        """
        roles = self.of_table(table.columns)
        for name in naming_columns(_with_columns(table, roles.attached)):
            at = table.columns.index(name)
            values = int(np.unique(table.codes[table.codes[:, at] >= 0, at]).size)
            raise DataError(
                f"{name} has {values} values in {table.n_rows} rows, so it nearly identifies "
                f"people and cannot be attached. Use {option('drop', name)}."
            )

    def split(self, table: Table) -> tuple[Table, Table]:
        """Return the known columns of a table, and those that are published as they are."""
        roles = self.of_table(table.columns)
        return _with_columns(table, roles.known), _with_columns(table, roles.attached)

    @staticmethod
    def joined(columns: Sequence[str], *parts: Table) -> Table:
        """Return the columns of several tables of the same rows, in this order.

        Examples
        --------
        >>> one, other = Table.from_columns({"a": [1]}), Table.from_columns({"b": [2]})
        >>> TableRoles.joined(["b", "a"], one, other).columns
        ('b', 'a')
        """
        at = {name: (part, i) for part in parts for i, name in enumerate(part.columns)}
        kept = [name for name in columns if name in at]
        codes = np.column_stack([at[name][0].codes[:, at[name][1]] for name in kept])
        values = tuple(at[name][0].categories[at[name][1]] for name in kept)
        first = parts[0]
        return Table(codes, tuple(kept), values, first.ids, first.person, first.origins)


def _with_columns(table: Table, names: Collection[str]) -> Table:
    return table.without([name for name in table.columns if name not in names])


def _check_column(name: str, role: str, every: Sequence[str]) -> None:
    """Refuse a name that is not a column."""
    if name not in every:
        raise ParameterError(
            f"no column {name!r} for {role}. {did_you_mean(name, every)}Columns: "
            f"{', '.join(every)}."
        )
