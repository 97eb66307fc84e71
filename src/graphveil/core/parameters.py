"""Parameters of methods and attacks: fields with a help text and a range, and options as types.

Options that exclude each other, or mean something together only, are types (`Options`) in Python,
and stand flat in flags, configuration, manifests and sweeps. A field that may hold one of several
classes of options becomes the name of one of them and the fields of all; one that may hold a class
or None becomes a yes or no and the fields of the class, or the fields alone where one of them has
no default: giving it turns the options on.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeGuard,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from graphveil.core.errors import ParameterError
from graphveil.core.hints import did_you_mean, one_of
from graphveil.core.warning_channel import warn


def parameter(
    *,
    default: Any = MISSING,
    text: str,
    minimum: float | None = None,
    maximum: float | None = None,
    unset: str | None = None,
    private: bool = False,
    flat: str | None = None,
    stated_at_default: bool = True,
) -> Any:
    """Return a dataclass field with its help text and its range, both ends allowed.

    `text`: one line, with the unit; `unset`: what a default of None stands for, in words;
    `private`: omitted from the public manifest and kept in the owner's record: it says something of
    the data, or how long a search looked; `flat`: the name on the command line and in files, if
    another; `stated_at_default`: whether a manifest states it where it has its default.
    """
    metadata = {
        "help": text,
        "minimum": minimum,
        "maximum": maximum,
        "unset": unset,
        "private": private,
        "flat": flat,
        "stated_at_default": stated_at_default,
    }
    return dataclasses.field(default=default, metadata=metadata)


def reading_option(*, default: Any, text: str) -> Any:
    """Return a dataclass field with its help text; its default speaks for itself."""
    return dataclasses.field(default=default, metadata={"help": text})


class DescribedField(Protocol):
    """A parameter as it is checked: a field of a dataclass, or a flat parameter."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its help text and its range, as `parameter` writes them."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Parameters that mean something together only: one value of one field of a method.

    A subclass is a frozen dataclass with fields made by `parameter`, and a label. A field of a
    method that may hold one of several subclasses is a choice among their labels; one that may hold
    a subclass or None is on or off.
    """

    label: ClassVar[str]
    """What a choice calls it, and what help texts and errors call its fields."""

    def __post_init__(self) -> None:
        """Check every field against its type and range."""
        check_fields(self)


class Spelled(Protocol):
    """A kind of parameter that has a spelling: `parse` reads what `str` writes."""

    @staticmethod
    def parse(text: str) -> Any:
        """Return the value that a text spells."""


def is_spelled(kind: Any) -> TypeGuard[type[Spelled]]:
    """Whether values of this kind are read from text by its `parse`."""
    return isinstance(kind, type) and hasattr(kind, "parse")


_HINTS: dict[type[Any], dict[str, Any]] = {}


def hints_of(owner: type[Any]) -> Mapping[str, Any]:
    """Return the types of the fields of a class, evaluated once."""
    if owner not in _HINTS:
        _HINTS[owner] = get_type_hints(owner)
    return _HINTS[owner]


def options_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that a field may have: those of a union, or the one."""
    is_union = get_origin(hint) in {types.UnionType, Union}
    return get_args(hint) if is_union else (hint,)


def option_classes(hint: Any) -> tuple[type[Options], ...]:
    """Return the classes of options that a field may hold; none where it is an ordinary one."""
    return tuple(
        kind for kind in options_of(hint) if isinstance(kind, type) and issubclass(kind, Options)
    )


def check_fields(owner: Any) -> None:
    """Check every field of a frozen dataclass, and write it back as its type."""
    hints = hints_of(type(owner))
    for item in dataclasses.fields(owner):
        value = checked(getattr(owner, item.name), hints[item.name], item)
        object.__setattr__(owner, item.name, value)


def checked(value: Any, hint: Any, item: DescribedField) -> Any:
    """Return the value of a field as its type, once it is in its range."""
    name, low, high = item.name, item.metadata["minimum"], item.metadata["maximum"]
    options = options_of(hint)
    if value is None and type(None) in options:
        return None
    classes = option_classes(hint)
    if classes:
        return _chosen(value, classes, name)
    kind = next(option for option in options if option is not type(None))
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ParameterError(
                f"{name}={value!r} is not valid. {one_of(value, get_args(kind), verb='Choose')}"
            )
        return value
    if is_spelled(kind):
        return value if isinstance(value, kind) else kind.parse(value)
    value = _converted(value, kind, name)
    if kind is float and not math.isfinite(value):
        raise ParameterError(f"{name}={value} is not a finite number.")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ParameterError(f"{name}={value} is out of range. Choose a value {bounds}.")
    return value


