"""Names of columns as a parameter: one text with commas on the command line and in files."""

from __future__ import annotations

from collections.abc import Iterable

from graphveil.errors import ParameterError

MOST_TEXT = 200
"""So long a published text is at most."""


class Columns(tuple[str, ...]):
    """Names of columns, each once.

    Examples
    --------
    >>> Columns.parse("gender,year"), str(Columns.parse(["gender", "year"]))
    (('gender', 'year'), 'gender,year')
    """

    __slots__ = ()

    @staticmethod
    def parse(given: object) -> Columns:
        """Return the names that a text with commas between them, or a list, gives.

        Raises
        ------
        ParameterError
            Where there is none, one is empty, twice or has a comma in it, or they are too long.
        """
        named = given.split(",") if isinstance(given, str) else given
        if not isinstance(named, Iterable):
            raise ParameterError(f"{given!r} names no column. Give one, or several with commas.")
        names = [name.strip() if isinstance(name, str) else name for name in named]
        wrong = [name for name in names if not isinstance(name, str) or not name or "," in name]
        if wrong or not names:
            raise ParameterError(
                f"{wrong[0] if wrong else given!r} is no name of a column here: text without a "
                "comma. Rename it."
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"the column {twice!r} is named twice. Name it once.")
        joined = ",".join(names)
        if len(joined) > MOST_TEXT or not joined.isprintable():
            raise ParameterError(
                f"names of {len(joined)} characters are no short plain text, and are published. "
                "Rename columns."
            )
        return Columns(names)

    def __str__(self) -> str:
        """Return the text that `Columns.parse` reads."""
        return ",".join(self)
