"""`graphveil warm`: every kernel compiled beforehand, for images and clusters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import numpy as np
from cyclopts import Parameter

from graphveil import datasets
from graphveil.anonymizer import Anonymizer
from graphveil.cli.console import say
from graphveil.data import Graph, Table
from graphveil.errors import GraphveilError, GraphveilWarning, UsageError
from graphveil.flat import flat_parameters
from graphveil.measures import MEASURES, cascade, measure
from graphveil.methods import METHODS

NETWORK: Final = "copenhagen-calls"
ROWS: Final = "spect-heart"
TABLE: Final = "adult-sample"
TABLE_ROWS = 100
MEASURE = "measure"
SIZES = (2, 5, 25)
"""The smallest classes that are tried: what has no work to do is not compiled."""
MORE: dict[str, tuple[Any, ...]] = {
    "k": SIZES,
    "chunk_rows": (64,),
    "anneal": (0.3,),
    "rounds": (1,),
}
"""Values of parameters that are no choices and bring kernels of their own."""


def command(
    *methods: Annotated[str, Parameter(help="Methods, or measure. All without this.")],
) -> int:
    """Compile beforehand what runs compile when they first need it.

    For the image of a container, or a folder that machines of one kind share: name it in
    NUMBA_CACHE_DIR. The runs that do it are on data that ships with graphveil.

    Example: graphveil warm k-degree measure
    """
    known = [*METHODS, MEASURE]
    for name in methods:
        if name not in known:
            raise UsageError(f"no method {name!r} to compile. Use some of {', '.join(known)}.")
    for name in methods or known:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            _warm_measures() if name == MEASURE else _warm_method(METHODS[name])
        say(f"{name}: compiled")
    return 0


def _warm_measures() -> None:
    graph = datasets.load(NETWORK)
    for name, distance in product(MEASURES, (1, 2)):
        try:
            measure(graph, measure=name, distance=distance)
            cascade(graph, measure=name, distance=distance)
        except GraphveilError:
            continue  # a measure that knows no such distance
    measure(graph, measure="count", phi=5.0)


def _warm_method(method: type[Anonymizer[Any]]) -> None:
    """Run a method with its choices, in pairs."""
    data = _data_for(method)
    for parameters in _variations(method):
        try:
            anonymizer = method.from_parameters({**method.example, **parameters})
            anonymizer.anonymize(data, seed=1)
        except GraphveilError:
            continue  # choices that exclude each other, or data that is too small
    if method.nests:
        with TemporaryDirectory() as folder:
            first, second = (method.from_parameters({**method.example, "k": k}) for k in SIZES[:2])
            first.anonymize(data, seed=1).write(Path(folder, "first"))
            nested: dict[str, Any] = {"nested_in": Path(folder, "first")}
            second.anonymize(data, seed=1, **nested)


def _data_for(method: type[Anonymizer[Any]]) -> Any:
    """Return data of the kind that a method takes; few rows of a table, since these are quick."""
    if method.accepts is Table:
        return datasets.load(TABLE).permuted(np.arange(TABLE_ROWS))
    return datasets.load(NETWORK if method.accepts is Graph else ROWS)


def _variations(method: type[Anonymizer[Any]]) -> Iterator[dict[str, Any]]:
    """Yield parameters: every choice with every other one."""
    flats = {flat.name: flat for flat in flat_parameters(method)}
    values = {name: MORE.get(name, _choices(flat.kind)) for name, flat in flats.items()}
    yield {}
    for one, other in combinations([name for name, some in values.items() if some], 2):
        for mine, theirs in product(values[one], values[other]):
            yield {one: mine, other: theirs}


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the choices of a type; none where it is a number or a text."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if kind is bool:
        return (False, True)
    return tuple(choice for part in get_args(kind) for choice in _choices(part))