def _chosen(value: Any, classes: tuple[type[Options], ...], name: str) -> Options:
    """Return options as they are."""
    if isinstance(value, classes):
        return value
    wanted = " or ".join(f"{kind.__name__}()" for kind in classes)
    raise ParameterError(f"{name}={value!r} is not a valid set of options. Give {wanted}.")


def _converted(given: Any, kind: Any, name: str) -> Any:
    value = _plain(given)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind is str and isinstance(value, str):
        return value
    raise ParameterError(f"{name}={given!r} has the wrong type; expected {kind.__name__}.")


DIGITS = 5
"""The most significant digits of a published real number: more could hold a message."""


def check_digits(name: str, value: float) -> None:
    """Refuse a real number that is published with more digits than anybody needs."""
    rounded = float(f"{value:.{DIGITS}g}")
    if rounded != value:
        raise ParameterError(
            f"{name}={value} is published and has more than {DIGITS} significant digits. Give "
            f"{rounded:g}."
        )


def check_names(name: str, named: tuple[str, ...], what: str) -> None:
    """Refuse names of columns or layers of which one is empty or stands twice."""
    if len(set(named)) < len(named) or not all(named):
        raise ParameterError(
            f"{name}={named} names a {what} twice or has an empty name. Name each {what} once."
        )


def rounded_down(name: str, value: float) -> float:
    """Return a budget with at most `DIGITS` significant digits, and warn if it had more.

    Less of a budget of privacy or of edits is spent than was allowed, never more.

    >>> rounded_down("epsilon", 6.931)
    6.931
    """
    if float(f"{value:.{DIGITS}g}") == value:
        return value
    given = Decimal(repr(value))
    last = Decimal((0, (1,), given.adjusted() - DIGITS + 1))
    rounded = float(given.quantize(last, ROUND_DOWN))
    warn(
        f"{name}={value} is published and was rounded down to {DIGITS} significant digits: "
        f"{rounded:.{DIGITS}g}"
    )
    return rounded


def _plain(value: Any) -> Any:
    """Return a number of NumPy's as one of Python's; anything else as it is."""
    if isinstance(value, bool | int | float | str):
        return value
    return value.item() if isinstance(value, np.generic) else value


MOST_TEXT = 200
"""So long a published text is at most."""


class Columns(tuple[str, ...]):
    """Names of columns, each once.

    >>> Columns.parse("gender,year"), str(Columns.parse(["gender", "year"]))
    (('gender', 'year'), 'gender,year')
    """

    __slots__ = ()

    @staticmethod
    def parse(given: object) -> Columns:
        """Return the names that a text with commas between them, or a list, gives."""
        named = given.split(",") if isinstance(given, str) else given
        if not isinstance(named, Iterable):
            raise ParameterError(
                f"{given!r} does not name a column. Give one column, or "
                "several separated by commas."
            )
        names = [name.strip() if isinstance(name, str) else name for name in named]
        wrong = [name for name in names if not isinstance(name, str) or not name or "," in name]
        if wrong or not names:
            raise ParameterError(
                f"{wrong[0] if wrong else given!r} is not a valid column name here: it must be "
                "text without a comma. Rename the column."
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"the column {twice!r} is named twice. Name it once.")
        joined = ",".join(names)
        if len(joined) > MOST_TEXT or not joined.isprintable():
            raise ParameterError(
                "column names are published and must be short printable text, but these have "
                f"{len(joined)} characters or unprintable ones. Rename the columns."
            )
        return Columns(names)

    def __str__(self) -> str:
        """Return the text that `Columns.parse` reads."""
        return ",".join(self)


