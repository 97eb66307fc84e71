"""What people ask for, the levels, and what a star costs, the weights, as parameters.

The level of person i is delta_i of Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching*:
how many records the person could own. Levels are one number for all, a column of the table, or an
array. Weights are the costs of footnote 4, by column or, as an array, by cell. This module needs no
compiled code, so that help and checks of parameters stay fast.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.hints import did_you_mean
from graphveil.core.text import counted
from graphveil.data import Graph, Table
from graphveil.data.kinds import as_container

GIVE_LEVELS = "Give an integer such as 5, or the name of the column with everyone's level."
"""The advice of every refusal of levels."""


@dataclass(frozen=True)
class Levels:
    """What everybody asks for, or the column in which it is.

    Parameters
    ----------
    common
        The level of everybody, at least 1; or None.
    column
        The name of the column with everyone's level; or None.

    Examples
    --------
    >>> Levels.parse("5"), str(Levels.parse("privacy"))
    (Levels(common=5, column=None), 'privacy')
    """

    common: int | None = None
    column: str | None = None

    @staticmethod
    def parse(text: object) -> Levels:
        """Return the level, or the column, that a text or a number stands for.

        Raises
        ------
        ParameterError
            If it is neither a name nor an integer of at least 1.
        """
        is_number = isinstance(text, int | np.integer) and not isinstance(text, bool)
        if not is_number and not (isinstance(text, str) and text):
            raise ParameterError(f"levels={text!r} is not a level. {GIVE_LEVELS}")
        # What reads as a number is a level, even if it is refused; anything else is a column.
        spelled = str(text)
        if _number(spelled) is None:
            return Levels(column=spelled)
        common = whole_number(spelled)
        if common is None or common < 1:
            raise ParameterError(f"levels={spelled} is not an integer >= 1. {GIVE_LEVELS}")
        return Levels(common=common)

    def __str__(self) -> str:
        """Return the text that `Levels.parse` reads."""
        return str(self.common or self.column)


def _number(text: str) -> float | None:
    """Return the number in a text; None if there is none."""
    try:
        return float(text)
    except ValueError:
        return None


def whole_number(text: str) -> int | None:
    """Return the integer in a text; None if it is not one.

    >>> whole_number("-12"), whole_number("1.5"), whole_number("--5")
    (-12, None, None)
    """
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None


def column_number(data: Table, name: str, what: str) -> int:
    """Return the number of a column; `what` it is needed for is part of the error."""
    if name not in data.columns:
        raise DataError(
            f"no column {name!r} for {what}. {did_you_mean(name, data.columns)}Columns: "
            f"{', '.join(data.columns)}; the id column is not one of them."
        )
    return data.columns.index(name)


def levels_in(data: Table, name: str) -> NDArray[np.int64]:
    """Return the levels in a column: int64, shape (n,).

    Raises
    ------
    DataError
        If there is no such column, or a cell does not hold an integer.
    InfeasibleError
        If a level is not between 1 and the number of rows.
    """
    number = column_number(data, name, "levels")
    codes, values = data.codes[:, number], data.categories[number].tolist()
    listed = [whole_number(str(value)) for value in values]
    # The first cell without a level, or with something else, is named in the refusal.
    for row in np.flatnonzero(codes < 0).tolist()[:1]:
        raise DataError(f"column {name}, row {row}: no level. Give an integer >= 1.")
    for code, value in enumerate(listed):
        if value is None and np.any(codes == code):
            row = int(np.argmax(codes == code))
            raise DataError(
                f"column {name}, row {row}: {values[code]!r} is not a level. Give an integer >= 1."
            )
    levels = np.array([value or 0 for value in listed], dtype=np.int64)[codes]
    return checked_levels(levels, data.n_rows, where=f"column {name}, ")


def checked_levels(levels: Any, n: int, *, where: str = "levels, ") -> NDArray[np.int64]:
    """Return levels, one per row, each from 1 to the number of rows: int64, shape (n,).

    Parameters
    ----------
    levels
        Integers, shape (n,).
    n
        The number of rows.
    where
        What an error calls the place.

    Raises
    ------
    ParameterError
        If they are not integers, one per row.
    InfeasibleError
        If a level is out of range.
    """
    array = np.asarray(levels)
    if array.dtype.kind not in "iu" or array.shape != (n,):
        raise ParameterError(
            f"levels have type {array.dtype} and shape {array.shape}, but there are "
            f"{counted(n, 'row')}. Give one integer per row."
        )
    array = array.astype(np.int64)
    # Nobody can fit more records than there are.
    for row in np.flatnonzero((array < 1) | (array > n)).tolist()[:1]:
        raise InfeasibleError(
            f"{where}row {row}: the level {array[row]} is not between 1 and {n}, the number of "
            "rows. Change it."
        )
    return array


def levels_by_degree(graph: Any, level: int) -> NDArray[np.int64]:
    """Return a level for every node that rises with its degree, as the paper's experiment has it.

    The node with the most edges gets the level; each factor of e fewer edges takes one off.

    Parameters
    ----------
    graph
        A `Graph`, or an object of another library that holds one.
    level
        The largest level.

    Returns
    -------
    ndarray
        int64, shape (n,): ``level - (F - floor(ln(degree)))``, where F is the largest of these
        logarithms, at least 1. A node without edges counts as one with one edge.

    Raises
    ------
    ParameterError
        If the level is below 1, or above the number of nodes.

    Notes
    -----
    Section 5 of Choromanski, Jebara and Tang. Its text says that the level falls as the number of
    friends rises; its formula, used here, rises. Levels that follow from edges reveal something
    about the edges: hand them to `Adaptive.anonymize`, which keeps them in the private record.

    Examples
    --------
    >>> star = Graph.from_edges([0] * 8 + [1], [*range(1, 9), 2], n=10)
    >>> levels_by_degree(star, 5).tolist()
    [5, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    """
    container = cast("Graph", as_container(graph, (Graph,), wanted_by="levels_by_degree"))
    n = container.n_nodes
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= n:
        raise ParameterError(f"level={level!r} is not an integer from 1 to {n}, the nodes.")
    # The formula of section 5: F is the largest logarithm, so the highest degree gets the level.
    powers = np.floor(np.log(np.maximum(container.degrees(), 1))).astype(np.int64)
    levels: NDArray[np.int64] = np.maximum(level - (powers.max(initial=0) - powers), 1)
    return levels


class Weights(tuple[tuple[str, float], ...]):
    """What a star costs, column by column; 1 for columns that are not named.

    >>> Weights.parse("age=2,zip=.5")
    (('age', 2.0), ('zip', 0.5))
    >>> str(Weights.parse({"a,b": 3}))
    '{"a,b": 3.0}'
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> Weights:
        """Return the weights in a text such as ``age=2,zip=.5``, a JSON object, or a mapping.

        Raises
        ------
        ParameterError
            If it is of another form, or a weight is negative or not a number.
        """
        # Three forms of text or object, all as pairs of a name and a number.
        pairs: Sequence[tuple[object, object]]
        if isinstance(text, str) and text.lstrip().startswith("{"):
            try:
                pairs = list(json.loads(text).items())
            except ValueError as error:
                raise ParameterError(f"weights={text!r} is not a JSON object: {error}.") from error
        elif isinstance(text, str):
            pairs = [_pair(part) for part in text.split(",")]
        elif isinstance(text, Mapping):
            pairs = list(text.items())
        elif isinstance(text, Sequence):
            pairs = [tuple(pair) for pair in text]
        else:
            raise ParameterError(f"weights={text!r} is not valid. Use, for example, age=2,zip=.5.")
        return Weights((str(name), _weight(str(name), value)) for name, value in pairs)

    def __str__(self) -> str:
        """Return the text that `Weights.parse` reads."""
        plain = ",".join(f"{name}={value!r}" for name, value in self)
        if not any({",", "="} & set(name) for name, _ in self) and not plain.startswith("{"):
            return plain
        return json.dumps(dict(self), ensure_ascii=False)

    def of(self, data: Table) -> NDArray[np.float64]:
        """Return the weight of every column of a table: float64, shape (d,)."""
        weights = np.ones(data.n_columns)
        # A name that is not a column is refused here, where the table is known.
        for name, value in self:
            weights[column_number(data, name, "weights")] = value
        return weights


def _pair(text: str) -> tuple[str, str]:
    """Return the name and the number of a part ``COLUMN=NUMBER``."""
    name, equals, value = text.strip().rpartition("=")
    if not equals or not name:
        raise ParameterError(
            f"weights: {text!r} does not have the form COLUMN=NUMBER. Use, for example, age=2."
        )
    return name, value


def _weight(name: str, value: object) -> float:
    """Return a weight as a number of at least 0."""
    number = _number(str(value))
    if number is None or not math.isfinite(number) or number < 0:
        raise ParameterError(
            f"weights: {value!r} for {name} is not a number >= 0. Use, for example, 2."
        )
    return number
