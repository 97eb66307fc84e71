"""Metrics of networks: distances, degrees, clustering, components, edges kept, attributes.

One search gives all distances. Comparing edges, arcs and attributes one by one needs the linkage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.text import printable
from graphveil.data import Graph, Layer, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import (
    Bools,
    Floats,
    GraphComparison,
    Int32s,
    Ints,
    NetworkComparison,
    special,
)
from graphveil.evaluate.distances import Distances
from graphveil.evaluate.graph_structure import share_of_largest_component, wedges_of
from graphveil.evaluate.metric import (
    Estimate,
    Figure,
    Figures,
    NotMeasuredError,
    Sample,
    before_and_after,
    counted,
    estimates_compared,
    half_l1_sampled,
    of_one,
    share_of,
    with_error,
)

OFF = 0.05
"""How often an interval may miss."""


def average_of(found: Distances, n: int) -> Estimate:
    """Return the mean distance of pairs, with its interval where sources were sampled.

    Sampled: sources are drawn without replacement, in groups of 64. The ratio of all distances to
    all pairs is the estimate, the scatter of the groups about it gives the interval (random groups,
    Student's t).
    """
    depths = np.arange(found.counts.shape[1])
    return ratio(found.counts @ depths, found.counts.sum(axis=1), found.sources, n)


def ratio(above: NDArray[Any], below: NDArray[Any], sources: int | None, n: int) -> Estimate:
    """Return the ratio of two sums over groups of sources, with its interval."""
    value = float(above.sum() / below.sum())
    if sources is None:
        return Estimate(value)
    width = float(_half_width(above - value * below, below, sources / n, off=OFF))
    return Estimate(value, Sample(sources, max(value - width, 0.0), value + width))


def _half_width(apart: Floats, below: NDArray[Any], share: float, *, off: float) -> Floats:
    """Return half the interval of ratios from how far each group is off, shape (groups, ...)."""
    groups = below.size
    scatter = np.square(apart).sum(axis=0) * groups / (groups - 1)
    deviation = np.sqrt(scatter * (1 - share)) / below.sum()
    return np.asarray(special.stdtrit(groups - 1, 1 - off / 2) * deviation)


def shortest_path(pair: GraphComparison) -> Figures:
    """Yield the mean distance before and after, sampled or not; nothing where no pair is joined."""
    return _compared(pair, average_of)


def _compared(pair: GraphComparison, statistic: Callable[[Distances, int], Estimate]) -> Figures:
    """Yield a statistic of distances before and after; nothing where no pair is joined."""
    if all(found.pairs.any() for found in pair.distances):
        before, after = (statistic(found, pair.original.n_nodes) for found in pair.distances)
        yield from estimates_compared(before, after, "edges")


def characteristic_length(pair: GraphComparison) -> Figures:
    """Yield the harmonic mean of distances, before and after; nothing where no pair is joined."""
    return _compared(pair, harmonic_of)


def harmonic_of(found: Distances, n: int) -> Estimate:
    """Return pairs over the sum of inverse distances."""
    inverse = 1 / np.maximum(np.arange(found.counts.shape[1]), 1)
    return ratio(found.counts.sum(axis=1), found.counts @ inverse, found.sources, n)


def effective_diameter(pair: GraphComparison) -> Figures:
    """Yield the least distance within which 90% of joined pairs are, before and after."""
    return _compared(pair, within_90_percent)


def within_90_percent(found: Distances, n: int) -> Estimate:
    """Return the least whole distance within which 90% of the pairs are.

    Sampled: its interval holds the distances at which that share may be reached, going by the
    interval of the share within each distance (Woodruff 1952).
    """
    within = np.cumsum(found.pairs)
    value = float(np.argmax(10 * within >= 9 * within[-1]))
    if found.sources is None:
        return Estimate(value)
    shares = within / within[-1]
    of_groups = np.cumsum(found.counts, axis=1)
    below = of_groups[:, -1]
    width = _half_width(of_groups - below[:, None] * shares, below, found.sources / n, off=OFF)
    low, high = (float(np.argmax(shares + side >= 0.9)) for side in (width, -width))
    return Estimate(value, Sample(found.sources, min(low, value), max(high, value)))


def diameter(pair: GraphComparison) -> Figures:
    """Yield the largest distance, before and after: a lower bound where sources are sampled."""
    return _compared(pair, largest)


def largest(found: Distances, _n: int) -> Estimate:
    """Return the largest distance; that from the sources drawn is a bound, without an interval."""
    value = float(np.flatnonzero(found.pairs)[-1])
    return Estimate(value, None if found.sources is None else Sample(found.sources))


def distance_distribution(pair: GraphComparison) -> Figures:
    """Yield half the L1 distance of the distributions of distances; nothing without pairs."""
    if not all(found.pairs.any() for found in pair.distances):
        return
    n, sources = pair.original.n_nodes, pair.distances[0].sources
    if sources is None:
        yield from mean_distance_distribution([pair])
        return
    size = max(found.pairs.size for found in pair.distances)
    before, after = (_shares(found.pairs, size) for found in pair.distances)
    off = OFF / int(np.count_nonzero(before + after))
    errors = np.hypot(*(_errors(found, size, n, off) for found in pair.distances))
    apart = half_l1_sampled(before, after, errors, [sources])
    yield Figure("half L1", apart.value, "share of pairs", sample=apart.sample)


def _errors(found: Distances, size: int, n: int, off: float) -> Floats:
    """Return half the interval of the share of each distance, which misses so often."""
    below = found.counts.sum(axis=1)
    apart = found.counts - below[:, None] * (found.pairs / found.pairs.sum())
    width = _half_width(apart, below, (found.sources or n) / n, off=off)
    return np.pad(width, (0, size - width.size))


def mean_distance_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases; nothing where one has none."""
    found = [pair.distances for pair in pairs]
    if not all(each.pairs.any() for both in found for each in both):
        return
    size = max(each.pairs.size for both in found for each in both)
    shares = [[_shares(each.pairs, size) for each in both] for both in found]
    before, after = np.mean(shares, axis=0)
    sources = found[0][0].sources
    sample = None if sources is None else Sample(sources)
    value = float(np.abs(before - after).sum() / 2)
    yield Figure("half L1", value, "share of pairs", sample=sample)


def _shares(pairs: Ints, size: int) -> Floats:
    """Return the shares of all pairs by distance, up to the largest of `size` distances."""
    return np.pad(pairs / pairs.sum(), (0, size - pairs.size))


def compared(
    pair: GraphComparison, statistic: Callable[[Graph], float | None], unit: str
) -> Figures:
    """Yield a statistic before and after, how far apart, and that over the first."""
    return with_error(statistic(pair.original), statistic(pair.released), unit)


def mean_degree(pair: GraphComparison) -> Figures:
    """Yield the mean degree, nodes without edges included."""
    return compared(pair, lambda g: float(g.degrees().mean()) if g.n_nodes else None, "edges")


def largest_degree(pair: GraphComparison) -> Figures:
    """Yield the largest degree."""
    return compared(pair, lambda g: float(g.degrees().max()) if g.n_nodes else None, "edges")


def degree_variance(pair: GraphComparison) -> Figures:
    """Yield the population variance of degrees."""
    return compared(pair, lambda g: float(g.degrees().var()) if g.n_nodes else None, "edges^2")


def power_law(pair: GraphComparison) -> Figures:
    """Yield the exponent of the power law that is nearest to the degrees."""
    return compared(pair, lambda graph: exponent(graph.degrees()), "exponent")


def transitivity(pair: GraphComparison) -> Figures:
    """Yield the share of wedges that are closed."""
    before, after = map(closed_share, (pair.original, pair.released), pair.triangles)
    return with_error(before, after, "ratio")


def triangles(pair: GraphComparison) -> Figures:
    """Yield the number of triangles."""
    return with_error(*pair.triangles, unit="triangles")


def wedges(pair: GraphComparison) -> Figures:
    """Yield the number of pairs of edges that share a node."""
    return compared(pair, lambda graph: float(wedges_of(graph)), "wedges")


def closed_share(graph: Graph, triangles: int) -> float | None:
    """Return three times the triangles over the wedges; None where there is no wedge."""
    wedges = wedges_of(graph)
    return 3 * triangles / wedges if wedges else None


def exponent(degrees: Ints) -> float | None:
    """Return the exponent of the power law that fits degrees above 0 best; None without a fit.

    For every distinct degree as the least one, xmin: 1 + k / sum ln(x / xmin) over the k degrees
    from xmin on, and the largest distance of both distribution functions, on both sides of every
    step. The exponent of least distance is given.
    """
    ordered = np.sort(degrees[degrees > 0])
    starts = np.flatnonzero(np.diff(ordered, prepend=0))
    best: tuple[float, float] | None = None
    for start in starts[:-1].tolist():
        values = ordered[start:] / ordered[start]
        alpha = 1 + values.size / float(np.log(values).sum())
        law = 1 - values ** (1 - alpha)
        steps = np.arange(values.size + 1) / values.size
        distance = float(max(np.abs(law - steps[:-1]).max(), np.abs(law - steps[1:]).max()))
        if best is None or distance < best[0]:
            best = distance, alpha
    return None if best is None else best[1]


def degree_distribution(pair: GraphComparison) -> Figures:
    """Yield two distances between the degree distributions."""
    yield from mean_degree_distribution([pair])


def mean_degree_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases, which have as many nodes."""
    before = pairs[0].original.degrees()
    after = np.concatenate([pair.released.degrees() for pair in pairs])
    yield Figure("half L1", half_l1(before, after), "share of nodes")
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def half_l1(before: Ints, after: Ints) -> float:
    """Return half the sum of absolute differences of two distributions of numbers >= 0.

    >>> half_l1(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(_differences(before, after)).sum() / 2)


def kolmogorov_smirnov(before: Ints, after: Ints) -> float:
    """Return the largest difference of the cumulative distributions of numbers >= 0.

    >>> kolmogorov_smirnov(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(np.cumsum(_differences(before, after))).max(initial=0.0))


def _differences(before: Ints, after: Ints) -> Floats:
    """Return, for every number, the share of it before less that after."""
    top = int(max(before.max(initial=0), after.max(initial=0))) + 1
    one, other = (np.bincount(v, minlength=top) / max(v.size, 1) for v in (before, after))
    return np.asarray(one - other)


def assortativity(pair: GraphComparison) -> Figures:
    """Yield the correlation of the degrees at both ends of an edge, before and after."""
    before, after = map(degree_assortativity, (pair.original, pair.released))
    if before is not None and after is not None:
        yield from before_and_after(before, after, "correlation")


def degree_assortativity(graph: Graph) -> float | None:
    """Return the correlation of the degrees at the ends of an edge; None where all are equal."""
    edges, degrees = graph.edges(), graph.degrees()
    ends = degrees[np.concatenate([edges[:, 0], edges[:, 1]])]
    if ends.size == 0 or ends.min() == ends.max():
        return None
    mean = ends.mean()
    left, right = degrees[edges[:, 0]] - mean, degrees[edges[:, 1]] - mean
    return float(2 * np.dot(left, right) / np.square(ends - mean).sum())


def clustering(pair: GraphComparison) -> Figures:
    """Yield the average local clustering coefficient before and after."""
    before, after = map(average_clustering, (pair.original, pair.released), pair.triangles_at)
    return with_error(before, after, "ratio")


def average_clustering(graph: Graph, triangles: Ints) -> float | None:
    """Return the mean local clustering, nodes of degree below 2 as 0; None where all are such."""
    degrees = graph.degrees()
    if degrees.max(initial=0) < 2:
        return None
    pairs = degrees * (degrees - 1) // 2
    return float((triangles / np.maximum(pairs, 1)).mean())


def largest_component(pair: GraphComparison) -> Figures:
    """Yield the share of nodes in the largest component, before and after."""
    after = share_of_largest_component(pair.released)
    return with_error(pair.share_before, after, "share of nodes")


def kept(pair: GraphComparison) -> Figures:
    """Yield how many original edges stand in the release."""
    return counted(pair.edges_kept, pair.original.n_edges, "edges", "share of original edges")


def added(pair: GraphComparison) -> Figures:
    """Yield how many released edges are not original."""
    number = pair.released.n_edges - pair.edges_kept
    return counted(number, pair.released.n_edges, "edges", "share of released edges")


def removed(pair: GraphComparison) -> Figures:
    """Yield how many original edges are not in the release."""
    number = pair.original.n_edges - pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")


def jaccard(pair: GraphComparison) -> Figures:
    """Yield the edges in both graphs over those in either."""
    union = pair.original.n_edges + pair.released.n_edges - pair.edges_kept
    yield Figure("all", pair.edges_kept / union if union else 1.0, "ratio")


def edit_distance(pair: GraphComparison) -> Figures:
    """Yield the edges to add and delete that lead from one graph to the other."""
    number = pair.original.n_edges + pair.released.n_edges - 2 * pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")


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
