"""What profile anonymity over several kinds of ties changes, together and each kind alone.

    python benchmarks/profiles/layers.py

The networks are generated (`gv.datasets.generated_register`): calls, which are directed, family
and
work, which are not. The method was tuned on the one of 1,000 people; the others were not looked at
before. Every release is written, verified, and its profiles are counted again from the published
files; seconds are those of the CPU, after a first run that compiles. ``alone`` makes each kind
k-anonymous by itself, and counts who still stands out by all of them together. Raw rows go to
``results/layers.parquet``; with ``--missing`` those that are there stay, and the
others are measured.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

HERE = Path(__file__).parent
KS = (2, 5, 10)
TOGETHER = (("any", None), ("add", None), ("any", "sex"))
KEYS = ("network", "k", "how", "known", "edits_kind")
NETWORKS = {"1,000": (1_000, 1, True), "4,000": (4_000, 2, False), "20,000": (20_000, 3, False)}


def fewest(folder: Path, network: gv.Network, known: str | None) -> int:
    """Return how many people the smallest class of the published files has."""
    directed = {layer.name for layer in network.layers if layer.directed}
    counts: Counter[tuple[str, str, str]] = Counter()
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            layer = row["layer"]
            counts[row["source"], layer, "out" if layer in directed else ""] += 1
            counts[row["target"], layer, "in" if layer in directed else ""] += 1
    sides = [
        (layer.name, side)
        for layer in network.layers
        for side in (("out", "in") if layer.directed else ("",))
    ]
    with (folder / "people.csv").open() as people:
        rows = list(csv.DictReader(people))
    cells = (
        (*(counts[row["node"], *side] for side in sides), row[known] if known else "")
        for row in rows
    )
    return min(Counter(cells).values())


def together(
    network: gv.Network, k: int, edits: str, known: str | None, place: Path
) -> dict[str, object]:
    """Return what a release costs whose promise is about all kinds together."""
    start = time.process_time()
    release = gv.Profile(k=k, edits=edits, known=known).anonymize(network, seed=1)
    seconds = time.process_time() - start
    folder = release.write(place / f"{k}-{edits}-{known}")
    if fewest(folder, network, known) < k or not gv.verify_release(folder, network).ok:
        raise AssertionError(f"k={k} {edits}: the promise does not hold")
    cost = release.private.cost
    kept = {
        f"kept_{part.partition(':')[0]}": value
        for part, value in kept_by_kind(folder, network).items()
    }
    return {
        "change": cost["profile_change"],
        "edits": cost["edits"],
        "share": round(cost["edits"] / network.n_ties, 4),
        "rounds": cost["rounds"],
        "seconds": round(seconds, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        **kept,
    }


def kept_by_kind(folder: Path, network: gv.Network) -> dict[str, float]:
    """Return the share of the ties of each kind that stand in the release."""
    linkage = gv.read_release(folder).private.linkage
    position = linkage.released
    released = {layer.name: layer for layer in gv.read_release(folder).data.layers}
    kept = {}
    for layer in network.layers:
        there = set(zip(*(end.tolist() for end in released[layer.name].ties()), strict=True))
        ends = (position[end].tolist() for end in layer.ties())
        pairs = [
            (u, v) if layer.directed else (min(u, v), max(u, v)) for u, v in zip(*ends, strict=True)
        ]
        kept[layer.name] = round(sum(pair in there for pair in pairs) / max(len(pairs), 1), 4)
    return kept


def alone(network: gv.Network, k: int) -> dict[str, object]:
    """Return what it costs to make each kind k-anonymous by itself, and who still stands out."""
    profiles, edits = [], 0
    for layer in network.layers:
        if layer.directed:
            release = gv.Profile(k=k).anonymize(gv.Network((layer,)), seed=1)
        else:
            release = gv.KDegree(k=k).anonymize(gv.Network((layer,)).graph(), seed=1)
        edits += release.private.cost["edits"]
        order = np.argsort(release.private.linkage.original)
        degrees = release.data.profiles().reshape(network.n_nodes, -1)
        profiles.append(degrees[release.private.linkage.released[order]])
    _, of_person, sizes = np.unique(
        np.column_stack(profiles), axis=0, return_inverse=True, return_counts=True
    )
    left = float((sizes[of_person.reshape(-1)] < k).mean())
    return {"edits": edits, "share": round(edits / network.n_ties, 4), "below_k": round(left, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="the network to run; its rows replace those that are there")
    parser.add_argument("--missing", action="store_true", help="measure only what has no row yet")
    arguments = parser.parse_args()
    only, missing = arguments.only, arguments.missing
    warnings.simplefilter("ignore")
    gv.Profile(k=2).anonymize(
        gv.datasets.generated_register(60, seed=9).without("age", "region", "sex"), seed=1
    )
    file = HERE / "results" / "layers.parquet"
    rows = [row for row in read_rows(file) if missing or (only and row["network"] != only)]
    there = {tuple(row[key] for key in KEYS) for row in rows}
    for name, (n, seed, tuned) in NETWORKS.items():
        if only not in (None, name):
            continue
        whole = gv.datasets.generated_register(n, seed=seed)
        bare, sexes = whole.with_attributes([]), whole.with_attributes(["sex"])
        for k in KS:
            row = {"network": name, "tuned": tuned, "ties": whole.n_ties, "k": k}
            hows = [("alone", "any", None), *(("together", *how) for how in TOGETHER)]
            for how, edits, known in hows:
                row |= {"how": how, "known": known or "", "edits_kind": edits}
                if tuple(row[key] for key in KEYS) in there:
                    continue
                if how == "alone":
                    rows.append(row | alone(bare, k))
                else:
                    network = bare if known is None else sexes
                    with tempfile.TemporaryDirectory() as place:
                        rows.append(row | together(network, k, edits, known, Path(place)))
                print(rows[-1], flush=True)
                write_rows(file, rows)


if __name__ == "__main__":
    main()
