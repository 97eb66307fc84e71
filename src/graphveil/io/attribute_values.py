"""The types of attributes of nodes: as the file declares them, or as every value is written.

One rule for every format. Values that a format declares or quotes as text are text. Those that it
declares as numbers or truth values are such. If it declares nothing, a column follows the rule of
csv files: integers only if each value is written as ``str(int(x))``, so that 02139 stays a code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from graphveil.core.libraries import pa
from graphveil.core.questions import Problem
from graphveil.data.codes import CODE, NUMBER, mixed_types, questions_of_text
from graphveil.data.columns import dropped_columns
from graphveil.io.formats import TableOptions
from graphveil.io.parsed import binning
from graphveil.io.text.table_cells import typed_cells

DeclaredType = Literal["text", "integer", "real", "boolean"]
"""What a file can say of the values of an attribute."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,38}")
"""How `str` writes an integer; the digits bound the time that a hostile file can take."""

_NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


class Spelled(str):
    """A value of which only the spelling is known: its file declares no type, or another one."""

    __slots__ = ()


def declared_value(text: str, declared: DeclaredType | None) -> Any:
    """Return a value in the type that its file declares; None if it is NaN or infinite.

    A value that is not written in this type, such as 007 for an integer, is `Spelled`.

    >>> declared_value("7", "integer"), declared_value("7", "text"), declared_value("1.5", "real")
    (7, '7', 1.5)
    >>> [type(declared_value("007", kind)).__name__ for kind in ("integer", "real", None)]
    ['Spelled', 'Spelled', 'Spelled']
    """
    if declared == "text":
        return text
    if declared == "boolean" and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if declared == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if declared == "real" and _NO_NUMBER.fullmatch(text):
        return None
    if declared == "real" and re.match(NUMBER, text) and not re.match(CODE, text):
        return float(text)
    return Spelled(text)


class AttributeColumns(NamedTuple):
    """Attributes as columns of one type each, and what the owner must decide about them."""

    columns: dict[str, Any]
    problems: list[Problem]
    options: TableOptions


def attribute_columns(people: Mapping[str, list[Any]], options: TableOptions) -> AttributeColumns:
    """Return the attributes of nodes in the types that their file declares or their values show.

    Parameters
    ----------
    people
        The values of each attribute, one per node: text, numbers and truth values as declared, and
        `Spelled` values of which nothing is declared.
    options
        Which texts are suppressed cells, and which columns are dropped or binned.

    Returns
    -------
    AttributeColumns
        The columns; dropped ones as they are. The options have a rule for each binned column.
    """
    dropped = dropped_columns(options.drop, people)
    columns: dict[str, Any] = dict(people)
    problems: list[Problem] = []
    # Step 1: cells without a value; a column with a spelled value is spelled as a whole.
    spelled = set()
    for name in people:
        if name in dropped:
            continue
        known = _known(people[name], options.suppressed)
        kinds = {type(value) for value in known if value is not None}
        if str in kinds and len(kinds) > 1:
            # 1 and "1" would become one value.
            problems += mixed_types(name).asked
            dropped = (*dropped, name)
        elif Spelled in kinds:
            spelled.add(name)
            texts = [None if value is None else _spelling(value) for value in known]
            columns[name] = pa.array(texts, type=pa.string())
        else:
            columns[name] = pa.array(known, type=pa.string()) if kinds == {str} else known
    kept = {name: values for name, values in columns.items() if name not in dropped}
    options = binning(kept, options)
    for name in kept:
        if name in options.bins or not isinstance(columns[name], pa.Array):
            continue
        # Step 2: words for missing values are asked about, as in a csv file.
        words = questions_of_text(name, columns[name], options.suppressed, options.categories)
        problems += words
        # Step 3: spelled columns are typed as cells of a csv file are.
        if name in spelled:
            columns[name], fractions = typed_cells(name, columns[name], options)
            problems += fractions
    return AttributeColumns(columns, problems, options)


def _known(values: list[Any], suppressed: Collection[str]) -> list[Any]:
    """Return values with None for those that stand for a suppressed cell or for no number."""
    return [
        None if _spelling(value) in suppressed or _is_no_number(value) else value
        for value in values
    ]


def _is_no_number(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _spelling(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
