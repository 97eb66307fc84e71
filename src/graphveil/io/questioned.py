"""Cells of a table that may be no value of a person: missing ones, and sums in the last row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from graphveil.data.codes import NUMBER
from graphveil.data.columns import named_columns
from graphveil.data.ids import written_out
from graphveil.errors import several
from graphveil.io.options import TableOptions
from graphveil.io.source import Source, shown
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

AMONG_NUMBERS = ("", ".", "-", "?", "na", "n/a", "nan", "null", "none", "#null!", "#n/a", "<na>")
"""What a cell says, in lower case and without space, that may stand for no number."""

AMONG_TEXTS = (".", "-", "?", "na", "n/a", "nan", "null", "#null!", "#n/a", "<na>", "\\n")
"""As before, for no text: `none` is one that people give as an answer."""

SUMS = (
    *("total", "totals", "grand total", "overall total", "subtotal", "sum", "sums"),
    *("average", "mean", "gesamt", "summe", "insgesamt", "somme", "suma"),
)
"""What stands in a row below the people that adds them up, in lower case."""

EVERY_WORD = tuple(sorted({*AMONG_NUMBERS, *AMONG_TEXTS, *SUMS}))
"""All that is asked about: whoever gives it as categories is asked nothing."""


def ask_about_cells(source: Source, columns: Mapping[str, Any], options: TableOptions) -> None:
    """Refuse a table with cells that may be no values, unless options say what they mean.

    Parameters
    ----------
    source
        The file, for messages.
    columns
        Arrow columns by name.
    options
        Which texts are suppressed cells, which are categories, and which columns are left out.

    Raises
    ------
    InputError
        Where a column of text has a word for no value, or the last row one for a sum.
    """
    dropped = named_columns(options.drop, columns)
    texts = {
        name: column
        for name, values in columns.items()
        if name not in dropped and pa.types.is_string((column := _as_array(values)).type)
    }
    meant = {_folded(word) for word in options.categories}
    _ask_about_the_last_row(source, texts, meant)
    missing = [
        (name, cell)
        for name, column in texts.items()
        if name != options.ids
        for cell in _missing_in(column, {*options.suppressed}, meant)
    ]
    if not missing:
        return
    cells = list(dict.fromkeys(cell for _, cell in missing))
    names = list(dict.fromkeys(name for name, _ in missing))
    more = f" and in {len(names) - 1} more" if len(names) > 1 else ""
    source.refuse(
        f"cells say {', '.join(map(shown, cells))}, the first in the column {shown(names[0])}"
        f"{more}: if nothing is meant, say {several('suppressed', *options.suppressed, *cells)}; "
        f"if it is a value, say {several('categories', *options.categories, *cells)}"
    )


def _as_array(values: Any) -> pa.Array:
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    column = written_out(column)
    is_text = pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)
    return column.cast(pa.string()) if is_text else column


def _folded(word: str) -> str:
    return word.strip().lower()


def _missing_in(column: pa.Array, suppressed: Collection[str], meant: set[str]) -> Iterator[str]:
    """Yield the words of a column for no value, as they are spelled."""
    values = [value for value in column.drop_null().unique().to_pylist() if value not in suppressed]
    others = pa.array([v for v in values if _folded(v) not in AMONG_NUMBERS], type=pa.string())
    numbers = len(others) > 0 and pc.all(pc.match_substring_regex(others, NUMBER)).as_py()
    words = AMONG_NUMBERS if numbers else AMONG_TEXTS
    for value in values:
        is_sign = _folded(value) == "-" and "+" in values
        if _folded(value) in words and _folded(value) not in meant and not is_sign:
            yield value


def _ask_about_the_last_row(
    source: Source, texts: Mapping[str, pa.Array], meant: Collection[str]
) -> None:
    """Refuse a last row that seems to add up the others: its word stands nowhere above."""
    for name, column in texts.items():
        last = column[-1].as_py() if len(column) > 1 else None
        word = _folded(last or "").removesuffix(":")
        if word not in SUMS or word in meant:
            continue
        if pc.sum(pc.equal(column, last)).as_py() == 1:
            source.refuse(
                f"the last row says {shown(last)} in the column {shown(name)}: it may add up the "
                "others, and is no person then. Take it out, or, if it is a value, say "
                f"{several('categories', word)}"
            )
