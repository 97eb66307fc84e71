"""Flags from parameters: a parameter's type, default, range and help are the flag's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

from cyclopts import Group, Parameter, Token

from graphveil.cli.app import HELP_READING, STANDARD_INPUT, every_reading_option
from graphveil.core.errors import UsageError
from graphveil.core.parameters import FlatParameter, flat_parameters, is_spelled, options_of
from graphveil.core.storage import Address, Place, place_of

T = TypeVar("T")

OPTIONS_GROUP = Group("Options", sort_key=0)
METHOD_GROUP = Group("Method options", sort_key=1)
PARAMETERS_GROUP = Group("Attack parameters", sort_key=2)
READING_GROUP = Group("Reading the input", help=f"All options: {HELP_READING}.", sort_key=4)
OUTPUT_GROUP = Group("Output", sort_key=3)
ENGINE_GROUP = Group("Execution", sort_key=2)

USUAL = {"kind", "directed", "ignore_weights", "header", "nodes", "person", "ids", "drop", "bins"}
"""The options for reading files that every page of help lists."""

INPUT_FORMAT = "input_format"
"""The flag of the options' field `format`: `--format` is the release's."""


def flag(
    name: str,
    kind: Any,
    text: str,
    *,
    default: Any = inspect.Parameter.empty,
    group: Group | None = None,
    negative: str | None = None,
    spelled: str | None = None,
) -> inspect.Parameter:
    """Return one keyword-only flag; one for a path takes an address too if its kind has it."""
    options = options_of(kind)
    if Path in options:
        kind = Path | None if type(None) in options else Path
    whole = kind is int or (int in get_args(kind) and str not in get_args(kind))
    note = Parameter(
        name=spelled,
        help=text,
        converter=_place if Address in options else _whole_number if whole else None,
        group=group or OPTIONS_GROUP,
        negative=negative,
        negative_iterable="",
        consume_multiple=True,
        show=group is not READING_GROUP or name in USUAL or every_reading_option.get(),
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, note]
    )


REQUIRED: Any = inspect.Parameter.empty
"""The default of a flag that must be given."""


class Flag(NamedTuple):
    """A flag of a command, without its name and group; off by default it has no value."""

    kind: Any
    text: str
    default: Any = None
    spelled: str | None = None


def flags(group: Group | None, table: Mapping[str, Flag]) -> list[inspect.Parameter]:
    """Return the flags of a table by their names.

    >>> asked = {"jobs": Flag(int | None, "Processes."), "port": Flag(int, "Port.", default=0)}
    >>> [item.name for item in flags(None, asked)]
    ['jobs', 'port']
    """
    made = []
    for name, item in table.items():
        negative = "" if item.default is False else None
        made.append(flag(name, group=group, negative=negative, **item._asdict()))
    return made


def _whole_number(_: Any, tokens: Sequence[Token]) -> int:
    """Return a whole number; a fraction is refused, not rounded."""
    given = _as_typed(tokens[0].value)
    try:
        return int(given)
    except ValueError as error:
        raise ValueError(f"{given!r} is not an integer.") from error


def _place(_: Any, tokens: Sequence[Token]) -> Place:
    """Return a path, or the address that is spelled: as a path it would lose a slash."""
    return place_of(tokens[0].value)


def flags_of(options: type[Any], group: Group) -> list[inspect.Parameter]:
    """Return a flag for every flat parameter of a method or of reading options."""
    flags = []
    for item in flat_parameters(options):
        kind = item.kind
        default = inspect.Parameter.empty if item.default is MISSING else item.default
        spelled = [option for option in options_of(kind) if is_spelled(option)]
        if spelled:
            typed = Path if getattr(spelled[0], "is_in_a_file", False) else str
            kind = typed if default is not None else typed | None
            default = default if default in {None, inspect.Parameter.empty} else str(default)
        repeated = any(getattr(one, "repeated", False) for one in spelled)
        if get_origin(kind) is Mapping or repeated:
            kind, default = list[str] | None, None
        flags.append(
            flag(
                _flag_name(item.name),
                kind,
                f"{item.metadata['help']}{_range(item)}{_unset(item)}",
                default=default,
                group=group,
            )
        )
    return flags


def _flag_name(name: str) -> str:
    return INPUT_FORMAT if name == "format" else name


def _unset(item: FlatParameter) -> str:
    """Return the default of a method's parameter that has none: others are shown by themselves."""
    if item.default is not None or "minimum" not in item.metadata:
        return ""
    return f" [default: {item.metadata['unset']}]"


