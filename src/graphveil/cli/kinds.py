"""Flags for what a file holds: the kind of its data, and how that kind is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from cyclopts import App, Group

from graphveil.cli.console import say
from graphveil.cli.flags import INPUT_FORMAT, READING_GROUP, flag, flags_of, not_for, values_for
from graphveil.core.errors import InputError, UsageError
from graphveil.core.questions import Problem
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.kinds import KINDS, Container, kind_of
from graphveil.io import AnyOptions, BipartiteOptions, GraphOptions, columns_of, load, options_of
from graphveil.io.formats import Header
from graphveil.io.text.guessed_kind import (
    PAIRS,
    PROBABLY_A_TABLE,
    USE_A_TABLE,
    Columns,
    Guess,
    first,
)
from graphveil.methods.registry import METHODS, OUTSIDE, methods_for

if TYPE_CHECKING:
    from graphveil.methods.base import Anonymizer

OF_NETWORKS = ("known", "attach", "node_column", "kind_column")
"""Flags of commands and readers that concern people's attributes, or kinds of edges."""

OF_TABLES = ("known", "attach", "label")
"""Flags of methods that give roles to the columns of a table."""


NETWORKS, TABLES, SEVERAL = (
    Group(title, sort_key=place)
    for place, title in enumerate(
        ("For networks, if", "For tables and user-item data, if", "For several kinds, if")
    )
)
"""Groups of methods on a page of help, by the data that they take."""


def command_of_methods(
    app: App, module: str, name: str, subcommand: Callable[[str], Callable[..., int]]
) -> Any:
    """Return a command, or the subcommand of a method; only ``overview`` imports every method."""
    if name in METHODS or name in OUTSIDE:
        return subcommand(name)
    if name not in {"command", "overview"}:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    for methods in (METHODS, OUTSIDE):
        for each in methods:
            page: dict[str, Any] = {}
            if name == "overview":
                method = methods[each]
                page = {"help": method.card.when or method.card.promise, "group": _group_of(method)}
            app.command(f"{module}:{each}", name=each, **page)
    return app


@contextmanager
def naming_methods(kinds: tuple[Container, ...]) -> Iterator[None]:
    """Add to the refusal of a file of a kind that a method does not take the methods that do."""
    try:
        yield
    except InputError as error:
        text = error.message.text
        fitting = [Table] if USE_A_TABLE in text else [Graph, Bipartite] if PAIRS in text else []
        others = [kind for kind in fitting if kind not in kinds]
        if not others or error.asked:
            raise
        raise InputError(f"{text.removesuffix('.')}. {methods_for(*others)}") from None


def _group_of(method: type[Anonymizer[Any]]) -> Group:
    """Return the group of a method on a page of help, by the kinds of data that it takes."""
    networks = {Graph, Network} & {*method.accepts}
    if networks == {*method.accepts}:
        return NETWORKS
    return SEVERAL if method.accepts[0] in networks else TABLES


def reading_flags(kinds: tuple[Container, ...]) -> list[inspect.Parameter]:
    """Return `--kind`, and the flags of the readers of these kinds, each once."""
    readers = [options_of(kind_of(kind)) for kind in kinds]
    names = tuple(kind_of(kind).name for kind in kinds)
    kind = flag(
        "kind",
        Literal[names] | None,
        "Kind of data in the file. Default: judged by the column names (source and target, user "
        f"and item), otherwise {kind_of(kinds[0]).words}.",
        default=None,
        group=READING_GROUP,
    )
    if len(readers) == 1:
        own = flags_of(readers[0], READING_GROUP)
        if kinds == (Network,):  # whose methods keep directions where nobody says otherwise
            own = [item.replace(default=None) if item.name == "directed" else item for item in own]
        return [kind, *own]
    every = {item.name: item for reader in readers for item in flags_of(reader, READING_GROUP)}
    return [kind, *(item.replace(default=None) for item in every.values())]


