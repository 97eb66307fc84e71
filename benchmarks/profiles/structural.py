"""What structural anonymity reaches where attributes are known, beside the plain one.

    python benchmarks/profiles/structural.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz`` (party of each blog), on which the method was tuned, and
``wiki-Vote/wiki-Vote.txt.gz``; a third network is generated (`gv.datasets.generated_register`,
1,500 people, whoever any tie joins). Nothing was tuned on these two. At most 5 % of the ties are
deleted, or as few as protect 95 % of the people, measure ``count``; people whose attributes, degree
and triangles fewer than k have are counted again from the published files.
Raw rows go to ``results/structural.parquet``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from directed import polblogs, wiki_vote

from raw_rows import write_rows

HERE = Path(__file__).parent
GOALS = (("budget:0.05", 2), ("budget:0.05", 5), ("partial:0.95", 2))


def left(folder: Path, known: tuple[str, ...], k: int) -> int:
    """Return how many people stand in classes below k, by a count of the published files."""
    listed = "people.csv" if known else "nodes.csv"
    with (folder / listed).open() as people:
        rows = {row["node"]: tuple(row[name] for name in known) for row in csv.DictReader(people)}
    near: dict[str, set[str]] = {node: set() for node in rows}
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            near[row["source"]].add(row["target"])
            near[row["target"]].add(row["source"])
    triangles = {v: sum(len(near[u] & near[v]) for u in near[v]) // 2 for v in near}
    cells = {v: (rows[v], len(near[v]), triangles[v]) for v in near}
    sizes = Counter(cells.values())
    return sum(sizes[cell] < k for cell in cells.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    warnings.simplefilter("ignore")
    networks = {
        "polblogs": (polblogs(data), True, ("party",)),
        "register 1,500": (gv.datasets.generated_register(1_500, seed=5), False, ("sex",)),
        "wiki-Vote": (wiki_vote(data), False, ()),
    }
    rows = []
    for name, (network, tuned, attributes) in networks.items():
        joined = gv.Network((gv.Layer.of(network.undirected()),), network.people, network.labels())
        for known in dict.fromkeys(((), attributes)):
            chosen = joined.with_attributes(known) if known else joined.graph()
            for goal, k in GOALS:
                method = gv.StructuralAnonymity(
                    measure="count", k=k, goal=goal, known=",".join(known) or None, keep="none"
                )
                start = time.process_time()
                release = method.anonymize(chosen, seed=1)
                seconds = time.process_time() - start
                with tempfile.TemporaryDirectory() as place:
                    folder = release.write(Path(place) / "out")
                    if not gv.verify_release(folder, chosen).ok:
                        raise AssertionError(f"{name} k={k}: the promise does not hold")
                    people = left(folder, known, k)
                row = {"network": name, "tuned": tuned, "people": chosen.size, "k": k}
                row |= {
                    "known": ",".join(known),
                    "goal": goal,
                    "left": people,
                    "seconds": round(seconds, 2),
                }
                row |= {
                    "edits": release.private.cost["edits"],
                    "ties": network.undirected().n_edges,
                }
                rows.append(row)
                print(row, flush=True)
                write_rows(HERE / "results" / "structural.parquet", rows)


if __name__ == "__main__":
    main()
