"""What it takes that people share directed ties and what is around them, beside profiles alone.

    python benchmarks/profiles/surroundings.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz``, on which the search was tuned, and, on which nothing was,
``wiki-Vote/wiki-Vote.txt.gz`` and ``standin-web-NotreDame``, of which the first 10,000 pages are
taken. Every release is written and verified, and its people in small classes are counted again from
the published files by sets of neighbors; seconds are those of the CPU, after a first run that
compiles. Raw rows go to ``results/surroundings.parquet``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from directed import generated, polblogs, wiki_vote

from raw_rows import write_rows

HERE = Path(__file__).parent
PAGES = 10_000
MEASURE = "directed-count"
CASES = [("budget:0.05", "delete"), ("budget:0.05", "any"), ("full", "delete"), ("full", "any")]


def pages(data: Path) -> gv.Network:
    """Return the links among the first pages of a web site."""
    [file] = (data / "standin-web-NotreDame").glob("*NotreDame*.txt.gz")
    with gzip.open(file, "rt") as text:
        ends = [line.split() for line in text if not line.startswith("#")]
    pairs = np.array(ends, dtype=np.int64)
    pairs = pairs[(pairs < PAGES).all(axis=1)]
    return gv.Network((gv.Layer.from_arcs(pairs[:, 0], pairs[:, 1], n=PAGES),))


def left(folder: Path, measure: str, k: int) -> int:
    """Return how many people stand in classes below k, by a count of the published files."""
    out, into = defaultdict(set), defaultdict(set)
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            out[row["source"]].add(row["target"])
            into[row["target"]].add(row["source"])
    with (folder / "people.csv").open() as file:
        people = [row["node"] for row in csv.DictReader(file)]
    cells = []
    for person in people:
        cell = [len(out[person]), len(into[person])]
        if measure == MEASURE:
            near = out[person] | into[person] | {person}
            cell += [len(near), sum(len(out[one] & near) for one in near)]
        cells.append(tuple(cell))
    return sum(size for size in Counter(cells).values() if size < k)


def measured(network: gv.Network, measure: str, k: int, goal: str, edits: str) -> dict[str, object]:
    """Return what a release reached, counted again from its files."""
    asked = {"k": k, "goal": goal, "edits": edits}
    if measure == MEASURE:
        method = gv.StructuralAnonymity(measure=measure, **asked)
    else:
        method = gv.Profile(**asked)
    start = time.process_time()
    release = method.anonymize(network, seed=1)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as place:
        folder = release.write(Path(place) / "out")
        few = left(folder, measure, k)
        if not gv.verify_release(folder, network).ok:
            raise AssertionError(f"{measure} k={k} {goal} {edits}: the promise does not hold")
    cost = release.private.cost
    return {
        "left": few,
        "edits": cost["edits"],
        "kept": round(1 - cost["edges_deleted"] / network.n_ties, 4),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    warnings.simplefilter("ignore")
    gv.precompile()
    networks = {
        "polblogs": polblogs(data).without("party"),
        "wiki-Vote": wiki_vote(data),
        "NotreDame 10,000": pages(data),
    }
    small = generated(60, 300)
    for goal, edits in CASES:
        for measure in (MEASURE, "profile"):
            measured(small, measure, 2, goal, edits)
    rows = []
    for name, network in networks.items():
        for k in (2, 5):
            for measure in (MEASURE, "profile"):
                start = time.process_time()
                risk = gv.measure(network, measure=measure, k=k)
                of_input = {
                    "unique": round(risk.uniqueness, 4),
                    "before": int(risk.unprotected().size),
                    "measure_seconds": round(time.process_time() - start, 3),
                }
                for goal, edits in CASES:
                    row = {"network": name, "tuned": name == "polblogs"}
                    row |= {"people": network.size, "ties": network.n_ties, "k": k}
                    row |= {"measure": measure, "goal": goal, "edits_kind": edits, **of_input}
                    rows.append(row | measured(network, measure, k, goal, edits))
                    print(rows[-1], flush=True)
                    write_rows(HERE / "results" / "surroundings.parquet", rows)


if __name__ == "__main__":
    main()