def reading_options(kinds: tuple[Container, ...], path: Path, given: dict[str, Any]) -> AnyOptions:
    """Return the options to read the file with, and take those of every kind out.

    Where `--kind` is not given, flags that belong to one kind alone and roles of columns say it,
    else the names of the columns, else, where they have none, it is the first of the kinds.
    """
    asked = given.pop("kind", None)
    if asked:
        container = KINDS[asked].container
    elif Table in kinds and Network not in kinds and any(given.get(role) for role in OF_TABLES):
        container = Table
    elif Network in kinds and _says_network(given, kinds):
        container = Network
        if kinds == (Network,):  # whose methods keep directions without being asked
            _check_a_graph(path, {**given, "directed": None}, Network)
    else:
        others = tuple(kind for kind in kinds if kind is not Network)
        if others == (Graph,):
            _check_a_graph(path, given, Graph)
        container = _kind(path, given, _fitting(others, given))
    options = options_of(kind_of(container))
    values = values_for(options, given)
    for other in map(kind_of, kinds):
        for name in values_for(options_of(other), given):
            raise not_for(name, container, other.name)
    return options(**values)


def _says_network(given: dict[str, Any], kinds: tuple[Container, ...]) -> bool:
    """Whether flags concern attributes or directions, or the list of nodes has further columns."""
    if any(given.get(name) for name in OF_NETWORKS) or given.get("directed") == "keep":
        return True
    if given.get("nodes") and len(_named_nodes(given)) > 1:
        return True
    return _fitting(kinds, given) == (Network,)


def _named_nodes(given: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns of the list of nodes."""
    return columns_of(given["nodes"], None, header="yes", encoding=given.get("encoding")).names


def _fitting(kinds: tuple[Container, ...], given: dict[str, Any]) -> tuple[Container, ...]:
    """Return the kinds whose readers take all the reading flags that were given, or all kinds."""
    flags = {
        kind: {item.name for item in flags_of(options_of(kind_of(kind)), READING_GROUP)}
        for kind in kinds
    }
    every = set().union(*flags.values())
    asked = {name for name in every if given.get(name) is not None}
    return tuple(kind for kind in kinds if asked <= flags[kind]) or kinds


def _kind(path: Path, given: dict[str, Any], kinds: tuple[Container, ...]) -> Container:
    """Return the kind that the columns of a file say, the only one, or the first."""
    if len(kinds) == 1:
        return kinds[0]
    columns = _columns(path, given)
    guess = columns.guess(kinds)
    if guess.kind is not None:
        if columns.kind is guess.kind is not kinds[0]:
            say(f"{path.name}: read as {kind_of(guess.kind).words} (by its column names)")
        return guess.kind
    ways = " or ".join(f"--kind {kind_of(kind).name}" for kind in kinds)
    if guess.probably is not None:
        _ask_as_of_a_table(path, given, guess, f" (give {ways})" if columns.names else "")
    raise UsageError(f"{path.name}: {guess.found}. Give {ways}.")


def _ask_as_of_a_table(path: Path, given: dict[str, Any], guess: Guess, ways: str) -> NoReturn:
    """Refuse a file of many columns that may be a table, with all that would be asked then."""
    options = options_of(kind_of(Table))(**values_for(options_of(kind_of(Table)), dict(given)))
    problems = [Problem("", "kind", "table", f"{guess.found}{ways}", PROBABLY_A_TABLE)]
    try:
        load(path, options)
    except InputError as error:
        problems += error.asked
    raise InputError.asking(problems, vars(options), f"{path.name}: ")


def _columns(path: Path, given: dict[str, Any]) -> Columns:
    header: Header = given.get("header") or "auto"
    return columns_of(
        path,
        given.get(INPUT_FORMAT),
        header=header,
        delimiter=given.get("delimiter"),
        encoding=given.get("encoding"),
    )


def _check_a_graph(path: Path, given: dict[str, Any], container: Container) -> None:
    """Refuse users and items, as the columns are named, unless a flag of graphs alone is given."""
    of_graphs = {item.name: item.default for item in fields(GraphOptions)}
    for item in fields(BipartiteOptions):
        of_graphs.pop(item.name, None)
    if any(given.get(name) not in (None, default) for name, default in of_graphs.items()):
        return
    names, kind, *_ = _columns(path, given)
    if kind is Bipartite:
        raise UsageError(
            f"{path.name}: its columns ({first(names)}) name users and items, but this method "
            "reads a graph. Choose a method for user-item data, or give "
            f"--kind {kind_of(container).name} if both columns hold people. "
            f"{methods_for(Bipartite)}"
        )
