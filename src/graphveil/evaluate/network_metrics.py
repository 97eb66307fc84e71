"""The metrics of networks: directions of ties, and attributes of people."""

from __future__ import annotations

from graphveil.data import Network
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.metric import Metric

NEWMAN = "Newman, Mixing patterns in networks, Phys. Rev. E 67 (2003)"

NETWORK_METRICS: tuple[Metric[NetworkComparison], ...] = (
    Metric(
        name="arcs-kept",
        kind=Network,
        direction="higher is better",
        definition="directed ties of the original that stand in the release, in the same "
        "direction; where there are several kinds of ties, the ties of each",
        source="edges-kept, of arcs",
        needs_linkage=True,
        cost="near-linear",
        compute="networks.arcs_kept",
    ),
    Metric(
        name="profile-distribution",
        kind=Network,
        direction="lower is better",
        definition="distance between the distributions of ties out, and of ties in: half the sum "
        "of absolute differences, and the largest difference of the cumulative ones",
        source="degree-distribution, of both directions",
        needs_linkage=False,
        cost="linear",
        compute="networks.profile_distribution",
    ),
    Metric(
        name="reciprocity",
        kind=Network,
        direction="lower is better",
        definition="share of directed ties with one the other way round, before and after",
        source="Garlaschelli & Loffredo, Phys. Rev. Lett. 93 (2004), eq. 1",
        needs_linkage=False,
        cost="near-linear",
        compute="networks.reciprocity",
    ),
    Metric(
        name="suppressed-attributes",
        kind=Network,
        direction="lower is better",
        definition="cells that the original has and the release has not, of each attribute",
        source="Sweeney, IJUFKS 10 (2002), of networks",
        needs_linkage=False,
        cost="linear",
        compute="networks.suppressed",
    ),
    Metric(
        name="homophily",
        kind=Network,
        direction="lower is better",
        definition="how much more often ties join people with the same value of an attribute than "
        "chance would have it, over the most that is possible, before and after; ties of people "
        "without a value do not count",
        source=NEWMAN,
        needs_linkage=False,
        cost="near-linear",
        compute="networks.homophily",
    ),
    Metric(
        name="mixing-matrix",
        kind=Network,
        direction="lower is better",
        definition="half the sum of absolute differences between the shares of ties that join each "
        "pair of values of an attribute; a suppressed one is a value",
        source=NEWMAN,
        needs_linkage=False,
        cost="near-linear",
        compute="networks.mixing_matrix",
    ),
    Metric(
        name="kept-by-group",
        kind=Network,
        direction="higher is better",
        definition="share of the ties that people of one value of an attribute keep: of the group "
        "that keeps the least, and of all",
        source="ours",
        needs_linkage=True,
        cost="near-linear",
        compute="networks.kept_by_group",
    ),
)
