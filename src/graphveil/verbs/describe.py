"""The verb describe: what a file holds, column by column, and all that is open about it at once.

The questions are those with which reading and anonymizing refuse data: the same functions ask them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from graphveil import io
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import Message, one_of, option
from graphveil.core.progress import stage
from graphveil.core.questions import Problem, answers
from graphveil.core.text import counted, html_table, printable
from graphveil.core.visible import visible
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.codes import DAY, missing_in, written_dates
from graphveil.data.columns import arrow_table, is_frame
from graphveil.data.ids import text
from graphveil.data.kinds import CONTAINERS, KINDS, Container, kind_of, kinds_named
from graphveil.data.persons import OFTEN
from graphveil.data.roles import ProposedRole
from graphveil.data.roles import Role as TableRole
from graphveil.data.roles.names import meanings_of
from graphveil.io.formats import Header, TableOptions, options_of
from graphveil.io.opening import source_of
from graphveil.io.parsed import ParsedCells, ReadCounts, about_names, table_of
from graphveil.io.source import Source
from graphveil.io.text.guessed_kind import PROBABLY_A_TABLE, TEXT, Columns, Guess, columns_of
from graphveil.io.text.table_cells import cells_as_written
from graphveil.methods.generalize.method import questions_of
from graphveil.methods.roles import TableRoles
from graphveil.verbs.proposed_roles import (
    counted_values,
    drop_questions,
    every,
    missing_questions,
    plainly_written,
    proposed_roles,
)

MOST_ROWS, FIRST_ROWS, SECONDS = 1_000_000, 20_000, 10.0
"""So many rows are looked at, so many first, and for so long, about."""

MOST_BYTES = 1 << 28
"""A file of a format that cannot be cut is looked at if it has no more bytes."""

COMMON = 5
"""So many of the commonest values are shown."""

ROUNDS = 6
"""So often answers are tried: one question can hide another."""

Kind: TypeAlias = Literal["text", "number", "date", "id", "constant"]
Role: TypeAlias = TableRole | Literal["person", "source", "target", "user", "item", "kind"]


@dataclass(frozen=True, kw_only=True)
class ColumnDescription:
    """What one column holds, and what is proposed for it.

    Parameters
    ----------
    name
        Its name.
    kind
        What its values are, words for missing values aside. An id names people.
    distinct
        How many different values it has, missing ones aside.
    common
        The commonest values, each with the number of its rows.
    missing
        Words that stand for a missing value or may do so, each with the number of its rows.
    role
        What is proposed. In tables: drop (it identifies people), known (to an attacker), sensitive,
        weight (of a sample), household, person (both number several rows) or ask (the owner must
        say it; it is known until then). In pairs the role in a pair.
    role_reason
        Why.
    levels
        The levels that are proposed for `Generalize`; empty where a value is published or
        suppressed.
    dates
        How it writes dates, as `Generalize` takes it; empty where that need not be said.

    Examples
    --------
    >>> import pandas as pd
    >>> found = describe(pd.DataFrame({"age": [31, 47, 58, 31]}), kind="table")
    >>> column = found.columns[0]
    >>> column.name, column.kind, column.distinct, column.common[0], column.levels
    ('age', 'number', 3, ('31', 2), 'auto')
    """

    name: str
    kind: Kind
    distinct: int
    common: tuple[tuple[str, int], ...]
    missing: tuple[tuple[str, int], ...] = ()
    role: Role = "known"
    role_reason: str = ""
    levels: str = ""
    dates: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Description:
    """What a file or frame holds, and all that must be decided before it can be released.

    Parameters
    ----------
    format
        The format of the file; empty for a frame.
    kind
        The kind of its data, as it is or as it is proposed: graph, network, bipartite or table.
    reason
        Why it is that.
    rows
        How many rows were looked at.
    complete
        Whether these are all.
    columns
        The columns, in their order; none where the format has none.
    problems
        All open questions, each with an answer that works.
    options
        The options with which it can be read, with these answers in them.

    Examples
    --------
    >>> import pandas as pd
    >>> found = describe(pd.DataFrame({"age": [31, 47, 58, 31]}), kind="table")
    >>> found.kind, found.rows, found.complete, found.levels
    ('table', 4, True, {'age': 'auto'})
    """

    format: str
    kind: str
    reason: str
    rows: int
    complete: bool
    columns: tuple[ColumnDescription, ...]
    problems: tuple[Problem, ...]
    options: Mapping[str, Any]

    @property
    def levels(self) -> dict[str, str]:
        """The levels that are proposed for columns, as `Generalize` takes them."""
        return {column.name: column.levels for column in self.columns if column.levels}

    @property
    def dates(self) -> dict[str, str]:
        """The forms of dates that are proposed for columns, as `Generalize` takes them."""
        return {column.name: column.dates for column in self.columns if column.dates}

    def summary(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it.

        Returns
        -------
        dict
            The fields by name, and the proposed levels under ``levels``.

        Examples
        --------
        >>> import pandas as pd
        >>> found = describe(pd.DataFrame({"age": [31, 47, 58, 31]}), kind="table").summary()
        >>> found["rows"], found["levels"], found["problems"][0]["option"]
        (4, {'age': 'auto'}, 'levels')
        """
        held = asdict(self) | {"options": _plain(self.options), "levels": self.levels}
        held["problems"] = [problem._asdict() for problem in self.problems]
        return held

    def lines(self) -> Iterator[str]:
        """Yield it in words: the whole, each column, and what is open.

        Yields
        ------
        str
            One sentence.

        Examples
        --------
        >>> import pandas as pd
        >>> found = describe(pd.DataFrame({"age": [31, 47, 58, 31]}), kind="table")
        >>> [line[:32] for line in found.lines()][1:]
        ['age: number, 3 values; most comm', 'open: column age has numbers and']
        """
        form = f"{self.format}, " if self.format else ""
        part = "" if self.complete else "the first "
        rows = counted(self.rows, "row", spec=",")
        yield f"{form}{part}{rows}, {KINDS[self.kind].words}: {self.reason}"
        for column in self.columns:
            yield f"{column.name}: {_words_of(column)}"
        for asked in self.questions:
            yield f"open: {asked}"
        for note in self.notes:
            yield f"note: {note}"

    @property
    def questions(self) -> list[str]:
        """The open questions in words; one that several columns have in common is asked once."""
        same: dict[tuple[str, str], list[Problem]] = {}
        for one in self.problems:
            name = re.compile(rf"(?<!\w){re.escape(one.column)}(?!\w)")
            choices = name.sub("COLUMN", one.choices) if one.column else one.choices
            same.setdefault((one.option, choices), []).append(one)
        return [_question(asked, choices) for (_, choices), asked in same.items()]

    @property
    def notes(self) -> list[str]:
        """What the reader of a description must know of it, in sentences."""
        notes = []
        if not self.complete:
            notes.append("These rows are a part of the data; the rest may differ.")
            if self.kind in (kind_of(Graph).name, kind_of(Network).name):
                notes.append("Whether the edges are directed is not known from a part.")
        if self.kind == "table" and self.options.get("header") == "no":
            notes.append("To name the columns, add a first line with their names to the file.")
        return notes

    def __repr__(self) -> str:
        """Return it in words."""
        return "\n".join(map(visible, self.lines()))

    def _repr_html_(self) -> str:
        """Return the columns and the questions as tables, for notebooks."""
        head, *_ = self.lines()
        columns = html_table(
            head,
            ("column", "kind", "values", "most common", "may be missing", "role"),
            (
                (
                    one.name,
                    one.kind,
                    f"{one.distinct:,}",
                    _counted(one.common),
                    _counted(one.missing),
                    ": ".join(filter(None, (one.role, one.role_reason))),
                )
                for one in self.columns
            ),
        )
        asked = ((one.text, one.choices, f"{one.option}: {one.value}") for one in self.problems)
        return columns + html_table("open questions", ("found", "choices", "proposed"), asked)


