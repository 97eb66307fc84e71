"""Flaws that somebody could make, and the tests that must fail where one is made.

`flaws.toml` holds them, and a test file those that its tests must notice, as a list `FLAWS` of
dictionaries with the same keys. Each says the file, the text that stands there once, the text in
its stead, what it would mean for people, and the tests that must notice: where nothing
is said, those of the test file itself. `caught.csv` is the table of what noticed them, which
`run.py` writes.
"""

from __future__ import annotations

import ast
import csv
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
FLAWS = Path(__file__).with_name("flaws.toml")
CAUGHT = Path(__file__).with_name("caught.csv")
KINDS = ("verify", "attack", "test")
"""What notices a flaw: a release that `verify` refuses, an attack that succeeds, another test."""


class DoesNotApplyError(Exception):
    """The text that a flaw replaces does not stand in its file exactly once."""


class Flaw(NamedTuple):
    """One change of one file.

    Parameters
    ----------
    name
        How it is called in the table.
    means
        What it would do to the people in the data, or to their owner.
    file
        The file, from the root of the checkout.
    old, new
        The text that stands there exactly once, and what is put in its stead.
    tests
        Arguments of pytest: at least one of these tests must fail.
    verify, attack
        The same, of tests in which `verify` refuses the release, or an attack learns too much.
    methods
        The methods that it is about; none where it is about all of them, or none.
    """

    name: str
    means: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    attack: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    @property
    def checks(self) -> dict[str, tuple[str, ...]]:
        """The arguments of pytest by what must notice: each of them must."""
        of_each = {"verify": self.verify, "attack": self.attack, "test": self.tests}
        return {kind: arguments for kind, arguments in of_each.items() if arguments}

    def planted(self, root: Path) -> str:
        """Return the file's text with the flaw in it.

        Raises
        ------
        DoesNotApplyError
            Where the old text does not stand there exactly once.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        times = text.count(self.old)
        if times != 1:
            raise DoesNotApplyError(
                f"{self.name}: {self.file} has {self.old.strip()!r} {times} times, not once. "
                "Write the flaw anew for what stands there now."
            )
        return text.replace(self.old, self.new)


def flaws(path: Path = FLAWS) -> list[Flaw]:
    """Return every flaw of a collection, and those of the test files around it."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["flaw"]
    for file in sorted(TESTS.glob("*/test_*.py")):
        own = {"tests": [f"tests/{file.relative_to(TESTS).as_posix()}"]}
        listed += [own | flaw for flaw in _flaws_in(file)]
    return [
        Flaw(**{name: _frozen(value) for name, value in flaw.items()})  # its fields by name
        for flaw in listed
    ]


def _flaws_in(file: Path) -> list[dict[str, Any]]:
    """Return the list `FLAWS` of a test file, which is not imported."""
    text = file.read_text(encoding="utf-8")
    if not re.search(r"^FLAWS = \[$", text, re.MULTILINE):
        return []
    assigned = (node for node in ast.parse(text).body if isinstance(node, ast.Assign))
    values = [node.value for node in assigned if ast.unparse(node.targets[0]) == "FLAWS"]
    listed: list[dict[str, Any]] = ast.literal_eval(values[0])
    return listed


def _frozen(value: str | list[str]) -> str | tuple[str, ...]:
    return tuple(value) if isinstance(value, list) else value


class Caught(NamedTuple):
    """A row of the table: which test noticed a flaw, and of which kind it is."""

    flaw: str
    methods: str
    kind: str
    test: str


def caught(path: Path = CAUGHT) -> list[Caught]:
    """Return the table of what noticed each flaw."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Caught(*row) for row in list(csv.reader(file))[1:]]


def write_caught(rows: Iterable[Caught], path: Path = CAUGHT) -> None:
    """Write rows into the table in place of those of the same flaws, in the collection's order."""
    new = list(rows)
    tried = {row.flaw for row in new}
    kept = [row for row in caught(path) if row.flaw not in tried] if path.exists() else []
    with path.open("w", encoding="utf-8", newline="") as file:
        written = csv.writer(file, lineterminator="\n")
        written.writerow(Caught._fields)
        written.writerows(_in_order([*kept, *new]))


def _in_order(rows: list[Caught]) -> Iterator[Caught]:
    """Yield the rows of flaws that are still there, as the collection lists them."""
    for flaw in flaws():
        yield from (row for row in rows if row.flaw == flaw.name)
