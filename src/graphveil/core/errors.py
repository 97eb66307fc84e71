"""Everything graphveil raises on purpose, how messages name options, and text that is only shown.

::

    GraphveilError              what a user can correct; carries the exit code of the command line
    ├── UsageError              2  the options cannot be used together, or with this data
    │   ├── ParameterError      2  one parameter is out of its range
    │   └── InfeasibleError     2  no release can keep this guarantee on this data (n < k)
    ├── InputError              2  a file or an object that cannot be read as what it should be
    │   └── DataError           2  arrays that break a container's rules
    ├── ReleaseError            2  a folder that is not a release, or that must not be overwritten
    └── ResourceError           3  out of disk, read-only target, interrupted

A message says what happened, the value, and the way out, in one line. Options in it are hints,
which `option` and its like write into the text; who shows the message spells them, as arguments or
as flags. Programming errors are ordinary Python exceptions and do not derive from `GraphveilError`.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import shlex
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

_ARGUMENTS = {"input_format": "format", "limit": "limit_bytes"}
"""Flags that Python calls otherwise."""

_START, _END = "\ufdd0", "\ufdd1"
"""Around the hints in a text: no characters, by Unicode for use inside of a program alone."""

_HINTS = re.compile(f"{_START}([^{_START}{_END}]*){_END}")

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # without width, or changing the direction of what follows
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks without ink
    "\ud800-\udfff"  # halves of characters
    "]"
)
"""Characters that a terminal obeys, or that nobody sees."""


def visible(text: str) -> str:
    r"""Return text on one line in which a terminal obeys nothing, and every character is seen.

    >>> print(visible("ann\x1b[2J"), visible("an\u200bn"))
    ann\x1b[2J an\u200bn
    """
    return _UNSEEN.sub(lambda match: ascii(match.group())[1:-1], text)


def visible_json(text: str) -> str:
    r"""Return JSON of the same value, in which `visible` would find line feeds alone.

    >>> print(visible_json('"an\u200bn"'))
    "an\u200bn"
    """

    def spelled(match: re.Match[str]) -> str:
        return "\n" if match.group() == "\n" else json.dumps(match.group())[1:-1]

    return _UNSEEN.sub(spelled, text)


def visible_lines(text: str) -> str:
    r"""Return lines of text, each visible.

    >>> visible_lines("one\nt\x07wo")
    'one\nt\\x07wo'
    """
    return "\n".join(map(visible, text.split("\n")))


class Hint(NamedTuple):
    """An option that a message names, with the value to give it.

    Parameters
    ----------
    name
        The name of the option, with underscores.
    value
        Its value, several of them in a list, or what it maps in a dictionary; None for the name
        alone.

    Examples
    --------
    >>> hint = Hint("suppressed", ["*", "?"])
    >>> hint.argument, hint.flag
    ('suppressed=("*", "?")', "--suppressed '*' --suppressed '?'")
    """

    name: str
    value: Any = None

    @property
    def argument(self) -> str:
        """The option in Python."""
        name, value = _ARGUMENTS.get(self.name, self.name), self.value
        if value is None:
            return name
        if isinstance(value, list):
            listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in value)
            return f"{name}=({listed}{',' if len(value) == 1 else ''})"
        literal = value if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)
        return f"{name}={literal}"

    @property
    def words(self) -> str:
        """The option in words, for people who write neither Python nor flags."""
        name, value = self.name.replace("_", " "), self.value
        if value is None or value is True:
            return name
        if isinstance(value, dict):
            return ", ".join(f'{name} "{rule}" for {key}' for key, rule in value.items())
        several = value if isinstance(value, list) else [value]
        return f"{name} {', '.join(json.dumps(one, ensure_ascii=False) for one in several)}"

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return " ".join(shlex.join(pair) for pair in self.pairs)

    @property
    def pairs(self) -> list[tuple[str, ...]]:
        """The words of the option on the command line, each value with its flag.

        A value that begins with a dash is one word with its flag, so that it is not taken for one.
        """
        flag = f"--{self.name.replace('_', '-')}"
        if self.value is None or self.value is True:
            return [(flag,)]
        values = self.value if isinstance(self.value, list) else [self.value]
        if isinstance(self.value, dict):
            values = [f"{key}={value}" for key, value in self.value.items()]
        return [
            (f"{flag}={value}",) if str(value)[:1] == "-" != str(value) else (flag, str(value))
            for value in values
        ]


class Message(str):
    """A text with hints, spelled for Python; `flags` is the same text for the command line.

    Parameters
    ----------
    text
        What `option` and its like were written into.
    call
        The call that takes the options, as far as its next argument; empty where it is known.

    Examples
    --------
    >>> message = Message(f"say {option('directed', 'symmetrize')}")
    >>> print(message)
    say directed="symmetrize"
    >>> message.flags, message.hints
    ('say --directed symmetrize', (Hint(name='directed', value='symmetrize'),))
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str, *, call: str = "") -> Self:
        """Spell the hints as arguments, of this call where one is given."""
        text = text.text if isinstance(text, Message) else text

        def spelled(match: re.Match[str]) -> str:
            hints = _read(match)
            if not hints:
                return match.group()
            arguments = ", ".join(hint.argument for hint in hints)
            if not call or hints[0].value is None:
                return arguments
            return f"{call}{arguments})"

        message = super().__new__(cls, _HINTS.sub(spelled, text))
        message.text = text
        return message

    def __getnewargs__(self) -> tuple[str]:
        """Pickle the hints along."""
        return (self.text,)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The options that the text names."""
        return tuple(hint for match in _HINTS.finditer(self.text) for hint in _read(match))

    @property
    def flags(self) -> str:
        """The text with its options as flags."""
        return _HINTS.sub(
            lambda match: " ".join(hint.flag for hint in _read(match)) or match.group(), self.text
        )

    @property
    def plain(self) -> str:
        """The text with its options in words.

        Examples
        --------
        >>> print(Message(f"say {option('person', 'row')} or {option('item_list')}").plain)
        say person "row" or item list
        """
        return _HINTS.sub(
            lambda match: ", ".join(hint.words for hint in _read(match)) or match.group(), self.text
        )


def _read(match: re.Match[str]) -> list[Hint]:
    """Return the hints between two marks; none where data happens to hold such marks."""
    try:
        hints = [Hint(*pair) for pair in json.loads(match.group(1))]
    except (TypeError, ValueError):
        return []
    return hints if all(isinstance(hint.name, str) for hint in hints) else []


def _written(*hints: Hint) -> str:
    return f"{_START}{json.dumps(hints)}{_END}"


def option(name: str, value: str | int | None = None) -> str:
    """Return an option with its value, to be written into a message.

    Parameters
    ----------
    name
        The name of the flag, with underscores.
    value
        Its value; None for the name alone.

    Examples
    --------
    >>> print(Message(f"say {option('directed', 'symmetrize')} or {option('nodes')}"))
    say directed="symmetrize" or nodes
    """
    return _written(Hint(name, value))


def options(**values: str | int) -> str:
    """Return several options with their values, to be copied out of a message.

    Examples
    --------
    >>> print(Message(options(source_column=1, target_column=2)))
    source_column=1, target_column=2
    """
    return _written(*map(Hint, values, values.values()))


class Problem(NamedTuple):
    """What must be decided about a column before data can be read, and one answer that works.

    Parameters
    ----------
    column
        Its name; empty where it is about the whole file.
    option
        The option that answers it.
    value
        What is proposed: the value of the option, one more of its values, or what it maps the
        column to.
    text
        What was found.
    choices
        What else can be done, or what the answer means.
    """

    column: str
    option: str
    value: str
    text: str
    choices: str

    @property
    def plain(self) -> Problem:
        """The question with its options in words, as it is shown next to a column.

        Examples
        --------
        >>> Problem("age", "bins", "median", "age is odd", f"give {option('bins')}").plain.choices
        'give bins'
        """
        return self._replace(text=Message(self.text).plain, choices=Message(self.choices).plain)


_LISTS, _MAPPINGS = ("suppressed", "categories", "drop"), ("bins", "levels", "dates")
"""Options that take several values, and those that take one for each column."""


def questions(problems: Iterable[Problem]) -> str:
    """Return all that must be decided, those with the same choices in one sentence.

    A name with which a sentence begins stays as it is.

    Examples
    --------
    >>> choices = "remove it, or keep it"
    >>> questions([Problem(name, "drop", name, f"{name} is odd", choices) for name in "ab"])
    'a is odd, b is odd: remove it, or keep it.'
    >>> questions([Problem("a", "drop", "a", text, text) for text in ("is it", "see", "a is odd")])
    'is it: is it. See: see. a is odd: a is odd.'
    """
    grouped: dict[str, list[Problem]] = {}
    for problem in problems:
        same = grouped.setdefault(problem.choices, [])
        same += [] if problem.text in [one.text for one in same] else [problem]
    sentences: list[str] = []
    for choices, (first, *others) in grouped.items():
        begin = first.text
        if sentences and not (first.column and begin.startswith(f"{first.column} ")):
            begin = begin[:1].upper() + begin[1:]
        sentences.append(f"{', '.join([begin, *(one.text for one in others)])}: {choices}.")
    return " ".join(sentences)


def answers(problems: Iterable[Problem], given: Mapping[str, Any]) -> tuple[Hint, ...]:
    """Return the options that answer every question at once.

    Parameters
    ----------
    problems
        The questions.
    given
        The options that were given: lists and mappings are extended.

    Examples
    --------
    >>> asked = [Problem(name, "bins", "median", "", "") for name in ("age", "height")]
    >>> answers(asked, {"bins": {"age": "quantiles:4"}})[0].argument
    'bins={"age": "median", "height": "median"}'
    """
    said: dict[str, Any] = {}
    for problem in problems:
        name = problem.option
        if name in _MAPPINGS:
            said.setdefault(name, dict(given.get(name) or {}))[problem.column] = problem.value
        elif name in _LISTS:
            values = said.setdefault(name, list(given.get(name) or ()))
            values += [] if problem.value in values else [problem.value]
        else:
            said.setdefault(name, problem.value)
    return tuple(Hint(name, value) for name, value in said.items())


def several(name: str, *values: str) -> str:
    """Return an option with several values at once.

    Examples
    --------
    >>> print(Message(several("suppressed", "*", "?")))
    suppressed=("*", "?")
    """
    return _written(Hint(name, values))


def mapping(name: str, key: str, value: str) -> str:
    """Return an option that maps a name to a value.

    Examples
    --------
    >>> print(Message(mapping("bins", "age", "median")))
    bins={"age": "median"}
    """
    return _written(Hint(name, {key: value}))


def either(name: str, *values: str) -> str:
    """Return the advice to choose one of several values of an option.

    Examples
    --------
    >>> print(Message(either("header", "yes", "no")))
    Use header="yes" or header="no".
    """
    return f"Use {' or '.join(option(name, value) for value in values)}."


def leave_out() -> str:
    """Return the advice on weights and further columns.

    Examples
    --------
    >>> print(Message(leave_out()))
    Use ignore_weights=True to ignore them.
    """
    return f"Use {option('ignore_weights', value=True)} to ignore them."


def one_of(name: object, known: Iterable[object], *, verb: str = "Use") -> str:
    """Return the way out where a name is not known: the nearest one, and all there are.

    Parameters
    ----------
    name
        What was given.
    known
        The names that there are.
    verb
        How the list begins.

    Examples
    --------
    >>> one_of("kdegree", ["k-degree", "smooth-k"])
    'Did you mean k-degree? Use one of k-degree, smooth-k.'
    >>> one_of("nothing", ["k-degree", "smooth-k"])
    'Use one of k-degree, smooth-k.'
    """
    names = [str(one) for one in known]
    return f"{did_you_mean(name, names)}{verb} one of {', '.join(names)}."


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the nearest name and a space after it; empty where none is near.

    Examples
    --------
    >>> did_you_mean("K_degre", ["k-degree", "smooth-k"]), did_you_mean("x", ["k-degree"])
    ('Did you mean k-degree? ', '')
    """
    plain = {one.casefold().replace("_", "-"): one for one in known}
    near = difflib.get_close_matches(str(name).casefold().replace("_", "-"), plain, n=1)
    return f"Did you mean {plain[near[0]]}? " if near else ""


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


