"""Metrics of networks with directions, edge types and attributes, as the release shows them.

Figures of one edge type or attribute begin with its name; layers are matched by name. All take
O(n + m) time and memory per layer and attribute, but comparing edges one by one, which sorts them
and needs the linkage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Floats
from graphveil.core.text import printable
from graphveil.data import Layer, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Bools, Int32s, NetworkComparison
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
"""A group with fewer edges is not reported: one edge would be more than 10% of its share."""


def arcs_kept(pair: NetworkComparison) -> Figures:
    """Yield how many original edges are in the release in the same direction, and their share.

    The share is from 0 to 1, and 1 if all are kept. With several edge types, for each of them.
    """
    for each in _of_profile(pair):
        n_ties = each.before.n_ties
        kept = int(np.count_nonzero(_tie_is_kept(pair, each)))
        yield Figure(f"{each.prefix}count", kept, "arcs" if each.before.directed else "edges")
        yield from share_of(kept, n_ties, "share of original arcs", part=f"{each.prefix}share")


def profile_distribution(pair: NetworkComparison) -> Figures:
    """Yield two distances between the distributions of out-degrees, and of in-degrees.

    Half L1 and Kolmogorov-Smirnov, each from 0 (equal) to 1, as in `degrees.degree_distribution`.
    """
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
    """Yield the share of directed edges that are reciprocated, before and after.

    From 0 to 1. Garlaschelli and Loffredo 2004, equation 1.
    """
    for each in _directed(pair):
        if each.before.n_ties and each.after.n_ties:
            before, after = (one.n_mutual() / one.n_ties for one in (each.before, each.after))
            both = before_and_after(before, after, "share of arcs")
            yield from of_one(each.name, both, between=": ")


def suppressed(pair: NetworkComparison) -> Figures:
    """Yield how many more cells of each attribute the release suppresses than the original.

    As a share of people, 0 if nothing was suppressed. Sweeney 2002, applied to networks.
    """
    for name, before, after in _attributes(pair):
        lost = int(np.count_nonzero(after == SUPPRESSED) - np.count_nonzero(before == SUPPRESSED))
        yield Figure(f"{name}, count", lost, "cells")
        yield from share_of(lost, before.size, "share of people", part=f"{name}, share")


def homophily(pair: NetworkComparison) -> Figures:
    """Yield Newman's coefficient of assortative mixing by each attribute, before and after.

    1 if edges join equal values only, 0 if they do so as often as chance would. Newman 2003.
    """
    for name, before, after in _attributes(pair):
        for each in _pairs_of_layers(pair):
            one = assortative_mixing(each.before, before)
            other = assortative_mixing(each.after, after)
            if one is not None and other is not None:
                both = before_and_after(one, other, "coefficient")
                yield from of_one(f"{each.prefix}{name}", both)


def mixing_matrix(pair: NetworkComparison) -> Figures:
    """Yield half the L1 distance of the mixing matrices by each attribute, before and after.

    From 0 (equal) to 1. An entry is the share of edges between two values; a suppressed cell counts
    as a value. Newman 2003.
    """
    for name, before, after in _attributes(pair):
        # Codes are shifted by one, so that suppressed cells, -1, become a value of their own.
        most = int(max(before.max(initial=-1), after.max(initial=-1))) + 2
        for each in _pairs_of_layers(pair):
            shares = [_mixing(each.before, before + 1, most), _mixing(each.after, after + 1, most)]
            if all(one.sum() for one in shares):
                one, other = (matrix / matrix.sum() for matrix in shares)
                apart = float(np.abs(one - other).sum() / 2)
                yield Figure(f"{each.prefix}{name}, half L1", apart, "share of edges")


def kept_by_group(pair: NetworkComparison) -> Figures:
    """Yield the share of kept edges for the group that keeps the smallest share, and for all edges.

    A group is the nodes with one value of an attribute. From 0 to 1; a gap between both shares says
    that a group loses more than others.
    """
    for each in _pairs_of_layers(pair):
        kept = _tie_is_kept(pair, each)
        for column in pair.networks[0].attributes:
            by_value = _kept_by_value(pair.networks[0], column, each.before, kept)
            yield from of_one(each.name, by_value, between=": ")


def _kept_by_value(network: Network, column: str, layer: Layer, kept: Bools) -> Figures:
    """Yield the same for one attribute and one layer; `kept`: bool, one per edge of the layer."""
    # Each edge counts for the groups of both of its ends.
    source, target = layer.ties()
    codes = network.codes_of(column)
    ends, both = np.concatenate([codes[source], codes[target]]), np.concatenate([kept, kept])
    # Edges per group, of all and of those that are kept; position 0 is for suppressed cells.
    has, stays = (
        np.bincount(ends[some] + 1, minlength=int(codes.max(initial=0)) + 2)
        for some in (slice(None), both)
    )
    # Only groups of some size: the smallest share is then not that of a handful of edges.
    groups = np.flatnonzero(has[1:] >= FEWEST_TIES)
    if groups.size:
        shares = stays[1:][groups] / has[1:][groups]
        worst = int(np.argmin(shares))
        value = _value(network, column, int(groups[worst]))
        yield Figure(f"{column}, least ({value})", float(shares[worst]), "share of edges")
        every = float(kept.mean())
        yield Figure(f"{column}, everybody", every, "share of edges", judged=False)


def assortative_mixing(layer: Layer, codes: Int32s) -> float | None:
    """Return Newman's coefficient: 1 if edges join equal values only, 0 as chance would have it.

    Codes are below 0 for no value. None if no edge joins two values, or all edges join one value.
    """
    # The mixing matrix e of Newman 2003, as shares of edges.
    matrix = _mixing(layer, codes, int(codes.max(initial=-1)) + 1)
    whole = matrix.sum()
    if whole == 0:
        return None
    shares = matrix / whole
    # r = (tr e - sum of a_i b_i) / (1 - sum of a_i b_i), equation 2 there.
    by_chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    same = float(np.trace(shares))
    return None if by_chance >= 1 else (same - by_chance) / (1 - by_chance)


def _mixing(layer: Layer, codes: Int32s, values: int) -> Floats:
    """Return how many edges lead from each value to each, float64, shape (values, values).

    Edges of nodes with codes below 0 do not count. Undirected edges count in both directions.
    """
    source, target = (codes[end].astype(np.int64) for end in layer.ties())
    there = (source >= 0) & (target >= 0)
    pairs = source[there] * values + target[there]
    matrix = np.bincount(pairs, minlength=values * values).reshape(values, values).astype(float)
    return matrix if layer.directed else matrix + matrix.T


class _PairOfLayers(NamedTuple):
    """A layer before and after, and its name, which is empty for the only one."""

    name: str
    before: Layer
    after: Layer

    @property
    def prefix(self) -> str:
        """What the parts of its figures begin with."""
        return f"{self.name}: " if self.name else ""


def _pairs_of_layers(pair: NetworkComparison) -> Iterator[_PairOfLayers]:
    """Yield every layer before and after; figures of the only one do not begin with its name."""
    before, after = (network.layers for network in pair.networks)
    several = len(before) > 1
    if several and [layer.name for layer in before] != [layer.name for layer in after]:
        raise NotMeasuredError("the edge types differ")
    for one, other in zip(before, after, strict=True):
        yield _PairOfLayers(printable(one.name) if several else "", one, other)


def _of_profile(pair: NetworkComparison) -> list[_PairOfLayers]:
    """Return all layers if there are several, else the only one, which must be directed."""
    several = len(pair.networks[0].layers) > 1
    return [*_pairs_of_layers(pair)] if several else _directed(pair)


def _directed(pair: NetworkComparison) -> list[_PairOfLayers]:
    directed = [e for e in _pairs_of_layers(pair) if e.before.directed and e.after.directed]
    if not directed:
        raise NotMeasuredError("edges are undirected")
    return directed


def _attributes(pair: NetworkComparison) -> Iterator[tuple[str, Int32s, Int32s]]:
    """Yield the name of every attribute, and its codes before and after, in one numbering."""
    rows = pair.people
    if rows is None:
        raise NotMeasuredError("no attributes are published")
    for column, name in enumerate(rows.released.columns):
        yield printable(name), rows.before[:, column], rows.after[:, column]


def _tie_is_kept(pair: NetworkComparison, layers: _PairOfLayers) -> Bools:
    """Return for every edge of the original whether the release has it, bool, shape (edges,)."""
    before, after = layers.before, layers.after
    n = max(before.n_nodes, 1)
    # Ends of original edges at their released positions; undirected ones with the smaller first.
    source, target = (pair.linked[end] for end in before.ties())
    if not before.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    # An edge is one number, source * n + target, so that membership is a sorted search.
    there = after.ties()
    keys = there.source.astype(np.int64) * n + there.target
    return np.asarray(np.isin(source * n + target, keys))


def _value(network: Network, column: str, code: int) -> str:
    people = network.people
    if people is None:
        raise TypeError("the network has no node attributes")
    names = people.categories[people.columns.index(column)]
    return printable(str(names[code]))
