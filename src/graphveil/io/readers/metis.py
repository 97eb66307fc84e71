"""METIS adjacency: the sizes, and then the neighbors of every node on a line, counted from 1.

The first line has the numbers of nodes and edges, and may say in three digits which weights follow:
sizes of nodes, weights of nodes, weights of edges. Every edge is in two lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import IO

import numpy as np

from graphveil.core.hints import leave_out
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.data.network import MAX_NODES
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.parsed import ParsedArcs, ReadCounts
from graphveil.io.source import Source, shown


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a METIS file; its nodes are 0..n-1 in the order of the lines."""
    # The head says how many cells come before the neighbors, and how many belong to each.
    notes = ReadCounts()
    lines = _lines(source, notes)
    number, head = next(lines, (1, ""))
    n, m, skipped, step = _head(source, number, head, ignore_weights=options.ignore_weights)
    if skipped or step > 1:
        notes.columns_ignored = ("weights",)
    # One line per node, empty for a node without neighbors.
    target: list[int] = []
    sizes: list[int] = []
    for number, line in islice(lines, n):
        cells = line.split()[skipped::step]
        neighbors = _neighbors(source, cells, n, number)
        target.extend(neighbors)
        sizes.append(len(neighbors))
    # What is declared must be there: fewer or more lines, or neighbors, are refused.
    if len(sizes) != n:
        source.refuse(
            f"{counted(len(sizes), 'line')} of neighbors for {counted(n, 'node')}. Copy the "
            "complete file again."
        )
    for number, line in lines:
        if line.strip():
            source.refuse(
                f"there is a line after the last node's ({shown(line)}). Remove it.", line=number
            )
    if len(target) != 2 * m:
        source.refuse(
            f"{counted(len(target), 'neighbor')} in the lists, but {m} edges require {2 * m}. "
            "Correct the first line, or list every edge twice."
        )
    notes.rows = n
    return ParsedArcs(
        source=np.repeat(np.arange(n, dtype=np.int32), sizes),
        target=np.array(target, dtype=np.int32) - 1,
        labels=np.arange(n, dtype=np.int64),
        directed=True,
        twice=True,
        notes=notes,
    )


def write_graph(graph: Graph, stream: IO[bytes], _form: Format) -> None:
    """Write the numbers of nodes and edges, and then the neighbors of every node."""
    stream.write(f"{graph.n_nodes} {graph.n_edges}\n".encode())
    for node in range(graph.n_nodes):
        stream.write(" ".join(map(str, (graph.neighbors(node) + 1).tolist())).encode() + b"\n")


def _lines(source: Source, notes: ReadCounts) -> Iterator[tuple[int, str]]:
    for number, line in source.lines():
        if line.lstrip().startswith("%"):
            notes.comment_lines += 1
        else:
            yield number, line


def _head(
    source: Source, number: int, line: str, *, ignore_weights: bool
) -> tuple[int, int, int, int]:
    """Return nodes, edges, cells before the neighbors, and cells a neighbor."""
    cells = line.split()
    if not 2 <= len(cells) <= 4 or not all(c.isascii() and c.isdigit() for c in cells):
        source.refuse(
            f"expected the numbers of nodes and edges, found {shown(line)}. Correct the line.",
            line=number,
        )
    n, m = int(cells[0][:20]), int(cells[1][:20])
    if n > MAX_NODES:
        source.refuse(
            f"{n:,} nodes exceed the maximum of {MAX_NODES:,}. Check the first line.", line=number
        )
    # The digits of the format: sizes of nodes, weights of nodes, weights of edges.
    weights = (cells[2] if len(cells) > 2 else "0").rjust(3, "0")[-3:]
    if set(weights) != {"0"} and not ignore_weights:
        source.refuse(f"the file has weights ({weights}). {leave_out()}", line=number)
    per_node = int(cells[3][:4]) if len(cells) > 3 else 1
    skipped = (weights[0] == "1") + per_node * (weights[1] == "1")
    return n, m, skipped, 2 if weights[2] == "1" else 1


def _neighbors(source: Source, cells: list[str], n: int, number: int) -> list[int]:
    try:
        neighbors = [int(cell) for cell in cells]
    except ValueError:
        neighbors = [0]
    if neighbors and (min(neighbors) < 1 or max(neighbors) > n):
        bad = next(c for c in cells if not (c.isdigit() and 1 <= int(c[:20]) <= n))
        source.refuse(f"{shown(bad)} is not a node from 1 to {n}. Correct the line.", line=number)
    return neighbors
