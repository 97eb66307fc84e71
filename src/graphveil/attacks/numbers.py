"""Several whole numbers as one parameter, such as ``2,4,8``."""

from __future__ import annotations

from collections.abc import Iterable

from graphveil.errors import ParameterError


class WholeNumbers(tuple[int, ...]):
    """Whole numbers from 0 on; as text separated by commas.

    Examples
    --------
    >>> WholeNumbers.parse("2, 4,8"), str(WholeNumbers((2, 4)))
    ((2, 4, 8), '2,4')
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> WholeNumbers:
        """Return the numbers in a text, in a list, or the one.

        Raises
        ------
        ParameterError
            Where there are none, or one is no whole number from 0 on.
        """
        listed: Iterable[object] = [text]
        if isinstance(text, str):
            listed = [part.strip() for part in text.split(",")]
        elif isinstance(text, list | tuple):
            listed = text
        numbers = WholeNumbers(int(some) for some in map(str, listed) if some.isdecimal())
        if not numbers or len(numbers) < len(list(listed)):
            raise ParameterError(f"{text!r} is no list of whole numbers. Give some, as 2,4,8.")
        return numbers

    def __str__(self) -> str:
        """Return the text that `WholeNumbers.parse` reads."""
        return ",".join(map(str, self))
