"""`graphveil attack DIR --original INPUT`: what an attacker still learns."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphveil.attacking import attack_release
from graphveil.attacks import ATTACKS, Attacked, AttackRow, attack_rows_to_arrow
from graphveil.cli.attached import COLUMN_FLAGS, Column
from graphveil.cli.compared import ROW_FLAGS, RowsFile, original_of
from graphveil.cli.console import bar, result_json, result_table, say
from graphveil.cli.flags import FOLDER, PARAMETERS_GROUP, flag, with_signature
from graphveil.cli.original import original_flags
from graphveil.flat import flat_parameters
from graphveil.progress import shown
from graphveil.records.record import ATTACKED, private_folder


def _run(folder: Path, **given: Any) -> int:
    as_json, path = given.pop("json"), given.pop("original")
    attacks, seed = given.pop("attacks"), given.pop("seed")
    file = RowsFile(given.pop("out"), given.pop("force"))
    file.check(path, given)
    options = {name: given.pop(_field(name)) or {} for name in _WITH_PARAMETERS}
    second = given.pop("second")
    column = Column(*(given.pop(item) for item in Column._fields))
    column.check()
    with shown(bar):
        original = original_of(folder, path, given)
        attacked = attack_release(
            folder,
            original=original,
            attacks=attacks,
            seed=seed,
            options=options,
            second=second,
            attached=column.read(original),
        )
    file.write(attacked, lambda: attack_rows_to_arrow(attacked.rows))
    if as_json:
        result_json(attacked)
    else:
        _print(attacked, folder)
    return 0


def _print(attacked: Attacked, folder: Path) -> None:
    """Print the rows as a table, and what could not be measured to stderr."""
    columns = ["attack", "part", "value", "without it", "unit", ""]
    if attacked.rows:
        result_table(columns, _cells(attacked.rows), right=(2, 3))
    for name, reason in attacked.not_measured.items():
        say(f"{name}: not measured: {reason}")
    for name in dict.fromkeys(row.attack for row in attacked.rows):
        say(f"everybody's own risk: {private_folder(folder) / ATTACKED / name}.parquet")


def _cells(rows: list[AttackRow]) -> Iterator[list[str]]:
    """Yield the cells of every row; an attack is named once, above the rest of its parts."""
    last = ""
    for row in rows:
        name = "" if row.attack == last else row.attack
        without = "" if row.baseline is None else f"{row.baseline:,.6g}"
        yield [name, row.part, f"{row.value:,.6g}", without, row.unit, _how(row)]
        last = row.attack


def _how(row: AttackRow) -> str:
    how = row.direction if row.exact == "exact" else f"{row.direction}; {row.exact}"
    if row.ci_low is None or row.ci_high is None:
        return how
    return f"{how}, 95 %: {row.ci_low:,.6g} to {row.ci_high:,.6g}"


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
