"""What known attributes add to the CPU time of k-degree anonymity, beside plain runs.

    python benchmarks/k_degree/colors.py

Networks are generated: registers (`gv.datasets.generated_register`, whoever any tie joins) of
5,000
and 20,000 people, and a Chung-Lu network of 200,000 people and a million ties with the attributes
of such a register. Nothing was tuned on them. The plain run and those with more and more known
attributes take turns; a time is the least of several, in seconds of CPU, after a first run that
compiles. *Edits* are the plan of degrees and its realization; a *whole* run also proves a bound
(without attributes, on small networks), checks, and makes the release. Degrees are counted again
from the released network. Raw rows go to ``results/colors.parquet``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.methods.attributes import colors_of
from graphveil.methods.k_degree.realize import realize

sys.path.insert(0, str(Path(__file__).parents[1]))
from generators import chung_lu_graph
from raw_rows import write_rows

KNOWN = ((), ("sex",), ("age", "sex"), ("age", "region", "sex"))
TURNS = 5


def register(n: int) -> gv.Network:
    """Return whoever any tie of a register joins, with its attributes."""
    people = gv.datasets.generated_register(n, seed=3)
    layer = gv.Layer.of(people.undirected())
    return gv.Network((layer,), people.people, people.labels())


def of_a_million_ties() -> gv.Network:
    """Return 200,000 people with a million ties."""
    n = 200_000
    graph = chung_lu_graph(n, mean_degree=10)
    people = gv.datasets.generated_register(n, seed=3).people
    return gv.Network((gv.Layer.of(graph),), people)


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def smallest_cell(network: gv.Network | gv.Graph) -> int:
    """Return how many people share attributes and degree with the fewest others."""
    if isinstance(network, gv.Graph):
        return min(Counter(network.degrees().tolist()).values())
    codes = network.people.codes.tolist()
    degrees = network.layers[0].degrees()[0].tolist()
    return min(Counter((degree, *row) for degree, row in zip(degrees, codes, strict=True)).values())


def rows_of(name: str, network: gv.Network, k: int) -> list[dict[str, object]]:
    """Return what a plain run costs, and runs with attributes beside it."""
    graph = network.graph()
    lists = (graph.indptr, graph.indices)
    edits, wholes, rows = {}, {}, []
    for known in KNOWN:
        data = network.with_attributes(known) if known else graph
        method = gv.KDegree(k=k, known=",".join(known) or None)
        colors = colors_of(network, known, k, "suppress", Randomness(seed=1)).of_person

        def edited(colors: object = colors) -> object:
            how = {"edits": "any", "target": "exact", "near": True, "restarts": 2}
            return realize(lists, k, colors=colors, randomness=Randomness(seed=1), **how)

        def whole(method: gv.KDegree = method, data: object = data) -> gv.Release:
            return method.anonymize(data, seed=1)

        edits[known], wholes[known] = edited, whole
        release, made = whole(), edited()
        if smallest_cell(release.data) < k:
            raise SystemExit(f"{name}, k={k}, {known}: the promise does not hold")
        rows.append(
            {
                "network": name,
                "people": graph.n_nodes,
                "ties": graph.n_edges,
                "k": k,
                "known": ",".join(known),
                "colors": 1 if colors is None else int(colors.max()) + 1,
                "l1": made.l1,
                "edits": made.cost,
                "edits_of_release": release.private.cost["edits"],
            }
        )
    for column, works in (("edits_seconds", edits), ("whole_seconds", wholes)):
        turns = [[seconds(works[known]) for known in KNOWN] for _ in range(TURNS)]
        for row, times in zip(rows, zip(*turns, strict=True), strict=True):
            row[column] = round(min(times), 5)
    for row in rows:
        row["edits_ratio"] = round(row["edits_seconds"] / rows[0]["edits_seconds"], 2)
        row["whole_ratio"] = round(row["whole_seconds"] / rows[0]["whole_seconds"], 2)
        row["micros_an_edit"] = round(1e6 * row["edits_seconds"] / row["edits"], 1)
        print(row, flush=True)
    return rows


def main() -> None:
    warnings.simplefilter("ignore")
    gv.precompile()
    networks = {
        "register 5,000": register(5_000),
        "register 20,000": register(20_000),
        "Chung-Lu 200,000": of_a_million_ties(),
    }
    rows: list[dict[str, object]] = []
    for name, network in networks.items():
        for k in (5, 10):
            rows += rows_of(name, network, k)
    write_rows(Path(__file__).parent / "results" / "colors.parquet", rows)


if __name__ == "__main__":
    main()
