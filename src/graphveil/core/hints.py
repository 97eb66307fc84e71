"""Options in messages, worded for the reader: flags for the command line, keywords for Python.

A message keeps its hints as marks in the text, and each surface writes them in its own words.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

_ARGUMENTS = {"input_format": "format", "limit": "limit_bytes"}
"""Flags that Python calls otherwise."""

_OF_METHODS = frozenset({"known", "attach", "label", "levels", "may_narrow"})
"""Options that are parameters of a method: the call that reads the data takes none of them."""

_START, _END = "\ufdd0", "\ufdd1"
"""Around the hints in a text: no characters, by Unicode for use inside of a program alone."""

_HINTS = re.compile(f"{_START}([^{_START}{_END}]*){_END}")


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
            if not call or hints[0].value is None or hints[0].name in _OF_METHODS:
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


def with_marks(*hints: Hint) -> str:
    """Return hints between the marks that a text keeps them in."""
    return f"{_START}{json.dumps(hints)}{_END}"


def option(name: str, value: str | float | None = None) -> str:
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
    return with_marks(Hint(name, value))


def options(**values: str | int) -> str:
    """Return several options with their values, to be copied out of a message.

    Examples
    --------
    >>> print(Message(options(source_column=1, target_column=2)))
    source_column=1, target_column=2
    """
    return with_marks(*map(Hint, values, values.values()))


def several(name: str, *values: str) -> str:
    """Return an option with several values at once.

    Examples
    --------
    >>> print(Message(several("suppressed", "*", "?")))
    suppressed=("*", "?")
    """
    return with_marks(Hint(name, values))


def mapping(name: str, key: str, value: str) -> str:
    """Return an option that maps a name to a value.

    Examples
    --------
    >>> print(Message(mapping("bins", "age", "median")))
    bins={"age": "median"}
    """
    return with_marks(Hint(name, {key: value}))


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


def is_given(pair: Sequence[str], words: Sequence[str], hint: Hint) -> bool:
    """Whether a command has a value of a flag, or another one for the same column."""
    given = _behind(words, hint.pairs[0][0].partition("=")[0])
    if hint.name not in MAPPING_OPTIONS:
        return pair[-1] in given
    column = f"{pair[-1].rpartition('=')[0]}="
    return any(one == pair[-1] or one.startswith(column) for one in given)


LIST_OPTIONS = ("suppressed", "categories", "drop")
MAPPING_OPTIONS = ("bins", "levels", "dates", "missing")
"""Options that take several values, and those that take one for each column."""
