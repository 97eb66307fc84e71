"""Who took part, by likelihood ratio, beside a ratio of one plain score on the same releases.

    python benchmarks/attacks/membership.py [--only DATA]
    python benchmarks/attacks/membership.py --show

The plain score takes a published entry for true with .75, and is compared between the same
releases in and out. Data: ratings that are made up by tastes and popularity (943 people, 1,200
items), hearts and a sample of adult that ship with the package. CPU seconds stand beside that of
one release.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv
from graphveil.attacks import likelihood_ratio
from graphveil.attacks.likelihood_ratio import ShadowScores, ratios, scored_of
from graphveil.attacks.roc_curve import Curve

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from raw_rows import append_rows, read_rows  # noqa: E402

RESULTS = HERE / "results" / "membership.parquet"
PLAIN = ([2],)
SMOOTH = [("smooth-k", {"k": k}) for k in (4, 8, 16)]
CLASSES = [(name, {"k": k}) for name in ("suppress-k", "mondrian") for k in (2, 5, 10)]
CLUSTERS = [("cluster-k", {"k": k}) for k in (2, 5, 10)]
LEVELS = [("adaptive", {"levels": level, "compatibility": "bipartite"}) for level in (2, 5)]


def ratings(people: int = 943, items: int = 1_200, seed: int = 0) -> gv.Bipartite:
    """Return who rated what: by popularity, and by tastes of eight dimensions."""
    rng = np.random.default_rng(seed)
    popular = -0.9 * np.log(np.arange(items) + 8.0)[rng.permutation(items)]
    numbers = np.clip(rng.lognormal(np.log(60) - 0.4, 0.9, people), 8, items // 3).astype(int)
    tastes, kinds = rng.normal(size=(people, 8)), rng.normal(size=(items, 8))
    liked = popular + 1.2 * tastes @ kinds.T / np.sqrt(8)
    lists = [
        [f"x{item}" for item in np.argsort(-(row + rng.gumbel(size=items)))[:number]]
        for row, number in zip(liked, numbers, strict=True)
    ]
    return gv.Bipartite.from_lists(lists).with_items("things")


def hearts() -> gv.Table:
    """Return the hearts as a table."""
    cells = gv.datasets.load("spect-heart").to_scipy().toarray().astype(np.int32)
    columns = tuple(f"f{number}" for number in range(cells.shape[1]))
    return gv.Table(cells, columns, (np.array(["no", "yes"]),) * len(columns))


DATA: dict[str, tuple[Callable[[], Any], Sequence[tuple[str, dict[str, Any]]]]] = {
    "ratings": (ratings, [("rename", {}), *SMOOTH]),
    "hearts": (hearts, [("rename", {}), *CLASSES, *CLUSTERS, *LEVELS]),
    "adult": (lambda: gv.datasets.load("adult-sample"), [("rename", {}), *CLASSES, *CLUSTERS]),
}


def measured(data: str, method: str, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of one method, ours and those of the plain score."""
    made, original = gv.METHODS[method].from_parameters(parameters), DATA[data][0]()
    release = made.anonymize(original, seed=1)
    started = time.process_time()
    made.anonymize(original, seed=2)
    one = time.process_time() - started
    seen: list[ShadowScores] = []

    def kept(shadows: ShadowScores, choices: Any) -> Any:
        seen.append(shadows)
        return ratios(shadows, choices)

    likelihood_ratio.ratios = kept
    started = time.process_time()
    told = gv.attack_release(release, original=original, attacks=["membership"], seed=1)
    took = time.process_time() - started
    named: dict[str, Any] = {"data": data, "method": method, "parameters": parameters}
    named |= {"release_seconds": round(one, 3), "attack_seconds": round(took, 2)}
    for row in told:
        yield {**named, "part": row.part, "value": row.value, "low": row.low, "high": row.high}
    plain = Curve(scored_of(ratios(seen[0], PLAIN), seen[0].inside))
    yield {**named, "part": "plain ratio", "value": plain.area()}
    yield {**named, "part": "plain ratio, found at 1 %", "value": plain.recall_at(0.01)}


def show() -> None:
    """Print a line a method."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in read_rows(RESULTS):
        key = (row["data"], row["method"], str(row["parameters"]))
        rows.setdefault(key, {"cost": row["attack_seconds"] / row["release_seconds"]})
        rows[key][row["part"]] = row["value"]
    row_, few = "a whole row", "a whole row, found at 1 % false alarms"
    plain = "plain ratio"
    print("| data | release | area | plain ratio | release alone | found at 1 % | plain ratio |")
    print("|---|---|---|---|---|---|---|")
    for (data, method, parameters), of in rows.items():
        name = f"{method} {parameters.strip('{}')}".replace("'", "")
        areas = (
            f"{of[row_]:.3f} | {of[plain]:.3f} | {of[f'{row_}, by one score of the release']:.3f}"
        )
        print(f"| {data} | {name} | {areas} | {of[few]:.3f} | {of[f'{plain}, found at 1 %']:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(DATA))
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.show:
        show()
        return
    for data, (_, methods) in DATA.items():
        for method, parameters in methods if asked.only in {None, data} else []:
            for row in measured(data, method, parameters):
                append_rows(RESULTS, row)
    show()


if __name__ == "__main__":
    main()
