"""Options as types in Python, flat everywhere else: flags, configuration, manifests, sweeps.

A field that may hold one of several classes of options becomes the name of one of them and the
fields of all; one that may hold a class or None becomes a yes or no and the fields of the class,
or the fields alone where one of them has no default: giving it turns the options on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field
from typing import Any, Literal, NamedTuple

from graphveil.errors import ParameterError
from graphveil.parameters import Options, checked, hints_of, is_spelled, option_classes


class FlatParameter(NamedTuple):
    """One flag, key or column.

    Parameters
    ----------
    name
        What it is called.
    kind
        Its type.
    default
        Its default, `dataclasses.MISSING` where there is none. That of a field of options is None,
        which says that it was not given; ``metadata["unset"]`` shows what the options have.
    metadata
        As `graphveil.parameters.parameter` writes it.
    classes
        The names of the classes of options that it is a field of.
    """

    name: str
    kind: Any
    default: Any
    metadata: Mapping[str, Any]
    classes: tuple[str, ...] = ()


def flat_parameters(owner: type[Any]) -> tuple[FlatParameter, ...]:
    """Return the flat parameters of a dataclass: a method, options, or reading options.

    Examples
    --------
    >>> from graphveil.methods import SuppressK
    >>> [item.name for item in flat_parameters(SuppressK)][:4]
    ['k', 'algorithm', 'seed_order', 'beta']
    """
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
        raise TypeError(f"{owner.__name__} has two parameters of the flat name {twice[0]}")
    return tuple(flat)


def flat_values(owner: Any) -> dict[str, Any]:
    """Return every flat parameter of a method, as JSON and TOML can hold them.

    Those of options that were not chosen are None.

    Examples
    --------
    >>> from graphveil.methods import SmoothK
    >>> values = flat_values(SmoothK(k=2))
    >>> values["algorithm"], values["seed_order"], values["beta"], values["theta"]
    ('greedy', 'auto', None, '1/2')
    """
    values = dict(_values(owner))
    return {item.name: values.get(item.name) for item in flat_parameters(type(owner))}


def arguments_of(owner: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method that flat values, or options as objects, stand for.

    Parameters
    ----------
    owner
        The class of the method.
    given
        Values by flat name, or options by the name of their field. None under the name of a field
        of options says that it was not given.

    Raises
    ------
    ParameterError
        Where a value is out of range, or belongs to options that were not chosen.

    Examples
    --------
    >>> from graphveil.methods import SmoothK
    >>> arguments_of(SmoothK, {"k": 2, "chunk_rows": 100})["chunks"]
    Chunks(rows=100, order='minhash', rounds=0)
    """
    values = dict(given)
    for item in flat_parameters(owner):
        if item.name in values and not isinstance(values[item.name], Options):
            values[item.name] = checked(values[item.name], item.kind, item)
    reasons: dict[str, str] = {}
    arguments = _arguments(owner, values, reasons)
    for name, value in values.items():
        if value is not None:
            raise ParameterError(f"{name}={value} {reasons[name]}. Leave it out.")
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
        raise TypeError(f"the default of {item.name} is not its class with its own defaults")
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
    """Return a parameter of options as one of their owner, which may leave it out."""
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
        _refuse(classes, f"stands beside {item.name}, which is given as a whole", reasons)
        return checked(value, hint, item)  # type: ignore[no-any-return]
    chosen: type[Options] | None = None
    if len(classes) > 1:
        chosen = _labeled(classes, _default_label(item) if value is None else value)
    elif _is_on(item, hint, value, values):
        chosen = classes[0]
    for options in classes:
        if options is not chosen:
            _refuse([options], _why_not(item, options, chosen), reasons)
    return None if chosen is None else chosen(**_arguments(chosen, values, reasons))


def _default_label(item: Field[Any]) -> Any:
    return item.default.label if isinstance(item.default, Options) else item.default


def _labeled(classes: tuple[type[Options], ...], label: str) -> type[Options]:
    return next(options for options in classes if options.label == label)


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
        return f"is about {options.label} and needs {switch}"
    return f"is of the {options.label}, which is off"


def _refuse(classes: Iterable[type[Options]], why: str, reasons: dict[str, str]) -> None:
    for options in classes:
        reasons.update((flat.name, why) for flat in flat_parameters(options))
