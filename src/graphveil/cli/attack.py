"""`graphveil attack DIR --original INPUT`: what an attacker still learns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from graphveil.attacking import attack_release
from graphveil.attacks import ATTACKED, ATTACKS, Attacked, AttackRow, attack_rows_to_arrow
from graphveil.cli.console import bar, result_json, result_table, say
from graphveil.cli.flags import FOLDER, OUTPUT_GROUP, flag, with_signature
from graphveil.cli.new_file import check_new_file, new_file
from graphveil.cli.original import original_flags, read_original
from graphveil.errors import UsageError
from graphveil.progress import shown
from graphveil.records.record import private_folder


def _run(folder: Path, **given: Any) -> int:
    as_json, path, out = given.pop("json"), given.pop("original"), given.pop("out")
    attacks, seed = given.pop("attacks"), given.pop("seed")
    if out is not None and out.suffix not in {".parquet", ".json"}:
        raise UsageError(f"{out.name} is neither .parquet nor .json. Choose one of them.")
    if out is not None:
        check_new_file(out, [path], force=True)
    with shown(bar):
        original = read_original(folder, path, given).original
        attacked = attack_release(folder, original=original, attacks=attacks, seed=seed)
    if out is not None:
        _write(attacked, out)
    if as_json:
        result_json(attacked)
    else:
        _print(attacked, folder)
    return 0


def _print(attacked: Attacked, folder: Path) -> None:
    """Print the rows as a table, and what could not be measured to stderr."""
    columns = ["attack", "part", "value", "without it", "unit", ""]
    result_table(columns, _cells(attacked.rows), right=(2, 3))
    for name, reason in attacked.not_measured.items():
        say(f"{name}: not measured: {reason}")
    if not attacked.rows and not attacked.not_measured:
        say("no attack reads this kind of data in this version")
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


def _write(attacked: Attacked, path: Path) -> None:
    with new_file(path, force=True) as part:
        if path.suffix == ".json":
            part.write_bytes(msgspec.json.encode(attacked))
        else:
            from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

            with part.open("wb") as stream:
                parquet.write_table(attack_rows_to_arrow(attacked.rows), stream)
    say(f"written: {path}")


def _attacks_help() -> str:
    named = ", ".join(f"{name} (of a {entry.kind.__name__})" for name, entry in ATTACKS.items())
    return f"Attacks to try: {named}. All that fit without this."


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=True),
        flag("attacks", list[str] | None, _attacks_help(), default=None),
        flag(
            "seed",
            int | None,
            "Repeats figures that are sampled; fresh entropy without it.",
            default=None,
        ),
        flag(
            "out",
            Path | None,
            "Write the rows to this file, .parquet or .json.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag("json", bool, "Print JSON.", default=False, group=OUTPUT_GROUP, negative=""),
    ],
    name="attack",
    text="What an attacker still learns, beside a guess without the release.\n\n"
    "An attack that fails proves nothing. The figures are for the owner: they are not covered by "
    "the release's promise. Everybody's own risk is written into the private folder.\n\n"
    "Example: graphveil attack people-cluster-k --original people.csv --attacks matching",
)