def _question(asked: Sequence[Problem], choices: str) -> str:
    """Return a question about one column or several, each named once.

    >>> same = Problem("zip", "levels", "auto", "column zip has numbers", "set levels")
    >>> _question([same, same._replace(value="5,10")], "set levels")
    'column zip has numbers: set levels'
    """
    asked = [*{(one.column, one.text): one for one in reversed(asked)}.values()][::-1]
    first, *others = asked
    if not others:
        return f"{first.text}: {first.choices}"
    found = {one.text.removeprefix(f"column {one.column} ") for one in asked}
    if len(found) == 1:
        return f"columns {', '.join(one.column for one in asked)}: each {found.pop()}: {choices}"
    return f"{', '.join(one.text for one in asked)}: {choices}"


def describe(data: Any, *, kind: str | None = None, **options: Any) -> Description:
    r"""Return what a file or frame holds, with every question that is open about it.

    At most 10^6 rows are looked at, for about ten seconds; `complete` says whether these are all.
    Nothing is written or published, but the commonest values are those of the data.

    Parameters
    ----------
    data
        The name of a file, or a frame of pandas, polars, DuckDB or Arrow.
    kind
        graph, network, bipartite or table. Default: what the columns or the format say.
    **options
        Options of the reader, such as ``drop``; ``levels`` of columns for `Generalize`.

    Returns
    -------
    Description
        The kind, the columns, the open questions, and a command that answers them.

    Raises
    ------
    InputError
        Where no option helps, such as in a broken file.
    UsageError
        Where the kind has no such option.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("age,town\n31,Oslo\n47,?\n58,Oslo\n31,Oslo\n")
    ...     found = describe(file, kind="table")
    >>> [(asked.column, asked.option, asked.value) for asked in found.problems]
    [('town', 'suppressed', '?'), ('age', 'levels', 'auto')]
    >>> found.columns[0].kind, found.columns[0].common[0], found.levels
    ('number', ('31', 2), {'age': 'auto'})
    """
    if kind is not None and kind not in KINDS:
        raise InputError(f"unknown kind of data {kind!r}. {one_of(kind, KINDS)}")
    started = time.monotonic()
    if not isinstance(data, str | Path):
        return _of_frame(data, kind, options)
    path = Path(data)
    with stage(f"looking at {path.name}"):
        # A file that is not UTF-8 is looked at as its likely encoding reads, which is asked.
        asked = _about_encoding(path, options)
        if asked is not None:
            options["encoding"] = asked.value
        found = _of_first_rows(path, kind, options, FIRST_ROWS)
        took = time.monotonic() - started
        rows = int(min(MOST_ROWS, FIRST_ROWS * max(SECONDS - took, 0) / max(took, 1e-3)))
        if not found.complete and rows > FIRST_ROWS:
            found = _of_first_rows(path, kind, options, rows)
    if asked is not None:
        found = replace(found, problems=(asked.plain, *found.problems))
    return found


