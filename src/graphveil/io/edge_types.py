"""The edge types of a file, and its layers: one per type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.text import counted
from graphveil.data.codes import binned
from graphveil.data.columns import Ties, named_columns
from graphveil.data.csr import Dropped, neighbor_lists
from graphveil.data.layers import TIES, Layer
from graphveil.io.formats import NetworkOptions
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedKinds,
)
from graphveil.io.source import Source, shown

MOST_SHOWN = 8
"""How many edge types a message lists."""


def parsed_kinds(source: Source, named: Sequence[str | None]) -> ParsedKinds:
    """Return the kinds of edges that a file names, one name per edge."""
    kept = [name.strip() for name in named if name is not None]
    missing = len(named) - len(kept) + kept.count("")
    if missing:
        row = next(at for at, name in enumerate(named, start=1) if not (name or "").strip())
        source.refuse(
            f"{counted(missing, 'edge', 'has')} no type, starting with row {row}. Add "
            "the type, or remove these edges."
        )
    return ParsedKinds.of(kept)


class ReadLayers(NamedTuple):
    """What the edges of a file became; `symmetrized`: how many arcs lost their direction."""

    layers: tuple[Layer, ...]
    dropped: Dropped
    symmetrized: int
    left_out: tuple[str, ...]


def layers_of(source: Source, arcs: ParsedArcs, n: int, options: NetworkOptions) -> ReadLayers:
    """Return the layers of a file."""
    # The type of every arc; numbers in bins become those of their bins.
    kinds = _grouped(source, arcs.kinds, options)
    # The types that are asked for, and those that have no direction.
    every = (TIES,) if kinds is None else kinds.names or (TIES,)
    asked, plain = (
        _asked_kind(source, flag, getattr(options, flag), every, named=kinds is not None)
        for flag in ("kinds", "undirected")
    )
    # One layer per type, and the sum of what was dropped.
    chosen = [name for name in every if not asked or name in asked]
    layers, counts, symmetrized = [], np.zeros(3, dtype=np.int64), 0
    for name in chosen:
        of_kind = slice(None) if kinds is None else kinds.codes == every.index(name)
        how = replace(options, undirected=plain)
        layer, dropped, forgotten = _layer(source, arcs, of_kind, n, how, name)
        layers.append(layer)
        counts += dropped
        symmetrized += forgotten
    left_out = tuple(f"edges of type {name}" for name in every if name not in chosen)
    return ReadLayers(tuple(layers), Dropped(*counts.tolist()), symmetrized, left_out)


def _grouped(
    source: Source, kinds: ParsedKinds | None, options: NetworkOptions
) -> ParsedKinds | None:
    """Return the kinds, where numbers are grouped those of the groups."""
    column = options.kind_column
    rule = None if column is None else options.bins.get(column)
    if kinds is None or rule is None:
        return kinds
    try:
        numbers = np.array([float(name) for name in kinds.names])
    except ValueError:
        source.refuse(
            f"the edge types, {_listed_kinds(kinds.names)}, are not numbers, so they "
            "cannot be grouped."
        )
    groups = binned(pa.array(numbers[kinds.codes]), rule, name=str(column))
    return parsed_kinds(source, groups.to_pylist())


def _asked_kind(
    source: Source, flag: str, asked: Sequence[str], every: Sequence[str], *, named: bool
) -> tuple[str, ...]:
    """Return the kinds that an option names, one by one or with commas between."""
    names = named_columns(asked, every)
    for name in names:
        if not named:
            source.refuse(
                f"{option(flag, name)} names an edge type, but no column with edge types is "
                f"set. Use {option('kind_column')}."
            )
        if name not in every:
            source.refuse(
                f"no edges of type {shown(name)}. {did_you_mean(name, every)}Types: "
                f"{_listed_kinds(every)}."
            )
    return names


def _layer(
    source: Source,
    arcs: ParsedArcs,
    of_kind: slice | NDArray[np.bool_],
    n: int,
    options: NetworkOptions,
    name: str,
) -> tuple[Layer, Dropped, int]:
    """Return the edges of one kind, what was dropped, and how many arcs lost their direction."""
    # Directions are kept: all edges of the layer must then have one.
    ends = [arcs.source[of_kind], arcs.target[of_kind]]
    what = "" if arcs.kinds is None else f"{name}: "
    one_way = None if arcs.one_way is None else arcs.one_way[of_kind]
    said = arcs.directed if one_way is None or one_way.any() else False
    plain = said is False or name in options.undirected
    try:
        if options.directed == "keep" and not plain:
            if one_way is not None and not one_way.all():
                source.refuse(
                    f"{what}some edges are directed and others are not. Mark all of them as "
                    f"directed, or drop directions with {option('directed', 'symmetrize')}."
                )
            return *Layer.assemble(*ends, n=n, name=name), 0
        # Otherwise edges have none: both ends list them.
        lists, dropped = neighbor_lists([end.copy() for end in ends], n)
        layer = Layer(name=name, directed=False, indptr=lists.indptr, indices=lists.indices)
    except DataError as error:
        source.refuse(error.message.text)
    if one_way is not None:  # edges stand there both ways, as the file does not
        dropped = dropped._replace(reciprocal_pairs=dropped.reciprocal_pairs * int(one_way.any()))
    # Directions that matter are refused, unless they may be dropped.
    ties = Ties(n=layer.n_ties, mutual=dropped.reciprocal_pairs, said=said, names=arcs.names)
    if not ties.matter or name in options.undirected:
        return layer, dropped, 0
    if options.directed == "refuse":
        source.refuse(f"{what}{ties.refusal} To keep directions, use {option('directed', 'keep')}.")
    return layer, dropped, ties.n - ties.mutual


def _listed_kinds(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(shown, names[:MOST_SHOWN])) + more
