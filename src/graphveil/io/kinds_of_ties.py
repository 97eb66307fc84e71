"""Ties of several kinds out of a file: a layer a kind, each directed or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.bins import binned
from graphveil.data.columns import named_columns
from graphveil.data.csr import Dropped, neighbor_lists
from graphveil.data.directions import Ties
from graphveil.data.layers import TIES, Layer
from graphveil.errors import DataError, did_you_mean, option
from graphveil.io.options import NetworkOptions
from graphveil.io.parsed import ParsedArcs, ParsedKinds
from graphveil.io.source import Source, shown
from graphveil.lazy import lazy_module

pa = lazy_module("pyarrow")

MOST_SHOWN = 8
"""So many kinds of ties stand in a message."""


def parsed_kinds(source: Source, named: Sequence[str | None]) -> ParsedKinds:
    """Return the kinds of ties that a file names, a name a tie.

    Raises
    ------
    InputError
        Where a tie has none.
    """
    kept = [name.strip() for name in named if name is not None]
    missing = len(named) - len(kept) + kept.count("")
    if missing:
        row = next(at for at, name in enumerate(named, start=1) if not (name or "").strip())
        source.refuse(
            f"{missing} ties have no kind, the first is that of row {row}. Say of which kind each "
            "is, or remove them."
        )
    return ParsedKinds.of(kept)


class ReadLayers(NamedTuple):
    """What the ties of a file became.

    Attributes
    ----------
    layers
        In the order of their names.
    dropped
        What was dropped of all of them.
    symmetrized
        How many arcs lost their direction.
    left_out
        The kinds that are not among the layers.
    """

    layers: tuple[Layer, ...]
    dropped: Dropped
    symmetrized: int
    left_out: tuple[str, ...]


def layers_of(source: Source, arcs: ParsedArcs, n: int, options: NetworkOptions) -> ReadLayers:
    """Return the layers of a file.

    Raises
    ------
    InputError
        Where directions matter and nobody said what becomes of them, a kind that an option names
        does not exist, or some ties of a kind have a direction and others none.
    """
    kinds = _grouped(source, arcs.kinds, options)
    every = (TIES,) if kinds is None else kinds.names or (TIES,)
    asked, plain = (
        _asked(source, flag, getattr(options, flag), every, named=kinds is not None)
        for flag in ("kinds", "undirected")
    )
    chosen = [name for name in every if not asked or name in asked]
    layers, counts, symmetrized = [], np.zeros(3, dtype=np.int64), 0
    for name in chosen:
        of_kind = slice(None) if kinds is None else kinds.codes == every.index(name)
        how = replace(options, undirected=plain)
        layer, dropped, forgotten = _layer(source, arcs, of_kind, n, how, name)
        layers.append(layer)
        counts += dropped
        symmetrized += forgotten
    left_out = tuple(f"ties of {name}" for name in every if name not in chosen)
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
        source.refuse(f"the kinds of ties, {_listed(kinds.names)}, are no numbers to group.")
    groups = binned(pa.array(numbers[kinds.codes]), rule, name=str(column))
    return parsed_kinds(source, groups.to_pylist())


def _asked(
    source: Source, flag: str, asked: Sequence[str], every: Sequence[str], *, named: bool
) -> tuple[str, ...]:
    """Return the kinds that an option names, one by one or with commas between."""
    names = named_columns(asked, every)
    for name in names:
        if not named:
            source.refuse(
                f"{option(flag, name)} names a kind of ties, and nobody said which column has "
                f"them. Say {option('kind_column')}."
            )
        if name not in every:
            source.refuse(
                f"no ties of the kind {shown(name)}. {did_you_mean(name, every)}There are "
                f"{_listed(every)}."
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
    """Return the ties of one kind, what was dropped, and how many arcs lost their direction."""
    ends = [arcs.source[of_kind], arcs.target[of_kind]]
    what = "" if arcs.kinds is None else f"{name}: "
    one_way = None if arcs.one_way is None else arcs.one_way[of_kind]
    said = arcs.directed if one_way is None or one_way.any() else False
    plain = said is False or name in options.undirected
    try:
        if options.directed == "keep" and not plain:
            if one_way is not None and not one_way.all():
                source.refuse(
                    f"{what}some ties are directed and others are not. Say of all that they are, "
                    f"or forget directions with {option('directed', 'symmetrize')}."
                )
            return *Layer.assemble(*ends, n=n, name=name), 0
        lists, dropped = neighbor_lists([end.copy() for end in ends], n)
        layer = Layer(name=name, directed=False, indptr=lists.indptr, indices=lists.indices)
    except DataError as error:
        source.refuse(error.message.text)
    if one_way is not None:  # edges stand there both ways, as the file does not
        dropped = dropped._replace(reciprocal_pairs=dropped.reciprocal_pairs * int(one_way.any()))
    ties = Ties(n=layer.n_ties, mutual=dropped.reciprocal_pairs, said=said, names=arcs.names)
    if not ties.matter or name in options.undirected:
        return layer, dropped, 0
    if options.directed == "refuse":
        source.refuse(f"{what}{ties.refusal} To keep them, say {option('directed', 'keep')}.")
    return layer, dropped, ties.n - ties.mutual


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(shown, names[:MOST_SHOWN])) + more