def _about_encoding(path: Path, options: Mapping[str, Any]) -> Problem | None:
    """Return the question in which encoding a text file is read; None if none is open."""
    source = source_of(path, options.get("format"), "no", options.get("encoding"))
    return source.question_of_encoding()


def _of_first_rows(path: Path, kind: str | None, options: dict[str, Any], rows: int) -> Description:
    """Return what the first rows of a file hold, with the encoding among the options."""
    with _head(path, options, rows) as (file, complete):
        told = {name: value for name, value in options.items() if name != "encoding"}
        found = _described(file, kind, told, complete=complete)
    if options.get("encoding") is None:
        return found
    return replace(found, options={"encoding": options["encoding"], **found.options})


@contextmanager
def _head(path: Path, options: Mapping[str, Any], rows: int) -> Iterator[tuple[Path, bool]]:
    """Give a file of the first rows of another in UTF-8, and whether these are all.

    It is the file itself if it is UTF-8 and has no more rows.
    """
    encoding = options.get("encoding")
    source = source_of(path, options.get("format"), "yes", encoding)
    with TemporaryDirectory(prefix="graphveil-head-") as folder:
        copy = Path(folder, path.name)
        if source.format.name == "parquet" and not path.is_dir():
            complete = not _head_of_parquet(source, copy, rows)
        elif source.format.name in TEXT:
            copy = Path(folder, path.name.removesuffix(".gz").removesuffix(".zst"))
            complete = not _head_of_text(source, copy, rows)
        elif source.n_bytes > MOST_BYTES:
            raise InputError(
                f"{source.name}: too large to look at ({source.n_bytes >> 20:,} MiB). Its format "
                f"cannot be read in part; give {option('kind')} and read it whole."
            )
        else:
            complete = True
        yield (path if complete and encoding is None else copy), complete


def _head_of_text(source: Source, copy: Path, rows: int) -> bool:
    """Write the first lines of a file, and return whether there were more."""
    copy.touch(mode=OWNER_ONLY)
    left = rows + 1
    with copy.open("wb") as file:
        for _, chunk in source.chunks():
            lines = chunk.count(b"\n")
            if lines > left or left <= 0:
                kept = chunk.split(b"\n", left)[:left]
                file.write(b"\n".join([*kept, b""]) if kept else b"")
                return True
            left -= lines
            file.write(chunk)
    return False


