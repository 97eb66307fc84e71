"""`graphveil attack DIR --original INPUT`: what an attacker still learns."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphveil.attacks.registry import ATTACKS
from graphveil.cli.attached_column import COLUMN_FLAGS, AttachedColumn
from graphveil.cli.console import bars, result_json, result_table, say
from graphveil.cli.flags import FOLDER, PARAMETERS_GROUP, flag, with_signature
from graphveil.cli.original import original_flags, original_of
from graphveil.cli.rows import ROW_FLAGS, RowsFile, cells_of, say_missing
from graphveil.io import kind_read
from graphveil.parameters.flat import flat_parameters
from graphveil.progress import shown
from graphveil.records.record import ATTACKED, private_folder
from graphveil.rows import Rows


def _run(folder: Path, **given: Any) -> int:
    from graphveil.verbs.attack import attack_release  # noqa: PLC0415  not for its help

    as_json, path = given.pop("json"), given.pop("original")
    attacks, seed = given.pop("attacks"), given.pop("seed")
    file = RowsFile(given.pop("out"), given.pop("force"))
    file.check(path, given)
    options = {name: given.pop(_field(name)) or {} for name in _WITH_PARAMETERS}
    second = given.pop("second")
    column = AttachedColumn(*(given.pop(item) for item in AttachedColumn._fields))
    column.check()
    with shown(bars()), original_of(folder, path, given) as read:
        rows = attack_release(
            folder,
            read,
            attacks=attacks,
            seed=seed,
            options=options,
            second=second,
            attached=column.read(read.data),
        )
    file.write(rows)
    if as_json:
        result_json(rows.summary())
    else:
        _print(rows, folder)
    say(f"{path.name}: read as {kind_read(read.options).words}")
    return 0


def _print(rows: Rows, folder: Path) -> None:
    """Print the rows as a table, and what could not be measured to stderr."""
    columns = ["attack", "part", "value", "without it", "unit", ""]
    if rows:
        result_table(columns, cells_of(rows), right=(2, 3))
    say_missing(rows)
    for name in dict.fromkeys(row.question for row in rows):
        say(f"everybody's own risk: {private_folder(folder) / ATTACKED / name}.parquet")


_WITH_PARAMETERS = [name for name, entry in ATTACKS.items() if flat_parameters(entry.options)]


def _field(name: str) -> str:
    return name.replace("-", "_")


def _attacks_help() -> str:
    kinds: dict[str, list[str]] = {}
    for name, entry in ATTACKS.items():
        kinds.setdefault(entry.kind.__name__, []).append(name)
    named = "; ".join(f"of a {kind}: {', '.join(names)}" for kind, names in kinds.items())
    asked = ", ".join(name for name, entry in ATTACKS.items() if entry.by_name)
    return (
        f"Attacks to try, {named}. Those of a Bipartite read a Table as well. All that fit without "
        f"this, but {asked}."
    )


def _parameters() -> Iterator[inspect.Parameter]:
    """Yield a flag for the parameters of every attack, such as ``--linkage.targets``."""
    for name in _WITH_PARAMETERS:
        items = flat_parameters(ATTACKS[name].options)
        listed = "; ".join(
            f"--{name}.{item.name}: {item.metadata['help']} [{item.default}]" for item in items
        )
        yield flag(
            _field(name), dict[str, str] | None, f"{listed}.", default=None, group=PARAMETERS_GROUP
        )


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=True),
        flag("attacks", list[str] | None, _attacks_help(), default=None),
        flag(
            "second",
            Path | None,
            "The folder of a second release of the same people, for intersection.",
            default=None,
            spelled="--with",
        ),
        *COLUMN_FLAGS,
        *_parameters(),
        *ROW_FLAGS,
    ],
    name="attack",
    text="What an attacker still learns, beside a guess without the release.\n\n"
    "An attack that fails proves nothing. The figures are for the owner: they are not covered by "
    "the release's promise. Everybody's own risk is written into the private folder.\n\n"
    "Example: graphveil attack people-cluster-k --original people.csv --attacks matching",
)