class PerColumn(tuple[tuple[str, str], ...]):
    """A rule for each of some columns, such as the levels of each.

    >>> PerColumn.parse("age=5,10;zip=prefix:3"), str(PerColumn.parse({"age": 3}))
    ((('age', '5,10'), ('zip', 'prefix:3')), 'age=3')
    """

    __slots__ = ()
    repeated = True
    """Whether the flag is given once for each column."""

    @staticmethod
    def parse(given: object) -> PerColumn:
        """Return the rules in a mapping, in a list of ``COLUMN=RULE``, or in a text with ``;``.

        Where a rule has no ``=``, a colon stands for it: ``COLUMN:RULE``.
        """
        if isinstance(given, Mapping):
            pairs = [(str(name), str(rule)) for name, rule in given.items()]
        else:
            listed = given.split(";") if isinstance(given, str) else given
            if not isinstance(listed, Iterable):
                raise ParameterError(f"{given!r} is not COLUMN=RULE. Give one rule per column.")
            texts = [one if isinstance(one, str) else "=".join(map(str, one)) for one in listed]
            split = (one.rpartition("=") if "=" in one else one.partition(":") for one in texts)
            pairs = [(name, rule) for name, _, rule in split]
        for name, rule in pairs:
            if not name or not rule or ";" in f"{name}{rule}":
                raise ParameterError(
                    f"{f'{name}={rule}' if name else rule!r} is not COLUMN=RULE, such as age=3, "
                    "without a semicolon. Give one rule per column."
                )
        names = [name for name, _ in pairs]
        if not names:
            raise ParameterError(
                f"{given!r} has no rule. Give one COLUMN=RULE per column, or leave the option out."
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"the column {twice!r} has two rules. Give one rule per column.")
        return PerColumn(pairs)

    def __str__(self) -> str:
        """Return the text that `PerColumn.parse` reads."""
        return ";".join(f"{name}={rule}" for name, rule in self)


def separate_names(
    given: str | Iterable[str] | None, meaning: Mapping[str, str] = MappingProxyType({})
) -> list[str] | None:
    """Return names of which several may stand in one text, separated by commas; None for None.

    >>> separate_names(["linkage, insider", "matching"]), separate_names("max-degree", {
    ...     "max-degree": "largest-degree"})
    (['linkage', 'insider', 'matching'], ['largest-degree'])
    >>> separate_names(None), separate_names([])
    (None, [])
    """
    if given is None:
        return None
    texts = [given] if isinstance(given, str) else given
    names = (name.strip() for text in texts for name in text.split(","))
    return [meaning.get(name, name) for name in names if name]


class FlatParameter(NamedTuple):
    """One flag, key or column.

    `name`: what it is called; `kind`: its type; `default`: its default, `dataclasses.MISSING` where
    there is none. That of a field of options is None, which says that it was not given;
    ``metadata["unset"]`` shows what the options have; `metadata`: as
    `graphveil.core.parameters.parameter` writes it; `classes`: the names of the classes of options
    that it is a field of.
    """

    name: str
    kind: Any
    default: Any
    metadata: Mapping[str, Any]
    classes: tuple[str, ...] = ()


_FLAT: dict[type[Any], tuple[FlatParameter, ...]] = {}


def flat_parameters(owner: type[Any]) -> tuple[FlatParameter, ...]:
    """Return the flat parameters of a dataclass, collected once: a method, or options."""
    if owner not in _FLAT:
        _FLAT[owner] = _collected(owner)
    return _FLAT[owner]


def _collected(owner: type[Any]) -> tuple[FlatParameter, ...]:
    hints = hints_of(owner)
    flat: list[FlatParameter] = []
    for item in dataclasses.fields(owner):
        classes = option_classes(hints[item.name])
        if classes:
            flat += _flattened(item, classes)
        else:
            made = item.default_factory is not MISSING
            default = None if made else item.default
            flat.append(FlatParameter(_name(item), hints[item.name], default, item.metadata))
    names = [item.name for item in flat]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TypeError(f"{owner.__name__} has two parameters with the flat name {twice[0]}")
    return tuple(flat)


def flat_values(owner: Any) -> dict[str, Any]:
    """Return the flat parameters of a method, for JSON and TOML; None for options not chosen."""
    values = dict(_values(owner))
    return {item.name: values.get(item.name) for item in flat_parameters(type(owner))}