def _head_of_parquet(source: Source, copy: Path, rows: int) -> bool:
    from graphveil.io.readers.columnar import damage_refused  # noqa: PLC0415  few need it

    with damage_refused(source), pa.OSFile(os.fsencode(source.path)) as stream:
        file = parquet.ParquetFile(stream)
        if file.metadata.num_rows <= rows:
            return False
        first = next(file.iter_batches(batch_size=rows))
        copy.touch(mode=OWNER_ONLY)
        parquet.write_table(pa.Table.from_batches([first]), copy)
    return True


def _described(
    path: Path, kind: str | None, options: dict[str, Any], *, complete: bool
) -> Description:
    asked = {name: options[name] for name in ("header", "delimiter") if name in options}
    columns = columns_of(path, options.get("format"), **asked)
    form = io.format_of(path, options.get("format")).name
    named: Header = options.get("header") or ("yes" if columns.names else "no")
    container, guess = _kind(kind, columns, form, lambda: _written(path, options, named, form))
    problems = [] if guess.kind else [_about_kind(guess, container)]
    _check_options(container, options)
    if container is not Table:
        ask = _of_pairs(path, container, complete=complete)
        said = _answered(ask, options, problems)
        written = _written(path, options, said.options.get("header") or named, form)
        about = _About(_reason(guess) if kind is None else "as you said", complete)
        return _description(form, container, about, said, written, options)
    # Of a table, first how its lines become cells; then what its columns are about, since nothing
    # is asked of columns that are dropped; then all other questions.
    layout = [*problems, *_about_layout(path, options)]
    told = options | {one.option: one.value for one in layout if one.option != "kind"}
    header: Header = "no" if told.get("header") == "no" else "yes"
    written = _written(path, told, header, form)
    written = None if written is None else plainly_written(written, told)
    codes = [] if written is None else list(missing_questions(written, told))
    coded = {one.column: one.value for one in codes}
    told["missing"] = {**(options.get("missing") or {}), **coded}
    roles = {} if written is None else proposed_roles(written, told)
    codes = [one for one in codes if roles[one.column].role != "drop"]
    drops = drop_questions(roles, _with_a_role(options))
    said = _answered(_of_table_file(path), options, [*layout, *codes, *drops])
    about = _About(_reason(guess) if kind is None else "as you said", complete, roles)
    return _description(form, container, about, said, written, options)


class _About(NamedTuple):
    """Why data is of its kind, whether all rows were looked at, and the roles of its columns."""

    reason: str
    complete: bool
    roles: Mapping[str, ProposedRole] = {}


def _description(
    form: str,
    container: Container,
    about: _About,
    said: _Said,
    written: pa.Table | None,
    options: Mapping[str, Any],
) -> Description:
    return Description(
        format=form,
        kind=kind_of(container).name,
        reason=about.reason,
        rows=said.rows or (written.num_rows if written else 0),
        complete=about.complete,
        columns=_columns(written, container, (said, about.roles), options),
        problems=tuple(problem.plain for problem in said.problems),
        options=_options_of(container, said.options),
    )


def _of_frame(frame: Any, kind: str | None, options: dict[str, Any]) -> Description:
    """Return what a frame holds; of pairs it is no more than its columns."""
    if not is_frame(frame) and hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()
    if not is_frame(frame):
        raise UsageError(
            f"describe takes the name of a file or a frame, not a {type(frame).__name__}."
        )
    whole = arrow_table(frame)
    part = whole.slice(0, MOST_ROWS)
    names = tuple(part.column_names)
    kinds = kinds_named(names)
    named = kinds[0].container if len(kinds) == 1 else None
    container, guess = _kind(kind, Columns(names, named), "", lambda: part)
    problems = [] if guess.kind else [_about_kind(guess, container)]
    _check_options(container, options)
    said = _Said(problems, options, part.num_rows)
    roles: dict[str, ProposedRole] = {}
    if container is Table:
        roles = proposed_roles(part, options)
        drops = drop_questions(roles, _with_a_role(options))
        said = _answered(_of_cells(part), options, [*problems, *drops])
    reason = _reason(guess) if kind is None else "as you said"
    about = _About(reason, part.num_rows == whole.num_rows, roles)
    return _description("", container, about, said, part, options)


