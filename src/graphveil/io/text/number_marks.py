"""Numbers written with a decimal comma, or with marks between thousands, as plain numbers.

``1.234,56`` and ``1,234.56`` are the same number in two countries, and ``1,234`` is two numbers.
So the owner says once for a file which mark begins the fraction (option ``decimal``); the columns
in which every cell is a number written so become plain numbers, ``1234.56``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from graphveil.core.hints import option
from graphveil.core.questions import Problem
from graphveil.data.codes import AMONG_NUMBERS
from graphveil.io.source import shown

DecimalMark = Literal[",", "."]

_SPACES = " '\u2019\u00a0\u202f"
"""Blanks and apostrophes between thousands, in any country."""

_BETWEEN = {",": f"[.{_SPACES}]", ".": f"[,{_SPACES}]"}
"""What may be between thousands, by the mark that begins the fraction."""

_WRITTEN = {
    mark: rf"^[+-]?([0-9]+|[0-9]{{1,3}}({between}[0-9]{{3}})+)([{mark}][0-9]+)?$"
    for mark, between in _BETWEEN.items()
}
"""Numbers, by the mark that begins the fraction."""

_MARKED = (
    rf"^[+-]?[0-9]+([.{_SPACES}][0-9]{{3}})*,[0-9]+$"
    r"|^[+-]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?$"
)
"""Numbers with a comma."""

_ONLY_FRACTION = rf",[0-9]{{1,2}}$|,[0-9]{{4,}}$|[0-9]{{4,}},|^[+-]?0,|[.{_SPACES}][0-9]{{3}},"
_ONLY_THOUSANDS = r",[0-9]{3}[.,]"
"""What a number has whose comma begins the fraction for sure, or does not."""


def plain_numbers(
    texts: Mapping[str, pa.Array], decimal: DecimalMark | None, suppressed: tuple[str, ...]
) -> tuple[dict[str, pa.Array], list[Problem]]:
    """Return the columns with their numbers written plainly, and the question if it is open.

    Parameters
    ----------
    texts
        The columns as text.
    decimal
        The mark that begins a fraction, as the owner said; None asks if a column has commas.
    suppressed
        Words for suppressed cells, which may be among numbers.

    Returns
    -------
    tuple
        The columns, and a question for each whose commas are not explained.

    Examples
    --------
    >>> rents = {"rent": pa.array(["1.234,5", "NA", "99,25"])}
    >>> plain_numbers(rents, ",", ())[0]["rent"].to_pylist()
    ['1234.5', 'NA', '99.25']
    >>> plain_numbers(rents, None, ())[1][0].value
    ','
    """
    columns: dict[str, pa.Array] = dict(texts)
    problems: list[Problem] = []
    for name, column in texts.items():
        # Cells that say a number; words for no value may be among them.
        cells = pc.utf8_trim_whitespace(column.drop_null().unique())
        words = pa.array([*AMONG_NUMBERS, *suppressed], type=pa.string())
        cells = cells.filter(pc.invert(pc.is_in(pc.utf8_lower(cells), value_set=words)))
        if not len(cells):
            continue
        if decimal is None:
            problems += _question(name, cells)
        elif _is_written(cells, decimal):
            columns[name] = _plain(column, decimal)
    return columns, problems


def _is_written(cells: pa.Array, mark: DecimalMark) -> bool:
    """Whether all cells are numbers in this way of writing, and some not in plain digits."""
    written = pc.all(pc.match_substring_regex(cells, _WRITTEN[mark])).as_py()
    return bool(written) and bool(pc.any(pc.match_substring_regex(cells, r"[^0-9+-]")).as_py())


def _plain(column: pa.Array, mark: DecimalMark) -> pa.Array:
    """Return the numbers of a column with a point and no other mark; other cells stay."""
    numbers = pc.match_substring_regex(pc.utf8_trim_whitespace(column), _WRITTEN[mark])
    bare = pc.replace_substring_regex(pc.utf8_trim_whitespace(column), _BETWEEN[mark], "")
    bare = pc.replace_substring(bare, ",", ".") if mark == "," else bare
    return pc.if_else(numbers, bare, column)


def _question(name: str, cells: pa.Array) -> list[Problem]:
    """Return the question what the comma is in a column of numbers; none without commas."""
    marked = pc.match_substring_regex(cells, _MARKED)
    plain = pc.match_substring_regex(cells, r"^[+-]?[0-9]+([.][0-9]+)?$")
    if not pc.any(marked).as_py() or not pc.all(pc.or_(marked, plain)).as_py():
        return []
    fraction = pc.any(pc.match_substring_regex(cells, _ONLY_FRACTION)).as_py()
    thousands = pc.any(pc.match_substring_regex(cells, _ONLY_THOUSANDS)).as_py()
    proposed = "." if thousands and not fraction else ","
    example = cells.filter(marked)[0].as_py()
    found = f"column {name} has numbers with a comma ({shown(example)})"
    say = f"use {option('decimal', ',')} if the comma begins the fraction, or "
    say += f"{option('decimal', '.')} if it is between thousands"
    return [Problem(name, "decimal", proposed, found, say)]
