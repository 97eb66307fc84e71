"""What a budget of ties protects in directed networks, and what a share of the people costs.

    python benchmarks/profiles/goals.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz`` and ``wiki-Vote/wiki-Vote.txt.gz``, on which the search
was tuned; a third network is generated. Every release is written, verified, and its people in small
classes are counted again from the published files; seconds are those of the CPU, after a first run
that compiles. Raw rows go to ``results/goals.parquet``; with ``--missing`` those that are there
stay, and the others are measured.
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
from directed import TUNED, generated, polblogs, wiki_vote

from raw_rows import read_rows, write_rows

HERE = Path(__file__).parent
KEYS = ("network", "known", "k", "goal", "edits_kind", "seed")
CASES = [
    *(("budget:0.05", "delete", seed) for seed in (1, 2, 3)),
    ("budget:0.05", "any", 1),
    *(("partial:0.95", edits, 1) for edits in ("any", "add", "delete")),
]


def in_small_classes(folder: Path, known: str | None, k: int) -> int:
    """Return how many people of the published files fewer than k people are like."""
    out, into = Counter(), Counter()
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            out[row["source"]] += 1
            into[row["target"]] += 1
    with (folder / "people.csv").open() as people:
        rows = list(csv.DictReader(people))
    sizes = Counter(
        (out[row["node"]], into[row["node"]], row[known] if known else "") for row in rows
    )
    return sum(size for size in sizes.values() if size < k)


def measured(
    network: gv.Network, known: str | None, k: int, goal: str, edits: str, seed: int
) -> dict[str, object]:
    """Return what a release reached, counted again from its files."""
    start = time.process_time()
    method = gv.Profile(k=k, goal=goal, edits=edits, known=known)
    release = method.anonymize(network, seed=seed)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as place:
        folder = release.write(Path(place) / "out")
        left = in_small_classes(folder, known, k)
        if not gv.verify_release(folder, network).ok:
            raise AssertionError(f"k={k} {goal} {edits}: the promise does not hold")
    cost = release.private.cost
    return {
        "before": cost["nodes_unprotected_before"],
        "left": left,
        "edits": cost["edits"],
        "kept": round(1 - cost["edges_deleted"] / network.n_ties, 4),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--missing", action="store_true", help="measure only what has no row yet")
    arguments = parser.parse_args()
    data = arguments.data
    warnings.simplefilter("ignore")
    blogs = polblogs(data)
    networks = {
        ("polblogs", None): blogs.without("party"),
        ("polblogs", "party"): blogs,
        ("wiki-Vote", None): wiki_vote(data),
        ("generated 3,000", None): generated(3_000, 30_000),
    }
    gv.Profile(k=2, goal="budget:0.05").anonymize(generated(60, 300), seed=1)
    file = HERE / "results" / "goals.parquet"
    rows = read_rows(file) if arguments.missing else []
    there = {tuple(row[key] for key in KEYS) for row in rows}
    for (name, known), network in networks.items():
        for k in (2, 5):
            for goal, edits, seed in CASES:
                row = {"network": name, "tuned": name in TUNED, "people": network.size}
                row |= {"ties": network.n_ties, "known": known or "", "k": k}
                row |= {"goal": goal, "edits_kind": edits, "seed": seed}
                if tuple(row[key] for key in KEYS) in there:
                    continue
                rows.append(row | measured(network, known, k, goal, edits, seed))
                print(rows[-1], flush=True)
                write_rows(file, rows)


if __name__ == "__main__":
    main()
