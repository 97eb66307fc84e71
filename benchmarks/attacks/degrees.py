"""Whom the degrees of a release name, where it was drawn from noisy degrees.

    python benchmarks/attacks/degrees.py --data FOLDER [--releases N]

Releases of the methods that publish a graph drawn from noisy degrees, without a seed: so they state
these. Attacked by sorting (`degree-matching`), by the degrees of neighbors (`candidate-set`) and,
on networks of up to `MOST_MATCHED` nodes, by a copy of the network (`seeded-matching`). Rows go to
``results/degrees.parquet``; a release is new in every run, and what is there is replaced.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import Row, write_rows

RESULTS = Path(__file__).parent / "results" / "degrees.parquet"
FILES = {
    "primary school": "anonet/primaryschool.edges",
    "arenas-email": "anonet/out.arenas-email.edges",
    "polblogs": "polblogs/edges.tsv.gz",
    "as20graph": "as20graph/edges.tsv.gz",
}
METHODS = {"degree-triangle-model": gv.DegreeTriangleModel, "dp-1k": gv.OneKSeries}
EPSILONS = (1.0, 2.0, 4.0, 7.0)
MOST_MATCHED = 300
RELEASES = 5


def rows_of(name: str, graph: gv.Graph, method: str, epsilon: float) -> list[Row]:
    """Return a row for every figure of the attacks on one release."""
    release = METHODS[method](epsilon=epsilon).anonymize(graph)
    told = list(gv.attack_release(release, graph, attacks=["degree-matching", "candidate-set"]))
    for known in (0, 20) if graph.n_nodes <= MOST_MATCHED else ():
        wanted = {"seeded-matching": {"known": known}}
        told += gv.attack_release(release, graph, attacks=list(wanted), options=wanted)
    common = {"data": name, "people": graph.n_nodes, "method": method, "epsilon": epsilon}
    return [
        {**common, "attack": row.question, "part": row.part, "value": row.value, "guess": row.guess}
        for row in told
        if row.value is not None
    ]


def main() -> None:
    """Attack releases, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--releases", type=int, default=RELEASES)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for name, file in FILES.items():
        graph = gv.read_graph(asked.data / file, directed="symmetrize", ignore_weights=True)
        for method in METHODS:
            for epsilon in EPSILONS:
                for release in range(asked.releases):
                    made = rows_of(name, graph, method, epsilon)
                    rows += [{**row, "release": release} for row in made]
                write_rows(RESULTS, rows)
                print(name, method, epsilon, flush=True)


if __name__ == "__main__":
    main()
