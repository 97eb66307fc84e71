"""Flaws that somebody could make, and the tests that must fail where one is made.

`flaws.toml` holds them: the file, the text that stands there once, the text in its stead, what it
would mean for the people in the data, and the tests that must notice.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

FLAWS = Path(__file__).with_name("flaws.toml")


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
    """

    name: str
    means: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

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
    """Return every flaw of a collection."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["flaw"]
    return [Flaw(**{**flaw, "tests": tuple(flaw["tests"])}) for flaw in listed]
