"""What profile anonymity changes of directed networks, and what attackers still learn.

    python benchmarks/profiles/directed.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz`` (party of each blog) and ``wiki-Vote/wiki-Vote.txt.gz``,
on which the method was tuned. Two further networks are generated here: one of 3,000 people, and one
of 100,000 with nearly a million arcs. Every release is written, verified, and its profiles are
counted again from the published files; seconds are those of the CPU, after a first run that
compiles. Raw rows go to ``results/profile.parquet``, those of attacks to
``results/profile_attacks.parquet``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
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
TUNED = ("polblogs", "wiki-Vote")
ATTACKS = ("candidate-set", "seeded-matching")


def polblogs(data: Path) -> gv.Network:
    """Return the links between blogs, and the party of each."""
    with gzip.open(data / "polblogs/polblogs.gml.gz", "rt") as file:
        text = file.read()
    ids, parties, source, target = (
        [int(number) for number in re.findall(pattern, text, re.MULTILINE)]
        for pattern in (r"^\s+id (\d+)", r"^\s+value (\d+)", r"source (\d+)", r"target (\d+)")
    )
    at = {number: place for place, number in enumerate(ids)}
    layer = gv.Layer.from_arcs([at[u] for u in source], [at[v] for v in target], n=len(ids))
    party = gv.Table.from_columns(
        {"party": ["left" if value == 0 else "right" for value in parties]}
    )
    return gv.Network((layer,), party)


def wiki_vote(data: Path) -> gv.Network:
    """Return who voted on whom."""
    pairs = np.loadtxt(data / "wiki-Vote/wiki-Vote.txt.gz", dtype=np.int64)
    people, ends = np.unique(pairs, return_inverse=True)
    source, target = ends.reshape(-1, 2).T
    return gv.Network((gv.Layer.from_arcs(source, target, n=people.size),))


def generated(n: int, arcs: int) -> gv.Network:
    """Return arcs whose ends are drawn by powers of ranks, a fifth of them answered."""
    rng = np.random.Generator(np.random.PCG64(11))
    weights = np.arange(1, n + 1) ** -0.6
    weights /= weights.sum()
    source, target = (rng.permutation(n)[rng.choice(n, size=arcs, p=weights)] for _ in range(2))
    answered = rng.random(arcs) < 0.2
    ends = np.concatenate([source, target[answered]]), np.concatenate([target, source[answered]])
    return gv.Network((gv.Layer.from_arcs(*ends, n=n),))


def fewest(folder: Path, known: str | None) -> int:
    """Return how many people the smallest class of the published files has."""
    out, into = Counter(), Counter()
    with (folder / "data.csv").open() as ties:
        for row in csv.DictReader(ties):
            out[row["source"]] += 1
            into[row["target"]] += 1
    with (folder / "people.csv").open() as people:
        rows = list(csv.DictReader(people))
    return min(
        Counter(
            (out[row["node"]], into[row["node"]], row[known] if known else "") for row in rows
        ).values()
    )


def measured(
    network: gv.Network, k: int, edits: str, known: str | None, place: Path
) -> tuple[gv.Release[gv.Network], dict[str, object]]:
    """Return a release, and what it cost; its promise is counted again from its files."""
    start = time.process_time()
    release = gv.Profile(k=k, edits=edits, known=known).anonymize(network, seed=1)
    seconds = time.process_time() - start
    folder = release.write(place / f"{k}-{edits}-{known}")
    if fewest(folder, known) < k or not gv.verify_release(folder, network).ok:
        raise AssertionError(f"k={k} {edits}: the promise does not hold")
    cost, arcs = release.private.cost, network.n_ties
    return release, {
        "change": cost["profile_change"],
        "edits": cost["edits"],
        "kept": round(1 - cost["edges_deleted"] / arcs, 4),
        "rounds": cost["rounds"],
        "seconds": round(seconds, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", help="the network to run; its rows replace those that are there")
    parser.add_argument("--attacks-alone", action="store_true", help="leave costs as they are")
    arguments = parser.parse_args()
    data, only = arguments.data, arguments.only
    warnings.simplefilter("ignore")
    blogs = polblogs(data)
    networks = {
        ("polblogs", None): blogs.without("party"),
        ("polblogs", "party"): blogs,
        ("wiki-Vote", None): wiki_vote(data),
        ("generated 3,000", None): generated(3_000, 30_000),
        ("generated 100,000", None): generated(100_000, 840_000),
    }
    gv.Profile(k=2).anonymize(generated(60, 300), seed=1)
    files = [HERE / "results" / name for name in ("profile.parquet", "profile_attacks.parquet")]
    alone = arguments.attacks_alone
    rows, attacked = (
        [row for row in read_rows(file) if only and row["network"] != only] for file in files
    )
    for (name, known), network in networks.items():
        if only not in (None, name):
            continue
        for k in () if alone else (5,) if name.endswith("100,000") else KS:
            for edits in ("any", "add"):
                with tempfile.TemporaryDirectory() as place:
                    release, figures = measured(network, k, edits, known, Path(place))
                row = {"network": name, "tuned": name in TUNED, "people": network.size}
                row |= {"arcs": network.n_ties, "known": known or "", "k": k, "edits_kind": edits}
                rows.append(row | figures)
                print(rows[-1], flush=True)
                write_rows(files[0], rows)
        if network.size <= 4_000:
            for edits in ("any", "add"):
                release = gv.Profile(k=20, edits=edits, known=known).anonymize(network, seed=1)
                found = gv.attack_release(
                    release,
                    original=network,
                    attacks=list(ATTACKS),
                    seed=1,
                    options={"seeded-matching": {"draws": 1}},
                )
                attacked += [
                    {"network": name, "tuned": name in TUNED, "known": known or "", "k": 20}
                    | {"edits_kind": edits, "attack": one.question, "part": one.part}
                    | {"value": one.value, "unit": one.unit, "guess": one.guess}
                    for one in found
                    if one.value is not None
                ]
                for one in attacked[-40:]:
                    print(
                        one["network"],
                        one["known"],
                        edits,
                        one["attack"],
                        one["part"],
                        one["value"],
                    )
                write_rows(files[1], attacked)


if __name__ == "__main__":
    main()
