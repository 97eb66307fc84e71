"""`graphveil attack DIR --original INPUT`: what an attacker still learns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from graphveil.attacks.registry import (
    ATTACKS,
    EVERY,
    QUICK_SECONDS,
    SECONDS_UNASKED,
    spelled,
)
from graphveil.attacks.wording import Counted, counted_in, reworded
from graphveil.claims.record import ATTACKED, private_folder
from graphveil.cli import inputs, outputs, say_warnings
from graphveil.cli.answer import MOST_LINES, print_answer, print_next, say_lines, wrapped
from graphveil.cli.console import bars, result, result_json, result_table, say
from graphveil.cli.flags import FOLDER, PARAMETERS_GROUP, Flag, flag, flags, with_signature
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import shown
from graphveil.core.rows import Rows
from graphveil.core.text import Wording
from graphveil.data.kinds import kind_of
from graphveil.evaluate.wording import Group
from graphveil.io import kind_read
from graphveil.pages.answers import attacks
from graphveil.pages.answers.attacks import documented


def _run(folder: Path, **given: Any) -> int:
    from graphveil.engines import LocalEngine, using  # noqa: PLC0415  not for its help
    from graphveil.verbs.attack import attack_release, attack_with_quick  # noqa: PLC0415

    as_json, every = given.pop("json"), given.pop("all")
    path = inputs.needs_original("attack", given.pop("original"))
    asked, seed, limit = (given.pop(name) for name in ("attacks", "seed", "seconds"))
    file = outputs.RowsFile(given.pop("out"), given.pop("force"))
    file.check(path, given)
    taken = {name: given.pop(_field(name), None) for name in ATTACKS}
    options = {name: some for name, some in taken.items() if some}
    second, jobs = given.pop("second"), given.pop("jobs")
    column = outputs.AttachedColumn(*(given.pop(item) for item in outputs.AttachedColumn._fields))
    column.check()
    engine = LocalEngine(jobs=jobs)
    with shown(bars()), using(engine), inputs.original_of(folder, path, given) as read:
        attack = partial(attack_release, attacks=asked) if asked else attack_with_quick
        rows = attack(
            folder,
            read,
            seed=seed,
            options=options,
            seconds=limit,
            second=second,
            attached=column.read(read.data),
        )
    file.write(rows)
    say(f"{path.name}: read as {kind_read(read.options).words}")
    if as_json:
        result_json(rows.summary())
        return 0
    say_warnings(every=every)
    counted = counted_in(read.data)
    if every:
        _print(rows, counted)
    whose = reworded("risk of each person", counted)
    say(f"{whose}: {private_folder(folder) / ATTACKED}")
    if not every:
        where = _Where(folder, inputs.file_word(path), read.options, asked or ())
        print_attacks(rows, where, counted, of_table=kind_of(read.data).name == "table")
    return 0


class _Where(NamedTuple):
    """What was attacked, as commands name it."""

    folder: Path
    original: str
    options: object
    asked: Sequence[str]


def print_attacks(rows: Rows, where: _Where, counted: Counted, *, of_table: bool) -> None:
    """Print what an attacker learns, by question; what was not run; and what is documented."""
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  not for its help

    left_out = _left_out(rows, where.asked)
    method = read_manifest(where.folder).method.name
    known = documented(method, {row.question for row in (*rows, *rows.missing)})
    ends = [*wrapped(f"{FAILED}{known}", indent="")]
    print_headline(rows, counted, of_table=of_table)
    result("")
    lines = _table(attacks.groups(rows, counted, of_table=of_table))
    say_lines(lines, most=MOST_LINES - 4 - len(ends) - len(left_out))
    for line in (*left_out, *ends):
        result(line)
    again = [row.question for row in rows.missing if row.seconds is not None and not row.part]
    flags = ("--attacks", again[0]) if again else ()
    verb = "attack" if again else "evaluate"
    print_next(inputs.command_beside(verb, where.folder, where.original, where.options, *flags))


def print_headline(
    rows: Rows, counted: Counted = "people", *, of_table: bool = False, word: Wording = str
) -> None:
    """Print the most that anybody learns, in one sentence."""
    print_answer(attacks.headline(rows, counted, of_table=of_table, word=word))


FAILED = "A failed attack proves nothing. Every figure: --all. "


def _table(groups: Sequence[Group]) -> Iterator[str]:
    """Yield the lines of a table: question, figure, guess, and whether it lies above the guess."""
    lines = [line for group in groups for line in group.lines]
    asked = max((len(line.question) for line in lines), default=0) + 2
    head = "success per 100 cases"
    if lines:
        yield f"{head:<{asked}}  {'release':>8}  {'guess':>6}  above?"
    for group in groups:
        yield group.heading
        for line in group.lines:
            start = f"  {line.question}"
            yield f"{start:<{asked}}  {line.figure:>8}  {line.guess:>6}  {line.answer}"


def _left_out(rows: Rows, asked: Sequence[str]) -> list[str]:
    """Return what was not run: its time and the flag that runs it, or what it needs."""
    whole = [row for row in rows.missing if not row.part]
    run = [
        f"{f'{row.question} {row.part}'.rstrip()} (about {spelled(row.seconds)})"
        for row in rows.missing
        if row.seconds is not None
    ]
    texts = [f"Not run: {', '.join(run)}. Run one with --attacks NAME, all with --attacks all."]
    texts = texts if run else []
    asked_for = {*asked}
    reasons: dict[str, list[str]] = {}
    for row in whole:
        name, by_name = row.question, ATTACKS[row.question].by_name
        if name in _NEEDS:
            texts.append(f"Not run: {name} (requires {_NEEDS[name]}).")
        elif row.seconds is None and (asked_for & {name, EVERY} or not by_name):
            reasons.setdefault(row.reason or "", []).append(name)
    texts += [f"Not run: {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return [line for text in texts for line in wrapped(text, indent="  ")]


_NEEDS = {"intersection": "--with DIR", "homogeneity": "--attached FILE and --attached-column NAME"}
"""What attacks need that read a second file."""


def _print(rows: Rows, counted: Counted) -> None:
    """Print the rows as a table, and what could not be measured to stderr."""
    columns = ["attack", "part", "value", "without release", "unit", ""]
    if rows:
        cells = (
            [name, reworded(part, counted), *rest] for name, part, *rest in outputs.cells_of(rows)
        )
        result_table(columns, cells, right=(2, 3))
    outputs.say_missing(rows)


def _field(name: str) -> str:
    return name.replace("-", "_")


def _attacks_help() -> str:
    kinds: dict[str, list[str]] = {}
    for name, entry in ATTACKS.items():
        for kind in entry.kinds:
            kinds.setdefault(kind_of(kind).words, []).append(name)
    named = "; ".join(f"for {kind}: {', '.join(names)}" for kind, names in kinds.items())
    asked = ", ".join(name for name, entry in ATTACKS.items() if entry.by_name)
    return (
        f"Attacks to run: {named}. Attacks on user-item data also read tables. Default: all that "
        f"fit, strongest first, within --seconds by their estimated CPU time; of {asked} those "
        f"below {QUICK_SECONDS:g} seconds. The others are listed with their estimated time. `all` "
        "runs every one."
    )


def _parameters(*, described: bool) -> Iterator[inspect.Parameter]:
    """Yield a flag for the parameters of every attack, such as ``--linkage.targets``."""
    for name in ATTACKS:
        items = list(flat_parameters(ATTACKS[name].options)) if described else []
        text = "; ".join(
            f"--{name}.{item.name}: {item.metadata['help']} [{item.default}]" for item in items
        )
        if items or not described:
            kind = dict[str, str] | None
            yield flag(_field(name), kind, f"{text}.", default=None, group=PARAMETERS_GROUP)


def _command(*, described: bool) -> Callable[..., int]:
    """Return the command; described, every attack is loaded for its help."""
    return with_signature(
        _run,
        [
            FOLDER,
            *inputs.original_flags(),
            flag("attacks", list[str] | None, _attacks_help() if described else "", default=None),
            *flags(
                None,
                {
                    "second": Flag(
                        Path | None,
                        "Folder of a second release of the same people (for the "
                        "attack intersection).",
                        spelled="--with",
                    ),
                    "jobs": Flag(
                        int | None,
                        "Number of processes for the releases an attacker simulates, if "
                        "these take more than 10 seconds. Default: one per processor.",
                    ),
                    "seconds": Flag(
                        float | None,
                        "CPU seconds for all attacks together, without compiling. An "
                        "attack that is not done by then is listed as not run. Default: "
                        f"{SECONDS_UNASKED:g} without --attacks, otherwise no limit.",
                    ),
                },
            ),
            *outputs.COLUMN_FLAGS,
            *_parameters(described=described),
            *outputs.ROW_FLAGS,
        ],
        name="attack",
        text="Attack a release: what can still be learned, compared with guessing without it?\n"
        "\nA failed attack proves nothing. The figures are for the data owner; the "
        "guarantee of the release does not cover them. The risk of each person is written "
        "to the private folder.\n\nExample: graphveil attack people-cluster-k --original "
        "people.csv --attacks matching",
    )


command = _command(described=False)


def __getattr__(name: str) -> Callable[..., int]:
    """Return the command with all of its help, which loads every attack."""
    if name != "overview":
        raise AttributeError(name)
    return _command(described=True)
