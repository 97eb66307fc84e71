"""How much is tried in every run, and how much in `make fuzz`.

Cases that are listed one by one, or drawn many times, take long: every run tries a fixed part of
them, `make fuzz` all (the marker `thorough`).
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

FUZZ = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
"""Whether `make fuzz` runs."""

LEFT = "`make fuzz` tries it"
"""Why a case is skipped in a plain run."""

in_fuzz_alone = pytest.mark.skipif(not FUZZ, reason=LEFT)
"""For a test with the marker `thorough` whose notion other tests of every run look at, too."""

Case = TypeVar("Case")


def chance_of(name: str) -> int:
    """Return a large number for a name: what is added beside it changes nothing.

    Examples
    --------
    >>> chance_of("a test") == chance_of("a test") != chance_of("another")
    True
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def part_of(cases: Sequence[Case], *, every: int) -> Sequence[Case]:
    """Return every so many of the cases, the first and the last among them, or all of them.

    Examples
    --------
    >>> part_of(range(9), every=4)[-1]
    8
    """
    return cases if FUZZ else [*cases[:-1:every], *cases[-1:]]


def some_of(names: Sequence[str], *, every: int) -> list[str]:
    """Return about one of so many names, at least one, or all: each is chosen by itself.

    Examples
    --------
    >>> some_of(["only"], every=1000)
    ['only']
    """
    if FUZZ or not names:
        return list(names)
    chosen = [name for name in names if chance_of(name) % every == 0]
    return chosen or [min(names, key=chance_of)]


def first_of(cases: Sequence[object]) -> list[object]:
    """Return the cases for `parametrize`, of which `make fuzz` alone tries all after the first."""
    marks = [pytest.mark.thorough, in_fuzz_alone]
    return [cases[0], *(pytest.param(case, marks=marks) for case in cases[1:])]


def is_left(item: pytest.Item) -> bool:
    """Return whether a case is left to `make fuzz`."""
    return any(mark == in_fuzz_alone.mark for mark in item.iter_markers("skipif"))


@cache
def _noticed() -> frozenset[str]:
    """Return the tests that noticed a planted flaw, without their cases."""
    with (Path(__file__).parent / "planted" / "caught.csv").open(encoding="utf-8") as table:
        return frozenset(row["test"].partition("[")[0] for row in csv.DictReader(table))


def try_a_part(
    items: Sequence[pytest.Item], of: Path, subject: Callable[[pytest.Item], object] | None = None
) -> None:
    """Leave most cases of the tests in this folder or file to `make fuzz`.

    Each test tries a third of its cases, each chosen by its name alone. With a `subject` of each
    case, every test tries a fifth of the cases of each subject, and at least one: all subjects meet
    all tests in every run. Tests with the marker `all_cases`, and those that noticed a planted
    flaw, leave none; the latter two thirds where there are subjects. What is left already stays so.
    """
    tests: dict[tuple[str, object], list[pytest.Item]] = {}
    inside = {path for path in {item.path for item in items} if path.is_relative_to(of)}
    for item in items:
        if item.path in inside and hasattr(item, "callspec") and not is_left(item):
            test = item.nodeid.partition("[")[0]
            tests.setdefault((test, subject and subject(item)), []).append(item)
    for (test, _), cases in tests.items():
        every = (3 if subject else 1) if test in _noticed() else (5 if subject else 3)
        if every == 1 or cases[0].get_closest_marker("all_cases"):
            continue
        chosen = some_of([case.nodeid for case in cases], every=every)
        for case in cases:
            case.add_marker(pytest.mark.thorough)
            if case.nodeid not in chosen:
                case.add_marker(in_fuzz_alone)
