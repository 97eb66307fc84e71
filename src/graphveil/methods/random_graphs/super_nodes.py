"""The method `super-nodes`: a graph generated from groups of nodes and their numbers of edges.

Hay et al. (VLDB 2008) publish a generalized graph: a partition of the nodes into groups of at least
k, and the number of edges inside each group and between any two. The original is one of all graphs
that fit, and nodes of one group are exchangeable in them. The partition should make the original as
likely as possible, that is, fit as few graphs as possible.

1. A start by degree, or by a common neighbor, whichever fits fewer graphs (`_start`).
2. Simulated annealing by exchanges of two nodes (`grouped`, `kernels.super_nodes`).
3. Nodes in random order inside their groups (`order_of`), and a graph sampled from the numbers.

Departures from Hay et al.: groups have about k nodes each, as in Campan & Truta (PinKDD 2008), so
that exchanges are the only moves; and groups with all possible edges can be avoided by a price.

Cost: at most n x sweeps exchanges, each with the edges of all nodes of two groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from graphveil.claims.guarantees import SuperNodeAnonymity
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Ints
from graphveil.core.libraries import special
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted, percent
from graphveil.core.warnings import Advice, CertainEntriesWarning
from graphveil.data import Graph
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard, Reached
from graphveil.release.draft import Draft, NewIds

MOST_PER_CALL = 1 << 16
"""The most exchanges of one call of the kernel, which have one temperature.

It bounds the memory of their random numbers to 2.5 MiB.
"""

LEAST_CALLS = 20
"""The fewest calls, and so temperatures, of a search."""

FIRST_TEMPERATURE = 1.0
"""The temperature at first, in nats of the cost: it falls to 0 as a square.

The cost is a logarithm of a number of graphs: at 1, an exchange after which e times as many graphs
fit is made with probability 1/e. Higher starts spend more exchanges on random moves.
"""

PRICE = 10.0
"""What each edge that is certain costs in nats, with ``certain="avoid"``.

