"""How many edges change where some people only are protected, beside k-degree of everybody.

    python benchmarks/k_degree/subset.py [--data FOLDER]

The network that ships with the package, and those of FOLDER (``anonet/NAME``) where it is given.
Nothing was tuned on any of them. For k=5 and both kinds of edits, 10, 30 and 100% of the people are
drawn evenly, from three seeds. Edges are compared again by the two edge lists, and the degree of
every protected person is counted again. *Bound* is half of the least change of degrees, which no
solution is below. Raw rows go to ``results/subset.parquet``; a table of means is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from statistics import mean

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import write_rows

HERE = Path(__file__).parent
K = 5
SHARES = (0.1, 0.3, 1.0)
SEEDS = (1, 2, 3)
OTHERS = (
    "out.arenas-email.edges",
    "out.dnc-temporalGraph.edges",
    "out.opsahl-powergrid.edges",
    "CA-GrQc.edges",
)


def drawn(graph: gv.Graph, share: float, seed: int) -> list[int | str]:
    """Return the ids of a share of the people."""
    n = graph.n_nodes
    chosen = np.random.default_rng(seed).permutation(n)[: round(share * n)]
    return list(graph.labels()[chosen].tolist())


def measured(
    graph: gv.Graph, edits: str, people: list[int | str] | None, seed: int
) -> dict[str, object]:
    """Return the edits of a run, counted again, its bound and its CPU seconds."""
    start = time.process_time()
    release = gv.KDegree(k=K, edits=edits, people=people).anonymize(graph, seed=seed)
    seconds = time.process_time() - start
    linkage = release.private.linkage
    place = np.empty(graph.n_nodes, dtype=np.int64)
    place[linkage.released] = np.arange(graph.n_nodes)
    after = {tuple(e) for e in np.sort(place[release.data.edges()], axis=1).tolist()}
    before = {tuple(e) for e in graph.edges().tolist()}
    degrees = release.data.degrees()
    classes = np.bincount(degrees)[degrees]
    who = np.isin(linkage.original, people) if people else np.ones(graph.n_nodes, dtype=bool)
    if classes[linkage.released[who]].min() < K or (edits == "add" and before - after):
        raise AssertionError(f"{edits}: the promise does not hold")
    return {
        "added": len(after - before),
        "deleted": len(before - after),
        "at_least": release.private.cost["edits_lower_bound"],
        "nodes_below_k": int(np.count_nonzero(classes < K)),
        "seconds": round(seconds, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    data = parser.parse_args().data
    warnings.simplefilter("ignore")
    graphs = {"copenhagen-calls": gv.datasets.load("copenhagen-calls")}
    for name in OTHERS if data else ():
        form = {"format": "text"} if name.startswith("out.") else {}
        graphs[name] = gv.read_graph(
            data / "anonet" / name, directed="symmetrize", ignore_weights=True, **form
        )
    rows = []
    for name, graph in graphs.items():
        gv.KDegree(k=2, people=drawn(graph, 0.1, 0)).anonymize(graph, seed=1)
        for edits in ("add", "any"):
            for share in (*SHARES, None):
                some = []
                for seed in SEEDS:
                    people = None if share is None else drawn(graph, share, seed)
                    row = {"network": name, "nodes": graph.n_nodes, "edges": graph.n_edges}
                    row |= {"k": K, "kind": edits, "seed": seed}
                    row |= {"people": "everybody" if share is None else f"{share:.0%}"}
                    some.append(row | measured(graph, edits, people, seed))
                rows += some
                write_rows(HERE / "results" / "subset.parquet", rows)
                names = ("added", "deleted", "at_least", "nodes_below_k", "seconds")
                means = [f"{mean(row[each] for row in some):.1f}" for each in names]
                said = (name, graph.n_nodes, graph.n_edges, edits, some[0]["people"], *means)
                print("|", " | ".join(map(str, said)), "|", flush=True)


if __name__ == "__main__":
    main()
