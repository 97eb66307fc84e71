"""`graphveil describe INPUT`: what a file holds, what is open, and the next command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli.answer import print_answer, print_next, wrapped
from graphveil.cli.console import bars, result, result_json
from graphveil.cli.flags import (
    INPUT,
    INPUT_FORMAT,
    JSON,
    OUTPUT_GROUP,
    Flag,
    flags,
    values_for,
    with_signature,
)
from graphveil.cli.inputs import a_file, command_line, file_word, flag_words, reading_words
from graphveil.cli.kinds import reading_flags
from graphveil.core.progress import shown
from graphveil.core.text import counted, printable
from graphveil.data.id_columns import MOSTLY_DIFFERENT
from graphveil.data.kinds import CONTAINERS, KINDS, kind_of
from graphveil.io import compression_of, options_of

if TYPE_CHECKING:
    from graphveil.verbs.describe import Description

SHOWN = 20
"""So many columns are described without --all; the last is always one of them."""

ROLES = (
    "The command counts every column that it keeps as known to an attacker. If nobody can know the "
    "values of a column, --attach publishes them unchanged, outside the guarantee."
)
"""What the command decides about columns without asking."""

USUAL_L = 2
"""Sensitive values of a class differ so much at least in the usual command."""

USUAL_K = 5
"""The k of the command, where the data has as many rows."""


def _run(path: Path, **given: Any) -> int:
    from graphveil.verbs.describe import describe  # noqa: PLC0415  help needs none of it

    as_json, every, kind = given.pop("json"), given.pop("all"), given.pop("kind")
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        asked: dict[str, Any] = {}
        for container in CONTAINERS:
            asked |= values_for(options_of(kind_of(container)), dict(given))
        with shown(bars()):
            found = describe(file, kind=kind, **asked)
    word = file_word(path)
    whole = path.with_suffix("") if compression_of(path) else path
    command = _command(found, word, "stdin" if word == "-" else whole.stem)
    usual = _usual_command(found, command)
    if as_json:
        result_json(found.summary() | {"command": command, "usual_command": usual})
        return 0
    _print(found, "-" if file_word(path) == "-" else path.name, every=every)
    if usual:
        _print_usual(found, usual)
    print_next(command)
    return 0


def _print(found: Description, name: str, *, every: bool) -> None:
    head, *rest = found.lines()
    print_answer(f"{printable(name)}: {head}.")
    columns = rest[: len(found.columns)]
    if not every and len(columns) > SHOWN:
        hidden = counted(len(columns) - SHOWN, "more column")
        columns[SHOWN - 1 : -1] = [f"and {hidden} (--all)"]
    for line in columns:
        for text in wrapped(f"  {line}", indent=" " * 6):
            result(text)
    result("")
    about = "" if found.complete else " about these rows"
    asked = counted(len(found.questions), "open question")
    none = "Nothing is open." if found.complete else "Nothing is open in these rows."
    result(f"{asked}{about}, answered in the command below:" if found.questions else none)
    for line in found.questions:
        for text in wrapped(f"  {line}", indent=" " * 6):
            result(text)
    notes = [*found.notes, *([ROLES] if found.kind == "table" else [])]
    for line in notes:
        for text in wrapped(line):
            result(text)


def _command(found: Description, typed: str, stem: str) -> str:
    """Return the command that goes on: a release of a table, for other data advice."""
    options = options_of(KINDS[found.kind])(**found.options)
    reading = [word for word in reading_words(options) if word != "--exact"]
    if found.kind != "table":
        return command_line("advise", typed, "--kind", found.kind, *reading)
    levels = [f"{name}={rule}" for name, rule in found.levels.items()]
    # Classes of k people need k people, who may be fewer than the rows.
    counted_by = found.options.get("person") or found.options.get("household")
    people = [one.distinct for one in found.columns if one.name == counted_by]
    k = max(2, min(USUAL_K, found.rows, *people)) if found.complete else USUAL_K
    words = ["anonymize", "generalize", typed, "--k", str(k), *reading]
    words += flag_words("levels", *levels) if levels else ()
    dates = [f"{name}={form}" for name, form in found.dates.items()]
    words += flag_words("dates", *dates) if dates else ()
    return command_line(*words, *flag_words("out", f"{stem}-generalize"))


def _attached(found: Description) -> dict[str, str]:
    """Return the columns that statistical offices attach, and the role of each."""
    kept = [column for column in found.columns if column.name in _kept(found)]
    few = [one for one in kept if one.distinct <= MOSTLY_DIFFERENT * found.rows]  # else refused
    attached = {one.name: str(one.role) for one in few if one.role in ("sensitive", "weight")}
    return attached if any(one.role == "known" for one in kept) else {}


def _kept(found: Description) -> list[str]:
    """Return the columns that the command publishes."""
    gone = {*found.options.get("drop", ()), found.options.get("ids"), found.options.get("person")}
    return [column.name for column in found.columns if column.name not in gone]


def _usual_command(found: Description, command: str) -> str:
    """Return the command of statistical offices: sensitive values attached, and diverse.

    It is empty if no column is sensitive or a weight, or if none would be known, or if a name has a
    comma, which separates names.
    """
    attached = _attached(found)
    if found.kind != "table" or not attached or any("," in name for name in _kept(found)):
        return ""
    # Levels and dates are those of known columns; every other flag stays.
    words, flag, told = shlex.split(command)[1:], "", list[str]()
    for word in words[: words.index("--out")]:
        flag = word if word.startswith("--") else flag
        of_columns = word != flag and flag in ("--levels", "--dates")
        if not (of_columns and word.rpartition("=")[0] in attached):
            told.append(word)
    bare = [at for at, word in enumerate(told) if word in ("--levels", "--dates")]
    for at in reversed(bare):  # a flag that has lost all of its values
        if told[at + 1 : at + 2] == [] or told[at + 1].startswith("--"):
            del told[at]
    known = [name for name in _kept(found) if name not in attached]
    told += [*flag_words("known", ",".join(known)), *flag_words("attach", ",".join(attached))]
    diverse = [f"{name}={USUAL_L}" for name, role in attached.items() if role == "sensitive"]
    told += flag_words("diverse", *diverse) if diverse else ()
    return command_line(*told, *flag_words("out", f"{words[words.index('--out') + 1]}-attached"))


def _print_usual(found: Description, usual: str) -> None:
    """Print the command that statistical offices use, and what it keeps of which columns."""
    attached = _attached(found)
    known = len(_kept(found))
    dropped = len(found.columns) - known
    weights = [one.name for one in found.columns if one.role == "weight"]
    fine = [
        one.name
        for one in found.columns
        if one.role == "sensitive" and one.name in _kept(found) and one.name not in attached
    ]
    protects = (
        f"The next command protects {counted(known, 'column')} as known and drops {dropped}. "
        f"Statistical offices usually protect {known - len(attached)} and publish "
        f"{len(attached)} unchanged, outside the guarantee: {printable(', '.join(attached), 200)}."
    )
    lines = [protects, f"  {usual}"]
    if fine:
        named = printable(", ".join(fine), 100)
        lines.insert(1, f"To attach {named} too, round it: nearly every row has its own value.")
    if weights:
        named = printable(", ".join(weights), 100)
        lines.insert(1, f"A weight can single out a row. Round {named} before you attach it.")
    for line in lines:
        for text in [line] if line == f"  {usual}" else wrapped(line):
            result(text)


command = with_signature(
    _run,
    [
        INPUT,
        *flags(OUTPUT_GROUP, {"all": Flag(bool, "Print every column.", default=False), **JSON}),
        *reading_flags(CONTAINERS),
    ],
    name="describe",
    text="Describe a file: its kind, every column, and all questions that are open.\n\nAt most "
    "1,000,000 rows are looked at, for about ten seconds. Ends with a command that answers every "
    "question, and counts every column that it keeps as known. Each column of a table has a "
    "proposed role. The answers are proposals: check them. Common values are shown; the output "
    "is for the data owner."
    "\n\nExample: graphveil describe people.csv",
)
