"""What k-degree anonymity costs where attributes are known, beside the plain one.

    python benchmarks/profiles/attributes.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz`` (party of each blog), on which the method was tuned. The
other network is generated (`gv.datasets.generated_register`, 4,000 people, whoever any tie
joins)
and was not looked at before. Every release is written, verified, and its classes of attributes and
degrees are counted again from the published files; seconds are those of the CPU, after a first run
that compiles. Raw rows go to ``results/attributes.parquet``.
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

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from directed import polblogs

from raw_rows import write_rows

HERE = Path(__file__).parent
KS = (2, 5, 10)
SUPPRESS = (0.0, 0.02, 0.05)


def smallest_class(folder: Path, known: tuple[str, ...]) -> tuple[int, float]:
    """Return the smallest class of the published files, and the share of people with ``*``."""
    degree: Counter[str] = Counter()
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            degree.update((row["source"], row["target"]))
    listed = "people.csv" if known else "nodes.csv"
    with (folder / listed).open() as people:
        rows = list(csv.DictReader(people))
    sizes = Counter((degree[row["node"]], *(row[name] for name in known)) for row in rows)
    hidden = sum(any(row[name] == "*" for name in known) for row in rows)
    return min(sizes.values()), hidden / len(rows)


def measured(
    network: gv.Network, known: tuple[str, ...], k: int, **how: object
) -> dict[str, object]:
    """Return what a release costs; its promise is counted again from its files."""
    data = network.with_attributes(known)
    data = data if known else data.graph()
    start = time.process_time()
    release = gv.KDegree(k=k, known=",".join(known) or None, **how).anonymize(data, seed=1)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as place:
        folder = release.write(Path(place) / "out")
        least, hidden = smallest_class(folder, known)
        if least < k or not gv.verify_release(folder, data).ok:
            raise AssertionError(f"k={k} {known}: the promise does not hold")
    cost = release.private.cost
    return {
        "l1": cost["degree_change_optimum"],
        "edits": cost["edits"],
        "kept": round(1 - cost["edges_deleted"] / cost["edges_before"], 4),
        "hidden": round(hidden, 4),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    warnings.simplefilter("ignore")
    blogs = polblogs(data)
    people = gv.datasets.generated_register(4_000, seed=2)
    networks = {
        "polblogs": (blogs, True, [(), ("party",)]),
        "register 4,000": (people, False, [(), ("sex",), ("age", "sex"), ("age", "region", "sex")]),
    }
    gv.KDegree(k=2).anonymize(gv.Graph.from_edges(np.arange(9), np.arange(1, 10)), seed=1)
    rows = []
    for name, (network, tuned, attributes) in networks.items():
        plain = gv.Network((gv.Layer.of(network.undirected()),), network.people, network.labels())
        for known in attributes:
            for k in KS:
                hows = [{"edits": "any"}, {"edits": "add"}]
                hows += [{"edits": "any", "suppress": s} for s in SUPPRESS[1:] if known]
                for how in hows:
                    row = {"network": name, "tuned": tuned, "ties": plain.n_ties, "k": k}
                    row |= {"known": ",".join(known), "edits_kind": how["edits"]}
                    row |= {"suppress": how.get("suppress", 0.0)}
                    rows.append(row | measured(plain, known, k, **how))
                    print(rows[-1], flush=True)
    write_rows(HERE / "results" / "attributes.parquet", rows)


if __name__ == "__main__":
    main()