An edge is certain if its group, or pair of groups, has all possible edges. Larger avoids them at a
higher price in graphs that fit.
"""


CARD = MethodCard(
    when=(
        "Recipients may have a copy of the network; its communities are to be kept, not its edges."
    ),
    promise="Nothing is published but groups of at least k nodes and their numbers of edges.",
    source=(
        "Hay, Miklau, Jensen, Towsley & Weis, Resisting structural re-identification in anonymized "
        "social networks, VLDB 2008; Campan & Truta, A clustering approach for data and structural "
        "anonymity in social networks, PinKDD 2008"
    ),
    limits=(
        "Whether people are connected, if their groups have nearly all possible edges or none; and "
        "people in a group of which others are already identified. An attacker with a copy of the "
        "network may find everybody's group, and is then right with one guess in k."
    ),
    reached=tuple(
        Reached(
            f"Re-identified in our tests: {copy} of the nodes by an attacker with a copy of the "
            f"network (242 nodes, dense, k={k}, certain=avoid), who found {found} of their "
            f"groups; {known} by one who also had identified 20 nodes. The attack was tuned on "
            "this network.",
            {"k": k},
        )
        for k, copy, found, known in ((2, "50%", "all", "54%"), (5, "18%", "nine in ten", "22%"))
    ),
    cost="sweeps times the edges of two groups for every node",
    example={"k": 5},
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class SuperNodes(Anonymizer[Graph]):
    """Nothing is published but groups of at least k nodes and their numbers of edges.

    Nodes with similar neighbors are put into groups, which are published as a generalized graph:
    the size of every group, and how many edges there are inside each and between any two. The
    published edges are sampled from these numbers, by a rule that everybody can repeat.

    Parameters
    ----------
    k
        The smallest group: n nodes are put into ``n // k`` groups, as equal in size as possible.
    certain
        Whether groups, or pairs of groups, with all possible edges are avoided: their edges can be
        inferred with certainty.
    sweeps
        At most how many exchanges of two nodes are tried for each node. More keep more of the
        network.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    InfeasibleError
        If the graph has fewer than k nodes.

    Notes
    -----
    As Hay et al. (VLDB 2008), the search looks for the groups under which the original is most
    likely: those whose numbers the fewest graphs fit, by simulated annealing. As in Campan & Truta
    (PinKDD 2008), all groups have about k nodes. Node i is in group ``i % (n // k)``, and which
    node of a group is which person is random. `Release.generalized_graph` gives groups and numbers,
    `Release.sample` further graphs.

    Examples
    --------
    >>> square = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=4)
    >>> release = SuperNodes(k=2).anonymize(square)
    >>> release.guarantee.k, release.data.n_edges
    (2, 4)
    """

    name: ClassVar[str] = "super-nodes"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = CARD

    k: int = parameter(text="smallest number of nodes in a group", minimum=2)
    certain: Literal["avoid", "allow"] = parameter(
        default="avoid",
        text="groups with all possible edges, which are then certain: avoid or allow them",
    )
    sweeps: int = parameter(
        default=200,
        text="exchanges of two nodes that are tried for each node",
        minimum=1,
        maximum=100_000,
        private=True,
    )

    @property
    def guarantee(self) -> SuperNodeAnonymity:
        """What is guaranteed of every node."""
        return SuperNodeAnonymity(k=self.k)

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        from graphveil.release.generalized_graph import PUBLISHED, GeneralizedGraph  # noqa: PLC0415  help needs no release

        # Step 1: groups, and a random order of the nodes inside them.
        price = PRICE if self.certain == "avoid" else 0.0
        groups = grouped(data, self.k, self.sweeps, price, randomness.stream("groups"))
        order = order_of(groups, randomness)
        n_groups = data.n_nodes // self.k
        released = np.empty_like(order)
        released[order] = np.arange(order.size)
        # Step 2: the numbers of edges, and the graph that the public rule samples from them.
        graph = GeneralizedGraph.counted(data, released % n_groups)
        ends = order[graph.sample(PUBLISHED).edges()]
        return Draft(
            data=Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes),
            notes=OwnersNotes(
                cost={
                    "groups": n_groups,
                    "certain_edges": graph.certain_edges,
                    "log_graphs": round(graph.log_graphs, 3),
                },
                warnings=_advice(graph.certain_edges, data.n_edges),
            ),
            order=NewIds(order),
        )


def _advice(certain: int, edges: int) -> tuple[str, ...]:
    """Return warnings for the data owner about edges that are certain.

    `certain`, `edges`: how many are, and how many there are.
    """
    if not certain:
        return ()
    text = (
        f"{counted(certain, 'edge')} of {edges:,} ({percent(certain / edges)}) can be inferred "
        "with certainty: their groups have all possible edges. A larger k leaves fewer"
    )
    return (Advice(text, CertainEntriesWarning),)


def grouped(graph: Graph, k: int, sweeps: int, certain: float, rng: Generator) -> Ints:
    """Return the group of every node: ``n // k`` of about equal size, by simulated annealing.

    `sweeps`: exchanges per node, at most; `certain`: the price of an edge that is certain. Returns
    int64, shape (n,).
    """
    from graphveil.methods.random_graphs.kernels.super_nodes import Groups, Scratch, exchange  # noqa: PLC0415  compiled

    # Step 1: random sizes that differ by at most one, and a start that fills them.
    n, n_groups = graph.n_nodes, graph.n_nodes // k
    sizes = np.full(n_groups, n // n_groups)
    sizes[rng.permutation(n_groups)[: n % n_groups]] += 1
    members = _start(graph, sizes, rng)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    groups = Groups(np.empty(n, np.int64), members, np.argsort(members), starts)
    groups.of_node[members] = np.repeat(np.arange(n_groups), sizes)
    scratch = Scratch(*(np.zeros(n_groups, np.int64) for _ in range(4)))
    # Step 2: exchanges under a falling temperature T. An exchange that raises the cost by d is made
    # if d < -T ln(U), with probability e^(-d/T): Metropolis' rule. The 1e-9 keeps differences of
    # rounding from counting as gains.
    logs = special.gammaln(np.arange(sizes.max() ** 2 + 1) + 1.0)
    indptr = graph.indptr.astype(np.int64)
    exchanges = n * sweeps if n_groups > 1 else 0
    with stage("groups", total=exchanges) as advance:
        # Calls have one temperature each: at least `LEAST_CALLS`, so that it falls in steps.
        per_call = min(MOST_PER_CALL, -(-exchanges // LEAST_CALLS)) or 1
        for done in range(0, exchanges, per_call):
            number = min(per_call, exchanges - done)
            draws = rng.integers(0, 1 << 62, size=(number, 4))
            temperature = FIRST_TEMPERATURE * (1 - done / exchanges) ** 2
            limits = -temperature * np.log1p(-rng.random(number)) - 1e-9
            exchange(indptr, graph.indices, groups, scratch, logs, certain, draws, limits)
            advance(number)
    return groups.of_node


def _start(graph: Graph, sizes: Ints, rng: Generator) -> Ints:
    """Return the nodes by group: by degree or by a common neighbor, whichever costs less.

    `sizes`: int64, shape (groups,): the sizes of the groups, which are cut from the better order.
    """
    # A min-hash of the neighbors: nodes have the same first neighbor in a random order with a
    # probability that is the Jaccard index of their neighbors. Two of them sort similar nodes
    # together.
    n, degrees = graph.n_nodes, graph.degrees()
    shuffled, ends = rng.permutation(n), graph.edges().astype(np.int64)
    firsts = []
    for _ in range(2):
        rank = rng.permutation(n)
        first = np.full(n, n)
        np.minimum.at(first, ends[:, 0], rank[ends[:, 1]])
        np.minimum.at(first, ends[:, 1], rank[ends[:, 0]])
        firsts.append(first)
    orders = [np.lexsort((shuffled, degrees)), np.lexsort((shuffled, degrees, *firsts))]
    return min(orders, key=lambda members: _cost(ends, members, sizes))


def _cost(ends: Ints, members: Ints, sizes: Ints) -> float:
    """Return the logarithm of the number of graphs that fit: the sum of log C(pairs, edges).

    `ends`: the edges; `members`: the nodes, group by group; `sizes`: those of the groups.
    """
    group = np.empty_like(members)
    group[members] = np.repeat(np.arange(sizes.size), sizes)
    pair = np.sort(group[ends], axis=1)
    blocks, edges = np.unique(pair[:, 0] * sizes.size + pair[:, 1], return_counts=True)
    a, b = np.divmod(blocks, sizes.size)
    pairs = np.where(a == b, sizes[a] * (sizes[a] - 1) // 2, sizes[a] * sizes[b])
    return float(
        (
            special.gammaln(pairs + 1)
            - special.gammaln(edges + 1)
            - special.gammaln(pairs - edges + 1)
        ).sum()
    )


def order_of(groups: Ints, randomness: Randomness) -> Ints:
    """Return the order of a release: one node of each group in turn, at random in its group.

    So node i is in group ``i % groups``. Larger groups come before smaller ones, and groups of the
    same size are in random order.
    """
    sizes = np.bincount(groups)
    shuffled = randomness.stream("order of groups").permutation(sizes.size)
    place = np.argsort(shuffled[np.argsort(-sizes[shuffled], kind="stable")])
    order = randomness.permutation(groups.size)
    order = order[np.argsort(place[groups[order]], kind="stable")]
    group_place = place[groups[order]]
    rank = np.arange(order.size) - np.searchsorted(group_place, group_place, side="left")
    return order[np.lexsort((group_place, rank))]
