"""Metrics of networks: distances, degrees, clustering, components, edges kept, attributes.

One search gives all distances. Comparing edges, arcs and attributes one by one needs the linkage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphveil.core.text import printable
from graphveil.data import Layer, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import (
    Bools,
    Floats,
    Int32s,
    NetworkComparison,
)
from graphveil.evaluate.metric import (
    Figure,
    Figures,
    NotMeasuredError,
    before_and_after,
    of_one,
    share_of,
)
from graphveil.evaluate.metrics.degrees import half_l1, kolmogorov_smirnov

FEWEST_TIES = 10
"""A group with fewer edges is not a group of which a share says much."""


def arcs_kept(pair: NetworkComparison) -> Figures:
    """Yield how many directed edges stand in the release in the same direction; of kinds, each."""
    for each in _of_profile(pair):
        n_ties = each.before.n_ties
        kept = int(np.count_nonzero(_tie_is_kept(pair, each)))
        yield Figure(f"{each.prefix}count", kept, "arcs" if each.before.directed else "edges")
        yield from share_of(kept, n_ties, "share of original arcs", part=f"{each.prefix}share")


def profile_distribution(pair: NetworkComparison) -> Figures:
    """Yield two distances between the distributions of edges out, and of edges in."""
    for each in _of_profile(pair):
        sides = ("out", "in") if each.before.directed else ("ties",)
        numbers = zip(sides, each.before.degrees(), each.after.degrees(), strict=True)
        for name, one, other in numbers:
            part = f"{each.prefix}{name}"
            yield Figure(f"{part}, half L1", half_l1(one, other), "share of nodes")
            yield Figure(
                f"{part}, Kolmogorov-Smirnov", kolmogorov_smirnov(one, other), "share of nodes"
            )


def reciprocity(pair: NetworkComparison) -> Figures:
    """Yield the share of directed edges with one the other way round, before and after."""
    for each in _directed(pair):
        if each.before.n_ties and each.after.n_ties:
            before, after = (one.n_mutual() / one.n_ties for one in (each.before, each.after))
            both = before_and_after(before, after, "share of arcs")
            yield from of_one(each.name, both, between=": ")


def suppressed(pair: NetworkComparison) -> Figures:
    """Yield how many cells of each attribute are suppressed in the release alone."""
    for name, before, after in _attributes(pair):
        lost = int(np.count_nonzero(after == SUPPRESSED) - np.count_nonzero(before == SUPPRESSED))
        yield Figure(f"{name}, count", lost, "cells")
        yield from share_of(lost, before.size, "share of people", part=f"{name}, share")


def homophily(pair: NetworkComparison) -> Figures:
    """Yield Newman's coefficient of assortative mixing by each attribute, before and after."""
    for name, before, after in _attributes(pair):
        for each in _pairs_of_layers(pair):
            one = assortative_mixing(each.before, before)
            other = assortative_mixing(each.after, after)
            if one is not None and other is not None:
                both = before_and_after(one, other, "coefficient")
                yield from of_one(f"{each.prefix}{name}", both)


def mixing_matrix(pair: NetworkComparison) -> Figures:
    """Yield how far the shares of edges between values of each attribute are apart."""
    for name, before, after in _attributes(pair):
        most = int(max(before.max(initial=-1), after.max(initial=-1))) + 2
        for each in _pairs_of_layers(pair):
            shares = [_mixing(each.before, before + 1, most), _mixing(each.after, after + 1, most)]
            if all(one.sum() for one in shares):
                one, other = (matrix / matrix.sum() for matrix in shares)
                apart = float(np.abs(one - other).sum() / 2)
                yield Figure(f"{each.prefix}{name}, half L1", apart, "share of edges")


def kept_by_group(pair: NetworkComparison) -> Figures:
    """Yield which group of people by each attribute keeps the least of its edges, and all do."""
    for each in _pairs_of_layers(pair):
        kept = _tie_is_kept(pair, each)
        for column in pair.networks[0].attributes:
            by_value = _kept_by_value(pair.networks[0], column, each.before, kept)
            yield from of_one(each.name, by_value, between=": ")


