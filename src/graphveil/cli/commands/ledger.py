"""`graphveil ledger FILE`: epsilons spent on one group of people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphveil.claims.ledger import Entry, Ledger, Unit, rounded_up
from graphveil.cli.console import result, result_json
from graphveil.cli.flags import Flag, flags, path_argument, with_signature
from graphveil.core.errors import InputError

_WHAT: dict[Unit, str] = {
    "edge": "for one edge or entry",
    "value": "for one value of a column",
    "node": "for all edges or entries of one person",
}


def _run(path: Path, **given: Any) -> int:
    if not path.exists():
        raise InputError(f"{path} does not exist. Give the file you passed to --ledger.")
    ledger = Ledger(path)
    entries = ledger.entries()
    units = [unit for unit in _WHAT if unit != "value" or any(e.unit == unit for e in entries)]
    totals = {unit: ledger.total(unit) for unit in units}
    limit = ledger.kept_limit()
    printed = {unit: None if t is None else rounded_up(t) for unit, t in totals.items()}
    if given["json"]:
        result_json({"entries": entries, "total": printed, "limit": limit})
        return 0
    for number, entry in enumerate(entries, start=1):
        result(f"{number}. {entry.method}: {_words(entry)}")
    for unit in units:
        total = printed[unit] or "no total: it contains a release without a guarantee"
        kept = f", of at most {limit.epsilon}" if limit is not None and limit.unit == unit else ""
        result(f"total {_WHAT[unit]}: {total}{kept}")
    return 0


def _words(entry: Entry) -> str:
    if entry.epsilon is None or entry.unit is None:
        return "not claimed"
    return f"epsilon {entry.epsilon} {_WHAT[entry.unit]}"


command = with_signature(
    _run,
    [
        path_argument("file", "The ledger."),
        *flags(None, {"json": Flag(bool, "Print it as JSON.", default=False)}),
    ],
    name="ledger",
    text="Show the privacy budget spent on one group of people: each epsilon and the total, "
    "rounded up.\n\nRecord runs with: graphveil anonymize METHOD INPUT --out DIR --ledger "
    "FILE\n\nExample: graphveil ledger friends.ledger",
)
