"""Ties as objects and frames list them, each with its kind, and their ends; they become layers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data.csr import Dropped
from graphveil.data.directions import Ties
from graphveil.data.graph import Graph
from graphveil.data.ids import Ids, as_text, distinct
from graphveil.data.layers import TIES, Layer
from graphveil.errors import DataError, did_you_mean, option


class ListedTies:
    """Ties between positions, the kind of each, and whether they are directed."""

    def __init__(
        self,
        ends: Sequence[tuple[int, int]],
        kinds: Sequence[str],
        directed: bool,  # noqa: FBT001
        undirected: Collection[str],
    ) -> None:
        self._ends = np.array(ends, dtype=np.int64).reshape(-1, 2)
        self._kinds = np.array(kinds, dtype=object)
        self._directed = directed
        self._undirected = undirected
        every = sorted(set(kinds))
        for name in undirected:
            if name not in every:
                raise DataError(
                    f"no ties of the kind {name!r}. {did_you_mean(name, every)}There are "
                    f"{', '.join(every) or 'none'}."
                )

    def layers(self, position: NDArray[Any], n: int) -> tuple[tuple[Layer, ...], Dropped]:
        """Return a layer a kind, in the order of names, and what was dropped."""
        layers, loops, twice = [], 0, 0
        for name in sorted(set(self._kinds.tolist())) or [TIES]:
            source, target = position[self._ends[self._kinds == name]].T
            if self._directed and name not in self._undirected:
                layer, dropped = Layer.assemble(source, target, n=n, name=name)
            else:
                graph, dropped = Graph.assemble(source, target, n=n)
                layer = Layer.of(graph, name=name)
            layers.append(layer)
            loops, twice = loops + dropped.self_loops, twice + dropped.duplicates
        return tuple(layers), Dropped(loops, twice, 0)


def with_keys(graph: Any) -> Iterator[tuple[Any, Any, Any, dict[Any, Any]]]:
    """Yield both ends, the key and the attributes of every tie of a multigraph."""
    yield from graph.edges(keys=True, data=True)


def kind_of_tie(said: Mapping[Any, Any], kinds: str | None) -> str:
    """Return the kind of a tie of such attributes, all of one where none of them names kinds."""
    return TIES if kinds is None else kind_of_value(said.get(kinds), kinds)


def kind_of_value(value: Any, kinds: str | None) -> str:
    """Return the kind that a value names; one that names none is refused."""
    if value is None or str(value) == "":
        raise DataError(f"a tie has no {kinds}. Say of which kind it is, or leave it out.")
    return str(value)


def labels_of_ends(ends: Sequence[Ids], listed: Ids | None) -> Ids:
    """Return every id in order: those of people, among whom all ends of ties must be."""
    every = [*ends] if listed is None else [listed]
    if len({ids.dtype.kind for ids in (*ends, *every) if ids.size}) > 1:
        every = [as_text(ids) for ids in every]
    return distinct(np.concatenate(every))


def as_text_like(ids: Ids, other: Ids) -> Ids:
    """Return ids as text where others are."""
    return as_text(ids) if other.dtype.kind == "T" else ids


def refuse_where_directions_matter(
    ends: Sequence[NDArray[Any]], n: int, names: tuple[str, ...], *, said: bool | None
) -> None:
    """Refuse ties of which most lead one way, or that a file says are directed."""
    graph, dropped = Graph.assemble(*ends, n=n)
    ties = Ties(n=graph.n_edges, mutual=dropped.reciprocal_pairs, said=said, names=names)
    if ties.matter:
        raise DataError(
            f"ties seem to be directed: {ties.mutual:,} of {ties.n:,} are mutual. Say "
            f"{option('directed', value=True)} or {option('directed', value=False)}."
        )
