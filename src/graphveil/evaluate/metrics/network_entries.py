"""Metrics of networks with directions and attributes."""

from __future__ import annotations

from functools import partial

from graphveil.data import Network
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.metric import Metric, Said

_network = partial(Metric[NetworkComparison], kind=Network, direction="lower is better")

NEWMAN = "Newman, Mixing patterns in networks, Phys. Rev. E 67 (2003)"

NETWORK_METRICS: tuple[Metric[NetworkComparison], ...] = (
    _network(
        name="arcs-kept",
        direction="higher is better",
        definition="directed edges of the original that are in the release with the same "
        "direction; if there are several edge types, also for each type",
        source="edges-kept, for directed edges",
        needs_linkage=True,
        compute="metrics.networks.arcs_kept",
        said=Said(
            "edges kept with their direction",
            "share",
            "of the original edges, with their direction",
            place=3,
            ending=" are kept",
        ),
    ),
    _network(
        name="profile-distribution",
        definition="distance between the out-degree distributions and between the in-degree "
        "distributions: half the sum of absolute differences, and the largest "
        "difference of the cumulative ones",
        source="degree-distribution, for both directions",
        cost="linear",
        compute="metrics.networks.profile_distribution",
    ),
    _network(
        name="reciprocity",
        definition="share of directed edges that are reciprocated, before and after",
        source="Garlaschelli & Loffredo, Phys. Rev. Lett. 93 (2004), eq. 1",
        compute="metrics.networks.reciprocity",
        said=Said(
            "reciprocated edges", {"released": "original"}, "of the edges are reciprocated", place=4
        ),
    ),
    _network(
        name="suppressed-attributes",
        definition="attribute cells that the original has and the release does not, for each "
        "attribute",
        source="Sweeney, IJUFKS 10 (2002), applied to networks",
        cost="linear",
        compute="metrics.networks.suppressed",
    ),
    _network(
        name="homophily",
        definition="excess over chance of edges between nodes with the same value of an "
        "attribute, relative to the maximum possible, before and after; edges of "
        "nodes without a value are not counted",
        source=NEWMAN,
        compute="metrics.networks.homophily",
    ),
    _network(
        name="mixing-matrix",
        definition="half the sum of absolute differences between the shares of edges that "
        "connect each pair of values of an attribute; suppressed counts as a value",
        source=NEWMAN,
        compute="metrics.networks.mixing_matrix",
    ),
    _network(
        name="kept-by-group",
        direction="higher is better",
        definition="share of kept edges among those of nodes with one value of an attribute: "
        "for the group that keeps the smallest share, and for all edges",
        source="ours",
        needs_linkage=True,
        compute="metrics.networks.kept_by_group",
    ),
)