def _kind(
    kind: str | None, columns: Columns, form: str, written: Callable[[], pa.Table | None]
) -> tuple[Container, Guess]:
    """Return the kind that was given, that the columns say, or that is proposed."""
    if kind is not None:
        return KINDS[kind].container, Guess(KINDS[kind].container, "as you said")
    if form and form not in (*TEXT, "parquet", "arrow"):
        return Graph, Guess(Graph, f"files of the format {form} are read as one")
    guess = columns.guess(tuple(one for one in CONTAINERS if one is not Network))
    if guess.kind is Graph and not columns.kind and _are_apart(written()):
        found = "no value is in both columns, as in a list of users and their items"
        cells = written()
        if cells is not None and _says_one_thing(cells):
            found = "no value is in both columns, and each value of the first has one of the second"
            return Table, Guess(None, f"{found}, as in a table of people")
        return Bipartite, Guess(None, found)
    if guess.kind is not None:
        return guess.kind, guess
    pairs = form == "text" or _share_values(written())
    return guess.probably or (Graph if pairs else Table), guess


def _share_values(written: pa.Table | None) -> bool:
    """Whether the first two columns are about the same people, as the ends of edges do."""
    if written is None or written.num_columns < 2:
        return False
    one, other = (pc.unique(written.column(number)).cast(pa.string()) for number in (0, 1))
    both = pc.sum(pc.is_in(one, value_set=other)).as_py() or 0
    return bool(2 * both > min(len(one), len(other)) > 2)


LEAST_APART = 3
"""Columns of fewer values have none in common by chance."""


def _are_apart(written: pa.Table | None) -> bool:
    """Whether no value of two columns is in both, as in a network of people and events."""
    if written is None or written.num_columns != 2:
        return False
    one, other = (pc.unique(written.column(number)).cast(pa.string()) for number in (0, 1))
    both = pc.any(pc.is_in(one, value_set=other)).as_py()
    return min(len(one), len(other)) >= LEAST_APART and not both


def _says_one_thing(written: pa.Table) -> bool:
    """Whether rows repeat, and each value of the first column has one value of the second.

    A list of users and items has each pair once, and several items of some users.
    """
    pairs = written.group_by(written.column_names).aggregate([])
    people = len(pc.unique(written.column(0)))
    return bool(pairs.num_rows == people < written.num_rows)


def _reason(guess: Guess) -> str:
    """Return why data is of its kind, in words."""
    return guess.found if guess.probably is None else PROBABLY_A_TABLE


def _about_layout(path: Path, options: Mapping[str, Any]) -> list[Problem]:
    """Return the questions that decide which cells a file of a table has: names, decimal marks."""
    own = _read_with(options)
    source = source_of(path, own.format, "no" if own.header == "no" else "yes")
    cells: ParsedCells = source.format.reader("table")(source, own)
    return [one for one in cells.problems if one.option in ("header", "decimal")]


def _with_a_role(options: Mapping[str, Any]) -> list[str]:
    """Return the columns of which the options say what they are."""
    return [*_listed(options), *(options.get("levels") or {}), *(options.get("bins") or {})]


def _about_kind(guess: Guess, proposed: Container) -> Problem:
    choices = "say whether it is a network, user-item data or a table"
    if guess.probably is not None:
        choices = f"{PROBABLY_A_TABLE}; {choices}"
    return Problem("", "kind", kind_of(proposed).name, guess.found, choices)


def _check_options(container: Container, options: Mapping[str, Any]) -> None:
    known = [item.name for item in fields(options_of(kind_of(container)))]
    known += ["levels", "dates"] if container is Table else []
    for name in options:
        if name not in known:
            kind = kind_of(container).words
            raise UsageError(f"{option(name)} does not apply to {kind}. {one_of(name, known)}")


_NO_ROLES = TableRoles()

_OF_LEVELS = ("kind", "levels", "dates")
"""Options that no reader of tables takes."""


class _Said(NamedTuple):
    """What is open, the options with the answers, and how many rows there are."""

    problems: list[Problem]
    options: dict[str, Any]
    rows: int = 0


_Asked: TypeAlias = tuple[Sequence[Problem], int]
"""What is open where something is read with some options, and how many rows it has."""

_Asks: TypeAlias = Callable[[Mapping[str, Any]], _Asked]


