"""The roles that are proposed for the columns of a table, from its cells as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphveil.core.questions import Problem
from graphveil.data.arrow_values import written_out
from graphveil.data.codes import DATE, NUMBER, missing_in, written_dates
from graphveil.data.ids import text
from graphveil.data.missing_codes import question_of_codes
from graphveil.data.roles import ColumnValues, ProposedRole, proposed_role
from graphveil.io.text.number_marks import plain_numbers

MOST_CODED = 1_000
"""Columns of more different values are measures or ids: codes in them are not looked for."""

MOST_VALUES = 1_000
"""So many different values of a column are looked at, taken evenly from all."""


class CountedValues(NamedTuple):
    """The different values of a column with their numbers of rows, words for missing ones aside."""

    texts: pa.Array
    shown: pa.Array
    often: pa.Array
    is_temporal: bool
    is_number: bool

    @property
    def kind(self) -> str:
        """What the values are: constant, date, number or text."""
        if len(self.shown) <= 1:
            return "constant"
        if self.is_temporal or every(self.shown, DATE):
            return "date"
        if self.is_number or every(pc.utf8_trim_whitespace(self.shown), NUMBER):
            return "number"
        return "text"


def counted_values(column: pa.Array, absent: Sequence[str]) -> CountedValues:
    """Return the different values of a column; `absent` are words for missing ones in it."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = written_out(column)
    kind = column.type
    texts = as_texts(column)
    counts = pc.value_counts(texts.drop_null())
    words, times = counts.field(0), counts.field(1)
    gone = pc.is_in(words, value_set=pa.array(list(absent), type=pa.string()))
    return CountedValues(
        texts,
        words.filter(pc.invert(gone)),
        times.filter(pc.invert(gone)),
        pa.types.is_temporal(kind),
        pa.types.is_integer(kind) or pa.types.is_floating(kind),
    )


def as_texts(column: pa.Array) -> pa.Array:
    """Return the values of a column as text."""
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([str(value) for value in column.to_pylist()], type=pa.string())


def every(values: pa.Array, pattern: str) -> bool:
    """Whether there are values, and all match a pattern."""
    return bool(len(values) and pc.all(pc.match_substring_regex(values, pattern)).as_py())


def plainly_written(written: pa.Table, options: Mapping[str, Any]) -> pa.Table:
    """Return the cells of a text file with its numbers written plainly, as the options say."""
    decimal = options.get("decimal")
    if decimal is None:
        return written
    texts = {
        name: column.combine_chunks()
        for name, column in zip(written.column_names, written.columns, strict=True)
        if pa.types.is_string(column.type)
    }
    plain, _ = plain_numbers(texts, decimal, ("*", ""))
    columns = [plain.get(name, written[name]) for name in written.column_names]
    return pa.table(columns, names=written.column_names)


def proposed_roles(written: pa.Table, options: Mapping[str, Any]) -> dict[str, ProposedRole]:
    """Return the role that is proposed for each column.

    Parameters
    ----------
    written
        The cells, as text or in their types.
    options
        Those of the reader, as far as they say which words stand for missing values.

    Returns
    -------
    dict
        A role and its reason by the name of the column.
    """
    return {name: _proposed(name, written[name], options) for name in written.column_names}


def _proposed(name: str, column: pa.ChunkedArray, options: Mapping[str, Any]) -> ProposedRole:
    hidden = options.get("suppressed") or ("*", "")
    codes = str((options.get("missing") or {}).get(name, "")).split(",")
    first = counted_values(column, [*hidden, *codes])
    may = [problem.value for problem in missing_in(name, first.shown, hidden, ())]
    gone = pc.is_in(first.shown, value_set=pa.array(may, type=pa.string()))
    found = first._replace(
        shown=first.shown.filter(pc.invert(gone)), often=first.often.filter(pc.invert(gone))
    )
    step = max(1, len(found.shown) // MOST_VALUES)
    values = found.shown.take(pa.array(np.arange(0, len(found.shown), step))).to_pylist()
    kind = found.kind
    if kind == "text" and written_dates(text(values)) is not None:
        kind = "date"
    if kind == "number" and written_dates(text(values)) is not None and len(values[0]) == 8:
        kind = "date"
    return proposed_role(
        ColumnValues(
            name=name,
            kind=kind,
            values=values,
            distinct=len(found.shown),
            rows=int(pc.sum(found.often).as_py() or 0),
            largest=int(pc.max(found.often).as_py() or 0),
        )
    )


def missing_questions(written: pa.Table, options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a question for each column with codes that may stand for a missing value."""
    hidden = options.get("suppressed") or ("*", "")
    meant = {*(options.get("categories") or ()), *(options.get("missing") or ())}
    for name in written.column_names:
        if name in meant:
            continue
        found = counted_values(written[name], hidden)
        if found.is_temporal or len(found.shown) > MOST_CODED:
            continue
        counts = zip(found.shown.to_pylist(), found.often.to_pylist(), strict=True)
        told = {value: rows for value, rows in counts if value not in meant}
        problem = question_of_codes(name, told)
        if problem is not None:
            yield problem


def drop_questions(
    proposals: Mapping[str, ProposedRole], given: Sequence[str]
) -> Iterator[Problem]:
    """Yield a question for each column that is proposed to be dropped, unless its role is given."""
    for name, (role, reason) in proposals.items():
        if role == "drop" and name not in given:
            choices = "drop it, unless it identifies nobody"
            yield Problem(
                name, "drop", name, f"column {name} may identify people: {reason}", choices
            )
