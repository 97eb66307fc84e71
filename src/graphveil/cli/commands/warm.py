"""`graphveil warm`: what usual runs compile, compiled beforehand, as for an image."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import numpy as np
from cyclopts import Parameter

from graphveil import io
from graphveil.cli.console import say
from graphveil.core.errors import GraphveilError, GraphveilWarning, UsageError
from graphveil.core.parameters import flat_parameters
from graphveil.data import Bipartite, Data, Graph, Layer, Network, Table
from graphveil.io import datasets
from graphveil.io.datasets.generated import generated_register
from graphveil.measures import MEASURES, cascade, measure
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer

NETWORK: Final = "copenhagen-calls"
ROWS: Final = "spect-heart"
TABLE: Final = "adult-sample"
TABLE_ROWS = 100
PEOPLE = 200
"""People of the drawn register: enough for a class of each of `SIZES`."""
MEASURE = "measure"
SIZES = (2, 5, 25)
"""The smallest classes that are tried: what has no work to do is not compiled."""
MORE: dict[str, tuple[Any, ...]] = {
    "k": SIZES,
    "distance": (1, 2),
    "goal": ("full", "budget:0.05"),
    "chunk_rows": (64,),
    "anneal": (0.3,),
    "rounds": (1,),
    "on_interrupt": (),
}
"""Values of parameters that are not choices and bring kernels of their own; none for one that has
choices and brings no kernel."""
SHORT: dict[str, Any] = {"iterations": 20_000}
"""Parameters that make runs short, and leave what they compile as it is."""


def command(
    *methods: Annotated[str, Parameter(help="Methods to compile, or measure. Default: all.")],
) -> int:
    """Compile in advance what common runs would compile on first use.

    Use it for container images, or for a folder set by NUMBA_CACHE_DIR.

    Example: graphveil warm k-degree measure
    """
    known = [*METHODS, MEASURE]
    for name in methods:
        if name not in known:
            raise UsageError(
                f"no method {name!r} to compile. Use one or more of {', '.join(known)}."
            )
    from graphveil.core.kernels.tiers import precompile  # noqa: PLC0415  heavy: not for its help

    precompile()
    for name in methods or known:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            _run_all(name, _measurings() if name == MEASURE else _anonymizations(METHODS[name]))
        say(f"{name}: compiled")
    return 0


def _run_all(name: str, runs: Iterator[Callable[[], object]]) -> None:
    """Make all runs; some may be refused, as choices exclude each other, but not every one."""
    done, refused = 0, None
    for run in runs:
        try:
            run()
            done += 1
        except GraphveilError as error:
            refused = error
    if not done:
        raise UsageError(
            f"{name}: nothing was compiled, because every run was refused; the last message "
            f"was: {refused} Please report this."
        )


def _measurings() -> Iterator[Callable[[], object]]:
    graph = datasets.load(NETWORK)
    for name, distance in product(MEASURES, (1, 2)):
        yield partial(measure, graph, measure=name, distance=distance)
        yield partial(cascade, graph, measure=name, distance=distance)
    yield partial(measure, graph, measure="count", phi=5.0)


def _anonymizations(method: type[Anonymizer[Any]]) -> Iterator[Callable[[], object]]:
    """Yield runs of a method with its choices, in pairs."""
    short = {name: value for name, value in SHORT.items() if name in _flats(method)}
    for data in _data_for(method):
        for parameters in _variations(method):
            yield partial(_anonymize, method, short | parameters, data)
        if method.card.nests:
            yield partial(_nest, method, data)
        if "rows" in method.sources:
            yield partial(_on_disk, method, data)


def _anonymize(method: type[Anonymizer[Any]], parameters: dict[str, Any], data: Data) -> None:
    method.from_parameters({**method.card.example, **parameters}).anonymize(data, seed=1)


def _nest(method: type[Anonymizer[Any]], data: Data) -> None:
    with TemporaryDirectory() as folder:
        first, second = (method.from_parameters({**method.card.example, "k": k}) for k in SIZES[:2])
        first.anonymize(data, seed=1).write(Path(folder, "first"))
        nested: dict[str, Any] = {"nested_in": Path(folder, "first")}
        second.anonymize(data, seed=1, **nested)


def _on_disk(method: type[Anonymizer[Any]], data: Bipartite) -> None:
    """Run in chunks that are cut as on the disk and on executors."""
    from graphveil.engines import LocalEngine  # noqa: PLC0415  heavy: not for its help
    from graphveil.io.readers.columnar import write_parquet  # noqa: PLC0415  as above
    from graphveil.verbs.anonymize import anonymize_rows  # noqa: PLC0415  as above

    chunked = method.from_parameters({**method.card.example, "chunk_rows": 64})
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        write_parquet(data.to_lists(), path)
        reading = io.BipartiteOptions(items="things")
        anonymize_rows(
            chunked, path, Path(folder, "out"), engine=LocalEngine(jobs=1), reading=reading
        )


def _data_for(method: type[Anonymizer[Any]]) -> Iterator[Any]:
    """Yield data of each kind that a method takes; few rows of a table, since these are quick."""
    for kind in method.accepts:
        if method.accepts[0] is Bipartite and kind is not Bipartite:
            continue  # it becomes features, which are tried anyway
        if kind is Table:
            yield datasets.load(TABLE).permuted(np.arange(TABLE_ROWS))
        elif kind is Network:
            yield Network((Layer.of(datasets.load(NETWORK)),))
            yield Network(generated_register(PEOPLE, seed=1).layers[:1])  # which is directed
        else:
            yield datasets.load(NETWORK if kind is Graph else ROWS)


def _variations(method: type[Anonymizer[Any]]) -> Iterator[dict[str, Any]]:
    """Yield parameters: every choice with every other one."""
    values = {name: MORE.get(name, _choices(kind)) for name, kind in _flats(method).items()}
    yield {}
    for one, other in combinations([name for name, some in values.items() if some], 2):
        for mine, theirs in product(values[one], values[other]):
            yield {one: mine, other: theirs}


def _flats(method: type[Anonymizer[Any]]) -> dict[str, Any]:
    return {flat.name: flat.kind for flat in flat_parameters(method)}


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the choices of a type; none where it is a number or a text."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if kind is bool:
        return (False, True)
    return tuple(choice for part in get_args(kind) for choice in _choices(part))