def arguments_of(owner: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method's class: options in place of their flat values.

    None under the name of a field of options says that it was not given.
    """
    values = dict(given)
    for item in flat_parameters(owner):
        if item.name in values and not isinstance(values[item.name], Options):
            values[item.name] = checked(values[item.name], item.kind, item)
    reasons: dict[str, str] = {}
    arguments = _arguments(owner, values, reasons)
    for name, value in values.items():
        if value is not None:
            raise ParameterError(f"{name}={value} {reasons[name]}. Remove it.")
    return arguments


def _name(item: Field[Any]) -> str:
    return item.metadata.get("flat") or item.name


def _switch(options: type[Options]) -> str | None:
    """Return the flat name whose value turns these options on: of the field without a default."""
    required = [_name(item) for item in dataclasses.fields(options) if item.default is MISSING]
    return required[0] if required else None


def _flattened(item: Field[Any], classes: tuple[type[Options], ...]) -> Iterator[FlatParameter]:
    """Yield the choice, then what one class alone has, then what all of them have."""
    if isinstance(item.default, Options) and item.default != type(item.default)():
        raise TypeError(
            f"the default of {item.name} must be an instance of its class with the default values"
        )
    if len(classes) > 1:
        labels = tuple(options.label for options in classes)
        yield FlatParameter(item.name, Literal[labels], _default_label(item), item.metadata)
    elif _switch(classes[0]) is None:
        unset = "no" if item.default is None else "yes"
        metadata = {**item.metadata, "unset": unset}
        yield FlatParameter(item.name, bool | None, None, metadata)
    inner = [{flat.name: flat for flat in flat_parameters(options)} for options in classes]
    shared = set(inner[0]).intersection(*inner[1:]) if len(classes) > 1 else set()
    for options, flats in zip(classes, inner, strict=True):
        yield from (_of(options, flat) for name, flat in flats.items() if name not in shared)
    for name in inner[0]:
        if name in shared:
            yield _merged(classes, [flats[name] for flats in inner])


def _of(options: type[Options], flat: FlatParameter) -> FlatParameter:
    """Return a parameter of options as one of their owner, which may omit it."""
    named = flat.classes or (options.__name__,)
    text = flat.metadata["help"] if flat.classes else f"{options.label}: {flat.metadata['help']}"
    metadata = {**flat.metadata, "help": text, "unset": _unset(flat)}
    return FlatParameter(flat.name, flat.kind | None, None, metadata, named)


def _merged(classes: tuple[type[Options], ...], flats: list[FlatParameter]) -> FlatParameter:
    """Return a parameter that all classes of a choice have, each with a default of its own."""
    first = flats[0]
    unset = {options.label: _unset(flat) for options, flat in zip(classes, flats, strict=True)}
    one = len(set(unset.values())) == 1
    words = _unset(first) if one else ", ".join(f"{u} with {name}" for name, u in unset.items())
    named = first.classes or tuple(options.__name__ for options in classes)
    metadata = {**first.metadata, "unset": words}
    return FlatParameter(first.name, first.kind | None, None, metadata, named)


def _unset(flat: FlatParameter) -> str:
    if flat.default is None or flat.default is MISSING:
        return str(flat.metadata["unset"])
    is_float = isinstance(flat.default, float)
    return f"{flat.default:g}" if is_float else str(flat.default)


def _values(owner: Any) -> Iterator[tuple[str, Any]]:
    hints = hints_of(type(owner))
    for item in dataclasses.fields(owner):
        value = getattr(owner, item.name)
        classes = option_classes(hints[item.name])
        if len(classes) > 1:
            yield item.name, value.label
        elif classes and _switch(classes[0]) is None:
            yield item.name, value is not None
        elif not classes:
            yield _name(item), str(value) if is_spelled(type(value)) else value
        if classes and value is not None:
            yield from _values(value)


def _arguments(owner: type[Any], values: dict[str, Any], reasons: dict[str, str]) -> dict[str, Any]:
    """Take the arguments of a class out of the values; write why others may not be given."""
    hints = hints_of(owner)
    arguments = {}
    for item in dataclasses.fields(owner):
        if option_classes(hints[item.name]):
            arguments[item.name] = _options(item, hints[item.name], values, reasons)
        elif _name(item) in values:
            value = values.pop(_name(item))
            if value is not None or not issubclass(owner, Options):
                arguments[item.name] = value
    return arguments


def _options(
    item: Field[Any], hint: Any, values: dict[str, Any], reasons: dict[str, str]
) -> Options | None:
    """Return the options of one field."""
    classes = option_classes(hint)
    value = values.pop(item.name, None)
    if isinstance(value, Options):
        _refuse(
            classes,
            (f"cannot be combined with {item.name}, which already sets all of its options"),
            reasons,
        )
        return checked(value, hint, item)  # type: ignore[no-any-return]
    chosen: type[Options] | None = None
    if len(classes) > 1:
        label = _default_label(item) if value is None else value
        chosen = next(options for options in classes if options.label == label)
    elif _is_on(item, hint, value, values):
        chosen = classes[0]
    for options in classes:
        if options is not chosen:
            _refuse([options], _why_not(item, options, chosen), reasons)
    return None if chosen is None else chosen(**_arguments(chosen, values, reasons))


def _default_label(item: Field[Any]) -> Any:
    return item.default.label if isinstance(item.default, Options) else item.default


def _is_on(item: Field[Any], hint: Any, value: Any, values: Mapping[str, Any]) -> bool:
    """Whether options that a field may hold or not are on."""
    switch = _switch(option_classes(hint)[0])
    if switch is not None:
        checked(value, hint, item)
        return values.get(switch) is not None
    return item.default is not None if value is None else bool(value)


def _why_not(item: Field[Any], options: type[Options], chosen: type[Options] | None) -> str:
    if chosen is not None:
        return f"belongs to {item.name}={options.label}, not to {chosen.label}"
    switch = _switch(options)
    if switch is not None:
        return f"belongs to {options.label}, which requires {switch}"
    return f"belongs to {options.label}, which is off"


def _refuse(classes: Iterable[type[Options]], why: str, reasons: dict[str, str]) -> None:
    for options in classes:
        reasons.update((flat.name, why) for flat in flat_parameters(options))


OF_GENERALIZE = MappingProxyType(
    dict.fromkeys(
        ("diverse", "close"),
        "Conditions on attached columns are kept by the method generalize alone, which suppresses "
        "values if no levels are given.",
    )
)
"""Parameters that people expect of every method of tables, and where they are."""


def of_generalize_alone(method: type[Any], names: Iterable[str]) -> None:
    """Refuse parameters that the method generalize alone has."""
    own = {item.name for item in dataclasses.fields(method)}
    for name in names:
        if name in OF_GENERALIZE and name not in own:
            raise ParameterError(
                f"{method.__name__} has no parameter {name!r}. {OF_GENERALIZE[name]}"
            )


def unknown_parameter(method: str, name: str, known: Iterable[str]) -> ParameterError:
    """Return the error of a parameter that a method does not have.

    >>> print(unknown_parameter("suppress-k", "kk", ["k"]))
    suppress-k has no parameter 'kk'. Did you mean k? Parameters: k.
    """
    elsewhere = f"{OF_GENERALIZE[name]} " if name in OF_GENERALIZE else did_you_mean(name, known)
    return ParameterError(
        f"{method} has no parameter {name!r}. {elsewhere}Parameters: {', '.join(known)}."
    )


MOST_DENOMINATOR = 10_000
"""Of a share that is published, so that it says little."""

_FRACTION = re.compile(r"0|1|[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")


def share_in(theta: str) -> Fraction:
    """Return the share of a class that a text such as ``2/3`` writes.

    >>> share_in("2/3")
    Fraction(2, 3)
    """
    if not _FRACTION.fullmatch(theta):
        raise ParameterError(f"theta={theta!r} is not a fraction. Give one such as 1/2.")
    share = Fraction(theta)
    if share.denominator > MOST_DENOMINATOR:
        raise ParameterError(
            f"theta={theta} has a denominator above {MOST_DENOMINATOR}. Give a "
            "fraction with a smaller one."
        )
    if str(share) != theta or not Fraction(1, 2) <= share <= 1:
        raise ParameterError(
            f"theta={theta} is outside [1/2, 1] or not in lowest terms. Give a fraction such as "
            "1/2 or 2/3."
        )
    return share


def check_class_size(k: int) -> None:
    """Refuse a smallest class below 1."""
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give the size of the smallest class, at least 1.")