def _answered(ask: _Asks, given: dict[str, Any], problems: list[Problem]) -> _Said:
    """Return every question: answers are tried, since one question can hide another."""
    said, rows = dict(given), 0
    base = {"suppressed": TableOptions().suppressed} | given
    for _ in range(ROUNDS):
        try:
            asked, rows = ask(said)
        except InputError:
            if all(one.option != "person" for one in problems):
                raise
            break  # the column of people that was proposed does not suit, which its run will say
        known = {(one.column, one.option, one.value) for one in problems}
        new = [one for one in asked if (one.column, one.option, one.value) not in known]
        grown, problems = False, [*problems]
        unpublished = {p.column for p in problems if p.option in ("drop", "person")} - {""}
        for one in new:  # nothing more is asked of columns that are not published
            if one.option == "person" and all(p.option != "person" for p in problems):
                # The column of the people is read, not dropped; no release has it either way.
                problems = [p for p in problems if (p.option, p.column) != ("drop", one.value)]
                unpublished = {p.column for p in problems if p.option == "drop"} - {""}
            if one.option == "person" or one.column not in unpublished:
                grown = True
                problems.append(one)
                unpublished |= {one.column} - {""} if one.option in ("drop", "person") else set()
        if not grown:
            break
        said = dict(given) | {hint.name: hint.value for hint in answers(problems, base)}
    return _Said(problems, said, rows)


def _read_with(options: Mapping[str, Any]) -> TableOptions:
    """Return options of a table, whose numbers get levels where nobody bins them."""
    given = {name: value for name, value in options.items() if name not in _OF_LEVELS}
    for name in ("suppressed", "categories", "drop", "one_hot"):
        if name in given:
            given[name] = tuple(given[name])
    return TableOptions(**({"exact": True} | given))


def _of_table_file(path: Path, roles: TableRoles = _NO_ROLES) -> _Asks:
    def ask(options: Mapping[str, Any]) -> _Asked:
        own = _read_with(options)
        source = source_of(path, own.format, "no" if own.header == "no" else "yes")
        cells: ParsedCells = source.format.reader("table")(source, own)
        return _asked(f"{source.name}: ", cells, own, options, roles)

    return ask


def all_questions(
    path: Path, options: TableOptions, given: Mapping[str, Any], roles: TableRoles
) -> list[Problem]:
    """Return every open question about a file of a table that is to be generalized."""
    told = {name: value for name, value in vars(options).items() if value}
    return _answered(_of_table_file(path, roles), {**told, **given}, []).problems


def _of_cells(frame: pa.Table) -> _Asks:
    def ask(options: Mapping[str, Any]) -> _Asked:
        own = _read_with(options)
        every = {name: frame[name].combine_chunks() for name in frame.column_names}
        dropped = {name: every.pop(name) for name in own.drop if name in every}
        notes = ReadCounts(rows=frame.num_rows)
        cells = ParsedCells(columns=every, dropped=dropped, notes=notes)
        return _asked("", cells, own, options)

    return ask


def _asked(
    where: str,
    cells: ParsedCells,
    own: TableOptions,
    options: Mapping[str, Any],
    roles: TableRoles = _NO_ROLES,
) -> _Asked:
    """Return what is open about cells: on reading, or else for levels."""
    rows = cells.notes.rows
    try:
        table = table_of(where, cells, own)
    except InputError as error:
        if not error.asked:
            raise
        return error.asked, rows
    # What a row is has been asked of this table, and nothing is open about it.
    table = replace(table, settled=True)
    levels = options.get("levels") or {}
    asked = [one for one in about_names(cells, own, []) if one.column not in (own.ids, *levels)]
    if own.exact and table.columns:
        known = tuple(name for name in roles.known if name in table.columns)
        attach = tuple(name for name in table.columns if roles.known and name not in known)
        asked += questions_of(table, TableRoles(known, attach), levels)
    return asked, rows


