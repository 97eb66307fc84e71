"""A form of a command's flags, and the words of a command line from what was filled in.

A flag's type, default and help make the field: there is one definition of them, in the commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from graphveil.app.folder import Folder
from graphveil.cli.flags import READING_GROUP
from graphveil.cli.inputs import flag_words
from graphveil.core.errors import UsageError, one_of
from graphveil.core.parameters import options_of
from graphveil.methods import METHODS

COMMANDS = {
    "measure": "Who stands out",
    "advise": "Which method",
    "anonymize": "Make a release",
    "sweep": "Compare methods and strengths",
    "verify": "Check a release",
    "evaluate": "What was kept",
    "attack": "What an attacker learns",
    "report": "Make a page to hand on",
    "convert": "Write another format",
}
"""The commands that the page runs, as its titles say them."""

BY_METHOD = ("anonymize", "sweep")
"""Commands that name a method, too."""

_LEFT_OUT = ("json", "config")
"""Flags that a person who reads a page has no use for."""

Given = Mapping[str, Sequence[str]]
"""What was filled in, by the name of the field."""


class Field(NamedTuple):
    """One field of a form.

    Parameters
    ----------
    name
        As the command's Python function calls it.
    flag
        As the command line calls it; None where it has no flag.
    help
        A line on it.
    group
        The panel of the help page that it stands in.
    kind
        "check", "yes or no", "choice", "lines" or "text".
    choices
        What can be chosen.
    default
        What the command does without it, as text.
    required
        Whether the command needs it.
    is_path
        Whether it names a file or a folder.
    negative
        The flag that says no, of a "yes or no".
    """

    name: str
    flag: str | None
    help: str
    group: str
    kind: str
    choices: tuple[str, ...] = ()
    default: str = ""
    required: bool = False
    is_path: bool = False
    negative: str = ""

    @property
    def label(self) -> str:
        """Its name in words."""
        words = self.flag[2:] if self.flag else self.name
        return words.replace("-", " ").replace("_", " ")


def callable_of(command: str, method: str | None) -> Callable[..., int]:
    """Return the function behind a command, whose signature has its flags.

    Raises
    ------
    UsageError
        Where there is no such command or method.
    """
    if command not in COMMANDS:
        raise UsageError(f"The page has no command {command!r}. {one_of(command, COMMANDS)}")
    module = import_module(f"graphveil.cli.commands.{command}")
    if command not in BY_METHOD:
        function: Callable[..., int] = module.command
        return function
    if method not in METHODS:
        raise UsageError(f"There is no method {method!r}. {one_of(str(method), METHODS)}")
    made: Callable[..., int] = module.subcommand(method)
    return made


def fields_of(command: str, method: str | None = None) -> list[Field]:
    """Return the fields of a command, in the order of its help page.

    Examples
    --------
    >>> [field.name for field in fields_of("anonymize", "rename")][:2]
    ['input', 'key']
    """
    listed = inspect.signature(callable_of(command, method)).parameters.values()
    fields = [field_of(item) for item in listed if item.name not in _LEFT_OUT]
    return [field for field in fields if field is not None]


def field_of(item: inspect.Parameter) -> Field | None:
    """Return the field of a flag; None of one that takes names with values, which no field has."""
    kind, note = get_args(item.annotation)[:2]
    options = [option for option in options_of(kind) if option is not NoneType]
    if any(option is dict or get_origin(option) is dict for option in options):
        return None
    field = Field(
        name=item.name,
        flag=_flag(item, note),
        help=note.help or "",
        group=next((group.name for group in note.group or ()), ""),
        kind="text",
        required=item.default is inspect.Parameter.empty,
        is_path=any(option is Path for option in options),
    )
    if options == [bool]:
        if item.default is True:
            return field._replace(kind="yes or no", negative=f"--no-{field.flag[2:]}")  # type: ignore[index]
        return field._replace(kind="check")
    literals = [option for option in options if get_origin(option) is Literal]
    if literals:
        choices = tuple(str(choice) for one in literals for choice in get_args(one))
        field = field._replace(kind="choice", choices=choices)
    elif any(get_origin(option) in (list, tuple) for option in options):
        field = field._replace(kind="lines")
    shown = item.default not in (None, inspect.Parameter.empty)
    return field._replace(default=str(item.default) if shown else "")


def _flag(item: inspect.Parameter, note: Any) -> str | None:
    if item.kind is inspect.Parameter.POSITIONAL_ONLY:
        return None
    return note.name[0] if note.name else f"--{item.name.replace('_', '-')}"


def words_of(
    folder: Folder, command: str, method: str | None, given: Given, *, complete: bool = True
) -> list[str]:
    """Return the words of a command from what was filled in.

    No value becomes a flag of its own, and every path lies inside the folder.

    Parameters
    ----------
    folder
        Where the command runs.
    command, method
        The command.
    given
        What was filled in. Names that the command does not have are left out.
    complete
        Whether a field that the command needs must be filled in.

    Raises
    ------
    UsageError
        Where a field is missing, is none of its choices, or names a path elsewhere.
    """
    words = [command] if method is None else [command, method]
    for field in fields_of(command, method):
        values = _values(folder, field, given.get(field.name, ()))
        if not values:
            if field.required and complete:
                raise UsageError(f"{field.label} is not filled in, and {command} needs it.")
            continue
        if field.flag is None:
            words += values
        elif field.kind == "check":
            words.append(field.flag)
        elif field.kind == "yes or no":
            words.append(field.flag if values == ["yes"] else field.negative)
        else:
            words += flag_words(field.flag[2:], *values)
    return words


def _values(folder: Folder, field: Field, given: Sequence[str]) -> list[str]:
    """Return the values of a field, checked as far as another command could be made of them."""
    several = field.kind == "lines"
    texts = [line for text in given for line in (text.splitlines() if several else [text])]
    values = [text.strip() for text in texts if text.strip()]
    if field.kind == "check":
        return values[:1]
    choices = ("yes", "no") if field.kind == "yes or no" else field.choices
    for value in values:
        if choices and value not in choices:
            raise UsageError(f"{field.label}: {one_of(value, choices)}")
        if "\0" in value:
            raise UsageError(f"{field.label} holds a NUL character. Leave it out.")
    if field.is_path:
        values = [folder.word(folder.inside(value)) for value in values]
    return values if several else values[:1]


def reading_names() -> frozenset[str]:
    """Return the names of the fields that say how a file is read."""
    return frozenset(
        field.name for field in fields_of("measure") if field.group == READING_GROUP.name
    )
