"""Small networks, and releases of them made by hand, for tests of attacks."""

from __future__ import annotations

import networkx as nx
import numpy as np

import graphveil as gv
from graphveil.attacks.networks.copies.paired_copy import pairing
from graphveil.claims.guarantees import NotClaimed
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.attack import attack_release as attack


def rng_of(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def random_graph(n, m, seed=1, *, ids=None):
    """Return a graph of n nodes and at most m edges, drawn evenly."""
    ends = rng_of(seed).integers(0, n, size=(m, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=n, ids=ids)


def cycle(n):
    return gv.Graph.from_edges(range(n), [(v + 1) % n for v in range(n)], n=n)


def release_of(original, published=None, *, order=None, linkage=True):
    """Return a release that publishes a graph under new positions: node order[j] stands at j."""
    n = original.n_nodes
    order = np.arange(n) if order is None else np.asarray(order)
    published = original if published is None else published
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    return Release(
        data=published.permuted(order),
        guarantee=NotClaimed(reasons=("renamed",)),
        provenance=Provenance(method="by-hand", source="a test", limits="All.", parameters={}),
        private=Private(
            input_sha256=digest_of(original),
            cost={},
            linkage=Linkage(original.labels(), position) if linkage else None,
        ),
    )


def compared(original, published=None, order=None):
    """Return what attacks read of such a release."""
    release = release_of(original, published, order=order)
    return comparison_of(release, original, Randomness(seed=1), wanted_by="attack")


def paired(n, m, published=None, *, people=1.0, overlap=1.0):
    """Return a copy of a drawn network beside a release of it, or beside another graph."""
    pair = compared(random_graph(n, m), published, rng_of(3).permutation(n))
    return pairing(pair, overlap, rng_of(5), people=people)


def share_right(two, match):
    """Return the share of the people whom a match gives their own node."""
    return float((match == two.truth)[two.active].mean())


def attacked(name, original, published=None, *, seed=1, order=None, linkage=True, **options):
    """Return the rows of one attack, and what was not measured."""
    release = release_of(original, published, order=order, linkage=linkage)
    return attack(release, original=original, attacks=[name], seed=seed, options={name: options})


def figures(*case, **how):
    return {row.part: row.value for row in attacked(*case, **how)}


SMALL = [graph for graph in nx.graph_atlas_g() if len(graph) <= 6]
"""All graphs of up to six nodes, one of each that are isomorphic."""


def turned(graph):
    """Return a graph whose nodes 0, 1, ... have their names in the opposite order."""
    return nx.relabel_nodes(graph, {node: len(graph) - 1 - node for node in graph})


def cones(graphs):
    """Return the size and edges of one graph in which each graph surrounds a node, and these."""
    n, edges, centers = 0, [], []
    for graph in graphs:
        centers.append(n)
        edges += [(n + 1 + u, n + 1 + v) for u, v in graph.edges]
        edges += [(n, n + 1 + u) for u in graph]
        n += 1 + len(graph)
    return n, edges, centers