def _of_pairs(path: Path, container: Container, *, complete: bool) -> _Asks:
    """Return how edges, or users and items, are asked about: what an option answers is a question.

    What no option answers is raised. Some rows do not show whether all edges are mutual: of these,
    directions are not asked about.
    """
    taking = options_of(kind_of(container))
    has_directions = "directed" in {field.name for field in fields(taking)}

    def ask(options: Mapping[str, Any]) -> _Asked:
        given = {name: value for name, value in options.items() if name != "kind"}
        if has_directions and not complete and given.get("directed", "refuse") == "refuse":
            given["directed"] = "symmetrize"
        try:
            report = io.load(path, taking(**given)).report
        except InputError as error:
            if error.asked:
                return error.asked, 0
            known = {"kind", *(field.name for field in fields(taking))}
            hints = [hint for hint in error.hints if hint.value is not None and hint.name in known]
            if not hints:
                raise
            text = error.message.text.removeprefix(f"{printable(path.name)}: ")
            found, _, choices = text.rpartition(". ")
            choices = choices[:1].lower() + choices[1:].removesuffix(".")
            asked = Problem("", hints[0].name, hints[0].value, found or text, choices)
            return [asked], 0
        return (), report.rows

    return ask


def _written(path: Path, options: Mapping[str, Any], header: Header, form: str) -> pa.Table | None:
    """Return the cells of a file as they are written; None where it has no columns."""
    source = source_of(path, options.get("format"), header)
    if form in TEXT:
        names = tuple(options.get("column_names") or ())
        how = TableOptions(header=header, delimiter=options.get("delimiter"), column_names=names)
        try:
            return cells_as_written(source, how)
        except InputError:  # cells that are no columns of a table, such as those between spaces
            return None
    if form in ("parquet", "arrow"):
        from graphveil.io.readers.columnar import opened_frame  # noqa: PLC0415  few need it

        with opened_frame(source) as frame:
            table: pa.Table = frame.table(tuple(frame.names))
            return table
    return None


def _columns(
    written: pa.Table | None,
    container: Container,
    found: tuple[_Said, Mapping[str, ProposedRole]],
    given: Mapping[str, Any],
) -> tuple[ColumnDescription, ...]:
    said, _ = found
    if written is None or (container is not Table and written.num_columns < 2):
        return ()  # pairs between spaces are no columns of a table
    if container is Table:
        roles = _roles_of_table(written, found, given)
    else:
        roles = _roles_of_pairs(written.column_names, container, said)
    asked: dict[str, list[Problem]] = {}
    for problem in said.problems:
        asked.setdefault(problem.column, []).append(problem)
    return tuple(
        _column(name, values, *roles[name], said._replace(problems=asked.get(name, [])))
        for name, values in zip(written.column_names, written.columns, strict=True)
    )


def _roles_of_table(
    written: pa.Table,
    found: tuple[_Said, Mapping[str, ProposedRole]],
    given: Mapping[str, Any],
) -> dict[str, tuple[Role, str]]:
    """Return the role of every column of a table and its reason.

    Roles that were given come first, then the answer of a question, then the proposed role.
    """
    said, proposals = found
    own = _read_with(said.options)
    asked = {
        one.column: Message(one.text).plain.removeprefix(f"column {one.column} ")
        for one in said.problems
        if one.option in ("drop", "person")
    }
    roles: dict[str, tuple[Role, str]] = {}
    for name in written.column_names:
        proposed = proposals.get(name, ProposedRole("known", ""))
        if name in _listed(given):
            owners: dict[str | None, Role] = {own.person: "person", own.household: "household"}
            roles[name] = (owners.get(name, "drop"), "as you said")
        elif name == own.person and _is_person(name, written[name], proposed.role):
            roles[name] = ("person", asked.get(name, ""))
        elif proposed.role in ("drop", "household"):
            roles[name] = proposed
        elif name in (*own.drop, own.ids):
            roles[name] = ("drop", asked.get(name, ""))
        else:
            roles[name] = proposed
    return roles


def _is_person(name: str, column: pa.ChunkedArray, proposed: Role) -> bool:
    """Whether the column that people are counted by is shown as one of people.

    Households are households. Identifiers stay identifiers if they are names, which people share,
    or repeat rarely, as by mistake.
    """
    if proposed != "drop":
        return proposed != "household"
    found = counted_values(column, ())
    are_names = any(meaning.needs == "name" for meaning in meanings_of(name))
    return not are_names and len(found.texts) >= OFTEN * len(found.shown)


def _roles_of_pairs(
    names: Sequence[str], container: Container, said: _Said
) -> dict[str, tuple[Role, str]]:
    """Return the role of every column of a list of pairs."""
    ends: tuple[Role, Role] = ("user", "item") if container is Bipartite else ("source", "target")
    options = options_of(kind_of(container))(
        **{name: value for name, value in said.options.items() if name != "kind"}
    )
    places = [_place(one, names, at) for at, one in enumerate(options.ends.asked)]  # type: ignore[union-attr]
    found = dict(zip(places, ends, strict=True))
    kinds = getattr(options, "kind_column", None)
    if isinstance(kinds, str) and kinds in names:
        found[kinds] = "kind"
    return {name: (found.get(name, "drop"), "") for name in names}


