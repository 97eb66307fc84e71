"""How much is tried in every run, and how much in `make fuzz`.

Cases that are listed one by one, or drawn many times, take long: every run tries a fixed part of
them, `make fuzz` all (the marker `thorough`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

FUZZ = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
"""Whether `make fuzz` runs."""

in_fuzz_alone = pytest.mark.skipif(not FUZZ, reason="`make fuzz` tries it")
"""For a test with the marker `thorough` whose notion other tests of every run look at, too."""

Case = TypeVar("Case")


def part_of(cases: Sequence[Case], *, every: int) -> Sequence[Case]:
    """Return every so many of the cases, the first and the last among them, or all of them.

    Examples
    --------
    >>> part_of(range(9), every=4)[-1]
    8
    """
    return cases if FUZZ else [*cases[:-1:every], *cases[-1:]]
