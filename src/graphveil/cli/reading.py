"""How a command reads its input: flags in, container out, the reading report on stderr."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from graphveil import io
from graphveil.cli.console import say
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.progress import stage

AnyOptions = io.GraphOptions | io.BipartiteOptions | io.TableOptions


class Reader(NamedTuple):
    """The options of a kind of data, and the function of `graphveil.io` that takes them."""

    options: type[AnyOptions]
    load: str


READERS: dict[type[Graph | Bipartite | Table], Reader] = {
    Graph: Reader(io.GraphOptions, "load_graph"),
    Bipartite: Reader(io.BipartiteOptions, "load_bipartite"),
    Table: Reader(io.TableOptions, "load_table"),
}


def read_as(options: AnyOptions) -> type[Graph | Bipartite | Table]:
    """Return the kind of data that these options read."""
    return next(kind for kind, reader in READERS.items() if reader.options is type(options))


def read_input(
    path: Path,
    options: AnyOptions,
    *,
    quiet: bool = False,
    check: Callable[[Data], None] | None = None,
) -> Data:
    """Return the container in a file; what was dropped is said on stderr.

    Parameters
    ----------
    path, options
        The file, and how to read it.
    quiet
        Whether nothing is said.
    check
        Refuses data that is of no use; then nothing is said but its error.
    """
    load = getattr(io, READERS[read_as(options)].load)
    with stage(f"reading {path.name}"):
        data, report = load(path, options)
    if check is not None:
        check(data)
    if not quiet:
        for line in report.lines():
            say(f"{path.name}: {line}")
    checked: Data = data
    return checked


def as_json(options: AnyOptions) -> dict[str, Any]:
    """Return reading options for the private record; the names of files stay out of it."""
    kept = dataclasses.asdict(options)
    return {name: value for name, value in kept.items() if not isinstance(value, Path)}


def from_json(defaults: AnyOptions, kept: dict[str, Any]) -> AnyOptions:
    """Return the reading options of a private record; unknown names are left out."""
    names = {item.name for item in dataclasses.fields(defaults)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept.items()
        if name in names
    }
    return dataclasses.replace(defaults, **values)