def _listed(given: Mapping[str, Any]) -> list[str]:
    listed = given.get("drop") or ()
    whole = [listed] if isinstance(listed, str) else list(listed)
    return [*whole, *filter(None, map(given.get, ("ids", "person", "household")))]


def _place(asked: str | int | None, names: Sequence[str], at: int) -> str:
    """Return the column of an end, as it was asked for or by its place."""
    if isinstance(asked, str) and asked in names:
        return asked
    if asked is not None and str(asked).isdigit() and 0 < int(asked) <= len(names):
        return names[int(asked) - 1]
    return names[at] if at < len(names) else ""


def _column(
    name: str, values: pa.ChunkedArray, role: Role, reason: str, said: _Said
) -> ColumnDescription:
    """Return what a column holds; `said` has the questions about this column alone."""
    absent = _absent(name, counted_values(values, ()).texts, said)
    found = counted_values(values, [word for word, _ in absent])
    shown, often = found.shown, found.often
    order = np.lexsort((np.arange(len(shown)), -often.to_numpy()))[:COMMON]
    kind: Kind = found.kind  # type: ignore[assignment]
    is_id = any(problem.option in ("drop", "person") for problem in said.problems)
    if is_id and kind in ("number", "text"):
        kind = "id"
    levels, forms = (
        (said.options.get(option) or {}).get(
            name,
            next((p.value for p in said.problems if p.option == option), ""),
        )
        for option in ("levels", "dates")
    )
    kind = "date" if forms and kind == "text" else kind
    days = kind == "text" or (kind == "date" and every(shown, DAY))
    written = written_dates(text(shown.to_pylist())) if days and role != "drop" else None
    if written is not None and not every(shown, DAY):  # also of dates that do not repeat much
        is_clear = len(written.forms) == 1
        kind, forms = "date", forms or (written.forms[0] if is_clear else "")
    return ColumnDescription(
        name=name,
        kind=kind,
        distinct=len(shown),
        common=tuple((str(shown[at]), int(often[at].as_py())) for at in order.tolist()),
        missing=absent,
        role=role,
        role_reason=reason,
        levels=levels or ("" if written is None else written.levels),
        dates=forms,
    )


def _absent(name: str, texts: pa.Array, said: _Said) -> tuple[tuple[str, int], ...]:
    """Return the words of a column that mean missing or may, with the number of their rows."""
    asked = [p.value for p in said.problems if p.option == "suppressed"]
    kept = said.options.get("categories") or ()
    hidden = said.options.get("suppressed") or ("*", "")
    may = [problem.value for problem in missing_in(name, texts, hidden, kept)]
    codes = ((said.options.get("missing") or {}).get(name) or "").split(",")
    words = dict.fromkeys([*hidden, *asked, *may, *filter(None, codes)])
    rows = {word: pc.sum(pc.equal(texts, word)).as_py() or 0 for word in words}
    empty = texts.null_count
    found = [(word, count) for word, count in rows.items() if count]
    return (*found, *([("(none)", empty)] if empty else []))


def _options_of(container: Container, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the reader; of a table, with numbers as they are written."""
    kept = {name: value for name, value in said.items() if name not in _OF_LEVELS}
    kept = {name: tuple(v) if isinstance(v, list) else v for name, v in kept.items()}
    return {"exact": True, **kept} if container is Table else kept


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(v) if isinstance(v, Path) else v for name, v in options.items()}


def _counted(pairs: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{printable(value, 20) or '(empty)'} ({count:,})" for value, count in pairs)


def _words_of(column: ColumnDescription) -> str:
    """Return a column in one line."""
    said = [f"{column.kind}, {counted(column.distinct, 'value', spec=',')}"]
    if column.common:
        said.append(f"most common {_counted(column.common)}")
    if column.missing:
        said.append(f"may be missing {_counted(column.missing)}")
    if column.levels:
        said.append(f"levels {column.levels}")
    role = f"{column.role} ({column.role_reason})" if column.role_reason else column.role
    return "; ".join([*said, role])
