"""The networks of the paper's table I that are at hand, and a made one of the size of its largest.

Of polblogs the paper prints 1,124 nodes; the file has 1,224 with an edge. Nodes without an edge are
in none of them: the paper's counts leave them out.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from generators import chung_lu_graph


class Row(NamedTuple):
    """A row of table I: nodes, edges, and two log-likelihoods, of which the paper prints so much.

    Parameters
    ----------
    by_communities, by_pairs
        Of the tree that Louvain's communities give, and of that which pairs nodes 1 and 2, 3 and 4.
    """

    nodes: int
    edges: int
    by_communities: str
    by_pairs: str


PAPER = {
    "polbooks": Row(105, 441, "-950", "-1248"),
    "polblogs": Row(1124, 16715, "-66k", "-74k"),
    "as20graph": Row(6474, 12572, "-71k", "-100k"),
    "wiki-Vote": Row(7115, 100762, "-576k", "-618k"),
    "ca-HepPh": Row(12006, 118489, "-383k", "-876k"),
    "ca-AstroPh": Row(18771, 198050, "-904k", "-1.54m"),
}
MADE = "chung-lu"
"""A made graph with the nodes and about the edges of the paper's youtube: 1,134,890 and 2.99 m."""


def read(name: str, folder: Path) -> gv.Graph:
    """Return a network of the folder, or the made one."""
    if name == MADE:
        return chung_lu_graph(1_134_890, mean_degree=5.293, exponent=2.3, seed=1)
    with gzip.open(folder / name / "edges.tsv.gz", "rt") as file:
        ends = np.loadtxt(file, dtype=np.int64, ndmin=2)[:, :2]
    return gv.Graph.assemble(ends[:, 0], ends[:, 1])[0]
