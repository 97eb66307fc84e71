"""Every method at three strengths on the network and the table that ship with graphveil.

    python benchmarks/gallery/run.py [--methods NAME ...] [--data FOLDER]

FOLDER holds ``polblogs/polblogs.gml.gz``, for the methods that keep directions; without it these
are left out.
A point is a method, a strength and a seed: what was kept, and what two attacks reach. Rows are
appended to ``results/rows.parquet`` as soon as they are measured; what stands there is not run
again. `docs/gallery.py` draws the gallery from them.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from raw_rows import append_rows, read_rows  # noqa: E402

RESULTS = HERE / "results" / "rows.parquet"
SEEDS = (1, 2)
NETWORK, FEATURES, TABLE = "copenhagen-calls", "adult-sample, one feature a value", "adult-sample"
DIRECTED = "polblogs"
K = tuple({"k": k} for k in (2, 5, 20))
EPSILON = tuple({"epsilon": epsilon} for epsilon in (2.0, 4.0, 8.0))
LEVELS = tuple({"levels": level} for level in (2, 5, 20))
NONE: tuple[dict[str, Any], ...] = ({},)
STRENGTHS = {
    NETWORK: {
        "rename": NONE,
        "k-degree": K,
        "structural": K,
        "super-nodes": K,
        **dict.fromkeys(
            (
                *("asymmetric-response", "degree-prior-response", "mixing-prior-response"),
                *("randomized-response", "top-m-filter", "dp-1k", "hrg-mcmc"),
                "density-explore-reconstruct",
            ),
            EPSILON,
        ),
        "degree-triangle-model": tuple({"epsilon": epsilon} for epsilon in (0.5, 1.0, 2.0)),
    },
    FEATURES: {
        "rename": NONE,
        **dict.fromkeys(("smooth-k", "suppress-k", "mondrian"), K),
        **dict.fromkeys(("asymmetric-response", "randomized-response"), EPSILON),
    },
    TABLE: {"rename": NONE, "generalize": K, "cluster-k": K, "adaptive": LEVELS},
    DIRECTED: {"rename": NONE, "profile": K},
}
METRICS = {
    NETWORK: ["edges-kept", "edges-added", "degree-distribution", "clustering"],
    FEATURES: ["entries-suppressed", "entries-created", "entry-jaccard", "feature-frequency"],
    TABLE: ["cells-shown"],
    DIRECTED: ["arcs-kept"],
}
ATTACKS = {
    NETWORK: {"candidate-set": {}, "seeded-matching": {"known": 0}},
    FEATURES: {"linkage": {"known": "2,4,8", "wrong": "0"}, "class-truth": {}},
    TABLE: {"linkage": {"known": "2,4,8", "wrong": "0"}, "class-truth": {}},
    DIRECTED: {"candidate-set": {}, "seeded-matching": {"known": 0}},
}


def points(methods: list[str]) -> Iterator[tuple[str, str, dict[str, Any], int]]:
    """Yield data, method, parameters and seed."""
    for data, strengths in STRENGTHS.items():
        for name, every in strengths.items():
            if not methods or name in methods:
                yield from ((data, name, one, seed) for one in every for seed in SEEDS)


def data_of(name: str, folder: Path | None) -> Any:
    """Return a data set; the network with directions comes from a folder."""
    if name == DIRECTED:
        sys.path.append(str(HERE.parent / "profiles"))
        from directed import polblogs  # noqa: PLC0415  a script beside, for this data alone

        return gv.Network(polblogs(folder).layers)
    if name == FEATURES:
        return gv.datasets.load(TABLE).one_hot()
    return gv.datasets.load(name)


def measured(
    data: str, method: str, parameters: dict[str, Any], seed: int, folder: Path | None
) -> list[dict[str, Any]]:
    """Return the rows of a point."""
    original = data_of(data, folder)
    settings = dict(parameters)
    level = settings.pop("levels", None)
    levels = {} if level is None else {"levels": np.full(original.n_rows, level)}
    release = gv.METHODS[method](**settings).anonymize(original, seed=seed, **levels)
    kept = gv.evaluate_release(release, original, metrics=METRICS[data], seed=seed)
    options = ATTACKS[data]
    attacked = gv.attack_release(
        release, original, attacks=list(options), options=options, seed=seed, rerun=None
    )
    point = {"data": data, "method": method, "parameters": parameters, "seed": seed}
    fields = ("question", "part", "value", "guess", "unit", "direction")
    return [
        point | {"verb": verb} | {field: getattr(row, field) for field in fields}
        for verb, rows in (("evaluate", kept), ("attack", attacked))
        for row in rows
    ]


def main() -> None:
    """Run what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", default=[])
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    there = {
        json.dumps([row["data"], row["method"], row["parameters"], row["seed"]])
        for row in read_rows(RESULTS)
    }
    for point in points(asked.methods):
        if point[0] == DIRECTED and asked.data is None:
            continue
        if json.dumps(list(point)) not in there:
            rows = measured(*point, asked.data)
            append_rows(RESULTS, *rows)
            print(*point, len(rows), flush=True)


if __name__ == "__main__":
    main()
