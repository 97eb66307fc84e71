"""Tables out of text: every cell a category, numbers only where they are whole or binned."""

from __future__ import annotations

import csv as lines_of_cells
import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.questions import Problem
from graphveil.core.text import counted
from graphveil.data.codes import AMONG_NUMBERS, EVERY, NUMBER, fractions_in, without_suppressed
from graphveil.data.columns import dropped_columns
from graphveil.data.roles.names import meanings_of
from graphveil.io.formats import Header, TableOptions
from graphveil.io.parsed import ParsedCells, ReadCounts, binning, without_codes
from graphveil.io.source import Source, shown
from graphveil.io.text.cleaning import single_spaced
from graphveil.io.text.columns import native_buffer
from graphveil.io.text.dialect import WHITESPACE, Dialect, sniff
from graphveil.io.text.guessed_kind import PAIRS
from graphveil.io.text.number_marks import DecimalMark, plain_numbers

_WHOLE = r"^(0|[1-9][0-9]{0,17})$"
_BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)+")
_PAIRS = ({"source", "target"}, {"user", "item"}, {"from", "to"})


def read_cells(source: Source, options: TableOptions) -> ParsedCells:
    """Return the columns of a text table that are not dropped: integers, else text.

    Numbers that are to be binned are text as well. What is not clear is a problem of the cells.
    """
    # All cells as text; a first line that may be data is asked about.
    dialect, names, table = _as_written(source, options)
    if table.num_rows == 0:
        source.refuse("the file has column names but no rows.")
    problems = _about_the_first_row(table, dialect, options)
    if problems and problems[0].value == "no":
        cells = read_cells(source, replace(options, header="no"))
        return replace(cells, problems=(*problems, *cells.problems))
    # Only the columns that are kept are looked at.
    kept = check_columns(source, names, options)
    _check_no_second_header(table, dialect)
    texts = {name: table[name].combine_chunks() for name in kept}
    if dialect.spaced:
        texts = {name: pc.utf8_trim_whitespace(column) for name, column in texts.items()}
    # Codes for missing values, and commas in numbers, as the owner says.
    texts = without_codes(texts, options.missing)
    texts, commas = plain_numbers(texts, options.decimal, options.suppressed)
    if commas:  # everything else is asked of the numbers that the proposed answer gives
        mark: DecimalMark = "," if any(one.value == "," for one in commas) else "."
        problems += [one._replace(value=mark) for one in commas]
        texts, _ = plain_numbers(texts, mark, options.suppressed)
    options = binning(texts, options)
    # Integers if all cells are; what else may be a number is asked about.
    columns = {}
    odd: list[tuple[str, str]] = []
    for name, values in texts.items():
        if name == options.ids or name in options.bins:
            columns[name] = values
            continue
        columns[name], fractions = typed_cells(name, values, options)
        problems += fractions
        cell = _odd_cell(columns[name])
        odd += [] if cell is None else [(name, cell)]
    notes = ReadCounts(rows=table.num_rows, header=dialect.header, binned=tuple(options.bins))
    notes.odd_cells = tuple(odd)
    apart = {*names} - {*kept}
    dropped = {name: table[name].combine_chunks() for name in names if name in apart}
    dropped = {name: _whole_numbers(values) for name, values in dropped.items()}
    return ParsedCells(columns=columns, dropped=dropped, notes=notes, problems=tuple(problems))


def _whole_numbers(values: pa.Array) -> pa.Array:
    """Return a column of text as integers if all of its cells are."""
    numbers = pc.all(pc.match_substring_regex(values, _WHOLE)).as_py()
    return values.cast(pa.int64()) if numbers else values


def cells_as_written(source: Source, options: TableOptions) -> pa.Table:
    """Return every column of a text file, whatever it holds, as text under its name."""
    return _as_written(source, options)[-1]


def _as_written(source: Source, options: TableOptions) -> tuple[Dialect, tuple[str, ...], pa.Table]:
    """Return how lines become cells, the names of the columns, and all cells as text."""
    header: Header = "no" if options.header == "no" or options.column_names else "yes"
    dialect = sniff(source, header, delimiter=options.delimiter, spaces=False, comments=False)
    raw = b"".join(chunk for _, chunk in source.chunks())
    if dialect.delimiter == WHITESPACE:
        raw = single_spaced(raw)
    names = _names(source, dialect, options)
    return dialect, names, _parsed(source, raw, dialect, names)