def _kept_by_value(network: Network, column: str, layer: Layer, kept: Bools) -> Figures:
    """Yield the same of one attribute and one layer, of whose edges it is said which are kept."""
    source, target = layer.ties()
    codes = network.codes_of(column)
    ends, both = np.concatenate([codes[source], codes[target]]), np.concatenate([kept, kept])
    has, stays = (
        np.bincount(ends[some] + 1, minlength=int(codes.max(initial=0)) + 2)
        for some in (slice(None), both)
    )
    groups = np.flatnonzero(has[1:] >= FEWEST_TIES)
    if groups.size:
        shares = stays[1:][groups] / has[1:][groups]
        worst = int(np.argmin(shares))
        value = _value(network, column, int(groups[worst]))
        yield Figure(f"{column}, least ({value})", float(shares[worst]), "share of edges")
        every = float(kept.mean())
        yield Figure(f"{column}, everybody", every, "share of edges", judged=False)


def assortative_mixing(layer: Layer, codes: Int32s) -> float | None:
    """Return Newman's coefficient: 1 where edges join equal values only, 0 as chance would have it.

    Codes are below 0 for no value. None where no edge joins two values, or all edges join one
    value.
    """
    matrix = _mixing(layer, codes, int(codes.max(initial=-1)) + 1)
    whole = matrix.sum()
    if whole == 0:
        return None
    shares = matrix / whole
    by_chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    same = float(np.trace(shares))
    return None if by_chance >= 1 else (same - by_chance) / (1 - by_chance)


def _mixing(layer: Layer, codes: Int32s, values: int) -> Floats:
    """Return how many edges lead from each value to each; those of codes below 0 do not count."""
    source, target = (codes[end].astype(np.int64) for end in layer.ties())
    there = (source >= 0) & (target >= 0)
    pairs = source[there] * values + target[there]
    matrix = np.bincount(pairs, minlength=values * values).reshape(values, values).astype(float)
    return matrix if layer.directed else matrix + matrix.T


class _PairOfLayers(NamedTuple):
    """A layer before and after, and its name, empty for the only one."""

    name: str
    before: Layer
    after: Layer

    @property
    def prefix(self) -> str:
        """What the parts of its figures begin with."""
        return f"{self.name}: " if self.name else ""


def _pairs_of_layers(pair: NetworkComparison) -> Iterator[_PairOfLayers]:
    """Yield every layer before and after; the only one has figures without its name."""
    before, after = (network.layers for network in pair.networks)
    several = len(before) > 1
    if several and [layer.name for layer in before] != [layer.name for layer in after]:
        raise NotMeasuredError("the edge types differ")
    for one, other in zip(before, after, strict=True):
        yield _PairOfLayers(printable(one.name) if several else "", one, other)


def _of_profile(pair: NetworkComparison) -> list[_PairOfLayers]:
    """Return all layers where there are several, else the only one, which must be directed."""
    several = len(pair.networks[0].layers) > 1
    return [*_pairs_of_layers(pair)] if several else _directed(pair)


def _directed(pair: NetworkComparison) -> list[_PairOfLayers]:
    directed = [e for e in _pairs_of_layers(pair) if e.before.directed and e.after.directed]
    if not directed:
        raise NotMeasuredError("edges are undirected")
    return directed


def _attributes(pair: NetworkComparison) -> Iterator[tuple[str, Int32s, Int32s]]:
    """Yield the name and values, before and after, of every attribute; in one numbering."""
    rows = pair.people
    if rows is None:
        raise NotMeasuredError("no attributes are published")
    for column, name in enumerate(rows.released.columns):
        yield printable(name), rows.before[:, column], rows.after[:, column]


def _tie_is_kept(pair: NetworkComparison, layers: _PairOfLayers) -> Bools:
    """Return, for every edge of the original, whether it stands in the release; needs linkage."""
    before, after = layers.before, layers.after
    n = max(before.n_nodes, 1)
    source, target = (pair.linked[end] for end in before.ties())
    if not before.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    there = after.ties()
    keys = there.source.astype(np.int64) * n + there.target
    return np.asarray(np.isin(source * n + target, keys))


def _value(network: Network, column: str, code: int) -> str:
    people = network.people
    if people is None:
        raise TypeError("the network has no node attributes")
    names = people.categories[people.columns.index(column)]
    return printable(str(names[code]))