def _behind(words: Sequence[str], flag: str) -> list[str]:
    """Return the values that stand behind a flag in a command, and words that hold flag and value.

    Examples
    --------
    >>> _behind(["--drop", "a", "b", "--out", "c", "--drop=-d"], "--drop")
    ['a', 'b', '--drop=-d']
    """
    values, last = [], ""
    for word in words:
        if word.startswith("--"):
            last = word
        if last == flag != word or word.startswith(f"{flag}="):
            values.append(word)
    return values


def _is_given(pair: Sequence[str], words: Sequence[str], hint: Hint) -> bool:
    """Whether a command has a value of a flag, or another one for the same column."""
    given = _behind(words, hint.pairs[0][0].partition("=")[0])
    if hint.name not in _MAPPINGS:
        return pair[-1] in given
    column = f"{pair[-1].rpartition('=')[0]}="
    return any(one == pair[-1] or one.startswith(column) for one in given)


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
            if not _is_given(pair, words, hint)  # what was given is not repeated
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
        proposed = _written(*answers(asked, given))
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


@contextmanager
def as_argument_of(call: str) -> Iterator[None]:
    """Have errors raised inside of this spell their options in Python as arguments of this call.

    Parameters
    ----------
    call
        The call as far as its next argument.

    Examples
    --------
    >>> try:
    ...     with as_argument_of("graphveil.Graph.from_networkx(data, "):
    ...         raise DataError(f"say {option('directed', 'symmetrize')}")
    ... except DataError as error:
    ...     print(error)
    say graphveil.Graph.from_networkx(data, directed="symmetrize")
    """
    try:
        yield
    except GraphveilError as error:
        error.call = error.call or call
        raise


_OURS = {"graphveil", "contextlib"}
"""Modules whose lines tell nobody where a warning comes from."""


_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)
"""What was said in the block of `each_once` that is being run."""


@contextmanager
def each_once() -> Iterator[None]:
    """Warn of each text once within the block, however often `warn` is called with it.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught, each_once():
    ...     warnings.simplefilter("always")
    ...     warn("mind the gap")
    ...     warn("mind the gap")
    >>> len(caught)
    1
    """
    token = _SAID.set(set() if (said := _SAID.get()) is None else said)
    try:
        yield
    finally:
        _SAID.reset(token)


def warn(text: str, kind: type[GraphveilWarning] | None = None) -> None:
    """Warn the owner of the data, at the line of the first caller outside of the package.

    Parameters
    ----------
    text
        What is said.
    kind
        The class of the warning. Where not given: that of the text, if it knows one.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("mind the gap")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('GraphveilWarning', 'mind the gap')
    """
    said = _SAID.get()
    if said is not None:
        if text in said:
            return
        said.add(text)
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    category = kind or getattr(text, "kind", None) or GraphveilWarning
    text = text.text if isinstance(text, Message) else text
    warnings.warn(category(text), stacklevel=level)
