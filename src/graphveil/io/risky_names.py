"""Names that other programs take for more than text, where they stand in csv, tsv or plain text.

A spreadsheet runs a cell that begins like a formula. Some programs end a line at other characters
than a line feed, or take a quote behind a backslash for a part of the cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from graphveil.data.codes import NUMBER
from graphveil.errors import InputError, option
from graphveil.io.source import shown
from graphveil.warning_kinds import Advice, FormulaWarning

SEPARATORS = "\v\f\x1c-\x1e\x85\u2028\u2029"
"""Beside the line feed and the carriage return, what some programs take for the end of a line."""

AWKWARD = re.compile(r'["\n\r\t,;#%\0]|^\s|\s$|^$')
"""Text because of which all text of a file stands in quotes: it would part cells or lines."""

_PARQUET = f"use {option('format', 'parquet')}"
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NO_FORMULA = re.compile(rf"{NUMBER}|^[+-]$")
_SEPARATED = re.compile(f"[{SEPARATORS}]")


def formulas(
    names: Iterable[str], texts: Iterable[Sequence[str]], *, or_else: str = _PARQUET
) -> tuple[str, ...]:
    """Return the advice on names that a spreadsheet runs as formulas; none where there are none.

    Parameters
    ----------
    names
        The columns.
    texts
        The distinct texts of each column.
    or_else
        What can be done beside giving other names.

    Examples
    --------
    >>> formulas(["item"], [["tea", "=1+1", "-5", "@ann"]])[0].partition(":")[0]
    '2 names begin with =, +, -, @, a tab or a carriage return, the first =1+1'
    >>> formulas(["item"], [["tea", "-5", "+1.5e3", "-"]])
    ()
    """
    every = dict.fromkeys(chain(names, *texts))
    found = [name for name in every if _FORMULA.match(name) and not _NO_FORMULA.match(name)]
    if not found:
        return ()
    number = f"{len(found):,} names begin" if len(found) > 1 else "1 name begins"
    begins = f"{number} with =, +, -, @, a tab or a carriage return, the first {shown(found[0])}"
    runs = f"{begins}: a spreadsheet that opens the file runs such a cell as a formula"
    return (Advice(f"{runs}. Rename them, or {or_else}", FormulaWarning),)


def refuse_separators(names: Iterable[str], texts: Iterable[Iterable[str]], form: str) -> None:
    """Refuse names of which some programs make two lines, or two cells, in text.

    Parameters
    ----------
    names
        The columns; each stands in quotes by itself.
    texts
        The texts of each column, which stand in quotes together.
    form
        The format.

    Raises
    ------
    InputError
        Where a name holds a line separator other than a line feed or a carriage return, or ends in
        a backslash where it stands in quotes.

    Examples
    --------
    >>> refuse_separators(["item"], [["tea", "rye"]], "csv")
    """
    for name in names:
        _refuse(name, form, in_quotes=AWKWARD.search(name) is not None)
    cells = list(dict.fromkeys(chain.from_iterable(texts)))
    in_quotes = any(map(AWKWARD.search, cells))
    for text in cells:
        _refuse(text, form, in_quotes=in_quotes)


def _refuse(text: str, form: str, *, in_quotes: bool) -> None:
    if _SEPARATED.search(text):
        problem = "holds a character at which some programs end a line"
    elif in_quotes and text.endswith("\\"):
        problem = "ends in a backslash, so that some programs read on behind its quote"
    else:
        return
    raise InputError(
        f"{shown(text)!r} {problem}: it cannot stand in {form}. Rename it, or {_PARQUET}."
    )