def _range(item: FlatParameter) -> str:
    low, high = item.metadata.get("minimum"), item.metadata.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f" (at least {low})"
    return f" (at most {high})" if low is None else f" ({low} to {high})"


def values_for(options: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """Take the values of these options out of the arguments, and return those that were given."""
    names = [item.name for item in flat_parameters(options)]
    values = {name: given.pop(_flag_name(name), None) for name in names}
    for item in flat_parameters(options):
        if get_origin(item.kind) is Mapping and isinstance(values[item.name], list):
            values[item.name] = dict(_pair(item.name, text) for text in values[item.name])
    return {name: value for name, value in values.items() if value is not None}


def _pair(name: str, text: str) -> tuple[str, str]:
    """Return the key and the value of a text such as ``age=median``."""
    key, equals, value = text.rpartition("=")
    if not equals or not key:
        raise UsageError(f"--{name} expects COLUMN=RULE, such as age=median, not {text!r}.")
    return key, value


def not_for(name: str, container: type[Any], other: str | None = None) -> UsageError:
    """Return the error of a flag that does not go with a kind of data."""
    instead = "" if other is None else f", or use --kind {other}"
    flag_name = f"--{name.replace('_', '-')}"
    return UsageError(f"{flag_name} does not apply to a {container.__name__}. Remove it{instead}.")


def path_argument(name: str, text: str) -> inspect.Parameter:
    """Return a path that is given without a flag."""
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_ONLY, annotation=Annotated[Path, Parameter(help=text)]
    )


INPUT = path_argument("input", "Data file, or - for standard input.")
ALL = {"all": Flag(bool, "Print every row and every note.", default=False)}
JSON = {"json": Flag(bool, "Print JSON.", default=False)}
NEW_FILE = {"force": Flag(bool, "Replace an existing file of this name.", default=False)}
"""Flags that several commands have."""

FOLDER = path_argument("dir", "Folder of the release.")
PLACE = inspect.Parameter(
    "dir",
    inspect.Parameter.POSITIONAL_ONLY,
    annotation=Annotated[
        Path, Parameter(help="Folder or address of the release.", converter=_place)
    ],
)


def _put_dashes_back(bound: inspect.BoundArguments) -> None:
    """Make the path that stands for ``-`` a dash again in every argument that is not a file."""
    files = []
    for name, item in bound.signature.parameters.items():
        if Path in options_of(get_args(item.annotation)[0]):
            files.append(bound.arguments[name])
        else:
            bound.arguments[name] = _as_typed(bound.arguments[name])
    if files.count(STANDARD_INPUT) > 1:
        raise UsageError("- (standard input) can be given only once. Give a file name instead.")


def _as_typed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_as_typed, value))
    return "-" if value == str(STANDARD_INPUT) else value


def with_signature(
    function: Callable[..., int], parameters: Iterable[inspect.Parameter], *, name: str, text: str
) -> Callable[..., int]:
    """Return the function under this signature, name and help."""
    listed = list(parameters)
    signature = inspect.Signature(listed)

    def command(*args: Any, **kwargs: Any) -> int:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        _put_dashes_back(bound)
        return function(*bound.args, **bound.kwargs)

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {item.name: item.annotation for item in listed}
    command.__name__ = name
    command.__doc__ = text
    return command
