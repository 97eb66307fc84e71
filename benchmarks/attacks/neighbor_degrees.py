"""How many people are found by the degrees of their neighbors, after one-sided and any edits.

    python benchmarks/attacks/neighbor_degrees.py --data FOLDER [--only NAME ...] [--keep FOLDER]

Five releases of every method and network, attacked with `candidate-set`. The comparison by
quantiles was tuned on `TUNED` (their first releases); nothing was tuned on the other networks.
Releases that are in the folder of `--keep` are used again, new ones are kept there. Rows go to
``results/neighbor_degrees.parquet``, next to those of networks that were not asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphveil as gv

for room in ("", "profiles"):
    sys.path.append(str(Path(__file__).resolve().parents[1] / room))
from directed import generated, polblogs  # noqa: E402

from raw_rows import Row, read_rows, write_rows  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "neighbor_degrees.parquet"
SEEDS = (1, 2, 3, 4, 5)
FILES = {
    "primary school": "anonet/primaryschool.edges",
    "arenas-email": "anonet/out.arenas-email.edges",
    "Copnet friends": "anonet/fb_friends.edges",
    "polblogs": "polblogs/edges.tsv.gz",
    "ca-HepPh": "ca-HepPh/edges.tsv.gz",
    "ca-GrQc": "anonet/CA-GrQc.edges",
    "radoslaw-email": "anonet/out.radoslaw_email.edges",
    "innovation": "anonet/out.moreno_innovation.edges",
    "wiki-Vote": "wiki-Vote/edges.tsv.gz",
    "dnc": "anonet/out.dnc-temporalGraph.edges",
}
DIRECTED: dict[str, Callable[[Path], gv.Network]] = {
    "generated 3,000": lambda _: generated(3_000, 30_000),
    "polblogs, directed": lambda data: linked(polblogs(data)),
}
TUNED = ("arenas-email", "Copnet friends", "polblogs", "polblogs, directed")
Parameters = dict[str, Any]
ADDED, ANY = {"k": 20, "edits": "add"}, {"k": 20, "edits": "any"}
WEAK = [{"k": k, "edits": edits} for k in (2, 5) for edits in ("add", "any")]
COUNT = {"k": 5, "measure": "count"}
CASES: list[tuple[str, str, Parameters]] = [
    *(("primary school", "k-degree", some) for some in (*WEAK, ADDED, ANY)),
    *((name, "k-degree", ADDED) for name in FILES if name != "primary school"),
    *(
        (name, "structural", COUNT)
        for name in (*TUNED[:2], "primary school", "radoslaw-email", "innovation")
    ),
    *((name, "profile", some) for name in DIRECTED for some in (ANY, ADDED)),
]


def linked(network: gv.Network) -> gv.Network:
    """Return a directed network without attributes and without nodes that have no edge."""
    [layer] = network.layers
    source, target = layer.ties()
    numbers = {
        node: place for place, node in enumerate(sorted({*source.tolist(), *target.tolist()}))
    }
    ends = ([numbers[node] for node in side.tolist()] for side in (source, target))
    return gv.Network((gv.Layer.from_arcs(*ends, n=len(numbers)),))


def network_of(name: str, data: Path) -> gv.Network:
    """Return a network by its name."""
    if name in DIRECTED:
        return DIRECTED[name](data)
    return gv.read_graph(data / FILES[name], directed="symmetrize", ignore_weights=True)


def rows_of(name: str, method: str, parameters: Parameters, data: Path, keep: Path) -> list[Row]:
    """Return a row for every figure of the attack on five releases."""
    network, found = network_of(name, data), []
    for seed in SEEDS:
        options = "-".join(f"{value}" for value in parameters.values())
        folder = keep / f"{name}-{method}-{options}-{seed}".replace(" ", "")
        if not folder.exists():
            made = gv.METHODS[method].from_parameters(parameters).anonymize(network, seed=seed)
            made.write(folder)
        start = time.process_time()
        rows = gv.attack_release(folder, network, attacks=["candidate-set"], seed=seed)
        point = {"data": name, "people": network.n_nodes, "tuned": name in TUNED}
        point |= {"method": method, "parameters": parameters, "seed": seed}
        point["cpu_seconds"] = round(time.process_time() - start, 2)
        fields = ("part", "value", "guess", "sample_size", "low", "high")
        found += [{**point, **{field: getattr(row, field) for field in fields}} for row in rows]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def main() -> None:
    """Attack releases, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", help="networks to run; their rows are replaced")
    parser.add_argument("--method", help="the method to run; its rows are replaced")
    parser.add_argument("--keep", type=Path, help="where releases are kept")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            name, method, parameters = case
            if (asked.only and name not in asked.only) or asked.method not in (None, method):
                continue
            rows = rows_of(*case, asked.data, asked.keep or Path(scratch))
            others = [
                row
                for row in read_rows(RESULTS)
                if (row["data"], row["method"], row["parameters"]) != case
            ]
            write_rows(RESULTS, [*others, *rows])
            print(name, method, parameters, flush=True)


if __name__ == "__main__":
    main()
