"""What is stated of the rows and columns of a table, or of groups, in addition to a guarantee."""

from __future__ import annotations

import re
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

import msgspec

from graphveil.core.errors import ParameterError

_WHOLE = re.compile(r"[1-9][0-9]{0,8}")
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,8})(\.[0-9]{0,3}[1-9])?")
"""A number of at most four digits behind the point, in one spelling."""

_EACH_CLASS = "Each class of rows that are equal in the known columns"


class Condition(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A further statement about a release, exact enough to be checked.

    Subclasses are frozen values with a `sentence` that says it in plain words.
    """

    without_seed: ClassVar[bool] = False
    """Whether a run with a seed leaves it out: what it says would tell a guessed seed."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The statement in one sentence."""


class SameGroupCounts(Condition, frozen=True, kw_only=True, tag="same-group-counts"):
    """The numbers of edges inside and between groups are those of the original.

    Examples
    --------
    >>> SameGroupCounts().sentence
    'The numbers of edges inside and between groups are those of the original.'
    """

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return "The numbers of edges inside and between groups are those of the original."


class SuppressionHistogram(Condition, frozen=True, kw_only=True, tag="stars-by-row"):
    """So many rows of the released table have so many suppressed cells.

    It says nothing that the table does not show.

    `rows`: pairs of a number of suppressed cells and the number of rows that have as many: the
    first rise, the second are at least 1.

    Examples
    --------
    >>> print(SuppressionHistogram(rows=((0, 2), (3, 1))).sentence)
    2 rows have no suppressed cell, 1 row has 3 suppressed cells.
    """

    rows: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        """Check that every number of cells stands once, in order, and with some rows."""
        stars = [cells for cells, _ in self.rows]
        numbers = [number for _, number in self.rows]
        if stars != sorted(set(stars)) or min((0, *stars)) < 0 or min((1, *numbers)) < 1:
            raise ParameterError(
                f"rows={self.rows} is not valid. Give pairs (suppressed cells, rows) in "
                "ascending order of cells, with at least 0 cells and 1 row each."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        said = [
            f"{number} {'row has' if number == 1 else 'rows have'} {cells or 'no'} suppressed "
            f"{'cells' if cells > 1 else 'cell'}"
            for cells, number in self.rows
        ]
        return f"{', '.join(said)}." if said else "There are no rows."


class AttachedColumns(Condition, frozen=True, kw_only=True, tag="attached-columns"):
    """These columns stand beside everyone as they are: nothing is promised of them.

    Parameters
    ----------
    attach, label
        Their names, at least one in all. A label is one that a model is to predict; unset where the
        columns are attributes of a network.

    Examples
    --------
    >>> print(AttachedColumns(attach=("town",)).sentence)
    Published unchanged, outside the guarantee: town. Nothing is guaranteed against an attacker \
who knows these values; combined with the rest they may single people out.
    """

    attach: tuple[str, ...]
    label: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check that there is one, and none twice."""
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ParameterError(
                f"attach={self.columns} is empty or names a column twice. Name each column once."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.attach, *(self.label or ()))

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"Published unchanged, outside the guarantee: {', '.join(self.columns)}. Nothing is "
            "guaranteed against an attacker who knows these values; combined with the rest they "
            "may single people out."
        )


class Generalized(Condition, frozen=True, kw_only=True, tag="generalized"):
    """Every published value of some columns is the row's own, or a node of its hierarchy above it.

    The file of levels lists these nodes, each with the one above it.

    `columns`: their names; none for all columns that are not attached.

    Examples
    --------
    >>> print(Generalized(columns=("age", "zip")).sentence)
    Every published value of age, zip is the row's own, a more general one that includes it, or `*`.
    """

    columns: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"Every published value{_of(self.columns)} is the row's own, a more general one that "
            "includes it, or `*`."
        )


class Diverse(Condition, frozen=True, kw_only=True, tag="diverse"):
    """Every class of rows that equal each other in the known columns has several values of another.

    Parameters
    ----------
    column
        An attached column. A missing cell counts as a value of its own.
    least
        The fewest distinct values, a whole number from 2; or a number above 1 whose logarithm is
        the least entropy of the values, exact as text.
    measure
        Which of the two `least` is.

    Examples
    --------
    >>> print(Diverse(column="illness", least="2").sentence)
    Each class of rows that are equal in the known columns has at least 2 different values of \
illness, a missing one counted as a value.
    """

    column: str
    least: str
    measure: Literal["distinct", "entropy"] = "distinct"

    def __post_init__(self) -> None:
        """Check that the bound is a number that says something."""
        form = _WHOLE if self.measure == "distinct" else _DECIMAL
        if not form.fullmatch(self.least) or Fraction(self.least) <= 1:
            raise ParameterError(
                f"least={self.least!r} is not a {self.measure} bound. Give a number above 1."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        if self.measure == "distinct":
            has = f"has at least {self.least} different values of {self.column}"
        else:
            has = (
                f"has values of {self.column} whose entropy is at least that of {self.least} "
                "equally frequent ones"
            )
        return f"{_EACH_CLASS} {has}, a missing one counted as a value."


class Close(Condition, frozen=True, kw_only=True, tag="close"):
    """In every class, the values of an attached column are shared out nearly as in the table.

    Parameters
    ----------
    column
        An attached column. A missing cell counts as a value of its own.
    most
        The largest total variation between class and table, below 1, exact as text.

    Examples
    --------
    >>> print(Close(column="illness", most="0.2").sentence)
    Each class of rows that are equal in the known columns has values of illness whose shares \
differ from those of the whole table by at most 0.2 (total variation).
    """

    column: str
    most: str

    def __post_init__(self) -> None:
        """Check that the bound is a number that says something."""
        if not _DECIMAL.fullmatch(self.most) or Fraction(self.most) >= 1:
            raise ParameterError(
                f"most={self.most!r} is not a distance. Give a number from 0 to below 1."
            )

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            f"{_EACH_CLASS} has values of {self.column} whose shares differ from those of the "
            f"whole table by at most {self.most} (total variation)."
        )


def _of(columns: tuple[str, ...]) -> str:
    return f" of {', '.join(columns)}" if columns else ""
