"""Levels and weights as parameters: each with a spelling for flags, files and manifests."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Table
from graphveil.errors import DataError, InfeasibleError, ParameterError, did_you_mean

GIVE_LEVELS = "Give a whole number such as 5, or the name of the column that holds everybody's."


@dataclass(frozen=True)
class Levels:
    """What everybody asks for, or the column in which it stands.

    Examples
    --------
    >>> Levels.parse("5"), str(Levels.parse("privacy"))
    (Levels(common=5, column=None), 'privacy')
    """

    common: int | None = None
    column: str | None = None

    @staticmethod
    def parse(text: object) -> Levels:
        """Return the level, or the column, that a text or a number spells.

        Raises
        ------
        ParameterError
            Where it is below 1, or a number that is not whole.
        """
        is_number = isinstance(text, int | np.integer) and not isinstance(text, bool)
        if not is_number and not (isinstance(text, str) and text):
            raise ParameterError(f"levels={text!r} is no level. {GIVE_LEVELS}")
        spelled = str(text)
        if _number(spelled) is None:
            return Levels(column=spelled)
        common = whole_number(spelled)
        if common is None or common < 1:
            raise ParameterError(f"levels={spelled} is no whole number of 1 or more. {GIVE_LEVELS}")
        return Levels(common=common)

    def __str__(self) -> str:
        """Return the text that `Levels.parse` reads."""
        return str(self.common or self.column)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is; None where it is none.

    Examples
    --------
    >>> whole_number("-12"), whole_number("1.5"), whole_number("--5")
    (-12, None, None)
    """
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None


def column_number(data: Table, name: str, what: str) -> int:
    """Return the number of a column.

    Raises
    ------
    DataError
        Where there is none of that name.
    """
    if name not in data.columns:
        raise DataError(
            f"no column {name!r} for {what}. {did_you_mean(name, data.columns)}There are "
            f"{', '.join(data.columns)}; the column of ids is none of them."
        )
    return data.columns.index(name)


def levels_in(data: Table, name: str) -> NDArray[np.int64]:
    """Return the levels that stand in a column.

    Raises
    ------
    DataError
        Where there is no such column, or a cell holds no whole number; the message names the row.
    InfeasibleError
        Where a level is below 1, or above the number of rows.
    """
    number = column_number(data, name, "levels")
    codes, values = data.codes[:, number], data.categories[number].tolist()
    listed = [whole_number(str(value)) for value in values]
    for row in np.flatnonzero(codes < 0).tolist()[:1]:
        raise DataError(f"column {name}, row {row}: no level. Give a whole number from 1 on.")
    for code, value in enumerate(listed):
        if value is None and np.any(codes == code):
            row = int(np.argmax(codes == code))
            raise DataError(
                f"column {name}, row {row}: {values[code]!r} is no level. Give a whole number "
                "from 1 on."
            )
    levels = np.array([value or 0 for value in listed], dtype=np.int64)[codes]
    return checked_levels(levels, data.n_rows, where=f"column {name}, ")


def checked_levels(levels: Any, n: int, *, where: str = "levels, ") -> NDArray[np.int64]:
    """Return levels, one a row, each from 1 to the number of rows.

    Raises
    ------
    ParameterError
        Where they are not whole numbers, or not one a row.
    InfeasibleError
        Where one is out of range; the message names the row.
    """
    array = np.asarray(levels)
    if array.dtype.kind not in "iu" or array.shape != (n,):
        raise ParameterError(
            f"levels of type {array.dtype} and shape {array.shape} for {n} rows. Give one whole "
            "number a row."
        )
    array = array.astype(np.int64)
    for row in np.flatnonzero((array < 1) | (array > n)).tolist()[:1]:
        raise InfeasibleError(
            f"{where}row {row}: the level {array[row]} is not between 1 and the {n} rows there "
            "are. Change it."
        )
    return array


class Weights(tuple[tuple[str, float], ...]):
    """What a star costs, column by column; 1 where nothing is said.

    Examples
    --------
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
            Where it is none of these, or a weight is no number of 0 or more.
        """
        pairs: Sequence[tuple[object, object]]
        if isinstance(text, str) and text.lstrip().startswith("{"):
            try:
                pairs = list(json.loads(text).items())
            except ValueError as error:
                raise ParameterError(f"weights={text!r} is no JSON object: {error}.") from error
        elif isinstance(text, str):
            pairs = [_pair(part) for part in text.split(",")]
        elif isinstance(text, Mapping):
            pairs = list(text.items())
        elif isinstance(text, Sequence):
            pairs = [tuple(pair) for pair in text]
        else:
            raise ParameterError(f"weights={text!r} are none. Give such as age=2,zip=.5.")
        return Weights((str(name), _weight(str(name), value)) for name, value in pairs)

    def __str__(self) -> str:
        """Return the text that `Weights.parse` reads."""
        plain = ",".join(f"{name}={value!r}" for name, value in self)
        if not any({",", "="} & set(name) for name, _ in self) and not plain.startswith("{"):
            return plain
        return json.dumps(dict(self), ensure_ascii=False)

    def of(self, data: Table) -> NDArray[np.float64]:
        """Return the weight of every column.

        Raises
        ------
        DataError
            Where a column is not there.
        """
        weights = np.ones(data.n_columns)
        for name, value in self:
            weights[column_number(data, name, "weights")] = value
        return weights


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.strip().rpartition("=")
    if not equals or not name:
        raise ParameterError(f"weights: {text!r} is no COLUMN=NUMBER. Give such as age=2.")
    return name, value


def _weight(name: str, value: object) -> float:
    number = _number(str(value))
    if number is None or not math.isfinite(number) or number < 0:
        raise ParameterError(
            f"weights: {value!r} for {name} is no number of 0 or more. Give one such as 2."
        )
    return number
