"""What attackers learn of networks with attributes, directions and kinds of ties.

    python benchmarks/profiles/attacks.py --data FOLDER

FOLDER holds ``polblogs/polblogs.gml.gz`` (party of each blog), on which the methods were tuned. The
other network is generated (`gv.datasets.generated_register`, 1,500 people) and was not looked at
before. Methods for networks without directions get whoever any tie joins. Every release is made
once, `profile` of polblogs five times (`AGAIN`) at three strengths (`STRENGTHS`), verified from its
folder, and attacked from there, by attackers who know a little about one person (`candidate-set`,
`neighbor-attributes`), who look at neighbors or cells (`attribute-inference`, `homogeneity`), or
who have a copy, of the edges alone or of all that is published. Further releases, and those at
weaker strengths, are attacked with a whole copy and no known node. Raw rows go to
``results/attacks.parquet``.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphveil as gv
from graphveil.methods.base import Anonymizer

sys.path.append(str(Path(__file__).resolve().parents[1]))
from directed import polblogs

from raw_rows import read_rows, write_rows

HERE = Path(__file__).parent
ROWS = HERE / "results" / "attacks.parquet"
LITTLE = ("candidate-set", "neighbor-attributes", "attribute-inference", "homogeneity")
COPIES = ({"overlap": 1.0, "people": 1.0}, {"overlap": 0.7, "people": 0.6, "draws": 5})
"""A copy of all ties and people; and of 60 % of the people, three in ten ties wrong, five times."""


AGAIN = {("polblogs", "profile"): (1, 2, 3, 4, 5)}
"""The seeds of releases, where there are several."""

STRENGTHS = {("polblogs", "profile"): (2, 5, 20)}
"""Of k, where there are several."""

SHOWN = (": right", "right guess", "neighbors", "class", "release")
"""Parts that are printed end so."""


def methods(known: str, attach: str | None) -> dict[str, Anonymizer[Any]]:
    """Return the methods that promise something of attributes, for one network."""
    roles = {"known": known, "attach": attach}
    return {
        "k-degree": gv.KDegree(k=20, edits="any", **roles),
        "structural": gv.StructuralAnonymity(k=2, measure="count", edits="any", **roles),
        "profile": gv.Profile(k=20, **roles),
    }


def attacked(
    folder: Path, network: gv.Network, seed: int, *, first: bool
) -> Iterator[dict[str, object]]:
    """Yield the figures of every attack on a release folder; of poor copies on a first one."""
    runs: list[tuple[str, dict[str, object]]] = [(name, {}) for name in LITTLE]
    for copy in ("ties", "network"):
        copies = COPIES if first else ({**COPIES[0], "known": 0},)
        runs += [("seeded-matching", {**some, "copy": copy}) for some in copies]
        if first:
            runs.append(("seed-propagation", {"overlap": 0.7, "people": 0.6, "copy": copy}))
    for name, options in runs:
        start = time.process_time()
        found = gv.attack_release(
            folder, network, attacks=[name], seed=seed, options={name: options}, rerun=None
        )
        seconds = round(time.process_time() - start, 2)
        for row in found:
            if row.value is not None:
                figures = {"value": row.value, "unit": row.unit, "guess": row.guess}
                yield {"attack": name, "part": row.part, "seconds": seconds} | figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--network", help="the one to run; its rows replace those that are there")
    parser.add_argument("--method", help="the one to run")
    parser.add_argument("--k", type=int, help="the strength to run")
    parser.add_argument("--seeds", type=int, nargs="*", help="those of releases to run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    networks = {
        "polblogs": (lambda: polblogs(arguments.data), True, "party", None),
        "register 1,500": (
            lambda: gv.datasets.generated_register(1_500, seed=5).without("age"),
            False,
            "sex",
            "region",
        ),
    }

    def is_run(network: str, method: str, k: int, seed: int) -> bool:
        """Whether nothing else was asked for."""
        asked = ((arguments.network, network), (arguments.method, method), (arguments.k, k))
        named = all(wanted in {None, name} for wanted, name in asked)
        return named and (arguments.seeds is None or seed in arguments.seeds)

    def is_replaced(row: dict[str, Any]) -> bool:
        return is_run(row["network"], row["method"], row["k"], row["release_seed"])

    rows = [row for row in read_rows(ROWS) if not is_replaced(row)]
    for name, (make, tuned, known, attach) in networks.items():
        network = make()
        joined = gv.Network((gv.Layer.of(network.undirected()),), network.people, network.labels())
        runs = [
            (method, dataclasses.replace(one, k=k), seed, seed == 1 and k == one.k)
            for method, one in methods(known, attach).items()
            for k in STRENGTHS.get((name, method), (one.k,))
            for seed in AGAIN.get((name, method), (1,))
            if is_run(name, method, k, seed)
        ]
        for method, chosen, seed, first in runs:
            data = network if method == "profile" else joined
            with tempfile.TemporaryDirectory() as place:
                release = chosen.anonymize(data, seed=seed)
                folder = release.write(Path(place) / "out")
                if not gv.verify_release(folder, data).ok:
                    raise AssertionError(f"{name} {method}: the promise does not hold")
                row = {"network": name, "tuned": tuned, "people": data.size, "ties": data.n_ties}
                row |= {
                    "method": method,
                    "release_seed": seed,
                    "k": chosen.k,
                    "known": known,
                    "attach": attach or "",
                }
                row |= {"share": getattr(release.guarantee, "share", 1.0)}
                new = [row | figures for figures in attacked(folder, data, seed, first=first)]
            rows += new
            for one in new:
                if one["part"].endswith(SHOWN):
                    shown = (one[field] for field in ("k", "attack", "part"))
                    print(name, method, *shown, round(one["value"], 3))
            print(flush=True)
            write_rows(ROWS, rows)


if __name__ == "__main__":
    main()