def _about_the_first_row(table: pa.Table, dialect: Dialect, options: TableOptions) -> list[Problem]:
    """Return the question about a first row that may be a person.

    It has a number, or a cell of it is a value of its own column in other rows; and nobody said
    that it has names, neither by the header nor by using one of them. It is taken for names if most
    of its cells are words for columns, such as sex or town.
    """
    if options.header != "auto" or not dialect.header:
        return []
    named = {*options.bins, *options.drop, *options.one_hot, options.ids}
    named |= {options.person, options.household}
    answer = "yes" if named & {*dialect.header} else "no"
    choices = f"{option('header', 'yes')} if it holds names, {option('header', 'no')} if it is "
    choices += f"data ({option('column_names')} gives names then)"
    # A number in place of a name.
    number = next((name for name in dialect.header if re.fullmatch(NUMBER[1:-1], name)), None)
    if number is not None:
        found = f"the first line has {shown(number)} instead of a column name"
        return [Problem("", "header", answer, found, choices)]
    # Most of its cells occur below, in their columns, and not only in repeated headers.
    same = [
        pc.equal(pc.utf8_trim_whitespace(column), name).to_numpy()
        for name, column in zip(dialect.header, table.columns, strict=True)
    ]
    whole = np.count_nonzero(np.all(same, axis=0))
    again = [n for n, at in zip(dialect.header, same, strict=True) if np.count_nonzero(at) > whole]
    if not again:
        return []
    words = sum(bool(meanings_of(name)) for name in dialect.header)
    if 2 * words > len(dialect.header) and 2 * len(again) <= len(dialect.header):
        answer = "yes"
    found = (
        f"cannot tell whether the first line ({shown(', '.join(dialect.header))}) holds "
        f"names or data: {shown(again[0])} also occurs below it"
    )
    return [Problem("", "header", answer, found, choices)]


def _check_no_second_header(table: pa.Table, dialect: Dialect) -> None:
    """Refuse a table in which the names of the columns stand again as a row."""
    if not dialect.header:
        return
    first = pc.equal(pc.utf8_trim_whitespace(table[0]), dialect.header[0])
    for number in np.flatnonzero(first.to_numpy()).tolist():
        row = [str(column[number]).strip() for column in table.columns]
        if row == list(dialect.header):
            dialect.source.refuse(
                f"the header is repeated as row {number + 1}, as if files were concatenated. "
                "Remove this row."
            )


def check_columns(source: Source, names: tuple[str, ...], options: TableOptions) -> tuple[str, ...]:
    """Return the columns that are not dropped."""
    wanted = {
        **dict.fromkeys(options.bins, "bins"),
        **dict.fromkeys(options.one_hot, "one_hot"),
        **dict.fromkeys(options.missing, "missing"),
        **({options.ids: "ids"} if options.ids else {}),
    }
    for name, wanted_by in wanted.items():
        if name not in names and (name, wanted_by) != (EVERY, "bins"):
            source.refuse(
                f"{option(wanted_by)}: no column {name!r}. {did_you_mean(name, names)}Columns: "
                f"{shown(', '.join(names))}."
            )
    if len(names) == 2 and {name.lower() for name in names} in _PAIRS:
        source.refuse(
            f"two columns ({' and '.join(names)}) {PAIRS}. Read the file as a graph or as "
            "bipartite."
        )
    try:
        dropped = dropped_columns(options.drop, names)
    except DataError as error:
        source.refuse(error.message.text)
    # What says whose a row is is read, and published nowhere, whether dropped or not.
    owners = (options.person, options.household)
    return tuple(name for name in names if name not in dropped or name in owners)


def _names(source: Source, dialect: Dialect, options: TableOptions) -> tuple[str, ...]:
    if options.column_names:
        return _given_names(source, dialect, options)
    if options.header == "no":
        return tuple(f"column_{number}" for number in range(1, dialect.n_columns + 1))
    names = dialect.header
    if len(names) == 1 and options.delimiter is None:
        source.refuse(
            f"only one column found, {shown(names[0])}. If a character separates several, set "
            f"it with {option('delimiter')}; to read a table of one column, use "
            f"{option('delimiter', ',')}"
        )
    numbers = [name for name in names if re.fullmatch(NUMBER[1:-1], name)]
    if numbers and options.header == "auto":
        return tuple(f"column_{number}" for number in range(1, dialect.n_columns + 1))
    before: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            source.refuse(f"column {position + 1} has no name. Add one.", line=1)
        if name in before:
            source.refuse(f"two columns are named {shown(name)}. Rename one.", line=1)
        before.add(name)
    return names


