"""Everything graphveil raises on purpose.

::

    GraphveilError              what a user can correct; carries the exit code of the command line
    ├── UsageError              2  the options cannot be used together, or with this data
    │   ├── ParameterError      2  one parameter is out of its range
    │   └── InfeasibleError     2  no release can keep this guarantee on this data (n < k)
    ├── InputError              2  a file or an object that cannot be read as what it should be
    │   └── DataError           2  arrays that break a container's rules
    ├── ReleaseError            2  a folder that is not a release, or that must not be overwritten
    └── ResourceError           3  out of disk, read-only target, interrupted

A message says what happened, the value, and the way out, in one line. Options in it are hints of
`graphveil.core.hints`: the surface that shows the message spells them, as arguments or as flags.
Programming errors are ordinary Python exceptions and do not derive from `GraphveilError`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

from graphveil.core.hints import Hint, Message, is_given, with_marks
from graphveil.core.questions import Problem, answers, questions
from graphveil.core.visible import visible


class _Spoken:
    """An exception or a warning whose text has hints."""

    args: tuple[Any, ...]
    call = ""
    """The call that takes the options of the text, where an object came in through one."""

    @property
    def message(self) -> Message:
        """The text, with its options spelled as arguments (itself) or as flags (`flags`)."""
        return Message(" ".join(map(str, self.args)), call=self.call)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The options that the message names, each with the value to give it."""
        return self.message.hints

    def __str__(self) -> str:
        """Return the text as Python spells it, for a terminal."""
        return visible(str(self.message))


class GraphveilError(_Spoken, Exception):
    """A problem that the user can correct; the message says how.

    Where data or options leave something open, `problems` has every question, without flags.

    Examples
    --------
    >>> import pickle
    >>> from graphveil.core.hints import option
    >>> error = pickle.loads(pickle.dumps(GraphveilError(f"use {option('header', 'no')}")))
    >>> print(error, error.hints)
    use header="no" (Hint(name='header', value='no'),)
    >>> error.message.flags
    'use --header no'
    """

    exit_code: ClassVar[int] = 2

    asked: tuple[Problem, ...] = ()
    """What must be decided, as the message has it."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What must be decided, each question with an answer that works."""
        return tuple(problem.plain for problem in self.asked)


class UsageError(GraphveilError):
    """The options cannot be used together, or not with this data."""


class ParameterError(UsageError):
    """One parameter is outside its range."""


class InfeasibleError(UsageError):
    """No release can keep this guarantee on this data."""


class InputError(GraphveilError):
    """A file or an object cannot be read as what it should be.

    Where the options must say more, `problems` has every question, and `given` what was said.
    """

    given: Mapping[str, Any] = MappingProxyType({})
    where: str = ""

    def command(self, words: Sequence[str]) -> str:
        """Return what is asked, and the command that answers it all, for a shell.

        Parameters
        ----------
        words
            Those of the command that failed, behind the name of the program.

        Examples
        --------
        >>> problem = Problem("a", "drop", "a", "a is odd", "remove it")
        >>> InputError.asking([problem], {}, "f.csv: ").command(["measure", "f.csv"])
        'f.csv: a is odd: remove it. To answer all: graphveil measure f.csv --drop a'
        """
        more = [
            word
            for hint in answers(self.asked, self.given)
            for pair in hint.pairs
            if not is_given(pair, words, hint)  # what was given is not repeated
            for word in pair
        ]
        asked = Message(f"{self.where}{questions(self.asked)}").flags
        return f"{asked} To answer all: {shlex.join(('graphveil', *words, *more))}"

    @classmethod
    def asking(cls, problems: Iterable[Problem], given: Mapping[str, Any], where: str = "") -> Self:
        """Return the error with every question, and the options that answer them all.

        Examples
        --------
        >>> problem = Problem("a", "drop", "a", "a is odd", "remove it")
        >>> print(InputError.asking([problem], {}, "f.csv: "))
        f.csv: a is odd: remove it. Use drop=("a",)
        """
        asked = tuple(problems)
        proposed = with_marks(*answers(asked, given))
        error = cls(f"{where}{questions(asked)} Use {proposed}")
        error.asked, error.given, error.where = asked, dict(given), where
        return error


class DataError(InputError):
    """Arrays break the rules of the container they were given to."""


class ReleaseError(GraphveilError):
    """A folder is not a release, or must not be overwritten."""


class ResourceError(GraphveilError):
    """The machine could not do what was asked: no space, no permission, interrupted."""

    exit_code: ClassVar[int] = 3


class GraphveilWarning(_Spoken, UserWarning):
    """Something was done that the owner of the data should know. Each kind has its own class."""

    rank: ClassVar[int] = 2
    """How much it weighs, 0 the most: of several the command line shows two."""