def _given_names(source: Source, dialect: Dialect, options: TableOptions) -> tuple[str, ...]:
    """Return the names that the options give the columns of a file without any."""
    given = options.column_names
    if options.header == "yes":
        source.refuse(
            f"{option('column_names')} is for a file whose first line is data. Remove it, or use "
            f"{option('header', 'no')}."
        )
    if len(given) != dialect.n_columns or len({*given}) != len(given):
        source.refuse(
            f"{option('column_names')} has {counted(len(given), 'name')} for rows of "
            f"{counted(dialect.n_columns, 'cell')}. Give one different name per column."
        )
    return given


def _parsed(source: Source, raw: bytes, dialect: Dialect, names: tuple[str, ...]) -> pa.Table:
    quotes = b'"' in raw
    skipped = 1 if dialect.header else 0
    blank = _BLANK_LINES.match(raw)
    begin = blank.end() if blank else 0
    try:
        return csv.read_csv(
            pa.BufferReader(native_buffer(raw[begin:])),
            read_options=csv.ReadOptions(
                column_names=list(names), skip_rows_after_names=skipped, block_size=1 << 22
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if quotes else False,
                newlines_in_values=quotes,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        _explain(source, raw, dialect, len(names))
        source.refuse(f"cannot parse the table ({shown(error)}). Check quotes and delimiters.")


def _explain(source: Source, raw: bytes, dialect: Dialect, width: int) -> None:
    """Refuse the first line that is not UTF-8 or has the wrong number of cells, if there is one."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        source.decoded(line, number)
    rows = lines_of_cells.reader(io.StringIO(raw.decode(), newline=""), delimiter=dialect.delimiter)
    last = 0
    try:
        for row in rows:
            if row and len(row) != width:
                source.refuse(
                    f"{counted(len(row), 'cell')} instead of {width} "
                    f"({shown(dialect.delimiter.join(row))}). Correct the line.",
                    line=last + 1,
                )
            last = rows.line_num
    except lines_of_cells.Error as error:
        source.refuse(f"{shown(error)}. Check the quotes.", line=last + 1)


def typed_cells(name: str, values: pa.Array, options: TableOptions) -> tuple[Any, list[Problem]]:
    """Return a column as integers where all of its cells are, and the question about fractions."""
    values = without_suppressed(values, options.suppressed)
    distinct = values.drop_null().unique()
    if len(distinct) == 0:
        return values, []
    if pc.all(pc.match_substring_regex(distinct, _WHOLE)).as_py():
        return values.cast(pa.int64()), []
    fraction = None if options.exact else fraction_among(distinct)
    return values, [] if fraction is None else [fractions_in(name, shown(fraction))]


def _odd_cell(values: pa.Array) -> str | None:
    """Return a cell of a column of text that stands for a number, or for none; None without one."""
    if not pa.types.is_string(values.type):
        return None
    rest, nothing = _apart(values.drop_null().unique())
    if nothing and len(rest) and pc.all(pc.match_substring_regex(rest, NUMBER)).as_py():
        return nothing[0]
    return next((cell for cell in nothing if not cell.strip()), None)


def _apart(values: pa.Array) -> tuple[pa.Array, list[str]]:
    """Return the texts that say something, and those that may stand for no value."""
    nothing = pc.is_in(
        pc.utf8_trim_whitespace(pc.utf8_lower(values)), value_set=pa.array(AMONG_NUMBERS)
    )
    return values.filter(pc.invert(nothing)), values.filter(nothing).to_pylist()


def fraction_among(values: pa.Array) -> str | None:
    """Return a number that is not whole, or not spelled so, where all values are numbers.

    Words for no value, such as NA, are passed over.

    >>> fraction_among(pa.array(["7", "1e5", "NA"])), fraction_among(pa.array(["ann", "1e5"]))
    ('1e5', None)
    """
    rest, _ = _apart(values)
    if not len(rest) or not pc.all(pc.match_substring_regex(rest, NUMBER)).as_py():
        return None
    fractions = rest.filter(pc.match_substring_regex(rest, "[.eE]"))
    return fractions[0].as_py() if len(fractions) else None
